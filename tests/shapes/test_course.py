"""The course draws any frame of values in time."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest

import azlatency as az
from azlatency.kit.cells import Unit
from azlatency.kit.objects import Chart, Note

PLAIN = Unit(1.0, "u")


def intervals(count: int, run: str = "a") -> pd.DataFrame:
    start = np.arange(float(count))
    return pd.DataFrame(
        {"run": run, "start": start, "end": start + 1, "rate": 4.0 + start % 2, "lost": 1.0, "skip": start < 1}
    )


def test_few_intervals_are_lines_and_those_that_do_not_count_are_dotted() -> None:
    chart = az.charts.course(
        intervals(3), "rate", panel="run", start="start", end="end", muted="skip", below="lost", below_label="lost",
        unit=PLAIN,
    )  # fmt: skip
    assert isinstance(chart, Chart) and chart.alt == "a: 5, 4 u; lost 2"
    upper, lower = chart.figure.axes
    assert [line.get_linestyle() for line in upper.lines] == [":", "-", "-"] and len(lower.patches) == 3
    # "retransmits" upright is longer than the lower axis.
    assert lower.get_title("left") == "lost" and not lower.get_ylabel()
    assert "n = 3 rows per run" in chart.caption and "Dotted and hollow" in chart.caption


@pytest.mark.parametrize("count", [301, 100_000])
def test_many_rows_are_time_bins_and_losses_are_triangles(count: int) -> None:
    frame = intervals(count)
    frame.loc[[5, 7, count - 1], "rate"] = math.inf
    chart = az.charts.course(frame, "rate", panel="run", start="start", unit=PLAIN, scale="log")
    assert isinstance(chart, Chart) and len(chart.svg()) < 100_000
    assert chart.alt == f"a: n = {count:,}, lost 3, smallest 4, median 4, largest 5 u"
    (axis,) = chart.figure.axes
    (triangles,) = (line for line in axis.lines if line.get_marker() == "v")
    assert len(triangles.get_xdata()) in (2, 3) and axis.get_yscale() == "log"
    assert "Grey: range of each time bin" in chart.caption


def test_panels_have_names_truths_and_changes_and_no_counts_need_no_axis() -> None:
    frame = pd.concat([intervals(3), intervals(3, "b"), intervals(3, "c")]).assign(lost=0.0)
    panels = pd.DataFrame({"name": ["B", "A"], "true": [3.0, 9.0], "end": ["→", ""]}, index=["b", "a"])
    changes = pd.DataFrame({"run": ["b"], "at": [1.0], "at_low": [0.5], "at_high": [1.5], "text": ["it moved"]})
    chart = az.charts.course(
        frame, "rate", panel="run", start="start", below="lost", panels=panels, heading="name", truth="true",
        edge="end", changes=changes, unit=PLAIN,
    )  # fmt: skip
    assert isinstance(chart, Chart)
    first, second = chart.figure.axes
    assert [axis.get_title(loc="left") for axis in (first, second)] == ["B", "A"]
    assert (
        chart.alt.splitlines() == ["B: 4, 5, 4 u; lost 0; it moved", "A: 4, 5, 4 u; lost 0"] or "it moved" in chart.alt
    )
    assert first.get_ylim()[1] > 9 and [text.get_text() for text in first.texts] == ["→"]
    assert any(line.get_linestyle() == ":" for line in second.lines)


def test_more_panels_than_are_drawn_are_left_out_and_no_rows_are_a_note() -> None:
    frame = pd.concat([intervals(3, f"run {number}") for number in range(5)])
    chart = az.charts.course(frame, "rate", panel="run", start="start", most=2, of="runs")
    assert isinstance(chart, Chart) and "Shown: 2 of 5 runs; the table lists all." in chart.caption
    assert isinstance(az.charts.course(frame[:0], "rate", panel="run", start="start"), Note)
