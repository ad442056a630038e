"""Trends over a run: the slope and its test, on correlated packets."""

from __future__ import annotations

import numpy as np
from helpers.cases import correlated, stream

from azlatency.stats.within_run.trend import trend


def test_a_trend_is_found_and_a_correlated_run_without_one_is_not_flagged() -> None:
    flat = 700 + 30 * correlated(stream(58), 20_000, 0.9)
    assert trend(flat).codes == ()
    rising = trend(flat + np.linspace(0, 30, 20_000))
    assert rising.codes == ("nonstationary",) and rising.p < 0.01
    assert rising.slope.low <= 30 <= rising.slope.high
    assert trend([]).codes == ("no_values",) and trend([1.0, 1.0, 1.0, 1.0]).p == 1
