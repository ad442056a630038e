"""Coordinated omission: a closed loop under-samples slow replies, because it waits for them before it sends again.

The same run is described by request (each round trip counts once), by time (each counts as long as it lasts, which is
what a request at a random moment meets), and back-filled for a client that intended a fixed interval.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar, Literal

from azlatency.stats.arrays import to_array
from azlatency.stats.result import Estimate, Result, Results, Row
from azlatency.stats.within_run.dependence import autocorrelation_time, dependence
from azlatency.stats.within_run.order_statistics import MIN_BEYOND, point_rank
from azlatency.stats.within_run.quantiles import LEVELS, quantiles

if TYPE_CHECKING:
    import pandas as pd

    from azlatency.stats.arrays import FloatArray, Values

WEIGHTED = "quantile weighted by duration; ratio estimator at the effective n of its influence (Woodruff 1952)"
BACKFILLED = "HdrHistogram's back-fill for an intended interval; no interval, the added values are a model"
_MOST_ADDED = 100_000_000


def backfill(data: Values, interval: float) -> FloatArray:
    """Add the values that a client with an intended sending interval would have seen while it waited.

    Parameters
    ----------
    data : array_like, Series or DataFrame, shape (n,)
        Round-trip times in the order of sending.
    interval : float
        Intended time between sends, in the unit of the data.

    Returns
    -------
    ndarray of float64
        The values, then the added ones.

    Raises
    ------
    ValueError
        If the interval is not positive, or more than 1e8 values would be added.

    Notes
    -----
    HdrHistogram's rule: a value v > interval adds v - interval, v - 2 interval, ... down to ``interval``. This is a
    model, valid only if the client was to send at a fixed rate; ping-pong at full speed has no such rate.

    Examples
    --------
    >>> from azlatency.stats.within_run.coordinated_omission import backfill
    >>> backfill([1.0, 5.0], 2.0)
    array([1., 5., 3.])
    """
    import numpy as np

    if not interval > 0:
        raise ValueError(
            f"interval = {interval}: the intended interval must be positive; full-speed ping-pong has none"
        )
    x, _ = to_array(data)
    late = x[np.isfinite(x) & (x >= 2 * interval)]
    counts = np.floor(late / interval).astype("int64") - 1
    added = int(counts.sum())
    if added > _MOST_ADDED:
        raise ValueError(f"{added:,} values would be added: is the interval {interval:g} in the unit of the data?")
    step = np.arange(added) - np.repeat(np.cumsum(counts) - counts, counts) + 1
    return np.concatenate([x, np.repeat(late, counts) - step * interval])


def time_weighted_quantiles(
    data: Values,
    q: Iterable[float] = LEVELS,
    confidence: float = 0.95,
    *,
    unit: str = "ns",
    labels: Mapping[str, object] | None = None,
) -> Results[Estimate]:
    """Estimate time-weighted quantiles of a closed loop: the wait in progress at a random moment.

    Parameters
    ----------
    data : array_like, Series or DataFrame, shape (n,)
        Positive round-trip times in ``unit``, in the order of sending, or the samples of one run.
    q : iterable of float
        Levels, between 0 and 1.
    confidence : float
        Level of the intervals, between 0 and 1.
    unit : str
        Unit of the values.
    labels : mapping, optional
        Labels of the estimates.

    Returns
    -------
    Results[Estimate]
        One estimate per level; each round trip counts in proportion to its duration. Without upper end with fewer than
        ten effective values above (``tail_unresolved``). Refused with ``no_values``, ``not_positive`` and
        ``loss_censored``; no interval with ``long_memory`` and ``few_clusters``.

    Notes
    -----
    The interval of the weighted share below the quantile is a ratio estimate with the autocorrelation time of its
    influence x (1{x <= q} - p), turned back into values (Woodruff, JASA 47:635, 1952).
    """
    import numpy as np

    x, missing = to_array(data)
    refusal: tuple[str, ...] = ()
    if not len(x) or not np.isfinite(x).all() or x.min() <= 0:
        refusal = ("no_values" if not len(x) else "not_positive" if x.min() <= 0 else "loss_censored",)
    blank = Estimate(
        what="", estimate=None, low=None, high=None, unit=unit, n=len(x), scope="within_run", confidence=confidence,
        method=WEIGHTED, codes=refusal,
    )  # fmt: skip
    if refusal:
        return Results(replace(blank, what=f"p{100 * p:g} by time") for p in q)
    ordered = np.sort(x, kind="stable")
    weight = np.cumsum(ordered)
    weight /= weight[-1]
    measured = dependence(x)
    blank = replace(blank, codes=("missing",) if missing else ())
    results = Results[Estimate]()
    for p in map(float, q):
        result = _estimate_weighted(blank, x, ordered, weight, p, measured.tau)
        result = replace(result, what=f"p{100 * p:g} by time", labels={**(labels or {}), "q": p})
        if measured.codes:
            result = replace(result, low=None, high=None, codes=(*result.codes, *measured.codes))
        results.append(result)
    return results


def _estimate_weighted(
    blank: Estimate, x: FloatArray, ordered: FloatArray, weight: FloatArray, p: float, overall_tau: float
) -> Estimate:
    """Estimate one time-weighted quantile from the sorted values and the share of time up to each."""
    import numpy as np
    from scipy.special import stdtrit

    n = len(x)
    at = min(int(np.searchsorted(weight, p * (1 - 1e-12))), n - 1)
    value = float(ordered[at])
    influence = x * ((x <= value) - p)
    tau = max(autocorrelation_time(influence), 1.0)
    error = float(influence.std()) / float(x.mean()) * math.sqrt(tau / n)
    half = float(stdtrit(max(n / tau / 2 - 1, 1), (1 + blank.confidence) / 2)) * error
    # Judged by its own tau alone, the quantile would count as resolved just when that came out too small.
    exceedances = (n - 1 - at) / max(tau, overall_tau)
    low = float(ordered[min(int(np.searchsorted(weight, p - half)), n - 1)]) if p - half > 0 else None
    high = float(ordered[int(np.searchsorted(weight, p + half))]) if p + half < weight[-1] - 1e-12 else None
    codes = blank.codes
    if exceedances < MIN_BEYOND:
        codes, high = (*codes, "tail_unresolved"), None
    if high is None:
        codes = (*codes, "unbounded_upper")
    return replace(
        blank, estimate=value, low=low, high=high, codes=codes, n_effective=n / tau,
        assumptions=("a closed loop that sends as soon as it may", "stationary during the run"),
        diagnostics={"tau": tau, "exceedances_effective": exceedances},
    )  # fmt: skip


def mean_residual_wait(data: Values) -> float:
    """Return the mean remaining wait at a random moment of a closed loop: sum x^2 / (2 sum x).

    NaN without values, and if a probe was lost: it is unknown how long the client would have waited for it.
    """
    import numpy as np

    x, _ = to_array(data)
    return float((x * x).sum() / (2 * x.sum())) if len(x) and np.isfinite(x).all() else math.nan


@dataclass(frozen=True, slots=True, kw_only=True)
class CoordinatedOmission(Result):
    """Quantiles of one closed-loop run by request, by time and back-filled.

    Attributes
    ----------
    by_request, by_time, back_filled : tuple of Estimate
        The same quantiles; ``back_filled`` is empty without an intended interval.
    residual_wait : float
        Mean remaining wait at a random moment, in ``unit``.
    added : int
        Number of values that the back-fill added.
    """

    by_request: tuple[Estimate, ...]
    by_time: tuple[Estimate, ...]
    back_filled: tuple[Estimate, ...]
    residual_wait: float
    added: int
    unit: str
    codes: tuple[str, ...] = ()
    scope: Literal["within_run"] = "within_run"

    ROW: ClassVar[Row] = ("residual_wait", "added", "unit", "scope")

    def to_frame(self) -> pd.DataFrame:
        """Return one row per quantile and way of counting (column ``counted_by``)."""
        import pandas as pd

        ways = (("request", self.by_request), ("time", self.by_time), ("back-filled", self.back_filled))
        return pd.DataFrame(
            [{"counted_by": way, **estimate.row()} for way, estimates in ways for estimate in estimates]
        )

    def __str__(self) -> str:
        pairs = zip(self.by_request, self.by_time, strict=True)
        lines = [f"{request}\n{time}" for request, time in pairs] + [str(estimate) for estimate in self.back_filled]
        wait = f"mean remaining wait at a random moment: {self.residual_wait:.6g} {self.unit}, {self.scope}"
        return "\n".join([*lines, wait])


def coordinated_omission(
    data: Values,
    q: Iterable[float] = (0.5, 0.99),
    *,
    interval: float | None = None,
    confidence: float = 0.95,
    unit: str = "ns",
) -> CoordinatedOmission:
    """Compare the quantiles of a closed-loop run by request, by time and back-filled.

    Parameters
    ----------
    data : array_like, Series or DataFrame, shape (n,)
        Round-trip times in ``unit``, in the order of sending, or the samples of one run.
    q : iterable of float
        Levels, between 0 and 1.
    interval : float, optional
        Intended time between sends, in ``unit``. Leave it out for ping-pong at full speed, which has no intended rate.
    confidence : float
        Level of the intervals, between 0 and 1.
    unit : str
        Unit of the values.

    Returns
    -------
    CoordinatedOmission
        The quantiles. Back-filled ones have no interval, because their values are modelled.

    Notes
    -----
    `time_weighted_quantiles` and `backfill` (HdrHistogram's rule).
    """
    import numpy as np

    levels = [float(level) for level in q]
    x, _ = to_array(data)
    filled: list[Estimate] = []
    added = 0
    if interval is not None:
        ordered = np.sort(backfill(x, interval))
        added = len(ordered) - len(x)
        filled = [
            Estimate(
                what=f"p{100 * p:g} back-filled",
                estimate=float(ordered[point_rank(len(ordered), p) - 1]) if len(ordered) else None, low=None, high=None,
                unit=unit, n=len(x), scope="within_run", confidence=confidence, method=BACKFILLED,
                codes=() if len(ordered) else ("no_values",), labels={"q": p},
            )
            for p in levels
        ]  # fmt: skip
    return CoordinatedOmission(
        by_request=tuple(quantiles(x, levels, confidence, unit=unit)),
        by_time=tuple(time_weighted_quantiles(x, levels, confidence, unit=unit)), back_filled=tuple(filled),
        residual_wait=mean_residual_wait(x), added=added, unit=unit,
    )  # fmt: skip
