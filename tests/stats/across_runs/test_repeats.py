"""Repeats: spread between and within runs."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from helpers.cases import cases, content, normal

from azlatency.stats.across_runs.repeats import repeats, repeats_by_path, samples_per_run, variance_components


def test_repeats() -> None:
    case = next(each for each in content("repeats_hierarchy")["cases"] if each["id"].startswith("runs-needed"))
    values = case["input"]["run_means"]
    result = repeats(values, what="path")
    assert result.sd == pytest.approx(np.std(values, ddof=1)) and result.repeatability == pytest.approx(2.8 * result.sd)
    assert result.ratio == pytest.approx(max(values) / min(values))
    assert result.cv is not None and result.cv_low is not None and result.cv_high is not None
    assert result.cv_low < result.cv < result.cv_high and "6 runs vary" in str(result)


@pytest.mark.parametrize("case", cases("repeats_hierarchy", "variance-components|"))
def test_variance_components(case: dict[str, Any]) -> None:
    due, rel = case["expected"], case["tolerance"]["rel"]
    y = np.round(60 + np.repeat(2 * normal(6, 72), 40) + 1.5 * normal(240, 71), 3)
    assert y.sum() == pytest.approx(case["input"]["check_sum"])
    found = variance_components(y.reshape(6, 40))
    assert found is not None
    names = ("ms_between", "ms_within", "var_between_anova", "var_within", "icc", "grand_mean", "se_run_level",
             "design_effect")  # fmt: skip
    assert tuple(found) == pytest.approx([due[name] for name in names], rel=rel)
    assert found.var_between == pytest.approx(due["lmer_var_between"], rel=case["tolerance"]["lmer_rel"])
    # From run values and their errors within runs: the same components.
    means = y.reshape(6, 40).mean(axis=1)
    by_runs = repeats(means, errors=[math.sqrt(found.var_within / 40)] * 6)
    assert by_runs.var_between == pytest.approx(due["var_between_anova"], rel=rel)
    # The run-level interval of the oracle is Student's t on the run means.
    from azlatency.stats.across_runs.two_groups import student_interval

    assert student_interval(means, 0.95) == pytest.approx(due["ci95_t_run_level"], rel=rel)
    assert found.se_runs / math.sqrt(found.design_effect) == pytest.approx(due["se_naive_iid"], rel=rel)


@pytest.mark.parametrize("case", cases("repeats_hierarchy", "kalibera-jones"))
def test_samples_per_run(case: dict[str, Any]) -> None:
    given = case["input"]
    found = samples_per_run(given["var_within"], given["var_between"], given["cost_run_s"], given["cost_sample_s"])
    assert found == case["expected"]["n1"]
    assert samples_per_run(1.0, 0.0, 60, 1e-4) is None
    with pytest.raises(ValueError, match="cost"):
        samples_per_run(1.0, 1.0, 0, 1e-4)


@pytest.mark.parametrize(
    ("values", "code"),
    [([], "no_values"), ([1.0], "no_replication"), ([1.0, 2.0], "two_runs"), ([3.0] * 4, "constant"),
     ([-1.0, 2.0], "not_positive")],
)  # fmt: skip
def test_hard_repeats(values: list[float], code: str) -> None:
    result = repeats(values)
    assert code in result.codes and str(result) and result.row()["codes"]
    assert variance_components(np.zeros((1, 5))) is None and variance_components(np.zeros((3, 3))) is None


def test_repeats_by_path() -> None:
    import pandas as pd

    frame = pd.DataFrame({"path": ["a", "a", "b"], "method": "x", "median_ns": [1.0, 2.0, None]})
    assert [each.runs for each in repeats_by_path(frame, "median_ns")] == [2]
