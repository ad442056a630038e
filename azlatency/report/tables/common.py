"""What several pages share: units, formats, columns, notes, and the tables that more than one page shows."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Protocol

from azlatency.kit.cells import (
    Column,
    FileRef,
    Ref,
    RunsRef,
    Table,
    number,
    text,
)
from azlatency.kit.objects import Note
from azlatency.stats.result import CODES, SHORT
from azlatency.studies.format import natural_key

if TYPE_CHECKING:
    import pandas as pd

    from azlatency.studies.store.study import Study

MANY_FILES = 40
COUNT = number(",.0f")
TENTHS = number(",.1f")


def spaced(value: object) -> str:
    """Return a name of the manifest as words: "same_zone" as "same zone"."""
    return text(value).replace("_", " ")


def flags(codes: Iterable[str]) -> str:
    """Return the flags of a result in a word or two each; the note explains the bound that all results share."""
    return ", ".join(SHORT[code] for code in dict.fromkeys(codes) if code != "within_run_floor")


def explain(codes: Iterable[str]) -> list[str]:
    """Return a note for each flag: the word in the cell and its sentence."""
    return [f"{SHORT[code][0].upper()}{SHORT[code][1:]}: {CODES[code]}." for code in dict.fromkeys(codes)]


def codes_of(results: Iterable[Any]) -> list[str]:
    """Return the flags of several results."""
    return [code for result in results for code in result.codes]


def from_runs(value: str = "") -> Callable[[Any], Iterable[Ref]]:
    """Return the source of rows with ``run_ids``; ``value`` as in ``RunsRef``."""
    return lambda row: [RunsRef(tuple(row.run_ids), value)]


def from_run(value: str) -> Callable[[Any], Iterable[Ref]]:
    """Return the source of rows about one run, with its ``run_id``."""
    return lambda row: [RunsRef((row.run_id,), value)]


#: The run of a row that has its ``name``.
RUN: Column[Any] = Column("run", attrgetter("name"))
PATH: Column[Any] = Column("path", attrgetter("path"), names_row=True)
METHOD: Column[Any] = Column("method", attrgetter("method"), names_row=True)


def by_name(sources: pd.DataFrame) -> pd.DataFrame:
    """Return the files of a study by name, 2 before 10."""
    return sources.sort_values("path", key=lambda paths: paths.map(natural_key), kind="stable")


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
    files = list(by_name(study.sources).head(MANY_FILES).itertuples(index=False))
    others = len(study.sources) - len(files)
    columns: list[Column[SourceRow]] = [
        Column("file", attrgetter("path")),
        Column("SHA-256 (first 16 digits)", attrgetter("source_id")),
        Column("bytes", attrgetter("size_bytes"), COUNT),
        Column("encoding", attrgetter("encoding")),
    ]
    notes = [f"and {others} more files"] if others else []
    return Table("Files behind this page", columns, files, notes, lambda file: [whole_file(file)])


def whole_file(source: SourceRow) -> FileRef:
    """Return the reference to all lines of a row of ``sources``."""
    return FileRef(source.source_id, line=1, last=int(source.lines))
