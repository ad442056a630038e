"""Runs in the order of measuring."""

from __future__ import annotations

import pandas as pd
from helpers.chart_checks import assert_fit_to_print
from helpers.results import NOTHING
from helpers.studies import load

import azlatency as az
from azlatency.kit.objects import Chart, Note
from azlatency.report import charts, findings, tables

AT = pd.to_datetime("2026-01-01") + pd.to_timedelta(range(12), unit="h")


def _runs(path: str, values: list[float]) -> pd.DataFrame:
    return pd.DataFrame({"path": path, "method": "ping 56 B", "started_at": AT, "median_ns": values, "mean_ns": values})


def test_runs_that_resemble_their_neighbours_are_drawn_first_and_named() -> None:
    rising = _runs("b → c", [1e6 + 1e4 * step for step in range(12)])
    mixed = _runs("a → b", [5e5, 6e5, 5.1e5, 5.9e5, 5.2e5, 5.8e5, 5.3e5, 5.7e5, 5.4e5, 5.6e5, 5.45e5, 5.55e5])
    # The rows of a frame may have any order; the time of measuring decides.
    runs = pd.concat([mixed, rising.sample(frac=1, random_state=1)], ignore_index=True)
    ordered = az.summarize(runs)
    chart = charts.runs_in_order(runs, ordered)
    assert isinstance(chart, Chart) and "in 1 of 2 series" in str(chart.title)
    assert chart.alt.splitlines()[0].startswith("b → c, ping 56 B: 1,000, 1,010, 1,020")
    assert ordered["lag1_p"][0] > 0.05 and ordered["lag1_p"][1] <= 1e-3
    text = str(tables.latency.runs_in_order(ordered))
    assert "drift" in text
    sentences = str(findings.latency.find(runs, ordered, NOTHING, NOTHING))
    assert "1 of 2 paths and methods: b → c (ping 56 B)" in sentences


def test_few_runs_and_runs_without_an_order_are_not_tested() -> None:
    few = _runs("a → b", [1e6 + step for step in range(12)])[:5]
    assert isinstance(charts.runs_in_order(few, az.summarize(few)), Note)
    note = tables.latency.runs_in_order(az.summarize(few))
    assert isinstance(note, Note) and "assumes independent runs" in str(note)
    unordered = _runs("a → b", [1e6 + step for step in range(12)]).drop(columns="started_at")
    ordered = az.summarize(unordered)
    assert isinstance(charts.runs_in_order(unordered, ordered), Note)
    assert isinstance(tables.latency.runs_in_order(ordered), Note)


def test_the_configured_delay_is_drawn_in_an_emulated_study() -> None:
    study = load("emulated-zones")
    runs = az.latency(study)
    charts.ground_truth(study)
    try:
        chart = charts.runs_in_order(runs, az.summarize(runs))
    finally:
        charts.ground_truth(None)
    assert isinstance(chart, Chart) and "Dotted: configured round-trip delay" in chart.caption
    assert_fit_to_print("runs in order", chart)
    delays = {}
    for axis in chart.figure.axes:
        for line in axis.lines:
            if line.get_linestyle() == ":":
                delays[axis.get_title("left").split(",")[0]] = float(line.get_ydata()[0])
    # truth.json: 85 + 85 µs, 375 + 375 µs, 325 + 445 µs, and 25 + 25 µs inside a zone.
    expected = {frozenset("12"): 170, frozenset("13"): 750, frozenset("23"): 770, frozenset("1"): 50}
    assert delays == {path: expected[frozenset(path) & frozenset("123")] for path in delays} != {}
