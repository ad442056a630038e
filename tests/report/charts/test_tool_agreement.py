"""The chart of two tools against the raw logs."""

from __future__ import annotations

import pandas as pd

import azlatency as az
from azlatency.report import charts
from azlatency.report.objects import Chart


def test_each_path_has_the_ratio_of_the_printed_means(cni_latency: pd.DataFrame) -> None:
    chart = charts.agreement_plot(az.stats.agreement(cni_latency))
    # 38.8 us of qperf over 37.645 us of sockperf
    assert isinstance(chart, Chart) and "mean 1.01 [" in chart.alt
    assert any("AZ1 - AZ1" in part and "1.031" in part for part in chart.alt.split(";"))
