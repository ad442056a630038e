"""Findings of the page on tails."""

from __future__ import annotations

from collections.abc import Sequence

from azlatency.report.findings.common import act, info
from azlatency.report.objects import Finding, Findings
from azlatency.stats.result import Estimate
from azlatency.stats.within_run.tail_by_run import RunTail

_QUANTILES = ((0.99, "p99"), (0.999, "p99.9"), (0.9999, "p99.99"), (0.999999, "One in a million"))


def conclude(tails: Sequence[RunTail], percentiles: Sequence[Estimate], shares: Sequence[Estimate]) -> Findings:
    """Summarize which percentiles have an interval, which tails have no fit, and the share above the limit.

    Parameters
    ----------
    tails : sequence of RunTail
        One per run with samples.
    percentiles : sequence of Estimate
        Printed percentiles (ns).
    shares : sequence of Estimate
        Share of packets above the page's limit (fraction), from printed percentiles.

    Returns
    -------
    Findings
        At least one finding.
    """
    findings: list[Finding] = []
    for q, name in _QUANTILES:
        quantiles = [quantile for tail in tails for quantile in tail.quantiles if quantile.labels["q"] == q]
        bounded = [quantile for quantile in quantiles if quantile.low is not None and quantile.high is not None]
        if quantiles:
            text = f"{name}: {len(bounded)} of {len(quantiles)} runs with samples have a two-sided interval."
            findings.append(info(text))
    without_fit = sum(tail.fit.refused for tail in tails)
    if without_fit:
        text = f"{without_fit} of {len(tails)} tails cannot be fitted, so they are not extrapolated."
        findings.append(info(text))
    if tails and all(tail.million is None or tail.million.refused for tail in tails):
        findings.append(
            act("No run is long enough to estimate the round-trip time that one packet in a million exceeds.")
        )
    if percentiles:
        unbounded = sum(bool({"tail_unresolved", "unbounded_upper"} & set(p.codes)) for p in percentiles)
        text = (
            f"{unbounded} of {len(percentiles)} printed percentiles have too few packets above them for an upper bound."
        )
        findings.append(act(text) if unbounded else info(text))
    if shares:
        highs = [share.high for share in shares if share.high is not None]
        text = (
            f"The printed tables allow up to {100 * max(highs):.3g} % of packets above the limit on the worst run, and "
            f"at most {100 * min(highs):.2g} % on the best."
        )
        findings.append(info(text))
    if not findings:
        text = "This study has neither samples nor printed percentiles, so its tails are unknown."
        findings.append(info(text))
    return Findings.of(findings)
