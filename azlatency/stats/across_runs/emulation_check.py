"""Measured differences between paths of an emulated network, compared with the delays that the emulator recorded.

A round-trip time is the delay of both directions plus the time that the two hosts take, which nobody records. In the
*difference* to the pair of hosts with the shortest delay the host time cancels, as far as the hosts take as long on
either path; what remains is the error of the measurement.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import pandas as pd

from azlatency.stats.across_runs.run_values import value_column
from azlatency.stats.across_runs.typical_run import typical_run
from azlatency.studies.emulation import sums_of_both_directions
from azlatency.studies.runs.groups import grouped
from azlatency.studies.runs.path import NetworkPath

#: Columns of the frame.
_COLUMNS = [
    "path", "method", "reference", "value", "what", "estimate", "low", "high", "recorded", "configured", "error",
    "holds", "unit", "n", "scope", "confidence", "statistic", "flags", "assumed", "notes", "run_ids",
]  # fmt: skip


def emulated_differences(
    links: pd.DataFrame, records: pd.DataFrame, runs: pd.DataFrame, *, confidence: float = 0.95
) -> pd.DataFrame:
    """Compare the measured differences between paths with those that an emulator recorded; no rows for a real network.

    ``links`` and ``records``: as returned by `azlatency.studies.configured_links` and
    `azlatency.studies.recorded_round_trips`; ``runs``: by `azlatency.latency`, of which those without a round are left
    out. Differences are taken within each round, so that drift between rounds cancels.

    One row per path and method that also measured the shortest pair (``reference``), all times in ns. ``value``: what
    was compared of each run, the median, or the mean if the tool prints no median. ``estimate``, ``low``, ``high``: how
    much longer the path is, over ``n`` rounds, as in `azlatency.summarize`. ``recorded``: the same for what the
    emulator recorded in these runs. ``configured``: the configured delay of both directions with the mean of the
    jitter, less that of the reference. ``error``: measured less recorded. ``holds`` (boolean): whether the interval
    contains the recorded difference; missing without an interval.
    """
    delays = {str(path): delay for path, delay in sums_of_both_directions(links, "mean_ns").items()}
    if not delays:
        return pd.DataFrame(columns=_COLUMNS)
    shortest = min(delays, key=lambda name: delays[name])
    reference = {shortest, str(NetworkPath.parse(shortest).reversed())}
    runs = runs[runs.index.isin(records.index) & runs["round"].notna()]
    differences = []
    for method, of_method in grouped(runs, "method"):
        value = value_column(of_method)
        if value not in records.columns:
            continue
        rounds = of_method.assign(recorded=records[value].reindex(of_method.index))
        for path, far, near in _pairs(rounds[rounds[value].notna()], set(delays) - reference, reference):
            measured, recorded = ((far[column] - near[column]).dropna() for column in (value, "recorded"))
            labels = {"path": path, "method": str(method)}
            what = f"{path} less {shortest}, {method}"
            row = typical_run(measured.sort_index(), confidence=confidence, what=what, labels=labels)
            truth = float(recorded.median())
            differences.append(
                row
                | {
                    "reference": shortest,
                    "value": value,
                    "recorded": truth,
                    "configured": delays[path] - delays[shortest],
                    "error": row["estimate"] - truth,
                    "holds": pd.NA if math.isnan(row["low"]) else row["low"] <= truth <= row["high"],
                    "run_ids": " ".join((*far["run_id"], *near["run_ids"].explode())),
                }
            )
    return pd.DataFrame(differences, columns=_COLUMNS).astype({"holds": "boolean"})


def _pairs(
    rounds: pd.DataFrame, paths: set[str], reference: set[str]
) -> Iterator[tuple[str, pd.DataFrame, pd.DataFrame]]:
    """Yield each path with its runs and the mean runs of the reference, both indexed by the rounds that they share."""
    values = [column for column in ("median_ns", "mean_ns", "recorded") if column in rounds.columns]
    near = rounds[rounds["path"].astype(str).isin(reference)].reset_index().groupby("round", dropna=False)
    if not len(near):
        return
    mean = near[values].mean().assign(run_ids=near["run_id"].agg(list))
    for path, of_path in rounds[rounds["path"].astype(str).isin(paths)].groupby("path", dropna=False):
        far = of_path.reset_index().drop_duplicates("round").set_index("round")
        shared = far.index.intersection(mean.index)
        yield str(path), far.loc[shared], mean.loc[shared]
