"""The configured links of an emulated study in its charts."""

from __future__ import annotations

from collections.abc import Callable

import pandas as pd
from helpers.chart_cases import StudyResults

import azlatency as az
from azlatency import shapes as charts
from azlatency.kit.drawing.truth import configured
from azlatency.kit.objects import Chart
from azlatency.pages import common


def test_charts_of_an_emulated_study_draw_what_was_configured(results_of: Callable[[str], StudyResults]) -> None:
    runs = pd.DataFrame(
        {"path": "az2a → az3a", "method": "ping", "median_ns": [8e5, 9e5], "placement": None}, index=["a", "b"]
    )
    try:
        charts.ground_truth(results_of("emulated-zones").study)
        # truth.json: 325 µs one way, 445 µs the other; 1 Gbit/s and 500 Mbit/s
        assert configured().rtt["az2a → az3a"] == configured().rtt["az3a → az2a"] == 770e3
        assert configured().rate["az2a → az3a"] == 1e9 and configured().rate["az3a → az2a"] == 5e8
        chart = common.typical_forest(runs, az.summarize(runs, "median_ns"))
        assert isinstance(chart, Chart) and "configured round-trip delay" in chart.caption
        assert "configured 770 µs" in chart.svg()
    finally:
        charts.ground_truth(None)
    chart = common.typical_forest(runs, az.summarize(runs, "median_ns"))
    assert isinstance(chart, Chart) and "configured" not in chart.caption
