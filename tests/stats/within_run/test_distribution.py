"""Bands, smooth percentiles, ratios of percentiles, histories: coverage and refusals."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pandas as pd
import pytest
from helpers.cases import BOTH, stream

import azlatency as az
from azlatency.stats.across_runs.history import history
from azlatency.stats.within_run.histograms import histogram_quantiles


def holds(result: Any, truth: float) -> bool | None:
    """Whether the interval holds the truth; None where there is none."""
    return None if result.low is None or result.high is None else bool(result.low <= truth <= result.high)


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
