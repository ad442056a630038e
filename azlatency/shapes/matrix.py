"""Values from each row to each column, shaded by size: one panel per method.

>>> from azlatency.shapes.matrix import matrix
>>> matrix(frame, "estimate", row="from", column="to", panel="method")      # doctest: +SKIP
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.patches import Rectangle

from azlatency.kit.cells import MICROSECONDS, Unit
from azlatency.kit.drawing import draw
from azlatency.kit.drawing.base import left_out, styled
from azlatency.kit.drawing.heat_map import LETTERS, MOST_ENDS, crowded, is_upright, name_ends, shade
from azlatency.kit.drawing.palette import GREY, ON_LIGHT
from azlatency.kit.drawing.sheet import Sheet
from azlatency.kit.objects import Chart, Note
from azlatency.stats.across_runs.run_values import check_columns
from azlatency.studies.format import estimate_decimals, format_number, percent, plain

#: Most rows with an interval in each square, on a page and in a column; most panels.
_INTERVAL, _MOST_PANELS = (6, 4), 5
#: Inches of a square without a number.
_SHADE = 0.14
#: Size of the names around many squares, in points.
_NAME_POINTS = 7.5
#: Most columns whose names have room, on a page and in a column; of more, some are named, as the rows name all.
_MOST_NAMED = (44, 18)


@styled
def matrix(  # noqa: PLR0913 - a shape is told its columns
    sheet: Sheet,
    frame: pd.DataFrame,
    value: str,
    *,
    row: str,
    column: str,
    panel: str,
    low: str = "low",
    high: str = "high",
    truth: str = "",
    text: str = "",
    missing: str = "1 run",
    ends: Sequence[str] = (),
    most: int = MOST_ENDS,
    unit: Unit = MICROSECONDS,
    ylabel: str = "",
    xlabel: str = "",
    result: str = "",
    caption: str = "",
    name: str = "matrix",
) -> Chart | Note:
    """Draw one square per row of a frame: its value, and below it its interval.

    Parameters
    ----------
    frame : DataFrame
        One row per square, in canonical units. The column ``confidence`` is named in the caption.
    value : str
        Column of the values.
    row, column, panel : str
        Columns with the names of rows, columns and panels. The first five panels are drawn.
    low, high : str
        Columns of the interval.
    truth : str
        Column with the true values, written below with a cross.
    text : str
        Column with what is written instead of the value, such as a range.
    missing : str
        Text below a value without an interval.
    ends : sequence of str
        Names of the rows and columns in their order, by default that in which they appear.
    most : int
        Most rows of a panel; a larger one is left out. Of more than 12 rows the squares are shades without numbers.
    unit : Unit
        Unit of the numbers.
    ylabel, xlabel, result, caption : str
        Texts; the result in words is the title. A sentence on what is left out is added to the caption.
    name : str
        Name of the chart, by which it is saved.

    Returns
    -------
    Chart or Note
        The chart, or a note if there is no panel with more than one square.
    """
    check_columns(frame, low, high)
    groups = {title: group for title, group in frame.groupby(panel, sort=False, dropna=False) if len(group) > 1}
    names = {title: _names(group[[row, column]], ends) for title, group in groups.items()}
    small = [title for title in groups if len(names[title]) <= most]
    if groups and not small:
        return Note(
            f"No chart: every method has more than {most} zones or hosts; the table lists all. Select some with "
            "`pairs`."
        )
    if not small:
        return Note("No chart: nothing to draw.")
    shown = small[:_MOST_PANELS]
    square = 0.46 if truth and frame[truth].notna().any() else 0.36
    tall = [_height(sheet, names[title], square) for title in shown]
    figure, axes = sheet.new_figure(len(tall), 1, sum(tall), gridspec_kw={"height_ratios": tall})
    for axis, title in zip(axes, shown, strict=True):
        columns = {"row": row, "column": column, "value": value, "low": low, "high": high, "truth": truth, "text": text}
        squares = groups[title].rename(columns={given: ours for ours, given in columns.items() if given})
        if not text:
            squares = squares.assign(text=[draw.short_number(number / unit.scale) for number in squares["value"]])
        _squares(sheet, axis, squares, names[title], unit, missing)
        axis.set(ylabel=ylabel, xlabel=xlabel)
        axis.set_title(title, pad=_room_for_names(sheet, names[title]))
    alternatives = []
    for title in shown:
        cells = [
            f"{cell[row]} → {cell[column]} {cell[text] if text else plain(cell[value] / unit.scale, 5)}"
            + (f" [{', '.join(ends)}]" if (ends := _bounds(cell[value], cell[low], cell[high], unit)) else "")
            for cell in groups[title].to_dict("records")
        ]
        alternatives.append(f"{title}: {'; '.join(cells)} {unit.name}")
    bounded = (
        sheet.labelled
        and all(_has_room(sheet, names[title]) for title in shown)
        and bool(missing or frame[low].notna().any())
    )
    confidence = f"{percent(frame['confidence'].iloc[0])} " if "confidence" in frame else ""
    words = draw.caption(
        caption,
        (f"Below: the {confidence}interval{f', or “{missing}”' if missing else ''}.", bounded),
        ("× below: the configured value, without the time of the hosts.", square > 0.4),
        left_out(len(shown), frame[panel].nunique(), "methods"),
    )
    return Chart(figure, words, "\n".join(alternatives), title=result, name=name)


def _has_room(sheet: Sheet, names: list[str]) -> bool:
    """Return whether an interval fits into a square; in a column, long names of rows take the room of one more."""
    return len(names) <= _INTERVAL[sheet.narrow] - (sheet.narrow and crowded(sheet, names))


def _bounds(value: float, low: float, high: float, unit: Unit) -> tuple[str, ...]:
    """Return the ends of an interval with the digits that it supports, as a table has them; nothing without one."""
    if pd.isna(low) or pd.isna(high):
        return ()
    decimals = estimate_decimals(value, low, high, unit.scale)
    return tuple(format_number(end / unit.scale, decimals) for end in (low, high))


def _names(ends: pd.DataFrame, order: Sequence[str]) -> list[str]:
    """Return the names of rows and columns, each once."""
    found = dict.fromkeys(ends.to_numpy().ravel("F"))
    return [name for name in order if name in found] or list(found)


def _height(sheet: Sheet, names: list[str], square: float) -> float:
    """Return the inches of a panel."""
    each = _SHADE if len(names) > MOST_ENDS else square
    return max(1.7, each * len(names) + 0.85) + (1.3 if crowded(sheet, names) else 0)


def _room_for_names(sheet: Sheet, names: list[str]) -> float | None:
    """Return the points between squares and title in which many names are repeated; None for the usual distance."""
    if len(names) <= MOST_ENDS:
        return None
    letters = max(len(sheet.names.short(name, LETTERS)) for name in names) if crowded(sheet, names) else 1
    return 0.65 * _NAME_POINTS * (letters + 3)


def _squares(sheet: Sheet, axis: Axes, squares: pd.DataFrame, names: list[str], unit: Unit, missing: str) -> None:
    """Shade the squares, and write the numbers into them."""
    upright = is_upright(sheet, names)
    values = squares.pivot_table(index="row", columns="column", values="value").reindex(index=names, columns=names)
    shade(axis, values.to_numpy(dtype=float) / unit.scale)
    if values.isna().to_numpy().any():
        # On a dark page, an empty square would look like the darkest one. The squares cover the rest.
        axis.add_patch(
            Rectangle((0, 0), *values.shape[::-1], fill=False, hatch="///", edgecolor=GREY, alpha=0.6, lw=0, zorder=0)
        )
    if len(names) > MOST_ENDS:
        name_ends(sheet, axis, names)
        # A reader of the middle finds the names at the nearest side.
        axis.tick_params(labelsize=_NAME_POINTS, labeltop=True, labelright=not sheet.narrow)
        if (step := math.ceil(len(names) / _MOST_NAMED[sheet.narrow])) > 1:
            below = [text.get_text() for text in axis.get_xticklabels()[: len(names)]]
            axis.set_xticklabels(["" if place % step else name for place, name in enumerate(below)])
        return
    for cell in squares.to_dict("records") if sheet.labelled else ():
        bounds = "–".join(_bounds(cell["value"], cell["low"], cell["high"], unit))
        below = [] if not _has_room(sheet, names) or not (bounds or missing) else [bounds or missing]
        truth = cell.get("truth")
        below += [f"× {draw.short_number(truth / unit.scale)}"] if truth and pd.notna(truth) and not upright else []
        across, down = names.index(cell["column"]) + 0.5, names.index(cell["row"]) + (0.5, 0.33, 0.26)[len(below)]
        look: dict[str, Any] = {"ha": "center", "va": "center", "color": ON_LIGHT}
        size, turn = (7.5, 90) if upright else (8.5, 0)
        shown = draw.short_number(cell["value"] / unit.scale) if upright else cell["text"]
        axis.text(across, down, shown, fontsize=size, rotation=turn, **look)
        axis.text(across, down + 0.4, "\n".join(below), fontsize=7, linespacing=1.1, **look)
    name_ends(sheet, axis, names)
