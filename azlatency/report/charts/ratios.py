"""Ratios with their intervals and the band of practical equivalence, as several pages draw them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from azlatency.stats.result import Comparison

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_BLUE, _ORANGE, _GREY = "#0072B2", "#D55E00", "#767676"
_MARKS = {
    "different": ("o", _ORANGE, _ORANGE),
    "different_within_margin": ("o", _ORANGE, "white"),
    "equivalent": ("s", _BLUE, _BLUE),
    "undetermined": ("s", _GREY, "white"),
}


def pair_panel(axis: Axes, pairs: Sequence[Comparison]) -> None:
    """Draw one ratio per row, with its interval and its band of practical equivalence."""
    for row, pair in enumerate(pairs):
        assert pair.ratio.estimate is not None
        axis.fill_betweenx(
            [row - 0.5, row + 0.5], 1 / (1 + pair.margin), 1 + pair.margin, color="#DCEBF5", linewidth=0, zorder=0
        )
        shape, edge, face = _MARKS[pair.verdict]
        if pair.ratio.low is not None and pair.ratio.high is not None:
            axis.plot([pair.ratio.low, pair.ratio.high], [row, row], color=edge, linewidth=1.8, zorder=2)
        axis.plot([pair.ratio.estimate], [row], shape, color=edge, markerfacecolor=face, markersize=4.5, zorder=3)
    axis.axvline(1, color="black", linewidth=0.8, zorder=1)
    axis.set_yticks(range(len(pairs)), [str(pair.labels["method"]) for pair in pairs])
    axis.set_ylim(len(pairs) - 0.4, -0.6)
    axis.grid(axis="y", visible=False)


def ratio_reach(pairs: Sequence[Comparison]) -> float:
    """Return how far the axis of ratios extends (in logarithms); very wide intervals are clipped."""
    points = [pair.ratio.estimate or 1.0 for pair in pairs]
    ends = [end for pair in pairs for end in (pair.ratio.low, pair.ratio.high) if end]
    inside = [end for end in ends if 0.2 < end < 5]
    return max(abs(math.log(point)) for point in [*points, *inside, *(1 + pair.margin for pair in pairs)]) * 1.06


def pair_words(pair: Comparison) -> str:
    """Return the numbers of one comparison as text."""
    low, high = pair.ratio.low, pair.ratio.high
    verdict = "inconclusive" if pair.verdict == "undetermined" else pair.verdict.replace("_", " ")
    ends = "" if low is None or high is None else f" [{low:.4g}, {high:.4g}]"
    band = f"band {1 / (1 + pair.margin):.4g} – {1 + pair.margin:.4g}"
    return f"{pair.what}, {pair.labels['method']}: {pair.ratio.estimate:.4g}{ends}, {verdict} ({band})"
