"""Is the tail of a run heavy? Peaks over a threshold, fitted by a generalised Pareto distribution (GPD).

Exceedances of a high threshold follow a GPD if the tail is smooth. Rare timeouts mixed into the bulk do not, and
intervals from a fit to them cover 42-61 %. Refusing a bad fit therefore matters more than the fit.

Sources: Coles, An Introduction to Statistical Modeling of Extreme Values (2001), ch. 4; Bader, Yan & Zhang, Annals of
Applied Statistics 12:310 (2018).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, ClassVar, Literal

from azlatency.stats.arrays import to_array
from azlatency.stats.result import Estimate, Result, Row
from azlatency.stats.within_run.clusters import cluster_maxima
from azlatency.stats.within_run.gpd import (
    Gpd,
    anderson_darling,
    exceeds_observed_maximum,
    fit_gpd,
    gof_p,
    profile_shape,
)

if TYPE_CHECKING:
    from azlatency.stats.arrays import FloatArray, Values

METHOD = (
    "peaks over threshold: GPD by Grimshaw 1993, declustered (Ferro & Segers 2003), profile likelihood (Coles 2001)"
)
#: Shares of the run that are tried as exceedances, lowest threshold first; at most `MOST` exceedances.
FRACTIONS = (0.1, 0.075, 0.05, 0.035, 0.025, 0.0175, 0.0125, 0.01, 0.0075, 0.005, 0.0035, 0.0025, 0.00175, 0.00125)
MOST = 5000
#: Fewest clusters for a return level, fewest for a shape, fewest distinct exceedances, level of the goodness of fit.
CLUSTERS, FLOOR, DISTINCT, GOF = 100, 30, 20, 0.1
#: How many candidates above the lowest good threshold the default threshold lies, as far as clusters suffice.
HIGHER = 6


@dataclass(frozen=True, slots=True, kw_only=True)
class TailFit(Result):
    """The fitted tail of one run, or the reasons why there is none.

    Attributes
    ----------
    threshold : float or None
        Threshold, in ``unit``.
    shape : Estimate
        GPD shape xi with its profile-likelihood interval.
    scale : float or None
        GPD scale, in ``unit``.
    n, lost : int
        Probes, and lost ones among them.
    exceedances, clusters : int
        Answered probes above the threshold, and clusters of them.
    theta : float
        Extremal index, the share of exceedances that start a cluster.
    zeta : float
        Share of exceedances.
    p : float or None
        p-value of the goodness of fit.
    verdict : {"heavy", "light", "undetermined"}
        ``heavy`` if the interval of xi lies above 0, ``light`` if it lies below.
    excesses : ndarray or None
        Cluster maxima minus the threshold.
    """

    threshold: float | None
    shape: Estimate
    scale: float | None
    n: int
    lost: int
    exceedances: int
    clusters: int
    theta: float
    zeta: float
    p: float | None
    verdict: Literal["heavy", "light", "undetermined"]
    unit: str
    codes: tuple[str, ...] = ()
    excesses: FloatArray | None = field(default=None, repr=False, compare=False)
    scope: Literal["within_run"] = "within_run"

    ROW: ClassVar[Row] = (
        "threshold", "scale", "n", "lost", "exceedances", "clusters", "theta", "zeta", "p", "verdict", "unit",
        ("shape", "shape.estimate"), ("shape_low", "shape.low"), ("shape_high", "shape.high"), "scope",
    )  # fmt: skip

    @property
    def refused(self) -> bool:
        """Whether there is no fit."""
        return self.shape.refused

    def __str__(self) -> str:
        if self.refused or self.threshold is None:
            return f"tail: not estimable{self.flag_note}"
        low, high = ("?" if end is None else f"{end:.2f}" for end in (self.shape.low, self.shape.high))
        interval = f"{100 * self.shape.confidence:g} % [{low}, {high}]"
        return (
            f"tail above {self.threshold:.6g} {self.unit}: {self.verdict}, xi = {self.shape.estimate:.2f}, {interval}, "
            f"{self.scope}, {self.clusters} clusters of {self.exceedances} exceedances{self.flag_note}"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Peaks:
    """One candidate threshold, its exceedances and their fit."""

    threshold: float
    exceedances: int
    codes: tuple[str, ...]
    excesses: FloatArray | None = None
    theta: float = 1.0
    law: Gpd | None = None
    p: float = 0.0

    @property
    def clusters(self) -> int:
        """Number of clusters."""
        return 0 if self.excesses is None else len(self.excesses)


def _fit_peaks(x: FloatArray, threshold: float) -> _Peaks:
    """Decluster and fit the exceedances of a threshold, unless they are too few or too coarse."""
    import numpy as np

    above = x[x > threshold]
    codes: tuple[str, ...] = ("few_clusters",) if len(above) < FLOOR else ()
    codes += ("quantised",) if len(np.unique(above)) < min(DISTINCT, len(above)) else ()
    if codes:
        return _Peaks(threshold=threshold, exceedances=len(above), codes=codes)
    maxima, theta = cluster_maxima(x, threshold)
    excesses = maxima - threshold
    peaks = _Peaks(threshold=threshold, exceedances=len(above), codes=("few_clusters",), excesses=excesses, theta=theta)
    if len(excesses) < FLOOR:
        return peaks
    law = fit_gpd(excesses)
    p = gof_p(anderson_darling(excesses, law), law.shape)
    codes = (("gpd_misfit",) if p <= GOF else ()) + (("few_clusters",) if len(excesses) < CLUSTERS else ())
    return replace(peaks, law=law, p=p, codes=codes)


def _fit_candidates(x: FloatArray) -> list[_Peaks]:
    """Fit the tail at every candidate threshold, lowest first."""
    import numpy as np

    n = len(x)
    counts = [int(n * share) for share in FRACTIONS if CLUSTERS <= int(n * share) <= MOST]
    counts = counts or [max(n // 10, min(n - 1, FLOOR))]
    if n > MOST / FRACTIONS[-1]:
        counts = [int(MOST * share / FRACTIONS[0]) for share in FRACTIONS if MOST * share / FRACTIONS[0] >= CLUSTERS]
    cuts = np.partition(x, sorted({n - 1 - count for count in counts}))
    return [_fit_peaks(x, float(cuts[n - 1 - count])) for count in counts]


def _select_threshold(x: FloatArray) -> _Peaks:
    """Return a threshold above the lowest with a good fit (ForwardStop on the p-values, Bader et al. 2018).

    A fit that passes the test can still be biased: at the lowest threshold, return levels of Weibull tails with an
    exponent of 1/2 cover 37 %, at the highest of six more 95-100 % (also lognormal, Pareto, exponential; +- 8 points).
    """
    import numpy as np

    candidates = _fit_candidates(x)
    usable = [peaks for peaks in candidates if peaks.law is not None and peaks.clusters >= CLUSTERS]
    if not usable:
        return max(candidates, key=lambda peaks: (peaks.law is not None, peaks.exceedances))
    logs = [-math.log1p(-min(peaks.p, 0.999999)) for peaks in usable]
    rejected = np.flatnonzero(np.cumsum(logs) / np.arange(1, len(usable) + 1) <= GOF)
    first = int(rejected[-1]) + 1 if len(rejected) else 0
    good = [peaks for peaks in usable[first:] if peaks.p > GOF]
    if not good:
        return usable[-1] if usable[-1].p <= GOF else _mark_misfit(usable[-1])
    higher = usable[usable.index(good[0]) :]
    chosen = [peaks for peaks in higher[: 1 + HIGHER] if peaks.p > GOF][-1]
    return chosen if _is_stable(higher[:5]) else _mark_misfit(chosen)


def _mark_misfit(peaks: _Peaks) -> _Peaks:
    return replace(peaks, codes=(*peaks.codes, "gpd_misfit"))


def _is_stable(fits: list[_Peaks]) -> bool:
    """Return whether the shape stays within three standard errors at up to four higher thresholds."""
    first = fits[0]
    if first.law is None:
        return False
    for peaks in fits[1:]:
        if peaks.law is None:
            continue
        difference = abs(peaks.law.shape - first.law.shape)
        variance = max(1 / peaks.clusters - 1 / first.clusters, 1e-12)
        if difference > 3 * (1 + abs(first.law.shape)) * math.sqrt(variance):
            return False
    return True


def fit_tail(
    data: Values,
    threshold: float | None = None,
    *,
    confidence: float = 0.95,
    unit: str = "ns",
) -> TailFit:
    """Fit a generalised Pareto distribution to the declustered exceedances of one run.

    Parameters
    ----------
    data : array_like, Series or DataFrame, shape (n,)
        Values in ``unit`` in the order of sending, or the samples of one run. Missing values are dropped; lost probes
        (``inf``) are counted and not fitted.
    threshold : float, optional
        Threshold, in ``unit``. By default six candidates above the lowest one with a good fit, or the highest one with
        100 clusters.
    confidence : float
        Level of the interval of the shape, between 0 and 1.
    unit : str
        Unit of the values.

    Returns
    -------
    TailFit
        Shape, scale and verdict. There is no shape with ``no_values``, ``constant``, ``quantised`` (fewer than 20
        distinct exceedances), ``few_clusters`` (fewer than 30; below 100 a flag that rules out return levels), or
        ``gpd_misfit`` (Anderson-Darling p <= 0.1, a shape that drifts with the threshold, or a predicted maximum
        beyond the observed one).

    Raises
    ------
    ValueError
        If the data are not one-dimensional or come from several runs.

    Notes
    -----
    Grimshaw (1993) for the fit, Ferro & Segers (2003) for the clusters, ForwardStop (Bader, Yan & Zhang 2018) for the
    threshold, profile likelihood (Coles 2001) for the interval.

    Examples
    --------
    >>> import numpy as np
    >>> from azlatency.stats.within_run.tail import fit_tail
    >>> fit_tail(np.random.default_rng(1).pareto(3, 20_000)).verdict
    'heavy'
    """
    import numpy as np

    x, missing = to_array(data)
    answered = x[np.isfinite(x)]
    lost = len(x) - len(answered)
    codes: tuple[str, ...] = ("missing",) if missing else ()
    if len(answered) < 2 or answered.min() == answered.max():
        code = "no_values" if not len(answered) else "constant" if len(answered) > 1 else "few_clusters"
        return _refuse(None, len(x), lost, unit, confidence, (*codes, code))
    peaks = _select_threshold(answered) if threshold is None else _fit_peaks(answered, threshold)
    codes = (*codes, *peaks.codes)
    if peaks.law is None or peaks.excesses is None:
        return _refuse(peaks, len(x), lost, unit, confidence, codes)
    if "gpd_misfit" not in codes and exceeds_observed_maximum(peaks.excesses, confidence):
        codes = (*codes, "gpd_misfit")
    if "gpd_misfit" in codes:
        return _refuse(peaks, len(x), lost, unit, confidence, codes)
    shape = _shape(peaks, len(x), confidence, codes)
    shape = replace(
        shape, assumptions=("stationary during the run", "a smooth tail above the threshold"),
        diagnostics={"gof_p": peaks.p},
    )  # fmt: skip
    verdict: Literal["heavy", "light", "undetermined"] = "undetermined"
    if shape.low is not None and shape.low > 0:
        verdict = "heavy"
    elif shape.high is not None and shape.high < 0:
        verdict = "light"
    return TailFit(
        threshold=peaks.threshold, shape=shape, scale=peaks.law.scale, n=len(x), lost=lost,
        exceedances=peaks.exceedances, clusters=peaks.clusters, theta=peaks.theta,
        zeta=peaks.exceedances / len(answered), p=peaks.p, verdict=verdict, unit=unit, codes=codes,
        excesses=peaks.excesses,
    )  # fmt: skip


def _shape(peaks: _Peaks | None, n: int, confidence: float, codes: tuple[str, ...]) -> Estimate:
    """Return the shape with its profile-likelihood interval, or a refusal if there is no fit."""
    value = low = high = n_effective = None
    if peaks is not None and peaks.law is not None and peaks.excesses is not None:
        value, n_effective = peaks.law.shape, float(peaks.clusters)
        low, high = profile_shape(peaks.excesses, confidence)
    return Estimate(
        what="tail shape xi", estimate=value, low=low, high=high, unit="1", n=n, scope="within_run",
        confidence=confidence, method=METHOD, codes=codes, n_effective=n_effective,
    )  # fmt: skip


def _refuse(
    peaks: _Peaks | None,
    n: int,
    lost: int,
    unit: str,
    confidence: float,
    codes: tuple[str, ...],
) -> TailFit:
    """Return a `TailFit` without shape that still shows the threshold and its exceedances."""
    exceedances = 0 if peaks is None else peaks.exceedances
    return TailFit(
        threshold=None if peaks is None else peaks.threshold, shape=_shape(None, n, confidence, codes),
        scale=None, n=n, lost=lost, exceedances=exceedances, clusters=0 if peaks is None else peaks.clusters,
        theta=1.0 if peaks is None else peaks.theta, zeta=exceedances / n if n else 0.0,
        p=None if peaks is None else peaks.p, verdict="undetermined", unit=unit, codes=codes,
    )  # fmt: skip
