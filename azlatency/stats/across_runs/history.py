"""Runs of a path in the order of measuring: dependence between neighbours, and changes of the level (`levels`).

Within one run, use `azlatency.stats.stability`; for all paths of a study as one family, `azlatency.history`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

from azlatency.stats.across_runs.levels import find_steps
from azlatency.stats.across_runs.run_order import FEWEST as FEWEST_RUNS
from azlatency.stats.across_runs.run_order import run_order
from azlatency.stats.across_runs.run_values import VALUE_COLUMNS, check_columns, refusals, run_values, value_column
from azlatency.stats.result import Result, Results, Row
from azlatency.stats.within_run.dependence import ljung_box
from azlatency.studies.format import count_of, format_value, join_words

if TYPE_CHECKING:
    import pandas as pd

    from azlatency.stats.across_runs.run_values import RunData

METHOD = "circular binary segmentation (Olshen et al. 2004), widened for AR(1)"
#: Fewest runs of a history that is searched.
FEWEST = 20


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
        p-value of each change.
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
    unit: str | None = None,
    what: str = "history",
    labels: Mapping[str, object] | None = None,
) -> History:
    """Find changes of the level of run values over time.

    Parameters
    ----------
    data : array_like, Series or DataFrame
        One number per run in the order of time, or one row per run.
    value : str, optional
        Column of a frame; by default its median, else its mean, else its throughput.
    confidence : float
        Level of each test, between 0 and 1.
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

    Notes
    -----
    As for `azlatency.history`, with one series.
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
    searched = not codes
    steps = find_steps(x, 1 - confidence) if searched else []
    parts = np.split(x, [step.at for step in steps])
    diagnostics: dict[str, float] = {}
    if testable:
        residuals = np.concatenate([segment - np.median(segment) for segment in parts])
        order = run_order(*parts)
        diagnostics = {"lag1": order.lag1, "lag1_p": order.p,
                       "ljung_box_p": ljung_box(residuals, max(1, min(10, len(x) // 5)))[1]}  # fmt: skip
        codes += ["dependent_runs"] * order.dependent + ["order_assumed"] * (run_set.order == "file")
    return History(
        what=what,
        changes=tuple(step.at for step in steps),
        p=tuple(step.p for step in steps),
        levels=tuple(float(np.median(segment)) for segment in parts) if searched else (),
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
