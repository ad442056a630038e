"""Rank statistics of run values: Hodges-Lehmann estimates with their intervals, and exact Wilcoxon tests.

They hold for every distribution of runs: a slow run in ten or two clusters change neither the level of a test nor the
coverage of an interval. Use them for run values only. Applied to dependent packets, a rank test finds a path different
from itself, and with thousands of packets a difference of 0.1 µs is "significant".

Own code: scipy has the tests but neither the intervals nor, with ties, exact p-values.

Sources: Hodges & Lehmann, Annals of Mathematical Statistics 34:598 (1963); Moses, Technometrics 7:257 (1965); Tukey
1949, intervals from Walsh averages.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from azlatency.stats import exact

if TYPE_CHECKING:
    from azlatency.stats.arrays import FloatArray

#: Above this number of runs the exact distributions take too long; the normal approximation is as good there.
_EXACT_RUNS = 200


class Shift(NamedTuple):
    """Hodges-Lehmann estimate, its interval and the confidence that the interval attains."""

    estimate: float
    low: float | None
    high: float | None
    confidence: float | None


class Tails(NamedTuple):
    """One-sided p-values: that the values are larger than expected, and that they are smaller."""

    larger: float
    smaller: float

    @property
    def two_sided(self) -> float:
        """The smaller tail, doubled."""
        return min(1.0, 2 * min(self))


def rank_sum_tails(x: FloatArray, y: FloatArray) -> Tails:
    """Return the exact p-values of the rank-sum test of x against y, with midranks for ties."""
    import numpy as np
    from scipy.special import ndtr
    from scipy.stats import rankdata

    ranks = rankdata(np.concatenate([x, y]))
    m, total = len(x), float(ranks[: len(x)].sum())
    if len(ranks) > _EXACT_RUNS:
        spread = math.sqrt(m * len(y) / len(ranks) * float(ranks.var(ddof=1)))
        z = (total - m * float(ranks.mean())) / spread if spread else 0.0
        return Tails(float(ndtr(-z)), float(ndtr(z)))
    # Without ties the distribution depends on the sizes only.
    tied = len(np.unique(ranks)) < len(ranks)
    support, law = exact.rank_sum_distribution(ranks, m) if tied else _rank_sum_law(m, len(y))
    return Tails(float(law[support >= total - 1e-9].sum()), float(law[support <= total + 1e-9].sum()))


@lru_cache(maxsize=64)
def _rank_sum_law(m: int, n: int) -> tuple[FloatArray, FloatArray]:
    """Return values and probabilities of the rank sum of ``m`` of m + n different values."""
    import numpy as np

    return exact.rank_sum_distribution(np.arange(1.0, m + n + 1), m)


@lru_cache(maxsize=64)
def _signed_rank_law(ranks: tuple[int, ...]) -> FloatArray:
    """Return the probability of each sum of positive ranks, from 0 on; each rank is positive with probability 1/2."""
    import numpy as np

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
    import numpy as np

    m, n = len(x), len(y)
    differences = np.sort(np.subtract.outer(x, y).ravel())
    if m + n > _EXACT_RUNS:
        count = _normal_count(m * n / 2, math.sqrt(m * n * (m + n + 1) / 12), confidence)
        return _shift(differences, count, confidence)
    support, law = _rank_sum_law(m, n)
    shift = _shift(differences, *_count(support - m * (m + 1) / 2, law, confidence))
    return _interpolated(shift, differences, support - m * (m + 1) / 2, law, confidence) if interpolate else shift


def _interpolated(shift: Shift, ordered: FloatArray, support: FloatArray, law: FloatArray, confidence: float) -> Shift:
    """Return the interval between the exact one and the next shorter one, linear in the confidence."""
    import numpy as np

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
    import numpy as np

    n = len(values)
    if not n:
        return Shift(math.nan, None, None, None)
    first, second = np.triu_indices(n)
    averages = np.sort((values[first] + values[second]) / 2)
    if n > _EXACT_RUNS:
        count = _normal_count(n * (n + 1) / 4, math.sqrt(n * (n + 1) * (2 * n + 1) / 24), confidence)
        return _shift(averages, count, confidence)
    law = _signed_rank_law(tuple(range(1, n + 1)))
    return _shift(averages, *_count(np.arange(float(len(law))), law, confidence))


def signed_rank_tails(differences: FloatArray) -> Tails:
    """Return the exact p-values of the signed-rank test; zeros are left out, ties get midranks."""
    import numpy as np
    from scipy.special import ndtr
    from scipy.stats import rankdata

    nonzero = differences[differences != 0]
    if not len(nonzero):
        return Tails(1.0, 1.0)
    ranks = rankdata(np.abs(nonzero))
    total = float(ranks[nonzero > 0].sum())
    if len(ranks) > _EXACT_RUNS:
        z = (total - float(ranks.sum()) / 2) / math.sqrt(float((ranks**2).sum()) / 4)
        return Tails(float(ndtr(-z)), float(ndtr(z)))
    # Midranks doubled are whole numbers; their sums are counted like ranks.
    law, place = _signed_rank_law(tuple(np.rint(2 * ranks).astype(int).tolist())), round(2 * total)
    return Tails(float(law[place:].sum()), float(law[: place + 1].sum()))


def _count(support: FloatArray, law: FloatArray, confidence: float) -> tuple[int, float | None]:
    """Return the rank of the lower end among the differences, and the confidence that it attains; 0: no interval.

    The smallest count u with P(U <= u) >= alpha/2 (R's qwilcox and qsignrank).
    """
    import numpy as np

    cumulative = np.cumsum(law)
    count = int(support[np.searchsorted(cumulative, (1 - confidence) / 2 - 1e-12)])
    attained = None if count < 1 else 1 - 2 * float(cumulative[support <= count - 1][-1])
    return count, attained


def _normal_count(middle: float, spread: float, confidence: float) -> int:
    from scipy.special import ndtri

    return math.floor(middle - float(ndtri((1 + confidence) / 2)) * spread + 0.5)


def _shift(ordered: FloatArray, count: int, attained: float | None) -> Shift:
    import numpy as np

    estimate = float(np.median(ordered))
    if count < 1:
        return Shift(estimate, None, None, None)
    return Shift(estimate, float(ordered[count - 1]), float(ordered[len(ordered) - count]), attained)
