"""Steps of the clock during a run."""

from __future__ import annotations

import numpy as np
import pytest
from helpers.cases import stream

from azlatency.stats.within_run.clock_steps import clock_steps
from azlatency.stats.within_run.stability import stability


def test_times_of_a_clock_that_runs_backwards_are_not_used() -> None:
    x = 700 + 30 * stream(56).standard_normal(5000)
    times = np.arange(5000) * 10**9
    times[3000:] -= 5 * 10**9
    result = stability(x, times)
    assert list(result.run["flags"]) == ["clock_step"] and result.run["stable"].all()
    assert clock_steps(times) == [3000]
    assert clock_steps([1, 2, 3], [5, -1, 0]) == [1, 2]
    with pytest.raises(ValueError, match="times for"):
        stability(x, times[:-1])
