"""Trends over a run: the slope and its test, on correlated packets."""

from __future__ import annotations

import numpy as np
from helpers.cases import correlated, stream

import azlatency as az
from azlatency.stats.within_run.trend import trend


def test_a_trend_is_found_and_a_correlated_run_without_one_is_not_flagged() -> None:
    flat = 700 + 30 * correlated(stream(58), 20_000, 0.9)
    assert list(trend(flat)["flags"]) == [""]
    (rising,) = trend(flat + np.linspace(0, 30, 20_000)).to_dict("records")
    assert rising["flags"] == "nonstationary" and rising["p"] < 0.01
    assert rising["low"] <= 30 <= rising["high"]
    assert list(trend([])["flags"]) == ["no_values"] and list(trend([1.0, 1.0, 1.0, 1.0])["p"]) == [1]
    sentence = az.say(trend([1.0, 2.0, 3.0, 4.0]))
    assert sentence.startswith("drift over the run: 3.00 ns") and "Kendall's tau 1.00" in sentence
