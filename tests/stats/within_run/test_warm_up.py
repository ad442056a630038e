"""The warm-up at the start of a run."""

from __future__ import annotations

import numpy as np
from helpers.cases import correlated, stream

from azlatency.stats.within_run.warm_up import warm_up


def test_a_cold_start_is_measured_and_a_flat_run_has_nearly_none() -> None:
    flat = 700 + 30 * correlated(stream(58), 20_000, 0.9)
    cold = flat.copy()
    cold[:500] += 400 * np.exp(-np.arange(500) / 100)
    assert 100 <= warm_up(cold) <= 1500
    assert warm_up(flat) <= 1000 and warm_up([1.0] * 10) == 0
