"""Pairs of zones in the order of their typical run, with the ranks that their comparisons support.

All pairs are compared at the level of runs (by round if rounds are known), with Holm over all comparisons. A pair has a
rank if each other one is significantly shorter or longer.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from itertools import combinations

from azlatency.stats.across_runs.comparison import Setting, Sides, compare_sides
from azlatency.stats.across_runs.directions import DirectedValues
from azlatency.stats.across_runs.run_values import RunValues, sorted_rounds
from azlatency.stats.across_runs.typical_run import PathRuns, typical_runs
from azlatency.stats.multiplicity import adjust_p
from azlatency.stats.rows import Row

#: Most pairs of zones that are compared.
MOST_RANKED = 100


def rank_pairs(cells: DirectedValues, directions: list[tuple[str, str]], setting: Setting) -> list[Row]:
    """Return the typical run of each pair, the shortest first: the mean of both directions in common rounds.

    Without common rounds, the direction that was measured more often stands for the pair.
    ``rank`` is 1 for the shortest pair, and None if the comparisons do not separate a pair from all others. More than
    `MOST_RANKED` pairs are left out: each would be compared with each other.
    """
    pairs: dict[str, RunValues] = {}
    for i, j in directions:
        if f"{j} - {i}" in pairs:
            continue
        forward = cells.by_round[i, j]
        backward = cells.by_round.get((j, i), forward)
        rounds, in_order = sorted_rounds([key for key in forward if key in backward])
        if rounds:
            means = [(forward[key] + backward[key]) / 2 for key in rounds]
            values = replace(cells.values(means, "round" if in_order else "unknown"), rounds=tuple(rounds))
            used = [(i, j), (j, i)]
        else:
            # Both directions of one run are no two runs of the pair.
            used = [max((i, j), (j, i), key=lambda direction: len(cells.numbers(direction)))]
            values = cells.values(cells.numbers(used[0]), "unknown")
        pairs[f"{i} - {j}"] = replace(values, run_ids=cells.run_ids(used, rounds or None))
    if len(pairs) > MOST_RANKED:
        return []
    ranks = _ranks(pairs, setting.confidence)
    paths = [PathRuns(name, {**setting.labels, "rank": ranks[name]}, values) for name, values in pairs.items()]
    means_of = {name: float(values.values.mean()) for name, values in pairs.items()}
    rows = typical_runs(paths, setting.confidence)
    return sorted(rows, key=lambda row: means_of[row["what"]] if math.isnan(row["estimate"]) else row["estimate"])


def _ranks(pairs: Mapping[str, RunValues], confidence: float) -> dict[str, int | None]:
    """Return the rank of each pair that differs significantly from every other one (Holm)."""
    tests: dict[tuple[str, str], Row] = {}
    for both in combinations(pairs, 2):
        x, y = (pairs[name] for name in both)
        tests[both] = compare_sides(Sides(x, y, paired=bool(x.rounds and y.rounds)), Setting())
    adjusted = adjust_p([row["p"] for row in tests.values()])
    shorter, told_apart = dict.fromkeys(pairs, 0), dict.fromkeys(pairs, 0)
    for (both, row), p in zip(tests.items(), adjusted, strict=True):
        if p is not None and p < 1 - confidence:
            shorter[both[row["ratio"] < 1]] += 1
            for name in both:
                told_apart[name] += 1
    return {name: 1 + shorter[name] if told_apart[name] == len(pairs) - 1 else None for name in pairs}
