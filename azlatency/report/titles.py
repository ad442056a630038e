"""Titles of charts: the result in words, from the values that are drawn."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from statistics import median
from typing import TypeVar

from azlatency.report.card import ALIKE, span
from azlatency.stats.across_runs.main_method import Measured, rank_methods
from azlatency.studies.format import format_value, one_prefix

#: Most letters of several names in a title of two lines.
_LETTERS = 40
Name = TypeVar("Name", bound=str)


def by_method(values: Iterable[tuple[Measured, float]]) -> tuple[str, dict[str, float]]:
    """Return the method that says most about all paths (`rank_methods`), and its value on each path.

    Of several values of one path the median is taken.
    """
    entries = list(values)
    method = next(iter(rank_methods(measured for measured, _ in entries)), "")
    by_path: dict[str, list[float]] = {}
    for measured, value in entries:
        if measured.method == method:
            by_path.setdefault(measured.path, []).append(value)
    return method, {path: median(some) for path, some in by_path.items()}


def extremes(
    quantity: str,
    values: Mapping[Name, float],
    unit: str,
    method: str,
    ranges: Mapping[Name, Sequence[float]] | None = None,
) -> str:
    """Say from where to where the values reach, and on which paths: "median 101–102 µs (a, b) to 831–853 µs (4 paths)".

    Paths within a tenth of an end are named together, because a title must not rank a tie. ``ranges``: paths of which
    a range is said instead of their value.
    """
    if not values:
        return ""
    low, high = min(values.values()), max(values.values())
    like, start = one_prefix((high, low), unit), capitalised(quantity)

    def end(chosen: Mapping[Name, float]) -> str:
        reached = [number for path, value in chosen.items() for number in (ranges or {}).get(path, [value])]
        return f"{span(reached, unit, like=like)} ({names(list(chosen))})"

    if high <= ALIKE * low:
        return f"{start} {end(values)}, {method}"
    near = {path: value for path, value in values.items() if value <= ALIKE * low}
    far = {path: value for path, value in values.items() if value >= high / ALIKE}
    return f"{start} from {end(near)} to {end(far)}, {method}"


def times(ratio: float, larger: str, smaller: str) -> str:
    """Say a ratio: "1.21× as long", from 2 on "6.20 times as long", and below one half "1,300 times shorter".

    ``larger`` and ``smaller`` are the words after the number.
    """
    if 0 < ratio <= 0.5:
        return f"{format_value(1 / ratio)} times {smaller}"
    return f"{format_value(ratio)}{' times' if ratio >= 2 else '×'} {larger}"


def capitalised(quantity: str) -> str:
    """Return the name of a quantity as a sentence begins with it; "p99" stays as it is."""
    return quantity if quantity[1:2].isdigit() else f"{quantity[:1].upper()}{quantity[1:]}"


def names(paths: Sequence[str], most: int = 2) -> str:
    """Join the names of paths; of more than ``most`` only their number."""
    different = list(dict.fromkeys(map(str, paths)))
    joined = ", ".join(different)
    return (
        joined
        if len(different) == 1 or (len(different) <= most and len(joined) <= _LETTERS)
        else f"{len(different)} paths"
    )
