"""Several series per panel over time, as named lines on one logarithmic axis: small multiples.

>>> from azlatency.shapes.lines import lines
>>> lines(windows, "mean_ns", panel="region", line="pair", date="date")      # doctest: +SKIP
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from typing import Any

import pandas as pd
from matplotlib.axes import Axes

from azlatency.kit.cells import MICROSECONDS, Unit
from azlatency.kit.drawing import draw
from azlatency.kit.drawing.axes import date_ticks, plain_log_ticks, spread
from azlatency.kit.drawing.base import left_out, sizes, styled, tip
from azlatency.kit.drawing.palette import GREY, HUES, INK, Look, looks
from azlatency.kit.drawing.sheet import Sheet
from azlatency.kit.objects import Chart, Note
from azlatency.studies.format import plain

#: Inches of a panel, and of what is above and below all panels; most panels in a row.
_PANEL, _AROUND, _BESIDE = 1.35, 0.85, 3
#: Share of a panel's width for the names of lines, and of its height for each of them.
_ROOM, _NAME = 0.42, 0.13
#: Share of a panel's height that names keep from its lower edge, where the axis would cross them.
_EDGE = 0.07
#: How a line is drawn that has no colour, and one that ended before the others: one of the hues is nearly grey.
_OTHER, _ENDED = ({"color": GREY, "linewidth": 0.6, "linestyle": dash} for dash in ("-", (0, (3, 1.5))))


@styled
def lines(  # noqa: PLR0913 - a shape is told its columns
    sheet: Sheet,
    frame: pd.DataFrame,
    value: str,
    *,
    panel: str,
    line: str,
    date: str = "date",
    marked: Collection[str] = (),
    foremost: str = "",
    limits: tuple[float, ...] = (),
    unit: Unit = MICROSECONDS,
    result: str = "",
    caption: str = "",
    counted: str = "points per line",
    of: str = "panels",
    name: str = "lines",
) -> Chart | Note:
    """Draw one line per series over time, a panel for each group of them; its name stands behind its last value.

    Lines that end before the others are grey and dashed, without a name. In a panel of more lines than there are
    colours, only the ``marked`` ones have a colour and a name. The panel is part of a name only once: in the panel of
    Osaka, "Osaka–Tokyo" is called Tokyo.

    Parameters
    ----------
    frame : DataFrame
        One row per point, in canonical units and in the order of time. Values of 0 have no place on the axis.
    value, date : str
        Columns of the values and of the times.
    panel, line : str
        Columns that tell panels and their lines apart; of more panels than fit, those with the most ``marked`` lines
        are drawn.
    marked : collection of str
        Lines that stand out where a panel has many; of more than there are colours, the first ones.
    foremost : str
        The line that the title speaks of, which is drawn thicker and has a bold name.
    limits : tuple of float
        Values that are drawn as dotted lines through all panels.
    unit : Unit
        Unit of the axis, which all panels share.
    result, caption : str
        Texts; the result in words is the title. Sentences on the number of points and on panels left out are added to
        the caption.
    counted, of : str
        What the points and the panels are, for these sentences.
    name : str
        Name of the chart, by which it is saved.

    Returns
    -------
    Chart or Note
        The chart, at most 9 inches high; a note if there is no point to draw.
    """
    rows = frame[frame[value].astype(float) > 0]
    if rows.empty:
        return Note("No chart: nothing to draw.")
    rows = rows.assign(_value=rows[value].astype(float) / unit.scale)
    panels = dict(iter(rows.groupby(panel, sort=False, dropna=False)))
    start, end = rows[date].min(), rows[date].max()
    count = {title: points.loc[points[line].isin(marked), line].nunique() for title, points in panels.items()}
    chosen = sorted(panels, key=lambda title: -count[title])[: sheet.most_panels(_PANEL, _BESIDE, _AROUND)]
    shown = {title: points for title, points in panels.items() if title in chosen}
    last_of = {title: points[points[date] == end].drop_duplicates(line, keep="last") for title, points in shown.items()}
    look_of = {title: _looks(sheet, last[line].astype(str), marked) for title, last in last_of.items()}
    figure, axes = sheet.grid(len(shown), _BESIDE, _PANEL, ylabel=f"{unit.name} (log)", sharex=True, sharey=True)
    alternatives = []
    for axis, (title, points) in zip(axes, shown.items(), strict=True):
        series = {str(key): group for key, group in points.groupby(line, sort=False, dropna=False)}
        axis.set_yscale("log")
        for limit in limits:
            axis.plot([start, end], [limit / unit.scale] * 2, color=INK, linewidth=0.8, linestyle=":")
        look = look_of[title]
        for key, group in series.items():
            style: dict[str, Any] = _OTHER if group[date].max() == end else _ENDED
            if key in look:
                style = {
                    "color": look[key].colour,
                    "linestyle": look[key].dash,
                    "linewidth": 2.2 if key == foremost else 1,
                }
            (drawn,) = axis.plot(group[date], group["_value"], zorder=2 + (key in look), **style)
            tip(drawn, f"{title}, {key}: {_ends(group['_value'], unit)}")
        axis.set_title(sheet.names.wrap(str(title), 34, 1), fontsize=8)
        alternatives.append(
            f"{title}: " + "; ".join(f"{key} {_ends(of['_value'], unit)}" for key, of in series.items())
        )
    for axis, title in zip(axes, shown, strict=True):
        axis.set_xlim(start, end + (end - start) * _ROOM)
        date_ticks(axis.xaxis, start, end)
        plain_log_ticks(axis.yaxis)
        last = last_of[title][last_of[title][line].astype(str).isin(look_of[title])]
        if sheet.labelled and len(last):
            names = [_other_end(str(key), str(title)) for key in last[line]]
            _name_ends(axis, last.assign(_name=names), line, look_of[title], foremost)
    text = draw.caption(
        caption,
        f"{sizes((size for points in shown.values() for size in points[line].value_counts()), counted)}.",
        (
            "Grey and dashed: a line that ends before the others.",
            any((points.groupby(line, dropna=False)[date].max() < end).any() for points in shown.values()),
        ),
        (
            "Thin and grey: other lines, which the text alternative names.",
            any(len(last_of[title]) > len(look_of[title]) for title in shown),
        ),
        left_out(len(shown), len(panels), of),
    )
    return Chart(figure, text, "\n".join(alternatives), title=result, name=name)


def _ends(values: pd.Series, unit: Unit) -> str:
    """Return the first and the last value of a line."""
    return f"{plain(values.iloc[0], 4)} → {plain(values.iloc[-1], 4)} {unit.name}"


def _looks(sheet: Sheet, names: pd.Series, marked: Collection[str]) -> dict[str, Look]:
    """Return the looks of the lines that reach the end; of more lines than colours, those of the marked ones."""
    chosen = list(names) if len(names) <= len(HUES) else [name for name in names if name in marked][: len(HUES)]
    return looks(chosen, sheet.options.colours)


def _other_end(pair: str, panel: str) -> str:
    """Return the end of a pair that is not the panel; the name as it is if the panel is not one of its ends."""
    ends = pair.split("–")
    return next((end for end in ends if end != panel), pair) if panel in ends else pair


def _name_ends(axis: Axes, last: pd.DataFrame, line: str, look: Mapping[str, Look], foremost: str) -> None:
    """Name each line behind its last value, to which a leader goes; names keep a distance from each other."""
    last = last.sort_values("_value", kind="stable")
    low, high = map(math.log, axis.get_ylim())
    room = 1 - _EDGE
    distance = min(_NAME / room, 1 / len(last))
    heights = [((math.log(value) - low) / (high - low) - _EDGE) / room for value in last["_value"]]
    places = [_EDGE + room * place for place in spread(heights, distance)]
    across = [place / (1 + _ROOM) for place in (1, 1.07, 1.1)]
    for key, name, height, place in zip(last[line].astype(str), last["_name"], heights, places, strict=True):
        style: dict[str, Any] = {"color": look[key].colour, "linestyle": look[key].dash, "linewidth": 1}
        # Letters need more contrast than lines, so the colour is that of a line before the name.
        axis.plot(across, [_EDGE + room * height, place, place], transform=axis.transAxes, clip_on=False, **style)
        look_of_name: dict[str, Any] = {"fontsize": 7, "color": INK, "va": "center"}
        weight = "bold" if key == foremost else "normal"
        axis.text(1.12 / (1 + _ROOM), place, name, transform=axis.transAxes, fontweight=weight, **look_of_name)
