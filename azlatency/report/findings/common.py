"""Shorthand that several pages' findings share."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from azlatency.report.card import span
from azlatency.report.objects import Finding
from azlatency.studies.format import count_of, format_estimate, one_prefix

if TYPE_CHECKING:
    import pandas as pd

    from azlatency.stats.across_runs.emulation_check import EmulatedDifference
    from azlatency.stats.result import Estimate

MICROSECOND, GIGABIT = 1e3, 1e9
#: Most paths that a finding names, and most methods without and with an interval; the tables list all.
_MOST_PATHS, _MOST_METHODS, _MOST_WITH_INTERVAL = 8, 4, 2
#: Most groups of paths that the same methods measured.
_MOST_GROUPS = 3


def act(text: str) -> Finding:
    """Make a finding that asks the reader to do something."""
    return Finding("act", text)


def info(text: str) -> Finding:
    """Make a finding for information."""
    return Finding("info", text)


def join(names: Iterable[str], most: int = _MOST_PATHS) -> str:
    """Join distinct names as English does: "a", "a and b", "a, b and c"; names after the ``most``-th are "others".

    Between names that contain a comma or "and" stand semicolons.
    """
    unique = list(dict.fromkeys(names))
    if len(unique) > most:
        unique = [*unique[: most - 1], "others"]
    if any(", " in name or " and " in name for name in unique):
        return "; ".join(unique)
    return unique[0] if len(unique) == 1 else ", ".join(unique[:-1]) + " and " + unique[-1]


def join_by_method(paths: Iterable[tuple[object, object]]) -> str:
    """Join the paths of each method, equal ones once: "a → b and c → d (ping, qperf); a → c (latte)"."""
    of_method: dict[str, dict[str, None]] = {}
    for path, method in paths:
        of_method.setdefault(str(method), {})[str(path)] = None
    groups: dict[str, list[str]] = {}
    for method, names in of_method.items():
        groups.setdefault(join(names), []).append(method)
    texts = [f"{names} ({', '.join(methods)})" for names, methods in groups.items()]
    return "; ".join(texts if len(texts) <= _MOST_GROUPS else [*texts[:_MOST_GROUPS], "others"])


def shares_held(differences: Iterable[EmulatedDifference]) -> list[tuple[str, list[EmulatedDifference]]]:
    """Return for medians and for means how many intervals contain the recorded difference, and the differences."""
    by_value: dict[str, list[EmulatedDifference]] = {}
    for difference in differences:
        by_value.setdefault(difference.value.removesuffix("_ns"), []).append(difference)
    return [
        (f"{sum(bool(each.holds) for each in group)} of {len(group)} intervals of {value}s", group)
        for value, group in sorted(by_value.items(), key=lambda item: -len(item[1]))
    ]


def values_by_path(
    runs: pd.DataFrame, column: str, unit: str, quantity: str, across: Sequence[Estimate] = ()
) -> list[Finding]:
    """Say the value of each path in its runs, one finding per method, for the methods with most paths.

    Parameters
    ----------
    runs : DataFrame
        One row per run with ``path``, ``method`` and ``column``.
    column, unit : str
        The value of a run and its canonical unit.
    quantity : str
        What the value is, for example ``"median RTT"``.
    across : sequence of Estimate
        Estimates across runs. Paths with an interval are left to `intervals_by_path`.
    """
    stated = {(estimate.labels["path"], estimate.labels["method"]) for estimate in _with_interval(across)}
    measured = runs.loc[[pair not in stated for pair in zip(runs["path"], runs["method"], strict=True)]]
    measured = measured[measured[column].notna()]
    paths = measured.groupby("method", sort=False)["path"].nunique().sort_values(ascending=False, kind="stable")
    findings = []
    for method in paths.index[:_MOST_METHODS]:
        groups = measured[measured["method"] == method].groupby("path", sort=False)[column]
        values = {str(path): [float(value) for value in group] for path, group in groups}
        shown, start = _ends({path: min(numbers) for path, numbers in values.items()}, unit)
        like = one_prefix((value for path in shown for value in values[path]), unit)
        listed = [
            f"{path} **{span(values[path], unit, like=like)}**"
            + (f" ({count_of(len(values[path]), 'run')})" if len(values[path]) > 1 else "")
            for path in shown
        ]
        findings.append(info(f"{method}, {quantity}{start}: {', '.join(listed)}."))
    return findings


def intervals_by_path(across: Sequence[Estimate], what: str = "typical run") -> list[Finding]:
    """Say the typical run of each path with its interval, one finding per method, for the most precise methods."""
    methods: dict[str, dict[str, Estimate]] = {}
    for estimate in _with_interval(across):
        methods.setdefault(estimate.labels["method"], {})[str(estimate.labels["path"])] = estimate
    findings = []
    for method in sorted(methods, key=lambda method: _width(methods[method]))[:_MOST_WITH_INTERVAL]:
        estimates = methods[method]
        numbers = {estimate.n for estimate in estimates.values()}
        runs = count_of(max(numbers), "run") if len(numbers) == 1 else f"{min(numbers)} to {max(numbers)} runs"
        unit = next(iter(estimates.values())).unit
        shown, start = _ends({path: one.estimate or 0.0 for path, one in estimates.items()}, unit)
        like = one_prefix((estimates[path].estimate or 0.0 for path in shown), unit)
        listed = [
            f"{path} **{format_estimate(one.estimate or 0.0, one.low, one.high, unit, confidence=None, like=like)}**"
            for path, one in ((path, estimates[path]) for path in shown)
        ]
        level = f"{100 * next(iter(estimates.values())).confidence:g} % CI"
        findings.append(info(f"{method}, {what} ({runs}, {level}){start}: {', '.join(listed)}."))
    return findings


def _width(estimates: Mapping[str, Estimate]) -> float:
    """Return the median width of the intervals relative to their estimates."""
    widths = [((one.high or math.inf) - (one.low or 0.0)) / (one.estimate or math.inf) for one in estimates.values()]
    return statistics.median(widths)


def _with_interval(across: Sequence[Estimate]) -> list[Estimate]:
    return [estimate for estimate in across if estimate.low is not None and estimate.estimate is not None]


def _ends(values: Mapping[str, float], unit: str) -> tuple[list[str], str]:
    """Return the paths to name, all or the ends of too many, with the words that say so."""
    if len(values) <= _MOST_PATHS:
        return list(values), ""
    order = sorted(values, key=lambda path: values[path])
    return [order[0], order[-1]], ", fastest and slowest path" if unit == "ns" else ", lowest and highest"


def measured_once(across: Sequence[Estimate]) -> list[Finding]:
    """Name the paths with a single run."""
    single = [estimate for estimate in across if "no_replication" in estimate.codes]
    if not single:
        return []
    names = join(str(estimate.labels["path"]) for estimate in single)
    methods = {str(estimate.labels["method"]): None for estimate in single}
    method = f" with {join(methods)}" if len(methods) < len({estimate.labels["method"] for estimate in across}) else ""
    return [
        act(
            f"Measured once{method}: {names}. These values describe the connections of the test; repeat the runs, "
            "in rounds, before you rank the paths."
        )
    ]
