"""Changes of a path over a history of runs: E-divisive on run values.

The runs must be independent of each other (an hour or a day apart); their distribution may be any. Within one run, use
`azlatency.stats.stability`. Splits are searched one after the other, each tested by permutation within the parts.

Source: Matteson & James, JASA 109:334 (2014).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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

    from azlatency.stats.across_runs.run_values import RunData
    from azlatency.stats.arrays import FloatArray

METHOD = "E-divisive (Matteson & James 2014), permutation test of each split"
#: Fewest runs of a history, fewest of a part, most for the quadratic search, and number of permutations.
FEWEST, PART, MOST, PERMUTATIONS = 20, 5, 1500, 499


@dataclass(frozen=True, slots=True, kw_only=True)
class History(Result):
    """Changes over a history of runs.

    Attributes
    ----------
    what : str
        The path and method.
    changes : tuple of int
        Position (0-based) of the first run after each change.
    p : tuple of float
        p-value of each split in the order of the search, including the last one, which was rejected.
    levels : tuple of float
        Median of each part, in ``unit``.
    n : int
        Number of runs.
    unit : str
        Canonical unit.
    confidence : float
        Level of each test, between 0 and 1.
    diagnostics : dict
        ``ljung_box_p``: a small value means that runs depend on each other and that the p-values are too small.
    """

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
    data: RunData,
    *,
    value: str | None = None,
    confidence: float = 0.95,
    part: int = PART,
    permutations: int = PERMUTATIONS,
    seed: int = 0,
    unit: str | None = None,
    what: str = "history",
    labels: Mapping[str, object] | None = None,
) -> History:
    """Find changes of the level or the spread of run values over time.

    Parameters
    ----------
    data : array_like, Series or DataFrame
        One number per run in the order of time, or one row per run.
    value : str, optional
        Column of a frame; by default its median, else its mean, else its throughput.
    confidence : float
        Level of each test, between 0 and 1.
    part : int
        Fewest runs between two changes.
    permutations : int
        Number of permutations of each test.
    seed : int
        Seed of the permutations.
    unit : str, optional
        Canonical unit; by default that of the column.
    what : str
        Name of the result.
    labels : mapping, optional
        Columns that identify the result in a frame.

    Returns
    -------
    History
        Not estimable below 20 runs (``few_clusters``), for constant values, and for runs that must not be pooled.

    Raises
    ------
    ValueError
        If there are more than 1,500 runs.

    Notes
    -----
    E-divisive: Matteson & James, JASA 109:334 (2014).
    """
    import numpy as np

    run_set = run_values(data, value, unit)
    x = run_set.values
    codes = list(refusals([data], value))
    if not codes and len(x) < FEWEST:
        codes = ["few_clusters" if len(x) else "no_values"]
    elif not codes and x.min() == x.max():
        codes = ["constant"]
    if len(x) > MOST:
        raise ValueError(f"{len(x)} runs: at most {MOST}; pass one value per day")
    if codes:
        return History(
            what=what,
            changes=(),
            p=(),
            levels=(),
            n=len(x),
            unit=run_set.unit,
            confidence=confidence,
            codes=tuple(codes),
            labels=dict(labels or {}),
            run_ids=run_set.run_ids,
        )
    generator = np.random.Generator(np.random.PCG64(seed))
    changes, p = e_divisive(x, part, 1 - confidence, permutations, generator)
    parts = np.split(x, changes)
    residuals = np.concatenate([segment - np.median(segment) for segment in parts])
    _, dependent = ljung_box(residuals, min(10, len(x) // 5))
    levels = tuple(float(np.median(segment)) for segment in parts)
    return History(
        what=what,
        changes=tuple(changes),
        p=tuple(p),
        levels=levels,
        n=len(x),
        unit=run_set.unit,
        confidence=confidence,
        labels=dict(labels or {}),
        diagnostics={"ljung_box_p": dependent},
        run_ids=run_set.run_ids,
    )


def e_divisive(
    x: FloatArray, part: int, alpha: float, permutations: int, generator: np.random.Generator
) -> tuple[list[int], list[float]]:
    """Return the changes (0-based, ascending) and the p of every split tried; O(n²) memory and time per step."""
    import numpy as np

    edges = [0, len(x)]
    tried: list[float] = []
    while True:
        statistic, place = _best(x, edges, part)
        if place is None:
            return edges[1:-1], tried
        larger = 0
        for _ in range(permutations):
            shuffled = np.concatenate([generator.permutation(segment) for segment in np.split(x, edges[1:-1])])
            larger += _best(shuffled, edges, part)[0] >= statistic
        tried.append((1 + larger) / (1 + permutations))
        if tried[-1] > alpha:
            return edges[1:-1], tried
        edges = sorted([*edges, place])


def _best(x: FloatArray, edges: Sequence[int], part: int) -> tuple[float, int | None]:
    """Return the largest energy statistic over all parts, and its split."""
    best: tuple[float, int | None] = (float("-inf"), None)
    for begin, end in pairwise(edges):
        if end - begin >= 2 * part:
            statistic, place = _split(x[begin:end], part)
            if statistic > best[0]:
                best = statistic, begin + place
    return best


def _split(x: FloatArray, part: int) -> tuple[float, int]:
    """Return the best split of one part: the first position t of its right side.

    Statistic: t k/(t + k) times twice the mean distance between the sides minus the mean distances within each.
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
def _weights(n: int, part: int) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the weights of the sums of distances up to (t, end), (t, t) and (end, end) for each split.

    A right side shorter than ``part`` gets weights that never win.
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
