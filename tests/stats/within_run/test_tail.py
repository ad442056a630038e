"""Tail fits: which inputs are refused, and how often an exponential tail is called heavy."""

from __future__ import annotations

import math

import numpy as np
import pytest
from helpers.cases import BOTH, stream
from scipy.stats import genpareto

import azlatency as az
from azlatency.stats.within_run.return_levels import return_level
from azlatency.stats.within_run.tail import fit_tail


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


def test_the_shape_does_not_depend_on_the_threshold_of_a_pareto_tail() -> None:
    found = az.stats.shape_by_threshold(genpareto.rvs(0.3, size=20_000, random_state=stream(46)))
    assert len(found) >= 5 and all(each.low < 0.3 < each.high for each in found)
    thresholds = [each.labels["threshold"] for each in found]
    assert thresholds == sorted(thresholds) and az.stats.shape_by_threshold([1.0] * 5) == []
