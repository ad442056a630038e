"""Coordinated omission: time-weighted quantiles and back-filled replies."""

from __future__ import annotations

import math

import numpy as np
import pytest
from helpers.cases import BOTH, attained, fails, lognormal, stream
from scipy.special import ndtri

import azlatency as az
from azlatency.stats.within_run.coordinated_omission import (
    backfill,
    coordinated_omission,
    mean_residual_wait,
    time_weighted_quantiles,
)


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


@pytest.mark.parametrize("made", BOTH)
def test_time_weighted_quantiles_attain_their_coverage(made: int) -> None:
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
