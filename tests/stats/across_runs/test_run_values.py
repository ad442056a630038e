"""Values of runs and the margins that they are compared with."""

from __future__ import annotations

import pandas as pd
import pytest
from helpers.round_runs import round_runs

from azlatency.stats.across_runs.run_values import parse_margin, run_values


@pytest.mark.parametrize(
    ("margin", "due"), [("5%", (0.05, 0.0)), (0.02, (0.02, 0.0)), ("2 us", (0.0, 2000.0)), ("1.5ms", (0.0, 1.5e6))]
)
def test_margins_are_relative_or_absolute(margin: str | float, due: tuple[float, float]) -> None:
    assert parse_margin(margin) == pytest.approx(due)


@pytest.fixture
def runs() -> pd.DataFrame:
    return round_runs()


def test_run_values_name_the_runs_with_a_value(runs: pd.DataFrame) -> None:
    runs.loc["ping/a → b/2", "mean_ns"] = float("nan")
    group = runs[(runs["path"] == "a → b") & (runs["method"] == "ping")]
    assert run_values(group, "mean_ns").run_ids == ("ping/a → b/1", "ping/a → b/3")
    assert run_values(group["mean_ns"]).run_ids == ("ping/a → b/1", "ping/a → b/3")
    assert run_values([1.0, 2.0]).run_ids == ()
