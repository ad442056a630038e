"""Exact Wilcoxon tests, to which the intervals of `azlatency.stats.across_runs.hodges_lehmann` must be dual."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

from azlatency.stats.across_runs.hodges_lehmann import EXACT_RUNS, rank_sum_distribution, rank_sum_law, signed_rank_law

if TYPE_CHECKING:
    from azlatency.stats.arrays import FloatArray


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
    if len(ranks) > EXACT_RUNS:
        spread = math.sqrt(m * len(y) / len(ranks) * float(ranks.var(ddof=1)))
        z = (total - m * float(ranks.mean())) / spread if spread else 0.0
        return Tails(float(ndtr(-z)), float(ndtr(z)))
    # Without ties the distribution depends on the sizes only.
    tied = len(np.unique(ranks)) < len(ranks)
    support, law = rank_sum_distribution(ranks, m) if tied else rank_sum_law(m, len(y))
    return Tails(float(law[support >= total - 1e-9].sum()), float(law[support <= total + 1e-9].sum()))


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
    if len(ranks) > EXACT_RUNS:
        z = (total - float(ranks.sum()) / 2) / math.sqrt(float((ranks**2).sum()) / 4)
        return Tails(float(ndtr(-z)), float(ndtr(z)))
    # Midranks doubled are whole numbers; their sums are counted like ranks.
    law, place = signed_rank_law(tuple(np.rint(2 * ranks).astype(int).tolist())), round(2 * total)
    return Tails(float(law[place:].sum()), float(law[: place + 1].sum()))
