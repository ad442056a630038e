"""Findings of the history."""

from __future__ import annotations

import pandas as pd
from helpers.cases import stream

import azlatency as az
from azlatency.report import findings


def _series(level: float, missing: int = 0) -> list[object]:
    nights = pd.date_range("2026-09-01", periods=50, freq="D", tz="UTC")
    values = 300e3 * stream(7).lognormal(0, 0.02, 50)
    values[30:] *= level
    runs = pd.DataFrame({"path": "a → b", "method": "ping", "started_at": nights, "median_ns": values})
    return az.history(runs.drop(index=range(5, 5 + missing)))


def test_a_change_is_named_with_its_date_and_a_steady_study_is_said_to_be_steady() -> None:
    changed = str(findings.history.find(_series(1.2)))
    assert "1 of 1 series" in changed and "changed on 2026-10-01" in changed
    steady = str(findings.history.find(_series(1, missing=2)))
    assert "No level changed" in steady and "Nights missing: 1 of 1 series" in steady
