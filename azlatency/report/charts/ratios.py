"""Ratios with their intervals and the band of practical equivalence, as several pages draw them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from azlatency.kit.drawing import draw
from azlatency.kit.drawing.base import label
from azlatency.kit.drawing.draw import number
from azlatency.kit.drawing.palette import BAND, ESTIMATE, GREY, INK, RUN
from azlatency.kit.titles import most_apart, names, times
from azlatency.report.differences import in_drift
from azlatency.stats.result import DRIFTS, Comparison
from azlatency.studies.format import plain

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: Marker, colour, whether it is filled, and the caption's words on it.
_MARKS = {
    "different": ("o", RUN, True, "orange: different"),
    "different_within_margin": ("o", RUN, False, "hollow orange: different, but within the band"),
    "equivalent": (
        "s",
        ESTIMATE,
        True,
        "blue square: practically equivalent, with the interval that decides on it (twice the error)",
    ),
    "inconclusive": ("s", GREY, False, "hollow grey square: inconclusive"),
}


def pair_panel(axis: Axes, pairs: Sequence[Comparison], names: Sequence[str]) -> None:
    """Draw one ratio per row, with its name, its interval and its band of practical equivalence."""
    draw.name_rows(axis, [label(name) for name in names])
    for row, pair in enumerate(pairs):
        assert pair.ratio.estimate is not None
        axis.fill_betweenx(
            [row - 0.5, row + 0.5], 1 / (1 + pair.margin), 1 + pair.margin, color=BAND, linewidth=0, zorder=0
        )
        shape, edge, filled, _ = _MARKS[pair.verdict]
        draw.bar(axis, row, deciding_ends(pair), edge, 1.8)
        face = edge if filled else "white"
        draw.point(
            axis, row, pair.ratio.estimate, text=pair_words(pair), shape=shape, colour=edge, face=face, markersize=4.5
        )
        draw.at_edge(axis, row, number(pair.ratio.estimate), edge)
    axis.axvline(1, color=INK, linewidth=0.8, zorder=1)


def deciding_ends(pair: Comparison) -> tuple[float, ...]:
    """Return the ends of the interval that decides; nothing if there is none."""
    low, high, _ = pair.decides
    return () if low is None or high is None else (low, high)


def verdict_words(pairs: Sequence[Comparison]) -> str:
    """Return the caption's sentence on the marks that the figure has."""
    words = [words for verdict, (*_, words) in _MARKS.items() if any(pair.verdict == verdict for pair in pairs)]
    words += ["no bar: no interval"] if any(pair.ratio.low is None for pair in pairs) else []
    return f"{words[0][:1].upper()}{'; '.join(words)[1:]}."


def ratio_title(pairs: Sequence[Comparison], what: str) -> str:
    """Return the result in words: how many comparisons differ, and the largest difference if it is not a tie."""
    apart = [pair for pair in pairs if pair.verdict == "different"]
    if all(pair.ratio.low is None for pair in pairs):
        return f"{what}: measured once, so not tested"
    if not apart:
        equivalent, within = (
            sum(pair.verdict == name for pair in pairs) for name in ("equivalent", "different_within_margin")
        )
        counts = {
            "practically equivalent": equivalent,
            "different, but within the margin": within,
            "inconclusive": len(pairs) - equivalent - within,
        }
        result = "no difference beyond the margin shown" if within else "no difference shown"
        return f"{what}: {result}; {', '.join(f'{n} {text}' for text, n in counts.items() if n)}"
    result = f"{what}: {len(apart)} of {len(pairs)} differ{in_drift(apart)}"
    method, largest = most_apart(apart)
    if not largest:
        return result
    back = " against back" if all(map(apart[0].labels.get, ("from", "to"))) else ""
    most = "most " if len(apart) > len(largest) else ""
    ratio = times(largest.values(), "as much")
    return f"{result}; {most}{names(largest)}{back}, {ratio} ({method})"


def ratio_reach(pairs: Sequence[Comparison]) -> float:
    """Return how far the axis of ratios extends (in logarithms); very wide intervals are clipped."""
    points = [pair.ratio.estimate or 1.0 for pair in pairs]
    ends = [end for pair in pairs for end in (pair.ratio.low, pair.ratio.high) if end]
    inside = [end for end in ends if 0.2 < end < 5]
    return max(abs(math.log(point)) for point in [*points, *inside, *(1 + pair.margin for pair in pairs)]) * 1.06


def pair_words(pair: Comparison) -> str:
    """Return the numbers of one comparison as text."""
    verdict = DRIFTS if pair.drifts else pair.verdict.replace("_", " ")
    ends = draw.brackets(deciding_ends(pair))
    band = f"band {plain(1 / (1 + pair.margin), 4)} – {plain(1 + pair.margin, 4)}"
    return f"{pair.what}, {pair.labels['method']}: {plain(pair.ratio.estimate, 4)}{ends}, {verdict} ({band})"
