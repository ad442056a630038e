"""Every real log of the tests as one analyst's dump, through every notebook.

The studies of the project hold no lost packet, no failed run and six of fourteen tools; a dump holds all of it. Three
composed logs are added for what no real one here shows: a path that loses most packets, replies below the resolution
of their tool, and a clock that was set back.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from bs4 import BeautifulSoup
from helpers.chart_cases import every_chart
from helpers.chart_checks import assert_fit_to_print
from helpers.notebooks import run as run_notebook
from helpers.places import FIXTURES, ROOT

from azlatency.kit.drawing import base
from azlatency.kit.objects import Chart
from azlatency.pages.summary.answerable import unanswered
from azlatency.studies.imports.importer import import_study
from azlatency.studies.store.study import load

NOTEBOOKS = sorted((ROOT / "notebooks").glob("[0-9]*.ipynb"))
LINE = "64 bytes from 10.1.0.4: icmp_seq={seq} ttl=64 time={time} ms"
COMPOSED = {
    "most-lost": [None if number % 5 else 0.5 + number / 1e4 for number in range(1500)],
    "some-lost": [None if number % 50 == 7 else round(0.4 + (number * 7919 % 1000) / 1e3, 3) for number in range(1500)],
    "clock-set": [0.0 if number == 300 else 0.3 + (number * 31 % 100) / 1e3 for number in range(1500)],
}


def ping(times: list[float | None]) -> str:
    """An iputils log; ``None``: no answer."""
    answers = [time for time in times if time is not None]
    replies = [LINE.format(seq=seq, time=f"{time:.3f}") for seq, time in enumerate(times, 1) if time is not None]
    loss = f"{100 - 100 * len(answers) / len(times):.4g}"
    least, mean, most = min(answers), sum(answers) / len(answers), max(answers)
    return f"""PING 10.1.0.4 (10.1.0.4) 56(84) bytes of data.
{chr(10).join(replies)}

--- 10.1.0.4 ping statistics ---
{len(times)} packets transmitted, {len(answers)} received, {loss}% packet loss, time 15000ms
rtt min/avg/max/mdev = {least:.3f}/{mean:.3f}/{most:.3f}/0.100 ms
"""


def windows(times: list[str]) -> str:
    """A log of Windows' ping, which prints whole milliseconds."""
    replies = [f"Reply from 10.1.0.4: bytes=32 time{time}ms TTL=128" for time in times]
    return f"""
Pinging 10.1.0.4 with 32 bytes of data:
{chr(10).join(replies)}

Ping statistics for 10.1.0.4:
    Packets: Sent = {len(times)}, Received = {len(times)}, Lost = 0 (0% loss),
Approximate round trip times in milli-seconds:
    Minimum = 0ms, Maximum = 2ms, Average = 1ms
"""


def write_dump(folder: Path, step: int = 1) -> Path:
    """Every ``step``-th log of the fixtures, and the composed ones, in a new folder ``dump``."""
    dump = folder / "dump"
    logs = [path for path in sorted(FIXTURES.rglob("*.*")) if not path.name.endswith(".expected.json")]
    for log in logs[::step]:
        target = dump / log.relative_to(FIXTURES)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(log, target)
    for name, times in COMPOSED.items():
        (dump / f"{name}.log").write_text(ping(times), "utf-8")
    (dump / "windows.log").write_text(windows(["<1", "=2", "<1", "=1"] * 300), "utf-8", newline="\r\n")
    (dump / "below.log").write_text(windows(["<1"] * 1200).replace("Average = 1ms", "Average = 0ms"), "utf-8")
    return dump


def assert_nothing_is_missing_from(text: str, page: str) -> None:
    assert " nan " not in text and "<NA>" not in text and "None" not in text.split(), page
    if page == "00_what_was_measured":
        assert "1,800 replies in 2 runs of ping are interval-censored" in text


@pytest.mark.slow
def test_no_notebook_fails_with_some_of_the_logs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without kernels, pages and the layout of figures, which other tests prove."""
    monkeypatch.setattr(base, "freeze", lambda figure: None)
    monkeypatch.setenv("AZLATENCY_DATA", str(tmp_path))
    import_study("dump", [write_dump(tmp_path, step=25)])
    for notebook in NOTEBOOKS:
        text = "\n".join(repr(result) for result in run_notebook(notebook, "dump") if result is not None)
        assert_nothing_is_missing_from(text, notebook.stem)


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The pages of a report of all logs, imported and built as an analyst would."""
    folder = tmp_path_factory.mktemp("dump")
    dump = write_dump(folder)
    environment = {**os.environ, "AZLATENCY_DATA": str(folder / "data")}
    run = [sys.executable, "-m", "azlatency"]
    for command in (
        ["import", str(dump), "--study", "dump"],
        ["report", "--study", "dump", "--out", str(folder / "site")],
    ):
        done = subprocess.run(
            [*run, *command], env=environment, cwd=ROOT, capture_output=True, text=True, encoding="utf-8", check=False
        )
        assert done.returncode == (command[0] == "import"), done.stdout + done.stderr  # some of the logs are failures
    assert "Traceback" not in done.stderr and "Error" not in done.stderr
    return folder / "site" / "dump"


def processed(pages: Path) -> Path:
    return pages.parents[1] / "data" / "processed"


@pytest.mark.slow
def test_no_page_fails_with_every_log(pages: Path) -> None:
    not_answerable = {question.page for question in unanswered(load("dump", processed=processed(pages)))}
    assert {path.stem for path in NOTEBOOKS} - not_answerable <= {path.stem for path in pages.glob("*.html")}
    for page in pages.glob("*.html"):
        shown = BeautifulSoup(page.read_text("utf-8"), "html.parser")
        for code in shown.select(".code, .highlight"):  # may say "else None"
            code.decompose()
        assert_nothing_is_missing_from(shown.get_text(), page.stem)


@pytest.mark.slow
def test_every_figure_fits_to_print(pages: Path) -> None:
    assert_figures_fit(processed(pages), "dump", most=1_000_000)


@pytest.mark.slow
def test_a_thousand_logs(shared: Path, tmp_path: Path) -> None:
    """Of hundreds of paths a figure shows what a page and a half holds, and says so."""
    import_study("corpus", [shared / "corpus"], out=tmp_path)
    captions = assert_figures_fit(tmp_path, "corpus", most=2_000_000)
    assert " paths and methods, evenly chosen from the first to the last; the table lists all." in captions["means"]


def assert_figures_fit(processed: Path, name: str, *, most: int) -> dict[str, str]:
    """Every chart of the study: nothing cut or covered, at most 50 inches high and ``most`` bytes; the captions."""
    captions = {}
    for chart_name, draw in every_chart(load(name, processed=processed)).items():
        chart = draw()
        if isinstance(chart, Chart):
            assert_fit_to_print(chart_name, chart)
            assert "$" not in chart.svg(), f"{chart_name}: copies of the figure would show a formula"
            assert chart.figure.get_size_inches()[1] < 50 and len(chart.svg()) < most, chart_name
            captions[chart_name] = chart.caption
    assert len(captions) > 5
    return captions
