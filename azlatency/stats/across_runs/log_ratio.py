"""The ratio of two sets of runs, or of two series of rounds: one estimator and one interval, which decides.

From four runs on each side, ranks or means decide, whichever interval is shorter at the same confidence: that of
Hodges and Lehmann, interpolated between ranks so that it changes little with one more run, or Welch's. Ranks are
stronger where a few runs are slow, means where runs have two levels. Below four runs it is a pooled t with the variance
moderated over all paths (`shared_spread`). Rounds have the exact signed-rank interval, which holds whatever the runs do
in time if the order within each round is random. Every interval of runs is widened by a constant for what neighbouring
runs have in common (`run_order`), and by a little for the choice: 4 against 4 to 20 against 20 independent runs are
wrongly called different in 2 to 5 % of cases. The interval at twice the error, which shows that nothing changed, is
chosen by itself, and widened less. The p-values are those of Student's t at the scale of the interval, so that they
cannot contradict it.

Ranks are those of values that are spread evenly within the step of their print.

The test at the margin is one-sided: if the margin is wider than the error, a ratio at one end of it is hardly ever
taken for one beyond the other end. What little that happens is added to the p-value.

Sources: Hodges & Lehmann 1963; Moses 1965; Welch 1947; Hodges & Lehmann, JRSS B 16:261 (1954), tests of a hypothesis
that is an interval; Widrow, Kollar & Liu, IEEE Transactions on Instrumentation and Measurement 45:353 (1996), mean of
rounded values.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Sequence
from functools import cache
from typing import NamedTuple

import numpy as np
from scipy.special import stdtr, stdtrit

from azlatency.stats.across_runs.attainable import attainable_paired, attainable_unpaired
from azlatency.stats.across_runs.hodges_lehmann import Shift, hodges_lehmann, pseudomedian
from azlatency.stats.across_runs.run_order import WIDENING, RunOrder, run_order
from azlatency.stats.across_runs.run_values import RunValues
from azlatency.stats.across_runs.shared_spread import SharedSpread, shared_spread
from azlatency.stats.across_runs.two_groups import Welch, rounding_bias, student_interval, summary, welch
from azlatency.stats.arrays import FloatArray

RANK_METHOD = "Hodges-Lehmann estimate on logarithms of run values, interpolated Wilcoxon interval"
POOLED_METHOD = "pooled t on logarithms of run values"
SHARED_METHOD = f"{POOLED_METHOD}, with a variance moderated over paths (Smyth 2004)"
MEAN_METHOD = "Welch t on logarithms of run values, whose interval is shorter than that of ranks"
PAIRED_RANK_METHOD = "Hodges-Lehmann estimate of log ratios of rounds, exact signed-rank interval"
PAIRED_T_METHOD = "Student t on log ratios of rounds"
#: A step of rounds is wide if it is longer than this many standard deviations. Chosen by simulation: ranks then show
#: the absence of a change up to 20 points less often than means do.
_WIDE_STEP = 0.7
#: How much longer the shorter of two intervals is made for having been chosen. Runs with an autocorrelation of 0.3 are
#: then wrongly called different as often as by ranks alone.
_CHOICE = 1.03
#: How much longer the interval at twice the error is made from four runs on, instead of `WIDENING`: it shows that
#: nothing changed, and runs on two levels lost a quarter of that at 1.13. Wrong "no change" at the margin: 2 to 6 % of
#: independent runs, 7 if one side varies three times as much.
_WIDENING_WITHIN = 1.07
#: Up to this many runs of a side, its spread is taken to be at least that of both sides: its own is too often far too
#: small, or 0. More runs show their own, and sides that differ in it must not be taken for alike.
_FEW_FOR_SPREAD = 6
#: From so many runs on, the extremes do not count for the spread that averages out rounding.
_FEW_FOR_EXTREMES = 10


class LogRatio(NamedTuple):
    """Logarithm of a ratio, with its intervals at the confidence (``outer``) and at twice its error (``inner``).

    Both are None without spread and resolution. ``p`` and ``beyond`` are the p-values of "the ratio is 1" and of "the
    ratio is within the margin".
    """

    estimate: float
    outer: tuple[float, float] | None
    inner: tuple[float, float] | None
    p: float | None
    beyond: float | None
    method: str
    flags: tuple[str, ...]


class _Estimate(NamedTuple):
    """An estimate of a log ratio; ``ends`` gives its interval at a level, None without spread."""

    value: float
    ends: Callable[[float], tuple[float, float] | None]
    degrees: float
    method: str

    def length(self, level: float) -> float:
        """Return the length of the interval, infinite without one."""
        ends = self.ends(level)
        return ends[1] - ends[0] if ends is not None else math.inf

    def widened(self, factor: float) -> _Estimate:
        """Return the estimate with intervals that are so many times as long."""

        def ends(level: float) -> tuple[float, float] | None:
            found = self.ends(level)
            return found and (
                self.value + factor * (found[0] - self.value),
                self.value + factor * (found[1] - self.value),
            )

        return self._replace(ends=ends)


def of_groups(
    first: RunValues, second: RunValues, margin: float, confidence: float, spread: SharedSpread | None = None
) -> LogRatio:
    """Return the log ratio of two sets of runs, at least two on each side.

    ``margin`` is the largest log ratio that is practically 1, ``spread`` how much runs vary on all paths.
    """
    x, y = np.log(first.values), np.log(second.values)
    order = run_order(x, y) if first.in_order and second.in_order else RunOrder()
    few = attainable_unpaired(len(x), len(y)) > 1 - confidence
    pooled, separate = _pooled_spread(x, y), welch(summary(x), summary(y))
    decides = within = means = _of_means(x, y, pooled, separate, spread, few=few)
    if not few and separate is not None:
        # Ranks assume that both sides vary alike: 6 runs against 18 with a third of their spread erred in 10 %, with
        # this factor, which is 1 for as many runs on both sides, in 3.
        unlike = max(1.0, separate.error / (pooled * math.sqrt(1 / len(x) + 1 / len(y))))
        ranks = _of_ranks(np.log(_spread_evenly(first)), np.log(_spread_evenly(second))).widened(unlike)
        decides = min(ranks, means, key=lambda estimate: estimate.length(confidence))
        if len(x) == len(y):
            # As long as Welch's, but of all degrees of freedom: runs on two levels differ in their spread by chance.
            means = _of_means(x, y, pooled, None, None, few=False)
        within = min(ranks, means, key=lambda estimate: estimate.length(2 * confidence - 1))
    flags = () if not few else ("two_runs",) if min(len(x), len(y)) == 2 else ("few_runs",)
    decides, within = (
        (decides.widened(WIDENING), within.widened(WIDENING))
        if few
        else (decides.widened(WIDENING * _CHOICE), within.widened(_WIDENING_WITHIN))
    )
    return _combine(first, second, decides, within, order, margin, confidence, flags)


def _of_ranks(x: FloatArray, y: FloatArray) -> _Estimate:
    @cache  # what chooses the estimate asks for the interval that is returned
    def ends(level: float) -> tuple[float, float] | None:
        return _ends(hodges_lehmann(x, y, level, interpolate=True))

    return _Estimate(hodges_lehmann(x, y).estimate, ends, float(len(x) + len(y) - 2), RANK_METHOD)


def _of_means(
    x: FloatArray, y: FloatArray, pooled: float, separate: Welch | None, spread: SharedSpread | None, *, few: bool
) -> _Estimate:
    """Return the difference of the means of two sets of logarithms, with Student's interval.

    Of unequal numbers of runs the larger standard error counts, the pooled one or Welch's: if the fewer runs vary more,
    the pooled one errs in up to a fifth, and Welch's in up to an eighth if the runs are skewed. A path of ``few`` runs
    that varies more than the others keeps its own variance.
    """
    degrees, variance, method = float(len(x) + len(y) - 2), pooled**2, POOLED_METHOD
    if few and spread is not None and variance:
        moderated, degrees = spread.moderated(variance, degrees)
        variance, method = max(variance, moderated), SHARED_METHOD
    error, estimate = math.sqrt(variance * (1 / len(x) + 1 / len(y))), float(x.mean() - y.mean())
    if separate is not None and not (few and len(x) == len(y)):
        error = max(error, separate.error)
        degrees = degrees if few and abs(len(x) - len(y)) == 1 else min(degrees, separate.df)
        method = method if few else MEAN_METHOD

    def ends(level: float) -> tuple[float, float] | None:
        reach = float(stdtrit(degrees, (1 + level) / 2)) * error
        return (estimate - reach, estimate + reach) if error else None

    return _Estimate(estimate, ends, degrees, method)


def of_rounds(
    first: RunValues, second: RunValues, margin: float, confidence: float, *, random_order: bool = False
) -> LogRatio:
    """Return the log ratio of values of the same rounds, at least two of them, in the order of measuring.

    ``random_order``: the order within each round is known to be random, so that the rounds cannot drift.
    """
    ratios = np.log(first.values) - np.log(second.values)
    rounds = len(ratios)
    in_order = first.in_order and second.in_order and not random_order
    relative = max(_relative_step(first), _relative_step(second))
    few = attainable_paired(rounds) > 1 - confidence
    by_mean = few or relative > _WIDE_STEP * float(ratios.std(ddof=1)) / math.sqrt(2)

    def ends(level: float) -> tuple[float, float] | None:
        return student_interval(ratios, level) if by_mean else _ends(pseudomedian(ratios, level))

    estimate = float(ratios.mean()) if by_mean else pseudomedian(ratios).estimate
    found = _Estimate(estimate, ends, float(rounds - 1), PAIRED_T_METHOD if by_mean else PAIRED_RANK_METHOD)
    order = run_order(ratios) if in_order else RunOrder()
    flags = () if not few else ("two_runs",) if rounds == 2 else ("few_runs",)
    return _combine(first, second, found, found, order, margin, confidence, flags)


def spreads_of_pairs(pairs: Sequence[tuple[RunValues, ...]], kinds: Sequence[Hashable]) -> list[SharedSpread | None]:
    """Return how much runs vary on all paths of each pair's kind (the same test); ``None`` for fewer than four paths.

    The variances are those of the logarithms of runs, at least that of their rounding.
    """
    of_kind: dict[Hashable, list[tuple[float, int]]] = {}
    for sides, kind in zip(pairs, kinds, strict=True):
        degrees = sum(len(side.values) - 1 for side in sides)
        if degrees > 0 and all(len(side.values) and side.values.min() > 0 for side in sides):
            variance = _pooled_spread(*(np.log(side.values) for side in sides)) ** 2
            of_kind.setdefault(kind, []).append((max(variance, *(side.rounding_variance for side in sides)), degrees))
    spreads = {kind: shared_spread(*zip(*found, strict=True)) for kind, found in of_kind.items()}
    return [spreads.get(kind) for kind in kinds]


def _pooled_spread(*sides: FloatArray) -> float:
    """Return the standard deviation of values around the mean of their side."""
    squares = math.fsum(float(((side - side.mean()) ** 2).sum()) for side in sides if side.min() < side.max())
    return math.sqrt(squares / (sum(map(len, sides)) - len(sides)))


def _without_extremes(side: RunValues) -> FloatArray:
    """Return ten values or more without the twentieth at either end: one stray value does not average out rounding."""
    cut = max(len(side.values) // 20, 1) if len(side.values) >= _FEW_FOR_EXTREMES else 0
    return np.sort(side.values)[cut : len(side.values) - cut]


def _relative_step(side: RunValues) -> float:
    return side.resolution / float(np.median(side.values))


def _spread_evenly(side: RunValues) -> FloatArray:
    """Return the values with equal ones spread evenly within the step of the print, in which they may lie anywhere."""
    values, place, counts = np.unique(side.values, return_inverse=True, return_counts=True)
    if not side.resolution or len(values) == len(side.values):
        return side.values
    rank = np.empty(len(place))
    rank[np.argsort(place, kind="stable")] = np.concatenate([np.arange(count) + 0.5 for count in counts])
    # A printed value is at least its resolution, so half of it bounds the true value from below.
    return np.maximum(values[place] + side.resolution * (rank / counts[place] - 0.5), values[place] / 2)


def _rounding(side: RunValues, pooled: float, *, equal: bool) -> tuple[float, float]:
    """Return how far the logarithm of the mean of a side may lie below and above that of its printed values.

    ``equal``: the values show no spread, whatever they are themselves. ``pooled``: standard deviation of both sides.
    """
    shared = pooled * min(1.0, _FEW_FOR_SPREAD / len(side.values))
    spread = 0.0 if equal else max(_pooled_spread(_without_extremes(side)), shared)
    relative = rounding_bias(side.resolution, spread) / float(np.median(side.values))
    return -math.log(max(1 - relative, 0.5)), math.log1p(relative)


def _ends(shift: Shift) -> tuple[float, float] | None:
    return None if shift.low is None or shift.high is None else (shift.low, shift.high)


def _combine(
    first: RunValues,
    second: RunValues,
    found: _Estimate,
    within: _Estimate,
    order: RunOrder,
    margin: float,
    confidence: float,
    flags: tuple[str, ...],
) -> LogRatio:
    """Return the intervals at the confidence and at twice its error (``within``), widened for rounding, and p-values.

    Without ends, the values show no spread, and there is an interval only if the step of their print is known.
    """
    estimate = found.value
    varies = any(side.values.min() < side.values.max() for side in (first, second))
    equal = not varies or found.ends(confidence) is None
    pooled = 0.0 if equal else _pooled_spread(*map(_without_extremes, (first, second)))
    (x_below, x_above), (y_below, y_above) = (_rounding(side, pooled, equal=equal) for side in (first, second))
    below, above = x_below + y_above, x_above + y_below

    def rounded(by: _Estimate, level: float) -> tuple[float, float] | None:
        interval = by.ends(level) if not equal else (estimate, estimate) if below else None
        return interval and (interval[0] - below, interval[1] + above)

    outer, inner = rounded(found, confidence), rounded(within, 2 * confidence - 1)
    p = beyond = None
    if outer is not None:
        p, beyond = _t_tests(
            estimate, outer, float(stdtrit(found.degrees, (1 + confidence) / 2)), found.degrees, margin
        )
    flags = ("constant",) if equal else (*flags, *(("dependent_runs",) if order.drifts else ()))
    return LogRatio(estimate, outer, inner, p, beyond, found.method, flags)


def _t_tests(
    estimate: float, ends: tuple[float, float], scale: float, degrees: float, margin: float
) -> tuple[float, float]:
    """Return the p-values of "the ratio is 1" and of "it is within the margin" that belong to an interval.

    ``scale`` is the length of either side of the interval in standard errors.
    """
    low, high = (max(abs(end - estimate), 1e-12) for end in ends)

    def tail(limit: float) -> float:
        return float(stdtr(degrees, -scale * max((estimate - limit) / low, -(estimate + limit) / high)))

    return min(1.0, 2 * tail(0.0)), _beyond(tail(margin), margin, (ends[1] - ends[0]) / (2 * scale), degrees)


def _beyond(tail: float, margin: float, error: float, degrees: float) -> float:
    """Return the p-value of "the ratio is within the margin" from the one-sided ``tail`` at the nearer end.

    The larger of two: the probability of a value as extreme beyond either end if the ratio lies at one end, and twice
    that probability if the ratio is 1. The first is ``tail`` if the margin is wide against the ``error`` of the log
    ratio, the second four times ``tail`` if there is no margin.
    """
    if not 0 < tail < 1:
        return tail
    beyond = float(stdtrit(degrees, tail))
    steps = margin / error if error > 0 else math.inf
    return min(1.0, max(tail + float(stdtr(degrees, beyond - 2 * steps)), 4 * float(stdtr(degrees, beyond - steps))))
