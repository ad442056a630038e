"""Throttling: the drop of a throughput series after its burst allowance."""

from __future__ import annotations

import numpy as np
import pytest
from helpers.cases import stream

import azlatency as az
from azlatency.stats.within_run.throttling import throttling


def test_a_token_bucket_is_found_and_a_steady_series_is_not() -> None:
    rng = stream(59)
    rates = np.concatenate([np.full(40, 10.0), np.full(80, 2.0)]) + 0.3 * rng.standard_normal(120)
    found = throttling(rates, unit="Gbit/s")
    (result,) = found.to_dict("records")
    assert result["found"] and result["at_s"] == 40 and result["flags"] == ""
    assert result["bucket"] == pytest.approx(320, rel=0.1)
    assert az.say(found).startswith("rate falls after 40 s: 10.0133 Gbit/s, then 1.97879 Gbit/s")
    assert list(throttling(10 + 0.3 * rng.standard_normal(120))["found"]) == [False]
    assert list(throttling(rates[::-1])["found"]) == [False]
    assert throttling([1.0] * 5)["found"].isna().all()
    assert "burst_test" in throttling([1.0] * 20)["flags"].iloc[0]


def test_a_stream_that_stops_is_not_throttled() -> None:
    rates = 5 + 0.05 * stream(60).standard_normal(300)
    for stopped in ([0.0] * 5, [0.0] * 200, [0.0] * 40 + [0.1], [1e-9] * 100):
        assert list(throttling(np.concatenate([rates, stopped]))["found"]) == [False]
    assert throttling(np.concatenate([rates, rates / 2, np.zeros(20)]))["found"].all()
    assert list(throttling(np.zeros(100))["flags"]) == ["short_series"]
