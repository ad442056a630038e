"""When a series of runs may stop."""

from __future__ import annotations

import numpy as np
from helpers.cases import stream

from azlatency.stats.across_runs.stopping import may_stop


def test_a_series_may_stop_when_its_interval_is_narrow() -> None:
    random = stream(4)
    assert not may_stop([5.0, 5.0, 5.0]).stop and not may_stop([]).stop
    narrow = np.exp(random.normal(0, 0.02, 30))
    assert may_stop(narrow).stop
    assert not may_stop(np.exp(random.normal(0, 0.5, 30))).stop
    late = narrow.copy()
    late[-1] *= 1.3
    assert "not seen before" in may_stop(late).reason
