"""Closed-form statistics of two groups: Welch, two one-sided tests, and Student's interval of a mean.

The functions take plain numbers or arrays and know nothing of runs and paths.

Sources: Welch 1947; Schuirmann 1987 (two one-sided tests).
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

from scipy.special import stdtr, stdtrit

if TYPE_CHECKING:
    from azlatency.stats.arrays import FloatArray


class Summary(NamedTuple):
    """Size, mean and sample standard deviation (n - 1) of one group."""

    n: int
    mean: float
    sd: float


class Welch(NamedTuple):
    """Difference of means (first minus second), its standard error, degrees of freedom, t, p and interval."""

    difference: float
    error: float
    df: float
    t: float
    p: float
    low: float
    high: float


class Tost(NamedTuple):
    """Two one-sided tests: t and p of both, and the larger p."""

    t_low: float
    t_high: float
    p_low: float
    p_high: float
    p: float


def summary(values: FloatArray) -> Summary:
    """Return size, mean and standard deviation (n - 1) of a group; NaN if not defined."""
    n = len(values)
    if n < 2:
        return Summary(n, float(values.mean()) if n else math.nan, math.nan)
    # Equal values have no spread, whatever rounding makes of their mean.
    spread = 0.0 if values.max() == values.min() else float(values.std(ddof=1))
    return Summary(n, float(values.mean()), spread)


def welch(first: Summary, second: Summary, confidence: float = 0.95) -> Welch | None:
    """Return Welch's t test of two means; ``None`` if a group has fewer than two values or neither varies."""
    if min(first.n, second.n) < 2:
        return None
    variances = [group.sd**2 / group.n for group in (first, second)]
    if not sum(variances) > 0:
        return None
    error = math.sqrt(sum(variances))
    df = sum(variances) ** 2 / (variances[0] ** 2 / (first.n - 1) + variances[1] ** 2 / (second.n - 1))
    difference = first.mean - second.mean
    half = float(stdtrit(df, (1 + confidence) / 2)) * error
    p = 2 * float(stdtr(df, -abs(difference) / error))
    return Welch(difference, error, df, difference / error, p, difference - half, difference + half)


def tost(difference: float, error: float, df: float, low: float, high: float) -> Tost:
    """Test whether ``difference`` lies between the margins ``low`` and ``high`` by two one-sided t tests."""
    t_low, t_high = (difference - low) / error, (difference - high) / error
    p_low, p_high = float(stdtr(df, -t_low)), float(stdtr(df, t_high))
    return Tost(t_low, t_high, p_low, p_high, max(p_low, p_high))


def student_interval(values: FloatArray, confidence: float) -> tuple[float, float] | None:
    """Return Student's t interval of a mean; ``None`` for fewer than two values or without spread."""
    n, mean, sd = summary(values)
    if n < 2 or not sd > 1e-12 * max(abs(mean), 1e-300):
        return None
    half = float(stdtrit(n - 1, (1 + confidence) / 2)) * sd / math.sqrt(n)
    return mean - half, mean + half
