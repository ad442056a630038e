"""Results as rows of frames."""

from __future__ import annotations

import math

from azlatency.stats import rows
from azlatency.stats.across_runs.comparison import compare_runs
from azlatency.stats.across_runs.typical_run import typical_run


def test_what_an_estimate_does_not_have_is_nan() -> None:
    once = rows.of_estimate(typical_run([5.0], labels={"path": "a → b", "assumed": "one_client"}))
    assert once["path"] == "a → b" and once["assumed"] == "one_client" and once["flags"] == "no_replication"
    assert math.isnan(once["low"]) and math.isnan(once["high"]) and once["n"] == 1


def test_the_interval_that_decides_on_equivalence_is_the_inner_one() -> None:
    values = [100.0, 101.0, 99.0, 100.5, 99.5, 100.2]
    row = rows.of_comparison(compare_runs(values, values, unit="ns", floor=0.0))
    assert row["verdict"] == "equivalent" and row["ratio"] == 1
    assert (row["decides_low"], row["decides_high"]) == (row["inner_low"], row["inner_high"])
    assert row["ratio_low"] < row["inner_low"] < row["inner_high"] < row["ratio_high"]
