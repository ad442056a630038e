"""Arrays of round-trip times in ns from the samples of runs.

Three cases are kept apart. A lost probe has an infinite round-trip time (RFC 2681). A reply whose round-trip time is
known only within bounds (``time<1ms`` of Windows ping) is interval-censored: it is neither lost nor a number. Warm-up
probes, duplicates and void samples do not count.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
from numpy.typing import NDArray

from azlatency.logs.schema import ROUND_TRIP, UNCOUNTED
from azlatency.logs.tables import Logs
from azlatency.studies.runs.groups import grouped
from azlatency.studies.store.study import Study
from azlatency.studies.store.tables import TABLE_FILES


def select_quantity(samples: pd.DataFrame, quantity: str = ROUND_TRIP) -> pd.DataFrame:
    """Return the samples of one quantity, with its times as ``rtt_ns``; without a column quantity all round trips."""
    measured = samples["quantity"].fillna(ROUND_TRIP) == quantity if "quantity" in samples.columns else None
    if measured is not None and not measured.all():
        samples = samples[measured]
    return samples if quantity == ROUND_TRIP else samples.assign(rtt_ns=samples["time_ns"])


def counted(samples: pd.DataFrame, quantity: str = ROUND_TRIP) -> pd.DataFrame:
    """Return the samples of one quantity that count: no warm-up, duplicates or void samples.

    Without a column ``status``, all count.
    """
    samples = select_quantity(samples, quantity)
    if "status" not in samples.columns:
        return samples
    return samples[~samples["status"].fillna("ok").isin(UNCOUNTED)]


def sample_count(study: Study) -> int:
    """Return the number of samples of a study without reading them."""
    return sum(pq.read_metadata(path).num_rows for path in (study.folder / "samples").glob(f"tool=*/{TABLE_FILES}"))


def select_one_run(samples: pd.DataFrame) -> pd.DataFrame:
    """Return the counted samples of a frame with a single run; raise `ValueError` for other frames."""
    if "rtt_ns" not in samples.columns:
        raise ValueError(f"the frame has no column rtt_ns; its columns are {', '.join(map(str, samples.columns))}")
    if "run_id" in samples.columns and samples["run_id"].nunique() > 1:
        raise ValueError(f"samples of {samples['run_id'].nunique()} runs: select one by its run_id")
    return counted(samples)


def _of_runs(study: Study | Logs, run_ids: pd.Index, quantity: str = ROUND_TRIP) -> pd.DataFrame:
    """Return the counted samples of some runs."""
    samples = study.samples
    return counted(samples[samples["run_id"].isin(run_ids)], quantity)


class RunSamples(NamedTuple):
    """The counted samples of one run as arrays in ns: round-trip times, ``inf`` if unknown, and their `bounds`."""

    values: NDArray[np.float64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]


def arrays_by_run(study: Study | Logs, runs: pd.DataFrame, quantity: str = ROUND_TRIP) -> dict[str, RunSamples]:
    """Return the counted samples of each run (index: run_id) that has samples, in the order of ``runs``.

    As arrays: a frame for each of many runs takes longer than to read them.
    """
    wanted = runs.index.astype(str)
    samples = _of_runs(study, wanted, quantity)
    codes, run_ids = samples["run_id"].factorize()
    places = wanted.get_indexer(run_ids)[codes]
    order = np.argsort(places, kind="stable")
    columns = [column[order] for column in (_numbers(samples["rtt_ns"], np.inf), *bounds(samples))]
    edges = np.searchsorted(places[order], np.arange(len(wanted) + 1))
    return {
        run_id: RunSamples(*(column[begin:end] for column in columns))
        for run_id, begin, end in zip(wanted, edges, edges[1:], strict=False)
        if begin < end
    }


def numbered_by_run(study: Study | Logs, runs: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Return the counted samples of each run that has samples, in the order of ``runs``, as frames.

    Runs with interval-censored replies are left out; `azlatency.quantiles` uses the bounds of such replies.
    """
    wanted = runs.index.astype(str)
    groups = {str(run_id): group for run_id, group in grouped(_of_runs(study, wanted), "run_id")}
    return {run_id: groups[run_id] for run_id in wanted if run_id in groups and not bounded(groups[run_id]).any()}


def bounded(samples: pd.DataFrame) -> NDArray[np.bool_]:
    """Return which samples are interval-censored replies, as an array of bool of shape (n,)."""
    if not {"low_ns", "high_ns"} <= set(samples.columns):
        return np.zeros(len(samples), dtype=bool)
    unknown, no_low, no_high = (np.isnan(_numbers(samples[name], np.nan)) for name in ("rtt_ns", "low_ns", "high_ns"))
    return unknown & ~(no_low & no_high)


def round_trips(samples: pd.DataFrame) -> NDArray[np.float64]:
    """Return round-trip times in ns as float64 of shape (n,), in the order of the samples; ``inf`` for lost probes.

    Raises `ValueError` if a reply is interval-censored, because any number for it would be a guess.
    """
    if (censored := int(bounded(samples).sum())) > 0:
        raise ValueError(f"only bounds are known of {censored} of {len(samples)} round-trip times; use az.quantiles")
    return _numbers(samples["rtt_ns"], float("inf"))


def bounds(samples: pd.DataFrame) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the lower and upper bounds of all round-trip times in ns, two float64 arrays of shape (n,).

    Both bounds of a lost probe are ``inf``. A missing lower bound is 0, a missing upper bound is ``inf``.
    """
    values = _numbers(samples["rtt_ns"], np.inf)
    if not {"low_ns", "high_ns"} <= set(samples.columns):
        return values, values
    low, high = _numbers(samples["low_ns"], np.nan), _numbers(samples["high_ns"], np.nan)
    interval = ~(np.isnan(low) & np.isnan(high))
    if not interval.any():
        return values, values
    return (
        np.where(interval, np.where(np.isnan(low), 0.0, low), values),
        np.where(interval, np.where(np.isnan(high), np.inf, high), values),
    )


def median(samples: RunSamples) -> float:
    """Return the median round-trip time in ns of the samples of one run, at least one.

    A lost probe counts as infinite. The median is NaN if its bounds differ.
    """
    censored = np.isinf(samples.values) & np.isfinite(samples.low)
    if not censored.any():
        return _middle(samples.values)
    ends = [_middle(np.where(censored, end, samples.values)) for end in (samples.low, samples.high)]
    return ends[0] if ends[0] == ends[1] else float("nan")


def _middle(values: NDArray[np.float64]) -> float:
    """Return the median of at least one value; `numpy.median` takes ten times longer for the few values of a run."""
    ordered = np.sort(values)
    return float((ordered[(len(ordered) - 1) // 2] + ordered[len(ordered) // 2]) / 2)


def class_middle(low: float, high: float) -> float:
    """Return the middle of a class of a frequency table; NaN of an open class and of one that is wider than its middle.

    Latencies of 70 µs in a class from 0 to 1 ms are not "500 µs": only their bounds are known.
    """
    middle = (low + high) / 2
    return middle if high - low <= middle else math.nan


def order_statistic(ordered: NDArray[np.float64], q: float) -> float:
    """Return the value of rank ceil(n q) of a sorted array of shape (n,)."""
    # For a decimal q, rounding can make n q slightly larger than the integer that it equals.
    return float(ordered[max(math.ceil(len(ordered) * q - 1e-9), 1) - 1])


def _numbers(column: pd.Series, missing: float) -> NDArray[np.float64]:
    """Return a column of any pandas type as float64, with `missing` for missing values."""
    values = column.to_numpy(dtype="float64", na_value=np.nan)
    return values if np.isnan(missing) else np.where(np.isnan(values), missing, values)
