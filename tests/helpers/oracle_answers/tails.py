"""Generalised Pareto fits, their profiles, return levels, clusters."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy import optimize, stats

from azlatency.stats.within_run.clusters import cluster_maxima
from azlatency.stats.within_run.gpd import Gpd, fit_gpd, profile_level, profile_shape
from azlatency.stats.within_run.tail import fit_tail
from helpers.cases import generated
from helpers.oracle_answers import Differs, Refused, answers, array


@answers(
    "evt_gpd", "gpd|", u="pwm_rel", zeta="pwm_rel", evd__se_="se_rel", evd__loglik="grimshaw_rel", evd_="mle_rel",
    ismev__se_="se_rel", ismev__nllh="grimshaw_rel", ismev_="mle_rel", evir_ml_="mle_rel", evir_pwm_="pwm_rel",
    grimshaw_="grimshaw_rel", return_level__="return_level_rel", profile_ci95_="profile_rel",
    return_level_profile95_="profile_rel",
)  # fmt: skip
def pareto(given: dict[str, Any]) -> dict[str, Any]:
    """One likelihood, three packages: where a package's optimiser stops short of the maximum, ours is beside it.

    Standard errors, moments and the profile of the scale are computed here: intervals are profiles of the shape and of
    the level.
    """
    x, u = generated(given["generator"]), given["threshold"]
    assert abs(x.sum() - given["check_sum"]) < 1e-6
    y = x[x > u] - u
    n, k, zeta = len(x), len(y), len(y) / len(x)
    law, errors = fit_gpd(y), _errors(y)
    fitted = {"scale": law.scale, "shape": law.shape}
    stopped = "Nelder and Mead stop where the likelihood is flat; Grimshaw's maximum is higher"
    short = {"scale": law.scale, "shape": Differs(law.shape, stopped, 2.5e-3)}
    levels = {f"m1e{power}": u + profile_level(y, 10.0**power * zeta)[0] for power in (3, 4, 5, 6)}
    profiles = {}
    for power in (4, 6):
        estimate, low, high = profile_level(y, 10.0**power * zeta)
        profiles[f"m1e{power}"] = {
            "estimate": u + estimate,
            "lower": u + low,
            "upper": None if high is None else u + high,
        }
    shape = profile_shape(y)
    spline = "evd reads the profile of the shape off a spline of few points; ours loses exactly what chi squared allows"
    return {
        "u": u, "n": n, "n_exceed": k, "zeta": zeta,
        "evd": {**short, "se": errors, "loglik": law.log_likelihood},
        "ismev": {**short, "se": errors, "nllh": -law.log_likelihood},
        "evir_ml": short, "evir_pwm": _moments(y), "grimshaw": {**fitted, "loglik": law.log_likelihood},
        "return_level": levels,
        "profile_ci95": {"scale": _profile_scale(y, law),
                         "shape": [None if value is None else Differs(value, spline, 1.5e-2) for value in shape]},
        "return_level_profile95": profiles,
    }  # fmt: skip


def _log_likelihood(y: np.ndarray, shape: float, scale: float) -> float:
    value = float(stats.genpareto.logpdf(y, shape, 0, scale).sum())
    return value if math.isfinite(value) else -1e12


def _errors(y: np.ndarray) -> list[float]:
    """Standard errors of (scale, shape) from the observed information, by central differences."""
    law = fit_gpd(y)
    at, step = np.array([law.scale, law.shape]), np.array([1e-3 * law.scale, 1e-3])
    signs = np.array([(1, 1), (1, -1), (-1, 1), (-1, -1)])
    hessian = np.empty((2, 2))
    for i, j in np.ndindex(2, 2):
        places = [at + a * step * np.eye(2)[i] + b * step * np.eye(2)[j] for a, b in signs]
        heights = [-_log_likelihood(y, shape, scale) for scale, shape in places]
        hessian[i, j] = signs.prod(axis=1) @ heights / (4 * step[i] * step[j])
    return [float(error) for error in np.sqrt(np.diag(np.linalg.inv(hessian)))]


def _moments(y: np.ndarray) -> dict[str, float]:
    """Probability-weighted moments with plotting positions (i - .35)/k (Hosking & Wallis 1987)."""
    ordered, k = np.sort(y), len(y)
    a0, a1 = y.mean(), float((ordered * (1 - (np.arange(1, k + 1) - 0.35) / k)).mean())
    return {"shape": 2 - a0 / (a0 - 2 * a1), "scale": 2 * a0 * a1 / (a0 - 2 * a1)}


def _profile_scale(y: np.ndarray, law: Gpd) -> list[float]:
    def loss(scale: float) -> float:
        least = -scale / y.max() + 1e-9
        best = optimize.minimize_scalar(lambda shape: -_log_likelihood(y, shape, scale), method="bounded",
                                        bounds=(max(least, -1), law.shape + 2), options={"xatol": 1e-10})  # fmt: skip
        return 2 * (law.log_likelihood + best.fun) - float(stats.chi2.ppf(0.95, 1))

    return [optimize.brentq(loss, law.scale * factor, law.scale) for factor in (0.5, 2.0)]


@answers("evt_gpd", "extremal-index")
def clusters(given: dict[str, Any]) -> dict[str, Any]:
    x = generated(given["generator"])
    threshold = float(np.sort(x)[int(0.95 * len(x)) - 1])
    assert math.isclose(threshold, given["threshold"], rel_tol=1e-12)
    _, theta = cluster_maxima(x, threshold)
    return {
        "intervals_ferro_segers": theta, "evd_exi_r0": theta, "n_exceed": int((x > threshold).sum()),
    }  # fmt: skip


@answers("evt_gpd", "refuse|")
def refused(given: dict[str, Any]) -> dict[str, Any]:
    x = array(given["x"])
    fit = fit_tail(x, given["threshold"])
    above = x[x > given["threshold"]]
    return {"n_exceed": fit.exceedances, "n_distinct_exceedances": len(np.unique(above)),
            "error": Refused(fit.codes if fit.refused else ())}  # fmt: skip
