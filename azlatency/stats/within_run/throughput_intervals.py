"""The mean rate of one throughput run from its reporting intervals.

Sources: Andrews & Monahan, Econometrica 60:953 (1992); Ljung & Box, Biometrika 65:297 (1978).
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pandas as pd
from scipy.special import stdtrit

from azlatency.stats.arrays import FloatArray, Values, to_array
from azlatency.stats.rows import Row, blank_estimate, joined
from azlatency.stats.within_run.dependence import ljung_box, long_run_variance

SHORT = "Student t of interval rates as if independent"
LONG = "Student t, prewhitened long-run variance (Andrews & Monahan 1992)"
#: Fewest intervals for an interval of the mean, and fewest of which autocorrelation can be estimated.
FEWEST, DEPENDENT = 5, 30
#: A shorter test shows the burst rate and not the sustained rate.
BURST_S = 60


def interval_mean(
    data: Values, seconds: float | Sequence[float] = 1.0, *, confidence: float = 0.95, unit: str = "bit/s"
) -> pd.DataFrame:
    """Estimate the mean rate of one run from its reporting intervals: total over total time.

    ``data``: rates in ``unit``, in order, without omitted intervals; ``seconds``: the length of all, or of each.

    One row: the mean rate. Fewer than 5 intervals have no confidence interval, fewer than 30 are treated as
    independent; both are flagged ``short_series``. ``burst_test``: less than 60 s in total. ``ljung_box_p``: small if
    neighbouring intervals depend on each other. ``ramp``: how far the first interval lies below the prediction of the
    others, in standard errors; below about -3 the test was still accelerating. Student's t; from 30 intervals on at the
    effective sample size with the prewhitened long-run variance (Andrews & Monahan 1992).

    >>> rate = interval_mean([7.26, 8.36, 8.32, 8.43, 7.62, 6.77, 7.69, 7.72, 8.26, 8.67], unit="Gbit/s")
    >>> round(rate["estimate"].item(), 2), rate["flags"].item()
    (7.91, 'burst_test short_series')
    """
    return pd.DataFrame([mean_rate(data, seconds, confidence=confidence, unit=unit)])


def mean_rate(
    data: Values, seconds: float | Sequence[float] = 1.0, *, confidence: float = 0.95, unit: str = "bit/s"
) -> Row:
    """Return the row of `interval_mean`."""
    x, missing = finite_rates(data)
    n = len(x)
    given = np.asarray(seconds, dtype="float64")
    if given.ndim and len(given) != n + missing:
        raise ValueError(f"{len(given)} lengths for {n + missing} rates; pass one length, or one per rate")
    lengths = np.broadcast_to(given, (n + missing,))
    flags = ["missing"] if missing else []
    # Missing intervals take their length with them; equal lengths are the rule.
    weights = np.full(n, float(lengths.mean())) if missing and n else lengths[:n]
    if n and float(lengths.sum()) < BURST_S:
        flags.append("burst_test")
    method = SHORT if n < DEPENDENT else LONG
    row = blank_estimate("mean rate", unit, n, confidence, method, numbers=["ljung_box_p", "ramp"])
    if n:
        row["estimate"] = float(np.average(x, weights=weights))
    if n < DEPENDENT:
        flags.append("short_series" if n else "no_values")
    if n >= FEWEST:
        variance = float(x.var(ddof=1))
        effective, degrees, error = _standard_error(x, variance)
        half = float(stdtrit(degrees, (1 + confidence) / 2)) * error
        low, high = row["estimate"] - half, row["estimate"] + half
        flags += ["constant"] if variance == 0 else []
        row |= {"n_effective": effective, **_dependence_checks(x)}
        # No rate is negative, and a mean is within its values: the run has too few independent intervals. The mean of
        # equal values may be rounded away from them.
        is_beyond = n >= DEPENDENT and x.min() < x.max() and (low < x.min() or high > x.max())
        if low < 0 <= x.min() or is_beyond:
            flags.append("few_effective")
        else:
            row |= {"low": low, "high": high}
    return row | {"flags": joined(flags)}


def finite_rates(data: Values) -> tuple[FloatArray, int]:
    """Return the finite rates and how many are missing: an infinite rate was not measured."""
    x, missing = to_array(data)
    finite = np.isfinite(x)
    return x[finite], missing + int((~finite).sum())


def _standard_error(x: FloatArray, variance: float) -> tuple[float, float, float]:
    """Return effective sample size, degrees of freedom and standard error of the mean."""
    n = len(x)
    if n < DEPENDENT:
        return float(n), float(n - 1), math.sqrt(variance / n)
    long_run = max(long_run_variance(x), variance * 1e-3)
    effective = min(n * variance / long_run, float(n)) if variance else float(n)
    return effective, max(effective / 2 - 1, 1.0), math.sqrt(max(long_run, variance) / n)


def _dependence_checks(x: FloatArray) -> Row:
    """Return ``ljung_box_p`` and ``ramp``, where the rates vary."""
    n, numbers = len(x), {}
    if x.var(ddof=1) != 0:
        numbers["ljung_box_p"] = ljung_box(x, max(min(10, n // 5), 1))[1]
    error = float(x[1:].std(ddof=1)) * math.sqrt(1 + 1 / (n - 1))
    if error > 0:
        numbers["ramp"] = float(x[0] - x[1:].mean()) / error
    return numbers
