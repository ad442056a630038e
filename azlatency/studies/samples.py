"""Samples of runs -> arrays of round trips in ns.

Three things must not be mixed up. A probe without answer has no round trip: it is ``inf``, later than any (RFC 2681). A
reply of which the log tells only bounds (Windows ping's ``time<1ms``) is an answer: neither lost nor a number. Warm-up,
duplicates and void samples are not counted at all.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from azlatency.logs.schema import UNCOUNTED

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd

    from azlatency.logs.tables import Logs
    from azlatency.studies.store import Study


def counted(samples: pd.DataFrame) -> pd.DataFrame:
    """The samples that count: no warm-up, no duplicates, nothing void; all of them where no status is known."""
    if "status" not in samples.columns:
        return samples
    return samples[~samples["status"].fillna("ok").isin(UNCOUNTED)]


def of_one_run(samples: pd.DataFrame) -> pd.DataFrame:
    """The counted samples of a frame that holds one run; `ValueError` for other frames, with what to do."""
    if "rtt_ns" not in samples.columns:
        raise ValueError(f"samples need the column rtt_ns, not {', '.join(map(str, samples.columns))}")
    if "run_id" in samples.columns and samples["run_id"].nunique() > 1:
        raise ValueError(f"samples of {samples['run_id'].nunique()} runs: choose one by its run_id")
    return counted(samples)


def by_run(study: Study | Logs, runs: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """The counted samples of each of ``runs`` (index: run_id) that left any, in the order of ``runs``."""
    samples = study.samples
    samples = samples[samples["run_id"].isin(set(map(str, runs.index)))]
    groups = {str(run_id): group for run_id, group in counted(samples).groupby("run_id", sort=False)}
    return {str(run_id): groups[str(run_id)] for run_id in runs.index if str(run_id) in groups}


def numbered_by_run(study: Study | Logs, runs: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """`by_run` without the runs of which some replies are known by their bounds only: they have no number to work with.

    `azlatency.quantiles` works with the bounds.
    """
    return {run_id: own for run_id, own in by_run(study, runs).items() if not bounded(own).any()}


def bounded(samples: pd.DataFrame) -> np.ndarray:
    """Which samples (n,) bool are answers of unknown round trip within known bounds."""
    import numpy as np

    if not {"low_ns", "high_ns"} <= set(samples.columns):
        return np.zeros(len(samples), dtype=bool)
    known = samples["low_ns"].notna() | samples["high_ns"].notna()
    return np.asarray(samples["rtt_ns"].isna() & known, dtype=bool)


def round_trips(samples: pd.DataFrame) -> np.ndarray:
    """Round trips (n,) float64 in ns in the order of the samples, ``inf`` where no answer came.

    Raises `ValueError` where an answer is known by its bounds only: any number for it would be a guess.
    """
    if (unknown := int(bounded(samples).sum())) > 0:
        raise ValueError(f"{unknown} of {len(samples)} round trips are known by their bounds only: use quantiles")
    return _numbers(samples["rtt_ns"], float("inf"))


def bounds(samples: pd.DataFrame) -> tuple[np.ndarray, np.ndarray]:
    """Lower and upper ends (n,) float64 in ns of every round trip; the same array twice where no sample has bounds.

    ``inf`` at both ends where no answer came; an open end is 0 below and ``inf`` above.
    """
    import numpy as np

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


def median(samples: pd.DataFrame) -> float:
    """The median round trip in ns of one run's counted samples (the mean of the two middle ones of an even number).

    A probe without answer counts as later than any: ``inf`` where it is in the middle. NaN where there is no sample or
    where the middle is an answer that is known by its bounds only.
    """
    import numpy as np

    if not len(samples):
        return float("nan")
    low, high = bounds(samples)
    numbers, unknown = _numbers(samples["rtt_ns"], np.inf), bounded(samples)
    ends = [float(np.median(np.where(unknown, end, numbers))) for end in (low, high)]
    return ends[0] if ends[0] == ends[1] else float("nan")


def order_statistic(ordered: np.ndarray, q: float) -> float:
    """The value of rank ceil(n q) of ``ordered`` (n,), rising."""
    # n q of a decimal q may come out a hair above the whole number that it is.
    return float(ordered[max(math.ceil(len(ordered) * q - 1e-9), 1) - 1])


def _numbers(column: pd.Series, missing: float) -> np.ndarray:
    """float64 of a column of any backend. (pandas puts a fill value into the integers before it makes them floats.)"""
    import numpy as np

    values = column.to_numpy(dtype="float64", na_value=np.nan)
    return values if np.isnan(missing) else np.where(np.isnan(values), missing, values)
