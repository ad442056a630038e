"""Adjustment of several tests: Holm to find which pairs differ, Benjamini-Hochberg for a dashboard.

The smallest p-value that each design allows is compared with the family first: eight rounds allow 0.0078, and three
pairs need 0.0167. A missing p-value leaves the family, as in R.

Own code: statsmodels returns the same numbers, but costs 44 MB and 1.4 s of import.

Sources: Holm, Scandinavian J. Statistics 6:65 (1979); Hochberg, Biometrika 75:800 (1988); Benjamini & Hochberg, JRSS-B
57:289 (1995); Benjamini & Yekutieli, Annals of Statistics 29:1165 (2001).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

from azlatency.stats.result import Comparison, Results

Method = Literal["holm", "hochberg", "bonferroni", "bh", "by"]


def adjust_p(p: Sequence[float | None], method: Method = "holm") -> list[float | None]:
    """Return adjusted p-values in the given order; None and NaN leave the family and stay None."""
    import numpy as np

    values = np.array([np.nan if value is None else float(value) for value in p])
    present = np.isfinite(values)
    m = int(present.sum())
    adjusted = np.full(values.size, np.nan)
    if m:
        order = np.argsort(values[present], kind="stable")
        ordered, rank = values[present][order], np.arange(1, m + 1)
        if method == "bonferroni":
            stepped = ordered * m
        elif method == "holm":
            stepped = np.maximum.accumulate(ordered * (m - rank + 1))
        else:
            harmonic = float((1 / rank).sum()) if method == "by" else 1.0
            factor = (m - rank + 1) if method == "hochberg" else harmonic * m / rank
            stepped = np.minimum.accumulate((ordered * factor)[::-1])[::-1]
        in_given_order = np.empty(m)
        in_given_order[order] = np.minimum(stepped, 1.0)
        adjusted[present] = in_given_order
    return [None if np.isnan(value) else float(value) for value in adjusted]


def adjust(results: Sequence[Comparison], *, method: Method = "holm", confidence: float = 0.95) -> Results[Comparison]:
    """Adjust the p-values of the comparisons of one family.

    Parameters
    ----------
    results : sequence of Comparison
        The comparisons of the family.
    method : {"holm", "hochberg", "bonferroni", "bh", "by"}
        Kind of adjustment.
    confidence : float
        Family-wise level, between 0 and 1.

    Returns
    -------
    Results[Comparison]
        The comparisons with the labels ``p_adjusted``, ``p_method`` and ``family`` (its size). ``cannot_reach_alpha``:
        the smallest p-value that the design allows cannot reach the level within the family.

    Notes
    -----
    Under Holm, Hochberg and Bonferroni the smallest p-value must be below alpha / family. Under Benjamini-Hochberg,
    alpha is enough if all tests are that small.
    """
    adjusted = adjust_p([result.p for result in results], method)
    family = sum(p is not None for p in adjusted)
    divisor = family if method in ("holm", "hochberg", "bonferroni") else 1
    comparisons = Results[Comparison]()
    for result, p in zip(results, adjusted, strict=True):
        codes = list(result.codes)
        if p is not None and result.attainable_p is not None and result.attainable_p * divisor > 1 - confidence:
            codes.append("cannot_reach_alpha")
        labels = {**result.labels, "p_adjusted": p, "p_method": method, "family": family}
        comparisons.append(replace(result, labels=labels, codes=tuple(dict.fromkeys(codes))))
    return comparisons
