"""The typical run of a path: the median run, with an interval across runs.

The estimand is the median over all runs that the path would give: half of them are slower. From six runs on, the
interval of interpolated order statistics holds for every distribution of independent runs: clusters, slow runs and long
tails included. Fewer runs have no such interval; theirs is Student's t on logarithms, flagged, with a spread that all
paths of one test show together (`shared_spread`). Both are widened for what neighbouring runs have in common
(`run_order`).

Sources: Le Boudec, Performance Evaluation, EPFL Press 2010, theorem 2.1; Hettmansperger & Sheather, Statistics &
Probability Letters 4:75 (1986), interpolation.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from scipy.special import bdtr, stdtrit

from azlatency.stats.across_runs.log_ratio import spreads_of_pairs
from azlatency.stats.across_runs.run_order import WIDENING, RunOrder, run_order, warm_up
from azlatency.stats.across_runs.run_values import (
    VALUE_COLUMNS,
    RunData,
    RunValues,
    check_columns,
    is_frame,
    refusals,
    run_values,
    unit_of,
    value_column,
    without_value,
)
from azlatency.stats.across_runs.shared_spread import CLOSE, SharedSpread
from azlatency.stats.across_runs.two_groups import student_interval
from azlatency.stats.arrays import FloatArray
from azlatency.stats.rows import ESTIMATE, Row, blank_estimate, joined
from azlatency.stats.within_run.order_statistics import order_statistic_ranks
from azlatency.studies.runs.groups import grouped
from azlatency.studies.runs.left_out import cut_in_words, has_complete_repeat

#: Reasons against an estimate that leave the values of the runs comparable: their range describes them.
_DESCRIBED = frozenset({"no_replication", "incomplete_runs", "overlapping_runs", "doubtful_number"})
RANK_METHOD = "median run; interval of interpolated order statistics (Hettmansperger & Sheather 1986)"
T_METHOD = "median run; Student t on the logarithms of run values"
SHARED_METHOD = f"{T_METHOD}, with a variance moderated over paths (Smyth 2004)"
#: Fewest runs whose range covers the median in at least 95 % of cases (96.9 %).
FEWEST_FOR_RANKS = 6
#: A run of three to five lies far out if its distance to the others is this unlikely under their t prediction.
_FAR_OUT = 0.01


def median_ends(logs: FloatArray, confidence: float) -> tuple[FloatArray, FloatArray] | None:
    """Return the order-statistic interval of the median of each sample (last axis) of independent logarithms.

    Exact ranks attain more than the confidence, so the ends are interpolated with the next order statistics. ``None``
    for too few values. The intervals hold for every distribution.
    """
    ordered, n = np.sort(logs, axis=-1), logs.shape[-1]
    rank, _ = order_statistic_ranks(n, 0.5, confidence)
    if rank < 1:
        return None
    weight = 0.0
    if rank + 1 <= n - rank:
        attained, inner = (float(share) for share in 1 - 2 * bdtr([rank - 1, rank], n, 0.5))
        share = (attained - confidence) / (attained - inner)
        weight = (n - rank) * share / (rank + (n - 2 * rank) * share)
    low, high = (
        (1 - weight) * ordered[..., place] + weight * ordered[..., place + step]
        for place, step in ((rank - 1, 1), (n - rank, -1))
    )
    return low, high


def typical_run(
    values: RunData,
    *,
    value: str | None = None,
    unit: str | None = None,
    confidence: float = 0.95,
    what: str = "typical run",
    labels: Mapping[str, object] | None = None,
) -> Row:
    """Return the row of the typical run of a path, the median run with its interval; see `summarize`.

    ``values`` in ``unit`` must be positive; of six or more counts or rates, some may be 0. Half a step of the printed
    values is added at each end. ``lowest`` and ``highest`` describe one run, or the runs of an unknown path;
    ``warm_up_runs`` of dependent runs: how many first runs all lie on one side of every later run.

    >>> row = typical_run([604, 582, 624, 611, 590, 4510], unit="µs")
    >>> (row["estimate"], round(row["low"], 1), round(row["high"], 1), row["flags"])
    (607.5, 582.6, 2533.8, '')
    """
    if isinstance(values, Iterator):
        values = list(values)
    run_set = run_values(values, value, unit)
    return _typical_run(PathRuns(what, labels or {}, run_set, (), refusals([values], value)), confidence, None)


def _typical_run(path: PathRuns, confidence: float, spread: SharedSpread | None) -> Row:
    """Return the typical run of a path; without an estimate if its runs must not be pooled."""
    run_set, flags = path.values, path.refused
    runs = len(run_set.values)
    if not flags and not runs:
        flags = ("no_values",)
    elif runs == 1 and {"incomplete_runs"}.issuperset(flags):
        flags = ("no_replication", *flags)
    elif not flags and not _is_usable(run_set):
        flags = ("not_positive",)
    missing = ("missing",) if run_set.missing and "loss_censored" not in flags else ()
    row = blank_estimate(
        path.what,
        run_set.unit or ("" if run_set.column else "ns"),
        # A run that lost most of its probes counts as a run, although its value is infinite.
        runs + run_set.endless if flags else runs,
        confidence,
        RANK_METHOD if runs >= FEWEST_FOR_RANKS else T_METHOD,
        scope="across_runs",
        labels=path.labels,
        numbers=DIAGNOSTICS,
    )
    remarks = {"assumed": " ".join(run_set.assumed), "notes": "\n".join(run_set.notes)}
    row |= {"flags": joined(missing, flags), **remarks, "run_ids": " ".join(run_set.run_ids)}
    if not flags:
        return row | _estimate(run_set, missing, confidence, spread)
    if runs and not run_set.endless and _DESCRIBED.issuperset(flags):
        row |= {"lowest": float(run_set.values.min()), "highest": float(run_set.values.max())}
    return row


def _is_usable(run_set: RunValues) -> bool:
    """Return whether all values are positive; from six runs on, a count or a rate may be 0."""
    lowest, may_be_zero = float(run_set.values.min()), run_set.unit not in ("", "ns")
    return lowest > 0 or (lowest == 0 and may_be_zero and len(run_set.values) >= FEWEST_FOR_RANKS)


def _estimate(run_set: RunValues, missing: tuple[str, ...], confidence: float, spread: SharedSpread | None) -> Row:
    """Return the columns of the median run of at least two positive values, with its interval."""
    x, step = run_set.values, run_set.resolution / 2
    runs, flags = len(x), list(missing)
    order = run_order(x) if run_set.in_order else RunOrder()
    found: Row = {"estimate": float(np.median(x)), "lag1": order.lag1, "lag1_p": order.p}
    interval: tuple[float, float] | None
    if x.min() == x.max():
        flags.append("constant")
        # Without a known resolution, equal values say nothing about the spread of the runs.
        interval = (float(x[0]), float(x[0])) if step else None
    elif runs >= FEWEST_FOR_RANKS:
        interval = _median_interval(x, confidence)
        if order.drifts:
            flags.append("dependent_runs")
            found["warm_up_runs"] = warm_up(x)
    else:
        interval = _t_interval(x, confidence)
        flags.append("two_runs" if runs == 2 else "few_runs")
        if runs > 2 and _lies_far_out(x):  # of two, neither lies far from "the others"
            flags.append("outlying_run")
    if spread is not None and runs < FEWEST_FOR_RANKS:
        longer = _shared_interval(x, spread, confidence, interval)
        if longer is not None:
            interval, found["statistic"] = longer, SHARED_METHOD
            flags.append("close_runs")
    if interval is not None:
        # Neither a time nor a rate is negative, however coarse its print.
        found |= {"low": max(interval[0] - step, 0.0), "high": interval[1] + step}
    return found | {"flags": joined(flags)}


def _median_interval(x: FloatArray, confidence: float) -> tuple[float, float] | None:
    # Counts, of which some may be 0, have no logarithms.
    positive = x.min() > 0
    values = np.log(x) if positive else x
    ends, middle = median_ends(values, confidence), float(np.median(values))
    if ends is None:
        return None
    low, high = (middle + WIDENING * (float(end) - middle) for end in ends)
    return (math.exp(low), math.exp(high)) if positive else (max(low, 0.0), high)


def _t_interval(x: FloatArray, confidence: float) -> tuple[float, float] | None:
    logs = np.log(x)
    ends, middle = student_interval(logs, confidence), float(logs.mean())
    if ends is None:
        return None
    low, high = (math.exp(middle + WIDENING * (end - middle)) for end in ends)
    return low, high


def _shared_interval(
    x: FloatArray, spread: SharedSpread, confidence: float, own: tuple[float, float] | None
) -> tuple[float, float] | None:
    """Return the interval with the moderated variance if the runs agree closely by chance and it is the longer one."""
    logs = np.log(x)
    variance, degrees = float(logs.var(ddof=1)), len(x) - 1
    if own is None or spread.share_below(variance, degrees) > CLOSE:
        return None
    moderated, df = spread.moderated(variance, degrees)
    reach = WIDENING * float(stdtrit(df, (1 + confidence) / 2)) * math.sqrt(moderated / len(x))
    middle = float(logs.mean())
    low, high = math.exp(middle - reach), math.exp(middle + reach)
    return (low, high) if low < own[0] else None


def _lies_far_out(x: FloatArray) -> bool:
    """Return whether the run farthest from the median lies outside the t prediction interval of the others (logs)."""
    logs = np.log(x)
    if len(logs) < 4:
        # Two others do not show how much runs vary.
        return bool(logs.max() - logs.min() > math.log(2))
    far = int(np.abs(logs - np.median(logs)).argmax())
    others = np.delete(logs, far)
    width = float(others.std(ddof=1)) * math.sqrt(1 + 1 / len(others))
    return bool(abs(logs[far] - others.mean()) > width * float(stdtrit(len(others) - 1, 1 - _FAR_OUT / 2)))


#: What a summary says of the runs besides their median.
DIAGNOSTICS = ("lowest", "highest", "lag1", "lag1_p", "warm_up_runs")
_SHARED = ("scope", "confidence", "statistic", "flags", "assumed", "notes", "run_ids")


def summarize(
    runs: RunData,
    value: str | None = None,
    *,
    by: str | Sequence[str] = "path",
    unit: str | None = None,
    confidence: float = 0.95,
) -> pd.DataFrame:
    """Summarize runs across repeats: the typical run (the median run) of each path and method, with its interval.

    Parameters
    ----------
    runs : DataFrame, Series or array_like
        One row per run, as returned by `azlatency.latency` or `azlatency.throughput`; or one number per run of one
        path, in ns or in ``unit``.
    value : str, optional
        Column with one number per run; runs without it are left out. By default the first of median, mean and
        throughput that every group of a method has; groups that have none in common show their own first one.
    by : str or sequence of str
        Columns to group by. Runs of different methods are never pooled, so ``method`` is always added.
    unit : str, optional
        Canonical unit of the column; by default the one that its name implies, such as ``"bit/s"`` for
        ``throughput_bit_s``, otherwise none.
    confidence : float
        Level of the intervals, between 0 and 1.

    Returns
    -------
    DataFrame
        One row per group, in order of appearance: the grouping columns, ``estimate`` (the median run, in ``unit``) with
        ``low`` and ``high``, ``n`` runs, ``lowest`` and ``highest`` run, ``lag1`` and ``lag1_p`` (autocorrelation of
        runs in the order of measuring), ``warm_up_runs``, ``flags``, ``assumed``, ``notes``, ``run_ids`` and ``value``,
        the column that was summarized. An estimate is missing if it is not estimable: of one run (``no_replication``),
        of values that are not positive, and of runs that must not be pooled (``unit_conflict``, ``type_p_mismatch`` …).
        Two to five runs are flagged ``few_runs``, a run far from the others ``outlying_run``, runs that resemble their
        neighbours in time ``dependent_runs``, and few runs that agree more closely than those of other paths, and have
        their interval from the variance of all paths, ``close_runs``. Equal values (``constant``) have an interval only
        if their resolution is known.

    Raises
    ------
    KeyError
        If a column does not exist. The message contains the most similar name and all columns.

    Notes
    -----
    From six runs: interpolated order statistics, which assume nothing about the distribution of runs (Hettmansperger &
    Sheather 1986). Fewer runs: Student's t on the logarithms of the run values; paths of one method show together how
    much runs vary. The interval is 1.1 times as long as that of independent runs, so that it allows for an
    autocorrelation of 0.3 between neighbours. Different tools, tests, packets or rates are never pooled.

    Examples
    --------
    >>> import pandas as pd
    >>> times = [450e3, 440e3, 460e3, 455e3, 447e3, 452e3]
    >>> found = summarize(pd.DataFrame({"path": "a → b", "method": "ping", "median_ns": times}))
    >>> print(found[["what", "estimate", "low", "high"]].round().to_string(index=False))
           what  estimate      low     high
    a → b, ping  451000.0 441645.0 458935.0
    """
    if not is_frame(runs):
        return pd.DataFrame([typical_run(runs, unit=unit, confidence=confidence) | {"value": ""}])
    keys = list(dict.fromkeys([*([by] if isinstance(by, str) else by), "method"]))
    check_columns(runs, *keys)
    columns_of_none = [*keys, *ESTIMATE, *DIAGNOSTICS, *_SHARED, "value"]
    if not len(runs):
        return pd.DataFrame(columns=columns_of_none)
    cut = has_complete_repeat(runs, keys)
    of_cut = {group_keys: cut_in_words(group) for group_keys, group in grouped(runs[cut], keys)}
    runs = runs[~cut]
    if value is not None:
        runs = runs[runs[value_column(runs, value)].notna()]
    columns = {method: _common_column(group, keys, value) for method, group in grouped(runs, "method")}
    groups: list[PathRuns] = []
    for group_keys, group in grouped(runs, keys):
        labels = dict(zip(keys, group_keys, strict=True))
        column = columns[labels["method"]]
        known = group[column].notna()
        if not known.any():
            own = [name for name in _known(group) if group[name].notna().any()] if value is None else []
            if not own:
                continue
            column = own[0]
            known = group[column].notna()
        measured = group if known.all() else group[known]
        if "placement" in measured.columns:
            labels["placement"] = measured["placement"].iloc[0]
        values, refused = run_values(measured, column, unit or unit_of(column)), refusals([measured], column)
        missing = without_value(len(group) - len(measured), column) if value is None else ()
        values = replace(values, notes=(*values.notes, *of_cut.get(group_keys, ()), *missing))
        kind = kind_of_test(measured, labels["method"])
        groups.append(PathRuns(", ".join(map(str, group_keys)), labels, values, kind, refused))
    rows = typical_runs(groups, confidence)
    found = [row | {"value": group.values.column} for row, group in zip(rows, groups, strict=True)]
    return pd.DataFrame(found, columns=None if found else columns_of_none)


def _known(runs: pd.DataFrame) -> Iterator[str]:
    """Yield the columns of runs that may have one number per run."""
    return (column for column in VALUE_COLUMNS if column in runs.columns)


def _common_column(runs: pd.DataFrame, keys: Sequence[str], value: str | None) -> str:
    """Return the column of a method that is summarized: one that all of its groups have, if there is one."""
    if value is None:
        for column in _known(runs):
            if runs[column].notna().groupby([runs[key] for key in keys], dropna=False).any().all():
                return column
    return value_column(runs, value)


class PathRuns(NamedTuple):
    """Runs of one path: name, values, kind of test, and the flags of the reasons why they must not be pooled."""

    what: str
    labels: Mapping[str, Any]
    values: RunValues
    kind: tuple[str, ...] = ()
    refused: tuple[str, ...] = ()


def kind_of_test(runs: pd.DataFrame, method: str) -> tuple[str, ...]:
    """Return what the runs of paths must have in common to show each other's spread: method, packets and rate."""
    return (method, *(str(runs[name].iloc[0]) for name in ("tool", "test", "protocol") if name in runs.columns))


def typical_runs(paths: Sequence[PathRuns], confidence: float = 0.95) -> list[Row]:
    """Return the typical run of each path; all paths of one kind show how much runs vary."""
    # Runs that must not be pooled show nothing, so they are of a kind of their own.
    spreads = spreads_of_pairs([(path.values,) for path in paths], [(path.refused, path.kind) for path in paths])
    return [_typical_run(path, confidence, spread) for path, spread in zip(paths, spreads, strict=True)]
