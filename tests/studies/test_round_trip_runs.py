"""The round-trip times of each run."""

from __future__ import annotations

import pandas as pd
import pytest
from helpers.places import FIXTURES

import azlatency as az
from azlatency.studies import round_trip_runs


def test_an_open_class_has_no_middle(monkeypatch: pytest.MonkeyPatch) -> None:
    table = pd.DataFrame({"run_id": "r", "low_ns": [0.0, 10.0], "high_ns": [10.0, pd.NA], "count": [30, 90]})
    monkeypatch.setattr(round_trip_runs, "frequency_tables", lambda study: table.convert_dtypes())
    runs = pd.DataFrame({"median_ns": float("nan"), "p99_ns": float("nan"), "median_from": None}, index=["r"])
    round_trip_runs._fill_from_classes(None, runs)
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
