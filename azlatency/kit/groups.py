"""Paths that behave alike, named by their zones: how a sentence or a title speaks of many paths."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from azlatency.kit.cells import RunsRef
from azlatency.kit.differences import not_different
from azlatency.kit.intervals import interval_in
from azlatency.kit.titles import ALIKE, by_method, capitalised, span
from azlatency.kit.words import newest_window
from azlatency.stats.across_runs.main_method import measured_runs
from azlatency.stats.across_runs.path_differences import PathDifferences, cannot_tell, differences_by_path
from azlatency.stats.across_runs.run_values import resolution_column
from azlatency.stats.across_runs.zone_pairs import zones_of
from azlatency.studies.format import column_unit, estimate_decimals, join_words, one_prefix
from azlatency.studies.runs.groups import grouped
from azlatency.studies.runs.path import route

#: The value of each path of a pair of zones, or the range of its runs.
Unit = dict[str, tuple[float, ...]]
#: Most groups that a sentence lists, and most pairs of zones that the name of a group does.
_MOST_GROUPS, _MOST_PAIRS = 4, 3


@dataclass(frozen=True, kw_only=True)
class Group:
    """Paths with similar values: how they are called, and the value of each."""

    name: str
    values: tuple[float, ...]
    paths: tuple[str, ...] = ()
    inside: bool = False
    step: float = 0.0
    """The last digit of its values, as in `span`."""

    def say(self, unit: str, like: float | None) -> str:
        """Return the name and the values, as Markdown; ``like`` as in `span`."""
        # "Zone 1 101 µs" reads as one number.
        colon = ":" if self.name[-1:].isdigit() else ""
        return f"{self.name}{colon} **{span(self.values, unit, like=like, step=self.step)}**"


def main_method(runs: pd.DataFrame, column: str, typical: pd.DataFrame | None = None) -> pd.DataFrame:
    """Return the paths of the method that says most: estimates across runs, else the median of the runs.

    ``runs`` has one row per run with ``path``, ``method`` and ``column``; ``typical`` are estimates of that column. One
    row per path: ``path``, ``method``, ``n`` runs and the typical run (``estimate``); ``lowest`` and ``highest`` are
    the ends of the runs that no estimate with an interval stands for; ``step`` is the last digit of the estimate, or
    the finest in which a run is printed.
    """
    known = runs[runs[column].notna()]
    # A run that lost most of its probes is the slowest one, not a missing one.
    method, medians = by_method(zip(measured_runs(known), known[column].astype(float), strict=True))
    estimates = {}
    if typical is not None:
        of_method = typical[typical["method"].astype(str) == method]
        estimates = {str(row["path"]): row for row in of_method.to_dict("records")}
    rows = []
    steps = resolution_column(column)
    for path, group in grouped(known[known["method"] == method], "path"):
        values, estimate = group[column].astype(float), estimates.get(str(path))
        value, step = medians[path], group[steps].astype(float).min() if steps in group else math.nan
        if estimate is not None and not math.isnan(estimate["estimate"]):
            value, step = float(estimate["estimate"]), _last_digit(estimate, step)
        ends = math.nan, math.nan
        if len(values) > 1 and interval_in(estimate) is None:
            finite = values[values < math.inf]
            ends = finite.min(), finite.max()
        rows.append((str(path), method, len(values), value, *ends, step))
    main = pd.DataFrame(rows, columns=["path", "method", "n", "estimate", "lowest", "highest", "step"])
    return main[main["estimate"] < math.inf]


def _last_digit(row: Mapping[Any, Any], step: float) -> float:
    """Return the last digit of an estimate in a table, which an answer and a title have, too; else ``step``."""
    interval = interval_in(row)
    if interval is None or interval[0] == interval[1]:
        return step
    scale, _ = column_unit(row["unit"])
    return 10.0 ** -estimate_decimals(float(row["estimate"]), *interval, scale) * scale


def values_of(main: pd.DataFrame) -> dict[str, float]:
    """Return the typical run of each path of `main_method`."""
    return dict(zip(main["path"], main["estimate"], strict=True))


def steps_of(main: pd.DataFrame) -> dict[str, float]:
    """Return the last digit of the typical run of each path of `main_method`; 0 if it is not known."""
    return dict(zip(main["path"], main["step"].fillna(0.0), strict=True))


def ranges_of(main: pd.DataFrame) -> dict[str, tuple[float, float]]:
    """Return the range of the runs of each path of `main_method` that no estimate stands for."""
    wide = main.dropna(subset=["lowest"])
    return dict(zip(wide["path"], zip(wide["lowest"], wide["highest"], strict=True), strict=True))


def run_counts(main: pd.DataFrame, runs: pd.DataFrame) -> str:
    """Say how many runs the paths have: "one run each", "1 to 3 runs each"; of a published series, for which time.

    ``main``: as `main_method` returns it, from ``runs``.
    """
    window = newest_window(runs[runs["method"].isin(main["method"])])
    if window and (main["n"] == 1).all():
        return window
    fewest, most = main["n"].min(), main["n"].max()
    each = " each" if len(main) > 1 else ""
    if fewest == most:
        return f"one run{each}" if most == 1 else f"{most} runs{each}"
    return f"{fewest} to {most} runs each"


def groups(
    main: pd.DataFrame, runs: pd.DataFrame, *, directed: bool = False, found: PathDifferences | None = None
) -> list[Group]:
    """Return groups of paths with similar values, smallest first, those inside a zone last.

    ``main``: as `main_method` returns it, from ``runs``. Paths without zones are named by themselves. ``directed``: the
    two directions of a pair of zones are apart where their values are: those of a transfer, not those of a round trip.
    ``found``: neighbours that it cannot tell apart are similar.
    """
    zones = zones_of(runs)
    local = set(map(str, runs.loc[runs["placement"] == "same_host", "path"])) if "placement" in runs.columns else set()
    units: dict[tuple[str, ...], Unit] = {}
    # What never crossed the network is no answer about it, unless there is nothing else.
    values, ranges = values_of(main), ranges_of(main)
    for path in [path for path in values if path not in local] or values:
        ends = zones.get(path)
        unit = (path,) if ends is None else ends if directed else tuple(sorted(ends))
        units.setdefault(unit, {})[path] = ranges.get(path, (values[path],))
    if directed:
        units = _joined_directions(units, found)
    inside = {unit: some for unit, some in units.items() if len(unit) == 2 and unit[0] == unit[1]}
    across = {unit: some for unit, some in units.items() if unit not in inside}
    every = [unit for unit in across if len(unit) == 2]
    place = place_of_ends({end for unit in every for end in unit}, runs)
    steps = steps_of(main)

    def group(name: str, part: Sequence[tuple[str, ...]], *, inside: bool = False) -> Group:
        paths = _paths(part, units)
        # Both ends of a range have the digits of the finer one.
        finest = min((steps[path] for path in paths), default=0.0)
        return Group(name=name, values=_values(part, units), paths=paths, inside=inside, step=finest)

    named = [group(name_of_pairs(part, every, place), part) for part in _clusters(across, found)]
    if inside:
        name = "inside a zone" if len(inside) > 1 else f"inside zone {next(iter(inside))[0]}"
        named.append(group(name, [*inside], inside=True))
    return named


def say(found: Sequence[Group], unit: str) -> str:
    """Return a list of groups with their values; of many groups the first and the last, and those inside a zone."""
    like = one_prefix((value for group in found for value in group.values), unit)
    named = _named(found)
    if len(named) < len(found):
        low, high = named[:2]
        ends = [f"from **{span(low.values, unit, like=like, step=low.step)}** ({low.name}) to "
                f"**{span(high.values, unit, like=like, step=high.step)}** ({high.name})"]  # fmt: skip
    else:
        ends = [group.say(unit, like) for group in named[:2]]
    return "; ".join([*ends, *(group.say(unit, like) for group in named[2:])])


def _joined_directions(
    units: Mapping[tuple[str, ...], Unit], found: PathDifferences | None
) -> dict[tuple[str, ...], Unit]:
    """Join the directions of a pair whose values are similar; the others keep an arrow in their name."""
    joined: dict[tuple[str, ...], Unit] = {}
    for unit, values in units.items():
        back = units.get(unit[::-1], {}) if len(unit) == 2 else {}
        if len(unit) < 2 or not back or _alike(values, back, found):
            joined[tuple(sorted(unit))] = {**values, **back}
        else:
            joined[(f"zone {route(*unit)}",)] = values
    return joined


def _clusters(units: Mapping[tuple[str, ...], Unit], found: PathDifferences | None) -> list[list[tuple[str, ...]]]:
    """Return the keys in groups whose values are similar, smallest first."""
    ordered = sorted(units, key=lambda unit: _ends(units[unit]))
    clusters: list[list[tuple[str, ...]]] = []
    for unit in ordered:
        before = {path: values for other in clusters[-1] for path, values in units[other].items()} if clusters else {}
        if before and _alike(before, units[unit], found):
            clusters[-1].append(unit)
        else:
            clusters.append([unit])
    return clusters


def _ends(unit: Unit) -> tuple[float, float]:
    values = [value for path in unit.values() for value in path]
    return min(values), max(values)


def _alike(first: Unit, second: Unit, found: PathDifferences | None) -> bool:
    """Return whether values differ by at most a tenth, or runs do not tell apart the smallest and the largest path.

    Paths without an interval are alike if their ranges overlap.
    """
    (low, high), (low_after, high_after) = sorted((_ends(first), _ends(second)))
    if max(high, high_after) <= ALIKE * min(low, low_after) or (low < high and low_after < high):
        return True
    before, after = sorted((first, second), key=_ends)
    smallest, largest = min(before, key=before.__getitem__), max(after, key=after.__getitem__)
    return found is not None and cannot_tell(found, smallest, largest)


def _values(part: Iterable[tuple[str, ...]], units: Mapping[Any, Unit]) -> tuple[float, ...]:
    return tuple(sorted(value for unit in part for path in units[unit].values() for value in path))


def _paths(part: Iterable[tuple[str, ...]], units: Mapping[Any, Unit]) -> tuple[str, ...]:
    return tuple(path for unit in part for path in units[unit])


def place_of_ends(ends: Iterable[str], runs: pd.DataFrame) -> str:
    """Return what the ends of pairs are: "region" if each is a region of the runs, else "zone"."""
    regions = {*runs["region"], *runs["peer_region"]} if {"region", "peer_region"} <= set(runs.columns) else set()
    return "region" if regions.issuperset(ends) else "zone"


def name_of_pairs(part: Sequence[tuple[str, ...]], every: Sequence[tuple[str, ...]], place: str = "zone") -> str:
    """Name a group of pairs: all pairs of zones, the pairs of one zone, or each; other paths by their names.

    ``place``: what the ends of the pairs are, as `place_of_ends` returns it.
    """
    pairs = [unit for unit in part if len(unit) == 2]
    if len(pairs) < len(part):
        names = [f"{place}s {'–'.join(unit)}" if len(unit) == 2 else unit[0] for unit in part]
        return ", ".join(names) if len(names) <= _MOST_PAIRS else f"{len(names)} paths"
    if len(pairs) == len(every) > 1:
        return f"between {place}s"
    shared = set(pairs[0]).intersection(*map(set, pairs))
    others = {pair for pair in every if shared & set(pair)}
    if len(pairs) > 1 and len(shared) == 1 and len(others) == len(pairs):
        return f"{place} {shared.pop()} to the others"
    names = ["–".join(pair) for pair in pairs]
    # "1–ukwest" is a zone and a region.
    if any(one.isdigit() != two.isdigit() for one, two in pairs) and len(names) <= _MOST_PAIRS:
        return join_words(names)
    return f"{place}s {join_words(names)}" if len(names) <= _MOST_PAIRS else f"{len(names)} pairs of {place}s"


def answer_of(
    runs: pd.DataFrame,
    column: str,
    typical: pd.DataFrame,
    quantity: str,
    unit: str,
    *,
    directed: bool = False,
) -> tuple[str, list[list[RunsRef]]]:
    """Say the values of all paths in one sentence, as Markdown: "Median round trip: zones 1–2 **226 µs**; …".

    Where runs do not show a difference between the paths, the sentence ends with that. The other parameters are those
    of `main_method` and `groups`. Empty if no run has a value. The runs of each bold part follow.
    """
    main = main_method(runs, column, typical)
    if main.empty:
        return "", []
    method = main["method"].iloc[0]
    found = differences_by_path(runs, method, column)
    every = groups(main, runs, directed=directed, found=found)
    listed = say(every, unit)
    verdict = f"; {not_different(found)}" if found.verdict in ("equivalent", "inconclusive") else ""
    measured = runs[(runs["method"] == method) & runs[column].notna()]
    refs = [
        [RunsRef(tuple(map(str, measured.index[measured["path"].astype(str).isin(group.paths)])), column)]
        for group in _named(every)
    ]
    drifting = typical[(typical["method"] == method) & typical["flags"].str.contains("dependent_runs")]
    drift = ""
    if len(drifting):  # their typical run is of no level
        of_runs = measured.loc[measured["path"].isin(drifting["path"]), column]
        those = "some" if len(drifting) < len(main) else "which"
        like = one_prefix((value for group in every for value in group.values), unit)
        drift = f", {those} drift: {span([of_runs.min(), of_runs.max()], unit, like=like, step=main['step'].min())}"
    return f"{capitalised(quantity)}: {listed} ({method}, {run_counts(main, runs)}{drift}){verdict}.", refs


def _named(found: Sequence[Group]) -> list[Group]:
    """Return the groups that a sentence names: of many the first and the last, and those inside a zone."""
    across, inside = ([group for group in found if group.inside is where] for where in (False, True))
    return [*(across if len(across) <= _MOST_GROUPS else (across[0], across[-1])), *inside]
