"""Shares of packets above a limit: losses, rare events and attained coverage."""

from __future__ import annotations

import math

import numpy as np
import pytest
from helpers.cases import BOTH, attained, fails, lognormal, stream
from scipy.special import ndtri

import azlatency as az
from azlatency.stats.within_run.proportions import clopper_pearson


def test_losses_count_as_exceedances_and_rare_events_are_flagged() -> None:
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


@pytest.mark.parametrize("made", BOTH)
def test_exceedances_of_dependent_packets_attain_their_coverage(made: int) -> None:
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
