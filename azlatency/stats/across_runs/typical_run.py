"""The typical run of a path: the median run, with an interval across runs.

Runs are the replicates, not packets. Pooled packets of five runs with a 5 % run effect yield a "95 %" interval that
covers the truth one time in six.

The estimand is the median over all runs that the path would give: half of them are slower. From six runs on, its
interval is that of order statistics, which holds for every distribution of independent runs: clusters, slow runs and
long tails included. Fewer runs have no such interval; theirs is Student's t on logarithms, with its assumption as flag.

Whether runs resemble their neighbours, and whether a few runs agree by chance, is estimated from all paths that were
measured in the same way (`summarize`): see `run_order` and `shared_spread`.

Sources: Le Boudec, Performance Evaluation, EPFL Press 2010, theorem 2.1; Hettmansperger & Sheather, Statistics &
Probability Letters 4:75 (1986), interpolation.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence, Sized
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

from azlatency.stats.across_runs.log_ratio import orders_of_pairs
from azlatency.stats.across_runs.run_order import ASSUMED, UNTESTED, run_order
from azlatency.stats.across_runs.run_values import (
    RunValues,
    check_columns,
    refusals,
    run_values,
    unit_of,
    value_column,
)
from azlatency.stats.across_runs.shared_spread import CLOSE, shared_spread
from azlatency.stats.result import Estimate, Results
from azlatency.stats.within_run.order_statistics import order_statistic_ranks

if TYPE_CHECKING:
    import pandas as pd

    from azlatency.stats.across_runs.run_order import RunOrder
    from azlatency.stats.across_runs.run_values import RunData
    from azlatency.stats.across_runs.shared_spread import SharedSpread
    from azlatency.stats.arrays import FloatArray

#: Reasons against an estimate that leave the values of the runs comparable: their range describes them.
_DESCRIBED = frozenset({"no_replication", "path_unknown", "unknown_end"})
RANK_METHOD = "median run; interval of order statistics (Le Boudec 2010, thm 2.1)"
INTERPOLATED_METHOD = "median run; interval of interpolated order statistics (Hettmansperger & Sheather 1986)"
T_METHOD = "median run; Student t on the logarithms of run values"
SHARED_METHOD = f"{T_METHOD}, with a variance moderated over paths (Smyth 2004)"
#: Fewest runs whose range covers the median in at least 95 % of cases (96.9 %).
FEWEST_FOR_RANKS = 6
#: Exact ranks that exceed the confidence by more than this share of its error are interpolated with the next ones:
#: 98 % for 95 %. The range of 8 runs attains 99.2 %.
_MOST_EXCESS = 0.6
#: A run of three to five lies far out if its distance to the others is this unlikely under their t prediction.
_FAR_OUT = 0.01
#: Number of runs from which an interval covers at least 90 % even if an autocorrelation of 0.5 is not noticed.
_ENOUGH = 20
_INDEPENDENT = "runs are independent of each other"


class MedianInterval(NamedTuple):
    """Interval of the median: ends, and the confidence that exact ranks attain; ``None`` where there is no bound."""

    low: float | None
    high: float | None
    attained: float | None
    interpolated: bool = False


def median_interval(values: FloatArray, confidence: float = 0.95, widening: float = 1.0) -> MedianInterval:
    """Return the order-statistic interval of the median of positive, independent values of any distribution.

    Exact ranks with at least the confidence. Where these attain much more (98 % for 95 %), because ranks are whole
    numbers, the ends are interpolated with the next order statistics on the logarithmic scale. ``widening`` stretches
    the distance of the ranks from the middle, for dependent runs; the range of the values is the widest interval.
    """
    import numpy as np
    from scipy.stats import binom

    ordered, n = np.sort(values), len(values)
    rank, _ = order_statistic_ranks(n, 0.5, confidence)
    if widening > 1:
        rank = max(1, math.floor((n + 1) / 2 - widening * ((n + 1) / 2 - rank)))
    if rank < 1:
        return MedianInterval(None, None, None)
    attained, inner = (float(share) for share in 1 - 2 * binom.cdf([rank - 1, rank], n, 0.5))
    low, high = float(ordered[rank - 1]), float(ordered[n - rank])
    if attained <= confidence + _MOST_EXCESS * (1 - confidence) or widening > 1 or rank + 1 > n - rank:
        return MedianInterval(low, high, attained)
    share = (attained - confidence) / (attained - inner)
    weight = (n - rank) * share / (rank + (n - 2 * rank) * share)
    low = low ** (1 - weight) * float(ordered[rank]) ** weight
    high = high ** (1 - weight) * float(ordered[n - rank - 1]) ** weight
    return MedianInterval(low, high, attained, interpolated=True)


def typical_run(
    values: RunData,
    *,
    value: str | None = None,
    unit: str | None = None,
    confidence: float = 0.95,
    what: str = "typical run",
    labels: Mapping[str, object] | None = None,
    resolution: float | None = None,
) -> Estimate:
    """Estimate the typical run of a path: the median run with its interval.

    Parameters
    ----------
    values : array-like or DataFrame
        One positive number per run in ``unit``, in the order of measuring, or runs of one path and method with the
        column ``value``. Missing values are left out and counted.
    value : str, optional
        Column of a frame; by default its median, else its mean, else its throughput.
    unit : str, optional
        Canonical unit; by default that of the column, else ``"ns"``.
    confidence : float
        Level of the interval, between 0 and 1.
    what : str
        Name of the result.
    labels : dict, optional
        Columns that identify the result in a frame.
    resolution : float, optional
        Step of the printed values, in ``unit``; by default that of the frame. Half of it is added at each end.

    Returns
    -------
    Estimate
        Not estimable for one run (``no_replication``), for values that are not positive, and for runs that must not be
        pooled (``unit_conflict``, ``type_p_mismatch`` …). Two to five runs are flagged ``few_runs``, a run far from the
        others ``outlying_run``, and runs that resemble their neighbours in time ``dependent_runs``. Six to nineteen
        runs that cannot exclude this are flagged ``dependence_possible``, and few runs that agree more closely than
        those of other paths, and have their interval from the variance of all paths, ``close_runs``. Equal values
        (``constant``) have an interval only if their resolution is known. ``diagnostics``: the lag-1 autocorrelation
        and its p-value, and the confidence that the ranks ``attained``; for one run or an unknown path the ``lowest``
        and ``highest`` value, which describe these runs and not the path.

    Notes
    -----
    From six runs: order statistics, which assume that runs are independent and nothing about their distribution
    (Le Boudec 2010). Fewer runs: Student's t on the logarithms of the run values.

    Examples
    --------
    >>> result = typical_run([604, 582, 624, 611, 590, 4510], unit="µs")
    >>> (result.estimate, result.low, result.high, result.codes)
    (607.5, 582.0, 4510.0, ('dependence_possible',))
    """
    if not isinstance(values, RunValues | Sized):
        values = list(values)
    run_set = run_values(values, value, unit)
    if resolution is not None:
        run_set = replace(run_set, resolution=resolution)
    codes = refusals([values], value)
    return _typical_run(run_set, codes, confidence, what=what, labels=labels, order=None, spread=None)


def _typical_run(
    run_set: RunValues, codes: tuple[str, ...], confidence: float, *, what: str,
    labels: Mapping[str, object] | None, order: RunOrder | None, spread: SharedSpread | None,
) -> Estimate:  # fmt: skip
    """Return the typical run of run values, which ``codes`` may forbid to pool."""
    runs = len(run_set.values)
    if not codes and not runs:
        codes = ("no_values",)
    elif not codes and run_set.values.min() <= 0:
        codes = ("not_positive",)
    elif not codes and runs == 1:
        codes = ("no_replication",)
    missing = ("missing",) if run_set.missing and "loss_censored" not in codes else ()
    diagnostics: dict[str, float | int | str | bool] = {"missing": run_set.missing}
    if runs and codes and not run_set.endless and _DESCRIBED.issuperset(codes):
        diagnostics.update(lowest=float(run_set.values.min()), highest=float(run_set.values.max()))
    empty = Estimate(
        what=what,
        estimate=None,
        low=None,
        high=None,
        unit=run_set.unit or ("" if run_set.column else "ns"),
        # A run that lost most of its probes counts as a run, although its value is infinite.
        n=runs + run_set.endless if codes else runs,
        scope="across_runs",
        confidence=confidence,
        method=RANK_METHOD if runs >= FEWEST_FOR_RANKS else T_METHOD,
        codes=(*missing, *codes),
        labels=dict(labels or {}),
        n_effective=float(runs),
        assumptions=(_INDEPENDENT,),
        diagnostics=diagnostics,
        run_ids=run_set.run_ids,
    )
    return empty if codes else _estimate(run_set, empty, confidence, order, spread)


def _estimate(
    run_set: RunValues, empty: Estimate, confidence: float, order: RunOrder | None, spread: SharedSpread | None
) -> Estimate:
    """Return the median run of at least two positive values, with its interval."""
    import numpy as np

    x, step = run_set.values, run_set.resolution / 2
    runs, codes = len(x), list(empty.codes)
    if order is None or runs < FEWEST_FOR_RANKS:
        order = run_order(x) if run_set.in_order else UNTESTED
    diagnostics: dict[str, Any] = dict(empty.diagnostics)
    method, assumptions = empty.method, empty.assumptions
    if not math.isnan(order.p):
        diagnostics.update(lag1=order.lag1, lag1_p=order.p)
    if x.min() == x.max():
        codes.append("constant")
        # Without a known resolution, equal values say nothing about the spread of the runs.
        interval = MedianInterval(float(x[0]), float(x[0]), None) if step else MedianInterval(None, None, None)
    elif runs >= FEWEST_FOR_RANKS:
        widening = order.caution(confidence, [runs]).factor if order.dependent else 1.0
        interval = median_interval(x, confidence, widening)
        method = INTERPOLATED_METHOD if interval.interpolated else RANK_METHOD
        if order.dependent:
            codes += ["dependent_runs", *(["order_assumed"] if run_set.order == "file" else [])]
        elif runs < _ENOUGH and order.strongest >= ASSUMED:
            codes.append("dependence_possible")
    else:
        interval = _t_interval(x, confidence)
        codes.append("two_runs" if runs == 2 else "few_runs")
        assumptions = (*assumptions, "the logarithms of the run values are normally distributed")
        if _lies_far_out(x):
            codes.append("outlying_run")
    if spread is not None and runs < FEWEST_FOR_RANKS:
        longer = _shared_interval(x, spread, confidence, interval)
        if longer is not None:
            interval, method = longer, SHARED_METHOD
            codes.append("close_runs")
    if interval.attained is not None:
        diagnostics["attained"] = interval.attained
    return replace(
        empty,
        estimate=float(np.median(x)),
        low=None if interval.low is None else interval.low - step,
        high=None if interval.high is None else interval.high + step,
        method=method,
        codes=tuple(codes),
        assumptions=assumptions,
        n_effective=runs / order.inflation(runs),
        diagnostics=diagnostics,
    )


def _t_interval(x: FloatArray, confidence: float) -> MedianInterval:
    import numpy as np

    from azlatency.stats.across_runs.two_groups import student_interval

    ends = student_interval(np.log(x), confidence)
    return (
        MedianInterval(None, None, None) if ends is None else MedianInterval(math.exp(ends[0]), math.exp(ends[1]), None)
    )


def _shared_interval(
    x: FloatArray, spread: SharedSpread, confidence: float, own: MedianInterval
) -> MedianInterval | None:
    """Return the interval with the moderated variance if the runs agree closely by chance and it is the longer one."""
    import numpy as np
    from scipy.special import stdtrit

    logs = np.log(x)
    variance, degrees = float(logs.var(ddof=1)), len(x) - 1
    if own.low is None or spread.share_below(variance, degrees) > CLOSE:
        return None
    moderated, df = spread.moderated(variance, degrees)
    middle, reach = float(logs.mean()), float(stdtrit(df, (1 + confidence) / 2)) * math.sqrt(moderated / len(x))
    low, high = math.exp(middle - reach), math.exp(middle + reach)
    return MedianInterval(low, high, None) if low < own.low else None


def _lies_far_out(x: FloatArray) -> bool:
    """Return whether the run farthest from the median lies outside the t prediction interval of the others (logs)."""
    import numpy as np
    from scipy.special import stdtrit

    logs = np.log(x)
    if len(logs) < 4:
        # Two others do not show how much runs vary.
        return bool(logs.max() - logs.min() > math.log(2))
    far = int(np.abs(logs - np.median(logs)).argmax())
    others = np.delete(logs, far)
    width = float(others.std(ddof=1)) * math.sqrt(1 + 1 / len(others))
    return bool(abs(logs[far] - others.mean()) > width * float(stdtrit(len(others) - 1, 1 - _FAR_OUT / 2)))


def summarize(
    runs: pd.DataFrame,
    value: str | None = None,
    *,
    by: str | Sequence[str] = "path",
    unit: str | None = None,
    confidence: float = 0.95,
) -> Results[Estimate]:
    """Summarize runs across repeats: the typical run (the median run) of each path and method, with its interval.

    Parameters
    ----------
    runs : DataFrame
        One row per run, as returned by `azlatency.latency` or `azlatency.throughput`.
    value : str, optional
        Column with one number per run; runs without it are left out. By default each method's median, else its mean,
        else its throughput.
    by : str or sequence of str
        Columns to group by. Runs of different methods are never pooled, so ``method`` is always added.
    unit : str, optional
        Canonical unit of the column; by default the one that its name implies, such as ``"bit/s"`` for
        ``throughput_bit_s``, otherwise none.
    confidence : float
        Level of the intervals, between 0 and 1.

    Returns
    -------
    Results[Estimate]
        One estimate per group, in order of appearance. Labels: the grouping columns and ``placement``.

    Raises
    ------
    KeyError
        If a column does not exist. The message contains the most similar name and all columns.

    Notes
    -----
    See `typical_run` for the method. Paths of one method show together whether runs resemble their neighbours, and how
    much they vary. Different tools, tests, packets or rates are never pooled.

    Examples
    --------
    >>> import pandas as pd
    >>> times = [450e3, 440e3, 460e3, 455e3, 447e3, 452e3]
    >>> (estimate,) = summarize(pd.DataFrame({"path": "a → b", "method": "ping", "median_ns": times}))
    >>> (estimate.what, estimate.estimate, estimate.low, estimate.high)
    ('a → b, ping', 451000.0, 440000.0, 460000.0)
    """
    keys = list(dict.fromkeys([*([by] if isinstance(by, str) else by), "method"]))
    check_columns(runs, *keys)
    if value is not None:
        runs = runs[runs[value_column(runs, value)].notna()]
    columns = {method: value_column(group, value) for method, group in runs.groupby("method", sort=False)}
    groups: list[PathRuns] = []
    for group_keys, group in runs.groupby(keys, sort=False):
        labels = dict(zip(keys, group_keys, strict=True))
        column = columns[labels["method"]]
        measured = group[group[column].notna()]
        if not len(measured):
            continue
        if "placement" in measured.columns:
            labels["placement"] = measured["placement"].iloc[0]
        values, codes = run_values(measured, column, unit or unit_of(column)), refusals([measured], column)
        kind = kind_of_test(measured, labels["method"])
        groups.append(PathRuns(", ".join(map(str, group_keys)), labels, values, kind, codes))
    return Results(typical_runs(groups, confidence))


class PathRuns(NamedTuple):
    """Runs of one path: how they are called, their values, the kind of test, and why they must not be pooled."""

    what: str
    labels: dict[str, Any]
    values: RunValues
    kind: tuple[str, ...] = ()
    codes: tuple[str, ...] = ()


def kind_of_test(runs: pd.DataFrame, method: str) -> tuple[str, ...]:
    """Return what the runs of paths must have in common to show each other's spread: method, packets and rate."""
    return (method, *(str(runs[name].iloc[0]) for name in ("tool", "test", "protocol") if name in runs.columns))


def typical_runs(groups: Sequence[PathRuns], confidence: float = 0.95) -> list[Estimate]:
    """Return the typical run of each path; all paths of one kind show how much runs vary and depend on each other."""
    return [
        _typical_run(group.values, group.codes, confidence, what=group.what, labels=group.labels, order=order,
                     spread=spread)
        for group, (order, spread) in zip(groups, _shared(groups), strict=True)
    ]  # fmt: skip


def _shared(groups: Sequence[PathRuns]) -> list[tuple[RunOrder | None, SharedSpread | None]]:
    """Return what all paths of the same kind show about each: dependence in time, and the spread of runs."""
    found: list[tuple[RunOrder | None, SharedSpread | None]] = [(None, None)] * len(groups)
    for kind in dict.fromkeys(group.kind for group in groups):
        alike = [
            at
            for at, group in enumerate(groups)
            if group.kind == kind and not group.codes and len(group.values.values) > 1 and group.values.values.min() > 0
        ]
        spread = shared_spread(*zip(*(_variance(groups[at].values) for at in alike), strict=True)) if alike else None
        for at, order in zip(alike, orders_of_pairs([(groups[at].values,) for at in alike]), strict=True):
            found[at] = order, spread
    return found


def _variance(runs: RunValues) -> tuple[float, float]:
    """Return the variance of the logarithms of runs, at least that of their rounding, and its degrees of freedom."""
    import numpy as np

    rounding = (runs.resolution / float(np.median(runs.values))) ** 2 / 12
    return max(float(np.log(runs.values).var(ddof=1)), rounding), len(runs.values) - 1
