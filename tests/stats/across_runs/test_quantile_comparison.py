"""Quantiles of two connections compared."""

from __future__ import annotations

import pytest

from azlatency.stats.across_runs.quantile_comparison import compare_quantiles, shift_function
from azlatency.stats.result import Estimate


def estimate(value: float | None, low: float | None, high: float | None, *codes: str, q: float = 0.5) -> Estimate:
    return Estimate(
        what="p",
        estimate=value,
        low=low,
        high=high,
        unit="us",
        n=1000,
        scope="within_run",
        confidence=0.95,
        method="test",
        codes=codes,
        labels={"q": q},
    )


def test_quantiles_of_two_connections_are_compared() -> None:
    result = compare_quantiles(estimate(50.0, 49.0, 51.0), estimate(40.0, 39.0, 41.0))
    assert result.verdict == "different" and result.scope == "within_run" and result.p is None
    assert "these two connections" in str(result) and "no_replication" in result.codes
    assert result.difference is not None
    assert (result.difference.low, result.difference.high) == pytest.approx((10 - 2**0.5, 10 + 2**0.5))
    floor = compare_quantiles(estimate(50.0, 49.0, 51.0, "within_run_floor"), estimate(40.0, 39.0, 41.0))
    assert floor.verdict == "undetermined"
    open_end = compare_quantiles(estimate(50.0, 49.0, None, "unbounded_upper"), estimate(40.0, 39.0, 41.0))
    assert open_end.ratio.high is None and open_end.verdict == "different"
    refused = compare_quantiles(estimate(None, None, None, "tail_unresolved"), estimate(40.0, 39.0, 41.0))
    assert refused.ratio.refused and "tail_unresolved" in refused.codes


def test_shift_function_meets_levels() -> None:
    a = [estimate(50.0, 49.0, 51.0, q=0.5), estimate(90.0, 80.0, 99.0, q=0.99)]
    b = [estimate(80.0, 70.0, 90.0, q=0.99), estimate(50.0, 49.5, 50.5, q=0.5), estimate(1.0, 1.0, 1.0, q=0.1)]
    shifts = shift_function(a, b)
    assert [shift.labels["q"] for shift in shifts] == [0.5, 0.99]
    assert [shift.verdict for shift in shifts] == ["equivalent", "undetermined"]
