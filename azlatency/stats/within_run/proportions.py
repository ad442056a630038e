"""Confidence intervals of a proportion at an effective, not necessarily whole, number of observations.

Own formulas: `scipy.stats.binomtest` accepts whole counts only, and effective counts are not whole.
"""

from __future__ import annotations

import math

from scipy.special import betaincinv


def clopper_pearson(count: float, n: float, confidence: float = 0.95) -> tuple[float, float]:
    """Return the exact interval of a proportion, ``count`` events in ``n`` observations; both can be effective numbers.

    Its coverage is never below ``confidence``: Clopper & Pearson, Biometrika 26:404 (1934).
    """
    if not 0 <= count <= n or n <= 0:
        raise ValueError(f"count = {count}, n = {n}: need 0 <= count <= n and n > 0")

    tail = (1 - confidence) / 2
    low = float(betaincinv(count, n - count + 1, tail)) if count > 0 else 0.0
    high = float(betaincinv(count + 1, n - count, 1 - tail)) if count < n else 1.0
    return low, high


def wilson(share: float, n: float, critical: float) -> tuple[float, float]:
    """Return the interval of Wilson (JASA 22:209, 1927) for a ``share`` of ``n`` observations.

    ``critical`` is the quantile of the normal or t distribution that corresponds to the level.
    """
    shrink = 1 + critical**2 / n
    centre = (share + critical**2 / (2 * n)) / shrink
    half = critical / shrink * math.sqrt(share * (1 - share) / n + critical**2 / (4 * n**2))
    return max(centre - half, 0.0), min(centre + half, 1.0)
