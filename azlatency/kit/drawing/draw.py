"""What charts are made of, each drawn in one way: runs, estimates, intervals, ground truth, numbers, and captions."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np
import seaborn
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from azlatency.kit.drawing.base import lines, tip
from azlatency.kit.drawing.palette import BAND, ESTIMATE, GREY, INK, RUN, Look
from azlatency.kit.drawing.sheet import Sheet
from azlatency.studies.format import decimals_for, estimate_decimals, format_number, in_tens, plain, printed_decimals

#: What a caption says of the ground truth of round trips.
CONFIGURED = "×: round-trip delay of the emulated link as first configured, without the time of the hosts."
#: Dots of a row above which they are drawn smaller, so that they stay in their row.
_MANY_DOTS, _MOST_DOTS = 6, 30
#: The smallest dots that are drawn smaller because values are equal, in points.
_SMALLEST = 2.0
#: Inches of a line of a legend, and most letters of its names, and of those of which two fit beside each other in a
#: column.
_LEGEND_INCHES, _LETTERS, _SHORT = 0.17, 34, 16


def dots(axis: Axes, runs: Sequence[tuple[float, float, str]]) -> None:
    """Draw one hollow dot per run, from its row, its value and the text that is shown under the pointer.

    Seaborn's swarm moves dots apart that would hide each other.

    The limits and the scale of the axis must be final.
    """
    if not runs:
        return
    rows, values, tips = zip(*runs, strict=True)
    most = max(Counter(rows).values())
    size, line = (4.2, 1.1) if most <= _MANY_DOTS else (3.0, 1.1) if most <= _MOST_DOTS else (1.4, 0.8)
    # Equal values stand above each other, and must not reach the next row.
    equal = max(Counter(zip(rows, values, strict=True)).values())
    limits = axis.get_ylim()
    pitch = axis.get_window_extent().height / axis.figure.dpi * 72 / abs(limits[1] - limits[0])
    size = min(size, max(_SMALLEST, 0.8 * pitch / equal - line))
    ticks, names = axis.get_yticks(), [item.get_text() for item in axis.get_yticklabels()]
    seaborn.swarmplot(
        x=values,
        y=rows,
        orient="h",
        native_scale=True,
        size=size,
        color=axis.get_facecolor(),
        edgecolor=RUN,
        linewidth=line,
        warn_thresh=1,
        ax=axis,
        zorder=4,
    )
    axis.set_yticks(ticks, names)
    axis.set_ylim(limits)
    axis.set(xlabel=axis.get_xlabel(), ylabel="")
    # One collection of dots per row, in the order of the rows.
    collections = [item for item in axis.collections if item.get_gid() is None][-len(set(rows)) :]
    for collection, row in zip(collections, sorted(set(rows)), strict=True):
        tip(collection, *(text for text, of_run in zip(tips, rows, strict=True) if of_run == row))


def point(
    axis: Axes,
    row: float,
    *values: float,
    text: str = "",
    shape: str = "o",
    colour: str = ESTIMATE,
    face: str = "",
    zorder: float = 3,
    **look: Any,
) -> None:
    """Draw the values of a row, filled with ``face`` or their colour; ``text`` is shown under the pointer."""
    (marks,) = axis.plot(
        values, [row] * len(values), shape, color=colour, markerfacecolor=face or colour, zorder=zorder, **look
    )
    if text:
        tip(marks, text)


def bar(axis: Axes, row: float, ends: Sequence[float], colour: str = ESTIMATE, *, zorder: float = 2) -> None:
    """Draw an interval, if there is one."""
    if ends:
        axis.plot(ends, [row] * 2, color=colour, linewidth=2.2, zorder=zorder)


def truth(axis: Axes, row: float, value: float | None, scale: float = 1.0, text: str = "") -> None:
    """Draw the ground truth of a row, if it is known."""
    if value:
        # Behind a mark at the same place, which says the verdict, and thinner than its edge; its ends stand out.
        look: dict[str, Any] = {"markersize": 7, "markeredgewidth": 0.8, "zorder": 2.5}
        point(axis, row, value / scale, text=text, shape="x", colour=INK, **look)


def equivalence(axis: Axes, margin: float | None) -> None:
    """Draw the line of ratio 1 and, with a margin, the band of practical equivalence."""
    if margin is not None:
        axis.axvspan(1 / (1 + margin), 1 + margin, color=BAND, linewidth=0, zorder=0)
        for end in (1 / (1 + margin), 1 + margin):
            axis.axvline(end, color=GREY, linewidth=0.5, zorder=0)
    axis.axvline(1, color=INK, linewidth=0.8, zorder=1)


def name_rows(axis: Axes, names: Sequence[str]) -> list[float]:
    """Name the rows, each as high as its name has lines, the first one on top; return where their values stand."""
    heights = np.array([lines(name) for name in names])
    places: list[float] = (heights.cumsum() - heights / 2 - 0.5).tolist()
    axis.set_yticks(places, names)
    axis.set_ylim(heights.sum() - 0.4, -0.6)
    return places


def brackets(ends: Sequence[float], digits: int = 4) -> str:
    """Write an interval after a value in a text: " [1.2, 3.4]"; nothing without one."""
    return f" [{', '.join(plain(end, digits) for end in ends)}]" if ends else ""


def caption(*parts: str | tuple[str, object]) -> str:
    """Join the sentences of a caption; of a pair, the sentence belongs to it if the second part is true."""
    chosen = (part if isinstance(part, str) else part[0] if part[1] else "" for part in parts)
    return " ".join(text.strip() for text in chosen if text)


def at_edge(sheet: Sheet, axis: Axes, row: float, text: str) -> None:
    """Write a text right of the axis, level with a row."""
    if not sheet.labelled:
        return
    axis.annotate(
        text,
        (1, row),
        (5, 0),
        xycoords=("axes fraction", "data"),
        textcoords="offset points",
        va="center",
        fontsize=7.5,
        color=INK,
        annotation_clip=False,
    )


def short_number(value: float, step: float = 0.0) -> str:
    """Write a count, or a measured number with three significant digits, none finer than ``step``, if it is known."""
    if isinstance(value, int):
        return f"{value:,}"
    decimals = decimals_for(value)
    return format_number(in_tens(value, step), min(decimals, printed_decimals(step)) if step > 0 else decimals)


def with_interval(value: float, ends: Sequence[float]) -> str:
    """Write a value and its interval, which may be smaller than the dots: "830 (829–838)"."""
    decimals = estimate_decimals(value, *ends)
    low, high = (format_number(end, decimals) for end in ends)
    return f"{format_number(value, decimals)} ({low}{' to ' if ends[0] < 0 else '–'}{high})"


def _names_beside(sheet: Sheet, names: Collection[str]) -> int:
    return 3 if not sheet.narrow else 2 if max(map(len, names)) <= _SHORT else 1


def inches_below(sheet: Sheet, names: Collection[str]) -> float:
    """Return the height of the names that `name_below` writes."""
    return 0.2 + _LEGEND_INCHES * math.ceil(len(names) / _names_beside(sheet, names))


def name_below(sheet: Sheet, figure: Figure, first: Axes, look: Mapping[str, Look]) -> None:
    """Name the lines of paths below the panels, where their ends have no room for names.

    Of axes of the caller, whose figure has other charts, the first ones contain the names.
    """
    marks = [
        Line2D([], [], color=style.colour, linestyle=style.dash, marker=style.mark, markersize=4)
        for style in look.values()
    ]
    names = [sheet.names.wrap(path, _LETTERS, 1) for path in look]
    if sheet.options.places is None:
        figure.legend(marks, names, loc="outside lower left", ncols=_names_beside(sheet, look), handlelength=3)
    else:
        first.legend(marks, names)
