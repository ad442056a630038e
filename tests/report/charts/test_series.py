"""Throughput by interval against the raw logs."""

from __future__ import annotations

import pandas as pd

from azlatency.report import charts
from azlatency.report.objects import Chart
from azlatency.studies.store import Study


def test_intervals_are_those_of_the_log(cni: Study, cni_throughput: pd.DataFrame) -> None:
    chart = charts.throughput_series(cni.intervals, cni_throughput)
    # az1-az3/iperf3.log: ten intervals from 7.26 to 7.62 Gbits/sec, 616 retransmitted segments
    assert isinstance(chart, Chart)
    line = next(line for line in chart.alt.splitlines() if line.startswith("AZ1 - AZ3"))
    assert ": 7.26, 8.36," in line and "7.62 Gbit/s" in line and "616" in line
