"""Several tests at once: Holm for "which pairs differ", Benjamini-Hochberg for a dashboard.

Before adjusting, the smallest p that each design can give is held against the family: eight rounds give .0078, three
pairs need .0167. A missing p leaves the family, as in R.

Sources: Holm 1979; Hochberg 1988; Benjamini & Hochberg 1995; Benjamini & Yekutieli 2001.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

from azlatency.stats.result import Comparison, Results

Method = Literal["holm", "hochberg", "bonferroni", "bh", "by"]


def adjust_p(p: Sequence[float | None], method: Method = "holm") -> list[float | None]:
    """Adjusted p-values in the order given; ``None`` and NaN leave the family and stay ``None``."""
    import numpy as np

    values = np.array([np.nan if each is None else float(each) for each in p])
    known = np.isfinite(values)
    m = int(known.sum())
    adjusted = np.full(values.size, np.nan)
    if m:
        order = np.argsort(values[known], kind="stable")
        ordered, rank = values[known][order], np.arange(1, m + 1)
        if method == "bonferroni":
            stepped = ordered * m
        elif method == "holm":
            stepped = np.maximum.accumulate(ordered * (m - rank + 1))
        else:
            harmonic = float((1 / rank).sum()) if method == "by" else 1.0
            factor = (m - rank + 1) if method == "hochberg" else harmonic * m / rank
            stepped = np.minimum.accumulate((ordered * factor)[::-1])[::-1]
        back = np.empty(m)
        back[order] = np.minimum(stepped, 1.0)
        adjusted[known] = back
    return [None if np.isnan(each) else float(each) for each in adjusted]


def adjust(results: Sequence[Comparison], *, method: Method = "holm", confidence: float = 0.95) -> Results[Comparison]:
    """The comparisons of one family with ``p_adjusted``, ``p_method`` and ``family`` (its size) among their labels.

    A comparison whose attainable p cannot reach its level within the family gets ``cannot_reach_alpha``: under Holm and
    Bonferroni the smallest p must be below alpha / family, under BH alpha is enough if all tests are that small.
    """
    adjusted = adjust_p([each.p for each in results], method)
    family = sum(each is not None for each in adjusted)
    demanding = family if method in ("holm", "hochberg", "bonferroni") else 1
    done = []
    for result, p in zip(results, adjusted, strict=True):
        codes = list(result.codes)
        if p is not None and result.attainable_p is not None and result.attainable_p * demanding > 1 - confidence:
            codes.append("cannot_reach_alpha")
        labels = {**result.labels, "p_adjusted": p, "p_method": method, "family": family}
        done.append(replace(result, labels=labels, codes=tuple(dict.fromkeys(codes))))
    return Results(done)
