"""Quantiles of histograms bound those of the values."""

from __future__ import annotations

import math

import numpy as np
import pytest
from helpers.cases import stream

import azlatency as az
from azlatency.stats.within_run.histograms import histogram_quantiles
from azlatency.stats.within_run.quantiles import quantiles


def test_the_interval_of_a_histogram_contains_that_of_its_values() -> None:
    values = stream(11).lognormal(0, 0.5, 20_000)
    edges = np.geomspace(values.min() * 0.999, values.max() * 1.001, 400)
    counts, _ = np.histogram(values, edges)
    for result, exact in zip(
        histogram_quantiles(edges[:-1], edges[1:], counts, (0.5, 0.99)),
        quantiles(values, (0.5, 0.99), independent=True),
        strict=True,
    ):
        assert result.low <= exact.low and result.high >= exact.high
        assert result.high / exact.high < 1.02 and exact.low / result.low < 1.02
        assert result.estimate == pytest.approx(exact.estimate, rel=0.02)
        assert "within_run_floor" in result.codes
    (aware,) = histogram_quantiles(edges[:-1], edges[1:], counts, (0.5,), tau=40.0)
    assert aware.n_effective == 500 and "within_run_floor" not in aware.codes
    assert aware.high - aware.low > result.high * 0.02


def test_an_open_bin_has_no_upper_end() -> None:
    (result,) = histogram_quantiles([0.0, 1.0], [1.0, math.nan], [50, 50], (0.9,))
    assert result.high is None and result.estimate is None and "unbounded_upper" in result.codes
    (nothing,) = histogram_quantiles([], [], [], (0.5,))
    assert nothing.refused and nothing.codes == ("within_run_floor", "no_values")


def test_smooth_interval_ends_equal_those_of_the_samples() -> None:
    x = stream(580).lognormal(10, 0.5, 1_000_000)
    bins, counts = np.unique(np.floor(np.log2(x) * 1024), return_counts=True)
    low, high = 2 ** (bins / 1024), 2 ** ((bins + 1) / 1024)
    found = histogram_quantiles(low, high, counts, (0.5, 0.9, 0.99, 0.999), smooth=True)
    due = az.quantiles(x, (0.5, 0.9, 0.99, 0.999), independent=True)
    for own, exact in zip(found, due, strict=True):
        # At p99.9 a bin holds two or three values: no end is surer than a bin is wide.
        near = 4e-4 if own.labels["q"] < 0.999 else 7e-4
        assert (own.low, own.high) == pytest.approx((exact.low, exact.high), rel=near)
        assert {"within_run_floor", "interpolated"} <= set(own.codes)
    with pytest.raises(ValueError, match="one length"):
        histogram_quantiles([1.0], [2.0, 3.0], [1])
