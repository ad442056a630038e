"""Rank statistics against scipy and enumeration."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest
from helpers.rank_tests import rank_sum_tails, signed_rank_tails

from azlatency.stats.across_runs.hodges_lehmann import hodges_lehmann, pseudomedian, rank_sum_distribution


def test_the_rank_sum_distribution_counts_every_subset() -> None:
    support, law = rank_sum_distribution(np.array([1.0, 2.5, 2.5, 4]), 2)
    assert support.tolist() == [3.5, 5, 6.5] and (law * math.comb(4, 2)).tolist() == pytest.approx([2, 2, 2])


def test_rank_tests_equal_those_of_scipy() -> None:
    """The exact laws against scipy: no ties, several sizes."""
    from scipy.stats import mannwhitneyu, wilcoxon

    random = np.random.Generator(np.random.PCG64(3))
    for m, n in ((3, 4), (5, 5), (7, 12)):
        x, y = random.normal(size=m), random.normal(0.5, size=n)
        assert rank_sum_tails(x, y).two_sided == pytest.approx(mannwhitneyu(x, y, method="exact").pvalue)
        assert rank_sum_tails(x, y).larger == pytest.approx(
            mannwhitneyu(x, y, alternative="greater", method="exact").pvalue
        )
    signs = np.sign(random.normal(size=9)) * np.arange(1, 10)
    assert signed_rank_tails(signs).two_sided == pytest.approx(wilcoxon(signs, method="exact").pvalue)


def test_signed_ranks_with_ties_and_zeros_equal_enumeration() -> None:
    differences = np.array([0.0, 2, 2, -1, 3, 3, -2])
    ranks = np.array([3.0, 3, 1, 5.5, 5.5, 3])
    sums = np.array([ranks @ np.array(signs) for signs in product((0, 1), repeat=6)])
    assert signed_rank_tails(differences).larger == pytest.approx(np.mean(sums >= 17))


def test_intervals_and_tests_agree() -> None:
    """A one-sided p at the lower end of the interval is just above alpha / 2, beyond it at most alpha / 2."""
    random = np.random.default_rng(5)
    x, y = random.normal(3, 1, 9), random.normal(0, 1, 8)
    shift = hodges_lehmann(x, y)
    assert shift.low is not None and shift.high is not None and shift.low < shift.estimate < shift.high
    assert (
        rank_sum_tails(x - shift.low + 1e-9, y).larger <= 0.025 < rank_sum_tails(x - shift.low - 1e-9, y).larger + 0.01
    )
    walsh = pseudomedian(x)
    assert walsh.low is not None and signed_rank_tails(x - walsh.low + 1e-9).larger <= 0.025


def test_many_runs_use_the_normal_approximation() -> None:
    random = np.random.default_rng(6)
    x, y = random.normal(0.3, 1, 150), random.normal(0, 1, 140)
    shift, walsh = hodges_lehmann(x, y), pseudomedian(np.concatenate([x, y]))
    assert shift.low is not None and shift.high is not None and 0.3 < shift.high - shift.low < 0.6
    assert walsh.low is not None and walsh.high is not None and 0.1 < walsh.high - walsh.low < 0.4
    assert rank_sum_tails(x, y).two_sided < 0.05 and 0 <= signed_rank_tails(np.concatenate([x, y])).two_sided < 0.2


def test_too_few_runs_have_no_interval() -> None:
    few = np.array([1.0, 2.0])
    assert hodges_lehmann(few, few).low is None and pseudomedian(few).low is None
    assert np.isnan(pseudomedian(np.array([])).estimate) and signed_rank_tails(np.zeros(5)).two_sided == 1.0
