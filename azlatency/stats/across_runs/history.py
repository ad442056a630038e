"""Has a path changed between runs, over weeks of one number a run? E-divisive over the history of run values.

Made for histories of runs that are independent of each other (an hour or a day apart), of any law; within one run use
`azlatency.stats.stability`. Splits are found one after the other, each tested by permutation within the parts found so
far.

Source: Matteson & James, JASA 109:334 (2014).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING, Any, ClassVar

from azlatency.logs.format import count_of, format_value, join_words
from azlatency.stats.across_runs.run_values import refusals, run_values
from azlatency.stats.result import Result, Row
from azlatency.stats.within_run.dependence import ljung_box

if TYPE_CHECKING:
    import numpy as np

METHOD = "E-divisive (Matteson & James 2014), permutation test of each split"
#: Fewest runs of a history, fewest of a part, most that the quadratic search takes, and permutations.
FEWEST, PART, MOST, PERMUTATIONS = 20, 5, 1500, 499


@dataclass(frozen=True, slots=True, kw_only=True)
class History(Result):
    """``changes``: places (0-based, in order) of the first run after each change; ``p`` of each split in the order of
    finding, the last one that did not hold included; ``levels``: median of each part, in ``unit``."""

    what: str
    changes: tuple[int, ...]
    p: tuple[float, ...]
    levels: tuple[float, ...]
    n: int
    unit: str
    confidence: float
    scope: str = "across_runs"
    method: str = METHOD
    codes: tuple[str, ...] = ()
    labels: dict[str, Any] = field(default_factory=dict)
    diagnostics: dict[str, float] = field(default_factory=dict)

    ROW: ClassVar[Row] = ("what", "changes", "p", "levels", "n", "unit", "scope", "confidence", "method")

    @property
    def refused(self) -> bool:
        """Whether the history is too short to search."""
        return not self.levels

    def __str__(self) -> str:
        if self.refused:
            return f"{self.what}: not estimable{self.flag_note}"
        if not self.changes:
            return f"{self.what}: no change in {count_of(self.n, 'run')}{self.flag_note}"
        levels = ", then ".join(format_value(level, self.unit) for level in self.levels)
        places = join_words(str(change + 1) for change in self.changes)
        return f"{self.what}: changed at run {places} of {self.n}: {levels}{self.flag_note}"


def history(
    data: Any,
    *,
    value: str | None = None,
    confidence: float = 0.95,
    part: int = PART,
    permutations: int = PERMUTATIONS,
    seed: int = 0,
    unit: str | None = None,
    what: str = "history",
    labels: dict[str, object] | None = None,
) -> History:
    """Where the level or the spread of run values changed.

    ``data``: one number a run in the order of time (array, Series, or frame with the column ``value``). ``part``:
    fewest runs between two changes. Refused: ``few_clusters`` below 20 runs, ``constant``, and what
    `azlatency.compare` refuses. ``diagnostics``: Ljung-Box p of the runs within their parts; small means that runs
    depend on each other and that the p of the splits are too small. Raises `ValueError` above 1,500 runs.
    """
    import numpy as np

    found = run_values(data, value, unit)
    x = found.values
    codes = list(refusals([data], value))
    if not codes and len(x) < FEWEST:
        codes = ["few_clusters" if len(x) else "no_values"]
    elif not codes and x.min() == x.max():
        codes = ["constant"]
    if len(x) > MOST:
        raise ValueError(f"{len(x)} runs: at most {MOST}; take one value a day")
    if codes:
        return History(
            what=what,
            changes=(),
            p=(),
            levels=(),
            n=len(x),
            unit=found.unit,
            confidence=confidence,
            codes=tuple(codes),
            labels=dict(labels or {}),
            run_ids=found.run_ids,
        )
    generator = np.random.Generator(np.random.PCG64(seed))
    changes, p = e_divisive(x, part, 1 - confidence, permutations, generator)
    parts = np.split(x, changes)
    rest = np.concatenate([each - np.median(each) for each in parts])
    _, dependent = ljung_box(rest, min(10, len(x) // 5))
    levels = tuple(float(np.median(each)) for each in parts)
    return History(
        what=what,
        changes=tuple(changes),
        p=tuple(p),
        levels=levels,
        n=len(x),
        unit=found.unit,
        confidence=confidence,
        labels=dict(labels or {}),
        diagnostics={"ljung_box_p": dependent},
        run_ids=found.run_ids,
    )


def e_divisive(
    x: np.ndarray, part: int, alpha: float, permutations: int, generator: np.random.Generator
) -> tuple[list[int], list[float]]:
    """Changes (0-based first places, ascending) and the p of every split tried. Memory and a step cost O(n^2)."""
    import numpy as np

    edges = [0, len(x)]
    tried: list[float] = []
    while True:
        statistic, place = _best(x, edges, part)
        if place is None:
            return edges[1:-1], tried
        larger = 0
        for _ in range(permutations):
            shuffled = np.concatenate([generator.permutation(each) for each in np.split(x, edges[1:-1])])
            larger += _best(shuffled, edges, part)[0] >= statistic
        tried.append((1 + larger) / (1 + permutations))
        if tried[-1] > alpha:
            return edges[1:-1], tried
        edges = sorted([*edges, place])


def _best(x: np.ndarray, edges: Sequence[int], part: int) -> tuple[float, int | None]:
    """The largest energy statistic over all parts, and where it splits."""
    best: tuple[float, int | None] = (float("-inf"), None)
    for begin, end in pairwise(edges):
        if end - begin >= 2 * part:
            statistic, place = _split(x[begin:end], part)
            if statistic > best[0]:
                best = statistic, begin + place
    return best


def _split(x: np.ndarray, part: int) -> tuple[float, int]:
    """The split t (first place of the right side) of one part, maximal over t and the right side's end.

    Statistic: t k/(t + k) times twice the mean distance between the sides less the mean distances within each.
    """
    import numpy as np

    n = len(x)
    sums = np.zeros((n + 1, n + 1))
    np.cumsum(np.cumsum(np.abs(x[:, None] - x[None, :]), axis=0), axis=1, out=sums[1:, 1:])
    within = np.diagonal(sums)
    cross, left, both = (
        sums[part : n - part + 1, 2 * part :],
        within[part : n - part + 1, None],
        within[None, 2 * part :],
    )
    of_cross, of_left, of_both = _weights(n, part)
    energy = cross * of_cross - left * of_left - both * of_both
    best = int(energy.argmax())
    return float(energy.flat[best]), part + best // energy.shape[1]


@lru_cache(maxsize=32)
def _weights(n: int, part: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Weights of the sums of distances up to (t, end), (t, t) and (end, end) in the statistic of each split.

    Ends with a right side shorter than ``part`` weigh so that they never win.
    """
    import numpy as np

    t, end = np.arange(part, n - part + 1)[:, None], np.arange(2 * part, n + 1)[None, :]
    k = np.maximum(end - t, 2)
    between, left, right = 2 / (t + k), k / ((t + k) * (t - 1)), t / ((t + k) * (k - 1))
    allowed = end - t >= part
    return (
        np.where(allowed, between + 2 * right, 0.0),
        np.where(allowed, between + left + right, 0.0) + np.zeros_like(k, dtype="float64"),
        np.where(allowed, right, 1e6),
    )
