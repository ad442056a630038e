"""Effects of the initiator, cycles and detours."""

from __future__ import annotations

import pytest
from helpers.directed_rounds import NO_COST, ONE_WAY, ZONES, rounds_of

from azlatency.stats.across_runs.asymmetry import Asymmetry, asymmetry


def one(results: list[Asymmetry]) -> Asymmetry:
    (only,) = results
    return only


def test_a_slow_initiator_is_found_as_one() -> None:
    result = one(asymmetry(rounds_of(ONE_WAY, {**NO_COST, "az3a": 30e3}, 8, 0.005, 2)))
    slow = [pair for pair in result.pairs if pair.labels["verdict_alone"] == "different"]
    assert {pair.what for pair in slow} == {"az1a → az3a over back", "az2a → az3a over back"}
    assert all(pair.p < 0.05 and "one_machine_pair" in pair.codes for pair in slow)
    effects = dict(zip(result.nodes, result.node_effects, strict=True))
    # A cost s of the initiator alone is a = s/2; effects sum to 0 over three zones: +10 us and -5 us.
    low, high = effects["az3a"].low, effects["az3a"].high
    assert low is not None and high is not None and low < 10e3 < high and low > 5e3
    (around,) = result.curls
    assert around.low is not None and around.high is not None and around.low < 0 < around.high
    assert result.share_of_nodes is not None and result.share_of_nodes > 0.9


def test_a_cyclic_residual_is_not_an_initiator() -> None:
    frame = rounds_of(ONE_WAY, NO_COST, 8, 0.003, 3)
    for path in ("az1a → az2a", "az2a → az3a", "az3a → az1a"):
        frame.loc[frame["path"] == path, "median_ns"] *= 1.05
    result = one(asymmetry(frame))
    (around,) = result.curls
    assert around.low is not None and around.low > 0
    assert result.share_of_nodes is not None and result.share_of_nodes < 0.1
    assert "cyclic residual" in str(result)


def test_a_detour_that_is_shorter_is_a_violation() -> None:
    delays = {(i, j): 50e3 for i in ZONES for j in ZONES if i != j}
    delays["az2a", "az3a"] = delays["az3a", "az2a"] = 300e3
    near = {**delays, ("az1a", "az1b"): 20e3, ("az1b", "az1a"): 20e3}
    hosts = {**NO_COST, "az1b": 0.0}
    result = one(asymmetry(rounds_of(near, hosts, 6, 0.01, 4)))
    by_name = {detour.what: detour for detour in result.detours}
    wrong = by_name["az2a - az3a against the detour over az1a"]
    assert wrong.diagnostics["violated"] and wrong.estimate == pytest.approx(600e3 - (200e3 - 40e3), rel=0.05)
    assert sum(bool(detour.diagnostics["violated"]) for detour in result.detours) == 1
    assert "az2a" in str(wrong.diagnostics["own_zone"])
    # The control: both directions within a zone.
    (null,) = result.null
    assert null.what == "az1a → az1b over back" and null.verdict != "different"
