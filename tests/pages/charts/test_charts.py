"""Every chart of every study: its words and numbers, nothing cut or covered, its size, the same bytes each time."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable
from pathlib import Path

import pandas as pd
import pytest
from helpers.chart_cases import DrawnCharts, StudyResults, every_chart
from helpers.chart_checks import assert_fit_to_print
from helpers.results import NOTHING

import azlatency as az
from azlatency.kit.drawing.axes import spread
from azlatency.kit.objects import Chart, Note
from azlatency.pages import common, latency
from azlatency.studies.format import plain

MOST_BYTES = 500_000

#: The study with samples, rounds and both directions, and its charts that other fast tests draw: of the study
#: westeurope-azure-cni, of hard samples, at the width of one column, or in the test file of their name.
RICHEST = "emulated-zones"
OF_OTHERS = {
    "printed curves", "means", "goodput", "placement", "steps", "changes", "agreement",
    "sampled curves", "tails", "series", "runs needed", "precision", "halves", "latency both ways",
    "shapes", "runs in order", "emulated errors",
}  # fmt: skip


def figures(drawn: DrawnCharts) -> dict[str, Chart]:
    return {name: chart for name, chart in drawn.items() if isinstance(chart, Chart)}


def assert_fit_the_page_or_say_why_there_is_none(drawn: DrawnCharts, names: Iterable[str]) -> None:
    for name in names:
        chart = drawn[name]
        if isinstance(chart, Note):
            assert chart.text.startswith("No chart: "), name
            continue
        # The smallest map has a title, a value and the names of two zones.
        assert len(assert_fit_to_print(name, chart)) > (3 if name == "zone map" else 4), name
        assert chart.caption.endswith(".") and any(digit in chart.alt for digit in "123456789"), name


@pytest.mark.costly
def test_every_chart_fits_the_page_or_says_why_there_is_none(results: StudyResults, drawn: DrawnCharts) -> None:
    names = set(drawn) - (OF_OTHERS if results.study.name == RICHEST else set())
    assert_fit_the_page_or_say_why_there_is_none(drawn, names)
    notes = {name for name in names if isinstance(drawn[name], Note)}
    assert notes == {"baseline", "intervals", "long intervals"} or results.study.name != RICHEST
    assert notes < names or results.study.name == "cassandra-vm-baseline"


@pytest.mark.slow
def test_the_other_charts_of_the_richest_study_fit_the_page(drawn_of: Callable[[str], DrawnCharts]) -> None:
    drawn = drawn_of(RICHEST)
    assert_fit_the_page_or_say_why_there_is_none(drawn, OF_OTHERS)
    assert all(isinstance(drawn[name], Chart) for name in OF_OTHERS)


def assert_same_bytes_again(results: StudyResults, drawn: DrawnCharts, names: Iterable[str]) -> None:
    draw = every_chart(results.study, results)
    for name in names:
        first, second = drawn[name], draw[name]()
        if isinstance(first, Chart):
            assert isinstance(second, Chart) and first.svg() == second.svg() == first.svg(), name


@pytest.mark.costly
def test_the_same_data_give_the_same_bytes(
    results_of: Callable[[str], StudyResults], drawn_of: Callable[[str], DrawnCharts]
) -> None:
    study = "westeurope-azure-cni"
    assert_same_bytes_again(results_of(study), drawn_of(study), ["medians"])


@pytest.mark.slow
def test_every_chart_of_the_same_data_has_the_same_bytes(results: StudyResults, drawn: DrawnCharts) -> None:
    assert_same_bytes_again(results, drawn, drawn)
    for name, chart in figures(drawn).items():
        assert len(chart.svg()) < MOST_BYTES, name


def test_the_words_contain_the_numbers(results: StudyResults, drawn: DrawnCharts) -> None:
    if isinstance(medians := drawn["medians"], Chart):
        for value in results.runs["median_ns"].dropna().astype(float):
            assert plain(value / 1e3, 5) in medians.alt
    if results.study.name != RICHEST:
        for name, unit in (("printed curves", "µs"), ("goodput", "Gbit/s")):
            assert isinstance(chart := drawn[name], Note) or unit in chart.alt


def test_no_uncertainty_is_invented(results: StudyResults, drawn: DrawnCharts) -> None:
    """Where no path was measured twice, the caption says that there is no interval."""
    if isinstance(medians := drawn["medians"], Chart):
        repeats = results.runs.groupby(["path", "method"]).size().max() > 1
        assert ("interval of the path's typical run" in medians.caption) == bool(repeats)


@pytest.mark.slow
def test_three_files_of_one_chart(tmp_path: Path) -> None:
    runs = pd.DataFrame(
        {"path": "A → B", "method": "ping", "median_ns": [5e4, 6e4], "placement": None}, index=["a", "b"]
    )
    chart = common.typical_forest(runs, az.summarize(runs, "median_ns"))
    assert isinstance(chart, Chart)
    paths = chart.save(tmp_path / "forest")
    assert [path.name for path in paths] == ["forest.svg", "forest.pdf", "forest.png"]
    first = [path.read_bytes() for path in paths]
    assert first[0].startswith(b"<?xml") and first[1].startswith(b"%PDF") and first[2].startswith(b"\x89PNG")
    assert [path.read_bytes() for path in chart.save(tmp_path / "forest")] == first
    for name in ("one.PDF", "tail_p99.9", "tail_p99.99", "az1.az2"):
        chart.save(str(tmp_path / name))
    tails = [f"tail_p99.{digits}.{ending}" for digits in ("9", "99") for ending in ("pdf", "png", "svg")]
    others = [f"{name}.{ending}" for name in ("az1.az2", "forest") for ending in ("pdf", "png", "svg")]
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(["one.PDF", *tails, *others])
    assert (tmp_path / "one.PDF").read_bytes() == first[1] == (tmp_path / "tail_p99.9.pdf").read_bytes()
    for name, formats in (("x.jpg", ("svg",)), ("x", ("svg", "eps"))):
        with pytest.raises(ValueError, match=r"x.*: a chart cannot be saved as '(jpg|eps)'; choose svg, pdf, png"):
            chart.save(tmp_path / name, formats)
    assert not list(tmp_path.glob("x*"))


def test_a_chart_without_data_is_a_note() -> None:
    runs = pd.DataFrame({"path": [], "method": [], "median_ns": [], "throughput_bit_s": []})
    for chart in (
        latency.percentile_curves(NOTHING),
        common.typical_forest(runs, NOTHING),
        common.typical_forest(runs, NOTHING, "throughput_bit_s"),
    ):
        assert isinstance(chart, Note)
        assert chart.text.startswith("No chart: ")


@pytest.mark.costly
@pytest.mark.parametrize("values", [[5.0, 5.0], [0.0, 0.0], [0.0, 3e9], [1.0, 1e12]])
def test_few_equal_and_zero_values(values: list[float]) -> None:
    runs = pd.DataFrame(
        {"path": "A → B", "method": "iperf3 TCP", "throughput_bit_s": values, "placement": "cross_zone"}
    ).convert_dtypes()
    estimates = az.summarize(runs, "throughput_bit_s")
    chart = common.typical_forest(runs, estimates, "throughput_bit_s", expected=4e9)
    assert isinstance(chart, Chart)
    assert chart.svg()


@pytest.mark.parametrize("positions", [[0.5], [0.5, 0.5, 0.5], [0.0, 0.01, 0.99, 1.0], [0.9, 0.95, 1.0, 1.0]])
def test_labels_are_moved_apart_and_stay_on_the_page(positions: list[float]) -> None:
    spots = spread(positions, least=0.1)
    assert all(b - a >= 0.1 - 1e-9 for a, b in itertools.pairwise(spots))
    assert min(spots) >= -1e-9 and max(spots) <= 1 + 1e-9
