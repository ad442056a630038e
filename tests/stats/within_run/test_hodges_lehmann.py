"""The Hodges-Lehmann shift against all pairwise differences."""

from __future__ import annotations

import numpy as np
import pytest
from helpers.cases import stream

from azlatency.stats.within_run.hodges_lehmann import hodges_lehmann


def test_the_shift_is_the_median_of_all_pairwise_differences() -> None:
    rng = stream(57)
    a, b = rng.standard_normal(900) + 1, rng.standard_normal(800)
    every = np.sort((a[:, None] - b[None, :]).ravel())
    result = hodges_lehmann(a, b)
    assert result.estimate == pytest.approx(np.median(every), abs=1e-9)
    assert result.low < 1 < result.high
    assert hodges_lehmann(a[:2], b[:2]).low is None
