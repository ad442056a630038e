"""Ranks of the order statistics that enclose a quantile, for independent and for dependent values."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import NamedTuple

# To import scipy.stats for the binomial distribution takes half a second.
from scipy.special import bdtr, bdtrc, bdtrik, ndtri, stdtrit

from azlatency.stats.within_run.proportions import wilson

#: Effective observations beyond the quantile below which its outer end is refused (86 % coverage at 6, 79 % at 2).
MIN_BEYOND = 10
#: Methods as results name them.
EXACT = "order statistics; ranks by the exact binomial interval (Le Boudec 2010, thm 2.1)"
EFFECTIVE = (
    "order statistics; ranks by Wilson's interval at the effective n of 1{x <= q} "
    "(Woodruff 1952; Heidelberger & Lewis 1984; Geyer 1992)"
)


@lru_cache(maxsize=4096)
def order_statistic_ranks(n: int, p: float, confidence: float = 0.95) -> tuple[int, int]:
    """Return the 1-based ranks of the order statistics that enclose the p-quantile of ``n`` independent values.

    0 stands for minus infinity, n + 1 for plus infinity. With B ~ Binomial(n, p), the lower rank is the largest with
    P(B < low) <= alpha/2 and the upper one the smallest with P(B >= high) <= alpha/2 (Le Boudec, Performance
    Evaluation, EPFL Press 2010, theorem 2.1).
    """
    if n < 0 or not 0 < p < 1 or not 0 < confidence < 1:
        raise ValueError(f"n = {n}, p = {p}, confidence = {confidence}: need n >= 0 and the others between 0 and 1")

    tail = (1 - confidence) / 2
    # P(B <= l - 1) <= tail: the largest such l is the smallest k with P(B <= k) > tail. The real number at which P is
    # the tail lies less than one below it.
    low, before = (max(int(bdtrik(share, n, p)) - 1, 0) if n else 0 for share in (tail, 1 - tail))
    while bdtr(low, n, p) <= tail:
        low += 1
    # P(B >= u) = P(B > u - 1) <= tail.
    while bdtrc(before, n, p) > tail:
        before += 1
    return low, before + 1


class Ranks(NamedTuple):
    """1-based ranks of an interval's ends among sorted values; 0 and n + 1 stand for no bound."""

    low: int
    high: int
    n_effective: float


def effective_ranks(n: int, p: float, tau: float, confidence: float = 0.95) -> Ranks:
    """Return the ranks that enclose the p-quantile of ``n`` values whose indicator has autocorrelation time ``tau``.

    Wilson's interval [P_L, P_U] at n/tau, with ranks floor(n P_L) and ceil(n P_U) + 1. Below 200 effective values the
    t distribution with 2 n_eff min(p, 1-p) degrees of freedom (at least 4) replaces the normal one.
    """
    n_effective = n / tau
    upper = (1 + confidence) / 2
    degrees = max(2 * n_effective * min(p, 1 - p), 4)
    critical = float(stdtrit(degrees, upper) if n_effective < 200 else ndtri(upper))
    low, high = wilson(p, n_effective, critical)
    return Ranks(max(math.floor(n * low), 0), min(math.ceil(n * high) + 1, n + 1), n_effective)


def interval_ranks(n: int, p: float, tau: float, confidence: float, *, independent: bool) -> Ranks:
    """Return exact ranks for independent values, else ranks at the effective sample size."""
    if not n:
        return Ranks(0, 1, 0.0)
    if not independent:
        return effective_ranks(n, p, tau, confidence)
    return Ranks(*order_statistic_ranks(n, p, confidence), float(n))


def point_rank(n: int, p: float) -> int:
    """Return the rank ceil(n p) of the estimate; n p of a decimal p can be slightly above a whole number."""
    return max(math.ceil(n * p - 1e-9), 1)
