"""A run in memory: order statistics by rank, and the steps of its values."""

from __future__ import annotations

import numpy as np
import pytest

from azlatency.stats.within_run.one_run import Options, SortedRun, sort_run


def run(values: list[float], lost: int = 0) -> SortedRun:
    return sort_run(np.array(values), Options(confidence=0.95, independent=True), lost=lost)


def test_values_by_rank() -> None:
    of_run = run([3.0, 1.0, np.inf, 2.0], lost=1)
    assert of_run.n == 5
    assert [of_run.value_at(rank) for rank in range(7)] == [None, 1.0, 2.0, 3.0, None, None, None]
    assert of_run.point(0.6) == ((), 3.0)
    assert of_run.point(0.61) == (("loss_censored",), None)


@pytest.mark.parametrize(
    ("values", "codes"),
    [([5.0] * 30, ("constant",)), ([1.0, 2.0] * 30, ("quantised",)), (list(range(100)), ()), ([np.inf] * 3, ())],
)
def test_steps(values: list[float], codes: tuple[str, ...]) -> None:
    assert run(values).steps() == codes


def test_levels_around_an_interval() -> None:
    levels, inside = run([1.0] * 5 + [2.0] * 10 + [3.0] * 5 + [4.0]).levels_between(2.0, 2.0)
    assert levels.tolist() == [1.0, 2.0, 3.0] and inside == 10
