"""Quantiles from a frequency table: the class that contains an order statistic is the resolution of the result.

A table is what remains of 1e8 packets, and adding the counts of two tables loses nothing. It has lost the order of
sending, so its intervals are lower bounds.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from azlatency.stats.rows import QUANTILES, blank_estimate, joined
from azlatency.stats.within_run.order_statistics import EXACT, order_statistic_ranks, point_rank
from azlatency.studies.format import percentile
from azlatency.studies.runs.samples import class_middle

METHOD = f"bounds of the classes that contain the {EXACT}"
#: Levels that are estimated by default: they draw the distribution function.
LEVELS = (0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99, 0.999, 0.9999, 0.99999)


def histogram_quantiles(
    low: ArrayLike,
    high: ArrayLike,
    counts: ArrayLike,
    q: Iterable[float] = LEVELS,
    confidence: float = 0.95,
    *,
    unit: str = "ns",
    labels: Mapping[str, object] | None = None,
) -> pd.DataFrame:
    """Estimate quantiles of one run from a frequency table, by order-statistic ranks (Le Boudec 2010, theorem 2.1).

    ``low``, ``high``: bounds of the classes in ``unit``, in any order; NaN or ``inf`` is that of an open class.
    ``counts``: packets per class. ``labels``: further columns.

    One row per level ``q``: the middle of its class. The interval ends at the bounds of the classes that contain its
    ranks, and is a lower bound (``within_run_floor``). ``quantised``: the class is wider than half the interval. No
    estimate in an open class and with less than one packet above (``tail_unresolved``), nor in a class that is wider
    than its middle value.

    >>> found = histogram_quantiles([100, 101, 102], [101, 102, 103], [300, 500, 200], [0.5], unit="µs")
    >>> found[["low", "estimate", "high"]].iloc[0].to_list()
    [101.0, 101.5, 102.0]
    """
    lower, upper, number = (np.asarray(column, dtype="float64") for column in (low, high, counts))
    if not lower.shape == upper.shape == number.shape or lower.ndim != 1 or not (number >= 0).all():
        raise ValueError("low, high and counts must be series of one length, counts >= 0")
    lower = np.where(np.isnan(lower), -np.inf, lower)
    order = np.argsort(lower)
    lower, upper = lower[order], np.where(np.isnan(upper), np.inf, upper)[order]
    cumulative = np.cumsum(number[order])
    n = int(cumulative[-1]) if len(cumulative) else 0

    def class_of(rank: int) -> tuple[float, float]:
        """Return the bounds of the class that contains a 1-based rank; NaN beyond the packets and for an open end."""
        if not 1 <= rank <= n:
            return math.nan, math.nan
        place = int(np.searchsorted(cumulative, rank))
        start, end = (float(bound) if math.isfinite(bound) else math.nan for bound in (lower[place], upper[place]))
        return start, end

    rows = []
    for p in map(float, q):
        low_rank, high_rank = order_statistic_ranks(n, p, confidence) if n else (0, 1)
        (start, _), (_, end) = class_of(low_rank), class_of(high_rank)
        bottom, top = class_of(point_rank(n, p))
        middle = class_middle(bottom, top)
        flags = ["within_run_floor" if n else "no_values"]
        if n and (n * (1 - p) < 1 - 1e-9 or math.isnan(top - bottom)):
            flags.append("tail_unresolved")
            middle = math.nan
        elif top - bottom > (end - start) / 2:
            flags.append("quantised")
        if n and math.isnan(end):
            flags.append("unbounded_upper")
        row = blank_estimate(percentile(p), unit, n, confidence, METHOD, labels={**(labels or {}), "q": p})
        rows.append(row | {"estimate": middle, "low": start, "high": end, "flags": joined(flags)})
    return pd.DataFrame(rows, columns=None if rows else QUANTILES[1:])
