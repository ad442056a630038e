"""Return levels: how far they extrapolate, when they are refused, and their attained coverage."""

from __future__ import annotations

import math

import numpy as np
import pytest
from helpers.cases import BOTH, FAST, correlated, stream
from scipy.stats import genpareto

import azlatency as az
from azlatency.stats.within_run.return_levels import return_level
from azlatency.stats.within_run.tail import fit_tail


def test_return_levels_flag_extrapolation() -> None:
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


@pytest.mark.parametrize("made", BOTH)
def test_timeouts_in_the_tail_are_refused(made: int) -> None:
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
def test_return_levels_with_a_selected_threshold_attain_their_coverage(made: int) -> None:
    """The whole way, threshold included, on dependent data whose tail is GPD: n = 40,000, once in 1e5."""
    rng = stream(47)
    made = made // 10 if made == FAST else made // 4
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
