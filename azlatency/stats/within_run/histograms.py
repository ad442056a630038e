"""Quantiles from a histogram: rigorous with the bounds of its bins, or interpolated within them, at any n.

A histogram is what remains of 1e8 packets, and it is exact under merging. It has lost the order of sending: its
intervals are floors unless the autocorrelation time of a raw log of the same path is given.

The interpolated ends come from the Beta law of the rank of a resampled quantile: what a bootstrap of all packets would
give with infinitely many resamples, without drawing one. (A bootstrap of the bins themselves collapses onto a bin.)
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from azlatency.stats.result import Estimate, Results
from azlatency.stats.within_run.quantiles import EXACT, LEVELS, WITHIN, interval_ranks

if TYPE_CHECKING:
    import numpy as np

BINS = "bounds of the histogram's bins that hold the order statistics"
BETA = "Beta law of the quantile's rank (a bootstrap without resampling), interpolated within bins"


def histogram_quantiles(
    low: Any,
    high: Any,
    counts: Any,
    q: Iterable[float] = LEVELS,
    confidence: float = 0.95,
    *,
    tau: float = 1.0,
    smooth: bool = False,
    unit: str = "ns",
    labels: dict[str, object] | None = None,
) -> Results[Estimate]:
    """Quantiles from a histogram: interval ends are bounds of bins, the estimate is interpolated within its bin.

    ``smooth``: the ends are interpolated within their bins, too, for fine bins of a smooth law (``interpolated``).

    ``low``, ``high`` (NaN or inf where open), ``counts``: (bins,) each, in any order. A histogram has lost the order of
    sending: without ``tau`` of a raw log of the same path the intervals are floors (``within_run_floor``).
    """
    import numpy as np

    lower, upper, number = (np.asarray(each, dtype="float64") for each in (low, high, counts))
    if not lower.shape == upper.shape == number.shape or lower.ndim != 1 or (number < 0).any() or not tau >= 1:
        raise ValueError("low, high and counts must be series of one length, counts >= 0, tau >= 1")
    order = np.argsort(lower)
    lower, upper = lower[order], np.where(np.isnan(upper), np.inf, upper)[order]
    reached = np.cumsum(number[order])
    n = int(reached[-1]) if len(reached) else 0
    found = Results[Estimate]()
    for p in map(float, q):
        own = {**(labels or {}), "q": p}
        rigorous = _of_bins(p, n, lower, upper, reached, confidence, tau, unit, own)
        found.append(_smoothed(rigorous, p, lower, upper, reached, confidence, tau) if smooth else rigorous)
    return found


def _smoothed(
    rigorous: Estimate, p: float, lower: np.ndarray, upper: np.ndarray, reached: np.ndarray, confidence: float,
    tau: float,
) -> Estimate:  # fmt: skip
    """The same quantile with ends interpolated within bins; an end that is not bounded stays open."""
    from scipy.special import betaincinv

    n = float(reached[-1]) if len(reached) else 0.0
    if rigorous.refused or not n:
        return rigorous
    k = max(math.ceil(n * p - 1e-9), 1) / tau
    tail = (1 - confidence) / 2
    ends = (n * float(betaincinv(k, n / tau - k + 1, each)) for each in (tail, 1 - tail))
    low, high = (_within_bin(end, lower, upper, reached) for end in ends)
    return replace(
        rigorous, low=None if rigorous.low is None else low, high=None if rigorous.high is None else high,
        method=BETA, codes=tuple(dict.fromkeys([*rigorous.codes, "interpolated"])),
    )  # fmt: skip


def _within_bin(rank: float, lower: np.ndarray, upper: np.ndarray, reached: np.ndarray) -> float | None:
    """Value at a rank, ranks spread evenly over their bin; None in a bin without end."""
    import numpy as np

    at = int(np.searchsorted(reached, rank))
    before = float(reached[at - 1]) if at else 0.0
    share = (rank - before) / (float(reached[at]) - before)
    start, end = float(lower[at]), float(upper[at])
    return start + share * (end - start) if math.isfinite(end) else None


def _of_bins(
    p: float,
    n: int,
    lower: np.ndarray,
    upper: np.ndarray,
    reached: np.ndarray,
    confidence: float,
    tau: float,
    unit: str,
    labels: dict[str, object],
) -> Estimate:
    """One quantile of a histogram whose bins hold ``reached`` (bins,) values up to and with each bin."""
    import numpy as np

    exact = tau == 1.0
    ranks = interval_ranks(n, p, tau, confidence, exact)
    codes = [] if not exact else ["within_run_floor"]
    low = high = estimate = None
    if n and ranks.low >= 1:
        low = float(lower[np.searchsorted(reached, ranks.low)])
    if n and ranks.high <= n:
        end = float(upper[np.searchsorted(reached, ranks.high)])
        high = end if math.isfinite(end) else None
    if not n:
        codes.append("no_values")
    elif n * (1 - p) < 1:
        codes.append("tail_unresolved")
    else:
        rank = max(math.ceil(n * p - 1e-9), 1)
        estimate = _within_bin(rank, lower, upper, reached)
        codes += ["interpolated"] if estimate is not None else ["tail_unresolved"]
    if not ranks.resolved and not exact:
        codes, high = [*codes, "tail_unresolved"], None
    if n and high is None:
        codes.append("unbounded_upper")
    method = f"{BINS}; {EXACT if exact else WITHIN}"
    name, unique = f"p{100 * p:g}", tuple(dict.fromkeys(codes))
    return Estimate(
        name, estimate, low, high, unit, n, "within_run", confidence, method, unique, labels, ranks.n_effective
    )
