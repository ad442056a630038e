"""The history of each path as small multiples."""

from __future__ import annotations

from datetime import timedelta

import numpy as np
import pandas as pd
from helpers.cases import stream
from helpers.chart_checks import assert_fit_to_print

import azlatency as az
from azlatency.kit.objects import Chart, Note
from azlatency.report import charts, findings, tables

NIGHTS = pd.date_range("2026-09-01", periods=50, freq="D", tz="UTC")


def _runs(path: str, step: float, seed: int, **columns: object) -> pd.DataFrame:
    values = 300e3 * stream(seed).lognormal(0, 0.02, 50) * np.where(np.arange(50) >= 30, step, 1)
    return pd.DataFrame({"path": path, "method": "ping 56 B", "started_at": NIGHTS, "median_ns": values, **columns})


def test_dots_levels_and_changes_are_drawn_and_told() -> None:
    labels = ["image 1"] * 30 + ["image 2"] * 20
    series = az.history(pd.concat([_runs("a → b", 1.1, 1), _runs("a → c", 1.2, 2, label=labels), _runs("b → c", 1, 3)]))
    chart = charts.history(series)
    assert isinstance(chart, Chart) and str(chart.title).startswith("2 of 3 series changed: a → b median +")
    assert_fit_to_print("history", chart)
    panels = [axis for axis in chart.figure.axes if axis.get_visible()]
    assert [len(axis.lines[0].get_xdata()) for axis in panels] == [50] * 3
    changed = {tuple(axis.get_title("left").split("\n"))[-1] for axis in panels[:2]}
    assert any("image 2" in text for text in changed)
    assert "b → c, ping 56 B, median: " in chart.alt and "no change" in chart.alt
    told = str(findings.history.find(series))
    assert "2 of 3 series" in told and "label image 2 (before: image 1)" in told
    (change,) = series[1].changes
    assert change.time is not None and abs(change.time - NIGHTS[30].to_pydatetime()) <= timedelta(days=1)
    table = str(tables.history.changes(series))
    assert change.date in table and "image 2" in table and "a → c" in table
    assert "b → c" in str(tables.history.series(series))


def test_a_far_night_is_a_triangle_at_the_edge() -> None:
    runs = _runs("a → b", 1, 4)
    runs.loc[10, "median_ns"] = 40e6
    chart = charts.history(az.history(runs))
    assert isinstance(chart, Chart) and "Triangles: values above the panel." in chart.caption
    assert chart.figure.axes[0].get_ylim()[1] < 1000


def test_short_series_have_no_chart() -> None:
    series = az.history(_runs("a → b", 1, 5)[:10])
    assert isinstance(charts.history(series), Note) and isinstance(tables.history.changes(series), Note)
    assert "20 points" in str(findings.history.find(series)) and "too few groups" in str(tables.history.series(series))
    assert isinstance(tables.history.series([]), Note)
