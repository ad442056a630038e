"""Whole studies in time: every run with samples, reported segments and broken connections, throughput intervals."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from azlatency.stats.result import Estimate
from azlatency.stats.within_run.clock_steps import clock_steps
from azlatency.stats.within_run.lifetimes import Lifetime, lifetimes
from azlatency.stats.within_run.stability import Stability, stability
from azlatency.stats.within_run.throttling import Throttling, throttling
from azlatency.stats.within_run.throughput_intervals import interval_mean
from azlatency.stats.within_run.trend import Trend, trend
from azlatency.studies.runs.groups import grouped
from azlatency.studies.runs.run_table import name_of
from azlatency.studies.runs.samples import numbered_by_run, round_trips

if TYPE_CHECKING:
    from azlatency.stats.arrays import FloatArray
    from azlatency.studies.store.study import Study

#: Statuses of a run that was cut off; any other run outlived its test.
CUT_OFF = ("failed", "truncated")
_NS = 1e9


@dataclass(frozen=True, slots=True, kw_only=True)
class RunTimeSeries:
    """One run with samples, over time.

    Attributes
    ----------
    run_id, name, path, method, status : str
        The run, how it was measured and how it ended; the name also says which of several runs of a path it is.
    sent : ndarray of float64 or None
        Send times in s; None if the log has none.
    rtt : ndarray of float64, shape (n,)
        Round-trip times in ns; ``inf`` for lost probes.
    lost : int
        Lost probes.
    jitter : float or None
        Median absolute difference of neighbouring round-trip times in ns; None for fewer than two.
    steps : int
        Packets at which the clock was set.
    seconds : float or None
        Duration of the run in s.
    stability : Stability
        Level shifts.
    drift : Trend
        Drift over the run.
    """

    run_id: str
    name: str
    path: str
    method: str
    status: str
    sent: FloatArray | None
    rtt: FloatArray
    lost: int
    jitter: float | None
    steps: int
    seconds: float | None
    stability: Stability
    drift: Trend


def run_time_series(
    study: Study, runs: pd.DataFrame, *, block_ns: float = 60e9, margin: float = 0.05, confidence: float = 0.95
) -> list[RunTimeSeries]:
    """Analyse every run with samples over time.

    Parameters
    ----------
    study : Study
        Data set with samples.
    runs : DataFrame
        Runs to analyse, one row per run, indexed by run_id.
    block_ns : float
        Length of a block in ns (see `azlatency.stats.stability`).
    margin : float
        Relative change that matters in practice.
    confidence : float
        Level of the intervals, between 0 and 1.

    Returns
    -------
    list of RunTimeSeries
        In the order of ``runs``, without warm-up and duplicates.
    """
    series = []
    for run_id, samples in numbered_by_run(study, runs).items():
        run = runs.loc[run_id]
        rtt = round_trips(samples)
        sent = samples["sent_ns"].to_numpy(dtype="float64") if samples["sent_ns"].notna().all() else None
        answered = rtt[np.isfinite(rtt)]
        duration = run["duration_ns"]
        series.append(
            RunTimeSeries(
                run_id=run_id,
                name=name_of(run),
                path=str(run["path"]),
                method=str(run["method"]),
                status=str(run["status"]),
                sent=None if sent is None else sent / _NS,
                rtt=rtt,
                lost=len(rtt) - len(answered),
                jitter=float(np.median(np.abs(np.diff(answered)))) if len(answered) > 1 else None,
                steps=len(clock_steps(sent, rtt)) if sent is not None else 0,
                seconds=None if pd.isna(duration) else float(duration) / _NS,
                stability=stability(rtt, sent, block_ns=block_ns, margin=margin, confidence=confidence),
                drift=trend(rtt, confidence=confidence),
            )
        )
    return series


def connection_lifetimes(series: Sequence[RunTimeSeries], *, confidence: float = 0.95) -> Lifetime:
    """Estimate how long TCP connections live: runs that were cut off are losses, the others are right-censored."""
    timed = [(run.seconds, run) for run in series if run.seconds is not None and "TCP" in run.method]
    lost = [run.status in CUT_OFF for _, run in timed]
    lifetime = lifetimes([seconds for seconds, _ in timed], lost, confidence=confidence)
    return replace(lifetime, run_ids=tuple(run.run_id for _, run in timed))


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportedSegments:
    """Reported means of consecutive segments of one run, oldest first.

    Attributes
    ----------
    path : str
        Scenario of the report.
    names : tuple of str
        Names of the segments.
    values : tuple of float
        Means in ns.
    drift : Trend
        Drift over the segments.
    """

    path: str
    names: tuple[str, ...]
    values: tuple[float, ...]
    drift: Trend

    @property
    def changes(self) -> list[float]:
        """The changes from each segment to the next, in ns."""
        return [later - earlier for earlier, later in pairwise(self.values)]


def reported_segments(reported: pd.DataFrame, *, confidence: float = 0.95) -> list[ReportedSegments]:
    """Return the reported segment means of each path, with their drift.

    Parameters
    ----------
    reported : DataFrame
        Reported numbers of a study.
    confidence : float
        Level of the intervals, between 0 and 1.

    Returns
    -------
    list of ReportedSegments
        One entry per scenario, in the order of the report.
    """
    if not len(reported):
        return []
    means = reported[(reported["metric"] == "rtt_mean") & reported["segment"].notna() & (reported["segment"] != "")]
    segments = []
    for path, group in grouped(means.fillna({"scenario": "unknown"}), "scenario"):
        values = tuple(float(value) for value in group["value_low"])
        segments.append(
            ReportedSegments(
                path=str(path),
                names=tuple(map(str, group["segment"])),
                values=values,
                drift=trend(values, confidence=confidence),
            )
        )
    return segments


@dataclass(frozen=True, slots=True, kw_only=True)
class ConnectionEnds:
    """Reported times at which connections broke, in time order.

    Attributes
    ----------
    paths : tuple of str
        Scenarios.
    printed : tuple of str
        Times as printed.
    gaps : tuple of float
        Seconds after the first break.
    lasted : tuple of str
        Durations as printed; empty if unknown.
    """

    paths: tuple[str, ...]
    printed: tuple[str, ...]
    gaps: tuple[float, ...]
    lasted: tuple[str, ...]

    @property
    def together(self) -> int:
        """Number of neighbouring breaks within a minute of each other, which are hardly independent."""
        return sum(later - earlier < 60 for earlier, later in pairwise(self.gaps))


def reported_connection_ends(reported: pd.DataFrame) -> ConnectionEnds | None:
    """Return when connections broke according to a report, in time order; None if no report says so.

    Parameters
    ----------
    reported : DataFrame
        Reported numbers of a study.
    """
    if not len(reported):
        return None
    ends = reported[reported["metric"] == "failed_at"]
    if not len(ends):
        return None
    times = pd.to_datetime(ends["printed"])
    order = times.sort_values().index
    gaps = (times.loc[order] - times.min()).dt.total_seconds()
    durations = reported[reported["metric"] == "duration"].drop_duplicates("scenario").set_index("scenario")["printed"]
    paths = tuple(str(path) for path in ends.loc[order, "scenario"])
    return ConnectionEnds(
        paths=paths,
        printed=tuple(str(time) for time in ends.loc[order, "printed"]),
        gaps=tuple(map(float, gaps)),
        lasted=tuple(str(durations.get(path, "")) for path in paths),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class ThroughputSeries:
    """One throughput run over its reporting intervals.

    Attributes
    ----------
    run_id, name, path, method : str
        The run, and how it was measured; the name also says which of several runs of a path it is.
    intervals : int
        Number of reporting intervals.
    seconds : float
        Their total length in s.
    mean : Estimate
        Mean rate in bit/s.
    spread : float or None
        Standard deviation of the interval rates over their mean.
    throttled : Throttling
        Whether the rate fell to a lower level.
    """

    run_id: str
    name: str
    path: str
    method: str
    intervals: int
    seconds: float
    mean: Estimate
    spread: float | None
    throttled: Throttling


def throughput_series(
    intervals: pd.DataFrame, runs: pd.DataFrame, *, confidence: float = 0.95
) -> list[ThroughputSeries]:
    """Analyse every throughput run with reporting intervals.

    Parameters
    ----------
    intervals : DataFrame
        Reporting intervals of a study; omitted ones are left out. If both sides report, the receiver's are used.
    runs : DataFrame
        Throughput runs, one row per run, indexed by run_id.
    confidence : float
        Level of the intervals, between 0 and 1.

    Returns
    -------
    list of ThroughputSeries
        One entry per run.
    """
    counted = intervals[
        intervals["stream"].isna() & intervals["throughput_bit_s"].notna() & intervals["run_id"].isin(runs.index)
    ]
    counted = counted[~counted["omitted"].fillna(False).astype(bool)]
    series = []
    for run_id, group in grouped(counted, "run_id"):
        side = group[group["side"] == "receiver"] if "receiver" in set(group["side"].dropna()) else group
        rates = side["throughput_bit_s"].to_numpy(dtype="float64")
        seconds = ((side["end_ns"] - side["start_ns"]) / _NS).to_numpy(dtype="float64")
        run = runs.loc[str(run_id)]
        series.append(
            ThroughputSeries(
                run_id=str(run_id),
                name=name_of(run),
                path=str(run["path"]),
                method=str(run["method"]),
                intervals=len(rates),
                seconds=float(seconds.sum()),
                mean=interval_mean(rates, list(seconds), confidence=confidence),
                spread=float(rates.std(ddof=1) / rates.mean()) if len(rates) > 1 and rates.mean() > 0 else None,
                throttled=throttling(rates, float(seconds.mean())),
            )
        )
    return series


def falling(rates: Sequence[ThroughputSeries]) -> tuple[list[ThroughputSeries], list[ThroughputSeries]]:
    """Return the runs whose rate fell and stayed low, and all runs of the same method that were long enough to tell.

    Parameters
    ----------
    rates : sequence of ThroughputSeries
        As returned by `throughput_series`.

    Returns
    -------
    fallen, tested : list of ThroughputSeries
        Of several methods, the one with the most falls; both are empty if no rate fell.
    """
    methods = Counter(rate.method for rate in rates if rate.throttled.found)
    most = max(methods, key=methods.__getitem__, default=None)
    tested = [rate for rate in rates if rate.method == most and rate.throttled.found is not None]
    return [rate for rate in tested if rate.throttled.found], tested


def reported_spread(reported: pd.DataFrame) -> list[dict[str, float | str]]:
    """Return per path the reported minimum, mean, percentiles and maximum (ns) of whole runs, keyed by their names.

    Parameters
    ----------
    reported : DataFrame
        Reported numbers of a study. Paths without p99 are left out.
    """
    if not len(reported) or "rtt_mean" not in set(reported["metric"]):
        return []
    names = {"rtt_min": "min", "rtt_mean": "mean", "rtt_max": "max"}
    by_path: dict[str, dict[str, float | str]] = {}
    for _, row in reported[reported["segment"].isna() | (reported["segment"] == "")].iterrows():
        name = f"p{100 * float(row['q']):g}" if row["metric"] == "rtt" else names.get(row["metric"])
        if name:
            by_path.setdefault(str(row["scenario"]), {"path": str(row["scenario"])})[name] = float(row["value_low"])
    return [spread for spread in by_path.values() if "p99" in spread]
