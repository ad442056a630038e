"""The chart of a baseline."""

from __future__ import annotations

import azlatency as az
from azlatency.report import charts
from azlatency.report.objects import Chart
from azlatency.studies.store import Study


def test_the_mean_the_limit_and_the_verdict_are_named(latte: Study) -> None:
    # sender.log: "Latency(usec) 2026.40"
    chart = charts.baseline_bullets(az.baseline(latte, latte.expectations))
    assert isinstance(chart, Chart) and "2,026.4 µs, at most 2,000 µs: inconclusive" in chart.alt
