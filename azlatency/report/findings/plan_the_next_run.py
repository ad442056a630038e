"""Findings of the page on planning."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from azlatency.kit.findings import act, answer, info, join_by_method
from azlatency.kit.objects import Finding, Findings
from azlatency.report.groups import runs_enough
from azlatency.stats.across_runs.planning import FEASIBLE

if TYPE_CHECKING:
    from azlatency.stats.across_runs.attainable import PercentileSize
    from azlatency.stats.across_runs.planning import Plan


def find(plans: Sequence[Plan], sizes: Sequence[PercentileSize]) -> Findings:
    """Say how many runs are needed, and which percentiles the runs support.

    Parameters
    ----------
    plans : sequence of Plan
        Runs needed, one per path and method.
    sizes : sequence of PercentileSize
        Observations needed, one per percentile, in ascending order.

    Returns
    -------
    Findings
        No finding where both are empty.
    """
    findings: list[Finding] = []
    with_spread = [plan for plan in plans if plan.at_pilot_spread is not None]
    if with_spread:
        text, wide = runs_enough(with_spread)
        findings.append(answer(text))
        if wide:
            names = join_by_method((plan.labels["path"], plan.labels["method"]) for plan in wide)
            advice = "Rounds, another quantity of the run or a wider interval help more."
            text = f"More than {FEASIBLE} runs: {names}. {advice}"
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
    return Findings.of(findings)
