"""The permutation test of the order of runs."""

from __future__ import annotations

from itertools import pairwise, permutations

import numpy as np
import pytest
from helpers.cases import correlated, stream
from scipy.stats import t

from azlatency.stats.across_runs.run_order import (
    LEVEL,
    UNTESTED,
    USUAL,
    _over_orders,
    run_order,
    shared_orders,
    warm_up,
)


def test_the_p_value_of_a_few_runs_counts_every_order() -> None:
    values = np.array([3.0, 1, 2, 5, 4, 6])
    from scipy.stats import norm

    scores = norm.ppf((np.arange(1, 7) - 0.375) / 6.25)
    observed = run_order(values)
    every = [sum(a * b for a, b in pairwise(order)) for order in permutations(scores)]
    of_these = scores[(values - 1).astype(int)]
    product = float(of_these[1:] @ of_these[:-1])
    assert observed.p == pytest.approx(np.mean(np.array(every) >= product - 1e-9))
    assert observed.lag1 == pytest.approx(product / float(scores @ scores))


def test_a_rising_series_is_dependent_and_an_alternating_one_is_not() -> None:
    rising, alternating = run_order(np.arange(12.0)), run_order(np.array([1.0, 12, 2, 11, 3, 10, 4, 9]))
    assert rising.dependent and rising.p < 0.001 and rising.inflation(12) > 1.8
    assert not alternating.dependent and alternating.inflation(8) == 1 == alternating.widening(0.95, [8])


def test_the_widening_of_few_runs_is_the_error_of_a_t_interval_under_that_dependence() -> None:
    """A quantile of |t| for two means of five runs of an AR(1) process of 0.5, from 20,000 pairs of series."""
    from scipy.stats import t

    random = np.random.default_rng(1)
    x, y = (np.array([correlated(random, 5, 0.5) for _ in range(20_000)]) for _ in "ab")
    error = np.sqrt((x.var(axis=1, ddof=1) + y.var(axis=1, ddof=1)) / 5)
    due = np.quantile(np.abs(x.mean(axis=1) - y.mean(axis=1)) / error, 0.95) / t.ppf(0.975, 8)
    assert UNTESTED._replace(coefficient=0.5).widening(0.95, (5, 5)) == pytest.approx(due, rel=0.05)
    many = run_order(random.normal(size=400), random.normal(size=400))
    assert many.coefficient < 0.1 and many.widening(0.95, (400, 400)) < 1.1


def test_a_difference_between_two_series_is_not_dependence() -> None:
    random = np.random.default_rng(3)
    first, second = random.normal(0, 1, 12), random.normal(50, 1, 12)
    assert run_order(first, second).p > LEVEL and run_order(np.concatenate([first, second])).p < 0.001


@pytest.mark.parametrize("values", [[], [1.0, 2, 3, 4, 5], [4.0] * 9])
def test_few_or_equal_runs_are_not_tested(values: list[float]) -> None:
    assert run_order(np.array(values)).coefficient == UNTESTED.coefficient == USUAL
    assert not run_order(np.array(values)).dependent and run_order(np.array(values), usual=0.0).inflation(3) == 1.0


def test_the_runs_of_all_paths_show_a_dependence_that_one_path_does_not() -> None:
    random = np.random.default_rng(5)
    dependent = [correlated(random, 10, 0.6) for _ in range(16)]
    pairs = list(zip(dependent[::2], dependent[1::2], strict=True))
    assert sum(run_order(*pair).dependent for pair in pairs) < len(pairs)
    assert all(order.dependent for order in shared_orders(pairs))
    assert shared_orders(pairs[:1]) == [run_order(*pairs[0])] and shared_orders([]) == []


def test_a_path_with_a_trend_is_widened_more_than_the_others() -> None:
    random = np.random.default_rng(6)
    pairs = [(random.normal(size=10), random.normal(size=10)) for _ in range(8)]
    pairs.append((np.arange(10.0), np.arange(10.0)))
    *others, trend = shared_orders(pairs)
    assert trend == run_order(*pairs[-1]) and all(trend.inflation(10) > 1.2 * order.inflation(10) for order in others)


@pytest.mark.parametrize("coefficient", [0.0, 0.3, 0.5, 0.95])
@pytest.mark.parametrize("runs", [3, 8, 50])
def test_widening_is_that_of_the_whole_covariance_matrix(runs: int, coefficient: float) -> None:
    lags = np.abs(np.subtract.outer(np.arange(runs), np.arange(runs)))
    residual = coefficient**lags - (coefficient**lags).mean(axis=0)
    trace = np.trace(residual)
    degrees = trace**2 / np.trace(residual @ residual)
    variance, estimated = (coefficient**lags).sum() / runs**2, trace / (runs - 1) / runs
    factor = np.sqrt(variance / estimated) * t.ppf(0.975, degrees) / t.ppf(0.975, runs - 1)
    found = UNTESTED._replace(coefficient=coefficient).widening(0.95, [runs])
    assert found == pytest.approx(max(factor, 1.0), rel=1e-6)


def test_widening_needs_no_matrix_of_all_runs() -> None:
    assert UNTESTED._replace(coefficient=0.5).widening(0.95, [10**9]) == pytest.approx(3**0.5, rel=1e-6)


def test_moments_over_all_orders_of_the_rounds_that_series_share() -> None:
    scores = np.random.default_rng(7).normal(size=(3, 6))
    scores -= scores.mean(axis=1, keepdims=True)
    sums = [float((scores[:, order[1:]] * scores[:, order[:-1]]).sum()) for order in map(list, permutations(range(6)))]
    assert _over_orders(scores) == pytest.approx((np.mean(sums), np.var(sums)))
    assert _over_orders(np.repeat(scores, 3, axis=0)) == pytest.approx((3 * np.mean(sums), 9 * np.var(sums)))


def test_what_acts_on_all_paths_in_a_round_is_no_dependence_in_time() -> None:
    random = np.random.default_rng(8)
    found = 0
    for _ in range(100):
        of_rounds = random.normal(size=8)
        found += run_order(*(of_rounds + 0.3 * random.normal(size=8) for _ in range(10))).dependent
    assert found < 12, "about 5 are expected at the level of 0.05"


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
