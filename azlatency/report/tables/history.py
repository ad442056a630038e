"""Tables of the page "Night after night"."""

from __future__ import annotations

from collections.abc import Sequence
from operator import attrgetter
from typing import TYPE_CHECKING, NamedTuple

from azlatency.kit.cells import Column, RunsRef, Table, words
from azlatency.kit.objects import Note
from azlatency.report.tables.common import COUNT, codes_of, explain, flags
from azlatency.stats.across_runs.run_history import VALUE_COLUMNS
from azlatency.stats.result import results_only
from azlatency.studies.format import format_value

if TYPE_CHECKING:
    from azlatency.stats.across_runs.run_history import Change, RunHistory


class ChangeRow(NamedTuple):
    """A change of a series."""

    series: RunHistory
    change: Change


@results_only
def changes(series: Sequence[RunHistory]) -> Table[ChangeRow] | Note:
    """Return each change of level with its date, size and label; ``series`` as `azlatency.history` returns them."""
    rows = [ChangeRow(one, change) for one in series for change in one.changes]
    if not rows:
        return Note("No level changed.")
    columns: list[Column[ChangeRow]] = [
        Column("path", lambda row: row.series.labels["path"], words()),
        Column("method", lambda row: row.series.labels["method"], words()),
        Column("metric", lambda row: row.series.labels["metric"], words()),
        Column("changed on", lambda row: row.change.date, words()),
        Column("before", lambda row: _value(row.series, row.change.before), words(), align="right"),
        Column("after", lambda row: _value(row.series, row.change.after), words(), align="right"),
        Column("change", lambda row: row.change.size, words(), align="right"),
        Column("label in force", lambda row: row.change.labelled, words(missing="–")),
    ]
    notes = [
        "Before and after: medians of the points of the two levels (loss: means). Change: difference of the levels, "
        "and ratio (Hodges–Lehmann) with its 95 % interval.",
        *explain(codes_of([row.change for row in rows])),
    ]
    return Table("Changes of level (scope: across runs)", columns, rows, notes, _source_of_change)


@results_only
def series(series: Sequence[RunHistory]) -> Table[RunHistory] | Note:
    """Return the level now of each series, and whether it was long enough to be searched."""
    if not series:
        return Note("No run of this study has a latency or a goodput.")
    columns: list[Column[RunHistory]] = [
        Column("path", lambda row: row.labels["path"], words()),
        Column("method", lambda row: row.labels["method"], words()),
        Column("metric", lambda row: row.labels["metric"], words()),
        Column("points", attrgetter("n"), COUNT),
        Column("level now", lambda row: _value(row, row.level), words(missing="–"), align="right"),
        Column("changes", lambda row: len(row.changes) if not row.refused else None, COUNT),
        Column("flags", lambda row: list(row.codes), words(flags)),
    ]
    return Table("Series", columns, list(series), explain(codes_of(series)), _source)


def _value(one: RunHistory, value: float | None) -> str:
    return "" if value is None else format_value(value, one.unit, digits=4)


def _source(one: RunHistory) -> list[RunsRef]:
    return [RunsRef(one.run_ids, VALUE_COLUMNS.get(one.labels["metric"], one.labels["metric"]))]


def _source_of_change(row: ChangeRow) -> list[RunsRef]:
    return _source(row.series)
