"""How long connections live, when some were still alive at the end of the test (right-censored).

Sources: Kaplan & Meier, JASA 53:457 (1958); Brookmeyer & Crowley, Biometrics 38:29 (1982); Garwood, Biometrika 28:437
(1936).
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.stats import CensoredData, chi2, ecdf

from azlatency.stats.arrays import FloatArray

METHOD = (
    "Kaplan & Meier 1958, log-log interval (Brookmeyer & Crowley 1982); rate: exact Poisson (Garwood 1936), for a "
    "constant hazard"
)


class Lifetimes(NamedTuple):
    """How long connections live, with those counted that outlived the test.

    Attributes
    ----------
    summary : DataFrame
        One row: the median lifetime (``estimate``, ``low`` and ``high`` in s), ``n`` connections, ``losses``, their
        ``seconds`` together, and the lost connections per second: ``rate`` with ``rate_low`` and ``rate_high``.
    curve : DataFrame
        One row per time of a loss: ``time`` in s, the surviving ``share``, and the ``low`` and ``high`` end of its
        interval.
    """

    summary: pd.DataFrame
    curve: pd.DataFrame


def lifetimes(seconds: Iterable[float], lost: Iterable[bool], *, confidence: float = 0.95) -> Lifetimes:
    """Estimate the lifetime of connections; those that were not ``lost`` outlived the test (right-censored).

    ``seconds``: the duration of each; an unknown one (NaN or infinite) is left out. Kaplan & Meier (1958) with the
    log-log interval (Brookmeyer & Crowley 1982); rate with the exact Poisson interval (Garwood 1936), for a constant
    hazard. The median has no upper end while more than half survive (``unbounded_upper``); ``no_values`` and
    ``no_replication`` for no and one connection.

    >>> lifetimes([3600.0, 3600.0, 1210.0], [False, False, True]).curve[["time", "share"]].round(3).values.tolist()
    [[1210.0, 0.667]]
    """
    times, ends = np.asarray(list(seconds), dtype="float64"), np.asarray(list(lost), dtype=bool)
    if times.shape != ends.shape:
        raise ValueError(f"{len(times)} lifetimes, {len(ends)} ends; pass one end per lifetime")
    known = np.isfinite(times)
    missing = not known.all()
    times, ends = times[known], ends[known]
    n, losses, total = len(times), int(ends.sum()), float(times.sum())
    curve = _survival_curve(times, ends, confidence)
    flags: tuple[str, ...] = ("missing",) if missing else ()
    flags += () if n else ("no_values",)
    flags += ("no_replication",) if n == 1 else ()
    median, low, high = (next((point[0] for point in curve if point[column] <= 0.5), None) for column in (1, 2, 3))
    flags += ("unbounded_upper",) if n and high is None else ()
    tail = (1 - confidence) / 2
    rate = losses / total if total else math.nan
    rate_low = float(chi2.ppf(tail, 2 * losses)) / 2 / total if losses and total else 0.0
    rate_high = float(chi2.ppf(1 - tail if losses else confidence, 2 * losses + 2)) / 2 / total if total else math.nan
    summary = {
        **{"what": "median lifetime", "estimate": median, "low": low, "high": high, "unit": "s", "n": n},
        **{"losses": losses, "seconds": total, "rate": rate, "rate_low": rate_low, "rate_high": rate_high},
        **{"scope": "across_runs", "confidence": confidence, "statistic": METHOD, "flags": " ".join(flags)},
    }
    numbers = dict.fromkeys(("estimate", "low", "high"), "float64")
    return Lifetimes(
        pd.DataFrame([summary]).astype(numbers),
        pd.DataFrame(curve, columns=["time", "share", "low", "high"], dtype="float64"),
    )


def _survival_curve(
    times: FloatArray, ends: NDArray[np.bool_], confidence: float
) -> list[tuple[float, float, float, float]]:
    """Return the Kaplan-Meier curve with pointwise log-log intervals, one point per time of a loss."""
    if not ends.any():
        return []
    survival = ecdf(CensoredData(uncensored=times[ends], right=times[~ends])).sf
    with np.errstate(invalid="ignore", divide="ignore"), warnings.catch_warnings():
        # At a share of 0 the log-log interval is undefined; its upper end stays (below).
        warnings.simplefilter("ignore", RuntimeWarning)
        interval = survival.confidence_interval(confidence, method="log-log")
    points: list[tuple[float, float, float, float]] = []
    for time in np.unique(times[ends]):
        share, low, high = (float(curve.evaluate(time)) for curve in (survival, interval.low, interval.high))
        if math.isnan(low) or math.isnan(high):
            low, high = 0.0, points[-1][3] if points else 1.0
        points.append((float(time), share, low, high))
    return points
