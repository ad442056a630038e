"""Which of several paths differ: the comparison of every two of them, at a level that holds for all pairs together.

The largest and the smallest of several estimates differ by chance alone, so a pair that was chosen because it lies far
apart is judged at the level of Bonferroni: of paths that are all equal, any is called different with at most the chosen
probability.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import combinations
from statistics import median
from typing import Literal, NamedTuple

import pandas as pd

from azlatency.stats.across_runs.comparison import Setting, Sides, compare_sides, sides_of
from azlatency.stats.across_runs.log_ratio import spreads_of_pairs
from azlatency.stats.across_runs.run_values import RunData, RunValues, is_frame, only_values, refusals, run_values
from azlatency.stats.across_runs.turns import in_turns
from azlatency.stats.rows import COMPARISON
from azlatency.studies.runs.groups import grouped

#: What may be said of all paths; ``once`` and ``refused``: no two of them have runs to compare.
PathVerdict = Literal["different", "equivalent", "inconclusive", "once", "refused"]
#: Of more paths, only as many at both ends decide on what is said of all.
_MOST = 12
#: Most paths of which every two are compared; of more, each is compared with as many neighbours in size.
_EVERY_TWO, _NEIGHBOURS = 20, 6
#: Largest relative difference without practical importance.
_MARGIN = 0.05


class PathDifferences(NamedTuple):
    """The comparisons of paths of one method; see `path_differences`."""

    verdict: PathVerdict
    decisive: pd.DataFrame
    pairs: pd.DataFrame
    paths: pd.DataFrame


def path_differences(
    runs: Mapping[str, RunData],
    value: str | None = None,
    *,
    group_of: Mapping[str, str] | None = None,
    within: Mapping[str, str] | None = None,
    confidence: float = 0.95,
) -> PathDifferences:
    """Compare paths of one method with each other.

    ``runs`` of each path: a frame with the column ``value``, or one number per run in ns. Paths of one group
    (``group_of``, such as a pair of zones) are not compared, nor are paths of two parts (``within``, such as a region).
    All statements together hold at the level ``confidence``.

    ``pairs`` of the result: a row per compared pair, the largest ratio first: ``large`` ÷ ``small`` as in
    `azlatency.compare`, and ``family``, the number of pairs whose statements hold together. Up to 20 paths (of a part),
    every two are compared; of more, each with its neighbours in size, the smallest, the largest and those at the ends.
    ``decisive``: the row that a statement about all paths is made from, if there are two paths: the largest ratio of
    two different paths, else the largest that cannot be told from 1, else the one whose interval reaches farthest from
    1. ``verdict``: that statement. ``paths``: ``path``, ``n`` runs and the median run (``estimate``), smallest first;
    ``flags`` say why a path is not compared.

    >>> found = path_differences({"a": [100e3, 101e3, 99e3, 100e3], "b": [200e3, 202e3, 198e3, 201e3]})
    >>> found.verdict, found.decisive["what"].item(), round(found.decisive["ratio"].item(), 2)
    ('different', 'b against a', 2.0)
    """
    unit = "ns" if value is None else None
    values = {path: run_values(data, value, unit) for path, data in runs.items()}
    paths = _paths(runs, values, value)
    medians = paths[paths["flags"] == ""].set_index("path")["estimate"].to_dict()
    groups = {path: (group_of or {}).get(path, path) for path in medians}
    parts: dict[str, list[str]] = {}
    for path in medians:
        parts.setdefault((within or {}).get(path, ""), []).append(path)
    family = sum(_count(part, groups) for part in parts.values())
    spreads = spreads_of_pairs([(values[path],) for path in runs if path in medians], [0] * len(medians))
    compared = [pair for part in parts.values() for pair in _pairs(part) if groups[pair[0]] != groups[pair[1]]]
    compared.sort(key=lambda pair: medians[pair[0]] / medians[pair[1]])
    # Without a reason against pooling the runs of all paths, there is none against those of two: this saves most of the
    # time of a study with many paths.
    refused = bool(refusals([runs[path] for path in medians], value))
    measured = {
        path: only_values(data, value) if not refused and is_frame(data) and value is not None else data
        for path, data in runs.items()
    }
    setting = Setting(_MARGIN, 1 - (1 - confidence) / max(family, 1))
    spread = spreads[0] if spreads else None
    found = []
    for small, large in compared:
        if refused or _in_turns(measured[large], measured[small], value):
            sides = sides_of(measured[large], measured[small], value=value, unit=unit)
        else:
            sides = Sides(values[large], values[small])
        named = setting._replace(what=f"{large} against {small}", labels={"large": large, "small": small})
        found.append(compare_sides(sides, named, spread) | {"family": family})
    pairs = pd.DataFrame(found, columns=["large", "small", *COMPARISON, "family"])
    decisive = _decisive(pairs, [path for part in parts.values() for path in _at_ends(part)])
    verdict = _verdict(decisive, paths, max(map(len, parts.values()), default=0))
    return PathDifferences(verdict, decisive, pairs, paths)


def differences_by_path(
    runs: pd.DataFrame,
    method: str,
    value: str,
    *,
    group_of: Mapping[str, str] | None = None,
    within: Mapping[str, str] | None = None,
) -> PathDifferences:
    """Compare the paths of one method of a frame with one row per run, as returned by `azlatency.latency`."""
    chosen = runs[(runs["method"] == method) & runs[value].notna()]
    by_path = {str(path): group for path, group in grouped(chosen, "path")}
    return path_differences(by_path, value, group_of=group_of, within=within)


def cannot_tell(found: PathDifferences, first: str, second: str) -> bool:
    """Return whether two paths were compared and are not shown to be different."""
    pairs = found.pairs
    of_both = pairs[pairs["large"].isin((first, second)) & pairs["small"].isin((first, second))]
    return bool((of_both["verdict"] != "different").any())


def _paths(runs: Mapping[str, RunData], values: Mapping[str, RunValues], value: str | None) -> pd.DataFrame:
    """Return the paths with runs, smallest first, and why one is not compared."""
    rows = []
    for path, found in values.items():
        count = len(found.values) + found.endless
        flags: tuple[str, ...] = ()
        if count == 1:
            flags = ("no_replication",)
        elif count:
            flags = refusals([runs[path]], value) or (() if min(found.values) > 0 else ("not_positive",))
        rows.append((path, count, median(found.values) if len(found.values) else math.nan, " ".join(flags)))
    paths = pd.DataFrame(rows, columns=["path", "n", "estimate", "flags"])
    return paths[paths["n"] > 0].sort_values(["estimate", "path"], kind="stable", ignore_index=True)


def _count(paths: Sequence[str], groups: Mapping[str, str]) -> int:
    """Return how many pairs of paths there are, without those of one group."""
    sizes = Counter(groups[path] for path in paths).values()
    return math.comb(len(paths), 2) - sum(math.comb(size, 2) for size in sizes)


def _pairs(paths: Sequence[str]) -> list[tuple[str, str]]:
    """Return the pairs that are compared of paths that are sorted by size."""
    if len(paths) <= _EVERY_TWO:
        return list(combinations(paths, 2))
    smallest, largest = paths[0], paths[-1]
    to_ends = [pair for path in paths[1:-1] for pair in ((smallest, path), (path, largest))]
    near = [(path, other) for place, path in enumerate(paths, 1) for other in paths[place : place + _NEIGHBOURS]]
    return list(dict.fromkeys([*combinations(_at_ends(paths), 2), *to_ends, *near]))


def _at_ends(paths: Sequence[str]) -> list[str]:
    """Return the paths that decide on what is said of all."""
    return list(paths) if len(paths) <= _MOST else [*paths[: _MOST // 2], *paths[-_MOST // 2 :]]


def _in_turns(first: RunData, second: RunData, value: str | None) -> bool:
    return is_frame(first) and is_frame(second) and in_turns(first, second, value) is not None


def _decisive(pairs: pd.DataFrame, at_ends: Sequence[str]) -> pd.DataFrame:
    """Return the comparison that a statement about all paths is made from; no row without any."""
    tested = pairs[pairs["large"].isin(at_ends) & pairs["small"].isin(at_ends)]
    for verdict in ("different", "inconclusive"):
        if (tested["verdict"] == verdict).any():
            return tested[tested["verdict"] == verdict].head(1)
    if tested.empty:
        return tested
    reach = pd.concat([tested["inner_high"], 1 / tested["inner_low"]], axis=1).max(axis=1)
    return tested.loc[[reach.idxmax()]]


def _verdict(decisive: pd.DataFrame, paths: pd.DataFrame, most: int) -> PathVerdict:
    """Return what may be said of all paths; ``most``: the paths of the largest part."""
    flags = paths["flags"]
    if decisive.empty:
        return "refused" if (~flags.isin(["", "no_replication"])).any() else "once"
    verdict = decisive["verdict"].item()
    if verdict == "different":
        return "different"
    return "inconclusive" if verdict == "inconclusive" or most > _MOST else "equivalent"
