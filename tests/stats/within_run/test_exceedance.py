"""Shares of packets above a limit: losses, rare events and attained coverage."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from helpers.cases import BOTH, attained, fails, stream
from helpers.processes import PROCESSES, quantile

import azlatency as az
from azlatency.stats.within_run.exceedance import table_exceedance
from azlatency.stats.within_run.proportions import clopper_pearson


def share(values: Any, limit: float, **options: Any) -> Any:
    """The only row of an exceedance."""
    (row,) = az.stats.exceedance(values, limit, **options).to_dict("records")
    return row


def test_losses_count_as_exceedances_and_rare_events_are_flagged() -> None:
    values = stream(31).lognormal(0, 0.5, 10_000)
    result = share(values, 2.0)
    assert result["low"] < result["estimate"] == np.mean(values > 2.0) < result["high"]
    lost = share(values, 2.0, lost=100)
    assert lost["count"] == result["count"] + 100
    none = share(values, 1e9)
    assert none["estimate"] == 0 and none["low"] == 0 and none["flags"] == "coarse_bound"
    assert none["high"] == pytest.approx(clopper_pearson(10, 10_000)[1], rel=0.4)
    almost_all = share(values, 0.01)
    assert almost_all["low"] == pytest.approx(1 - none["high"], rel=1e-3) and almost_all["flags"] == "coarse_bound"
    assert share(values, 1e9, independent=True)["high"] == pytest.approx(clopper_pearson(0, 10_000)[1])
    assert share([], 1.0)["flags"] == "no_values"
    assert share([1.0, 3.0], 2.0)["estimate"] == 0.5
    assert share([4.0] * 50, 2.0)["estimate"] == 1.0
    assert list(table_exceedance(5.0, 0, [], [])["flags"]) == ["no_values"]
    for count, n in ((3, 2), (-1, 5), (0, 0)):
        with pytest.raises(ValueError, match="need"):
            clopper_pearson(count, n)


@pytest.mark.parametrize("made", BOTH)
@pytest.mark.parametrize(
    ("name", "n", "p"),
    [("AR(1) 0.95", 20_000, 0.9), ("M/M/1 0.8", 5000, 0.5), ("M/M/1 0.8", 5000, 0.99), ("Pareto stays", 5000, 0.99),
     ("pauses", 5000, 0.99)],
)  # fmt: skip
def test_exceedances_of_dependent_packets_attain_their_coverage(name: str, n: int, p: float, made: int) -> None:
    """Intervals hold at least as often as they say; those with a coarse bound hold more often."""
    rng, limit, true_share = stream(34), quantile(name, p), 1 - p
    held, naive = [], []
    for _ in range(made // 4):
        result = share(PROCESSES[name](rng, n), limit)
        if not math.isnan(result["low"]):
            held.append(result["low"] <= true_share <= result["high"])
            low, high = clopper_pearson(result["count"], n)
            naive.append(low <= true_share <= high)
    attained(f"exceedance, {name}, p{100 * p:g}", held, made // 4, above=0.05)
    if name != "pauses":
        fails("exceedance as if independent", naive, 0.8)


@pytest.mark.parametrize("made", BOTH)
def test_percentile_checks_at_the_limit_are_wrong_in_at_most_one_run_in_twenty(made: int) -> None:
    """p99.9 of clusters of ten, M/M/1 and pauses is exactly the limit; as if independent, 71 % were wrong."""
    rng = stream(35)
    processes = {"clusters": clusters, "M/M/1": PROCESSES["M/M/1 0.8"], "pauses": PROCESSES["pauses"]}
    limits = {"clusters": 2.0, "M/M/1": quantile("M/M/1 0.8", 0.999), "pauses": quantile("pauses", 0.999)}
    for name, process in processes.items():
        decided, naive = 0, 0
        for _ in range(made // 8):
            x = process(rng, 40_000)
            shares = [share(x, limits[name], independent=independent) for independent in (False, True)]
            decided += decides(shares[0])
            naive += decides(shares[1])
        print(f"p99.9 at the limit, {name}: {decided} of {made // 8} decided; as if independent {naive}")
        assert decided <= 0.05 * (made // 8) + 2 * math.sqrt(0.05 * (made // 8)), name


def decides(row: Any) -> bool:
    """Whether the interval lies on one side of the share that p99.9 allows."""
    return not math.isnan(row["low"]) and not row["low"] <= 0.001 <= row["high"]


def clusters(rng: np.random.Generator, n: int) -> np.ndarray:
    """Independent packets, and clusters of ten late ones: one packet in a thousand is late."""
    late = np.repeat(rng.random(n // 10) < 0.001, 10)
    return np.where(np.roll(late, int(rng.integers(10))), 3.0, rng.uniform(0.5, 1.5, n))
