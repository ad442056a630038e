"""A candidate against a base."""

from __future__ import annotations

import pandas as pd
import pytest
from helpers.studies import load

import azlatency as az

BASE, CANDIDATE = [450e3, 440e3, 460e3, 455e3], [570e3, 561e3, 580e3, 566e3]


def test_a_slower_candidate_has_a_ratio_above_one() -> None:
    found = az.compare(BASE, CANDIDATE, unit="ns")
    assert found.ratio.estimate == pytest.approx(1.26, abs=0.01) and "slower" in str(found)
    assert str(found).startswith("candidate against base:") and found.superiority == 1
    assert az.compare(CANDIDATE, BASE, unit="ns").ratio.estimate == pytest.approx(1 / found.ratio.estimate)


def test_superiority_counts_ties_half() -> None:
    # Of the nine pairs, the candidate is larger in five and equal in two.
    assert az.compare([1.0, 2.0, 3.0], [2.0, 3.0, 2.5]).superiority == pytest.approx(6 / 9)


def test_each_path_and_method_of_both_sides_has_a_row() -> None:
    runs = az.latency(load("emulated-zones"))
    first, last = runs[runs["round"] <= 6], runs[runs["round"] > 6]
    rows = az.compare(first, last, by="path")
    both = set(first.groupby(["path", "method"]).groups) & set(last.groupby(["path", "method"]).groups)
    assert {(row.labels["path"], row.labels["method"]) for row in rows} == both
    frame = rows.to_frame()
    assert {"path", "method", "ratio", "ratio_low", "superiority", "verdict"} <= set(frame.columns)
    one = rows[0]
    old, new = (
        side[(side["path"] == one.labels["path"]) & (side["method"] == one.labels["method"])]["median_ns"]
        for side in (first, last)
    )
    assert one.ratio.estimate == pytest.approx((new.median() / old.median()), rel=0.05)
    assert one.superiority == pytest.approx((new.to_numpy()[:, None] > old.to_numpy()).mean(), abs=0.05)


def test_other_values_and_missing_columns() -> None:
    runs = az.latency(load("emulated-cloud"))
    tails = az.compare(runs[runs["round"] <= 6], runs[runs["round"] > 6], by=["path"], value="p99_ns", what="")
    assert len(tails) == 18 and all(not row.ratio.refused for row in tails)
    with pytest.raises(KeyError, match="unknown column"):
        az.compare(pd.DataFrame({"median_ns": BASE}), pd.DataFrame({"median_ns": CANDIDATE}), by="path")
