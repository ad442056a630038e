"""Charts in print: at the width of one column, saved as they are drawn, of hard data, at a cost that does not grow."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from pathlib import Path
from typing import Literal

import numpy as np
import pandas as pd
import pytest
from helpers.chart_cases import DrawnCharts, StudyResults, every_chart, hard_samples, study_of
from helpers.chart_checks import again, assert_fit_to_print, texts
from helpers.results import NOTHING
from IPython.core.interactiveshell import InteractiveShell
from IPython.display import display
from traitlets.config import Config

import azlatency as az
from azlatency import shapes as charts
from azlatency.kit import objects
from azlatency.kit.drawing import base
from azlatency.kit.drawing.options import Options
from azlatency.kit.objects import BOTH_WIDTHS, Chart, Note
from azlatency.pages import common, latency, stability, tail, transfers
from azlatency.studies.format import plain

MOST_BYTES = 500_000


#: The charts that only the largest study has and `test_hard_samples_fit_one_column` does not draw.
OF_THE_LARGEST = {"latency both ways", "runs needed", "precision", "halves"}


def assert_fit_one_column(results: StudyResults, names: Collection[str]) -> None:
    for name, draw in every_chart(results.study, results).items():
        if name not in names:
            continue
        chart = again(draw(), width="single")
        if isinstance(chart, Chart):
            assert chart.figure.get_figwidth() == 3.3
            assert_fit_to_print(f"{results.study.name}, {name}", chart)


@pytest.mark.slow
def test_charts_fit_one_column(results_of: Callable[[str], StudyResults]) -> None:
    assert_fit_one_column(results_of("emulated-zones"), OF_THE_LARGEST)
    assert_fit_one_column(results_of("westeurope-availability-set-vs-zones"), {"printed curves", "medians", "goodput"})


@pytest.mark.slow
def test_every_chart_fits_one_column(results: StudyResults, drawn: DrawnCharts) -> None:
    assert_fit_one_column(results, drawn)


def test_a_width_that_no_journal_has_is_refused() -> None:
    with pytest.raises(ValueError, match="width = 'triple' is not one of 'single', 'double'"):
        Options(width="triple")  # type: ignore[arg-type]


# --- saved as they are drawn


@pytest.fixture
def notebook() -> Iterator[None]:
    """A shell that shows charts, as that of a notebook."""
    InteractiveShell.instance(config=Config({"HistoryManager": {"enabled": False}}))
    yield
    InteractiveShell.clear_instance()


@pytest.mark.costly
@pytest.mark.usefixtures("notebook")
def test_charts_that_a_notebook_shows_are_saved_if_requested(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    runs = pd.DataFrame(
        {"path": "A → B", "method": "iperf3 TCP", "throughput_bit_s": [4e9, 5e9], "placement": "cross_zone"}
    ).convert_dtypes()
    monkeypatch.setenv(BOTH_WIDTHS, "1")
    charts.export("pdf, png", tmp_path / "figures")
    for _ in range(2):
        display(common.typical_forest(runs, az.summarize(runs, "throughput_bit_s"), "throughput_bit_s"))
    charts.export("", tmp_path)
    display(common.typical_forest(runs, NOTHING, "throughput_bit_s"))
    names = sorted(path.name for path in (tmp_path / "figures").iterdir())
    assert names == [f"typical_forest{count}.{ending}" for count in ("-2", "") for ending in ("pdf", "png")]
    first, second = (tmp_path / "figures" / f"typical_forest{count}.pdf" for count in ("", "-2"))
    assert first.read_bytes() == second.read_bytes()
    # TrueType outlines, not bitmaps: the letters of a printed page.
    assert b"/FontFile2" in first.read_bytes() and b"/Type3" not in first.read_bytes()


def test_an_unknown_format_is_refused_by_name(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="gif is not one of svg, pdf, png"):
        charts.export("png gif", tmp_path)


def test_charts_that_no_notebook_shows_are_not_silently_lost(tmp_path: Path) -> None:
    charts.export("", tmp_path)
    with pytest.raises(RuntimeError, match=r"export = 'png': no notebook shows charts here; use chart.save\(path\)"):
        charts.export("png", tmp_path)


# --- hard data


@pytest.mark.slow
#: "heavy" has all five charts with the longest axes, "nearly all lost" the fewest values.
@pytest.mark.parametrize(
    "name",
    [
        name if name in ("heavy", "nearly all lost") else pytest.param(name, marks=pytest.mark.slow)
        for name in hard_samples()
    ],
)
def test_hard_samples_fit_one_column(name: str) -> None:
    draw_hard_samples(name, "single")


@pytest.mark.slow
@pytest.mark.parametrize("name", hard_samples())
def test_hard_samples_fit_the_page(name: str) -> None:
    draw_hard_samples(name, "double")


def draw_hard_samples(name: str, width: Literal["single", "double"]) -> None:
    values = hard_samples()[name]
    study, runs = study_of({name: values})
    curves = az.quantiles(study.samples, az.stats.distribution_shape.CURVE, labels=runs[["path", "method"]])
    shapes = az.stats.distribution_shape.run_histograms(study, runs)
    tails = az.stats.tail_by_run.run_tails(study, runs, limit=1e6)
    timed = az.stats.time_series.run_time_series(study, runs)
    draw = {
        "curves": lambda: latency.percentile_curves(curves, samples=True),
        "shapes": lambda: latency.run_shapes(shapes),
        "tails": lambda: tail.tail_curves(tails, limit=1e6),
        "series": lambda: stability.run_series(timed, study, pd.DataFrame()),
    }
    for kind, make in draw.items():
        chart = again(make(), width=width)
        if isinstance(chart, Chart):
            assert_fit_to_print(f"{name}, {kind}, {width}", chart)
            assert "nan" not in chart.alt, kind
        else:
            assert chart.text.startswith("No chart: ")
            assert len(values) < 100 or "lost" in name, kind


def test_more_runs_than_a_page_holds() -> None:
    values = hard_samples()["two modes"]
    study, runs = study_of({f"host {number}": values for number in range(30)})
    chart = latency.run_shapes(az.stats.distribution_shape.run_histograms(study, runs))
    assert isinstance(chart, Chart)
    assert_fit_to_print("many runs", chart)
    assert "12 of 60 runs" in chart.caption and len(chart.alt.splitlines()) == 12


@pytest.mark.costly
@pytest.mark.parametrize(
    "values", [[5e4], [5e4, 5e4], [1e3, 1e9], [float("nan"), 5e4], [float("nan")], list(np.linspace(1e5, 2e5, 60))]
)
def test_run_values_of_every_size(values: list[float]) -> None:
    runs = pd.DataFrame(
        {"path": "A → B", "method": "ping", "median_ns": values, "placement": "cross_zone"},
        index=[f"r{i}" for i in range(len(values))],
    )
    chart = common.typical_forest(runs, az.summarize(runs, "median_ns"))
    measured = [value for value in values if not np.isnan(value)]
    if len(measured) < 2:
        # One dot is a sentence.
        assert isinstance(chart, Note) and (not measured or f"{measured[0] / 1e3:.1f} µs" in chart.text)
        return
    assert isinstance(chart, Chart)
    assert_fit_to_print("forest", chart)
    assert all(plain(value / 1e3, 5) in chart.alt for value in values if not np.isnan(value))


@pytest.mark.parametrize("count", [1, 3, 100_000])
def test_intervals_of_every_number(count: int) -> None:
    runs = pd.DataFrame({"path": ["A → B"], "method": ["iperf3 TCP"]}, index=["r1"])
    start = 1e9 * np.arange(count)
    intervals = pd.DataFrame(
        {"run_id": "r1", "stream": pd.NA, "start_ns": start, "end_ns": start + 1e9, "throughput_bit_s": 4e9}
        | {"retransmits": 1.0, "omitted": False}
    ).convert_dtypes()
    chart = transfers.throughput_series(intervals, runs)
    if count == 1:
        assert isinstance(chart, Note)
        return
    assert isinstance(chart, Chart)
    assert_fit_to_print("intervals", chart)
    assert len(chart.svg()) < MOST_BYTES and f"retransmits {count:,}" in chart.alt


@pytest.mark.slow
@pytest.mark.parametrize("n", [200_000, pytest.param(10_000_000, marks=pytest.mark.slow)])
def test_more_samples_make_no_larger_drawing(n: int) -> None:
    """The size of a drawing does not grow with the data; ``make bench`` measures its time."""

    def size(samples: int) -> int:
        rtt = 1e5 * np.exp(0.2 * np.random.default_rng(3).standard_normal(samples))
        frame = pd.DataFrame({"run": "a", "sent": np.linspace(0, 1_000, samples), "rtt_ns": rtt})
        chart = az.charts.course(frame, "rtt_ns", panel="run", start="sent", scale="log")
        assert isinstance(chart, Chart)
        return len(chart.svg())

    assert size(n) < min(MOST_BYTES, 1.2 * size(50_000))


def test_a_histogram_is_a_curve_too() -> None:
    """A percentile of a histogram is known to its bin; the last bin of latte is open."""
    low, high = np.array([0.0, 50e3, 100e3, 200e3]), np.array([50e3, 100e3, 200e3, np.inf])
    labels = {"run_id": "r1", "path": "A → B", "method": "latte TCP"}
    curve = az.stats.histogram_quantiles(low, high, np.array([10, 700, 280, 10]), (0.5, 0.9, 0.99), labels=labels)
    chart = latency.percentile_curves(curve)
    assert isinstance(chart, Chart)
    assert_fit_to_print("histogram", chart)
    assert "A → B, latte TCP, n = 1,000: p50 75 [" in chart.alt


def test_letters_that_are_missing_from_the_installed_fonts(
    monkeypatch: pytest.MonkeyPatch, recwarn: pytest.WarningsRecorder
) -> None:
    """A host may be called 東京: where no installed font has it the caption says what the boxes are."""
    for module in (base, objects):
        monkeypatch.setattr(module, "fonts", lambda: ("DejaVu Sans",))
    for path, is_reported in (("上海 → 東京", True), ("Zürich → Łódź, Οία µ", False)):
        runs = pd.DataFrame({"path": path, "method": "ping 56 B", "median_ns": [5e4, 6e4], "placement": None})
        chart = common.typical_forest(runs, az.summarize(runs, "median_ns"))
        assert isinstance(chart, Chart)
        chart.svg(), chart.png()
        assert ("missing from the installed fonts" in chart.caption) == is_reported
        assert path in chart.alt
    assert not [warning for warning in recwarn if "missing from font" in str(warning.message)]


def test_a_percentile_that_is_printed_as_zero_is_left_to_the_table(results_of: Callable[[str], StudyResults]) -> None:
    """A damaged log may print a percentile as 0.000."""
    printed = results_of("westeurope-availability-set-vs-zones").printed
    whole = latency.percentile_curves(printed)
    zero = printed.copy()
    zero.loc[zero.index[0], ["estimate", "low"]] = 0.0
    without_first = latency.percentile_curves(zero)
    assert isinstance(whole, Chart) and isinstance(without_first, Chart)
    assert len(without_first.alt) < len(whole.alt)


def test_dollar_signs_are_printed_as_they_are() -> None:
    """A name from a log is not a formula, and a broken formula is not an error."""
    names = {"path": r"$\frac{a → b_1^2$ $x$", "method": r"ping $\bad{ 56 B"}
    runs = pd.DataFrame({**names, "median_ns": [5e4, 6e4, 7e4], "placement": None}, index=["a", "b", "c"])
    chart = common.typical_forest(runs, az.summarize(runs, "median_ns"))
    assert isinstance(chart, Chart)
    assert set(names.values()) <= {text for text, _ in texts(chart)}
    assert chart.svg() and chart.pdf()
