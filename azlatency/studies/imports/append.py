"""Append a night to a study: its logs become a folder of ``data/raw/<study>``, its rows those of ``runs.csv``.

The name of the folder is that of the source if it contains a date, else the time of appending: a pattern with
``{started_at}`` reads it. Everything can be repeated: what is there with the same bytes is not copied again. A lock of
the operating system makes two jobs wait for each other; it ends with its process, however that ends.
"""

from __future__ import annotations

import csv
import filecmp
import io
import os
import re
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, Any

from azlatency.logs.parse import LogError
from azlatency.logs.source.expand import iter_entries
from azlatency.studies.imports.ingest import copy_sources
from azlatency.studies.manifest.manifest import FILE_NAME, Manifest, read_manifest
from azlatency.studies.store.folders import data_folder
from azlatency.studies.store.own_files import ManifestError, read_own_csv, read_own_toml
from azlatency.studies.store.replacing import write_whole

_DATE = re.compile(r"(?<!\d)\d{4}[-_.]?\d\d[-_.]?\d\d(?!\d)")
#: Where a night is copied to before it becomes a folder of the study; hidden files are not imported.
_STAGING = ".append"
#: Files of the manifest of a night, which `azlatency plan` writes.
_OWN_FILES = (FILE_NAME, "runs.csv")
#: How often a waiting job looks whether the lock is free, in seconds.
_WAIT = 0.2


@dataclass(frozen=True)
class Night:
    """What was appended: the name of its folder, the number of new files, and what to tell."""

    name: str
    new: int
    notes: tuple[str, ...] = ()


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Hold the lock of a study while its logs and tables are written."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    with folder.with_name(f".{folder.name}.lock").open("ab") as file:
        _lock(file)
        yield


def _lock(file: IO[Any]) -> None:
    if os.name == "posix":
        import fcntl

        fcntl.flock(file, fcntl.LOCK_EX)
        return
    import msvcrt

    while True:
        try:
            file.seek(0)
            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined]
        except OSError:
            time.sleep(_WAIT)
        else:
            return


def append(source: Path, folder: Path) -> Night:
    """Append the logs of a folder, an archive or a file to the folder of a study; call it with `locked`.

    Raises `LogError` if the source does not exist or a file cannot be written, and `ManifestError` if the
    ``study.toml`` of the night cannot be used or joined with that of the study.
    """
    if not source.exists():
        raise LogError(f"{source}: no such file or folder; check the path")
    of_night = read_manifest(source) if source.is_dir() else Manifest("", source)
    name, notes = _name(source, folder)
    staging = folder / _STAGING
    shutil.rmtree(staging, ignore_errors=True)
    copied = copy_sources([source], staging)
    own = {staging / str(file) for file in (FILE_NAME, of_night.study.get("runs"))}
    new = [file for file in copied.new if file not in own and not _is_there(file, staging, folder, name)]
    for file in {*copied.new} - {*new}:
        file.unlink()
    writes, more = _join(of_night, folder, name)
    if not (copied.new or copied.present or copied.refused):
        more = (*more, f"{source}: contains no file; nothing was appended")
    if (folder / name).exists():
        for file in new:
            target = folder / name / file.relative_to(staging)
            target.parent.mkdir(parents=True, exist_ok=True)
            os.rename(file, target)
    elif new:
        os.rename(staging, folder / name)
    shutil.rmtree(staging, ignore_errors=True)
    # After the logs: a job that is killed here and repeated finds their folder, and adds the rows.
    for path, content in writes.items():
        write_whole(path, content)
    return Night(name, len(new), (*notes, *more, *copied.refused))


def _places(folder: Path, name: str) -> tuple[Path, Path]:
    """Return where the logs of a night may be: in the study, and in its archive."""
    return folder / name, data_folder("archive") / folder.name / name


def _is_there(file: Path, staging: Path, folder: Path, name: str) -> bool:
    """Return whether a night has a file already; raise `LogError` if it has another one of this name."""
    inside = file.relative_to(staging)
    there = [place / inside for place in _places(folder, name) if (place / inside).exists()]
    if there and not filecmp.cmp(file, there[0], shallow=False):
        raise LogError(f"{there[0]}: already exists with different content; name another night with its date and time")
    return bool(there)


def _join(of_night: Manifest, folder: Path, name: str) -> tuple[dict[Path, bytes], tuple[str, ...]]:
    """Return the files of the study with what the manifest of a night adds to them, and notes."""
    if not of_night.files:
        return {}, ()
    manifest: dict[Path, bytes] = {}
    of_study = of_night.study
    if (folder / FILE_NAME).exists():
        of_study = read_own_toml(folder / FILE_NAME)[0].get("study", {})
    else:
        manifest[folder / FILE_NAME] = (of_night.folder / FILE_NAME).read_bytes()
    if "runs" not in of_night.study:
        return manifest, (f"{of_night.folder / FILE_NAME}: not used; that of the study applies",) * (not manifest)
    if not isinstance(of_study.get("runs"), str):
        raise ManifestError(
            f'{folder / FILE_NAME}: names no runs.csv for the rows of the night; add runs = "runs.csv" to [study], and '
            "that file with the line: log"
        )
    target = folder / of_study["runs"]
    rows = [row for _, row in read_own_csv(target)] if target.exists() or not manifest else []
    known = {row["log"] for row in rows}
    added = [row for _, row in read_own_csv(of_night.folder / str(of_night.study["runs"]))]
    added = [row | {"log": f"{name}/{row['log']}"} for row in added]
    added = [row for row in added if row["log"] not in known]
    if not added and target.exists():
        return manifest, ()
    text = io.StringIO()
    columns = dict.fromkeys(column for row in (*rows, *added) for column in row)
    writer = csv.DictWriter(text, list(columns) or ["log"], restval="", lineterminator="\n")
    writer.writeheader()
    writer.writerows([*rows, *added])
    # The manifest last: without it, a job that is repeated starts anew.
    return {target: text.getvalue().encode()} | manifest, ()


def _name(source: Path, folder: Path) -> tuple[str, tuple[str, ...]]:
    """Return the folder of the night, and a note if all of its logs are already in the study."""
    if _DATE.search(source.name):
        there = _contains(folder, source.name, source)
        return source.name, (f"{source}: already appended as {source.name}; counted once",) if there else ()
    nights = {entry.name for place in _places(folder, "") if place.is_dir() for entry in place.iterdir()}
    for name in sorted(nights):
        if not name.startswith(".") and _contains(folder, name, source):
            note = f"{source}: identical to {name}; counted once. If it is another night, name it with its date"
            return name, (note,)
    return f"{datetime.now(UTC):%Y-%m-%dT%H%M%SZ}", ()


def _contains(folder: Path, name: str, source: Path) -> bool:
    """Return whether every log of a source is in a night, with the same name and bytes."""
    logs = [(Path(file), inside) for file, inside, problem in iter_entries(str(source)) if not problem]
    if not source.is_dir():
        logs = [(source, source.name)]
    compared = [(file, inside) for file, inside in logs if inside not in _OWN_FILES]
    places = _places(folder, name)
    return bool(compared) and all(
        any((place / inside).is_file() and filecmp.cmp(file, place / inside, shallow=False) for place in places)
        for file, inside in compared
    )
