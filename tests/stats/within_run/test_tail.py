"""Tail fits: which inputs are refused, and how often an exponential tail is called heavy."""

from __future__ import annotations

import math

import numpy as np
import pytest
from helpers.cases import BOTH, stream

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
def test_exponential_tails_are_rarely_called_heavy(made: int) -> None:
    """Light is called a little too often: maximum likelihood is biased that way, and so is choosing the threshold."""
    rng = stream(48)
    made = made // 4
    verdicts = [fit_tail(rng.exponential(1, 20_000)).verdict for _ in range(made)]
    heavy, light = verdicts.count("heavy"), verdicts.count("light")
    print(f"exponential tails: {heavy} heavy, {light} light of {made}")
    assert heavy <= made * (0.025 + 2 * math.sqrt(0.025 / made)) + 1
    assert light <= made * (0.12 + 2 * math.sqrt(0.12 / made)) + 1
