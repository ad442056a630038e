"""Histograms of every run on one axis, and which medians stand for the runs.

Histograms are counts on a logarithmic axis without smoothing: a tool that prints whole microseconds shows its steps,
and two modes close to each other remain two.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from azlatency.studies.runs.samples import numbered_by_run, order_statistic, round_trips

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray

    from azlatency.stats.arrays import FloatArray
    from azlatency.studies.store.study import Study

#: Fewest samples of a run, bins of the axis, and the share of packets beyond the axis.
FEWEST, BINS, BEYOND = 100, 160, 0.002
#: Levels of a curve that is drawn from samples: the median, and eight per nine.
CURVE = tuple(sorted([0.1, 0.5, *(round(1 - 10 ** (-step / 8), 12) for step in range(1, 49))]))


@dataclass(frozen=True, slots=True, kw_only=True)
class RunHistogram:
    """Histogram of one run's round-trip times, on an axis that all runs share.

    Attributes
    ----------
    run_id, path, method : str
        The run, and how it was measured.
    n, lost : int
        Answered and lost probes.
    edges : ndarray of float64, shape (BINS + 1,)
        Bounds in ns, evenly spaced in logarithms.
    counts : ndarray of int, shape (BINS,)
        Answered probes per bin.
    beyond : int
        Answered probes right of the last edge.
    median, p99 : float
        In ns; a lost probe counts as infinite. The median is ``median_ns`` of the run, as on all pages.
    """

    run_id: str
    path: str
    method: str
    n: int
    lost: int
    edges: FloatArray
    counts: NDArray[np.int64]
    beyond: int
    median: float
    p99: float


def run_histograms(study: Study, runs: pd.DataFrame) -> list[RunHistogram]:
    """Count the round-trip times of every run with at least 100 answered samples on a shared axis.

    The axis reaches from the smallest positive value of all runs to the largest of their 99.8th percentiles.
    Round-trip times of 0 (a clock that was set back) are counted in its first bin.

    Parameters
    ----------
    study : Study
        Data set with samples.
    runs : DataFrame
        Runs to use, one row per run, indexed by run_id.

    Returns
    -------
    list of RunHistogram
        In the order of ``runs``.
    """
    values = {run_id: rtt for run_id, rtt in _round_trips(study, runs).items() if np.isfinite(rtt).sum() >= FEWEST}
    if not values:
        return []
    sorted_rtts = {run_id: np.sort(rtt) for run_id, rtt in values.items()}
    low = min((float(rtt[rtt > 0][0]) for rtt in sorted_rtts.values() if (rtt > 0).any()), default=1.0)
    high = max(low, *(order_statistic(rtt[np.isfinite(rtt)], 1 - BEYOND) for rtt in sorted_rtts.values()))
    # Widened by 2 %, so that a constant run has a bin as well.
    edges = np.geomspace(low / 1.02, high * 1.02, BINS + 1)
    return [_histogram(run_id, runs.loc[run_id], rtt, edges) for run_id, rtt in sorted_rtts.items()]


def _histogram(run_id: str, run: pd.Series, ordered: FloatArray, edges: FloatArray) -> RunHistogram:
    """Count one run's sorted round-trip times."""
    answered = ordered[np.isfinite(ordered)]
    places = np.searchsorted(answered, edges)
    places[0] = 0
    return RunHistogram(
        run_id=run_id,
        path=run["path"],
        method=str(run["method"]),
        n=len(answered),
        lost=len(ordered) - len(answered),
        edges=edges,
        counts=np.diff(places),
        beyond=int(len(answered) - places[-1]),
        median=_median_of(run, ordered),
        p99=order_statistic(ordered, 0.99),
    )


def _median_of(run: pd.Series, ordered: FloatArray) -> float:
    """Return the median that all pages show of a run, else that of its samples."""
    known = run.get("median_ns")
    return float(np.median(ordered) if known is None or np.isnan(known) else known)


def _round_trips(study: Study, runs: pd.DataFrame) -> dict[str, FloatArray]:
    """Return round-trip times in ns in the order of sending by run_id; ``inf`` for lost probes."""
    return {run_id: round_trips(samples) for run_id, samples in numbered_by_run(study, runs).items()}
