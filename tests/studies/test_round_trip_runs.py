"""The round-trip times of each run."""

from __future__ import annotations

import pandas as pd
import pytest
from helpers.places import FIXTURES

import azlatency as az
from azlatency.studies import round_trip_runs
from azlatency.studies.runs import run_table
from azlatency.studies.samples import by_run, counted


def test_an_open_class_has_no_middle() -> None:
    table = pd.DataFrame({"run_id": "r", "low_ns": [0.0, 10.0], "high_ns": [10.0, pd.NA], "count": [30, 90]})
    runs = pd.DataFrame({"median_ns": float("nan"), "p99_ns": float("nan"), "median_from": None}, index=["r"])
    round_trip_runs._fill_from_classes(table.convert_dtypes(), runs)
    assert runs.loc["r"].isna().all()


def test_a_rate_of_single_transactions_is_a_latency() -> None:
    """netperf's classic table prints only the rate: 1 s / 15,709.30 = 63.657 µs."""
    (row,) = az.latency(az.parse(FIXTURES / "netperf" / "2.7.1-rr-demo.log")).itertuples()
    assert (round(row.mean_ns), row.mean_from) == (63657, "rate")
    assert pd.isna(row.median_ns)


def test_a_rate_with_a_burst_is_not_a_latency() -> None:
    """Five transactions in flight share the path: their rate does not say how long one of them takes."""
    logs = az.parse(FIXTURES / "netperf" / "2.7.1-rr-burst4-v2.log")
    assert "rtt_from_rate" in set(logs.metrics["metric"])
    assert az.latency(logs)["mean_ns"].isna().all()


def test_times_to_open_a_connection_are_a_quantity_of_their_own() -> None:
    study = az.load("westeurope-psping")
    assert set(study.samples["quantity"]) == {"connect"} and study.samples["rtt_ns"].isna().all()
    assert az.latency(study).empty and not az.quantiles(study) and not by_run(study, run_table(study))
    runs = az.latency(study, quantity="connect")
    assert list(runs["median_ns"]) == [2_610_000, 2_365_000, 2_285_000] and set(runs["median_from"]) == {"samples"}
    assert list(runs["n"]) == [100, 100, 50] and set(runs["method"]) == {"psping connect TCP"}
    assert runs["p99_ns"].notna().tolist() == [True, True, False]
    with pytest.raises(ValueError, match="quantity 'rtt' is not one of round_trip, connect"):
        az.latency(study, quantity="rtt")
    mixed = pd.concat([study.samples, az.load("emulated-cloud").samples])
    assert "psping" not in set(counted(mixed)["tool"]) and set(counted(mixed)["quantity"]) == {"round_trip"}
