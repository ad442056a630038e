"""Did a level change over time? Tables, chart and findings of page 11."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from azlatency.kit import changes as words
from azlatency.kit.cells import MICROSECONDS, PERCENT, Column, Row, RunsRef, Table, Unit, is_missing
from azlatency.kit.drawing import draw
from azlatency.kit.drawing.palette import HUES
from azlatency.kit.findings import act, answer, info
from azlatency.kit.objects import Chart, Finding, Findings, Note
from azlatency.kit.table import count, flags, table, text
from azlatency.kit.titles import capitalised
from azlatency.shapes.lines import lines
from azlatency.shapes.series import series as draw_series
from azlatency.stats.across_runs.run_history import FEWEST, KEYS, VALUE_COLUMNS
from azlatency.stats.across_runs.sightings import LIMITS
from azlatency.stats.across_runs.zone_pairs import pair_of_ends, short_pair
from azlatency.stats.result import SHORT
from azlatency.studies.format import count_of, fitting_unit, format_value, one_prefix
from azlatency.studies.runs.selection import window_ends

if TYPE_CHECKING:
    from azlatency.stats.across_runs.run_history import History

#: Most changes that are listed one by one.
_MOST = 8
_NAMES = {name: text(name, names_row=True) for name in KEYS}


def history(found: History) -> Chart | Note:
    """Draw the points of each series, its levels, and its changes: the largest changes first, as the title has them."""
    searched = found.series[found.series["level"].notna()].set_index("what")
    if searched.empty:
        return Note("No chart: no path was measured often enough for a history.")
    differing = [key for key in KEYS if key == "path" or searched[key].nunique() > 1]
    shared = ", ".join(searched[key].iloc[0] for key in KEYS if key not in differing)
    changes = found.changes.assign(
        panel=_joined(found.changes, differing),
        text=[f"{words.date(row)}: {words.size(row)}" for row in found.changes.to_dict("records")],
    )
    below = {row["what"]: _in_short(row) for row in found.changes.to_dict("records")}
    below |= {row["what"]: words.drifts(row) for row in _drifting(found).to_dict("records")}
    points = _at_ends(found.points[found.points["level"].notna()], found, "date")
    points = points.assign(
        panel=_joined(points, differing),
        below=points["what"].map(lambda what: below.get(what, "")),
        unit=points["unit"].map(_units(points)),
    )
    order = {what: place for place, what in enumerate(words.last_largest_first(found.changes)["what"])}
    points = points.sort_values("what", key=lambda names: names.map(order).fillna(len(order)), kind="stable")
    return draw_series(
        points,
        "value",
        panel="panel",
        changes=changes,
        note="below",
        hint="label",
        unit="unit",
        result=_title(found),
        caption=f"{f'{shared}: {_dots(found)}' if shared else capitalised(_dots(found))}; thick line: level, the "
        "median of the dots between two changes.",
        name="history",
    )


def _units(points: pd.DataFrame) -> dict[str, Unit]:
    """Return the unit of the axes of each quantity, in which all of its points are readable."""
    of_units = points.groupby("unit")["value"]
    return {unit: PERCENT if unit == "fraction" else Unit(*fitting_unit(unit, values)) for unit, values in of_units}


def _joined(rows: pd.DataFrame, columns: list[str]) -> pd.Series:
    """Return the texts of some columns as one."""
    return rows[columns[0]].str.cat([rows[column] for column in columns[1:]], sep=", ")


def _dots(found: History) -> str:
    """Say what the dots are, within a sentence."""
    if window := _window(found):
        return f"each dot is a published mean over {window}, drawn at their end"
    return "each dot is a run, or the median of several that started within two hours"


def _window(found: History) -> str:
    """Return the length of the windows if the series are of published means; empty for runs."""
    lengths = found.series["window_ns"]
    return "" if lengths.isna().any() else words.window_length(lengths.median())


def _at_ends(rows: pd.DataFrame, found: History, *columns: str) -> pd.DataFrame:
    """Return rows whose times are those of the ends of published windows instead of their starts; of runs as it is."""
    if not _window(found):
        return rows
    lengths = pd.Series(found.series["window_ns"].median(), rows.index)
    return rows.assign(**{name: window_ends(rows[name], lengths) for name in columns})


def _title(found: History) -> str:
    searched = int(found.series["level"].notna().sum())
    changed, drifting = int((found.series["change_count"] > 0).sum()), len(_drifting(found))
    if changed:
        return f"{changed} of {searched} series changed, largest: {words.last_changes(found.changes)}"
    if drifting:
        return f"{drifting} of {searched} series drift, and no level changed"
    return f"No level changed in {searched} series"


def _drifting(found: History) -> pd.DataFrame:
    return found.series[found.series["drift"].notna()]


def _in_short(change: Row) -> str:
    """Return the date, the size and the label of a change, for a panel that is 2 in wide."""
    day = words.date(change)
    if pd.notna(change["window_ns"]):
        day = words.when(change)
    return ", ".join(filter(None, [day, words.in_percent(change), change["label"]]))


def changes(found: History) -> Table | Note:
    """Return each change of level with its date, size and label."""
    if found.changes.empty:
        return Note("No level changed.")
    columns: dict[str, Column] = {
        **_NAMES,
        "changed by" if _window(found) else "changed on": text(words.date),
        "before": _value(found, "before"),
        "after": _value(found, "after"),
        "change": text(words.size, right=True),
        "label in force": text(words.labelled, "–"),
    }
    if found.changes["flags"].str.contains("date_of_others").any():
        columns["flags"] = flags(hide=("one_printed_step", "new_tool_version"))
    notes = [
        "Before and after: medians of the points of the two levels (loss: means). Change: difference of the levels, "
        "and ratio (ranks or Welch’s t) with its 95 % interval."
    ]
    if window := _window(found):
        notes.append(
            f"By a day: of windows that do not overlap, the first at the new level is that of the {window} to this "
            "day. The level changed in them or before; the picture of all published windows may show it earlier."
        )
    return table(found.changes, "Changes of level (scope: across runs)", columns, notes, value=_column)


def series(found: History) -> Table | Note:
    """Return the level now of each series, and whether it was long enough to be searched."""
    if found.series.empty:
        return Note("No run of this study has a latency or a goodput.")
    shown = found.series.assign(change_count=found.series["change_count"].where(found.series["level"].notna()))
    columns: dict[str, Column] = {
        **_NAMES,
        "points": count("n"),
        "level now": _value(found, "level", missing="–"),
        "changes": count("change_count"),
        "flags": flags(),
    }
    return table(shown, "Series", columns, value=_column)


# --- published tables: all windows


def over_time(windows: pd.DataFrame, found: History) -> Chart | Note:
    """Draw every published window of each pair between zones or regions, a panel per region.

    Where a region has many pairs, those whose level changed stand out.
    """
    between = _between(windows)
    if between.empty:
        return Note("No chart: no table of windows was published.")
    in_a_region = bool(between["placement"].eq("cross_zone").all())
    newest = between[between["date"] == between["date"].max()]
    title, foremost = _farthest(between)
    has_many = newest.groupby("region")["pair"].nunique().max() > len(HUES)
    return lines(
        between,
        "mean_ns",
        panel="region",
        line="pair",
        marked={*between.loc[between["path"].isin(found.changes["path"]), "pair"], foremost} - {""},
        foremost=foremost,
        limits=LIMITS if in_a_region else (),
        unit=_unit(between),
        result=title,
        caption=draw.caption(
            f"Each line is a pair of {'zones' if in_a_region else 'regions'}. Windows that overlap are drawn, too.",
            ("Dotted: 1 and 2 ms.", in_a_region),
            (f"Of more than {len(HUES)} pairs, only those whose level changed have a colour and a name.", has_many),
        ),
        counted="windows per line",
        of="regions",
        name="over_time",
    )


def _farthest(between: pd.DataFrame) -> tuple[str, str]:
    """Name the pair in use whose newest mean differs most from its first one, and both means; also return the pair."""
    in_use = between[between.groupby("path")["date"].transform("max").eq(between["date"].max())]
    ends = in_use.sort_values("date", kind="stable").groupby("path")["mean_ns"].agg(["first", "last"])
    moved = np.log(ends["last"] / ends["first"]).abs()
    counted, of = count_of(len(ends), "path"), "first to the newest window"
    if not moved.max() > 0:
        return f"{counted}: equal from the {of}", ""
    path = moved.idxmax()
    rows = in_use[in_use["path"] == path]
    like, step = one_prefix(ends.loc[path], "ns"), rows["mean_ns_resolution"].max()
    start, now = (format_value(value, "ns", like=like, step=step) for value in ends.loc[path])
    verb = "fell" if ends.loc[path, "last"] < ends.loc[path, "first"] else "rose"
    # Both directions of a pair of regions are published.
    pair = rows["pair"].iloc[0]
    name = pair if rows["placement"].eq("cross_zone").all() else path
    # The largest change of level may be that of another path.
    return f"From the {of}, {name} {verb} most of {counted}: {start} to {now}", pair


def _unit(windows: pd.DataFrame) -> Unit:
    """Return the unit of an axis: µs within a region, ms between regions."""
    return MICROSECONDS if windows["placement"].eq("cross_zone").all() else Unit(1e6, "ms")


def _between(windows: pd.DataFrame) -> pd.DataFrame:
    """Return the windows between zones, else those between regions, with the name of their pair."""
    far = windows[windows["placement"].isin(["cross_zone", "cross_region"])]
    zones = far[far["placement"] == "cross_zone"]
    chosen = zones if len(zones) else far
    pairs = chosen.drop_duplicates("path").set_index("path").apply(pair_of_ends, axis="columns").map(short_pair)
    return chosen.assign(pair=chosen["path"].map(pairs) if len(chosen) else "")


# --- seen, and not confirmed


def seen(found: History, sightings: pd.DataFrame) -> Table | Note:
    """Return what the series show without a confirmed change."""
    if sightings.empty:
        return Note("Nothing else stands out: no shift near an end, no point off its level.")
    family = found.series.set_index("what")["family"]
    rows = _together(sightings)
    rows = rows.assign(text=[words.seen(row, int(family[row["what"]])) for row in rows.to_dict("records")])
    columns: dict[str, Column] = {
        **_NAMES,
        "seen": text("text"),
        "before": _value(found, "before"),
        "after": _value(found, "after"),
    }
    notes = ["Before and after: medians of the points on both sides."]
    if window := _window(found):
        notes.append(f"Dates are the ends of windows of {window}; windows that overlap may show it earlier.")
    return table(rows, "Seen, and not confirmed", columns, notes, value=_column)


def _together(sightings: pd.DataFrame) -> pd.DataFrame:
    """Join the points of a series that came and went: the farthest one stands for all, with the number of ``times``."""
    away = words.sizes(sightings["ratio"])
    times = sightings.groupby(["what", "kind"], dropna=False)["kind"].transform("size")
    farthest = away.groupby([sightings["what"], sightings["kind"]], dropna=False).transform("max") == away
    return sightings.assign(times=times)[(sightings["kind"] != "came_and_went") | farthest]


def _value(found: History, name: str, missing: str = "") -> Column:
    """Return a column of values, each with the unit that fits it; published means have fewer digits than runs."""
    digits = 3 if _window(found) else 4

    def shown(row: Row) -> str:
        return "" if is_missing(row[name]) else format_value(row[name], row["unit"], digits=digits)

    return text(shown, missing, right=True)


def _column(row: Row) -> str:
    """Return the column of a run table that the series is of."""
    return VALUE_COLUMNS.get(row["metric"], str(row["metric"]))


def find(found: History, sightings: pd.DataFrame) -> Findings:
    """Say which levels changed, when and by how much, and what else was seen."""
    searched = found.series[found.series["level"].notna()]
    if searched.empty:
        return Findings.of([info(f"No series has {FEWEST} points, so no change of level can be found.")])
    changed = int((searched["change_count"] > 0).sum())
    findings: list[Finding] = []
    if changed:
        largest = words.last_largest_first(found.changes).head(2).to_dict("records")
        last = "; ".join(f"{row['metric']} **{words.in_percent(row)}** ({row['path']})" for row in largest)
        refs = [[RunsRef(tuple(row["run_ids"].split()), _column(row))] for row in largest]
        findings.append(answer(f"{changed} of {len(searched)} series changed, largest: {last}.", refs))
    else:
        result = f"**No level changed** in {len(searched)} series of up to {searched['n'].max()} points."
        findings.append(answer(result))
    findings += [info(f"{sentence}.") for sentence in words.together(found.changes)]
    for row in _drifting(found).head(_MOST).to_dict("records"):
        findings.append(act(f"{row['what']}: {words.drifts(row)}, without a date."))
    for row in words.largest_first(found.changes).head(_MOST).to_dict("records"):
        parts = [words.say_change(row), words.on_the_way(row, sightings), words.new_version(row)]
        findings.append(act(f"{'; '.join(filter(None, parts))}."))
    if len(found.changes) > _MOST:
        more = count_of(len(found.changes) - _MOST, "smaller change")
        findings.append(info(f"Also in the table: {more}."))
    findings += [info(sentence) for sentence in words.in_short_seen(sightings)]
    for code in ("clock_set_back", "nights_missing", "order_assumed"):
        if flagged := searched["flags"].str.split().map(lambda codes, code=code: code in codes).sum():
            findings.append(info(f"{capitalised(SHORT[code].rstrip('?'))}: {flagged} of {len(searched)} series."))
    return Findings.of(findings)
