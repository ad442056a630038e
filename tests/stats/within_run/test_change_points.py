"""Change points: false alarms of the search on stationary series, and of textbook searches."""

from __future__ import annotations

import math

import numpy as np
import pytest
from helpers.cases import BOTH, correlated, fails, stream, thinned

from azlatency.stats.within_run.change_points import (
    CRITICAL,
    best_partitions,
    cheapest,
    find_level_shifts,
    self_normalised_statistic,
)
from azlatency.stats.within_run.dependence import long_run_variance


def cusum(x: np.ndarray, variance: float) -> float:
    """The textbook statistic: the largest cumulative sum, in units of sqrt(n variance)."""
    return float(np.abs(np.cumsum(x - x.mean())).max()) / math.sqrt(len(x) * variance)


@pytest.mark.parametrize("made", BOTH)
@pytest.mark.parametrize("n", thinned([500, 2000], 2))
@pytest.mark.parametrize("rho", thinned([0.95, 0.0, 0.3, 0.7], 4))
def test_stationary_series_rarely_raise_an_alarm(rho: float, n: int, made: int) -> None:
    """C11: the search that knows the long-run variance alarms in 6 % of stationary series at most."""
    rng = stream(5100 + int(100 * rho) + n)
    made = made // 4 if n == 500 else max(made // 20, 10)
    search, plain, iid, prewhitened = [], [], [], []
    for _ in range(made):
        x = correlated(rng, n, rho)
        search.append(bool(find_level_shifts(x)[0]))
        sigma = 1.4826 * float(np.median(np.abs(np.diff(x) - np.median(np.diff(x))))) / math.sqrt(2)
        plain.append(bool(cheapest(best_partitions(x, 5), 3 * math.log(n) * sigma**2)[0]))
        iid.append(cusum(x, float(x.var())) > 1.358)
        prewhitened.append(cusum(x, long_run_variance(x)) > 1.358)
    # Cheap, so more of them. Above 6 % at n = 500 from rho = .7 on (6.5 and 12.7 % in 6,000 series): see CRITICAL.
    confirmed = [self_normalised_statistic(correlated(rng, n, rho), n // 20)[0] > CRITICAL for _ in range(4 * made)]
    oversized = {(500, 0.7): 0.065, (500, 0.95): 0.127}
    for name, alarms, most in (
        ("search", search, 0.06),
        ("prewhitened CUSUM", prewhitened, 0.06),
        ("self-normalised", confirmed, oversized.get((n, rho), 0.06)),
    ):
        slack = 2 * math.sqrt(most * (1 - most) / len(alarms))
        share = float(np.mean(alarms))
        print(f"C11 {name}, rho = {rho}, n = {n}: {100 * share:.1f} % of {len(alarms)} alarm")
        assert share <= most + slack, name
    if rho >= 0.7:
        fails(f"C11 textbook penalty stays silent, rho = {rho}, n = {n}", [not alarm for alarm in plain], 0.2)
        fails(f"C11 CUSUM as if independent stays silent, rho = {rho}, n = {n}", [not alarm for alarm in iid], 0.5)
