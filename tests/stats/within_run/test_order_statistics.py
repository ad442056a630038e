"""Ranks of order statistics against R and the binomial law, and their attained coverage."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from helpers.cases import BOTH, LOGNORMAL_QUANTILES, attained, cases, fails, number, stream
from helpers.results import estimates_of
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom

from azlatency.stats.within_run.order_statistics import order_statistic_ranks
from azlatency.stats.within_run.quantiles import quantiles


@pytest.mark.parametrize("case", cases("order_statistic_ci", "data-"))
def test_intervals_equal_those_of_r(case: dict[str, Any]) -> None:
    given, expected = case["input"], case["expected"]
    values = [math.nan if value is None else value for value in given["x"]]
    (result,) = estimates_of(quantiles(values, given["p"], independent=True))
    ordered = np.sort([value for value in values if not math.isnan(value)])
    ranks = order_statistic_ranks(len(ordered), given["p"], given.get("conf", 0.95))
    public = result.low, result.high
    for side, rank, due, end in zip((-1, 1), ranks, (expected["lower"], expected["upper"]), public, strict=True):
        if number(due) is None:
            assert end is None and not 1 <= rank <= len(ordered)
            continue
        assert ordered[rank - 1] == pytest.approx(number(due), rel=1e-12)
        # The public interval is the same, or wider by half a step for coarse values, which the oracle does not widen.
        if "quantised" in result.codes:
            assert side * end >= side * number(due)
        else:
            assert end == pytest.approx(number(due), rel=1e-12)
    assert result.n == expected.get("n_used", len(values))
    assert ("missing" in result.codes) == bool(expected.get("n_nan", 0))


@pytest.mark.costly
@pytest.mark.parametrize("made", BOTH)
def test_intervals_of_independent_packets_attain_their_coverage(made: int) -> None:
    """C1: exact order statistics hold at every n; the percentile bootstrap of p99.9 at n = 5,000 does not."""
    rng = stream(21)
    for n in (10, 50, 400, 1000, 5000):
        data = rng.lognormal(0, 0.5, (made, n))
        for p in (0.5, 0.99, 0.999):
            low, high = order_statistic_ranks(n, p)
            if high > n or low < 1:
                continue
            results = [estimates_of(quantiles(x, p, independent=True))[0] for x in data[: min(made, 500)]]
            exact = float(binom.cdf(high - 1, n, p) - binom.cdf(low - 1, n, p))
            held = [result.low <= LOGNORMAL_QUANTILES[p] <= result.high for result in results]
            attained(f"C1 n = {n}, p = {p}", held, len(results), nominal=exact, above=0.015)
    ordered = np.sort(data, axis=1)  # n = 5,000; the ideal bootstrap of p99.9 draws its rank from a binomial law
    ranks = [_bootstrap_rank(5000, 0.999, share) for share in (0.025, 0.975)]
    held = list(
        (ordered[:, ranks[0] - 1] <= LOGNORMAL_QUANTILES[0.999])
        & (LOGNORMAL_QUANTILES[0.999] <= ordered[:, ranks[1] - 1])
    )
    fails("C1 percentile bootstrap of p99.9, n = 5,000", held, 0.92)


def _bootstrap_rank(n: int, p: float, share: float) -> int:
    """The order statistic that is the ``share``-quantile of the bootstrapped p-quantile, without resampling.

    The k-th of n drawn is at most X_(r) where at least k draws fall among the first r: a binomial law.
    """
    k = math.ceil(n * p)
    r = np.arange(1, n + 1)
    return int(r[np.searchsorted(binom.sf(k - 1, n, r / n), share)])


@given(st.integers(0, 3000), st.floats(0.01, 0.9999), st.sampled_from([0.8, 0.95, 0.99]))
def test_rank_intervals_never_exceed_their_error(n: int, p: float, confidence: float) -> None:
    from scipy.stats import binom

    low, high = order_statistic_ranks(n, p, confidence)
    tail = (1 - confidence) / 2
    assert 0 <= low <= high <= n + 1
    assert binom.cdf(low - 1, n, p) <= tail + 1e-12
    assert binom.sf(high - 1, n, p) <= tail + 1e-12


@pytest.mark.parametrize(("n", "p", "confidence"), [(-1, 0.5, 0.95), (10, 0.0, 0.95), (10, 1.0, 0.95), (10, 0.5, 1.0)])
def test_levels_and_sizes_out_of_range_are_errors(n: int, p: float, confidence: float) -> None:
    with pytest.raises(ValueError, match="need"):
        order_statistic_ranks(n, p, confidence)
