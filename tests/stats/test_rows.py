"""Results as rows of frames."""

from __future__ import annotations

import math

from helpers.results import compare_runs

from azlatency.stats import rows
from azlatency.stats.across_runs.typical_run import typical_run


def test_what_an_estimate_does_not_have_is_nan() -> None:
    once = typical_run([5.0], labels={"path": "a → b"})
    assert once["path"] == "a → b" and once["flags"] == "no_replication" and once["lowest"] == once["highest"] == 5.0
    assert math.isnan(once["estimate"]) and math.isnan(once["low"]) and math.isnan(once["high"]) and once["n"] == 1


def test_the_interval_that_decides_on_equivalence_is_the_inner_one() -> None:
    values = [100.0, 101.0, 99.0, 100.5, 99.5, 100.2]
    row = compare_runs(values, values, unit="ns", floor=0.0)
    assert row["verdict"] == "equivalent" and row["ratio"] == 1
    assert (row["decides_low"], row["decides_high"]) == (row["inner_low"], row["inner_high"])
    assert row["ratio_low"] < row["inner_low"] < row["inner_high"] < row["ratio_high"]
    different = rows.decided(row, "different")
    assert (different["decides_low"], different["decides_high"]) == (row["ratio_low"], row["ratio_high"])


def test_further_flags_stand_in_front_and_each_of_them_once() -> None:
    row = {"flags": "few_runs other_vm"}
    assert rows.with_flags(row, ["initiator_only", "other_vm"])["flags"] == "initiator_only other_vm few_runs"
    assert row["flags"] == "few_runs other_vm"
