"""Rank statistics of run values: Hodges-Lehmann estimates with their intervals.

They hold for every distribution of runs: neither a slow run in ten nor two clusters change the coverage of an interval.
Use them for run values only. Applied to dependent packets, they find a path different from itself, and with thousands
of packets a difference of 0.1 µs is "significant".

Own code: scipy has the tests but not the intervals.

Sources: Hodges & Lehmann, Annals of Mathematical Statistics 34:598 (1963); Moses, Technometrics 7:257 (1965); Tukey
1949, intervals from Walsh averages; Wilcoxon, Biometrics Bulletin 1:80 (1945).
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from scipy.special import ndtri

from azlatency.stats.arrays import FloatArray

#: Above this number of runs the exact distributions take too long; the normal approximation is as good there.
EXACT_RUNS = 200


class Shift(NamedTuple):
    """Hodges-Lehmann estimate, its interval and the confidence that the interval attains."""

    estimate: float
    low: float | None
    high: float | None
    confidence: float | None


def rank_sum_distribution(ranks: FloatArray, m: int) -> tuple[FloatArray, FloatArray]:
    """Return values and probabilities of the sum of ``m`` (mid)ranks drawn without replacement.

    Exact, by a vectorised dynamic programme over the doubled midranks, which are integers: O(N * m * N^2) additions.
    """
    doubled = np.rint(2 * np.asarray(ranks)).astype(int)
    top = int(np.sort(doubled)[::-1][:m].sum())
    ways = np.zeros((m + 1, top + 1))
    ways[0, 0] = 1.0
    for count, rank in enumerate(doubled, start=1):
        for size in range(min(count, m), 0, -1):
            ways[size, rank:] += ways[size - 1, : top + 1 - rank]
    law = ways[m] / ways[m].sum()
    support = np.nonzero(law)[0]
    return support / 2.0, law[support]


@lru_cache(maxsize=64)
def rank_sum_law(m: int, n: int) -> tuple[FloatArray, FloatArray]:
    """Return values and probabilities of the rank sum of ``m`` of m + n different values."""
    return rank_sum_distribution(np.arange(1.0, m + n + 1), m)


@lru_cache(maxsize=64)
def signed_rank_law(ranks: tuple[int, ...]) -> FloatArray:
    """Return the probability of each sum of positive ranks, from 0 on; each rank is positive with probability 1/2."""
    law = np.ones(1)
    for rank in ranks:
        longer = np.zeros(len(law) + rank)
        longer[: len(law)] += law / 2
        longer[rank:] += law / 2
        law = longer
    return law


def hodges_lehmann(x: FloatArray, y: FloatArray, confidence: float = 0.95, *, interpolate: bool = False) -> Shift:
    """Return the median of all differences x - y with Moses' interval: exact without ties, conservative with ties.

    Exact ranks attain more than the confidence, and how much more jumps with the number of runs. ``interpolate`` places
    the ends between the two ranks that attain more and less.
    """
    m, n = len(x), len(y)
    differences = np.sort(np.subtract.outer(x, y).ravel())
    if m + n > EXACT_RUNS:
        count = _normal_count(m * n / 2, math.sqrt(m * n * (m + n + 1) / 12), confidence)
        return _shift(differences, count, confidence)
    support, law = rank_sum_law(m, n)
    shift = _shift(differences, *_count(support - m * (m + 1) / 2, law, confidence))
    return _interpolated(shift, differences, support - m * (m + 1) / 2, law, confidence) if interpolate else shift


def _interpolated(shift: Shift, ordered: FloatArray, support: FloatArray, law: FloatArray, confidence: float) -> Shift:
    """Return the interval between the exact one and the next shorter one, linear in the confidence."""
    count, attained = _count(support, law, confidence)
    if shift.low is None or shift.high is None or attained is None or 2 * count >= len(ordered):
        return shift
    less = 1 - 2 * float(np.cumsum(law)[support <= count][-1])
    share = (attained - confidence) / (attained - less)
    low = shift.low + share * (float(ordered[count]) - shift.low)
    high = shift.high + share * (float(ordered[len(ordered) - count - 1]) - shift.high)
    return shift._replace(low=low, high=high, confidence=confidence)


def pseudomedian(values: FloatArray, confidence: float = 0.95) -> Shift:
    """Return the median of all Walsh averages with its interval: exact for differences that are symmetric."""
    n = len(values)
    if not n:
        return Shift(math.nan, None, None, None)
    first, second = np.triu_indices(n)
    averages = np.sort((values[first] + values[second]) / 2)
    if n > EXACT_RUNS:
        count = _normal_count(n * (n + 1) / 4, math.sqrt(n * (n + 1) * (2 * n + 1) / 24), confidence)
        return _shift(averages, count, confidence)
    law = signed_rank_law(tuple(range(1, n + 1)))
    return _shift(averages, *_count(np.arange(float(len(law))), law, confidence))


def _count(support: FloatArray, law: FloatArray, confidence: float) -> tuple[int, float | None]:
    """Return the rank of the lower end among the differences, and the confidence that it attains; 0: no interval.

    The smallest count u with P(U <= u) >= alpha/2 (R's qwilcox and qsignrank).
    """
    cumulative = np.cumsum(law)
    count = int(support[np.searchsorted(cumulative, (1 - confidence) / 2 - 1e-12)])
    attained = None if count < 1 else 1 - 2 * float(cumulative[support <= count - 1][-1])
    return count, attained


def _normal_count(middle: float, spread: float, confidence: float) -> int:
    return math.floor(middle - float(ndtri((1 + confidence) / 2)) * spread + 0.5)


def _shift(ordered: FloatArray, count: int, attained: float | None) -> Shift:
    estimate = float(np.median(ordered))
    if count < 1:
        return Shift(estimate, None, None, None)
    return Shift(estimate, float(ordered[count - 1]), float(ordered[len(ordered) - count]), attained)
