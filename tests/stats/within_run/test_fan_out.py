"""Fan-out: the slowest of many calls."""

from __future__ import annotations

import math

import pytest
from helpers.cases import lognormal, stream

from azlatency.stats.within_run.fan_out import fan_out


def test_fan_out_is_refused_beyond_the_data_and_shows_dependence() -> None:
    x = lognormal(stream(44), 20_000, 0.9)
    (result,) = fan_out(x, 100).to_dict("records")
    assert (result["n_calls"], result["q"]) == (100, 0.5)
    # Slow packets come together: the slowest of a hundred in a row is faster than of a hundred independent ones.
    assert result["block_maxima"] < result["estimate"]
    (refused,) = fan_out(x[:1000], 1000, 0.99).to_dict("records")
    assert math.isnan(refused["estimate"]) and "tail_unresolved" in refused["flags"]
    with pytest.raises(ValueError, match="at least one"):
        fan_out([1.0], 0)
