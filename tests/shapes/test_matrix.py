"""The matrix draws any frame with a value from each row to each column."""

from __future__ import annotations

import math
from typing import Any

import pandas as pd
import pytest
from matplotlib.text import Text

import azlatency as az
from azlatency.kit.objects import Chart, Note

FRAME = pd.DataFrame(
    {"from": ["a", "b"], "to": ["b", "a"], "tool": "ping", "rtt": [100e3, 250e3], "low": [90e3, math.nan],
     "high": [110e3, math.nan], "set": [80e3, 200e3]}
)  # fmt: skip


def drawn(frame: pd.DataFrame, **columns: Any) -> Chart | Note:
    return az.charts.matrix(frame, "rtt", row="from", column="to", panel="tool", **columns)


def test_each_square_has_its_value_and_its_interval() -> None:
    chart = drawn(FRAME, truth="set", caption="RTT.")
    assert isinstance(chart, Chart) and chart.alt == "ping: a → b 100 [90, 110]; b → a 250 µs"
    texts = {text.get_text() for text in chart.figure.axes[0].texts}
    assert {"100", "250", "90–110\n× 80.0", "1 run\n× 200"} <= texts
    assert chart.caption.startswith("RTT. Below: the interval")


@pytest.mark.parametrize(("rows", "text"), [(1, "nothing to draw"), (13, "more than 12 zones")])
def test_one_square_and_too_many_rows_are_notes(rows: int, text: str) -> None:
    names = [f"z{number}" for number in range(rows + 1)]
    frame = pd.DataFrame({"from": names[:-1], "to": names[1:], "tool": "ping", "rtt": 1e5, "low": 9e4, "high": 2e5})
    note = drawn(frame)
    assert isinstance(note, Note) and text in note.text


def test_a_text_stands_for_the_value_and_the_caller_chooses_the_order() -> None:
    frame = FRAME.assign(said=["90–110", "250"], confidence=0.95)
    chart = drawn(frame, text="said", missing="", ends=["b", "a"])
    assert isinstance(chart, Chart) and chart.alt == "ping: a → b 90–110 [90, 110]; b → a 250 µs"
    (axis,) = chart.figure.axes
    assert {"90–110", "250"} <= {text.get_text() for text in axis.texts}
    assert [item.get_text() for item in axis.get_yticklabels()] == ["b", "a"]
    assert chart.caption == "Below: the 95 % interval."


def test_squares_of_many_rows_are_shades_without_numbers() -> None:
    names = [f"z{number}" for number in range(14)]
    frame = pd.DataFrame({"from": names[:-1], "to": names[1:], "tool": "ping", "rtt": 1e5, "low": 9e4, "high": 2e5})
    chart = drawn(frame, most=60)
    assert isinstance(chart, Chart) and not chart.figure.axes[0].texts and "Below" not in chart.caption


@pytest.mark.parametrize("end", ["z", "a-region-zone-"])
def test_the_title_of_a_panel_is_above_the_names_of_many_columns(end: str) -> None:
    names = [f"{end}{number:02d}" for number in range(14)]
    frame = pd.DataFrame({"from": names, "to": [*names[1:], names[0]], "tool": "ping", "rtt": 1e5}).assign(
        low=math.nan, high=math.nan
    )
    chart = drawn(frame, most=14)
    assert isinstance(chart, Chart)
    chart.figure.canvas.draw()
    (axis,) = chart.figure.axes
    tops = [tick.label2.get_window_extent().y1 for tick in axis.xaxis.get_major_ticks()]
    (title,) = (text for text in axis.findobj(Text) if text.get_text() == "ping")
    assert max(tops) < title.get_window_extent().y0


@pytest.mark.parametrize(("name", "intervals"), [("z{}", 4), ("availability-zone-{}", 0)])
def test_in_a_column_long_names_of_rows_leave_no_room_for_intervals(name: str, intervals: int) -> None:
    names = [name.format(number) for number in range(4)]
    frame = pd.DataFrame({"from": names, "to": names[1:] + names[:1], "tool": "ping", "rtt": 1e5, "low": 9e4})
    chart = drawn(frame.assign(high=2e5), width="single")
    assert isinstance(chart, Chart) and ("Below" in chart.caption) == bool(intervals)
    assert sum(text.get_text() == "90–200" for text in chart.figure.axes[0].texts) == intervals


def test_squares_without_a_value_are_hatched() -> None:
    full = pd.DataFrame({"from": list("aabb"), "to": list("abab"), "tool": "ping", "rtt": 1e5, "low": math.nan})
    for frame, hatched in ((full, 0), (full[:3], 1)):
        chart = drawn(frame.assign(high=math.nan))
        assert isinstance(chart, Chart)
        assert sum(bool(patch.get_hatch()) for patch in chart.figure.axes[0].patches) == hatched
