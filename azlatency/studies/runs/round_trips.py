"""One row per run that measured round-trip times."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from azlatency.logs.schema import ROUND_TRIP, document
from azlatency.logs.tables import Logs
from azlatency.studies.runs.groups import grouped
from azlatency.studies.runs.run_table import (
    STEP,
    client_runs,
    frequency_tables,
    once_per_study,
    refuse_doubtful,
    whole_run_rows,
    whole_run_values,
)
from azlatency.studies.runs.samples import arrays_by_run, class_middle, median, order_statistic
from azlatency.studies.store.study import Study

#: The first part of the names of a quantity's metrics.
_METRICS = {ROUND_TRIP: "rtt", "connect": "connect"}
#: Mean transactions in flight up to which a test counts as one at a time; the least burst has 2.
_MOST_OUTSTANDING = 1.05
_MILLISECOND = 10**6


def latency(study: Study | Logs, *, quantity: str = ROUND_TRIP, percentiles: Sequence[float] = ()) -> pd.DataFrame:
    """Return one row per run that measured round-trip times, or the times to open a connection.

    Parameters
    ----------
    study : Study or Logs
        An imported study or parsed logs.
    quantity : {"round_trip", "connect"}
        What was measured. The time to open a connection (PsPing) is longer than a round trip, and is never pooled or
        compared with one.
    percentiles : sequence of float
        Further percentiles of each run, such as ``(99.9, 99.99)``: columns ``p99.9_ns`` and ``p99.9_ns_resolution``.

    Returns
    -------
    DataFrame
        The columns of `azlatency.studies.run_table`, and for each run:

        - ``n``: number of replies;
        - ``mean_ns``, ``median_ns``, ``p99_ns``, ``max_ns``: times of the quantity in ns, ``float64``;
        - ``mean_from``: ``"printed"``, or ``"rate"`` (of transactions, one at a time);
        - ``median_from``: ``"printed"``, ``"samples"`` or ``"classes"`` (of a frequency table);
        - ``received``: printed number of replies;
        - ``mean_ns_resolution``, ``median_ns_resolution``, ``p99_ns_resolution``: step of the printed value or, of
          a value from samples, the step in which the tool prints them, in ns (1,000,000 for ping of Windows).

        The column types are those of `azlatency.Study`: numbers are ``float64`` if they can be missing.

    Notes
    -----
    The median and the 99th percentile are those that the tool prints, or else those of the samples, or else the middle
    of the class of a frequency table. The mean is the printed one, or else one second divided by the rate of
    transactions if only one was outstanding (netperf's classic tables); that one includes what the client does between
    two transactions and stalls. A lost probe counts as infinite (RFC 2681): a run that lost more than half of its
    probes has an infinite median. The median is missing if only its bounds are known: ``time<1ms`` of Windows, or a
    class that is wider than its middle value, such as 0 to 1 ms.
    ``p99_ns`` is missing for fewer than 100 probes, because it would be the sample maximum; likewise ``p99.9_ns`` for
    fewer than 1,000.

    Examples
    --------
    >>> import azlatency as az
    >>> runs = az.latency(az.load("westeurope-azure-cni"))
    >>> print(runs[["path", "method", "mean_ns"]].head(2).to_string(index=False))
           path            method  mean_ns
    Single node     qperf tcp_lat  33800.0
    Single node sockperf TCP 14 B  33582.0
    """
    if quantity not in _METRICS:
        raise ValueError(f"quantity {quantity!r} is not one of {', '.join(_METRICS)}")
    if wrong := [p for p in percentiles if not 0 < p < 100]:
        raise ValueError(f"percentile {wrong[0]:g} is not between 0 and 100; write 99.9 for the 99.9th percentile")
    runs = _latency(study, quantity, tuple(dict.fromkeys(percentiles)))
    return document(runs, "runs", "run_table", "latency")


@once_per_study
def _latency(study: Study | Logs, quantity: str, percentiles: tuple[float, ...]) -> pd.DataFrame:
    prefix = _METRICS[quantity]
    quantiles = {"median_ns": 0.5, "p99_ns": 0.99}
    quantiles |= {f"p{percentile:g}_ns": round(percentile / 100, 12) for percentile in percentiles}
    runs = client_runs(study)
    metrics = study.metrics
    for column, metric in (
        ("mean_ns", f"{prefix}_mean"),
        ("n", "observations"),
        ("received", "received"),
        ("max_ns", f"{prefix}_max"),
    ):
        runs[column] = whole_run_values(metrics, metric).reindex(runs.index)
    runs["mean_ns_resolution"] = STEP * whole_run_values(metrics, f"{prefix}_mean", "resolution").reindex(runs.index)
    runs["mean_from"] = pd.Series("printed", runs.index, dtype="str").where(runs["mean_ns"].notna())
    if quantity == ROUND_TRIP:
        _fill_from_rates(metrics, runs)
    table = study.quantiles[study.quantiles["metric"] == prefix]
    # The 99th percentile of fewer than 100 probes has no probe beyond it.
    beyond = ~(table["beyond"] < 1 - 1e-9) & table["resolved"].fillna(True).astype(bool)
    resolved = table[(table["q"] <= 0.5) | beyond]
    for column, q in quantiles.items():
        of_q = resolved[(resolved["q"] - q).abs() < 1e-9]
        printed = of_q.drop_duplicates("run_id").set_index("run_id").reindex(runs.index)
        runs[column], runs[f"{column}_resolution"] = printed["value_ns"], STEP * printed["resolution_ns"]
    has_median = runs["median_ns"].notna()
    runs["median_from"] = pd.Series("printed", runs.index, dtype="str").where(has_median)
    without_median = _fill_from_samples(study, runs, quantity, quantiles)
    _fill_from_classes(frequency_tables(study, prefix), runs, quantiles)
    runs["n"] = runs["n"].fillna(runs["received"])
    # A run whose replies are all interval-censored has neither a mean nor a median, but it has percentiles.
    runs = runs[runs["mean_ns"].notna() | runs["median_ns"].notna() | runs.index.isin(without_median)]
    return refuse_doubtful(runs, runs["median_ns"].fillna(runs["mean_ns"]))


def has_times(study: Study | Logs, quantity: str) -> bool:
    """Whether a log has a time of the quantity: few studies have times to open a connection."""
    prefix = _METRICS[quantity]
    return bool(
        (study.metrics["metric"] == f"{prefix}_mean").any()
        or (study.quantiles["metric"] == prefix).any()
        or (study.histograms["metric"] == prefix).any()
        or (study.samples["quantity"] == quantity).any()
    )


def one_outstanding(rtt_ns: float | None, rate: float | None) -> bool:
    """Whether round-trip time and rate of transactions are each other's inverse: no burst was in flight."""
    return rtt_ns is not None and rate is not None and abs(rtt_ns * rate / 1e9 - 1) < _MOST_OUTSTANDING - 1


def _fill_from_rates(metrics: pd.DataFrame, runs: pd.DataFrame) -> None:
    """Complete the mean by the time that the rate of transactions implies, where only one was outstanding."""
    if not (metrics["metric"] == "rtt_from_rate").any():
        return
    rates, times = whole_run_rows(metrics, "transaction_rate"), whole_run_rows(metrics, "rtt_from_rate")
    for run_id in times.index.intersection(runs.index[runs["mean_ns"].isna()]).intersection(rates.index):
        value = float(times.at[run_id, "value"])
        if one_outstanding(value, float(rates.at[run_id, "value"])):
            resolution = STEP * times.at[run_id, "resolution"]
            runs.loc[run_id, ["mean_ns", "mean_ns_resolution", "mean_from"]] = [value, resolution, "rate"]


def _fill_from_samples(
    study: Study | Logs, runs: pd.DataFrame, quantity: str, quantiles: Mapping[str, float]
) -> set[str]:
    """Compute the quantiles that a run did not print; return the runs with replies but without a printed median."""
    without = {column: set(runs.index[runs[column].isna()]) for column in quantiles}
    answered, steps = set(), _Steps()
    # Set together: each assignment to a column of text copies it.
    found: dict[str, dict[str, object]] = {name: {} for name in ("n", *quantiles, "median_from")}
    tools = dict(zip(runs.index, runs["tool"], strict=True))
    incomplete = runs[runs[list(quantiles)].isna().any(axis=1)]
    for run_id, samples in arrays_by_run(study, incomplete, quantity).items():
        _, low, high = samples
        replies = int(np.isfinite(low).sum())
        if run_id in without["median_ns"]:
            found["n"][run_id] = float(replies)
        # A run without any reply did not measure an infinite latency.
        if not replies:
            continue
        steps.add(tools[run_id], low)
        for column, q in quantiles.items():
            if run_id in without[column] and column != "median_ns" and len(low) * (1 - q) >= 1 - 1e-9:
                least, most = (order_statistic(np.sort(end), q) for end in (low, high))
                found[column][run_id] = least if least == most else math.nan
        if run_id in without["median_ns"]:
            answered.add(run_id)
            if not math.isnan(middle := median(samples)):
                found["median_ns"][run_id], found["median_from"][run_id] = middle, "samples"
    for column in quantiles:
        found[f"{column}_resolution"] = {run_id: steps.of(tools[run_id]) for run_id in found[column]}
    for column, values in found.items():
        if values:
            runs.loc[list(values), column] = list(values.values())
    return answered


class _Steps:
    """The step in which each tool prints round-trip times, from the samples of all its runs."""

    def __init__(self) -> None:
        self._steps: dict[str, int] = {}
        self._several: set[str] = set()

    def add(self, tool: str, times: NDArray[np.float64]) -> None:
        """Add the times of a run in ns; infinite ones do not count."""
        finite = times[np.isfinite(times)].astype(np.int64)
        self._steps[tool] = int(np.gcd.reduce(finite, initial=self._steps.get(tool, 0)))
        if len(finite) and finite.min() != finite.max():
            self._several.add(tool)

    def of(self, tool: str) -> float:
        """Return the largest step in ns of which all times are multiples; at most 1 ms if all of them are equal."""
        step = self._steps[tool]
        return float(step if tool in self._several or step % _MILLISECOND else _MILLISECOND)


def _fill_from_classes(classes: pd.DataFrame, runs: pd.DataFrame, quantiles: Mapping[str, float]) -> None:
    """Complete the quantiles by the middle of their classes in a frequency table."""
    incomplete = runs[runs[list(quantiles)].isna().any(axis=1)]
    for run_id, table in grouped(classes[classes["run_id"].isin(incomplete.index)], "run_id"):
        ordered = table.sort_values("low_ns").astype({"low_ns": "float64", "high_ns": "float64"})
        totals = ordered["count"].cumsum()
        n = int(totals.iloc[-1])
        for column, q in quantiles.items():
            row = ordered.iloc[int(totals.searchsorted(math.ceil(n * q - 1e-9)))] if n else None
            unresolved = q > 0.5 and n * (1 - q) < 1 - 1e-9
            if row is None or unresolved or math.isfinite(float(runs.at[run_id, column])):
                continue
            middle = class_middle(row["low_ns"], row["high_ns"])
            if math.isnan(middle):
                continue
            runs.loc[run_id, column] = middle
            if column == "median_ns":
                runs.loc[run_id, "median_from"] = "classes"
