"""Comparisons of runs against oracles, on hard inputs, and what they refuse."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pandas as pd
import pytest
from helpers.cases import cases, correlated

from azlatency.stats.across_runs.comparison import compare


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


SLOW, FAST = [62e3, 61e3, 63e3, 62.5e3, 61.5e3], [60e3, 59e3, 60.5e3, 61e3, 59.5e3]


def frame(values: list[float], **columns: Any) -> pd.DataFrame:
    method = {
        "tool": "sockperf",
        "test": "ping-pong",
        "protocol": "tcp",
        "message_bytes": 14,
        "printed_as": "round_trip",
    }
    return pd.DataFrame({"median_ns": values, "round": range(1, len(values) + 1), **method, **columns}).convert_dtypes()


def test_frames_and_arrays_agree() -> None:
    of_frames = compare(frame(SLOW), frame(FAST))
    of_arrays = compare(SLOW, FAST, unit="ns")
    assert of_frames.row() == of_arrays.row()
    assert of_frames.difference is not None and of_frames.difference.unit == "ns"
    assert of_frames.ratio.diagnostics["verdict_of_the_interval"] == "different_within_margin"
    assert of_frames.verdict == "undetermined" and "dependence_unresolved" in of_frames.codes
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
    sides = [frame(values, subscription=name, zone="1", physical_zone="westeurope-az1") for values, name in
             ((SLOW, "a"), (FAST, "b"))]  # fmt: skip
    assert not compare(*sides).ratio.refused


def test_half_and_full_round_trips_are_one_quantity_only_in_the_columns_of_the_data_set() -> None:
    full, half = frame(SLOW), frame(FAST, printed_as="half_round_trip")
    assert not compare(full, half).ratio.refused
    renamed = [side.rename(columns={"median_ns": "printed_us"}) for side in (full, half)]
    assert compare(*renamed, value="printed_us").codes == ("unit_conflict",)
    assert compare(full, half["median_ns"].astype(float).to_list()).codes == ("unit_conflict",)


HARD: list[tuple[list[Any], list[Any], str]] = [
    ([], [], "no_values"),
    ([], [1.0, 2.0], "no_values"),
    ([1.0], [2.0], "no_replication"),
    ([1.0], [2.0, 3.0], "no_replication"),
    ([5.0] * 4, [5.0] * 4, "constant"),
    ([5.0] * 8, [5.0] * 8, "constant"),
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


def test_constant_groups_that_differ_have_an_exact_p_and_an_interval_only_at_a_known_resolution() -> None:
    result = compare([42.0] * 10, [43.0] * 10)
    assert result.codes == ("constant",) and result.verdict == "undetermined" and result.ratio.low is None
    assert result.p == pytest.approx(2 / math.comb(20, 10))
    known = compare([42.0] * 10, [43.0] * 10, resolution=1.0)
    assert (known.ratio.low, known.ratio.high) == pytest.approx((41.5 / 43.5, 42.5 / 42.5))
    assert compare([42.0] * 10, [45.0] * 10, resolution=1.0).verdict == "different"
    assert compare([42.0] * 4, [45.0] * 4, resolution=1.0).ratio.high == pytest.approx(42.5 / 44.5)


#: Ten pings of each side, in µs: two slow runs on one, three on the other.
BASE = [610, 595, 600, 4510, 605, 590, 8510, 604, 612, 598]
CANDIDATE = [730, 705, 7100, 722, 741, 5300, 715, 735, 9100, 728]


def test_slow_runs_do_not_hide_a_change() -> None:
    """Ratio, difference, interval and p come from one estimator, which slow runs move little."""
    result = compare([1e3 * time for time in CANDIDATE], [1e3 * time for time in BASE], unit="ns")
    assert result.verdict == "different" and result.p is not None and result.p < 0.05
    ratio, difference = result.ratio, result.difference
    assert ratio.estimate is not None and ratio.low is not None and 1.15 < ratio.estimate < 1.3 and ratio.low > 1.05
    assert difference is not None and difference.estimate == pytest.approx(604.5e3 * (ratio.estimate - 1))
    assert difference.low is not None and difference.low > 0
    assert ratio.diagnostics["typical_b"] == 604.5e3 and ratio.diagnostics["beyond_p"] < 0.05
    turned = compare([1e3 * time for time in BASE], [1e3 * time for time in CANDIDATE], unit="ns")
    assert turned.ratio.estimate == pytest.approx(1 / ratio.estimate)


def test_runs_that_resemble_their_neighbours_widen_the_comparison() -> None:
    rising = [100.0, 101, 102, 103, 104, 105, 106, 107, 108, 109]
    mixed = [rising[(3 * run) % 10] for run in range(10)]
    dependent, independent = (compare(runs, [run - 6 for run in runs]) for runs in (rising, mixed))
    assert "dependent_runs" in dependent.codes and dependent.verdict == "undetermined"
    assert independent.codes == ("if_weakly_dependent",) and independent.verdict == "different"
    assert dependent.p is None and independent.p is not None, "an exact p is that of independent runs"
    known_order = pd.DataFrame({"median_ns": mixed, "started_at": np.argsort(np.argsort(mixed))})
    assert "dependent_runs" in compare(known_order, known_order.assign(median_ns=known_order["median_ns"] - 6)).codes


def test_few_runs_leave_a_small_difference_open_and_show_a_large_one() -> None:
    """5 v. 5 runs that vary by 1 %: 2 % may be the neighbourhood of runs in time, 10 % may not."""
    runs = np.array([100.0, 101.2, 99.1, 100.6, 99.4])
    small, large = compare(1.02 * runs, runs, margin="1%"), compare(1.1 * runs, runs, margin="1%")
    assert small.ratio.low is not None and small.ratio.low > 1 and small.verdict == "undetermined"
    assert small.codes == ("few_runs", "dependence_unresolved") and "resembles the one before" in str(small)
    assert large.verdict == "different" and large.codes == ("few_runs",)
    wide = compare(1.02 * runs, runs, margin="2.8%")
    assert wide.ratio.diagnostics["verdict_of_the_interval"] == "different" and wide.verdict == "undetermined"


@pytest.mark.parametrize("runs", [5, 8, 10, pytest.param(20, marks=pytest.mark.slow)])
def test_runs_that_resemble_their_neighbours_are_hardly_ever_called_different(runs: int) -> None:
    """AR(1), 0.5: at most 6 % (three standard errors of 300), where the intervals exclude 1 in up to 25 %."""
    random = np.random.default_rng(runs)
    alarms = sum(
        compare(*(np.exp(0.05 * correlated(random, runs, 0.5)) for _ in "ab")).verdict.startswith("different")
        for _ in range(300)
    )
    assert alarms / 300 <= 0.06 + 3 * math.sqrt(0.06 * 0.94 / 300)


def test_three_runs_have_an_interval_but_no_p_value() -> None:
    result = compare([10.0, 10.1, 10.2], [20.0, 20.1, 20.3])
    assert result.verdict == "different"
    assert result.p is None and result.attainable_p == pytest.approx(0.1) and "cannot_reach_alpha" in result.codes


@pytest.mark.parametrize("margin", ["5", "five", "2 miles", 0.0, -0.1, math.nan, "2 Gbit/s"])
def test_margins_that_are_none(margin: str | float) -> None:
    with pytest.raises(ValueError, match="margin"):
        compare([1.0, 2.0], [1.0, 2.0], margin=margin)


def test_a_microsecond_is_never_a_practical_difference() -> None:
    values = np.array([16.0e3, 16.01e3, 16.02e3, 15.99e3, 16.0e3])
    result = compare(values + 500.0, values, unit="ns", margin="1%")
    assert result.margin == pytest.approx(1000 / np.median(values))
    assert result.verdict == "different_within_margin"
    assert compare(values + 500.0, values, unit="ns", margin="1%", floor=0).verdict == "different"


def test_wrong_arguments_are_errors() -> None:
    with pytest.raises(KeyError, match="Columns"):
        compare(frame(SLOW), frame(FAST), value="nothing")
    with pytest.raises(ValueError, match="confidence"):
        compare(SLOW, FAST, confidence=95)
    with pytest.raises(ValueError, match="statistic"):
        compare(SLOW, FAST, paired=True, statistic="mean")


def test_a_ratio_of_means_allows_for_the_printed_resolution() -> None:
    a, b = [10.0, 11.0, 10.0, 11.0], [10.0, 10.0, 11.0, 10.0]
    exact, coarse = (compare(a, b, statistic="mean", unit="ns", resolution=step) for step in (0.0, 1.0))
    assert exact.ratio.low is not None and exact.ratio.high is not None and exact.ratio.estimate is not None
    assert coarse.ratio.low == pytest.approx(exact.ratio.low - (exact.ratio.estimate - 10.0 / 10.75))
    assert coarse.ratio.high is not None and coarse.ratio.high > exact.ratio.high + 0.09
    assert coarse.difference is not None and exact.difference is not None and exact.difference.low is not None
    assert coarse.difference.low == pytest.approx(exact.difference.low - 1)
