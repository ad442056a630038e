"""Fan-out: the latency of a request that waits for the slowest of many calls (Dean & Barroso, CACM 56(2):74, 2013)."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd

from azlatency.stats.arrays import Values, to_array
from azlatency.stats.within_run.quantiles import quantiles
from azlatency.studies.format import percentile


def fan_out(
    data: Values, n_calls: int, p: float = 0.5, *, confidence: float = 0.95, independent: bool = False, unit: str = "ns"
) -> pd.DataFrame:
    """Estimate the p-quantile of the slowest of ``n_calls`` parallel calls from the single round trips of a run.

    It is the p ** (1/N)-quantile of one call (Dean & Barroso 2013), for calls that are independent of each other; if
    calls are slow together, the truth is lower. ``data``: values in ``unit`` in the order of sending, or samples;
    ``independent`` ones have exact binomial ranks. ``block_maxima`` (float64): the same quantile over blocks of
    ``n_calls`` consecutive packets, which contain the dependence; missing if it is a lost probe. ``tail_unresolved``:
    less than one observation above the single-call quantile.
    """
    if n_calls < 1 or not 0 < p < 1:
        raise ValueError(f"n_calls = {n_calls}, p = {p}: need at least one call and 0 < p < 1")
    single = quantiles(data, float(p ** (1 / n_calls)), confidence, independent=independent, unit=unit)
    x, _ = to_array(data)
    blocks, maximum = len(x) // n_calls, math.nan
    if blocks:
        maxima = np.sort(x[: blocks * n_calls].reshape(blocks, n_calls).max(axis=1))
        maximum = float(maxima[max(math.ceil(blocks * p) - 1, 0)])
    return single.assign(
        what=f"{percentile(p)} of the slowest of {n_calls} calls",
        n_calls=n_calls,
        q=p,
        block_maxima=maximum if math.isfinite(maximum) else math.nan,
    )
