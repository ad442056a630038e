"""Return levels: the round-trip time that one cluster in a million packets exceeds."""

from __future__ import annotations

from typing import TYPE_CHECKING

from azlatency.stats.result import Estimate
from azlatency.stats.within_run.gpd import profile_level
from azlatency.stats.within_run.tail import METHOD, TailFit, fit_tail

if TYPE_CHECKING:
    from azlatency.stats.arrays import Values

#: A return level is refused beyond this many times the run's length.
REACH = 100


def return_level(tail: TailFit | Values, m: float = 1e6, *, confidence: float = 0.95, unit: str = "ns") -> Estimate:
    """Estimate the round-trip time that one cluster in ``m`` packets exceeds.

    Parameters
    ----------
    tail : TailFit or array_like
        A fitted tail, or data for `fit_tail`.
    m : float
        Number of packets.
    confidence : float
        Level of the interval, between 0 and 1.
    unit : str
        Unit of the data; a fit has its own.

    Returns
    -------
    Estimate
        The level, flagged ``extrapolated`` beyond the run's length. There is none if the fit was refused, with fewer
        than 100 clusters (``few_clusters``), beyond 100 times the run (``extrapolation_too_far``), for a shape of 1 or
        more beyond the run's length (``no_mean``), and if more than one probe in ``m`` was lost (``loss_censored``).

    Raises
    ------
    ValueError
        If the level lies below the threshold; `quantiles` estimates that.

    Notes
    -----
    Profile-likelihood interval of the return level (Coles 2001, section 4.3.3), per cluster.
    """
    fit = tail if isinstance(tail, TailFit) else fit_tail(tail, confidence=confidence, unit=unit)
    codes = fit.codes
    if not fit.refused and m > REACH * fit.n:
        codes = (*codes, "extrapolation_too_far")
    if fit.lost and fit.lost / fit.n >= 1 / m:
        codes = (*codes, "loss_censored")
    if fit.shape.estimate is not None and fit.shape.estimate >= 1 and m > fit.n:
        codes = (*codes, "no_mean")
    refusal = Estimate(
        what=f"passed once in {m:,.0f}", estimate=None, low=None, high=None, unit=fit.unit, n=fit.n,
        scope="within_run", confidence=confidence, method=METHOD, codes=codes, labels={"m": m},
    )  # fmt: skip
    refusals = {"few_clusters", "extrapolation_too_far", "loss_censored", "gpd_misfit", "no_mean"}
    if fit.refused or fit.threshold is None or fit.excesses is None or refusals & set(codes):
        return refusal
    rate = m * fit.zeta * fit.theta
    if rate <= 1:
        raise ValueError(f"once in {m:g} lies below the threshold {fit.threshold:g}: ask for a quantile")
    estimate, low, high = profile_level(fit.excesses, rate, confidence)
    codes += ("extrapolated",) if m > fit.n else ()
    codes += ("unbounded_upper",) if high is None else ()
    return Estimate(
        what=refusal.what, estimate=fit.threshold + estimate, low=fit.threshold + low,
        high=None if high is None else fit.threshold + high, unit=fit.unit, n=fit.n, scope="within_run",
        confidence=confidence, method=METHOD, codes=codes, labels=refusal.labels, n_effective=float(fit.clusters),
        assumptions=("stationary during the run", "the fitted tail goes on beyond the data"),
        diagnostics={"threshold": fit.threshold, "shape": fit.shape.estimate or 0.0, "theta": fit.theta,
                     "gof_p": fit.p or 0.0},
    )  # fmt: skip
