"""Fewest observations and rounds with which a bound or a test can exist."""

from __future__ import annotations

import math

import pytest

import azlatency as az
from azlatency.stats.across_runs.attainable import (
    MOST,
    attainable_paired,
    attainable_unpaired,
    rounds_needed,
    smallest_n,
    smallest_number,
)


@pytest.mark.parametrize("limit", [2, 3, 17, 1024, 1025])
def test_the_smallest_number_is_found(limit: int) -> None:
    assert smallest_number(lambda number: number >= limit, 2) == limit


def test_a_number_beyond_the_end_of_the_search_is_none() -> None:
    assert smallest_number(lambda number: number > 2 * MOST, 2) is None


def test_the_smallest_p_value_follows_from_the_sizes() -> None:
    assert [attainable_paired(rounds) for rounds in (0, 1, 5, 8)] == [1.0, 1.0, 1 / 16, 1 / 128]
    assert attainable_unpaired(2, 2) == pytest.approx(1 / 3) and attainable_unpaired(0, 5) == 1.0


def test_thousands_of_runs_have_a_smallest_p() -> None:
    assert attainable_unpaired(7000, 3000) == 0.0


def test_the_smallest_n_equals_the_published_table() -> None:
    assert [smallest_n(p) for p in (0.99, 0.999, 0.9999, 0.99999)] == [368, 3688, 36887, 368887]
    assert [smallest_n(p, sides="upper") for p in (0.99, 0.999, 0.9999, 0.99999)] == [299, 2995, 29956, 299572]
    # One in a million: the smallest n with (1 - 1e-6)^n <= .05; -ln(.05) * 1e6, often quoted, is one more.
    n = smallest_n(1 - 1e-6, sides="upper")
    assert n == 2_995_731 and n * math.log1p(-1e-6) <= math.log(0.05) < (n - 1) * math.log1p(-1e-6)
    with pytest.raises(ValueError, match="between"):
        smallest_n(1.0)


def test_rounds_before_any_test_can_decide() -> None:
    assert (rounds_needed(), rounds_needed(3)) == (6, 7)
    assert (rounds_needed(paired=False), rounds_needed(3, paired=False)) == (4, 5)
    with pytest.raises(ValueError, match="at least one"):
        rounds_needed(0)


def test_sizes() -> None:
    row = az.stats.percentile_sizes([100, 4000, None]).set_index("q").loc[0.999]
    assert list(row[["two", "upper", "range", "enough", "runs"]]) == [3688, 2995, 2995, 1, 2]
