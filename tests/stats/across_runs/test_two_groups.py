"""Two groups from n, mean and standard deviation."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from helpers.cases import cases
from helpers.results import compare_runs

from azlatency.stats.across_runs.two_groups import Summary, student_interval, summary, welch


@pytest.mark.parametrize("case", cases("summary_tests", "paired|"))
def test_student_intervals_of_paired_rounds_equal_the_oracle(case: dict[str, Any]) -> None:
    given, due = case["input"], case["expected"]
    differences = np.array(given["x"]) - np.array(given["y"])
    interval = student_interval(differences, given["conf"])
    assert interval == pytest.approx((due["lower"], due["upper"]), rel=case["tolerance"]["rel"])
    result = compare_runs(given["x"], given["y"], paired=True, margin="1%")
    mean, error = differences.mean(), differences.std(ddof=1) / math.sqrt(len(differences))
    assert mean / error == pytest.approx(due["t"], rel=case["tolerance"]["rel"])
    assert result["verdict"] == "different_within_margin"


@pytest.mark.parametrize("case", cases("summary_tests", "refuse|"))
def test_summaries_that_are_refused(case: dict[str, Any]) -> None:
    first, second = (Summary(group["n"], group["mean"], group["sd"]) for group in case["input"].values())
    assert welch(first, second) is None


def test_summary_of_equal_values_has_no_spread() -> None:
    assert summary(np.log(np.array([6.0] * 7))).sd == 0.0
