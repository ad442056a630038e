"""The round-trip times of each run."""

from __future__ import annotations

import pandas as pd
import pytest

from azlatency.studies import round_trip_runs


def test_an_open_class_has_no_middle(monkeypatch: pytest.MonkeyPatch) -> None:
    table = pd.DataFrame({"run_id": "r", "low_ns": [0.0, 10.0], "high_ns": [10.0, pd.NA], "count": [30, 90]})
    monkeypatch.setattr(round_trip_runs, "frequency_tables", lambda study: table.convert_dtypes())
    runs = pd.DataFrame({"median_ns": float("nan"), "p99_ns": float("nan"), "median_from": None}, index=["r"])
    round_trip_runs._fill_from_classes(None, runs)
    assert runs.loc["r"].isna().all()
