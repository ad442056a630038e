"""Logs with many runs or events give the same tables as others; their runs and events are files of their own."""

from __future__ import annotations

import shutil
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from studies.test_copies import LOG, imported, write_report

import azlatency as az
from azlatency.studies import importer, many_runs


def test_copies_in_logs_with_many_runs_are_found_as_well(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "dump"
    (folder / "logs").mkdir(parents=True)
    shutil.copy(LOG, folder / "logs" / "az1-az2.log")
    write_report(folder, LOG)
    (folder / "study.toml").write_text('[[run]]\nlog = "logs/other.log"\nzone = "1"\n', "utf-8")
    first_summary, first = imported(folder)
    runs, events = first.runs, first.events
    monkeypatch.setattr(importer, "MANY_RUNS", 0)
    shutil.rmtree(folder.parent / "processed")
    summary, study = imported(folder)
    assert not len(pq.read_table(study.folder / "runs.parquet")) and len(study.runs) == 2
    assert summary.notes == first_summary.notes and summary.problems == first_summary.problems
    assert study.events.equals(events) and study.runs.equals(runs)
    assert {"copied_run", "manifest_missing"} <= set(study.events["code"])
    (folder / "results.md").unlink()
    assert imported(folder)[0].reused == 1
    fresh = az.import_study("dump", [folder], out=folder.parent / "fresh")
    assert not fresh.notes and "copied_run" not in set(imported(folder)[1].events["code"])
    for file in (folder.parent / "fresh" / "dump").rglob("*.parquet"):
        same = folder.parent / "processed" / "dump" / file.relative_to(folder.parent / "fresh" / "dump")
        assert file.read_bytes() == same.read_bytes(), file


def test_a_summary_tells_the_first_errors_of_a_log_and_counts_the_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    block = "PING 10.0.0.1 (10.0.0.1) 56(84) bytes of data.\n\n--- 10.0.0.1 ping statistics ---\n"
    block += "5 packets transmitted, 9 received, 0% packet loss, time 4ms\nrtt min/avg/max/mdev = 9/1.5/2.5/0.1 ms\n"
    (tmp_path / "a.log").write_text(20 * block, "utf-8")
    every = az.import_study("every", [tmp_path / "a.log"], out=tmp_path / "out").problems
    assert len(every) > 7
    monkeypatch.setattr(importer, "MANY_RUNS", 0)
    monkeypatch.setattr(many_runs, "_MOST_TOLD", 7)
    some = az.import_study("some", [tmp_path / "a.log"], out=tmp_path / "out").problems
    assert some == [*every[:7], f"a.log: {len(every) - 7} more errors; see the table events"]
