"""The course of single runs: every probe or interval in time, or the range and median of time bins where they are many.

>>> from azlatency.shapes.course import course
>>> course(frame, "throughput_bit_s", panel="path", start="start_s", end="end_s")      # doctest: +SKIP
"""

from __future__ import annotations

import math
from typing import Any, Literal

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator

from azlatency.kit.cells import MICROSECONDS, Unit
from azlatency.kit.drawing import draw
from azlatency.kit.drawing.axes import plain_log_ticks, stretches
from azlatency.kit.drawing.base import left_out, sizes, styled, tip
from azlatency.kit.drawing.palette import ESTIMATE, GREY, INK, RANGE, RUN
from azlatency.kit.drawing.sheet import Sheet
from azlatency.kit.objects import Chart, Note
from azlatency.studies.format import format_number, plain

#: Rows of a panel that are drawn one by one; of more, so many time bins at most, of four rows at least.
_FEW, _BINS, _OF_BIN = 300, 240, 4
#: Inches of a panel, of the counts below it, and least ones of both.
_PANEL, _BELOW, _LEAST = 1.7, 0.5, 1.2


@styled
def course(  # noqa: PLR0913 - a shape is told its columns
    sheet: Sheet,
    frame: pd.DataFrame,
    value: str,
    *,
    panel: str,
    start: str,
    end: str = "",
    muted: str = "",
    below: str = "",
    panels: pd.DataFrame | None = None,
    heading: str = "",
    truth: str = "",
    edge: str = "",
    ticks: str = "",
    changes: pd.DataFrame | None = None,
    unit: Unit = MICROSECONDS,
    scale: Literal["linear", "log"] = "linear",
    xlabel: str = "seconds",
    below_label: str = "",
    beside: int = 2,
    most: int = 12,
    result: str = "",
    caption: str = "",
    counted: str = "rows per run",
    of: str = "runs",
    name: str = "course",
) -> Chart | Note:
    """Draw the values of each panel over time.

    Parameters
    ----------
    frame : DataFrame
        One row per probe or interval, in canonical units and in the order of time within each panel. An infinite value
        is a loss, drawn as a triangle at the top.
    value : str
        Column of the values.
    panel : str
        Column that tells panels apart; the first ``most`` are drawn.
    start, end : str
        Columns with the time of a probe, or the start and the end of an interval.
    muted : str
        Column of truth values: rows that do not count, dotted and hollow.
    below : str
        Column of counts, drawn as bars below the values if any is positive.
    panels : DataFrame, optional
        One row per panel in their order, indexed by the values of ``panel``, with the columns that follow.
    heading, truth, edge, ticks : str
        Columns of ``panels``: its name, the true value (a dotted line), a text right of the panel, and the distance of
        its short ticks.
    changes : DataFrame, optional
        One row per change with the columns ``panel``, ``at``, ``at_low`` and ``at_high`` (times; the ends may be
        missing) and ``text``, the change in words.
    unit : Unit
        Unit of the values.
    scale : {"linear", "log"}
        Scale of the values: from 0, the same for all panels, or logarithmic.
    xlabel, below_label, result, caption : str
        Texts; ``xlabel`` may be a column of ``panels``. Sentences on the marks, on the number of rows and on panels
        left out are added to the caption.
    beside, most : int
        Most panels in a row, on a page, and most panels.
    counted, of : str
        What the rows and the panels are, for these sentences.
    name : str
        Name of the chart, by which it is saved.

    Returns
    -------
    Chart or Note
        The chart, whose size does not grow with the number of rows; a note if there is no row to draw.
    """
    if frame.empty:
        return Note("No chart: nothing to draw.")
    about = pd.DataFrame(index=frame[panel].unique()) if panels is None else panels
    groups = frame.groupby(panel, sort=False, dropna=False, observed=True)
    about = about[about.index.isin(groups.groups.keys())]
    room = sheet.most_panels(_LEAST, beside, 0.4)
    given = {"value": value, "start": start, "end": end or start, "muted": muted, "below": below}
    shown = {key: _told(groups.get_group(key), given, unit) for key in about.index[: min(most, room)]}
    steps = pd.DataFrame({panel: []}) if changes is None else changes[changes[panel].isin(shown.keys())]
    most_below = max(rows["below"].max() for rows in shown.values())
    columns = sheet.side_by_side(beside, len(shown))
    figure, axes = _axes(sheet, len(shown), columns, has_below=most_below > 0)
    truths = about[truth].astype(float) / unit.scale if truth else pd.Series(math.nan, index=about.index)
    tops = [rows["value"].replace(math.inf, math.nan).max() for rows in shown.values()]
    top = float(np.nanmax([*tops, *truths.reindex(shown.keys()), 0.0]))
    labels = about[xlabel] if xlabel in about else pd.Series(xlabel, index=about.index)
    alternatives = []
    for place, (key, rows) in enumerate(shown.items()):
        (upper, *lower), named = axes[place], about.loc[key]
        words = str(named[heading] if heading else key)
        drawn, of_panel = _Course(upper, rows), steps[steps[panel] == key]
        drawn.values(is_interval=bool(end))
        drawn.scale(scale, top)
        drawn.losses()
        if truths[key] > 0:
            upper.axhline(truths[key], color=INK, linewidth=1, linestyle=":")
        _changes(upper, of_panel)
        if ticks and named[ticks] > 0:
            marks = np.arange(rows["start"].iloc[0], rows["end"].iloc[-1] + named[ticks], named[ticks])
            upper.xaxis.set_minor_locator(FixedLocator(marks.tolist()))
            upper.tick_params(axis="x", which="minor", length=3.5, color=GREY, direction="in", top=True, bottom=False)
        if edge and named[edge]:
            look: dict[str, Any] = {"xycoords": "axes fraction", "textcoords": "offset points", "va": "center"}
            upper.annotate(named[edge], (1, 0.5), (4, 0), fontsize=11, color=INK, annotation_clip=False, **look)
        if lower:
            drawn.counts(lower[0], float(most_below), is_interval=bool(end))
            # Upright, it would be longer than this low axis.
            lower[0].set_title(below_label, fontsize=7.5, pad=2)
        upper.set_title(sheet.names.wrap(words, 46 if columns < 3 else 34, 2), fontsize=8.5)
        if place + columns >= len(shown) or labels.iloc[place] != labels.iloc[place + columns]:
            (lower or [upper])[0].set_xlabel(labels.iloc[place])
        if place % columns == 0:
            upper.set_ylabel(unit.name + (" (log)" if scale == "log" else ""))
        found = [f"{drawn.words(unit)}{drawn.total(below_label)}", *of_panel.get("text", ())]
        alternatives.append(f"{words}: {'; '.join(found)}")
    text = draw.caption(
        caption,
        ("Grey: range of each time bin; line: its median.", any(len(rows) > _FEW for rows in shown.values())),
        ("Dotted and hollow: omitted by the tool.", any(rows["muted"].any() for rows in shown.values())),
        ("Triangles at the top: lost.", any(np.isinf(rows["value"]).any() for rows in shown.values())),
        f"{sizes(map(len, shown.values()), counted)}.",
        left_out(len(shown), len(about), of),
    )
    return Chart(figure, text, "\n".join(alternatives), title=result, name=name)


def _told(rows: pd.DataFrame, given: dict[str, str], unit: Unit) -> pd.DataFrame:
    """Return the rows of a panel with the columns of a `_Course`, the values in the unit that people read."""
    missing = {"muted": False, "below": math.nan}
    found = pd.DataFrame(
        {ours: rows[name] if name else missing[ours] for ours, name in given.items()}, index=rows.index
    )
    numbers = found[["start", "end", "below"]].astype(float)
    return numbers.assign(
        value=found["value"].astype(float) / unit.scale, muted=found["muted"].fillna(False).astype(bool)
    )


def _axes(sheet: Sheet, panels: int, columns: int, *, has_below: bool) -> tuple[Figure, list[list[Axes]]]:
    """Return a figure, the axis of each panel and, if there are counts, the one below it."""
    rows = math.ceil(panels / columns)
    heights = [_PANEL, _BELOW] if has_below else [_PANEL]
    ratios = {"height_ratios": heights * rows}
    figure, axes = sheet.new_figure(len(heights) * rows, columns, 0.4 + rows * sum(heights), gridspec_kw=ratios)
    found = []
    for place in range(rows * columns):
        row, column = divmod(place, columns)
        of_panel = axes[len(heights) * row * columns + column :: columns][: len(heights)]
        if place < panels:
            found.append(of_panel)
        else:
            for axis in of_panel:
                axis.set_visible(False)
    return figure, found


class _Course:
    """One panel: its axis, its rows, and the time bins of many."""

    def __init__(self, axis: Axes, rows: pd.DataFrame) -> None:
        self.axis, self.rows = axis, rows
        self.kept = rows[~rows["muted"]]
        self.is_binned = len(rows) > _FEW
        bins = min(_BINS, len(self.kept) // _OF_BIN) if self.is_binned else 0
        self.edges = np.linspace(self.kept["start"].min(), self.kept["end"].max(), bins + 1)
        ends = self.kept["end"].to_numpy(dtype="float64")
        self.places = np.clip(np.searchsorted(self.edges, ends, side="left") - 1, 0, max(bins - 1, 0))

    def values(self, *, is_interval: bool) -> None:
        """Draw range and median of the time bins, or each interval as a line, or each probe as a dot."""
        if self.is_binned:
            numbers = self.kept["value"].to_numpy(dtype="float64")
            middle, low, median, high = stretches(self.edges, self.places, numbers)
            self.axis.fill_between(middle, low, high, color=RANGE, linewidth=0, step="mid")
            self.axis.plot(middle, median, color=ESTIMATE, linewidth=1.1)
            self.axis.set_xlim(self.edges[0], self.edges[-1])
            return
        for row in self.rows[np.isfinite(self.rows["value"])].itertuples():
            colour, line = (GREY, ":") if row.muted else (ESTIMATE, "-")
            look: dict[str, Any] = {"linewidth": 2, "solid_capstyle": "butt"} if is_interval else {"marker": "."}
            self.axis.plot([row.start, row.end], [row.value, row.value], line, color=colour, **look)

    def scale(self, scale: str, top: float) -> None:
        """Set the scale of the values."""
        if scale == "log" and (self.rows["value"] > 0).any():
            self.axis.set_yscale("log")
            plain_log_ticks(self.axis.yaxis)
        else:
            self.axis.set_ylim(0, 1.1 * top or 1.0)

    def losses(self) -> None:
        """Draw a triangle where a probe, or one of a time bin, was lost."""
        is_lost = np.isinf(self.kept["value"].to_numpy())
        spots = self.kept.loc[is_lost, "start"].to_numpy()
        if self.is_binned:
            lost = np.unique(self.places[is_lost])
            spots = (self.edges[lost] + self.edges[lost + 1]) / 2
        if len(spots):
            look: dict[str, Any] = {"color": INK, "markersize": 3.5, "transform": self.axis.get_xaxis_transform()}
            self.axis.plot(spots, [0.97] * len(spots), "v", **look)

    def counts(self, axis: Axes, most: float, *, is_interval: bool) -> None:
        """Draw the counts of each row, or of time bins, below the values."""
        if self.is_binned:
            numbers = self.kept["below"].fillna(0).to_numpy(dtype="float64")
            totals = np.bincount(self.places, numbers, len(self.edges) - 1)
            axis.stairs(totals, self.edges, fill=True, color=ESTIMATE)
            most = max(most, float(totals.max()))
        else:
            for row in self.rows[self.rows["below"].notna()].itertuples():
                inside, outside = ("none", GREY) if row.muted else (ESTIMATE, ESTIMATE)
                width = max(row.end - row.start, 1e-3) * 0.8 if is_interval else 0.8
                axis.bar((row.start + row.end) / 2, row.below, width=width, color=inside, edgecolor=outside)
        axis.set_ylim(0, 1.15 * max(most, 1.0))
        axis.set_xlim(self.axis.get_xlim())
        self.axis.set_xticklabels([])
        axis.locator_params(axis="y", nbins=2)
        axis.yaxis.set_major_formatter(lambda value, _: format_number(value, 0))

    def words(self, unit: Unit) -> str:
        """Return the values as text: all of a few, else the smallest, the median and the largest."""
        answered = self.kept.loc[np.isfinite(self.kept["value"]), "value"]
        lost = len(self.kept) - len(answered)
        if not self.is_binned:
            numbers = ", ".join(plain(number, 5) for number in answered) + f" {unit.name}"
            return numbers + (f", {plain(lost)} lost" if lost else "")
        least, middle, most = (plain(number, 5) for number in answered.quantile([0, 0.5, 1]))
        start = f"n = {plain(len(self.kept))}" + (f", lost {plain(lost)}" if lost else "")
        return f"{start}, smallest {least}, median {middle}, largest {most} {unit.name}"

    def total(self, what: str) -> str:
        """Return the sum of the counts as text."""
        known = self.kept["below"].dropna()
        return f"; {what} {plain(known.sum())}" if len(known) else ""


def _changes(axis: Axes, changes: pd.DataFrame) -> None:
    """Draw the changes as lines, with the intervals of their times."""
    for change in changes.to_dict("records"):
        if pd.notna(change["at_low"]) and pd.notna(change["at_high"]):
            axis.axvspan(change["at_low"], change["at_high"], color=RUN, alpha=0.18, linewidth=0)
        line = axis.axvline(change["at"], color=RUN, linewidth=1.2, linestyle="--")
        tip(line, change["text"])
