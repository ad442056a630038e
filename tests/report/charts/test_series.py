"""Throughput by interval against the raw logs."""

from __future__ import annotations

import pandas as pd
from helpers.studies import load

import azlatency as az
from azlatency.kit.objects import Chart
from azlatency.report import charts
from azlatency.studies.store.study import Study


def test_intervals_are_those_of_the_log(cni: Study, cni_throughput: pd.DataFrame) -> None:
    chart = charts.throughput_series(cni.intervals, cni_throughput)
    # az1-az3/iperf3.log: ten intervals from 7.26 to 7.62 Gbits/sec, 616 retransmitted segments
    assert isinstance(chart, Chart)
    line = next(line for line in chart.alt.splitlines() if line.startswith("AZ1 - AZ3"))
    assert ": 7.26, 8.36," in line and "7.62 Gbit/s" in line and "616" in line


def test_the_title_and_a_line_show_when_a_bucket_was_empty() -> None:
    study = load("ec2-token-buckets")
    runs = az.studies.client_side_runs(az.studies.run_table(study))
    rates = az.stats.time_series.throughput_series(study.intervals, runs)
    chart = charts.throughput_series(study.intervals, runs, rates)
    assert isinstance(chart, Chart) and "Dashed: the rate falls and stays low." in chart.caption
    fallen = [rate for rate in rates if rate.throttled.found]
    assert f"The rate falls in {len(fallen)} of {len(rates)} runs; for example c5.large, from" in chart.title
    moments = {line.get_xdata()[0] for axis in chart.figure.axes for line in axis.lines if line.get_linestyle() == "--"}
    assert len(moments) == 4 and moments <= {rate.throttled.at_s for rate in fallen}


def test_runs_without_retransmits_have_no_empty_panels(zones: Study) -> None:
    # "[SUM] 0.00-10.00 sec … 0 sender" in both logs
    chart = charts.throughput_series(zones.intervals, az.throughput(zones))
    assert isinstance(chart, Chart) and "; no retransmits." in chart.caption and len(chart.figure.axes) == 2
