"""Histograms of every run on one axis, and which medians stand for the runs.

Histograms are counts on a logarithmic axis without smoothing: a tool that prints whole microseconds shows its steps,
and two modes close to each other remain two.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pandas as pd

from azlatency.stats.arrays import FloatArray
from azlatency.studies.runs.run_table import name_of
from azlatency.studies.runs.samples import numbered_by_run, order_statistic, round_trips
from azlatency.studies.store.study import Study

#: Fewest samples of a run, bins of the axis, and the share of packets beyond the axis.
FEWEST, BINS, BEYOND = 100, 160, 0.002
#: Levels of a curve that is drawn from samples: the median, and eight per nine.
CURVE = tuple(sorted([0.1, 0.5, *(round(1 - 10 ** (-step / 8), 12) for step in range(1, 49))]))
_RUNS = ["run_id", "name", "path", "method", "n", "lost", "beyond", "median_ns", "p99_ns"]
_BINS = ["run_id", "path", "method", "low_ns", "high_ns", "count", "share"]


class RunHistograms(NamedTuple):
    """Histograms of the round-trip times of runs, on an axis that all runs share.

    Attributes
    ----------
    runs : DataFrame
        One row per run: ``run_id``, ``name``, ``path``, ``method``; ``n`` answered, ``lost``, and ``beyond``, answered
        probes right of the last bin (int64); ``median_ns`` and ``p99_ns`` (float64), where a lost probe counts as
        infinite. The median is that of the run on all pages.
    bins : DataFrame
        `BINS` rows per run: ``run_id``, ``path``, ``method``; the bounds ``low_ns`` and ``high_ns`` (float64), evenly
        spaced in logarithms; ``count`` (int64), answered probes in the bin; ``share`` (float64) of all probes that were
        answered within ``high_ns``.
    """

    runs: pd.DataFrame
    bins: pd.DataFrame


def run_histograms(study: Study, runs: pd.DataFrame) -> RunHistograms:
    """Count the round-trip times of every run with at least 100 answered samples on a shared axis.

    The axis reaches from the smallest positive value of all runs to the largest of their 99.8th percentiles. Round-trip
    times of 0 (a clock that was set back) are counted in its first bin.
    """
    every = {run_id: round_trips(samples) for run_id, samples in numbered_by_run(study, runs).items()}
    values = {run_id: rtt for run_id, rtt in every.items() if np.isfinite(rtt).sum() >= FEWEST}
    if not values:
        return RunHistograms(pd.DataFrame(columns=_RUNS), pd.DataFrame(columns=_BINS))
    sorted_rtts = {run_id: np.sort(rtt) for run_id, rtt in values.items()}
    low = min((float(rtt[rtt > 0][0]) for rtt in sorted_rtts.values() if (rtt > 0).any()), default=1.0)
    high = max(low, *(order_statistic(rtt[np.isfinite(rtt)], 1 - BEYOND) for rtt in sorted_rtts.values()))
    # Widened by 2 %, so that a constant run has a bin as well.
    edges = np.geomspace(low / 1.02, high * 1.02, BINS + 1)
    rows, bins = [], []
    for run_id, ordered in sorted_rtts.items():
        run = runs.loc[run_id]
        counts = _count(ordered, edges)
        answered = int(np.isfinite(ordered).sum())
        labels = {"run_id": run_id, "path": run["path"], "method": str(run["method"])}
        rows.append(
            {
                **labels,
                "name": name_of(run),
                "n": answered,
                "lost": len(ordered) - answered,
                "beyond": answered - int(counts.sum()),
                "median_ns": _median_of(run, ordered),
                "p99_ns": order_statistic(ordered, 0.99),
            }
        )
        shares = counts.cumsum() / len(ordered)
        bins.append(
            pd.DataFrame({**labels, "low_ns": edges[:-1], "high_ns": edges[1:], "count": counts, "share": shares})
        )
    return RunHistograms(pd.DataFrame(rows, columns=_RUNS), pd.concat(bins, ignore_index=True))


def _count(ordered: FloatArray, edges: FloatArray) -> FloatArray:
    """Return how many answered probes of a run's sorted round-trip times are in each bin; those of 0 in the first."""
    places = np.searchsorted(ordered[np.isfinite(ordered)], edges)
    places[0] = 0
    return np.diff(places)


def _median_of(run: pd.Series, ordered: FloatArray) -> float:
    """Return the median that all pages show of a run, else that of its samples."""
    known = run.get("median_ns")
    return float(np.median(ordered) if known is None or np.isnan(known) else known)
