"""Values from each row to each column, shaded by size: one panel per method.

>>> from azlatency.shapes.matrix import matrix
>>> matrix(frame, "estimate", row="from", column="to", panel="method")      # doctest: +SKIP
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pandas as pd

from azlatency.kit.cells import MICROSECONDS, Unit
from azlatency.kit.drawing import draw
from azlatency.kit.drawing.base import left_out, narrow, new_figure, styled
from azlatency.kit.drawing.heat_map import MOST_ENDS, crowded, is_upright, name_ends, shade
from azlatency.kit.drawing.palette import ON_LIGHT
from azlatency.kit.objects import Chart, Note
from azlatency.studies.format import plain

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: Most rows with an interval in each square, on a page and in a column; most panels.
_INTERVAL, _MOST_PANELS = (6, 4), 5


@styled
def matrix(  # noqa: PLR0913 - a shape is told its columns
    frame: pd.DataFrame,
    value: str,
    *,
    row: str,
    column: str,
    panel: str,
    low: str = "low",
    high: str = "high",
    truth: str = "",
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
        One row per square, in canonical units.
    value : str
        Column of the values.
    row, column, panel : str
        Columns with the names of rows, columns and panels. The first five panels are drawn, and none with more than
        twelve rows.
    low, high : str
        Columns of the interval; "1 run" stands for a missing one.
    truth : str
        Column with the true values, written below with a cross.
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
    groups = {title: group for title, group in frame.groupby(panel, sort=False, dropna=False) if len(group) > 1}
    ends = {title: list(dict.fromkeys([*group[row], *group[column]])) for title, group in groups.items()}
    small = [title for title in groups if len(ends[title]) <= MOST_ENDS]
    if groups and not small:
        return Note(
            f"No chart: every method has more than {MOST_ENDS} zones or hosts; the table lists all. Select some with "
            "`pairs`."
        )
    if not small:
        return Note("No chart: nothing to draw.")
    shown = small[:_MOST_PANELS]
    square = 0.46 if truth and frame[truth].notna().any() else 0.36
    tall = [max(1.7, square * len(ends[title]) + 0.85) + (1.3 if crowded(ends[title]) else 0) for title in shown]
    figure, axes = new_figure(len(tall), 1, sum(tall), gridspec_kw={"height_ratios": tall})
    for axis, title in zip(axes, shown, strict=True):
        columns = {"row": row, "column": column, "value": value, "low": low, "high": high, "truth": truth}
        squares = groups[title].rename(columns={given: ours for ours, given in columns.items() if given})
        _squares(axis, squares, ends[title], unit)
        axis.set(title=title, ylabel=ylabel, xlabel=xlabel)
    alternatives = []
    for title in shown:
        cells = [
            f"{cell[row]} → {cell[column]} {plain(cell[value] / unit.scale, 5)}"
            + draw.brackets(_bounds(cell[low], cell[high], unit), 5)
            for cell in groups[title].to_dict("records")
        ]
        alternatives.append(f"{title}: {'; '.join(cells)} {unit.name}")
    bounded = max(len(ends[title]) for title in shown) <= _INTERVAL[narrow()]
    text = draw.caption(
        caption,
        ("Below: the interval, or “1 run”.", bounded),
        ("× below: the configured value, without the time of the hosts.", square > 0.4),
        left_out(len(shown), frame[panel].nunique(), "methods"),
    )
    return Chart(figure, text, "\n".join(alternatives), title=result, name=name)


def _bounds(low: float, high: float, unit: Unit) -> tuple[float, ...]:
    return () if pd.isna(low) or pd.isna(high) else (low / unit.scale, high / unit.scale)


def _squares(axis: Axes, squares: pd.DataFrame, names: list[str], unit: Unit) -> None:
    """Shade the squares, and write the numbers into them."""
    upright = is_upright(names)
    values = squares.pivot_table(index="row", columns="column", values="value").reindex(index=names, columns=names)
    shade(axis, values.to_numpy(dtype=float) / unit.scale)
    for cell in squares.to_dict("records"):
        bounds = "–".join(map(draw.number, _bounds(cell["low"], cell["high"], unit)))
        below = [] if len(names) > _INTERVAL[narrow()] else [bounds or "1 run"]
        truth = cell.get("truth")
        below += [f"× {draw.number(truth / unit.scale)}"] if truth and pd.notna(truth) and not upright else []
        across, down = names.index(cell["column"]) + 0.5, names.index(cell["row"]) + (0.5, 0.33, 0.26)[len(below)]
        look: dict[str, Any] = {"ha": "center", "va": "center", "color": ON_LIGHT}
        size, turn = (7.5, 90) if upright else (8.5, 0)
        axis.text(across, down, draw.number(cell["value"] / unit.scale), fontsize=size, rotation=turn, **look)
        axis.text(across, down + 0.4, "\n".join(below), fontsize=7, linespacing=1.1, **look)
    name_ends(axis, names)
