"""Drift of the level over one run.

Sources: Sen, JASA 63:1379 (1968); Hamed & Rao, Journal of Hydrology 204:182 (1998).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal

import numpy as np
from scipy.stats import kendalltau, theilslopes

from azlatency.stats.arrays import to_array
from azlatency.stats.result import Estimate, Result, Row
from azlatency.stats.within_run.dependence import autocorrelation_time

if TYPE_CHECKING:
    from azlatency.stats.arrays import FloatArray, Values

METHOD = "Theil-Sen slope over the run (Sen 1968), variance times the residuals' autocorrelation time"
#: Most block medians of which a slope is computed.
_MOST_BLOCKS = 400


@dataclass(frozen=True, slots=True, kw_only=True)
class Trend(Result):
    """Drift over a whole run.

    Attributes
    ----------
    slope : Estimate
        Drift from the beginning to the end of the run.
    kendall : float
        Kendall's tau between time and level.
    p : float or None
        p-value of no trend.
    """

    slope: Estimate
    kendall: float
    p: float | None
    codes: tuple[str, ...] = ()
    scope: Literal["within_run"] = "within_run"

    ROW: ClassVar[Row] = (
        ("what", "slope.what"), ("estimate", "slope.estimate"), ("low", "slope.low"), ("high", "slope.high"),
        ("unit", "slope.unit"), ("n", "slope.n"), ("n_effective", "slope.n_effective"), "kendall", "p", "scope",
        ("confidence", "slope.confidence"), ("statistic", "slope.method"),
    )  # fmt: skip

    def __str__(self) -> str:
        return f"{self.slope}, Kendall's tau {self.kendall:.2f}"


def trend(
    data: Values,
    *,
    confidence: float = 0.95,
    unit: str = "ns",
) -> Trend:
    """Estimate the drift over a series, and test it for a monotone trend.

    Parameters
    ----------
    data : array_like, Series or DataFrame, shape (n,)
        Values in ``unit`` in time order. More than 400 values are first reduced to at most 400 block medians.
    confidence : float
        Level of the interval, between 0 and 1.
    unit : str
        Unit of the values.

    Returns
    -------
    Trend
        Slope times length, with its interval. ``nonstationary``: the interval excludes 0. ``no_values``: fewer than
        three values.

    Notes
    -----
    Theil-Sen slope (Sen 1968) and Kendall's test; their variances are multiplied by the autocorrelation time of the
    residuals (a short form of Hamed & Rao 1998).

    Examples
    --------
    >>> from azlatency.stats.within_run.trend import trend
    >>> trend([10.0, 11.0, 12.0, 13.0, 14.0]).slope.estimate
    4.0
    """
    x, _ = to_array(data)
    size = math.ceil(len(x) / _MOST_BLOCKS)
    levels = np.median(x[: len(x) // size * size].reshape(-1, size), axis=1) if size > 1 else x
    n = len(levels)

    def result(
        estimate: float | None, low: float | None, high: float | None, codes: tuple[str, ...], tau: float | None = None
    ) -> Estimate:
        return Estimate(
            what="drift over the run",
            estimate=estimate,
            low=low,
            high=high,
            unit=unit,
            n=len(x),
            scope="within_run",
            confidence=confidence,
            method=METHOD,
            codes=codes,
            n_effective=None if tau is None else n / tau,
        )

    if n < 3 or not np.isfinite(levels).all():
        refusal = result(None, None, None, ("no_values",))
        return Trend(slope=refusal, kendall=math.nan, p=None, codes=refusal.codes)
    fit = theilslopes(levels, np.arange(n), alpha=confidence)
    tau = max(autocorrelation_time(levels - fit[0] * np.arange(n)), 1.0)
    widening = math.sqrt(tau)
    slope, low, high = (float(number) for number in (fit[0], fit[2], fit[3]))
    low, high = slope - widening * (slope - low), slope + widening * (high - slope)
    codes: tuple[str, ...] = ("nonstationary",) if low > 0 or high < 0 else ()
    kendall, p = _kendall_test(levels, tau)
    span = n - 1
    return Trend(slope=result(slope * span, low * span, high * span, codes, tau), kendall=kendall, p=p, codes=codes)


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
