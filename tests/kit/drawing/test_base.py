"""What all charts share: widths, sizes and what is left out."""

from __future__ import annotations

import pandas as pd
import pytest
from matplotlib.figure import Figure

from azlatency.kit.drawing import base
from azlatency.kit.objects import Chart, Note
from azlatency.shapes import forest


def test_a_chart_is_drawn_again_with_other_options_as_it_was_drawn() -> None:
    rows = pd.DataFrame({"method": "ping", "path": ["b", "a"], "us": [98.0, 102.0], "us_low": 95.0, "us_high": 105.0})
    chart = forest(rows, "us", panel="method", row="path", order=["a", "b"], title="Mine")
    assert isinstance(chart, Chart) and chart.again is not None
    again = chart.again(width="single")
    assert isinstance(again, Chart) and again.title == "Mine"
    assert (chart.figure.get_figwidth(), again.figure.get_figwidth()) == (7.0, 3.3)
    assert again.alt == chart.alt and again.alt.index("a 102") < again.alt.index("b 98")
    with pytest.raises(ValueError, match="width = 'triple' is not one of 'single', 'double'"):
        chart.again(width="triple")
    inside = chart.again(figure=Figure())
    assert isinstance(inside, Chart) and inside.again is None


def test_a_summary_shows_four_charts_drawn_again(monkeypatch: pytest.MonkeyPatch) -> None:
    shown: list[Chart] = []
    monkeypatch.setattr("IPython.display.display", shown.append)
    rows = pd.DataFrame({"method": "ping", "path": ["b", "a"], "us": [98.0, 102.0], "us_low": 95.0, "us_high": 105.0})
    charts = [forest(rows, "us", panel="method", row="path", name=f"chart {number}") for number in range(5)]
    base.show(Note("No chart."), *charts, width="single")
    assert [chart.name for chart in shown] == ["chart 0", "chart 1", "chart 2", "chart 3"]
    assert {chart.figure.get_figwidth() for chart in shown} == {3.3}


def test_sizes_are_a_number_or_a_range() -> None:
    assert base.sizes([3, 3], "runs") == "n = 3 runs"
    assert base.sizes([9553, 200], "packets") == "n = 200 to 9,553 packets"
    assert base.sizes([], "runs") == ""


def test_what_is_left_out_is_counted() -> None:
    assert base.left_out(2, 4, "runs") == " Shown: 2 of 4 runs; the table lists all." and not base.left_out(
        4, 4, "runs"
    )


def test_a_few_rows_of_each_group_are_kept_those_with_the_largest_weights() -> None:
    rows = pd.DataFrame({"path": ["a", "a", "a", "b", "c"], "n": [5, 9, 7, 1, 3]})
    assert list(base.few_of_each(rows, "path", "n", 4)["n"]) == [9, 7, 1, 3]
    assert list(base.few_of_each(rows, "path", "n", 9)["n"]) == [5, 9, 7, 1, 3]
