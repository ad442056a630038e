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


def test_a_mean_of_many_intervals_has_no_end_beyond_its_values() -> None:
    """One level and a few slow intervals next to each other: an interval of the mean would end above 5.0."""
    found = interval_mean([5.0] * 58 + [2.5] * 2)
    assert found["flags"].item() == "few_effective" and found[["low", "high"]].isna().all(axis=None)
    # The mean of equal values is one of them, though its last digit may be rounded.
    assert interval_mean([1 / 3] * 60)["low"].item() == pytest.approx(1 / 3)
