"""The charts of the summary of a study: a map of its zones."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from statistics import median
from typing import TYPE_CHECKING

import numpy as np

from azlatency.kit.claim import Claim
from azlatency.kit.drawing.base import MICROSECOND, narrow, new_figure, short_as_drawn, styled
from azlatency.kit.drawing.draw import number
from azlatency.kit.drawing.heat_map import MOST_ENDS, crowded, is_upright, name_ends, shade
from azlatency.kit.drawing.palette import ESTIMATE, INK, ON_LIGHT, RUN
from azlatency.kit.drawing.truth import configured
from azlatency.kit.groups import name_of_pairs
from azlatency.kit.objects import Chart, Note
from azlatency.kit.titles import capitalised, span, tied
from azlatency.stats.across_runs.path_differences import PathDifferences
from azlatency.stats.across_runs.zone_pairs import ZonePair, pair_differences
from azlatency.studies.format import format_value, one_prefix

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_NODE, _NEAR, _FAR = INK, ESTIMATE, RUN
#: A pair is drawn as far from this multiple of the shortest pair on.
_FAR_FROM = 3.0
#: Fewest runs whose median is shown, and most zones whose edges do not hide each other on a map that is a page wide.
_FEWEST, _MOST_ZONES = 3, 5
#: Widest name of a zone, as a part of the figure's width, and widest one that its circle holds, in inches.
_WIDEST, _INSIDE = 0.28, 0.3


@styled
def zone_map(pairs: Sequence[ZonePair]) -> Chart | Note:
    """Draw the zones as points and the time between them on the lines that join them; many zones as a heat map.

    Parameters
    ----------
    pairs : sequence of ZonePair
        As returned by `azlatency.stats.zone_pairs`.

    Returns
    -------
    Chart or Note
        The map, or a note where no pair of zones was measured.
    """
    across = [pair for pair in pairs if not pair.inside]
    if not across:
        return Note("No chart: no pair of zones was measured.")
    names = sorted({name for pair in pairs for name in (pair.first, pair.second)})
    if len(names) > MOST_ENDS:
        return Note(f"No chart: {len(names)} zones are too many; the charts of the paths show them.")
    quantity, like = pairs[0].quantity, one_prefix((value for pair in pairs for value in pair.values), "ns")
    caption = f"{quantity[0].upper()}{quantity[1:]}, by pair of zones: "
    if len(names) > (_MOST_ZONES - 1 if narrow() else _MOST_ZONES):
        figure = _heat_map(pairs, names)
        caption += "the middle of the median runs of its paths, in µs."
    else:
        figure, far = _map(pairs, names, like)
        caption += _shown(pairs)
        if any(map(_truth, pairs)):
            caption += " " + configured().caption("rtt")
        if far:
            caption += f" Orange, dashed: at least {_FAR_FROM:g} times the shortest pair. Lengths are not to scale."
    words = [
        f"{'inside ' if pair.inside else f'{pair.first} – '}{pair.second}: {' '.join(_times(pair, like).split())}"
        for pair in pairs
    ]
    return Chart(figure, caption, "\n".join(words), title=_title(across, quantity, like), claim=_claim(pairs))


def _claim(pairs: Sequence[ZonePair]) -> Claim | None:
    """Return the median run of each path; numbers of a text and of several methods have no method in common."""
    if not pairs[0].method:
        return None
    values = {path: value for pair in pairs for path, value in zip(pair.paths, pair.typical, strict=True)}
    return Claim(quantity=f"{pairs[0].quantity.split()[0]}_ns", method=pairs[0].method, values=values)


def _title(across: Sequence[ZonePair], quantity: str, like: float | None) -> str:
    """Say from where to where the pairs of zones reach; pairs that are tied are named together."""
    middles = {(pair.first, pair.second): median(pair.typical) for pair in across}
    found = pair_differences(across)
    if found.once and not (found.sizes or found.refused):
        quantity = f"{quantity}, one run each"
    near, far = (_tied(across, middles, choose(middles, key=middles.__getitem__), found) for choose in (min, max))

    def end(chosen: Iterable[tuple[str, str]]) -> str:
        values = [value for pair in across if (pair.first, pair.second) in chosen for value in _shown_values(pair)]
        return span(values, "ns", like=like)

    if len(across) == 1:
        return f"{capitalised(name_of_pairs(list(near), list(middles)))}: {end(near)} ({quantity})"
    if not set(near).isdisjoint(far):
        return f"No pair of zones is visibly nearer: {end(middles)} ({quantity})"
    ends = [f"{end(pairs)} ({name_of_pairs(list(pairs), list(middles))})" for pairs in (near, far)]
    return f"From {ends[0]} to {ends[1]}, {quantity}"


def _tied(
    across: Sequence[ZonePair],
    middles: Mapping[tuple[str, str], float],
    end: tuple[str, str],
    found: PathDifferences,
) -> dict[tuple[str, str], float]:
    """Return the pairs that are tied with one of them: by their values, or as their runs cannot tell them apart."""
    paths = {(pair.first, pair.second): pair.paths for pair in across}
    near = tied(middles, end)
    return {
        pair: value
        for pair, value in middles.items()
        if pair in near or any(found.cannot_tell(first, second) for first in paths[pair] for second in paths[end])
    }


def _map(pairs: Sequence[ZonePair], names: Sequence[str], like: float | None) -> tuple[Figure, bool]:
    """Draw the zones on a circle; also return whether a pair is far."""
    figure, (axis,) = new_figure(1, 1, 3.2 if len(names) > 2 else 1.6)
    places = _places(names)
    across = [pair for pair in pairs if not pair.inside]
    shortest = min(median(pair.typical) for pair in across)
    far = {pair for pair in across if median(pair.typical) >= _FAR_FROM * shortest}
    for pair in across:
        _edge(axis, places[pair.first], places[pair.second], _times(pair, like), far=pair in far)
    inside = {pair.first: pair for pair in pairs if pair.inside}
    for name, (x, y) in places.items():
        axis.plot(x, y, "o", color=_NODE, markersize=24, zorder=3)
        node = axis.text(x, y, name, color="white", ha="center", va="center", zorder=4, fontsize=8)
        node.set_text(short_as_drawn(name, node, _WIDEST * figure.bbox.width))
        if node.get_window_extent().width > _INSIDE * figure.dpi:
            node.set_bbox({"boxstyle": "round,pad=0.4", "facecolor": _NODE, "edgecolor": "none"})
        if name in inside:
            below = y <= 0
            axis.annotate(
                f"inside: {_times(inside[name], like)}",
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
    axis.spines[:].set_visible(False)
    axis.margins(0.34 if narrow() else 0.22, 0.3)
    return figure, bool(far)


def _heat_map(pairs: Sequence[ZonePair], names: Sequence[str]) -> Figure:
    """Draw a square for each pair of zones; the edges of a map of so many zones would hide each other."""
    figure, (axis,) = new_figure(1, 1, 0.36 * len(names) + (1.7 if crowded(names) else 0.6))
    values = np.full((len(names), len(names)), np.nan)
    for pair in pairs:
        row, column = sorted((names.index(pair.first), names.index(pair.second)), reverse=True)
        values[row, column] = median(pair.typical) / MICROSECOND
        axis.text(
            column + 0.5,
            row + 0.5,
            number(values[row, column]),
            ha="center",
            va="center",
            color=ON_LIGHT,
            fontsize=7.5,
            rotation=90 if is_upright(names) else 0,
        )
    shade(axis, values)
    name_ends(axis, names)
    return figure


def _shown(pairs: Sequence[ZonePair]) -> str:
    """Say in the caption what a pair's number is."""
    counts = {len(pair.values) for pair in pairs}
    if counts == {1}:
        return "a single run each."
    if max(counts) < _FEWEST:
        return "the runs, or their range."
    few = f"; of fewer than {_FEWEST} runs only the range" if min(counts) < _FEWEST else ""
    return f"the median run of each path, and the range of all runs{few}."


def _shown_values(pair: ZonePair) -> tuple[float, ...]:
    """Return the median run of each path, as the card does, or the values of fewer than three runs."""
    return pair.values if len(pair.values) < _FEWEST else pair.typical


def _times(pair: ZonePair, like: float | None) -> str:
    """Return the typical time of a pair, its range if it has one, and the configured delay of an emulated link."""
    typical, whole = (span(values, "ns", like=like) for values in (_shown_values(pair), pair.values))
    truth = _truth(pair)
    return "\n".join(
        [
            typical,
            *([f"({whole})"] if whole != typical else []),
            *([f"× {format_value(truth, 'ns', like=like)}"] if truth else []),
        ]
    )


def _truth(pair: ZonePair) -> float | None:
    """Return the configured round-trip delay between two zones of an emulated network, the median of their links."""
    delays = [delay for path in pair.paths if (delay := configured().rtt.get(str(path)))]
    return median(delays) if delays else None


def _places(names: Sequence[str]) -> dict[str, tuple[float, float]]:
    """Return the positions of the zones on a circle; two zones stand side by side."""
    if len(names) == 2:
        return {names[0]: (-1.0, 0.0), names[1]: (1.0, 0.0)}
    turns = [math.pi / 2 + 2 * math.pi * index / len(names) for index in range(len(names))]
    return {name: (1.5 * math.cos(turn), math.sin(turn)) for name, turn in zip(names, turns, strict=True)}


def _edge(axis: Axes, start: tuple[float, float], end: tuple[float, float], text: str, *, far: bool) -> None:
    (x1, y1), (x2, y2) = start, end
    axis.plot([x1, x2], [y1, y2], color=_FAR if far else _NEAR, linestyle="--" if far else "-", linewidth=2, zorder=1)
    box = {"boxstyle": "round,pad=0.2", "facecolor": "white", "edgecolor": "none"}
    # The diameters of a circle of zones cross in its middle.
    crosses = abs(x1 + x2) + abs(y1 + y2) < 1e-9
    part = 0.68 if crosses and abs(y1 - y2) > 1e-9 else 0.5
    axis.text(
        part * x1 + (1 - part) * x2,
        part * y1 + (1 - part) * y2,
        text,
        ha="center",
        va="center",
        fontsize=9,
        bbox=box,
        zorder=2,
    )
