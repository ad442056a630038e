"""Rows of values with an interval each, in one panel per method or quantity: what most pages draw.

>>> from azlatency.shapes.forest import forest
>>> forest(frame, "ratio", panel="method", row="path", ratio=True)      # doctest: +SKIP
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from azlatency.kit.cells import PLAIN, Unit
from azlatency.kit.drawing import draw
from azlatency.kit.drawing.axes import plain_log_ticks, times_axis
from azlatency.kit.drawing.base import left_out, lines, sizes, styled
from azlatency.kit.drawing.palette import BAND, ESTIMATE, GREY, INK, RUN
from azlatency.kit.drawing.sheet import Sheet
from azlatency.kit.objects import Chart, Note
from azlatency.kit.titles import capitalised
from azlatency.stats.across_runs.run_values import check_columns, check_numbers
from azlatency.studies.format import did_you_mean, plain


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
    "different_within_margin": Mark("o", RUN, False, "hollow orange: different, within the margin"),
    "holds": Mark("o", ESTIMATE, True, "blue dot: contains the true value"),
    "misses": Mark("D", RUN, True, "orange diamond: does not contain it"),
    "equivalent": Mark("s", ESTIMATE, True, "blue square: practically equivalent"),
    "inconclusive": Mark("s", GREY, False, "hollow grey square: inconclusive"),
    "not_tested": Mark("s", GREY, False, "hollow grey square without a bar: not tested"),
    "reported": Mark("D", GREY, False, "diamond, or two and their range: reported in a text, without a log"),
}
_PLAIN = Mark("|", ESTIMATE, True, "")
#: Inches of a row, and of one of many; between two panels (with an axis of their own); of all panels of the highest
#: figure, which is 9 inches with its title and axis.
_ROW, _LOW_ROW, _GAP, _GAP_WITH_AXIS, _HIGHEST = 0.2, 0.18, 0.45, 0.85, 8.15
#: Ends of a ratio's interval that are drawn in full.
_FARTHEST = 5.0
#: Letters of the longest name of a row beside which two panels stand side by side.
_SHORT = 20
#: Letters of a line of the name of a row: of one panel in a row, and of several.
_LETTERS = (46, 30)
#: Ratio of the largest value to the smallest from which an axis is logarithmic; up to which it may begin near the
#: smallest, if half of the intervals take less than this share of an axis that begins at 0.
_LOGARITHMIC, _ZOOMED, _INVISIBLE = 15.0, 4.0, 0.02


@styled
def forest(  # noqa: PLR0913 - a shape is told its columns
    sheet: Sheet,
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
    margin: float | str | None = None,
    line: float | None = None,
    truth: str = "",
    edge: str = "",
    order: Sequence[str] = (),
    always: Sequence[str] = (),
    unit: tuple[float, str] | str = PLAIN,
    xlabel: str = "",
    beside: int = 1,
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
        One row per value, in canonical units. A row with an interval and no value is drawn as a dashed bar, one
        without both by its runs alone.
    value : str
        Column of the values.
    panel, row : str
        Columns with the names of panels and of rows.
    low, high : str
        Columns of the interval, by default ``value`` with ``_low`` and ``_high``; rows may have none.
    points : DataFrame, optional
        One row per run with the columns ``panel``, ``row`` and ``value``: hollow dots; an infinite value is a triangle
        at the end of the axis. A row of the frame may have runs and no value.
    verdict : str
        Column of verdicts, which choose the mark: ``different``, ``equivalent``, ``inconclusive``, ``meets`` …
    limits : tuple of str, optional
        Columns of the range that a panel allows, drawn as a band; a missing end is open.
    margin : float or str, optional
        Makes the axis one of ratios, logarithmic around 1, with a band from ``1 / (1 + margin)`` to ``1 + margin``; the
        name of a column if rows have margins of their own.
    line : float, optional
        A value that is drawn as a dashed line through all panels.
    truth : str
        Column with the true value of each row, drawn as a cross.
    edge : str
        Column with the text right of each row, by default its value.
    order : sequence of str
        Names of rows from the top; those that are not named follow.
    always : sequence of str
        Names of rows that are drawn if not all fit; the others are evenly chosen.
    unit : tuple of (float, str), or str
        Unit of the axis: how many canonical units it is and its name, ``(1e3, "µs")``; or the column with that of each
        panel.
    beside : int
        Most panels in a row, on a page.
    xlabel, result, caption : str
        Texts; the unit is added to ``xlabel`` where panels have units of their own. The result in words is the title,
        with the number of rows drawn if not all are.
        Sentences on the marks, on the number of runs (column ``n``) and on rows left out are added to the caption.
    ordering : str
        Sentence of the caption on the order of the rows, left out with ``order``.
    counted, of : str
        What ``n`` counts, and what the rows are, for these sentences.
    name : str
        Name of the chart, by which it is saved.

    Returns
    -------
    Chart or Note
        The chart, at most 9 inches high; a note if there is no row to draw.

    Raises
    ------
    TypeError, ValueError
        If a column of numbers has texts; if a margin is not positive, or a ratio negative.
    """
    low, high = low or f"{value}_low", high or f"{value}_high"
    named = [name for name in (verdict, truth, edge, unit, margin, *(limits or ())) if name and isinstance(name, str)]
    check_columns(frame, low, high, *named)
    check_numbers(frame.reindex(columns=[low, high]), low, high)
    if isinstance(margin, str):
        check_numbers(frame, margin)
    if margin is not None and len(frame):
        _check_ratios(frame[value], frame[margin] if isinstance(margin, str) else pd.Series([margin]))
    of_all = None if isinstance(unit, str) else Unit(*unit)
    measured = frame.reindex(columns=[value, low, high]).notna().any(axis=1)
    frame = frame if points is not None else frame[measured]
    if frame.empty:
        return Note("No chart: nothing to draw.")
    sharex = margin is not None or of_all is not None
    gap = _GAP if sharex else _GAP_WITH_AXIS
    shown = _fitting(sheet, frame, panel, row, gap, beside, always)
    _check_order(order, shown[row].astype(str).unique())
    panels = {title: _in_order(group, row, order) for title, group in shown.groupby(panel, sort=False, dropna=False)}
    columns = sheet.side_by_side(beside, len(panels))
    counts = _row_counts(sheet, shown, panel, row, columns)
    xlabel = xlabel or (of_all.name if of_all else "")
    each = _ROW if _height(counts, gap, columns, _ROW) <= _HIGHEST else _LOW_ROW
    figure, axes = sheet.stack(counts, each=each, gap=gap, xlabel=xlabel, sharex=sharex, most=beside)
    alternatives = []
    # Where the orders differ, a reader cannot tell which panel the names of a panel without any are in.
    same_rows = len({tuple(group[row]) for group in panels.values()}) == 1
    for place, (axis, (heading, group)) in enumerate(zip(axes, panels.items(), strict=True)):
        scale = of_all or Unit(*group[unit].iloc[0])
        dots = None if points is None else points[points[panel] == heading]
        drawn = _Panel(sheet, axis, group, (row, value, low, high), (verdict, truth, edge), scale, columns)
        if margin is not None:
            drawn.ratios(shown, (value, low, high), points, margin)
        else:
            of_axis, of_dots = (shown, points) if sharex else (group, dots)
            axis.set_xlabel(axis.get_xlabel() if sharex else ", ".join(filter(None, [xlabel, scale.name])))
            others = [line, *(of_axis[truth] if truth else ()), *(() if of_dots is None else of_dots[value])]
            drawn.values(of_axis[[value, low, high]], limits, [float(each) for each in others if pd.notna(each)])
            if line is not None:
                axis.axvline(line / scale.scale, color=INK, linestyle="--", linewidth=1)
        runs = drawn.runs(dots, value, row)
        drawn.rows(runs)
        drawn.dots(runs)
        axis.set_title(str(heading))
        if place % columns and same_rows:
            axis.set_yticklabels([])  # as in the panel on its left
        alternatives.append(f"{heading}: {'; '.join(drawn.words(runs))}")
    kinds = shown[verdict] if verdict else pd.Series("", shown.index)
    marks = [
        MARKS[kind].words for kind in MARKS if ((kinds == kind) & (shown[value].notna() | (kind == "reported"))).any()
    ]
    if ((kinds == "not_tested") & shown[value].isna()).any():
        marks.append("dashed: from the smallest to the largest as measured, not tested")
    without = shown[low].isna() & shown[value].notna()
    if verdict:  # the words of these marks say so themselves
        without &= ~shown[verdict].isin(["not_tested", "reported"])
    no_bar = ["no bar: no interval"] if marks and without.any() and shown[low].notna().any() else []
    legend = "; ".join([*marks, *no_bar])
    chosen = "those that the title names, others evenly" if always else "evenly chosen from the first to the last"
    counts_of_rows = sizes(shown["n"].dropna().astype(int), counted) if "n" in shown else ""
    text = draw.caption(
        caption,
        (ordering, not order),
        (f"{capitalised(legend)}.", legend),
        (f"{counts_of_rows}.", counts_of_rows),
        left_out(len(shown), len(frame), f"{of}, {chosen}"),
    )
    rest = f"; {len(shown)} drawn" if result and len(shown) < len(frame) else ""
    return Chart(figure, text, "\n".join(alternatives), title=f"{result}{rest}", name=name)


def _check_ratios(ratios: pd.Series, margins: pd.Series) -> None:
    """Raise `ValueError` if ratios or margins have no place on a logarithmic axis."""
    if not (margins > 0).all():
        raise ValueError(f"margin {plain(margins[~(margins > 0)].iloc[0])}: write 0.05 for ±5 %")
    if (ratios < 0).any():
        raise ValueError(f"{ratios.name!r} has the ratio {plain(ratios.min())}; ratios are positive; leave out margin=")


def _is_too_fine(numbers: pd.DataFrame, ends: Sequence[float]) -> bool:
    """Return whether most intervals would be invisible on an axis from 0, and values are far from 0."""
    widths = (numbers.iloc[:, 2] - numbers.iloc[:, 1]).dropna()
    return 0 < max(ends) < _ZOOMED * min(ends) and len(widths) > 0 and widths.median() < _INVISIBLE * max(ends)


def two_beside(frame: pd.DataFrame, panel: str, row: str) -> int:
    """Return how many panels stand side by side: two of more than two, if the names of their rows are short."""
    return 2 if frame[panel].nunique() > 2 and frame[row].str.len().max() <= _SHORT else 1


class _Panel:
    """One panel: its axis, its rows, and its unit."""

    def __init__(
        self,
        sheet: Sheet,
        axis: Axes,
        rows: pd.DataFrame,
        columns: tuple[str, str, str, str],
        further: tuple[str, str, str],
        unit: Unit,
        beside: int,
    ) -> None:
        self.sheet, self.axis, self.unit = sheet, axis, unit
        self.verdict, self.truth, self.edge = further
        has_marks = bool(self.verdict) and bool(rows[self.verdict].eq("reported").any())
        #: Room for half a mark at the ends of a narrow axis.
        self.room = 0.12 if sheet.narrow and has_marks else 0.0
        self.digits, self.unit_words = (5, f" {unit.name}") if unit.name else (4, "")
        name, value, low, high = columns
        self.frame = rows.assign(
            _row=rows[name].astype(str),
            _value=rows[value].astype(float) / unit.scale,
            _low=rows[low].astype(float) / unit.scale,
            _high=rows[high].astype(float) / unit.scale,
        )
        self.places = draw.name_rows(axis, [sheet.label(name, _LETTERS[beside > 1]) for name in self.frame["_row"]])

    def ratios(
        self, frame: pd.DataFrame, columns: tuple[str, str, str], points: pd.DataFrame | None, margin: float | str
    ) -> None:
        """Draw the axis of ratios, the same for all panels: long intervals are cut."""
        value, *ends = columns
        margins = frame[margin] if isinstance(margin, str) else [margin]
        places = [*frame[value], *(points[value] if points is not None else ()), *(1 + each for each in margins)]
        places += [*frame[self.truth].dropna()] if self.truth else []
        places += [end for name in ends for end in frame[name] if 1 / _FARTHEST < end < _FARTHEST]
        has_marks = frame[self.verdict].eq("reported") if self.verdict else pd.Series(False, frame.index)
        for of_marks, ends_of_row in zip(has_marks, frame[ends].where(frame[value].isna()).to_numpy(), strict=True):
            # An end is only cut where no mark is drawn on it; the nearer one is always shown.
            nearer = sorted(ends_of_row, key=lambda end: abs(math.log(end)) if end > 0 else math.inf)
            places += [end for end in nearer[: 2 if of_marks else 1] if pd.notna(end)]
        logs = [0.0, *(math.log(place) for place in places if place > 0), *(-math.log(1 + each) for each in margins)]
        beyond = (0.06 + self.room / 2) * (max(logs) - min(logs))
        times_axis(self.axis, (math.exp(min(logs) - beyond), math.exp(max(logs) + beyond)), room=1.0)
        of_rows = [float(each) for each in self.frame[margin]] if isinstance(margin, str) else [margin]
        draw.equivalence(self.axis, of_rows[0] if len({*of_rows}) == 1 else None)
        if len({*of_rows}) > 1:
            # From the middle between two rows to the next, so that rows of several lines leave no gap.
            middles = [(above + below) / 2 for above, below in pairwise(self.places)]
            edges = [self.places[0] - 0.5, *middles, self.places[-1] + 0.5]
            for rows_of_band, each in zip(pairwise(edges), of_rows, strict=True):
                ends_of_band = 1 / (1 + each), 1 + each
                self.axis.fill_betweenx(rows_of_band, *ends_of_band, color=BAND, linewidth=0, zorder=0)
                self.axis.vlines(ends_of_band, *rows_of_band, color=GREY, linewidth=0.5, zorder=0)

    def values(self, numbers: pd.DataFrame, limits: tuple[str, str] | None, others: Iterable[float]) -> None:
        """Draw the axis of values, from 0 or logarithmic, with the range that is allowed; errors have both signs.

        Where intervals would be invisible on an axis from 0, it begins near the smallest value.

        The axis also reaches to ``others``: the runs, the true values, and a line.
        """
        bounds = [] if limits is None else [self.frame[name].iloc[0] / self.unit.scale for name in limits]
        edges = [bound for bound in bounds if pd.notna(bound)]
        # A row without a value is drawn by its ends alone.
        values = numbers.iloc[:, 0].fillna(numbers.iloc[:, 1]).dropna() / self.unit.scale
        places = [*values, *edges, *(other / self.unit.scale for other in others if math.isfinite(other))]
        if not places:
            self.axis.set_xticks([])
            return
        ends = [*places, *numbers.iloc[:, 1:].stack() / self.unit.scale]
        most, least = max(ends), min(places)
        has_both_signs = min(ends) < 0
        logarithmic = least > 0 and most > _LOGARITHMIC * least and not has_both_signs
        # A mark on 0 is drawn whole.
        left = 0.0 if least else -(0.03 + self.room / 2) * most
        left, right = (least / 1.5, most * 1.2) if logarithmic else (left, (1.06 + self.room) * most or 1.0)
        if has_both_signs or (not logarithmic and _is_too_fine(numbers / self.unit.scale, [*ends, *edges])):
            room = (0.06 + self.room / 2) * (most - min(ends))
            left, right = min(ends) - room, most + room
        if has_both_signs:
            self.axis.axvline(0, color=INK, linewidth=1)
        if logarithmic:
            self.axis.set_xscale("log")
            plain_log_ticks(self.axis.xaxis)
        self.axis.set_xlim(left, right)
        if logarithmic and (label := self.axis.get_xlabel()):
            self.axis.set_xlabel(f"{label} (log)")
        if edges:
            start, end = (side if pd.isna(bound) else bound for bound, side in zip(bounds, (left, right), strict=True))
            self.axis.axvspan(start, end, color=BAND, linewidth=0, zorder=0)
            for edge in edges:
                self.axis.axvline(edge, color=GREY, linewidth=0.5, zorder=0)

    def rows(self, runs: dict[str, list[float]]) -> None:
        """Draw the value and the interval of each row, and write the value, or that of its only run, at the edge."""
        left = self.axis.get_xlim()[0]
        for place, row in zip(self.places, self.frame.to_dict("records"), strict=True):
            mark = MARKS.get(row.get(self.verdict), _PLAIN)
            ends = () if pd.isna(row["_low"]) or pd.isna(row["_high"]) else (max(row["_low"], left), row["_high"])
            if pd.isna(row["_value"]) and ends:
                self.axis.plot(ends, [place, place], color=mark.colour, linewidth=1.4, linestyle="--", zorder=2)
                if row.get(self.verdict) == "reported":
                    draw.point(self.axis, place, *ends, shape=mark.shape, colour=mark.colour, face="white")
            if self.truth and pd.notna(row[self.truth]):
                configured = plain(row[self.truth] / self.unit.scale, self.digits)
                text = f"{row['_row']}: configured {configured}{self.unit_words}"
                draw.truth(self.axis, place, row[self.truth], self.unit.scale, text)
            if pd.isna(row["_value"]):
                of_row = runs.get(row["_row"], [])
                numbers = of_row if len(of_row) == 1 else ends
                # A minus sign beside a dash cannot be read.
                dash = " to " if any(number < 0 for number in numbers) else "–"
                said = row[self.edge] if self.edge else dash.join(map(draw.short_number, numbers))
                draw.at_edge(self.sheet, self.axis, place, said)
                continue
            # Dots must not hide what they are summed up in.
            draw.bar(self.axis, place, ends, mark.colour, zorder=4.5 if runs.get(row["_row"]) else 2)
            size = {"markersize": 5} if mark.shape != "|" else {"markersize": 11, "markeredgewidth": 2.4}
            face = mark.colour if mark.filled else "white"
            text = self._say(row)
            look: dict[str, Any] = {"shape": mark.shape, "colour": mark.colour, "face": face, **size}
            look["zorder"] = 5 if runs.get(row["_row"]) else 3
            draw.point(self.axis, place, row["_value"], text=text, **look)
            kind = row.get(self.verdict)
            words = f", {kind}" if kind in ("meets", "fails") and not self.sheet.narrow else ""
            number = f"{draw.short_number(row['_value'])}{words}"
            draw.at_edge(self.sheet, self.axis, place, row[self.edge] if self.edge else number)

    def runs(self, points: pd.DataFrame | None, value: str, row: str) -> dict[str, list[float]]:
        """Return the values of the runs by row."""
        names, runs = set(self.frame["_row"]), dict[str, list[float]]()
        for name, number in zip(points[row], points[value], strict=True) if points is not None else ():
            if name in names:
                runs.setdefault(name, []).append(number / self.unit.scale)
        return runs

    def dots(self, runs: dict[str, list[float]]) -> None:
        """Draw the runs."""
        places = dict(zip(self.frame["_row"], self.places, strict=True))
        draw.dots(
            self.axis,
            [
                (places[name], run, f"{name}: {plain(run, self.digits)}{self.unit_words}")
                for name, numbers in runs.items()
                for run in numbers
                if math.isfinite(run)
            ],
        )
        for name in (name for name, numbers in runs.items() if math.inf in numbers):
            look: dict[str, Any] = {"clip_on": False, "transform": self.axis.get_yaxis_transform()}
            self.axis.plot([1], [places[name]], ">", color=RUN, markersize=7, zorder=4, **look)

    def words(self, runs: dict[str, list[float]]) -> list[str]:
        """Return the numbers of the panel as text, row by row."""
        texts = []
        for row in self.frame.to_dict("records"):
            of_row = runs.get(row["_row"], [])
            numbers = [] if of_row == [row["_value"]] else [plain(run, self.digits) for run in of_row]
            if pd.isna([row["_value"], row["_low"], row["_high"]]).all():
                texts.append(", ".join([row["_row"], *numbers]) + self.unit_words)
            else:
                texts.append(", ".join([self._say(row), *numbers]))
        return texts

    def _say(self, row: dict[Any, Any]) -> str:
        digits, ends = self.digits, [row[end] for end in ("_low", "_high") if pd.notna(row[end])]
        number = "" if pd.isna(row["_value"]) else f" {plain(row['_value'], digits)}"
        kind = row.get(self.verdict)
        words = f", {kind.replace('_', ' ')}" if kind in MARKS else ""
        return f"{row['_row']}{number}{draw.brackets(ends, digits)}{self.unit_words}{words}"


def _check_order(order: Sequence[str], names: Iterable[str]) -> None:
    """Raise `ValueError` if ``order`` names a row that the chart has not."""
    for name in order:
        if name not in names:
            hint = did_you_mean(name, names)
            raise ValueError(f"order names {name!r}, which the chart has not{hint}; rows: {', '.join(sorted(names))}")


def _in_order(rows: pd.DataFrame, name: str, order: Sequence[str]) -> pd.DataFrame:
    """Return the rows of a panel: those that ``order`` names first, in its order, and the others as they are."""
    first = {named: place for place, named in enumerate(order)}
    places = [first.get(str(named), len(first)) for named in rows[name]]
    return rows.iloc[sorted(range(len(rows)), key=places.__getitem__)]


def _row_counts(sheet: Sheet, frame: pd.DataFrame, panel: str, row: str, columns: int) -> list[int]:
    """Return the lines that the rows of each panel take; ``columns`` panels are side by side."""
    groups = [group[row] for _, group in frame.groupby(panel, sort=False, dropna=False)]
    return [sum(lines(sheet.label(name, _LETTERS[columns > 1])) for name in names) for names in groups]


def _height(counts: list[int], gap: float, columns: int, row: float) -> float:
    """Return the inches of all panels."""
    if columns > 1:
        return -(-len(counts) // columns) * (gap + row * max(counts))
    return sum(gap + row * rows for rows in counts)


def _fitting(
    sheet: Sheet, frame: pd.DataFrame, panel: str, row: str, gap: float, beside: int, always: Sequence[str]
) -> pd.DataFrame:
    """Return the rows that fit into a figure, in their order: the same in all panels, or fewer panels of many.

    They are evenly chosen, with the first and the last, whose values a title may name, and those that ``always`` names.
    """
    key = row if frame[row].nunique() >= frame[panel].nunique() else panel
    kept = frame
    while kept[key].nunique() > 1:
        columns = sheet.side_by_side(beside, kept[panel].nunique(dropna=False))
        height = _height(_row_counts(sheet, kept, panel, row, columns), gap, columns, _LOW_ROW)
        if height <= _HIGHEST:
            break
        names = kept[key].unique()
        fewer = min(max(int(len(names) * _HIGHEST / height), 1), len(names) - 1)
        named = [name for name in names if str(name) in always]
        named = named if len(named) <= fewer else []
        others = [name for name in names if name not in named]
        places = np.linspace(0, len(others) - 1, fewer - len(named)).round().astype(int)
        kept = kept[kept[key].isin([*named, *(others[place] for place in places)])]
    return kept
