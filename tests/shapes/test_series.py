"""The series draw any frame of values in the order of time."""

from __future__ import annotations

import pandas as pd
import pytest

import azlatency as az
from azlatency.kit.cells import Unit
from azlatency.kit.objects import Chart, Note

DAYS = pd.date_range("2026-09-01", periods=6, tz="UTC")
FRAME = pd.DataFrame(
    {"link": "a", "date": DAYS, "rtt": [100e3, 101e3, 99e3, 120e3, 121e3, 119e3], "level": [100e3] * 3 + [120e3] * 3}
)
CHANGES = pd.DataFrame({"link": ["a"], "at": [3], "at_low": [2], "at_high": [3], "text": ["2026-09-04: +20 %"]})


def drawn(points: pd.DataFrame, **options: object) -> Chart | Note:
    return az.charts.series(points, "rtt", panel="link", **options)


def test_levels_and_changes_are_drawn_and_told() -> None:
    chart = drawn(FRAME, changes=CHANGES, caption="RTT.")
    assert isinstance(chart, Chart) and chart.alt == "a: 100 µs, then 120 µs; 2026-09-04: +20 %"
    assert chart.caption == (
        "RTT. n = 6 points per panel. Dashed: change of level, with the 95 % interval of its date."
    )
    dots, first, second, dashed = chart.figure.axes[0].lines
    assert list(dots.get_ydata()) == [100, 101, 99, 120, 121, 119]
    assert [list(line.get_ydata()) for line in (first, second)] == [[100, 100], [120, 120]]
    assert dashed.get_linestyle() == "--" and dashed.get_xdata()[0] == DAYS[3]


def test_without_dates_the_order_of_the_rows_counts() -> None:
    chart = drawn(FRAME.drop(columns="date"), unit=Unit(1e6, "ms"))
    assert isinstance(chart, Chart) and chart.alt == "a: 0.1 ms, then 0.12 ms; no change found"
    axis = chart.figure.axes[0]
    assert axis.get_xlabel() == "run, in order" and list(axis.lines[0].get_xdata()) == [1, 2, 3, 4, 5, 6]
    assert "Dashed" not in chart.caption


def test_a_value_far_above_its_level_is_a_triangle_at_the_edge() -> None:
    chart = drawn(FRAME.assign(rtt=[100e3, 40e6, *FRAME["rtt"][2:]]))
    assert isinstance(chart, Chart) and "Triangles: values above the panel." in chart.caption
    axis = chart.figure.axes[0]
    assert axis.get_ylim()[1] < 1000
    (edge,) = (line for line in axis.lines if line.get_marker() == "^")
    assert list(edge.get_ydata()) == [180]  # 1.5 times the highest level


@pytest.mark.parametrize(("column", "panels"), [("double", 8), ("single", 6)])
def test_of_many_panels_those_that_changed_are_drawn_and_none_is_too_high(column: str, panels: int) -> None:
    names = [f"link {number}" for number in range(12)]
    points = pd.concat([FRAME.assign(link=name) for name in names])
    chart = drawn(points, changes=CHANGES.assign(link="link 11"), width=column)
    assert isinstance(chart, Chart) and chart.figure.get_size_inches()[1] <= 9
    assert f"Shown: {panels} of 12 series, changed ones before others" in chart.caption
    assert chart.alt.count("\n") == panels - 1 and "link 11: 100 µs, then 120 µs; 2026-09-04" in chart.alt


def test_panels_whose_values_do_not_differ_are_left_out() -> None:
    flat = FRAME.assign(link="flat", rtt=1e5, level=1e5)
    chart = drawn(pd.concat([flat, FRAME]))
    assert isinstance(chart, Chart) and chart.alt.startswith("a: ") and "Shown: 1 of 2 series" in chart.caption
    assert isinstance(drawn(flat), Chart) and isinstance(drawn(FRAME[:0]), Note)


def test_dots_without_dates_and_changes_are_numbered_and_said() -> None:
    points = pd.DataFrame({"what": "a → b", "rtt": [1e5, 1.2e5, 1.1e5], "level": 1.1e5, "delay": 9e4})
    chart = az.charts.series(points, "rtt", panel="what", truth="delay", counted="runs")
    assert isinstance(chart, Chart) and chart.alt == "a → b: 100, 120, 110 µs; no change found"
    (axis,) = chart.figure.axes
    assert axis.get_xlabel() == "run, in order" and {item.get_text() for item in axis.get_xticklabels()} >= {"1", "2"}
    assert [list(line.get_ydata()) for line in axis.lines if line.get_linestyle() == ":"] == [[90, 90]]


def test_the_panel_of_a_column_is_as_wide_as_on_a_page_and_so_is_its_name() -> None:
    chart = drawn(FRAME.assign(link="az3a → az2a, iperf3 TCP, goodput"), width="single")
    assert isinstance(chart, Chart)
    assert chart.figure.axes[0].get_title("left") == "az3a → az2a, iperf3 TCP, goodput"


@pytest.mark.parametrize("spacing", ["50s", "80s", "7min", "3h", "1D", "40D"])
def test_an_axis_of_times_has_two_to_four_labels(spacing: str) -> None:
    chart = drawn(FRAME.assign(date=pd.date_range("2026-11-22 08:02:30", periods=6, freq=spacing, tz="UTC")))
    assert isinstance(chart, Chart) and 2 <= len(chart.figure.axes[0].get_xticks()) <= 4
