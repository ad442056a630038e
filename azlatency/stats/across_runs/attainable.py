"""What a design can show at all: fewest observations for a percentile, fewest rounds for a test.

The smallest p-value of a rank test is known before any data: two runs against two can never reach 5 %. Runs or rounds
are exchanged, never packets (Fisher, The Design of Experiments, 1935).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Literal

import pandas as pd

from azlatency.stats.across_runs.run_values import floats, run_ids_of

#: The search for the smallest number ends here; a larger answer is reported as "more than that".
MOST = 10**15


def smallest_number(enough: Callable[[int], bool], start: int, most: int = MOST) -> int | None:
    """Return the smallest number from ``start`` for which ``enough`` holds; ``None`` if it is above ``most``.

    ``enough`` must stay true once it is true: bisection.
    """
    low, high = start - 1, start
    while not enough(high):
        low, high = high, 2 * high
        if high > most:
            return None
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high


def attainable_paired(rounds: int) -> float:
    """Return the smallest two-sided signed-rank p of ``rounds`` paired differences: 2 / 2^R, at most 1."""
    return 1.0 if rounds < 1 else min(1.0, 2.0 ** (1 - rounds))


def attainable_unpaired(first: int, second: int) -> float:
    """Return the smallest two-sided p of a rank-sum test (smaller tail doubled): 2 / C(m + n, m), at most 1."""
    if first < 1 or second < 1:
        return 1.0
    # A quotient of integers: the count of thousands of runs exceeds every float.
    return min(1.0, 2 / math.comb(first + second, first))


def smallest_n(p: float, confidence: float = 0.95, *, sides: Literal["two", "upper", "range"] = "two") -> int:
    """Return the fewest independent observations that allow a distribution-free interval of the ``p``-quantile.

    ``sides``: ``two``, an equal-tailed interval with both ends; ``upper``, an upper bound; ``range``, from the smallest
    to the largest value. Dependent packets need as many *effective* observations. Thompson, Annals of Mathematical
    Statistics 7:122 (1936).

    >>> [smallest_n(0.999, sides=sides) for sides in ("two", "upper", "range")]
    [3688, 2995, 2995]
    """
    if not 0 < p < 1 or not 0 < confidence < 1:
        raise ValueError(f"p = {p}, confidence = {confidence}: between 0 and 1")
    alpha = 1 - confidence
    slack = 1 + 1e-12
    if sides == "upper":
        return smallest_number(lambda n: p**n <= alpha * slack, 1) or MOST
    if sides == "two":
        return smallest_number(lambda n: max(p, 1 - p) ** n <= alpha / 2 * slack, 1) or MOST
    return smallest_number(lambda n: p**n + (1 - p) ** n <= alpha * slack, 1) or MOST


def rounds_needed(tests: int = 1, confidence: float = 0.95, *, paired: bool = True) -> int:
    """Return the number of rounds (not ``paired``: runs on each side) from which data can reach the level in a family.

    ``tests``: those of the family, for example pairs of zones. At this number a test can begin to decide; plan at least
    one more. Bonferroni, the first step of Holm, on the smallest attainable p of the exact sign-flip or permutation
    test.

    >>> rounds_needed(3), rounds_needed(3, paired=False)
    (7, 5)
    """
    if tests < 1:
        raise ValueError(f"tests = {tests}: at least one")
    attainable_p = attainable_paired if paired else (lambda runs: attainable_unpaired(runs, runs))
    return smallest_number(lambda runs: attainable_p(runs) * tests < 1 - confidence, 2) or MOST


def percentile_sizes(sizes: Iterable[float] | pd.Series = (), confidence: float = 0.95) -> pd.DataFrame:
    """Return the fewest observations for each percentile; ``sizes`` are those of each existing run, NaN if unknown.

    One row per level ``q``, ascending: `smallest_n` for each kind of bound (``two``, ``upper``, ``range``), how many of
    the ``runs`` have ``enough`` observations for both bounds, and their ``run_ids``.
    """
    numbers = floats(sizes)
    counts = [float(number) for number in numbers if math.isfinite(number)]
    ids = [run_id for run_id, number in zip(run_ids_of(sizes), numbers, strict=False) if math.isfinite(number)]
    rows = [
        {"q": q, **{sides: smallest_n(q, confidence, sides=sides) for sides in ("two", "upper", "range")}}
        for q in (0.5, 0.9, 0.95, 0.99, 0.999, 0.9999, 0.99999, 0.999999)
    ]
    enough = [sum(count >= row["two"] for count in counts) for row in rows]
    return pd.DataFrame(rows).assign(enough=enough, runs=len(counts), run_ids=" ".join(ids))
