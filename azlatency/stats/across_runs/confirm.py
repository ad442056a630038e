"""How many runs a median needs, from many existing runs: CONFIRM in closed form.

Source: Maricq et al., OSDI 2018, here exact over all subsets instead of 200 random ones.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from azlatency.stats.across_runs.planning import Plan
from azlatency.stats.across_runs.run_values import check_columns, refusals, run_values, value_column
from azlatency.stats.result import Results
from azlatency.stats.within_run.order_statistics import order_statistic_ranks

if TYPE_CHECKING:
    import pandas as pd

    from azlatency.stats.across_runs.run_values import RunData
    from azlatency.stats.arrays import FloatArray


class Bounds(NamedTuple):
    """Expected ends of the interval of the median over all subsets of ``size`` runs."""

    size: int
    low: float
    high: float


def expected_bounds(
    values: FloatArray,
    size: int,
    confidence: float = 0.95,
    ranks: Callable[[int, float, float], tuple[int, int]] = order_statistic_ranks,
) -> Bounds:
    """Return the mean order-statistic interval of the median over all subsets without replacement.

    E[X_(k:s)] = sum over j of x_(j) C(j-1, k-1) C(N-j, s-k) / C(N, s). An end without a rank is infinite.
    """
    import numpy as np
    from scipy.special import gammaln

    ordered = np.sort(values)
    total = len(ordered)
    low, high = ranks(size, 0.5, confidence)

    def log_choose(n: FloatArray, k: int) -> FloatArray:
        inside = (k >= 0) & (n >= k)
        safe = np.where(inside, n, k)
        logs = gammaln(safe + 1.0) - gammaln(k + 1.0) - gammaln(safe - k + 1.0)
        return np.asarray(np.where(inside, logs, -np.inf))

    def mean_of(rank: int) -> float:
        if not 1 <= rank <= size:
            return -math.inf if rank < 1 else math.inf
        j = np.arange(1.0, total + 1)
        weights = np.exp(
            log_choose(j - 1, rank - 1)
            + log_choose(total - j, size - rank)
            - log_choose(np.array([float(total)]), size)
        )
        return float((weights * ordered).sum())

    return Bounds(size, mean_of(low), mean_of(high))


def confirm(
    values: RunData,
    relative: float = 0.05,
    *,
    confidence: float = 0.95,
    smallest: int = 10,
    value: str | None = None,
    ranks: Callable[[int, float, float], tuple[int, int]] = order_statistic_ranks,
) -> Plan:
    """Return how many of many existing runs are needed for a median within ``relative``.

    Parameters
    ----------
    values : array_like, Series or DataFrame
        One number per run, or one row per run.
    relative : float
        Relative half-width to reach; ``0.05`` is ±5 %.
    confidence : float
        Level of the interval, between 0 and 1.
    smallest : int
        Smallest number of runs to consider; more runs than this must exist.
    value : str, optional
        Column of a frame; by default its median, else its mean, else its throughput.
    ranks : callable
        Ranks of the interval for (size, level, confidence).

    Returns
    -------
    Plan
        The smallest size at which the expected interval of the median lies within ``relative``; ``needed`` is ``None``
        if all runs together are not enough.

    Notes
    -----
    CONFIRM (Maricq et al., OSDI 2018) without its Monte Carlo noise.
    """
    import numpy as np

    pilot = run_values(values, value)
    runs = len(pilot.values)
    what, method = f"runs for a median within ±{100 * relative:g} %", "exact CONFIRM (closed form over all subsets)"
    codes = list(refusals([values], value))
    if not codes and runs <= smallest:
        codes = ["few_clusters"] if runs else ["no_values"]
    if not codes and pilot.values.min() <= 0:
        codes = ["not_positive"]
    plan = Plan(
        what=what, done=runs, unit="runs", confidence=confidence, method=method, codes=tuple(codes),
        run_ids=pilot.run_ids,
    )  # fmt: skip
    if codes:
        return plan
    median = float(np.median(pilot.values))
    for size in range(smallest, runs + 1):
        _, low, high = expected_bounds(pilot.values, size, confidence, ranks)
        if max(median - low, high - median) <= relative * median:
            return replace(plan, needed=size, low=size, high=size)
    return replace(plan, low=runs + 1)


def confirm_by_path(
    runs: pd.DataFrame, relative: float = 0.05, *, value: str | None = None, confidence: float = 0.95
) -> Results[Plan]:
    """Return `confirm` for each path and method.

    Parameters
    ----------
    runs : DataFrame
        One row per run, as returned by `azlatency.latency` or `azlatency.throughput`.
    relative : float
        Relative half-width to reach; ``0.05`` is ±5 %.
    value : str, optional
        Column with one number per run, for example ``"p99_ns"``; by default the median, else the mean, else the
        throughput of a method.
    confidence : float
        Level of the intervals, between 0 and 1.

    Returns
    -------
    Results[Plan]
        One plan per path and method, with both as labels.

    Notes
    -----
    See `confirm`.
    """
    check_columns(runs, "path", "method")
    plans = []
    for method, of_method in runs.groupby("method", sort=False) if len(runs) else ():
        column = value_column(of_method, value)
        for path, group in of_method[of_method[column].notna()].groupby("path", sort=False):
            plan = confirm(group, relative, confidence=confidence, value=column)
            plans.append(replace(plan, labels={"path": path, "method": method}))
    return Results(plans)
