"""How much runs vary, from all paths that were measured in the same way.

Two to five runs of a path say little about their spread. One pair in ten has less than an eighth of it by chance, and
Student's interval is then much too short. The other paths show how much runs vary: the variances of all paths are taken
as drawn from one distribution, a scaled inverse chi-squared one. Its scale and its degrees of freedom, which say how
much the paths are alike, follow from mean and variance of the logarithms of the variances.

Source: Smyth, Statistical Applications in Genetics and Molecular Biology 3:3 (2004), sections 3 and 6.2 (limma).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy.special import chdtr, digamma, fdtr, polygamma

#: Fewest paths whose variances show how much those of other paths differ.
FEWEST_PATHS = 4
#: Runs agree more closely than those of other paths if so small a variance has at most this probability.
CLOSE = 0.1


class SharedSpread(NamedTuple):
    """Distribution of the variances of paths: the typical one and its degrees of freedom.

    ``degrees`` are few if the variances of the paths differ, and infinite if they differ by chance only; ``total`` are
    those of all paths together, which no interval exceeds.
    """

    variance: float
    degrees: float
    total: float

    def share_below(self, variance: float, degrees: float) -> float:
        """Return the share of paths with at most this variance among those with this many degrees of freedom."""
        ratio = variance / self.variance
        if math.isinf(self.degrees):
            return float(chdtr(degrees, degrees * ratio))
        return float(fdtr(degrees, self.degrees, ratio))

    def moderated(self, variance: float, degrees: float) -> tuple[float, float]:
        """Return the variance of a path moved towards that of all paths, and its degrees of freedom."""
        if math.isinf(self.degrees):
            return self.variance, self.total
        both = self.degrees + degrees
        return (self.degrees * self.variance + degrees * variance) / both, min(both, self.total)


def shared_spread(variances: Sequence[float], degrees: Sequence[float]) -> SharedSpread | None:
    """Return the distribution of the variances of at least `FEWEST_PATHS` paths; variances of 0 are left out."""
    used = [(variance, df) for variance, df in zip(variances, degrees, strict=True) if variance > 0]
    if len(used) < FEWEST_PATHS:
        return None
    observed, half = np.array(used).T * np.array([[1.0], [0.5]])
    centred = np.log(observed) - digamma(half) + np.log(half)
    mean = float(centred.mean())
    excess = float(centred.var(ddof=1) - polygamma(1, half).mean())
    total = float(2 * half.sum())
    if excess <= polygamma(1, 1e6):
        # The variances differ by chance only: pooled.
        return SharedSpread(float(observed @ half) * 2 / total, math.inf, total)
    prior = _inverse_trigamma(excess)
    return SharedSpread(math.exp(mean + float(digamma(prior)) - math.log(prior)), 2 * prior, total)


def _inverse_trigamma(value: float) -> float:
    """Return y with trigamma(y) = ``value``, by Newton's method for the nearly straight 1 / trigamma (ibid.)."""
    y, step = 0.5 + 1 / value, -1.0
    while step < -1e-12 * y:
        trigamma = float(polygamma(1, y))
        step = trigamma * (1 - trigamma / value) / float(polygamma(2, y))
        y += step
    return y
