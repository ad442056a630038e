"""Pairs that differ in one thing: what is paired, what is refused, what contradicts itself."""

from __future__ import annotations

from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import pandas as pd
import pytest
from helpers.studies import load

import azlatency as az
from azlatency.stats.across_runs.placement import Factor, changes, conditions, contradicting, widest_methods

COLUMNS = ["scenario", "tool", "metric", "segment", "value_low", "value_high", "repeats", "placement", "vm_size",
           "accelerated_networking", "region", "peer_region", "zone", "peer_zone"]  # fmt: skip


def measured(
    path: str = "A → B", placement: str = "same_zone", values: Sequence[float] = (100.0,), **known: Any
) -> Any:
    """Return the runs of a path."""
    blank = {"vm_size": None, "accelerated_networking": None, "message_bytes": 14, "method": "sockperf TCP"}
    named = {"tool": "sockperf", "test": None, "protocol": "tcp", "path": path, "placement": placement}
    named |= dict.fromkeys(("region", "peer_region", "zone", "peer_zone"))
    rows = [
        {**named, **blank, **known, "median_ns": value, "mean_ns": value, "started_at": at}
        for at, value in enumerate(values)
    ]
    return pd.DataFrame(rows)


def frame(*runs: pd.DataFrame) -> pd.DataFrame:
    every = pd.concat(runs, ignore_index=True)
    return every.set_axis(pd.Index([f"run-{at}" for at in range(len(every))], name="run_id"))


def text(**row: Any) -> pd.DataFrame:
    """Return the numbers that a text reports."""
    return pd.DataFrame([{"metric": "rtt_mean", **row}] if row else [], columns=COLUMNS)


def found(*runs: pd.DataFrame, factor: Factor, reported: pd.DataFrame | None = None) -> pd.DataFrame:
    study: Any = SimpleNamespace(reported=text() if reported is None else reported)
    every = frame(*runs)
    return changes(conditions(study, every), every, factor)


def test_the_seeds() -> None:
    study = load("canadacentral-proximity-placement")
    runs = az.latency(study)
    levels = conditions(study, runs)
    assert (levels["origin"] == "log").sum() == 1
    fast = changes(levels, runs, "accelerated_networking")
    (same_zone,) = fast[fast["placement"] == "same_zone"].to_dict("records")
    assert same_zone["measured_low"] == pytest.approx(55 / 308.55)
    assert same_zone["measured_high"] == pytest.approx(61.09 / 308.55)
    assert fast["ratio"].isna().all() and (fast["origin"] == "reported").all()
    sizes = changes(levels, runs, "vm_size")
    assert set(zip(sizes["base_vm_size"], sizes["vm_size"], strict=True)) == {("Standard_D2s_v3", "Standard_D4s_v3")}
    # The text reports 2130.93 for the run whose log prints 2026.40: the log counts.
    (logged,) = levels[levels["origin"] == "log"].to_dict("records")
    assert logged["superseded"] == 2130930 and logged["lowest"] == logged["highest"] == 2026400.0
    assert (levels["path"] == logged["path"]).sum() == 1
    assert (sizes["unsaid"] == "accelerated_networking").all()


def test_segments_of_a_reported_run_are_not_conditions() -> None:
    study = load("uksouth-echo-latency")
    runs = az.latency(study)
    levels = conditions(study, runs)
    assert list(levels["path"]) == ["Same AZ", "Cross AZ", "Cross Region"]
    assert list(changes(levels, runs, "placement")["measured_low"]) == pytest.approx([1425 / 850, 5300 / 850])


def test_ping_and_sockperf_of_the_first_study_contradict_each_other() -> None:
    study = load("westeurope-availability-set-vs-zones")
    runs = az.latency(study)
    steps = changes(conditions(study, runs), runs, "placement")
    assert (steps["flags"] == "no_replication").all()
    pairs = contradicting(steps)
    assert len(pairs) == 2 and set(pairs["method_faster"]) == {"ping"}


def test_single_runs_give_no_interval_and_repeats_do() -> None:
    far = measured("A → C", "cross_zone", (200e3, 204e3, 198e3))
    (step,) = found(measured(values=(100e3, 102e3, 99e3)), far, factor="placement").to_dict("records")
    assert step["ratio_low"] > 1 and step["ratio"] == pytest.approx(2) and step["verdict"] == "different"
    assert (step["n_base"], step["n_candidate"], step["run_ids"]) == (3, 3, "run-0 run-1 run-2 run-3 run-4 run-5")
    (single,) = found(measured(), measured("A → C", "cross_zone"), factor="placement").to_dict("records")
    assert pd.isna(single["ratio"]) and single["measured_low"] == 1 and single["flags"] == "no_replication"


def test_conditions_that_differ_in_two_factors_are_not_paired() -> None:
    slow = measured(vm_size="Standard_D2s_v3", accelerated_networking=False, method="slow")
    fast = measured(vm_size="Standard_D4s_v3", accelerated_networking=True, method="fast")
    for factor in ("vm_size", "accelerated_networking"):
        assert found(slow, fast, factor=factor).empty
    (pair,) = found(slow, fast.assign(accelerated_networking=None), factor="vm_size").to_dict("records")
    assert pair["unsaid"] == "accelerated_networking"


def test_only_paths_with_a_region_in_common_are_paired() -> None:
    near, far = measured(region="r", peer_region="r"), measured("A → C", "cross_region", region="s", peer_region="r")
    assert len(found(near, far, factor="placement")) == len(found(measured(), far, factor="placement")) == 1
    assert found(near, far.assign(placement="cross_zone", peer_region="s"), factor="placement").empty


def test_a_pair_is_compared_with_a_path_inside_one_of_its_own_zones() -> None:
    first, second = (measured(f"{zone} → {zone}", zone=zone, peer_zone=zone) for zone in "12")
    across = measured("2 → 3", "cross_zone", zone="2", peer_zone="3")
    assert found(first, second, across, factor="placement")["base_path"].tolist() == ["2 → 2"]
    elsewhere = across.assign(zone="4")
    assert found(first, second, elsewhere, factor="placement")["base_path"].tolist() == ["1 → 1"]


def test_logs_and_reported_numbers_are_not_paired() -> None:
    reported = text(scenario="A → C", tool="sockperf tcp", value_low=2e5, value_high=2e5, placement="cross_zone")
    assert found(measured(), factor="placement", reported=reported).empty


def test_another_path_is_not_a_change_of_the_message_size() -> None:
    longer = measured("A → C", message_bytes=350, method="sockperf TCP 350 B")
    assert found(measured(), longer, factor="message_bytes").empty
    (pair,) = found(measured(), longer.assign(path="A → B"), factor="message_bytes").to_dict("records")
    assert (pair["base_message_bytes"], pair["message_bytes"]) == (14, 350)


def test_the_widest_methods_are_kept() -> None:
    wide = [measured(placement, placement, method="wide") for placement in ("same_zone", "cross_zone")]
    narrow = [measured(method=f"narrow {number}") for number in range(5)]
    study: Any = SimpleNamespace(reported=text())
    kept = widest_methods(conditions(study, frame(*narrow, *wide)))["method"].unique()
    assert "wide" in kept and len(kept) == 3


def test_runs_of_conditions_are_in_the_order_of_measuring() -> None:
    """The logs of rising paths are listed in another order than they were measured."""
    near = measured(values=[1e6 + 1e4 * at for at in range(12)])
    far = measured("A → C", "cross_zone", [2e6 + 2e4 * at for at in range(12)])
    shuffled = frame(near, far).sample(frac=1, random_state=3)
    study: Any = SimpleNamespace(reported=text())
    (change,) = changes(conditions(study, shuffled), shuffled, "placement").to_dict("records")
    assert "dependent_runs" in change["flags"]
    unordered = shuffled.drop(columns="started_at")
    (change,) = changes(conditions(study, unordered), unordered, "placement").to_dict("records")
    assert "dependent_runs" not in change["flags"]


def test_frames_without_rows_have_the_types_of_others() -> None:
    study: Any = SimpleNamespace(reported=text())
    runs = frame(measured(values=(1e5, 2e5)), measured("A → C", "cross_zone", (1e5, 2e5)))
    levels, none = conditions(study, runs), conditions(study, runs[:0])
    assert none.dtypes.to_dict() == levels.dtypes.to_dict()
    steps, no_steps = changes(levels, runs, "placement"), changes(none, runs[:0], "placement")
    assert len(steps) == 1 and no_steps.dtypes.to_dict() == steps.dtypes.to_dict()
