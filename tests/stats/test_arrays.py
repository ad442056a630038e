"""Input values as arrays: missing values are counted, losses are infinite."""

from __future__ import annotations

import math

import pytest

from azlatency.stats.arrays import to_array


def test_missing_values_are_counted_and_lost_ones_stay() -> None:
    values, missing = to_array([1.0, None, math.nan, math.inf])
    assert list(values) == [1.0, math.inf] and missing == 2
    with pytest.raises(ValueError, match="one-dimensional"):
        to_array([[1.0], [2.0]])
