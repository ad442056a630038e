"""Whole studies in time: every run with samples, reported segments and broken connections, throughput intervals."""

from __future__ import annotations

from statistics import median, median_low
from typing import NamedTuple

import numpy as np
import pandas as pd

from azlatency.logs.tables import Logs
from azlatency.stats.arrays import FloatArray
from azlatency.stats.rows import Row
from azlatency.stats.within_run.lifetimes import Lifetimes, lifetimes
from azlatency.stats.within_run.stability import frame_of_shifts, level_of_run
from azlatency.stats.within_run.throttling import fall_of_rates
from azlatency.stats.within_run.throughput_intervals import mean_rate
from azlatency.stats.within_run.trend import drift_of
from azlatency.studies.runs.groups import grouped
from azlatency.studies.runs.run_table import client_runs, name_of, once_per_study
from azlatency.studies.runs.samples import numbered_by_run, round_trips
from azlatency.studies.store.study import Study

#: Statuses of a run that was cut off; any other run outlived its test.
CUT_OFF = ("failed", "truncated")
#: Breaks of connections that are closer than this many seconds are hardly independent.
_TOGETHER = 60
#: Rates before a fall that differ by at most this factor are those of equal hosts.
_ALIKE = 1.1
_NS = 1e9
_OF_RUN = ["name", "path", "method"]
_RUNS = {
    **dict.fromkeys([*_OF_RUN, "status", "flags", "run_ids"], "str"),
    **dict.fromkeys(["n", "lost", "blocks", "shift_count", "confirmed"], "int64"),
    **dict.fromkeys(["jitter", "clock_steps", "seconds", "drift", "drift_low", "drift_high", "block"], "float64"),
    "stable": "boolean",
    "has_times": "bool",
}
_RATES = {
    **dict.fromkeys([*_OF_RUN, "what", "unit", "scope", "statistic", "flags", "run_ids"], "str"),
    **dict.fromkeys(["intervals", "n"], "int64"),
    **dict.fromkeys(["seconds", "spread", "estimate", "low", "high", "confidence"], "float64"),
    **dict.fromkeys(["burst_rate", "sustained_rate", "at_s", "bucket", "median_rate"], "float64"),
    **dict.fromkeys(["silent", "silent_last"], "int64"),
    "found": "boolean",
    "line": "Int64",
}


class RunsInTime(NamedTuple):
    """Every run with samples, over time.

    Attributes
    ----------
    runs : DataFrame
        One row per run, in the order given: ``name`` (says which of several runs of a path it is), ``path``,
        ``method``, ``status``, ``n`` probes without warm-up and duplicates, ``lost`` ones, ``jitter`` (median absolute
        difference of neighbouring round-trip times, in ns), ``clock_steps`` (packets at which the clock was set),
        ``seconds`` (duration), ``has_times`` (whether the log has send times), the ``drift`` over the run with its
        interval in ns, and the columns of `azlatency.stats.stability`.
    shifts : DataFrame
        One row per level shift, as `azlatency.stats.stability` returns them, with the columns of the run;
        ``has_times``: whether ``at``, ``at_low`` and ``at_high`` are in ns, and not numbers of probes.
    """

    runs: pd.DataFrame
    shifts: pd.DataFrame


def run_time_series(
    study: Study, runs: pd.DataFrame, *, block_ns: float = 60e9, margin: float = 0.05, confidence: float = 0.95
) -> RunsInTime:
    """Analyse every run with samples over time; ``block_ns`` and ``margin`` as in `azlatency.stats.stability`."""
    rows: list[Row] = []
    every_shift: list[Row] = []
    for run_id, samples in numbered_by_run(study, runs).items():
        run = runs.loc[run_id]
        rtt = round_trips(samples)
        sent = samples["sent_ns"].to_numpy(dtype="float64") if samples["sent_ns"].notna().all() else None
        answered = rtt[np.isfinite(rtt)]
        level, shifts = level_of_run(rtt, sent, block_ns, margin=margin, confidence=confidence)
        drift = drift_of(rtt, confidence)
        named = {"name": name_of(run), "path": str(run["path"]), "method": str(run["method"]), "run_ids": run_id}
        rows.append(
            {
                **level,
                **named,
                "status": str(run["status"]),
                "lost": len(rtt) - len(answered),
                "jitter": np.median(np.abs(np.diff(answered))) if len(answered) > 1 else np.nan,
                "clock_steps": np.nan if sent is None else len(clock_steps(sent, rtt)),
                "seconds": run["duration_ns"] / _NS if pd.notna(run["duration_ns"]) else np.nan,
                "has_times": sent is not None,
                "drift": drift["estimate"],
                "drift_low": drift["low"],
                "drift_high": drift["high"],
            }
        )
        every_shift += [{**shift, **named, "has_times": sent is not None} for shift in shifts]
    of_shifts = frame_of_shifts(every_shift, *_OF_RUN, "run_ids")
    return RunsInTime(
        pd.DataFrame(rows, columns=list(_RUNS)).astype(_RUNS),
        of_shifts.assign(has_times=[shift["has_times"] for shift in every_shift]).astype({"has_times": "bool"}),
    )


def clock_steps(sent_ns: FloatArray, rtt_ns: FloatArray) -> list[int]:
    """Return the packets at which a wall clock was set, whose round-trip times are not measurements."""
    backwards = np.flatnonzero(np.diff(sent_ns) < 0) + 1
    return [int(packet) for packet in np.union1d(backwards, np.flatnonzero(rtt_ns <= 0))]


def probes(study: Study, runs: pd.DataFrame) -> pd.DataFrame:
    """Return a row per probe of rows of `RunsInTime.runs`: ``run_ids`` (categorical), ``sent`` and ``rtt_ns``.

    ``sent`` is in s, or the number of the probe, from 0, of a log without send times; ``rtt_ns`` of a lost one is inf.
    """
    sent, rtt = [], []
    of_runs = numbered_by_run(study, runs.set_index("run_ids"))
    for samples in of_runs.values():
        has_times = samples["sent_ns"].notna().all()
        sent.append(samples["sent_ns"].to_numpy(dtype="float64") / _NS if has_times else np.arange(float(len(samples))))
        rtt.append(round_trips(samples))
    places = np.repeat(np.arange(len(rtt)), [len(values) for values in rtt])
    numbers = {"sent": np.concatenate([[], *sent]), "rtt_ns": np.concatenate([[], *rtt])}
    return pd.DataFrame({"run_ids": pd.Categorical.from_codes(places, list(of_runs)), **numbers})


def connection_lifetimes(runs: pd.DataFrame, *, confidence: float = 0.95) -> Lifetimes:
    """Estimate how long TCP connections live: runs that were cut off are losses, the others are right-censored.

    ``runs``: as of `run_time_series`. The summary of `azlatency.stats.lifetimes` has the column ``run_ids``, too.
    """
    timed = runs[runs["seconds"].notna() & runs["method"].str.contains("TCP")]
    found = lifetimes(timed["seconds"], timed["status"].isin(CUT_OFF), confidence=confidence)
    return found._replace(summary=found.summary.assign(run_ids=" ".join(timed["run_ids"])))


def reported_segments(reported: pd.DataFrame, *, confidence: float = 0.95) -> pd.DataFrame:
    """Return the reported means of consecutive segments of runs, oldest first.

    One row per segment: ``path`` (scenario of the report), ``segment`` (its name), ``mean_ns``, ``change_ns`` since the
    segment before, and ``p``, that of no trend over the segments of the path.
    """
    columns = ["path", "segment", "mean_ns", "change_ns", "p"]
    if not len(reported):
        return pd.DataFrame(columns=columns)
    means = reported[(reported["metric"] == "rtt_mean") & reported["segment"].notna() & (reported["segment"] != "")]
    found = pd.DataFrame(
        {
            "path": means["scenario"].fillna("unknown").astype(str),
            "segment": means["segment"].astype(str),
            "mean_ns": means["value_low"].astype(float),
        }
    )
    found["change_ns"] = grouped(found, "path")["mean_ns"].diff()
    trends = {path: drift_of(values.to_numpy(), confidence)["p"] for path, values in grouped(found, "path")["mean_ns"]}
    # The segments of a path stand together.
    order = found["path"].map(list(trends).index)
    found = found.assign(p=found["path"].map(trends).astype(float))
    return found.loc[order.sort_values(kind="stable").index, columns].reset_index(drop=True)


def reported_connection_ends(reported: pd.DataFrame) -> pd.DataFrame:
    """Return when connections broke according to a report, in the order of time.

    One row per connection: ``path`` (scenario), ``printed`` (when it broke, as printed), ``after_s`` (s after the first
    break), ``together`` (whether that was less than a minute after the break before, so that the two are hardly
    independent) and ``lasted`` (duration as printed, empty if unknown).
    """
    ends = reported[reported["metric"] == "failed_at"] if len(reported) else pd.DataFrame()
    if not len(ends):
        return pd.DataFrame(columns=["path", "printed", "after_s", "together", "lasted"])
    times = pd.to_datetime(ends["printed"])
    order = times.sort_values().index
    after = (times.loc[order] - times.min()).dt.total_seconds()
    durations = reported[reported["metric"] == "duration"].drop_duplicates("scenario").set_index("scenario")["printed"]
    paths = ends.loc[order, "scenario"].astype(str)
    found = {
        "path": paths,
        "printed": ends.loc[order, "printed"].astype(str),
        "after_s": after.astype(float),
        "together": after.diff() < _TOGETHER,
        "lasted": paths.map(durations).fillna("").astype(str),
    }
    return pd.DataFrame(found).reset_index(drop=True)


def throughput_series(intervals: pd.DataFrame, runs: pd.DataFrame, *, confidence: float = 0.95) -> pd.DataFrame:
    """Analyse every throughput run with reporting intervals, without omitted ones; the receiver's if both sides report.

    One row per run: ``name`` (says which of several runs of a path it is), ``path``, ``method``, the number of
    ``intervals`` and their ``seconds``, the mean rate (``estimate``, ``low`` and ``high`` in bit/s), ``spread``
    (standard deviation of the interval rates over their mean), their ``median_rate``, the number of intervals without
    traffic (``silent``; ``silent_last``: at the end), the columns of `azlatency.stats.throttling`, and the ``line`` of
    the log that prints the first interval after the fall.
    """
    counted = intervals[
        intervals["stream"].isna() & intervals["throughput_bit_s"].notna() & intervals["run_id"].isin(runs.index)
    ]
    # An interval of no length has no rate, though some tools print one.
    is_empty = counted["end_ns"] == counted["start_ns"]
    counted = counted[~counted["omitted"].fillna(False).astype(bool) & ~is_empty]
    rows = []
    for run_id, group in grouped(counted, "run_id"):
        side = group[group["side"] == "receiver"] if "receiver" in set(group["side"].dropna()) else group
        rates = side["throughput_bit_s"].to_numpy(dtype="float64")
        seconds = ((side["end_ns"] - side["start_ns"]) / _NS).to_numpy(dtype="float64")
        run, fall = runs.loc[str(run_id)], fall_of_rates(rates, float(seconds.mean()))
        rows.append(
            {
                **fall,
                **mean_rate(rates, list(seconds), confidence=confidence),
                "name": name_of(run),
                "path": str(run["path"]),
                "method": str(run["method"]),
                "intervals": len(rates),
                "seconds": float(seconds.sum()),
                "spread": rates.std(ddof=1) / rates.mean() if len(rates) > 1 and rates.mean() > 0 else np.nan,
                "median_rate": np.median(rates),
                "silent": (rates == 0).sum(),
                "silent_last": len(rates) - len(np.trim_zeros(rates, "b")),
                "line": side["line"].iloc[round(fall["at_s"] / seconds.mean())] if fall["found"] else pd.NA,
                "run_ids": str(run_id),
            }
        )
    return pd.DataFrame(rows, columns=list(_RATES)).astype(_RATES)


@once_per_study
def rates_of_study(study: Study | Logs) -> pd.DataFrame:
    """Return `throughput_series` of all tests of a study, computed once: several answers use it."""
    return throughput_series(study.intervals, client_runs(study))


class Falls(NamedTuple):
    """Rows of `throughput_series` of one method: the runs whose rate fell and stayed low, and all that could tell."""

    fallen: pd.DataFrame
    tested: pd.DataFrame


def falling(rates: pd.DataFrame) -> Falls:
    """Return the runs whose rate fell and stayed low, of the method with the most of them; empty if no rate fell.

    A short series cannot tell: how much a rate varies by itself is not known, and noise looks like a fall.
    """
    rates = rates[~rates["flags"].str.contains("short_series")]
    found = rates["found"].fillna(False).astype(bool)
    methods = rates.loc[found, "method"].value_counts(sort=False)
    if methods.empty:
        return Falls(rates[:0], rates[:0])
    of_method = rates["method"] == methods.idxmax()
    return Falls(rates[of_method & found], rates[of_method & rates["found"].notna()])


def by_burst(fallen: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the transfers that start at the usual rate, and the others: their hosts differ, so they are no repeats."""
    bursts = fallen["burst_rate"]
    usual = median(bursts)
    if not alike(bursts, usual).any():  # the middle of two that differ is neither
        usual = median_low(bursts)
    is_usual = alike(bursts, usual)
    return fallen[is_usual], fallen[~is_usual]


def alike(rates: pd.Series, usual: float) -> pd.Series:
    """Return which rates differ from the usual one by no more than those of equal hosts."""
    return rates.between(usual / _ALIKE, _ALIKE * usual)
