"""A VM against its specification, and one tool against another: oracles, real logs, refusals."""

from __future__ import annotations

import math
import tomllib
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from helpers.cases import cases

import azlatency as az
from azlatency.stats.across_runs.agreement import Agreement, agreement, bland_altman
from azlatency.stats.across_runs.baseline import (
    baseline,
    check_expectation,
    check_percentile,
    limits_of,
    tolerance_factor,
    vms_for_tolerance,
)
from azlatency.stats.result import CODES

# --- oracles


@pytest.mark.parametrize("case", cases("misc_latency", "spec|throughput"))
def test_specifications(case: dict[str, Any]) -> None:
    given, due, rel = case["input"], case["expected"], case["tolerance"]["rel"]
    result = check_expectation(given["x"], {"relation": "at_least", "low": given["limit"]}, confidence=given["conf"])
    assert result.status == due["verdict"]
    assert result.p_meets == pytest.approx(due.get("p", due.get("p_meets")), rel=rel)
    if "lower_conf_bound_mean" in due:
        assert result.low == pytest.approx(due["lower_conf_bound_mean"], rel=rel)
        assert tolerance_factor(5) == pytest.approx(due["normal_tolerance_factor_90_95"], rel=rel)
        assert result.every[0] == pytest.approx(due["lower_tolerance_bound"], rel=rel)
    else:
        assert result.p_fails == pytest.approx(due["p_fails"], rel=rel)
        assert (result.low, result.high) == pytest.approx(due["ci90"], rel=rel)
        assert result.decides is not None and result.decides > 5 and "would decide" in str(result)


@pytest.mark.parametrize("case", cases("misc_latency", "agreement|"))
def test_agreement(case: dict[str, Any]) -> None:
    given, due, rel = case["input"], case["expected"], case["tolerance"]["rel"]
    result = bland_altman(given["qperf_half_rtt"], given["sockperf_half_rtt"])
    assert math.log(result.ratio.estimate or 0) == pytest.approx(due["mean_log_ratio"], rel=rel)
    assert result.ratio.estimate == pytest.approx(due["geo_mean_ratio"], rel=rel)
    assert [result.ratio.low, result.ratio.high] == pytest.approx(due["ci95_ratio"], rel=rel)
    assert list(result.limits or ()) == pytest.approx(due["limits_of_agreement_ratio"], rel=rel)
    assert list(result.prediction or ()) == pytest.approx(due["loa_exact_t_prediction"], rel=rel)
    assert result.tost_p == pytest.approx(due["tost_5pct_p"], rel=rel)
    assert result.verdict == "equivalent" and result.agree


@pytest.mark.parametrize("case", cases("misc_latency", "seed004-ratios"))
def test_ratios_of_single_numbers_are_shown_and_not_judged(case: dict[str, Any]) -> None:
    given, due = case["input"], case["expected"]
    for name in ("cross_over_same", "region_over_same", "region_over_cross"):
        a, b = name.split("_over_")
        result = bland_altman([given[a]], [given[b]])
        assert result.ratio.estimate == pytest.approx(due[name], rel=case["tolerance"]["rel"])
        assert result.codes == ("no_replication",) and result.agree is None and result.ratio.low is None


# --- agreement of the tools in the logs


def test_the_tools_of_a_real_study(raw: Path, tmp_path: Path) -> None:
    """From the raw logs: qperf and sockperf agree within 5 %; the numbers are the oracle's."""
    az.import_study("westeurope-azure-cni", [raw / "westeurope-azure-cni"], out=tmp_path)
    (result,) = agreement(az.load("westeurope-azure-cni", processed=tmp_path))
    assert {result.first, result.second} == {"qperf tcp_lat", "sockperf TCP 14 B"} and result.pairs == 5
    ratio = result.ratio.estimate or 0
    assert (ratio if result.first.startswith("qperf") else 1 / ratio) == pytest.approx(1.0098892552, rel=1e-6)
    assert result.agree and not result.codes


def runs(method: str, values: list[float], **columns: Any) -> pd.DataFrame:
    rows = {"path": [f"p{i}" for i in range(len(values))], "round": 1, "method": method, "mean_ns": values,
            "protocol": "tcp", "message_bytes": 14, "closed_loop": True, "printed_as": "round_trip"}  # fmt: skip
    return pd.DataFrame({**rows, **columns})


A, B = [60e3, 700e3, 710e3, 38e3], [61e3, 705e3, 708e3, 38.2e3]


def both(**columns: Any) -> Agreement:
    (found,) = agreement(pd.concat([runs("one", A), runs("other", B, **columns)]).convert_dtypes())
    return found


@pytest.mark.parametrize(
    ("columns", "differs"),
    [
        ({"protocol": "icmp"}, ("protocol",)),
        ({"closed_loop": False}, ("pacing",)),
        ({"message_bytes": 1400}, ("message size",)),
        ({"message_bytes": 1}, ()),
        ({"message_bytes": None, "protocol": None}, ()),
    ],
)
def test_other_packets_are_a_difference_of_definitions(columns: dict[str, Any], differs: tuple[str, ...]) -> None:
    result = both(**columns)
    assert result.differs_in == differs
    assert ("type_p_mismatch" in result.codes) == bool(differs)
    assert result.ratio.estimate == pytest.approx(0.993, abs=0.01)
    if differs:
        assert result.agree is None and "not comparable" in str(result)
    else:
        assert result.agree is True


def test_an_unknown_unit_is_not_compared() -> None:
    result = both(printed_as="unknown")
    assert result.ratio.refused and result.codes == ("unit_unknown",) and CODES["unit_unknown"] in str(result)
    assert both(printed_as="one_way").codes == ("unit_conflict",)
    assert not both(printed_as="half_round_trip").codes  # the data set stores round trips


@pytest.mark.parametrize(
    ("x", "y", "code"),
    [([], [], "no_values"), ([1.0], [2.0], "no_replication"), ([1.0, 2.0], [1.1, 2.1], "two_runs"),
     ([1.0, 2.0], [2.0, 4.0], "constant"), ([0.0, 1.0], [1.0, 1.0], "not_positive"),
     ([math.nan, 1.0], [1.0, math.nan], "no_values")],
)  # fmt: skip
def test_hard_pairs(x: list[float], y: list[float], code: str) -> None:
    result = bland_altman(x, y)
    assert code in result.codes and str(result) and result.row()["codes"]
    with pytest.raises(ValueError, match="pairs"):
        bland_altman([1.0], [1.0, 2.0])


# --- specifications


def test_at_most_is_the_mirror_of_at_least() -> None:
    limit, values = 2.0e6, [1.7e6, 1.8e6, 1.75e6, 1.72e6]
    assert check_expectation(values, {"relation": "at_most", "high": limit, "unit": "ns"}).status == "meets"
    assert (
        check_expectation([4e6 - each for each in values], {"relation": "at_most", "high": limit, "unit": "ns"}).status
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
    assert result.status == "inconclusive" and "unit_slip" in result.codes and CODES["unit_slip"] in str(result)


def test_half_or_full_only_what_holds_for_both_is_said() -> None:
    wanted = {"relation": "between", "low": 40e3, "high": 50e3, "unit": "ns", "printed_as": "unknown"}
    result = check_expectation([44e3, 45e3, 46e3, 45e3], wanted)
    assert result.status == "inconclusive" and "unit_unknown" in result.codes
    assert check_expectation([400e3, 410e3, 405e3], wanted).status == "fails"


def test_short_tests_show_the_burst() -> None:
    wanted = {"relation": "at_least", "low": 4e9, "unit": "bit/s", "name": "bandwidth"}
    frame = pd.DataFrame({"throughput": [11.8e9, 11.7e9, 11.9e9], "duration_ns": [10e9, 10e9, 10e9]})
    result = check_expectation(frame, wanted)
    assert result.status == "meets" and result.ratio == pytest.approx(2.95) and "burst_test" in result.codes
    assert "burst_test" not in check_expectation(frame.assign(duration_ns=120e9), wanted).codes


@pytest.mark.parametrize(
    ("values", "code"),
    [([], "no_values"), ([5.0], "no_replication"), ([5.0, 5.1], "two_runs"), ([5.0] * 3, "constant"),
     ([math.nan], "no_values")],
)  # fmt: skip
def test_hard_specifications(values: list[float], code: str) -> None:
    result = check_expectation(values, {"relation": "at_least", "low": 4.0})
    assert code in result.codes and str(result) and result.row()["codes"]
    assert result.status == "inconclusive" or code == "two_runs"


@pytest.mark.parametrize(
    "wanted",
    [{}, {"relation": "more"}, {"relation": "at_least"}, {"relation": "between", "low": 5, "high": 1},
     {"relation": "between", "low": 5}, {"relation": "about"}],
)  # fmt: skip
def test_senseless_expectations_are_errors(wanted: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"relation|limits"):
        limits_of(wanted)


def test_percentiles_without_or_with_dependence() -> None:
    assert check_percentile(0, 0, 0.99).codes == ("no_values",)
    with pytest.raises(ValueError, match="above"):
        check_percentile(5, 3, 0.99)
    plain, dependent = check_percentile(20, 40_000, 0.999), check_percentile(20, 40_000, 0.999, n_effective=2000)
    assert plain is not None and dependent is not None
    assert (plain.status, dependent.status) == ("meets", "inconclusive") and dependent.high > plain.high
    none = check_percentile(0, 100, 0.9)
    assert none is not None and none.low == 0.0 and none.status == "meets"
    everything = check_percentile(100, 100, 0.9)
    assert everything is not None and everything.high == 1.0 and everything.status == "fails"
    assert vms_for_tolerance() == 59


def test_the_baseline_of_a_page_against_runs(raw: Path) -> None:
    file = raw / "cassandra-vm-baseline" / "baseline.toml"
    wanted = tomllib.loads(file.read_text("utf-8"))["expectation"]
    for each in wanted:
        low, high = limits_of(each)
        assert low is not None or high is not None
    frame = pd.DataFrame(
        {"metric": ["throughput"] * 6, "value": [11.0e9, 11.1e9, 10.9e9, 5e9, 5.1e9, 4.9e9], "tool": "iperf3",
         "path": ["a"] * 3 + ["b"] * 3}
    )  # fmt: skip
    found = baseline(frame, wanted)
    by_path = {(each.what, each.labels.get("path")): each.status for each in found}
    assert by_path["network throughput, client to node", "a"] == "meets"
    assert by_path["network throughput, client to node", "b"] == "fails"
    nothing = [each for each in found if each.labels["metric"] == "iops"]
    assert nothing and all(each.codes == ("no_values",) for each in nothing)


def test_the_traffic_within_a_host_is_no_network(raw: Path, tmp_path: Path) -> None:
    az.import_study("westeurope-azure-cni", [raw / "westeurope-azure-cni"], out=tmp_path)
    study = az.load("westeurope-azure-cni", processed=tmp_path)
    found = baseline(study)
    assert found and not any("single" in str(each.labels.get("path", "")).lower() for each in found)
    assert all(each.status == "inconclusive" and "no_replication" in each.codes for each in found)
    assert all(each.ratio is not None and each.ratio > 1 for each in found)


def test_traffic_inside_one_host_is_not_compared_with_a_baseline() -> None:
    """15 Gbit/s through a 10 Gbit/s card: the two ends of that run are on one host."""
    runs = pd.DataFrame(
        {"metric": ["throughput"] * 2, "value": [15.1e9, 9.4e9], "placement": ["same_host", "cross_zone"]}
    )
    expected = [{"metric": "throughput", "relation": "at_most", "high": 10e9, "unit": "bit/s"}]
    (result,) = baseline(runs, expected)
    assert result.mean == 9.4e9
