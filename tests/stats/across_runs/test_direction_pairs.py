"""The two directions of a pair."""

from __future__ import annotations

import math
from itertools import permutations

import pandas as pd
import pytest
from helpers.cases import stream
from helpers.directed_rounds import NO_COST, ONE_WAY, rounds_of

import azlatency as az
from azlatency.stats.across_runs.asymmetry import asymmetry
from azlatency.stats.across_runs.direction_pairs import Yardstick
from azlatency.stats.across_runs.log_ratio import MEAN_METHOD, RANK_METHOD


def test_one_run_in_each_direction_is_shown_and_not_judged() -> None:
    found = asymmetry(rounds_of(ONE_WAY, NO_COST, 1, 0.01, 5))
    assert found.pairs["flags"].str.contains("no_replication").all() and found.pairs["p"].isna().all()
    assert set(found.pairs["verdict"]) == {"inconclusive"}
    assert found.pairs["ratio"].notna().all() and found.pairs["ratio_low"].isna().all()
    assert found.order["rank"].isna().all() and set(found.order["flags"]) == {"no_replication"}


def test_runs_without_rounds_are_compared_unpaired() -> None:
    frame = rounds_of(ONE_WAY, {**NO_COST, "az1a": 60e3}, 6, 0.01, 6).drop(columns="round")
    found = asymmetry(frame)
    assert (found.pairs["verdict_alone"] == "different").sum() == 2
    assert set(found.pairs["statistic"]) <= {RANK_METHOD, MEAN_METHOD} and list(found.methods["rounds"]) == [0]


def machines(offset: float, seed: int, slow: float = 0.0) -> pd.DataFrame:
    """Two zones with two machines each: every direction between two machines keeps its own offset over eight rounds."""
    random = stream(seed)
    hosts = ("az1a", "az1b", "az1c", "az2a", "az2b", "az2c")
    rows = []
    for i, j in permutations(hosts, 2):
        typical = 200e3 * math.exp(random.normal(0, offset) + slow * (i[:3] == "az2" and j[:3] == "az1"))
        for number in range(1, 9):
            rows.append(
                {
                    "path": f"{i} → {j}",
                    "zone": i[:3],
                    "peer_zone": j[:3],
                    "round": number,
                    "median_ns": typical * math.exp(random.normal(0, 0.005)),
                    "method": "sockperf",
                }
            )
    return pd.DataFrame(rows)


def test_one_pair_of_machines_shows_the_difference_of_these_machines() -> None:
    frame = machines(0.05, 1, slow=0.3)
    found = asymmetry(frame[frame["path"].isin(["az1a → az2a", "az2a → az1a"])])
    (pair,) = found.pairs.to_dict("records")
    assert pair["verdict_alone"].startswith("different") and pair["verdict"] == "different"
    assert "one_machine_pair" in pair["flags"] and list(found.methods["different"]) == [1]
    assert "zone or machine: not separable" in az.say(found.pairs)
    assert "initiator_only" in pair["flags"], "a round trip shows no one-way difference"


def test_one_control_pair_vetoes_only_what_it_covers() -> None:
    pairs = ["az1a → az2a", "az2a → az1a", "az1a → az1b", "az1b → az1a"]

    def of(slow: float, offset: float) -> pd.Series:
        frame = machines(offset, 1, slow=slow)
        return asymmetry(frame[frame["path"].isin(pairs)]).pairs.iloc[0]

    small, large = of(0.005, 0.02), of(0.3, 0.002)
    assert "one_control_pair" in small["flags"] and small["ratio_high"] / small["ratio_low"] < 1.05
    assert not small["verdict"].startswith("different")
    assert large["verdict"] == "different" and large["machine_spread"] < 0.05


def test_several_machines_are_the_yardstick_of_a_direction() -> None:
    """Sticky offsets of 5 % are no difference between directions; 60 % more in one direction is."""
    null, slow = asymmetry(machines(0.05, 2)), asymmetry(machines(0.05, 3, slow=0.47))
    between = null.pairs[~null.pairs["same_zone"]]
    assert between["verdict_alone"].str.startswith("different").sum() >= 5
    assert list(null.methods["different"]) == [0] and null.pairs["same_zone"].sum() == 6
    assert list(slow.methods["different"]) == [9]
    between = slow.pairs[~slow.pairs["same_zone"]]
    assert between["ratio_low"].notna().all() and not between["flags"].str.contains("one_machine_pair").any()
    assert between["machine_spread"].between(0.035, 0.105).all()


def test_the_yardstick_accounts_for_the_family() -> None:
    """With one comparison the p is that of Student's t; with many and a known spread, that of the largest of them."""
    from scipy.stats import norm, t

    assert Yardstick(0.1, 3).p(0.4, 1) == pytest.approx(2 * t.sf(4, 3), rel=0.02)
    assert Yardstick(0.1, 100_000).p(0.25, 5) == pytest.approx(1 - (1 - 2 * norm.sf(2.5)) ** 5, rel=0.02)
    assert Yardstick(0.0, 3).p(0.4, 1) == 1.0
