"""Oracle cases about methods that this library uses elsewhere or does not offer, and why."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from across_cases import cases

from azlatency.stats.asymmetry import count_dispersion
from azlatency.stats.evidence import closed_loop_shares
from azlatency.stats.repeats import repeats


@pytest.mark.parametrize("case", cases("printed_percentile_tables", "closed-loop-identity|"))
def test_closed_loop_identity(case: dict[str, Any]) -> None:
    """n times the printed mean fills the test's duration once for round trips and half for half ones."""
    given, due = case["input"], case["expected"]
    half = due["factor_to_rtt"] == 2
    run = {
        "mean_ns": given["mean"] * 1e3 * due["factor_to_rtt"],  # the data set stores round trips
        "printed_as": "half_round_trip" if half else "round_trip",
        "n": given["n"],
        "duration_ns": given["duration_s"] * 1e9,
        "closed_loop": True,
        "tool": "sockperf",
    }
    (share,) = closed_loop_shares(pd.DataFrame([run]))
    assert share == pytest.approx(due["busy_fraction_if_full"], rel=case["tolerance"]["rel"])
    assert 2 * share == pytest.approx(due["busy_fraction_if_half"], rel=case["tolerance"]["rel"])
    assert share == pytest.approx(0.5 if half else 1.0, rel=0.01)


@pytest.mark.parametrize("case", cases("rank_effect_tests", "retransmit-rate-ratio|"))
def test_a_poisson_rate_ratio_is_not_offered(case: dict[str, Any]) -> None:
    """Its interval is reproduced here; the counts are 16 times as uneven as it assumes, so it means nothing."""
    from scipy.stats import binomtest

    (a, b), (size_a, size_b) = case["input"]["counts"], case["input"]["exposure_GB"]
    test = binomtest(a, a + b, size_a / (size_a + size_b))
    interval = test.proportion_ci(case["input"]["conf"], "exact")
    low, high = (each / (1 - each) * size_b / size_a for each in (interval.low, interval.high))
    due, rel = case["expected"], case["tolerance"]["rel"]
    assert (a / size_a / (b / size_b), low, high) == pytest.approx(
        (due["rate_ratio"], due["lower"], due["upper"]), rel=rel
    )
    assert test.pvalue == pytest.approx(due["p"], rel=rel)
    (counts,) = cases("rank_effect_tests", "overdispersion|")
    dispersion = count_dispersion(counts.values[0]["input"]["counts"])  # type: ignore[attr-defined]
    assert dispersion is not None and dispersion.ratio > 15


@pytest.mark.parametrize("case", cases("repeats_hierarchy", "run-level bootstrap variance"))
def test_a_bootstrap_over_few_runs_is_not_offered(case: dict[str, Any]) -> None:
    """Its variance is (R - 1)/R of the right one in closed form: for six runs 9 % too narrow before any quantile."""
    values = np.array(case["input"]["run_means"])
    runs = len(values)
    found = repeats(values)
    assert found.sd is not None
    assert found.sd**2 / runs * (runs - 1) / runs == pytest.approx(case["expected"]["var_runs_only"], rel=1e-10)
    # Resampling within the runs, too, adds their own noise (balanced runs: mean variance within / packets / runs).
    assert case["expected"]["var_two_level"] > case["expected"]["var_runs_only"]
