"""Percentiles of runs as curves, on an axis that gives each nine the same room: one panel per method.

>>> from azlatency.shapes.curves import curves
>>> curves(frame, "estimate", panel="method", line="run_id", colour="path")      # doctest: +SKIP
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from statistics import mean, median_high
from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.transforms import ScaledTranslation

from azlatency.kit.cells import MICROSECONDS, Unit
from azlatency.kit.drawing import draw
from azlatency.kit.drawing.axes import nines, plain_log_ticks, spread
from azlatency.kit.drawing.base import left_out, sizes, styled, tip
from azlatency.kit.drawing.fitting import HIGHEST
from azlatency.kit.drawing.palette import INK, Look, looks
from azlatency.kit.drawing.sheet import Sheet
from azlatency.kit.objects import Chart, Note
from azlatency.stats.across_runs.run_values import check_columns
from azlatency.studies.format import percentile, plain

#: Most lines of a panel with bars and shading.
MOST_WITH_BARS = 10
#: Most letters of a path's name at the end of its line; inches of a line of these names.
_LETTERS, _LINE_INCHES = 44, 0.15
#: Least inches of a panel.
_LEAST = 1.7
#: The names of more paths leave no room for their panel.
_MOST_PATHS = 30
#: Inches of the label of a level.
_LEVEL_INCHES = 0.17
#: Where the piece of its line beside a path's name begins, has its mark and ends, in inches right of the axes.
_PIECE = (0.08, 0.25, 0.42)
#: Levels that are labelled and said where a line has many.
_NICE = (0.01, 0.1, 0.5, 0.9, 0.99, 0.999, 0.9999, 0.99999, 0.999999)
#: Most paths of which the names at the ends of two panels fit side by side.
_PATHS_SIDE_BY_SIDE = 5


@styled
def curves(  # noqa: PLR0913 - a shape is told its columns
    sheet: Sheet,
    frame: pd.DataFrame,
    value: str,
    *,
    panel: str,
    line: str,
    colour: str,
    q: str = "q",
    low: str = "low",
    high: str = "high",
    band: bool = False,
    hollow: str = "",
    truth: str = "",
    unit: Unit = MICROSECONDS,
    ylabel: str = "round-trip time",
    result: str = "",
    caption: str = "",
    counted: str = "packets per run",
    name: str = "curves",
) -> Chart | Note:
    """Draw percentiles as one line per run with their intervals; a path is named at its end, in a column below.

    Parameters
    ----------
    frame : DataFrame
        One row per percentile, in canonical units; the levels of a line ascend. Values of 0 have no place on the
        logarithmic axis and are left out.
    value : str
        Column of the percentiles.
    panel, line, colour : str
        Columns with the names of panels, lines and paths: both directions of a pair of ends get one colour and mark.
    q : str
        Column of the levels, between 0 and 1.
    low, high : str
        Columns of the intervals; a missing upper end is an arrow.
    band : bool
        Draw the intervals as a band, for lines of many levels, with one mark at the median. Otherwise they are bars,
        and the region between two levels is shaded, which bounds every percentile between them. Panels of more than ten
        lines have no intervals.
    hollow : str
        Column that says which marks are hollow.
    truth : str
        Column with the true value of a path, drawn as a thick mark at the left edge.
    unit : Unit
        Unit of the axis.
    ylabel, result, caption : str
        Texts; the result in words is the title. A sentence on the number of packets (column ``n``) is added to the
        caption.
    counted : str
        What ``n`` counts, for that sentence.
    name : str
        Name of the chart, by which it is saved.

    Returns
    -------
    Chart or Note
        The chart, or a note if there is nothing to draw.
    """
    columns = {"q": q, "value": value, "low": low, "high": high, "line": line, "path": colour, "panel": panel}
    check_columns(frame, *columns.values())
    rows = pd.DataFrame({ours: frame[given] for ours, given in columns.items()}).assign(
        hollow=frame[hollow] if hollow else False,
        truth=frame[truth] if truth else math.nan,
        n=frame.get("n", 0),
    )
    rows[["value", "low", "high", "truth"]] = rows[["value", "low", "high", "truth"]].astype(float) / unit.scale
    rows = rows[rows["value"] > 0]
    if rows.empty:
        return Note("No chart: nothing to draw.")
    every_path = list(dict.fromkeys(rows["path"]))
    paths = every_path[:_MOST_PATHS]
    rows = rows[rows["path"].isin(paths)]
    groups = dict(iter(rows.groupby("panel", sort=False, dropna=False)))
    beside = 2 if len(paths) <= _PATHS_SIDE_BY_SIDE else 1
    several = sheet.side_by_side(beside, len(groups)) > 1
    # In a column, names beside a panel would be as wide as it is.
    is_below = sheet.narrow and sheet.options.places is None
    names = {path: sheet.names.wrap(path, _LETTERS, 1) for path in paths}
    extra = 0.6 + (draw.inches_below(sheet, paths) if is_below else 0.0)
    of_names = 0.0 if is_below else _LINE_INCHES * len(paths) + 0.6
    panels = dict(list(groups.items())[: sheet.most_panels(max(_LEAST, of_names), beside, extra)])
    of_page = (HIGHEST - extra) / math.ceil(len(panels) / sheet.side_by_side(beside, len(panels)))
    height = min(max(2.6 if is_below else 3.1 if several else 3.4, of_names), of_page)
    rows = rows[rows["panel"].isin(panels)]
    figure, axes = sheet.grid(
        len(panels), beside, height, extra=extra, ylabel=f"{ylabel}, {unit.name} (log)", sharey=True
    )
    look = looks(paths, sheet.options.colours)
    ends = []
    for axis, (title, group) in zip(axes, panels.items(), strict=True):
        ends.append(_panel(axis, group, look, unit, band=band))
        _levels(axis, sorted(set(group["q"])), band=band, few=several or sheet.narrow)
        axis.set_title(str(title))
    # The panels share their y axis: its limits are final only when all of them are drawn.
    for axis, of_axis in zip(axes, ends, strict=True):
        plain_log_ticks(axis.yaxis)
        if sheet.labelled and not is_below:
            _name_ends(axis, of_axis, look, names, 0.255 / height)
    if sheet.labelled and is_below:
        draw.name_below(sheet, figure, axes[0], {path: look[path] for path in _highest_first(ends, look)})
    few_lines = any(group["line"].nunique(dropna=False) <= MOST_WITH_BARS for group in panels.values())
    is_shifted = not band and few_lines and len(paths) > 1
    words = draw.caption(
        caption,
        ("Levels are shifted sideways by path, so that bars do not overlap.", is_shifted),
        (f"{sizes(rows['n'].astype(int), counted)}." if "n" in frame else "", "n" in frame),
        left_out(len(panels), len(groups), "panels"),
        left_out(len(paths), len(every_path), "paths"),
    )
    said = rows[rows["q"].isin(_NICE)] if band else rows
    return Chart(figure, words, _in_words(said, unit), title=result, name=name)


def _panel(
    axis: Axes, rows: pd.DataFrame, look: Mapping[str, Look], unit: Unit, *, band: bool
) -> dict[str, list[float]]:
    """Draw the lines of one panel; return the heights of their ends by path."""
    runs = dict(iter(rows.groupby("line", sort=False, dropna=False)))
    with_bars = len(runs) <= MOST_WITH_BARS
    # Offset the paths so that their bars do not overlap; a line without bars stands at its levels.
    paths, ends = list(look), dict[str, list[float]]()
    step = min(0.05, 0.3 / len(paths)) if with_bars and not band else 0.0
    axis.set_yscale("log")
    for points in runs.values():
        path = points["path"].iloc[0]
        style = look[path]
        shift = (paths.index(path) - (len(paths) - 1) / 2) * step
        run = points.assign(x=[nines(q) + shift for q in points["q"]])
        axis.plot(run["x"], run["value"], linestyle=style.dash, color=style.colour, zorder=3)
        middle = run.iloc[[int((run["q"] - 0.5).abs().argmin())]]
        _marks(axis, middle if band else run, style, 4 if with_bars else 3, unit)
        if band and with_bars:
            shade: dict[str, Any] = {"color": style.colour, "alpha": 0.2, "linewidth": 0, "zorder": 1}
            axis.fill_between(run["x"], run["low"], run["high"], **shade)
        if with_bars and not band:
            for row in run.to_dict("records"):
                _bar(axis, row, style.colour)
            _staircase(axis, list(run["x"]), list(run["value"]), style.colour)
        ends.setdefault(path, []).append(run["value"].iloc[-1])
    for path, truth in rows.dropna(subset=["truth"]).groupby("path", sort=False, dropna=False)["truth"].first().items():
        place: dict[str, Any] = {"transform": axis.get_yaxis_transform(), "linewidth": 3, "zorder": 5}
        axis.plot([0, 0.03], [truth] * 2, color=look[str(path)].colour, **place)
    return ends


def _marks(axis: Axes, run: pd.DataFrame, look: Look, size: float, unit: Unit) -> None:
    """Draw a mark for each percentile."""
    for is_hollow, face in ((False, look.colour), (True, "white")):
        chosen = run[run["hollow"].astype(bool) == is_hollow]
        if len(chosen):
            style: dict[str, Any] = {"color": look.colour, "markersize": size, "markerfacecolor": face, "linestyle": ""}
            (dots,) = axis.plot(chosen["x"], chosen["value"], look.mark, zorder=4, **style)
            texts = (f"{row['path']}, {percentile(row['q'])}: {plain(row['value'], 5)} {unit.name}"
                     for row in chosen.to_dict("records"))  # fmt: skip
            tip(dots, *texts)


def _bar(axis: Axes, row: Mapping[Any, Any], colour: str) -> None:
    """Draw an interval; an arrow stands for a missing upper end."""
    x, y = row["x"], row["value"]
    low = y if pd.isna(row["low"]) else row["low"]
    is_open = pd.isna(row["high"])
    axis.plot([x, x], [low, y if is_open else row["high"]], color=colour, linewidth=1, zorder=2)
    if is_open:
        arrow = {"arrowstyle": "<-", "color": colour, "lw": 1}
        axis.annotate("", (x, y), (0, 11), textcoords="offset points", arrowprops=arrow, zorder=2)


def _staircase(axis: Axes, x: Sequence[float], y: Sequence[float], colour: str) -> None:
    """Shade the region between two levels: they bound every percentile between them."""
    places = [place for pair in itertools.pairwise(x) for place in pair]
    low = [value for value in y[:-1] for _ in range(2)]
    high = [value for value in y[1:] for _ in range(2)]
    axis.fill_between(places, low, high, color=colour, alpha=0.12, linewidth=0, zorder=1)


def _levels(axis: Axes, levels: Sequence[float], *, band: bool, few: bool) -> None:
    """Label the levels, as many as have room; the median and the nines before the quartiles."""
    named = [q for q in levels if q in _NICE] if band else levels
    reach = nines(levels[-1]) - nines(levels[0])
    least = max(0.12 * reach if few else 0.15, _LEVEL_INCHES * axis.figure.dpi / axis.bbox.width * reach)
    kept: list[float] = []
    for q in sorted(named, key=lambda q: (q in (0.25, 0.75), q)):
        if all(abs(nines(q) - nines(other)) >= least for other in kept):
            kept.append(q)
    axis.set_xticks([nines(q) for q in sorted(kept)], map(percentile, sorted(kept)), rotation=50, ha="right")
    axis.set_xlim(nines(levels[0]) - 0.2, nines(levels[-1]) + 0.2)


def _name_ends(
    axis: Axes,
    ends: Mapping[str, list[float]],
    look: Mapping[str, Look],
    names: Mapping[str, str],
    least: float,
) -> None:
    """Name each path right of the axes, at the height of its end, beside a piece of its line.

    The limits of the axes must be final. Of several lines of a path the middle one is named; both directions of a pair
    stand together.
    """
    low, high = map(math.log, axis.get_ylim())
    heights = {path: (math.log(median_high(some)) - low) / (high - low) for path, some in ends.items()}
    of_pair: dict[str, list[float]] = {}
    of_axes: Any = axis.transAxes
    for path, height in heights.items():
        of_pair.setdefault(look[path].mark, []).append(height)
    order = sorted(heights, key=lambda path: (mean(of_pair[look[path].mark]), look[path].mark, heights[path]))
    for path, spot in zip(order, spread([heights[path] for path in order], least=least), strict=True):
        # The mark and the dash of the line, for readers who see no colours.
        mark: dict[str, Any] = {"marker": look[path].mark, "markersize": 3, "markevery": [1], "clip_on": False}
        inches = axis.figure.dpi_scale_trans + ScaledTranslation(1, spot, of_axes)
        mark |= {"color": look[path].colour, "linestyle": look[path].dash, "transform": inches}
        (piece,) = axis.plot(_PIECE, [0] * len(_PIECE), **mark)
        piece.set_gid(f"end of {path}")
        aside: dict[str, Any] = {"xycoords": "axes fraction", "textcoords": "offset points", "fontsize": 8}
        axis.annotate(names[path], (1, spot), (72 * _PIECE[-1] + 4, 0), va="center", color=INK, **aside)


def _highest_first(ends: Sequence[Mapping[str, list[float]]], look: Mapping[str, Look]) -> list[str]:
    """Return the paths that are drawn by the ends of their lines, both directions of a pair together."""
    every: dict[str, list[float]] = {}
    for path, of_path in (item for of_axis in ends for item in of_axis.items()):
        every.setdefault(path, []).extend(map(math.log, of_path))
    heights = {path: median_high(some) for path, some in every.items()}
    of_pair: dict[str, list[float]] = {}
    for path, height in heights.items():
        of_pair.setdefault(look[path].mark, []).append(height)
    return sorted(heights, key=lambda path: (-mean(of_pair[look[path].mark]), look[path].mark, -heights[path]))


def _in_words(rows: pd.DataFrame, unit: Unit) -> str:
    """Return the percentiles of each line with their intervals."""
    texts = []
    for _, run in rows.groupby(["panel", "line"], sort=False, dropna=False):
        first = run.iloc[0]
        parts = []
        for row in run.to_dict("records"):
            low = "no lower bound" if pd.isna(row["low"]) else plain(row["low"], 6)
            high = "no upper bound" if pd.isna(row["high"]) else plain(row["high"], 6)
            interval = f" [{low}, {high}]" if pd.notna(row["low"]) or pd.notna(row["high"]) else ""
            parts.append(f"{percentile(row['q'])} {plain(row['value'], 6)}{interval}")
        count = f", n = {plain(first['n'])}" if first["n"] else ""
        texts.append(f"{first['path']}, {first['panel']}{count}: {'; '.join(parts)} {unit.name}")
    return "\n".join(texts)
