"""How many further runs confirm a result, against brute force."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from helpers.cases import stream

import azlatency as az
from azlatency.stats.across_runs.confirm import confirm, expected_bounds


def test_confirm_equals_brute_force() -> None:
    from itertools import combinations

    values = stream(1).lognormal(0, 0.3, 11)
    subsets = np.sort(np.array(list(combinations(values, 7))), axis=1)
    assert expected_bounds(values, 7)[1:] == pytest.approx((subsets[:, 0].mean(), subsets[:, 6].mean()))


def test_confirm_refuses_few_runs_and_says_when_all_are_not_enough() -> None:
    assert confirm([1.0] * 10).codes == ("few_clusters",) and confirm([]).codes == ("no_values",)
    assert confirm([0.0] * 20).codes == ("not_positive",)
    wide = confirm(stream(3).lognormal(0, 1, 30), 0.01)
    assert wide.needed is None and wide.low == 31 and "at least 31 runs" in str(wide)
    assert confirm([5.0] * 30).needed == 10


def _runs() -> pd.DataFrame:
    rows = [("a → b", "tool", value) for value in (100.0, 101.0, 99.0, 102.0, 100.5)]
    rows += [("a → c", "tool", value) for value in (100.0, 130.0, 90.0, 110.0, 95.0)]
    rows += [("a → d", "tool", 100.0)]
    return pd.DataFrame(rows, columns=["path", "method", "median_ns"])


def test_confirm_by_path_refuses_few_runs() -> None:
    runs = pd.DataFrame({"path": "a → b", "method": "tool", "median_ns": [100.0 + number % 7 for number in range(40)]})
    (plan,) = az.stats.confirm_by_path(runs, 0.05)
    assert plan.needed == az.stats.confirm(runs["median_ns"], 0.05).needed
    assert {number.codes for number in az.stats.confirm_by_path(_runs())} == {("few_clusters",)}
