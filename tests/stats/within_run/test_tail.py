"""Tails against R (evd, ismev, evir) and closed forms, the refusals, and the attained coverage of return levels."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from helpers.cases import BOTH, attained, cases, content, correlated, fails, generated, lognormal, stream
from scipy.special import ndtri
from scipy.stats import chi2, genpareto

import azlatency as az
from azlatency.stats.within_run.clusters import cluster_maxima
from azlatency.stats.within_run.coordinated_omission import (
    backfill,
    coordinated_omission,
    mean_residual_wait,
    time_weighted_quantiles,
)
from azlatency.stats.within_run.fan_out import fan_out, fan_out_level
from azlatency.stats.within_run.gpd import exceeds_observed_maximum, fit_gpd, profile_level, profile_shape
from azlatency.stats.within_run.return_levels import return_level
from azlatency.stats.within_run.tail import fit_tail


def peaks(case: dict[str, Any]) -> tuple[np.ndarray, float]:
    x, u = generated(case["input"]["generator"]), case["input"]["threshold"]
    assert x.sum() == pytest.approx(case["input"]["check_sum"], rel=1e-9)
    return x[x > u] - u, u


@pytest.mark.parametrize("case", cases("evt_gpd", "gpd|"))
def test_profile_ends_lose_what_chi_squared_allows(case: dict[str, Any]) -> None:
    from scipy.optimize import minimize_scalar

    y, _ = peaks(case)
    law = fit_gpd(y)
    for end in profile_shape(y):
        best = minimize_scalar(
            lambda s, end=end: -genpareto.logpdf(y, end, 0, s).sum(),
            bounds=(max(law.scale / 2, -end * y.max() * (1 + 1e-9)), law.scale * 2),
            method="bounded",
            options={"xatol": 1e-10},
        )
        assert 2 * (law.log_likelihood + best.fun) == pytest.approx(chi2.ppf(0.95, 1), abs=1e-4)


# ------------------------------------------------------------------------------------------------------- hard inputs


@pytest.mark.parametrize(
    ("values", "code"),
    [
        ([], "no_values"),
        ([math.nan, math.inf], "no_values"),
        ([5.0], "few_clusters"),
        ([5.0, 6.0], "few_clusters"),
        ([5.0] * 5000, "constant"),
        (list(np.round(stream(41).lognormal(0, 0.5, 5000) * 2) / 2), "quantised"),
    ],
)
def test_hard_tails_are_refused(values: list[float], code: str) -> None:
    fit = fit_tail(values)
    assert fit.refused and code in fit.codes
    level = return_level(fit)
    assert level.refused and code in level.codes and "not estimable" in str(level)


def test_a_law_that_expects_more_than_was_seen_is_refused() -> None:
    """A tail cut off at its top: every excess fits but the largest ones are missing."""
    excesses = np.sort(genpareto.rvs(0.5, size=2000, random_state=stream(45)))
    assert not exceeds_observed_maximum(excesses)
    assert exceeds_observed_maximum(excesses[:-20]) and exceeds_observed_maximum(np.minimum(excesses, excesses[-20]))


def test_return_levels_know_their_reach() -> None:
    x = genpareto.rvs(0.2, size=20_000, random_state=stream(42))
    fit = fit_tail(x)
    assert fit.verdict == "heavy" and fit.clusters >= 100 and fit.p > 0.1
    assert "extrapolated" in return_level(fit, 1e6).codes
    assert "extrapolation_too_far" in return_level(fit, 1e8).codes
    assert return_level(x, 1e6) == return_level(fit, 1e6)
    with pytest.raises(ValueError, match="quantile"):
        return_level(fit, 2)
    x[::1000] = math.inf
    lossy = fit_tail(x)
    assert lossy.lost == 20
    assert return_level(lossy, 1e6).codes[-1] == "loss_censored"
    assert az.stats.return_level is return_level and az.stats.fit_tail is fit_tail


def test_clusters_are_cut_at_long_gaps() -> None:
    x = np.zeros(1000)
    for start in range(0, 1000, 100):
        x[start : start + 5] = np.arange(5) + start + 1.0
    maxima, theta = cluster_maxima(x, 0.5)
    assert list(maxima) == [start + 5.0 for start in range(0, 1000, 100)]
    assert theta < 0.4
    assert list(cluster_maxima(x, 1e9)[0]) == []


def test_fan_out_refuses_beyond_the_data_and_shows_dependence() -> None:
    x = lognormal(stream(44), 20_000, 0.9)
    result = fan_out(x, 100)
    assert result.labels == {"n_calls": 100, "q": 0.5}
    # Slow packets come together: the slowest of a hundred in a row is faster than of a hundred independent ones.
    assert result.diagnostics["block_maxima"] < result.estimate
    refused = fan_out(x[:1000], 1000, 0.99)
    assert refused.refused and "tail_unresolved" in refused.codes
    with pytest.raises(ValueError, match="at least one"):
        fan_out_level(0)


def test_time_weighting_counts_long_waits_longer() -> None:
    x = np.array([1.0] * 90 + [10.0] * 10)
    assert mean_residual_wait(x) == pytest.approx((90 + 1000) / (2 * 190))
    assert math.isnan(mean_residual_wait([]))
    assert math.isnan(mean_residual_wait([1.0, math.inf]))
    (median,) = time_weighted_quantiles(x, (0.5,))
    assert median.estimate == 10.0
    (quarter,) = time_weighted_quantiles(x, (0.25,))
    assert quarter.estimate == 1.0
    for values, code in (([], "no_values"), ([0.0, 1.0], "not_positive"), ([1.0, math.inf], "loss_censored")):
        assert time_weighted_quantiles(values, (0.5,))[0].codes == (code,)
    report = coordinated_omission(x, (0.5, 0.9))
    assert report.back_filled == () and report.added == 0
    assert len(report.to_frame()) == 4 and "random moment" in str(report)
    with pytest.raises(ValueError, match="full-speed"):
        backfill(x, 0.0)
    with pytest.raises(ValueError, match="unit"):
        backfill([1e12], 1e-3)


# ---------------------------------------------------------------------------------------------------------- coverage


@pytest.mark.parametrize("made", BOTH)
def test_c8_return_levels(made: int) -> None:
    """C8: xi = .2, n = 40,000, a good threshold; profile intervals hold (accepted from 92 %), Wald's do not."""
    rng = stream(45)
    made = made // 2
    held: dict[float, list[bool]] = {1e5: [], 1e6: []}
    shapes, wald = [], []
    for _ in range(made):
        # Only the 1,000 or so exceedances matter: x = u + GPD above the 97.5 % point.
        y = genpareto.rvs(0.2, size=rng.binomial(40_000, 0.025), random_state=rng)
        zeta = len(y) / 40_000
        low, high = profile_shape(y)
        shapes.append(low <= 0.2 <= high)
        for m, each in held.items():
            truth = ((m * 0.025) ** 0.2 - 1) / 0.2
            _, low, high = profile_level(y, m * zeta)
            each.append(low <= truth and (high is None or truth <= high))
        wald.append(_wald_holds(y, 1e6 * zeta, ((1e6 * 0.025) ** 0.2 - 1) / 0.2))
    attained("C8 shape", shapes, made)
    for m, each in held.items():
        attained(f"C8 once in {m:g}", each, made, nominal=0.935)
    print(f"C8 Wald, once in 1e6: {100 * np.mean(wald):.1f} % (naive)")
    assert np.mean(wald) < np.mean(held[1e6])


def _wald_holds(y: np.ndarray, rate: float, truth: float) -> bool:
    """Delta-method interval of a return level from the expected information."""
    law = fit_gpd(y)
    xi, s, k = law.shape, law.scale, len(y)
    power = rate**xi
    gradient = np.array([-s * (power - 1) / xi**2 + s * power * math.log(rate) / xi, (power - 1) / xi])
    covariance = (1 + xi) / k * np.array([[1 + xi, -s], [-s, 2 * s**2]])
    half = 1.96 * math.sqrt(gradient @ covariance @ gradient)
    return bool(abs(s * (power - 1) / xi - truth) <= half)


@pytest.mark.parametrize("made", BOTH)
def test_c8_timeouts_in_the_tail_are_refused(made: int) -> None:
    """C8: a few timeouts among 40,000 lognormal values; the Anderson-Darling refusal catches nearly all of them."""
    rng = stream(46)
    made = made // 4
    refused = 0
    for _ in range(made):
        x = rng.lognormal(0, 0.3, 40_000)
        late = rng.random(40_000) < 1e-4
        x[late] *= 100
        refused += return_level(x, 1e6).refused
    print(f"C8 timeouts: {refused} of {made} refused")
    assert refused >= 0.9 * made


@pytest.mark.parametrize("made", BOTH)
def test_c8_with_a_chosen_threshold(made: int) -> None:
    """The whole way, threshold included, on dependent data whose tail is GPD: n = 40,000, once in 1e5."""
    rng = stream(47)
    made = made // 4
    for name, rho in (("independent", 0.0), ("AR(1) copula, rho = .8", 0.8)):
        held, refused = [], 0
        truth = genpareto.ppf(1 - 1e-5, 0.2)
        for _ in range(made):
            from scipy.special import log_ndtr

            survival = np.exp(log_ndtr(-correlated(rng, 40_000, rho)))
            result = return_level((survival**-0.2 - 1) / 0.2, 1e5)
            refused += result.refused
            if not result.refused:
                held.append(result.low <= truth and (result.high is None or truth <= result.high))
        share = float(np.mean(held))
        print(f"C8 chosen threshold, {name}: {100 * share:.1f} % of {len(held)}, {refused} refused")
        assert share >= 0.9 - 2 * math.sqrt(0.09 / len(held))


@pytest.mark.parametrize("made", BOTH)
def test_exponential_tails_are_seldom_called_heavy(made: int) -> None:
    """Light is called a little too often: maximum likelihood is biased that way, and so is choosing the threshold."""
    rng = stream(48)
    made = made // 4
    verdicts = [fit_tail(rng.exponential(1, 20_000)).verdict for _ in range(made)]
    heavy, light = verdicts.count("heavy"), verdicts.count("light")
    print(f"exponential tails: {heavy} heavy, {light} light of {made}")
    assert heavy <= made * (0.025 + 2 * math.sqrt(0.025 / made)) + 1
    assert light <= made * (0.12 + 2 * math.sqrt(0.12 / made)) + 1


@pytest.mark.parametrize("made", BOTH)
def test_time_weighted_quantiles_hold(made: int) -> None:
    """Lognormal law: weighting by length moves it by sigma squared on the logarithmic scale."""
    rng = stream(49)
    made = made // 2
    for rho in (0.0, 0.9):
        held: dict[float, list[bool]] = {0.5: [], 0.99: []}
        naive = []
        for _ in range(made):
            x = lognormal(rng, 10_000, rho)
            for result in time_weighted_quantiles(x, tuple(held)):
                p = result.labels["q"]
                truth = math.exp(0.25 + 0.5 * float(ndtri(p)))
                if result.low is not None and result.high is not None:
                    held[p].append(result.low <= truth <= result.high)
            (plain,) = az.quantiles(x, 0.5)
            naive.append(plain.low is not None and plain.low <= math.exp(0.25) <= plain.high)
        for p, each in held.items():
            if len(each) > made / 10:
                attained(f"time-weighted p{100 * p:g}, rho = {rho}", each, made)
        fails(f"quantiles by request as if by time, rho = {rho}", naive, 0.1)


def test_oracle_has_no_case_that_is_not_looked_at() -> None:
    seen = ("gpd|", "extremal-index", "refuse|")
    assert all(case["id"].startswith(seen) for case in content("evt_gpd")["cases"])


def test_the_shape_stays_where_the_tail_is_one_law() -> None:
    found = az.stats.shape_by_threshold(genpareto.rvs(0.3, size=20_000, random_state=stream(46)))
    assert len(found) >= 5 and all(each.low < 0.3 < each.high for each in found)
    thresholds = [each.labels["threshold"] for each in found]
    assert thresholds == sorted(thresholds) and az.stats.shape_by_threshold([1.0] * 5) == []
