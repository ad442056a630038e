from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from helpers.studies import load

import azlatency as az
from azlatency.stats.across_runs.crossings import crossings


def trips_of(name: str) -> pd.DataFrame:
    study = load(name)
    runs = az.latency(study)
    return crossings(study, az.stats.placement.conditions(study, az.studies.newest_windows(runs)), runs)


def test_what_a_pair_of_zones_adds_to_the_round_trip_inside_one() -> None:
    """Of the logs of az1-az1, az1-az2 and az2-az3: twice the medians 33.408, 52.745 and 711.131 µs of sockperf."""
    trips = trips_of("westeurope-azure-cni")
    sockperf = trips[trips["method"] == "sockperf TCP 14 B"].set_index("pair")
    assert sockperf.loc["1", "round_trip_ns"] == 66_816 and np.isnan(sockperf.loc["1", "added_ns"])
    assert sockperf.loc["1–2", "added_ns"] == 105_490 - 66_816
    assert sockperf.loc["2–3", "added_ns"] == 1_422_262 - 66_816
    assert sockperf.loc["2–3", "p99_ns"] == 1_639_472 and (sockperf.loc["1–2", "n"], trips["n"].max()) == (1, 1)


def test_only_like_circumstances_are_subtracted_and_p99_is_found_in_a_text() -> None:
    canada = trips_of("canadacentral-proximity-placement").set_index("path")
    off, on = (f"Different zones, Standard_D4s_v3{network}" for network in ("", ", accelerated networking"))
    assert canada.loc[off, "added_ns"] == pytest.approx(1_840_290 - 308_550)
    assert canada.loc[on, "added_ns"] == pytest.approx(1_364_430 - (55_000 + 61_090) / 2)
    # No round trip inside a zone was measured on this size, and none without zones.
    assert np.isnan(canada.loc["Different zones, Standard_D2s_v3", "added_ns"])
    assert trips_of("uksouth-echo-latency").set_index("path").loc["Cross AZ", "p99_ns"] == 2_250_000


def test_nothing_is_subtracted_of_runs_that_are_not_pooled() -> None:
    study = load("westeurope-azure-cni")
    runs = az.latency(study)
    measured = az.stats.placement.conditions(study, runs)
    is_inside = (measured["pair"] == "1") & (measured["method"] == "sockperf TCP 14 B")
    apart = measured.assign(n=measured["n"].mask(is_inside, 2), estimate=measured["estimate"].mask(is_inside))
    trips = crossings(study, apart, runs).set_index(["method", "pair"])
    assert np.isnan(trips.loc[("sockperf TCP 14 B", "1–2"), "added_ns"])
    assert not trips.loc["qperf tcp_lat", "added_ns"].drop("1").isna().all()


@pytest.mark.slow
def test_of_a_published_series_the_newest_window_counts() -> None:
    trips = trips_of("ibm-cloud-zones").set_index("pair")
    assert trips.loc["br-sao-sao01-a–br-sao-sao05-a", "round_trip_ns"] == 530_000
    assert not trips.index.str.contains("^Dallas").any(), "names that were given up in 2024 are not of today"


def test_a_tool_that_sends_rarely_counts_only_where_no_other_measured() -> None:
    assert "ping" not in set(trips_of("westeurope-availability-set-vs-zones")["method"])
    assert set(trips_of("emulated-cloud")["method"]) == {"ping 56 B"}


def test_a_study_without_round_trips_has_no_rows() -> None:
    trips = trips_of("ec2-token-buckets")
    assert trips.empty and trips["n"].dtype == "int64"
