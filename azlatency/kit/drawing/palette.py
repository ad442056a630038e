"""Colours of all charts, and the look of each path: one hue per pair of ends, one dash per direction.

Every colour that carries meaning has a contrast of at least 3:1 with the background (4.5:1 with the dark one, on which
thin lines fade), and is drawn opaque; letters, which need 4.5:1, are in ink beside a mark of the colour. The hues of
pairs differ by at least 30 (CIE 1976 ΔE*ab) from each other, also for readers with deuteranopia or protanopia.
`tests/kit/drawing/test_palette.py` computes this.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from azlatency.studies.runs.path import NetworkPath

#: Roles: intervals and estimates; single runs and whatever needs attention; what is inconclusive or reported.
ESTIMATE, RUN, GREY, INK = "#0072b2", "#d55e00", "#767676", "#000000"
#: Areas behind the data: practical equivalence or the expected range, a distribution, a range of packets.
BAND, FILL, RANGE = "#dcebf5", "#9cc7e3", "#929292"
#: Hues of pairs of ends, in the order in which the pairs appear.
HUES = ("#10006b", "#11a758", "#d167be", "#522100", "#554c55", "#0000ee")
#: Each light colour in the dark scheme. A colour that is not listed (the shades of a heat map) stays.
DARK = {
    "#ffffff": "#14181d", INK: "#e3e7ec", "#e4e4e4": "#38424d",
    ESTIMATE: "#5db4f0", RUN: "#ff9a5c", GREY: "#8a939d",
    BAND: "#1d3346", FILL: "#2c5f80", RANGE: "#78828d",
    **dict(zip(HUES, ("#70feff", "#fdea17", "#c243ff", "#ef4434", "#669088", "#53c5ff"), strict=True)),
}  # fmt: skip
#: Text on the shades of a heat map, which are the same in both schemes.
ON_LIGHT = "#010101"

#: Marks of pairs of ends, for readers who see no colours.
_MARKS = "os^DvP"


@dataclass(frozen=True)
class Look:
    """How a path is drawn: colour and mark of its pair, dash of its direction."""

    colour: str
    dash: Any
    mark: str


def pair_of(path: str) -> frozenset[str]:
    """Return what both directions of a pair have in common; a path without named ends is a pair of its own."""
    return frozenset(NetworkPath.parse(path).ends or (path,))


def told_apart(values: Mapping[str, float]) -> list[str]:
    """Select the paths of as many pairs as there are hues, spread evenly from the smallest value to the largest."""
    ordered = sorted(values, key=lambda path: (values[path], str(path)))
    # The path with the largest value is one of those that are shown.
    pairs = list(dict.fromkeys(map(pair_of, [*ordered[-1:], *ordered])))
    pairs = [*pairs[1:], *pairs[:1]]
    if (last := len(pairs) - 1) >= len(HUES):
        pairs = [pairs[round(place * last / (len(HUES) - 1))] for place in range(len(HUES))]
    return [path for path in ordered if pair_of(path) in pairs]


def looks(paths: Iterable[str], chosen: Sequence[str] | Mapping[str, str] | None = None) -> dict[str, Look]:
    """Return the look of each path: both directions of a pair share a colour, the second one is dashed.

    ``chosen``: colours in the order of the pairs, or by path.
    """
    ordered = sorted(set(paths), key=str)
    first = {pair_of(path): path for path in reversed(ordered)}
    cycle = HUES if not chosen or isinstance(chosen, Mapping) else chosen
    pairs = dict.fromkeys(map(pair_of, ordered))
    hues, marks = (dict(zip(pairs, itertools.cycle(some), strict=False)) for some in (cycle, _MARKS))
    by_path = chosen if isinstance(chosen, Mapping) else {}
    return {
        path: Look(
            by_path.get(path, hues[pair_of(path)]),
            "-" if first[pair_of(path)] == path else (0, (4, 2)),
            marks[pair_of(path)],
        )
        for path in ordered
    }
