"""The lines draw any frame with several series per panel."""

from __future__ import annotations

import pandas as pd
import pytest
from helpers.cases import thinned
from helpers.chart_checks import assert_fit_to_print
from matplotlib.dates import date2num

import azlatency as az
from azlatency.kit.drawing.palette import GREY, INK
from azlatency.kit.objects import Chart, Note

DAYS = pd.date_range("2026-01-01", periods=4, freq="90D", tz="UTC")
FRAME = pd.concat(
    [
        pd.DataFrame({"rack": rack, "link": link, "date": DAYS, "rtt": [start, start, end, end]})
        for rack, link, start, end in (("r1", "x–y", 1e6, 5e5), ("r1", "x–z", 2e6, 2e6), ("r2", "x–y", 3e5, 4e5))
    ]
)


def drawn(frame: pd.DataFrame, **options: object) -> Chart | Note:
    return az.charts.lines(frame, "rtt", panel="rack", line="link", **options)


def test_each_line_is_drawn_named_and_told() -> None:
    chart = drawn(FRAME, caption="RTT.", limits=(1e6,))
    assert isinstance(chart, Chart) and chart.caption == "RTT. n = 4 points per line."
    assert chart.alt == "r1: x–y 1,000 → 500 µs; x–z 2,000 → 2,000 µs\nr2: x–y 300 → 400 µs"
    first = chart.figure.axes[0]
    drawn_lines, marks = first.lines[:3], first.lines[3:]
    limit, near, far = (list(line.get_ydata()) for line in drawn_lines)
    assert (limit, near, far) == ([1000, 1000], [1000, 1000, 500, 500], [2000] * 4)
    # Letters are in ink; the colour of a line is before its name.
    assert [mark.get_color() for mark in marks] == [line.get_color() for line in drawn_lines[1:]]
    assert {text.get_color() for text in first.texts} == {INK}
    assert first.get_yscale() == "log" and [text.get_text() for text in first.texts] == ["x–y", "x–z"]


def test_a_line_that_ended_before_has_no_name() -> None:
    chart = drawn(FRAME[(FRAME["link"] != "x–z") | (FRAME["date"] < DAYS[3])])
    assert isinstance(chart, Chart) and [text.get_text() for text in chart.figure.axes[0].texts] == ["x–y"]
    assert "x–z 2,000 → 2,000 µs" in chart.alt
    kept, ended, _ = chart.figure.axes[0].lines
    assert kept.get_linestyle() == "-" and ended.get_linestyle() == "--"
    assert chart.caption.endswith("Grey and dashed: a line that ends before the others.")


def test_names_stand_above_the_lower_edge() -> None:
    low = pd.concat([FRAME[FRAME["rack"] == "r2"].assign(link=f"x–{end}", rtt=1e5) for end in "abc"])
    chart = drawn(pd.concat([FRAME, low]))
    assert isinstance(chart, Chart) and "grey" not in chart.caption
    assert min(text.get_position()[1] for text in chart.figure.axes[1].texts) >= 0.07


def test_of_many_lines_the_marked_ones_stand_out() -> None:
    """Twelve names beside a panel an inch high: nobody could tell which line was whose."""
    many = pd.concat([FRAME.assign(link=f"x–{number}") for number in range(10, 22)])
    chart = drawn(many, marked={"x–12", "x–20"})
    assert isinstance(chart, Chart) and chart.caption.endswith(
        "Thin and grey: other lines, which the text alternative names."
    )
    assert [text.get_text() for text in chart.figure.axes[0].texts] == ["x–12", "x–20"]
    colours = [line.get_color() for line in chart.figure.axes[0].lines[:12]]
    assert colours.count(GREY) == 10 and all(f"x–{number} " in chart.alt for number in range(10, 22))
    assert_fit_to_print("twelve lines", chart)
    chart = drawn(many)
    assert isinstance(chart, Chart) and not chart.figure.axes[0].texts


def test_the_name_of_the_panel_is_not_repeated_in_the_names_of_its_lines() -> None:
    chart = drawn(FRAME.assign(rack="x"))
    assert isinstance(chart, Chart) and [text.get_text() for text in chart.figure.axes[0].texts] == ["y", "z"]
    assert "x–y 1,000" in chart.alt


@pytest.mark.parametrize(("column", "panels"), thinned([("single", 6), ("double", 18)], 2))
def test_no_figure_is_too_high(column: str, panels: int) -> None:
    many = pd.concat([FRAME.assign(rack=f"r{number}") for number in range(20)])
    chart = drawn(many, of="racks", width=column)
    assert isinstance(chart, Chart) and chart.figure.get_size_inches()[1] <= 9
    assert f"Shown: {panels} of 20 racks" in chart.caption


def test_of_more_panels_than_fit_those_with_marked_lines_are_drawn_in_their_order() -> None:
    racks = [FRAME[FRAME["rack"] == "r2"].assign(rack=f"r{place}", link=f"r{place}–x") for place in range(20)]
    chart = drawn(pd.concat(racks), marked={"r19–x", "r7–x"}, width="single")
    assert isinstance(chart, Chart)
    assert [axis.get_title("left") for axis in chart.figure.axes] == ["r0", "r1", "r2", "r3", "r7", "r19"]


def test_without_values_there_is_no_chart() -> None:
    assert isinstance(drawn(FRAME[:0]), Note) and isinstance(drawn(FRAME.assign(rtt=0.0)), Note)


def test_a_leader_goes_from_the_end_of_a_line_to_its_name_and_the_line_of_the_title_is_bold() -> None:
    chart = drawn(FRAME, foremost="x–z")
    assert isinstance(chart, Chart)
    axis = chart.figure.axes[0]
    near, far, leader, _ = axis.lines
    start = axis.transAxes.transform((leader.get_xdata()[0], leader.get_ydata()[0]))
    assert start == pytest.approx(axis.transData.transform((date2num(DAYS[3]), 500)), abs=1)
    assert far.get_linewidth() > near.get_linewidth()
    assert [text.get_fontweight() for text in axis.texts] == ["normal", "bold"]
