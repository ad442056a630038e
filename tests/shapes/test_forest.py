"""The forest draws any frame with the columns that it is told."""

from __future__ import annotations

import math
import re
from typing import Any

import pandas as pd
import pytest

import azlatency as az
from azlatency.kit.objects import Chart, Note

FRAME = pd.DataFrame(
    {"pair": ["a", "b", "c"], "tool": ["ping", "ping", "qperf"], "ratio": [1.2, 0.99, math.nan],
     "ratio_low": [1.1, 0.98, 0.9], "ratio_high": [1.3, 1.0, 1.1], "n": [6, 8, 5],
     "verdict": ["different", "equivalent", "inconclusive"]}
)  # fmt: skip


def drawn(frame: pd.DataFrame = FRAME, **columns: Any) -> Chart:
    chart = az.charts.forest(frame, "ratio", panel="tool", row="pair", **columns)
    assert isinstance(chart, Chart)
    return chart


def test_one_panel_per_group_one_row_per_row_and_the_numbers_in_the_alternative() -> None:
    chart = drawn(verdict="verdict", margin=0.05, caption="Ratios.")
    first, second = chart.figure.axes
    assert [item.get_text() for item in first.get_yticklabels()] == ["a", "b"]
    assert [item.get_text() for item in second.get_yticklabels()] == ["c"]
    assert chart.alt.splitlines()[0] == "ping: a 1.2 [1.1, 1.3], different; b 0.99 [0.98, 1], equivalent"
    assert chart.caption.startswith("Ratios. Orange: different; blue square: practically equivalent")
    assert "n = 5 to 8 runs" in chart.caption


def test_runs_are_dots_and_a_row_without_a_value_is_a_dashed_bar() -> None:
    points = pd.DataFrame({"tool": ["ping", "ping"], "pair": ["a", "b"], "ratio": [1.15, 0.985]})
    chart = drawn(points=points, margin=0.05)
    assert "a 1.2 [1.1, 1.3], 1.15" in chart.alt
    dashed = [line for line in chart.figure.axes[1].lines if line.get_linestyle() == "--"]
    assert len(dashed) == 1 and dashed[0].get_xdata().tolist() == [0.9, 1.1]


def test_an_allowed_range_is_a_band_and_an_open_end_reaches_the_axis() -> None:
    frame = FRAME.assign(least=[0.5, 0.5, 0.5], most=[math.nan] * 3, unit=[(1.0, "×")] * 3)
    chart = drawn(frame, limits=("least", "most"), unit="unit")
    axis = chart.figure.axes[0]
    assert axis.get_xscale() == "linear" and axis.get_xlabel() == "×"


def test_a_figure_is_at_most_nine_inches_high_and_says_what_it_leaves_out() -> None:
    many = pd.DataFrame(
        {"pair": [f"p{i}" for i in range(90)], "tool": "ping", "ratio": 1.0, "ratio_low": 0.9, "ratio_high": 1.1}
    )
    chart = drawn(many, of="pairs")
    assert chart.figure.get_size_inches()[1] <= 10 and "of 90 pairs, evenly chosen" in chart.caption


def test_nothing_to_draw_is_a_note_and_the_caller_chooses_the_order() -> None:
    nothing = az.charts.forest(
        FRAME.assign(ratio=math.nan, ratio_low=math.nan, ratio_high=math.nan), "ratio", panel="tool", row="pair"
    )
    assert isinstance(nothing, Note)
    both = FRAME.assign(ratio_low=[1.1, 0.98, 0.9], tool="ping")
    chart = drawn(both, order=["b"], ordering="Largest on top.")
    assert chart.figure.axes[0].get_yticklabels()[0].get_text() == "b" and "Largest on top" not in chart.caption
    with pytest.raises(ValueError, match="which the chart has not"):
        drawn(both, order=["d"])


def test_a_column_that_the_frame_has_not_is_named_and_an_empty_frame_needs_none() -> None:
    frame = pd.DataFrame({"g": ["A"], "r": ["one"], "x": [1.0], "x_low": [0.9], "x_high": [1.1]})
    with pytest.raises(KeyError, match="unknown column 'x_low'; the columns are g, r, x, x_high"):
        az.charts.forest(frame.drop(columns="x_low"), "x", panel="g", row="r")
    for name in ("verdict", "truth", "edge", "unit", "margin"):
        options: dict[str, Any] = {name: "nowhere"}
        with pytest.raises(KeyError, match="unknown column 'nowhere'"):
            az.charts.forest(frame, "x", panel="g", row="r", **options)
    assert isinstance(az.charts.forest(pd.DataFrame(), "x", panel="g", row="r"), Note)


@pytest.mark.parametrize(
    ("columns", "options", "message"),
    [
        ({"x": ["1.2", "fast"]}, {}, "column 'x' has the text '1.2'; make it numbers with pd.to_numeric"),
        ({"x_low": [1.0, "none"]}, {}, "column 'x_low' has the text 'none'"),
        ({"band": ["5%", "5%"]}, {"margin": "band"}, "column 'band' has the text '5%'"),
        ({}, {"margin": 0}, "margin 0: write 0.05 for ±5 %"),
        ({"band": [0.05, -1.0]}, {"margin": "band"}, "margin −1: write 0.05"),
        ({"x": [-1.5, 2.0]}, {"margin": 0.05}, "'x' has the ratio −1.5; ratios are positive; leave out margin="),
    ],
)
def test_texts_and_impossible_ratios_are_refused(
    columns: dict[str, Any], options: dict[str, Any], message: str
) -> None:
    frame = pd.DataFrame({"g": "a", "r": ["b", "c"], "x": [1.0, 2.0], "x_low": 0.5, "x_high": 3.0} | columns)
    with pytest.raises((TypeError, ValueError), match=re.escape(message)):
        az.charts.forest(frame, "x", panel="g", row="r", **options)


@pytest.mark.costly
def test_panels_side_by_side_share_their_height() -> None:
    places = [(f"panel {panel}", f"row {row}") for panel in range(8) for row in range(8)]
    frame = pd.DataFrame(places, columns=["panel", "row"]).assign(value=2.0, value_low=1.0, value_high=3.0, n=5)
    chart, above = (az.charts.forest(frame, "value", panel="panel", row="row", beside=beside) for beside in (2, 1))
    assert isinstance(chart, Chart) and isinstance(above, Chart)
    assert len(chart.figure.axes) == 8 and "Shown" not in chart.caption
    assert "of 64 rows" in above.caption


def test_of_many_rows_the_first_and_the_last_are_drawn() -> None:
    frame = pd.DataFrame({"panel": "p", "row": [f"row {row}" for row in range(90)], "value": range(90), "n": 2})
    frame = frame.assign(value_low=math.nan, value_high=math.nan)
    chart = az.charts.forest(frame, "value", panel="panel", row="row")
    assert isinstance(chart, Chart) and chart.alt.startswith("p: row 0 0; ") and chart.alt.endswith("; row 89 89")
    assert " of 90 rows, evenly chosen from the first to the last; the table lists all." in chart.caption


def test_the_axis_of_values_reaches_every_run_and_the_edge_has_the_text_that_it_is_told() -> None:
    frame = pd.DataFrame({"panel": "p", "row": ["a"], "value": [2.0], "low": [1.0], "high": [3.0], "text": ["> 200"]})
    runs = pd.DataFrame({"panel": "p", "row": "a", "value": [2.5, 90.0]})
    columns = {"low": "low", "high": "high", "panel": "panel", "row": "row"}
    chart = az.charts.forest(frame, "value", **columns, points=runs, edge="text")
    assert isinstance(chart, Chart) and chart.figure.axes[0].get_xlim()[1] > 90
    assert [text.get_text() for text in chart.figure.axes[0].texts] == ["> 200"]


RUNS = pd.DataFrame({"tool": "ping", "path": ["a", "a", "b", "b"], "rtt": [1e5, 1.2e5, 3e5, math.inf]})
TYPICAL = pd.DataFrame(
    {"tool": "ping", "path": ["a", "b"], "rtt": [1.1e5, math.nan], "low": [0.9e5, math.nan], "high": [1.3e5, math.nan],
     "said": ["110 (90–130)", "300"], "set": [0.8e5, 2e5]}
)  # fmt: skip


def test_a_row_may_have_runs_only_and_an_infinite_run_is_at_the_end_of_the_axis() -> None:
    columns = {"low": "low", "high": "high", "panel": "tool", "row": "path", "edge": "said", "truth": "set"}
    chart = az.charts.forest(TYPICAL, "rtt", **columns, points=RUNS, unit=(1e3, "µs"), line=4e5)
    assert isinstance(chart, Chart)
    assert chart.alt == "ping: a 110 [90, 130] µs, 100, 120; b, 300, ∞ µs"
    (axis,) = chart.figure.axes
    assert axis.get_xlim()[1] > 400, "the line is on the axis"
    assert [text.get_text() for text in axis.texts] == ["110 (90–130)", "300"]
    assert [list(line.get_ydata()) for line in axis.lines if line.get_marker() == ">"] == [[1]]
    assert [list(line.get_xdata()) for line in axis.lines if line.get_linestyle() == "--"] == [[400, 400]]
    assert [float(line.get_xdata()[0]) for line in axis.lines if line.get_marker() == "x"] == [80, 200]


def test_panels_with_units_of_their_own_complete_the_label_of_the_axis() -> None:
    columns = {"low": "low", "high": "high", "panel": "tool", "row": "path", "unit": "unit"}
    frame = TYPICAL.assign(unit=[(1e3, "µs")] * 2)
    chart = az.charts.forest(frame, "rtt", **columns, points=RUNS, xlabel="median per run")
    assert isinstance(chart, Chart) and chart.figure.axes[0].get_xlabel() == "median per run, µs"


def test_runs_that_are_all_infinite_have_an_axis_without_numbers() -> None:
    lost = RUNS.assign(rtt=math.inf)
    nothing = TYPICAL.assign(rtt=math.nan, low=math.nan, high=math.nan)
    chart = az.charts.forest(nothing, "rtt", low="low", high="high", panel="tool", row="path",
                             points=lost, unit=(1e3, "µs"))  # fmt: skip
    assert isinstance(chart, Chart) and not len(chart.figure.axes[0].get_xticks())


def test_a_row_with_one_run_alone_shows_its_number_and_a_reported_range_its_ends() -> None:
    frame = pd.DataFrame(
        {"panel": "p", "row": ["run", "text"], "value": math.nan, "low": [math.nan, 20.0], "high": [math.nan, 40.0],
         "kind": ["", "reported"]}
    )  # fmt: skip
    runs = pd.DataFrame({"panel": "p", "row": ["run"], "value": [30.0]})
    columns = {"low": "low", "high": "high", "panel": "panel", "row": "row", "verdict": "kind"}
    chart = az.charts.forest(frame, "value", **columns, points=runs)
    assert isinstance(chart, Chart) and chart.alt == "p: run, 30; text [20, 40], reported"
    assert [text.get_text() for text in chart.figure.axes[0].texts] == ["30.0", "20.0–40.0"]
    assert "reported in a text" in chart.caption


def test_of_values_without_counts_some_are_left_out() -> None:
    many = pd.DataFrame({"pair": [f"p{i}" for i in range(90)], "tool": "ping", "ratio": 1.0, "n": math.nan})
    chart = az.charts.forest(many.assign(ratio_low=0.9, ratio_high=1.1), "ratio", panel="tool", row="pair", of="pairs")
    assert isinstance(chart, Chart) and "of 90 pairs, evenly chosen" in chart.caption


def test_panels_of_the_same_rows_beside_each_other_name_them_once() -> None:
    frame = pd.DataFrame(
        {"panel": ["µs", "ratio", "µs", "ratio"], "row": ["a", "a", "b", "b"], "value": [10.0, 1.0, 20.0, 2.0],
         "unit": [(1.0, "µs"), (1.0, "×")] * 2}
    ).assign(low=math.nan, high=math.nan)  # fmt: skip
    chart = az.charts.forest(frame, "value", low="low", high="high", panel="panel", row="row", unit="unit", beside=2)
    assert isinstance(chart, Chart)
    left, right = chart.figure.axes
    assert [item.get_text() for item in left.get_yticklabels()] == ["a", "b"]
    assert not any(item.get_text() for item in right.get_yticklabels())
    # A third panel in another order: nobody could tell where the names of the second one are.
    other = pd.DataFrame({"panel": ["mm", "mm"], "row": ["b", "a"], "value": 1.0, "unit": [(1.0, "mm")] * 2})
    columns: dict[str, Any] = {"low": "low", "high": "high", "panel": "panel", "row": "row", "unit": "unit"}
    frame = pd.concat([frame, other.assign(low=math.nan, high=math.nan)])
    chart = az.charts.forest(frame, "value", beside=2, **columns)
    assert isinstance(chart, Chart)
    assert [item.get_text() for item in chart.figure.axes[1].get_yticklabels()] == ["a", "b"]


def test_a_range_far_from_one_and_a_truth_beyond_the_values_are_inside_the_axis() -> None:
    far = pd.DataFrame({"panel": "p", "row": ["a", "b"], "ratio": [1.1, math.nan], "ratio_low": [1.0, 0.1],
                        "ratio_high": [1.2, 0.12]})  # fmt: skip
    chart = az.charts.forest(far, "ratio", panel="panel", row="row", margin=0.05)
    assert isinstance(chart, Chart) and chart.figure.axes[0].get_xlim()[0] < 0.12
    chart = az.charts.forest(far.assign(true=9.0), "ratio", panel="panel", row="row", truth="true")
    assert isinstance(chart, Chart) and chart.figure.axes[0].get_xlim()[1] > 9


def test_an_interval_below_zero_has_its_place_on_the_axis_although_its_value_is_above() -> None:
    frame = FRAME.assign(ratio=[0.3, 0.5, 20.0], ratio_low=[-27.0, -26.0, 1.0], ratio_high=[26.0, 25.0, 30.0])
    axis = drawn(frame, unit=(1.0, "µs")).figure.axes[0]
    assert axis.get_xscale() == "linear" and axis.get_xlim()[0] < -27


def test_a_mark_at_an_end_is_drawn_whole() -> None:
    reported = pd.DataFrame(
        {"pair": ["a", "b"], "tool": "latte", "ratio": math.nan, "ratio_low": [0.178, 1.1], "ratio_high": [0.198, 1.2],
         "verdict": "reported"}
    )  # fmt: skip
    shares = pd.DataFrame(
        {"pair": ["a", "b"], "tool": "ping", "ratio": [0.0, 4.0], "ratio_low": 0.0, "ratio_high": 5.0}
    )
    for width in ("double", "single"):
        charts = [drawn(reported, verdict="verdict", margin=0.05, width=width), drawn(shares, width=width)]
        for chart in charts:
            assert_marks_are_whole(chart)


def assert_marks_are_whole(chart: Chart) -> None:
    axis = chart.figure.axes[0]
    box, width = axis.get_window_extent(), 3.5 / 72 * chart.figure.dpi
    places = [place for line in axis.lines if len(line.get_xdata()) for place in line.get_xdata()]
    pixels = [
        axis.transData.transform((float(place), 0))[0]
        for place in places
        if float(place) > 0 or axis.get_xscale() == "linear"
    ]
    assert box.x0 + width <= min(pixels) and max(pixels) <= box.x1 - width


def test_a_missing_bar_is_explained_where_others_have_one_and_no_mark_says_it() -> None:
    said = "no bar: no interval"
    frame = FRAME[:2].assign(verdict=["not_tested", "different"])
    some, bar = frame.assign(ratio_low=[math.nan, 0.98]), [math.nan, math.nan]
    assert said not in drawn(some, verdict="verdict").caption
    assert said in drawn(some.assign(verdict="different"), verdict="verdict").caption
    assert said not in drawn(frame.assign(verdict="different", ratio_low=bar), verdict="verdict").caption


def test_a_dashed_range_that_was_not_tested_is_explained_and_no_mark_that_is_not_drawn() -> None:
    frame = FRAME.assign(ratio=math.nan, verdict="not_tested")
    chart = drawn(frame, verdict="verdict", margin=0.05)
    assert "Dashed: from the smallest to the largest as measured, not tested." in chart.caption
    assert "square" not in chart.caption


def test_the_axis_of_ratios_ends_after_the_data_on_both_sides_of_one() -> None:
    far = FRAME.assign(ratio=[6.0, 7.0, 8.0], ratio_low=[5.9, 6.9, 7.9], ratio_high=[6.1, 7.1, 8.1])
    low, high = drawn(far, margin=0.05).figure.axes[0].get_xlim()
    assert 0.8 < low < 1 / 1.05 and 8.1 < high < 10


def test_an_axis_begins_near_the_data_where_intervals_would_be_invisible_from_zero() -> None:
    fine = FRAME.assign(ratio=[400.0, 500.0, 900.0], ratio_low=[399.0, 499.0, 899.0], ratio_high=[401.0, 501.0, 901.0])
    assert 300 < drawn(fine).figure.axes[0].get_xlim()[0] < 399
    wide = fine.assign(ratio_low=[300.0, 400.0, 700.0])
    assert drawn(wide).figure.axes[0].get_xlim()[0] == 0


def test_a_tick_and_its_interval_are_in_front_of_the_dots() -> None:
    points = pd.DataFrame({"tool": ["ping"] * 3, "pair": ["a"] * 3, "ratio": [1.2] * 3})
    axis = drawn(points=points).figure.axes[0]
    dots = max(item.get_zorder() for item in axis.collections)
    assert sum(line.get_zorder() > dots for line in axis.lines) == 2


def test_a_true_value_is_behind_the_mark_of_the_verdict() -> None:
    axis = drawn(FRAME.assign(truth=1.2), verdict="verdict", truth="truth", margin=0.05).figure.axes[0]
    crosses = [line for line in axis.lines if line.get_marker() == "x"]
    marks = [line for line in axis.lines if line.get_marker() in "os"]
    assert crosses and max(each.get_zorder() for each in crosses) < min(each.get_zorder() for each in marks)
    assert min(each.get_markersize() for each in crosses) > max(each.get_markersize() for each in marks)


def test_all_rows_that_a_title_names_are_drawn_if_just_they_fit() -> None:
    names = [f"path {number}" for number in range(90)]
    frame = pd.DataFrame({"tool": "ping", "pair": names, "ratio": 1.0, "ratio_low": math.nan, "ratio_high": math.nan})
    fitting = drawn(frame).figure.axes[0].get_yticklabels()
    named = names[: len(fitting)]
    assert len(named) < len(names)
    assert [item.get_text() for item in drawn(frame, always=named).figure.axes[0].get_yticklabels()] == named
