"""Throttling: the drop of a throughput series after its burst allowance."""

from __future__ import annotations

import numpy as np
import pytest
from helpers.cases import stream

from azlatency.stats.within_run.throttling import throttling


def test_a_token_bucket_is_found_and_a_steady_series_is_not() -> None:
    rng = stream(59)
    rates = np.concatenate([np.full(40, 10.0), np.full(80, 2.0)]) + 0.3 * rng.standard_normal(120)
    result = throttling(rates, unit="Gbit/s")
    assert result.found and result.at_s == 40 and result.codes == ()
    assert result.bucket == pytest.approx(320, rel=0.1) and result.row()["found"]
    assert throttling(10 + 0.3 * rng.standard_normal(120)).found is False
    assert throttling(rates[::-1]).found is False
    assert throttling([1.0] * 5).found is None
    assert "burst_test" in throttling([1.0] * 20).codes


def test_a_stream_that_stops_is_not_throttled() -> None:
    rates = 5 + 0.05 * stream(60).standard_normal(300)
    for stopped in ([0.0] * 5, [0.0] * 200, [0.0] * 40 + [0.1], [1e-9] * 100):
        assert throttling(np.concatenate([rates, stopped])).found is False
    assert throttling(np.concatenate([rates, rates / 2, np.zeros(20)])).found
    assert throttling(np.zeros(100)).codes == ("short_series",)
