"""Two groups of run values compared by ranks: the Hodges-Lehmann shift and the exact rank-sum test.

For run values only. On packets a rank test finds 0.1 µs "significant" and, since packets depend on each other, calls a
path different from itself (experiment C14).

Sources: Hodges & Lehmann 1963; Moses 1965.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from azlatency.stats import exact

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    FloatArray = NDArray[np.float64]

#: Above this number of runs the exact distribution of the rank sum costs more than it is worth.
_EXACT_RUNS = 200


class Shift(NamedTuple):
    """Hodges-Lehmann shift of X over Y, Moses' interval by rank counts and the confidence that it attains."""

    estimate: float
    low: float | None
    high: float | None
    confidence: float | None


def rank_sum_p(x: FloatArray, y: FloatArray) -> float:
    """Two-sided p of the rank sum by its exact permutation law, midranks for ties."""
    import numpy as np
    from scipy.stats import rankdata

    ranks = rankdata(np.concatenate([x, y]))
    m = len(x)
    support, law = exact.rank_sum_distribution(ranks, m)
    middle = m * ranks.mean()
    return min(1.0, float(law[np.abs(support - middle) >= abs(ranks[:m].sum() - middle) - 1e-9].sum()))


def hodges_lehmann(x: FloatArray, y: FloatArray, confidence: float = 0.95) -> Shift:
    """Median of all differences x - y and Moses' interval, exact without ties and conservative with them."""
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
