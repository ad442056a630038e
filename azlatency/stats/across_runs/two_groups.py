"""Closed-form statistics of two groups: Welch, Fieller, two one-sided tests, and Student's interval of a mean.

The functions take plain numbers or arrays and know nothing of runs and paths.

Sources: Welch 1947; Fieller 1954, with Welch's degrees of freedom; Schuirmann 1987 (two one-sided tests).
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

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


class Fieller(NamedTuple):
    """Ratio of means and its interval; ``g >= 1`` means that the denominator may be 0 and there is no interval."""

    ratio: float
    df: float
    g: float
    low: float | None
    high: float | None


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
    """Return Welch's t test of the difference of two means.

    ``None`` if a group has fewer than two values or neither varies.
    """
    from scipy.special import stdtr, stdtrit

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


def fieller(first: Summary, second: Summary, confidence: float = 0.95) -> Fieller | None:
    """Return Fieller's interval of the ratio of two independent means.

    ``None`` as for `welch`, and if the denominator is zero. The degrees of freedom are Welch's for
    ``mean_a - ratio * mean_b``.
    """
    from scipy.special import stdtrit

    if min(first.n, second.n) < 2 or second.mean == 0:
        return None
    var_a, var_b = first.sd**2 / first.n, second.sd**2 / second.n
    if not var_a + var_b > 0:
        return None
    ratio = first.mean / second.mean
    scaled = ratio**2 * var_b
    if var_a + scaled == 0:
        return None
    df = (var_a + scaled) ** 2 / (var_a**2 / (first.n - 1) + scaled**2 / (second.n - 1))
    square = float(stdtrit(df, (1 + confidence) / 2)) ** 2
    g = square * var_b / second.mean**2
    if g >= 1:
        return Fieller(ratio, df, g, None, None)
    half = math.sqrt(square * (var_a * (1 - g) + ratio**2 * var_b)) / abs(second.mean)
    return Fieller(ratio, df, g, (ratio - half) / (1 - g), (ratio + half) / (1 - g))


def tost(difference: float, error: float, df: float, low: float, high: float) -> Tost:
    """Test whether ``difference`` lies between the margins ``low`` and ``high`` by two one-sided t tests."""
    from scipy.special import stdtr

    t_low, t_high = (difference - low) / error, (difference - high) / error
    p_low, p_high = float(stdtr(df, -t_low)), float(stdtr(df, t_high))
    return Tost(t_low, t_high, p_low, p_high, max(p_low, p_high))


def student_interval(values: FloatArray, confidence: float) -> tuple[float, float] | None:
    """Return Student's t interval of a mean; ``None`` for fewer than two values or without spread."""
    from scipy.special import stdtrit

    n, mean, sd = summary(values)
    if n < 2 or not sd > 1e-12 * max(abs(mean), 1e-300):
        return None
    half = float(stdtrit(n - 1, (1 + confidence) / 2)) * sd / math.sqrt(n)
    return mean - half, mean + half
