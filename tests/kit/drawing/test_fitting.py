"""Laying out a figure once."""

from __future__ import annotations

from matplotlib.figure import Figure

from azlatency.kit.drawing.fitting import freeze


def test_a_frozen_figure_keeps_its_axes_when_it_is_drawn_again() -> None:
    figure = Figure(figsize=(4, 3), layout="constrained")
    axis = figure.subplots()
    axis.set_title("A long title " * 5)
    freeze(figure)
    bounds = axis.get_position().bounds
    figure.draw_without_rendering()
    assert figure.get_layout_engine() is None, "with any engine, each file is drawn twice"
    assert axis.get_position().bounds == bounds
