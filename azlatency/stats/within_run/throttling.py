"""Throttling: a throughput that falls to a lower level when a token bucket runs empty (Uta et al., NSDI 2020)."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pandas as pd

from azlatency.stats.arrays import Values
from azlatency.stats.within_run.change_points import best_partitions, remove_segment_means
from azlatency.stats.within_run.dependence import long_run_variance
from azlatency.stats.within_run.throughput_intervals import BURST_S, finite_rates

#: A stream that falls to this share of its rate stopped; token buckets leave more than a hundredth.
STOPPED = 1e-4


_METHOD = "one downward level shift, gain above 3 log(B) times the long-run variance"
_RATES = ("burst_rate", "sustained_rate", "at_s", "bucket")


def throttling(data: Values, seconds: float = 1.0, *, unit: str = "bit/s") -> pd.DataFrame:
    """Find out whether the rates of a run's intervals, of ``seconds`` each, fell to a lower one and stayed there.

    One row: ``found`` (boolean, whether a lasting fall was found; missing if the run is too short), ``burst_rate`` and
    ``sustained_rate`` (the median before and after it, in ``unit``; a median ignores the interval in which the rate
    falls), ``at_s`` (when, in s), ``bucket`` (traffic beyond the sustained rate until then, in ``unit`` times seconds),
    ``seconds`` (length of the run), ``unit``, ``statistic`` and ``flags``. ``short_series``: fewer than ten intervals,
    no answer. ``burst_test``: a run of less than 60 s can end before the token bucket is empty. A stream that stops is
    not throttled: intervals without traffic at its end do not count, nor does a fall to less than a ten-thousandth.

    One change point of the exact partition; its gain must exceed 3 log(B) times the long-run variance.

    >>> noise = np.random.default_rng(1).normal(0, 0.1, 120)
    >>> throttling(noise + np.repeat([10.0, 5.0], 60), unit="Gbit/s")["at_s"].tolist()
    [60.0]
    """
    return pd.DataFrame([fall_of_rates(data, seconds, unit)]).astype({"found": "boolean"})


def fall_of_rates(data: Values, seconds: float, unit: str = "bit/s") -> dict[str, Any]:
    """Return the row of `throttling`."""
    x, missing = finite_rates(data)
    total = (len(x) + missing) * seconds
    flags: tuple[str, ...] = ("missing",) if missing else ()
    flags += ("burst_test",) if total < BURST_S else ()
    x = np.trim_zeros(x, "b")
    row: dict[str, Any] = {"found": False, **dict.fromkeys(_RATES, math.nan), "seconds": total, "unit": unit}
    row |= {"scope": "within_run", "statistic": _METHOD, "flags": " ".join(flags)}
    if len(x) < 10:
        return row | {"found": None, "flags": " ".join([*flags, "short_series"])}
    partitions = best_partitions(x, 1, 3)
    if x.min() == x.max() or len(partitions) < 2:
        return row
    (_, squares), ((fall,), squares_after) = partitions
    burst, sustained = float(np.median(x[:fall])), float(np.median(x[fall:]))
    variance = max(long_run_variance(remove_segment_means(x, [fall])), 1e-12 * float(x.var()))
    is_shift = squares - squares_after > 3 * math.log(len(x)) * variance
    if not is_shift or not STOPPED * burst < sustained < 0.9 * burst:
        return row
    bucket = (burst - sustained) * fall * seconds
    return row | dict(zip(_RATES, (burst, sustained, fall * seconds, bucket), strict=True)) | {"found": True}
