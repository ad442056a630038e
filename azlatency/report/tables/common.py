"""What several pages share: the format of counts, and the files behind a page."""

from __future__ import annotations

from operator import attrgetter
from typing import TYPE_CHECKING, Protocol

from azlatency.kit.cells import Column, FileRef, Table, number
from azlatency.kit.objects import Note
from azlatency.studies.format import natural_key

if TYPE_CHECKING:
    from azlatency.studies.store.study import Study

#: Most files that are listed.
_MOST_FILES = 40
COUNT = number(",.0f")


class SourceRow(Protocol):
    """A row of the table ``sources``."""

    path: str
    source_id: str
    size_bytes: int
    lines: int
    encoding: str


def provenance(study: Study) -> Table[SourceRow] | Note:
    """Return the files behind the page: path, hash, size, encoding."""
    if not len(study.sources):
        return Note("No log files; the numbers come from the tables of the study's folder.")
    by_name = study.sources.sort_values("path", key=lambda paths: paths.map(natural_key), kind="stable")
    files = list(by_name.head(_MOST_FILES).itertuples(index=False))
    others = len(study.sources) - len(files)
    columns: list[Column[SourceRow]] = [
        Column("file", attrgetter("path")),
        Column("SHA-256 (first 16 digits)", attrgetter("source_id")),
        Column("bytes", attrgetter("size_bytes"), COUNT),
        Column("encoding", attrgetter("encoding")),
    ]
    notes = [f"and {others} more files"] if others else []

    def source(file: SourceRow) -> list[FileRef]:
        return [FileRef(file.source_id, line=1, last=int(file.lines))]

    return Table("Files behind this page", columns, files, notes, source)
