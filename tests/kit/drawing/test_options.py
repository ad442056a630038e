"""What every chart takes besides its data: axes, titles, limits, colours, widths and themes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import matplotlib as mpl
import matplotlib.pyplot as plt
import pandas as pd
import pytest
from helpers.cases import thinned
from helpers.chart_cases import StudyResults, every_chart
from helpers.chart_checks import again, assert_fit_to_print
from helpers.studies import load
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.collections import Collection
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

import azlatency as az
from azlatency.kit.drawing.palette import DARK, ESTIMATE, INK, RUN
from azlatency.kit.objects import Chart, Note


@pytest.fixture(autouse=True)
def close_figures() -> Iterator[None]:
    yield
    plt.close("all")


@pytest.fixture(scope="module")
def runs() -> pd.DataFrame:
    frame = az.latency(load("emulated-zones"))
    return frame[frame["tool"] == "ping"]


@pytest.fixture(scope="module")
def forest(runs: pd.DataFrame) -> Any:
    estimates = az.summarize(runs, by=["path", "method"])

    def draw(**options: Any) -> Chart:
        dots = runs.assign(estimate=runs["median_ns"])
        columns = {"low": "low", "high": "high", "panel": "method", "row": "path"}
        chart = az.charts.forest(
            estimates, "estimate", **columns, points=dots, unit=(1e3, "µs"), result="Medians", **options
        )
        assert isinstance(chart, Chart)
        return chart

    return draw


@pytest.fixture(scope="module")
def charts(results_of: Callable[[str], StudyResults]) -> dict[str, Any]:
    results = results_of("emulated-zones")
    return every_chart(results.study, results)


CHARTS = [
    "goodput", "shapes", "runs in order", "medians", "printed curves", "intervals", "tails", "placement", "series",
    "latency both ways", "runs needed", "precision", "agreement", "halves", "zone map", "emulated errors",
]  # fmt: skip


@pytest.mark.costly
@pytest.mark.parametrize("name", thinned(CHARTS, 16))
def test_every_chart_takes_a_figure_and_a_theme(charts: dict[str, Any], name: str) -> None:
    page = Figure(figsize=(7, 6), layout="constrained")
    place, _ = page.subfigures(2, 1)
    chart = again(charts[name](), figure=place, theme="dark")
    assert isinstance(chart, Note) or (chart.figure is place and place.axes)
    page.canvas.draw()
    assert tuple(page.get_size_inches()) == (7, 6), "the figure of the caller keeps its size"


def test_axes_of_the_caller(forest: Any) -> None:
    figure, (left, right) = plt.subplots(1, 2, figsize=(8, 3))
    chart = forest(ax=left, title="Round trips")
    assert chart.figure is figure and left.get_title(loc="left") + left.get_title() == "Round trips"
    assert [item.get_text() for item in left.get_yticklabels()] and not right.has_data()
    assert tuple(figure.get_size_inches()) == (8, 3)
    with pytest.raises(ValueError, match=r"the chart has 1 panels; pass axes= with 1 axes, or figure="):
        forest(axes=[left, right])
    with pytest.raises(ValueError, match="pass one of ax, axes and figure"):
        forest(ax=left, figure=figure)


@pytest.mark.costly
def test_limits_scales_and_titles(forest: Any) -> None:
    chart = forest(title="Mine", xlim=(0, 500), log="")
    (axis,) = chart.figure.axes
    assert chart.title == "Mine" and chart.figure.get_suptitle() == "Mine"
    assert (axis.get_xscale(), axis.get_xlim()) == ("linear", (0, 500)) and "(log)" not in axis.get_xlabel()
    assert forest(title="").figure.get_suptitle() == "" != forest().figure.get_suptitle()
    assert forest(log="x").figure.axes[0].get_xlabel().endswith("µs (log)")


@pytest.mark.slow
def test_rows_in_the_order_of_the_caller(forest: Any) -> None:
    def rows(**options: Any) -> list[str]:
        return [item.get_text() for item in forest(**options).figure.axes[0].get_yticklabels()]

    assert rows(order=["az3a → az2a", "az1b → az1a"])[:2] == ["az3a → az2a", "az1b → az1a"] != rows()[:2]
    assert sorted(rows(order=["az3a → az2a"])) == sorted(rows())
    with pytest.raises(ValueError, match=r"order names 'az3a → az2', which the chart has not; did you mean 'az3a"):
        forest(order=["az3a → az2"])


def colours(chart: Chart) -> set[str]:
    lines = {to_hex(item.get_color()) for item in chart.figure.findobj(Line2D)}
    return lines | {to_hex(edge) for item in chart.figure.findobj(Collection) for edge in item.get_edgecolor()}


@pytest.mark.slow
def test_palettes_and_themes(forest: Any) -> None:
    assert {ESTIMATE, RUN} <= colours(forest())
    mine = colours(forest(palette=["#aa0000", "#00aa00"]))
    assert {"#aa0000", "#00aa00"} <= mine and not {ESTIMATE, RUN} & mine
    dark = forest(theme="dark")
    assert {DARK[ESTIMATE], DARK[RUN]} <= colours(dark) and to_hex(dark.figure.get_facecolor()) == DARK["#ffffff"]
    printed = forest(theme="print")
    assert printed.figure.get_suptitle() == "" != printed.title
    with pytest.raises(ValueError, match="theme = 'neon' is not one of 'light', 'dark', 'print'"):
        forest(theme="neon")


@pytest.mark.costly
def test_a_colour_for_a_path(results_of: Callable[[str], StudyResults]) -> None:
    results = results_of("westeurope-azure-cni")
    chart = again(every_chart(results.study, results)["printed curves"](), palette={"AZ1 - AZ2": "#123456"})
    assert isinstance(chart, Chart) and "#123456" in colours(chart)


@pytest.mark.slow
def test_journal_widths(forest: Any) -> None:
    assert forest(width="single").figure.get_figwidth() == 3.3
    assert forest(width="double").figure.get_figwidth() == forest().figure.get_figwidth() == 7.0


def test_styles_of_the_caller_count_more_than_the_style_file(forest: Any) -> None:
    with mpl.rc_context({"lines.linewidth": 4.0, "axes.labelsize": 14.0}), plt.style.context("dark_background"):
        chart = forest()
    (axis,) = chart.figure.axes
    assert axis.xaxis.label.get_fontsize() == 14 and to_hex(axis.get_facecolor()) == "#000000"
    assert INK not in {to_hex(item.get_color()) for item in axis.texts}, "it could not be seen"
    assert forest().figure.axes[0].xaxis.label.get_fontsize() == 9


def test_the_options_are_in_the_signature_and_the_help() -> None:
    import inspect

    names = list(inspect.signature(az.charts.forest).parameters)
    assert names[:2] == ["frame", "value"] and {"ax", "palette", "theme", "width"} <= set(names)
    assert "help(az.charts.Options)" in (az.charts.forest.__doc__ or "")


@pytest.mark.costly
@pytest.mark.parametrize("place", ["ax", pytest.param("figure", marks=pytest.mark.slow)])
def test_six_charts_of_a_page_do_not_overlap(results_of: Callable[[str], StudyResults], place: str) -> None:
    """A figure of a paper, 7.16 in wide, with two rows of three charts."""
    study = load("emulated-zones")
    runs, found = az.latency(study), results_of("emulated-zones").asymmetries
    ping = runs[runs["tool"] == "ping"]
    of_path = ping[ping["path"] == ping["path"].iloc[0]]
    quantiles = az.stats.printed_quantiles(study.quantiles, study.metrics, labels=runs[["path", "method"]])
    shapes = az.stats.distribution_shape.run_histograms(study, runs)
    points = shapes.runs.merge(shapes.bins[["run_id", "high_ns", "share"]], on="run_id")
    pairs = found.pairs[found.pairs["metric"] == "latency"].assign(name=lambda rows: rows["from"] + " ↔ " + rows["to"])
    page = Figure(figsize=(7.16, 6.0), layout="constrained")
    FigureCanvasAgg(page)
    places = page.subplots(2, 3).ravel() if place == "ax" else page.subfigures(2, 3).ravel()
    options = [{place: each, "labels": False} for each in places]

    def first(frame: pd.DataFrame) -> pd.DataFrame:
        return frame[frame["method"] == frame["method"].iloc[0]]

    forest, matrix, series = az.charts.forest, az.charts.matrix, az.charts.series
    unit = {"unit": (1e3, "µs")}
    forest(az.summarize(ping), "estimate", panel="method", row="path", low="low", high="high", **unit, **options[0])
    az.charts.curves(first(quantiles), "estimate", panel="method", line="run_id", colour="path", **options[1])
    matrix(first(found.cells), "estimate", row="from", column="to", panel="method", **options[2])
    lines = {"line": "run_id", "text": "path", "colour": "path"}
    az.charts.density(first(points), "high_ns", panel="method", **lines, **options[3])
    series(of_path.assign(level=of_path["median_ns"].median()), "median_ns", panel="path", **options[4])
    forest(first(pairs), "ratio", panel="method", row="name", verdict="verdict", margin="margin", **options[5])
    assert_fit_to_print("six charts", Chart(page, "", ""))
    assert not any(axis.texts for axis in page.axes) and not page.legends


@pytest.mark.costly
@pytest.mark.parametrize("width", ["single", pytest.param("double", marks=pytest.mark.slow)])
@pytest.mark.parametrize("shape", thinned(["forest", "curves", "course", "density", "series"], 3))
def test_no_figure_is_higher_than_a_page(shape: str, width: Any) -> None:
    """Panels are drawn smaller, and those that find no room are named in the caption."""
    panels = [f"tool {place}" for place in range(24)]
    levels = pd.DataFrame(
        {"q": [0.5, 0.9, 0.99], "share": [0.5, 0.9, 1.0], "x": [1e5, 2e5, 4e5], "x_low": 9e4, "x_high": 9e5}
    )
    frame = pd.concat([levels.assign(panel=name, path=f"a → {name}", low=9e4, high=9e5, level=1e5) for name in panels])
    frame = frame.assign(start=frame["q"], n=100)
    others = {
        "forest": {"row": "q"},
        "curves": {"line": "path", "colour": "path"},
        "density": {"line": "path", "text": "path", "colour": "path"},
        "course": {"start": "start"},
        "series": {},
    }
    chart = getattr(az.charts, shape)(frame, "x", panel="panel", width=width, **others[shape])
    assert isinstance(chart, Chart) and chart.figure.get_figheight() <= 9
    assert " of " in chart.caption or shape == "series"
    assert_fit_to_print(shape, chart)
