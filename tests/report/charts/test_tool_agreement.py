"""The chart of two tools against the raw logs."""

from __future__ import annotations

from dataclasses import replace

import pandas as pd

import azlatency as az
from azlatency.report import charts
from azlatency.report.objects import Chart, Note


def test_each_path_has_the_ratio_of_the_printed_means(cni_latency: pd.DataFrame) -> None:
    chart = charts.agreement_plot(az.stats.agreement(cni_latency))
    # 38.8 us of qperf over 37.645 us of sockperf
    assert isinstance(chart, Chart) and "mean 1.01 [" in chart.alt
    assert any("AZ1 - AZ1" in part and "1.031" in part for part in chart.alt.split(";"))


def test_methods_that_send_different_packets_have_no_ratio(cni_latency: pd.DataFrame) -> None:
    agreements = az.stats.agreement(cni_latency)
    unlike = [replace(agreement, differs_in=("protocol",)) for agreement in agreements]
    note = charts.agreement_plot(unlike)
    assert isinstance(note, Note) and "no two methods of this study sent the same packets" in note.text
    chart = charts.agreement_plot([*agreements, *unlike])
    assert isinstance(chart, Chart) and len(chart.figure.axes) == len(agreements)
    low, high = chart.figure.axes[0].get_xlim()
    assert 1 / 1.1 < low < 1 / 1.05 and 1.05 < high < 1.1
