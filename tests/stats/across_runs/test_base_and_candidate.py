"""A candidate against a base."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from helpers.studies import load

import azlatency as az
from azlatency import compare

BASE, CANDIDATE = [450e3, 440e3, 460e3, 455e3], [570e3, 561e3, 580e3, 566e3]


def test_a_slower_candidate_has_a_ratio_above_one() -> None:
    found = az.compare(BASE, CANDIDATE, unit="ns")
    (row,) = found.to_dict("records")
    assert row["ratio"] == pytest.approx(1.26, abs=0.01) and row["superiority"] == 1
    assert az.say(found) == "candidate against base: 1.26× slower, 95 % CI 1.22–1.31, 4 against 4 runs"
    assert list(az.compare(CANDIDATE, BASE, unit="ns")["ratio"]) == pytest.approx([1 / row["ratio"]])


def test_superiority_counts_ties_half() -> None:
    # Of the nine pairs, the candidate is larger in five and equal in two.
    assert list(az.compare([1.0, 2.0, 3.0], [2.0, 3.0, 2.5])["superiority"]) == pytest.approx([6 / 9])


def test_each_path_and_method_of_both_sides_has_a_row() -> None:
    runs = az.latency(load("emulated-zones"))
    first, last = runs[runs["round"] <= 6], runs[runs["round"] > 6]
    rows = az.compare(first, last, by="path")
    both = set(first.groupby(["path", "method"]).groups) & set(last.groupby(["path", "method"]).groups)
    assert set(zip(rows["path"], rows["method"], strict=True)) == both
    one = rows.iloc[0]
    old, new = (
        side[(side["path"] == one["path"]) & (side["method"] == one["method"])]["median_ns"] for side in (first, last)
    )
    assert one["ratio"] == pytest.approx((new.median() / old.median()), rel=0.05)
    assert one["superiority"] == pytest.approx((new.to_numpy()[:, None] > old.to_numpy()).mean(), abs=0.05)
    assert (one["n_base"], one["n_candidate"]) == (len(old), len(new))


def test_a_comparison_without_rows_has_the_columns_of_one_with_rows() -> None:
    runs = az.latency(load("emulated-zones"))
    other = runs.assign(path="elsewhere")
    assert az.compare(runs, other, by="path").columns.tolist() == az.compare(runs, runs, by="path").columns.tolist()


def test_other_values_and_missing_columns() -> None:
    runs = az.latency(load("emulated-cloud"))
    tails = az.compare(runs[runs["round"] <= 6], runs[runs["round"] > 6], by=["path"], value="p99_ns", what="")
    assert len(tails) == 18 and tails["ratio"].notna().all()
    with pytest.raises(KeyError, match="unknown column"):
        az.compare(pd.DataFrame({"median_ns": BASE}), pd.DataFrame({"median_ns": CANDIDATE}), by="path")


# --- fields that may differ


def congested(algorithm: str, *rates: float, scenario: str | None = None) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "path": "a → b", "client_end": "a", "server_end": "b", "method": "iperf3 TCP", "tool": "iperf3",
            "test": "stream", "protocol": "tcp", "message_bytes": np.nan, "connections": 1.0, "unknown": "",
            "settings": f"congestion {algorithm}", "command": "iperf3", "side": "receiver", "scenario": scenario,
            "throughput_bit_s": [1e6 * rate for rate in rates],
        }
    )  # fmt: skip


CUBIC, VEGAS = congested("cubic", 93, 94, 93.5, 94.2), congested("vegas", 70, 71, 70.5, 69.8)


def test_a_field_that_is_the_question_may_differ() -> None:
    refused = compare(CUBIC, VEGAS)
    assert list(refused["flags"]) == ["type_p_mismatch"] and refused["ratio"].isna().all()
    for across in ("congestion", "settings", ["congestion", "connections"]):
        asked = compare(CUBIC, VEGAS, across=across)
        assert list(asked["verdict"]) == ["different"] and list(asked["ratio"]) == pytest.approx([0.75], rel=0.01)


def test_all_other_fields_must_be_equal() -> None:
    found = compare(CUBIC, VEGAS.assign(connections=8.0), across="congestion")
    assert list(found["flags"]) == ["type_p_mismatch"]


def test_within_a_side_the_field_must_be_equal() -> None:
    both = pd.concat([CUBIC, VEGAS], ignore_index=True)
    assert list(compare(CUBIC, both, across="congestion")["flags"]) == ["type_p_mismatch"]


def test_an_unknown_field_is_an_error_that_names_the_fields() -> None:
    with pytest.raises(ValueError, match=r"unknown field 'congestio'; did you mean 'congestion'"):
        compare(CUBIC, VEGAS, across="congestio")


def test_every_two_scenarios_of_a_frame_are_compared_at_a_common_level() -> None:
    scenarios = {"cubic": (93, 94, 93.5, 94.2), "bbr": (93.1, 93.9, 93.6, 94.0), "vegas": (70, 71, 70.5, 69.8)}
    runs = pd.concat(
        [congested("cubic", *rates, scenario=name) for name, rates in scenarios.items()], ignore_index=True
    )
    found = compare(runs, across="scenario")
    assert found.set_index(["base", "candidate"])["verdict"].to_dict() == {
        ("cubic", "bbr"): "equivalent",
        ("cubic", "vegas"): "different",
        ("bbr", "vegas"): "different",
    }
    assert set(found["confidence"].round(4)) == {0.9833}
    by_setting = compare(pd.concat([CUBIC, VEGAS], ignore_index=True), across="settings")
    assert list(by_setting["candidate"]) == ["congestion vegas"]


def test_scenarios_that_are_settings_of_the_log_are_compared_too() -> None:
    both = [CUBIC.assign(scenario="cubic"), VEGAS.assign(scenario="vegas")]
    named = [side.assign(method=f"iperf3 TCP {side['settings'].iloc[0]}") for side in both]
    found = compare(pd.concat(named, ignore_index=True), across="scenario")
    assert list(found["verdict"]) == ["different"]
    assert list(found["what"]) == ["vegas against cubic: a → b, iperf3 TCP"]
