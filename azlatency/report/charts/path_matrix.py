"""The matrix of zones: the value from each zone to each other one, with its interval and its runs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from azlatency.kit.claim import Claim
from azlatency.kit.drawing import draw
from azlatency.kit.drawing.base import GIGABIT, MICROSECOND, narrow, new_figure, styled
from azlatency.kit.drawing.draw import number
from azlatency.kit.drawing.heat_map import MOST_ENDS, crowded, is_upright, name_ends, shade
from azlatency.kit.drawing.palette import ON_LIGHT
from azlatency.kit.objects import Chart, Note
from azlatency.kit.titles import span
from azlatency.report.groups import main_method
from azlatency.stats import rows
from azlatency.stats.across_runs.zone_pairs import zones_of
from azlatency.studies.format import one_prefix
from azlatency.studies.runs.path import route

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

#: Most zones with an interval in each square, on a page and in a column.
_INTERVAL = (6, 4)
#: Most zones; of more than `MOST_ENDS`, the squares are shades without numbers.
_MOST_ZONES = 60
#: What a column of runs is called, its unit, and the unit of the axis with its size.
_QUANTITIES = {
    "median_ns": ("median round trip", "ns", "µs", MICROSECOND),
    "mean_ns": ("mean round trip", "ns", "µs", MICROSECOND),
    "p99_ns": ("99th percentile", "ns", "µs", MICROSECOND),
    "throughput_bit_s": ("goodput", "bit/s", "Gbit/s", GIGABIT),
}


@styled
def path_matrix(runs: pd.DataFrame, typical: pd.DataFrame, *, value: str = "median_ns") -> Chart | Note:
    """Draw the value from each zone (row) to each other zone (column), with its interval and the number of runs.

    Parameters
    ----------
    runs : DataFrame
        One row per run with ``path``, ``method``, the zones of both ends and ``value``.
    typical : DataFrame
        Estimates of the same column across runs, one row per path and method: `azlatency.summarize`.
    value : {"median_ns", "mean_ns", "p99_ns", "throughput_bit_s"}
        Column to draw.

    Returns
    -------
    Chart or Note
        The chart of the method that measured the most paths, or a note where fewer than three pairs of zones are known.
    """
    what, unit, shown, scale = _QUANTITIES[value]
    estimates = rows.estimates(typical)
    main = main_method(runs, value, typical)
    zones = {path: ends for path, ends in zones_of(runs).items() if path in main.values}
    squares: dict[tuple[str, str], list[str]] = {}
    for path, ends in zones.items():
        squares.setdefault(ends, []).append(path)
    names = sorted({zone for ends in squares for zone in ends})
    if len(squares) < 3:
        return Note("No matrix: fewer than three pairs of zones are known; the chart of the paths shows them.")
    if len(names) > _MOST_ZONES:
        return Note(f"No matrix: {len(names)} zones are too many; the chart of the paths shows them.")
    intervals = {str(one.labels["path"]): one for one in estimates if str(one.labels["method"]) == main.method}
    figure = _draw(names, squares, main, {path: draw.ends_of(one, scale) for path, one in intervals.items()}, scale)
    level = f"{100 * estimates[0].confidence:g} %" if estimates else ""
    several = any(len(paths) > 1 for paths in squares.values())
    light, dark = (span([end], unit) for end in (min(main.values.values()), max(main.values.values())))
    caption = draw.caption(
        "Row: client's zone; column: server's; empty: not measured.",
        (f"Small: {level} interval.", any(map(draw.ends_of, intervals.values()))),
        ("Several paths: their range.", several and len(names) <= MOST_ENDS),
        (f"Light: {light}; dark: {dark}; the table of paths has the numbers.", len(names) > MOST_ENDS),
    )
    like = one_prefix(main.values.values(), unit)
    words = [
        f"{route(*ends)}: {span([main.values[path] for path in paths], unit, like=like)}"
        for ends, paths in sorted(squares.items())
    ]
    title = f"{what[0].upper()}{what[1:]} from zone to zone, {shown} ({main.method}, {main.counts})"
    return Chart(figure, caption, "; ".join(words), title=title, claim=main)


def _draw(
    names: Sequence[str],
    squares: dict[tuple[str, str], list[str]],
    main: Claim,
    intervals: dict[str, tuple[float, ...]],
    scale: float,
) -> Figure:
    bounded = len(names) <= _INTERVAL[narrow()] and any(intervals.values())
    shaded = len(names) > MOST_ENDS
    each = 0.14 if shaded else 0.5 if bounded else 0.4
    figure, (axis,) = new_figure(1, 1, max(1.7, each * len(names) + 0.6) + 1.3 * crowded(names))
    values = np.full((len(names), len(names)), np.nan)
    for (start, end), paths in squares.items():
        row, column = names.index(start), names.index(end)
        found = [main.values[path] / scale for path in paths]
        values[row, column] = float(np.median(found))
        if shaded:
            continue
        upright = is_upright(names)
        shown = [values[row, column]] if upright else dict.fromkeys((min(found), max(found)))
        text = "–".join(dict.fromkeys(map(number, shown)))
        ends = [edge for path in paths for edge in intervals.get(path, ())] if bounded else []
        axis.text(
            column + 0.5,
            row + (0.36 if ends else 0.5),
            text,
            ha="center",
            va="center",
            color=ON_LIGHT,
            fontsize=7.5 if upright else 9.5,
            fontweight="bold",
            rotation=90 if upright else 0,
        )
        if ends:
            axis.text(
                column + 0.5,
                row + 0.7,
                f"{number(min(ends))}–{number(max(ends))}",
                ha="center",
                va="center",
                color=ON_LIGHT,
                fontsize=7,
            )
    shade(axis, values)
    name_ends(axis, names)
    if shaded:  # a reader of the middle finds the names at the nearest side
        axis.tick_params(labelsize=6, labeltop=True, labelright=True)
    axis.set(xlabel="server's zone", ylabel="client's zone")
    return figure
