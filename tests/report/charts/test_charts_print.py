"""Charts in print: at the width of one column, saved as they are drawn, of hard data, at a cost that does not grow."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from helpers.chart_cases import every_chart, hard_samples, study_of
from helpers.chart_checks import assert_fit_to_print, texts
from helpers.places import ROOT

import azlatency as az
from azlatency.report import charts
from azlatency.report import objects as display
from azlatency.report.charts import base
from azlatency.report.objects import Chart, Note

STUDIES = sorted(path.parent.name for path in (ROOT / "data" / "raw").glob("*/study.toml"))
MOST_BYTES = 500_000


@pytest.fixture(scope="module", params=STUDIES)
def study(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Any:
    out = tmp_path_factory.mktemp("processed")
    az.import_study(request.param, out=out)
    return az.load(request.param, processed=out)


def test_every_chart_fits_one_column(study: Any) -> None:
    drawn = 0
    for name, draw in every_chart(study).items():
        with charts.column("single"):
            chart = draw()
        if isinstance(chart, Note):
            assert chart.text.startswith("No chart: "), name
            continue
        assert chart.figure.get_figwidth() == 3.5
        assert_fit_to_print(f"{study.name}, {name}", chart)
        assert chart.caption.endswith(".") and chart.alt
        drawn += 1
    assert drawn or study.name == "cassandra-vm-baseline"


def test_new_charts_fit_the_page(study: Any) -> None:
    own = every_chart(study)
    for name in ("sampled curves", "shapes", "medians", "estimation", "shift functions"):
        chart = own[name]()
        if isinstance(chart, Chart):
            assert_fit_to_print(f"{study.name}, {name}", chart)
            assert len(chart.svg()) < MOST_BYTES and chart.svg() == own[name]().svg()  # type: ignore[union-attr]


def test_a_width_that_no_journal_has_is_refused() -> None:
    with pytest.raises(ValueError, match="'single' or 'double'"), charts.column("triple"):  # type: ignore[arg-type]
        pass


# --- saved as they are drawn


def test_charts_are_saved_where_that_is_wanted(tmp_path: Path) -> None:
    runs = pd.DataFrame(
        {"path": "A → B", "method": "iperf3 TCP", "throughput": [4e9, 5e9], "placement": "cross_zone"}
    ).convert_dtypes()
    charts.export("pdf, png", tmp_path / "figures")
    try:
        for _ in range(2):
            charts.throughput_forest(runs, az.by_path(runs, "throughput", unit="bit/s"))
    finally:
        charts.export("", tmp_path)
    charts.throughput_forest(runs, [])
    names = sorted(path.name for path in (tmp_path / "figures").iterdir())
    assert names == [f"throughput_forest{count}.{ending}" for count in ("-2", "") for ending in ("pdf", "png")]
    first, second = (tmp_path / "figures" / f"throughput_forest{count}.pdf" for count in ("", "-2"))
    assert first.read_bytes() == second.read_bytes()
    # TrueType outlines, not bitmaps: the letters of a printed page.
    assert b"/FontFile2" in first.read_bytes() and b"/Type3" not in first.read_bytes()


def test_an_unknown_format_is_refused_by_name(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="gif is none of svg, pdf, png"):
        charts.export("png gif", tmp_path)


# --- hard data


@pytest.mark.parametrize("name", hard_samples())
def test_hard_samples(name: str) -> None:
    values = hard_samples()[name]
    study, runs = study_of({name: values})
    curves = az.quantiles(study.samples, az.shapes.CURVE, labels=runs[["path", "method"]])
    shapes, shifts = az.shapes.shapes_of_runs(study, runs), az.shapes.shift_functions(study, runs)
    tails, timed = az.runtails.tails_of_runs(study, runs, limit=1e6), az.intime.runs_in_time(study, runs)
    draw = {
        "curves": lambda: charts.percentile_curves(curves, "samples"),
        "shapes": lambda: charts.run_shapes(shapes),
        "shifts": lambda: charts.shift_functions(shifts),
        "tails": lambda: charts.tail_curves(tails, limit=1e6),
        "series": lambda: charts.run_series(timed),
    }
    for width in ("single", "double"):
        for kind, make in draw.items():
            with charts.column(width):  # type: ignore[arg-type]
                chart = make()
            if isinstance(chart, Chart):
                assert_fit_to_print(f"{name}, {kind}, {width}", chart)
                assert "nan" not in chart.alt, kind
            else:
                assert chart.text.startswith("No chart: ")
                assert len(values) < 100 or "lost" in name, kind


def test_more_runs_than_a_page_holds() -> None:
    values = hard_samples()["two modes"]
    study, runs = study_of({f"host {number}": values for number in range(30)})
    chart = charts.run_shapes(az.shapes.shapes_of_runs(study, runs))
    assert isinstance(chart, Chart)
    assert_fit_to_print("many runs", chart)
    assert "36 of 60 runs" in chart.caption and len(chart.alt.splitlines()) == 36


@pytest.mark.parametrize(
    "values", [[5e4], [5e4, 5e4], [1e3, 1e9], [float("nan"), 5e4], [float("nan")], list(np.linspace(1e5, 2e5, 60))]
)
def test_run_values_of_every_size(values: list[float]) -> None:
    runs = pd.DataFrame(
        {"path": "A → B", "method": "ping", "median_ns": values, "placement": "cross_zone"},
        index=[f"r{i}" for i in range(len(values))],
    )
    chart = charts.latency_forest(runs, az.by_path(runs, "median_ns"))
    if all(np.isnan(values)):
        assert isinstance(chart, Note)
        return
    assert isinstance(chart, Chart)
    assert_fit_to_print("forest", chart)
    assert all(f"{value / 1e3:,.5g}" in chart.alt for value in values if not np.isnan(value))


@pytest.mark.parametrize("count", [1, 2, 100_000])
def test_intervals_of_every_number(count: int) -> None:
    runs = pd.DataFrame({"path": ["A → B"], "method": ["iperf3 TCP"]}, index=["r1"])
    start = 1e9 * np.arange(count)
    intervals = pd.DataFrame(
        {"run_id": "r1", "stream": pd.NA, "start_ns": start, "end_ns": start + 1e9, "throughput": 4e9}
        | {"retransmits": 1.0, "omitted": False}
    ).convert_dtypes()
    chart = charts.throughput_series(intervals, runs)
    assert isinstance(chart, Chart)
    assert_fit_to_print("intervals", chart)
    assert len(chart.svg()) < MOST_BYTES and f"retransmits {count:,}" in chart.alt


def test_ten_million_samples_are_no_larger_on_paper() -> None:
    """The size of a drawing does not grow with the data (its time is told by ``make bench``)."""
    generator = np.random.default_rng(3)
    sizes = {}
    for n in (100_000, 10_000_000):
        rtt = 1e5 * np.exp(0.2 * generator.standard_normal(n))
        few = az.stability(rtt[:2_000], 1e8 * np.arange(2_000), block_ns=1e9)
        sent = np.linspace(0, 1_000, n)
        run = az.intime.RunInTime(
            "a", "A → B", "echo TCP", "complete", sent, rtt, 0, 1e4, 0, 1e3, few, az.trend(rtt[:2_000])
        )
        chart = charts.run_series([run])
        assert isinstance(chart, Chart)
        sizes[n] = len(chart.svg())
    assert sizes[10_000_000] < MOST_BYTES and sizes[10_000_000] < 1.2 * sizes[100_000]


def test_a_histogram_is_a_curve_too() -> None:
    """A percentile of a histogram is known to its bin; the last bin of latte is open."""
    low, high = np.array([0.0, 50e3, 100e3, 200e3]), np.array([50e3, 100e3, 200e3, np.inf])
    labels = {"run_id": "r1", "path": "A → B", "method": "latte TCP"}
    curve = az.histogram_quantiles(low, high, np.array([10, 700, 280, 10]), (0.5, 0.9, 0.99), labels=labels)
    chart = charts.percentile_curves(curve)
    assert isinstance(chart, Chart)
    assert_fit_to_print("histogram", chart)
    assert "A → B, latte TCP, n = 1,000: p50 85 [" in chart.alt


def test_letters_that_no_font_has(monkeypatch: pytest.MonkeyPatch, recwarn: pytest.WarningsRecorder) -> None:
    """A host may be called 東京: where no installed font has it the caption says what the boxes are."""
    for module in (base, display):
        monkeypatch.setattr(module, "fonts", lambda: ("DejaVu Sans",))
    for path, told in (("上海 → 東京", True), ("Zürich → Łódź, Οία µ", False)):
        runs = pd.DataFrame({"path": path, "method": "ping 56 B", "median_ns": [5e4], "placement": None})
        chart = charts.latency_forest(runs, az.by_path(runs, "median_ns"))
        assert isinstance(chart, Chart)
        chart.svg(), chart.png()
        assert ("Boxes stand for letters" in chart.caption) == told
        assert path in chart.alt
    assert not [each for each in recwarn if "missing from font" in str(each.message)]


def test_a_percentile_of_nothing(study: Any) -> None:
    """A damaged log may print a percentile as 0.000: it is left to the table."""
    printed = az.printed_quantiles(study.quantiles, study.metrics, labels=az.latency_runs(study)[["path", "method"]])
    if printed:
        whole = charts.percentile_curves(printed)
        holed = charts.percentile_curves([replace(printed[0], estimate=0.0, low=0.0), *printed[1:]])
        assert isinstance(whole, Chart) and isinstance(holed, Chart)
        assert len(holed.alt) < len(whole.alt)


def test_dollars_are_letters() -> None:
    """A name out of a log is no formula, and a broken one no error."""
    names = {"path": r"$\frac{a → b_1^2$ $x$", "method": r"ping $\bad{ 56 B"}
    runs = pd.DataFrame({**names, "median_ns": [5e4, 6e4, 7e4], "placement": None}, index=["a", "b", "c"])
    chart = charts.latency_forest(runs, az.by_path(runs, "median_ns"))
    assert isinstance(chart, Chart)
    assert set(names.values()) <= {text for text, _ in texts(chart)}
    assert chart.svg() and chart.pdf()
