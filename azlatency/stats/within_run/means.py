"""The mean of one run, from its samples or from the line that a tool printed.

From samples: Student's t at the effective sample size (Geyer 1992), or from 30 batch means if that is wider. A few very
late packets dominate the mean of a heavy tail; then no interval of the mean is valid.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from azlatency.stats.arrays import to_array
from azlatency.stats.result import Estimate
from azlatency.stats.within_run.dependence import batch_error, dependence

if TYPE_CHECKING:
    from azlatency.stats.arrays import FloatArray, Values

METHOD = "Student t at the effective sample size (Geyer 1992), widened to that of 30 batch means"
PRINTED_METHOD = "Student t from n, mean and sd, as if the packets were independent"
#: Number of batches of the second error estimate.
BATCHES = 30


def mean(
    data: Values,
    *,
    confidence: float = 0.95,
    unit: str = "ns",
) -> Estimate:
    """Estimate the mean of one run, with an interval that accounts for the dependence of packets.

    Parameters
    ----------
    data : array_like, Series or DataFrame, shape (n,)
        Values in ``unit`` in the order of sending, or the samples of one run. Missing values are dropped and counted;
        ``inf`` is a lost probe.
    confidence : float
        Level of the interval, between 0 and 1.
    unit : str
        Unit of the values.

    Returns
    -------
    Estimate
        The mean. ``diagnostics`` include the median, the standard deviation and the weight of the tail. The interval
        may be too short with ``few_effective`` (see `quantiles`). It is missing with the flags ``mean_tail_dominated``,
        ``long_memory``, ``few_clusters`` (a dependent run with fewer than 30 effective values) and ``no_replication``
        (one value); the estimate as well with ``loss_censored`` (a lost probe has no finite round-trip time) and
        ``no_values``.

    Raises
    ------
    ValueError
        If the data are not one-dimensional or come from several runs.

    Notes
    -----
    Student's t at the effective sample size of Geyer, Statistical Science 7:473 (1992), or from 30 batch means if that
    interval is wider.

    Examples
    --------
    >>> import numpy as np
    >>> from azlatency.stats.within_run.means import mean
    >>> values = np.random.default_rng(1).normal(200, 10, 5_000)
    >>> print(mean(values, unit="µs"))  # doctest: +ELLIPSIS
    mean: ...
    """
    import numpy as np
    from scipy.special import stdtrit

    x, missing = to_array(data)
    n = len(x)
    codes: list[str] = ["missing"] if missing else []
    diagnostics: dict[str, float | int | str | bool] = {"missing": missing}

    def result(estimate: float | None, half: float | None, n_effective: float | None = None) -> Estimate:
        low, high = (None, None) if estimate is None or half is None else (estimate - half, estimate + half)
        return Estimate(
            what="mean", estimate=estimate, low=low, high=high, unit=unit, n=n, scope="within_run",
            confidence=confidence, method=METHOD, codes=tuple(codes), n_effective=n_effective,
            assumptions=("stationary during the run", "short memory", "finite variance"), diagnostics=diagnostics,
        )  # fmt: skip

    if not n or not np.isfinite(x).all():
        codes.append("loss_censored" if n else "no_values")
        return result(None, None)
    estimate = float(x.mean())
    if n == 1:
        codes.append("no_replication")
        return result(estimate, None)
    sd = float(x.std(ddof=1))
    if x.min() == x.max():
        codes.append("constant")
        return result(estimate, 0.0, float(n))
    measured = dependence(x)
    weight = tail_weight(x)
    diagnostics |= {"median": float(np.median(x)), "sd": sd, **weight.diagnostics, **measured.diagnostics}
    degrees = max(measured.n_effective / 2 - 1, 1.0)
    half = float(stdtrit(degrees, (1 + confidence) / 2)) * sd / math.sqrt(measured.n_effective)
    if n >= 2 * BATCHES:
        half = max(half, float(stdtrit(BATCHES - 1, (1 + confidence) / 2)) * batch_error(x, BATCHES))
    refusals = (("mean_tail_dominated",) if weight.dominates else ()) + measured.codes
    codes += (*refusals, *measured.warnings)
    return result(estimate, None if refusals else half, measured.n_effective)


@dataclass(frozen=True, slots=True, kw_only=True)
class TailWeight:
    """How much the largest values of a run contribute to its mean.

    Attributes
    ----------
    n : int
        Number of values.
    share : float
        Share of the largest 0.1 % of the values (at least one) in the sum; 0 for fewer than 1,000 values.
    max_over_median : float
        Largest value over the median; NaN unless that is positive.
    skewness : float
        Skewness of the values.
    spike_rate : float
        Share of values above ten times the median.
    """

    n: int
    share: float
    max_over_median: float
    skewness: float
    spike_rate: float

    @property
    def dominates(self) -> bool:
        """Whether the tail invalidates every interval of the mean.

        True if the largest values carry more than a tenth of the sum, or if n <= 25 skewness^2 (Cochran, Sampling
        Techniques, 1977, p. 42): one spike among n equal values has the skewness sqrt(n), and about 25 spikes are
        needed to estimate how often they occur.
        """
        return self.n >= 100 and (self.share > 0.1 or self.n < 25 * self.skewness**2)

    @property
    def diagnostics(self) -> dict[str, float]:
        """Numbers for `Estimate.diagnostics`."""
        numbers = {
            "top_share": self.share, "max_over_median": self.max_over_median, "skewness": self.skewness,
            "spike_rate": self.spike_rate,
        }  # fmt: skip
        return {name: number for name, number in numbers.items() if not math.isnan(number)}


def tail_weight(x: FloatArray) -> TailWeight:
    """Measure the `TailWeight` of at least two values that are not all equal."""
    import numpy as np

    n = len(x)
    top = max(n // 1000, 1)
    total, median = float(x.sum()), float(np.median(x))
    share = float(np.partition(x, n - top)[n - top :].sum()) / total if n >= 1000 and x.min() >= 0 else 0.0
    deviation = x - x.mean()
    variance = float((deviation * deviation).mean())
    skewness = float((deviation * deviation * deviation).mean()) / variance**1.5
    ratio = float(x.max()) / median if median > 0 else math.nan
    spike_rate = float((x > 10 * median).mean())
    return TailWeight(n=n, share=share, max_over_median=ratio, skewness=skewness, spike_rate=spike_rate)


def mean_from_summary(
    n: int,
    mean_value: float,
    sd: float,
    *,
    confidence: float = 0.95,
    unit: str = "ns",
) -> Estimate:
    """Estimate the mean from the count, mean and standard deviation that a tool printed.

    Parameters
    ----------
    n : int
        Number of packets.
    mean_value, sd : float
        Printed mean and standard deviation (with n - 1), in ``unit``.
    confidence : float
        Level of the interval, between 0 and 1.
    unit : str
        Unit of the values.

    Returns
    -------
    Estimate
        The mean. Its interval is a lower bound (``within_run_floor``), because the printed line does not show how
        packets depend on each other; no verdict may rest on it.

    Notes
    -----
    Student's t with n - 1 degrees of freedom.

    Examples
    --------
    >>> from azlatency.stats.within_run.means import mean_from_summary
    >>> printed = mean_from_summary(9760, 118.4, 41.2, unit="µs")
    >>> round(printed.low, 1), round(printed.high, 1), printed.codes
    (117.6, 119.2, ('within_run_floor',))
    """
    from scipy.special import stdtrit

    codes: tuple[str, ...] = ("within_run_floor",)
    half = None
    given = n >= 1 and math.isfinite(mean_value)
    if not given:
        codes = ("no_values",)
    elif n == 1 or not 0 <= sd < math.inf:
        codes = ("no_replication",)
    else:
        half = float(stdtrit(n - 1, (1 + confidence) / 2)) * sd / math.sqrt(n)
    low, high = (None, None) if half is None else (mean_value - half, mean_value + half)
    return Estimate(
        what="mean", estimate=mean_value if given else None, low=low, high=high, unit=unit, n=n, scope="within_run",
        confidence=confidence, method=PRINTED_METHOD, codes=codes,
        assumptions=("independent packets",), diagnostics={} if half is None else {"standard_error": sd / math.sqrt(n)},
    )  # fmt: skip
