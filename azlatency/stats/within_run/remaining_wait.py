"""The remaining wait at a random moment of a closed loop: coordinated omission as a user meets it.

A closed loop waits for each reply before it sends again, so a stall of a second is one slow value among thousands. A
user who arrives at a random moment meets the stall in proportion to its length, somewhere in its course, and waits for
what is left of it: after half of a 1 s stall, 0.5 s. (The whole length of the wait in progress is twice as much.)

Source: the equilibrium distribution of a renewal process (Cox, Renewal Theory, 1962, section 5.2).
"""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np
import pandas as pd
from scipy.special import stdtrit

from azlatency.stats.arrays import FloatArray, Values, to_array
from azlatency.stats.rows import Row, blank_estimate, joined
from azlatency.stats.within_run.dependence import autocorrelation_time, dependence
from azlatency.stats.within_run.one_run import NO_INTERVAL
from azlatency.stats.within_run.order_statistics import MIN_BEYOND
from azlatency.studies.format import percentile

#: Effective packets below which the interval is too short where long waits come together: it covers 83 to 89 % in a
#: queue at 80 % load.
ENOUGH_EFFECTIVE = 500
METHOD = "equilibrium distribution (Cox 1962); ratio estimator at the effective n of its influence (Woodruff 1952)"


def remaining_wait(
    data: Values, q: Iterable[float] = (0.5, 0.99), confidence: float = 0.95, *, unit: str = "ns"
) -> pd.DataFrame:
    """Estimate quantiles of the time until the outstanding reply, for a user who arrives at a random moment.

    ``data``: positive round-trip times in ``unit`` of a closed loop, in the order of sending, or the samples of one
    run.

    One row per level ``q``; ``mean`` (float64) is the mean remaining wait, sum x^2 / (2 sum x). The request of the user
    then takes a round trip of its own, which is not included. Without upper end with fewer than ten effective round
    trips above (``tail_unresolved``). A dependent run with fewer than 500 effective packets is flagged
    ``few_effective``. Refused with ``no_values``, ``not_positive`` and ``loss_censored`` (it is unknown how long the
    client waited for a lost reply); no interval with ``long_memory`` and ``few_clusters``.

    P(wait <= r) = sum min(x, r) / sum x (Cox, Renewal Theory, 1962, section 5.2). The interval of this share is a ratio
    estimate with the autocorrelation time of its influence min(x, r) - p x, turned back into values (Woodruff, JASA
    47:635, 1952). It assumes that the client waits all the time and sends as soon as it may.

    >>> one_stall = [1.0] * 9000 + [1000.0]
    >>> remaining_wait(one_stall, [0.95], unit="ms")["estimate"].round(3).item()
    500.0
    """
    x, missing = to_array(data)
    flags: tuple[str, ...] = ("missing",) if missing else ()
    refused = not len(x) or not np.isfinite(x).all() or x.min() <= 0
    if refused:
        flags += ("no_values" if not len(x) else "not_positive" if x.min() <= 0 else "loss_censored",)
    levels = []
    for p in q:
        row = blank_estimate(f"remaining wait, {percentile(p)}", unit, len(x), confidence, METHOD, labels={"q": p})
        levels.append(row | {"flags": joined(flags), "mean": math.nan})
    if refused:
        return pd.DataFrame(levels)
    ordered = np.sort(x)
    # The share of time with a remaining wait up to each value; between values it is linear.
    share = np.cumsum(ordered) + ordered * np.arange(len(x) - 1, -1, -1)
    share /= share[-1]
    measured = dependence(x)
    flags = (*flags, *measured.flags, *measured.warnings)
    return pd.DataFrame([row | _estimate(row, flags, x, ordered, share, measured.tau) for row in levels])


def _estimate(
    blank: Row, flags: tuple[str, ...], x: FloatArray, ordered: FloatArray, share: FloatArray, overall_tau: float
) -> Row:
    """Return the columns of one quantile from the sorted values and the share of time that each ends."""
    n, p = len(x), float(blank["q"])

    def value_at(level: float) -> float:
        return float(np.interp(level, np.concatenate([[0.0], share]), np.concatenate([[0.0], ordered])))

    value = value_at(p)
    influence = np.minimum(x, value) - p * x
    tau = max(autocorrelation_time(influence), 1.0)
    error = float(influence.std()) / float(x.mean()) * math.sqrt(tau / n)
    half = float(stdtrit(max(n / tau / 2 - 1, 1), (1 + blank["confidence"]) / 2)) * error
    # Judged by its own tau alone, the quantile would count as resolved just when that came out too small.
    exceedances = (n - int(np.searchsorted(ordered, value, "right"))) / max(tau, overall_tau)
    low = value_at(p - half) if p > half else 0.0
    high = value_at(p + half) if p + half < 1 else math.nan
    if exceedances < MIN_BEYOND:
        flags, high = (*flags, "tail_unresolved"), math.nan
    flags += ("unbounded_upper",) if math.isnan(high) else ()
    if NO_INTERVAL & set(flags):
        low = high = math.nan
    elif tau > 2 and n / tau < ENOUGH_EFFECTIVE:
        flags += ("few_effective",)
    mean = float((x * x).sum() / (2 * x.sum()))
    ends = {"estimate": value, "low": low, "high": high}
    return ends | {"flags": joined(flags), "n_effective": n / tau, "mean": mean}
