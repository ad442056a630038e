"""Autocorrelation time, batches and long memory against R (coda, sandwich) and direct sums, and on hard series."""

from __future__ import annotations

import math

import numpy as np
import pytest
from helpers.cases import BOTH, correlated, fractional, stream
from helpers.processes import PROCESSES

from azlatency.stats.within_run import dependence as module
from azlatency.stats.within_run.dependence import (
    autocorrelation,
    batch_error,
    dependence,
    indicator_autocorrelation_time,
    long_run_variance,
)
from azlatency.stats.within_run.order_statistics import effective_ranks


@pytest.mark.parametrize("lags", [1, 7, 100, 5000])
def test_pieces_give_the_same_sums_as_one_transform(lags: int) -> None:
    x = correlated(stream(1), 3001, 0.7)
    centred = x - x.mean()
    for lag, value in list(enumerate(autocorrelation(x, lags)))[:: max(lags // 5, 1)]:
        direct = centred[: len(x) - lag] @ centred[lag:] / (centred @ centred)
        assert value == pytest.approx(direct, abs=1e-12)


@pytest.mark.parametrize("values", [[], [1.0], [1.0, 2.0], [5.0] * 40, [1.0, 2.0] * 50, [1.0, math.inf, 2.0] * 20])
def test_hard_series(values: list[float]) -> None:
    result = dependence(np.array(values))
    assert result.tau >= 1 and result.n == len(values)
    assert not result.long_memory


def test_variance_of_a_constant_is_zero() -> None:
    assert long_run_variance(np.ones(50)) == 0
    assert batch_error(np.ones(50), 10) == 0


def test_the_clip_of_the_textbook_loses_most_of_a_slow_series(monkeypatch: pytest.MonkeyPatch) -> None:
    """Experiment C2: prewhitening clipped at .97 sees a fraction of the variance at rho = .99."""
    rng = stream(2)
    runs = [correlated(rng, 40_000, 0.99) for _ in range(20)]
    ours = np.mean([long_run_variance(x) for x in runs])
    monkeypatch.setattr(module, "CLIP", 0.97)
    clipped = np.mean([long_run_variance(x) for x in runs])
    assert ours == pytest.approx(199, rel=0.15)
    assert clipped < 0.5 * ours


@pytest.mark.parametrize("made", BOTH)
def test_long_memory_is_refused_and_short_is_not(made: int) -> None:
    """Experiment C15: ARFIMA d = .2 and .4 at n = 20,000 against AR(1) series."""
    rng = stream(3)
    made = made // 5
    laws = {
        "ARFIMA d = .2": (lambda: fractional(rng, 20_000, 0.2), 0.85, 1.0),
        "ARFIMA d = .4": (lambda: fractional(rng, 20_000, 0.4), 0.75, 1.0),
        "independent": (lambda: correlated(rng, 20_000, 0.0), 0.0, 0.05),
        "AR(1) rho = .95": (lambda: correlated(rng, 40_000, 0.95), 0.0, 0.05),
        "AR(1) rho = .99": (lambda: correlated(rng, 40_000, 0.99), 0.0, 0.05),
    }
    for name, (law, least, most) in laws.items():
        share = np.mean([dependence(law()).long_memory for _ in range(made)])
        print(f"C15 {name}: {100 * share:.0f} % of {made} refused as long memory")
        slack = 2 * math.sqrt(0.05 * 0.95 / made)
        assert least - 2 * slack <= share <= most + slack, name


@pytest.mark.parametrize("made", BOTH)
@pytest.mark.parametrize(
    ("period", "n", "refused"), [(28, 1000, (0.85, 1.0)), (260, 7000, (0.9, 1.0)), (28, 4000, (0.2, 0.6))]
)
def test_a_slow_wander_is_refused_where_its_interval_would_not_hold(
    period: int, n: int, refused: tuple[float, float], made: int
) -> None:
    """As in the emulated study: neighbours alike by a quarter only, but over hundreds of packets."""
    rng = stream(period + n)
    made = max(made // 2, 50)
    called, held = 0, []
    for _ in range(made):
        x = 0.5 * correlated(rng, n, 1 - 1 / period) + math.sqrt(0.75) * rng.standard_normal(n)
        called += dependence(x).long_memory
        ordered = np.sort(x)
        ranks = effective_ranks(n, 0.5, indicator_autocorrelation_time(x, ordered[math.ceil(n / 2) - 1]))
        held.append(bool(ordered[max(ranks.low, 1) - 1] <= 0 <= ordered[min(ranks.high, n) - 1]))
    share = called / made
    print(f"wander of {period} packets, n = {n}: {100 * share:.0f} % refused, {100 * np.mean(held):.1f} % would hold")
    assert refused[0] <= share <= refused[1]
    assert np.mean(held) < 0.9 if share > 0.5 else np.mean(held) > 0.88


@pytest.mark.parametrize("made", BOTH)
@pytest.mark.parametrize(
    ("name", "least", "most"),
    [("fGn H = 0.8", 0.85, 1.0), ("ARFIMA d = 0.3", 0.8, 1.0), ("1 % drift", 0.0, 0.1), ("M/M/1 0.8", 0.0, 0.12)],
)
def test_the_operating_curve_of_long_memory(name: str, least: float, most: float, made: int) -> None:
    """The first was used to choose the rules, the others were kept back or guard against needless refusals."""
    rng, made = stream(81), made // 5
    share = np.mean([dependence(PROCESSES[name](rng, 20_000)).long_memory for _ in range(made)])
    print(f"long memory, {name}: {100 * share:.0f} % of {made} refused")
    slack = 2 * math.sqrt(0.08 / made)
    assert least - slack <= share <= most + slack
