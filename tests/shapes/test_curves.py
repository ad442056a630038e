"""The curves draw any frame of percentiles."""

from __future__ import annotations

import math

import pandas as pd
import pytest

import azlatency as az
from azlatency.kit.objects import Chart, Note

FRAME = pd.DataFrame(
    {"run": ["r1"] * 3 + ["r2"] * 3, "tool": "ping", "path": ["a → b"] * 3 + ["b → a"] * 3, "q": [0.5, 0.9, 0.99] * 2,
     "rtt": [1e5, 2e5, 4e5, 1.1e5, 2.1e5, 4.1e5], "low": [0.9e5, 1e5, 2e5] * 2, "high": [2e5, 4e5, math.nan] * 2,
     "n": [100] * 3 + [500] * 3, "largest": [False, False, True] * 2, "set": 8e4}
)  # fmt: skip
COLUMNS = {"panel": "tool", "line": "run", "colour": "path"}


def test_one_line_per_run_with_its_intervals_in_words() -> None:
    chart = az.charts.curves(FRAME, "rtt", **COLUMNS, hollow="largest", truth="set", caption="Percentiles.")
    assert isinstance(chart, Chart)
    first = chart.alt.splitlines()[0]
    assert first == "a → b, ping, n = 100: p50 100 [90, 200]; p90 200 [100, 400]; p99 400 [200, no upper bound] µs"
    open_below = az.charts.curves(FRAME.assign(low=math.nan), "rtt", **COLUMNS)
    assert isinstance(open_below, Chart) and "p90 200 [no lower bound, 400];" in open_below.alt
    assert chart.caption == (
        "Percentiles. Levels are shifted sideways by path, so that bars do not overlap. n = 100 to 500 packets per run."
    )
    (axis,) = chart.figure.axes
    assert [item.get_text() for item in axis.get_xticklabels()] == ["p50", "p90", "p99"]
    assert {"a → b", "b → a"} <= {text.get_text() for text in axis.texts}
    hollow = [line for line in axis.lines if line.get_markerfacecolor() == "white"]
    assert [list(line.get_ydata()) for line in hollow] == [[400], [410]]


def test_a_band_stands_for_the_intervals_of_many_levels() -> None:
    bars, band = (az.charts.curves(FRAME, "rtt", **COLUMNS, band=band) for band in (False, True))
    assert isinstance(bars, Chart) and isinstance(band, Chart)
    assert len(band.figure.axes[0].lines) < len(bars.figure.axes[0].lines), "a mark at the median and no bars"
    assert len(band.figure.axes[0].collections) == 2
    assert "shifted sideways" in bars.caption and "shifted" not in band.caption


def test_panels_of_many_runs_have_marks_only() -> None:
    many = pd.concat([FRAME.assign(run=FRAME["run"] + str(copy)) for copy in range(6)])
    chart = az.charts.curves(many, "rtt", **COLUMNS)
    assert isinstance(chart, Chart) and not chart.figure.axes[0].collections and "shifted" not in chart.caption
    banded = az.charts.curves(many, "rtt", **COLUMNS, band=True)
    assert isinstance(banded, Chart) and not banded.figure.axes[0].collections


def test_values_of_zero_have_no_place_and_nothing_is_a_note() -> None:
    assert isinstance(az.charts.curves(FRAME.assign(rtt=0.0), "rtt", **COLUMNS), Note)


def test_the_names_of_both_directions_stand_together_at_the_height_of_their_ends() -> None:
    """The ends of the directions of two pairs alternate."""
    ends = {"a → b": 1e5, "a → c": 2e5, "b → a": 4e5, "c → a": 8e5}
    rows = [{"run": path, "path": path, "q": q, "rtt": ends[path] * q} for path in ends for q in (0.5, 0.99)]
    frame = pd.DataFrame(rows).assign(tool="ping", low=math.nan, high=math.nan)
    chart = az.charts.curves(frame, "rtt", **COLUMNS)
    assert isinstance(chart, Chart)
    (axis,) = chart.figure.axes
    names = sorted(
        (text for text in axis.texts if "→" in text.get_text()), key=lambda text: text.get_window_extent().y0
    )
    assert [text.get_text() for text in names] == ["a → b", "b → a", "a → c", "c → a"]


def test_in_a_column_the_paths_are_named_below_so_that_the_panel_has_its_width() -> None:
    wide, narrow = (az.charts.curves(FRAME, "rtt", **COLUMNS, width=width) for width in ("double", "single"))
    assert isinstance(wide, Chart) and isinstance(narrow, Chart)
    assert not wide.figure.legends
    (names,) = narrow.figure.legends
    assert [text.get_text() for text in names.get_texts()] == ["b → a", "a → b"]
    (axis,) = narrow.figure.axes
    assert not any(text.get_text() for text in axis.texts) and axis.get_position().width > 0.7


@pytest.mark.parametrize("width", ["single", "double"])
def test_of_many_paths_those_are_drawn_whose_names_have_room(width: str) -> None:
    many = pd.concat([FRAME[:3].assign(run=f"r{number}", path=f"{number} → b") for number in range(60)])
    chart = az.charts.curves(many, "rtt", **COLUMNS, width=width)
    assert isinstance(chart, Chart)
    assert "Shown: 30 of 60 paths" in chart.caption and chart.figure.get_figheight() <= 9
