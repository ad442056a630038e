"""Changes of level in words: of the rows of `azlatency.history`, for page, card and command."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import pandas as pd

from azlatency.kit.cells import is_missing
from azlatency.stats.across_runs.run_history import History
from azlatency.studies.format import (
    count_of,
    format_value,
    interval_decimals,
    percent,
    signed,
    signed_value,
)
from azlatency.studies.runs.left_out import named
from azlatency.studies.runs.selection import window_ends

Row = Mapping[str, Any]
#: From so many paths on, changes of one date are named together; and the most that are named, also of short series.
_FEWEST_TOGETHER, _MOST_NAMED, _MOST_SHORT = 3, 4, 8
#: From so many series on, shifts after their first points may have one cause, if these end within so many points.
_MANY, _WITHIN = 5, 4
#: Length of a day in ns, and the units of the length of a window.
_DAY = 86_400e9
_LENGTHS = ((_DAY, "day"), (3600e9, "hour"), (60e9, "minute"), (1e9, "second"))
#: What the sightings of each kind are called together.
_SEEN = {
    "unconfirmed": "{n} more series may have changed; the correction for all series leaves it open ({which})",
    "oldest": "{n} series moved after the first points, too few to test ({which})",
    "newest": "In {n} series, the last points differ from those before: too few to test ({which})",
    "ended": "In {n} series that ended earlier, the last points differ from those before ({which})",
    "came_and_went": "In {n} series, fewer than five points were off their level ({which})",
    "crossed": "{n} series crossed 1 or 2 ms and stayed there, without a confirmed change ({which})",
    "short": "{n} series with fewer than ten points moved, too few to test ({which})",
}
#: Below this ratio, a fall in whole percent would be one by all of it.
_NEAR_NOTHING = 0.005
#: Flag of levels that differ by no more than one step of the printed numbers.
_ONE_STEP = "one_printed_step"


def date(change: Row) -> str:
    """Return when the new level began: the day, with the time if the interval is within it, or the run.

    Of published windows, the day on which the first one at the new level ended; of a date that may be anywhere, its
    interval.
    """
    start, low, high = change["date"], change["date_low"], change["date_high"]
    if pd.isna(start):
        return f"run {change['at'] + 1}"
    if not date_is_known(change):
        days = dict.fromkeys(day_of(end, change["window_ns"]) for end in (low, high))
        return " – ".join(days) if len(days) > 1 else f"{low:%Y-%m-%d %H:%M} – {high:%H:%M}"
    if _is_of_windows(change):
        return day_of(start, change["window_ns"])
    in_a_day = low.date() == high.date() and low != high
    return f"{start:%Y-%m-%d %H:%M}" if in_a_day else f"{start:%Y-%m-%d}"


def date_with_interval(change: Row) -> str:
    """Return the date of a change with its interval."""
    start, low, high = change["date"], change["date_low"], change["date_high"]
    if pd.isna(start):
        return f"{date(change)} ({change['at_low'] + 1}–{change['at_high'] + 1})"
    if low == high or not date_is_known(change):
        return date(change)
    if _is_of_windows(change):
        low, high = (window_end(end, change["window_ns"]) for end in (low, high))
    if low.date() == high.date():
        return f"{date(change)} ({low:%H:%M} – {high:%H:%M})"
    # The year stands before the interval, if it is the same.
    year = (start if is_missing(change["window_ns"]) else window_end(start, change["window_ns"])).year
    ends = (f"{end:%m-%d}" if end.year == year else f"{end:%Y-%m-%d}" for end in (low, high))
    return f"{date(change)} ({' – '.join(ends)})"


def when(change: Row, day: str = "") -> str:
    """Return when a level changed, as in "on 2026-09-26"; ``day`` stands for the date, as with its interval.

    "By" a day: of published windows, the change was in the window that ends on that day or before it.
    """
    start = "at" if pd.isna(change["date"]) else "by" if _is_of_windows(change) else "on"
    if start != "at" and not date_is_known(change):
        return f"between {date(change).replace(' – ', ' and ')}"
    return f"{start} {day or date(change)}"


def date_is_known(changes: Row | pd.DataFrame) -> Any:
    """Whether the interval of the date of a change is at most half as long as its series; of a frame, by row."""
    return changes["at_high"] - changes["at_low"] <= changes["n"] / 2


def changed(change: Row, day: str = "") -> str:
    """Return "changed on 2026-09-26"; ``day`` as in `when`."""
    return f"changed {when(change, day)}"


def window_length(window_ns: float) -> str:
    """Return the length of a window in the largest unit of which it is about a whole number: "30 days", "36 hours"."""
    counts = {name: window_ns / unit for unit, name in _LENGTHS}
    name = next((name for name, count in counts.items() if abs(count - round(count)) <= 0.05 * round(count)), "second")
    return count_of(round(counts[name]), name)


def window_end(start: pd.Timestamp, window_ns: float) -> pd.Timestamp:
    """Return when one window ended, as `window_ends` does of many; of less than a day, the time."""
    if window_ns < _DAY:
        return start + pd.Timedelta(window_ns, "ns")
    return window_ends(pd.Series([start]), pd.Series([window_ns])).iloc[0]


def _is_of_windows(change: Row) -> bool:
    """Return whether the points are means that were published for windows of time, whose starts date nothing."""
    return not (pd.isna(change["date"]) or pd.isna(change["window_ns"]))


def difference(change: Row) -> str:
    """Return the difference of the levels and the ratio: "+120 µs (+14 %"; no ratio where there is none."""
    gap = change["after"] - change["before"]
    step = abs(gap) if is_rounding(change) else 0.0
    levels = " → ".join(format_value(change[end], change["unit"], step=step) for end in ("before", "after"))
    if step:
        return f"{levels}, one printed step: size unknown"
    if not math.isfinite(gap):
        return levels
    text = signed_value(gap, change["unit"], like=abs(gap) or None, step=_step(change))
    return text if is_missing(change["ratio"]) else f"{text} ({_percent(change['ratio'], _decimals(change))} %)"


def _decimals(change: Row) -> int:
    """Return the decimals that the interval of a ratio, in percent, supports; one without an interval."""
    ends = change["ratio_low"], change["ratio_high"]
    return 1 if any(map(is_missing, ends)) else min(interval_decimals(*ends, scale=0.01), 1)


def _step(change: Row) -> float:
    """Return the last digit of a difference that the interval of its ratio supports; 0 without an interval."""
    width = (change["ratio_high"] - change["ratio_low"]) / 2 * change["before"]
    return 0.0 if is_missing(width) or width <= 0 else 10.0 ** math.floor(math.log10(width))


def size(change: Row) -> str:
    """Return the difference and the ratio with its interval: "+120 µs (+14.0 %, 95 % CI +13.1 to +15.2)"."""
    low, high = change["ratio_low"], change["ratio_high"]
    if is_missing(low) or is_missing(high) or is_rounding(change):
        return difference(change)
    digits = _decimals(change)
    interval = f"{percent(change['confidence'])} CI {_percent(low, digits)} to {_percent(high, digits)}"
    return f"{difference(change).removesuffix(')')}, {interval})"


def in_percent(change: Row) -> str:
    """Return the size of a change of level in percent, the same as `size` gives, else both levels."""
    if any(math.isinf(change.get(end, 0.0)) for end in ("before", "after")):
        return "lost" if math.isinf(change["after"]) else "no longer lost"
    if not change["before"] or is_rounding(change):
        return size(change)
    ratio = change["after"] / change["before"] if is_missing(change["ratio"]) else change["ratio"]
    return f"{_percent(ratio, 1 if ratio < _NEAR_NOTHING else 0)} %"  # what is left is no "−100 %"


def is_rounding(change: Row) -> bool:
    """Return whether the levels differ by one step of the numbers that the logs print."""
    return _ONE_STEP in change.get("flags", "").split()


def at_date_of_others(change: Row) -> bool:
    """Return whether a series shows its change only at the date at which others changed."""
    return "date_of_others" in change.get("flags", "").split()


def last_of_each(found: History) -> pd.DataFrame:
    """Return the last change of each series, the largest first; none of runs whose order is only assumed."""
    assumed = found.series.loc[found.series["flags"].str.contains("order_assumed"), "what"]
    return last_largest_first(found.changes[~found.changes["what"].isin(assumed)])


def largest_first(changes: pd.DataFrame) -> pd.DataFrame:
    """Return changes with the largest ratios first; those that a step of the printed numbers explains are last."""
    away = sizes((changes["after"] / changes["before"]).where(changes["before"] > 0, math.inf))
    rounded = changes["flags"].str.split().map(lambda flags: _ONE_STEP in flags)
    return changes.loc[away.where(~rounded, 0.0).sort_values(ascending=False, kind="stable").index]


def sizes(ratios: pd.Series) -> pd.Series:
    """Return how far ratios are from 1: a half is as far as 2, and 0 as far as can be."""
    return ratios.map(lambda ratio: abs(math.log(ratio)) if ratio > 0 else math.inf)


def last_largest_first(changes: pd.DataFrame) -> pd.DataFrame:
    """Return the last change of each series, the largest first."""
    return largest_first(changes.drop_duplicates("what", keep="last"))


def last_changes(changes: pd.DataFrame) -> str:
    """Name the last changes of the two series with the largest: "median +7 % (a → b); goodput −50 % (b → a)"."""
    last = last_largest_first(changes).head(2)
    return "; ".join(f"{row['metric']} {in_percent(row)} ({row['path']})" for row in last.to_dict("records"))


def together(changes: pd.DataFrame) -> list[str]:
    """Name the paths that changed on one date, if they are at least three: they may have one cause."""
    found = []
    dated = changes[date_is_known(changes).astype(bool)].dropna(subset="date")
    for _, of_date in dated.groupby("date", sort=True, dropna=True):
        paths = list(dict.fromkeys(of_date["path"]))
        if len(paths) >= _FEWEST_TOGETHER:
            first = of_date.iloc[0].to_dict()
            advice = "look for one cause, such as a shared link or another way of measuring"
            if _is_of_windows(first):
                advice = (
                    "changes that are weeks apart fall into one window, so compare all windows before you " + advice
                )
            found.append(f"{len(paths)} paths {changed(first)} ({named(paths, _MOST_NAMED)}): {advice}")
    return found


def on_the_way(change: Row, sightings: pd.DataFrame) -> str:
    """Name the points between the levels of a change, which was more than one step; empty if there are not several."""
    rows = sightings[(sightings["kind"] == "on_the_way") & (sightings["what"] == change["what"]) & (sightings["n"] > 1)]
    rows = rows[(rows["at"] + rows["n"] == change["at"]) | (rows["at"] == change["at"])]
    return (
        f"in more than one step, with {count_of(int(rows['n'].sum()), 'point')} between the levels" if len(rows) else ""
    )


def seen(row: Row, family: int) -> str:
    """Say what was seen, and why it is no change of level."""
    start, end = (day_of(row[name], row["window_ns"]) for name in ("date", "date_last"))
    size, points = in_percent(row), count_of(row["n"], "point")
    if row["kind"] == "unconfirmed":
        return f"{size} since {start}: significant for this series alone, not among all {family}"
    few = "point" if row["n"] == 1 else points
    if row["kind"] == "oldest":
        if not is_missing(row["window_ns"]):
            first = "disjoint window" if row["n"] == 1 else count_of(row["n"], "disjoint window")
            return f"{size} from the first {first} (to {end}) to later ones: too few to test"
        return f"{size} after the first {few}, until {end}: too few to test"
    if row["kind"] == "newest":
        against = f" against the {row['beside']} before" if row.get("beside") else ""
        if is_missing(row["window_ns"]):
            return f"{size} in the last {few}{against}, since {start}: too few to test"
        few = "disjoint window" if row["n"] == 1 else count_of(row["n"], "disjoint window")
        return f"{size} in the last {few}{against}, by {start}: too few to test"
    if row["kind"] == "short":
        return f"{size} from the first to the last of {points}: too few to test"
    if row["kind"] in ("came_and_went", "on_the_way"):
        text = f"{size} for {points}, {start}" + (f" to {end}" if end != start else "")
        if row["kind"] == "on_the_way":
            return f"{text}, on the way to the next level"
        return text if row.get("times", 1) == 1 else f"left its level {row['times']} times, at most by {text}"
    side = "below" if row["after"] < row["limit"] else "above"
    since = "since" if is_missing(row["window_ns"]) else "in all disjoint windows since"
    return f"{side} {format_value(row['limit'], 'ns', digits=1)} {since} {start}"


def in_short_seen(sightings: pd.DataFrame) -> list[str]:
    """Return a sentence for each kind of what no test confirms; shifts at the beginning of many series are one.

    ``sightings``: as returned by `azlatency.stats.sightings`. Points on the way belong to the sentence of their change.
    """
    ordered = sightings.sort_values("ratio", key=sizes, ascending=False, kind="stable").drop_duplicates(
        ["what", "kind"]
    )
    ordered = ordered.assign(kind=ordered["kind"].mask((ordered["kind"] == "newest") & ordered["ended"], "ended"))
    first = ordered[ordered["kind"] == "oldest"]
    together = first_together(first)
    many = ordered["metric"].nunique() > 1
    sentences = []
    for kind, text in _SEEN.items():
        rows = ordered[ordered["kind"] == kind].drop(together.index, errors="ignore")
        if len(rows):
            sentences.append(f"{text.format(n=len(rows), which=_largest(rows, many=many))}.")
        if kind == "oldest" and len(together):
            until = day_of(together["date_last"].max(), together["window_ns"].iloc[0])
            # A percentile that is lost has no ratio.
            ratios = together.loc[together["ratio"].between(0, math.inf, inclusive="neither"), "ratio"]
            ends = [ratios.min(), ratios.max()] if len(ratios) else []
            by = " to ".join(in_percent({"before": 1.0, "ratio": end}) for end in ends)
            moved = f"{len(together)} series moved{f' by {by}' if by else ''}"
            sentences.append(
                f"{moved} after their first points, until {until} at the latest ({_largest(together, many=many)}): "
                "too few points to test. So many together: look for a change of the "
                "method, or a disturbance of the first points."
            )
    return sentences


def first_together(first: pd.DataFrame) -> pd.DataFrame:
    """Return the most series whose first points end within a few points of each other; none if they are not many."""
    ends = first["date_last"]
    most = first if ends.isna().all() else first[:0]
    for row in first[ends.notna()].to_dict("records"):
        after = ends - row["date_last"]
        near = first[(after >= pd.Timedelta(0)) & (after <= pd.Timedelta(_WITHIN * row["spacing_ns"], "ns"))]
        most = max(most, near, key=len)
    return most if len(most) >= _MANY else first[:0]


def _largest(rows: pd.DataFrame, *, many: bool) -> str:
    """Name the series of the first rows, of several metrics in full, and the size or since when it crossed."""
    texts = []
    for row in rows.to_dict("records"):
        size = seen(row, 0) if row["kind"] == "crossed" else in_percent(row)
        texts.append(f"{row['what'].replace(', ', ' ') if many else row['path']} {size}")
    # Short series have no rows that name them.
    return named(texts, _MOST_SHORT if rows["kind"].iloc[0] == "short" else _MOST_NAMED)


def day_of(start: pd.Timestamp, window_ns: float) -> str:
    """Return the day of a point, or on which its window ended; logs without times have none."""
    if pd.isna(start):
        return "an unknown date"
    if is_missing(window_ns):
        return f"{start:%Y-%m-%d}"
    return f"{window_end(start, window_ns):{'%Y-%m-%d' if window_ns >= _DAY else '%Y-%m-%d %H:%M'}}"


def in_force(change: Row) -> str:
    """Return the label in force, with the one before if it is another; empty if none is known."""
    label, before = change["label"], change["label_before"]
    if not label:
        return ""
    return f"label {label}" + (f" (before: {before})" if before and before != label else "")


def new_version(change: Row) -> str:
    """Say that the version of the tool changed at the same time; empty if it did not."""
    return "new version of the tool" if "new_tool_version" in change["flags"].split() else ""


def labelled(change: Row) -> str:
    """Return what is known about the change besides its size: the label in force, and a new version of the tool."""
    return "; ".join(filter(None, [in_force(change), new_version(change)]))


def drifts(series: Row) -> str:
    """Say how far a series drifts over all its points; empty if it does not."""
    if is_missing(series["drift"]):
        return ""
    return f"drifts by {_percent(series['drift'])} % over {count_of(series['n'], 'point')}"


def say_change(change: Row) -> str:
    """Return a change in a sentence, without what its flags say."""
    note = in_force(change)
    return f"{change['what']}: {changed(change)}: {size(change)}" + (f"; {note}" if note else "")


def say_series(series: Row) -> str:
    """Return the level now of a series in a sentence, and whether it changed."""
    points = count_of(series["n"], "point")
    if is_missing(series["level"]):
        return f"{series['what']}: not estimable, {points}"
    text = f"no change found in {points}"
    if series["change_count"]:
        before = format_value(series["before"], series["unit"])
        text = f"{count_of(series['change_count'], 'change')} in {points}, {before} before the last one"
    return f"{series['what']}: {format_value(series['level'], series['unit'])}, {drifts(series) or text}"


def _percent(ratio: float, decimals: int = 1) -> str:
    """Return a ratio as a change in percent, with its sign."""
    return signed(100 * (ratio - 1), decimals)
