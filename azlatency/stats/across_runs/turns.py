"""Two recordings that were made in turns: both sides in each round, which are then compared within the rounds."""

from __future__ import annotations

from collections.abc import Hashable
from itertools import pairwise
from typing import NamedTuple

import pandas as pd

from azlatency.stats.across_runs.run_values import value_column

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
    if min(len(first), len(second)) < FEWEST_ROUNDS or not all("started_at" in side for side in (first, second)):
        return None
    first, second = (side[side[value_column(side, value)].notna()] for side in (first, second))
    if any(side["started_at"].isna().any() for side in (first, second)):
        return None
    starts = [*first["started_at"], *second["started_at"]]
    named = all("round" in side and side["round"].notna().all() for side in (first, second))
    names = [*first["round"], *second["round"]] if named else []
    # For each round, its runs in the order of their start; those from len(first) on are of the second side.
    rounds: dict[Hashable, list[int]] = {}
    for place, run in enumerate(sorted(range(len(starts)), key=starts.__getitem__)):
        rounds.setdefault(names[run] if named else place // 2, []).append(run)
    shared = [of_round for of_round in rounds.values() if min(of_round) < len(first) <= max(of_round)]
    overlap = any(starts[after[0]] <= starts[before[-1]] for before, after in pairwise(rounds.values()))
    if overlap or len(shared) < FEWEST_ROUNDS or not (named or len(shared) == len(rounds)):
        return None
    number_of = {run: number for number, of_round in enumerate(rounds.values(), start=1) for run in of_round}
    numbers = [number_of[run] for run in range(len(starts))]
    return Turns(
        first.assign(round=numbers[: len(first)]),
        second.assign(round=numbers[len(first) :]),
        len({of_round[0] < len(first) for of_round in shared}) == 2,
    )
