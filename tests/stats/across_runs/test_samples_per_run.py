"""Split of time between more runs and longer runs."""

from __future__ import annotations

from typing import Any

import pytest
from helpers.cases import cases

from azlatency.stats.across_runs.samples_per_run import samples_per_run


@pytest.mark.parametrize("case", cases("repeats_hierarchy", "kalibera-jones"))
def test_samples_per_run(case: dict[str, Any]) -> None:
    given = case["input"]
    found = samples_per_run(given["var_within"], given["var_between"], given["cost_run_s"], given["cost_sample_s"])
    assert found == case["expected"]["n1"]
    assert samples_per_run(1.0, 0.0, 60, 1e-4) is None
    with pytest.raises(ValueError, match="cost"):
        samples_per_run(1.0, 1.0, 0, 1e-4)
