"""How the values of runs are distributed: the share of packets up to each value, or slower than it.

>>> from azlatency.shapes.density import density
>>> density(frame, "rtt_ns", panel="method", line="run_id", text="words")      # doctest: +SKIP
"""

from __future__ import annotations

import math
from collections.abc import Mapping

import pandas as pd
from matplotlib.axes import Axes

from azlatency.kit.cells import MICROSECONDS, Unit
from azlatency.kit.drawing import draw
from azlatency.kit.drawing.axes import plain_log_ticks, power_ticks
from azlatency.kit.drawing.base import left_out, sizes, styled, tip
from azlatency.kit.drawing.palette import ESTIMATE, INK, Look, looks
from azlatency.kit.drawing.sheet import Sheet
from azlatency.kit.objects import Chart, Note
from azlatency.stats.across_runs.run_values import check_columns

#: The look of a line whose colour says nothing.
_ONE_LOOK = Look(ESTIMATE, "-", "")
#: The part of each line that the axis shows at least, and the room after it.
_BODY, _ROOM = 0.95, 1.6
#: Least inches of a panel.
_LEAST = 1.2


@styled
def density(  # noqa: PLR0913 - a shape is told its columns
    sheet: Sheet,
    points: pd.DataFrame,
    value: str,
    *,
    panel: str,
    line: str,
    text: str,
    share: str = "share",
    slower: bool = False,
    colour: str = "",
    bars: pd.DataFrame | None = None,
    limit: float | None = None,
    truth: str = "",
    unit: Unit = MICROSECONDS,
    xlabel: str = "",
    result: str = "",
    caption: str = "",
    counted: str = "packets per run",
    name: str = "density",
) -> Chart | Note:
    """Draw the share of packets up to each value, or slower than it, as one line per run.

    Parameters
    ----------
    points : DataFrame
        One row per point of a line, in canonical units and in the order of the line. What is said of a line, such as
        ``text``, stands in each of its rows.
    value, share : str
        Columns of the values and of the shares.
    panel, line : str
        Columns with the names of panels and of lines.
    text : str
        Column with the numbers of a line in words, for the text alternative and the pointer.
    slower : bool
        The shares are of packets slower than the values: both axes are logarithmic. Otherwise the axis of values ends
        a bit after the middle 95 % of each line, because the tails would hide the rest.
    colour : str
        Column with the path of a line: both directions of a pair of ends get one colour, named below the panels.
    bars : DataFrame, optional
        Intervals: the columns ``panel``, ``share``, ``low``, ``high``, and ``text`` for the pointer.
    limit : float, optional
        A value that is drawn as a dotted line.
    truth : str
        Column with the true value of a line, drawn as a cross, or as a mark at the bottom.
    unit : Unit
        Unit of the axis of values.
    xlabel, result, caption : str
        Texts; the result in words is the title. Sentences on the limit and on the number of packets (column ``n``) are
        added to the caption.
    counted : str
        What ``n`` counts, for that sentence.
    name : str
        Name of the chart, by which it is saved.

    Returns
    -------
    Chart or Note
        The chart, or a note if there is no point to draw.
    """
    check_columns(points, share)
    if points.empty:
        return Note("No chart: nothing to draw.")
    scaled = points.assign(_value=points[value].astype(float) / unit.scale)
    legend = draw.inches_below(sheet, scaled[colour].unique()) if colour else 0.0
    every = list(scaled[panel].unique())
    scaled = scaled[scaled[panel].isin(every[: sheet.most_panels(_LEAST, 2, 0.3 + legend)])]
    lines = scaled.drop_duplicates(line)
    look = looks(lines[colour], sheet.options.colours) if colour else {}
    panels = dict(iter(scaled.groupby(panel, sort=False, dropna=False)))
    figure, axes = sheet.grid(
        len(panels),
        2,
        2.5 if slower else 2.3,
        extra=0.3 + legend,
        xlabel=", ".join(filter(None, [xlabel, f"{unit.name} (log)"])),
        ylabel="share slower (log)" if slower else "share of packets",
        sharex=True,
        sharey=True,
    )
    first = axes[0]
    first.set_xscale("log")
    if slower:
        first.set_yscale("log")
        power_ticks(first.yaxis)
        first.set_ylim(0.5 * scaled[share].min(), 1.3)
    else:
        first.set_ylim(0, 1)
    truths = lines[truth].dropna() / unit.scale if truth else lines["_value"][:0]
    first.set_xlim(*_reach(scaled, share, line, slower=slower, truths=list(truths)))
    plain_log_ticks(first.xaxis)
    for axis, (title, group) in zip(axes, panels.items(), strict=True):
        for _, drawn in group.groupby(line, sort=False, dropna=False):
            _line(
                axis, drawn, share, look.get(drawn[colour].iloc[0], _ONE_LOOK) if colour else _ONE_LOOK, slower=slower
            )
            tip(axis.lines[-1], drawn[text].iloc[0])
        if bars is not None:
            _bars(axis, bars[bars[panel] == title], share, unit)
        if truth:
            _truths(axis, group.drop_duplicates(line), truth, unit, look, colour, slower=slower)
        if limit is not None:
            axis.axvline(limit / unit.scale, color=INK, linewidth=1, linestyle=":")
        axis.set_title(str(title))
    if look and sheet.labelled:
        draw.name_below(sheet, figure, axes[0], look)
    words = draw.caption(
        caption,
        ("Dotted: the limit.", limit is not None),
        (f"{sizes(lines['n'].astype(int), counted)}." if "n" in lines else "", "n" in lines),
        left_out(len(panels), len(every), "panels"),
    )
    return Chart(figure, words, "\n".join(lines[text]), title=result, name=name)


def _line(axis: Axes, drawn: pd.DataFrame, share: str, look: Look, *, slower: bool) -> None:
    """Draw one line, with the mark of its path where it reaches one half, if it does."""
    if slower:
        axis.plot(drawn["_value"], drawn[share], color=look.colour, linewidth=1.4, drawstyle="steps-pre", zorder=3)
        return
    # A bin holds many packets, so that the share at its end may lie far above one half.
    middle = drawn.loc[drawn[share] >= 0.5, "_value"].head(1)
    axis.plot(middle, [0.5] * len(middle), look.mark, color=look.colour, markersize=4, zorder=3)
    # Not seaborn.ecdfplot: it needs every sample, and a lost packet has none.
    axis.plot(
        drawn["_value"],
        drawn[share],
        color=look.colour,
        linestyle=look.dash,
        linewidth=1.2,
        drawstyle="steps-post",
    )


def _bars(axis: Axes, bars: pd.DataFrame, share: str, unit: Unit) -> None:
    """Draw intervals of values, each level with its share."""
    for bar in bars.to_dict("records"):
        ends = [bar["low"] / unit.scale, bar["high"] / unit.scale]
        (drawn,) = axis.plot(
            ends, [bar[share]] * 2, color=ESTIMATE, linewidth=3.5, alpha=0.35, solid_capstyle="butt", zorder=2
        )
        tip(drawn, bar["text"])


def _truths(
    axis: Axes, lines: pd.DataFrame, truth: str, unit: Unit, look: Mapping[str, Look], colour: str, *, slower: bool
) -> None:
    """Draw the true value of each line that has one."""
    for row in lines[lines[truth].notna()].to_dict("records"):
        place = row[truth] / unit.scale
        if slower:
            axis.plot([place], [1], "x", color=INK, markersize=5, zorder=5)
        else:
            axis.plot([place] * 2, [0, 0.05], color=look[row[colour]].colour if colour else INK, linewidth=3, zorder=5)


def _reach(scaled: pd.DataFrame, share: str, line: str, *, slower: bool, truths: list[float]) -> tuple[float, float]:
    """Return where the axis of values begins and ends."""
    least, most = float(scaled["_value"].min()), float(scaled["_value"].max())
    if slower:
        return min(least, *truths, math.inf) / 1.3, most * 3
    body = scaled[scaled[share] >= _BODY * scaled.groupby(line, dropna=False)[share].transform("max")]
    return min([least, *(truth / 1.1 for truth in truths)]), min(
        most, _ROOM * float(body.groupby(line, dropna=False)["_value"].min().max())
    )
