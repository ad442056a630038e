"""Runs of three pairs of zones, with values that a test chooses."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from azlatency.pages.summary.answer import Data
from azlatency.stats.across_runs.placement import conditions, widest
from azlatency.studies.runs.round_trips import latency
from helpers.studies import load

#: Lagscope, one run of each path, both directions of the pairs of three zones.
STUDY = "aws-euwest1-lagscope"
PATHS = ("1a → 1b", "1a → 1c", "1b → 1c")


def pair_runs(values: Sequence[Sequence[float]]) -> pd.DataFrame:
    """Return the runs of three paths, like those of the study, with these medians in ns."""
    study_runs = latency(load(STUDY))
    rows = []
    for path, of_path in zip(PATHS, values, strict=True):
        template = study_runs[study_runs["path"].astype(str) == path].iloc[0]
        for number, value in enumerate(of_path):
            rows.append(
                {
                    **template,
                    "median_ns": value,
                    "file": f"{number}.json",
                    "run_id": f"{path}/{number}".replace(" ", ""),
                }
            )
    runs = pd.DataFrame(rows).set_index("run_id").astype({"median_ns": float})
    return runs.assign(median_ns_resolution=np.nan, repeat=pd.NA)


def pair_data(values: Sequence[Sequence[float]]) -> Data:
    """Return what the answer of a card gets, for these medians."""
    runs = pair_runs(values)
    return Data(load(STUDY), runs, widest(conditions(load(STUDY), runs)))


def equal_law(seed: int, runs: int, factors: Sequence[float] = (1.0, 1.0, 1.0)) -> list[list[float]]:
    """Draw runs of one law, times a factor for each path."""
    draws = np.exp(np.random.default_rng([seed, runs]).normal(0, 0.1, (3, runs)))
    return [[3e5 * factor * float(draw) for draw in row] for factor, row in zip(factors, draws, strict=True)]
