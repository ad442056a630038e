"""Smallest attainable p-values and the exact rank-sum distribution."""

from __future__ import annotations

import math

import numpy as np
import pytest

from azlatency.stats import exact


def test_the_smallest_p_value_follows_from_the_sizes() -> None:
    assert [exact.attainable_paired(rounds) for rounds in (0, 1, 5, 8)] == [1.0, 1.0, 1 / 16, 1 / 128]
    assert exact.attainable_unpaired(2, 2) == pytest.approx(1 / 3) and exact.attainable_unpaired(0, 5) == 1.0


def test_the_rank_sum_distribution_counts_every_subset() -> None:
    support, law = exact.rank_sum_distribution(np.array([1.0, 2.5, 2.5, 4]), 2)
    assert support.tolist() == [3.5, 5, 6.5] and (law * math.comb(4, 2)).tolist() == pytest.approx([2, 2, 2])


def test_thousands_of_runs_have_a_smallest_p() -> None:
    assert exact.attainable_unpaired(7000, 3000) == 0.0
