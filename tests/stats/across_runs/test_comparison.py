"""Comparisons of runs against oracles, on hard inputs, and what they refuse."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pandas as pd
import pytest
from helpers.cases import cases

from azlatency.stats import exact
from azlatency.stats.across_runs.comparison import compare
from azlatency.stats.across_runs.hodges_lehmann import rank_sum_p
from azlatency.stats.across_runs.quantile_comparison import compare_quantiles, shift_function
from azlatency.stats.across_runs.run_values import parse_margin
from azlatency.stats.across_runs.two_groups import Summary, fieller, student_interval, summary, welch
from azlatency.stats.multiplicity import adjust, adjust_p
from azlatency.stats.result import Estimate

# --- oracles: two groups from n, mean and sd


@pytest.mark.parametrize("case", cases("summary_tests", "fieller-raw|") + cases("repeats_hierarchy", "fieller-run"))
def test_fieller_of_run_values(case: dict[str, Any]) -> None:
    given, due = case["input"], case["expected"]
    a, b = given.get("x", given.get("a")), given.get("y", given.get("b"))
    result = compare(a, b, statistic="mean", confidence=given["conf"])
    assert (
        result.ratio.estimate,
        result.ratio.low,
        result.ratio.high,
        result.ratio.diagnostics["df"],
    ) == pytest.approx((due["ratio"], due["lower"], due["upper"], due["df"]), rel=case["tolerance"]["rel"])
    if "g" in due:
        assert result.ratio.diagnostics["g"] == pytest.approx(due["g"], rel=case["tolerance"]["rel"])


@pytest.mark.parametrize("case", cases("summary_tests", "paired|"))
def test_paired(case: dict[str, Any]) -> None:
    given, due = case["input"], case["expected"]
    differences = np.array(given["x"]) - np.array(given["y"])
    interval = student_interval(differences, given["conf"])
    assert interval == pytest.approx((due["lower"], due["upper"]), rel=case["tolerance"]["rel"])
    result = compare(given["x"], given["y"], paired=True, margin="1%")
    assert result.difference is not None
    assert (result.difference.low, result.difference.high) == pytest.approx(interval)
    assert exact.sign_flip(differences).p == pytest.approx(due["signflip_exact_p"], abs=case["tolerance"]["p_abs"])
    mean, error = differences.mean(), differences.std(ddof=1) / math.sqrt(len(differences))
    assert mean / error == pytest.approx(due["t"], rel=case["tolerance"]["rel"])
    assert result.verdict == "different_within_margin"


@pytest.mark.parametrize("case", cases("summary_tests", "refuse|"))
def test_summaries_that_are_refused(case: dict[str, Any]) -> None:
    first, second = (Summary(each["n"], each["mean"], each["sd"]) for each in case["input"].values())
    assert welch(first, second) is None and fieller(first, second) is None


# --- oracles: ranks


def test_rank_tests_of_another_library() -> None:
    """The exact laws against scipy: no ties, several sizes."""
    from scipy.stats import mannwhitneyu, wilcoxon

    random = np.random.Generator(np.random.PCG64(3))
    for m, n in ((3, 4), (5, 5), (7, 12)):
        x, y = random.normal(size=m), random.normal(0.5, size=n)
        assert rank_sum_p(x, y) == pytest.approx(mannwhitneyu(x, y, method="exact").pvalue)
    signs = np.sign(random.normal(size=9)) * np.arange(1, 10)
    assert exact.sign_flip(signs).p == pytest.approx(wilcoxon(signs, method="exact").pvalue)


# --- oracles: multiplicity


def test_missing_p_leaves_the_family() -> None:
    # R: p.adjust(c(.01, NA, .04, .03), "holm") = .03 NA .06 .06; "BH" = .03 NA .04 .04
    assert adjust_p([0.01, None, 0.04, 0.03]) == pytest.approx([0.03, None, 0.06, 0.06])
    assert adjust_p([0.01, math.nan, 0.04, 0.03], "bh") == pytest.approx([0.03, None, 0.04, 0.04])
    assert adjust_p([]) == [] and adjust_p([None]) == [None]


def test_a_family_that_cannot_reach_its_level_says_so() -> None:
    random = np.random.Generator(np.random.PCG64(5))
    groups = [random.lognormal(0, 0.01, 4) for _ in range(4)]
    results = [compare(groups[0] * 1.5, each) for each in groups[1:]]
    # 4 against 4 runs: p can be .0286, but not after Holm over three pairs.
    assert all(each.attainable_p == pytest.approx(2 / 70) and not each.codes for each in results)
    adjusted = adjust(results)
    assert all("cannot_reach_alpha" in each.codes and each.labels["family"] == 3 for each in adjusted)
    assert all(each.row()["p_adjusted"] > 0.05 for each in adjusted)
    assert not any("cannot_reach_alpha" in each.codes for each in adjust(results, method="bh"))


# --- oracles: one connection each


# --- what compare does with whole sets of runs


def frame(values: list[float], **columns: Any) -> pd.DataFrame:
    own = {"tool": "sockperf", "test": "ping-pong", "protocol": "tcp", "message_bytes": 14, "printed_as": "round_trip"}
    return pd.DataFrame({"median_ns": values, "round": range(1, len(values) + 1), **own, **columns}).convert_dtypes()


SLOW, FAST = [62e3, 61e3, 63e3, 62.5e3, 61.5e3], [60e3, 59e3, 60.5e3, 61e3, 59.5e3]


def test_frames_and_arrays_agree() -> None:
    of_frames = compare(frame(SLOW), frame(FAST))
    of_arrays = compare(SLOW, FAST, unit="ns")
    assert of_frames.row() == of_arrays.row()
    assert of_frames.difference is not None and of_frames.difference.unit == "ns"
    assert of_frames.verdict == "different_within_margin"
    assert "runs" in str(of_frames) and of_frames.scope == "across_runs"
    paired = compare(frame(SLOW), frame(FAST).iloc[::-1], paired=True)
    assert paired.ratio.n == 5 and paired.ratio.estimate == pytest.approx(of_frames.ratio.estimate)


def test_paired_rounds_meet_by_number_and_lonely_ones_are_counted() -> None:
    first, second = frame(SLOW), frame(FAST)
    second["round"] = [2, 3, 4, 5, 6]
    result = compare(first, second, paired=True)
    assert result.ratio.n == 4 and result.ratio.diagnostics["rounds_alone"] == 2
    logs = np.log(np.array(SLOW[1:]) / np.array(FAST[:4]))
    assert result.ratio.estimate == pytest.approx(math.exp(logs.mean()))
    assert compare(first.drop(columns="round"), second, paired=True).codes == ("no_values",)


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"protocol": "udp"}, "type_p_mismatch"),
        ({"message_bytes": 1400}, "type_p_mismatch"),
        ({"tool": "ping"}, "type_p_mismatch"),
        ({"printed_as": "unknown"}, "unit_unknown"),
        ({"printed_as": "one_way"}, "unit_conflict"),
        ({"subscription": "b", "zone": "1"}, "logical_zone"),
    ],
)
@pytest.mark.parametrize("paired", [False, True])
def test_frames_that_must_not_be_compared(change: dict[str, Any], code: str, paired: bool) -> None:
    first = frame(SLOW, subscription="a", zone="1")
    result = compare(first, frame(FAST).assign(**change), paired=paired)
    assert code in result.codes
    assert result.ratio.refused and result.p is None and result.verdict == "undetermined"


def test_zones_of_two_subscriptions_with_physical_zones_are_comparable() -> None:
    sides = [frame(each, subscription=name, zone="1", physical_zone="westeurope-az1") for each, name in
             ((SLOW, "a"), (FAST, "b"))]  # fmt: skip
    assert not compare(*sides).ratio.refused


def test_half_and_full_round_trips_are_one_quantity_only_in_the_columns_of_the_data_set() -> None:
    full, half = frame(SLOW), frame(FAST, printed_as="half_round_trip")
    assert not compare(full, half).ratio.refused
    renamed = [each.rename(columns={"median_ns": "printed_us"}) for each in (full, half)]
    assert compare(*renamed, value="printed_us").codes == ("unit_conflict",)
    assert compare(full, half["median_ns"].astype(float).to_list()).codes == ("unit_conflict",)


HARD: list[tuple[list[Any], list[Any], str]] = [
    ([], [], "no_values"),
    ([], [1.0, 2.0], "no_values"),
    ([1.0], [2.0], "no_replication"),
    ([1.0], [2.0, 3.0], "no_replication"),
    ([5.0] * 4, [5.0] * 4, "constant"),
    ([5.0] * 4, [6.0] * 4, "constant"),
    ([math.nan, None], [1.0, 2.0], "no_values"),
    ([math.nan, 1.0, 2.0], [1.0, 2.0, math.nan], "two_runs"),
    ([1.0, 2.0, 3.0], [1.0, 2.0, math.inf], "loss_censored"),
    ([0.0, 1.0, 2.0], [1.0, 2.0, 3.0], "not_positive"),
]


@pytest.mark.parametrize(("a", "b", "code"), HARD)
def test_hard_inputs(a: list[Any], b: list[Any], code: str) -> None:
    result = compare(a, b)
    assert code in result.codes
    assert result.verdict == "undetermined" or code == "two_runs"
    assert str(result) and result.row()
    for name in ("ratio", "ratio_low", "ratio_high", "p"):
        value = result.row()[name]
        assert value is None or math.isfinite(value)


def test_missing_values_are_counted() -> None:
    result = compare([1.0, 2.0, math.nan, 3.0], [1.0, None, 2.0, 4.0])
    assert result.ratio.diagnostics["missing"] == 2


def test_a_zero_denominator_has_no_ratio() -> None:
    result = compare([1.0, 2.0, 3.0], [-1.0, 0.0, 1.0], statistic="mean")
    assert "ratio_unbounded" in result.codes and result.ratio.refused
    assert result.difference is not None and result.difference.low is not None
    near = compare([1.0, 2.0, 3.0], [-1.0, 0.2, 1.0], statistic="mean")
    assert "ratio_unbounded" in near.codes and near.ratio.low is None and near.verdict == "undetermined"


def test_constant_groups_that_differ_have_an_exact_p_and_no_interval() -> None:
    result = compare([42.0] * 10, [43.0] * 10)
    assert result.codes == ("constant",) and result.verdict == "undetermined" and result.ratio.low is None
    assert result.p == pytest.approx(2 / math.comb(20, 10))


def test_three_runs_have_an_interval_and_no_p() -> None:
    result = compare([10.0, 10.1, 10.2], [20.0, 20.1, 20.3])
    assert result.verdict == "different"
    assert result.p is None and result.attainable_p == pytest.approx(0.1) and "cannot_reach_alpha" in result.codes


def test_exact_permutation_equals_scipy() -> None:
    from scipy.stats import permutation_test

    random = np.random.Generator(np.random.PCG64(9))
    x, y = random.normal(0.6, 1, 5), random.normal(0, 1, 5)
    reference = permutation_test((x, y), lambda a, b, axis: a.mean(axis) - b.mean(axis), vectorized=True,
                                 n_resamples=np.inf)  # fmt: skip
    assert exact.permute_labels(x, y).p == pytest.approx(reference.pvalue)


def test_many_runs_are_permuted_at_random_and_say_so() -> None:
    random = np.random.Generator(np.random.PCG64(10))
    result = compare(random.lognormal(0, 0.1, 30), random.lognormal(0.2, 0.1, 30))
    assert "random" in result.method and "seed 0" in result.method
    assert result.p is not None and result.p < 1e-3 and result.attainable_p == pytest.approx(2e-5)
    assert exact.permute_labels(range(60), range(3)).exact
    many = exact.sign_flip(random.normal(0, 1, 40))
    assert not many.exact and many.p > 0.01


@pytest.mark.parametrize(
    ("margin", "due"), [("5%", (0.05, 0.0)), (0.02, (0.02, 0.0)), ("2 us", (0.0, 2000.0)), ("1.5ms", (0.0, 1.5e6))]
)
def test_margins(margin: str | float, due: tuple[float, float]) -> None:
    assert parse_margin(margin) == pytest.approx(due)


@pytest.mark.parametrize("margin", ["5", "five", "2 miles", 0.0, -0.1, math.nan, "2 Gbit/s"])
def test_margins_that_are_none(margin: str | float) -> None:
    with pytest.raises(ValueError, match="margin"):
        compare([1.0, 2.0], [1.0, 2.0], margin=margin)


def test_a_microsecond_is_never_a_practical_difference() -> None:
    values = np.array([16.0e3, 16.01e3, 16.02e3, 15.99e3, 16.0e3])
    result = compare(values + 500.0, values, unit="ns", margin="1%")
    assert result.margin == pytest.approx(1000 / np.exp(np.log(values).mean()))
    assert result.verdict == "different_within_margin"
    assert compare(values + 500.0, values, unit="ns", margin="1%", floor=0).verdict == "different"


def test_wrong_arguments_are_errors() -> None:
    with pytest.raises(KeyError, match="columns"):
        compare(frame(SLOW), frame(FAST), value="nothing")
    with pytest.raises(ValueError, match="confidence"):
        compare(SLOW, FAST, confidence=95)
    with pytest.raises(ValueError, match="statistic"):
        compare(SLOW, FAST, paired=True, statistic="mean")


def estimate(value: float | None, low: float | None, high: float | None, *codes: str, q: float = 0.5) -> Estimate:
    return Estimate(
        what="p",
        estimate=value,
        low=low,
        high=high,
        unit="us",
        n=1000,
        scope="within_run",
        confidence=0.95,
        method="test",
        codes=codes,
        labels={"q": q},
    )


def test_two_connections() -> None:
    result = compare_quantiles(estimate(50.0, 49.0, 51.0), estimate(40.0, 39.0, 41.0))
    assert result.verdict == "different" and result.scope == "within_run" and result.p is None
    assert "these two connections" in str(result) and "no_replication" in result.codes
    assert result.difference is not None
    assert (result.difference.low, result.difference.high) == pytest.approx((10 - 2**0.5, 10 + 2**0.5))
    floor = compare_quantiles(estimate(50.0, 49.0, 51.0, "within_run_floor"), estimate(40.0, 39.0, 41.0))
    assert floor.verdict == "undetermined"
    open_end = compare_quantiles(estimate(50.0, 49.0, None, "unbounded_upper"), estimate(40.0, 39.0, 41.0))
    assert open_end.ratio.high is None and open_end.verdict == "different"
    refused = compare_quantiles(estimate(None, None, None, "tail_unresolved"), estimate(40.0, 39.0, 41.0))
    assert refused.ratio.refused and "tail_unresolved" in refused.codes


def test_shift_function_meets_levels() -> None:
    a = [estimate(50.0, 49.0, 51.0, q=0.5), estimate(90.0, 80.0, 99.0, q=0.99)]
    b = [estimate(80.0, 70.0, 90.0, q=0.99), estimate(50.0, 49.5, 50.5, q=0.5), estimate(1.0, 1.0, 1.0, q=0.1)]
    shifts = shift_function(a, b)
    assert [each.labels["q"] for each in shifts] == [0.5, 0.99]
    assert [each.verdict for each in shifts] == ["equivalent", "undetermined"]


def test_summary_of_equal_values_has_no_spread() -> None:
    assert summary(np.log(np.array([6.0] * 7))).sd == 0.0
