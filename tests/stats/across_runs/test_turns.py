"""Recordings that were made in turns are compared within their rounds."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from helpers.studies import load

import azlatency as az
from azlatency.stats.across_runs.turns import in_turns


@pytest.fixture(scope="module")
def sides() -> tuple[pd.DataFrame, pd.DataFrame]:
    """Both directions of a pair of zones, measured in the same twelve rounds in random order."""
    runs = az.latency(load("emulated-zones"))
    runs = runs[(runs["tool"] == "sockperf") & runs["started_at"].notna()]
    return tuple(
        runs[runs["path"] == path].assign(path="a → b").drop(columns="client_end")
        for path in ("az1a → az2a", "az2a → az1a")
    )  # type: ignore[return-value]


def test_rounds_of_two_recordings_are_recognised_by_their_times(sides: tuple[pd.DataFrame, pd.DataFrame]) -> None:
    for base, candidate in (sides, tuple(side.drop(columns="round") for side in sides)):
        turns = in_turns(base, candidate)
        assert turns is not None and turns.both_orders
        assert list(turns.first["round"]) == list(turns.second["round"]) == list(range(1, 13))
        assert list(turns.first.index) == list(base.index), "in the order of the runs"


def test_a_comparison_of_turns_is_one_of_rounds(sides: tuple[pd.DataFrame, pd.DataFrame]) -> None:
    base, candidate = sides
    by_round = az.compare(base, candidate, by="path").iloc[0]
    assert by_round["n"] == 12 and "signed-rank" in by_round["statistic"]
    assert az.compare(base, candidate, by="path", paired=True)["ratio"].iloc[0] == by_round["ratio"]
    assert "Wilcoxon" in az.compare(base, candidate, by="path", paired=False)["statistic"].iloc[0]


def test_recordings_one_after_the_other_are_no_turns(sides: tuple[pd.DataFrame, pd.DataFrame]) -> None:
    base, candidate = sides
    early, late = base[base["round"] <= 6], base[base["round"] > 6]
    assert in_turns(early, late) is None
    assert in_turns(early, late.assign(round=late["round"] - 6)) is None, "equal numbers are not the same rounds"
    assert in_turns(base[base["round"] <= 5], candidate[candidate["round"] <= 5]) is None, "five rounds"
    assert in_turns(base.drop(columns="started_at"), candidate) is None
    assert in_turns(base.assign(started_at=base["started_at"].iloc[0]), candidate) is None
    one_missing = candidate[candidate["round"] != 3]
    assert in_turns(base, one_missing) is not None and in_turns(base.drop(columns="round"), one_missing) is None
    fixed = candidate.assign(started_at=base["started_at"].to_numpy() + pd.Timedelta("1s"))
    assert (turns := in_turns(base, fixed)) is not None and not turns.both_orders


@pytest.mark.slow
@pytest.mark.parametrize("change", [0.0, 0.1])
def test_what_changes_from_round_to_round_does_not_count(change: float) -> None:
    """Error and power over a common day and night of ±10 % in eight rounds."""
    random = np.random.default_rng(5)
    different = 0
    for _ in range(100):
        order = random.permuted([[0, 1]] * 8, axis=1).T + 2 * np.arange(8)
        frames = [
            pd.DataFrame(
                {
                    "path": "a → b",
                    "method": "m",
                    "started_at": pd.to_datetime(60 * places, unit="s", utc=True),
                    "median_ns": 450e3 * (1 + size) * np.exp(0.1 * np.sin(places / 2) + random.normal(0, 0.02, 8)),
                }
            )
            for places, size in zip(order, (0.0, change), strict=True)
        ]
        different += az.compare(*frames, by="path")["verdict"].iloc[0].startswith("different")
    assert different <= 10 if change == 0 else different >= 90
