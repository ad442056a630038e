"""Move the logs of old runs out of ``data/raw``.

They go to ``data/archive/<study>`` under the same path. An import reads both folders as one, so a move changes no
table, whenever it is interrupted, and the logs can still be parsed again, quoted and verified. If the archive is taken
away, the rows of its logs stay in the tables, until another version of the parsers would have to read them.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path
from typing import NamedTuple

from azlatency.logs.parse import LogError
from azlatency.logs.source.copied_files import CopiedFiles
from azlatency.logs.source.expand import iter_entries
from azlatency.studies.format import count_of
from azlatency.studies.imports.changes import has_changed
from azlatency.studies.store.folders import data_folder
from azlatency.studies.store.study import Study, read_stamp

_AGE = re.compile(r"(\d{1,5})\s*d(?:ays?)?")


class Moved(NamedTuple):
    """How many files were moved, and what to tell about the others."""

    files: int
    notes: tuple[str, ...]


def parse_age(text: str) -> timedelta:
    """Return an age such as ``400d`` or ``400 days``; raise `ValueError` if it is not one."""
    if (age := _AGE.fullmatch(text.strip())) is None:
        raise ValueError(f"{text!r} is not an age; write a number of days, such as 400d")
    return timedelta(days=int(age[1]))


def archive_old(study: Study, before: datetime) -> Moved:
    """Move the logs of a study to its archive if all of their runs started before a time, which has its zone.

    The study is the one that was last imported from ``data/raw``; the caller holds its lock. Files without runs, or
    that changed since the import, stay. Runs without a start are told. Raises `LogError` if a file cannot be moved,
    such as to another file system; the others are where they were, or moved.
    """
    known = study.runs["started_at"].astype(object).where(study.runs["started_at"].notna(), None)
    starts = {source_id: list(times) for source_id, times in known.groupby(study.runs["source_id"], dropna=False)}
    archive = data_folder("archive") / study.name
    moved, undated, taken = 0, 0, 0
    for file, path, sources in _unchanged_logs(study):
        times = [time for source_id in sources for time in starts.get(source_id, ())]
        target = archive / path
        if None in times:
            undated += 1
        elif not times or max(times) >= before:
            continue
        elif os.path.lexists(target):
            taken += 1
        else:
            _move(file, target)
            moved += 1
    notes = [f"{count_of(undated, 'log')} with a run without a start time stay in data/raw"] if undated else []
    notes += [f"{count_of(taken, 'log')} stay in data/raw: {archive} has files of these names"] if taken else []
    return Moved(moved, tuple(notes))


def _move(file: Path, target: Path) -> None:
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        os.rename(file, target)
    except OSError as error:
        raise LogError(f"{file}: cannot be moved to {target} ({error.strerror}); check that folder") from None


def _unchanged_logs(study: Study) -> Iterator[tuple[Path, str, list[str]]]:
    """Yield the file, the path and the sources of each log in ``data/raw`` that is as it was imported.

    The sources of a copy are those of the log that counts.
    """
    marks = read_stamp(study.folder)["files"]
    ids = dict(zip(study.sources["path"], study.sources["source_id"], strict=True))
    copies = CopiedFiles()
    sources = {
        path: [ids.get(copies.original_of(key, name, size) or name, key) for key, name, size in mark["sources"]]
        for path, mark in marks.items()
    }
    # As a list: files are moved meanwhile.
    for file, path, problem in list(iter_entries(str(data_folder("raw") / study.name))):
        if not problem and path in marks and not has_changed(file, marks[path]):
            yield Path(file), path, sources[path]
