"""One-way delays and the error of the clocks."""

from __future__ import annotations

import pytest
from helpers.cases import stream

import azlatency as az


def test_one_way_delays_decide_only_beyond_their_clocks() -> None:
    rng = stream(77)
    there, back = 300e3 + 2e3 * rng.standard_normal(6), 420e3 + 2e3 * rng.standard_normal(6)
    sure = az.stats.one_way_difference(there, back, 10e3)
    assert sure.low is not None and sure.high is not None and sure.low <= -120e3 <= sure.high < 0
    unsure = az.stats.one_way_difference(there, back, 80e3)
    assert unsure.high is not None and unsure.high > 0 and "clock_bound" in unsure.codes
    assert az.stats.one_way_difference([1.0], [2.0], 0.0).codes == ("no_replication",)
    with pytest.raises(ValueError, match="clock_error"):
        az.stats.one_way_difference(there, back, -1.0)
