"""Lifetimes of connections: survival, median and loss rate with censored connections."""

from __future__ import annotations

import math

import pytest

import azlatency as az
from azlatency.stats.within_run.lifetimes import lifetimes


def test_survival_of_censored_connections_equals_the_published_example() -> None:
    """The worked leukaemia example of Kaplan and Meier's method (6-MP arm, n = 21): survival .627 at 16, .448 at 23."""
    weeks = [6, 6, 6, 6, 7, 9, 10, 10, 11, 13, 16, 17, 19, 20, 22, 23, 25, 32, 32, 34, 35]
    lost = [1, 1, 1, 0, 1, 0, 1, 0, 0, 1, 1, 0, 0, 0, 1, 1, 0, 0, 0, 0, 0]
    result = lifetimes(weeks, map(bool, lost))
    survival = result.curve.set_index("time")["share"]
    assert survival[16] == pytest.approx(0.6275, abs=1e-4) and survival[23] == pytest.approx(0.4482, abs=1e-4)
    (found,) = result.summary.to_dict("records")
    assert (found["estimate"], found["low"]) == (23, 13) and math.isnan(found["high"])
    assert (found["losses"], found["seconds"]) == (9, 359)
    assert found["rate_low"] == pytest.approx(0.01146, abs=1e-4)
    assert found["rate_high"] == pytest.approx(0.0476, abs=1e-4)
    assert az.say(result.summary).startswith("9 of 21 connections lost in 359 s together; median lifetime 23 s")
    (none,) = lifetimes([3600.0] * 10, [False] * 10).summary.to_dict("records")
    assert math.isnan(none["estimate"]) and none["rate_high"] == pytest.approx(-math.log(0.05) / 36_000, rel=1e-9)
    assert "at most one loss in" in az.say(lifetimes([3600.0] * 10, [False] * 10).summary)
    assert list(lifetimes([], []).summary["flags"]) == ["no_values"]
    with pytest.raises(ValueError, match="ends"):
        lifetimes([1.0], [])
