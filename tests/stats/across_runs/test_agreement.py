"""One tool against another: oracles, real logs, refusals."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from helpers.cases import cases

import azlatency as az
from azlatency.stats.across_runs.agreement import agreement, bland_altman
from azlatency.stats.result import FLAGS


@pytest.mark.parametrize("case", cases("misc_latency", "agreement|"))
def test_the_agreement_of_two_tools_equals_the_oracle(case: dict[str, Any]) -> None:
    given, due, rel = case["input"], case["expected"], case["tolerance"]["rel"]
    result = bland_altman(given["qperf_half_rtt"], given["sockperf_half_rtt"])
    assert math.log(result["ratio"]) == pytest.approx(due["mean_log_ratio"], rel=rel)
    assert result["ratio"] == pytest.approx(due["geo_mean_ratio"], rel=rel)
    assert [result["ratio_low"], result["ratio_high"]] == pytest.approx(due["ci95_ratio"], rel=rel)
    assert [result["limit_low"], result["limit_high"]] == pytest.approx(due["limits_of_agreement_ratio"], rel=rel)
    assert [result["prediction_low"], result["prediction_high"]] == pytest.approx(
        due["loa_exact_t_prediction"], rel=rel
    )
    assert result["p"] == pytest.approx(due["tost_5pct_p"], rel=rel)
    assert result["verdict"] == "equivalent"


@pytest.mark.parametrize("case", cases("misc_latency", "seed004-ratios"))
def test_ratios_of_single_numbers_are_shown_and_not_judged(case: dict[str, Any]) -> None:
    given, due = case["input"], case["expected"]
    for name in ("cross_over_same", "region_over_same", "region_over_cross"):
        a, b = name.split("_over_")
        result = bland_altman([given[a]], [given[b]])
        assert result["ratio"] == pytest.approx(due[name], rel=case["tolerance"]["rel"])
        assert result["flags"] == "no_replication" and math.isnan(result["ratio_low"])
        assert result["verdict"] == "inconclusive"


def test_qperf_and_sockperf_agree_in_the_raw_logs(raw: Path, tmp_path: Path) -> None:
    """From the raw logs: qperf and sockperf agree within 5 %; the numbers are the oracle's."""
    az.import_study("westeurope-azure-cni", [raw / "westeurope-azure-cni"], out=tmp_path)
    (row,) = agreement(az.load("westeurope-azure-cni", processed=tmp_path)).methods.to_dict("records")
    assert (row["first"], row["second"], row["n"]) == ("qperf tcp_lat", "sockperf TCP 14 B", 5)
    assert row["ratio"] == pytest.approx(1.0098892552, rel=1e-6)
    assert row["verdict"] == "equivalent" and row["flags"] == "" and len(row["run_ids"].split()) == 10


def runs(method: str, values: list[float], **columns: Any) -> pd.DataFrame:
    rows = {"path": [f"p{i}" for i in range(len(values))], "round": 1, "method": method, "mean_ns": values,
            "protocol": "tcp", "message_bytes": 14, "closed_loop": True, "printed_as": "round_trip"}  # fmt: skip
    return pd.DataFrame({**rows, **columns})


A, B = [60e3, 700e3, 710e3, 38e3], [61e3, 705e3, 708e3, 38.2e3]


def both(**columns: Any) -> pd.DataFrame:
    return agreement(pd.concat([runs("one", A), runs("other", B, **columns)]).convert_dtypes()).methods


@pytest.mark.parametrize(
    ("columns", "differs"),
    [
        ({"protocol": "icmp"}, "protocol"),
        ({"closed_loop": False}, "pacing"),
        ({"message_bytes": 1400, "protocol": "udp"}, "protocol, message size"),
        ({"message_bytes": 1}, ""),
        ({"message_bytes": None, "protocol": None}, ""),
    ],
)
def test_other_packets_are_a_difference_of_definitions(columns: dict[str, Any], differs: str) -> None:
    found = both(**columns)
    (row,) = found.to_dict("records")
    assert row["differs_in"] == differs and ("type_p_mismatch" in row["flags"]) == bool(differs)
    assert row["ratio"] == pytest.approx(0.993, abs=0.01)
    assert ("not comparable" in az.say(found)) == bool(differs)
    assert differs or row["verdict"] == "equivalent"


def test_an_unknown_unit_is_not_compared() -> None:
    found = both(printed_as="unknown")
    (row,) = found.to_dict("records")
    assert math.isnan(row["ratio"]) and row["flags"] == "unit_unknown" and FLAGS["unit_unknown"] in az.say(found)
    assert list(both(printed_as="one_way")["flags"]) == ["unit_conflict"]
    assert list(both(printed_as="half_round_trip")["flags"]) == [""]  # the data set stores round trips


@pytest.mark.parametrize(
    ("x", "y", "code"),
    [([], [], "no_values"), ([1.0], [2.0], "no_replication"), ([1.0, 2.0], [1.1, 2.1], "two_runs"),
     ([1.0, 2.0], [2.0, 4.0], "constant"), ([0.0, 1.0], [1.0, 1.0], "not_positive"),
     ([math.nan, 1.0], [1.0, math.nan], "no_values")],
)  # fmt: skip
def test_hard_pairs(x: list[float], y: list[float], code: str) -> None:
    result = bland_altman(x, y)
    assert code in result["flags"].split()
    with pytest.raises(ValueError, match="pairs"):
        bland_altman([1.0], [1.0, 2.0])


def test_agreement_allows_for_the_printed_resolution() -> None:
    """Rounding to a step that the values cross is part of their spread; of equal values, half a step is not known."""
    x, y = [100.0, 101.0, 100.0, 102.0, 101.0], [100.0, 100.0, 100.0, 100.0, 100.0]
    exact, fine, coarse = (bland_altman(x, y, margin="2%", resolution=steps) for steps in ((0, 0), (0.5, 0), (0.5, 2)))
    assert exact["verdict"] == "equivalent" and coarse["verdict"] == "inconclusive"
    assert fine["ratio_low"] == pytest.approx(exact["ratio_low"], rel=1e-6)
    assert coarse["ratio_low"] == pytest.approx(exact["ratio_low"] * 0.99, rel=0.001)
    assert coarse["p"] > exact["p"]
