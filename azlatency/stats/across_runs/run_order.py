"""Dependence between runs in the order of measuring: one constant allowance for it, and a test that only flags.

Every statistic across runs assumes that runs vary independently. Runs of one hour resemble each other, and then an
interval that counts them as independent is too short. Five to twenty runs hardly show by how much, and an interval that
follows their own autocorrelation gets longer with more runs. Every interval is therefore widened by the same factor.
The test says that runs drift; what helps is to alternate both sides in rounds.

Sources: Bartels, JASA 77:40 (1982), rank version of von Neumann's ratio; Wald & Wolfowitz, Annals of Mathematical
Statistics 14:378 (1943), moments over permutations.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri

from azlatency.stats.arrays import FloatArray

#: How much longer than for independent runs every interval across runs is. Chosen by simulation: 4 against 4 to 20
#: against 20 independent runs are wrongly called different in 2 to 5 % of cases, runs with an autocorrelation of 0.3 in
#: at most 12 %; a change is found at most 5 points less often, and its absence shown at most 12 points less often.
WIDENING = 1.1
#: Fewest runs of a series whose order is tested.
FEWEST = 6
#: Level of the one-sided test that flags runs as dependent. A flag withholds the verdict of a gate, so it must be rare.
LEVEL = 0.02
#: Random orders of a series, and the longest series with random orders.
_DRAWS, _DRAWN = 4_999, 100


class RunOrder(NamedTuple):
    """Dependence of runs in the order of measuring; NaN if the order is not tested.

    ``lag1`` is the autocorrelation of the normal scores within each series, ``p`` the one-sided p-value of the
    permutation test: small if neighbouring runs resemble each other.
    """

    lag1: float = math.nan
    p: float = math.nan

    @property
    def drifts(self) -> bool:
        """Whether the test shows that neighbouring runs resemble each other."""
        return self.p <= LEVEL


def run_order(*series: FloatArray) -> RunOrder:
    """Test whether neighbouring runs resemble each other, within one or several series in the order of measuring.

    Series of fewer than six runs are left out. Up to 100 runs, the p-value comes from random orders with a fixed seed,
    else from the normal distribution with the moments over all orders.
    """
    scores = [normal_scores(values) for values in series if len(values) >= FEWEST]
    square = sum(float(score @ score) for score in scores)
    if not square:
        return RunOrder()
    products = sum(float(score[1:] @ score[:-1]) for score in scores)
    if max(map(len, scores)) > _DRAWN:
        mean, variance = (sum(moment) for moment in zip(*map(moments_over_orders, scores), strict=True))
        return RunOrder(products / square, float(ndtr((mean - products) / math.sqrt(variance))))
    permuted = np.zeros(_DRAWS)
    for seed, score in enumerate(scores):
        rows = score[_orders(len(score), seed)]
        permuted += np.einsum("ij,ij->i", rows[:, 1:], rows[:, :-1])
    hits = int((permuted >= products - 1e-9 * square).sum())
    return RunOrder(products / square, (1 + hits) / (1 + _DRAWS))


def warm_up(values: FloatArray) -> int:
    """Return how many first runs, at most a third, are all slower or all faster than every later run.

    0 if a random order shows the like with a probability, 2 / C(n, k), above 5 %.
    """
    for first in range(len(values) // 3, 0, -1):
        head, rest = values[:first], values[first:]
        apart = head.min() > rest.max() or head.max() < rest.min()
        if apart and 2 / math.comb(len(values), first) <= 0.05:
            return first
    return 0


def moments_over_orders(score: FloatArray) -> tuple[float, float]:
    """Return mean and variance of the sum of products of neighbours if centred scores come in a random order."""
    n, square, fourth = len(score), float((score**2).sum()), float((score**4).sum())
    mean = -square / n
    return mean, (square**2 - fourth) / n + (square**2 - 2 * fourth) / (n * (n - 1)) - mean**2


def normal_scores(values: FloatArray) -> FloatArray:
    """Return centred normal scores of the ranks (Blom); ties have their mean rank."""
    # To import scipy.stats for its ranks takes half a second.
    ordered = np.sort(values)
    ranks = (np.searchsorted(ordered, values, "left") + np.searchsorted(ordered, values, "right") + 1) / 2
    scores = ndtri((ranks - 0.375) / (len(values) + 0.25))
    return np.asarray(scores - scores.mean())


@lru_cache(maxsize=64)
def _orders(n: int, seed: int) -> NDArray[np.uint8]:
    """Return random orders of ``n`` runs, at most 100 of them; small numbers, because many lengths are kept."""
    return np.random.Generator(np.random.PCG64(seed)).random((_DRAWS, n)).argsort(axis=1).astype(np.uint8)
