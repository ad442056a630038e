"""Intervals as a reader sees them: one that is too wide to say anything is not known."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd

#: Ratio of the ends above which an interval says nothing: it is not known.
_WIDEST = 100
#: Ratio of the ends above which an interval is said instead of the value in its middle.
_FAR_APART = 4


def known_ends(low: float | None, high: float | None) -> tuple[float | None, float | None]:
    """Return the ends of an interval of a time, a rate or a ratio; none of one that is too wide to say anything."""
    return (None, None) if low is not None and high is not None and high > _WIDEST * low else (low, high)


def without_flat(frame: pd.DataFrame, low: str = "low", high: str = "high") -> pd.DataFrame:
    """Return a frame without the intervals whose ends are equal: they show the rounding of the print, not a spread."""
    flat = frame[low] == frame[high]
    return frame.assign(**{low: frame[low].mask(flat), high: frame[high].mask(flat)})


def interval_in(row: Mapping[Any, Any] | None) -> tuple[float, float] | None:
    """Return the interval of a row of estimates if it has one that says something."""
    if row is None or math.isnan(row["low"]) or math.isnan(row["high"]):
        return None
    low, high = known_ends(row["low"], row["high"])
    return None if low is None or high is None else (low, high)


def is_far_apart(interval: tuple[float, float]) -> bool:
    """Return whether an interval describes the runs better than the value in its middle."""
    return interval[1] > _FAR_APART * interval[0]


def range_in(row: Mapping[Any, Any]) -> tuple[float, float] | None:
    """Return the range that describes runs better than their typical run; None if that says enough.

    ``row`` has the ``lowest`` and the ``highest`` run, too.
    """
    interval = interval_in(row)
    if interval is None:
        return (row["lowest"], row["highest"]) if row["lowest"] < row["highest"] else None
    return interval if is_far_apart(interval) else None
