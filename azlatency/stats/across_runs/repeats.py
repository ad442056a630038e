"""Spread of repeated runs of one path, and the split of time between more runs and longer runs.

The variance between runs is that of the run values minus the share that packets within a run explain. An analysis of
variance that treats packets as independent finds any two connections different (F = 122, p = 3e-63) and is not offered.

Sources: ISO 5725-6 (repeatability limit); Kalibera & Jones, ISMM 2013, doi:10.1145/2464157.2464160.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

from azlatency.logs.format import count_of, format_estimate, format_value
from azlatency.stats.across_runs.run_values import check_columns, floats, refusals, run_values
from azlatency.stats.across_runs.two_groups import summary
from azlatency.stats.result import Result, Results, Row, Scope

if TYPE_CHECKING:
    import pandas as pd

    from azlatency.stats.across_runs.run_values import RunData
    from azlatency.stats.arrays import FloatArray

METHOD = "spread of run values; between-run variance = its square less the mean squared standard error within runs"


@dataclass(frozen=True, slots=True, kw_only=True)
class Repeats(Result):
    """Spread of repeated runs of one path.

    Attributes
    ----------
    what : str
        The path and method.
    runs : int
        Number of runs.
    mean, sd : float or None
        Mean and standard deviation of the run values, in ``unit``.
    cv, cv_low, cv_high : float or None
        Coefficient of variation sd / mean with its chi-squared bounds.
    repeatability : float or None
        Two single runs differ by less in 95 % of cases (2.8 sd), in ``unit``.
    ratio : float or None
        Largest run over smallest run.
    var_between, icc : float or None
        Variance between runs and intraclass correlation, if the standard errors within runs are known.
    missing : int
        Runs without a value.
    """

    what: str
    runs: int
    mean: float | None
    sd: float | None
    cv: float | None
    cv_low: float | None
    cv_high: float | None
    repeatability: float | None
    ratio: float | None
    var_between: float | None
    icc: float | None
    unit: str
    confidence: float
    scope: Scope = "across_runs"
    method: str = METHOD
    codes: tuple[str, ...] = ()
    labels: dict[str, Any] = field(default_factory=dict)
    missing: int = 0

    ROW: ClassVar[Row] = (
        "what", "runs", "missing", "mean", "sd", "cv", "cv_low", "cv_high", "repeatability", "ratio", "var_between",
        "icc", "unit", "scope", "confidence", "method",
    )  # fmt: skip

    def __str__(self) -> str:
        if self.cv is None or self.ratio is None or self.cv_low is None or self.cv_high is None:
            return f"{self.what}: not estimable{self.flag_note}"
        variation = format_estimate(self.cv, self.cv_low, self.cv_high, "fraction", confidence=self.confidence)
        return (
            f"{self.what}: {count_of(self.runs, 'run')} vary by {variation} (CV); "
            f"largest over smallest {format_value(self.ratio)}{self.flag_note}"
        )


def repeats(
    data: RunData,
    *,
    value: str | None = None,
    errors: Sequence[float] | FloatArray | None = None,
    confidence: float = 0.95,
    unit: str | None = None,
    what: str = "repeats",
    labels: Mapping[str, object] | None = None,
) -> Repeats:
    """Describe the spread of repeated runs of one path and method.

    Parameters
    ----------
    data : array_like, Series or DataFrame
        One positive number per run, or one row per run.
    value : str, optional
        Column of a frame; by default its median, else its mean, else its throughput.
    errors : array_like, optional
        Standard error of each run's value *within* the run, adjusted for dependence. With it the variance between runs
        is separated.
    confidence : float
        Level of the interval, between 0 and 1.
    unit : str, optional
        Canonical unit; by default that of the column.
    what : str
        Name of the result.
    labels : mapping, optional
        Columns that identify the result in a frame.

    Returns
    -------
    Repeats
        Not estimable for one run (``no_replication``).

    Notes
    -----
    ISO 5725-6 (repeatability limit).
    """
    run_set = run_values(data, value, unit)
    x = run_set.values
    codes = list(refusals([data], value))
    if not codes and not len(x):
        codes = ["no_values"]
    if not codes and len(x) < 2:
        codes = ["no_replication"]
    if not codes and x.min() <= 0:
        codes = ["not_positive"]
    if codes:
        return Repeats(
            what=what, runs=len(x), mean=None, sd=None, cv=None, cv_low=None, cv_high=None, repeatability=None,
            ratio=None, var_between=None, icc=None, unit=run_set.unit, confidence=confidence, codes=tuple(codes),
            labels=dict(labels or {}), missing=run_set.missing, run_ids=run_set.run_ids,
        )  # fmt: skip
    n, mean, sd = summary(x)
    factor_low, factor_high = _sd_bounds(n, confidence)
    between = icc = None
    if errors is not None:
        finite = [float(error) for error in floats(errors) if math.isfinite(error)]
        noise = math.fsum(error**2 for error in finite) / len(finite) if finite else math.nan
        if math.isfinite(noise):
            between = max(0.0, sd**2 - noise)
            icc = between / (between + noise) if between + noise > 0 else None
    if sd == 0:
        codes.append("constant")
    if n == 2:
        codes.append("two_runs")
    cv = sd / mean
    return Repeats(
        what=what,
        runs=n,
        mean=mean,
        sd=sd,
        cv=cv,
        cv_low=cv * factor_low,
        cv_high=cv * factor_high,
        repeatability=2.8 * sd,
        ratio=float(x.max() / x.min()),
        var_between=between,
        icc=icc,
        unit=run_set.unit,
        confidence=confidence,
        codes=tuple(codes),
        labels=dict(labels or {}),
        missing=run_set.missing,
        run_ids=run_set.run_ids,
    )


def _sd_bounds(n: int, confidence: float) -> tuple[float, float]:
    """Return the factors of a standard deviation's chi-squared interval."""
    from scipy.stats import chi2

    ends = [float(chi2.ppf(level, n - 1)) for level in ((1 + confidence) / 2, (1 - confidence) / 2)]
    return math.sqrt((n - 1) / ends[0]), math.sqrt((n - 1) / ends[1])


def repeats_by_path(runs: pd.DataFrame, value: str, *, confidence: float = 0.95) -> Results[Repeats]:
    """Return `repeats` for each path and method.

    Parameters
    ----------
    runs : DataFrame
        One row per run, as returned by `azlatency.latency` or `azlatency.throughput`.
    value : str
        Column with one number per run; runs without it are left out.
    confidence : float
        Level of the intervals, between 0 and 1.

    Returns
    -------
    Results[Repeats]
        One result per path and method, in order of appearance.
    """
    check_columns(runs, value, "path", "method")
    return Results(
        repeats(group, value=value, confidence=confidence, what=f"{path}, {method}",
                labels={"path": path, "method": method})
        for (path, method), group in runs[runs[value].notna()].groupby(["path", "method"], sort=False)
    )  # fmt: skip


def samples_per_run(var_within: float, var_between: float, cost_run: float, cost_sample: float) -> int | None:
    """Return the best number of samples per run.

    Parameters
    ----------
    var_within, var_between : float
        Variances within and between runs, in the same unit.
    cost_run, cost_sample : float
        Costs of one more run and of one more sample, in the same unit (for example seconds).

    Returns
    -------
    int or None
        ``None`` if runs do not differ: then one long run is as good as many.

    Raises
    ------
    ValueError
        If a cost is not positive.

    Notes
    -----
    ceil(sqrt(cost_run / cost_sample * var_within / var_between)): Kalibera & Jones, ISMM 2013.
    """
    if not (cost_run > 0 and cost_sample > 0 and var_within >= 0):
        raise ValueError(f"cost_run = {cost_run}, cost_sample = {cost_sample}, var_within = {var_within}")
    if not var_between > 0:
        return None
    return max(1, math.ceil(math.sqrt(cost_run / cost_sample * var_within / var_between)))
