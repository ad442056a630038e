"""The units that people read, and limits in words."""

from __future__ import annotations

from azlatency.kit.cells import Unit
from azlatency.studies.format import column_unit

#: On the column "interval" of comparisons: that which decides the verdict.
DECIDES = "Practically equivalent: the 90 % CI (of a 95 % comparison), shown here, lies within the margin (TOST)."


def read_in(unit: str) -> Unit:
    """Return the unit that people read instead of a canonical one."""
    return Unit(*column_unit(unit))


def in_unit(low: float | None, high: float | None, unit: str) -> str:
    """Return a value or a range in the unit that people read."""
    scale, shown = read_in(unit)
    numbers = [f"{float(value) / scale:,.6g}" for value in (low, high) if value is not None]
    return "–".join(dict.fromkeys(numbers)) + f" {shown}"


def limits(low: float | None, high: float | None, unit: str, words: tuple[str, str, str] = ("≤ ", "≥ ", "–")) -> str:
    """Return what an expectation allows; ``words``: at most, at least, and the word between two ends."""
    scale, shown = read_in(unit)
    at_most, at_least, to = words
    scaled = [limit / scale for limit in (low, high) if limit is not None]
    ends = [f"{limit:,.0f}" if limit >= 1e4 else f"{limit:,.4g}" for limit in scaled]
    return ("" if len(ends) == 2 else at_most if low is None else at_least) + to.join(ends) + f" {shown}"
