"""Changes in a history of runs, and false alarms in a steady one."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest
from helpers.cases import BOTH, stream

from azlatency.stats.across_runs.history import histories, history


def test_a_moved_level_is_one_change_and_short_histories_are_flagged() -> None:
    rng = stream(560)
    steady = rng.lognormal(6, 0.05, 60)
    assert history(steady).changes == () and "no change" in str(history(steady))
    moved = np.concatenate([steady[:40], 1.3 * steady[40:]])
    result = history(pd.DataFrame({"median_ns": moved, "round": range(60)}))
    assert (
        result.changes == (40,)
        and result.unit == "ns"
        and result.levels[1] / result.levels[0] == pytest.approx(1.3, rel=0.05)
    )
    assert "run 41 of 60" in str(result) and result.row()["changes"] == "40"
    assert history(steady[:10]).codes == ("few_clusters",) and history([5.0] * 30).codes == ("constant",)
    # The rows of a frame without a start time or a round are in no known order.
    assert history(pd.DataFrame({"median_ns": moved})).codes == ("order_unknown",)
    assert history([]).codes == ("no_values",)


@pytest.mark.parametrize("made", BOTH)
def test_a_steady_history_rarely_shows_a_change(made: int) -> None:
    rng = stream(570)
    made = made // 10 if made < 1000 else 1000
    share = np.mean([bool(history(rng.lognormal(0, 0.1, 40)).changes) for _ in range(made)])
    print(f"A/A history: {100 * share:.1f} % of {made} changed")
    assert share <= 0.05 + 2 * math.sqrt(0.05 * 0.95 / made)


def test_a_path_whose_runs_all_failed_has_no_history() -> None:
    runs = pd.DataFrame(
        {"path": "a", "method": ["ping"] * 20 + ["qperf"], "mean_ns": [*range(1, 21), None], "round": range(21)}
    )
    assert [result.labels["method"] for result in histories(runs)] == ["ping"]
