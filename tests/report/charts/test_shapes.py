"""The chart of distributions."""

from __future__ import annotations

from helpers.studies import load

import azlatency as az
from azlatency.kit.objects import Chart, Note
from azlatency.report import charts


def test_studies_without_samples_have_a_note() -> None:
    assert isinstance(charts.run_shapes([]), Note)


def test_each_run_is_drawn_with_its_size() -> None:
    study = az.studies.select(load("emulated-zones"), "az1a -> az2a")
    histograms = az.stats.distribution_shape.run_histograms(study, az.latency(study))
    chart = charts.run_shapes(histograms)
    assert isinstance(chart, Chart) and "az1a → az2a" in chart.alt


def test_every_path_has_a_curve_if_there_are_more_runs_than_a_chart_shows() -> None:
    study = load("emulated-zones")
    histograms = az.stats.distribution_shape.run_histograms(study, az.latency(study))
    chart = charts.run_shapes(histograms)
    assert isinstance(chart, Chart) and f"36 of {len(histograms)} runs" in chart.caption
    assert {line.split(",")[0] for line in chart.alt.splitlines()} == {str(shape.path) for shape in histograms}
