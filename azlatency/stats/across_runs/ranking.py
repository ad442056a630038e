"""Pairs of zones in the order of their typical run, with the ranks that their comparisons support.

All pairs are compared at the level of runs (by round if rounds are known), with Holm over all comparisons. A pair has a
rank if each other one is significantly shorter or longer.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from typing import TYPE_CHECKING, TypeAlias

from azlatency.stats.across_runs.log_ratio import of_groups, of_rounds
from azlatency.stats.across_runs.run_values import RunValues, run_values, sorted_rounds
from azlatency.stats.across_runs.typical_run import PathRuns, typical_runs
from azlatency.stats.multiplicity import adjust_p

if TYPE_CHECKING:
    from azlatency.stats.across_runs.comparison import Setting
    from azlatency.stats.across_runs.directions import DirectedValues
    from azlatency.stats.rows import Row

#: Most pairs of zones that are compared.
MOST_RANKED = 100
#: The values of a pair: by round, or in an unknown order.
_Values: TypeAlias = Mapping[Hashable, float] | Sequence[float]


def rank_pairs(cells: DirectedValues, directions: list[tuple[str, str]], setting: Setting) -> list[Row]:
    """Return the typical run of each pair, the shortest first: the mean of both directions in common rounds.

    ``rank`` is 1 for the shortest pair, and None if the comparisons do not separate a pair from all others. More than
    `MOST_RANKED` pairs are left out: each would be compared with each other.
    """
    groups: dict[str, _Values] = {}
    run_ids: dict[str, tuple[str, ...]] = {}
    for i, j in directions:
        if f"{j} - {i}" in groups:
            continue
        forward = cells.by_round[i, j]
        backward = cells.by_round.get((j, i), forward)
        common = {key: (forward[key] + backward[key]) / 2 for key in forward if key in backward}
        name = f"{i} - {j}"
        groups[name] = common or [*cells.all_values[i, j], *cells.all_values.get((j, i), ())]
        run_ids[name] = cells.run_ids([(i, j), (j, i)], common or None)
    if len(groups) > MOST_RANKED:
        return []
    ranks = _ranks(groups, setting.confidence, cells.resolution)
    path_runs = [
        PathRuns(
            name,
            {**setting.labels, "rank": ranks[name]},
            replace(_runs(values, None, cells.resolution), unit=cells.unit),
        )
        for name, values in groups.items()
    ]
    rows = [row | {"run_ids": " ".join(run_ids[row["what"]])} for row in typical_runs(path_runs, setting.confidence)]
    middle = {path.what: float(path.values.values.mean()) for path in path_runs}
    return sorted(rows, key=lambda row: middle[row["what"]] if math.isnan(row["estimate"]) else row["estimate"])


def _ranks(groups: Mapping[str, _Values], confidence: float, resolution: float) -> dict[str, int | None]:
    """Return the rank of each group that differs significantly from every other one (Holm)."""
    tests = {pair: _test(groups[pair[0]], groups[pair[1]], resolution) for pair in combinations(groups, 2)}
    adjusted = adjust_p([p for p, _ in tests.values()])
    shorter, told_apart = dict.fromkeys(groups, 0), dict.fromkeys(groups, 0)
    for (pair, (_, log_ratio)), p in zip(tests.items(), adjusted, strict=True):
        if p is not None and p < 1 - confidence:
            shorter[pair[log_ratio < 0]] += 1
            for name in pair:
                told_apart[name] += 1
    return {name: 1 + shorter[name] if told_apart[name] == len(groups) - 1 else None for name in groups}


def _runs(group: _Values, rounds: Sequence[Hashable] | None, resolution: float) -> RunValues:
    """Return the values of some rounds (``None``: all) in their order, or of a sequence in an unknown order."""
    if not isinstance(group, Mapping):
        return replace(run_values(group), order="unknown", resolution=resolution)
    keys, in_order = sorted_rounds(list(group) if rounds is None else rounds)
    values = run_values([group[key] for key in keys])
    return replace(values, order="given" if in_order else "unknown", resolution=resolution)


def _test(first: _Values, second: _Values, resolution: float) -> tuple[float | None, float]:
    """Return the two-sided p and the log ratio of two paths, as `compare` judges them; ``None`` if there is no test."""
    paired = isinstance(first, Mapping) and isinstance(second, Mapping)
    common = [key for key in first if key in second] if paired else None
    if min(len(first), len(second)) < 2 or (common is not None and len(common) < 2):  # of many pairs, most
        return None, 0.0
    x, y = (_runs(group, common, resolution) for group in (first, second))
    if min(len(x.values), len(y.values)) < 2 or min(*x.values, *y.values) <= 0:
        return None, 0.0
    logs = of_rounds(x, y, 0.0, 0.95) if paired else of_groups(x, y, 0.0, 0.95)
    return logs.p, logs.estimate
