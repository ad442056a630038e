"""Means and exceedances of a run against R and printed logs, on hard inputs, and their attained coverage."""

from __future__ import annotations

import math

import numpy as np
import pytest
from helpers.cases import BOTH, FULL, attained, content, correlated, fails, fractional, lognormal, stream
from scipy.special import ndtri
from scipy.stats import binom

import azlatency as az
from azlatency.stats.within_run.dependence import long_run_variance, newey_west
from azlatency.stats.within_run.proportions import clopper_pearson, wilson

TABLES = content("printed_percentile_tables")["tables"]
MEAN = math.exp(0.125)


# ------------------------------------------------------------------------------------------------------- hard inputs


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
def test_means_of_hard_inputs(values: list[float], codes: tuple[str, ...]) -> None:
    result = az.stats.mean(values)
    assert result.codes == codes
    assert str(result)


@pytest.mark.parametrize(("n", "code"), [(0, "no_values"), (1, "no_replication")])
def test_summaries_of_nothing(n: int, code: str) -> None:
    assert az.stats.mean_from_summary(n, 5.0, 1.0).codes == (code,)


def test_exceedance_counts_loss_and_flags_rare_events() -> None:
    values = stream(31).lognormal(0, 0.5, 10_000)
    result = az.stats.exceedance(values, 2.0)
    assert result.low < result.estimate == np.mean(values > 2.0) < result.high
    lost = az.stats.exceedance(values, 2.0, lost=100)
    assert lost.diagnostics["count"] == result.diagnostics["count"] + 100
    rare = az.stats.exceedance(values, 6.0)
    assert "within_run_floor" in rare.codes
    none = az.stats.exceedance(values, 1e9)
    assert none.estimate == 0 and none.low == 0 and none.high == pytest.approx(clopper_pearson(0, 10_000)[1])
    assert az.stats.exceedance([], 1.0).codes == ("no_values",)
    assert az.stats.exceedance([1.0, 3.0], 2.0).estimate == 0.5
    assert az.stats.exceedance([4.0] * 50, 2.0).estimate == 1.0
    assert az.stats.table_exceedance(5.0, 0, [], []).codes == ("no_values",)
    for count, n in ((3, 2), (-1, 5), (0, 0)):
        with pytest.raises(ValueError, match="need"):
            clopper_pearson(count, n)


# ---------------------------------------------------------------------------------------------------------- coverage


@pytest.mark.parametrize("made", BOTH)
@pytest.mark.parametrize("n", [2000, 40_000])
@pytest.mark.parametrize("rho", [0.0, 0.5, 0.95, 0.99])
def test_c2_mean_of_dependent_packets(rho: float, n: int, made: int) -> None:
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
def test_c6_proportions(made: int) -> None:
    """C6: Clopper-Pearson never below its level, Wilson about it, Wald far below."""
    for n, p in ((20, 0.01), (20, 0.3), (400, 0.01), (40_000, 5e-5)):
        counts = stream(33).binomial(n, p, made)
        exact = [clopper_pearson(int(k), n) for k in counts]
        scores = [wilson(k / n, n, 1.959964) for k in counts]
        held = float(np.mean([low <= p <= high for low, high in exact]))
        score = float(np.mean([low <= p <= high for low, high in scores]))
        half = 1.959964 * np.sqrt(counts / n * (1 - counts / n) / n)
        wald = list(np.abs(counts / n - p) <= half)
        print(f"C6 n = {n}, p = {p}: Clopper-Pearson {100 * held:.1f} %, Wilson {100 * score:.1f} %")
        assert held >= 0.95 - 2 * math.sqrt(0.05 * 0.95 / made)
        # Wilson's level for this n and p, exactly; it is about nominal on average over p.
        every = np.arange(binom.isf(1e-9, n, p) + 1)
        inside = [low <= p <= high for low, high in (wilson(k / n, n, 1.959964) for k in every)]
        due = float(binom.pmf(every[inside], n, p).sum())
        assert due >= 0.92 and abs(score - due) <= 3 * math.sqrt(due * (1 - due) / made) + 0.005
        if p < 0.3:
            fails(f"C6 Wald, n = {n}, p = {p}", wald, 0.95)


@pytest.mark.parametrize("made", BOTH)
def test_exceedance_of_dependent_packets(made: int) -> None:
    rng = stream(34)
    for rho, n in ((0.5, 2000), (0.95, 40_000)):
        held, naive = [], []
        for _ in range(made):
            x = lognormal(rng, n, rho)
            result = az.stats.exceedance(x, math.exp(0.5 * ndtri(0.95)))
            if result.low is not None:
                held.append(result.low <= 0.05 <= result.high)
            low, high = clopper_pearson(int(result.diagnostics["count"]), n)
            naive.append(low <= 0.05 <= high)
        attained(f"exceedance, rho = {rho}", held, made, above=0.045)
        if rho == 0.95:
            fails("exceedance as if independent", naive, 0.6)


@pytest.mark.parametrize("made", BOTH)
def test_c15_no_interval_under_long_memory(made: int) -> None:
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
def test_means_of_heavy_tails_are_refused(made: int) -> None:
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
