"""The ratio of two sets of runs, or of two series of rounds: one estimator, its intervals and its tests.

From six runs on each side (or six rounds) everything comes from ranks of logarithms: the Hodges-Lehmann estimate, its
exact interval and the exact Wilcoxon test, so that estimate, interval and test cannot contradict each other. Below six,
Student's t on logarithms is used, and flagged. The difference in the unit of the values is the ratio applied to the
typical run of the second side.

Values are known up to the resolution of their print, so every interval and every test takes the least favourable
values within it. Where runs resemble their neighbours in time, intervals and tests are widened (`run_order`). Elsewhere
the intervals stay as they are, and a second, cautious pair of them decides the verdict. A third one, under the
strongest dependence that the runs cannot exclude, may flag it.

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
from azlatency.stats.across_runs.hodges_lehmann import (
    Shift,
    Tails,
    hodges_lehmann,
    pseudomedian,
    rank_sum_tails,
    signed_rank_tails,
)
from azlatency.stats.across_runs.run_order import FEWEST, STRONGEST, UNTESTED, RunOrder, run_order, shared_orders
from azlatency.stats.across_runs.two_groups import Summary, student_interval, summary, welch

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from azlatency.stats.across_runs.run_values import RunValues
    from azlatency.stats.arrays import FloatArray

RANK_METHOD = "Hodges-Lehmann estimate on logarithms of run values, exact Wilcoxon interval"
T_METHOD = "Welch t on logarithms of run values"
PAIRED_RANK_METHOD = "Hodges-Lehmann estimate of log ratios of rounds, exact signed-rank interval"
PAIRED_T_METHOD = "Student t on log ratios of rounds"
#: Fewest runs on each side, or rounds, for ranks: six rounds allow a p-value of 0.031.
FEWEST_FOR_RANKS = 6


#: Intervals at the confidence and at twice its error.
_Pair = tuple[tuple[float, float] | None, tuple[float, float] | None]


class LogRatio(NamedTuple):
    """Logarithm of a ratio.

    Attributes
    ----------
    estimate : float
        The log ratio.
    outer, inner : tuple of float, or None
        Intervals at the confidence and at twice its error; ``None`` without spread and resolution.
    cautious, strongest : tuple
        Both intervals with the dependence in time that is assumed anyway, and with the strongest that the runs cannot
        exclude.
    p, beyond : float or None
        p-values of "the ratio is 1" and of "the ratio is within the margin".
    cautious_p : float or None
        p-value of "the ratio is 1" that belongs to the cautious interval.
    exact_p, attainable : float
        p-value of the exact test for any distribution of independent runs, and the smallest one for data of this size.
    method, test : str
        Names of the interval and of the exact test.
    codes : tuple of str
        Flags.
    diagnostics : dict
        Dependence in time, medians of both sides.
    """

    estimate: float
    outer: tuple[float, float] | None
    inner: tuple[float, float] | None
    cautious: _Pair
    strongest: _Pair
    p: float | None
    beyond: float | None
    cautious_p: float | None
    exact_p: float
    attainable: float
    method: str
    test: str
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
    ranked = min(m, n) >= FEWEST_FOR_RANKS
    if order is None or not ranked:
        order = _order(first, second, logs.x, logs.y) if ranked else UNTESTED

    def ends(level: float) -> tuple[float, float] | None:
        if ranked:
            return _ends(hodges_lehmann(logs.x_low, logs.y_high, level), hodges_lehmann(logs.x_high, logs.y_low, level))
        test = welch(summary(logs.x), summary(logs.y), level)
        middle = float(logs.x.mean() - logs.y.mean())
        below = middle - float(logs.x_low.mean() - logs.y_high.mean())
        above = float(logs.x_high.mean() - logs.y_low.mean()) - middle
        if test is None:
            return (middle - below, middle + above) if below or above else None
        return test.low - below, test.high + above

    def tails(limit: float) -> Tails:
        return Tails(
            rank_sum_tails(logs.x_low - limit, logs.y_high).larger,
            rank_sum_tails(logs.x_high + limit, logs.y_low).smaller,
        )

    estimate = hodges_lehmann(logs.x, logs.y).estimate if ranked else float(logs.x.mean() - logs.y.mean())
    error = welch(summary(logs.x), summary(logs.y))
    student = None if error is None else (error.error, error.df)
    return _combine(
        first, second, estimate, ends, tails if ranked else None, student, order, (m, n), margin, confidence,
        exact_p=rank_sum_tails(logs.x, logs.y).two_sided, attainable=exact.attainable_unpaired(m, n),
        method=RANK_METHOD if ranked else T_METHOD, test=f"exact rank sum, {m} against {n}",
    )  # fmt: skip


def of_rounds(
    first: RunValues, second: RunValues, margin: float, confidence: float, order: RunOrder | None = None
) -> LogRatio:
    """Return the log ratio of values of the same rounds, at least two of them, in the order of measuring."""
    logs = _sides(first, second)
    d, d_low, d_high = logs.x - logs.y, logs.x_low - logs.y_high, logs.x_high - logs.y_low
    rounds = len(d)
    ranked = rounds >= FEWEST_FOR_RANKS
    order = _order(first, second, d) if order is None else order

    def ends(level: float) -> tuple[float, float] | None:
        if ranked:
            return _ends(pseudomedian(d_low, level), pseudomedian(d_high, level))
        below, above = float((d - d_low).mean()), float((d_high - d).mean())
        interval = student_interval(d, level)
        if interval is None:
            return (float(d.mean()) - below, float(d.mean()) + above) if below or above else None
        return interval[0] - below, interval[1] + above

    def tails(limit: float) -> Tails:
        return Tails(signed_rank_tails(d_low - limit).larger, signed_rank_tails(d_high + limit).smaller)

    estimate = pseudomedian(d).estimate if ranked else float(d.mean())
    spread: Summary = summary(d)
    student = (spread.sd / math.sqrt(rounds), float(rounds - 1)) if student_interval(d, confidence) else None
    return _combine(
        first, second, estimate, ends, tails if ranked else None, student, order, (rounds,), margin, confidence,
        exact_p=signed_rank_tails(d).two_sided, attainable=exact.attainable_paired(rounds),
        method=PAIRED_RANK_METHOD if ranked else PAIRED_T_METHOD, test=f"exact signed rank, {rounds} rounds",
    )  # fmt: skip


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


def _codes(first: RunValues, second: RunValues, order: RunOrder, *, constant: bool) -> tuple[str, ...]:
    """Return the flags of a comparison, except for those of its verdict."""
    runs = min(len(first.values), len(second.values))
    few = () if runs >= FEWEST_FOR_RANKS else ("two_runs",) if runs == 2 else ("few_runs",)
    codes = ("constant",) if constant else few
    if order.dependent and not constant:
        codes = (*codes, *(("order_assumed",) if "file" in (first.order, second.order) else ()), "dependent_runs")
    return codes


def _ends(low: Shift, high: Shift) -> tuple[float, float] | None:
    return None if low.low is None or high.high is None else (low.low, high.high)


def _combine(
    first: RunValues, second: RunValues, estimate: float, ends: Callable[[float], tuple[float, float] | None],
    tails: Callable[[float], Tails] | None, student: tuple[float, float] | None, order: RunOrder,
    sizes: tuple[int, ...], margin: float, confidence: float, *, exact_p: float, attainable: float, method: str,
    test: str,
) -> LogRatio:  # fmt: skip
    """Return the intervals at both levels and the p-values that belong to them, widened for dependence."""
    import numpy as np
    from scipy.special import ndtri, stdtr, stdtrit

    levels = (confidence, 2 * confidence - 1)
    constant = student is None and not (first.resolution or second.resolution)
    intervals = [None if constant else ends(level) for level in levels]
    p = beyond = None
    diagnostics: dict[str, Any] = {
        "typical_a": float(np.median(first.values)), "typical_b": float(np.median(second.values)),
    }  # fmt: skip
    if not math.isnan(order.p):
        diagnostics.update(lag1=order.lag1, lag1_p=order.p)
    upper = (1 + confidence) / 2
    cautious, strongest = (
        [
            _stretched(estimate, between, order.caution(level, sizes, coefficient).factor)
            for between, level in zip(intervals, levels, strict=True)
        ]
        for coefficient in (order.coefficient, max(order.coefficient, min(order.strongest, STRONGEST)))
    )
    if tails is not None and not constant:
        p = tails(0.0).two_sided
        width = math.inf if intervals[0] is None else intervals[0][1] - intervals[0][0]
        beyond = _beyond(min(tails(margin)), margin, width / (2 * float(ndtri(upper))), math.inf)
    elif student is not None:
        error, df = student
        p = 2 * float(stdtr(df, -abs(estimate) / error))
        beyond = _beyond(float(stdtr(df, -(abs(estimate) - margin) / error)), margin, error, df)
    cautious_p = p
    if p is not None and cautious[0] is not None:
        degrees = order.caution(confidence, sizes).degrees
        widened_p, far = _t_tests(estimate, cautious[0], float(stdtrit(degrees, upper)), degrees, margin)
        cautious_p = max(p, widened_p)
        if order.dependent or tails is None:
            beyond = far
    if order.dependent and cautious[0] is not None:
        method = f"{method}, widened for dependence in time"
        intervals, p = cautious, cautious_p
    return LogRatio(
        estimate=estimate, outer=intervals[0], inner=intervals[1], cautious=(cautious[0], cautious[1]),
        strongest=(strongest[0], strongest[1]), p=p, beyond=beyond, cautious_p=cautious_p, exact_p=exact_p,
        attainable=attainable, method=method, test=test, codes=_codes(first, second, order, constant=constant),
        diagnostics=diagnostics,
    )  # fmt: skip


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
