"""Means of throughput intervals."""

from __future__ import annotations

import pytest

from azlatency.stats.within_run.throughput_intervals import interval_mean


@pytest.mark.parametrize(
    ("values", "code"),
    [([], "no_values"), ([5.0] * 3, "short_series"), ([5.0] * 60, "constant"), ([5.0], "burst_test")],
)
def test_short_constant_and_empty_series_are_flagged(values: list[float], code: str) -> None:
    assert code in interval_mean(values)["flags"].item().split()


def test_the_mean_is_the_total_over_the_time() -> None:
    result = interval_mean([10.0, 10, 10, 10, 4], [1, 1, 1, 1, 0.5])
    assert result["estimate"].item() == pytest.approx(42 / 4.5)
