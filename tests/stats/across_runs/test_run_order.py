"""The permutation test of the order of runs."""

from __future__ import annotations

import math
from itertools import pairwise, permutations

import numpy as np
import pytest
from helpers.cases import stream

from azlatency.stats.across_runs.run_order import (
    LEVEL,
    RunOrder,
    moments_over_orders,
    normal_scores,
    run_order,
    warm_up,
)


def test_the_p_value_is_the_share_of_orders_that_are_as_dependent() -> None:
    values = np.array([3.0, 1, 2, 5, 4, 6])
    scores = normal_scores(np.arange(6.0))
    observed = run_order(values)
    every = [sum(a * b for a, b in pairwise(order)) for order in permutations(scores)]
    of_these = scores[(values - 1).astype(int)]
    product = float(of_these[1:] @ of_these[:-1])
    assert observed.p == pytest.approx(np.mean(np.array(every) >= product - 1e-9), abs=0.02)
    assert observed.lag1 == pytest.approx(product / float(scores @ scores))
    assert moments_over_orders(scores) == pytest.approx((np.mean(every), np.var(every)))


def test_a_rising_series_drifts_and_an_alternating_one_does_not() -> None:
    rising, alternating = run_order(np.arange(12.0)), run_order(np.array([1.0, 12, 2, 11, 3, 10, 4, 9]))
    assert rising.drifts and rising.p < 0.001 and not alternating.drifts


def test_a_difference_between_two_series_is_not_dependence() -> None:
    random = np.random.default_rng(3)
    first, second = random.normal(0, 1, 12), random.normal(50, 1, 12)
    assert run_order(first, second).p > LEVEL and run_order(np.concatenate([first, second])).p < 0.001


@pytest.mark.parametrize("values", [[], [1.0, 2, 3, 4, 5], [4.0] * 9])
def test_few_or_equal_runs_are_not_tested(values: list[float]) -> None:
    order = run_order(np.array(values))
    assert not order.drifts and math.isnan(order.p) and not RunOrder().drifts


def test_healthy_runs_are_rarely_flagged() -> None:
    random = stream(8)
    flagged = sum(run_order(random.normal(size=8), random.normal(size=8)).drifts for _ in range(500))
    assert flagged < 20, "about 10 are expected at the level of 0.02"


def test_a_long_series_is_tested_without_its_orders() -> None:
    assert run_order(np.random.default_rng(9).normal(size=100_000)).p == pytest.approx(0.5, abs=0.49)


def test_first_runs_that_lie_apart_are_a_warm_up() -> None:
    later = np.array([50.0, 51, 49, 52, 48, 50.5, 49.5])
    assert warm_up(np.array([60.0, 57, 54, *later])) == 3 == warm_up(np.array([40.0, 41, 42, *later]))
    assert warm_up(np.array([60.0, 57, *later])) == 0, "2 of 9 lie apart in one order of 18"
    assert warm_up(np.array([60.0, 57, 54, 49, *later])) == 3, "the fourth is one of the others"
    assert warm_up(np.array([60.0, 40, 54, *later])) == 0 == warm_up(later)
    random = stream(6)
    assert sum(warm_up(random.normal(size=12)) > 0 for _ in range(1_000)) < 60
