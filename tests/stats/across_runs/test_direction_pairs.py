"""The two directions of a pair."""

from __future__ import annotations

import math
from itertools import permutations

import pandas as pd
import pytest
from helpers.cases import stream
from helpers.directed_rounds import NO_COST, ONE_WAY, rounds_of

from azlatency.stats.across_runs.asymmetry import Asymmetry, asymmetry
from azlatency.stats.across_runs.direction_pairs import Yardstick
from azlatency.stats.result import Comparison


def one(results: list[Asymmetry]) -> Asymmetry:
    (only,) = results
    return only


def test_one_run_in_each_direction_is_shown_and_not_judged() -> None:
    result = one(asymmetry(rounds_of(ONE_WAY, NO_COST, 1, 0.01, 5)))
    for pair in result.pairs:
        assert "no_replication" in pair.codes and pair.p is None and pair.verdict == "inconclusive"
        assert pair.ratio.estimate is not None and pair.ratio.low is None
    assert not result.symmetric_enough
    assert all(pair.labels["rank"] is None and pair.codes == ("no_replication",) for pair in result.ranking)


def test_runs_without_rounds_are_compared_unpaired() -> None:
    frame = rounds_of(ONE_WAY, {**NO_COST, "az1a": 60e3}, 6, 0.01, 6).drop(columns="round")
    result = one(asymmetry(frame))
    assert sum(pair.labels["verdict_alone"] == "different" for pair in result.pairs) == 2
    assert all("Wilcoxon interval" in pair.method for pair in result.pairs) and result.rounds == 0


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
    alone = one(asymmetry(frame[frame["path"].isin(["az1a → az2a", "az2a → az1a"])]))
    (pair,) = alone.pairs
    assert pair.labels["verdict_alone"].startswith("different") and pair.verdict == "different"
    assert "one_machine_pair" in pair.codes and alone.different == [pair]
    assert all("zone or machine: not separable" in str(result) for result in (pair, alone))
    assert "initiator_only" in pair.codes, "a round trip shows no one-way difference"


def test_one_control_pair_vetoes_only_what_it_covers() -> None:
    pairs = ["az1a → az2a", "az2a → az1a", "az1a → az1b", "az1b → az1a"]

    def of(slow: float, offset: float) -> Comparison:
        frame = machines(offset, 1, slow=slow)
        return one(asymmetry(frame[frame["path"].isin(pairs)])).pairs[0]

    small, large = of(0.005, 0.02), of(0.3, 0.002)
    assert "one_control_pair" in small.codes and small.ratio.low is not None and small.ratio.high is not None
    assert small.ratio.high / small.ratio.low < 1.05
    assert not small.verdict.startswith("different")
    assert large.verdict == "different" and large.labels["machine_spread"] < 0.05


def test_several_machines_are_the_yardstick_of_a_direction() -> None:
    """Sticky offsets of 5 % are no difference between directions; 60 % more in one direction is."""
    null, slow = one(asymmetry(machines(0.05, 2))), one(asymmetry(machines(0.05, 3, slow=0.47)))
    assert sum(pair.labels["verdict_alone"].startswith("different") for pair in null.pairs) >= 5
    assert not null.different and len(null.null) == 6
    assert len(slow.different) == 9
    for pair in slow.pairs:
        assert pair.ratio.low is not None and pair.ratio.high is not None and "one_machine_pair" not in pair.codes
        assert pair.labels["machine_spread"] == pytest.approx(0.07, rel=0.5) and pair.labels["p_machines"] < 0.05


def test_the_yardstick_accounts_for_the_family() -> None:
    """With one comparison the p is that of Student's t; with many and a known spread, that of the largest of them."""
    from scipy.stats import norm, t

    assert Yardstick(0.1, 3).p(0.4, 1) == pytest.approx(2 * t.sf(4, 3), rel=0.02)
    assert Yardstick(0.1, 100_000).p(0.25, 5) == pytest.approx(1 - (1 - 2 * norm.sf(2.5)) ** 5, rel=0.02)
    assert Yardstick(0.0, 3).p(0.4, 1) == 1.0
