"""Points in the order of time with their levels, and where the level changed: one panel per series.

>>> from azlatency.shapes.series import series
>>> series(found.points, "value", panel="what", changes=found.changes)      # doctest: +SKIP
"""

from __future__ import annotations

from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator
from pandas.api.types import is_integer_dtype

from azlatency.kit.cells import MICROSECONDS, Unit
from azlatency.kit.drawing import draw
from azlatency.kit.drawing.axes import date_ticks
from azlatency.kit.drawing.base import MOST_PANELS, left_out, sizes, styled, tip
from azlatency.kit.drawing.fitting import FEWEST_LETTERS
from azlatency.kit.drawing.palette import ESTIMATE, INK, RUN
from azlatency.kit.drawing.sheet import Sheet
from azlatency.kit.objects import Chart, Note
from azlatency.stats.across_runs.run_values import check_columns
from azlatency.studies.format import plain

#: Inches of a panel, and of what is above and below all panels; most panels in a row.
_PANEL, _AROUND, _BESIDE = 1.35, 0.85, 3
#: Most letters of a line above a panel.
_LETTERS = 32
#: A value this many times the highest level is drawn at the upper edge, or it would hide the levels.
_FARTHEST = 1.5


@styled
def series(  # noqa: PLR0913 - a shape is told its columns
    sheet: Sheet,
    points: pd.DataFrame,
    value: str,
    *,
    panel: str,
    date: str = "date",
    level: str = "level",
    changes: pd.DataFrame | None = None,
    note: str = "",
    hint: str = "",
    truth: str = "",
    unit: Unit | str = MICROSECONDS,
    result: str = "",
    caption: str = "",
    counted: str = "points",
    of: str = "series, changed ones before others",
    name: str = "series",
) -> Chart | Note:
    """Draw one dot per row of a frame, the level of each part as a line, and the changes of level.

    Parameters
    ----------
    points : DataFrame
        One row per dot, in canonical units and in the order of time within each panel.
    value : str
        Column of the values. A value far above the highest level is drawn as a triangle at the upper edge.
    panel : str
        Column with the names of panels. Panels with changes are preferred if there are many, then those whose values
        differ.
    date : str
        Column of times; a panel without them is drawn in the order of its rows.
    level : str
        Column with the level that each dot belongs to.
    changes : DataFrame, optional
        One row per change with the columns ``panel``, ``at``, ``at_low``, ``at_high`` (positions of the first dot of
        the new level, and of its interval, among the dots of the panel, from 0) and ``text``, the change in words.
    note : str
        Column with a line that is written below the name of each panel.
    hint : str
        Column of texts that a dot shows under the pointer, after its time and value.
    truth : str
        Column with the true value of a panel, drawn as a dotted line.
    unit : Unit or str
        Unit of the axis, or the column with that of each panel.
    result, caption : str
        Texts; the result in words is the title. Sentences on the marks, on the number of dots and on panels left out
        are added to the caption.
    counted, of : str
        What the dots and the panels are, for these sentences.
    name : str
        Name of the chart, by which it is saved.

    Returns
    -------
    Chart or Note
        The chart, at most 9 inches high; a note if there is no dot to draw.
    """
    check_columns(points, level)
    if points.empty:
        return Note("No chart: nothing to draw.")
    steps = pd.DataFrame({panel: [], "text": []}) if changes is None else changes
    panels = dict(iter(points.groupby(panel, sort=False, dropna=False)))
    shown = _chosen(sheet, panels, value, set(steps[panel]))
    dated = {title: panels[title][date].notna().all() if date in points else False for title in shown}
    figure, axes = sheet.grid(len(shown), _BESIDE, _PANEL, xlabel="" if all(dated.values()) else "run, in order")
    alternatives, any_beyond = [], False
    for axis, title in zip(axes, shown, strict=True):
        dots, of_panel = panels[title], steps[steps[panel] == title]
        scale = unit if isinstance(unit, Unit) else Unit(*dots[unit].iloc[0])
        drawn = pd.DataFrame(
            {
                "place": dots[date] if dated[title] else range(1, len(dots) + 1),
                "value": dots[value] / scale.scale,
                "level": dots[level] / scale.scale,
                "hint": dots[hint] if hint else "",
            }
        )
        any_beyond |= _dots(axis, drawn, scale)
        levels = _levels(axis, drawn)
        _changes(axis, list(drawn["place"]), of_panel)
        below = dots[note].iloc[0] if note else ""
        if truth and pd.notna(dots[truth].iloc[0]):
            axis.axhline(dots[truth].iloc[0] / scale.scale, color=INK, linewidth=1, linestyle=":")
        axis.set_title("\n".join(filter(None, [_name(sheet, str(title)), below])), fontsize=8)
        axis.set_ylabel(scale.name)
        words = "; ".join(of_panel["text"]) or below or "no change found"
        numbers = ", then ".join(f"{plain(each, 5)} {scale.name}" for each in levels)
        if changes is None and len(levels) == 1:  # the dots are what there is to say
            numbers = f"{', '.join(plain(number, 5) for number in drawn['value'])} {scale.name}"
        alternatives.append(f"{title}: {numbers}; {words}")
    text = draw.caption(
        f"{caption} {sizes((len(panels[title]) for title in shown), f'{counted} per panel')}.",
        ("Dashed: change of level, with the 95 % interval of its date.", set(shown) & set(steps[panel])),
        ("Triangles: values above the panel.", any_beyond),
        left_out(len(shown), len(panels), of),
    )
    rest = f"; {len(shown)} drawn" if result and not set(steps[panel]) <= set(shown) else ""
    return Chart(figure, text, "\n".join(alternatives), title=f"{result}{rest}", name=name)


def _name(sheet: Sheet, title: str) -> str:
    """Return the name of a panel in at most two lines; of words that are not shortened, the middle is cut."""
    letters, name = _LETTERS, sheet.names.wrap(title, _LETTERS, 2)
    while name.count("\n") > 1 and letters > FEWEST_LETTERS:
        letters -= 2
        name = sheet.names.wrap(sheet.names.cut(title, 2 * letters), _LETTERS, 2)
    return name


def _chosen(sheet: Sheet, panels: dict[Any, pd.DataFrame], value: str, changed: set[Any]) -> list[Any]:
    """Return the names of the panels that are drawn, in their order."""
    # A change is what there is to see.
    most = min(max(MOST_PANELS, len(changed & set(panels))), sheet.most_panels(_PANEL, _BESIDE, _AROUND))
    moving = [title for title, dots in panels.items() if title in changed or dots[value].nunique() > 1]
    first = sorted(moving or panels, key=lambda title: title not in changed)[:most]
    return [title for title in panels if title in first]


def _dots(axis: Axes, drawn: pd.DataFrame, unit: Unit) -> bool:
    """Draw the dots; return whether some are above the panel."""
    top = drawn["level"].max() * _FARTHEST
    beyond = (drawn["value"] > top) & (top > 0)
    for dots, shape, size in ((drawn[~beyond], "o", 2.5), (drawn[beyond], "^", 3.0)):
        if len(dots):
            values = dots["value"].clip(upper=top) if shape == "^" else dots["value"]
            (marks,) = axis.plot(dots["place"], values, shape, color=RUN, markersize=size)
            tip(marks, *(_hint(dot, unit) for dot in dots.to_dict("records")))
    axis.margins(y=0.12)
    axis.yaxis.set_major_locator(MaxNLocator(nbins=4))
    if is_integer_dtype(drawn["place"]):
        axis.xaxis.set_major_locator(MaxNLocator(integer=True, nbins=6))
    else:
        date_ticks(axis.xaxis, drawn["place"].min(), drawn["place"].max())
    return bool(beyond.any())


def _hint(dot: dict[Any, Any], unit: Unit) -> str:
    when = f"run {dot['place']}" if isinstance(dot["place"], int) else f"{dot['place']:%Y-%m-%d %H:%M}"
    return f"{when}: {plain(dot['value'], 4)} {unit.name}" + (f", {dot['hint']}" if dot["hint"] else "")


def _levels(axis: Axes, drawn: pd.DataFrame) -> list[float]:
    """Draw the level of each part from its first dot to its last one, and return the levels."""
    parts = [part for _, part in drawn.groupby((drawn["level"] != drawn["level"].shift()).cumsum(), dropna=False)]
    for part in parts:
        ends = part.iloc[[0, -1]]
        axis.plot(ends["place"], ends["level"], color=ESTIMATE, linewidth=1.6)
    return [float(part["level"].iloc[0]) for part in parts]


def _changes(axis: Axes, places: list[Any], changes: pd.DataFrame) -> None:
    """Draw the changes of level, with the intervals of their dates."""
    for change in changes.to_dict("records"):
        axis.axvspan(places[change["at_low"]], places[change["at_high"]], color=INK, alpha=0.08, linewidth=0)
        line = axis.axvline(places[change["at"]], color=INK, linewidth=0.9, linestyle="--")
        tip(line, change["text"])
