"""Drift of the level over one run.

Sources: Sen, JASA 63:1379 (1968); Hamed & Rao, Journal of Hydrology 204:182 (1998).
"""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
from scipy.stats import kendalltau, theilslopes

from azlatency.stats.arrays import FloatArray, Values, to_array
from azlatency.stats.rows import Row, blank_estimate
from azlatency.stats.within_run.dependence import autocorrelation_time

METHOD = "Theil-Sen slope over the run (Sen 1968), variance times the residuals' autocorrelation time"
#: Most block medians of which a slope is computed.
_MOST_BLOCKS = 400


def trend(data: Values, *, confidence: float = 0.95, unit: str = "ns") -> pd.DataFrame:
    """Estimate the drift over a series of values in ``unit`` in time order, and test it for a monotone trend.

    One row: the drift from the beginning to the end (``estimate``, ``low`` and ``high`` in ``unit``), ``n`` and
    ``n_effective`` values, Kendall's tau between time and level (``kendall``) and its ``p``. ``nonstationary``: the
    interval excludes 0. ``no_values``: fewer than three values. More than 400 values are first reduced to at most 400
    block medians. Theil-Sen slope (Sen 1968) and Kendall's test; their variances are multiplied by the autocorrelation
    time of the residuals (a short form of Hamed & Rao 1998).

    >>> trend([10.0, 11.0, 12.0, 13.0, 14.0])["estimate"].tolist()
    [4.0]
    """
    return pd.DataFrame([drift_of(data, confidence, unit)])


def drift_of(data: Values, confidence: float = 0.95, unit: str = "ns") -> Row:
    """Return the row of `trend`."""
    x, _ = to_array(data)
    size = math.ceil(len(x) / _MOST_BLOCKS)
    levels = np.median(x[: len(x) // size * size].reshape(-1, size), axis=1) if size > 1 else x
    n = len(levels)

    row = blank_estimate("drift over the run", unit, len(x), confidence, METHOD, numbers=("kendall", "p"))
    if n < 3 or not np.isfinite(levels).all():
        return row | {"flags": "no_values"}
    fit = theilslopes(levels, np.arange(n), alpha=confidence)
    tau = max(autocorrelation_time(levels - fit[0] * np.arange(n)), 1.0)
    widening = math.sqrt(tau)
    slope, low, high = (float(number) for number in (fit[0], fit[2], fit[3]))
    low, high = slope - widening * (slope - low), slope + widening * (high - slope)
    kendall, p = _kendall_test(levels, tau)
    drift = {"estimate": slope * (n - 1), "low": low * (n - 1), "high": high * (n - 1), "n_effective": n / tau}
    return row | drift | {"kendall": kendall, "p": p, "flags": "nonstationary" if low > 0 or high < 0 else ""}


def _kendall_test(levels: FloatArray, tau: float) -> tuple[float, float]:
    """Return Kendall's tau between time and level, and its p-value: exact if independent, else normal."""
    if levels.min() == levels.max():
        return 0.0, 1.0
    n = len(levels)
    test = kendalltau(np.arange(n), levels)
    kendall = float(test.statistic)
    if tau <= 1:
        return kendall, float(test.pvalue)
    z = kendall * math.sqrt(9 * n * (n - 1) / (2 * (2 * n + 5))) / math.sqrt(tau)
    return kendall, math.erfc(abs(z) / math.sqrt(2))
