"""Families of tests: adjusted p-values against R."""

from __future__ import annotations

import math

import pytest

from azlatency.stats.multiplicity import adjust_p


def test_missing_p_leaves_the_family() -> None:
    # R: p.adjust(c(.01, NA, .04, .03), "holm") = .03 NA .06 .06
    assert adjust_p([0.01, None, 0.04, 0.03]) == pytest.approx([0.03, None, 0.06, 0.06])
    assert adjust_p([0.01, math.nan, 0.04, 0.03]) == pytest.approx([0.03, None, 0.06, 0.06])
    assert adjust_p([]) == [] and adjust_p([None]) == [None]
