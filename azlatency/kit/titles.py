"""Titles of charts: the result in words, from the values that are drawn."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from statistics import median
from types import MappingProxyType
from typing import TypeVar

from azlatency.stats.across_runs.main_method import Measured, rank_methods
from azlatency.stats.across_runs.path_differences import PathDifferences, cannot_tell
from azlatency.studies.format import format_interval, format_value, in_tens, one_prefix, prefixed_unit

#: Values are not called longer or shorter than others below this ratio.
ALIKE = 1.1
#: Most letters of several names in a title of two lines.
_LETTERS = 40
Name = TypeVar("Name", bound=Hashable)


def span(values: Iterable[float], unit: str, digits: int = 3, like: float | None = None, step: float = 0.0) -> str:
    """Return a value, or the range of several: ``"121 µs"``, ``"1.40–1.44 ms"``.

    ``like`` and ``step`` as in `format_value`.
    """
    numbers = sorted(values)
    scale, _ = prefixed_unit(unit, numbers[-1] if like is None else like)
    numbers = [in_tens(number / scale, step / scale) * scale for number in numbers]
    ends = [format_value(end, unit, digits=digits, like=like, step=step) for end in (numbers[0], numbers[-1])]
    if ends[0] == ends[1]:
        return ends[0]
    (first, first_unit), (last, last_unit) = (end.split(" ", 1) for end in ends)
    return f"{first}–{last} {last_unit}" if first_unit == last_unit else format_interval(numbers[0], numbers[-1], unit)


def by_method(values: Iterable[tuple[Measured, float]]) -> tuple[str, dict[str, float]]:
    """Return the method that says most about all paths (``rank_methods``), and its value on each path.

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
    found: PathDifferences | None = None,
    steps: Mapping[Name, float] = MappingProxyType({}),
) -> str:
    """Say from where to where the values of a method reach, and on which paths.

    "ping: median round trip from 101–102 µs (a, b) to 831–853 µs (4 paths)": the method stands first, as it is the
    heading of the panel that the title speaks of. Paths that are `tied` with an end are named together; ``found`` as
    there. ``ranges``: paths of which a range is said instead of their value; ``steps``: the last digit of each.
    A title of single runs says that they are.
    """
    if not values:
        return ""
    low, high = min(values.values()), max(values.values())
    numbers = [number for some in (ranges or {}).values() for number in some]
    like = one_prefix((high, low, *numbers), unit)

    def end(chosen: Mapping[Name, float]) -> str:
        reached = [number for path, value in chosen.items() for number in (ranges or {}).get(path, [value])]
        nearest_first = sorted(chosen, key=lambda path: chosen[path])
        # Both ends of a range have the digits of the finer one.
        step = min((steps.get(path, 0.0) for path in chosen), default=0.0)
        return f"{span(reached, unit, like=like, step=step)} ({names(map(str, nearest_first))})"

    ties = [tied(values, choose(values, key=values.__getitem__), found=found).values() for choose in (min, max)]
    # Whoever reads a range in the picture counts all paths in it.
    near, far = ({path: value for path, value in values.items() if min(some) <= value <= max(some)} for some in ties)
    ends = [[number for path in chosen for number in (ranges or {}).get(path, ())] for chosen in (near, far)]
    once = ", one run each" if found is not None and len(found.paths) and (found.paths["n"] == 1).all() else ""
    start = f"{method}: {quantity}" if method else capitalised(quantity)
    if not set(near).isdisjoint(far) or (any(ends) and max(ends[0], default=low) >= min(ends[1], default=high)):
        return f"{start} {end(values)}{once}"
    return f"{start} from {end(near)} to {end(far)}{once}"


def tied(
    values: Mapping[Name, float],
    end: Name,
    intervals: Mapping[Name, Sequence[float]] | None = None,
    *,
    found: PathDifferences | None = None,
) -> dict[Name, float]:
    """Return the values that a title must not rank against that of ``end``, which is one of them.

    They are within a tenth of it, their interval overlaps with its own, or ``found`` cannot tell them apart.
    ``intervals`` has the ends of those that have one.
    """
    known = intervals or {}

    def alike(name: Name) -> bool:
        pair = sorted((values[name], values[end]))
        if pair[1] <= ALIKE * pair[0]:
            return True
        if found is not None and cannot_tell(found, str(name), str(end)):
            return True
        if not known.get(name) or not known.get(end):
            return False
        return max(known[name][0], known[end][0]) <= min(known[name][-1], known[end][-1])

    return {name: value for name, value in values.items() if alike(name)}


def away_from_one(low: float, high: float) -> tuple[float, float]:
    """Return the interval of the size of an effect from that of its ratio: 0.25 is as large an effect as 4."""
    if low < 1 < high:
        return 1.0, max(high, 1 / low)
    return (low, high) if low >= 1 else (1 / high, 1 / low)


def times(ratios: float | Iterable[float], words: str) -> str:
    """Say a ratio as tables show it, ``words`` after it: "0.188× as long", from 2 on "6.20 times as long".

    Of several ratios the range is said: "8.11–8.32 times as long".
    """
    known = sorted([ratios] if isinstance(ratios, int | float) else ratios)
    return f"{ratio_range(known)}{' times' if known[0] >= 2 else '×'} {words}"


def ratio_range(ratios: Iterable[float]) -> str:
    """Say a ratio, or the range of several: "1.21", "8.11–8.32"."""
    known = sorted(ratios)
    return "–".join(dict.fromkeys(map(format_value, (known[0], known[-1]))))


def capitalised(quantity: str) -> str:
    """Return the name of a quantity as a sentence begins with it; "p99" stays as it is."""
    return quantity if quantity[1:2].isdigit() else f"{quantity[:1].upper()}{quantity[1:]}"


def names(paths: Iterable[str]) -> str:
    """Join the names of two paths; of more, or of long names, only their number."""
    different = list(dict.fromkeys(map(str, paths)))
    joined = ", ".join(different)
    is_short = len(different) == 1 or (len(different) == 2 and len(joined) <= _LETTERS)
    return joined if is_short else f"{len(different)} paths"
