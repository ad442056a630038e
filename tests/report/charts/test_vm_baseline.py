"""The chart of a baseline."""

from __future__ import annotations

import azlatency as az
from azlatency.report import charts
from azlatency.report.objects import Chart, Note
from azlatency.studies.store.study import Study


def test_the_mean_the_limit_and_the_verdict_are_named(cni: Study) -> None:
    # AZ1 - AZ3/iperf3-client.log: "7.91 Gbits/sec"; the baseline expects "4 Gbps", a tenth more or less.
    chart = charts.baseline_bullets(az.baseline(cni))
    assert isinstance(chart, Chart)
    assert "AZ1 - AZ3, iperf3 TCP: 7.91 Gbit/s, 3.6 to 4.4 Gbit/s: inconclusive" in chart.alt
    assert chart.title.endswith("3.6 to 4.4 Gbit/s is expected: all above it, not tested (one run each)")


def test_one_measurement_is_a_sentence(latte: Study) -> None:
    # sender.log: "Latency(usec) 2026.40"
    note = charts.baseline_bullets(az.baseline(latte, latte.expectations))
    assert isinstance(note, Note) and "2,026.4 µs, at most 2,000 µs: inconclusive" in note.text
