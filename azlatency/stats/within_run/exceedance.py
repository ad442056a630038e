"""How often a round trip is slower than a limit: P(X > limit), from samples or from a printed percentile table.

Packets of one connection depend on each other, so count and n are divided by the autocorrelation time of 1{x > limit}.
Wald's interval is not offered: it covers 18 % at n = 20, p = 0.01, and 86 % at n = 40,000, p = 5e-5.

Sources: Clopper & Pearson, Biometrika 26:404 (1934); Wilson, JASA 22:209 (1927); Brown, Cai & DasGupta, Statistical
Science 16:101 (2001).
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Literal

from azlatency.stats.arrays import to_array
from azlatency.stats.result import Estimate
from azlatency.stats.within_run.dependence import autocorrelation_time, dependence
from azlatency.stats.within_run.order_statistics import MIN_BEYOND
from azlatency.stats.within_run.proportions import clopper_pearson, wilson

if TYPE_CHECKING:
    from azlatency.stats.arrays import Values

METHODS = {
    "clopper_pearson": "Clopper & Pearson 1934 at the effective n of 1{x > limit} (Geyer 1992)",
    "wilson": "Wilson 1927 at the effective n of 1{x > limit} (Geyer 1992)",
}
TABLE = "bounds of the count between printed percentiles, then Clopper & Pearson 1934 at either bound"


def exceedance(
    data: Values,
    limit: float,
    *,
    confidence: float = 0.95,
    method: Literal["clopper_pearson", "wilson"] = "clopper_pearson",
    lost: int = 0,
    independent: bool = False,
    unit: str = "ns",
    labels: Mapping[str, object] | None = None,
) -> Estimate:
    """Estimate the share of probes slower than a limit in one run.

    Parameters
    ----------
    data : array_like, Series or DataFrame, shape (n,)
        Values in the order of sending, in the unit of ``limit``, or the samples of one run. NaN is missing; ``inf`` is
        a lost probe and exceeds every limit.
    limit : float
        Probes strictly above it count.
    confidence : float
        Level of the interval, between 0 and 1.
    method : {"clopper_pearson", "wilson"}
        Kind of interval.
    lost : int
        Lost probes that ``data`` does not contain.
    independent : bool
        Do not correct for dependence.
    unit : str
        Unit of the values and of the limit.
    labels : mapping, optional
        Labels of the result.

    Returns
    -------
    Estimate
        The share, between 0 and 1. ``within_run_floor``: fewer than ten probes on one side of the limit, too few to
        estimate their dependence. ``long_memory`` and ``few_clusters``: no interval.

    Raises
    ------
    ValueError
        If the data are not one-dimensional or come from several runs.

    Notes
    -----
    Count and n are divided by the autocorrelation time of 1{x > limit} (Geyer 1992) before the interval of Clopper &
    Pearson (1934) or Wilson (1927) is computed.

    Examples
    --------
    >>> import numpy as np
    >>> from azlatency.stats.within_run.exceedance import exceedance
    >>> rtt = 200 * np.random.default_rng(1).lognormal(0, 0.2, 40_000)
    >>> print(exceedance(rtt, 350, unit="µs"))
    share above 350 µs: 0.0027, 95 % CI 0.0022–0.0032, n = 40,000 in one run
    """
    from scipy.special import ndtri

    x, missing = to_array(data)
    n = len(x) + lost
    above = x > limit
    count = int(above.sum()) + lost
    codes: tuple[str, ...] = ("missing",) if missing else ()
    what = f"share above {limit:g} {unit}"
    if not n:
        return Estimate(
            what=what, estimate=None, low=None, high=None, unit="1", n=0, scope="within_run", confidence=confidence,
            method=METHODS[method], codes=(*codes, "no_values"), labels=dict(labels or {}),
        )  # fmt: skip
    tau = 1.0 if independent else max(autocorrelation_time(above.astype("float64")), 1.0)
    if not independent:
        codes += dependence(x).codes if len(x) >= 4 else ()
        codes += ("within_run_floor",) if min(count, n - count) < MIN_BEYOND else ()
    low: float | None
    high: float | None
    if method == "wilson":
        low, high = wilson(count / n, n / tau, float(ndtri((1 + confidence) / 2)))
    else:
        low, high = clopper_pearson(count / tau, n / tau, confidence)
    if "long_memory" in codes or "few_clusters" in codes:
        low = high = None
    return Estimate(
        what=what, estimate=count / n, low=low, high=high, unit="1", n=n, scope="within_run", confidence=confidence,
        method=METHODS[method], codes=codes, labels={**(labels or {}), "limit": limit}, n_effective=n / tau,
        assumptions=("independent values",) if independent else ("stationary during the run", "short memory"),
        diagnostics={"count": count, "tau": tau, "missing": missing, "lost": lost},
    )  # fmt: skip


def table_counts(limit: float, n: int, ranks: Sequence[int], values: Sequence[float]) -> tuple[int, int]:
    """Return the smallest and the largest number of values above ``limit`` that a printed table allows.

    Of ``n`` values, at most those above the last rank (1-based, ascending) whose value is within the limit exceed it,
    and at least those from the first rank whose value is beyond.
    """
    within = bisect_right(values, limit)
    most = n - ranks[within - 1] if within else n
    fewest = n - ranks[within] + 1 if within < len(ranks) else 0
    return fewest, most


def table_exceedance(
    limit: float,
    n: int,
    ranks: Sequence[int],
    values: Sequence[float],
    *,
    confidence: float = 0.95,
    unit: str = "ns",
    labels: Mapping[str, object] | None = None,
) -> Estimate:
    """Bound the share above a limit from a printed percentile table.

    Parameters
    ----------
    limit : float
        Limit in ``unit``.
    n : int
        Number of packets.
    ranks : sequence of int
        1-based ranks of the printed values, ascending.
    values : sequence of float
        The printed values, in ``unit``.
    confidence : float
        Level of the interval, between 0 and 1.
    unit : str
        Unit of the values and of the limit.
    labels : mapping, optional
        Labels of the result.

    Returns
    -------
    Estimate
        The share, between 0 and 1; the geometric mean of the possible shares (``interpolated``) unless the table
        determines the count. The interval is a lower bound (``within_run_floor``): a table has lost the order of
        sending.

    Notes
    -----
    Ends of the intervals of Clopper & Pearson (1934) at the smallest and the largest possible count.

    Examples
    --------
    >>> from azlatency.stats.within_run.exceedance import table_exceedance
    >>> share = table_exceedance(140.0, 1000, [500, 900, 990], [100.0, 120.0, 150.0], unit="µs")
    >>> share.diagnostics["count_low"], share.diagnostics["count_high"]
    (11, 100)
    """
    what, own = f"share above {limit:g} {unit}", {**(labels or {}), "limit": limit}
    estimate = low = high = None
    codes: tuple[str, ...] = ("no_values",)
    diagnostics: dict[str, float | int | str | bool] = {}
    if n and ranks:
        fewest, most = table_counts(limit, n, ranks, values)
        low, high = clopper_pearson(fewest, n, confidence)[0], clopper_pearson(most, n, confidence)[1]
        codes = ("within_run_floor",) + (("interpolated",) if fewest < most else ())
        estimate = math.sqrt(fewest * most) / n if fewest else (fewest + most) / 2 / n
        diagnostics = {"count_low": fewest, "count_high": most}
    return Estimate(
        what=what, estimate=estimate, low=low, high=high, unit="1", n=n, scope="within_run", confidence=confidence,
        method=TABLE, codes=codes, labels=own, assumptions=("independent packets",) if diagnostics else (),
        diagnostics=diagnostics,
    )  # fmt: skip
