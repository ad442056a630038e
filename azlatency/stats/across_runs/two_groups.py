"""Closed-form statistics of two groups: Welch, two one-sided tests, and Student's interval of a mean.

The functions take plain numbers or arrays and know nothing of runs and paths.

Sources: Welch 1947; Schuirmann 1987 (two one-sided tests); Widrow, Kollar & Liu 1996 (rounding).
"""

from __future__ import annotations

import math
from typing import NamedTuple

from scipy.special import stdtr, stdtrit

from azlatency.stats.arrays import FloatArray


class Summary(NamedTuple):
    """Size, mean and sample standard deviation (n - 1) of one group."""

    n: int
    mean: float
    sd: float


class Welch(NamedTuple):
    """Standard error of a difference of means, and its degrees of freedom."""

    error: float
    df: float


def summary(values: FloatArray) -> Summary:
    """Return size, mean and standard deviation (n - 1) of a group; NaN if not defined."""
    n = len(values)
    if n < 2:
        return Summary(n, float(values.mean()) if n else math.nan, math.nan)
    # Equal values have no spread, whatever rounding makes of their mean.
    spread = 0.0 if values.max() == values.min() else float(values.std(ddof=1))
    return Summary(n, float(values.mean()), spread)


def welch(first: Summary, second: Summary) -> Welch | None:
    """Return Welch's error of two means; ``None`` if a group has fewer than two values or neither varies."""
    if min(first.n, second.n) < 2:
        return None
    variances = [group.sd**2 / group.n for group in (first, second)]
    if not sum(variances) > 0:
        return None
    df = sum(variances) ** 2 / (variances[0] ** 2 / (first.n - 1) + variances[1] ** 2 / (second.n - 1))
    return Welch(math.sqrt(sum(variances)), df)


def tost(difference: float, error: float, df: float, low: float, high: float) -> float:
    """Return the p-value of "``difference`` lies outside ``low`` to ``high``": the larger of two one-sided t tests."""
    return max(float(stdtr(df, (low - difference) / error)), float(stdtr(df, (difference - high) / error)))


def rounding_bias(step: float, spread: float) -> float:
    """Return how far the mean of values that are rounded to ``step`` may be off, at their standard deviation.

    The error is a Fourier series in the place within the step, whose first term is the largest; of equal values nothing
    is known but the step.
    """
    if not step:
        return 0.0
    return step * (math.exp(-2 * (math.pi * spread / step) ** 2) / math.pi if spread else 0.5)


def student_interval(values: FloatArray, confidence: float) -> tuple[float, float] | None:
    """Return Student's t interval of a mean; ``None`` for fewer than two values or without spread."""
    n, mean, sd = summary(values)
    if n < 2 or not sd > 1e-12 * max(abs(mean), 1e-300):
        return None
    half = float(stdtrit(n - 1, (1 + confidence) / 2)) * sd / math.sqrt(n)
    return mean - half, mean + half
