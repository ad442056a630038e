"""Shorthand that several pages' findings share."""

from __future__ import annotations

from collections.abc import Iterable

from azlatency.report.objects import Finding

MICROSECOND, GIGABIT = 1e3, 1e9


def act(text: str) -> Finding:
    """Make a finding that asks the reader to do something."""
    return Finding("act", text)


def info(text: str) -> Finding:
    """Make a finding for information."""
    return Finding("info", text)


def join(names: Iterable[str]) -> str:
    """Join distinct names as English does: "a", "a and b", "a, b and c"."""
    unique = list(dict.fromkeys(names))
    return unique[0] if len(unique) == 1 else ", ".join(unique[:-1]) + " and " + unique[-1]
