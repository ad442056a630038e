"""The matrix of zones."""

from __future__ import annotations

import pandas as pd
import pytest
from helpers.results import NOTHING, estimates_of
from helpers.studies import load

import azlatency as az
from azlatency.kit.objects import Chart, Note
from azlatency.report import charts


def test_each_square_has_the_value_of_its_direction_and_its_interval() -> None:
    runs = az.throughput(load("emulated-zones"), sender_only=True)
    typical = az.summarize(runs, "throughput_bit_s")
    chart = charts.path_matrix(runs, typical, value="throughput_bit_s")
    assert isinstance(chart, Chart) and "zone 3 → zone 2" not in chart.alt and "3 → 2: 0.495 Gbit/s" in chart.alt
    shown = [text.get_text() for text in chart.figure.axes[0].texts]
    slow = next(
        one
        for one in estimates_of(typical)
        if one.labels == {**one.labels, "path": "az3a → az2a", "method": "iperf3 TCP"}
    )
    assert "0.495" in shown and f"{slow.low / 1e9:.3f}–{slow.high / 1e9:.3f}" in shown
    assert "12 runs each" in chart.title


def test_two_pairs_are_no_matrix() -> None:
    runs = az.latency(load("westeurope-availability-set-vs-zones"))
    assert isinstance(charts.path_matrix(runs, az.summarize(runs)), Note)


@pytest.mark.slow
def test_fifty_zones_are_shades_with_their_names_on_all_sides() -> None:
    zones = [f"z{place:02d}" for place in range(50)]
    runs = pd.DataFrame(
        [
            {
                "path": f"{a} → {b}",
                "method": "ping",
                "zone": a,
                "peer_zone": b,
                "region": "r",
                "peer_region": "r",
                "placement": "cross_zone",
                "median_ns": 1e5 + 1e4 * abs(int(a[1:]) - int(b[1:])),
            }
            for a in zones
            for b in zones[::7]
            if a != b
        ]
    )
    chart = charts.path_matrix(runs, NOTHING)
    assert isinstance(chart, Chart) and "Light: 110 µs; dark: 590 µs" in chart.caption
    axis = chart.figure.axes[0]
    assert not axis.texts and [text.get_text() for text in axis.get_yticklabels()] == [*zones, *zones]
    more = runs.assign(zone=[f"{zone}{place % 2}" for place, zone in enumerate(runs["zone"])], path=runs.index.map(str))
    note = charts.path_matrix(more, NOTHING)
    assert isinstance(note, Note) and "zones are too many" in note.text
