"""Measured differences between paths of an emulated network, held against the programmed ones.

A round trip holds the programmed delay of both directions and the time that the two hosts take, which nobody
programmed. In the *difference* to the pair of hosts with the shortest delay that part drops out, as far as the hosts
take as long on either path; what remains can be held against what was programmed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from azlatency.stats.across_runs.comparison import compare
from azlatency.stats.result import Estimate
from azlatency.studies.path import Path

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, slots=True)
class KnownStep:
    """How much longer one path is than the shortest pair, by one method, and how much longer it was made; all in ns.

    ``programmed``: sum over both directions with the mean of the jitter, less that of the shortest pair; ``achieved``:
    the same of what the emulator noted when idle, ``None`` where it did not look. ``difference``: mean of the runs'
    means, less that of the shortest pair's runs, both directions of it together (Welch, ``across_runs``).
    """

    path: str
    method: str
    reference: str
    programmed: float
    achieved: float | None
    difference: Estimate

    @property
    def run_ids(self) -> tuple[str, ...]:
        """The runs of the path and of the shortest pair."""
        return self.difference.run_ids

    def holds(self, known: float | None) -> bool | None:
        """Whether the interval contains a known value; ``None`` where there is no interval or nothing is known."""
        low, high = self.difference.low, self.difference.high
        return None if known is None or low is None or high is None else low <= known <= high


def known_steps(links: pd.DataFrame, runs: pd.DataFrame, *, confidence: float = 0.95) -> list[KnownStep]:
    """Every path of every method that measured the shortest pair too; [] for a real network.

    ``links``: `azlatency.configured_links`; ``runs``: `azlatency.latency`. A run enters by its mean, as only
    means of delays add up.
    """
    if not len(links):
        return []
    sums = {str(name): (_both(links, name, "mean_ns"), _both(links, name, "achieved_ns")) for name in links.index}
    shortest = min(sums, key=lambda name: sums[name][0] or 0.0)
    both = {shortest, _back(shortest)}
    found = []
    for method, own in runs[runs["mean_ns"].notna()].groupby("method", sort=False):
        near = own[own["path"].isin(both)]
        if not len(near):
            continue
        for path, far in own[own["path"].isin(set(sums) - both)].groupby("path", sort=True):
            (programmed, achieved), (base, base_achieved) = sums[str(path)], sums[shortest]
            what = f"{path} less {shortest}, {method}"
            compared = compare(far, near, value="mean_ns", statistic="mean", confidence=confidence, what=what)
            found.append(
                KnownStep(
                    str(path), str(method), shortest, float(programmed or 0.0) - float(base or 0.0),
                    None if achieved is None or base_achieved is None else achieved - base_achieved,
                    compared.difference or compared.ratio,
                )
            )  # fmt: skip
    return found


def _back(name: str) -> str:
    return str(Path.parse(name).reversed())


def _both(links: pd.DataFrame, name: str, column: str) -> float | None:
    """The sum over both directions of a link; ``None`` where one is not known."""
    import pandas as pd

    there, back = (links[column].get(each) for each in (name, _back(name)))
    return None if there is None or back is None or pd.isna(there) or pd.isna(back) else float(there) + float(back)
