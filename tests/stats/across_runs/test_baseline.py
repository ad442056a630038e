"""A VM against its specification: oracles, real logs, refusals."""

from __future__ import annotations

import math
import tomllib
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from helpers.cases import cases

import azlatency as az
from azlatency.stats.across_runs.baseline import baseline, limits_of
from azlatency.stats.across_runs.baseline import check_expectation as check_frame
from azlatency.stats.across_runs.typical_run import typical_run


def check_expectation(*args: Any, **keywords: Any) -> Any:
    """Return the only row."""
    (row,) = check_frame(*args, **keywords).itertuples()
    return row


@pytest.mark.parametrize("case", cases("misc_latency", "spec|throughput"))
def test_specifications(case: dict[str, Any]) -> None:
    """The verdicts of the oracle; the bounds are those that every other page prints of these runs."""
    given, due = case["input"], case["expected"]
    result = check_expectation(given["x"], {"relation": "at_least", "low": given["limit"]}, confidence=given["conf"])
    assert result.status == due["verdict"]
    typical = typical_run(given["x"], confidence=2 * given["conf"] - 1)
    assert (result.estimate, result.low, result.high) == (typical["estimate"], typical["low"], typical["high"])
    if due["verdict"] == "inconclusive":
        assert result.decides > 5


def test_counts_of_which_some_are_0_are_checked_from_six_runs_on() -> None:
    wanted = {"relation": "at_most", "high": 10, "unit": "count"}
    result = check_expectation([0, 0, 1, 2, 0, 3, 1], wanted)
    assert (result.status, result.estimate, result.low) == ("meets", 1.0, 0.0)
    assert check_expectation([0, 0, 1, 2, 0], wanted).flags == "not_positive"
    # No reply comes at once.
    assert "not_positive" in check_expectation([0, 0, 1, 2, 0, 3, 1], {**wanted, "unit": "ns"}).flags
    assert typical_run([0, 0, 1, 2, 0, 3, 1])["flags"] == "not_positive"


def runs(method: str, values: list[float], **columns: Any) -> pd.DataFrame:
    rows = {"path": [f"p{i}" for i in range(len(values))], "round": 1, "method": method, "mean_ns": values,
            "protocol": "tcp", "message_bytes": 14, "closed_loop": True, "printed_as": "round_trip"}  # fmt: skip
    return pd.DataFrame({**rows, **columns})


def test_equal_runs_are_decided_within_their_resolution() -> None:
    """Five runs of 11.0 printed in steps of 0.1 against "at least 10"; without the resolution nothing is known."""
    frame = pd.DataFrame({"throughput_bit_s": [11.0e9] * 5, "throughput_bit_s_resolution": 0.1e9, "duration_ns": 120e9})
    wanted = {"relation": "at_least", "low": 10e9, "unit": "bit/s"}
    result = check_expectation(frame, wanted)
    assert result.status == "meets" and result.low == pytest.approx(10.95e9)
    assert check_expectation(frame, {**wanted, "low": 10.97e9}).status == "inconclusive"
    assert check_expectation(frame.drop(columns="throughput_bit_s_resolution"), wanted).status == "inconclusive"


def test_from_six_runs_the_median_run_is_checked() -> None:
    """One slow run of eight does not hide that the others meet the limit."""
    wanted = {"relation": "at_most", "high": 1.1e6, "unit": "ns"}
    result = check_expectation([1e6, 1.01e6, 0.99e6, 1.02e6, 9e6, 1e6, 1.03e6, 0.98e6], wanted)
    assert result.status == "meets" and result.estimate == 1.005e6 and "median run" in result.statistic
    assert 0.98e6 < result.low < 1e6 < result.high < 1.1e6
    assert check_expectation([1.2e6, 1.3e6, 1.25e6, 1.22e6, 1.21e6, 1.4e6], wanted).status == "fails"


def test_at_most_is_the_mirror_of_at_least() -> None:
    limit, values = 2.0e6, [1.7e6, 1.8e6, 1.75e6, 1.72e6]
    assert check_expectation(values, {"relation": "at_most", "high": limit, "unit": "ns"}).status == "meets"
    assert (
        check_expectation([4e6 - rtt for rtt in values], {"relation": "at_most", "high": limit, "unit": "ns"}).status
        == "fails"
    )
    assert check_expectation([1.9e6, 2.2e6, 2.0e6], {"relation": "at_most", "high": limit}).status == "inconclusive"


def test_between_needs_both_sides() -> None:
    wanted = {"relation": "between", "low": 40e3, "high": 50e3, "unit": "ns", "name": "network latency"}
    assert check_expectation([44e3, 45e3, 46e3, 45e3], wanted).status == "meets"
    assert check_expectation([30e3, 31e3, 30.5e3], wanted).status == "fails"
    assert check_expectation([49e3, 51e3, 50e3], wanted).status == "inconclusive"
    about = check_expectation(
        [10.9e9, 11.1e9, 11.0e9], {"relation": "about", "low": 11e9, "high": 11e9, "unit": "bit/s"}
    )
    assert about.status == "meets" and (about.limit_low, about.limit_high) == pytest.approx((9.9e9, 12.1e9))


def test_a_slip_of_units_is_not_judged() -> None:
    """Seed 003: "40-50ms" between two VMs of one region."""
    wanted = {"relation": "between", "low": 40e6, "high": 50e6, "unit": "ns", "printed": "40-50ms"}
    result = check_expectation([84e3, 86e3, 85e3], wanted)
    assert result.status == "inconclusive" and result.flags.split()[0] == "unit_slip"


def test_an_unknown_unit_is_judged_only_where_half_and_full_round_trips_agree() -> None:
    wanted = {"relation": "between", "low": 40e3, "high": 50e3, "unit": "ns", "printed_as": "unknown"}
    result = check_expectation([44e3, 45e3, 46e3, 45e3], wanted)
    assert result.status == "inconclusive" and "limit_unit_unknown" in result.flags
    assert check_expectation([400e3, 410e3, 405e3], wanted).status == "fails"


def test_short_tests_show_the_burst() -> None:
    wanted = {"relation": "at_least", "low": 4e9, "unit": "bit/s", "name": "bandwidth"}
    frame = pd.DataFrame({"throughput_bit_s": [11.8e9, 11.7e9, 11.9e9], "duration_ns": [10e9, 10e9, 10e9]})
    result = check_expectation(frame, wanted)
    assert result.status == "meets" and result.ratio == pytest.approx(2.95) and "burst_test" in result.flags
    assert "burst_test" not in check_expectation(frame.assign(duration_ns=120e9), wanted).flags


@pytest.mark.parametrize(
    ("values", "code"),
    [([], "no_values"), ([5.0], "no_replication"), ([5.0, 5.1], "two_runs"), ([5.0] * 3, "constant"),
     ([math.nan], "no_values")],
)  # fmt: skip
def test_hard_specifications(values: list[float], code: str) -> None:
    result = check_expectation(values, {"relation": "at_least", "low": 4.0})
    assert code in result.flags.split()
    assert result.status == "inconclusive" or code == "two_runs"


@pytest.mark.parametrize(
    "wanted",
    [{}, {"relation": "more"}, {"relation": "at_least"}, {"relation": "between", "low": 5, "high": 1},
     {"relation": "between", "low": 5}, {"relation": "about"}],
)  # fmt: skip
def test_senseless_expectations_are_errors(wanted: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"relation|limits"):
        limits_of(wanted)


def test_the_baseline_of_a_page_against_runs(raw: Path) -> None:
    file = raw / "cassandra-vm-baseline" / "baseline.toml"
    wanted = tomllib.loads(file.read_text("utf-8"))["expectation"]
    for expectation in wanted:
        low, high = limits_of(expectation)
        assert low is not None or high is not None
    frame = pd.DataFrame(
        {
            "metric": ["throughput"] * 6,
            "value": [11.0e9, 11.1e9, 10.9e9, 5e9, 5.1e9, 4.9e9],
            "tool": "iperf3",
            "path": ["a"] * 3 + ["b"] * 3,
        }
    )
    results = baseline(frame, wanted)
    by_path = results.set_index(["what", "path"])["status"]
    assert by_path["network throughput, client to node", "a"] == "meets"
    assert by_path["network throughput, client to node", "b"] == "fails"
    nothing = results[results["metric"] == "iops"]
    assert len(nothing) and set(nothing["flags"]) == {"no_values"} and nothing["estimate"].isna().all()


def test_traffic_within_a_host_is_not_evidence_about_the_network(raw: Path, tmp_path: Path) -> None:
    az.import_study("westeurope-azure-cni", [raw / "westeurope-azure-cni"], out=tmp_path)
    study = az.load("westeurope-azure-cni", processed=tmp_path)
    results = baseline(study)
    assert len(results) and not results["path"].str.contains("single", case=False).any()
    assert set(results["status"]) == {"inconclusive"} and results["flags"].str.contains("no_replication").all()
    assert (results["ratio"] > 1).all()


def test_traffic_inside_one_host_is_not_compared_with_a_baseline() -> None:
    """15 Gbit/s through a 10 Gbit/s card: the two ends of that run are on one host."""
    runs = pd.DataFrame(
        {"metric": ["throughput"] * 2, "value": [15.1e9, 9.4e9], "placement": ["same_host", "cross_zone"]}
    )
    expected = [{"metric": "throughput", "relation": "at_most", "high": 10e9, "unit": "bit/s"}]
    assert list(baseline(runs, expected)["estimate"]) == [9.4e9]
