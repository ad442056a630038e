"""The charts: what they say in words, that nothing overlaps or is cut, that the same data give the same bytes."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from helpers.chart_checks import assert_fit_to_print, texts

import azlatency as az
from azlatency.report import charts
from azlatency.report.objects import Chart, Note

STUDIES = ("westeurope-azure-cni", "westeurope-availability-set-vs-zones", "emulated-zones")


@pytest.fixture(scope="module", params=STUDIES)
def study(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Any:
    out = tmp_path_factory.mktemp("processed")
    az.import_study(request.param, out=out)
    return az.load(request.param, processed=out)


@pytest.fixture(scope="module")
def drawn(study: Any) -> dict[str, Chart]:
    runs, streams = az.latency_runs(study), az.throughput_runs(study)
    curves = az.printed_quantiles(study.quantiles, study.metrics, labels=runs[["path", "method"]])
    return {
        "curves": charts.percentile_curves(curves),
        "latency": charts.latency_forest(runs, az.by_path(runs, "median_ns")),
        "means": charts.latency_forest(runs, az.by_path(runs, "mean_ns"), value="mean_ns"),
        "throughput": charts.throughput_forest(
            streams, az.by_path(streams, "throughput", unit="bit/s"), expected=az.evidence.expected_bandwidth(study)
        ),
        "series": charts.throughput_series(study.intervals, streams),
    }


def test_every_figure_fits_to_print(drawn: dict[str, Chart]) -> None:
    for name, chart in drawn.items():
        assert isinstance(chart, Chart), name
        assert len(texts(chart)) > 4
        assert_fit_to_print(name, chart)


def test_the_same_data_give_the_same_bytes(study: Any, drawn: dict[str, Chart]) -> None:
    runs = az.latency_runs(study)
    again = charts.latency_forest(runs, az.by_path(runs, "median_ns"))
    assert isinstance(again, Chart)
    assert again.svg() == drawn["latency"].svg() == drawn["latency"].svg()
    assert again.png() == drawn["latency"].png()


def test_the_words_hold_the_numbers(study: Any, drawn: dict[str, Chart]) -> None:
    runs = az.latency_runs(study)
    for value in runs["median_ns"].dropna().astype(float):
        assert f"{value / 1e3:,.5g}" in drawn["latency"].alt
    assert "µs" in drawn["curves"].alt
    assert "Gbit/s" in drawn["throughput"].alt


def test_charts_are_small(drawn: dict[str, Chart]) -> None:
    for name, chart in drawn.items():
        assert len(chart.svg()) < 500_000, name


def test_no_uncertainty_is_invented(study: Any, drawn: dict[str, Chart]) -> None:
    """Where no path was measured twice, the caption says that there is no interval."""
    repeats = az.latency_runs(study).groupby(["path", "method"]).size().max() > 1
    assert ("interval of the path's typical run" in drawn["latency"].caption) == bool(repeats)


def test_three_files_of_one_chart(drawn: dict[str, Chart], tmp_path: Path) -> None:
    paths = drawn["latency"].save(tmp_path / "forest.svg")
    assert [path.suffix for path in paths] == [".svg", ".pdf", ".png"]
    first = [path.read_bytes() for path in paths]
    assert first[0].startswith(b"<?xml") and first[1].startswith(b"%PDF") and first[2].startswith(b"\x89PNG")
    assert [path.read_bytes() for path in drawn["latency"].save(tmp_path / "forest.svg")] == first


def test_nothing_to_draw_is_said() -> None:
    runs = pd.DataFrame({"path": [], "method": [], "median_ns": [], "throughput": []})
    intervals = pd.DataFrame({"run_id": [], "stream": [], "throughput": [], "retransmits": [], "omitted": []})
    for chart in (
        charts.percentile_curves([]),
        charts.latency_forest(runs, []),
        charts.throughput_forest(runs, []),
        charts.throughput_series(intervals, runs),
    ):
        assert isinstance(chart, Note)
        assert chart.text.startswith("No chart: ")


@pytest.mark.parametrize("values", [[5.0], [5.0, 5.0], [0.0], [0.0, 3e9], [1.0, 1e12]])
def test_few_equal_and_zero_values(values: list[float]) -> None:
    runs = pd.DataFrame(
        {"path": "A → B", "method": "iperf3 TCP", "throughput": values, "placement": "cross_zone"}
    ).convert_dtypes()
    estimates = az.by_path(runs, "throughput", unit="bit/s")
    chart = charts.throughput_forest(runs, estimates, expected=4e9)
    assert isinstance(chart, Chart)
    assert chart.svg()


@pytest.mark.parametrize("positions", [[0.5], [0.5, 0.5, 0.5], [0.0, 0.01, 0.99, 1.0], [0.9, 0.95, 1.0, 1.0]])
def test_labels_are_moved_apart_and_stay_on_the_page(positions: list[float]) -> None:
    spots = charts.spread(positions, least=0.1)
    assert all(b - a >= 0.1 - 1e-9 for a, b in itertools.pairwise(spots))
    assert min(spots) >= -1e-9 and max(spots) <= 1 + 1e-9
