"""Which levels changed over time: for the card of a study, the first page, and the table of a summary."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from azlatency.kit.cells import Row, RunsRef, Table
from azlatency.kit.changes import changed, date, difference, in_percent, is_rounding, last_of_each, on_the_way, when
from azlatency.kit.objects import Note
from azlatency.kit.sentences import Linked, Sentence, listed
from azlatency.kit.table import table, text
from azlatency.kit.titles import capitalised
from azlatency.stats.across_runs.run_history import VALUE_COLUMNS
from azlatency.stats.across_runs.sightings import sightings
from azlatency.stats.across_runs.zone_pairs import pair_of_ends, short_pair
from azlatency.studies.format import count_of, format_number, format_value, join_words

if TYPE_CHECKING:
    from azlatency.stats.across_runs.run_history import History

#: Most series that a card names, and most of one date that the first page names.
_MOST, _MOST_OF_A_DATE = 2, 6


def changed_levels(found: History) -> Sentence:
    """Say which levels changed most, when and by how much; empty if none did."""
    seen = sightings(found)
    last = last_of_each(found)
    sentence: Sentence = ()
    moment = ""
    for row in last.head(_MOST).to_dict("records"):
        start = f"; {when(row)}: " if sentence else f"{capitalised(changed(row))}: "
        start, moment = " and " if when(row) == moment else start, when(row)
        sentence += (f"{start}{row['path']}, {row['metric']} ", Linked(difference(row), _points_of(row)))
        if steps := on_the_way(row, seen):
            sentence += (f", {steps}",)
    searched = found.series["level"].notna().sum()
    more = f" ({len(last)} of {searched} series changed)" if len(last) > _MOST else ""
    return (*sentence, f"{more}. ") if sentence else ()


def changes_by_date(found: History, runs: pd.DataFrame) -> Sentence:
    """Say which series changed, newest first, and by how much; and the regions in which no change is confirmed.

    ``runs``: all runs of the study, which name the regions and zones of a path.
    """
    last = last_of_each(found)
    if last.empty:
        return ()
    names, many = _names(runs), found.series["metric"].nunique() > 1
    rounded = last.apply(is_rounding, axis="columns")
    by_date: dict[str, list[Sentence]] = {}
    for row in last[~rounded].sort_values("date", ascending=False, kind="stable").to_dict("records"):
        name = ", ".join([names[row["path"]], *([row["metric"]] if many else [])])
        by_date.setdefault(when(row), []).append((f"{name} ", Linked(in_percent(row), _points_of(row))))
    sentence: Sentence = (f"{len(last)} of {found.series['level'].notna().sum()} series",)
    for moment, changes in by_date.items():
        some = listed(changes)
        if len(changes) > _MOST_OF_A_DATE:
            some = (f"{count_of(len(changes), 'path')}, from ", *changes[0], " to ", *changes[-1])
        sentence += (f"; {moment}: ", *some)
    sentence += (f"; {count_of(int(rounded.sum()), 'path')} by one printed step",) if rounded.any() else ()
    unchanged = join_words(_unchanged(found, runs))
    return (*sentence, f"; no change confirmed in {unchanged}") if unchanged else sentence


def changes(found: History, runs: pd.DataFrame) -> Table | Note:
    """Return the last change of each series of published windows, and how far the windows of other regions are apart.

    ``runs``: as in `changes_by_date`.
    """
    last = last_of_each(found)
    if last.empty or found.series["window_ns"].isna().any():
        return Note("No level of a published series changed.")
    names, column = _names(runs), VALUE_COLUMNS[last["metric"].iloc[0]]
    step = runs[f"{column}_resolution"].max()
    rows = [
        {
            "path": names[row["path"]],
            "date": date(row),
            "levels": " → ".join(format_value(row[end], row["unit"], step=step) for end in ("before", "after")),
            "change": "one printed step: size unknown" if is_rounding(row) else in_percent(row),
            "run_ids": row["run_ids"],
        }
        for row in last.to_dict("records")
    ]
    if unchanged := _unchanged(found, runs):
        apart = sorted(unchanged.items(), key=lambda item: item[1][0])
        said = ", ".join(f"{region} {format_number(ratio, 2)}" for region, (ratio, _) in apart)
        rows.append(
            {
                "path": join_words(unchanged),
                "date": "–",
                "levels": f"largest ÷ smallest window of a path: {said}",
                "change": "no change confirmed",
                "run_ids": " ".join(run_ids for _, run_ids in unchanged.values()),
            }
        )
    columns = {
        "path": text("path"), "change": text("change"), "level": text("levels"), "in or before the": text("date"),
    }  # fmt: skip
    return table(pd.DataFrame(rows), "Changes of level", columns, value=column)


def _unchanged(found: History, runs: pd.DataFrame) -> dict[str, tuple[float, str]]:
    """Return the regions of which no path changed or drifts: how far the points of a path in use are apart, its runs.

    Only paths between zones or regions count.
    """
    between = runs[runs["placement"].isin(["cross_zone", "cross_region"])].drop_duplicates("path")
    searched = found.series[found.series["level"].notna() & found.series["path"].isin(between["path"])]
    moved = {*found.changes["path"], *searched.loc[searched["drift"].notna(), "path"]}
    ends = between.set_index("path")[["region", "peer_region"]]
    regions = dict.fromkeys(ends["region"].dropna()) if ends["region"].nunique() > 1 else {}
    touched = set(ends[ends.index.isin(moved)].to_numpy().ravel())
    in_use = searched[searched["date_last"] == searched["date_last"].max()]
    unchanged = {}
    for region in sorted(regions.keys() - touched):
        own = in_use[in_use["path"].isin(ends.index[(ends == region).any(axis="columns")])]
        points = found.points[found.points["what"].isin(own["what"])]
        if len(points):
            values = points.groupby("what", dropna=False)["value"]
            unchanged[region] = float((values.max() / values.min()).max()), " ".join(own["run_ids"])
    return unchanged


def _names(runs: pd.DataFrame) -> dict[str, str]:
    """Return the name of each path: region and pair of zones, of several regions."""
    ends = runs.drop_duplicates("path")
    several = ends["region"].nunique() > 1
    return {
        row["path"]: f"{row['region']} {short_pair(pair)}"
        if several and row["placement"] == "cross_zone" and (pair := pair_of_ends(row))
        else row["path"]
        for row in ends.to_dict("records")
    }


def _points_of(change: Row) -> RunsRef:
    return RunsRef(tuple(change["run_ids"].split()), VALUE_COLUMNS[change["metric"]])
