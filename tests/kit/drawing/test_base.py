"""What all charts share: widths, sizes and what is left out."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest
from matplotlib.figure import Figure

from azlatency.kit.drawing import base
from azlatency.kit.drawing.options import Options
from azlatency.kit.objects import Chart
from azlatency.shapes import forest


def test_a_column_is_narrow_and_has_one_panel_per_row() -> None:
    assert not base.narrow() and base.side_by_side(3, 5) == 3
    with Options(width="single").applied():
        assert base.narrow() and base.side_by_side(3, 5) == 1
    assert not base.narrow()


def test_a_chart_is_drawn_again_in_one_column_as_it_was_drawn(tmp_path: Path) -> None:
    rows = pd.DataFrame({"method": "ping", "path": ["b", "a"], "us": [98.0, 102.0], "us_low": 95.0, "us_high": 105.0})
    base.export("svg", tmp_path)
    chart = forest(rows, "us", panel="method", row="path", order=["a", "b"], width="double")
    base.export("", tmp_path)
    assert isinstance(chart, Chart) and chart.one_column is not None
    again = chart.one_column()
    assert isinstance(again, Chart) and again.one_column is None
    assert (chart.figure.get_figwidth(), again.figure.get_figwidth()) == (7.0, 3.3)
    assert again.alt == chart.alt and again.alt.index("a 102") < again.alt.index("b 98")
    assert [path.name for path in tmp_path.iterdir()] == ["forest.svg"]
    inside = forest(rows, "us", panel="method", row="path", figure=Figure())
    assert isinstance(inside, Chart) and inside.one_column is None


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


@pytest.mark.parametrize(("letters", "most"), [(78, 2), (42, 3), (42, 2)])
def test_a_title_that_is_too_long_loses_what_is_in_parentheses_and_then_its_end(letters: int, most: int) -> None:
    title = "Round trip from 54.0–61.1 µs (2 paths) to 1,840 µs (Different zones, Standard_D4s_v3), latte"
    shown = base._headline(title, letters, most)
    assert shown.count("\n") < most and ("Standard_D4s_v3" in shown) == (letters * most > 100) and "…" not in shown
    names = " and ".join(f"very-long-name-of-a-host-{place}" for place in range(12))
    shown = base._headline(f"Round trip to {names}", letters, most)
    assert shown.count("\n") == most - 1 and shown.endswith("…")
