"""Events in a run: how unusual the last windows are, and how often a stationary run looks as if it had one."""

from __future__ import annotations

import math

import numpy as np
import pytest
from helpers.cases import BOTH, correlated, stream

from azlatency.stats.within_run.events import event_test
from azlatency.stats.within_run.trend import trend


def test_five_segment_means_cannot_show_an_event() -> None:
    """Seed 004's table of five means: the change before the loss is the largest of four, and no p below .25 exists."""
    result = event_test([813, 888, 925, 956, 790], unit="us")
    assert (result.change, result.p, result.attainable_p) == (-166.0, 0.25, 0.25)
    assert result.codes == ("cannot_reach_alpha",)
    assert "too few for a test" in str(result)
    drift = trend([813, 888, 925, 956, 790])
    assert drift.p == pytest.approx(0.82, abs=0.05) and drift.codes == ()


def test_raw_samples_show_an_event_that_segment_means_cannot() -> None:
    """-166 us in the last hundred of 40,000 packets at a sd of 60 us is the largest change of the run."""
    rng = stream(51)
    for _ in range(10):
        x = 850 + 60 * rng.standard_normal(40_000)
        x[-100:] -= 166
        result = event_test(x, 100)
        assert result.p == result.attainable_p < 0.05
        assert result.row()["windows"] == 400


@pytest.mark.parametrize("made", BOTH)
def test_stationary_runs_rarely_show_an_event_or_a_trend(made: int) -> None:
    """A/A: stationary runs; the event test and the trend reject in at most 6 %."""
    rng = stream(52)
    for rho in (0.0, 0.9):
        events, trends = [], []
        for _ in range(made):
            x = correlated(rng, 4000, rho)
            events.append((event_test(x, 40).p or 1) <= 0.05)
            trends.append(bool(trend(x[: 4000 if made > 1000 else 2000]).codes))
        slack = 2 * math.sqrt(0.06 * 0.94 / made)
        print(f"A/A rho = {rho}: event {100 * np.mean(events):.1f} %, trend {100 * np.mean(trends):.1f} % of {made}")
        assert np.mean(events) <= 0.06 + slack
        assert np.mean(trends) <= 0.06 + slack
