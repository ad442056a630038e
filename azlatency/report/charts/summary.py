"""The charts of the summary of a study: a map of its zones."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from azlatency.report.card import span
from azlatency.report.charts.base import new_figure, styled
from azlatency.report.charts.palette import ESTIMATE, INK, RUN
from azlatency.report.charts.titles import extremes
from azlatency.report.objects import Chart, Note
from azlatency.stats.across_runs.zone_pairs import ZonePair

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_NODE, _NEAR, _FAR = INK, ESTIMATE, RUN
#: A pair is drawn as far from this multiple of the shortest pair on.
_FAR_FROM = 3.0


@styled
def zone_map(pairs: Sequence[ZonePair]) -> Chart | Note:
    """Draw the zones as points and the time between them on the lines that join them.

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
        return Note("No map: no pair of zones was measured.")
    names = sorted({name for pair in pairs for name in (pair.first, pair.second)})
    figure, (axis,) = new_figure(1, 1, 2.8 if len(names) > 2 else 1.6)
    places = _places(names)
    shortest = min(min(pair.values) for pair in across)
    for pair in across:
        _edge(axis, places[pair.first], places[pair.second], pair, far=min(pair.values) >= _FAR_FROM * shortest)
    inside = {pair.first: pair for pair in pairs if pair.inside}
    for name, (x, y) in places.items():
        axis.plot(x, y, "o", color=_NODE, markersize=24, zorder=3)
        axis.text(x, y, name, color="white", ha="center", va="center", zorder=4, fontsize=8 if len(name) < 4 else 5.5)
        if name in inside:
            below = y <= 0
            axis.annotate(
                f"inside: {span(inside[name].values, 'ns')}", (x, y), (0, -17 if below else 17),
                textcoords="offset points", ha="center", va="top" if below else "bottom", fontsize=8,
            )  # fmt: skip
    for item in axis.texts:
        item.set_in_layout(False)  # the margins leave room for them
    axis.set_axis_off()
    axis.margins(0.22, 0.3)
    caption = (
        f"{pairs[0].quantity[0].upper()}{pairs[0].quantity[1:]}, by pair of zones. A range covers all runs of a pair."
    )
    if any(min(pair.values) >= _FAR_FROM * shortest for pair in across):
        caption += f" Orange, dashed: at least {_FAR_FROM:g} times the shortest pair. Lengths are not to scale."
    words = [
        f"{pair.first} – {pair.second}: {span(pair.values, 'ns')}" if not pair.inside
        else f"inside {pair.first}: {span(pair.values, 'ns')}"
        for pair in pairs
    ]  # fmt: skip
    middle = {f"{pair.first} – {pair.second}": sorted(pair.values)[len(pair.values) // 2] for pair in across}
    title = extremes(
        f"{pairs[0].quantity} between zones", middle, "ns", f"{len(across)} pairs" if len(across) > 1 else "1 pair"
    )
    return Chart(figure, caption, "\n".join(words), title=title)


def _places(names: Sequence[str]) -> dict[str, tuple[float, float]]:
    """Return the positions of the zones on a circle; two zones stand side by side."""
    if len(names) == 2:
        return {names[0]: (-1.0, 0.0), names[1]: (1.0, 0.0)}
    turns = [math.pi / 2 + 2 * math.pi * index / len(names) for index in range(len(names))]
    return {name: (1.5 * math.cos(turn), math.sin(turn)) for name, turn in zip(names, turns, strict=True)}


def _edge(axis: Axes, start: tuple[float, float], end: tuple[float, float], pair: ZonePair, *, far: bool) -> None:
    (x1, y1), (x2, y2) = start, end
    axis.plot([x1, x2], [y1, y2], color=_FAR if far else _NEAR, linestyle="--" if far else "-", linewidth=2, zorder=1)
    box = {"boxstyle": "round,pad=0.2", "facecolor": "white", "edgecolor": "none"}
    axis.text((x1 + x2) / 2, (y1 + y2) / 2, span(pair.values, "ns"), ha="center", va="center", fontsize=9,
              fontweight="bold", bbox=box, zorder=2)  # fmt: skip
