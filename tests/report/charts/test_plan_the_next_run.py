"""Charts of planning."""

from __future__ import annotations

import pandas as pd

import azlatency as az
from azlatency.report import charts
from azlatency.report.objects import Note


def test_single_runs_have_a_note(cni_latency: pd.DataFrame) -> None:
    assert isinstance(charts.runs_needed_forest(az.plan(cni_latency)), Note)
    assert isinstance(charts.precision_chart([]), Note)
