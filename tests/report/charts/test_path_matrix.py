"""The matrix of zones."""

from __future__ import annotations

from helpers.studies import load

import azlatency as az
from azlatency.report import charts
from azlatency.report.objects import Chart, Note


def test_each_square_has_the_value_of_its_direction_and_its_interval() -> None:
    runs = az.throughput(load("emulated-zones"), sender_only=True)
    typical = az.summarize(runs, "throughput_bit_s")
    chart = charts.path_matrix(runs, typical, value="throughput_bit_s")
    assert isinstance(chart, Chart) and "zone 3 → zone 2" not in chart.alt and "3 → 2: 0.495 Gbit/s" in chart.alt
    shown = [text.get_text() for text in chart.figure.axes[0].texts]
    slow = next(one for one in typical if one.labels == {**one.labels, "path": "az3a → az2a", "method": "iperf3 TCP"})
    assert "0.495" in shown and f"{slow.low / 1e9:.3f}–{slow.high / 1e9:.3f}" in shown
    assert "12 runs each" in chart.title


def test_two_pairs_are_no_matrix() -> None:
    runs = az.latency(load("westeurope-availability-set-vs-zones"))
    assert isinstance(charts.path_matrix(runs, az.summarize(runs)), Note)
