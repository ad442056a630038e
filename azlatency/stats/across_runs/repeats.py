"""Do repeats of one path agree, and how should time be split between more runs and longer runs?

The variance between runs comes from run values, less what the packets within a run explain. The analysis of variance
with packets as if independent finds "F = 122, p = 3e-63" between any two connections and is not offered.

Sources: ISO 5725-6 (repeatability limit); Kalibera & Jones, ISMM 2013, doi:10.1145/2464157.2464160.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from azlatency.logs.format import count_of, format_estimate, format_value
from azlatency.stats.across_runs.run_values import floats, refusals, run_values
from azlatency.stats.across_runs.two_groups import summary
from azlatency.stats.result import Result, Results, Row, Scope

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd
    from numpy.typing import NDArray

    FloatArray = NDArray[np.float64]

METHOD = "spread of run values; between-run variance = its square less the mean squared standard error within runs"


class Components(NamedTuple):
    """Balanced one-way variance components: mean squares, variances between and within runs, intraclass correlation."""

    ms_between: float
    ms_within: float
    var_between: float
    var_within: float
    icc: float
    mean: float
    se_runs: float
    design_effect: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Repeats(Result):
    """How much repeats of one path differ.

    ``mean`` and ``sd`` of ``runs`` run values in ``unit``; ``cv`` = sd/mean with its chi-squared bounds ``cv_low`` and
    ``cv_high``; ``repeatability``: two single runs differ by less in 95 % of cases (2.8 sd); ``ratio`` = largest over
    smallest run; ``var_between`` and ``icc`` where the standard errors within runs were given.
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
    data: Any,
    *,
    value: str | None = None,
    errors: Sequence[float] | FloatArray | None = None,
    confidence: float = 0.95,
    unit: str | None = None,
    what: str = "repeats",
    labels: dict[str, object] | None = None,
) -> Repeats:
    """`Repeats` of the run values of one path and method (array, Series or frame with the column ``value``).

    ``errors``: the standard error of each run's value *within* the run, adjusted for dependence; then the variance
    between runs is separated from it. One run is refused (``no_replication``).
    """
    found = run_values(data, value, unit)
    x = found.values
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
            ratio=None, var_between=None, icc=None, unit=found.unit, confidence=confidence, codes=tuple(codes),
            labels=dict(labels or {}), missing=found.missing, run_ids=found.run_ids,
        )  # fmt: skip
    n, mean, sd = summary(x)
    factor_low, factor_high = _sd_bounds(n, confidence)
    between = icc = None
    if errors is not None:
        known = [float(each) for each in floats(errors) if math.isfinite(each)]
        noise = math.fsum(each**2 for each in known) / len(known) if known else math.nan
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
        unit=found.unit,
        confidence=confidence,
        codes=tuple(codes),
        labels=dict(labels or {}),
        missing=found.missing,
        run_ids=found.run_ids,
    )


def _sd_bounds(n: int, confidence: float) -> tuple[float, float]:
    """Factors of a standard deviation's chi-squared interval."""
    from scipy.stats import chi2

    ends = [float(chi2.ppf(each, n - 1)) for each in ((1 + confidence) / 2, (1 - confidence) / 2)]
    return math.sqrt((n - 1) / ends[0]), math.sqrt((n - 1) / ends[1])


def repeats_by_path(runs: pd.DataFrame, value: str, *, confidence: float = 0.95) -> Results[Repeats]:
    """`repeats` for each path and method of a frame of `azlatency.studies.runs`, in order of appearance."""
    return Results(
        repeats(group, value=value, confidence=confidence, what=f"{path}, {method}",
                labels={"path": path, "method": method})
        for (path, method), group in runs[runs[value].notna()].groupby(["path", "method"], sort=False)
    )  # fmt: skip


def variance_components(groups: Sequence[Sequence[float]] | FloatArray) -> Components | None:
    """Balanced one-way components of raw values, shape (runs, values a run); ``None`` below 2 x 2 or without spread.

    Values within a run are taken as independent here: for packets use `repeats` with dependence-adjusted errors.
    """
    import numpy as np

    x = np.asarray(groups, dtype=float)
    if x.ndim != 2 or min(x.shape) < 2:
        return None
    runs, size = x.shape
    means = x.mean(axis=1)
    ms_between = size * float(means.var(ddof=1))
    ms_within = float(x.var(axis=1, ddof=1).mean())
    between = max(0.0, (ms_between - ms_within) / size)
    if between + ms_within == 0:
        return None
    se = float(means.std(ddof=1)) / math.sqrt(runs)
    naive = float(x.ravel().var(ddof=1)) / x.size
    icc = between / (between + ms_within)
    return Components(ms_between, ms_within, between, ms_within, icc, float(x.mean()), se, se**2 / naive)


def samples_per_run(var_within: float, var_between: float, cost_run: float, cost_sample: float) -> int | None:
    """Best number of samples a run: ceil(sqrt(cost_run / cost_sample * var_within / var_between)).

    Costs in the same unit (seconds). ``None`` where runs do not differ: then one long run is as good (Kalibera & Jones
    collapse the level). Raises `ValueError` for costs that are not positive.
    """
    if not (cost_run > 0 and cost_sample > 0 and var_within >= 0):
        raise ValueError(f"cost_run = {cost_run}, cost_sample = {cost_sample}, var_within = {var_within}")
    if not var_between > 0:
        return None
    return max(1, math.ceil(math.sqrt(cost_run / cost_sample * var_within / var_between)))
