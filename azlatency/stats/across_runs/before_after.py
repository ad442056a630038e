"""Comparison of two imports.

Runs are matched by path, or by placement and zones if the names of paths differ. If both were measured in turns, each
match is compared within its rounds, else as two groups of runs. A different VM size is only flagged, since it may be
the change of interest.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import pandas as pd

from azlatency.stats.across_runs.comparison import Setting, Sides, blank, compare_family, sides_of
from azlatency.stats.across_runs.directions import column_cells
from azlatency.stats.across_runs.run_order import run_order
from azlatency.stats.across_runs.run_values import check_columns, value_column
from azlatency.stats.rows import COMPARISON, Row, with_flags

#: Flags of a ratio, which say nothing where there is none.
_OF_A_RATIO = frozenset({"few_runs", "two_runs", "dependent_runs"})


class Pairing(NamedTuple):
    """Runs of the same path and tool in two imports, one row per run.

    ``by_zone``: they were matched by placement and zones, because the names of the paths differ.
    """

    path: str
    method: str
    after: pd.DataFrame
    before: pd.DataFrame
    by_zone: bool

    def sides(self, value: str | None = None, across: Sequence[str] = ()) -> Sides:
        """Return the values to compare."""
        return sides_of(self.after, self.before, value=self.column(value), across=across)

    def column(self, value: str | None = None) -> str:
        """Return the column to compare: ``value``, else one with values on both sides."""
        first = value_column(self.after, value)
        return first if self.before[first].notna().any() else value_column(self.before, value)


def pairings(after: pd.DataFrame, before: pd.DataFrame) -> list[Pairing]:
    """Return the runs to compare, in the order of ``after``.

    Runs are matched by path, or by placement and zones if a path occurs on one side only. A path without either matches
    only its own name. Runs of other machines are no repeats: several pairs of machines between the same zones match by
    the scenarios that both sides name, or not at all. Nothing is matched between two regions, nor an import with
    itself.
    """
    for side in (after, before):
        check_columns(side, "path", "method")
    if not len(after) or not len(before) or list(after.index) == list(before.index) or elsewhere(after, before):
        return []
    common = set(after["path"]) & set(before["path"])
    regions = all("region" in side and side["region"].notna().all() for side in (after, before))
    scenarios = set.intersection(*({*column_cells(side, "scenario")} for side in (after, before))) - {None}
    places_after, places_before = (_places(frame, common, scenarios, regions=regions) for frame in (after, before))
    matches = []
    for place in dict.fromkeys(places_after):
        here = after[[name == place for name in places_after]]
        there = before[[name == place for name in places_before]]
        for method_after, method_before in _methods(here, there):
            x, y = here[here["method"] == method_after], there[there["method"] == method_before]
            if max(x["path"].nunique(), y["path"].nunique()) > 1:
                continue
            method = " against ".join(dict.fromkeys([method_after, method_before]))
            name = " against ".join(dict.fromkeys(map(str, [*x["path"], *y["path"]])))
            matches.append(Pairing(path=name, method=method, after=x, before=y, by_zone=place not in common))
    return matches


def compare_imports(
    after: pd.DataFrame,
    before: pd.DataFrame,
    *,
    margin: float | str = "5%",
    confidence: float = 0.95,
    value: str | None = None,
) -> pd.DataFrame:
    """Compare the same paths and tools in two imports, ``after`` over ``before``, as `azlatency.compare` does.

    One row per matched path and tool: ``n_candidate`` runs after and ``n_base`` before. Imports that were measured in
    turns are compared within the rounds. Paths that were matched by zone numbers without physical zones are not
    estimable (``logical_zone``): zone 1 of one subscription may be any zone of another. Runs that all name the same
    ``subscription`` are compared. Two imports are two times, so runs that drift within one of them are told
    (``dependent_runs``) also where those of both together do not show it.
    """
    matched = pairings(after, before)
    sides = [pairing.sides(value) for pairing in matched]
    rows = compare_pairings(matched, sides, Setting(margin, confidence))
    for place, pair in enumerate(sides):
        drifts = any(run_order(side.values).drifts for side in (pair.first, pair.second) if side.in_order)
        if drifts and not pd.isna(rows[place]["ratio_low"]):
            rows[place] = with_flags(rows[place], ["dependent_runs"])
    return pd.DataFrame(rows, columns=["path", "method", "n_candidate", "n_base", *COMPARISON])


def compare_pairings(matched: Sequence[Pairing], sides: Sequence[Sides], setting: Setting) -> list[Row]:
    """Return the rows of `compare_imports`; all paths show how much runs vary."""
    named = [
        setting._replace(what=f"{pair.path}, {pair.method}", labels={"path": pair.path, "method": pair.method})
        for pair in matched
    ]
    rows = compare_family(list(zip(sides, named, strict=True)), [pairing.method for pairing in matched])
    return [
        _with_flags(row, pairing, pair, of_pair) | _counts(pair)
        for row, pairing, pair, of_pair in zip(rows, matched, sides, named, strict=True)
    ]


def _counts(sides: Sides) -> Row:
    """Return how many runs of each side are used: a run that lost most of its probes is one, a cut run is not."""
    after, before = (len(side.values) + side.endless for side in (sides.first, sides.second))
    return {"n_candidate": after, "n_base": before}


def elsewhere(after: pd.DataFrame, before: pd.DataFrame) -> bool:
    """Return whether both sides name their regions and have none in common."""
    regions = [set(side["region"].dropna()) if "region" in side else set() for side in (after, before)]
    return bool(regions[0] and regions[1] and not regions[0] & regions[1])


def _places(frame: pd.DataFrame, common: set[Any], scenarios: set[Any], *, regions: bool) -> list[str]:
    """Return the key that each run is matched by: its path if both imports have it, else its placement and zones.

    Scenarios that both imports name are part of the key, and regions if both name them. The client's zone comes first:
    the way back has another initiator.
    """
    placements, names = column_cells(frame, "placement"), column_cells(frame, "scenario")
    zones = [column_cells(frame, name) for name in ("physical_zone", "zone", "peer_physical_zone", "peer_zone")]
    regions_of = [column_cells(frame, name) if regions else [None] * len(frame) for name in ("region", "peer_region")]
    places = []
    for path, placement, name, physical, zone, peer_physical, peer_zone, region, peer_region in zip(
        frame["path"], placements, names, *zones, *regions_of, strict=True
    ):
        ends = [physical or zone, peer_physical or peer_zone]
        # Without zones and placement, two runs may be of any two paths.
        if path in common or (not any(ends) and placement is None):
            places.append(str(path))
            continue
        named = [f"{where or ''} {end or ''}" for where, end in zip((region, peer_region), ends, strict=True)]
        places.append(f"{placement} {' '.join(named)} {name if name in scenarios else ''}")
    return places


def _methods(after: pd.DataFrame, before: pd.DataFrame) -> list[tuple[str, str]]:
    """Return pairs of methods of one tool: the same method if both sides have it, else all methods without a match."""
    pairs = []
    methods = dict.fromkeys(after["method"])
    for method in methods:
        tool = after.loc[after["method"] == method, "tool"].iloc[0]
        candidates = dict.fromkeys(before.loc[before["tool"] == tool, "method"])
        unmatched = [candidate for candidate in candidates if candidate not in methods]
        pairs += [(str(method), str(partner)) for partner in ([method] if method in candidates else unmatched)]
    return pairs


def _with_flags(row: Row, pairing: Pairing, sides: Sides, setting: Setting) -> Row:
    """Return a comparison with the flags of its sides; without a ratio if zone numbers may mean different zones."""
    x, y = pairing.after, pairing.before
    flags = row["flags"].split()
    if min(_counts(sides).values()) < 2:
        flags.append("no_replication")
    sizes = [set(side["vm_size"].dropna()) for side in (x, y)] if "vm_size" in x and "vm_size" in y else [set(), set()]
    if sizes[0] and sizes[1] and sizes[0] != sizes[1]:
        flags.append("other_vm")
    zoned = any("zone" in side and side["zone"].notna().any() for side in (x, y))
    physical = all("physical_zone" in side and side["physical_zone"].notna().all() for side in (x, y))
    if not pairing.by_zone or not zoned or physical or _same_subscription(x, y):
        return with_flags(row, flags)
    kept = [flag for flag in (*flags, "logical_zone") if flag not in _OF_A_RATIO]
    return blank(sides, setting, row["n"], kept)


def _same_subscription(x: pd.DataFrame, y: pd.DataFrame) -> bool:
    """Return whether all runs of both sides name one subscription, whose zone numbers mean the same."""
    if not all("subscription" in side and side["subscription"].notna().all() for side in (x, y)):
        return False
    return len({*x["subscription"], *y["subscription"]}) == 1
