"""Exact distributions of rank tests at the level of runs, and the smallest p-value that a design allows.

Runs or rounds are exchanged, never packets. The smallest p-value is known before any data: two runs against two can
never reach 5 %.

Sources: Wilcoxon, Biometrics Bulletin 1:80 (1945); Fisher, The Design of Experiments (1935).
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from azlatency.stats.arrays import FloatArray


def attainable_paired(rounds: int) -> float:
    """Return the smallest two-sided signed-rank p of ``rounds`` paired differences: 2 / 2^R, at most 1."""
    return 1.0 if rounds < 1 else min(1.0, 2.0 ** (1 - rounds))


def attainable_unpaired(first: int, second: int) -> float:
    """Return the smallest two-sided p of a rank-sum test (smaller tail doubled): 2 / C(m + n, m), at most 1."""
    if first < 1 or second < 1:
        return 1.0
    # A quotient of integers: the count of thousands of runs exceeds every float.
    return min(1.0, 2 / math.comb(first + second, first))


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
