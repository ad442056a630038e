"""Bands, smooth percentiles, ratios of percentiles, modes, two-level bootstrap, histories: coverage and refusals."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pandas as pd
import pytest
from helpers.cases import BOTH, attained, correlated, fails, stream
from scipy.special import ndtri

import azlatency as az
from azlatency.stats.across_runs.bootstrap import two_level
from azlatency.stats.across_runs.history import history
from azlatency.stats.within_run.histograms import histogram_quantiles


def holds(result: Any, truth: float) -> bool | None:
    """Whether the interval holds the truth; None where there is none."""
    return None if result.low is None or result.high is None else bool(result.low <= truth <= result.high)


@pytest.mark.parametrize("made", BOTH)
def test_two_levels_from_twenty_runs_on(made: int) -> None:
    """C4 at R = 20: a run effect of 5 % and dependent packets; pooled packets do not hold."""
    rng = stream(540)
    made = made // 4
    spread = math.hypot(0.05, 0.1)
    truths = {None: math.exp(spread**2 / 2), 0.5: 1.0, 0.9: math.exp(spread * ndtri(0.9))}
    held: dict[float | None, list[bool]] = {q: [] for q in truths}
    pooled = []
    for seed in range(made):
        effects = np.exp(0.05 * rng.standard_normal(20))
        runs = [effect * np.exp(0.1 * correlated(rng, 300, 0.5)) for effect in effects]
        for q, truth in truths.items():
            found = holds(two_level(runs, q, seed=seed, draws=1000), truth)
            assert found is not None
            held[q].append(found)
        every = np.concatenate(runs)
        half = 1.96 * every.std() / math.sqrt(len(every))
        pooled.append(bool(abs(every.mean() - truths[None]) <= half))
    for q, each in held.items():
        attained(f"two-level bootstrap, {'mean' if q is None else q}", each, made, above=0.045)
    fails("pooled packets", pooled, 0.5)


def test_two_levels_refuse_few_runs() -> None:
    rng = stream(550)
    few = two_level([rng.random(100) for _ in range(19)], 0.5)
    assert few.codes == ("bootstrap_few_units",) and few.low is None and few.estimate is not None
    assert two_level([[1.0, 2.0]], 0.5).codes == ("no_replication",) and two_level([], 0.5).codes == ("no_values",)
    lossy = two_level([[1.0, math.inf]] * 20, 0.9)
    assert lossy.refused and lossy.codes == ("loss_censored",)
    with pytest.raises(ValueError, match="q"):
        two_level([[1.0]] * 20, 1.0)
    # Runs that are longer than they are many: the cost is linear in packets, blocks are drawn by their law.
    many = two_level([rng.lognormal(0, 0.3, 20_000) for _ in range(20)], 0.99, seed=1)
    assert many.low is not None and many.high is not None and many.high / many.low < 1.05


def test_histories() -> None:
    rng = stream(560)
    steady = rng.lognormal(6, 0.05, 60)
    assert history(steady).changes == () and "no change" in str(history(steady))
    moved = np.concatenate([steady[:40], 1.3 * steady[40:]])
    found = history(pd.DataFrame({"median_ns": moved}))
    assert (
        found.changes == (40,)
        and found.unit == "ns"
        and found.levels[1] / found.levels[0] == pytest.approx(1.3, rel=0.05)
    )
    assert "run 41 of 60" in str(found) and found.row()["changes"] == "40"
    assert history(steady[:10]).codes == ("few_clusters",) and history([5.0] * 30).codes == ("constant",)
    assert history([]).codes == ("no_values",)
    with pytest.raises(ValueError, match="1500"):
        history(rng.random(1501))


@pytest.mark.parametrize("made", BOTH)
def test_a_steady_history_has_no_change(made: int) -> None:
    rng = stream(570)
    made = made // 10 if made < 1000 else 1000
    share = np.mean([bool(history(rng.lognormal(0, 0.1, 40), permutations=99, seed=k).changes) for k in range(made)])
    print(f"A/A history: {100 * share:.1f} % of {made} changed")
    assert share <= 0.05 + 2 * math.sqrt(0.05 * 0.95 / made)


def test_smooth_ends_of_histograms_are_those_of_the_samples() -> None:
    x = stream(580).lognormal(10, 0.5, 1_000_000)
    bins, counts = np.unique(np.floor(np.log2(x) * 1024), return_counts=True)
    low, high = 2 ** (bins / 1024), 2 ** ((bins + 1) / 1024)
    found = histogram_quantiles(low, high, counts, (0.5, 0.9, 0.99, 0.999), smooth=True)
    due = az.quantiles(x, (0.5, 0.9, 0.99, 0.999), independent=True)
    for own, exact in zip(found, due, strict=True):
        # At p99.9 a bin holds two or three values: no end is surer than a bin is wide.
        near = 4e-4 if own.labels["q"] < 0.999 else 7e-4
        assert (own.low, own.high) == pytest.approx((exact.low, exact.high), rel=near)
        assert {"within_run_floor", "interpolated"} <= set(own.codes)
    with pytest.raises(ValueError, match="one length"):
        histogram_quantiles([1.0], [2.0, 3.0], [1])


def test_printed_runs_hardly_ever_agree_within_their_printed_errors() -> None:
    found = az.heterogeneity([(10_000, 60.1, 20.0), (10_000, 61.4, 20.0), (10_000, 59.2, 20.0)])
    means, error = np.array([60.1, 61.4, 59.2]), 0.2
    q = float(((means - means.mean()) ** 2).sum() / error**2)
    assert found.q == pytest.approx(q) and found.share == pytest.approx(1 - 2 / q) and found.df == 2
    assert found.codes == ("within_run_floor",) and "I²" in str(found)
    assert az.heterogeneity([]).codes == ("no_values",) and az.heterogeneity([(5, 1.0, 1.0)]).codes == (
        "no_replication",
    )
    assert az.heterogeneity([(5, 1.0, 0.0), (5, 1.0, 1.0)]).codes == ("constant",)
