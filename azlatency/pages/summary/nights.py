"""Which levels changed over time: for the card of a study, the first page, and the table of a summary."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import pandas as pd

from azlatency.kit.cells import Row, RunsRef, Table
from azlatency.kit.changes import (
    at_date_of_others,
    changed,
    date_with_interval,
    day_of,
    difference,
    first_together,
    in_percent,
    is_rounding,
    last_of_each,
    on_the_way,
    sizes,
    when,
    window_length,
)
from azlatency.kit.objects import Note
from azlatency.kit.sentences import Linked, Sentence, listed
from azlatency.kit.table import table, text
from azlatency.kit.titles import capitalised
from azlatency.kit.words import PLACES
from azlatency.stats.across_runs.run_history import VALUE_COLUMNS, has_ended
from azlatency.stats.across_runs.sightings import sightings
from azlatency.stats.across_runs.zone_pairs import pair_of_ends, short_pair
from azlatency.studies.format import count_of, format_number, format_value, join_words
from azlatency.studies.runs.path import NetworkPath

if TYPE_CHECKING:
    from azlatency.stats.across_runs.run_history import History

#: Most series that a card names, and most of one date that the first page names.
_MOST, _MOST_OF_A_DATE = 2, 2
#: What is said of a change that its series alone does not show.
_WITH_OTHERS = "significant only together with others"
_ONE_STEP = "changed by one printed step, perhaps rounding"
#: Where a series is that has ended.
_EARLIER = "whose data end earlier"
#: What a percentage and a date of published windows mean: the windows before a date may have moved already.
_BY = (
    "each percentage is against the median of the windows of the level before, or of the last five of them, and each "
    "date the end of a mean over {}, so weekly means may show the change earlier"
)


def changed_levels(found: History, runs: pd.DataFrame) -> Sentence:
    """Say which levels changed most, when and by how much; empty if none did."""
    names, seen = _names(runs), sightings(found)
    last = last_of_each(found)
    sentence: Sentence = ()
    moment = ""
    for row in last.head(_MOST).to_dict("records"):
        start = f"; {when(row)}: " if sentence else f"{capitalised(changed(row))}: "
        start, moment = " and " if when(row) == moment else start, when(row)
        sentence += (
            f"{start}{names.get(row['path'], row['path'])}, {row['metric']} ",
            Linked(difference(row), _points_of(row)),
        )
        sentence += _away(row, seen)
        if steps := on_the_way(row, seen):
            sentence += (f", {steps}",)
    searched = found.series["level"].notna().sum()
    more = f" ({len(last)} of {searched} series changed{_doubts(last, ', ', '')})" if len(last) > _MOST else ""
    return (*sentence, f"{more}. ") if sentence else ()


def changes_by_date(found: History, runs: pd.DataFrame) -> Sentence:
    """Say which series changed, newest first, and by how much; and the regions in which no change is confirmed.

    ``runs``: all runs of the study, which name the regions and zones of a path.
    """
    last = last_of_each(found)
    if last.empty:
        return ()
    names, many = _names(runs), found.series["metric"].nunique() > 1

    def moved(row: Row, *back: Row) -> Sentence:
        metric = f", {row['metric']}" if many else ""
        name = names[row["path"]].replace(" → ", " ↔ ") if back else names[row["path"]]
        said = " to ".join(dict.fromkeys(map(in_percent, (row, *back))))
        return f"{name}{metric} ", Linked(said, *map(_points_of, (row, *back)))

    seen = sightings(found)
    late = newest_moves(seen)
    rounded = last.apply(is_rounding, axis="columns")
    by_date: dict[str, list[Sentence]] = {}
    unchanged = _unchanged(found, runs)
    for row in last[~rounded].sort_values("date", ascending=False, kind="stable").to_dict("records"):
        doubt = (f" (this one {_WITH_OTHERS})",) if at_date_of_others(row) else ()
        change = (*moved(row), *doubt, *_away(row, late))
        by_date.setdefault(when(row), []).append(change)
    sentence: Sentence = (_counted(found, last, runs),)
    for moment, changes in by_date.items():
        some = listed(changes)
        if len(changes) > _MOST_OF_A_DATE:
            away = [change for change in changes[1:] if len(change) > 2]
            some = _largest(changes)
            some = (*some, ", among them ", *listed(away)) if away else some
        sentence += (f"; {moment}: ", *some)
    others = late[~late["what"].isin(last["what"])]
    others = others.sort_values("ratio", key=sizes, ascending=False, kind="stable")
    moves, pairs = others.to_dict("records"), _both_ways(others.to_dict("records"))
    some = listed(moved(*pair) for pair in pairs)
    if len(pairs) > _MOST_OF_A_DATE:
        some = _largest([moved(row) for row in moves], "other path")
    sentence += ("; in the last windows, not confirmed: ", *some) if moves else ()
    oldest = seen[seen["kind"] == "oldest"].sort_values("ratio", key=sizes, ascending=False, kind="stable")
    if early := oldest.to_dict("records"):
        # Windows that overlap those may have had the later level before.
        is_window = found.series["window_ns"].notna().any()
        moved_so = "differ in their first disjoint windows" if is_window else "moved after their first points"
        few = f"series {moved_so}, too few to test"
        if len(together := first_together(oldest)):
            until = day_of(together["date_last"].max(), together["window_ns"].iloc[0])
            few += f", {len(together)} of them together until {until} (cause not known)"
        sentence += (f"; {len(early)} {few}: largest ", *moved(early[0]))
    for start, regions in (
        ("too short to test:", _too_short(found, runs)),
        ("no change confirmed on paths of", unchanged),
    ):
        sentence += (f"; {start} {join_words(regions)}",) if regions else ()
    window = found.series["window_ns"].iloc[0]
    return sentence if pd.isna(window) else (*sentence, f"; {_BY.format(window_length(window))}")


def changes(found: History, runs: pd.DataFrame) -> Table | Note:
    """Return the last change of each series of published windows, and how far the windows of other regions are apart.

    ``runs``: as in `changes_by_date`.
    """
    last = last_of_each(found)
    if found.series.empty or found.series["window_ns"].isna().any():
        return Note("This study has no published series.")
    if last.empty:
        return Note("No level of a published series changed.")
    names, column = _names(runs), VALUE_COLUMNS[last["metric"].iloc[0]]
    step, late = runs[f"{column}_resolution"].max(), newest_moves(sightings(found))
    now, others = found.points.groupby("what")["value"].last(), late[~late["what"].isin(last["what"])]
    rows = [
        {
            "path": names[row["path"]],
            "date": day,
            "levels": " → ".join(format_value(row[end], row["unit"], step=step) for end in ("before", "after")),
            "change": f"{'one printed step: size unknown' if is_rounding(row) else in_percent(row)}{doubt}"
            + ", with others only" * at_date_of_others(row),
            "now": format_value(now[row["what"]], row["unit"], step=step)
            + ", off this level" * (not doubt and row["what"] in {*late["what"]}),
            "run_ids": row["run_ids"],
        }
        for row, day, doubt in [
            *((row, date_with_interval(row), "") for row in last.to_dict("records")),
            *((row, day_of(row["date"], row["window_ns"]), ", not confirmed") for row in others.to_dict("records")),
        ]
    ]
    if short := _too_short(found, runs):
        rows.append(
            {"path": join_words(short), "date": "–", "levels": "–", "change": "too short to test", "now": "–"}
            | {"run_ids": " ".join(short.values())}
        )
    if unchanged := _unchanged(found, runs):
        apart = sorted(unchanged.items(), key=lambda item: item[1][0])
        said = ", ".join(f"{region} {format_number(ratio, 2)}" for region, (ratio, _) in apart)
        rows.append(
            {
                "path": join_words(unchanged),
                "date": "–",
                "levels": "–",
                "change": f"no change confirmed; largest ÷ smallest disjoint window of a pair in use: {said}",
                "now": "–",
                "run_ids": " ".join(run_ids for _, run_ids in unchanged.values()),
            }
        )
    columns = {
        "path": text("path"), "change": text("change"), "level": text("levels"), "newest window": text("now"),
        "changed by": text("date"),
    }  # fmt: skip
    notes = [
        f"{capitalised(_BY).format(window_length(found.series['window_ns'].iloc[0]))}. Behind it: its 95 % interval."
    ]
    notes += [f"With others only: {_WITH_OTHERS}."] * any(map(at_date_of_others, last.to_dict("records")))
    return table(pd.DataFrame(rows), "Changes of level", columns, notes, value=column)


def newest_moves(seen: pd.DataFrame) -> pd.DataFrame:
    """Return those `sightings` of series in use whose newest points are away from their level: too few to test."""
    return seen[(seen["kind"] == "newest") & ~seen["ended"]]


def _both_ways(moves: list[Row]) -> list[list[Row]]:
    """Return moves with those of the reverse paths beside them, in the order of the first of both."""
    pairs: dict[tuple[str, ...], list[Row]] = {}
    for move in moves:
        ends = NetworkPath.parse(move["path"]).ends or (move["path"],)
        pairs.setdefault((*sorted(ends), move["method"], move["metric"]), []).append(move)
    return list(pairs.values())


def _counted(found: History, last: pd.DataFrame, runs: pd.DataFrame) -> str:
    """Count the series that changed, by placement; those that have ended are counted apart."""
    searched = found.series[found.series["level"].notna()]
    places = runs.drop_duplicates("path").set_index("path")["placement"].map(PLACES)
    where = searched["path"].map(places).fillna("").mask(has_ended(searched), _EARLIER)
    counts = searched["what"].isin(last["what"]).groupby(where, sort=False).agg(["sum", "size"])
    order = sorted(counts.index, key=lambda place: (place == _EARLIER, -counts["sum"][place]))
    parts = [
        f"{counts['sum'][place]} of {counts['size'][place]} {place}".rstrip()
        + _doubts(last[last["what"].isin(searched.loc[where == place, "what"])])
        for place in order
    ]
    if short := int(has_ended(found.series[found.series["level"].isna()]).sum()):
        parts.append(f"{short} more {'of these' if _EARLIER in order else _EARLIER} are too short to test")
    return f"series that changed: {', '.join(parts)}"


def _doubts(changes: pd.DataFrame, start: str = " (", end: str = ")") -> str:
    """Say how many of some changes are only significant with others, and how many may be rounding."""
    rows = changes.to_dict("records")
    counts = {_WITH_OTHERS: sum(map(at_date_of_others, rows)), _ONE_STEP: sum(map(is_rounding, rows))}
    said = ", ".join(f"{n} {doubt}" for doubt, n in counts.items() if n)
    return f"{start}{said}{end}" if said else ""


def _largest(changes: Sequence[Sentence], noun: str = "path") -> Sentence:
    """Count changes, and say the first of them, which is the largest."""
    return (f"{count_of(len(changes), noun)}, largest ", *changes[0])


def _away(change: Row, seen: pd.DataFrame) -> Sentence:
    """Say where a series is now if its newest points are away from the level that it changed to."""
    moves = seen[(seen["kind"] == "newest") & (seen["what"] == change["what"])]
    if moves.empty:
        return ()
    move = moves.iloc[0].to_dict()
    value = format_value(move["after"], change["unit"])
    where = " in the newest window" if move["n"] == 1 else f" in the last {move['n']} windows"
    # On the far side of the level before the change.
    is_beyond = (move["after"] - change["before"]) * (change["after"] - change["before"]) < 0
    beyond = f", {'above' if move['after'] > change['before'] else 'below'} its level before" if is_beyond else ""
    return (" (now ", Linked(value, _points_of(move), bold=False), f"{where}{beyond})")


def _too_short(found: History, runs: pd.DataFrame) -> dict[str, str]:
    """Return the regions of which no path between zones or regions in use was long enough to be searched: its runs."""
    ends = _between(runs)[["region", "peer_region"]]
    in_use = found.series[~has_ended(found.series)]
    in_use = in_use[in_use["path"].isin(ends.index)]
    regions = sorted({*ends.to_numpy().ravel()}) if ends["region"].nunique() > 1 else []
    of_region = {name: in_use[in_use["path"].isin(ends.index[(ends == name).any(axis="columns")])] for name in regions}
    return {name: " ".join(own["run_ids"]) for name, own in of_region.items() if len(own) and own["level"].isna().all()}


def _between(runs: pd.DataFrame) -> pd.DataFrame:
    """Return a run of each path between zones or regions, by path."""
    between = runs[runs["placement"].isin(["cross_zone", "cross_region"])]
    return between.drop_duplicates("path").set_index("path")


def _unchanged(found: History, runs: pd.DataFrame) -> dict[str, tuple[float, str]]:
    """Return the regions of which no path changed or drifts: how far the points of a path in use are apart, its runs.

    Only paths between zones or regions count.
    """
    ends = _between(runs)[["region", "peer_region"]]
    searched = found.series[found.series["level"].notna() & found.series["path"].isin(ends.index)]
    moved = {*found.changes["path"], *searched.loc[searched["drift"].notna(), "path"]}
    regions = dict.fromkeys(ends["region"].dropna()) if ends["region"].nunique() > 1 else {}
    touched = set(ends[ends.index.isin(moved)].to_numpy().ravel())
    in_use = searched[~has_ended(searched)]
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
