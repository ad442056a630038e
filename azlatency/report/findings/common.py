"""Shorthand that several pages' findings share."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from azlatency.logs.format import count_of, format_estimate
from azlatency.report.card import span
from azlatency.report.objects import Finding

if TYPE_CHECKING:
    import pandas as pd

    from azlatency.stats.result import Estimate

MICROSECOND, GIGABIT = 1e3, 1e9
#: Most paths and most methods that a finding names; the tables list all.
_MOST_PATHS, _MOST_METHODS = 8, 4


def act(text: str) -> Finding:
    """Make a finding that asks the reader to do something."""
    return Finding("act", text)


def info(text: str) -> Finding:
    """Make a finding for information."""
    return Finding("info", text)


def join(names: Iterable[str], most: int = _MOST_PATHS) -> str:
    """Join distinct names as English does: "a", "a and b", "a, b and c"; names after the ``most``-th are "others"."""
    unique = list(dict.fromkeys(names))
    if len(unique) > most:
        unique = [*unique[: most - 1], "others"]
    return unique[0] if len(unique) == 1 else ", ".join(unique[:-1]) + " and " + unique[-1]


def values_by_path(runs: pd.DataFrame, column: str, unit: str, quantity: str) -> list[Finding]:
    """Say the value of each path in its runs, one finding per method, for the methods with most paths.

    Parameters
    ----------
    runs : DataFrame
        One row per run with ``path``, ``method`` and ``column``.
    column, unit : str
        The value of a run and its canonical unit.
    quantity : str
        What the value is, for example ``"median RTT"``.
    """
    measured = runs[runs[column].notna()]
    paths = measured.groupby("method", sort=False)["path"].nunique().sort_values(ascending=False, kind="stable")
    findings = []
    for method in paths.index[:_MOST_METHODS]:
        groups = measured[measured["method"] == method].groupby("path", sort=False)[column]
        values = {str(path): [float(value) for value in group] for path, group in groups}
        if len(values) > _MOST_PATHS:
            order = sorted(values, key=lambda path: min(values[path]))
            values = {path: values[path] for path in (order[0], order[-1])}
            start = f"{method}, {quantity}, fastest and slowest path" if unit == "ns" else f"{method}, {quantity}, ends"
        else:
            start = f"{method}, {quantity}"
        listed = [
            f"{path} **{span(numbers, unit)}**" + (f" ({count_of(len(numbers), 'run')})" if len(numbers) > 1 else "")
            for path, numbers in values.items()
        ]
        findings.append(info(f"{start}: {', '.join(listed)}."))
    return findings


def intervals_by_path(across: Sequence[Estimate]) -> list[Finding]:
    """Say the interval of each path across its runs, for paths with one."""
    ranged = [estimate for estimate in across if estimate.low is not None and estimate.estimate is not None]
    findings = []
    for estimate in ranged[:_MOST_PATHS]:
        value = format_estimate(
            estimate.estimate or 0.0, estimate.low, estimate.high, estimate.unit, confidence=estimate.confidence
        )
        findings.append(info(f"{estimate.what}: typical run **{value}**, {count_of(estimate.n, 'run')}."))
    return findings


def measured_once(across: Sequence[Estimate]) -> list[Finding]:
    """Name the paths with a single run."""
    single = [estimate for estimate in across if "no_replication" in estimate.codes]
    if not single:
        return []
    names = join(str(estimate.labels["path"]) for estimate in single)
    return [
        act(
            f"Measured once: {names}. These values describe the connections of the test; repeat the runs, in rounds, "
            "before you rank the paths."
        )
    ]
