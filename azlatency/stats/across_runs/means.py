"""The typical run of a path: Student's t on the logarithms of run values.

Runs are the replicates, not packets. Pooled packets of five runs with a 5 % run effect yield a "95 %" interval that
covers the truth one time in six; t on the five run values covers it 94 % of the time.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from azlatency.stats.across_runs.run_values import refusals, run_values, unit_of, value_column
from azlatency.stats.result import Estimate, Results

if TYPE_CHECKING:
    import pandas as pd

    from azlatency.stats.across_runs.run_values import RunData

METHOD = "Student t on the logarithms of run values (geometric mean)"


def typical_run(
    values: RunData,
    *,
    value: str | None = None,
    unit: str | None = None,
    confidence: float = 0.95,
    what: str = "typical run",
    labels: Mapping[str, object] | None = None,
) -> Estimate:
    """Estimate the typical run of a path: the geometric mean of its run values with its interval.

    Parameters
    ----------
    values : array-like or DataFrame
        One positive number per run in ``unit``, or runs of one path and method with the column ``value``. Missing
        values are left out and counted.
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

    Returns
    -------
    Estimate
        Not estimable for one run (``no_replication``), for values that are not positive, and for runs that must not be
        pooled (``unit_conflict``, ``type_p_mismatch`` …). Two runs are flagged ``two_runs``.

    Notes
    -----
    Student's t on the logarithms of the run values; it assumes that the runs are exchangeable.

    Examples
    --------
    >>> print(typical_run([450e3, 440e3, 460e3]))
    typical run: 450 µs, 95 % CI 426–475 µs, 3 runs
    """
    values = values if hasattr(values, "__len__") else list(values)
    run_set = run_values(values, value, unit)
    numbers, unit = [float(number) for number in run_set.values], run_set.unit or "ns"
    runs = len(numbers)
    missing = ("missing",) if run_set.missing else ()

    def result(estimate: float | None, low: float | None, high: float | None, *codes: str) -> Estimate:
        return Estimate(
            what=what,
            estimate=estimate,
            low=low,
            high=high,
            unit=unit,
            n=runs,
            scope="across_runs",
            confidence=confidence,
            method=METHOD,
            codes=(*missing, *codes),
            labels=dict(labels or {}),
            n_effective=float(runs),
            assumptions=("runs are exchangeable",),
            diagnostics={"missing": run_set.missing},
            run_ids=run_set.run_ids,
        )

    if unpoolable := refusals([values], value):
        # A run that lost most of its probes counts as a run, although its value is infinite.
        return replace(result(None, None, None, *unpoolable), codes=unpoolable, n=runs + run_set.endless)
    if not numbers:
        return result(None, None, None, "no_values")
    if any(number <= 0 for number in numbers):
        return result(None, None, None, "not_positive")
    if runs == 1:
        return result(None, None, None, "no_replication")
    logs = [math.log(number) for number in numbers]
    mean = math.fsum(logs) / runs
    spread = math.sqrt(math.fsum((log - mean) ** 2 for log in logs) / (runs - 1))
    from scipy.stats import t

    half = float(t.ppf((1 + confidence) / 2, runs - 1)) * spread / math.sqrt(runs)
    codes = (("two_runs",) if runs == 2 else ()) + (("constant",) if spread == 0 else ())
    return result(math.exp(mean), math.exp(mean - half), math.exp(mean + half), *codes)


def summarize(
    runs: pd.DataFrame,
    value: str | None = None,
    *,
    by: str | Sequence[str] = "path",
    unit: str | None = None,
    confidence: float = 0.95,
) -> Results[Estimate]:
    """Summarize runs across repeats: the typical run of each path and method, with its interval.

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
        Canonical unit of the column; by default the unit of a known column, else ``"ns"``.
    confidence : float
        Level of the intervals, between 0 and 1.

    Returns
    -------
    Results[Estimate]
        One estimate per group, in order of appearance. Labels: the grouping columns and ``placement``.

    Raises
    ------
    KeyError
        If a column does not exist. The message lists the columns.

    Notes
    -----
    See `typical_run` for the method.

    Examples
    --------
    >>> import pandas as pd
    >>> runs = pd.DataFrame({"path": "a → b", "method": "ping", "median_ns": [450e3, 440e3, 460e3]})
    >>> print(summarize(runs))
    a → b, ping: 450 µs, 95 % CI 426–475 µs, 3 runs
    """
    keys = list(dict.fromkeys([*([by] if isinstance(by, str) else by), "method"]))
    if value is not None:
        runs = runs[runs[value_column(runs, value)].notna()]
    columns = {method: value_column(group, value) for method, group in runs.groupby("method", sort=False)}
    estimates = []
    for group_keys, group in runs.groupby(keys, sort=False):
        labels = dict(zip(keys, group_keys, strict=True))
        column = columns[labels["method"]]
        measured = group[group[column].notna()]
        if not len(measured):
            continue
        if "placement" in measured.columns:
            labels["placement"] = measured["placement"].iloc[0]
        estimates.append(
            typical_run(
                measured, value=column, unit=unit or unit_of(column) or "ns", confidence=confidence,
                what=", ".join(map(str, group_keys)), labels=labels,
            )
        )  # fmt: skip
    return Results(estimates)
