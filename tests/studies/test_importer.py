"""Importing a study: what is parsed again, counted once or refused."""

from __future__ import annotations

import shutil
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import azlatency as az
from azlatency.logs import schema
from azlatency.studies import importer
from azlatency.studies.importer import import_study
from azlatency.studies.manifest import ManifestError
from azlatency.studies.store import load


@pytest.fixture
def study(tmp_path: Path, raw: Path) -> Path:
    """A copy of a real study, in a project folder of its own."""
    folder = tmp_path / "data" / "raw" / "cni"
    shutil.copytree(raw / "westeurope-azure-cni", folder)
    text = (folder / "study.toml").read_text("utf-8").replace("westeurope-azure-cni", "cni")
    (folder / "study.toml").write_text(text, "utf-8")
    return folder


@pytest.fixture
def out(tmp_path: Path) -> Path:
    return tmp_path / "processed"


def test_an_unchanged_study_is_not_parsed_again(study: Path, out: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = import_study("cni", [study], out=out)
    monkeypatch.setattr(importer, "_parse_file", None)
    again = import_study("cni", [study], out=out)
    assert again.unchanged
    assert again.runs_by_tool == first.runs_by_tool
    assert again.missing == first.missing


def test_only_what_changed_is_parsed_again(study: Path, out: Path) -> None:
    import_study("cni", [study], out=out)
    before = load("cni", processed=out)
    count = len(before.runs)
    log = study / "az1-az1" / "qperf.log"
    log.write_text(log.read_text("utf-8").replace("38.8 us", "39.9 us"), "utf-8")
    (study / "az1-az2" / "qperf.log").unlink()
    summary = import_study("cni", [study], out=out)
    assert (summary.parsed, summary.reused) == (1, 18)
    after = load("cni", processed=out)
    assert len(after.runs) == count - 2
    with pytest.raises(az.LogError, match="load it again"):
        _ = before.metrics
    printed = after.metrics[after.metrics["metric"] == "rtt_mean"]["printed"]
    assert "39.9" in set(printed) and "38.8" not in set(printed)


def test_incremental_and_fresh_imports_are_equal(study: Path, out: Path, tmp_path: Path) -> None:
    held = study / "az1-az3"
    shutil.move(held, tmp_path / "held")
    import_study("cni", [study], out=out)
    shutil.move(tmp_path / "held", held)
    import_study("cni", [study], out=out)
    import_study("cni", [study], out=tmp_path / "fresh")
    grown, fresh = load("cni", processed=out), load("cni", processed=tmp_path / "fresh")
    for name in schema.TABLES:
        keys = [column for column in ("run_id", "source_id", "metric", "q", "line", "code", "start_ns", "side")]
        tables = [each.table(name).drop(columns=["imported_at"], errors="ignore") for each in (grown, fresh)]
        by = [key for key in keys if key in tables[0].columns]
        left, right = (each.sort_values(by, kind="stable").reset_index(drop=True) for each in tables)
        assert left.equals(right), name


def test_a_changed_manifest_is_applied(study: Path, out: Path) -> None:
    import_study("cni", [study], out=out)
    text = (study / "study.toml").read_text("utf-8").replace('scenario = "AZ1 - AZ1"', 'scenario = "inside zone 1"')
    (study / "study.toml").write_text(text, "utf-8")
    import_study("cni", [study], out=out)
    assert "inside zone 1" in set(load("cni", processed=out).runs["scenario"])


def test_raw_files_are_never_changed(study: Path, out: Path) -> None:
    before = {path: (path.read_bytes(), path.stat().st_mtime_ns) for path in study.rglob("*") if path.is_file()}
    import_study("cni", [study], out=out)
    assert before == {path: (path.read_bytes(), path.stat().st_mtime_ns) for path in study.rglob("*") if path.is_file()}


def test_identical_files_count_once(study: Path, out: Path) -> None:
    shutil.copy(study / "az1-az1" / "qperf.log", study / "az1-az1" / "copy.log")
    summary = import_study("cni", [study], out=out)
    assert summary.runs_by_tool["qperf"] == 10
    (line,) = summary.duplicates
    assert "copy.log" in line or "qperf.log" in line


def test_odd_files_lose_nothing(study: Path, out: Path) -> None:
    (study / "binary.log").write_bytes(bytes(range(256)) * 9)
    (study / "empty.log").write_bytes(b"")
    (study / "unknown.log").write_text("nothing that a tool prints\n", "utf-8")
    summary = import_study("cni", [study], out=out)
    assert sum(summary.runs_by_tool.values()) == 25
    assert [line.split(":")[0] for line in summary.unreadable] == ["binary.log"]
    assert sorted(line.split(":")[0] for line in summary.not_recognised) == ["empty.log", "unknown.log"]


def test_an_archive_is_imported_whole(study: Path, out: Path, tmp_path: Path) -> None:
    archive = shutil.make_archive(str(tmp_path / "dump"), "zip", study)
    summary = import_study("mine", [Path(archive)], out=out)
    assert sum(summary.runs_by_tool.values()) == 25
    again = import_study("mine", [Path(archive)], out=out)
    assert again.unchanged


def test_an_executor_may_parse(study: Path, out: Path) -> None:
    with ThreadPoolExecutor(2) as executor:
        summary = import_study("cni", [study], out=out, executor=executor)
    assert sum(summary.runs_by_tool.values()) == 25


def test_a_broken_manifest_leaves_the_old_tables(study: Path, out: Path) -> None:
    import_study("cni", [study], out=out)
    (study / "study.toml").write_text("[study\n", "utf-8")
    with pytest.raises(ManifestError):
        import_study("cni", [study], out=out)
    assert len(load("cni", processed=out).runs) == 25
