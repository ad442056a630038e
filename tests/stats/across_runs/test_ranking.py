"""The order of pairs of zones, and the ranks that are certain."""

from __future__ import annotations

import pandas as pd
from helpers.cases import stream

from azlatency.stats.across_runs.asymmetry import asymmetry
from azlatency.stats.across_runs.ranking import _ranks


def test_a_pair_has_a_rank_if_it_differs_from_all_others() -> None:
    random = stream(12)
    groups = {
        name: (level * random.lognormal(0, 0.01, 8)).tolist()
        for name, level in (("c", 800.0), ("a", 60.0), ("b", 690.0), ("near b", 691.0))
    }
    assert _ranks(groups, 0.95, 0.0) == {"c": 4, "a": 1, "b": None, "near b": None}
    paired = {name: {r: v * (1 + r / 10) for r, v in enumerate(values)} for name, values in groups.items()}
    assert _ranks(paired, 0.95, 0.0)["a"] == 1
    assert _ranks({"a": [1.0], "b": [5.0, 5.1, 5.2]}, 0.95, 0.0) == {"a": None, "b": None}
    assert _ranks({}, 0.95, 0.0) == {}


def test_pairs_are_in_the_order_of_their_typical_run() -> None:
    rows = [
        {"path": f"{i} → {j}", "zone": i, "peer_zone": j, "round": round_, "median_ns": 1e5 * level + 100 * round_}
        for i, j, level in (("1", "2", 3), ("1", "3", 1), ("2", "3", 2))
        for round_ in range(8)
    ]
    order = asymmetry(pd.DataFrame(rows)).order
    assert list(order["rank"]) == [1, 2, 3]
    assert list(order["estimate"].round(-5)) == [1e5, 2e5, 3e5]
