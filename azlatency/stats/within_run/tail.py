"""The tail of a run: is it heavy, and what happens once in a million? Peaks over a threshold, or a refusal.

Exceedances over a high threshold follow a generalised Pareto law (GPD) where the tail is smooth; rare timeouts mixed
into the bulk do not, and a fit to them covers 42-61 % of the time. The refusal for a bad fit matters more than the fit.

Sources: Coles, An Introduction to Statistical Modeling of Extreme Values (2001), ch. 4; Grimshaw, Technometrics 35:185
(1993); Ferro & Segers, JRSS-B 65:545 (2003); Choulakian & Stephens, Technometrics 43:478 (2001); Bader, Yan & Zhang,
Annals of Applied Statistics 12:310 (2018); Dean & Barroso, CACM 56(2):74 (2013).
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from azlatency.stats.arrays import to_array
from azlatency.stats.result import Estimate, Result, Results, Row
from azlatency.stats.within_run.dependence import autocorrelation_time, dependence
from azlatency.stats.within_run.order_statistics import MIN_BEYOND
from azlatency.stats.within_run.quantiles import LEVELS, quantiles

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd

Heaviness = Literal["heavy", "light", "undetermined"]
METHOD = (
    "peaks over threshold: GPD by Grimshaw 1993, declustered (Ferro & Segers 2003), profile likelihood (Coles 2001)"
)


# ---------------------------------------------------------------------------------------------------- the fit of a GPD


@dataclass(frozen=True, slots=True)
class Gpd:
    """Generalised Pareto law of excesses: ``shape`` xi > 0 is heavy, < 0 has an end; ``scale`` in their unit."""

    shape: float
    scale: float
    log_likelihood: float


def fit_gpd(excesses: np.ndarray) -> Gpd:
    """Maximum likelihood of a GPD to positive ``excesses`` (k,), k >= 2, by Grimshaw's search in one dimension.

    With theta = shape/scale the likelihood is maximal at shape = mean log(1 + theta y); what remains is a function of
    theta > -1/max(y). Shapes below -1, where the likelihood is unbounded, are left out.
    """
    import numpy as np
    from scipy.optimize import minimize_scalar

    y = np.asarray(excesses, dtype="float64") / float(np.mean(excesses))

    def profile(theta: float) -> float:
        if abs(theta) < 1e-9:
            return 1.0
        shape = float(np.log1p(theta * y).mean())
        return math.inf if shape <= -1 or shape / theta <= 0 else math.log(shape / theta) + shape + 1

    end = -1 / float(y.max())
    below = end * (1 - np.geomspace(1e-6, 1, 24)[:-1])
    grid = np.concatenate([below, [-1e-6, 0.0, 1e-6], np.geomspace(1e-3, 1e3, 24)])
    heights = np.array([profile(float(each)) for each in grid])
    best = int(heights.argmin())
    left, right = float(grid[max(best - 1, 0)]), float(grid[min(best + 1, len(grid) - 1)])
    found = minimize_scalar(profile, bounds=(left, right), method="bounded", options={"xatol": 1e-12})
    theta = float(found.x) if found.fun <= heights[best] else float(grid[best])
    if abs(theta) < 1e-9:
        shape, scale = 0.0, 1.0
    else:
        shape = float(np.log1p(theta * y).mean())
        scale = shape / theta
    mean = float(np.mean(excesses))
    return Gpd(shape, scale * mean, -len(y) * (min(float(found.fun), float(heights[best])) + math.log(mean)))


def anderson_darling(excesses: np.ndarray, law: Gpd) -> float:
    """Anderson-Darling's distance A^2 of ``excesses`` (k,) from a fitted law: large where the tails differ."""
    import numpy as np

    y = np.sort(excesses) / law.scale
    k = len(y)
    flat = abs(law.shape) < 1e-9
    log_survival = -y if flat else -np.log(np.maximum(1 + law.shape * y, 1e-300)) / law.shape
    log_survival = np.minimum(log_survival, -1e-300)
    log_distribution = np.log(-np.expm1(log_survival))
    weights = 2 * np.arange(1, k + 1) - 1
    return float(-k - (weights * (log_distribution + log_survival[::-1])).sum() / k)


#: Upper quantiles of A^2 with both parameters fitted (the statistic of Choulakian & Stephens 2001), by shape (rows) and
#: upper tail probability (columns): own simulation, 4,000 sets of 500 excesses for each shape.
_AD_TAILS = (0.5, 0.25, 0.1, 0.05, 0.025, 0.01, 0.005)
_AD = {
    -0.5: (0.461, 0.677, 0.963, 1.203, 1.429, 1.749, 1.937),
    -0.4: (0.45, 0.661, 0.937, 1.117, 1.346, 1.618, 1.937),
    -0.3: (0.439, 0.624, 0.904, 1.12, 1.358, 1.671, 1.995),
    -0.2: (0.426, 0.61, 0.854, 1.057, 1.236, 1.553, 1.843),
    -0.1: (0.401, 0.576, 0.816, 0.994, 1.149, 1.46, 1.673),
    0.0: (0.395, 0.573, 0.792, 0.968, 1.156, 1.367, 1.523),
    0.1: (0.389, 0.545, 0.769, 0.934, 1.095, 1.277, 1.434),
    0.2: (0.372, 0.533, 0.745, 0.901, 1.053, 1.329, 1.506),
    0.3: (0.366, 0.516, 0.728, 0.882, 1.064, 1.273, 1.5),
    0.4: (0.36, 0.506, 0.692, 0.85, 1.018, 1.255, 1.417),
    0.5: (0.357, 0.495, 0.675, 0.813, 0.98, 1.185, 1.322),
    0.7: (0.353, 0.492, 0.667, 0.802, 0.923, 1.144, 1.302),
    1.0: (0.339, 0.477, 0.649, 0.769, 0.913, 1.059, 1.176),
}


def gof_p(distance: float, shape: float) -> float:
    """p of an Anderson-Darling distance from a fitted GPD, between .005 and .5 (beyond: the end)."""
    import numpy as np

    shapes = list(_AD)
    table = np.array(list(_AD.values()))
    row = [float(np.interp(shape, shapes, table[:, column])) for column in range(len(_AD_TAILS))]
    return float(np.exp(np.interp(distance, row, np.log(_AD_TAILS))))


def _profile_root(deviance: Any, best: float, step: float, limit: float) -> float | None:
    """Where ``deviance`` crosses ``limit`` on one side of ``best``; None if not within 60 growing steps."""
    from scipy.optimize import brentq

    inner, outer = best, best + step
    for _ in range(60):
        if deviance(outer) > limit:
            return float(brentq(lambda z: min(deviance(z), 1e6) - limit, inner, outer, xtol=1e-9 * abs(step) + 1e-12))
        inner, outer = outer, outer + (outer - best)
    return None


def profile_shape(excesses: np.ndarray, confidence: float = 0.95) -> tuple[float | None, float | None]:
    """Profile-likelihood interval of the shape of a GPD; an end that the likelihood does not close is None."""
    import numpy as np
    from scipy.optimize import minimize_scalar
    from scipy.stats import chi2

    law = fit_gpd(excesses)
    y = np.asarray(excesses, dtype="float64")
    largest, k = float(y.max()), len(y)

    def deviance(shape: float) -> float:
        def negative(log_scale: float) -> float:
            scale = math.exp(log_scale)
            if abs(shape) < 1e-9:
                return log_scale + float(y.mean()) / scale
            if 1 + shape * largest / scale <= 0:
                return math.inf
            return log_scale + (1 + 1 / shape) * float(np.log1p(shape * y / scale).mean())

        least = math.log(-shape * largest) + 1e-9 if shape < 0 else -math.inf
        start = max(math.log(law.scale) - 2, least)
        found = minimize_scalar(
            negative, bounds=(start, max(math.log(law.scale), start) + 2), method="bounded", options={"xatol": 1e-9}
        )
        return 2 * (law.log_likelihood + k * float(found.fun))

    limit = float(chi2.ppf(confidence, 1))
    error = (1 + abs(law.shape)) / math.sqrt(k)
    low = _profile_root(lambda shape: deviance(shape) if shape > -1 else -1.0, law.shape, -error, limit)
    return low, _profile_root(deviance, law.shape, error, limit)


def profile_level(excesses: np.ndarray, rate: float, confidence: float = 0.95) -> tuple[float, float, float | None]:
    """The excess that is passed once in ``rate`` exceedances: estimate and profile-likelihood interval.

    ``excesses`` (k,) over the threshold; ``rate`` = m * zeta (times theta for clusters) > 1. The upper end is None
    where the likelihood does not close.
    """
    import numpy as np
    from scipy.stats import chi2

    law = fit_gpd(excesses)
    y = np.asarray(excesses, dtype="float64")
    log_rate = math.log(rate)

    def growth(shape: np.ndarray) -> np.ndarray:
        near = np.abs(shape) < 1e-9
        return np.where(near, log_rate, np.expm1(shape * log_rate) / np.where(near, 1, shape))

    estimate = law.scale * float(growth(np.array([law.shape]))[0])

    def likelihood(shapes: np.ndarray, level: float) -> np.ndarray:
        scales = level / growth(shapes)
        inner = shapes[:, None] * y / scales[:, None]
        with np.errstate(invalid="ignore", divide="ignore"):
            logs = np.where(inner > -1, np.log1p(np.maximum(inner, -1)), -np.inf).sum(axis=1)
            shape_term = np.where(np.abs(shapes) < 1e-9, (y / scales[:, None]).sum(axis=1), (1 + 1 / shapes) * logs)
            value = -len(y) * np.log(scales) - shape_term
        return np.where(np.isfinite(value) & (shapes > -1), value, -np.inf)

    def deviance(level: float) -> float:
        error = (1 + abs(law.shape)) / math.sqrt(len(y))
        centre, width = law.shape, 8 * error
        best = -math.inf
        for _ in range(5):  # a grid that closes in on the best shape for this level
            grid = np.linspace(centre - width, centre + width, 17)
            grid = grid[grid > -1]
            values = likelihood(grid, level)
            best, centre = max(best, float(values.max())), float(grid[int(values.argmax())])
            width /= 5
        return 2 * (law.log_likelihood - best)

    limit = float(chi2.ppf(confidence, 1))
    largest = float(y.max())
    low = _profile_root(deviance, estimate, -min(estimate, largest) / 50, limit)
    high = _profile_root(deviance, estimate, max(estimate, largest) / 20, limit)
    return estimate, max(low, 0.0) if low is not None else 0.0, high


# -------------------------------------------------------------------------------------------------------- clustering


def extremal_index(x: np.ndarray, threshold: float) -> float:
    """Share of exceedances that start a cluster, by the intervals estimator (Ferro & Segers 2003); 1 = no clusters.

    ``x`` (n,) in the order of sending. 1 for fewer than three exceedances.
    """
    import numpy as np

    return _intervals_index(np.flatnonzero(np.asarray(x) > threshold))


def _intervals_index(places: np.ndarray) -> float:
    import numpy as np

    gaps = np.diff(places).astype("float64")
    if len(gaps) < 2:
        return 1.0
    if gaps.max() > 2:
        denominator = len(gaps) * float(((gaps - 1) * (gaps - 2)).sum())
        theta = 2 * float((gaps - 1).sum()) ** 2 / denominator if denominator else 1.0
    else:
        theta = 2 * float(gaps.sum()) ** 2 / (len(gaps) * float((gaps**2).sum()))
    return min(theta, 1.0)


def cluster_maxima(x: np.ndarray, threshold: float) -> tuple[np.ndarray, float]:
    """Largest value of each cluster of exceedances and the extremal index theta that cut them apart.

    Clusters are parted at the floor(theta N) longest gaps (Ferro & Segers 2003, section 4).
    """
    import numpy as np

    places = np.flatnonzero(x > threshold)
    theta = _intervals_index(places)
    if len(places) < 2:
        return x[places], theta
    gaps = np.diff(places)
    count = min(int(theta * len(places)), len(gaps))
    longest = np.sort(gaps)[::-1]
    # Gaps equal to the last one that parts would be cut arbitrarily: only longer ones part, unless none is.
    apart = gaps > longest[count] if count < len(gaps) else gaps > 0
    starts = np.concatenate([[0], np.flatnonzero(apart) + 1])
    return np.maximum.reduceat(x[places], starts), theta


# ---------------------------------------------------------------------------------------------- threshold and refusals

#: Fractions of the run that are tried as exceedances, from the lowest threshold up; at most `MOST` exceedances.
FRACTIONS = (0.1, 0.075, 0.05, 0.035, 0.025, 0.0175, 0.0125, 0.01, 0.0075, 0.005, 0.0035, 0.0025, 0.00175, 0.00125)
MOST = 5000
#: Clusters that a return level needs, and below which not even the shape is fitted; distinct values; level of the fit.
CLUSTERS, FLOOR, DISTINCT, GOF = 100, 30, 20, 0.1
#: A return level is refused beyond this many times the run's length.
REACH = 100


@dataclass(frozen=True, slots=True)
class TailFit(Result):
    """The fitted tail of one run, or why there is none.

    ``threshold`` in ``unit``; ``shape``: `Estimate` of xi with its profile interval; ``scale``; ``exceedances``,
    ``clusters`` among ``n`` values; ``theta``: extremal index; ``zeta``: share of exceedances; ``p``: goodness of fit;
    ``verdict``: heavy where xi's interval lies above 0, light below; ``codes``: refusals and flags.
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
    verdict: Heaviness
    unit: str
    codes: tuple[str, ...] = ()
    labels: dict[str, Any] = field(default_factory=dict)
    excesses: Any = field(default=None, repr=False, compare=False)
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
        low, high = ("?" if each is None else f"{each:.2f}" for each in (self.shape.low, self.shape.high))
        interval = f"{100 * self.shape.confidence:g} % [{low}, {high}]"
        return (
            f"tail above {self.threshold:.6g} {self.unit}: {self.verdict}, xi = {self.shape.estimate:.2f}, {interval}, "
            f"{self.scope}, {self.clusters} clusters of {self.exceedances} exceedances{self.flag_note}"
        )


@dataclass(frozen=True, slots=True)
class _Peaks:
    """One candidate threshold with what was found there."""

    threshold: float
    exceedances: int
    excesses: Any
    theta: float
    law: Gpd | None
    p: float
    codes: tuple[str, ...]


def _peaks(x: np.ndarray, threshold: float) -> _Peaks:
    """Exceedances of ``threshold``, declustered and fitted, unless too few or too coarse for it."""
    import numpy as np

    above = x[x > threshold]
    few = ("few_clusters",) if len(above) < FLOOR else ()
    coarse = ("quantised",) if len(np.unique(above)) < min(DISTINCT, len(above)) else ()
    if few or coarse:
        return _Peaks(threshold, len(above), None, 1.0, None, 0.0, few + coarse)
    maxima, theta = cluster_maxima(x, threshold)
    excesses = maxima - threshold
    if len(excesses) < FLOOR:
        return _Peaks(threshold, len(above), excesses, theta, None, 0.0, ("few_clusters",))
    law = fit_gpd(excesses)
    p = gof_p(anderson_darling(excesses, law), law.shape)
    codes = (("gpd_misfit",) if p <= GOF else ()) + (("few_clusters",) if len(excesses) < CLUSTERS else ())
    return _Peaks(threshold, len(above), excesses, theta, law, p, codes)


def _tried(x: np.ndarray) -> list[_Peaks]:
    """The fits at every threshold that is tried, lowest threshold first."""
    import numpy as np

    n = len(x)
    counts = [int(n * each) for each in FRACTIONS if CLUSTERS <= int(n * each) <= MOST]
    counts = counts or [max(n // 10, min(n - 1, FLOOR))]
    if n > MOST / FRACTIONS[-1]:
        counts = [int(MOST * each / FRACTIONS[0]) for each in FRACTIONS if MOST * each / FRACTIONS[0] >= CLUSTERS]
    cuts = np.partition(x, sorted({n - 1 - count for count in counts}))
    return [_peaks(x, float(cuts[n - 1 - count])) for count in counts]


def _chosen(x: np.ndarray) -> _Peaks:
    """The lowest threshold from which on the fit is good: ForwardStop on the p values (Bader, Yan & Zhang 2018)."""
    import numpy as np

    tried = _tried(x)
    usable = [each for each in tried if each.law is not None and len(each.excesses) >= CLUSTERS]
    if not usable:
        return max(tried, key=lambda each: (each.law is not None, each.exceedances))
    sums = np.cumsum([-math.log1p(-min(each.p, 0.999999)) for each in usable]) / np.arange(1, len(usable) + 1)
    rejected = np.flatnonzero(sums <= GOF)
    first = int(rejected[-1]) + 1 if len(rejected) else 0
    good = [each for each in usable[first:] if each.p > GOF]
    if not good:
        return usable[-1] if usable[-1].p <= GOF else _with(usable[-1], "gpd_misfit")
    rest = usable[usable.index(good[0]) :][:5]
    return good[0] if _stable(rest) else _with(good[0], "gpd_misfit")


def _with(peaks: _Peaks, code: str) -> _Peaks:
    return replace(peaks, codes=(*peaks.codes, code))


def _stable(fits: list[_Peaks]) -> bool:
    """Whether the shape stays the same at up to four higher thresholds, within three errors of the difference."""
    first = fits[0]
    if first.law is None:
        return False
    for other in fits[1:]:
        if other.law is None:
            continue
        apart = abs(other.law.shape - first.law.shape)
        variance = max(1 / len(other.excesses) - 1 / len(first.excesses), 1e-12)
        if apart > 3 * (1 + abs(first.law.shape)) * math.sqrt(variance):
            return False
    return True


def fit_tail(
    data: Any,
    threshold: float | None = None,
    *,
    confidence: float = 0.95,
    unit: str = "ns",
    labels: dict[str, object] | None = None,
) -> TailFit:
    """Is the tail of one run heavy? A GPD fitted to its declustered exceedances, with refusals.

    ``data``: values (n,) in the order of sending, in ``unit``; NaN is missing, ``inf`` a probe without answer (counted;
    the fit is about answered ones). ``threshold``: the lowest good one is chosen where none is given. Refusals, after
    which there is no shape: ``no_values``, ``constant``, ``quantised`` (fewer than 20 distinct exceedances),
    ``few_clusters`` (fewer than 30; up to 100 a flag that forbids return levels), ``gpd_misfit`` (Anderson-Darling
    p <= .1, a shape that drifts with the threshold, or a law that expects more than the run has shown).
    """
    import numpy as np

    x, missing = to_array(data)
    answered = x[np.isfinite(x)]
    lost = len(x) - len(answered)
    first = ("missing",) if missing else ()
    own = dict(labels or {})
    if len(answered) < 2 or answered.min() == answered.max():
        code = "no_values" if not len(answered) else "constant" if len(answered) > 1 else "few_clusters"
        return _refused(None, len(x), lost, unit, confidence, (*first, code), own)
    found = _chosen(answered) if threshold is None else _peaks(answered, threshold)
    codes = (*first, *found.codes)
    if found.law is not None and "gpd_misfit" not in codes and overshoots(found.excesses, confidence):
        codes = (*codes, "gpd_misfit")
    if found.law is None or "gpd_misfit" in codes:
        return _refused(found, len(x), lost, unit, confidence, codes, own)
    low, high = profile_shape(found.excesses, confidence)
    clusters = len(found.excesses)
    shape = Estimate(
        "tail shape xi", found.law.shape, low, high, "1", len(x), "within_run", confidence, METHOD, codes, own,
        float(clusters), ("stationary during the run", "a smooth tail above the threshold"), {"gof_p": found.p},
    )  # fmt: skip
    verdict: Heaviness = "undetermined"
    if low is not None and low > 0:
        verdict = "heavy"
    elif high is not None and high < 0:
        verdict = "light"
    zeta = found.exceedances / len(answered)
    return TailFit(
        found.threshold, shape, found.law.scale, len(x), lost, found.exceedances, clusters, found.theta, zeta, found.p,
        verdict, unit, codes, own, found.excesses,
    )  # fmt: skip


def overshoots(excesses: np.ndarray, confidence: float = 0.95) -> bool:
    """Whether the fitted law says more than the run has shown: the value that one cluster of its own number should pass
    lies, with its whole interval, above the largest seen.

    Under the law the largest of k is below that value with probability 1/e; below the interval's lower end almost
    never. Anderson-Darling weighs all excesses alike, this looks at the end that an extrapolation hangs on.
    """
    k = len(excesses)
    return k > 1 and profile_level(excesses, float(k), confidence)[1] > float(excesses.max())


def _refused(
    found: _Peaks | None,
    n: int,
    lost: int,
    unit: str,
    confidence: float,
    codes: tuple[str, ...],
    labels: dict[str, object],
) -> TailFit:
    shape = Estimate("tail shape xi", None, None, None, "1", n, "within_run", confidence, METHOD, codes, labels)
    threshold = None if found is None else found.threshold
    exceedances = 0 if found is None else found.exceedances
    clusters = 0 if found is None or found.excesses is None else len(found.excesses)
    theta, p = (1.0, None) if found is None else (found.theta, found.p)
    zeta = exceedances / n if n else 0.0
    return TailFit(
        threshold, shape, None, n, lost, exceedances, clusters, theta, zeta, p, "undetermined", unit, codes, labels
    )


def return_level(tail: TailFit | Any, m: float = 1e6, *, confidence: float = 0.95, unit: str = "ns") -> Estimate:
    """The round trip that is passed by one cluster in ``m`` packets ("one in a million"), with a profile interval.

    ``tail``: a `TailFit`, or data for `fit_tail`. Flagged ``extrapolated`` beyond the run's length. Refused where the
    fit is, with fewer than 100 clusters (``few_clusters``), beyond 100 times the run (``extrapolation_too_far``), for
    a shape of 1 or more beyond the run's length (``no_mean``) and where more than one in ``m`` was lost
    (``loss_censored``). Raises `ValueError` where the level lies below the threshold: `azlatency.quantiles` answers
    that.
    """
    fit = tail if isinstance(tail, TailFit) else fit_tail(tail, confidence=confidence, unit=unit)
    what = f"passed once in {m:,.0f}"
    codes = fit.codes
    if not fit.refused and m > REACH * fit.n:
        codes = (*codes, "extrapolation_too_far")
    if fit.lost and fit.lost / fit.n >= 1 / m:
        codes = (*codes, "loss_censored")
    if fit.shape.estimate is not None and fit.shape.estimate >= 1 and m > fit.n:
        codes = (*codes, "no_mean")
    refusals = {"few_clusters", "extrapolation_too_far", "loss_censored", "gpd_misfit", "no_mean"}
    if fit.refused or fit.threshold is None or refusals & set(codes):
        return Estimate(
            what, None, None, None, fit.unit, fit.n, "within_run", confidence, METHOD, codes, {**fit.labels, "m": m}
        )
    rate = m * fit.zeta * fit.theta
    if rate <= 1:
        raise ValueError(f"once in {m:g} lies below the threshold {fit.threshold:g}: ask for a quantile")
    estimate, low, high = profile_level(fit.excesses, rate, confidence)
    codes += ("extrapolated",) if m > fit.n else ()
    codes += ("unbounded_upper",) if high is None else ()
    u = fit.threshold
    shown: dict[str, float | int | str | bool] = {
        "threshold": u, "shape": fit.shape.estimate or 0.0, "theta": fit.theta, "gof_p": fit.p or 0.0,
    }  # fmt: skip
    return Estimate(
        what, u + estimate, u + low, None if high is None else u + high, fit.unit, fit.n, "within_run", confidence,
        METHOD, codes, {**fit.labels, "m": m}, float(fit.clusters),
        ("stationary during the run", "the fitted tail goes on beyond the data"), shown,
    )  # fmt: skip


# ----------------------------------------------------------------------------------- estimators for plots, not for use


def shape_by_threshold(data: Any, *, confidence: float = 0.95) -> Results[Estimate]:
    """xi with its profile interval at every threshold that is tried, lowest first: believe it where it stays the same.

    ``data`` as in `fit_tail`. Labels: threshold, clusters, gof_p. Thresholds without 30 clusters are left out.
    """
    import numpy as np

    x, _ = to_array(data)
    x = x[np.isfinite(x)]
    found = Results[Estimate]()
    for peaks in _tried(x) if len(x) > FLOOR else ():
        if peaks.law is None:
            continue
        low, high = profile_shape(peaks.excesses, confidence)
        labels = {"threshold": peaks.threshold, "clusters": len(peaks.excesses), "gof_p": peaks.p}
        found.append(
            Estimate("tail shape xi", peaks.law.shape, low, high, "1", len(x), "within_run", confidence, METHOD,
                     peaks.codes, labels, float(len(peaks.excesses)))
        )  # fmt: skip
    return found


# ----------------------------------------------------------------------------------------------------------- fan-out


def fan_out_level(n_calls: int, p: float = 0.5) -> float:
    """Single-call quantile that the p-quantile of the slowest of ``n_calls`` independent calls is: p ** (1/N)."""
    if n_calls < 1 or not 0 < p < 1:
        raise ValueError(f"n_calls = {n_calls}, p = {p}: need at least one call and 0 < p < 1")
    return p ** (1 / n_calls)


def fan_out(
    data: Any,
    n_calls: int,
    p: float = 0.5,
    *,
    confidence: float = 0.95,
    independent: bool = False,
    unit: str = "ns",
    labels: dict[str, object] | None = None,
) -> Estimate:
    """The p-quantile of the slowest of ``n_calls`` calls made at once (Dean & Barroso 2013), from single round trips.

    Independence of the calls is assumed; for calls that are slow together the truth is lower. The diagnostics hold the
    same quantile over blocks of ``n_calls`` consecutive packets, where the dependence is seen. Refused as
    ``tail_unresolved`` where less than one observation lies above the single-call quantile.
    """
    import numpy as np

    level = fan_out_level(n_calls, p)
    (single,) = quantiles(data, level, confidence, independent=independent, unit=unit)
    x, _ = to_array(data)
    blocks = len(x) // n_calls
    shown = {**single.diagnostics, "single_call_level": level}
    if blocks:
        maxima = np.sort(x[: blocks * n_calls].reshape(blocks, n_calls).max(axis=1))
        shown["block_maxima"] = float(maxima[max(math.ceil(blocks * p) - 1, 0)])
    what = f"p{100 * p:g} of the slowest of {n_calls} calls"
    assumed = (*single.assumptions, "calls independent of each other")
    own = {**(labels or {}), "n_calls": n_calls, "q": p}
    return replace(single, what=what, diagnostics=shown, assumptions=assumed, labels=own)


# ------------------------------------------------------------------------------------------------------- closed loops


def backfilled(data: Any, interval: float) -> np.ndarray:
    """Values with those added that a client with an intended ``interval`` would have seen while it waited.

    HdrHistogram's rule: a value v > interval adds v - interval, v - 2 interval, ... down to ``interval``. A model,
    valid only where the client was to send at a fixed rate; ping-pong at full speed has no such rate. Raises
    `ValueError` for an interval that is not positive, and where more than 1e8 values would be added.
    """
    import numpy as np

    if not interval > 0:
        raise ValueError(
            f"interval = {interval}: the intended interval must be positive; full-speed ping-pong has none"
        )
    x, _ = to_array(data)
    late = x[np.isfinite(x) & (x >= 2 * interval)]
    counts = np.floor(late / interval).astype("int64") - 1
    total = int(counts.sum())
    if total > 100_000_000:
        raise ValueError(f"{total:,} values would be added: is the interval {interval:g} in the unit of the data?")
    step = np.arange(total) - np.repeat(np.cumsum(counts) - counts, counts) + 1
    return np.concatenate([x, np.repeat(late, counts) - step * interval])


def time_weighted_quantiles(
    data: Any,
    q: Iterable[float] = LEVELS,
    confidence: float = 0.95,
    *,
    unit: str = "ns",
    labels: dict[str, object] | None = None,
) -> Results[Estimate]:
    """What a user sees who comes at a random moment: quantiles of a closed loop's round trips weighted by their length.

    A closed loop sends the next request after the answer, so each wait counts as long as it lasts. Interval: that of
    the weighted share below the quantile, a ratio of means with the autocorrelation time of its influence
    x (1{x <= q} - p), turned back into values (Woodruff 1952). ``data`` (n,): positive, in the order of sending.
    Refused with fewer than ten effective values above (no upper end).
    """
    import numpy as np

    x, missing = to_array(data)
    codes: tuple[str, ...] = ("missing",) if missing else ()
    if not len(x) or not np.isfinite(x).all() or x.min() <= 0:
        code = "no_values" if not len(x) else "not_positive" if x.min() <= 0 else "loss_censored"
        blank = [
            Estimate(
                f"p{100 * p:g} by time", None, None, None, unit, len(x), "within_run", confidence, _WEIGHTED, (code,)
            )
            for p in q
        ]
        return Results(blank)
    order = np.argsort(x, kind="stable")
    ordered = x[order]
    weight = np.cumsum(ordered)
    weight /= weight[-1]
    known = dependence(x)
    refused = known.codes
    results = []
    for p in q:
        own = {**(labels or {}), "q": p}
        result = _weighted(x, ordered, weight, float(p), confidence, unit, codes, own, known.tau)
        results.append(replace(result, low=None, high=None, codes=(*result.codes, *refused)) if refused else result)
    return Results(results)


_WEIGHTED = "quantile weighted by duration; ratio estimator at the effective n of its influence (Woodruff 1952)"


def _weighted(
    x: np.ndarray,
    ordered: np.ndarray,
    weight: np.ndarray,
    p: float,
    confidence: float,
    unit: str,
    codes: tuple[str, ...],
    labels: dict[str, object],
    overall: float,
) -> Estimate:
    """One time-weighted quantile from the sorted values and the share of time up to each."""
    import numpy as np
    from scipy.special import stdtrit

    n = len(x)
    at = min(int(np.searchsorted(weight, p * (1 - 1e-12))), n - 1)
    value = float(ordered[at])
    influence = x * ((x <= value) - p)
    tau = max(autocorrelation_time(influence), 1.0)
    # Resolved by its own tau alone, it would be kept just where that came out too small.
    cautious = max(tau, overall)
    error = float(influence.std()) / float(x.mean()) * math.sqrt(tau / n)
    half = float(stdtrit(max(n / tau / 2 - 1, 1), (1 + confidence) / 2)) * error
    exceedances = (n - 1 - at) / cautious
    low = float(ordered[min(int(np.searchsorted(weight, p - half)), n - 1)]) if p - half > 0 else None
    high = float(ordered[int(np.searchsorted(weight, p + half))]) if p + half < weight[-1] - 1e-12 else None
    if exceedances < MIN_BEYOND:
        codes, high = (*codes, "tail_unresolved"), None
    if high is None:
        codes = (*codes, "unbounded_upper")
    shown: dict[str, float | int | str | bool] = {"tau": tau, "exceedances_effective": exceedances}
    return Estimate(
        f"p{100 * p:g} by time", value, low, high, unit, n, "within_run", confidence, _WEIGHTED, codes, labels, n / tau,
        ("a closed loop that sends as soon as it may", "stationary during the run"), shown,
    )  # fmt: skip


def mean_residual_wait(data: Any) -> float:
    """Mean time still to wait for someone who comes at a random moment of a closed loop: sum x^2 / (2 sum x).

    NaN for nothing, and where a probe was lost: how long it would have been waited for is not known.
    """
    import numpy as np

    x, _ = to_array(data)
    return float((x * x).sum() / (2 * x.sum())) if len(x) and np.isfinite(x).all() else math.nan


@dataclass(frozen=True, slots=True)
class ClosedLoop(Result):
    """Coordinated omission of a closed loop: the same quantiles by request, by time and, with an intended interval
    only, back-filled; ``residual_wait`` and ``added`` (values that the back-fill put in)."""

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
        """One row for each quantile and way of counting (column ``counted_by``)."""
        import pandas as pd

        ways = (("request", self.by_request), ("time", self.by_time), ("back-filled", self.back_filled))
        return pd.DataFrame([{"counted_by": way, **each.row()} for way, results in ways for each in results])

    def __str__(self) -> str:
        pairs = zip(self.by_request, self.by_time, strict=True)
        lines = [f"{request}\n{time}" for request, time in pairs] + [str(each) for each in self.back_filled]
        wait = f"mean wait of one who comes at a random moment: {self.residual_wait:.6g} {self.unit}, {self.scope}"
        return "\n".join([*lines, wait])


def closed_loop(
    data: Any,
    q: Iterable[float] = (0.5, 0.99),
    *,
    interval: float | None = None,
    confidence: float = 0.95,
    unit: str = "ns",
) -> ClosedLoop:
    """Coordinated-omission report of one closed-loop run: by request, by time, and back-filled for an ``interval``.

    ``interval``: the time between sends that the client intended, in the unit of the data; None for ping-pong at full
    speed, where a back-fill would be an invention. Back-filled quantiles have no interval: their values are modelled.
    """
    import numpy as np

    levels = [float(each) for each in q]
    x, _ = to_array(data)
    filled: tuple[Estimate, ...] = ()
    added = 0
    if interval is not None:
        values = backfilled(x, interval)
        added = len(values) - len(x)
        ordered = np.sort(values)
        filled = tuple(
            Estimate(
                f"p{100 * p:g} back-filled",
                float(ordered[max(math.ceil(len(ordered) * p - 1e-9) - 1, 0)]) if len(ordered) else None,
                None, None, unit, len(x), "within_run", confidence,
                "HdrHistogram's back-fill for an intended interval; no interval, the added values are a model",
                () if len(ordered) else ("no_values",), {"q": p},
            )
            for p in levels
        )  # fmt: skip
    return ClosedLoop(
        tuple(quantiles(x, levels, confidence, unit=unit)),
        tuple(time_weighted_quantiles(x, levels, confidence, unit=unit)),
        filled,
        mean_residual_wait(x),
        added,
        unit,
    )
