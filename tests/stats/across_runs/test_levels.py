"""Steps of a series, and how rarely healthy series show one."""

from __future__ import annotations

import math

import numpy as np
import pytest
from helpers.cases import BOTH, stream, thinned

from azlatency.stats.across_runs.levels import SHORTEST, drift, find_steps, step_at


def steady(seed: int, number: int, spread: float = 0.03) -> np.ndarray:
    return np.asarray(300e3 * stream(seed).lognormal(0, spread, number))


def test_bad_nights_at_an_end_are_not_a_level() -> None:
    """Three of the first five nights are slow; all others vary little."""
    values = steady(91, 60, 0.003)
    values[[0, 2, 4, 20, 40]] *= 1.15
    assert find_steps(values, 0.01) == []


def test_a_step_that_is_small_beside_outlying_nights_is_found() -> None:
    values = steady(92, 60, 0.005)
    values[25:] *= 1.08
    values[[3, 9, 13, 30, 41, 50]] *= 1.4
    (step,) = find_steps(values, 0.001)
    assert abs(step.at - 25) <= 1


@pytest.mark.parametrize("made", BOTH)
def test_steps_that_are_moved_never_meet(made: int) -> None:
    """Bad nights come in clusters of three; steps between them were moved past each other and past the end."""
    random = stream(95)
    for _ in range(made // 2):
        bad = random.random(150) < 0.07
        values = steady(96, 150, 0.02) * np.where(bad | np.roll(bad, 1) | np.roll(bad, 2), 1.3, 1.0)
        places = [0, *(step.at for step in find_steps(values)), 150]
        assert min(np.diff(places)) >= SHORTEST
        for step, begin, end in zip(find_steps(values), places, places[2:], strict=False):
            assert begin < step.low <= step.high < end and begin < step.at < end


def test_many_nights_are_searched_on_a_grid() -> None:
    values = steady(11, 5000, 0.05)
    values[3210:] *= 1.1
    (step,) = find_steps(values, 1e-3)
    assert abs(step.at - 3210) <= 3 and step.low <= 3210 <= step.high


#: Round trips of two pairs of zones in ms, each a mean of 30 days, from July 2024 on (IBM Cloud's dashboards).
LONDON = [2.23, 2.15, 1.92, 1.9, 1.87, 1.78, 1.99, 1.99, 1.94, 2.02, 2.09, 1.94, 1.91, *[0.74, 0.74, 0.75], *[0.77] * 6]
DALLAS = [2.22, 2.21, 2.16, 2.14, 2.15, 2.12, 2.18, 2.22, 2.19, 1.73, 1.51, 1.57, 0.62, 0.62, 0.65, 0.64, *[0.61] * 5]

#: The level changed within the window of 0.38 ms.
WASHINGTON = [0.81, 0.83, 0.82, 0.64, 0.65, 0.62, 0.59, 0.62, 0.66, 0.7, 0.7, 0.63, 0.38, 0.29, 0.28, 0.3, *[0.28] * 6]


@pytest.mark.parametrize(("values", "at"), [(LONDON, 13), (DALLAS, 12), (WASHINGTON, 12)])
def test_a_sharp_step_of_a_short_series_is_found_where_it_is(values: list[float], at: int) -> None:
    steps = find_steps(np.array(values), 0.05 / 64)
    assert [step.at for step in steps] == [at]
    assert drift(np.array(values), steps) is None


def test_a_value_between_two_levels_is_left_out_only_if_both_of_them_last() -> None:
    """Tokyo fell within its fourth window, after three of the level before, which are too few."""
    tokyo = [1.47, 1.5, 1.47, 1.17, 0.98, 0.97, 0.98, 0.96, 0.97, 0.96, 0.98, 0.98, 0.99, 1.0, 1.02, 1.02, 1.02, 1.03]
    assert find_steps(np.array([*tokyo, 0.98, 0.98, 0.97, 0.98]), 0.05 / 64) == []


def test_the_shortest_two_levels_are_tested_as_well() -> None:
    """The last ten windows of dal13–dal14, which has one step before them: a share of 0 was taken for p = 0."""
    dallas = [2.35, 2.36, 2.3, 2.3, 2.32, 2.28, 2.32, 2.35, 2.34, 2.32, 2.14, 1.65, 1.65, 1.69, 1.67, 1.68, 1.63, 1.64]
    (step,) = find_steps(np.array([*dallas, 1.56, 1.53, 1.54]), 0.05 / 64)
    assert step.at == 11 and 0 < step.p < 1e-5


@pytest.mark.costly
@pytest.mark.parametrize("process", thinned(["AR(1) 0.5", "lognormal", "exponential", "two levels at random"], 2))
def test_a_place_that_was_chosen_beforehand_keeps_its_error(process: str) -> None:
    rng = stream(77)
    wrong = sum(step_at(HEALTHY[process](rng, 40), [20], 0.05) is not None for _ in range(400))
    moved = sum(
        step_at(HEALTHY["lognormal"](rng, 40) * np.repeat([1, 1.05], 20), [20], 0.05) is not None for _ in range(50)
    )
    searched = sum(bool(find_steps(HEALTHY["lognormal"](rng, 40) * np.repeat([1, 1.05], 20))) for _ in range(50))
    assert wrong <= 400 * 0.08 and moved > searched


def test_constant_and_short_series_have_no_steps() -> None:
    assert find_steps(np.full(50, 3.0)) == [] and find_steps(steady(1, 2 * SHORTEST - 1)) == []


def ar1(rng: np.random.Generator, number: int, coefficient: float) -> np.ndarray:
    noise = rng.standard_normal(number + 50)
    series = np.empty(number + 50)
    series[0] = noise[0]
    for at in range(1, len(noise)):
        series[at] = coefficient * series[at - 1] + math.sqrt(1 - coefficient**2) * noise[at]
    return series[50:]


HEALTHY = {
    "lognormal": lambda rng, number: rng.lognormal(0, 0.05, number),
    "exponential": lambda rng, number: rng.exponential(1, number),
    "pareto": lambda rng, number: rng.pareto(1.5, number) + 1,
    "two levels at random": lambda rng, number: rng.lognormal(0, 0.02, number) * rng.choice([1, 1.2], number),
    "weekends": lambda rng, number: rng.lognormal(0, 0.03, number) * np.where(np.arange(number) % 7 > 4, 1.1, 1),
    "rare losses": lambda rng, number: rng.poisson(0.3, number) / 1000,
    "AR(1) 0.5": lambda rng, number: np.exp(0.05 * ar1(rng, number, 0.5)),
}  # fmt: skip


@pytest.mark.costly
@pytest.mark.parametrize("made", BOTH)
@pytest.mark.parametrize("process", thinned(reversed(HEALTHY), 7))
def test_healthy_families_of_eight_series_rarely_change(process: str, made: int) -> None:
    made = max(made // 10, 100) if made < 1000 else made
    rng = stream(590 + list(HEALTHY).index(process))
    changed = 0
    for study in range(made):
        number = (20, 40, 60, 120)[study % 4]
        changed += any(find_steps(HEALTHY[process](rng, number), 0.05 / 8) for _ in range(8))
    allowed = 0.10 if process.startswith("AR") else 0.05
    print(f"{process}: {100 * changed / made:.1f} % of {made} families of eight series changed")
    assert changed / made <= allowed + 2 * math.sqrt(allowed * (1 - allowed) / made)


@pytest.mark.parametrize(("number", "spread"), [(120, 0.002), (40, 0.02), (20, 0.02)])
def test_a_series_that_doubles_drifts(number: int, spread: float) -> None:
    """Its neighbours resemble each other so much that no step is found."""
    values = 450e3 * 2 ** np.linspace(0, 1, number) * stream(41).lognormal(0, spread, number)
    assert drift(values, find_steps(values, 0.01), 0.01) == pytest.approx(2, rel=0.05)
    ends = steady(42, number, 0.02) * np.where(np.arange(number) >= number - 4, 1.3, 1)
    assert drift(ends, find_steps(ends, 0.01), 0.01) is None, "four points at the end may be a new level"
