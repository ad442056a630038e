"""Quantiles over the runs of a path: one number per run, without assumptions about their distribution."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING

from azlatency.stats.across_runs.run_values import refusals, run_values
from azlatency.stats.arrays import to_array
from azlatency.stats.result import Estimate, Results
from azlatency.stats.within_run.order_statistics import EXACT, order_statistic_ranks, point_rank

if TYPE_CHECKING:
    import pandas as pd


def median_of_runs(
    values: Iterable[float],
    q: float = 0.5,
    *,
    unit: str = "ns",
    confidence: float = 0.95,
    what: str = "median of the runs",
    resolution: float = 0.0,
) -> Estimate:
    """Estimate a quantile of run values (by default the median run) with its exact order-statistic interval.

    Parameters
    ----------
    values : iterable of float
        One number per run, in ``unit``.
    q : float
        Level of the quantile over the runs, between 0 and 1.
    unit : str
        Unit of the values.
    confidence : float
        Level of the interval, between 0 and 1.
    what : str
        Name of the result.
    resolution : float
        Step of the printed numbers; half of it is added at each end.

    Returns
    -------
    Estimate
        The quantile over runs. The median has an interval from six runs on (their range covers 96.9 %); fewer runs are
        flagged ``few_clusters``, a single run is refused as ``no_replication``.

    Notes
    -----
    Le Boudec, Performance Evaluation, EPFL Press 2010, theorem 2.1. The interval assumes independent runs and nothing
    about their distribution.

    Examples
    --------
    >>> from azlatency.stats.across_runs.quantiles_of_runs import median_of_runs
    >>> typical = median_of_runs([604, 582, 624, 611, 590, 4510], unit="µs")
    >>> typical.estimate, typical.low, typical.high
    (607.5, 582.0, 4510.0)
    """
    numbers, _ = to_array(list(values))
    ordered = sorted(float(number) for number in numbers)
    runs = len(ordered)

    def result(estimate: float | None, low: float | None, high: float | None, codes: tuple[str, ...]) -> Estimate:
        return Estimate(
            what=what, estimate=estimate, low=low, high=high, unit=unit, n=runs, scope="across_runs",
            confidence=confidence, method=EXACT, codes=codes, labels={"q": q} if runs else {},
            n_effective=float(runs) if runs else None,
        )  # fmt: skip

    if not runs:
        return result(None, None, None, ("no_values",))
    low_rank, high_rank = order_statistic_ranks(runs, q, confidence)
    low = ordered[low_rank - 1] - resolution / 2 if low_rank >= 1 else None
    high = ordered[high_rank - 1] + resolution / 2 if high_rank <= runs else None
    if runs == 1:
        return result(None, low, high, ("no_replication",))
    codes: tuple[str, ...] = ()
    if low is None or high is None:
        codes = ("few_clusters",) + (("unbounded_upper",) if high is None else ())
    elif ordered[0] == ordered[-1]:
        codes = ("constant",)
    estimate = ordered[point_rank(runs, q) - 1]
    if q == 0.5:
        estimate = (ordered[(runs - 1) // 2] + ordered[runs // 2]) / 2
    return result(estimate, low, high, codes)


def quantiles_of_runs(
    runs: pd.DataFrame, q: float | Iterable[float] = 0.5, *, value: str | None = None, confidence: float = 0.95
) -> Results[Estimate]:
    """Estimate quantiles over the runs of each path and method.

    Parameters
    ----------
    runs : DataFrame
        One row per run, with the columns ``path`` and ``method``.
    q : float or iterable of float
        Levels over the runs, between 0 and 1.
    value : str, optional
        Column with one number per run; the median round-trip time if not given.
    confidence : float
        Level of the intervals, between 0 and 1.

    Returns
    -------
    Results[Estimate]
        One estimate per path, method and level (`median_of_runs`). Runs that must not be pooled are refused with the
        reason as code, for example ``type_p_mismatch``.

    Notes
    -----
    Le Boudec, Performance Evaluation, EPFL Press 2010, theorem 2.1.
    """
    results = Results[Estimate]()
    for (path, method), group in runs.groupby(["path", "method"], sort=False):
        numbers, codes = run_values(group, value), refusals([group], value)
        for level in [q] if isinstance(q, int | float) else q:
            what = f"{path}, {method}, p{100 * level:g} of the runs"
            result = median_of_runs(numbers.values, level, unit=numbers.unit, confidence=confidence, what=what)
            if codes:
                result = replace(result, estimate=None, low=None, high=None, codes=codes)
            results.append(replace(result, labels={"path": path, "method": method, "q": level}))
    return results
