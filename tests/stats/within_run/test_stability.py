"""Level shifts of a run: size, time, and what must not be mistaken for one."""

from __future__ import annotations

import math

import numpy as np
import pytest
from helpers.cases import BOTH, correlated, stream
from helpers.processes import PROCESSES

import azlatency as az
from azlatency.stats.within_run.lifetimes import lifetimes
from azlatency.stats.within_run.stability import block_quantiles, stability


@pytest.mark.parametrize(
    ("values", "code"),
    [([], "no_values"), ([5.0] * 3, "short_series"), ([5.0] * 5000, "constant"), ([1.0, math.nan], "missing")],
)
def test_runs_without_enough_values_are_flagged(values: list[float], code: str) -> None:
    result = stability(values)
    assert code in result.run["flags"].iloc[0].split() and result.shifts.empty
    assert az.say(result.run) and list(result.run["shift_count"]) == [0]


def test_a_shift_is_found_sized_and_timed() -> None:
    rng = stream(52)
    x = 700 + 30 * correlated(rng, 40_000, 0.5)
    x[25_000:] += 60
    times = np.arange(40_000) * 1_000_000_000
    result = stability(x, times, unit="us")
    (shift,) = result.shifts.to_dict("records")
    assert shift["confirmed"] and shift["practical"] and list(result.run["stable"]) == [False]
    assert list(result.run["flags"]) == [shift["flags"]] == ["nonstationary"]
    assert az.say(result.run).startswith("1 level shift, 1 confirmed, in 667 blocks")
    assert az.say(result.shifts).startswith("level shift of ") and ", confirmed" in az.say(result.shifts)
    assert shift["change_low"] <= 60 <= shift["change_high"]
    assert shift["at_low"] <= 25_000e9 <= shift["at_high"]
    assert shift["relative"] == pytest.approx(60 / 700, rel=0.1)
    (counted,) = stability(x).shifts.to_dict("records")
    assert counted["at_low"] <= 25_000 <= counted["at_high"]


def test_a_shift_up_and_down_again_is_two_shifts() -> None:
    x = 700 + 30 * stream(53).standard_normal(40_000)
    x[15_000:20_000] += 60
    assert list(stability(x).shifts["at"].round(-3)) == [15_000, 20_000]


def test_a_large_shift_does_not_hide_in_its_own_variance() -> None:
    x = 700 + stream(54).standard_normal(40_000)
    x[20_000:] += 1000
    assert len(stability(x).shifts) == 1


def test_spikes_and_loss_are_not_level_shifts() -> None:
    rng = stream(55)
    x = 700 + 30 * rng.standard_normal(40_000)
    x[rng.random(40_000) < 0.01] *= 50
    x[rng.random(40_000) < 0.01] = math.inf
    assert stability(x).shifts.empty


@pytest.mark.parametrize("made", BOTH)
@pytest.mark.parametrize("name", ["M/M/1 0.8", "fGn H = 0.8", "clustered spikes", "pauses"])
def test_queues_bursts_and_long_memory_are_not_level_shifts(name: str, made: int) -> None:
    rng, n = stream(56), 5000
    shifts = sum(not stability(PROCESSES[name](rng, n)).run["stable"].all() for _ in range(made // 5))
    print(f"level shifts in {name}: {shifts} of {made // 5}")
    assert shifts <= 0.05 * (made // 5) + 2 * math.sqrt(0.05 * made / 5)


@pytest.mark.parametrize("name", ["pauses", "clustered spikes"])
def test_a_shift_below_bursts_is_found(name: str) -> None:
    x = PROCESSES[name](stream(57), 5000)
    x[2500:] *= 1.1
    assert list(stability(x).run["stable"]) == [False]


def test_blocks_of_time_skip_gaps() -> None:
    times = np.concatenate([np.arange(2000), np.arange(2000) + 6000]) * 10**9
    medians, begins = block_quantiles(np.ones(4000), times)
    assert len(medians) == len(begins)
    assert not ((begins > 2050e9) & (begins < 5900e9)).any()


def test_the_public_names_are_these_functions() -> None:
    assert az.stats.stability is stability and az.stats.lifetimes is lifetimes


def test_times_of_a_clock_that_runs_backwards_are_not_used() -> None:
    x = 700 + 30 * stream(56).standard_normal(5000)
    times = np.arange(5000) * 10**9
    times[3000:] -= 5 * 10**9
    result = stability(x, times)
    assert list(result.run["flags"]) == ["clock_step"] and result.run["stable"].all()
    with pytest.raises(ValueError, match="times for"):
        stability(x, times[:-1])
