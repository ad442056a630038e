"""The estimation plot of a change against the raw logs."""

from __future__ import annotations

import azlatency as az
from azlatency.report import charts
from azlatency.report.objects import Chart, Note
from azlatency.studies.store.study import Study


def test_both_sides_and_their_ratio_are_named(zones: Study) -> None:
    conditions = az.stats.placement.conditions(zones, az.latency(zones))
    chart = charts.estimation_plot(az.stats.placement.changes(conditions, "placement"))
    # ping.log of both folders: means of 1.902 ms and 0.969 ms
    assert isinstance(chart, Chart) and "1,902 µs" in chart.alt and "969 µs" in chart.alt and "0.509" in chart.alt


def test_without_changes_there_is_a_note() -> None:
    assert isinstance(charts.estimation_plot([]), Note)
