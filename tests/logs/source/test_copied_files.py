"""Files with the same bytes, and the times in their names."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

import azlatency as az
from azlatency.logs.source.copied_files import id_at_other_time

WINDOWS = """
Pinging 10.0.0.5 with 32 bytes of data:
Reply from 10.0.0.5: bytes=32 time=1ms TTL=64
Reply from 10.0.0.5: bytes=32 time=2ms TTL=64

Ping statistics for 10.0.0.5:
    Packets: Sent = 2, Received = 2, Lost = 0 (0% loss),
"""


@pytest.mark.parametrize(
    ("path", "first", "differ"),
    [("ping_2026-05-01.log", "ping_2026-05-02.log", True), ("2026-05-01/a.log", "2026-05-02/a.log", True),
     ("26.02.2026/a.log", "18.12.2025/a.log", True), ("a_20260501T101500Z.log", "a_20260501T111500Z.log", True),
     ("a_2026-05-01_10-15.log", "a_2026-05-01_10-16.log", True), ("a-1779012345.log", "a-1779012999.log", True),
     ("ping_1.log", "ping_2.log", False), ("ping.log", "ping_2026-05-02.log", False),
     ("x/2026-05-01/a.log", "y/2026-05-01/a.log", False)],
)  # fmt: skip
def test_times_in_names_tell_two_files_apart(path: str, first: str, differ: bool) -> None:
    assert (id_at_other_time("0" * 16, path, first) is not None) == differ


def test_short_logs_of_other_times_are_two_runs_everywhere(tmp_path: Path) -> None:
    """Without times they are one run; a long log is never equal by chance."""
    dump = tmp_path / "dump"
    dump.mkdir()
    for name in ("2026-05-01.log", "2026-05-02.log", "again.log"):
        (dump / name).write_text(WINDOWS, "utf-8")
    logs = az.parse(dump)
    assert (len(logs.sources), len(logs.runs), len(az.latency(logs))) == (2, 2, 2)
    assert set(logs.metrics["run_id"]) == set(logs.runs.get("run_id", logs.runs.index))
    for _ in range(2):  # the second import finds nothing to do
        summary = az.import_study("nights", [dump], out=tmp_path)
        runs = az.latency(az.load("nights", processed=tmp_path))
        assert len(runs) == 2 and set(runs["file"]) == {"2026-05-01.log", "2026-05-02.log"}
    assert summary.unchanged
    (dump / "2026-05-03.log").write_text(WINDOWS, "utf-8")
    az.import_study("nights", [dump], out=tmp_path)
    assert len(az.latency(az.load("nights", processed=tmp_path))) == 3
    assert list(az.load("nights", processed=tmp_path).sources["path"]) == sorted({*runs["file"], "2026-05-03.log"})


def test_long_logs_are_copies_whatever_their_names(tmp_path: Path, raw: Path) -> None:
    for day in (1, 2):
        shutil.copy(raw / "westeurope-azure-cni" / "az1-az3" / "sockperf.log", tmp_path / f"2026-05-0{day}.log")
    assert len(az.latency(az.parse(tmp_path))) == 1
