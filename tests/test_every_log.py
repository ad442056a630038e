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
from collections.abc import Iterator
from pathlib import Path

import pytest
from bs4 import BeautifulSoup
from helpers.chart_cases import every_chart
from helpers.chart_checks import assert_fit_to_print
from helpers.places import ROOT

from azlatency.report.objects import Chart
from azlatency.studies.importer import import_study
from azlatency.studies.store import load

LINE = "64 bytes from 10.1.0.4: icmp_seq={seq} ttl=64 time={time} ms"
COMPOSED = {
    "most-lost": [None if number % 5 else 0.5 + number / 1e4 for number in range(1500)],
    "some-lost": [None if number % 50 == 7 else round(0.4 + (number * 7919 % 1000) / 1e3, 3) for number in range(1500)],
    "clock-set": [0.0 if number == 300 else 0.3 + (number * 31 % 100) / 1e3 for number in range(1500)],
}


def ping(times: list[float | None]) -> str:
    """An iputils log; ``None``: no answer."""
    answers = [each for each in times if each is not None]
    replies = [LINE.format(seq=seq, time=f"{each:.3f}") for seq, each in enumerate(times, 1) if each is not None]
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
    replies = [f"Reply from 10.1.0.4: bytes=32 time{each}ms TTL=128" for each in times]
    return f"""
Pinging 10.1.0.4 with 32 bytes of data:
{chr(10).join(replies)}

Ping statistics for 10.1.0.4:
    Packets: Sent = {len(times)}, Received = {len(times)}, Lost = 0 (0% loss),
Approximate round trip times in milli-seconds:
    Minimum = 0ms, Maximum = 2ms, Average = 1ms
"""


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[subprocess.CompletedProcess[str], Path]]:
    """The import and the report of the dump, as an analyst would ask for them; the pages' folder."""
    folder = tmp_path_factory.mktemp("dump")
    dump = folder / "dump"
    shutil.copytree(ROOT / "tests" / "fixtures", dump, ignore=shutil.ignore_patterns("*.expected.json"))
    for name, times in COMPOSED.items():
        (dump / f"{name}.log").write_text(ping(times), "utf-8")
    (dump / "windows.log").write_text(windows(["<1", "=2", "<1", "=1"] * 300), "utf-8", newline="\r\n")
    (dump / "below.log").write_text(windows(["<1"] * 1200).replace("Average = 1ms", "Average = 0ms"), "utf-8")
    environment = {**os.environ, "AZLATENCY_DATA": str(folder / "data")}
    run = [sys.executable, "-m", "azlatency"]
    for command in (
        ["import", str(dump), "--study", "dump"],
        ["report", "--study", "dump", "--out", str(folder / "site")],
    ):
        done = subprocess.run(
            [*run, *command], env=environment, cwd=ROOT, capture_output=True, text=True, encoding="utf-8", check=False
        )
        assert done.returncode == 0, done.stdout + done.stderr
    yield done, folder / "site" / "dump"


def test_no_notebook_fails(report: tuple[subprocess.CompletedProcess[str], Path]) -> None:
    done, pages = report
    assert "Traceback" not in done.stderr and "Error" not in done.stderr
    names = {path.stem for path in (ROOT / "notebooks").glob("[0-9]*.ipynb")}
    assert names <= {path.stem for path in pages.glob("*.html")}


def test_pages_tell_what_cannot_be_told(report: tuple[subprocess.CompletedProcess[str], Path]) -> None:
    _, pages = report
    texts = {
        path.stem[:2]: BeautifulSoup(path.read_text("utf-8"), "html.parser").get_text() for path in pages.glob("*")
    }
    assert "1,800 replies in 2 runs of ping are interval-censored" in texts["00"]
    for text in texts.values():
        assert " nan " not in text and "<NA>" not in text and "None" not in text.split()


@pytest.mark.slow
def test_every_figure_fits_to_print(report: tuple[subprocess.CompletedProcess[str], Path]) -> None:
    _, pages = report
    assert_figures_fit(pages.parents[1] / "data" / "processed", "dump", most=1_000_000)


@pytest.mark.slow
def test_a_thousand_logs(shared: Path, tmp_path: Path) -> None:
    """Of hundreds of paths a figure shows what a page and a half holds, and says so."""
    import_study("corpus", [shared / "corpus"], out=tmp_path)
    captions = assert_figures_fit(tmp_path, "corpus", most=2_000_000)
    assert " paths and methods, those with the most runs; the table lists all." in captions["means"]


def assert_figures_fit(processed: Path, name: str, *, most: int) -> dict[str, str]:
    """Every chart of the study: nothing cut or covered, at most 50 inches high and ``most`` bytes; the captions."""
    captions = {}
    for chart_name, draw in every_chart(load(name, processed=processed)).items():
        chart = draw()
        if isinstance(chart, Chart):
            assert_fit_to_print(chart_name, chart)
            assert "$" not in chart.svg(), f"{chart_name}: a formula is no word in copies of the figure"
            assert chart.figure.get_size_inches()[1] < 50 and len(chart.svg()) < most, chart_name
            captions[chart_name] = chart.caption
    assert len(captions) > 5
    return captions
