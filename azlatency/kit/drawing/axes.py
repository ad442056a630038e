"""Shared axes: logarithmic ticks as plain numbers, ratios around 1, nines, and labels that do not overlap."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.dates import AutoDateLocator, ConciseDateFormatter, date2num
from matplotlib.ticker import (
    FixedLocator,
    FuncFormatter,
    Locator,
    LogLocator,
    MaxNLocator,
    NullFormatter,
    NullLocator,
)  # fmt: skip
from numpy.typing import NDArray
from scipy.optimize import isotonic_regression

from azlatency.stats.arrays import FloatArray
from azlatency.studies.format import plain

#: Width of a digit, and of a comma or point, as parts of the size of letters.
_DIGIT, _POINT = 0.64, 0.32
#: Most times at a short axis, whose labels must not touch.
_MOST_DATES = 4
#: Ticks of a ratio axis up to this width (in logarithms).
_RATIO_TICKS = (
    (0.12, (0.95, 0.96, 0.97, 0.98, 0.99, 1.0, 1.01, 1.02, 1.03, 1.04, 1.05)),
    (0.24, (0.9, 0.92, 0.94, 0.96, 0.98, 1.0, 1.02, 1.04, 1.06, 1.08, 1.1)),
    (0.8, (0.5, 0.6, 0.7, 0.8, 0.9, 1.0, 1.1, 1.2, 1.3, 1.4, 1.6, 1.8, 2.0)),
    (1.7, (0.25, 0.3, 0.4, 0.5, 0.6, 0.7, 0.85, 1.0, 1.2, 1.5, 2.0, 2.5, 3.0, 4.0)),
)


def spread(positions: Sequence[float], least: float) -> list[float]:
    """Move ascending positions between 0 and 1 as little as possible (least squares) to keep the distance ``least``.

    With the i-th position lowered by ``i * least``, the condition becomes "ascending": an isotonic regression. The new
    positions lie between 0 and 1 if there is room.
    """
    steps = [index * least for index in range(len(positions))]
    lowered = isotonic_regression([position - step for position, step in zip(positions, steps, strict=True)]).x
    highest = max(1.0 - steps[-1], 0.0)
    return [min(max(float(spot), 0.0), highest) + step for spot, step in zip(lowered, steps, strict=True)]


class Spaced(Locator):
    """Ticks of a logarithmic axis whose labels do not touch, however long the axis is drawn.

    Of the ticks of another locator, ever fewer are left: of decades, first those at powers of ten, or both ends if
    there is but one of these; of ratios, every second one beside 1. On an axis with fewer than three ticks of decades,
    or two of ratios, others are added.
    """

    #: Set by matplotlib.
    axis: Any

    def __init__(self, locator: Locator) -> None:
        self.locator = locator

    def __call__(self) -> list[float]:
        """Return the ticks for the present limits and length of the axis."""
        self.locator.set_axis(self.axis)
        low, high = sorted(self.axis.get_view_interval())
        ticks = [float(tick) for tick in self.locator() if low <= tick <= high]
        if len(ticks) < (3 if isinstance(self.locator, LogLocator) else 2):
            ticks = [float(tick) for tick in MaxNLocator(4).tick_values(low, high) if low <= tick <= high]
        elif isinstance(self.locator, LogLocator) and not self._fit(ticks):
            decades = [tick for tick in ticks if math.log10(tick).is_integer()]
            ticks = decades if len(decades) > 1 else [ticks[0], ticks[-1]]
        while len(ticks) > 2 and not self._fit(ticks):
            ticks = ticks[ticks.index(1.0) % 2 if 1.0 in ticks else 0 :: 2]
        return ticks

    def _fit(self, ticks: list[float]) -> bool:
        """Return whether labels fit on the axis, with room of half a digit between them."""
        side = "xy".index(self.axis.axis_name)
        points = [(tick, 1.0) if side == 0 else (1.0, tick) for tick in ticks]
        letters = self.axis.get_major_ticks(1)[0].label1.get_size() * self.axis.figure.dpi / 72
        places = self.axis.axes.transData.transform(points)[:, side] / letters
        labels = self.axis.get_major_formatter().format_ticks(ticks)
        lengths = [1.0 if side else sum(_POINT if sign in ",." else _DIGIT for sign in label) for label in labels]
        room = [(before + after + _DIGIT) / 2 for before, after in pairwise(lengths)]
        return bool((np.abs(np.diff(places)) > room).all())


def plain_log_ticks(axis: Axis) -> None:
    """Put ticks at the powers of ten, and at 2 and 5 times them, as plain numbers."""
    # A short axis gets all of them, too, of which `Spaced` leaves those that fit.
    axis.set_major_locator(Spaced(LogLocator(subs=(1, 2, 5), numticks=15)))
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}" if value >= 1000 else plain(value, 6)))
    axis.set_minor_locator(NullLocator())
    axis.set_minor_formatter(NullFormatter())


def date_ticks(axis: Axis, start: pd.Timestamp, end: pd.Timestamp) -> None:
    """Put ticks at round times between two times, two to four of them."""
    for fewest in range(2, 8):
        locator = AutoDateLocator(minticks=fewest, maxticks=fewest + 3)
        ticks = [tick for tick in locator.tick_values(start, end) if date2num(start) <= tick <= date2num(end)]
        if len(ticks) > 1:
            break
    axis.set_major_formatter(ConciseDateFormatter(locator, show_offset=False))
    axis.set_ticks(ticks[:: math.ceil(len(ticks) / _MOST_DATES) or 1])


def power_ticks(axis: Axis) -> None:
    """Label the powers of ten as powers, for shares from 1 down to one in a million and below."""
    raised = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
    axis.set_major_locator(Spaced(LogLocator()))
    # Use Unicode superscripts, not mathtext: the labels stay text in SVG and PDF.
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"10{str(round(math.log10(value))).translate(raised)}"))
    axis.set_minor_formatter(NullFormatter())


def times_axis(axis: Axes, ends: Sequence[float], *, room: float = 1.15) -> None:
    """Make a logarithmic axis for ratios that spans ``ends`` and a factor ``room`` beyond them."""
    drawn = [end for end in ends if end > 0] or [1.0]  # a ratio of 0 has no place on such an axis
    low, high = min(drawn) / room, max(drawn) * room
    axis.set(xscale="log", xlim=(low, high))
    width = math.log(high / low)
    plain_log_ticks(axis.xaxis)
    # On a short axis, ticks at 1, 2 and 5 are too few.
    for limit, ticks in _RATIO_TICKS:
        if width <= limit:
            axis.xaxis.set_major_locator(Spaced(FixedLocator(ticks)))
            return


def stretches(
    edges: FloatArray, places: NDArray[np.intp], values: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """Return the centre, minimum, median and maximum of the finite values in each non-empty time bin.

    ``edges``: (bins + 1,); ``places``: (n,), the bin of each value; ``values``: (n,).
    """
    good = np.isfinite(values)
    places, values = places[good], values[good]
    order = np.argsort(places, kind="stable")
    places, values = places[order], values[order]
    which, starts = np.unique(places, return_index=True)
    parts = np.split(values, starts[1:])
    middle = (edges[which] + edges[which + 1]) / 2
    low, median, high = (np.array([measure(part) for part in parts]) for measure in (np.min, np.median, np.max))
    return middle, low, median, high


def nines(q: float) -> float:
    """Return the position of a quantile on an axis where each nine has the same width."""
    return -math.log10(1 - q)
