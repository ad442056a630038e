"""Throttling: a throughput that falls to a lower level when a token bucket runs empty (Uta et al., NSDI 2020)."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar, Literal

import numpy as np

from azlatency.stats.result import Result, Row
from azlatency.stats.within_run.change_points import best_partitions, remove_segment_means
from azlatency.stats.within_run.dependence import long_run_variance
from azlatency.stats.within_run.throughput_intervals import BURST_S, finite_rates

if TYPE_CHECKING:
    from azlatency.stats.arrays import Values

#: A stream that falls to this share of its rate stopped; token buckets leave more than a hundredth.
STOPPED = 1e-4


@dataclass(frozen=True, slots=True, kw_only=True)
class Throttling(Result):
    """Whether and when a throughput run was throttled.

    Attributes
    ----------
    found : bool or None
        Whether a lasting fall was found; None if the run is too short.
    burst_rate, sustained_rate : float or None
        Median rate before and after the fall, in ``unit``. A median ignores the interval in which the rate falls.
    at_s : float or None
        Time of the fall in s.
    bucket : float or None
        Traffic beyond the sustained rate until then, in ``unit`` times seconds.
    seconds : float
        Length of the run in s.
    """

    found: bool | None
    seconds: float
    unit: str
    burst_rate: float | None = None
    sustained_rate: float | None = None
    at_s: float | None = None
    bucket: float | None = None
    codes: tuple[str, ...] = ()
    method: str = "one downward level shift, gain above 3 log(B) times the long-run variance"
    scope: Literal["within_run"] = "within_run"

    ROW: ClassVar[Row] = (
        "found", "burst_rate", "sustained_rate", "at_s", "bucket", "seconds", "unit", "scope", ("statistic", "method"),
    )  # fmt: skip

    def __str__(self) -> str:
        if self.found is None:
            return f"throttling: not estimable{self.flag_note}"
        if not self.found:
            return f"no throttling within {self.seconds:.6g} s, {self.scope}{self.flag_note}"
        return (
            f"throttled after {self.at_s:.6g} s: {self.burst_rate:.6g} {self.unit}, then {self.sustained_rate:.6g} "
            f"{self.unit}, {self.scope}{self.flag_note}"
        )


def throttling(data: Values, seconds: float = 1.0, *, unit: str = "bit/s") -> Throttling:
    """Find out whether a throughput run fell to a lower rate and stayed there.

    Parameters
    ----------
    data : array_like, shape (n,)
        Rates of the reporting intervals, in ``unit``.
    seconds : float
        Length of each interval in s.
    unit : str
        Unit of the rates.

    Returns
    -------
    Throttling
        Rates before and after the fall. ``short_series``: fewer than ten intervals, no answer. ``burst_test``: a run of
        less than 60 s can end before the token bucket is empty. A stream that stops is not throttled: intervals without
        traffic at its end do not count, nor does a fall to less than a ten-thousandth.

    Notes
    -----
    One change point of the exact partition; its gain must exceed 3 log(B) times the long-run variance.

    Examples
    --------
    >>> import numpy as np
    >>> from azlatency.stats.within_run.throttling import throttling
    >>> noise = np.random.default_rng(1).normal(0, 0.1, 120)
    >>> throttling(noise + np.repeat([10.0, 5.0], 60), unit="Gbit/s").at_s
    60.0
    """
    x, missing = finite_rates(data)
    total = (len(x) + missing) * seconds
    codes: tuple[str, ...] = ("missing",) if missing else ()
    codes += ("burst_test",) if total < BURST_S else ()
    x = np.trim_zeros(x, "b")
    result = Throttling(found=False, seconds=total, unit=unit, codes=codes)
    if len(x) < 10:
        return replace(result, found=None, codes=(*codes, "short_series"))
    partitions = best_partitions(x, 1, 3)
    if x.min() == x.max() or len(partitions) < 2:
        return result
    (_, before), ((at,), after) = partitions
    burst, sustained = float(np.median(x[:at])), float(np.median(x[at:]))
    variance = max(long_run_variance(remove_segment_means(x, [at])), 1e-12 * float(x.var()))
    if sustained <= STOPPED * burst or before - after <= 3 * math.log(len(x)) * variance or sustained >= 0.9 * burst:
        return result
    return replace(
        result,
        found=True,
        burst_rate=burst,
        sustained_rate=sustained,
        at_s=at * seconds,
        bucket=(burst - sustained) * at * seconds,
    )
