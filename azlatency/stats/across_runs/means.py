"""Means: across runs (one number a run -> a statement about the path), within a run, from a printed line.

Across runs: Student's t on the logarithms of run values.

Runs are the replicates; packets are not. Pooled packets of five runs with a 5 % run effect give a "95 %" interval that
holds the truth one time in six; t on the five run values holds it 94 % of the time (coverage experiment C4).

Within a run: t at the effective sample size (Geyer 1992), or from 30 batches where that is wider. A few very late
packets carry the mean of a heavy tail, and no interval of it holds then.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from azlatency.stats.across_runs.run_values import refusals, run_values
from azlatency.stats.result import Estimate, Results
from azlatency.stats.within_run.dependence import batch_error, dependence, series

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd

METHOD = "Student t on the logarithms of run values (geometric mean)"
WITHIN = "Student t at the effective sample size (Geyer 1992), widened to that of 30 batch means"
FLOOR = "Student t from n, mean and sd, as if the packets were independent"
#: Batches of the second opinion, and how many values it needs.
BATCHES = 30


def across_runs(
    values: Any,
    *,
    value: str | None = None,
    unit: str | None = None,
    confidence: float = 0.95,
    what: str = "typical run",
    labels: dict[str, object] | None = None,
) -> Estimate:
    """The path's typical run value: the geometric mean of positive run values and its t interval.

    ``values``: one number a run (its median, its mean, its throughput) in ``unit`` (ns where nothing tells another), or
    a frame of runs of one path and method with the column ``value``. One run is refused as ``no_replication``, runs
    that must not be pooled with their reason (``unit_conflict``, ``type_p_mismatch``, ...), two are flagged
    ``two_runs``, missing values are left out and counted.
    """
    values = values if hasattr(values, "__len__") else list(values)
    found = run_values(values, value, unit)
    numbers, unit = [float(each) for each in found.values], found.unit or "ns"
    runs = len(numbers)
    missing = ("missing",) if found.missing else ()

    def result(estimate: float | None, low: float | None, high: float | None, *codes: str) -> Estimate:
        return Estimate(
            what, estimate, low, high, unit, runs, "across_runs", confidence, METHOD, (*missing, *codes),
            dict(labels or {}), float(runs), ("runs are exchangeable",), {"missing": found.missing},
            run_ids=found.run_ids,
        )  # fmt: skip

    if unpoolable := refusals([values], value):
        # A run that lost most of its probes is a run, though its value is no number.
        return replace(result(None, None, None, *unpoolable), codes=unpoolable, n=runs + found.endless)
    if not numbers:
        return result(None, None, None, "no_values")
    if any(number <= 0 for number in numbers):
        return result(None, None, None, "not_positive")
    if runs == 1:
        return result(None, None, None, "no_replication")
    logs = [math.log(number) for number in numbers]
    mean = math.fsum(logs) / runs
    spread = math.sqrt(math.fsum((log - mean) ** 2 for log in logs) / (runs - 1))
    from scipy.stats import t

    half = float(t.ppf((1 + confidence) / 2, runs - 1)) * spread / math.sqrt(runs)
    codes = (("two_runs",) if runs == 2 else ()) + (("constant",) if spread == 0 else ())
    return result(math.exp(mean), math.exp(mean - half), math.exp(mean + half), *codes)


def by_path(runs: pd.DataFrame, value: str, *, unit: str = "ns", confidence: float = 0.95) -> Results[Estimate]:
    """`across_runs` for each path and method of a frame of runs (`azlatency.studies.runs`), in order of appearance.

    ``value``: the column that holds one number a run, in ``unit``; runs without it are left out.
    """
    known = runs[runs[value].notna()]
    return Results(
        across_runs(
            group,
            unit=unit,
            value=value,
            confidence=confidence,
            what=f"{path}, {method}",
            labels={"path": path, "method": method, "placement": group["placement"].iloc[0]},
        )
        for (path, method), group in known.groupby(["path", "method"], sort=False)
    )


def mean(
    data: Any,
    *,
    confidence: float = 0.95,
    unit: str = "ns",
    what: str = "mean",
    labels: dict[str, object] | None = None,
) -> Estimate:
    """The mean of one run's values, in the order of sending, with an interval that knows their dependence.

    ``data``: any sequence or Series (n,) in ``unit``; NaN is missing and counted. Quote it with the median, which the
    diagnostics hold. Refusals (no interval): ``mean_tail_dominated``, ``long_memory``, ``few_clusters`` (a
    dependent run worth fewer than 30 values), ``loss_censored`` (a probe without answer, ``inf``, has no mean),
    ``no_replication`` for a single value.
    """
    import numpy as np
    from scipy.special import stdtrit

    x, missing = series(data)
    n = len(x)
    codes: list[str] = ["missing"] if missing else []
    shown: dict[str, float | int | str | bool] = {"missing": missing}

    def result(estimate: float | None, half: float | None, effective: float | None = None) -> Estimate:
        low, high = (None, None) if estimate is None or half is None else (estimate - half, estimate + half)
        assumed = ("stationary during the run", "short memory", "finite variance")
        return Estimate(
            what,
            estimate,
            low,
            high,
            unit,
            n,
            "within_run",
            confidence,
            WITHIN,
            tuple(codes),
            dict(labels or {}),
            effective,
            assumed,
            shown,
        )

    if not n or not np.isfinite(x).all():
        codes.append("loss_censored" if n else "no_values")
        return result(None, None)
    centre = float(x.mean())
    if n == 1:
        codes.append("no_replication")
        return result(centre, None)
    spread = float(x.std(ddof=1))
    if x.min() == x.max():
        codes.append("constant")
        return result(centre, 0.0, float(n))
    known = dependence(x)
    weight = tail_weight(x)
    shown |= {"median": float(np.median(x)), "sd": spread, **weight.diagnostics, **known.diagnostics}
    degrees = max(known.n_effective / 2 - 1, 1.0)
    half = float(stdtrit(degrees, (1 + confidence) / 2)) * spread / math.sqrt(known.n_effective)
    if n >= 2 * BATCHES:
        half = max(half, float(stdtrit(BATCHES - 1, (1 + confidence) / 2)) * batch_error(x, BATCHES))
    refusals = (("mean_tail_dominated",) if weight.dominates else ()) + known.codes
    codes += refusals
    return result(centre, None if refusals else half, known.n_effective)


@dataclass(frozen=True, slots=True)
class TailWeight:
    """How much the largest values weigh: ``share`` of the top 0.1 % (at least one) in the sum, ``max_over_median``,
    ``skewness``, and ``spike_rate``, the share of values above ten times the median."""

    n: int
    share: float
    max_over_median: float
    skewness: float
    spike_rate: float

    @property
    def dominates(self) -> bool:
        """Whether no interval of the mean holds: more than a tenth of the sum, or too few values for the skewness.

        The second is Cochran's rule, n > 25 skewness^2 (Sampling Techniques, 1977, p. 42): a single spike among n equal
        values has the skewness sqrt(n), and 25 spikes are needed before their number is known well enough.
        """
        return self.n >= 100 and (self.share > 0.1 or self.n < 25 * self.skewness**2)

    @property
    def diagnostics(self) -> dict[str, float]:
        """For `Estimate.diagnostics`."""
        return {
            "top_share": self.share,
            "max_over_median": self.max_over_median,
            "skewness": self.skewness,
            "spike_rate": self.spike_rate,
        }


def tail_weight(x: np.ndarray) -> TailWeight:
    """`TailWeight` of positive values ``x`` (n,), n >= 2 and not all equal."""
    import numpy as np

    n = len(x)
    top = max(n // 1000, 1)
    total, median = float(x.sum()), float(np.median(x))
    share = float(np.partition(x, n - top)[n - top :].sum()) / total if n >= 1000 and x.min() >= 0 else 0.0
    deviation = x - x.mean()
    square = float((deviation * deviation).mean())
    skewness = float((deviation * deviation * deviation).mean()) / square**1.5
    ratio = float(x.max()) / median if median > 0 else math.inf
    return TailWeight(n, share, ratio, skewness, float((x > 10 * median).mean()))


def mean_from_summary(
    n: int,
    mean_value: float,
    sd: float,
    *,
    confidence: float = 0.95,
    unit: str = "ns",
    what: str = "mean",
    labels: dict[str, object] | None = None,
) -> Estimate:
    """The mean of one printed line (n, mean, sd with n - 1) and its iid floor: ``within_run_floor``, for no verdict."""
    from scipy.special import stdtrit

    codes: tuple[str, ...] = ("within_run_floor",)
    half = None
    if n < 1:
        codes = ("no_values",)
    elif n == 1 or not math.isfinite(sd):
        codes = ("no_replication",)
    else:
        half = float(stdtrit(n - 1, (1 + confidence) / 2)) * sd / math.sqrt(n)
    low, high = (None, None) if half is None else (mean_value - half, mean_value + half)
    estimate = mean_value if n >= 1 else None
    shown: dict[str, float | int | str | bool] = {} if half is None else {"standard_error": sd / math.sqrt(n)}
    own = dict(labels or {})
    return Estimate(
        what,
        estimate,
        low,
        high,
        unit,
        n,
        "within_run",
        confidence,
        FLOOR,
        codes,
        own,
        None,
        ("independent packets",),
        shown,
    )


def sample_sd(population_sd: float, n: int) -> float:
    """The sd with n - 1 from one with n, such as ping's mdev. NaN for n < 2."""
    return population_sd * math.sqrt(n / (n - 1)) if n > 1 else math.nan
