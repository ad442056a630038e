"""`azlatency DUMP` and `azlatency report DUMP`: from a dump to an answer with one command."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest
from helpers.command import azlatency
from studies.runs.test_run_table import ping


@pytest.fixture
def dump(tmp_path: Path) -> Path:
    folder = tmp_path / "my dump"
    for path, rtt in (("az1-az2", 1.0), ("az1-az3", 2.0)):
        (folder / path).mkdir(parents=True)
        for number in range(1, 8):
            text = ping("10.0.0.9", rtt, rtt + 0.1 + number / 100, rtt + 0.2)
            (folder / path / f"ping_run{number}.log").write_text(text, "utf-8")
    return folder


def test_a_dump_is_answered_and_nothing_is_written(dump: Path, tmp_path: Path) -> None:
    before = sorted(tmp_path.rglob("*"))
    done = azlatency(dump, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    rows = done.stdout.splitlines()
    assert rows[0].split()[:8] == ["path", "method", "runs", "median", "run", "95", "%", "CI"]
    assert rows[1].startswith("zone 1 → zone 2") and " 7 " in rows[1]
    assert "assumed: zones, ends, rounds and repeats as the names say" in done.stderr
    assert sorted(tmp_path.rglob("*")) == before


def test_archives_logs_and_standard_input_are_dumps_too(dump: Path, tmp_path: Path) -> None:
    archive = tmp_path / "dump.zip"
    with zipfile.ZipFile(archive, "w") as packed:
        for log in dump.rglob("*.log"):
            packed.write(log, log.relative_to(dump))
    assert azlatency(archive, cwd=tmp_path).stdout == azlatency(dump, cwd=tmp_path).stdout
    log = next(dump.rglob("*.log"))
    assert azlatency("answer", "-", cwd=tmp_path, stdin=log.read_bytes()).returncode == 0
    several = azlatency(dump / "az1-az2", dump / "az1-az3", cwd=tmp_path)
    assert "zone 1 → zone 3" in several.stdout, "the names of the folders that are given count"


@pytest.mark.parametrize("content", [b"", b"# Notes\n\nNothing was measured.\n"])
def test_a_dump_without_logs_is_one_line(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "empty" / "notes.md").write_bytes(content)
    for command in ([], ["report"]):
        done = azlatency(*command, "empty", cwd=tmp_path)
        assert done.returncode == 1 and "empty: no log of a known tool (notes.md:1: " in done.stderr
        assert done.stderr.count("\n") == 1 and "Traceback" not in done.stderr


def test_something_that_is_neither_a_command_nor_a_path_is_a_usage_error(tmp_path: Path) -> None:
    done = azlatency("nothing", cwd=tmp_path)
    assert done.returncode == 2 and "No such command 'nothing'" in done.stderr


@pytest.mark.slow
def test_a_report_of_a_dump_says_what_is_assumed(dump: Path, tmp_path: Path) -> None:
    done = azlatency("report", dump, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    page = tmp_path / "my-dump-report" / "my-dump" / "00_summary.html"
    assert done.stdout.splitlines()[-1] == "my-dump-report/my-dump/00_summary.html"
    text = page.read_text("utf-8")
    assert "assumed: zones, ends, rounds and repeats as the names say: " in text
    assert sorted(path.name for path in tmp_path.iterdir()) == ["my dump", "my-dump-report"]
