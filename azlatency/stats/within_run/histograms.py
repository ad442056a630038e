"""Quantiles from a histogram, with ends at bounds of bins or interpolated within them, at any number of packets.

A histogram is what remains of 1e8 packets, and merging histograms loses nothing. It has lost the order of sending, so
its intervals are lower bounds unless the autocorrelation time of a raw log of the same path is given.

Interpolated ends come from the Beta distribution of the rank of a resampled quantile: the limit of a bootstrap of all
packets for infinitely many resamples. (A bootstrap of the bins themselves collapses onto one bin.)
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from azlatency.stats.result import Estimate, Results
from azlatency.stats.within_run.order_statistics import EFFECTIVE, EXACT, interval_ranks, point_rank
from azlatency.stats.within_run.quantiles import LEVELS

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from azlatency.stats.arrays import FloatArray

BINS = "bounds of the histogram's bins that hold the order statistics"
BETA = "Beta law of the quantile's rank (a bootstrap without resampling), interpolated within bins"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Histogram:
    """Bins in ascending order: their bounds and the cumulative count up to the end of each."""

    lower: FloatArray
    upper: FloatArray
    cumulative: FloatArray

    @property
    def n(self) -> int:
        """Number of packets."""
        return int(self.cumulative[-1]) if len(self.cumulative) else 0

    def value_at(self, rank: float) -> float | None:
        """Return the value at a rank, with ranks spread evenly over their bin; None in a bin without upper bound."""
        import numpy as np

        at = int(np.searchsorted(self.cumulative, rank))
        before = float(self.cumulative[at - 1]) if at else 0.0
        share = (rank - before) / (float(self.cumulative[at]) - before)
        start, end = float(self.lower[at]), float(self.upper[at])
        return start + share * (end - start) if math.isfinite(end) else None


def histogram_quantiles(
    low: ArrayLike,
    high: ArrayLike,
    counts: ArrayLike,
    q: Iterable[float] = LEVELS,
    confidence: float = 0.95,
    *,
    tau: float = 1.0,
    smooth: bool = False,
    unit: str = "ns",
    labels: Mapping[str, object] | None = None,
) -> Results[Estimate]:
    """Estimate quantiles from a histogram.

    Parameters
    ----------
    low, high : array_like, shape (bins,)
        Bounds of the bins in ``unit``, in any order. An upper bound of NaN or ``inf`` is an open bin.
    counts : array_like, shape (bins,)
        Packets per bin.
    q : iterable of float
        Levels, between 0 and 1.
    confidence : float
        Level of the intervals, between 0 and 1.
    tau : float
        Autocorrelation time, at least 1, from a raw log of the same path.
    smooth : bool
        Interpolate the ends within their bins, for fine bins of a smooth distribution.
    unit : str
        Unit of the bounds.
    labels : mapping, optional
        Labels of the estimates.

    Returns
    -------
    Results[Estimate]
        One estimate per level, interpolated within its bin (``interpolated``). Without ``tau`` the intervals are lower
        bounds (``within_run_floor``). No estimate with less than one packet above (``tail_unresolved``).

    Raises
    ------
    ValueError
        If the arrays differ in length, a count is negative, or ``tau`` is below 1.

    Notes
    -----
    Order-statistic ranks (Le Boudec 2010, theorem 2.1; Woodruff 1952 at the effective sample size). Interpolated ends
    use the Beta distribution of the rank.

    Examples
    --------
    >>> from azlatency.stats.within_run.histograms import histogram_quantiles
    >>> (p50,) = histogram_quantiles([0, 100, 200], [100, 200, 300], [10, 80, 10], [0.5], unit="µs")
    >>> p50.low, p50.estimate, p50.high
    (100.0, 150.0, 200.0)
    """
    import numpy as np

    lower, upper, number = (np.asarray(column, dtype="float64") for column in (low, high, counts))
    if not lower.shape == upper.shape == number.shape or lower.ndim != 1 or (number < 0).any() or not tau >= 1:
        raise ValueError("low, high and counts must be series of one length, counts >= 0, tau >= 1")
    order = np.argsort(lower)
    upper = np.where(np.isnan(upper), np.inf, upper)
    histogram = _Histogram(lower=lower[order], upper=upper[order], cumulative=np.cumsum(number[order]))
    results = Results[Estimate]()
    for p in map(float, q):
        estimate = _estimate(histogram, p, confidence, tau)
        if smooth and not estimate.refused and histogram.n:
            estimate = _smooth(histogram, estimate, p, tau)
        results.append(replace(estimate, unit=unit, labels={**(labels or {}), "q": p}))
    return results


def _estimate(histogram: _Histogram, p: float, confidence: float, tau: float) -> Estimate:
    """Estimate one quantile with ends at the bounds of the bins that contain its ranks."""
    import numpy as np

    n, exact = histogram.n, tau == 1.0
    ranks = interval_ranks(n, p, tau, confidence, independent=exact)
    codes = ["within_run_floor"] if exact else []
    low = high = estimate = None
    if n and ranks.low >= 1:
        low = float(histogram.lower[np.searchsorted(histogram.cumulative, ranks.low)])
    if n and ranks.high <= n:
        end = float(histogram.upper[np.searchsorted(histogram.cumulative, ranks.high)])
        high = end if math.isfinite(end) else None
    if not n:
        codes.append("no_values")
    elif n * (1 - p) < 1:
        codes.append("tail_unresolved")
    else:
        estimate = histogram.value_at(point_rank(n, p))
        codes += ["interpolated"] if estimate is not None else ["tail_unresolved"]
    if not ranks.resolved and not exact:
        codes, high = [*codes, "tail_unresolved"], None
    if n and high is None:
        codes.append("unbounded_upper")
    return Estimate(
        what=f"p{100 * p:g}", estimate=estimate, low=low, high=high, unit="ns", n=n, scope="within_run",
        confidence=confidence, method=f"{BINS}; {EXACT if exact else EFFECTIVE}", codes=tuple(dict.fromkeys(codes)),
        n_effective=ranks.n_effective,
    )  # fmt: skip


def _smooth(histogram: _Histogram, estimate: Estimate, p: float, tau: float) -> Estimate:
    """Replace the ends by values interpolated within bins; an open end stays open."""
    from scipy.special import betaincinv

    n = float(histogram.cumulative[-1])
    k = point_rank(histogram.n, p) / tau
    tail = (1 - estimate.confidence) / 2
    low, high = (histogram.value_at(n * float(betaincinv(k, n / tau - k + 1, share))) for share in (tail, 1 - tail))
    return replace(
        estimate, low=None if estimate.low is None else low, high=None if estimate.high is None else high, method=BETA,
        codes=tuple(dict.fromkeys([*estimate.codes, "interpolated"])),
    )  # fmt: skip
