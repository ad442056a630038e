"""Measured differences between paths of an emulated network, compared with the configured ones.

A round-trip time is the configured delay of both directions plus the time that the two hosts take, which is not
configured. In the *difference* to the pair of hosts with the shortest delay the host time cancels, as far as the hosts
take as long on either path; what remains can be compared with the configuration.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from azlatency.stats.across_runs.comparison import compare
from azlatency.stats.result import Estimate
from azlatency.studies.path import Path

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfiguredDifference:
    """How much longer a path is than the shortest pair, measured by one method and as configured; all in ns.

    Attributes
    ----------
    path, method, reference : str
        The path, the method that measured it, and the shortest pair.
    configured : float
        Delay of both directions with the mean of the jitter, minus that of the shortest pair.
    achieved : float or None
        The same for the delays that the emulator recorded when idle; ``None`` if it did not record them.
    difference : Estimate
        Mean of the runs' means, minus that of the runs of the shortest pair in both directions (Welch).
    """

    path: str
    method: str
    reference: str
    configured: float
    achieved: float | None
    difference: Estimate

    @property
    def run_ids(self) -> tuple[str, ...]:
        """The runs of the path and of the shortest pair."""
        return self.difference.run_ids

    def holds(self, truth: float | None) -> bool | None:
        """Return whether the interval contains a true value; ``None`` without an interval or a true value."""
        low, high = self.difference.low, self.difference.high
        return None if truth is None or low is None or high is None else low <= truth <= high


def configured_differences(
    links: pd.DataFrame, runs: pd.DataFrame, *, confidence: float = 0.95
) -> list[ConfiguredDifference]:
    """Compare the measured differences between paths with the configured ones.

    Parameters
    ----------
    links : DataFrame
        One row per link, as returned by `azlatency.studies.configured_links`; without rows for a real network.
    runs : DataFrame
        One row per run, as returned by `azlatency.latency`. Means are compared, since only means of delays add up.
    confidence : float
        Level of the intervals, between 0 and 1.

    Returns
    -------
    list of ConfiguredDifference
        Every path of every method that also measured the shortest pair; empty for a real network.

    Notes
    -----
    Welch's t interval of the difference of mean run values.
    """
    if not len(links):
        return []
    sums = {str(name): (_both(links, name, "mean_ns"), _both(links, name, "achieved_ns")) for name in links.index}
    shortest = min(sums, key=lambda name: sums[name][0] or 0.0)
    base, base_achieved = sums[shortest]
    both = {shortest, _back(shortest)}
    differences = []
    for method, of_method in runs[runs["mean_ns"].notna()].groupby("method", sort=False):
        near = of_method[of_method["path"].isin(both)]
        if not len(near):
            continue
        for path, far in of_method[of_method["path"].isin(set(sums) - both)].groupby("path", sort=True):
            configured, achieved = sums[str(path)]
            what = f"{path} less {shortest}, {method}"
            comparison = compare(far, near, value="mean_ns", statistic="mean", confidence=confidence, what=what)
            differences.append(
                ConfiguredDifference(
                    path=str(path),
                    method=str(method),
                    reference=shortest,
                    configured=float(configured or 0.0) - float(base or 0.0),
                    achieved=None if achieved is None or base_achieved is None else achieved - base_achieved,
                    difference=comparison.difference or comparison.ratio,
                )
            )
    return differences


def _back(name: str) -> str:
    return str(Path.parse(name).reversed())


def _both(links: pd.DataFrame, name: str, column: str) -> float | None:
    """Return the sum over both directions of a link; ``None`` if one is unknown."""
    import pandas as pd

    there, back = (links[column].get(link) for link in (name, _back(name)))
    return None if there is None or back is None or pd.isna(there) or pd.isna(back) else float(there) + float(back)
