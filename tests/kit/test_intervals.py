"""Intervals as a reader sees them."""

from __future__ import annotations

from azlatency.kit.intervals import interval_in, is_far_apart, range_in


def test_runs_that_are_far_apart_are_described_by_their_range() -> None:
    nan, ends = float("nan"), {"lowest": 4e5, "highest": 9e5}
    assert range_in({"low": 1e5, "high": 2e6, **ends}) == (1e5, 2e6)
    assert range_in({"low": 4e5, "high": 1e6, **ends}) is None
    # Without an interval that says something, the smallest and the largest run are all that is known.
    assert range_in({"low": 1e3, "high": 2e6, **ends}) == range_in({"low": nan, "high": nan, **ends}) == (4e5, 9e5)
    assert range_in({"low": nan, "high": nan, "lowest": 4e5, "highest": 4e5}) is None


def test_the_interval_of_a_row_is_known_if_it_says_something() -> None:
    nan = float("nan")
    assert interval_in({"low": 1.0, "high": 2.0}) == (1.0, 2.0) and not is_far_apart((1.0, 2.0))
    assert is_far_apart((1.0, 5.0))
    for low, high in ((nan, 2.0), (1.0, nan), (1.0, 101.0)):
        assert interval_in({"low": low, "high": high}) is None
    assert interval_in(None) is None
