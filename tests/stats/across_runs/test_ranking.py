"""The order of pairs of zones, and the ranks that are certain."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
from helpers.cases import stream

from azlatency.stats.across_runs.asymmetry import asymmetry
from azlatency.stats.across_runs.ranking import _ranks
from azlatency.stats.across_runs.run_values import run_values


def test_a_pair_has_a_rank_if_it_differs_from_all_others() -> None:
    random = stream(12)
    in_rounds = {
        name: run_values(level * random.lognormal(0, 0.01, 8) * (1 + np.arange(8) / 10))
        for name, level in (("c", 800.0), ("a", 60.0), ("b", 690.0), ("near b", 691.0))
    }
    assert _ranks(in_rounds, 0.95) == {"c": 4, "a": 1, "b": None, "near b": None}
    # What the rounds have in common hides the differences of runs without rounds.
    apart = {name: replace(values, rounds=None, order="unknown") for name, values in in_rounds.items()}
    assert _ranks(apart, 0.95) == {"c": None, "a": 1, "b": None, "near b": None}
    once, several = (replace(run_values(values), rounds=None) for values in ([1.0], [5.0, 5.1, 5.2]))
    assert _ranks({"a": once, "b": several}, 0.95) == {"a": None, "b": None}
    assert _ranks({}, 0.95) == {}


def test_pairs_are_in_the_order_of_their_typical_run() -> None:
    rows = [
        {"path": f"{i} → {j}", "zone": i, "peer_zone": j, "round": round_, "median_ns": 1e5 * level + 100 * round_}
        for i, j, level in (("1", "2", 3), ("1", "3", 1), ("2", "3", 2))
        for round_ in range(8)
    ]
    order = asymmetry(pd.DataFrame(rows)).order
    assert list(order["rank"]) == [1, 2, 3]
    assert list(order["estimate"].round(-5)) == [1e5, 2e5, 3e5]
