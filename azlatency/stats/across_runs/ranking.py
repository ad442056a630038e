"""Ranking of paths by rank sets: every rank that the data cannot exclude.

All pairs of paths are compared at the level of runs (by round if rounds are known), with Holm over all pairs. The best
rank of a path is 1 plus the number of significantly faster paths; its worst rank is the number of paths minus the
significantly slower ones.

Source: Mogstad, Romano, Shaikh & Wilhelm, Rev. Econ. Stud. 91:476, 2024.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import Any, ClassVar

from azlatency.stats.across_runs.log_ratio import of_groups, of_rounds
from azlatency.stats.across_runs.run_values import RunValues, run_values, sorted_rounds
from azlatency.stats.across_runs.typical_run import PathRuns, typical_runs
from azlatency.stats.multiplicity import adjust_p
from azlatency.stats.result import Estimate, Result, Results, Row, Scope

METHOD = "rank sets from all pairwise tests of the ratio, Holm (Mogstad et al. 2024)"


@dataclass(frozen=True, slots=True, kw_only=True)
class RankSet(Result):
    """Ranks ``low`` to ``high`` that a path may have; 1 is the smallest value.

    Attributes
    ----------
    what : str
        The path.
    low, high : int
        Best and worst rank that the data cannot exclude.
    of : int
        Number of paths.
    level : Estimate
        Typical run of the path.
    confidence : float
        Simultaneous level, between 0 and 1.
    """

    what: str
    low: int
    high: int
    of: int
    level: Estimate
    confidence: float
    scope: Scope = "across_runs"
    method: str = METHOD
    codes: tuple[str, ...] = ()
    labels: dict[str, Any] = field(default_factory=dict)

    ROW: ClassVar[Row] = (
        "what", ("rank_low", "low"), ("rank_high", "high"), "of", ("estimate", "level.estimate"),
        ("unit", "level.unit"), ("n", "level.n"), "scope", "confidence", ("statistic", "method"),
    )  # fmt: skip

    def __str__(self) -> str:
        rank = f"rank {self.low}" if self.low == self.high else f"rank {self.low} to {self.high}"
        return f"{self.what}: {rank} of {self.of} ({100 * self.confidence:g} % simultaneous confidence){self.flag_note}"


def rank_sets(
    groups: Mapping[str, Mapping[Hashable, float] | Sequence[float]],
    *,
    unit: str = "ns",
    confidence: float = 0.95,
    resolution: float = 0.0,
) -> Results[RankSet]:
    """Rank paths by their run values.

    Mogstad, Romano, Shaikh & Wilhelm, Review of Economic Studies 91:476, 2024; tests of `azlatency.compare`, Holm.
    """
    names = list(groups)
    p_of = {(i, j): _p(groups[i], groups[j], resolution) for i, j in combinations(names, 2)}
    adjusted = dict(zip(p_of, adjust_p([p for p, _ in p_of.values()]), strict=True))
    faster, slower = dict.fromkeys(names, 0), dict.fromkeys(names, 0)
    for (i, j), p in adjusted.items():
        if p is not None and p < 1 - confidence:
            low, high = (i, j) if p_of[i, j][1] < 0 else (j, i)
            slower[low] += 1
            faster[high] += 1
    levels = typical_runs(
        [PathRuns(name, {}, replace(_runs(groups[name], None, resolution), unit=unit)) for name in names], confidence
    )
    sets = []
    for name, level in zip(names, levels, strict=True):
        codes = level.codes if level.refused else ()
        sets.append(
            RankSet(
                what=name,
                low=1 + faster[name],
                high=len(names) - slower[name],
                of=len(names),
                level=level,
                confidence=confidence,
                codes=codes,
            )
        )
    return Results(sorted(sets, key=lambda rank: (rank.level.refused, rank.level.estimate or 0.0)))


def _runs(
    group: Mapping[Hashable, float] | Sequence[float], rounds: Sequence[Hashable] | None, resolution: float
) -> RunValues:
    """Return the values of some rounds (``None``: all) in their order, or of a sequence in an unknown order."""
    if not isinstance(group, Mapping):
        return replace(run_values(group), order="unknown", resolution=resolution)
    keys, in_order = sorted_rounds(list(group) if rounds is None else rounds)
    values = run_values([group[key] for key in keys])
    return replace(values, order="given" if in_order else "unknown", resolution=resolution)


def _p(
    first: Mapping[Hashable, float] | Sequence[float],
    second: Mapping[Hashable, float] | Sequence[float],
    resolution: float,
) -> tuple[float | None, float]:
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
