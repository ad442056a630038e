"""The density draws any frame with shares of packets up to each value."""

from __future__ import annotations

import math

import pandas as pd

import azlatency as az
from azlatency.kit.objects import Chart, Note

POINTS = pd.DataFrame(
    {"run": ["r1"] * 3 + ["r2"] * 3, "tool": "ping", "path": ["a → b"] * 3 + ["b → a"] * 3,
     "rtt": [1e5, 2e5, 9e6, 2e5, 3e5, 4e5], "share": [0.5, 0.99, 1.0, 0.4, 0.8, 1.0], "n": [100] * 3 + [50] * 3,
     "words": ["first"] * 3 + ["second"] * 3, "set": [8e4] * 3 + [math.nan] * 3}
)  # fmt: skip
COLUMNS = {"panel": "tool", "line": "run", "text": "words"}


def test_one_line_per_run_and_the_axis_ends_after_the_middle_of_all_runs() -> None:
    chart = az.charts.density(POINTS, "rtt", **COLUMNS, colour="path", truth="set", caption="Shares.", xlabel="RTT")
    assert isinstance(chart, Chart) and chart.alt == "first\nsecond"
    (axis,) = chart.figure.axes
    assert axis.get_xlabel() == "RTT, µs (log)" and axis.get_ylim() == (0, 1)
    # 95 % of the second run were answered within 400 µs; the slowest packet of the first one is out of sight.
    assert axis.get_xlim()[1] == 1.6 * 400
    assert len(axis.lines) == 5, "two runs with a mark each, and one true value"
    # 0.4 of the second run were answered within 200 µs, 0.8 within 300 µs: its line rises past one half there.
    marks = [tuple(map(float, line.get_xydata()[0])) for line in axis.lines if line.get_linestyle() == "None"]
    assert marks == [(100, 0.5), (300, 0.5)]
    assert len(chart.figure.legends[0].get_texts()) == 2
    assert chart.caption == "Shares. n = 50 to 100 packets per run."


def test_shares_of_slower_packets_have_logarithmic_axes_bars_and_a_limit() -> None:
    slower = POINTS[POINTS["run"] == "r1"].assign(rtt=[9e6, 2e5, 1e5], share=[0.01, 0.5, 1.0])
    bars = pd.DataFrame({"tool": ["ping"], "share": [0.5], "low": [1e5], "high": [3e5], "text": ["p50"]})
    chart = az.charts.density(slower, "rtt", **COLUMNS, slower=True, bars=bars, limit=1e6, truth="set")
    assert isinstance(chart, Chart) and "Dotted: the limit." in chart.caption
    (axis,) = chart.figure.axes
    assert (axis.get_xscale(), axis.get_yscale()) == ("log", "log") and axis.get_xlim()[1] == 27_000
    assert [list(line.get_xdata()) for line in axis.lines if line.get_alpha() == 0.35] == [[100, 300]]


def test_nothing_to_draw_is_a_note() -> None:
    assert isinstance(az.charts.density(POINTS[:0], "rtt", **COLUMNS), Note)
