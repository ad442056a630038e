"""The answer about placements: what each costs compared with the nearest one, or the round trip of the only one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from azlatency.kit.cells import ReportedRef, Row, RunsRef
from azlatency.kit.differences import difference
from azlatency.kit.sentences import Linked, Sentence, listed
from azlatency.kit.table import condition_ref
from azlatency.kit.titles import span
from azlatency.kit.words import PLACES, broke_together, change_words, in_drift, ratios_of, verdict_on
from azlatency.pages.summary.answer import (
    MOST_WITH_INTERVAL,
    Data,
    axis_of,
    badge_of,
    decisive_paths,
    dots_of_levels,
    ends_of,
    from_to,
    in_brackets,
    inference_of,
    label_of,
    measured_once,
    middle_of,
    next_rounds,
    not_compared,
    prefix_of,
    refs_of,
    values_of,
    with_size,
)
from azlatency.pages.summary.card import Answer
from azlatency.stats.across_runs.main_method import as_measured, rank_methods
from azlatency.stats.across_runs.path_differences import differences_by_path
from azlatency.stats.across_runs.placement import all_changes
from azlatency.stats.within_run.time_series import reported_connection_ends
from azlatency.studies.format import count_of, format_value, percentile
from azlatency.studies.runs.groups import grouped
from azlatency.studies.runs.path import with_label
from azlatency.studies.runs.run_table import whole_run_values

if TYPE_CHECKING:
    import pandas as pd

    from azlatency.studies.store.study import Study

_STEPS = {
    "availability_set": "An availability set", "proximity_placement_group": "A placement group",
    "same_zone": "Another host of the zone", "cross_zone": "Crossing zones", "cross_region": "Crossing regions",
}  # fmt: skip


def placements(data: Data) -> Answer | None:
    """Say what each placement costs compared with the nearest one."""
    steps = all_changes(data.levels, data.runs, "placement")
    if steps.empty:
        return None
    text: Sentence = ()
    levels = data.both_sides(steps)
    like, is_reported = prefix_of(levels), levels["origin"].iloc[0] == "reported"
    for _, group in steps.groupby("placement", sort=False):
        text += _cost(data, group, like, first=not text)
    return Answer(
        badge=badge_of(levels),
        reported=is_reported,
        answer=text + _separated(data, steps) + _broken(data.study),
        inference=inference_of(levels, data.runs),
        dots=dots_of_levels(levels, label_of),
        axis=axis_of(levels),
        next_step=next_rounds(
            data,
            levels,
            steps["placement"].nunique(),
            "Record every packet, and start the connections at different times,"
            if is_reported
            else "Repeat each placement on the same machines,",
        ),
    )


def _cost(data: Data, steps: pd.DataFrame, like: float | None, *, first: bool) -> Sentence:
    """Return the sentence about one placement: what it costs if its runs show it, and values by message size."""
    sized, verdict = steps["message_bytes"].nunique(dropna=False) > 1, verdict_on(steps)
    described = verdict in ("once", "reported")
    pairs = [(data.level(step["base"]), data.level(step["other"])) for step in _by_size(steps)]
    short = len(data.both_sides(steps)) > MOST_WITH_INTERVAL
    values: list[Sentence] = [
        (
            *values_of(other, bold=described, like=like, short=short),
            *((" against ", *values_of(base, bold=described, like=like, short=short)) if first else ()),
            with_size(other, " at ") if sized else "",
        )
        for base, other in pairs
    ]
    placement, path = steps.iloc[0][["placement", "path"]]
    start: Sentence = (f"{'' if first else ' '}{_STEPS.get(placement, path)}",)
    if verdict == "different":
        gaps = [middle_of(other) - middle_of(base) for base, other in pairs]
        verb = "costs" if min(gaps) > 0 else "changes the round trip by"
        refs = refs_of(data.both_sides(steps))
        ratios, interval = ratios_of(steps)
        gap, ratio = Linked(span(gaps, "ns", digits=2, like=like), *refs), Linked(f"{ratios}×", *refs)
        start += (f" {verb} ", gap, " (", ratio, f", {interval}){in_drift(steps)}")
    else:
        start += (f"{', ' if described else ': '}{change_words(steps)}",)
    return *start, ": ", *listed(values), "."


def _by_size(steps: pd.DataFrame) -> list[Row]:
    """Return changes in the order of their message sizes, an unknown one first."""
    in_order = steps.sort_values("message_bytes", na_position="first", kind="stable")
    return [{str(name): value for name, value in row.items()} for row in in_order.to_dict("records")]


def _separated(data: Data, steps: pd.DataFrame) -> Sentence:
    """Say that the slow packets of the nearer placement are faster than the fastest of the farther one."""
    if steps["origin"].iloc[0] != "log":
        return ()
    minima = whole_run_values(data.study.metrics, "rtt_min")
    comparisons: list[Sentence] = []
    for step in _by_size(steps):
        base, other = data.level(step["base"]), data.level(step["other"])
        near_runs, far_runs = base["run_ids"].split(), other["run_ids"].split()
        slow = data.runs.loc[near_runs, "p99_ns"].max()
        fast = minima.reindex(far_runs).min()
        if not slow < fast:
            return ()
        tail = Linked(format_value(slow, "ns"), RunsRef(tuple(near_runs), q=0.99), bold=False)
        least = Linked(format_value(fast, "ns"), RunsRef(tuple(far_runs), "rtt_min"), bold=False)
        comparisons.append((tail, " against ", least, with_size(other, " at ")))
    first = steps.iloc[0]
    near = PLACES.get(first["base_placement"], first["base_path"])
    far = PLACES.get(first["placement"], first["path"])
    said = f" The p99 {near} is below the minimum {far} ("
    return said, *listed(comparisons), ").", *_reversed_tail(data, steps)


def _reversed_tail(data: Data, steps: pd.DataFrame) -> Sentence:
    """Compare the lowest printed percentile from p99.9 on at which the nearer placement is slower, of every size."""
    printed = data.study.quantiles
    printed = printed[(printed["metric"] == "rtt") & (printed["q"] >= 0.999)]
    by_size: list[tuple[list[Row], list[pd.Series]]] = []
    for step in _by_size(steps):
        sides = [data.level(step[side]) for side in ("base", "other")]
        values = [
            printed[printed["run_id"].isin(side["run_ids"].split())].groupby("q")["value_ns"].median() for side in sides
        ]
        by_size.append((sides, values))
    slower = [q for _, (near, far) in by_size for q in near.index.intersection(far.index) if near[q] > far[q]]
    if not slower:
        return ()
    q = min(slower)
    shown: list[Sentence] = []
    for sides, values in by_size:
        if all(q in of_side.index for of_side in values):
            near, far = (
                Linked(format_value(of_side[q], "ns"), RunsRef(tuple(side["run_ids"].split()), q=q), bold=False)
                for of_side, side in zip(values, sides, strict=True)
            )
            near_ns, far_ns = (of_side[q] for of_side in values)
            order = "above" if near_ns > far_ns else "below" if near_ns < far_ns else "equal"
            shown.append((f"{order}{with_size(sides[1], ' at ')} (", near, " against ", far, ")"))
    return f" At {percentile(q)} it is ", *listed(shown), ", in single runs."


def _broken(study: Study) -> Sentence:
    """Say how many connections broke, if a text reports when."""
    broken = reported_connection_ends(study.reported)
    if broken.empty:
        return ()
    refs = [ReportedRef(path, "failed_at") for path in broken["path"]]
    text: Sentence = (" ", Linked(count_of(len(broken), "connection"), *refs, bold=False), " broke")
    together = broke_together(broken)
    return (*text, f", {together}." if together else ".")


def single_level(data: Data) -> Answer | None:
    """Say the round trip of each path, where nothing can be compared."""
    if data.levels.empty:
        return None
    levels, measured = data.levels, data.runs
    if levels["origin"].iloc[0] == "log":
        labels = grouped(measured.assign(path=measured["path"].astype(str)), "path")["scenario"]
        names = {path: with_label(path, list(of_path.dropna().unique())) for path, of_path in labels}
        levels = levels.assign(path=levels["path"].map(names))
        levels = levels.assign(what=levels["path"] + ", " + levels["method"])
        measured = measured.assign(path=measured["path"].astype(str).map(names))
    levels = levels.assign(middle=[middle_of(level) for level in levels.to_dict("records")])
    levels = levels.sort_values("middle", kind="stable")
    method = rank_methods(as_measured(levels))[0]
    # The paths of one method: 64 B on one path are not laid beside 64 KiB on another.
    own = levels[levels["method"] == method]
    levels = own if len(own) > 1 or {*own["path"]} == {*levels["path"]} else levels
    rows, like = levels.to_dict("records"), prefix_of(levels)
    short = len(rows) > MOST_WITH_INTERVAL
    parts: list[Sentence] = [
        (
            *values_of(level, bold=True, like=like, short=short),
            f" on {level['path']}{in_brackets(measured_once([level], rows))}",
        )
        for level in rows
    ]
    value = str(rows[0]["value"])
    of_path = {level["path"]: level for level in rows if level["method"] == method}
    found = differences_by_path(measured, method, value)
    verdict: Sentence = ()
    if len(found.decisive):
        verdict = difference(found, "paths", lambda path: condition_ref(of_path[path]))
    dots, axis = ends_of(dots_of_levels(levels, label_of), axis_of(levels))
    others = measured[~measured.index.isin(" ".join(levels["run_ids"]).split())]
    return Answer(
        badge=badge_of(levels),
        reported=rows[0]["origin"] == "reported",
        answer=(*(verdict or (f"The {value.removesuffix('_ns')} round trip takes ",)), *from_to(parts), "."),
        inference=(
            *inference_of(levels, measured, decisive_paths(found)),
            *(() if data.window else not_compared(others)),
        ),
        dots=dots,
        axis=axis,
        next_step="Measure a second path or setting with the same tool and message size, in rounds."
        if len(levels) == 1
        else next_rounds(data, levels, len(levels), "Repeat every path"),
    )
