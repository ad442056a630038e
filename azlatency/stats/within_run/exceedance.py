"""How often a round trip is slower than a limit (an SLO): P(X > T) with Clopper-Pearson's or Wilson's interval.

Packets of one connection depend on each other, so count and n are divided by the autocorrelation time of 1{x > T}.
Wald's interval has no place here: it covers 18 % at n = 20, p = .01, and 86 % at n = 40,000, p = 5e-5 (experiment C6).

Sources: Clopper & Pearson, Biometrika 26:404 (1934); Wilson, JASA 22:209 (1927); Brown, Cai & DasGupta, Statistical
Science 16:101 (2001).
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Sequence
from typing import Any, Literal

from azlatency.stats.result import Estimate
from azlatency.stats.within_run.dependence import autocorrelation_time, dependence, series
from azlatency.stats.within_run.quantiles import RESOLVED, wilson

METHODS = {
    "clopper_pearson": "Clopper & Pearson 1934 at the effective n of 1{x > limit} (Geyer 1992)",
    "wilson": "Wilson 1927 at the effective n of 1{x > limit} (Geyer 1992)",
}
TABLE = "bounds of the count between printed percentiles, then Clopper & Pearson 1934 at either bound"
Method = Literal["clopper_pearson", "wilson"]


def clopper_pearson(count: float, n: float, confidence: float = 0.95) -> tuple[float, float]:
    """Interval of a proportion of which ``count`` of ``n`` were seen; never covers less than ``confidence``.

    Both may be effective numbers, not whole. Raises `ValueError` unless 0 <= count <= n and n > 0.
    """
    if not 0 <= count <= n or n <= 0:
        raise ValueError(f"count = {count}, n = {n}: need 0 <= count <= n and n > 0")
    from scipy.special import betaincinv

    tail = (1 - confidence) / 2
    low = float(betaincinv(count, n - count + 1, tail)) if count > 0 else 0.0
    high = float(betaincinv(count + 1, n - count, 1 - tail)) if count < n else 1.0
    return low, high


def exceedance(
    data: Any,
    limit: float,
    *,
    confidence: float = 0.95,
    method: Method = "clopper_pearson",
    lost: int = 0,
    independent: bool = False,
    unit: str = "ns",
    labels: dict[str, object] | None = None,
) -> Estimate:
    """Share of probes slower than ``limit`` (strictly) in one run, with its interval.

    ``data``: values (n,) in the order of sending, in the unit of ``limit`` (named in ``unit``); NaN is missing and
    counted, ``inf`` and each of ``lost`` is a probe without answer and exceeds every limit. ``independent``: no
    correction for dependence. Flags: ``within_run_floor`` where fewer than ten exceedances (or ten others) were seen,
    so that their dependence cannot be told; ``long_memory`` and ``few_clusters`` refuse the interval.
    """
    from scipy.special import ndtri

    x, missing = series(data)
    n = len(x) + lost
    over = x > limit
    count = int(over.sum()) + lost
    codes: tuple[str, ...] = ("missing",) if missing else ()
    what, own = f"share above {limit:g} {unit}", dict(labels or {})
    if not n:
        method_name = METHODS[method]
        return Estimate(
            what, None, None, None, "1", 0, "within_run", confidence, method_name, (*codes, "no_values"), own
        )
    tau = 1.0 if independent else max(autocorrelation_time(over.astype("float64")), 1.0)
    if not independent:
        codes += dependence(x).codes if len(x) >= 4 else ()
        codes += ("within_run_floor",) if min(count, n - count) < RESOLVED else ()
    low: float | None
    high: float | None
    if method == "wilson":
        low, high = wilson(count / n, n / tau, float(ndtri((1 + confidence) / 2)))
    else:
        low, high = clopper_pearson(count / tau, n / tau, confidence)
    if "long_memory" in codes or "few_clusters" in codes:
        low = high = None
    shown: dict[str, float | int | str | bool] = {"count": count, "tau": tau, "missing": missing, "lost": lost}
    assumed = ("independent values",) if independent else ("stationary during the run", "short memory")
    return Estimate(
        what,
        count / n,
        low,
        high,
        "1",
        n,
        "within_run",
        confidence,
        METHODS[method],
        codes,
        {**own, "limit": limit},
        n / tau,
        assumed,
        shown,
    )


def table_counts(limit: float, n: int, ranks: Sequence[int], values: Sequence[float]) -> tuple[int, int]:
    """Bounds of the number of values above ``limit`` that a printed table allows.

    ``ranks`` (1-based, ascending) with their ``values``: of ``n`` values at most those above the last rank whose value
    is within the limit exceed it, and at least those from the first rank whose value is beyond.
    """
    within = bisect_right(values, limit)
    upper = n - ranks[within - 1] if within else n
    lower = n - ranks[within] + 1 if within < len(ranks) else 0
    return lower, upper


def table_exceedance(
    limit: float,
    n: int,
    ranks: Sequence[int],
    values: Sequence[float],
    *,
    confidence: float = 0.95,
    unit: str = "ns",
    labels: dict[str, object] | None = None,
) -> Estimate:
    """Share above ``limit`` from a printed percentile table: Clopper-Pearson's ends of the two possible extremes.

    A floor (``within_run_floor``): a table has lost the order of sending. The estimate is the middle of the possible
    shares on the logarithmic scale, flagged ``interpolated``, unless the table fixes the count.
    """
    what, own = f"share above {limit:g} {unit}", {**(labels or {}), "limit": limit}
    if not n or not ranks:
        return Estimate(what, None, None, None, "1", n, "within_run", confidence, TABLE, ("no_values",), own)
    lower, upper = table_counts(limit, n, ranks, values)
    low, high = clopper_pearson(lower, n, confidence)[0], clopper_pearson(upper, n, confidence)[1]
    codes = ("within_run_floor",) + (("interpolated",) if lower < upper else ())
    estimate = math.sqrt(lower * upper) / n if lower else (lower + upper) / 2 / n
    shown: dict[str, float | int | str | bool] = {"count_low": lower, "count_high": upper}
    return Estimate(
        what,
        estimate,
        low,
        high,
        "1",
        n,
        "within_run",
        confidence,
        TABLE,
        codes,
        own,
        None,
        ("independent packets",),
        shown,
    )
