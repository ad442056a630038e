"""The ratio of two sets of runs, or of two series of rounds: one estimator and one interval, which decides.

Runs: the Hodges-Lehmann estimate on logarithms of run values, with the Wilcoxon interval interpolated between ranks, so
that it changes little with one more run. Two or three runs on each side have no such interval at 95 %; theirs is
Welch's t on logarithms, and flagged. Rounds: the Hodges-Lehmann estimate of their log ratios with the exact signed-rank
interval, which holds whatever the runs do in time if the order within each round is random; from two to five rounds
Student's t. The difference in the unit of the values is the ratio applied to the typical run of the second side.

Every interval is widened by the autocorrelation that the runs show (`run_order`), and takes the least favourable values
within the resolution of the print. The p-values are those of Student's t at the scale of this interval, so that they
cannot contradict it.

The test at the margin is one-sided: if the margin is wider than the error, a ratio at one end of it is hardly ever
taken for one beyond the other end. What little that happens is added to the p-value, so that a ratio within the margin
is called beyond it with at most the chosen probability, and one of 1 with at most half of it.

Sources: Hodges & Lehmann 1963; Moses 1965; Welch 1947; Hodges & Lehmann, JRSS B 16:261 (1954), tests of a hypothesis
that is an interval.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

from azlatency.stats import exact
from azlatency.stats.across_runs.hodges_lehmann import Shift, hodges_lehmann, pseudomedian
from azlatency.stats.across_runs.run_order import FEWEST, UNTESTED, UNTESTED_ROUNDS, RunOrder, run_order, shared_orders
from azlatency.stats.across_runs.two_groups import student_interval, summary, welch

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from azlatency.stats.across_runs.run_values import RunValues
    from azlatency.stats.arrays import FloatArray

RANK_METHOD = "Hodges-Lehmann estimate on logarithms of run values, interpolated Wilcoxon interval"
T_METHOD = "Welch t on logarithms of run values"
PAIRED_RANK_METHOD = "Hodges-Lehmann estimate of log ratios of rounds, exact signed-rank interval"
PAIRED_T_METHOD = "Student t on log ratios of rounds"


class LogRatio(NamedTuple):
    """Logarithm of a ratio.

    Attributes
    ----------
    estimate : float
        The log ratio.
    outer, inner : tuple of float, or None
        Intervals at the confidence and at twice its error; ``None`` without spread and resolution.
    p, beyond : float or None
        p-values of "the ratio is 1" and of "the ratio is within the margin".
    method : str
        Name of the interval.
    codes : tuple of str
        Flags.
    diagnostics : dict
        Dependence in time, medians of both sides.
    """

    estimate: float
    outer: tuple[float, float] | None
    inner: tuple[float, float] | None
    p: float | None
    beyond: float | None
    method: str
    codes: tuple[str, ...]
    diagnostics: dict[str, Any]


class _Sides(NamedTuple):
    """Logarithms of both sides as printed, and the least favourable ones within their resolution."""

    x: FloatArray
    y: FloatArray
    x_low: FloatArray
    x_high: FloatArray
    y_low: FloatArray
    y_high: FloatArray


def _sides(first: RunValues, second: RunValues) -> _Sides:
    import numpy as np

    ends = []
    for side in (first, second):
        step = side.resolution / 2
        # A printed value is at least its resolution, so half of it bounds the true value from below.
        ends += [np.log(np.maximum(side.values - step, side.values / 2)), np.log(side.values + step)]
    return _Sides(np.log(first.values), np.log(second.values), *ends)


def of_groups(
    first: RunValues, second: RunValues, margin: float, confidence: float, order: RunOrder | None = None
) -> LogRatio:
    """Return the log ratio of two sets of runs, at least two on each side.

    ``margin`` is the largest log ratio that is practically 1, ``order`` the dependence in time if it is known from more
    runs than these.
    """
    logs = _sides(first, second)
    m, n = len(logs.x), len(logs.y)
    ranked = exact.attainable_unpaired(m, n) <= 1 - confidence
    if order is None or min(m, n) < FEWEST:
        order = _order(first, second, logs.x, logs.y)

    def ends(level: float) -> tuple[float, float] | None:
        if ranked:
            return _ends(
                hodges_lehmann(logs.x_low, logs.y_high, level, interpolate=True),
                hodges_lehmann(logs.x_high, logs.y_low, level, interpolate=True),
            )
        test = welch(summary(logs.x), summary(logs.y), level)
        middle = float(logs.x.mean() - logs.y.mean())
        below = middle - float(logs.x_low.mean() - logs.y_high.mean())
        above = float(logs.x_high.mean() - logs.y_low.mean()) - middle
        if test is None:
            return (middle - below, middle + above) if below or above else None
        return test.low - below, test.high + above

    estimate = hodges_lehmann(logs.x, logs.y).estimate if ranked else float(logs.x.mean() - logs.y.mean())
    varies = welch(summary(logs.x), summary(logs.y)) is not None
    return _combine(
        first,
        second,
        estimate,
        ends if varies or first.resolution or second.resolution else None,
        order,
        (m, n),
        margin,
        confidence,
        method=RANK_METHOD if ranked else T_METHOD,
        ranked=ranked,
    )


def of_rounds(
    first: RunValues, second: RunValues, margin: float, confidence: float, order: RunOrder | None = None
) -> LogRatio:
    """Return the log ratio of values of the same rounds, at least two of them, in the order of measuring."""
    logs = _sides(first, second)
    d, d_low, d_high = logs.x - logs.y, logs.x_low - logs.y_high, logs.x_high - logs.y_low
    rounds = len(d)
    ranked = exact.attainable_paired(rounds) <= 1 - confidence
    if order is None:
        order = run_order(d, usual=0.0) if first.in_order and second.in_order else UNTESTED_ROUNDS

    def ends(level: float) -> tuple[float, float] | None:
        if ranked:
            return _ends(pseudomedian(d_low, level), pseudomedian(d_high, level))
        below, above = float((d - d_low).mean()), float((d_high - d).mean())
        interval = student_interval(d, level)
        if interval is None:
            return (float(d.mean()) - below, float(d.mean()) + above) if below or above else None
        return interval[0] - below, interval[1] + above

    estimate = pseudomedian(d).estimate if ranked else float(d.mean())
    varies = student_interval(d, confidence) is not None
    return _combine(
        first,
        second,
        estimate,
        ends if varies or first.resolution or second.resolution else None,
        order,
        (rounds,),
        margin,
        confidence,
        method=PAIRED_RANK_METHOD if ranked else PAIRED_T_METHOD,
        ranked=ranked,
    )


def orders_of_pairs(pairs: Sequence[tuple[RunValues, ...]]) -> list[RunOrder | None]:
    """Return the dependence of pairs of sides, or of single ones, that were measured in the same time.

    ``None``: too few runs to test.
    """
    import numpy as np

    tested = [
        at
        for at, pair in enumerate(pairs)
        if all(side.in_order and len(side.values) >= FEWEST and side.values.min() > 0 for side in pair)
    ]
    orders = shared_orders([tuple(np.log(side.values) for side in pairs[at]) for at in tested])
    found = dict(zip(tested, orders, strict=True))
    return [found.get(at) for at in range(len(pairs))]


def _order(first: RunValues, second: RunValues, *series: FloatArray) -> RunOrder:
    """Return the dependence of logarithms of run values in time, if their order is known and there are enough."""
    return run_order(*series) if first.in_order and second.in_order else UNTESTED


def _ends(low: Shift, high: Shift) -> tuple[float, float] | None:
    return None if low.low is None or high.high is None else (low.low, high.high)


def _combine(  # noqa: PLR0913 - all parts of one formula
    first: RunValues,
    second: RunValues,
    estimate: float,
    ends: Callable[[float], tuple[float, float] | None] | None,
    order: RunOrder,
    sizes: tuple[int, ...],
    margin: float,
    confidence: float,
    *,
    method: str,
    ranked: bool,
) -> LogRatio:
    """Return the intervals at both levels and the p-values that belong to them, widened for dependence."""
    import numpy as np
    from scipy.special import stdtrit

    varies = _varies(first, second)
    outer, inner = (
        # Equal values show no spread that dependence could hide, only the resolution of the print.
        None if ends is None else _stretched(estimate, ends(level), order.widening(level, sizes) if varies else 1.0)
        for level in (confidence, 2 * confidence - 1)
    )
    p = beyond = None
    if outer is not None:
        degrees = float(sum(sizes) - len(sizes))
        p, beyond = _t_tests(estimate, outer, float(stdtrit(degrees, (1 + confidence) / 2)), degrees, margin)
    diagnostics: dict[str, Any] = {
        "typical_a": float(np.median(first.values)), "typical_b": float(np.median(second.values)),
    }  # fmt: skip
    if not math.isnan(order.p):
        diagnostics.update(lag1=order.lag1, lag1_p=order.p)
    runs = min(len(first.values), len(second.values))
    few = () if ranked else ("two_runs",) if runs == 2 else ("few_runs",)
    codes = (*few, *(("dependent_runs",) if order.dependent else ())) if outer and varies else ("constant",)
    return LogRatio(estimate, outer, inner, p, beyond, method, codes, diagnostics)


def _varies(first: RunValues, second: RunValues) -> bool:
    return any(side.values.min() < side.values.max() for side in (first, second))


def _t_tests(
    estimate: float, ends: tuple[float, float], scale: float, degrees: float, margin: float
) -> tuple[float, float]:
    """Return the p-values of "the ratio is 1" and of "it is within the margin" that belong to an interval.

    ``scale`` is the length of either side of the interval in standard errors.
    """
    from scipy.special import stdtr

    low, high = (max(abs(end - estimate), 1e-12) for end in ends)

    def tail(limit: float) -> float:
        return float(stdtr(degrees, -scale * max((estimate - limit) / low, -(estimate + limit) / high)))

    return min(1.0, 2 * tail(0.0)), _beyond(tail(margin), margin, (ends[1] - ends[0]) / (2 * scale), degrees)


def _stretched(estimate: float, ends: tuple[float, float] | None, factor: float) -> tuple[float, float] | None:
    """Return an interval whose ends are ``factor`` times as far from the estimate."""
    return (
        None if ends is None else (estimate - factor * (estimate - ends[0]), estimate + factor * (ends[1] - estimate))
    )


def _beyond(tail: float, margin: float, error: float, degrees: float) -> float:
    """Return the p-value of "the ratio is within the margin" from the one-sided ``tail`` at the nearer end.

    The larger of two: the probability of a value as extreme beyond either end if the ratio lies at one end, and twice
    that probability if the ratio is 1. The first is ``tail`` if the margin is wide against the ``error`` of the log
    ratio, the second four times ``tail`` if there is no margin.
    """
    from scipy.special import ndtr, ndtri, stdtr, stdtrit

    if not 0 < tail < 1:
        return tail
    beyond = float(ndtri(tail) if math.isinf(degrees) else stdtrit(degrees, tail))
    steps = margin / error if error > 0 else math.inf

    def below(limit: float) -> float:
        return float(ndtr(limit) if math.isinf(degrees) else stdtr(degrees, limit))

    return min(1.0, max(tail + below(beyond - 2 * steps), 4 * below(beyond - steps)))
