"""Laying out a figure once."""

from __future__ import annotations

import warnings

import pytest
from helpers.studies import load
from matplotlib.figure import Figure

import azlatency as az
from azlatency.kit.drawing.fitting import freeze
from azlatency.pages import history


def test_a_frozen_figure_keeps_its_axes_when_it_is_drawn_again() -> None:
    figure = Figure(figsize=(4, 3), layout="constrained")
    axis = figure.subplots()
    axis.set_title("A long title " * 5)
    freeze(figure)
    bounds = axis.get_position().bounds
    figure.draw_without_rendering()
    assert figure.get_layout_engine() is None, "with any engine, each file is drawn twice"
    assert axis.get_position().bounds == bounds


def test_a_title_that_is_wider_than_the_page_leaves_the_axes_their_room() -> None:
    """Unbroken, it would squeeze them to a few pixels, where only one tick has room."""
    figure = Figure(figsize=(3.3, 4), layout="constrained")
    for axis in figure.subplots(2):
        axis.set_xscale("log")
        axis.set_xlim(30, 2000)
        axis.set_yticks([0.5], ["accelerated networking"])
        axis.set_title("Same zone, Standard_D4s_v3, accelerated networking and placement group", loc="left")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        freeze(figure)
    for axis in figure.axes:
        assert axis.get_position().width > 0.4 and axis._left_title.get_text().count("\n") >= 1  # type: ignore[attr-defined]
        assert {100, 1000} <= set(axis.get_xticks())


@pytest.mark.slow
def test_a_title_of_the_last_panel_in_a_row_ends_on_the_page() -> None:
    """Panels of the published zones: "eu-gb-lon04-a → eu-gb-lon06-a" lost half of its last letter, 3 px of 700."""
    figure = history.history(az.history(load("ibm-cloud-zones"))).figure
    titles = [axis._left_title for axis in figure.axes if axis.get_title(loc="left")]
    assert len(titles) == 10
    assert all(figure.bbox.x0 <= title.get_window_extent().x0 for title in titles)
    assert all(title.get_window_extent().x1 <= figure.bbox.x1 for title in titles)
