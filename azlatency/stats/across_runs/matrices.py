"""Matrices between zones: symmetric and antisymmetric part, initiator effects, cyclic residual and triangles.

``M[i, j]`` is a value with initiator (or sender) i and responder (or receiver) j. These are closed forms without
inference; `azlatency.stats.across_runs.asymmetry` adds intervals and tests.

Sources: Jiang, Lim, Yao & Ye, Math. Prog. 127:203, 2011 (HodgeRank); Lumezanu et al., IMC 2009 (triangle violations).
"""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from azlatency.stats.arrays import FloatArray


class Decomposition(NamedTuple):
    """Symmetric part S, antisymmetric part K, and ``share`` = ||K|| / ||S|| off the diagonal (or ``None``)."""

    s: FloatArray
    k: FloatArray
    share: float | None


class Hodge(NamedTuple):
    """K = gradient of node effects + residual; ``share`` is the part of ||K||² that node effects explain."""

    node_effects: FloatArray
    gradient: FloatArray
    residual: FloatArray
    share: float | None


class Triangle(NamedTuple):
    """The path i - j compared with the detour over ``via``; ``excess`` > 0 if the detour is shorter."""

    i: int
    j: int
    via: int
    direct: float
    detour: float
    excess: float
    ratio: float


def decompose(m: FloatArray) -> Decomposition:
    """Return S and K of a square matrix; a pair without both directions is NaN in both."""
    import numpy as np

    m = np.array(m, dtype=float)
    np.fill_diagonal(m, np.nan)
    s, k = (m + m.T) / 2, (m - m.T) / 2
    size = float(np.sqrt(np.nansum(s**2)))
    return Decomposition(s, k, float(np.sqrt(np.nansum(k**2))) / size if size > 0 else None)


def hodge(k: FloatArray) -> Hodge:
    """Return least-squares node effects a with K_ij = a_i - a_j, summing to 0, and their residual.

    NaN pairs are left out. Each connected component of nodes is centred on its own (minimum norm).
    """
    import numpy as np

    k = np.asarray(k, dtype=float)
    size = len(k)
    edges = [(i, j) for i, j in combinations(range(size), 2) if np.isfinite(k[i, j])]
    if not edges:
        return Hodge(np.full(size, np.nan), np.full_like(k, np.nan), np.full_like(k, np.nan), None)
    design = np.zeros((len(edges), size))
    for row, (i, j) in enumerate(edges):
        design[row, i], design[row, j] = 1.0, -1.0
    values = np.array([k[i, j] for i, j in edges])
    effects = np.linalg.lstsq(design, values, rcond=None)[0]
    gradient = np.where(np.isfinite(k) | np.eye(size, dtype=bool), effects[:, None] - effects[None, :], np.nan)
    residual = np.where(np.isfinite(k), k - gradient, np.nan)
    np.fill_diagonal(residual, 0.0)
    total = float((values**2).sum())
    unexplained = float(sum(residual[i, j] ** 2 for i, j in edges))
    return Hodge(effects, gradient, residual, 1 - unexplained / total if total > 0 else None)


def triangles(s: FloatArray, within_zone: FloatArray | None = None) -> list[Triangle]:
    """Return each pair compared with the detour over each third node: excess = S_ij - (S_ik + S_kj - S_kk).

    A detour counts the middle host twice, so ``within_zone`` (S_kk, the round trip within zone k) is subtracted;
    without it the detour is too long by one host. Pairs without a value are left out.
    """
    import numpy as np

    results = []
    for i, j in combinations(range(len(s)), 2):
        for via in range(len(s)):
            if via in (i, j) or not np.isfinite([s[i, j], s[i, via], s[via, j]]).all():
                continue
            detour = float(s[i, via] + s[via, j] - (0.0 if within_zone is None else within_zone[via]))
            results.append(
                Triangle(i, j, via, float(s[i, j]), detour, float(s[i, j]) - detour, float(s[i, j]) / detour)
            )
    return results
