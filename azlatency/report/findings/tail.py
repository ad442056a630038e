"""Findings of the page on tails."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from azlatency.kit.findings import act, answer, info
from azlatency.kit.objects import Findings
from azlatency.report.groups import answer_of, main_method
from azlatency.stats import rows
from azlatency.stats.result import Estimate
from azlatency.stats.within_run.tail_by_run import RunTail
from azlatency.studies.format import format_interval, format_value, one_prefix

if TYPE_CHECKING:
    import pandas as pd

_QUANTILES = {0.99: "p99", 0.999: "p99.9", 0.9999: "p99.99"}


def find(
    runs: pd.DataFrame,
    tails: Sequence[RunTail],
    percentiles: pd.DataFrame,
    shares: Sequence[Estimate],
    typical: pd.DataFrame | None = None,
) -> Findings:
    """Say the p99 of each path, and the share above the limit.

    Parameters
    ----------
    runs : DataFrame
        One row per run with a latency, with ``p99_ns``.
    tails : sequence of RunTail
        One per run with samples.
    percentiles : DataFrame
        Printed percentiles (ns).
    shares : sequence of Estimate
        Share of packets above the page's limit (fraction), from printed percentiles.
    typical : DataFrame
        Typical p99 across runs (ns), one per path and method.

    Returns
    -------
    Findings
        At least one finding.
    """
    main = main_method(runs, "p99_ns", typical)
    findings = [answer(answer_of(main, runs, "p99", "ns"), main)] if main.values else []
    findings += [
        info(f"{tail.path} ({tail.method}): {', '.join(_bounded(tail))}.") for tail in tails if _bounded(tail)
    ][:8]
    if shares:
        ranged = [share for share in shares if share.high is not None]
        worst, best = (pick(ranged, key=lambda share: share.high or 0.0) for pick in (max, min))
        text = (
            f"Share of packets above the limit, at most: **{100 * (worst.high or 0):.3g} %** on {worst.labels['path']} "
            f"(worst run), **{100 * (best.high or 0):.2g} %** on {best.labels['path']} (best run)."
        )
        findings.append(info(text))
    unbounded = [p for p in rows.estimates(percentiles) if {"tail_unresolved", "unbounded_upper"} & set(p.codes)]
    if unbounded:
        shallow = min(unbounded, key=lambda percentile: percentile.n)
        text = (
            f"{shallow.what} of {shallow.labels['path']} has too few of its {shallow.n:,} packets above it for an "
            "upper bound; the table marks the others."
        )
        findings.append(act(text))
    if not tails and percentiles.empty:
        beyond = " beyond p99" if findings else ""
        text = f"No run has 1,000 or more samples and no log prints percentiles, so the tail{beyond} is unknown."
        findings.append(info(text))
    elif not findings:
        findings.append(info("No percentile from p99 on has an interval."))
    return Findings.of(findings)


def _bounded(tail: RunTail) -> list[str]:
    """Return the percentiles of a run that have an interval."""
    bounded = [
        quantile
        for quantile in tail.quantiles
        if float(quantile.labels["q"]) in _QUANTILES and quantile.low is not None and quantile.high is not None
    ]
    values = (value for quantile in bounded for value in (quantile.estimate, quantile.low, quantile.high))
    like = one_prefix((value or 0.0 for value in values), "ns")
    return [
        f"{_QUANTILES[float(quantile.labels['q'])]} **{format_value(quantile.estimate, 'ns', like=like)}** "
        f"({format_interval(quantile.low, quantile.high, 'ns', like=like)})"
        for quantile in bounded
    ]
