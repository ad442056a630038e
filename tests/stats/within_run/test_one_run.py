"""A run in memory: order statistics by rank, and the steps of its values."""

from __future__ import annotations

import numpy as np
import pytest
from helpers.cases import stream
from helpers.processes import PROCESSES, spikes

from azlatency.stats.within_run.one_run import Options, Run, sort_run


def run(values: list[float], lost: int = 0) -> Run:
    return sort_run(np.array(values), Options(confidence=0.95, independent=True), lost=lost)


def test_values_by_rank() -> None:
    of_run = run([3.0, 1.0, np.inf, 2.0], lost=1)
    assert of_run.n == 5
    assert [of_run.value_at(rank) for rank in (1, 2, 3)] == [1.0, 2.0, 3.0]
    assert np.isnan([of_run.value_at(rank) for rank in (0, 4, 5, 6)]).all()
    assert of_run.point(0.6) == ((), 3.0)
    assert of_run.point(0.61)[0] == ("loss_censored",) and np.isnan(of_run.point(0.61)[1])


@pytest.mark.parametrize(
    ("values", "codes"),
    [([5.0] * 30, ("constant",)), ([1.0, 2.0] * 30, ("quantised",)), (list(range(100)), ()), ([np.inf] * 3, ())],
)
def test_steps(values: list[float], codes: tuple[str, ...]) -> None:
    assert run(values).steps() == codes


def test_levels_around_an_interval() -> None:
    levels, inside = run([1.0] * 5 + [2.0] * 10 + [3.0] * 5 + [4.0]).levels_between(2.0, 2.0)
    assert levels.tolist() == [1.0, 2.0, 3.0] and inside == 10


def test_the_median_allows_for_bursts_that_its_own_indicator_hides() -> None:
    """A hundred bursts of 3 times the delay in 100,000 packets: own tau covers 90 %, with bursts 99 % (100 runs)."""
    rng = stream(90)
    for _ in range(3):
        of_run = sort_run(spikes(rng, 20_000, starts=1e-3, length=40), Options(confidence=0.95))
        own = of_run.tau(0.5)
        assert 1.25 * own < of_run.tau_beside_bursts(0.5, own) < 10 * own
        assert of_run.tau_beside_bursts(0.99, 2.0) == 2.0
    for name in ("independent", "AR(1) 0.95", "pauses"):
        of_run = sort_run(PROCESSES[name](rng, 20_000), Options(confidence=0.95))
        assert of_run.tau_beside_bursts(0.5, of_run.tau(0.5)) == of_run.tau(0.5), name


@pytest.mark.parametrize(
    ("name", "n", "flagged"),
    [
        ("AR(1) 0.99", 3000, True), ("fGn H = 0.8", 5000, True), ("ARFIMA d = 0.3", 5000, True),
        ("independent", 5000, False), ("AR(1) 0.95", 20_000, False), ("pauses", 5000, False), ("sawtooth", 5000, False),
    ],
)  # fmt: skip
def test_an_answer_despite_long_dependence_is_flagged(name: str, n: int, flagged: bool) -> None:
    """The medians of these runs that are answered cover 86 %, 32 % and 60 %; the others 95 % and more."""
    rng = stream(91)
    given = [
        sort_run(PROCESSES[name](rng, n), Options(confidence=0.95)).estimate(0.5) for _ in range(25 if flagged else 8)
    ]
    answered = [row["flags"] for row in given if not np.isnan(row["low"])]
    assert answered and all(("few_effective" in flags) is flagged for flags in answered)
