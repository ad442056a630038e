"""Charts of planning."""

from __future__ import annotations

import pandas as pd
from helpers.studies import load

import azlatency as az
from azlatency.kit.objects import Chart, Note
from azlatency.report import charts


def test_single_runs_have_a_note(cni_latency: pd.DataFrame) -> None:
    assert isinstance(charts.runs_needed_forest(az.plan(cni_latency)), Note)
    assert isinstance(charts.precision_chart([]), Note)


def test_the_title_of_the_curves_is_a_row_of_the_table_of_plans() -> None:
    runs = az.latency(load("emulated-zones"))
    plans = az.plan(runs, 0.02)
    chart = charts.precision_chart(az.stats.precision_curves(runs, plans))
    assert isinstance(chart, Chart)
    of_title = {"path": "az1b → az1a", "method": "sockperf TCP 14 B"}
    (needed,) = [plan.high for plan in plans if of_title.items() <= plan.labels.items()]
    assert chart.title == f"±2 % takes {needed} runs, ±1 % more than 200 (az1b → az1a, sockperf TCP 14 B)"
