"""Tests by enumeration that oracles contain and the library does not offer."""

from __future__ import annotations

from itertools import product

import numpy as np
from numpy.typing import NDArray


def sign_flip_p(differences: NDArray[np.float64]) -> float:
    """Two-sided p of the mean of paired differences under every flip of their signs."""
    return float(max_t_p(np.atleast_2d(differences), studentized=False)[0])


def max_t_p(differences: NDArray[np.float64], *, studentized: bool = True) -> NDArray[np.float64]:
    """Single-step max-T p of each row (pair) under joint flips of whole columns (rounds): Westfall & Young 1993."""
    n = differences.shape[1]
    flipped = np.array(list(product((1.0, -1.0), repeat=n)))[:, None, :] * differences
    t = np.abs(flipped.mean(axis=2))
    if studentized:
        t = t / np.maximum(flipped.std(axis=2, ddof=1), 1e-15)
    return np.asarray((t.max(axis=1)[:, None] >= t[0] * (1 - 1e-10)).mean(axis=0))
