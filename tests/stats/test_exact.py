"""Exact tests against scipy, and random arrangements where there are too many."""

from __future__ import annotations

import numpy as np
import pytest

from azlatency.stats import exact
from azlatency.stats.across_runs.comparison import compare


def test_exact_permutation_equals_scipy() -> None:
    from scipy.stats import permutation_test

    random = np.random.Generator(np.random.PCG64(9))
    x, y = random.normal(0.6, 1, 5), random.normal(0, 1, 5)
    reference = permutation_test((x, y), lambda a, b, axis: a.mean(axis) - b.mean(axis), vectorized=True,
                                 n_resamples=np.inf)  # fmt: skip
    assert exact.permute_labels(x, y).p == pytest.approx(reference.pvalue)


def test_many_runs_are_permuted_at_random_and_flagged() -> None:
    random = np.random.Generator(np.random.PCG64(10))
    result = compare(random.lognormal(0, 0.1, 30), random.lognormal(0.2, 0.1, 30))
    assert "random" in result.method and "seed 0" in result.method
    assert result.p is not None and result.p < 1e-3 and result.attainable_p == pytest.approx(2e-5)
    assert exact.permute_labels(range(60), range(3)).exact
    many = exact.sign_flip(random.normal(0, 1, 40))
    assert not many.exact and many.p > 0.01
