"""Repeats: spread between and within runs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from helpers.cases import cases, content

from azlatency.stats.across_runs.repeats import repeats, repeats_by_path, samples_per_run


def test_repeats() -> None:
    case = next(oracle for oracle in content("repeats_hierarchy")["cases"] if oracle["id"].startswith("runs-needed"))
    values = case["input"]["run_means"]
    result = repeats(values, what="path")
    assert result.sd == pytest.approx(np.std(values, ddof=1)) and result.repeatability == pytest.approx(2.8 * result.sd)
    assert result.ratio == pytest.approx(max(values) / min(values))
    assert result.cv is not None and result.cv_low is not None and result.cv_high is not None
    assert result.cv_low < result.cv < result.cv_high and "6 runs vary" in str(result)


@pytest.mark.parametrize("case", cases("repeats_hierarchy", "kalibera-jones"))
def test_samples_per_run(case: dict[str, Any]) -> None:
    given = case["input"]
    samples = samples_per_run(given["var_within"], given["var_between"], given["cost_run_s"], given["cost_sample_s"])
    assert samples == case["expected"]["n1"]
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


def test_repeats_by_path() -> None:
    import pandas as pd

    frame = pd.DataFrame({"path": ["a", "a", "b"], "method": "x", "median_ns": [1.0, 2.0, None]})
    assert [result.runs for result in repeats_by_path(frame, "median_ns")] == [2]
