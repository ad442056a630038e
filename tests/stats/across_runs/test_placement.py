"""Pairs that differ in one thing: what is paired, what is refused, what contradicts itself."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from helpers.studies import load

import azlatency as az
from azlatency.stats.across_runs.placement import Condition, changes, conditions, contradicting, widest_methods


def condition(path: str = "A → B", placement: str = "same_zone", values: Any = (100.0,), **known: Any) -> Condition:
    numbers = tuple(values)
    blank = Condition(
        origin="log",
        path=path,
        method="sockperf TCP",
        kind="sockperf tcp",
        placement=placement,
        vm_size=None,
        accelerated_networking=None,
        message_bytes=14,
        statistic="median",
        values=numbers,
        runs=len(numbers),
    )
    return replace(blank, **known)


def test_the_seeds() -> None:
    study = load("canadacentral-proximity-placement")
    conditions_of_runs = conditions(study, az.latency(study))
    assert [condition.origin for condition in conditions_of_runs].count("log") == 1
    fast = changes(conditions_of_runs, "accelerated_networking")
    same_zone = next(change for change in fast if change.other.placement == "same_zone")
    assert same_zone.ratio_low == pytest.approx(55 / 308.55) and same_zone.ratio_high == pytest.approx(61.09 / 308.55)
    assert all(change.comparison is None for change in fast)
    sizes = [(change.base.vm_size, change.other.vm_size) for change in changes(conditions_of_runs, "vm_size")]
    assert set(sizes) == {("Standard_D2s_v3", "Standard_D4s_v3")}
    # The text reports 2130.93 for the run whose log prints 2026.40: the log counts.
    (logged,) = (condition for condition in conditions_of_runs if condition.origin == "log")
    assert logged.superseded == 2130930 and logged.values == (2026400.0,)
    assert not any(condition.path == logged.path for condition in conditions_of_runs if condition is not logged)
    unsaid = [change for change in changes(conditions_of_runs, "vm_size") if change.other.vm_size == "Standard_D4s_v3"]
    assert unsaid and all(change.unsaid == ("accelerated_networking",) for change in unsaid)


def test_segments_of_a_reported_run_are_not_conditions() -> None:
    study = load("uksouth-echo-latency")
    conditions_of_runs = conditions(study, az.latency(study))
    assert [condition.path for condition in conditions_of_runs] == ["Same AZ", "Cross AZ", "Cross Region"]
    assert [change.ratio_low for change in changes(conditions_of_runs, "placement")] == pytest.approx(
        [1425 / 850, 5300 / 850]
    )


def test_ping_and_sockperf_of_the_first_study_contradict_each_other() -> None:
    study = load("westeurope-availability-set-vs-zones")
    steps = changes(conditions(study, az.latency(study)), "placement")
    assert all(change.comparison and change.comparison.codes == ("no_replication",) for change in steps)
    assert len(contradicting(steps)) == 2


def test_single_runs_give_no_interval_and_repeats_do() -> None:
    near = condition(values=(100e3, 102e3, 99e3))
    far = condition("A → C", "cross_zone", (200e3, 204e3, 198e3))
    (one,) = changes([near, far], "placement")
    assert one.comparison is not None and one.comparison.ratio.low is not None
    assert one.comparison.ratio.estimate == pytest.approx(2) and one.comparison.verdict == "different"
    (single,) = changes([condition(), condition("A → C", "cross_zone")], "placement")
    assert single.comparison is not None and single.comparison.ratio.refused


def test_conditions_that_differ_in_two_factors_are_not_paired() -> None:
    slow = condition(vm_size="Standard_D2s_v3", accelerated_networking=False)
    fast = condition(vm_size="Standard_D4s_v3", accelerated_networking=True)
    assert changes([slow, fast], "vm_size") == [] and changes([slow, fast], "accelerated_networking") == []
    (pair,) = changes([slow, replace(fast, accelerated_networking=None)], "vm_size")
    assert pair.unsaid == ("accelerated_networking",)


def test_logs_and_reported_numbers_are_not_paired() -> None:
    far = condition("A → C", "cross_zone", origin="reported", runs=None)
    assert changes([condition(), far], "placement") == []


def test_another_path_is_not_a_change_of_the_message_size() -> None:
    longer = condition("A → C", message_bytes=350)
    assert changes([condition(), longer], "message_bytes") == []
    (pair,) = changes([condition(), replace(longer, path="A → B")], "message_bytes")
    assert (pair.base.message_bytes, pair.other.message_bytes) == (14, 350)


def test_the_widest_methods_are_kept() -> None:
    wide = [condition(placement=placement, method="wide") for placement in ("same_zone", "cross_zone")]
    narrow = [condition(method=f"narrow {index}") for index in range(5)]
    kept = {condition.method for condition in widest_methods([*narrow, *wide], 2)}
    assert "wide" in kept and len(kept) == 2


def test_runs_of_conditions_are_in_the_order_of_measuring() -> None:
    """The logs of a rising path are listed in another order than they were measured."""
    study = load("emulated-zones")
    runs = az.latency(study)
    group = max((group for _, group in runs.groupby(["path", "method"])), key=len)
    rising = group.sort_values("started_at").assign(median_ns=[1e6 + 1e4 * at for at in range(len(group))])
    shuffled = rising.sample(frac=1, random_state=3)
    (one,) = (level for level in conditions(study, shuffled) if level.origin == "log")
    assert one.values == tuple(rising["median_ns"]) and one.order == "started_at"
    (one,) = (level for level in conditions(study, shuffled.drop(columns=["started_at", "round"])))
    assert one.order == "file"
    far = replace(one, placement="cross_zone", path="A → C", values=tuple(2 * value for value in one.values))
    (change,) = changes([replace(one, placement="same_zone"), far], "placement")
    assert change.comparison and "dependent_runs" in change.comparison.codes
    unknown = replace(far, order="unknown")
    (change,) = changes([replace(one, placement="same_zone"), unknown], "placement")
    assert change.comparison and "dependent_runs" not in change.comparison.codes
