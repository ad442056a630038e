"""Titles of charts: the result in words, from the values that are drawn."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from statistics import median
from typing import TypeVar

from azlatency.logs.parsers import find_parser
from azlatency.report.card import span
from azlatency.studies.format import format_value, one_prefix

Name = TypeVar("Name", bound=str)

#: Words for the largest and the smallest value of a quantity.
TIMES, RATES = ("longest", "shortest"), ("highest", "lowest")


def by_method(
    values: Iterable[tuple[str, str, float]], packets: Mapping[str, float] | None = None
) -> tuple[str, dict[str, float]]:
    """Return the method that measured the most paths, most often, with the most packets; and its value on each path.

    ``values``: method, path and value. Of several values of one path the median is taken.
    """
    groups: dict[str, dict[str, list[float]]] = {}
    for method, path, value in values:
        groups.setdefault(method, {}).setdefault(path, []).append(value)
    if not groups:
        return "", {}
    sent = {} if packets is None else packets

    def weight(name: str) -> tuple[float, ...]:
        runs = sum(map(len, groups[name].values()))
        return len(groups[name]), not is_sparse(name), runs, sent.get(name, 0)

    method = max(groups, key=weight)
    return method, {path: median(some) for path, some in groups[method].items()}


def extremes(
    quantity: str, values: Mapping[Name, float], unit: str, method: str, ends: tuple[str, str] = TIMES,
    ranges: Mapping[Name, Sequence[float]] | None = None,
) -> str:  # fmt: skip
    """Say which path has the largest and which the smallest value: "AZ1 - AZ3 has the longest median …".

    ``ranges``: paths of which a range is said instead of their value.
    """
    if not values:
        return ""
    high, low = max(values, key=values.__getitem__), min(values, key=values.__getitem__)
    if values[high] == values[low]:
        return f"{names(list(values))}: {quantity} {format_value(values[high], unit)} ({method})"
    like = one_prefix((values[high], values[low]), unit)
    largest, smallest = (span((ranges or {}).get(end, [values[end]]), unit, like=like) for end in (high, low))
    return f"{high} has the {ends[0]} {quantity}, {largest}; {low} the {ends[1]}, {smallest} ({method})"


def is_sparse(method: str) -> bool:
    """Return whether a method sends a packet per second: a single late packet moves the mean of such a run."""
    return find_parser(method.split(maxsplit=1)[0]).sends_rarely


def names(paths: Sequence[str], most: int = 3) -> str:
    """Join the names of paths; of more than ``most`` only their number."""
    different = list(dict.fromkeys(map(str, paths)))
    return ", ".join(different) if len(different) <= most else f"{len(different)} paths"
