"""The tail of every run of a study, and what printed percentile tables allow above a limit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from azlatency.stats.result import Estimate
from azlatency.stats.within_run.exceedance import exceedance, table_exceedance
from azlatency.stats.within_run.fan_out import fan_out
from azlatency.stats.within_run.printed_quantiles import percentile_tables
from azlatency.stats.within_run.quantiles import run_quantiles
from azlatency.stats.within_run.remaining_wait import remaining_wait
from azlatency.studies.runs.run_table import name_of
from azlatency.studies.runs.samples import numbered_by_run, round_trips

if TYPE_CHECKING:
    import pandas as pd

    from azlatency.stats.arrays import FloatArray
    from azlatency.studies.store.study import Study

#: Fewest samples of a run whose tail is analysed, most points of its curve, and the levels that are estimated.
FEWEST = 1000
POINTS = 250
LEVELS = (0.5, 0.99, 0.999, 0.9999, 0.999999)


@dataclass(frozen=True, slots=True, kw_only=True)
class RunTail:
    """The tail of one run.

    Attributes
    ----------
    run_id, name, path, method : str
        The run, and how it was measured; the name also says which of several runs of a path it is.
    rtt : ndarray of float64, shape (n,)
        Round-trip times in ns in the order of sending; ``inf`` for lost probes.
    quantiles : tuple of Estimate
        Quantiles at `LEVELS`.
    slower : Estimate
        Share above the limit.
    slowest : Estimate
        Median of the slowest of many parallel calls.
    waits : tuple of Estimate
        Median and p99 of the remaining wait at a random moment; closed loops only.
    curve : tuple of ndarray
        At most 250 round-trip times in ns, falling, and the share of packets at least as slow.
    """

    run_id: str
    name: str
    path: str
    method: str
    rtt: FloatArray
    quantiles: tuple[Estimate, ...]
    slower: Estimate
    slowest: Estimate
    waits: tuple[Estimate, ...]
    curve: tuple[FloatArray, FloatArray]

    @property
    def largest(self) -> float:
        """The largest answered round-trip time in ns."""
        return float(self.rtt[np.isfinite(self.rtt)].max())


def run_tails(
    study: Study, runs: pd.DataFrame, *, limit: float, calls: int = 100, confidence: float = 0.95
) -> list[RunTail]:
    """Describe the tail of every run with at least 1,000 samples.

    Parameters
    ----------
    study : Study
        Data set with samples.
    runs : DataFrame
        Runs to analyse, one row per run, indexed by run_id.
    limit : float
        Limit in ns, of which the exceedance is estimated.
    calls : int
        Number of parallel calls.
    confidence : float
        Level of the intervals, between 0 and 1.

    Returns
    -------
    list of RunTail
        In the order of ``runs``; runs without an answered probe are left out.
    """
    tails = []
    for run_id, samples in numbered_by_run(study, runs).items():
        run, rtt = runs.loc[run_id], round_trips(samples)
        if len(rtt) < FEWEST or not np.isfinite(rtt).any():
            continue
        closed = str(run["closed_loop"]) == "True"
        tails.append(
            RunTail(
                run_id=run_id,
                name=name_of(run),
                path=str(run["path"]),
                method=str(run["method"]),
                rtt=rtt,
                quantiles=tuple(run_quantiles(rtt, LEVELS, confidence)),
                slower=exceedance(rtt, limit, confidence=confidence),
                slowest=fan_out(rtt, calls, confidence=confidence),
                waits=tuple(remaining_wait(rtt, confidence=confidence)) if closed else (),
                curve=exceedance_curve(rtt),
            )
        )
    return tails


def exceedance_curve(rtt: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return round-trip times, falling, and the share of all packets at least as slow.

    At most `POINTS` points, evenly spaced in the logarithm of the share; lost probes have no point.
    """
    if not (n := len(rtt)):
        return rtt, rtt
    ranks = np.unique(np.geomspace(1, n, POINTS).astype("int64"))
    values = np.sort(rtt)[::-1][ranks - 1]
    answered = np.isfinite(values)
    return values[answered], ranks[answered] / n


def printed_exceedances(study: Study, runs: pd.DataFrame, *, limit: float, confidence: float = 0.95) -> list[Estimate]:
    """Bound the share above a limit from every printed percentile table.

    Parameters
    ----------
    study : Study
        Data set with printed percentiles.
    runs : DataFrame
        Runs to use, one row per run, indexed by run_id.
    limit : float
        Limit in ns.
    confidence : float
        Level of the intervals, between 0 and 1.

    Returns
    -------
    list of Estimate
        Shares, labelled with run_id, name, path and method.
    """
    tables = {table.run_id: table for table in percentile_tables(study.quantiles, study.metrics)}
    shares = []
    for run_id, run in runs[runs.index.isin(set(tables))].iterrows():
        table = tables[str(run_id)]
        labels = {"run_id": str(run_id), "name": name_of(run), "path": str(run["path"]), "method": str(run["method"])}
        shares.append(table_exceedance(limit, table.n, table.ranks, table.values, confidence=confidence, labels=labels))
    return shares


def select_longest_runs(quantiles: pd.DataFrame, most: int = 24) -> pd.DataFrame:
    """Return the percentiles from p99 up of the runs with most packets, at most ``most`` rows in their order.

    ``quantiles``: rows with ``run_id``, ``q`` and ``n``, as `azlatency.stats.printed_quantiles` returns them.
    """
    far = quantiles[quantiles["q"] >= 0.99]
    by_run = far.groupby("run_id", sort=False, dropna=False)["n"].agg(["first", "size"])
    selected: list[str] = []
    rows = 0
    for run_id, count in by_run.sort_values("first", ascending=False, kind="stable")["size"].items():
        if rows + count <= most:
            selected.append(str(run_id))
            rows += count
    return far[far["run_id"].isin(selected)]
