"""The shift between two dependent samples of one run.

Sources: Hodges & Lehmann, Annals of Mathematical Statistics 34:598 (1963); Moses, Technometrics 7:257 (1965).
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from scipy.special import ndtri

from azlatency.stats.arrays import FloatArray
from azlatency.stats.within_run.dependence import autocorrelation_time

#: Most pairwise differences that are computed at once; above it, ranks are found by bisection.
_MOST_PAIRS = 200_000


class Shift(NamedTuple):
    """The shift and the ends of its interval; an end beyond the differences is None."""

    estimate: float
    low: float | None
    high: float | None


def hodges_lehmann(later: FloatArray, earlier: FloatArray, confidence: float = 0.95) -> Shift:
    """Estimate the shift between two dependent samples of at least one value: the median of their pairwise differences.

    The interval uses Moses' normal ranks with the variance multiplied by the larger autocorrelation time. Differences
    are counted by bisection and not stored: O((a + b) log).
    """
    a, b = np.sort(later), np.sort(earlier)
    m, n = len(a), len(b)
    pairs = m * n
    tau = max(autocorrelation_time(later), autocorrelation_time(earlier), 1.0)
    half = float(ndtri((1 + confidence) / 2)) * math.sqrt(tau * pairs * (m + n + 1) / 12)
    first = math.floor(pairs / 2 - half)
    middle = (_difference_at(a, b, (pairs + 1) // 2) + _difference_at(a, b, pairs // 2 + 1)) / 2
    if first < 1:
        return Shift(middle, None, None)
    return Shift(middle, _difference_at(a, b, first), _difference_at(a, b, pairs - first + 1))


def _difference_at(a: FloatArray, b: FloatArray, rank: int) -> float:
    """Return the difference a_i - b_j of a 1-based rank, for two sorted series; exact to rounding."""
    if len(a) * len(b) <= _MOST_PAIRS:
        differences = (a[:, None] - b[None, :]).ravel()
        return float(np.partition(differences, rank - 1)[rank - 1])
    low, high = float(a[0] - b[-1]), float(a[-1] - b[0])
    for _ in range(60):
        middle = (low + high) / 2
        if int(np.searchsorted(b, a - middle, side="left").sum()) <= len(a) * len(b) - rank:
            high = middle
        else:
            low = middle
    return high
