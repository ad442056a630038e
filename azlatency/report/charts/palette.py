"""Colours of all charts, and the look of each path: one hue per pair of ends, one dash per direction.

Every colour that carries meaning has a contrast of at least 3:1 with the background, in both schemes. The hues of pairs
differ by at least 30 (CIE 1976 ΔE*ab) from each other, also for readers with deuteranopia or protanopia.
`tests/report/charts/test_palette.py` computes this.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from azlatency.studies.path import Path

#: Roles: intervals and estimates; single runs and whatever needs attention; what is inconclusive or reported.
ESTIMATE, RUN, GREY, INK = "#0072b2", "#d55e00", "#767676", "#000000"
#: Areas behind the data: practical equivalence or the expected range, a distribution, a range of packets.
BAND, FILL, RANGE = "#dcebf5", "#9cc7e3", "#b8b8b8"
#: Hues of pairs of ends, in the order in which the pairs appear.
HUES = ("#10006b", "#11a758", "#d167be", "#522100", "#554c55", "#0000ee")
#: Each light colour in the dark scheme. A colour that is not listed (the shades of a heat map) stays.
DARK = {
    "#ffffff": "#14181d", INK: "#e3e7ec", "#e4e4e4": "#38424d",
    ESTIMATE: "#5db4f0", RUN: "#ff9a5c", GREY: "#98a2ad",
    BAND: "#1d3346", FILL: "#2c5f80", RANGE: "#4a545f",
    **dict(zip(HUES, ("#70feff", "#fdea17", "#a31aec", "#d1211f", "#669088", "#1abbff"), strict=True)),
}  # fmt: skip
#: Text on the shades of a heat map, which are the same in both schemes.
ON_LIGHT, ON_DARK = "#010101", "#fefefe"
_MARKERS = ("o", "s", "^", "D", "v", "P")


@dataclass(frozen=True)
class Look:
    """How a path is drawn: colour of its pair, dash of its direction, and a marker that changes if colours repeat."""

    colour: str
    dash: Any
    marker: str


def looks(paths: Iterable[Path | str]) -> dict[str, Look]:
    """Return the look of each path by its text: both directions of a pair share a colour, the second one is dashed."""
    pairs: dict[frozenset[str], str] = {}
    by_path = {}
    for path in sorted({str(path) for path in paths}):
        ends = Path.parse(path).ends
        pair = frozenset(ends) if ends else frozenset((path, ""))
        first = pairs.setdefault(pair, path)
        turn, hue = divmod(list(pairs).index(pair), len(HUES))
        by_path[path] = Look(HUES[hue], "-" if first == path else (0, (4, 2)), _MARKERS[turn % len(_MARKERS)])
    return by_path
