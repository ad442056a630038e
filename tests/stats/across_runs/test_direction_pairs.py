"""The two directions of a pair."""

from __future__ import annotations

from helpers.directed_rounds import NO_COST, ONE_WAY, rounds_of

from azlatency.stats.across_runs.asymmetry import Asymmetry, asymmetry


def one(found: list[Asymmetry]) -> Asymmetry:
    (only,) = found
    return only


def test_one_run_in_each_direction_is_shown_and_not_judged() -> None:
    result = one(asymmetry(rounds_of(ONE_WAY, NO_COST, 1, 0.01, 5)))
    for each in result.pairs:
        assert "no_replication" in each.codes and each.p is None and each.verdict == "undetermined"
        assert each.ratio.estimate is not None and each.ratio.low is None
    assert not result.symmetric_enough
    assert all((each.low, each.high) == (1, 3) and each.codes == ("no_replication",) for each in result.ranking)


def test_runs_without_rounds_are_compared_unpaired() -> None:
    frame = rounds_of(ONE_WAY, {**NO_COST, "az1a": 60e3}, 6, 0.01, 6).drop(columns="round")
    result = one(asymmetry(frame))
    assert len(result.different) == 2 and all("permutation" in each.method for each in result.pairs)
    assert result.rounds == 0
