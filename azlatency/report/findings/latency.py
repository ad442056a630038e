"""Findings of the page on latency."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from azlatency.report.findings.common import MICROSECOND, act, info
from azlatency.report.objects import Finding, Findings
from azlatency.stats.result import Estimate

if TYPE_CHECKING:
    import pandas as pd


def conclude(
    runs: pd.DataFrame, medians: Sequence[Estimate], means: Sequence[Estimate], within: Sequence[Estimate]
) -> Findings:
    """Summarize the paths' typical latency, paths without repeated runs, and percentiles that are maxima.

    Parameters
    ----------
    runs : DataFrame
        One row per run with a latency.
    medians, means : sequence of Estimate
        Estimates across runs (ns), one per path and method. A mean is used only where no median exists.
    within : sequence of Estimate
        Printed percentiles of single runs (ns).

    Returns
    -------
    Findings
        At least one finding.
    """
    if not len(runs):
        return Findings.of([info("No log of this study contains a latency.")])
    findings: list[Finding] = []
    with_median = {(estimate.labels["path"], estimate.labels["method"]) for estimate in medians}
    across = [*medians, *(mean for mean in means if (mean.labels["path"], mean.labels["method"]) not in with_median)]
    for estimate in across:
        if estimate.refused:
            continue
        assert estimate.estimate is not None and estimate.low is not None and estimate.high is not None
        value, low, high = (
            f"{number / MICROSECOND:,.4g}" for number in (estimate.estimate, estimate.low, estimate.high)
        )
        text = (
            f"{estimate.what}: typical {'median' if estimate in medians else 'mean'} round-trip time {value} µs, "
            f"{100 * estimate.confidence:g} % interval {low} – {high} µs over {estimate.n} runs."
        )
        findings.append(info(text))
    single = sum("no_replication" in estimate.codes for estimate in across)
    if single:
        text = (
            f"{single} of {len(across)} combinations of path and method were measured once, which does not support "
            "a ranking. Repeat each run, in rounds, before you compare zones."
        )
        findings.append(act(text))
    maxima = [percentile for percentile in within if "maximum_in_disguise" in percentile.codes]
    if maxima:
        shortest = min(maxima, key=lambda percentile: percentile.n)
        text = (
            f"{len(maxima)} printed percentiles are the sample maximum of their run "
            f"(for example {shortest.what} of {shortest.n:,} observations, {shortest.labels['path']})."
        )
        findings.append(act(text))
    return Findings.of(findings)
