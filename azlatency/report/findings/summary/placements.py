"""The answer about placements: what each costs compared with the nearest one, or the round trip of the only one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from azlatency.kit.cells import ReportedRef, RunsRef
from azlatency.kit.titles import span
from azlatency.report.card import Linked, Sentence, listed
from azlatency.report.differences import change_words, difference, in_drift, ratios_of, verdict_on
from azlatency.report.findings.summary.answer import (
    PLACES,
    Answer,
    Data,
    axis_of,
    badge_of,
    both_sides,
    conditions_of,
    dots_of_levels,
    ends_of,
    from_to,
    inference_of,
    label_of,
    next_rounds,
    prefix_of,
    values_of,
)
from azlatency.report.tables.common import condition_ref
from azlatency.stats.across_runs.main_method import rank_methods
from azlatency.stats.across_runs.path_differences import differences_by_path
from azlatency.stats.across_runs.placement import Change, Condition, all_changes
from azlatency.stats.within_run.time_series import reported_connection_ends
from azlatency.studies.format import count_of, format_value
from azlatency.studies.runs.run_table import whole_run_rows

if TYPE_CHECKING:
    from azlatency.studies.store.study import Study

_STEPS = {
    "availability_set": "An availability set", "proximity_placement_group": "A placement group",
    "same_zone": "Another host of the zone", "cross_zone": "Crossing zones", "cross_region": "Crossing regions",
}  # fmt: skip


def placements(data: Data) -> Answer | None:
    """Say what each placement costs compared with the nearest one."""
    steps = all_changes(data.levels, "placement")
    if not steps:
        return None
    text: Sentence = ()
    order, levels = dict.fromkeys(step.other.placement for step in steps), conditions_of(steps)
    like = prefix_of(levels)
    for placement in order:
        text += _cost([step for step in steps if step.other.placement == placement], like, first=not text)
    return Answer(
        badge=badge_of(levels),
        reported=levels[0].origin == "reported",
        answer=text + _separated(data, steps) + _broken(data.study),
        inference=inference_of(levels, data.runs),
        dots=dots_of_levels(levels, label_of),
        axis=axis_of(levels),
        next_step=next_rounds(
            levels,
            len(order),
            "Record every packet, and start the connections at different times,"
            if levels[0].origin == "reported"
            else "Repeat each placement on the same machines,",
        ),
    )


def _cost(steps: Sequence[Change], like: float | None, *, first: bool) -> Sentence:
    """Return the sentence about one placement: what it costs if its runs show it, and values by message size."""
    sized, verdict = len({step.other.message_bytes for step in steps}) > 1, verdict_on(steps)
    described = verdict in ("once", "reported")
    values: list[Sentence] = [
        (
            values_of(step.other, bold=described, like=like),
            *((" against ", values_of(step.base, bold=described, like=like)) if first else ()),
            f" at {step.other.message_bytes:,} B" if sized else "",
        )
        for step in sorted(steps, key=lambda step: step.other.message_bytes or 0)
    ]
    name, refs = _STEPS.get(steps[0].other.placement or "", steps[0].other.path), both_sides(steps)
    start: Sentence = (f"{'' if first else ' '}{name}",)
    if verdict == "different":
        gaps = [_middle(step.other) - _middle(step.base) for step in steps]
        verb = "costs" if min(gaps) > 0 else "changes the round trip by"
        ratios, interval = ratios_of(steps)
        gap, ratio = Linked(span(gaps, "ns", digits=2, like=like), *refs), Linked(f"{ratios}×", *refs)
        drift = in_drift(step.comparison for step in steps if step.comparison is not None)
        start += (f" {verb} ", gap, " (", ratio, f", {interval}){drift}")
    else:
        start += (f"{', ' if described else ': '}{change_words(steps)}",)
    return *start, ": ", *listed(values), "."


def _middle(level: Condition) -> float:
    estimate = level.typical.estimate if level.typical is not None else None
    return (min(level.values) + max(level.values)) / 2 if estimate is None else estimate


def _separated(data: Data, steps: Sequence[Change]) -> Sentence:
    """Say that the slow packets of the nearer placement are faster than the fastest of the farther one."""
    if steps[0].base.origin != "log":
        return ()
    minima = whole_run_rows(data.study.metrics, "rtt_min")["value"]
    comparisons: list[Sentence] = []
    for step in sorted(steps, key=lambda step: step.other.message_bytes or 0):
        slow = data.runs.loc[list(step.base.run_ids), "p99_ns"].max()
        fast = minima.reindex(list(step.other.run_ids)).min()
        if not slow < fast:
            return ()
        tail = Linked(format_value(slow, "ns"), RunsRef(step.base.run_ids, q=0.99), bold=False)
        least = Linked(format_value(fast, "ns"), RunsRef(step.other.run_ids, "rtt_min"), bold=False)
        size = f" at {step.other.message_bytes:,} B" if step.other.message_bytes else ""
        comparisons.append((tail, " against ", least, size))
    near, far = (PLACES.get(level.placement or "", level.path) for level in (steps[0].base, steps[0].other))
    said = f" The p99 {near} is below the minimum {far} ("
    return said, *listed(comparisons), ").", *_reversed_tail(data, steps, near)


def _reversed_tail(data: Data, steps: Sequence[Change], near: str) -> Sentence:
    """Say the lowest printed percentile from p99.9 on at which the nearer placement is slower than the farther one."""
    printed = data.study.quantiles
    printed = printed[(printed["metric"] == "rtt") & (printed["q"] >= 0.999)]
    for step in steps:
        values = [
            printed[printed["run_id"].isin(side.run_ids)].groupby("q")["value_ns"].median()
            for side in (step.base, step.other)
        ]
        both = values[0].index.intersection(values[1].index)
        if not (slower := [q for q in both if values[0][q] > values[1][q]]):
            continue
        q, size = min(slower), f" at {step.other.message_bytes:,} B" if step.other.message_bytes else ""
        shown = [
            Linked(format_value(side[q], "ns"), RunsRef(level.run_ids, q=q), bold=False)
            for side, level in zip(values, (step.base, step.other), strict=True)
        ]
        return f" But its p{100 * q:g}{size} is longer: ", shown[0], " against ", shown[1], " (in single runs)."
    return ()


def _broken(study: Study) -> Sentence:
    """Say how many connections broke, if a text reports when."""
    ends = reported_connection_ends(study.reported)
    if ends is None:
        return ()
    refs = [ReportedRef(path, "failed_at") for path in ends.paths]
    text: Sentence = (" ", Linked(count_of(len(ends.paths), "connection"), *refs, bold=False), " broke")
    return (*text, f", {ends.together + 1} of them within a minute." if ends.together else ".")


def single_level(data: Data) -> Answer | None:
    """Say the round trip of each path, where nothing can be compared."""
    if not data.levels:
        return None
    levels, like = sorted(data.levels, key=_middle), prefix_of(data.levels)
    parts: list[Sentence] = [(values_of(level, bold=True, like=like), f" on {level.path}") for level in levels]
    reported = levels[0].origin == "reported"
    method = rank_methods(level.measured for level in levels)[0]
    of_path = {level.path: level for level in levels if level.method == method}
    found = differences_by_path(data.runs, method, f"{levels[0].statistic}_ns")
    verdict: Sentence = ()
    if found.decisive is not None:
        verdict = difference(found, "paths", lambda path: condition_ref(of_path[path]))
    claimed = found.decisive.labels.values() if found.decisive is not None else ()
    dots, axis = ends_of(dots_of_levels(levels, label_of), axis_of(levels))
    return Answer(
        badge=badge_of(levels),
        reported=reported,
        answer=(*(verdict or (f"The {levels[0].statistic} round trip takes ",)), *from_to(parts), "."),
        inference=inference_of(levels, data.runs, map(str, claimed)),
        dots=dots,
        axis=axis,
        next_step="Measure a second path or setting with the same tool and message size, in rounds."
        if len(levels) == 1
        else next_rounds(levels, len(levels), "Repeat every path"),
    )
