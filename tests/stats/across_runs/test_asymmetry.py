"""Asymmetry between zones: oracles, what an emulated network of known truth shows, and what it must not show."""

from __future__ import annotations

import json
import math
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from helpers.cases import cases, content, stream
from helpers.directed_rounds import NO_COST, ONE_WAY, SLOW_WAY, rounds_of
from helpers.studies import load

import azlatency as az
from azlatency.stats.across_runs.asymmetry import Asymmetry, asymmetry
from azlatency.stats.across_runs.comparison import Setting, Sides, compare_rounds
from azlatency.stats.across_runs.run_values import run_values
from azlatency.stats.across_runs.two_groups import student_interval
from azlatency.stats.result import FLAGS


@pytest.mark.parametrize("case", cases("asymmetry_matrix", "paired-rounds|"))
def test_rounds(case: dict[str, Any]) -> None:
    d, due = case["input"]["log_ratio"], case["expected"]
    for name, values in d.items():
        array = np.array(values)
        sides = [replace(run_values(side), order="unknown") for side in (np.exp(array), np.ones(len(array)))]
        result = compare_rounds(Sides(*sides), Setting("2%", floor=0.0, what=name))
        assert student_interval(array, 0.95) == pytest.approx(due["t_ci95"][name], rel=1e-9)
        assert result["ratio"] == pytest.approx(math.exp(due["hodges_lehmann"][name]), rel=1e-9)
        assert result["p"] < 0.05 or due["signflip_exact_p_mean_stat"][name] > 0.01


def test_a_slow_direction_is_invisible_to_round_trips() -> None:
    found = asymmetry(rounds_of(SLOW_WAY, NO_COST, 8, 0.002, 1))
    assert list(found.methods["different"]) == list(found.methods["inconclusive"]) == [0]
    assert found.pairs["flags"].str.contains("initiator_only").all()
    assert FLAGS["initiator_only"] in az.say(found.methods) and FLAGS["initiator_only"] in az.say(found.pairs)


def test_one_direction_of_each_pair_still_gives_an_order() -> None:
    """Seed 001: medians of one direction, one run each; nothing is judged."""
    values = {("1", "1"): 33.408, ("1", "2"): 52.745, ("1", "3"): 700.618, ("2", "3"): 711.131}
    frame = pd.DataFrame(
        [{"path": "x", "zone": i, "peer_zone": j, "median_ns": 2e3 * value} for (i, j), value in values.items()]
    )
    found = asymmetry(frame)
    assert found.pairs.empty and FLAGS["one_direction"] in az.say(found.methods)
    assert found.order["rank"].isna().all()
    assert list(found.order["what"]) == ["zone 1 - zone 2", "zone 1 - zone 3", "zone 2 - zone 3"]


def test_too_many_pairs_are_not_ranked() -> None:
    """Fifteen zones have 105 pairs: 5,460 tests for ranks that nobody reads."""
    rows = [
        {"path": "x", "zone": str(i), "peer_zone": str(j), "median_ns": 1e5 * (i + j), "round": round_}
        for i in range(15) for j in range(15) if i != j for round_ in range(2)
    ]  # fmt: skip
    found = asymmetry(pd.DataFrame(rows))
    assert found.order.empty and len(found.pairs) == 105


def test_zones_without_a_path_are_ends_too() -> None:
    found = asymmetry(rounds_of(ONE_WAY, NO_COST, 6, 0.01, 7).drop(columns="path"))
    assert set(found.cells["from"]) == {"zone az1", "zone az2", "zone az3"} and len(found.pairs) == 3


@pytest.mark.parametrize(
    ("columns", "code"),
    [({"printed_as": "unknown"}, "unit_unknown"), ({"median_ns": 0.0}, "not_positive"), ({"path": "?"}, "no_values")],
)
def test_matrices_that_are_refused(columns: dict[str, Any], code: str) -> None:
    frame = rounds_of(ONE_WAY, NO_COST, 3, 0.01, 8).assign(**columns)
    if code == "no_values":
        frame = frame.drop(columns=["zone", "peer_zone"])
    found = asymmetry(frame)
    assert code in found.methods["flags"].iloc[0] and "not estimable" in az.say(found.methods)
    assert found.pairs.empty and found.cells.empty and found.order.empty


def test_logical_zones_of_two_subscriptions_are_refused() -> None:
    frame = rounds_of(ONE_WAY, NO_COST, 4, 0.01, 9)
    frame["subscription"] = ["a" if number % 2 else "b" for number in frame["round"]]
    assert "logical_zone" in asymmetry(frame).methods["flags"].iloc[0]


def test_counters_of_the_whole_machine_are_flagged() -> None:
    random = stream(11)
    rows = [
        {
            "path": path,
            "zone": path[2],
            "peer_zone": path[-2],
            "round": at,
            "retransmits": int(random.poisson(mean)),
            "retransmits_scope": "host",
        }
        for at in range(1, 9)
        for path, mean in (("az1a → az2a", 0.3), ("az2a → az1a", 200))
    ]
    found = asymmetry(pd.DataFrame(rows), metric="retransmits", value="retransmits")
    assert "host_wide_counter" in found.methods["flags"].iloc[0]
    assert "host_wide_counter" in found.pairs["flags"].iloc[0]
    assert list(found.pairs["verdict_alone"]) == ["different"]  # zero counts are values, too


def test_three_zones_and_eight_rounds_are_quick() -> None:
    frame = rounds_of(ONE_WAY, NO_COST, 8, 0.01, 13)
    asymmetry(frame)  # imports
    start = time.process_time()
    asymmetry(frame)
    assert time.process_time() - start < 0.2


@pytest.fixture(scope="module")
def emulated() -> az.Study:
    return load("emulated-zones")


@pytest.fixture(scope="module")
def results(emulated: az.Study) -> Asymmetry:
    """The results of all metrics."""
    return asymmetry(emulated)


@pytest.fixture(scope="module")
def truth(raw: Path) -> dict[str, Any]:
    truth: dict[str, Any] = json.loads((raw / "emulated-zones" / "truth.json").read_text("utf-8"))
    return truth["links"]


def test_the_slow_data_direction_of_the_emulated_network_is_found(emulated: az.Study, truth: dict[str, Any]) -> None:
    due = truth["az2a->az3a"]["rate_mbit_s"] / truth["az3a->az2a"]["rate_mbit_s"]
    assert due == 2
    found = asymmetry(emulated, metric="throughput")
    pairs = found.pairs[~found.pairs["same_zone"]]
    is_slow = pairs["what"] == "az2a → az3a over back"
    slow = pairs[is_slow].set_index("method")
    assert set(slow.index) == {"ntttcp (sender)", "iperf3 TCP"}
    assert set(slow["verdict_alone"]) == {"different"} and (slow["p"] < 0.05).all()
    assert list(slow["ratio"]) == pytest.approx([due, due], rel=0.1)
    assert not pairs.loc[~is_slow, "verdict"].str.startswith("different").any()
    # Three rounds of ntttcp have Student's t.
    assert "few_runs" in slow.loc["ntttcp (sender)", "flags"] and "few_runs" not in slow.loc["iperf3 TCP", "flags"]
    assert not slow["flags"].str.contains("initiator_only").any()


def test_the_slow_one_way_delay_of_the_emulated_network_is_invisible(results: Asymmetry, truth: dict[str, Any]) -> None:
    assert truth["az3a->az2a"]["base_us"] - truth["az2a->az3a"]["base_us"] == 120
    pairs = results.pairs
    tested = pairs[(pairs["metric"] == "latency") & (pairs["what"] == "az2a → az3a over back") & (pairs["n"] >= 3)]
    assert {method.split()[0] for method in tested["method"]} == {"echo", "lagscope", "ping", "qperf", "sockperf"}
    assert set(tested["verdict"]) <= {"equivalent", "inconclusive"}
    assert tested["flags"].str.contains("initiator_only").all() and tested["difference_low"].notna().all()
    # If round trips showed it, the difference would be 120 us; the interval is far from that.
    assert (tested["difference"].abs() < 40e3).all()


def test_the_ranks_of_the_emulated_paths_are_their_order(results: Asymmetry) -> None:
    order = {"az1a - az2a": 1, "az1a - az3a": 2, "az2a - az3a": 3}  # 120, 700 and 720 us of programmed delay
    ranked = results.order[results.order["rank"].notna()]
    assert len(ranked) > 5
    for what, rank in zip(ranked["what"], ranked["rank"], strict=True):
        assert rank == order[" - ".join(sorted(what.split(" - ")))]  # the echo test ran in one direction only


def test_ntttcp_counts_for_the_whole_machine(emulated: az.Study) -> None:
    flags = asymmetry(emulated, metric="retransmits").methods.set_index("method")["flags"]
    assert "host_wide_counter" in flags["ntttcp (sender)"] and "host_wide_counter" not in flags["iperf3 TCP"]


def test_each_direction_has_its_typical_value(emulated: az.Study, results: Asymmetry) -> None:
    cells = results.cells[results.cells["metric"] == "latency"].set_index(["method", "what"])
    runs = az.latency(emulated)
    medians = runs.groupby(["method", "path"])["median_ns"].median()
    for method, path in (("sockperf TCP 14 B", "az1a → az3a"), ("ping 56 B", "az2a → az1a")):
        assert cells.loc[(method, path), "estimate"] == pytest.approx(medians[method, path])


def test_a_study_without_runs_has_no_directions(raw: Path, tmp_path: Path) -> None:
    az.import_study("cassandra-vm-baseline", [raw / "cassandra-vm-baseline"], out=tmp_path)
    found = asymmetry(az.load("cassandra-vm-baseline", processed=tmp_path))
    assert all(frame.empty for frame in found) and az.say(found.methods) == ""


def test_every_method_and_every_pair_is_a_sentence(results: Asymmetry) -> None:
    lines = az.say(results.methods).splitlines()
    assert lines[0].startswith(
        "latency, sockperf TCP 14 B: initiators are practically equivalent in 3 pairs, 12 rounds"
    )
    pairs = az.say(results.pairs).splitlines()
    assert len(pairs) > len(results.pairs) and pairs[0].startswith("az1a → az2a over back: practically equivalent")


def test_the_oracles_have_no_case_that_is_not_tested_here() -> None:
    tested = ("paired-rounds", "paired-tost", "min-attainable-p", "zone-align")
    assert not [case["id"] for case in content("asymmetry_matrix")["cases"] if not case["id"].startswith(tested)]
