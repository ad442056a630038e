"""Whole studies in time: runs with samples, reported segments and ends, intervals of streams."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest
from helpers.studies import load

import azlatency as az
from azlatency.stats.within_run import time_series as intime


def test_packets_at_which_a_clock_was_set() -> None:
    times = np.arange(5000) * 1e9
    times[3000:] -= 5e9
    assert intime.clock_steps(times, np.ones(5000)) == [3000]
    assert intime.clock_steps(np.array([1.0, 2, 3]), np.array([5.0, -1, 0])) == [1, 2]


def test_the_fifth_seeds_segments() -> None:
    segments = intime.reported_segments(load("uksouth-echo-latency").reported)
    assert list(segments["path"].unique()) == ["Same AZ", "Cross AZ", "Cross Region"]
    same_zone = segments[segments["path"] == "Same AZ"]
    assert same_zone["change_ns"].iloc[-1] == pytest.approx(-166_290) and math.isnan(same_zone["change_ns"].iloc[0])
    assert list(segments.groupby("path")["change_ns"].count()) == [4, 4, 4]
    assert same_zone["p"].iloc[0] == pytest.approx(0.8167, abs=1e-3)


def test_the_fifth_seeds_ends() -> None:
    ends = intime.reported_connection_ends(load("uksouth-echo-latency").reported)
    assert list(ends["path"]) == ["Same AZ", "Cross Region", "Cross AZ"]
    assert list(ends["after_s"]) == [0.0, 11_983.0, 11_986.0] and list(ends["together"]) == [False, False, True]
    assert intime.reported_connection_ends(load("westeurope-azure-cni").reported).empty


@pytest.mark.costly
def test_runs_with_samples() -> None:
    study = load("emulated-zones")
    found = intime.run_time_series(study, az.latency(study))
    assert found.runs["n"].sum() == len(study.samples)
    echo = found.runs[found.runs["n"] == 3000].iloc[0]
    assert echo["has_times"] and echo["lost"] == 0 and echo["jitter"] > 0
    (life,) = intime.connection_lifetimes(found.runs).summary.to_dict("records")
    assert life["losses"] == 0 and life["n"] == found.runs["method"].str.contains("TCP").sum()
    assert len(life["run_ids"].split()) == life["n"]
    sent = intime.probes(study, found.runs.head(2))
    assert list(sent.groupby("run_ids", observed=True).size()) == list(found.runs["n"].head(2))


class Made:
    """A study with one run of four probes, of which one warms up and one is lost."""

    samples = pd.DataFrame(
        {
            "run_id": ["r"] * 4,
            "status": ["warmup", "ok", "lost", "ok"],
            "rtt_ns": pd.array([9, 1, None, 3], dtype="Int64"),
            "sent_ns": pd.array([0, 1, 2, 3], dtype="Int64"),
        }
    )


RUNS = pd.DataFrame(
    {"path": "A → B", "method": "ping", "status": "complete", "duration_ns": pd.array([pd.NA], dtype="Int64")},
    index=pd.Index(["r"], name="run_id"),
)


def test_lost_probes_are_late_and_warm_up_is_left_out() -> None:
    found = intime.run_time_series(Made(), RUNS)  # type: ignore[arg-type]
    (run,) = found.runs.to_dict("records")
    assert (run["n"], run["lost"], run["jitter"]) == (3, 1, 2) and math.isnan(run["seconds"])
    assert pd.isna(run["stable"]) and run["flags"] == "short_series" and found.shifts.empty
    assert intime.probes(Made(), found.runs)["rtt_ns"].tolist() == [1.0, np.inf, 3.0]  # type: ignore[arg-type]


def test_frames_without_runs_have_the_types_of_others() -> None:
    study = load("westeurope-azure-cni")
    found, none = (intime.run_time_series(Made(), runs) for runs in (RUNS, RUNS[:0]))  # type: ignore[arg-type]
    assert [table.dtypes.to_dict() for table in none] == [table.dtypes.to_dict() for table in found]
    streams = az.throughput(study)
    rates, no_rates = (intime.throughput_series(study.intervals, runs) for runs in (streams, streams[:0]))
    assert len(rates) and no_rates.dtypes.to_dict() == rates.dtypes.to_dict()


def test_streams_in_time_leave_omitted_intervals_out() -> None:
    study = load("westeurope-azure-cni")
    rates = intime.throughput_series(study.intervals, az.throughput(study))
    assert set(rates["intervals"]) == {10}
    assert rates["flags"].str.contains("burst_test").all() and not rates["found"].any()
    assert intime.falling(rates).tested.empty


def test_an_interval_of_no_length_has_no_rate() -> None:
    study = load("westeurope-azure-cni")
    streams = az.throughput(study)
    first = study.intervals["start_ns"] == 0
    cut = study.intervals.assign(end_ns=study.intervals["end_ns"].mask(first, 0))
    assert set(intime.throughput_series(cut, streams)["intervals"]) == {9}
    assert intime.throughput_series(cut[first], streams).empty


def test_a_short_series_cannot_tell_whether_a_rate_fell() -> None:
    rates = intime.rates_of_study(load("ec2-token-buckets"))
    first = rates.index == rates.index[0]
    short = rates.assign(flags=rates["flags"].mask(first, "burst_test short_series"))
    assert len(intime.falling(rates).tested) - len(intime.falling(short).tested) == 1
    assert intime.falling(rates.assign(flags="short_series")).fallen.empty


def test_transfers_of_other_hosts_are_told_by_their_burst() -> None:
    fallen, tested = intime.falling(intime.rates_of_study(load("ec2-token-buckets")))
    usual, others = intime.by_burst(fallen)
    assert (len(fallen), len(tested), len(usual), len(others)) == (28, 29, 24, 4)
    assert usual["burst_rate"].min() > others["burst_rate"].max()
    two = fallen.head(2).assign(burst_rate=[1e9, 9e9])
    assert list(intime.by_burst(two)[0]["burst_rate"]) == [1e9]
