"""How often a round trip is slower than a limit: P(X > limit), from samples or from a printed percentile table.

Packets of one connection depend on each other, so count and n are divided by the autocorrelation time of 1{x > limit}.
A few exceedances estimate their own dependence badly, so the guards of `quantiles` apply. Wald's interval is not
offered: it covers 18 % at n = 20, p = 0.01, and 86 % at n = 40,000, p = 5e-5.

Sources: Clopper & Pearson, Biometrika 26:404 (1934); Brown, Cai & DasGupta, Statistical Science 16:101 (2001).
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Iterable, Sequence

import pandas as pd

from azlatency.stats.arrays import FloatArray, Values, to_array
from azlatency.stats.rows import Row, blank_estimate, joined
from azlatency.stats.within_run.dependence import autocorrelation_time
from azlatency.stats.within_run.one_run import NO_INTERVAL, Options, Run, sort_run
from azlatency.stats.within_run.order_statistics import MIN_BEYOND
from azlatency.stats.within_run.proportions import clopper_pearson
from azlatency.studies.format import format_value

METHOD = "Clopper & Pearson 1934 at the effective n of 1{x > limit} (Geyer 1992)"
TABLE = "bounds of the count in a printed table, then Clopper & Pearson 1934 at either bound"


def exceedance(
    data: Values, limit: float, *, confidence: float = 0.95, lost: int = 0, independent: bool = False, unit: str = "ns"
) -> pd.DataFrame:
    """Estimate the share of probes of one run that are strictly slower than ``limit``, as one row.

    ``data``: values in the order of sending, in ``unit`` as the limit, or the samples of one run. NaN is missing;
    ``inf`` is a lost probe and exceeds every limit, as do the ``lost`` ones that ``data`` does not contain. ``count``
    (int64): the probes above the limit. No interval with ``long_memory`` and ``few_clusters``.

    Count and n are divided by the autocorrelation time of 1{x > limit} (Geyer 1992), unless they are ``independent``,
    before the interval of Clopper & Pearson (1934) is computed. If fewer than ten effective probes lie on one side
    (``coarse_bound``), the interval rests on the larger autocorrelation time of the limit and of a tail ten times as
    wide, and its outer end is the bound of the narrowest tail that contains the limit's and has ten effective probes.
    It assumes a stationary run with short memory; a kind of delay that did not occur in the run is not covered.

    >>> import numpy as np
    >>> import azlatency as az
    >>> rtt = 200 * np.random.default_rng(1).lognormal(0, 0.2, 40_000)
    >>> print(az.say(az.stats.exceedance(rtt, 350, unit="µs")))
    share above 350 µs: 0.0027, 95 % CI 0.0022–0.0032, n = 40,000 in one run
    """
    x, missing = to_array(data)
    run = sort_run(x, Options(confidence=confidence, independent=independent), lost=lost, missing=missing)
    above = x > limit
    count, n = int(above.sum()) + lost, run.n
    low = high = math.nan
    tau, flags = 1.0, run.flags
    if not n:
        flags += ("no_values",)
    elif independent or not len(x):
        low, high = clopper_pearson(count, n, confidence)
    else:
        tau_of_run = run.tau_beside_bursts(1 - count / n, max(autocorrelation_time(above.astype("float64")), 1.0))
        rare = min(count, n - count)
        side = max(rare, MIN_BEYOND) / n
        cautious = max(tau_of_run, run.wider_tau(side if rare < count else 1 - side))
        tau = tau_of_run if rare / cautious >= MIN_BEYOND else cautious
        low, high = clopper_pearson(count / tau, n / tau, confidence)
        if rare / cautious < MIN_BEYOND:
            flags += ("coarse_bound",)
            low, high = (low, _bound(run, confidence)) if rare == count else (1 - _bound(run, confidence, -1), high)
    if NO_INTERVAL & set(flags):
        low = high = math.nan
        flags = tuple(flag for flag in flags if flag != "coarse_bound")
    row = _blank(limit, n, confidence, unit, METHOD, flags) | {"low": low, "high": high, "count": count}
    if n:
        row |= {"estimate": count / n, "n_effective": n / tau}
    return pd.DataFrame([row])


def _blank(limit: float, n: int, confidence: float, unit: str, statistic: str, flags: Iterable[str]) -> Row:
    """Return the row of the share above a limit in ``unit``, without a number."""
    what, labels = f"share above {format_value(limit, unit)}", {"limit": limit}
    return blank_estimate(what, "1", n, confidence, statistic, labels=labels) | {"flags": joined(flags)}


def _bound(run: Run, confidence: float, side: int = 1) -> float:
    """Return the upper bound of the narrowest tail that has ten effective probes; 1 if there is none.

    ``side`` is 1 for the slowest probes and -1 for the fastest.
    """
    count = 1.25 * MIN_BEYOND
    while count <= run.n / 2:
        level = round(count / run.n, 12)
        tau = run.cautious_tau(1 - level if side > 0 else level)
        if count / tau >= MIN_BEYOND:
            return clopper_pearson(count / tau, run.n / tau, confidence)[1]
        count *= math.sqrt(10)
    return 1.0


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
    limit: float, n: int, ranks: Sequence[int], values: Sequence[float], *, confidence: float = 0.95
) -> pd.DataFrame:
    """Bound the share above a limit (ns) from a printed percentile table."""
    if len(ranks) != len(values) or any(not 1 <= rank <= n for rank in ranks):
        return pd.DataFrame([_blank(limit, n, confidence, "ns", TABLE, ["counts_conflict"])])
    return _bounded(limit, n, table_counts(limit, n, ranks, values) if ranks else None, confidence)


def histogram_exceedance(
    limit: float, low: FloatArray, high: FloatArray, counts: FloatArray, *, confidence: float = 0.95
) -> pd.DataFrame:
    """Bound the share above a limit (ns) from a frequency table: exact, unless the limit is inside of a class."""
    n = int(counts.sum())
    bounds = int(counts[low >= limit].sum()), int(counts[~(high <= limit)].sum())
    return _bounded(limit, n, bounds, confidence)


def _bounded(limit: float, n: int, counts: tuple[int, int] | None, confidence: float) -> pd.DataFrame:
    """Return the share of ``n`` values above a limit (ns), of which the smallest and the largest count are known.

    The ends are those of the intervals of Clopper & Pearson (1934) at either count.
    """
    if not n or counts is None:
        return pd.DataFrame([_blank(limit, n, confidence, "ns", TABLE, ["no_values"])])
    fewest, most = counts
    flags = ["within_run_floor", *(["interpolated"] if fewest < most else [])]
    numbers = {
        "estimate": math.sqrt(fewest * most) / n if fewest else (fewest + most) / 2 / n,
        "low": clopper_pearson(fewest, n, confidence)[0],
        "high": clopper_pearson(most, n, confidence)[1],
    }
    return pd.DataFrame([_blank(limit, n, confidence, "ns", TABLE, flags) | numbers])
