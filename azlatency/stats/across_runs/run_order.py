"""Dependence between runs in the order of measuring: lag-1 autocorrelation, its permutation test, and its effect.

Every statistic across runs assumes that runs vary independently. Runs of one hour resemble each other, and then an
interval that counts them as independent is too short. A few runs hardly show it: with two series of ten runs of an
AR(1) process of 0.5 the test finds it in half of all cases. Every interval is therefore widened by the autocorrelation
that the runs show, shrunk towards the one that is usual: the more runs, the more their own estimate counts, and alone
where the test shows dependence. Rounds whose order within each is random are exchangeable, so theirs is shrunk towards
0.

Sources: Bartels, JASA 77:40 (1982), rank version of von Neumann's ratio; Kendall, Biometrika 41:403 (1954), bias of the
lag-1 autocorrelation; Wald & Wolfowitz, Annals of Mathematical Statistics 14:378 (1943), moments over permutations.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from itertools import permutations
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from azlatency.stats.arrays import FloatArray

#: Fewest runs of a series whose order is tested.
FEWEST = 6
#: Level of the one-sided test that flags runs as dependent.
LEVEL = 0.05
#: Level at which the estimate counts alone. At the level of the flag, six runs would decide less often than five.
_CERTAIN = 0.01
#: Usual AR(1) coefficient between runs, and its standard deviation between studies. Chosen by simulation, so that
#: intervals are wrong in at most 5 % of independent runs and 10 % of runs with a coefficient of 0.3.
USUAL, _DEVIATION = 0.1, 0.2
#: Standard errors that the strongest coefficient lies above the estimate.
_MOST_ERRORS = 2.0
#: Largest AR(1) coefficient that is assumed.
_LARGEST = 0.95
#: Longest series whose orders are enumerated, number of random orders of a longer one, and longest with random orders.
_ENUMERATED, _DRAWS, _DRAWN = 8, 9_999, 100


class RunOrder(NamedTuple):
    """Dependence of runs in the order of measuring.

    Attributes
    ----------
    lag1 : float
        Lag-1 autocorrelation of the normal scores within each series.
    p : float
        One-sided p-value of the permutation test: small if neighbouring runs resemble each other.
    coefficient : float
        AR(1) coefficient that intervals allow for: the estimate without bias, shrunk towards the usual one unless the
        test shows dependence at 1 %.
    strongest : float
        AR(1) coefficient that the runs cannot exclude: the estimate plus two standard errors.
    """

    lag1: float
    p: float
    coefficient: float = USUAL
    strongest: float = _LARGEST

    @property
    def dependent(self) -> bool:
        """Whether the test shows that neighbouring runs resemble each other."""
        return self.p <= LEVEL and self.coefficient > 0

    def inflation(self, runs: int) -> float:
        """Return the factor of the variance of a mean or median of ``runs`` runs."""
        return _inflation(self.coefficient, runs)

    def widening(self, confidence: float, sizes: Sequence[int]) -> float:
        """Return how much longer an interval is under an AR(1) process with this coefficient.

        ``sizes`` are the numbers of runs of one mean, or of the two means of a difference. The variance of a mean is
        then larger than s²/n and s² itself is smaller than the variance of the runs; the degrees of freedom are those
        of a chi-squared variable with the mean and the variance of s² (Satterthwaite 1946).
        """
        from scipy.special import stdtrit

        moments = [_moments(size, self.coefficient) for size in sizes]
        variance, estimated = (sum(moment[at] / n for moment, n in zip(moments, sizes, strict=True)) for at in (0, 1))
        parts = [(moment[1] / n) ** 2 / moment[2] for moment, n in zip(moments, sizes, strict=True)]
        degrees, independent = estimated**2 / sum(parts), sum(sizes) - len(sizes)
        upper = (1 + confidence) / 2
        longer = math.sqrt(variance / estimated) * float(stdtrit(degrees, upper) / stdtrit(independent, upper))
        return max(longer, 1.0)


#: The order of too few runs, or of rounds, cannot be tested.
UNTESTED = RunOrder(math.nan, math.nan)
UNTESTED_ROUNDS = UNTESTED._replace(coefficient=0.0)


def run_order(*series: FloatArray, usual: float = USUAL) -> RunOrder:
    """Test whether neighbouring runs resemble each other, within one or several series in the order of measuring.

    Series of fewer than six runs are left out; without any other, the coefficient is the ``usual`` one.

    The p-value of one series of up to eight runs is exact, up to 100 runs it comes from random orders with a fixed
    seed, and else from the normal distribution with the moments over all orders. Series of one length count as measured
    in the same rounds and are permuted together, because what acts on all of them in a round is no dependence in time.
    """
    import numpy as np
    from scipy.special import ndtr

    scores = [normal_scores(values) for values in series if len(values) >= FEWEST]
    square = sum(float(score @ score) for score in scores)
    if not square:
        return UNTESTED._replace(coefficient=usual)
    products = sum(float(score[1:] @ score[:-1]) for score in scores)
    by_length: dict[int, list[FloatArray]] = {}
    for score in scores:
        by_length.setdefault(len(score), []).append(score)
    mean = variance = sensitivity = 0.0
    for runs, of_length in by_length.items():
        moments = _over_orders(np.array(of_length))
        mean, variance = mean + moments[0], variance + moments[1]
        sensitivity -= (runs - 4) * moments[0]
    error = math.sqrt(variance)
    if len(scores) == 1 and len(scores[0]) <= _DRAWN:
        permuted = _permuted(scores[0])
        hits = len(permuted) - int(np.searchsorted(permuted, products - 1e-9 * square))
        p = hits / len(permuted) if len(permuted) != _DRAWS else (1 + hits) / (1 + _DRAWS)
    else:
        p = float(ndtr((mean - products) / error))
    estimate = (products - mean) / sensitivity
    order = _order(estimate, error / sensitivity, usual)._replace(lag1=products / square, p=p)
    # Rounds in random order cannot depend on each other: what the test shows contradicts that their order was random.
    if p > (_CERTAIN if usual else LEVEL):
        return order
    return order._replace(coefficient=min(max(order.coefficient, estimate), _LARGEST))


def warm_up(values: FloatArray) -> int:
    """Return how many first runs, at most a third, are all slower or all faster than every later run.

    0 if a random order shows the like with a probability, 2 / C(n, k), above 5 %.
    """
    for first in range(len(values) // 3, 0, -1):
        head, rest = values[:first], values[first:]
        apart = head.min() > rest.max() or head.max() < rest.min()
        if apart and 2 / math.comb(len(values), first) <= LEVEL:
            return first
    return 0


def expected_order(*sizes: int) -> RunOrder:
    """Return the order of independent series of these sizes whose autocorrelation is exactly as expected."""
    runs = min(sizes)
    if runs < FEWEST:
        return UNTESTED
    return _order(0.0, (runs - 2) / (runs - 4) / math.sqrt(len(sizes) * (runs - 1)), USUAL)


def _order(estimate: float, error: float, usual: float) -> RunOrder:
    """Return the coefficients that belong to an estimate without bias."""
    weight = _DEVIATION**2 / (_DEVIATION**2 + error**2)
    shrunk, strongest = (
        min(max(coefficient, 0.0), _LARGEST)
        for coefficient in (usual + weight * (estimate - usual), estimate + _MOST_ERRORS * error)
    )
    return RunOrder(math.nan, math.nan, shrunk, strongest)


def shared_orders(pairs: Sequence[tuple[FloatArray, ...]], usual: float = USUAL) -> list[RunOrder]:
    """Return the dependence of each pair of series, or of each single one, that were measured in the same time.

    What makes runs resemble their neighbours, such as the hour and the hosts, acts on all paths, and the runs of all
    paths show it where those of one path cannot. A pair whose own order is significant among all of them keeps its own.
    """
    shared = run_order(*(series for pair in pairs for series in pair), usual=usual)
    if len(pairs) < 2:
        return [shared] * len(pairs)
    orders = [run_order(*pair, usual=usual) for pair in pairs]
    return [order if order.p * len(pairs) <= LEVEL else shared for order in orders]


def _over_orders(scores: FloatArray) -> tuple[float, float]:
    """Return mean and variance of the sum of products of neighbours if the rounds (columns) come in a random order."""
    import numpy as np

    n = scores.shape[1]
    gram = scores @ scores.T if len(scores) < n else scores.T @ scores
    square, squares = float((scores**2).sum()), float(np.square(gram).sum())
    diagonal = float(np.square((scores**2).sum(axis=0)).sum())
    return -square / n, ((squares - diagonal) / n + (square**2 - 2 * diagonal) / (n * (n - 1)) - (square / n) ** 2)


def _permuted(score: FloatArray) -> FloatArray:
    """Return the sorted sums of products of neighbours in all orders, or in random ones."""
    import numpy as np

    # Without ties, the scores and thus their orders depend on the size only.
    untied = len(np.unique(score)) == len(score)
    return _permuted_untied(len(score)) if untied else _sums(score)


def _sums(score: FloatArray) -> FloatArray:
    import numpy as np

    rows = score[_orders(len(score))]
    return np.sort(np.einsum("ij,ij->i", rows[:, 1:], rows[:, :-1]))


@lru_cache(maxsize=64)
def _permuted_untied(size: int) -> FloatArray:
    import numpy as np

    return _sums(normal_scores(np.arange(float(size))))


def normal_scores(values: FloatArray) -> FloatArray:
    """Return centred normal scores of the ranks (Blom); ties have their mean rank."""
    import numpy as np
    from scipy.special import ndtri

    # To import scipy.stats for its ranks takes half a second.
    ordered = np.sort(values)
    ranks = (np.searchsorted(ordered, values, "left") + np.searchsorted(ordered, values, "right") + 1) / 2
    scores = ndtri((ranks - 0.375) / (len(values) + 0.25))
    return np.asarray(scores - scores.mean())


@lru_cache(maxsize=32)
def _orders(n: int) -> NDArray[np.intp]:
    """Return all orders of ``n`` runs, or random ones of a longer series."""
    import numpy as np

    if n <= _ENUMERATED:
        return np.array(list(permutations(range(n))))
    return np.random.Generator(np.random.PCG64(0)).random((_DRAWS, n)).argsort(axis=1)


def _moments(n: int, coefficient: float) -> tuple[float, float, float]:
    """Return n Var(mean), E(s²) and the degrees of freedom of s² for ``n`` values of an AR(1) process of variance 1.

    With the covariance C and the centring matrix H, E(s²) is tr(HC) / (n - 1), and the variance of s² follows from
    tr(HCHC) = tr(C²) - 2/n 1'C²1 + (1'C1/n)²; all are geometric sums.
    """
    mean = _inflation(coefficient, n)
    first, last = _geometric(coefficient, n), _geometric(coefficient**2, n)
    rows = n * (1 + coefficient) ** 2 - 4 * (1 + coefficient) * first + 2 * last + 2 * n * coefficient ** (n + 1)
    squares = n * _inflation(coefficient**2, n) - 2 * rows / (1 - coefficient) ** 2 / n + mean**2
    return mean, (n - mean) / (n - 1), (n - mean) ** 2 / squares


def _inflation(coefficient: float, n: int) -> float:
    """Return the variance of a mean of ``n`` values of an AR(1) process over that of independent values."""
    return (1 + coefficient - 2 * _geometric(coefficient, n) / n) / (1 - coefficient)


def _geometric(ratio: float, n: int) -> float:
    """Return the sum of the first ``n`` powers of ``ratio``, from the first power on."""
    return float(ratio * (1 - ratio**n) / (1 - ratio))
