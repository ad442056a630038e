"""The same mutants as in ``make fuzz``, but few."""

from __future__ import annotations

import pytest
from helpers.fuzz import classify_many


@pytest.mark.parametrize("seed", range(5))
def test_no_mutant_is_silently_wrong(seed: int) -> None:
    counts, bad = classify_many((seed, 1000))
    assert counts.total() == 1000
    assert [line for line in bad if line.startswith("silently wrong")] == []
