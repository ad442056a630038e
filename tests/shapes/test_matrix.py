"""The matrix draws any frame with a value from each row to each column."""

from __future__ import annotations

import math

import pandas as pd
import pytest

import azlatency as az
from azlatency.kit.objects import Chart, Note

FRAME = pd.DataFrame(
    {"from": ["a", "b"], "to": ["b", "a"], "tool": "ping", "rtt": [100e3, 250e3], "low": [90e3, math.nan],
     "high": [110e3, math.nan], "set": [80e3, 200e3]}
)  # fmt: skip


def drawn(frame: pd.DataFrame, **columns: str) -> Chart | Note:
    return az.charts.matrix(frame, "rtt", row="from", column="to", panel="tool", **columns)  # type: ignore[arg-type]


def test_each_square_has_its_value_and_its_interval() -> None:
    chart = drawn(FRAME, truth="set", caption="RTT.")
    assert isinstance(chart, Chart) and chart.alt == "ping: a → b 100 [90, 110]; b → a 250 µs"
    texts = {text.get_text() for text in chart.figure.axes[0].texts}
    assert {"100", "250", "90.0–110\n× 80.0", "1 run\n× 200"} <= texts
    assert chart.caption.startswith("RTT. Below: the interval")


@pytest.mark.parametrize(("rows", "text"), [(1, "nothing to draw"), (13, "more than 12 zones")])
def test_one_square_and_too_many_rows_are_notes(rows: int, text: str) -> None:
    names = [f"z{number}" for number in range(rows + 1)]
    frame = pd.DataFrame({"from": names[:-1], "to": names[1:], "tool": "ping", "rtt": 1e5, "low": 9e4, "high": 2e5})
    note = drawn(frame)
    assert isinstance(note, Note) and text in note.text
