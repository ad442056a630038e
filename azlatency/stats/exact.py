"""Exact tests at the level of runs: sign flips of paired rounds, permutations of run labels, max-T over a matrix.

Runs or rounds are permuted, never packets. All arrangements are enumerated up to a limit; beyond it they are drawn at
random with a seed, and the result says so. The smallest p-value that a design allows is known before any data: two runs
against two can never reach 5 %.

Own code: `scipy.stats.permutation_test` returns the same p-values, but takes 2 s instead of 0.06 s for 10 runs against
10, because it copies every arrangement.

Sources: Fisher, The Design of Experiments (1935), sign flips; Janssen, Stat. Probab. Lett. 36:9 (1997), studentised
permutation statistic; Westfall & Young, Resampling-Based Multiple Testing (1993), max-T.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

    FloatArray = NDArray[np.float64]

#: Most arrangements that are enumerated.
EXACT_LIMIT = 2**20
#: Number of random arrangements beyond that.
DRAWS = 99_999
#: Relative tolerance of ties, because sums in another order differ by rounding.
_SLACK = 1e-10


@dataclass(frozen=True, slots=True, kw_only=True)
class ExactTest:
    """A two-sided p-value and how it was computed.

    Attributes
    ----------
    p : float
        Two-sided p-value.
    attainable_p : float
        Smallest p-value that data of this size allow.
    arrangements : int
        Number of arrangements.
    exact : bool
        Whether all arrangements were enumerated.
    method : str
        Name of the test.
    """

    p: float
    attainable_p: float
    arrangements: int
    exact: bool
    method: str


def attainable_paired(rounds: int) -> float:
    """Return the smallest two-sided sign-flip p of ``rounds`` paired differences: 2 / 2^R, at most 1."""
    return 1.0 if rounds < 1 else min(1.0, 2.0 ** (1 - rounds))


def attainable_unpaired(first: int, second: int) -> float:
    """Return the smallest two-sided p of a permutation of labels (smaller tail doubled): 2 / C(m + n, m), at most 1."""
    if first < 1 or second < 1:
        return 1.0
    return min(1.0, 2.0 / math.comb(first + second, first))


def sign_flip(differences: Sequence[float] | FloatArray, *, seed: int = 0) -> ExactTest:
    """Test whether paired differences are symmetric about 0, by flipping their signs; the statistic is their mean.

    ``differences`` has one finite value per round. Exact for up to 20 rounds, else Monte Carlo with ``seed``.
    """
    import numpy as np

    d = np.asarray(differences, dtype=float)
    attainable = attainable_paired(int(np.count_nonzero(d)))
    if not d.size:
        return ExactTest(p=1.0, attainable_p=1.0, arrangements=1, exact=True, method="no differences")
    observed = abs(float(d.sum())) - _SLACK * float(np.abs(d).sum())
    if 2**d.size <= EXACT_LIMIT:
        # The first sign can be fixed: the distribution of |sum| is the same for both.
        sums = np.array([d[0]])
        for difference in d[1:]:
            sums = np.concatenate([sums + difference, sums - difference])
        p = float(np.mean(np.abs(sums) >= observed))
        method = f"exact sign flip of {d.size} rounds"
        return ExactTest(p=p, attainable_p=attainable, arrangements=2**d.size, exact=True, method=method)
    generator = np.random.Generator(np.random.PCG64(seed))
    hits = 0
    for _ in range(0, DRAWS, 11_111):
        signs = generator.integers(0, 2, (11_111, d.size)) * 2 - 1
        hits += int(np.count_nonzero(np.abs(signs @ d) >= observed))
    p = (1 + hits) / (1 + DRAWS)
    attainable = max(attainable, 1 / (1 + DRAWS))
    method = f"sign flip of {d.size} rounds, {DRAWS} random ones, seed {seed}"
    return ExactTest(p=p, attainable_p=attainable, arrangements=DRAWS, exact=False, method=method)


def permute_labels(
    first: Sequence[float] | FloatArray, second: Sequence[float] | FloatArray, *, seed: int = 0
) -> ExactTest:
    """Permute the run labels of two groups; the statistic is Welch's t, and the smaller tail is doubled.

    For groups of equal size this is the test of the difference of means. For unequal groups Welch's t keeps its level
    approximately even if the variances differ (Janssen 1997). Exact up to `EXACT_LIMIT` arrangements.
    """
    import numpy as np

    x, y = np.asarray(first, dtype=float), np.asarray(second, dtype=float)
    m, n = x.size, y.size
    attainable = attainable_unpaired(m, n)
    if not m or not n:
        return ExactTest(p=1.0, attainable_p=1.0, arrangements=1, exact=True, method="an empty group")
    # Centred, so that sums of squares lose no digits.
    pooled = np.concatenate([x, y])
    pooled = pooled - pooled.mean()
    scale = float(np.abs(pooled).max())
    if scale == 0:
        return ExactTest(p=1.0, attainable_p=attainable, arrangements=1, exact=True, method="all values are equal")
    pooled = pooled / scale
    sums, squares, exact = _arrangements(pooled, m, seed)
    statistics = _welch_t(sums, squares, pooled, m, n)
    observed = float(_welch_t(pooled[:m].sum(keepdims=True), (pooled[:m] ** 2).sum(keepdims=True), pooled, m, n)[0])
    slack = _SLACK * max(1.0, abs(observed))
    low = int(np.count_nonzero(statistics <= observed + slack))
    high = int(np.count_nonzero(statistics >= observed - slack))
    total = statistics.size
    if exact:
        p = min(1.0, 2 * min(low, high) / total)
        method = f"exact permutation of run labels, {m} against {n}"
        return ExactTest(p=p, attainable_p=attainable, arrangements=total, exact=True, method=method)
    p = min(1.0, 2 * (1 + min(low, high)) / (1 + total))
    method = f"permutation of run labels, {m} against {n}, {total} random ones, seed {seed}"
    attainable = max(attainable, 2 / (1 + total))
    return ExactTest(p=p, attainable_p=attainable, arrangements=total, exact=False, method=method)


def _arrangements(pooled: FloatArray, m: int, seed: int) -> tuple[FloatArray, FloatArray, bool]:
    """Return sum and sum of squares of the first group in every (or in random) arrangements, and whether in all."""
    import numpy as np

    size, count = pooled.size, math.comb(pooled.size, m)
    if size <= 20:
        # All subsets by doubling, then those of the right size.
        sums, squares, sizes = np.zeros(1), np.zeros(1), np.zeros(1, dtype=np.int8)
        for value in pooled:
            sums = np.concatenate([sums, sums + value])
            squares = np.concatenate([squares, squares + value * value])
            sizes = np.concatenate([sizes, sizes + np.int8(1)])
        chosen = sizes == m
        return sums[chosen], squares[chosen], True
    if count * min(m, size - m) <= EXACT_LIMIT:
        small = min(m, size - m)
        flat = np.fromiter((i for subset in combinations(range(size), small) for i in subset), dtype=np.intp)
        index = flat.reshape(count, small)
        sums, squares = pooled[index].sum(axis=1), (pooled[index] ** 2).sum(axis=1)
        if small == m:
            return sums, squares, True
        return pooled.sum() - sums, (pooled**2).sum() - squares, True
    generator = np.random.Generator(np.random.PCG64(seed))
    parts = []
    block = max(1, 2_000_000 // size)
    for start in range(0, DRAWS, block):
        order = generator.random((min(block, DRAWS - start), size)).argpartition(m, axis=1)[:, :m]
        parts.append(pooled[order])
    drawn = np.concatenate(parts)
    return drawn.sum(axis=1), (drawn**2).sum(axis=1), False


def _welch_t(sums: FloatArray, squares: FloatArray, pooled: FloatArray, m: int, n: int) -> FloatArray:
    """Return Welch's t of every arrangement; the plain difference of means if a group has one value."""
    import numpy as np

    first = np.asarray(sums) / m
    second = (pooled.sum() - sums) / n
    if m < 2 or n < 2:
        return np.asarray(first - second)
    var_first = np.maximum(np.asarray(squares) / m - first**2, 0.0) / (m - 1)
    var_second = np.maximum(((pooled**2).sum() - squares) / n - second**2, 0.0) / (n - 1)
    # Variances below rounding are zero: the groups are constant, and the statistic is huge with the sign kept.
    error = np.sqrt(np.maximum(var_first + var_second, 1e-30))
    return np.asarray((first - second) / error)


def max_t(differences: FloatArray, *, seed: int = 0) -> tuple[FloatArray, bool]:
    """Adjust the p-values of all pairs jointly: single-step max-T by sign flips of whole rounds (Westfall & Young).

    ``differences`` has the shape (pairs, rounds), with NaN if a pair was not measured in a round. The statistic is |t|.
    Whole rounds are flipped, which preserves the dependence of pairs measured in the same round. Returns the adjusted
    p-values (NaN for a pair with fewer than two rounds) and whether the enumeration is complete (up to 16 rounds).
    """
    import numpy as np

    d = np.asarray(differences, dtype=float)
    present = np.isfinite(d)
    counts = present.sum(axis=1)
    d = np.where(present, d, 0.0)
    usable = counts >= 2
    squares = np.where(usable, (d**2).sum(axis=1), 1.0)
    usable &= squares > 0
    adjusted = np.full(d.shape[0], np.nan)
    if not usable.any():
        return adjusted, True
    signs, exact = _all_signs(d.shape[1], seed)
    # With the sum of squares fixed under flips, |t| grows with |sum| / sqrt(sum of squares * rounds).
    weights = d[usable].T / np.sqrt(squares[usable] * counts[usable])
    sums = np.abs(signs @ weights)
    strengths = _t_of_share(sums, counts[usable])
    observed = _t_of_share(np.abs(weights.sum(axis=0)), counts[usable])
    largest = strengths.max(axis=1)
    hits = (largest[:, None] >= observed * (1 - _SLACK)).sum(axis=0)
    adjusted[usable] = hits / len(largest) if exact else (1 + hits) / (1 + len(largest))
    return adjusted, exact


def _t_of_share(share: FloatArray, counts: FloatArray) -> FloatArray:
    """Return |t| from share = |sum| / sqrt(n * sum of squares), which lies in [0, 1]."""
    import numpy as np

    rest = np.maximum(1 - np.minimum(share, 1.0) ** 2, 1e-18)
    return np.asarray(share * np.sqrt((counts - 1) / rest))


def _all_signs(rounds: int, seed: int) -> tuple[FloatArray, bool]:
    """Return every pattern of signs with the first one fixed (by symmetry), or random patterns."""
    import numpy as np

    if rounds <= 16:
        bits = np.arange(2 ** (rounds - 1))[:, None] >> np.arange(rounds - 1)[None, :]
        return np.hstack([np.ones((len(bits), 1)), 1.0 - 2.0 * (bits & 1)]).astype(np.float64), True
    generator = np.random.Generator(np.random.PCG64(seed))
    return np.asarray(generator.integers(0, 2, (DRAWS // 3, rounds)) * 2.0 - 1.0), False


def rank_sum_distribution(ranks: FloatArray, m: int) -> tuple[FloatArray, FloatArray]:
    """Return values and probabilities of the sum of ``m`` (mid)ranks drawn without replacement.

    Exact, by a vectorised dynamic programme over the doubled midranks, which are integers: O(N * m * N^2) additions.
    """
    import numpy as np

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
