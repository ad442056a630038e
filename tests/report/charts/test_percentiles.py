"""Percentile curves against the printed tables."""

from __future__ import annotations

import pandas as pd

import azlatency as az
from azlatency.report import charts
from azlatency.report.objects import Chart
from azlatency.studies.store import Study


def test_printed_percentiles_are_drawn_as_round_trips(cni: Study, cni_latency: pd.DataFrame) -> None:
    curves = az.stats.printed_quantiles(cni.quantiles, cni.metrics, labels=cni_latency[["path", "method"]])
    chart = charts.percentile_curves(curves)
    # single-node/sockperf.log: "percentile 50.000 =   16.493" and "percentile 99.000 =   24.549", printed as RTT/2
    assert isinstance(chart, Chart) and "Single node, sockperf TCP 14 B, n = 283,507" in chart.alt
    assert "p50 32.986 [" in chart.alt and "p99 49.098 [" in chart.alt
