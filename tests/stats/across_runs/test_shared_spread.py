"""Variances of paths as drawn from one distribution; expected values of InMoose 0.9.1, a port of limma."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest
from helpers.results import estimate_of, estimates_of
from scipy import stats

import azlatency as az
from azlatency.stats.across_runs.shared_spread import SharedSpread, shared_spread
from azlatency.stats.across_runs.typical_run import typical_run

VARIANCES = [0.0004, 0.0031, 0.0009, 0.0250, 0.0016, 0.0002, 0.0110, 0.0042]


@pytest.mark.parametrize(
    ("degrees", "variance", "prior", "moderated"),
    [
        ([2] * 8, 0.0025528587071630762, 2.8330995752965036, [0.00166198, 0.00277927, 0.00186888, 0.01184178]),
        ([1, 1, 2, 2, 4, 4, 11, 11], 0.002777830708773443, 3.820774347891574,
         [0.00228458, 0.00284466, 0.00213261, 0.0104133]),
    ],
)  # fmt: skip
def test_the_prior_and_the_moderated_variances_are_those_of_limma(
    degrees: list[float], variance: float, prior: float, moderated: list[float]
) -> None:
    spread = shared_spread(VARIANCES, degrees)
    assert spread is not None
    assert (spread.variance, spread.degrees) == pytest.approx((variance, prior), rel=1e-9)
    found = [spread.moderated(one, df)[0] for one, df in zip(VARIANCES, degrees, strict=True)]
    assert found[:4] == pytest.approx(moderated, abs=5e-9)
    assert [spread.moderated(1.0, df)[1] for df in degrees] == pytest.approx([prior + df for df in degrees])
    # The share of paths is that of scipy's F distribution.
    assert spread.share_below(0.001, 2) == pytest.approx(stats.f.cdf(0.001 / variance, 2, prior))


def test_variances_that_differ_by_chance_only_are_pooled() -> None:
    spread = shared_spread([0.010, 0.012, 0.009, 0.011, 0.010, 0.0105], [4] * 6)
    assert spread == SharedSpread(pytest.approx(0.010416666666666666), math.inf, 24)
    assert spread.moderated(1e-9, 4) == (spread.variance, 24)
    assert spread.share_below(0.001, 4) == pytest.approx(stats.chi2.cdf(4 * 0.001 / spread.variance, 4))


def test_fewer_than_four_paths_with_a_variance_show_nothing() -> None:
    assert shared_spread([], []) is None and shared_spread([0.1, 0.2, 0.3, 0.0], [2] * 4) is None


def test_the_law_of_variances_is_found_from_many_paths() -> None:
    random = np.random.default_rng(7)
    true = 0.01 * 6 / random.chisquare(6, 20_000)
    spread = shared_spread(list(true * random.chisquare(2, 20_000) / 2), [2.0] * 20_000)
    assert spread is not None and spread.variance == pytest.approx(0.01, rel=0.03)
    assert spread.degrees == pytest.approx(6, rel=0.1)


def _runs(method: str, *paths: list[float]) -> pd.DataFrame:
    rows = [(f"a → {at}", method, value) for at, values in enumerate(paths) for value in values]
    return pd.DataFrame(rows, columns=["path", "method", "median_ns"])


def test_runs_that_agree_by_chance_have_the_interval_of_all_paths_of_their_method_only() -> None:
    others = [[1e5, 1.1e5], [2e5, 2.15e5], [3e5, 2.8e5], [4e5, 4.3e5], [5e5, 4.7e5]]
    close = [6e5, 6.0001e5]
    beside = estimates_of(az.summarize(_runs("ping", *others, close)))
    alone = estimate_of(typical_run(close))
    assert "close_runs" in beside[5].codes and "close_runs" not in alone.codes
    assert beside[5].estimate == alone.estimate and (beside[5].high - beside[5].low) > 40 * (alone.high - alone.low)
    # The intervals of the others stay those of Student's t.
    assert [one.low for one in beside[:5]] == [typical_run(values)["low"] for values in others]
    # Paths of another method say nothing about these runs, and neither do three of the same.
    mixed = estimates_of(az.summarize(pd.concat([_runs("sockperf", *others), _runs("ping", close)], ignore_index=True)))
    few = estimates_of(az.summarize(_runs("ping", *others[:2], close)))
    assert (mixed[5].low, few[2].low) == (alone.low, alone.low) and mixed[5].codes == alone.codes


def test_equal_values_of_a_known_resolution_have_the_spread_of_the_other_paths() -> None:
    runs = _runs("ping", [1e5, 1.1e5], [2e5, 2.15e5], [3e5, 2.8e5], [4e5, 4.3e5], [6e5, 6e5])
    equal = estimates_of(az.summarize(runs.assign(median_ns_resolution=100.0)))[4]
    assert {"constant", "close_runs"} <= set(equal.codes) and equal.high - equal.low > 5e3
