"""Dots, numbers, intervals and names in the rows of a chart."""

from __future__ import annotations

import re

import pandas as pd

import azlatency as az
from azlatency.kit.drawing import draw
from azlatency.kit.objects import Chart
from azlatency.pages import common


def test_rows_are_sorted_and_numbers_are_at_the_edge() -> None:
    runs = pd.DataFrame(
        {"path": ["far", "near"], "method": "ping", "median_ns": [1.4e6, 3.3e4], "placement": None}, index=["a", "b"]
    )
    chart = common.typical_forest(runs, az.summarize(runs, "median_ns"))
    assert isinstance(chart, Chart)
    (axis,) = chart.figure.axes
    assert [item.get_text() for item in axis.get_yticklabels()] == ["near", "far"]
    assert [(text.get_text(), text.xy[0]) for text in axis.texts] == [("33.0", 1), ("1,400", 1)]


def test_each_dot_shows_its_value_under_the_pointer() -> None:
    runs = pd.DataFrame(
        {"path": ["a", "a", "b"], "method": "ping", "median_ns": [1e5, 2e5, 3e5], "placement": None}, index=list("xyz")
    )
    chart = common.typical_forest(runs, az.summarize(runs, "median_ns"))
    assert isinstance(chart, Chart)
    tips = re.findall(r"<(?:use|path)[^>]*><title>([^<]+)</title>", chart.svg())
    assert {"a: 100 µs", "a: 200 µs", "b: 300 µs"} <= set(tips)
    # The words are text, in a family that readers have.
    assert ">median round trip per run, µs" in chart.svg() and "Verdana" in chart.svg()


def test_an_interval_follows_its_value_if_it_has_ends() -> None:
    assert draw.brackets((1.25, 3.0)) == " [1.25, 3]" and not draw.brackets(())


def test_a_caption_has_the_sentences_whose_condition_holds() -> None:
    assert draw.caption("Dots: runs.", ("Bar: interval.", True), ("Hollow: none.", []), " Shown: 2 of 3.") == (
        "Dots: runs. Bar: interval. Shown: 2 of 3."
    )
