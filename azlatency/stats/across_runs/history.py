"""Runs of a path in the order of measuring: dependence between neighbours, and changes of the level (E-divisive).

Within one run, use `azlatency.stats.stability`. Splits are searched one after the other, each tested by permutation
within the parts. Runs that resemble their neighbours make such a test find changes where there are none, so the
permuted parts are AR(1) series with the same values and the strongest dependence that the runs cannot exclude: the
coefficient plus two standard errors (`run_order`).

Source: Matteson & James, JASA 109:334 (2014).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING, Any, ClassVar

from azlatency.stats.across_runs.run_order import FEWEST as FEWEST_RUNS
from azlatency.stats.across_runs.run_order import run_order
from azlatency.stats.across_runs.run_values import VALUE_COLUMNS, check_columns, refusals, run_values, value_column
from azlatency.stats.result import Result, Results, Row
from azlatency.stats.within_run.dependence import ljung_box
from azlatency.studies.format import count_of, format_value, join_words

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd

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
        From six runs in a known order. ``lag1`` and ``lag1_p``: autocorrelation within the parts and its permutation
        test; ``ljung_box_p``: the same question over several lags.
    values : tuple of float
        One value per run in the order of measuring, in ``unit``.
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
    values: tuple[float, ...] = ()

    ROW: ClassVar[Row] = ("what", "changes", "p", "levels", "n", "unit", "scope", "confidence", ("statistic", "method"))

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
        Changes are not estimable below 20 runs (``few_clusters``), for constant values, for runs without a known order
        (``order_unknown``), and for runs that must not be pooled. An order by the names of files is flagged
        ``order_assumed``.

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
    if not codes and not run_set.in_order:
        codes = ["order_unknown"]
    elif not codes and len(x) > 1 and x.min() == x.max():
        codes = ["constant"]
    testable = not codes and len(x) >= FEWEST_RUNS
    if not codes and len(x) < FEWEST:
        codes = ["few_clusters" if len(x) else "no_values"]
    if len(x) > MOST:
        raise ValueError(f"{len(x)} runs: at most {MOST}; pass one value per day")
    changes: list[int] = []
    p: list[float] = []
    if not codes:
        generator = np.random.Generator(np.random.PCG64(seed))
        changes, p = e_divisive(x, PART, 1 - confidence, permutations, generator)
    parts = np.split(x, changes)
    diagnostics: dict[str, float] = {}
    if testable:
        residuals = np.concatenate([segment - np.median(segment) for segment in parts])
        order = run_order(*parts)
        diagnostics = {"lag1": order.lag1, "lag1_p": order.p,
                       "ljung_box_p": ljung_box(residuals, max(1, min(10, len(x) // 5)))[1]}  # fmt: skip
        codes += ["dependent_runs"] * order.dependent + ["order_assumed"] * (run_set.order == "file")
    return History(
        what=what,
        changes=tuple(changes),
        p=tuple(p),
        levels=tuple(float(np.median(segment)) for segment in parts) if p else (),
        n=len(x),
        unit=run_set.unit,
        confidence=confidence,
        codes=tuple(codes),
        labels=dict(labels or {}),
        diagnostics=diagnostics,
        values=tuple(map(float, x)),
        run_ids=run_set.run_ids,
    )


def histories(runs: pd.DataFrame, value: str | None = None, *, confidence: float = 0.95) -> Results[History]:
    """Return the runs of each path and method in the order of measuring; arguments as of `azlatency.summarize`."""
    results = []
    check_columns(runs, "path", "method")
    some = value_column(runs, value)
    for (path, method), group in runs.groupby(["path", "method"], sort=False):
        # Each method has its own column; the runs of one may all have failed.
        column = value or next((name for name in VALUE_COLUMNS if name in group and group[name].notna().any()), some)
        measured = group[group[column].notna()]
        if len(measured) >= FEWEST_RUNS:
            labels = {"path": path, "method": method}
            results.append(
                history(measured, value=column, confidence=confidence, what=f"{path}, {method}", labels=labels)
            )
    return Results(results)


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
        after = sorted([*edges, place])
        order = run_order(*np.split(x, after[1:-1]))
        larger = 0
        for _ in range(permutations):
            segments = np.split(x, edges[1:-1])
            rearranged = np.concatenate([_rearranged(one, order.strongest, generator) for one in segments])
            larger += _best(rearranged, edges, part)[0] >= statistic
        tried.append((1 + larger) / (1 + permutations))
        if tried[-1] > alpha:
            return edges[1:-1], tried
        edges = after


def _rearranged(values: FloatArray, coefficient: float, generator: np.random.Generator) -> FloatArray:
    """Return the values in a random order: of an AR(1) series with this coefficient, or any order if it is 0."""
    import numpy as np

    if not coefficient:
        return generator.permutation(values)
    noise = generator.standard_normal(len(values))
    scale = (1 - coefficient**2) ** 0.5
    series = np.empty(len(values))
    state = noise[0]
    for at, shock in enumerate(noise):
        state = state if at == 0 else coefficient * state + scale * shock
        series[at] = state
    return np.asarray(np.sort(values)[series.argsort().argsort()])


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
