"""Families of tests: adjusted p-values against R, and families that cannot reach their level."""

from __future__ import annotations

import math

import numpy as np
import pytest

from azlatency.stats.across_runs.comparison import compare
from azlatency.stats.multiplicity import adjust, adjust_p


def test_missing_p_leaves_the_family() -> None:
    # R: p.adjust(c(.01, NA, .04, .03), "holm") = .03 NA .06 .06; "BH" = .03 NA .04 .04
    assert adjust_p([0.01, None, 0.04, 0.03]) == pytest.approx([0.03, None, 0.06, 0.06])
    assert adjust_p([0.01, math.nan, 0.04, 0.03], "bh") == pytest.approx([0.03, None, 0.04, 0.04])
    assert adjust_p([]) == [] and adjust_p([None]) == [None]


def test_a_family_that_cannot_reach_its_level_is_flagged() -> None:
    random = np.random.Generator(np.random.PCG64(5))
    groups = [random.lognormal(0, 0.01, 4) for _ in range(4)]
    results = [compare(groups[0] * 1.5, group) for group in groups[1:]]
    # 4 against 4 runs: p can be .0286, but not after Holm over three pairs.
    assert all(result.attainable_p == pytest.approx(2 / 70) and result.codes == ("few_runs",) for result in results)
    adjusted = adjust(results)
    assert all("cannot_reach_alpha" in result.codes and result.labels["family"] == 3 for result in adjusted)
    assert all(result.row()["p_adjusted"] > 0.05 for result in adjusted)
    assert not any("cannot_reach_alpha" in result.codes for result in adjust(results, method="bh"))
