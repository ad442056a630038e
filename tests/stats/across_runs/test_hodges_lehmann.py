"""Rank tests against scipy."""

from __future__ import annotations

import numpy as np
import pytest

from azlatency.stats import exact
from azlatency.stats.across_runs.hodges_lehmann import rank_sum_p


def test_rank_tests_equal_those_of_scipy() -> None:
    """The exact laws against scipy: no ties, several sizes."""
    from scipy.stats import mannwhitneyu, wilcoxon

    random = np.random.Generator(np.random.PCG64(3))
    for m, n in ((3, 4), (5, 5), (7, 12)):
        x, y = random.normal(size=m), random.normal(0.5, size=n)
        assert rank_sum_p(x, y) == pytest.approx(mannwhitneyu(x, y, method="exact").pvalue)
    signs = np.sign(random.normal(size=9)) * np.arange(1, 10)
    assert exact.sign_flip(signs).p == pytest.approx(wilcoxon(signs, method="exact").pvalue)
