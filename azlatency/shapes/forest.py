"""Rows of values with an interval each, in one panel per method or quantity: what most pages draw.

>>> from azlatency.shapes.forest import forest
>>> forest(frame, "ratio", panel="method", row="path", ratio=True)      # doctest: +SKIP
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

import pandas as pd

from azlatency.report.charts import draw
from azlatency.report.charts.axes import plain_log_ticks, times_axis
from azlatency.report.charts.base import label, left_out, lines, narrow, sizes, stack, styled
from azlatency.report.charts.options import by_size, ordered
from azlatency.report.charts.palette import BAND, ESTIMATE, GREY, RUN
from azlatency.report.objects import Chart, Note
from azlatency.report.table import PLAIN, Unit
from azlatency.studies.format import plain

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class Mark(NamedTuple):
    """How a value is drawn, and the words of the caption on it."""

    shape: str
    colour: str
    filled: bool
    words: str


#: The mark of each verdict, which is told apart without colour.
MARKS = {
    "meets": Mark("o", ESTIMATE, True, "filled dot: meets"),
    "fails": Mark("X", RUN, True, "cross: fails"),
    "different": Mark("o", RUN, True, "orange: different"),
    "different_within_margin": Mark("o", RUN, False, "hollow orange: different, but within the band"),
    "equivalent": Mark("s", ESTIMATE, True, "blue square: practically equivalent"),
    "inconclusive": Mark("s", GREY, False, "hollow grey square: inconclusive"),
}
_PLAIN = Mark("|", ESTIMATE, True, "")
#: Inches of a row, between two panels, and of the highest figure; ends of a ratio's interval that are drawn in full.
_ROW, _GAP, _HIGHEST, _FARTHEST = 0.21, 0.6, 9.0, 5.0
#: Ratio of the largest value to the smallest from which an axis is logarithmic.
_LOGARITHMIC = 15.0


@styled
def forest(  # noqa: PLR0913 - a shape is told its columns
    frame: pd.DataFrame,
    value: str,
    *,
    panel: str,
    row: str,
    low: str = "",
    high: str = "",
    points: pd.DataFrame | None = None,
    verdict: str = "",
    limits: tuple[str, str] | None = None,
    margin: float | None = None,
    unit: Unit | str = PLAIN,
    xlabel: str = "",
    result: str = "",
    caption: str = "",
    ordering: str = "",
    counted: str = "runs",
    of: str = "rows",
    name: str = "forest",
) -> Chart | Note:
    """Draw one row per row of a frame, from the top: its value, its interval, and its runs.

    Parameters
    ----------
    frame : DataFrame
        One row per value, in canonical units. A row with an interval and no value is drawn as a dashed bar.
    value : str
        Column of the values.
    panel, row : str
        Columns with the names of panels and of rows.
    low, high : str
        Columns of the interval, by default ``value`` with ``_low`` and ``_high``; rows may have none.
    points : DataFrame, optional
        One row per run with the columns ``panel``, ``row`` and ``value``: hollow dots.
    verdict : str
        Column of verdicts, which choose the mark: ``different``, ``equivalent``, ``inconclusive``, ``meets`` …
    limits : tuple of str, optional
        Columns of the range that a panel allows, drawn as a band; a missing end is open.
    margin : float, optional
        Makes the axis one of ratios, logarithmic around 1, with a band from ``1 / (1 + margin)`` to ``1 + margin``.
    unit : Unit or str
        Unit of the axis, or the column with that of each panel.
    xlabel, result, caption : str
        Texts; the result in words is the title. Sentences on the marks, on the number of runs (column ``n``) and on
        rows left out are added to the caption.
    ordering : str
        Sentence of the caption on the order of the rows, for where the caller does not choose it (option ``order``).
    counted, of : str
        What ``n`` counts, and what the rows are, for these sentences.
    name : str
        Name of the chart, by which it is saved.

    Returns
    -------
    Chart or Note
        The chart, at most 9 inches high; a note if there is no row to draw.
    """
    low, high = low or f"{value}_low", high or f"{value}_high"
    measured = frame[[value, low, high]].notna().any(axis=1)
    frame = frame if points is not None else frame[measured]
    if frame.empty:
        return Note("No chart: nothing to draw.")
    shown = _fitting(frame, panel, row)
    panels = {title: _ordered(group, row) for title, group in shown.groupby(panel, sort=False)}
    counts = [len(group) * lines(*map(label, group[row])) for group in panels.values()]
    figure, axes = stack(counts, each=_ROW, gap=_GAP, xlabel=xlabel, sharex=margin is not None)
    alternatives = []
    for axis, (heading, group) in zip(axes, panels.items(), strict=True):
        scale = unit if isinstance(unit, Unit) else Unit(*group[unit].iloc[0])
        dots = None if points is None else points[points[panel] == heading]
        drawn = _Panel(axis, group, (row, value, low, high), scale)
        if margin is not None:
            drawn.ratios(shown if len(panels) > 1 else group, (value, low, high), points, margin)
        else:
            drawn.values(limits)
        drawn.rows(verdict)
        runs = drawn.dots(dots, value, row)
        axis.set_title(str(heading))
        alternatives.append(f"{heading}: {'; '.join(drawn.words(verdict, runs))}")
    marks = [MARKS[kind].words for kind in MARKS if verdict and (shown[verdict] == kind).any()]
    no_bar = ["no bar: no interval"] if marks and shown.loc[shown[value].notna(), low].isna().any() else []
    legend = "; ".join([*marks, *no_bar])
    text = draw.caption(
        caption,
        by_size(ordering),
        (f"{legend[:1].upper()}{legend[1:]}.", legend),
        (f"{sizes(shown['n'].dropna().astype(int), counted)}." if "n" in shown else "", "n" in shown),
        left_out(len(shown), len(frame), of),
    )
    return Chart(figure, text, "\n".join(alternatives), title=result, name=name)


class _Panel:
    """One panel: its axis, its rows, and its unit."""

    def __init__(self, axis: Axes, rows: pd.DataFrame, columns: tuple[str, str, str, str], unit: Unit) -> None:
        self.axis, self.unit = axis, unit
        name, value, low, high = columns
        self.frame = rows.assign(
            _row=rows[name].astype(str),
            _value=rows[value].astype(float) / unit.scale,
            _low=rows[low].astype(float) / unit.scale,
            _high=rows[high].astype(float) / unit.scale,
        )

    def ratios(
        self, frame: pd.DataFrame, columns: tuple[str, str, str], points: pd.DataFrame | None, margin: float
    ) -> None:
        """Draw the axis of ratios, the same for all panels: long intervals are cut."""
        value, *ends = columns
        places = [*frame[value], *(points[value] if points is not None else ()), 1 + margin]
        places += [end for name in ends for end in frame[name] if 1 / _FARTHEST < end < _FARTHEST]
        reach = max(abs(math.log(place)) for place in places if place > 0) * 1.08
        times_axis(self.axis, (math.exp(-reach), math.exp(reach)), room=1.0)
        draw.equivalence(self.axis, margin)

    def values(self, limits: tuple[str, str] | None) -> None:
        """Draw the axis of values, from 0 or logarithmic, with the range that is allowed."""
        bounds = [] if limits is None else [self.frame[name].iloc[0] / self.unit.scale for name in limits]
        edges = [bound for bound in bounds if pd.notna(bound)]
        places = [*self.frame["_value"].dropna(), *edges]
        most = max([*places, *self.frame[["_low", "_high"]].stack()])
        least = min(places)
        logarithmic = least > 0 and most > _LOGARITHMIC * least
        left, right = (least / 1.5, most * 1.2) if logarithmic else (0.0, 1.06 * most)
        if logarithmic:
            self.axis.set_xscale("log")
            plain_log_ticks(self.axis.xaxis)
        self.axis.set_xlim(left, right)
        self.axis.set_xlabel(self.unit.name + (" (log)" if logarithmic else ""))
        if edges:
            start, end = (side if pd.isna(bound) else bound for bound, side in zip(bounds, (left, right), strict=True))
            self.axis.axvspan(start, end, color=BAND, linewidth=0, zorder=0)

    def rows(self, verdict: str) -> None:
        """Draw the value and the interval of each row, and write the value at the edge."""
        draw.name_rows(self.axis, [label(name) for name in self.frame["_row"]])
        left = self.axis.get_xlim()[0]
        for place, row in enumerate(self.frame.to_dict("records")):
            mark = MARKS.get(row.get(verdict), _PLAIN)
            ends = () if pd.isna(row["_low"]) or pd.isna(row["_high"]) else (max(row["_low"], left), row["_high"])
            if pd.isna(row["_value"]) and ends:
                self.axis.plot(ends, [place, place], color=mark.colour, linewidth=1.4, linestyle="--", zorder=2)
            if pd.isna(row["_value"]):
                continue
            draw.bar(self.axis, place, ends, mark.colour)
            size = {"markersize": 5} if mark.shape != "|" else {"markersize": 11, "markeredgewidth": 2.4}
            face = mark.colour if mark.filled else "white"
            text = self._say(row, verdict)
            look: dict[str, Any] = {"shape": mark.shape, "colour": mark.colour, "face": face, **size}
            draw.point(self.axis, place, row["_value"], text=text, **look)
            words = f", {row[verdict]}" if row.get(verdict) in ("meets", "fails") and not narrow() else ""
            draw.at_edge(self.axis, place, f"{draw.number(row['_value'])}{words}", mark.colour)

    def dots(self, points: pd.DataFrame | None, value: str, row: str) -> dict[str, list[float]]:
        """Draw the runs, and return their values by row."""
        if points is None:
            return {}
        places = {name: place for place, name in enumerate(self.frame["_row"])}
        runs: dict[str, list[float]] = {}
        for name, number in zip(points[row], points[value], strict=True):
            if name in places:
                runs.setdefault(name, []).append(number / self.unit.scale)
        draw.dots(
            self.axis,
            [(places[name], run, f"{name}: {plain(run, 4)}") for name, numbers in runs.items() for run in numbers],
        )
        return runs

    def words(self, verdict: str, runs: dict[str, list[float]]) -> list[str]:
        """Return the numbers of the panel as text, row by row."""
        texts = []
        for row in self.frame.to_dict("records"):
            of_row = runs.get(row["_row"], [])
            others = [] if of_row == [row["_value"]] else [plain(run, 4) for run in of_row]
            texts.append(", ".join([self._say(row, verdict), *others]))
        return texts

    def _say(self, row: dict[Any, Any], verdict: str) -> str:
        ends = [row[end] for end in ("_low", "_high") if pd.notna(row[end])]
        digits = 5 if self.unit.name else 4
        number = "" if pd.isna(row["_value"]) else f" {plain(row['_value'], digits)}"
        kind = row.get(verdict)
        words = f", {kind.replace('_', ' ')}" if kind in MARKS else ""
        unit = f" {self.unit.name}" if self.unit.name else ""
        return f"{row['_row']}{number}{draw.brackets(ends, digits)}{unit}{words}"


def _ordered(rows: pd.DataFrame, name: str) -> pd.DataFrame:
    """Return rows in their order, or in that of the option ``order``."""
    names = list(rows[name])
    return rows.iloc[ordered(range(len(rows)), int, names.__getitem__)]


def _fitting(frame: pd.DataFrame, panel: str, row: str) -> pd.DataFrame:
    """Return the rows that fit into a figure, those with the most runs first, in their order."""
    kept = frame
    while len(kept) > 1:
        groups = [group for _, group in kept.groupby(panel, sort=False)]
        height = sum(_GAP + _ROW * len(group) * lines(*map(label, group[row])) for group in groups)
        if height <= _HIGHEST:
            break
        fewer = max(int(len(kept) * _HIGHEST / height), 1)
        fewer = min(fewer, len(kept) - 1)
        weights = kept["n"] if "n" in kept else pd.Series(range(len(kept), 0, -1), index=kept.index)
        chosen = weights.fillna(weights.max()).rank(method="first", ascending=False) <= fewer
        kept = kept[chosen]
    return kept
