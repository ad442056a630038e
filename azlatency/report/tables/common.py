"""What several pages share: units, formats, columns, notes, and the tables that more than one page shows."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Protocol

from azlatency.kit.cells import (
    Column,
    FileRef,
    Format,
    Ref,
    RunsRef,
    Table,
    Unit,
    interval,
    number,
    words,
)
from azlatency.kit.objects import Note
from azlatency.kit.units import level
from azlatency.stats.result import CODES, SHORT, Estimate, results_only
from azlatency.studies.format import decimals_for, format_number, interval_decimals, natural_key
from azlatency.studies.runs.groups import grouped

if TYPE_CHECKING:
    import pandas as pd

    from azlatency.studies.store.study import Study

MANY_FILES = 40
VERDICTS = {
    "different": "different",
    "different_within_margin": "different, within the margin",
    "equivalent": "practically equivalent",
    "inconclusive": "inconclusive",
}
COUNT = number(",.0f")
TENTHS = number(",.1f")


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


#: The run of a row that has its ``name``, and the flags of a row that has ``codes``.
RUN: Column[Any] = Column("run", attrgetter("name"))
METHOD: Column[Any] = Column("method", attrgetter("method"), names_row=True)
LABELLED_PATH: Column[Any] = Column("path", lambda row: row.labels.get("path"), names_row=True)
LABELLED_METHOD: Column[Any] = Column("method", lambda row: row.labels.get("method"), names_row=True)
FLAGS: Column[Any] = Column("flags", attrgetter("codes"), words(flags))


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


def _with_ends(row: Any) -> tuple[float | None, ...]:
    """Return an estimate with its interval; equal ends show the rounding of the tool and are left out."""
    return (row.estimate, None, None) if row.low == row.high else (row.estimate, row.low, row.high)


def _by_width(value: tuple[float | None, ...], scale: float) -> tuple[str, ...]:
    """Return an estimate and the ends of its interval with as many digits as the interval supports."""
    estimate, low, high = value
    if low is None or high is None:
        return number(",.5g").text(estimate, scale), "", ""
    decimals = max(interval_decimals(low, high, scale), decimals_for((estimate or 0.0) / scale))
    return tuple("" if end is None else format_number(end / scale, decimals) for end in value)


_POINT = Format(lambda value, scale: _by_width(value, scale)[0], numbers=lambda value: value[:1])
_ENDS = Format(
    lambda value, scale: " – ".join(filter(None, _by_width(value, scale)[1:])),
    ("low", "high"),
    numbers=lambda value: value[1:],
    pieces=lambda value, scale: _by_width(value, scale)[1:],
)


@results_only
def paths_table(
    runs: pd.DataFrame, estimates: Sequence[Estimate], value: str, quantity: str, unit: Unit, caption: str
) -> Table[Estimate]:
    """Return one row per path and method: the range of the values of its runs, and the interval across them."""
    measured = runs[runs[value].notna()]
    values = {key: group[value].astype(float) for key, group in grouped(measured, ["path", "method"])}

    def span(estimate: Estimate) -> tuple[float, float] | tuple[None, None]:
        of_path = values.get((estimate.labels["path"], estimate.labels["method"]))
        return (None, None) if of_path is None else (of_path.min(), of_path.max())

    columns: list[Column[Estimate]] = [
        LABELLED_PATH,
        LABELLED_METHOD,
        Column("runs", attrgetter("n"), COUNT),
        Column(quantity, span, interval(",.5g", join_equal=True), unit),
        Column("typical run", _with_ends, _POINT, unit),
        Column(f"{level(estimates[0].confidence)} interval", _with_ends, _ENDS, unit),
        FLAGS,
    ]
    return Table(f"{caption} (scope: across runs)", columns, estimates, explain(codes_of(estimates)), from_runs(value))
