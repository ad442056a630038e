"""Shades and names of heat maps."""

from __future__ import annotations

import numpy as np
from matplotlib.colors import LogNorm
from matplotlib.figure import Figure

from azlatency.kit.drawing.heat_map import MOST_ENDS, crowded, is_upright, name_ends, shade
from azlatency.kit.drawing.options import Options
from azlatency.kit.drawing.sheet import Sheet


def test_missing_squares_stay_empty_and_the_longest_time_is_not_the_darkest_shade() -> None:
    axis = Figure().subplots()
    shade(axis, np.array([[50.0, np.nan], [400.0, 800.0]]))
    (mesh,) = axis.collections
    assert np.ma.getmaskarray(mesh.get_array()).tolist() == [[False, True], [False, False]]
    assert isinstance(mesh.norm, LogNorm) and 0.1 < float(mesh.norm(50.0)) < float(mesh.norm(800.0)) < 0.7


def test_names_are_upright_where_they_do_not_fit() -> None:
    few, many = ["1", "2", "3"], [f"westeurope-zone-{number}" for number in range(MOST_ENDS)]
    page, column = Sheet(), Sheet(Options(width="single"))
    assert not crowded(page, few) and crowded(page, many) and not is_upright(page, few) and is_upright(page, many)
    assert is_upright(column, many[:7]) and not is_upright(column, many[:6])
    assert crowded(column, ["another-zone-of-europe", "z3", "z4"]), "a long name reaches into its neighbour"
    axis = Figure().subplots()
    name_ends(page, axis, many)
    assert {tick.get_rotation() for tick in axis.get_xticklabels()} == {90.0}
