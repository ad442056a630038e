"""Quantiles of one run from its printed percentile table: rigorous brackets at the iid floor.

A printed percentile is an order statistic of known rank. The exact order-statistic interval of a quantile asks for two
ranks (l, u) that are seldom printed themselves; the printed value of the largest rank <= l bounds the lower end from
below and that of the smallest rank >= u the upper end from above. The bracket therefore covers at least as often as the
exact interval (Le Boudec, Performance Evaluation, EPFL Press 2010, theorem 2.1), for independent packets. Packets of
one connection are not independent, so every such interval is a floor on the uncertainty and says so.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from typing import TYPE_CHECKING

from azlatency.stats.result import Estimate

if TYPE_CHECKING:
    import pandas as pd

METHOD = "bracket by printed order statistics; ranks by the exact binomial interval (Le Boudec 2010, thm 2.1)"


def order_statistic_ranks(n: int, p: float, confidence: float = 0.95) -> tuple[int, int]:
    """Ranks (l, u), 1-based, of the equal-tailed order-statistic interval [X_(l), X_(u)] for the p-quantile.

    With B ~ Binomial(n, p): l is the largest rank with P(B < l) <= alpha/2, u the smallest with P(B >= u) <= alpha/2;
    l = 0 stands for minus infinity and u = n + 1 for plus infinity. ``n`` observations, ``0 < p < 1``.
    Raises `ValueError` outside these. Source: Le Boudec 2010, theorem 2.1.
    """
    if n < 0 or not 0 < p < 1 or not 0 < confidence < 1:
        raise ValueError(f"n = {n}, p = {p}, confidence = {confidence}: need n >= 0 and the others between 0 and 1")
    from scipy.stats import binom

    tail = (1 - confidence) / 2
    # P(B <= l - 1) <= tail: the largest such l is the smallest k with P(B <= k) > tail. scipy's ppf is the smallest k
    # with P(B <= k) >= tail, one off only where equality holds.
    low = int(binom.ppf(tail, n, p))
    if binom.cdf(low, n, p) <= tail:
        low += 1
    # P(B >= u) = P(B > u - 1) <= tail.
    high = int(binom.isf(tail, n, p)) + 1
    return max(low, 0), min(high, n + 1)


def bracket(
    p: float,
    n: int,
    ranks: Sequence[int],
    values: Sequence[float],
    *,
    confidence: float = 0.95,
    what: str = "",
    labels: dict[str, object] | None = None,
) -> Estimate:
    """The interval of the p-quantile of one run of ``n`` observations from printed order statistics.

    ``ranks`` (1-based, ascending, with 1 and n where minimum and maximum are printed) and their ``values`` in ns.
    The estimate is the printed value of rank floor(p*n + 0.5), None where that rank is not printed.
    """
    low_rank, high_rank = order_statistic_ranks(n, p, confidence) if n else (0, 1)
    below = bisect_right(ranks, low_rank) - 1
    above = bisect_left(ranks, high_rank)
    low = values[below] if below >= 0 else None
    high = values[above] if above < len(ranks) else None
    own_rank = int(p * n + 0.5)
    estimate = values[ranks.index(own_rank)] if own_rank in ranks else None
    codes = ["within_run_floor"]
    if estimate is None:
        codes.append("no_values")
    if high is None:
        codes.append("unbounded_upper")
    if n and n * (1 - p) < 1:
        codes.append("tail_unresolved")
    if own_rank == n:
        codes.append("maximum_in_disguise")
    return Estimate(
        what or f"p{100 * p:g}",
        estimate,
        low,
        high,
        "ns",
        n,
        "within_run",
        confidence,
        METHOD,
        tuple(codes),
        dict(labels or {}),
    )


def printed_quantiles(
    quantiles: pd.DataFrame, metrics: pd.DataFrame, *, confidence: float = 0.95, labels: pd.DataFrame | None = None
) -> list[Estimate]:
    """Every printed round-trip quantile with its bracket, in order of run and q.

    ``quantiles`` and ``metrics``: tables of a study; minimum and maximum come from the metrics rtt_min and rtt_max.
    ``labels``: frame indexed by run_id; only its runs are looked at, in its order, and its columns become the
    estimates' labels.
    """
    printed = quantiles[(quantiles["metric"] == "rtt") & quantiles["rank"].notna()]
    extremes = metrics[metrics["metric"].isin(["rtt_min", "rtt_max"])]
    estimates: list[Estimate] = []
    tables = {str(run_id): table for run_id, table in printed.groupby("run_id", sort=False)}
    for run_id in tables if labels is None else [each for each in labels.index if each in tables]:
        table = tables[run_id]
        n = int(table["n"].iloc[0])
        known = dict(zip(table["rank"].astype(int), table["value_ns"].astype(float), strict=True))
        for metric, value in extremes.loc[extremes["run_id"] == run_id, ["metric", "value"]].itertuples(index=False):
            known[1 if metric == "rtt_min" else n] = float(value)
        ranks = sorted(known)
        values = [known[rank] for rank in ranks]
        own = {} if labels is None else labels.loc[run_id].to_dict()
        for q in sorted(table["q"].astype(float)):
            name = f"p{100 * q:g}"
            estimates.append(
                bracket(q, n, ranks, values, confidence=confidence, what=name, labels={"run_id": run_id, **own, "q": q})
            )
    return estimates
