"""Findings of the page on planning."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from azlatency.report.findings.common import act, answer, info, join_by_method
from azlatency.report.objects import Finding, Findings

if TYPE_CHECKING:
    from azlatency.stats.across_runs.attainable import PercentileSize, ZoneRounds
    from azlatency.stats.across_runs.planning import Plan

#: Most runs of a path that anybody measures.
_FEASIBLE = 50


def find(plans: Sequence[Plan], sizes: Sequence[PercentileSize], rounds: Sequence[ZoneRounds]) -> Findings:
    """Say how many runs are needed, which percentiles the runs support, and how many rounds three zones need.

    Parameters
    ----------
    plans : sequence of Plan
        Runs needed, one per path and method.
    sizes : sequence of PercentileSize
        Observations needed, one per percentile, in ascending order.
    rounds : sequence of ZoneRounds
        Rounds needed, one per number of zones.

    Returns
    -------
    Findings
        No finding where all three are empty.
    """
    findings: list[Finding] = []
    with_spread = [plan for plan in plans if plan.at_pilot_spread is not None]
    if with_spread:
        needs = [plan.high if plan.high is not None else math.inf for plan in with_spread]
        most = max((need for need in needs if need <= _FEASIBLE), default=0)
        wide, what = (
            [plan for plan, need in zip(with_spread, needs, strict=True) if need > _FEASIBLE],
            with_spread[0].what,
        )
        if not wide:
            findings.append(answer(f"**{most}** {what} are enough on every path."))
        else:
            names = join_by_method((plan.labels["path"], plan.labels["method"]) for plan in wide)
            enough = f"{len(with_spread) - len(wide)} of {len(with_spread)} paths and methods"
            few = f"**{most}** {what} are enough on {enough}" if most else f"No path reaches {what} soon"
            findings.append(answer(f"{few}; {len(wide)} need more than {_FEASIBLE}."))
            text = f"More than {_FEASIBLE} runs: {names}. Longer runs, more machines or a wider interval help more."
            findings.append(act(text))
    without_spread = [plan for plan in plans if plan.at_pilot_spread is None]
    if without_spread:
        names = join_by_method((plan.labels["path"], plan.labels["method"]) for plan in without_spread)
        text = f"One run, or equal values, so no spread: {names}. Measure these five times first."
        findings.append(act(text) if with_spread else answer(text))
    if sizes and sizes[0].runs:
        in_every_run = [size for size in sizes if size.enough == size.runs]
        in_some_runs = [size for size in sizes if size.enough]
        if in_some_runs:
            reach = [f"every run up to p{100 * in_every_run[-1].q:.6g}"] if in_every_run else []
            if in_some_runs != in_every_run:
                reach.append(f"the longest runs up to p{100 * in_some_runs[-1].q:.6g}")
            text = f"Percentiles with both bounds, if packets are independent: {', '.join(reach)}."
            findings.append(info(text))
    for plan in rounds:
        if plan.zones == 3:
            text = f"An exact test needs {plan.rounds} rounds to distinguish the pairs of three zones."
            findings.append(info(text))
    return Findings.of(findings)
