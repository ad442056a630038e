"""Measured differences between paths of an emulated network, compared with the delays that the emulator recorded.

A round-trip time is the delay of both directions plus the time that the two hosts take, which nobody records. In the
*difference* to the pair of hosts with the shortest delay the host time cancels, as far as the hosts take as long on
either path; what remains is the error of the measurement.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from azlatency.stats.across_runs.run_values import value_column
from azlatency.stats.across_runs.typical_run import typical_run
from azlatency.stats.result import Estimate
from azlatency.studies.emulation import sums_of_both_directions
from azlatency.studies.runs.groups import grouped
from azlatency.studies.runs.path import NetworkPath

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, slots=True, kw_only=True)
class EmulatedDifference:
    """How much longer a path is than the shortest pair: measured by one method, recorded, and configured; all in ns.

    Attributes
    ----------
    path, method, reference : str
        The path, the method that measured it, and the shortest pair.
    value : {"median_ns", "mean_ns"}
        What was compared of each run: the median, or the mean if the tool prints no median.
    difference : Estimate
        Median over the rounds of the path's run less the mean of the reference's runs in both directions.
    recorded : float
        The same for what the emulator recorded in these runs.
    configured : float
        Configured delay of both directions with the mean of the jitter, less that of the reference.
    """

    path: str
    method: str
    reference: str
    value: str
    difference: Estimate
    recorded: float
    configured: float

    @property
    def run_ids(self) -> tuple[str, ...]:
        """The runs of the path and of the shortest pair."""
        return self.difference.run_ids

    @property
    def holds(self) -> bool | None:
        """Whether the interval contains the recorded difference; ``None`` without an interval."""
        low, high = self.difference.low, self.difference.high
        return None if low is None or high is None else low <= self.recorded <= high

    @property
    def error(self) -> float | None:
        """Measured less recorded difference, in ns."""
        return None if self.difference.estimate is None else self.difference.estimate - self.recorded


def emulated_differences(
    links: pd.DataFrame, records: pd.DataFrame, runs: pd.DataFrame, *, confidence: float = 0.95
) -> list[EmulatedDifference]:
    """Compare the measured differences between paths with those that the emulator recorded.

    Parameters
    ----------
    links : DataFrame
        One row per link, as returned by `azlatency.studies.configured_links`; without rows for a real network.
    records : DataFrame
        One row per run, as returned by `azlatency.studies.recorded_round_trips`.
    runs : DataFrame
        One row per run, as returned by `azlatency.latency`. Runs without a round are left out.
    confidence : float
        Level of the intervals, between 0 and 1.

    Returns
    -------
    list of EmulatedDifference
        Every path of every method that also measured the shortest pair; empty for a real network.

    Notes
    -----
    Differences are taken within each round, so that drift between rounds cancels. Their median and its interval are
    those of `azlatency.stats.typical_run`.
    """
    delays = {str(path): delay for path, delay in sums_of_both_directions(links, "mean_ns").items()}
    if not delays:
        return []
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
            labels = {"path": path, "method": method}
            what = f"{path} less {shortest}, {method}"
            difference = typical_run(measured.sort_index(), confidence=confidence, what=what, labels=labels)
            run_ids = (*far["run_id"], *near["run_ids"].explode())
            differences.append(
                EmulatedDifference(
                    path=path,
                    method=str(method),
                    reference=shortest,
                    value=value,
                    difference=replace(difference, run_ids=run_ids),
                    recorded=float(recorded.median()),
                    configured=delays[path] - delays[shortest],
                )
            )
    return differences


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
