"""What a page says in numbers, as a record that a build compares with what other pages say."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

#: Ratio of the ends above which an interval says nothing: it is not known.
WIDEST = 100
#: Ratio of the ends above which an interval is said instead of the value in its middle.
_FAR_APART = 4


def known_ends(low: float | None, high: float | None) -> tuple[float | None, float | None]:
    """Return the ends of an interval of a time, a rate or a ratio; none of one that is too wide to say anything."""
    return (None, None) if low is not None and high is not None and high > WIDEST * low else (low, high)


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


@dataclass(frozen=True, kw_only=True)
class Claim:
    """The values of one method by path that an answer, a chart or a card speaks of.

    Attributes
    ----------
    quantity : str
        Column of the run table, which names the unit: ``"median_ns"``, ``"throughput_bit_s"``.
    method : str
        The method of all values.
    values : mapping of str to float
        The typical run of each path: the median run, or the only one.
    runs : mapping of str to int
        The number of its runs; empty if unknown.
    ranges : mapping of str to (float, float)
        The smallest and the largest run of each path whose several runs have no interval that says something.
    """

    quantity: str
    method: str
    values: Mapping[str, float]
    runs: Mapping[str, int] = field(default_factory=dict)
    ranges: Mapping[str, tuple[float, float]] = field(default_factory=dict)

    @property
    def counts(self) -> str:
        """The number of runs in words."""
        fewest, most = min(self.runs.values(), default=0), max(self.runs.values(), default=0)
        each = " each" if len(self.runs) > 1 else ""
        if fewest == most:
            return f"one run{each}" if most == 1 else f"{most} runs{each}"
        return f"{fewest} to {most} runs each"
