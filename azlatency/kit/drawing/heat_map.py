"""Heat maps of times: the shades of their squares, and the names of rows and columns."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import seaborn
from matplotlib.axes import Axes
from matplotlib.colors import LogNorm

from azlatency.kit.drawing.sheet import Sheet
from azlatency.stats.arrays import FloatArray

#: Columns that can still be read, and most columns with a horizontal number, on a page and in a column.
MOST_ENDS, _NUMBER = 12, (9, 6)
# Letters of the name of an end, and of a line of it; of all names across before they are set upright.
LETTERS, LINE_LETTERS = 21, 14
_LETTERS_ACROSS, _LETTERS_PER_INCH = (44, 28), 8.5


def shade(axis: Axes, values: FloatArray) -> None:
    """Shade the squares of a matrix of positive values; NaN stays empty.

    The scale is logarithmic: paths between zones take about ten times as long as paths within a zone. Of the
    shades, those near white are left to empty squares, and those on which black text cannot be read are not used.
    """
    finite = values[np.isfinite(values)]
    low, high = float(finite.min()), float(finite.max())
    reach = 1.1 * high / low
    norm = LogNorm(low / reach**0.3, high * reach**0.65)
    seaborn.heatmap(
        values,
        mask=~np.isfinite(values),
        norm=norm,
        cmap="Blues",
        cbar=False,
        linecolor="white",
        ax=axis,
        linewidths=1 if len(values) <= MOST_ENDS else 0.2,
    )
    axis.collections[-1].set_rasterized(False)


def name_ends(sheet: Sheet, axis: Axes, ends: Sequence[str]) -> None:
    """Write the names of the ends below the columns and left of the rows."""
    names = [_name(sheet, end) for end in ends]
    places = [place + 0.5 for place in range(len(names))]
    axis.set_xticks(places, names, rotation=90 if crowded(sheet, ends) else 0)
    axis.set_yticks(places, [sheet.label(name, LINE_LETTERS) for name in names], rotation=0)
    axis.tick_params(length=0)
    axis.grid(visible=False)
    for side in ("left", "bottom"):
        axis.spines[side].set_visible(False)


def _name(sheet: Sheet, end: str) -> str:
    """Return the name of an end; of many plain words, which `short` keeps, the middle is cut."""
    name = sheet.names.short(end, LETTERS)
    return name if len(name) <= 2 * LETTERS else sheet.names.cut(end, LETTERS)


def crowded(sheet: Sheet, ends: Sequence[str]) -> bool:
    """Return whether the names are too long to fit side by side: all together, or two neighbours."""
    letters = [len(_name(sheet, end)) for end in ends]
    across = min(_LETTERS_ACROSS[sheet.narrow], _LETTERS_PER_INCH * sheet.inches)
    return sum(letters) > across or any(sum(two) / 2 > across / len(letters) for two in pairwise(letters))


def is_upright(sheet: Sheet, ends: Sequence[str]) -> bool:
    """Return whether a square is too small for a horizontal number."""
    return len(ends) > _NUMBER[sheet.narrow]
