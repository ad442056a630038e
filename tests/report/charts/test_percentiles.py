"""Percentile curves against the printed tables."""

from __future__ import annotations

import pandas as pd

import azlatency as az
from azlatency.kit.drawing.palette import looks
from azlatency.kit.objects import Chart
from azlatency.report import charts
from azlatency.stats.result import Estimate
from azlatency.stats.within_run.quantiles import frame_of
from azlatency.studies.runs.path import NetworkPath
from azlatency.studies.store.study import Study


def test_printed_percentiles_are_drawn_as_round_trips(cni: Study, cni_latency: pd.DataFrame) -> None:
    curves = az.stats.printed_quantiles(cni.quantiles, cni.metrics, labels=cni_latency[["path", "method"]])
    chart = charts.percentile_curves(curves)
    # single-node/sockperf.log: "percentile 50.000 =   16.493" and "percentile 99.000 =   24.549", printed as RTT/2
    assert isinstance(chart, Chart) and "Single node, sockperf TCP 14 B, n = 283,507" in chart.alt
    assert "p50 32.986 [" in chart.alt and "p99 49.098 [" in chart.alt
    assert chart.title.startswith("p99 of single runs from 49.1 µs (Single node) to ")


def test_panels_have_the_order_of_the_methods_in_the_data() -> None:
    methods = ["ping", "sockperf", "qperf", "netperf", "latte", "echo"]
    estimates = [
        Estimate(
            what="p99",
            estimate=1e5,
            low=None,
            high=None,
            n=1000,
            unit="ns",
            scope="within_run",
            confidence=0.95,
            method="",
            labels={"run_id": method, "path": "a → b", "method": method, "q": 0.99},
        )
        for method in methods
    ]
    chart = charts.percentile_curves(frame_of(estimates))
    assert isinstance(chart, Chart)
    assert [axis.get_title("left") for axis in chart.figure.axes] == methods


def test_each_label_leads_to_a_curve_of_its_own_path() -> None:
    """The panels share an axis whose limits only the last panel makes final."""
    estimates = [
        Estimate(
            what=f"p{100 * q:g}",
            estimate=scale * factor * 1e3,
            low=None,
            high=None,
            n=1000,
            unit="ns",
            scope="within_run",
            confidence=0.95,
            method="",
            labels={"run_id": f"{method} {path}", "path": path, "method": method, "q": q},
        )
        for method, scale in (("near", 1.0), ("far", 1e3))
        for path, factor in (("a → b", 50.0), ("b → a", 60.0), ("a → c", 500.0))
        for q, factor in ((0.5, factor), (0.99, 3 * factor))
    ]
    chart = charts.percentile_curves(frame_of(estimates))
    assert isinstance(chart, Chart) and "(a → c), near" in chart.title
    look = looks(map(NetworkPath.parse, ["a → b", "b → a", "a → c"]))
    for axis in chart.figure.axes:
        notes = [text for text in axis.texts if (text.get_gid() or "").startswith("end of ")]
        assert len(notes) == 3
        ends = {(line.get_color(), line.get_xdata()[-1], line.get_ydata()[-1]) for line in axis.lines}
        for note in notes:
            assert (look[NetworkPath.parse(note.get_gid().removeprefix("end of "))].colour, *note.xy) in ends
        heights = [note.xyann[1] for note in sorted(notes, key=lambda note: note.xy[1])]
        assert heights == sorted(heights)
