"""Levels of a series of run values: where it steps up or down, tested against a series that does not.

Circular binary segmentation: the part of the series that differs most from the rest is tested, then what is inside and
outside of it, and so on; at the end, each step is tested between its two levels. The p-values are formulas, not
permutations, so that they reach the small levels that hundreds of series need, at any number of nights.

The values are logarithms, limited to three robust standard deviations around their running median, so that one bad
night does not count as much as a new level; values that are not positive, such as loss, are replaced by normal scores.
Neighbours that resemble each other (AR(1), estimated without the steps) make every statistic smaller by their long-run
variance. In a short series that leaves little of a sharp step between two quiet levels, which no series of such
neighbours makes: it is tested by the likelihood of AR(1) with and without the step as well, at a tenth of the error,
also without the value next to the step, as a mean over the time of the change lies between both levels.

Sources: Hampel, J. American Statistical Association 69:383 (1974), running median; Olshen, Venkatraman, Lucito &
Wigler, Biostatistics 5:557 (2004), segmentation; Siegmund, Annals of Probability 16:487 (1988) and Sequential Analysis
(1985), tail probabilities; Tsay, J. Forecasting 7:1 (1988), level shifts of AR(1); Bai, Review of Economics and
Statistics 79:551 (1997), interval of the time of a change.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import median_filter
from scipy.special import ndtr, stdtr

from azlatency.stats.across_runs.run_order import FEWEST, moments_over_orders, normal_scores
from azlatency.stats.arrays import FloatArray

#: Fewest values of a level; a shorter one is an outlying night.
SHORTEST = 5
#: Robust standard deviations around the running median to which values are limited.
_LIMIT = 3.0
#: Half the window of the running median. A window of fewer nights would follow a few bad ones that come together.
_HALF = 10
#: Most ends of parts that are tried at first; longer series are searched on a grid, then around the best part.
_GRID = 600
#: Usual AR(1) coefficient between the nights of a series, and its standard deviation between series.
_USUAL, _DEVIATION = 0.1, 0.2
#: How far the AR(1) coefficient is taken from its estimate towards the strongest that the values cannot exclude, which
#: lies two standard errors above it. Chosen by simulation: the part that differs most is chosen, so what is left over
#: shows less dependence than there is.
_CAUTION, _MOST_ERRORS = 0.4, 2.0
#: Largest AR(1) coefficient that is assumed, and the error of the test above which it is shrunk towards the usual one.
_LARGEST, _CERTAIN = 0.95, 0.01
#: The coefficients that the likelihood of a sharp step is maximized over, the degrees of freedom that it costs, and the
#: share of the error at which it is tested. Chosen by simulation: at these, series without a step show as many. In a
#: longer part, the coefficient is known well enough, and heavy tails would look like sharp steps.
_COEFFICIENTS, _COST, _SHARE, _SHORT = 20, 5, 0.1, 60
#: Two-sided 95 % point of the distribution of an estimated change time (Bai 1997).
_BAI = 11.033


class Step(NamedTuple):
    """One step of a series: the position of the first value of the new level, its 95 % interval, and its p-value."""

    at: int
    low: int
    high: int
    p: float


def find_steps(values: FloatArray, alpha: float = 0.05) -> list[Step]:
    """Return the steps of a series in time order, each significant at ``alpha``."""
    x, whole, scale = _scores(values)
    if len(x) < 2 * SHORTEST or x.min() == x.max():
        return []
    steps = _pruned(x, _segmented(x, 0, len(x), alpha), alpha)
    places = [0]
    for step, end in zip(steps, [*(step.at for step in steps), len(x)][1:], strict=True):
        places.append(_boundary(whole, scale, places[-1], step.at, end))
    around = zip(steps, places, places[1:], [*places[2:], len(x)], strict=False)
    return [_moved(step, at, begin, end) for step, begin, at, end in around]


def step_at(values: FloatArray, places: Collection[int], alpha: float = 0.05) -> Step | None:
    """Return the clearest step at places that other data chose, if there is one that is significant at ``alpha``."""
    scores = _scores(values)[0]
    clearest = min((_measured(scores, at, 0, _p_of_one) for at in places), key=lambda step: step.p)
    return clearest if clearest.p <= alpha else None


def drift(values: FloatArray, steps: list[Step], alpha: float = 0.05) -> float | None:
    """Return the last over the first value of a line through the logarithms if the series drifts, else ``None``.

    Beside steps, the line must fit better than they do: a step costs two parameters, its place and its size, and the
    line one (Schwarz, Annals of Statistics 6:461, 1978; Akaike's smaller cost called lines stairs). Without steps, its
    slope must be significant at half of ``alpha``, also without the points at both ends: a strong drift looks like
    neighbours that resemble each other, and hides its steps.
    """
    if len(values) < 2 * SHORTEST or not values.min() > 0:
        return None
    x, n = _scores(values)[0], len(values)
    slope, rest = _line(x)
    if steps:
        parts = np.split(x, [step.at for step in steps])
        around_levels = sum(float(((part - part.mean()) ** 2).sum()) for part in parts)
        cost = math.log(n) * (2 * len(steps) - 1)
        drifts = around_levels > 0 and n * math.log(float(rest @ rest) / around_levels) < cost
    else:
        # A few points at an end, which may be a new level, are no drift.
        inner = x[SHORTEST - 1 : 1 - SHORTEST]
        is_tested = len(inner) >= 2 * SHORTEST and bool(inner.min() < inner.max())
        drifts = is_tested and max(_p_of_slope(slope, rest), _p_of_slope(*_line(inner))) <= alpha / 2
    return math.exp(slope * (n - 1)) if drifts else None


def _line(x: FloatArray) -> tuple[float, FloatArray]:
    """Return the slope of the line of least squares, and what lies around it."""
    slope, start = np.polyfit(np.arange(len(x)), x, 1)
    return float(slope), x - start - slope * np.arange(len(x))


def _p_of_slope(slope: float, rest: FloatArray) -> float:
    """Return the two-sided p-value of the slope of a line by Student's t, widened for AR(1) around the line."""
    n = len(rest)
    coefficient = _coefficient([rest])
    inflation = (1 + coefficient) / (1 - coefficient)
    error = math.sqrt(float(rest @ rest) / (n - 2) * inflation / (n * (n * n - 1) / 12))
    return 2 * float(stdtr((n - 2) / inflation, -abs(slope) / error)) if error else 0.0


def _moved(step: Step, at: int, begin: int, end: int) -> Step:
    """Return the step at another place, with an interval of the same width between its neighbours."""
    low, high = (min(max(place + at - step.at, begin + 1), end - 1) for place in (step.low, step.high))
    return step._replace(at=at, low=low, high=high)


def _boundary(whole: FloatArray, scale: float, begin: int, at: int, end: int) -> int:
    """Return where the values change from one level to the other, near ``at``.

    The limits follow the running median, which a few bad nights move, so they may move a step by some nights. Here a
    value counts by its squared distance from the two levels, up to the limit; what lies beyond it decides between
    values that are as far from both.
    """
    first, last = max(at - _HALF, begin + SHORTEST), min(at + _HALF, end - SHORTEST)
    if first >= last:
        return at
    near = whole[first:last]
    levels = np.median(whole[begin:at]), np.median(whole[at:end])
    distances = [(near - level) ** 2 for level in levels]
    before, after = (np.minimum(each, (_LIMIT * scale) ** 2) + 1e-6 * each for each in distances)
    costs = np.concatenate([[0.0], np.cumsum(before - after)])
    return first + int(costs.argmin())


def _scores(values: FloatArray) -> tuple[FloatArray, FloatArray, float]:
    """Return the values on the scale that is searched: within their limits, and whole; and their spread."""
    if len(values) and values.min() > 0:
        logs = np.log(values)
        half = min(_HALF, len(logs) // 4)
        window = 2 * half + 1
        running = median_filter(logs, window, mode="nearest")
        # A window that the ends of the series cut short would follow a few bad nights.
        running[:half], running[-half:] = np.median(logs[:window]), np.median(logs[-window:])
        if np.isfinite(running).all():
            distance = np.abs(logs - running)
            # Not the median: of two levels at random, the running median would follow chance, and so would the limits.
            scale = float(np.quantile(distance, 0.8)) / 1.2816
            if scale:
                return np.clip(logs, running - _LIMIT * scale, running + _LIMIT * scale), logs, scale
            return logs, logs, 1.0
    scores = normal_scores(values)
    return scores, scores, 1.0


def _segmented(x: FloatArray, begin: int, end: int, alpha: float) -> list[int]:
    """Return the edges of the levels between two edges, both included."""
    part = x[begin:end]
    if len(part) < 2 * SHORTEST or part.min() == part.max():
        return [begin, end]
    left, right, share = _widest_arc(part)
    inner = [at for at in (left, right) if 0 < at < len(part)]
    if not inner or _p_value(part, inner, share, _p_of_arc) > alpha:
        return [begin, end]
    edges = [begin, *(begin + at for at in inner), end]
    found = [begin]
    for one, other in pairwise(edges):
        found += _segmented(x, one, other, alpha)[1:]
    return found


def _widest_arc(x: FloatArray) -> tuple[int, int, float]:
    """Return the part whose mean differs most from the rest, and the share of the variance that it explains."""
    n = len(x)
    centred = x - x.mean()
    sums = np.concatenate([[0.0], np.cumsum(centred)])
    total = float(centred @ centred)
    ends = np.unique(np.linspace(0, n, min(n, _GRID) + 1).astype(int))
    left, right, share = _best_arc(sums, ends, ends, n)
    if not total or not share:
        return 0, n, 0.0
    if len(ends) <= n:
        reach = n // _GRID + 1
        near_left, near_right = (
            np.unique(np.clip(np.arange(at - reach, at + reach + 1), 0, n)) for at in (left, right)
        )
        left, right, share = _best_arc(sums, near_left, near_right, n)
    return left, right, min(share / total, 1.0)


def _best_arc(sums: FloatArray, lefts: NDArray[np.int64], rights: NDArray[np.int64], n: int) -> tuple[int, int, float]:
    """Return the part with the largest sum of squares between itself and the rest, among these ends."""
    # The first and the last level of a part at an end of the series are as long as any other level.
    lefts = lefts[(lefts == 0) | (lefts >= SHORTEST)]
    rights = rights[(rights == n) | (rights <= n - SHORTEST)]
    lengths = rights[None, :] - lefts[:, None]
    allowed = (lengths >= SHORTEST) & (lengths <= n - SHORTEST)
    weight = np.where(allowed, n / np.where(allowed, lengths * (n - lengths), 1), 0.0)
    gain = (sums[rights][None, :] - sums[lefts][:, None]) ** 2 * weight
    best = int(gain.argmax())
    row, column = divmod(best, len(rights))
    return int(lefts[row]), int(rights[column]), float(gain.flat[best])


def _coefficient(pieces: list[FloatArray]) -> float:
    """Return the AR(1) coefficient that is allowed for: that of the levels, shrunk towards the usual one, and more.

    The estimate from the lag-1 products of normal scores has no bias: their mean and variance over all orders are
    known (Wald & Wolfowitz 1943), and a coefficient moves them in proportion (Kendall, Biometrika 41:403, 1954).
    """
    scores = [score for score in map(normal_scores, pieces) if len(score) >= FEWEST and score.any()]
    if not scores:
        return _USUAL + _CAUTION * (_LARGEST - _USUAL)
    mean, variance = (sum(moment) for moment in zip(*map(moments_over_orders, scores), strict=True))
    sensitivity = sum((len(score) - 4) / len(score) * float(score @ score) for score in scores)
    excess = sum(float(score[1:] @ score[:-1]) for score in scores) - mean
    estimate, error = excess / sensitivity, math.sqrt(variance) / sensitivity
    weight = _DEVIATION**2 / (_DEVIATION**2 + error**2)
    shrunk = max(_USUAL + weight * (estimate - _USUAL), 0.0)
    if float(ndtr(-excess / math.sqrt(variance))) <= _CERTAIN:
        shrunk = max(shrunk, estimate)
    shrunk = min(shrunk, _LARGEST)
    strongest = min(max(estimate + _MOST_ERRORS * error, 0.0), _LARGEST)
    return float(shrunk + _CAUTION * (strongest - shrunk))


def _standardized(x: FloatArray, inner: list[int], share: float) -> float:
    """Return the size of the difference between a part and the rest in standard errors.

    It is a likelihood ratio, less what neighbours have in common, and less what the skewness of the values adds to a
    mean of few of them (Cornish and Fisher).
    """
    pieces = np.split(x, inner)
    coefficient = _coefficient(pieces)
    inflation = (1 + coefficient) / (1 - coefficient)
    size = math.sqrt(max(-(len(x) - 2.5) * math.log(max(1 - share, 1e-15)), 0.0) / inflation)
    part = pieces[1]
    few, many = len(part), len(x) - len(part)
    residual = np.concatenate([part - part.mean(), *(piece - piece.mean() for piece in pieces[::2])])
    spread = float(np.sqrt((residual**2).mean()))
    if not spread:
        return size
    skewness = float((residual**3).mean()) / spread**3 * (few**-2 - many**-2) / (1 / few + 1 / many) ** 1.5
    if part.mean() < x.mean():
        skewness = -skewness
    return float(size - max(skewness, 0.0) * (size**2 - 1) / 6)


def _p_value(x: FloatArray, inner: list[int], share: float, p_of: Callable[[float, int], float]) -> float:
    """Return the p-value of a part: of its mean, or of how sharply it begins and ends."""
    by_mean = p_of(_standardized(x, inner, share), len(x))
    if len(x) > _SHORT:
        return by_mean
    # A window or a night in which the level changes may show a value between both levels, which belongs to neither.
    between = [place for edge in inner for place in (edge - 1, edge)]
    without = [(np.delete(x, place), [edge - (edge > place) for edge in inner]) for place in between]
    lasting = [each for each in without if min(map(len, np.split(*each))) >= SHORTEST]
    sharpest = max(_sharpness(*each) for each in [(x, inner), *lasting])
    return min(by_mean, p_of(sharpest, len(x)) / _SHARE)


def _sharpness(x: FloatArray, inner: list[int]) -> float:
    """Return the size of a difference in standard errors, by the likelihoods of AR(1) with and without it."""
    n = len(x)
    coefficients = np.linspace(0, _LARGEST, _COEFFICIENTS)[:, None]
    first = np.sqrt(1 - coefficients**2)

    def innovations(values: FloatArray) -> FloatArray:
        return np.hstack([first * values[0], values[1:] - coefficients * values[:-1]])

    def without(values: FloatArray, other: FloatArray) -> FloatArray:
        slope: FloatArray = (values * other).sum(axis=1) / (other * other).sum(axis=1)
        return values - slope[:, None] * other

    is_part = np.zeros(n)
    is_part[slice(*inner) if len(inner) > 1 else slice(inner[0], n)] = 1
    level = innovations(np.ones(n))
    one_level = without(innovations(x), level)
    two_levels = without(one_level, without(innovations(is_part), level))
    costs = [
        n * np.log(np.maximum((rest * rest).sum(axis=1), 1e-300)) - 2 * np.log(first[:, 0])
        for rest in (one_level, two_levels)
    ]
    return math.sqrt(max(float(costs[0].min() - costs[1].min()) * (n - _COST) / n, 0.0))


@lru_cache(maxsize=4096)
def _integral(size: float, n: int, power: int) -> float:
    """Return the integral of (nu(b / sqrt(n t (1 - t))) / (t (1 - t)))^power over the shares t of the allowed parts."""
    edge = SHORTEST / n
    t = edge + (1 - 2 * edge) * (np.arange(400) + 0.5) / 400
    x = size / np.sqrt(n * t * (1 - t))
    density = np.exp(-(x**2) / 8) / math.sqrt(2 * math.pi)
    nu = (2 / x) * (ndtr(x / 2) - 0.5) / ((x / 2) * ndtr(x / 2) + density)
    return float(((nu / (t * (1 - t))) ** power).mean()) * (1 - 2 * edge)


def _p_of_arc(size: float, n: int) -> float:
    """Return the probability that the largest of all parts of ``n`` independent values is as different as this."""
    if size < 1:
        return 1.0
    return min(1.0, _p_of_one(size, n) + size**3 * _density(size) * _integral(round(size, 2), n, 2) / 4)


def _p_of_split(size: float, n: int) -> float:
    """Return the probability that the largest of all splits of ``n`` independent values is as different as this."""
    if size < 1:
        return 1.0
    # nu once: the split has one free end.
    return min(1.0, _p_of_one(size, n) + size * _density(size) * _integral(round(size, 2), n, 1))


def _p_of_one(size: float, _length: int) -> float:
    """Return the p-value of a single part, which is all of it where two levels of the shortest length just fit."""
    return 2 * float(ndtr(-size))


def _density(size: float) -> float:
    return math.exp(-(size**2) / 2) / math.sqrt(2 * math.pi)


def _pruned(x: FloatArray, edges: list[int], alpha: float) -> list[Step]:
    """Leave out the least significant step until each is significant, and none too near the next one."""
    steps: list[Step] = []
    while len(edges) > 2:
        steps = [_step(x, *three) for three in zip(edges, edges[1:], edges[2:], strict=False)]
        # Each step is moved between its neighbours as they were, so that two of them can meet.
        met = [place for place in range(1, len(steps)) if steps[place].at - steps[place - 1].at < SHORTEST]
        worst = max((met[0] - 1, met[0]) if met else range(len(steps)), key=lambda place: steps[place].p)
        if not met and steps[worst].p <= alpha:
            return steps
        del edges[worst + 1]
    return []


def _step(x: FloatArray, begin: int, at: int, end: int) -> Step:
    """Return the step between two neighbouring levels, moved to where they differ most."""
    part = x[begin:end]
    n, sums = len(part), np.cumsum(part - part.mean())
    lefts = np.arange(SHORTEST, n - SHORTEST + 1)
    gains = sums[lefts - 1] ** 2 / (lefts * (n - lefts))
    return _measured(part, int(lefts[gains.argmax()]), begin, _p_of_split) if gains.any() else Step(at, at, at, 1.0)


def _measured(part: FloatArray, left: int, begin: int, p_of: Callable[[float, int], float]) -> Step:
    """Return the step at one place of a part that begins at ``begin``, with its interval and p-value."""
    n, centred = len(part), part - part.mean()
    total = float(centred @ centred)
    share = min(float(centred[:left].sum()) ** 2 * n / (left * (n - left)) / total, 1.0)
    jump = float(part[left:].mean() - part[:left].mean())
    coefficient = _coefficient([part[:left], part[left:]])
    variance = total * (1 - share) / n * (1 + coefficient) / (1 - coefficient)
    reach = math.floor(_BAI * variance / jump**2) + 1 if jump else n
    low, high = (min(max(begin + left + shift, begin + 1), begin + n - 1) for shift in (-reach, reach))
    return Step(begin + left, low, high, _p_value(part, [left], share, p_of))
