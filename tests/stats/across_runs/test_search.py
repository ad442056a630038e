"""Bisection for the smallest number that satisfies a condition."""

from __future__ import annotations

import pytest

from azlatency.stats.across_runs.search import MOST, smallest_number


@pytest.mark.parametrize("limit", [2, 3, 17, 1024, 1025])
def test_the_smallest_number_is_found(limit: int) -> None:
    assert smallest_number(lambda number: number >= limit, 2) == limit


def test_a_number_beyond_the_end_of_the_search_is_none() -> None:
    assert smallest_number(lambda number: number > 2 * MOST, 2) is None
