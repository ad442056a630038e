"""Comparisons of runs against oracles, on hard inputs, and what they refuse."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pandas as pd
import pytest
from helpers.cases import correlated, thinned
from helpers.results import compare_runs

import azlatency as az

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
    of_frames = compare_runs(frame(SLOW), frame(FAST))
    of_arrays = compare_runs(SLOW, FAST, unit="ns")
    assert {**of_frames, "run_ids": ""} == {**of_arrays, "run_ids": ""} and of_frames["unit"] == "ns"
    assert of_frames["verdict"] == "different" and of_frames["flags"] == ""
    assert "logarithms of run values" in of_frames["statistic"] and of_frames["scope"] == "across_runs"
    paired = compare_runs(frame(SLOW), frame(FAST).iloc[::-1], paired=True)
    assert paired["n"] == 5 and paired["ratio"] == pytest.approx(of_frames["ratio"], rel=1e-3)


def test_paired_rounds_meet_by_number_and_lonely_ones_are_counted() -> None:
    first, second = frame(SLOW), frame(FAST)
    second["round"] = [2, 3, 4, 5, 6]
    result = compare_runs(first, second, paired=True)
    assert result["n"] == result["rounds"] == 4
    logs = np.log(np.array(SLOW[1:]) / np.array(FAST[:4]))
    assert result["ratio"] == pytest.approx(math.exp(logs.mean()))
    assert compare_runs(first.drop(columns="round"), second, paired=True)["flags"] == "no_values"


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
    result = compare_runs(first, frame(FAST).assign(**change), paired=paired)
    assert code in result["flags"]
    assert math.isnan(result["ratio"]) and math.isnan(result["p"]) and result["verdict"] == "inconclusive"


def test_zones_of_two_subscriptions_with_physical_zones_are_comparable() -> None:
    sides = [
        frame(values, subscription=name, zone="1", physical_zone="westeurope-az1")
        for values, name in ((SLOW, "a"), (FAST, "b"))
    ]
    assert compare_runs(*sides)["ratio"] > 0


def test_half_and_full_round_trips_are_one_quantity_only_in_the_columns_of_the_data_set() -> None:
    full, half = frame(SLOW), frame(FAST, printed_as="half_round_trip")
    assert compare_runs(full, half)["ratio"] > 0
    renamed = [side.rename(columns={"median_ns": "printed_us"}) for side in (full, half)]
    assert compare_runs(*renamed, value="printed_us")["flags"] == "unit_conflict"
    assert compare_runs(full, half["median_ns"].astype(float).to_list())["flags"] == "unit_conflict"


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
    result = compare_runs(a, b)
    assert code in result["flags"]
    assert result["verdict"] == "inconclusive" or code == "two_runs"
    assert not any(math.isinf(result[name]) for name in ("ratio", "ratio_low", "ratio_high", "p"))


def test_missing_values_are_left_out() -> None:
    result = compare_runs([1.0, 2.0, math.nan, 3.0], [1.0, None, 2.0, 4.0])
    assert (result["n_candidate"], result["n_base"]) == (3, 3)
    base, candidate = (pd.DataFrame({"median_ns": values}) for values in ([450e3, math.nan, 460e3], [570e3, 561e3]))
    assert compare_runs(candidate, base)["notes"] == "1 run without a median left out"


def test_constant_groups_that_differ_have_an_interval_only_at_a_known_resolution() -> None:
    result = compare_runs([42.0] * 10, [43.0] * 10)
    assert result["flags"] == "constant" and result["verdict"] == "inconclusive" and math.isnan(result["ratio_low"])
    assert math.isnan(result["p"])
    known = compare_runs([42.0] * 10, [43.0] * 10, resolution=1.0)
    assert (known["ratio_low"], known["ratio_high"]) == pytest.approx((41.5 / 43.5, 42.5 / 42.5))
    assert compare_runs([42.0] * 10, [45.0] * 10, resolution=1.0)["verdict"] == "different"
    assert compare_runs([42.0] * 4, [45.0] * 4, resolution=1.0)["verdict"] == "different"


#: Ten pings of each side, in µs: two slow runs on one, three on the other.
BASE = [610, 595, 600, 4510, 605, 590, 8510, 604, 612, 598]
CANDIDATE = [730, 705, 7100, 722, 741, 5300, 715, 735, 9100, 728]


def test_slow_runs_do_not_hide_a_change() -> None:
    """Ratio, difference, interval and p come from one estimator, which slow runs move little."""
    result = compare_runs([1e3 * time for time in CANDIDATE], [1e3 * time for time in BASE], unit="ns")
    assert result["verdict"] == "different" and result["p"] < 0.05 and result["p_beyond"] < 0.05
    assert 1.15 < result["ratio"] < 1.3 and result["ratio_low"] > 1.05
    assert result["difference"] == pytest.approx(604.5e3 * (result["ratio"] - 1)) and result["difference_low"] > 0
    turned = compare_runs([1e3 * time for time in BASE], [1e3 * time for time in CANDIDATE], unit="ns")
    assert turned["ratio"] == pytest.approx(1 / result["ratio"])


def test_runs_that_resemble_their_neighbours_are_flagged_and_no_more() -> None:
    rising = [100.0, 101, 102, 103, 104, 105, 106, 107, 108, 109]
    mixed = [rising[(3 * run) % 10] for run in range(10)]
    dependent, independent = (compare_runs(runs, [run - 6 for run in runs]) for runs in (rising, mixed))
    assert dependent["flags"] == "dependent_runs" and independent["flags"] == ""
    assert dependent["ratio_low"] == independent["ratio_low"]
    known_order = pd.DataFrame({"median_ns": mixed, "started_at": np.argsort(np.argsort(mixed))})
    assert (
        "dependent_runs"
        in compare_runs(known_order, known_order.assign(median_ns=known_order["median_ns"] - 6))["flags"]
    )


def test_the_verdict_follows_from_the_printed_intervals() -> None:
    from azlatency.stats.result import verdict_of

    random = np.random.default_rng(3)
    verdicts = set()
    for runs in (2, 3, 4, 5, 8, 12):
        for shift in (0.0, 0.03, 0.1):
            x, y = (np.exp(random.normal(at, 0.02, runs)) for at in (shift, 0.0))
            for result in (compare_runs(x, y), compare_runs(x, y, paired=True)):
                ends = [result[name] for name in ("ratio_low", "ratio_high", "inner_low", "inner_high")]
                assert result["verdict"] == verdict_of(*ends, result["margin"])
                verdicts.add(result["verdict"])
    assert verdicts == {"different", "different_within_margin", "equivalent", "inconclusive"}
    equal = az.compare([100.1, 100.9, 99.2, 100.4, 99.7, 100.0], [100.0, 101, 99, 100.5, 99.5, 100.2])
    assert list(equal["verdict"]) == ["equivalent"]
    assert "90 % CI" in az.say(equal), "the interval that decides is printed"


SIZES = (5, 6, 8, 10, 15, 20)


def decided(laws: list[tuple[float, float]], samples: int, correlation: float = 0.0) -> dict[tuple[float, float], Any]:
    """Return the shares of different and equivalent verdicts for (spread, true log ratio), at each of `SIZES`.

    The first runs of a longer sample are those of the shorter one.
    """
    random = np.random.default_rng(11)
    noise = [[correlated(random, max(SIZES), correlation) for _ in "ab"] for _ in range(samples)]
    shares = {}
    for spread, shift in laws:
        shares[spread, shift] = np.array(
            [
                np.mean(
                    [
                        [verdict.startswith("different"), verdict in ("equivalent", "different_within_margin")]
                        for x, y in noise
                        for verdict in [
                            compare_runs(np.exp(shift + spread * x[:runs]), np.exp(spread * y[:runs]))["verdict"]
                        ]
                    ],
                    axis=0,
                )
                for runs in SIZES
            ]
        )
    return shares


@pytest.mark.parametrize("samples", [pytest.param(600, marks=pytest.mark.slow)])
def test_more_runs_and_larger_changes_never_decide_less(samples: int) -> None:
    laws = [(0.02, 0.0), (0.035, 0.0), (0.035, 0.05), (0.035, 0.1)]
    shares = decided(laws, samples)
    allowed = 2 / math.sqrt(samples) / 10
    for law in laws[:2]:
        assert (np.diff(shares[law][:, 1]) >= -allowed).all(), "no change is shown more often with more runs"
    for law in laws[2:]:
        assert (np.diff(shares[law][:, 0]) >= -allowed).all(), "a change is shown more often with more runs"
    assert (shares[0.035, 0.1][:, 0] >= shares[0.035, 0.05][:, 0]).all()


@pytest.mark.costly
@pytest.mark.parametrize("samples", [60, pytest.param(600, marks=pytest.mark.slow)])
@pytest.mark.parametrize(("correlation", "limit"), thinned([(0.3, 0.10), (0.0, 0.05)], 2))
def test_wrong_differences_are_as_rare_as_promised(correlation: float, limit: float, samples: int) -> None:
    wrong = decided([(0.03, 0.0)], samples, correlation)[0.03, 0.0][:, 0]
    assert (wrong <= limit + 3 * math.sqrt(limit * (1 - limit) / samples)).all(), wrong


@pytest.mark.slow
def test_the_power_is_within_ten_points_of_welch() -> None:
    from scipy.stats import ttest_ind

    random = np.random.default_rng(12)
    for runs, spread, shift in ((5, 0.02, 0.05), (5, 0.05, 0.1), (10, 0.05, 0.05), (20, 0.05, 0.04)):
        ours = theirs = 0
        for _ in range(600):
            x, y = random.normal(shift, spread, runs), random.normal(0, spread, runs)
            ours += compare_runs(np.exp(x), np.exp(y))["verdict"].startswith("different")
            theirs += ttest_ind(x, y, equal_var=False).pvalue < 0.05
        # Two standard errors of the difference of two shares of the same samples.
        assert ours / 600 >= theirs / 600 - 0.1 - 0.025, (runs, spread, shift)


def test_three_runs_have_an_interval_and_few_runs() -> None:
    result = compare_runs([10.0, 10.1, 10.2], [20.0, 20.1, 20.3])
    assert result["verdict"] == "different" and result["flags"] == "few_runs"
    assert result["p"] < 0.05


@pytest.mark.parametrize("margin", ["5", "five", "2 miles", 0.0, -0.1, math.nan, "2 Gbit/s"])
def test_margins_that_are_none(margin: str | float) -> None:
    with pytest.raises(ValueError, match="margin"):
        compare_runs([1.0, 2.0], [1.0, 2.0], margin=margin)


def test_a_microsecond_is_never_a_practical_difference() -> None:
    values = np.array([16.0e3, 16.01e3, 16.02e3, 15.99e3, 16.0e3])
    result = compare_runs(values + 500.0, values, unit="ns", margin="1%")
    assert result["margin"] == pytest.approx(1000 / np.median(values))
    assert result["verdict"] == "different_within_margin"
    assert compare_runs(values + 500.0, values, unit="ns", margin="1%", floor=0)["verdict"] == "different"


def test_wrong_arguments_are_errors() -> None:
    with pytest.raises(KeyError, match="the columns are"):
        compare_runs(frame(SLOW), frame(FAST), value="nothing")
    with pytest.raises(ValueError, match="confidence"):
        compare_runs(SLOW, FAST, confidence=95)


def test_two_runs_that_differ_widely_have_an_interval_without_an_upper_end() -> None:
    result = compare_runs([1e3, 1e12], [1e3, 1e11], confidence=1 - 1e-4)
    assert result["verdict"] == "inconclusive" and result["ratio_low"] == 0 and result["ratio_high"] == math.inf
