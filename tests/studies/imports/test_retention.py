"""`azlatency import --keep`: logs of old runs move to the archive, and every table stays as it was."""

from __future__ import annotations

import os
import shutil
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from helpers.command import Completed, azlatency
from helpers.nights import FIRST, MANIFEST, NIGHTS, changed_nights, history, write_night

import azlatency as az
from azlatency.logs.parse import LogError
from azlatency.studies.imports import retention
from azlatency.studies.imports.changes import changed_since_import
from azlatency.studies.imports.importer import import_study
from azlatency.studies.imports.retention import archive_old, parse_age

#: The tables depend on the time of the import in this file only.
STAMP = "import.json"
SOME = 10
"""Nights that are archived."""
BEFORE = datetime(FIRST.year, FIRST.month, FIRST.day, tzinfo=UTC) + timedelta(days=SOME)


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the folder of a project with an imported study of 40 nights and two paths."""
    monkeypatch.setenv("AZLATENCY_DATA", str(tmp_path / "data"))
    changed_nights(tmp_path / "data" / "raw" / "nightly")
    import_study("nightly")
    return tmp_path / "data"


def tables(data: Path) -> dict[str, bytes]:
    folder = data / "processed" / "nightly"
    return {str(file): file.read_bytes() for file in folder.rglob("*") if file.is_file() and file.name != STAMP}


def keep(age: str, data: Path, *options: object) -> Completed:
    return azlatency("import", *options, "--study", "nightly", "--keep", age, cwd=data.parent, AZLATENCY_DATA=str(data))


def logs(folder: Path) -> set[str]:
    return {file.relative_to(folder).as_posix() for file in folder.rglob("*.log")}


@pytest.mark.costly
def test_old_logs_move_and_every_table_and_the_history_stay(data: Path) -> None:
    before, judged = tables(data), history("nightly", "--format", "json", cwd=data.parent).stdout
    everything = {path: (data / "raw" / "nightly" / path).read_bytes() for path in logs(data / "raw" / "nightly")}
    assert archive_old(az.load("nightly"), BEFORE) == (2 * SOME, ())
    archived, left = logs(data / "archive" / "nightly"), logs(data / "raw" / "nightly")
    assert len(archived) == 2 * SOME and archived | left == everything.keys() and not archived & left
    assert all((data / "archive" / "nightly" / path).read_bytes() == everything[path] for path in archived)
    assert changed_since_import("nightly") == ""
    import_study("nightly")
    assert tables(data) == before
    assert history("nightly", "--format", "json", cwd=data.parent).stdout == judged
    import_study("nightly", rebuild=True)
    assert tables(data) == before, "the archive is parsed again"
    assert archive_old(az.load("nightly"), BEFORE) == (0, ())


def test_a_move_that_is_interrupted_loses_nothing(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before, moved, real = tables(data), [], os.rename

    def rename(source: Path, target: Path) -> None:
        if len(moved) == 7:
            raise KeyboardInterrupt  # as a kill: nothing is cleaned up
        moved.append(target)
        real(source, target)

    with monkeypatch.context() as patched, pytest.raises(KeyboardInterrupt):
        patched.setattr(retention.os, "rename", rename)
        archive_old(az.load("nightly"), BEFORE)
    assert len(logs(data / "archive")) == 7
    import_study("nightly")
    assert tables(data) == before
    assert archive_old(az.load("nightly"), BEFORE).files == 2 * SOME - 7


def test_a_night_that_is_in_the_archive_is_not_appended_again(data: Path) -> None:
    night = write_night(data.parent / "in", 0, "az1-az2", 450).parents[1]
    shutil.rmtree(night)
    shutil.copytree(data / "raw" / "nightly" / night.name, night)
    shutil.copytree(night, data.parent / "zones")
    archive_old(az.load("nightly"), BEFORE)
    write_night(data.parent / "in", 0, "az2-az3", 900)
    for source, new in ((night, "1 new file"), (night, "0 new files"), (data.parent / "zones", "0 new files")):
        result = azlatency("import", source, "--study", "nightly", "--append", cwd=data.parent)
        assert f"{night.name}: {new}" in result.stdout, result.stderr
    assert not logs(data / "raw" / "nightly") & logs(data / "archive" / "nightly")
    (night / "az1-az2" / "qperf.log").write_text("other\n")
    refused = azlatency("import", night, "--study", "nightly", "--append", cwd=data.parent)
    assert refused.returncode == 1 and "already exists with different content" in refused.stderr


def test_without_the_archive_its_runs_stay_until_they_must_be_parsed_again(data: Path) -> None:
    before = tables(data)
    archive_old(az.load("nightly"), BEFORE)
    import_study("nightly")
    shutil.move(data / "archive", data / "elsewhere")
    assert changed_since_import("nightly") == ""
    write_night(data / "raw" / "nightly", NIGHTS, "az1-az2", 450)
    import_study("nightly")
    assert len(az.load("nightly").runs) == 2 * NIGHTS + 1
    for _ in range(2):
        with pytest.raises(LogError, match="20 archived logs would have to be parsed again and are not there; nothing"):
            import_study("nightly", rebuild=True)
    assert len(az.load("nightly").runs) == 2 * NIGHTS + 1
    shutil.move(data / "elsewhere", data / "archive")
    shutil.rmtree(data / "raw" / "nightly" / str(FIRST + timedelta(days=NIGHTS)))
    import_study("nightly", rebuild=True)
    assert tables(data) == before


def test_what_cannot_move_stays_and_is_told(data: Path) -> None:
    raw = data / "raw" / "nightly"
    (raw / "study.toml").write_text(MANIFEST.replace("]", ']\nnotes = "x"', 1).replace("{started_at}", "{label}"))
    import_study("nightly")
    told = archive_old(az.load("nightly"), BEFORE)
    assert told == (0, (f"{2 * NIGHTS} logs with a run without a start time stay in data/raw",))
    (raw / "study.toml").write_text(MANIFEST)
    import_study("nightly")
    first = f"{FIRST}/az1-az2/qperf.log"
    (data / "archive" / "nightly" / str(FIRST) / "az1-az2").mkdir(parents=True)
    (data / "archive" / "nightly" / first).write_bytes(b"other")
    with (raw / f"{FIRST}/az1-az3/qperf.log").open("a") as changed:
        changed.write("\n")
    moved = archive_old(az.load("nightly"), BEFORE)
    assert moved.files == 2 * SOME - 2 and "1 log stay" in moved.notes[0]
    assert (data / "archive" / "nightly" / first).read_bytes() == b"other"


def test_the_command_moves_appends_and_imports(data: Path) -> None:
    night = write_night(data.parent / "in", NIGHTS, "az1-az2", 450).parents[1]
    days = (datetime.now(UTC) - BEFORE).days + 1
    result = keep(f"{days} days", data, night, "--append")
    assert result.returncode == 0, result.stderr
    assert f"{os.path.join('archive', 'nightly')}: {2 * SOME} logs moved here" in result.stdout
    assert len(az.load("nightly").runs) == 2 * NIGHTS + 1
    refused = keep("soon", data)
    assert refused.returncode == 2 and "write a number of days" in " ".join(refused.stderr.replace("│", " ").split())
    shutil.rmtree(data / "processed")
    first = keep("1d", data)
    assert first.returncode == 0 and "has not yet imported" in first.stderr
    assert parse_age("400 days") == parse_age("400d") == timedelta(days=400)
