"""Two recordings that were made in turns: both sides in each round, which are then compared within the rounds."""

from __future__ import annotations

from typing import NamedTuple

import pandas as pd

from azlatency.stats.across_runs.run_values import value_column
from azlatency.studies.runs.groups import grouped

#: The smallest number of rounds whose exact interval reaches a confidence of 95 %.
FEWEST_ROUNDS = 6


class Turns(NamedTuple):
    """The runs of both sides with their rounds, and whether each side was the first of a round at least once.

    If the order within each round is random, the exact test holds whatever the runs do in time.
    """

    first: pd.DataFrame
    second: pd.DataFrame
    both_orders: bool


def in_turns(first: pd.DataFrame, second: pd.DataFrame, value: str | None = None) -> Turns | None:
    """Return the runs of both sides with the rounds that they share, or None if they were not measured in turns.

    Rounds are those of the column ``round`` if all runs have one, else each run of one side with its neighbour in time
    of the other. None without the start times of all runs, if a round began before the last one ended, and for fewer
    than six rounds with both sides. Runs without a ``value`` are left out.
    """
    first, second = (side[side[value_column(side, value)].notna()] for side in (first, second))
    if not all("started_at" in side and len(side) and side["started_at"].notna().all() for side in (first, second)):
        return None
    runs = pd.DataFrame({"second": [False] * len(first) + [True] * len(second)})
    runs["started_at"] = [*first["started_at"], *second["started_at"]]
    named = all("round" in side and side["round"].notna().all() for side in (first, second))
    if named:
        runs["round"] = [*first["round"], *second["round"]]
    runs = runs.sort_values("started_at", kind="stable")
    if not named:
        runs["round"] = [place // 2 for place in range(len(runs))]
    rounds = grouped(runs, "round").agg(
        begin=("started_at", "first"),
        end=("started_at", "last"),
        sides=("second", "nunique"),
        second_begins=("second", "first"),
    )
    overlap = (rounds["begin"].iloc[1:].to_numpy() <= rounds["end"].iloc[:-1].to_numpy()).any()
    shared = rounds["sides"] == 2
    if overlap or shared.sum() < FEWEST_ROUNDS or not (named or shared.all()):
        return None
    numbers = runs["round"].map({key: place for place, key in enumerate(rounds.index, start=1)}).sort_index()
    return Turns(
        first.assign(round=numbers.iloc[: len(first)].to_numpy()),
        second.assign(round=numbers.iloc[len(first) :].to_numpy()),
        rounds.loc[shared, "second_begins"].nunique() == 2,
    )
