"""A map of zones: the round-trip time between every two of them, on the line that joins them."""

from __future__ import annotations

import math
from collections.abc import Container, Iterable, Mapping, Sequence
from itertools import product
from statistics import median
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from azlatency.kit.cells import MICROSECONDS
from azlatency.kit.drawing.base import styled
from azlatency.kit.drawing.draw import CONFIGURED, short_number
from azlatency.kit.drawing.heat_map import MOST_ENDS, crowded, is_upright, name_ends, shade
from azlatency.kit.drawing.palette import ESTIMATE, INK, ON_LIGHT, RUN
from azlatency.kit.drawing.sheet import Sheet
from azlatency.kit.groups import name_of_pairs
from azlatency.kit.objects import Chart, Note
from azlatency.kit.titles import capitalised, span, tied
from azlatency.stats.across_runs.path_differences import PathDifferences, cannot_tell
from azlatency.stats.across_runs.run_values import check_columns
from azlatency.stats.across_runs.zone_pairs import medians_by_path, pair_differences
from azlatency.studies.emulation import NOT_EMULATED, sums_of_both_directions
from azlatency.studies.format import format_value, one_prefix, plain
from azlatency.studies.runs.groups import grouped

_ENDS = ["first", "second"]
#: Pairs of zones, and the middle of their runs.
_Pairs = dict[tuple[str, str], float]
#: A pair is drawn as far from this multiple of the shortest pair on.
_FAR_FROM = 3.0
#: Fewest runs whose median is shown, and most zones whose edges do not hide each other on a map: a page wide, narrow.
_FEWEST, _MOST_ZONES, _MOST_NARROW = 3, 5, 3
#: Letters of a line of numbers that, on a narrow map, stands outside the circle; how far an edge is from its middle;
#: points of the numbers that are still inside.
_WIDE, _ASIDE, _INTO = 12, 0.3, 10
_SCHEMATIC = "schematic: places and lengths mean nothing"
#: Widest name of a zone, as a part of the figure's width, and widest one that its circle holds, in inches.
_WIDEST, _INSIDE = 0.22, 0.3


@styled
def zone_map(sheet: Sheet, pairs: pd.DataFrame, links: pd.DataFrame = NOT_EMULATED) -> Chart | Note:
    """Draw the zones as points and the time between them on the lines that join them; many zones as a heat map.

    Parameters
    ----------
    pairs : DataFrame
        As returned by `azlatency.stats.zone_pairs`, one row per run: the zones ``first`` and ``second``, ``path``,
        ``method``, ``value`` in ns, ``quantity``, and optionally ``step``, the step of the printed values, and
        ``within``: zones of several regions or scenarios are not drawn.
    links : DataFrame, optional
        What an emulated network is configured to, as returned by `azlatency.studies.configured_links`.

    Returns
    -------
    Chart or Note
        The map, or a note where fewer than two pairs of zones were measured.
    """
    check_columns(pairs, "first", "second", "path", "method", "value", "quantity")
    across = pairs[pairs["first"] != pairs["second"]]
    if len(across[_ENDS].drop_duplicates()) < 2:
        return Note("No chart: fewer than two pairs of zones were measured.")
    if "within" in pairs and (parts := pairs["within"].nunique()) > 1:
        return Note(
            f"No chart: the pairs of zones are of {parts} regions or scenarios; the charts of the paths show them."
        )
    edges = _edges(pairs, sums_of_both_directions(links))
    names = sorted({*pairs["first"], *pairs["second"]})
    if len(names) > MOST_ENDS:
        return Note(f"No chart: {len(names)} zones are too many; the charts of the paths show them.")
    quantity, like = pairs["quantity"].iloc[0], one_prefix(pairs["value"], "ns")
    edges["times"] = [_times(edge, like) for edge in edges.to_dict("records")]
    caption, found = f"{capitalised(quantity)}, by pair of zones: ", pair_differences(across)
    near, far = _ends_of(across, edges, found)
    if len(names) > (_MOST_NARROW if sheet.narrow else _MOST_ZONES):
        figure = _heat_map(sheet, edges, names)
        caption += "the middle of the median runs of its paths, in µs."
    else:
        figure, has_far = _map(sheet, edges, names, near=near)
        caption += _shown(edges)
        if edges["truth"].notna().any():
            caption += f" {CONFIGURED}"
        if has_far:
            caption += f" Orange, dashed: at least {plain(_FAR_FROM)} times the shortest pair."
    starts = ("inside " + edges["first"]).where(edges["inside"], edges["first"] + " – " + edges["second"])
    words = [f"{start}: {' '.join(times.split())}" for start, times in zip(starts, edges["times"], strict=True)]
    if len(found.paths) and (found.paths["n"] == 1).all():
        quantity = f"{quantity}, one run each"
    title = _title(edges[~edges["inside"]], near, far, quantity, like)
    return Chart(figure, caption, "\n".join(words), title=title)


def _edges(pairs: pd.DataFrame, truths: Mapping[str, float]) -> pd.DataFrame:
    """Return one row per pair of zones: the values of its runs and those that are shown, and the configured delay.

    Shown are the median run of each path, as on the card, or the values of fewer than three runs.
    """
    medians = {ends: list(group) for ends, group in grouped(medians_by_path(pairs), _ENDS)["value"]}
    rows = []
    for ends, group in grouped(pairs, _ENDS):
        values = list(group["value"])
        delays = [delay for path in group["path"].unique() if (delay := truths.get(path))]
        rows.append(
            {
                "first": ends[0],
                "second": ends[1],
                "inside": ends[0] == ends[1],
                "values": values,
                "shown": values if len(values) < _FEWEST else medians[ends],
                "middle": median(medians[ends]),
                # The median of several runs is finer than the print of one.
                "step": float(group["step"].max()) if "step" in group and len(values) < _FEWEST else 0.0,
                "truth": median(delays) if delays else math.nan,
            }
        )
    return pd.DataFrame(rows)


def _title(edges: pd.DataFrame, near: _Pairs, far: _Pairs, quantity: str, like: float | None) -> str:
    """Say from where to where the pairs of zones reach; pairs that are tied are named together."""
    by_ends = edges.set_index(_ENDS)
    middles: _Pairs = by_ends["middle"].to_dict()

    def end(chosen: Iterable[tuple[str, str]]) -> str:
        return span([value for ends in chosen for value in by_ends.at[ends, "shown"]], "ns", like=like)

    if not set(near).isdisjoint(far):
        return f"None of the measured pairs is visibly nearer: {end(middles)} ({quantity})"
    ends = [f"{end(pairs)} ({name_of_pairs(list(pairs), list(middles))})" for pairs in (near, far)]
    return f"From {ends[0]} to {ends[1]}, {quantity}"


def _ends_of(across: pd.DataFrame, edges: pd.DataFrame, found: PathDifferences) -> list[_Pairs]:
    """Return the nearest pairs of zones and the farthest ones, those that are tied together."""
    middles: _Pairs = edges[~edges["inside"]].set_index(_ENDS)["middle"].to_dict()
    return [_tied(across, middles, choose(middles, key=middles.__getitem__), found) for choose in (min, max)]


def _tied(
    across: pd.DataFrame,
    middles: Mapping[tuple[str, str], float],
    end: tuple[str, str],
    found: PathDifferences,
) -> dict[tuple[str, str], float]:
    """Return the pairs that are tied with one of them: by their values, or as their runs cannot tell them apart."""
    paths = {ends: list(group.unique()) for ends, group in grouped(across, _ENDS)["path"]}
    near = tied(middles, end)
    return {
        pair: value
        for pair, value in middles.items()
        if pair in near or any(cannot_tell(found, *both) for both in product(paths[pair], paths[end]))
    }


def _map(
    sheet: Sheet, edges: pd.DataFrame, names: Sequence[str], *, near: Container[tuple[str, str]]
) -> tuple[Figure, bool]:
    """Draw the zones on a circle; also return whether a pair is far, which none of the nearest ones is."""
    figure, (axis,) = sheet.new_figure(1, 1, 3.2)
    places = _places(names)
    across = edges[~edges["inside"]]
    is_near = [pair in near for pair in zip(across["first"], across["second"], strict=True)]
    is_far = (across["middle"] >= _FAR_FROM * across["middle"].min()) & ~pd.Series(is_near, across.index)
    for edge, far in zip(across.to_dict("records"), is_far, strict=True):
        times = edge["times"] if sheet.labelled else ""
        _edge(sheet, axis, places[edge["first"]], places[edge["second"]], times, far=far)
    inside = edges[edges["inside"]].set_index("first")["times"].to_dict()
    for name, (x, y) in places.items():
        (circle,) = axis.plot(x, y, "o", color=INK, markersize=24, zorder=3)
        node = axis.text(x, y, name, color="white", ha="center", va="center", zorder=4, fontsize=8)
        node.set_text(sheet.short_as_drawn(name, node, _WIDEST * figure.bbox.width))
        if node.get_window_extent().width > _INSIDE * figure.dpi:
            circle.set_visible(False)
            node.set_bbox({"boxstyle": "round,pad=1.0", "facecolor": INK, "edgecolor": "none"})
        if name in inside and sheet.labelled:
            below = y <= 0
            axis.annotate(
                f"inside: {inside[name]}",
                (x, y),
                (0, -17 if below else 17),
                textcoords="offset points",
                ha="center",
                va="top" if below else "bottom",
                fontsize=8,
            )
    for item in axis.texts:
        item.set_in_layout(False)  # the margins leave room for them
    axis.set(xticks=[], yticks=[])
    if sheet.narrow:  # its numbers reach below its axes
        axis.set_title("not to scale", loc="left", color=INK, fontsize=7, fontweight="normal")
    else:
        axis.set_xlabel(_SCHEMATIC, color=INK, fontsize=8)
    axis.spines[:].set_visible(False)
    axis.margins(0.34 if sheet.narrow else 0.22, 0.3)
    lowest = min(y for _, y in places.values())
    if all(places[name][1] > 0 for name in inside):  # no numbers below
        axis.set_ylim(bottom=lowest - 0.25)
    elif sheet.narrow:  # nothing but their lines is below
        axis.set_ylim(bottom=lowest - 0.3 - 0.15 * (1 + max(text.count("\n") for text in inside.values())))
    return figure, bool(is_far.any())


def _heat_map(sheet: Sheet, edges: pd.DataFrame, names: Sequence[str]) -> Figure:
    """Draw a square for each pair of zones; the edges of a map of so many zones would hide each other."""
    figure, (axis,) = sheet.new_figure(1, 1, 0.36 * len(names) + (1.7 if crowded(sheet, names) else 0.6))
    values = np.full((len(names), len(names)), np.nan)
    for edge in edges.to_dict("records"):
        row, column = sorted((names.index(edge["first"]), names.index(edge["second"])), reverse=True)
        values[row, column] = edge["middle"] / MICROSECONDS.scale
        axis.text(
            column + 0.5,
            row + 0.5,
            short_number(values[row, column]) if sheet.labelled else "",
            ha="center",
            va="center",
            color=ON_LIGHT,
            fontsize=7.5,
            rotation=90 if is_upright(sheet, names) else 0,
        )
    shade(axis, values)
    name_ends(sheet, axis, names)
    return figure


def _shown(edges: pd.DataFrame) -> str:
    """Say in the caption what a pair's number is."""
    counts = edges["values"].map(len)
    if (counts == 1).all():
        return "a single run each."
    if counts.max() < _FEWEST:
        return "the runs, or their range."
    few = f"; of fewer than {_FEWEST} runs only the range" if counts.min() < _FEWEST else ""
    return f"the median run of each path, and the range of all runs{few}."


def _times(edge: Mapping[Any, Any], like: float | None) -> str:
    """Return the typical time of a pair, its range if it has one, and the configured delay of an emulated link."""
    typical, whole = (span(edge[name], "ns", like=like, step=edge["step"]) for name in ("shown", "values"))
    lines = [typical]
    if whole != typical:
        lines.append(f"({whole})")
    if not math.isnan(edge["truth"]):
        lines.append(f"× {format_value(edge['truth'], 'ns', like=like)}")
    return "\n".join(lines)


def _places(names: Sequence[str]) -> dict[str, tuple[float, float]]:
    """Return the positions of the zones on a circle."""
    turns = [math.pi / 2 + 2 * math.pi * index / len(names) for index in range(len(names))]
    return {name: (1.5 * math.cos(turn), math.sin(turn)) for name, turn in zip(names, turns, strict=True)}


def _edge(
    sheet: Sheet, axis: Axes, start: tuple[float, float], end: tuple[float, float], text: str, *, far: bool
) -> None:
    (x1, y1), (x2, y2) = start, end
    axis.plot([x1, x2], [y1, y2], color=RUN if far else ESTIMATE, linestyle="--" if far else "-", linewidth=2, zorder=1)
    box = {"boxstyle": "round,pad=0.2", "facecolor": "white", "edgecolor": "none"}
    # The diameters of a circle of zones cross in its middle.
    crosses = abs(x1 + x2) + abs(y1 + y2) < 1e-9
    part = 0.68 if crosses and abs(y1 - y2) > 1e-9 else 0.5
    x, side = part * x1 + (1 - part) * x2, "center"
    if sheet.narrow and abs(x) > _ASIDE and max(map(len, text.split("\n"))) > _WIDE:
        side = "right" if x < 0 else "left"
    # The line ends above and below its numbers, and does not run along their first or last letter.
    axis.annotate(
        text,
        (x, part * y1 + (1 - part) * y2),
        ({"right": _INTO, "center": 0, "left": -_INTO}[side], 0),
        textcoords="offset points",
        ha=side,
        va="center",
        multialignment="center",
        fontsize=9,
        bbox=box,
        zorder=2,
    )
