"""Intervals of a proportion: attained coverage of Clopper-Pearson and Wilson."""

from __future__ import annotations

import math

import numpy as np
import pytest
from helpers.cases import BOTH, fails, stream
from scipy.stats import binom

from azlatency.stats.within_run.proportions import clopper_pearson, wilson


@pytest.mark.parametrize("made", BOTH)
def test_clopper_pearson_never_covers_less_than_its_level(made: int) -> None:
    """C6: Clopper-Pearson never below its level, Wilson about it, Wald far below."""
    for n, p in ((20, 0.01), (20, 0.3), (400, 0.01), (40_000, 5e-5)):
        counts = stream(33).binomial(n, p, made)
        exact = [clopper_pearson(int(k), n) for k in counts]
        scores = [wilson(k / n, n, 1.959964) for k in counts]
        held = float(np.mean([low <= p <= high for low, high in exact]))
        score = float(np.mean([low <= p <= high for low, high in scores]))
        half = 1.959964 * np.sqrt(counts / n * (1 - counts / n) / n)
        wald = list(np.abs(counts / n - p) <= half)
        print(f"C6 n = {n}, p = {p}: Clopper-Pearson {100 * held:.1f} %, Wilson {100 * score:.1f} %")
        assert held >= 0.95 - 2 * math.sqrt(0.05 * 0.95 / made)
        # Wilson's level for this n and p, exactly; it is about nominal on average over p.
        every = np.arange(binom.isf(1e-9, n, p) + 1)
        inside = [low <= p <= high for low, high in (wilson(k / n, n, 1.959964) for k in every)]
        due = float(binom.pmf(every[inside], n, p).sum())
        assert due >= 0.92 and abs(score - due) <= 3 * math.sqrt(due * (1 - due) / made) + 0.005
        if p < 0.3:
            fails(f"C6 Wald, n = {n}, p = {p}", wald, 0.95)
