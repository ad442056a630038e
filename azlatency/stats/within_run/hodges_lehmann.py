"""The shift between two dependent samples of one run.

Sources: Hodges & Lehmann, Annals of Mathematical Statistics 34:598 (1963); Moses, Technometrics 7:257 (1965).
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import ndtri

from azlatency.stats.result import Estimate
from azlatency.stats.within_run.dependence import autocorrelation_time

if TYPE_CHECKING:
    from azlatency.stats.arrays import FloatArray

METHOD = "Hodges-Lehmann shift of block medians, Moses ranks at their effective number"
#: Most pairwise differences that are computed at once; above it, ranks are found by bisection.
_MOST_PAIRS = 200_000


def hodges_lehmann(
    later: FloatArray, earlier: FloatArray, *, confidence: float = 0.95, unit: str = "ns", what: str = "shift"
) -> Estimate:
    """Estimate the shift between two dependent samples: the median of their pairwise differences.

    The interval uses Moses' normal ranks with the variance multiplied by the larger autocorrelation time. Differences
    are counted by bisection and not stored: O((a + b) log). An end beyond the differences is None.
    """
    a, b = np.sort(later), np.sort(earlier)
    m, n = len(a), len(b)
    pairs = m * n
    if not pairs:
        return Estimate(
            what=what,
            estimate=None,
            low=None,
            high=None,
            unit=unit,
            n=m + n,
            scope="within_run",
            confidence=confidence,
            method=METHOD,
            codes=("no_values",),
        )
    tau = max(autocorrelation_time(later), autocorrelation_time(earlier), 1.0)
    half = float(ndtri((1 + confidence) / 2)) * math.sqrt(tau * pairs * (m + n + 1) / 12)
    first = math.floor(pairs / 2 - half)
    middle = (_difference_at(a, b, (pairs + 1) // 2) + _difference_at(a, b, pairs // 2 + 1)) / 2
    return Estimate(
        what=what,
        estimate=middle,
        low=_difference_at(a, b, first) if first >= 1 else None,
        high=_difference_at(a, b, pairs - first + 1) if first >= 1 else None,
        unit=unit,
        n=m + n,
        scope="within_run",
        confidence=confidence,
        method=METHOD,
        codes=() if first >= 1 else ("few_clusters",),
        n_effective=(m + n) / tau,
        assumptions=("the same law on both sides but for the shift",),
        diagnostics={"tau": tau},
    )


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
