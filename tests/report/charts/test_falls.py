"""The chart of token buckets."""

from __future__ import annotations

from helpers.studies import load

import azlatency as az
from azlatency.kit.objects import Chart, Note
from azlatency.report import charts


def test_each_run_is_a_dot_and_hosts_that_start_at_another_rate_are_hollow() -> None:
    study = load("ec2-token-buckets")
    runs = az.studies.client_side_runs(az.studies.run_table(study))
    chart = charts.falls_by_path(az.stats.time_series.throughput_series(study.intervals, runs))
    assert isinstance(chart, Chart)
    assert chart.title.startswith("28 of 29 rates fall: after 4.6 min (c5.large), 8.8 min (c5.xlarge)")
    marks = [line for line in chart.figure.axes[0].lines if line.get_marker() == "o"]
    assert len(marks) == 28 and sum(mark.get_markerfacecolor() == "white" for mark in marks) == 4
    assert "Hollow: at 5.02–8.72 Gbit/s." in chart.caption and "1 of 29 transfers did not fall" in chart.caption


def test_without_falls_there_is_a_note() -> None:
    assert isinstance(charts.falls_by_path([]), Note)
