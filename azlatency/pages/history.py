"""Did a level change, night after night? Tables, chart and findings of page 11."""

from __future__ import annotations

from typing import TYPE_CHECKING

from azlatency.kit import changes as words
from azlatency.kit.cells import PERCENT, Column, Table, is_missing
from azlatency.kit.cells import words as in_words
from azlatency.kit.findings import act, answer, info
from azlatency.kit.objects import Chart, Finding, Findings, Note
from azlatency.kit.table import Row, count, flags, table, text
from azlatency.kit.units import read_in
from azlatency.shapes.series import series as draw_series
from azlatency.stats.across_runs.run_history import FEWEST, KEYS, VALUE_COLUMNS
from azlatency.stats.result import SHORT
from azlatency.studies.format import format_value

if TYPE_CHECKING:
    import pandas as pd

    from azlatency.stats.across_runs.run_history import History

#: Most changes that are listed one by one.
_MOST = 8
_NAMES = {name: text(name, names_row=True) for name in KEYS}


def history(found: History) -> Chart | Note:
    """Draw the points of each series, its levels, and its changes; series that changed are preferred if many."""
    searched = found.series[found.series["level"].notna()].set_index("what")
    if searched.empty:
        return Note("No chart: no path was measured often enough for a history.")
    changes = found.changes.assign(
        text=[f"{words.date(row)}: {words.size(row)}" for row in found.changes.to_dict("records")]
    )
    below = {row["what"]: _in_short(row) for row in found.changes.to_dict("records")}
    below |= {row["what"]: words.drifts(row) for row in _drifting(found).to_dict("records")}
    points = found.points[found.points["level"].notna()]
    points = points.assign(
        below=points["what"].map(lambda what: below.get(what, "")),
        unit=points["unit"].map(lambda unit: PERCENT if unit == "fraction" else read_in(unit)),
    )
    return draw_series(
        points,
        "value",
        panel="what",
        changes=changes,
        note="below",
        hint="label",
        unit="unit",
        result=_title(found),
        caption=(
            "Each dot is a run, or the median of a night with several; thick line: level, the median of the dots "
            "between two changes."
        ),
        name="history",
    )


def _title(found: History) -> str:
    searched = int(found.series["level"].notna().sum())
    changed, drifting = int((found.series["change_count"] > 0).sum()), len(_drifting(found))
    if changed:
        return f"{changed} of {searched} series changed: {words.last_changes(found.changes)}"
    if drifting:
        return f"{drifting} of {searched} series drift, and no level changed"
    return f"No level changed in {searched} series"


def _drifting(found: History) -> pd.DataFrame:
    return found.series[found.series["drift"].notna()]


def _in_short(change: Row) -> str:
    """Return the date, the size and the label of a change."""
    return ", ".join(filter(None, [words.date(change), words.percent(change), change["label"]]))


def changes(found: History) -> Table[Row] | Note:
    """Return each change of level with its date, size and label."""
    if found.changes.empty:
        return Note("No level changed.")
    columns: dict[str, Column[Row]] = {
        **_NAMES,
        "changed on": Column("", words.date, in_words()),
        "before": _value("before"),
        "after": _value("after"),
        "change": Column("", words.size, in_words(), align="right"),
        "label in force": Column("", words.labelled, in_words(missing="–")),
    }
    notes = [
        "Before and after: medians of the points of the two levels (loss: means). Change: difference of the levels, "
        "and ratio (Hodges–Lehmann) with its 95 % interval."
    ]
    return table(found.changes, "Changes of level (scope: across runs)", columns, notes, value=_column)


def series(found: History) -> Table[Row] | Note:
    """Return the level now of each series, and whether it was long enough to be searched."""
    if found.series.empty:
        return Note("No run of this study has a latency or a goodput.")
    shown = found.series.assign(change_count=found.series["change_count"].where(found.series["level"].notna()))
    columns: dict[str, Column[Row]] = {
        **_NAMES,
        "points": count("n"),
        "level now": _value("level", missing="–"),
        "changes": count("change_count"),
        "flags": flags(),
    }
    return table(shown, "Series", columns, value=_column)


def _value(name: str, missing: str = "") -> Column[Row]:
    """Return a column of values, each with the unit that fits it."""

    def shown(row: Row) -> str:
        return "" if is_missing(row[name]) else format_value(row[name], row["unit"], digits=4)

    return Column("", shown, in_words(missing=missing), align="right")


def _column(row: Row) -> str:
    """Return the column of a run table that the series is of."""
    return VALUE_COLUMNS.get(row["metric"], str(row["metric"]))


def find(found: History) -> Findings:
    """Say which levels changed, when and by how much."""
    searched = found.series[found.series["level"].notna()]
    if searched.empty:
        return Findings.of([info(f"No series has {FEWEST} points, so no change of level can be found.")])
    changed = int((searched["change_count"] > 0).sum())
    result = f"**No level changed** in {len(searched)} series of up to {searched['n'].max()} points."
    if changed:
        last = words.last_changes(found.changes)
        result = f"**{changed} of {len(searched)} series** changed their level: {last}."
    findings: list[Finding] = [answer(result)]
    findings += [info(f"{sentence}.") for sentence in words.together(found.changes)]
    for row in _drifting(found).head(_MOST).to_dict("records"):
        findings.append(act(f"{row['what']}: {words.drifts(row)}, without a date."))
    for row in found.changes.head(_MOST).to_dict("records"):
        version = "; new version of the tool" if row["flags"] else ""
        findings.append(act(f"{words.say_change(row)}{version}."))
    if len(found.changes) > _MOST:
        findings.append(info(f"{len(found.changes) - _MOST} more changes are in the table."))
    for code in ("clock_set_back", "nights_missing", "order_assumed"):
        if flagged := searched["flags"].str.split().map(lambda codes, code=code: code in codes).sum():
            findings.append(info(f"{SHORT[code].rstrip('?').capitalize()}: {flagged} of {len(searched)} series."))
    return Findings.of(findings)
