"""Bisection for the smallest number that satisfies a condition."""

from __future__ import annotations

from collections.abc import Callable

#: The search ends here; a larger answer is reported as "more than that".
MOST = 10**15


def smallest_number(enough: Callable[[int], bool], start: int, most: int = MOST) -> int | None:
    """Return the smallest number from ``start`` for which ``enough`` holds; ``None`` if it is above ``most``.

    ``enough`` must stay true once it is true.
    """
    low, high = start - 1, start
    while not enough(high):
        low, high = high, 2 * high
        if high > most:
            return None
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high
