"""Means of a run: flags on hard inputs, and attained coverage under dependence and heavy tails."""

from __future__ import annotations

import math

import numpy as np
import pytest
from helpers.cases import BOTH, FULL, attained, correlated, fails, fractional, lognormal, stream

import azlatency as az
from azlatency.stats.within_run.dependence import long_run_variance, newey_west

MEAN = math.exp(0.125)


@pytest.mark.parametrize(
    ("values", "codes"),
    [
        ([], ("no_values",)),
        ([5.0], ("no_replication",)),
        ([5.0] * 9, ("constant",)),
        ([1.0, math.inf] * 9, ("loss_censored",)),
        ([1.0, 2.0, 1.5, math.nan], ("missing",)),
    ],
)
def test_hard_inputs_are_flagged(values: list[float], codes: tuple[str, ...]) -> None:
    result = az.stats.mean(values)
    assert result.codes == codes
    assert str(result)


@pytest.mark.parametrize(("n", "code"), [(0, "no_values"), (1, "no_replication")])
def test_summaries_of_too_few_values_are_flagged(n: int, code: str) -> None:
    assert az.stats.mean_from_summary(n, 5.0, 1.0).codes == (code,)


@pytest.mark.parametrize("made", BOTH)
@pytest.mark.parametrize("n", [2000, 40_000])
@pytest.mark.parametrize("rho", [0.0, *(pytest.param(rho, marks=pytest.mark.slow) for rho in (0.5, 0.95)), 0.99])
def test_means_of_dependent_packets_attain_their_coverage(rho: float, n: int, made: int) -> None:
    """C2: t at the effective n holds where it is not refused; as if independent, and Newey-West, do not."""
    rng = stream(3200 + int(100 * rho) + n)
    made = made // 2 if n > 2000 or made == FULL else made
    held: list[bool] = []
    naive: list[bool] = []
    fixed_lag: list[bool] = []
    clipped: list[bool] = []
    for _ in range(made):
        x = lognormal(rng, n, rho)
        result = az.stats.mean(x)
        off = abs(float(x.mean()) - MEAN)
        naive.append(off <= 1.96 * x.std(ddof=1) / math.sqrt(n))
        fixed_lag.append(off <= 1.96 * math.sqrt(newey_west(x, int(4 * (n / 100) ** (2 / 9))) / n))
        clipped.append(off <= 1.96 * math.sqrt(long_run_variance(x, clip=0.97) / n))
        if result.low is not None:
            held.append(result.low <= MEAN <= result.high)
    if len(held) > made / 10:
        attained(f"C2 rho = {rho}, n = {n}", held, made, above=0.035)
    else:
        print(f"C2 rho = {rho}, n = {n}: {made - len(held)} of {made} refused")
        assert rho == 0.99 and n == 2000
    if rho >= 0.95:
        fails(f"C2 as if independent, rho = {rho}, n = {n}", naive, 0.4)
        fails(f"C2 Newey-West, fixed lag, rho = {rho}, n = {n}", fixed_lag, 0.85)
    if rho == 0.99:
        fails(f"C2 prewhitened, clipped at .97, n = {n}", clipped, 0.75)


@pytest.mark.parametrize("made", BOTH)
def test_long_range_dependent_runs_get_no_interval(made: int) -> None:
    """C15: as if independent, 30 batches and Geyer's t fail under long memory; most of the runs are refused."""
    rng = stream(35)
    made = made // 4
    for d, below in ((0.2, 0.5), (0.4, 0.2)):
        naive, refused = [], 0
        for _ in range(made):
            x = fractional(rng, 20_000, d)
            refused += az.stats.mean(x).low is None
            naive.append(bool(abs(x.mean()) <= 1.96 * x.std() / math.sqrt(len(x))))
        print(f"C15 d = {d}: {refused} of {made} means refused")
        assert refused >= 0.75 * made
        fails(f"C15 d = {d}, as if independent", naive, below)


@pytest.mark.parametrize("made", BOTH)
def test_means_of_heavy_tails_get_no_interval(made: int) -> None:
    """One packet in a thousand a hundred times as late: t covers 63 %; wherever such a packet was seen, no interval."""
    rng = stream(36)
    naive, silent = [], 0
    truth = math.exp(0.005) * (1 + 99e-3)
    for _ in range(made):
        late = rng.random(1000) < 1e-3
        x = np.where(late, 100.0, 1.0) * rng.lognormal(0, 0.1, 1000)
        result = az.stats.mean(x)
        half = 1.9623 * x.std(ddof=1) / math.sqrt(1000)
        naive.append(bool(abs(x.mean() - truth) <= half))
        silent += bool(late.any()) and "mean_tail_dominated" not in result.codes
        if late.any():
            assert result.low is None
            assert result.diagnostics["spike_rate"] == pytest.approx(late.mean())
    assert silent == 0
    fails("t of a mean with rare spikes", naive, 0.75)
    light = az.stats.mean(np.exp(0.3 * correlated(rng, 5000, 0.3)))
    assert "mean_tail_dominated" not in light.codes
