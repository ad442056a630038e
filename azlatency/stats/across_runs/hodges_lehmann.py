"""Rank statistics of run values: Hodges-Lehmann estimates and the exact rank-sum test.

Use them for run values only. Applied to dependent packets, a rank test finds a path different from itself, and with
thousands of packets a difference of 0.1 µs is "significant".

Sources: Hodges & Lehmann, Annals of Mathematical Statistics 34:598 (1963); Moses, Psychometrika 30:239 (1965).
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

from azlatency.stats import exact

if TYPE_CHECKING:
    from azlatency.stats.arrays import FloatArray

#: Above this number of runs the exact distribution of the rank sum is not computed: it takes too long.
_EXACT_RUNS = 200


class Shift(NamedTuple):
    """Hodges-Lehmann shift of x over y, Moses' interval and the confidence that the interval attains."""

    estimate: float
    low: float | None
    high: float | None
    confidence: float | None


def rank_sum_p(x: FloatArray, y: FloatArray) -> float:
    """Return the exact two-sided p-value of the rank-sum test, with midranks for ties."""
    import numpy as np
    from scipy.stats import rankdata

    ranks = rankdata(np.concatenate([x, y]))
    m = len(x)
    support, law = exact.rank_sum_distribution(ranks, m)
    middle = m * ranks.mean()
    return min(1.0, float(law[np.abs(support - middle) >= abs(ranks[:m].sum() - middle) - 1e-9].sum()))


def hodges_lehmann(x: FloatArray, y: FloatArray, confidence: float = 0.95) -> Shift:
    """Return the median of all differences x - y with Moses' interval: exact without ties, conservative with ties."""
    import numpy as np

    differences = np.sort(np.subtract.outer(x, y).ravel())
    m, n = len(x), len(y)
    estimate = float(np.median(differences))
    if m + n > _EXACT_RUNS:
        return Shift(estimate, None, None, None)
    support, law = exact.rank_sum_distribution(np.arange(1.0, m + n + 1), m)
    cumulative = np.cumsum(law)
    # The smallest count u of pairs x > y with P(U <= u) >= alpha/2 (R's qwilcox); 0 leaves no interval.
    count = int(support[np.searchsorted(cumulative, (1 - confidence) / 2 - 1e-12)] - m * (m + 1) / 2)
    if count < 1:
        return Shift(estimate, None, None, None)
    attained = 1 - 2 * float(cumulative[support - m * (m + 1) / 2 <= count - 1][-1])
    return Shift(estimate, float(differences[count - 1]), float(differences[m * n - count]), attained)


def pseudomedian(values: FloatArray) -> float:
    """Return the one-sample Hodges-Lehmann estimate: the median of all Walsh averages."""
    import numpy as np

    if not len(values):
        return math.nan
    first, second = np.triu_indices(len(values))
    return float(np.median((values[first] + values[second]) / 2))
