"""The log ratio: ranks from four runs, t below, the resolution of the print, and bad input."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from helpers.cases import stream
from scipy.stats import ttest_ind

from azlatency.stats.across_runs.hodges_lehmann import hodges_lehmann
from azlatency.stats.across_runs.log_ratio import (
    MEAN_METHOD,
    RANK_METHOD,
    SHARED_METHOD,
    of_groups,
    of_rounds,
    spreads_of_pairs,
)
from azlatency.stats.across_runs.run_order import WIDENING
from azlatency.stats.across_runs.run_values import RunValues, run_values

SLOW = [121.0, 118, 122, 119, 124, 120, 117]
FAST = [101.0, 98, 102, 99, 104, 100, 97]


def sides(runs: int, resolution: float = 0.0) -> tuple[RunValues, RunValues]:
    first, second = (replace(run_values(side[:runs]), resolution=resolution, order="unknown") for side in (SLOW, FAST))
    return first, second


@pytest.mark.parametrize(("slow", "method"), [(1.0, MEAN_METHOD), (1.5, RANK_METHOD)])
def test_the_shorter_interval_of_ranks_and_means_decides(slow: float, method: str) -> None:
    """A slow run makes Welch's interval longer and hardly that of ranks."""
    first, second = run_values([*SLOW[:6], slow * SLOW[6]]), run_values(FAST)
    x, y = np.log(first.values), np.log(second.values)
    shift = hodges_lehmann(x, y, interpolate=True)
    means = ttest_ind(x, y, equal_var=False).confidence_interval(0.95)
    assert shift.low is not None and shift.high is not None
    assert (shift.high - shift.low < means.high - means.low) == (method == RANK_METHOD)
    found = of_groups(first, second, 0.05, 0.95)
    assert found.method == method
    assert found.estimate == (shift.estimate if method == RANK_METHOD else pytest.approx(x.mean() - y.mean()))


def test_four_runs_are_compared_by_ranks_and_three_by_a_pooled_t() -> None:
    first, second = run_values([118.0, 119, 120, 150]), run_values([98.0, 99, 101, 103])
    ranked = of_groups(first, second, 0.05, 0.95)
    x, y = np.log(first.values), np.log(second.values)
    shift = hodges_lehmann(x, y, interpolate=True)
    assert shift.low is not None and shift.high is not None and ranked.outer is not None
    assert ranked.estimate == shift.estimate
    widening = 1.03 * WIDENING
    assert ranked.outer[0] == pytest.approx(shift.estimate - widening * (shift.estimate - shift.low))
    assert ranked.outer[1] == pytest.approx(shift.estimate + widening * (shift.high - shift.estimate))
    assert ranked.flags == ()
    first, second = sides(3)
    few = of_groups(first, second, 0.05, 0.95)
    test = ttest_ind(np.log(first.values), np.log(second.values)).confidence_interval(0.95)
    assert few.outer is not None
    assert few.outer[0] == pytest.approx(few.estimate - WIDENING * (few.estimate - test.low))
    assert few.flags == ("few_runs",)


def test_two_runs_that_vary_more_than_five_are_compared_by_welch() -> None:
    """A pooled t would take the spread of the five for that of the two."""
    first, second = run_values(np.array([800e3, 1000e3])), run_values(np.array([850e3, 851e3, 852e3, 849e3, 848e3]))
    test = ttest_ind(np.log(first.values), np.log(second.values), equal_var=False).confidence_interval(0.95)
    few = of_groups(first, second, 0.05, 0.95)
    assert few.outer is not None
    assert few.outer[0] == pytest.approx(few.estimate - WIDENING * (few.estimate - test.low))


@pytest.mark.costly
@pytest.mark.parametrize("many", [12, 24])
def test_few_runs_that_vary_more_than_many_are_called_different_at_most_at_the_error(many: int) -> None:
    """Ranks erred in 10 % of such pairs; of as many runs on both sides nothing changes."""
    random, wrong = np.random.default_rng(8), 0
    for _ in range(300):
        few = run_values(np.exp(random.normal(0, 0.06, many // 3)))
        found = of_groups(few, run_values(np.exp(random.normal(0, 0.02, many))), 0.05, 0.95).outer
        wrong += found is None or not found[0] <= 0 <= found[1]
    assert wrong <= 22  # 7 %


@pytest.mark.costly
def test_runs_on_two_levels_show_that_nothing_changed() -> None:
    """Levels 8 % apart, three runs in ten on the upper one, 8 against 8: 41 % at 1.13, 65 % of plain TOST."""
    rng = stream(8)
    runs = 100 * (1 + 0.08 * (rng.random((300, 2, 8)) < 0.3)) * rng.lognormal(0, 0.005, (300, 2, 8))
    margin, shown = float(np.log(1.05)), dict[float, float]()
    for shift in (1.0, 1.05):
        found = [of_groups(run_values(x), run_values(shift * y), margin, 0.95).inner for x, y in runs]
        shown[shift] = float(np.mean([ends is not None and max(map(abs, ends)) < margin for ends in found]))
    assert shown[1.0] > 0.5 and shown[1.05] < 0.08


@pytest.mark.parametrize("runs", [4, 5, 7, 10])
def test_the_p_value_agrees_with_the_interval(runs: int) -> None:
    """The interval excludes 1 exactly if p is below 5 %, and lies beyond the margin only if that p is, too."""
    random = np.random.default_rng(runs)
    for shift in np.linspace(0, 0.2, 40):
        x, y = (replace(run_values(np.exp(random.normal(at, 0.05, runs))), order="given") for at in (shift, 0.0))
        result = of_groups(x, y, 0.05, 0.95)
        assert result.outer is not None and result.p is not None and result.beyond is not None
        assert (result.p < 0.05) == (result.outer[0] > 0 or result.outer[1] < 0)
        assert result.beyond >= 0.025 or min(map(abs, result.outer)) > 0.05


@pytest.mark.parametrize("compared", [of_groups, of_rounds])
@pytest.mark.parametrize("runs", [5, 7])
def test_the_resolution_widens_intervals_and_p_values(compared: object, runs: int) -> None:
    exact, coarse = (compared(*sides(runs, step), 0.05, 0.95) for step in (0.0, 20.0))  # type: ignore[operator]
    assert coarse.outer[0] < exact.outer[0] and coarse.outer[1] > exact.outer[1]
    assert coarse.beyond >= exact.beyond


def test_a_step_as_wide_as_the_spread_widens_little() -> None:
    """2.6 is the spread of the runs of either side: the mean of rounded values is off by a thousandth of a step."""
    coarse, exact = (of_groups(*sides(7, step), 0.05, 0.95).outer for step in (2.6, 0.0))
    assert coarse is not None and exact is not None
    assert exact[1] < coarse[1] < exact[1] + 0.02 * (exact[1] - exact[0])


def test_equal_runs_of_one_side_take_the_spread_of_both() -> None:
    """Two equal runs say nothing of their spread; that of the other two is a whole step, and hardly shifts a mean.

    The log ratio of means is (ln 46 - ln 44) / 2 - 0 = 0.0222; the standard error, pooled over both sides, that of one
    mean: 0.0222. Student's t of 2 degrees is 4.303, the widening 1.1.
    """
    sides_ = (replace(run_values(values), resolution=1.0, order="unknown") for values in ([44.0, 46], [44.0, 44]))
    found = of_groups(*sides_, 0.05, 0.95)
    assert found.estimate == pytest.approx(0.02223, abs=1e-5) and found.outer is not None
    assert found.outer[1] - found.estimate == pytest.approx(1.1 * 4.303 * 0.02223, abs=2e-4)


def test_equal_values_are_spread_within_a_narrow_step() -> None:
    first, second = (
        replace(run_values(values), resolution=1.0)
        for values in ([110.0, 110, 110, 112, 108], [100.0, 102, 104, 98, 96])
    )
    result = of_groups(first, second, 0.05, 0.95)
    spread = [110 - 1 / 3, 110.0, 110 + 1 / 3, 112, 108]
    assert result.estimate == pytest.approx(hodges_lehmann(np.log(spread), np.log(second.values)).estimate)


def test_few_runs_have_the_variance_of_all_paths() -> None:
    random = np.random.default_rng(4)
    pairs = [
        tuple(replace(run_values(np.exp(random.normal(0, 0.02, 2))), order="unknown") for _ in "ab") for _ in range(20)
    ]
    spreads = spreads_of_pairs(pairs, ["ping"] * 20)
    alone, together = ([of_groups(*pair, 0.05, 0.95, one) for pair in pairs] for one in (None, spreads[0]))
    reach = [
        np.median([result.outer[1] - result.estimate for result in some if result.outer]) for some in (alone, together)
    ]
    assert reach[1] < reach[0] and all(result.method == SHARED_METHOD for result in together)
    assert spreads_of_pairs(pairs[:3], ["ping"] * 3) == [None] * 3


def test_equal_values_have_no_interval_without_a_resolution() -> None:
    equal = replace(run_values([5.0] * 8), order="unknown")
    assert of_groups(equal, equal, 0.05, 0.95).outer is None
    assert of_rounds(equal, equal, 0.05, 0.95).flags == ("constant",)
    known = replace(equal, resolution=1.0)
    assert of_groups(known, known, 0.05, 0.95).outer == pytest.approx((np.log(4.5 / 5.5), np.log(5.5 / 4.5)))


@pytest.mark.costly
@pytest.mark.parametrize(
    ("runs", "share", "margin"),
    [
        (5, 0.05, 0.02),
        *(
            pytest.param(*case, marks=pytest.mark.slow)
            for case in ((8, 0.06, 0.2), (5, 0.05, 0.0), (5, 0.05, 0.2), (8, 0.06, 0.0), (8, 0.06, 0.02))
        ),
    ],
)
def test_the_test_at_the_margin_keeps_its_level(runs: int, share: float, margin: float) -> None:
    """Of 400 ratios at the margin 5 % are called beyond it, of 400 ratios of 1 half as many (three standard errors)."""
    random = np.random.default_rng(runs)
    beyond = [0, 0]
    for at, truth in enumerate((margin, 0.0)):
        for _ in range(400):
            x, y = (np.exp(random.normal(shift, share, runs)) for shift in (truth, 0.0))
            first, second = (replace(run_values(side), order="unknown") for side in (x, y))
            p = of_groups(first, second, margin, 0.95).beyond
            assert p is not None
            beyond[at] += p <= 0.05
    assert beyond[0] / 400 < 0.083 and beyond[1] / 400 < 0.049
