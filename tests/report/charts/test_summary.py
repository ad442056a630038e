from __future__ import annotations

from dataclasses import replace

from azlatency.report.charts.summary import zone_map
from azlatency.report.charts.truth import Configured, _configured
from azlatency.report.objects import Chart, Note
from azlatency.stats.across_runs.zone_pairs import ZonePair
from azlatency.studies.path import Path


def pair(first: str, second: str, *values: float) -> ZonePair:
    return ZonePair(first=first, second=second, values=values, quantity="mean RTT, qperf")


def test_the_map_writes_times_on_the_edges_and_marks_far_pairs() -> None:
    chart = zone_map([pair("1", "1", 77.6e3), pair("1", "2", 121e3), pair("1", "3", 1398e3), pair("2", "3", 1436e3)])
    assert isinstance(chart, Chart)
    texts = {text.get_text() for text in chart.figure.axes[0].texts}
    assert {"121 µs", "1.40 ms", "1.44 ms", "inside: 77.6 µs"} <= texts
    assert [line.get_linestyle() for line in chart.figure.axes[0].lines[:3]] == ["-", "--", "--"]


def test_repeated_runs_show_their_median_and_range_and_an_emulated_link_its_delay() -> None:
    link = replace(pair("1", "2", 150e3, 160e3, 900e3), paths=(Path.between("a", "b"),))
    token = _configured.set(Configured(rtt={"a → b": 120e3}))
    try:
        chart = zone_map([link])
    finally:
        _configured.reset(token)
    assert isinstance(chart, Chart) and "× configured" in chart.caption.replace("×:", "×")
    assert "160 µs\n(150–900 µs)\n× 120 µs" in {text.get_text() for text in chart.figure.axes[0].texts}


def test_without_zone_pairs_there_is_no_map() -> None:
    assert isinstance(zone_map([pair("1", "1", 77.6e3)]), Note)
