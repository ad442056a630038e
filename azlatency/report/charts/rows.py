"""Parts of charts that have one row per path: the dots of its runs, and the number next to them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

from azlatency.logs.format import decimals_for, format_number
from azlatency.report.charts.base import tip
from azlatency.report.charts.palette import INK, RUN

if TYPE_CHECKING:
    from matplotlib.axes import Axes


#: Dots of a row above which they are drawn smaller, so that they stay in their row.
_MANY_DOTS, _MOST_DOTS = 6, 30


def dots(axis: Axes, rows: Sequence[float], values: Sequence[float], tips: Sequence[str], colour: str = RUN) -> None:
    """Draw one hollow dot per run in its row; seaborn's swarm moves dots apart that would hide each other.

    The limits and the scale of the axis must be final.
    """
    import seaborn

    if not values:
        return
    most = max(Counter(rows).values())
    size, line = (4.2, 1.1) if most <= _MANY_DOTS else (3.0, 1.1) if most <= _MOST_DOTS else (1.4, 0.5)
    limits, ticks, names = axis.get_ylim(), axis.get_yticks(), [item.get_text() for item in axis.get_yticklabels()]
    seaborn.swarmplot(
        x=list(values), y=list(rows), orient="h", native_scale=True, size=size,
        color=axis.get_facecolor(), edgecolor=colour, linewidth=line, warn_thresh=1, ax=axis, zorder=4,
    )  # fmt: skip
    axis.set_yticks(ticks, names)
    axis.set_ylim(limits)
    axis.set(xlabel=axis.get_xlabel(), ylabel="")
    # One collection of dots per row, in the order of the rows.
    collections = [item for item in axis.collections if item.get_gid() is None][-len(set(rows)) :]
    for collection, row in zip(collections, sorted(set(rows)), strict=True):
        tip(collection, *(text for text, of_run in zip(tips, rows, strict=True) if of_run == row))


def value_at(axis: Axes, row: float, place: float, *values: float, colour: str = INK) -> None:
    """Write a number, or the ends of a range, right of a place in a row, and never beyond the end of the axis."""
    _annotate(axis, row, min(place, axis.get_xlim()[1]), "data", " – ".join(dict.fromkeys(map(number, values))), colour)


def at_edge(axis: Axes, row: float, text: str, colour: str = INK) -> None:
    """Write a text right of the axis, level with a row."""
    _annotate(axis, row, 1, "axes fraction", text, colour)


def number(value: float) -> str:
    """Write a count, or a measured number with three significant digits."""
    return f"{value:,}" if isinstance(value, int) else format_number(value, decimals_for(value))


def _annotate(axis: Axes, row: float, place: float, of: str, text: str, colour: str) -> None:
    axis.annotate(
        text, (place, row), (5, 0), xycoords=(of, "data"), textcoords="offset points", va="center", fontsize=7.5,
        color=colour, annotation_clip=False,
    )  # fmt: skip
