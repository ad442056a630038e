"""Dependence between runs in the order of measuring: lag-1 autocorrelation, its permutation test, and its effect.

Every statistic across runs assumes that runs vary independently. Runs of one hour resemble each other, and then an
interval that counts them as independent is too short. The test cannot find this in a few runs: with two series of ten
runs of an AR(1) process of 0.5 it does so in 60 % of cases. Verdicts on two paths therefore hold only if they also do
with the dependence that the runs cannot exclude (`RunOrder.caution`). Spread the runs over hours and machines.

Sources: Bartels, JASA 77:40 (1982), rank version of von Neumann's ratio; Kendall, Biometrika 41:403 (1954), bias of the
lag-1 autocorrelation.
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
#: Level of the one-sided test: more liberal than usual because the test is weak in a few runs and its consequence mild.
LEVEL = 0.1
#: AR(1) coefficient that too few runs to test cannot exclude.
POSSIBLE = 0.5
#: Largest AR(1) coefficient that is assumed.
_LARGEST = 0.95
#: Largest series whose orders are enumerated, and number of random orders of a longer one.
_ENUMERATED, _DRAWS = 8, 9_999


class RunOrder(NamedTuple):
    """Dependence of runs in the order of measuring.

    Attributes
    ----------
    lag1 : float
        Lag-1 autocorrelation of the normal scores within each series.
    p : float
        One-sided p-value of the permutation test: small if neighbouring runs resemble each other.
    inflation : float
        Factor of the variance of a mean or median; 1 if ``p`` is above `LEVEL`.
    coefficient : float
        AR(1) coefficient behind the inflation; 0 if ``p`` is above `LEVEL`.
    possible : float
        AR(1) coefficient that the runs cannot exclude.
    """

    lag1: float
    p: float
    inflation: float
    coefficient: float = 0.0
    possible: float = POSSIBLE

    @property
    def dependent(self) -> bool:
        """Whether intervals must be widened."""
        return self.inflation > 1

    def widening(self, confidence: float, runs: int, estimated: int = 1) -> float:
        """Return the factor of the length of an interval with ``runs`` runs and ``estimated`` locations."""
        from scipy.special import ndtri, stdtrit

        if not self.dependent:
            return 1.0
        upper = (1 + confidence) / 2
        degrees = max(runs / self.inflation - estimated, 1.0)
        return math.sqrt(self.inflation) * float(stdtrit(degrees, upper) / ndtri(upper))

    def caution(self, confidence: float, sizes: Sequence[int]) -> Caution:
        """Return how much longer an interval would be if the runs had the dependence that they cannot exclude.

        ``sizes`` are the numbers of runs of one mean, or of the two means of a difference. Under an AR(1) process, the
        variance of a mean is larger than s²/n and s² itself is smaller than the variance of the runs; the degrees of
        freedom are those of a chi-squared variable with the mean and the variance of s² (Satterthwaite 1946).
        """
        from scipy.special import stdtrit

        if self.dependent:
            return Caution(1.0, math.inf)
        moments = [_moments(size, round(self.possible, 2)) for size in sizes]
        variance, estimated = (sum(moment[at] / n for moment, n in zip(moments, sizes, strict=True)) for at in (0, 1))
        parts = [(moment[1] / n) ** 2 / moment[2] for moment, n in zip(moments, sizes, strict=True)]
        degrees, independent = estimated**2 / sum(parts), sum(sizes) - len(sizes)
        upper = (1 + confidence) / 2
        longer = math.sqrt(variance / estimated) * float(stdtrit(degrees, upper) / stdtrit(independent, upper))
        return Caution(max(longer, 1.0), degrees)


class Caution(NamedTuple):
    """Factor of the length of an interval, and degrees of freedom of the widened one."""

    factor: float
    degrees: float


#: The order of too few runs cannot be tested.
UNTESTED = RunOrder(math.nan, math.nan, 1.0)


def run_order(*series: FloatArray) -> RunOrder:
    """Test whether neighbouring runs resemble each other, within one or several series in the order of measuring.

    The p-value is exact for a single series of up to eight runs, else from random orders with a fixed seed. Series of
    fewer than six runs are left out; without any other, the order is `UNTESTED`.

    Notes
    -----
    The inflation is that of a mean of an AR(1) process whose coefficient is the bias-corrected lag-1 autocorrelation
    plus one standard error.
    """
    import numpy as np

    scores = [_normal_scores(values) for values in series if len(values) >= FEWEST]
    square = sum(float(score @ score) for score in scores)
    if not square:
        return UNTESTED
    products = sum(float(score[1:] @ score[:-1]) for score in scores)
    tied = any(len(np.unique(score)) < len(score) for score in scores)
    # Without ties, the scores and thus their orders depend on the sizes only.
    permuted = _permuted(scores) if tied else _permuted_untied(tuple(map(len, scores)))
    hits = len(permuted) - int(np.searchsorted(permuted, products - 1e-9 * square))
    p = hits / len(permuted) if len(permuted) != _DRAWS else (1 + hits) / (1 + _DRAWS)
    lag1 = products / square
    runs = sum(map(len, scores))
    shortest = min(map(len, scores))
    unbiased = (shortest * lag1 + 1) / (shortest - 4)
    possible = _possible(unbiased, shortest, runs)
    coefficient = unbiased + 1 / math.sqrt(runs)
    if p > LEVEL or coefficient <= 0:
        return RunOrder(lag1, p, 1.0, possible=possible)
    coefficient = min(coefficient, _LARGEST)
    return RunOrder(lag1, p, _inflation(coefficient, shortest), coefficient, possible)


def expected_order(*sizes: int) -> RunOrder:
    """Return the order of independent series of these sizes whose autocorrelation is exactly as expected."""
    if min(sizes) < FEWEST:
        return UNTESTED
    return RunOrder(math.nan, math.nan, 1.0, possible=_possible(0.0, min(sizes), sum(sizes)))


def _possible(coefficient: float, shortest: int, runs: int) -> float:
    """Return the estimate plus one standard error, but at most `POSSIBLE` unless the estimate itself is larger."""
    error = shortest / (shortest - 4) / math.sqrt(runs)
    return min(max(coefficient, min(coefficient + error, POSSIBLE), 0.0), _LARGEST)


def shared_orders(pairs: Sequence[tuple[FloatArray, FloatArray]]) -> list[RunOrder]:
    """Return the dependence of each pair of series that were measured in the same time.

    What makes runs resemble their neighbours, such as the hour and the hosts, acts on all paths, and the runs of all
    paths show it where those of one path cannot. A pair whose own order is significant among all of them keeps its own.
    """
    shared = run_order(*(series for pair in pairs for series in pair))
    if len(pairs) < 2:
        return [shared] * len(pairs)
    orders = [run_order(*pair) for pair in pairs]
    return [order if order.p * len(pairs) <= LEVEL else shared for order in orders]


def _permuted(scores: Sequence[FloatArray]) -> FloatArray:
    """Return the sorted sums of products of neighbours in all orders, or in random ones."""
    import numpy as np

    total = np.zeros(1)
    for stream, score in enumerate(scores):
        rows = score[_orders(len(score), stream, len(scores) > 1)]
        total = total + np.einsum("ij,ij->i", rows[:, 1:], rows[:, :-1])
    return np.sort(total)


@lru_cache(maxsize=64)
def _permuted_untied(sizes: tuple[int, ...]) -> FloatArray:
    import numpy as np

    return _permuted([_normal_scores(np.arange(float(size))) for size in sizes])


def _normal_scores(values: FloatArray) -> FloatArray:
    """Return centred normal scores of the ranks (Blom)."""
    import numpy as np
    from scipy.special import ndtri
    from scipy.stats import rankdata

    scores = ndtri((rankdata(values) - 0.375) / (len(values) + 0.25))
    return np.asarray(scores - scores.mean())


@lru_cache(maxsize=32)
def _orders(n: int, stream: int, several: bool) -> NDArray[np.intp]:
    """Return all orders of ``n`` runs, or random ones for a long series and for several series."""
    import numpy as np

    if n <= _ENUMERATED and not several:
        return np.array(list(permutations(range(n))))
    generator = np.random.Generator(np.random.PCG64(stream))
    return generator.random((_DRAWS, n)).argsort(axis=1)


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
