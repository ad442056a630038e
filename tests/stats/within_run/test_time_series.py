"""Whole studies in time: runs with samples, reported segments and ends, intervals of streams."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from helpers.studies import load

import azlatency as az
from azlatency.stats.within_run import time_series as intime


def test_the_fifth_seeds_segments() -> None:
    segments = intime.reported_segments(load("uksouth-echo-latency").reported)
    assert [segment.path for segment in segments] == ["Same AZ", "Cross AZ", "Cross Region"]
    assert segments[0].changes[-1] == pytest.approx(-166_290)
    assert [len(segment.changes) for segment in segments] == [4, 4, 4]
    assert segments[0].drift.p == pytest.approx(0.8167, abs=1e-3)


def test_the_fifth_seeds_ends() -> None:
    ends = intime.reported_connection_ends(load("uksouth-echo-latency").reported)
    assert ends is not None and ends.paths == ("Same AZ", "Cross Region", "Cross AZ")
    assert ends.gaps == (0.0, 11_983.0, 11_986.0) and ends.together == 1
    assert intime.reported_connection_ends(load("westeurope-azure-cni").reported) is None


def test_runs_with_samples() -> None:
    study = load("emulated-zones")
    series = intime.run_time_series(study, az.latency(study))
    assert sum(len(run.rtt) for run in series) == len(study.samples)
    echo = next(run for run in series if len(run.rtt) == 3000)
    assert echo.sent is not None and echo.lost == 0 and echo.jitter is not None
    assert echo.stability.n == 3000
    life = intime.connection_lifetimes(series)
    assert life.losses == 0 and life.n == sum("TCP" in run.method for run in series)


def test_lost_probes_are_late_and_warm_up_is_left_out() -> None:
    class Made:
        samples = pd.DataFrame(
            {
                "run_id": ["r"] * 4,
                "status": ["warmup", "ok", "lost", "ok"],
                "rtt_ns": pd.array([9, 1, None, 3], dtype="Int64"),
                "sent_ns": pd.array([0, 1, 2, 3], dtype="Int64"),
            }
        )

    runs = pd.DataFrame(
        {"path": "A → B", "method": "ping", "status": "complete", "duration_ns": pd.array([pd.NA], dtype="Int64")},
        index=["r"],
    )
    (run,) = intime.run_time_series(Made(), runs)  # type: ignore[arg-type]
    assert run.rtt.tolist() == [1.0, np.inf, 3.0] and run.lost == 1 and run.jitter == 2 and run.seconds is None
    assert run.stability.stable is None


def test_streams_in_time_leave_omitted_intervals_out() -> None:
    study = load("westeurope-azure-cni")
    rates = intime.throughput_series(study.intervals, az.throughput(study))
    assert {rate.intervals for rate in rates} == {10}
    assert all("burst_test" in rate.mean.codes and rate.throttled.found is False for rate in rates)


def test_reported_percentiles() -> None:
    spreads = {spread["path"]: spread for spread in intime.reported_spread(load("uksouth-echo-latency").reported)}
    assert spreads["Cross AZ"]["p99"] / spreads["Cross AZ"]["mean"] == pytest.approx(2250 / 1425)
    assert intime.reported_spread(load("canadacentral-proximity-placement").reported) == []
