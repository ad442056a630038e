"""The tail of every run of a study, and what printed percentile tables allow above a limit."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pandas as pd

from azlatency.stats.arrays import FloatArray
from azlatency.stats.rows import ESTIMATE
from azlatency.stats.within_run.exceedance import exceedance, histogram_exceedance, table_exceedance
from azlatency.stats.within_run.fan_out import fan_out
from azlatency.stats.within_run.printed_quantiles import percentile_tables
from azlatency.stats.within_run.quantiles import quantiles
from azlatency.stats.within_run.remaining_wait import remaining_wait
from azlatency.studies.runs.groups import grouped
from azlatency.studies.runs.run_table import frequency_tables, name_of
from azlatency.studies.runs.samples import numbered_by_run, round_trips
from azlatency.studies.store.study import Study

#: Fewest samples of a run whose tail is analysed, most points of its curve, and the levels that are estimated.
FEWEST = 1000
POINTS = 250
LEVELS = (0.5, 0.99, 0.999, 0.9999, 0.999999)
#: Most rows of percentiles of the longest runs.
_MOST_ROWS = 24
#: Columns of every frame, and those of an estimate.
_RUN = ["run_id", "name", "path", "method"]
_ESTIMATE = [*ESTIMATE, "n_effective", "flags", "run_ids"]


class RunTails(NamedTuple):
    """The tails of runs with samples; every frame has ``run_id``, ``name``, ``path`` and ``method``.

    Attributes
    ----------
    runs : DataFrame
        One row per run: ``packets`` (int64, lost ones included) and ``largest_ns`` (float64), the slowest answered one.
    quantiles : DataFrame
        One row per run and level ``q`` (float64) of `LEVELS`: an estimate in ns.
    above : DataFrame
        One row per run: the share above the limit, between 0 and 1.
    slowest : DataFrame
        One row per run: the median of the slowest of many parallel calls in ns, and ``block_maxima`` (float64, ns), the
        same of as many consecutive packets.
    waits : DataFrame
        Two rows per run of a closed loop: median and p99 of the remaining wait at a random moment in ns, and ``mean``
        (float64, ns), its mean.
    curve : DataFrame
        At most 250 rows per run: ``rtt_ns`` (float64), falling, and ``share`` (float64) of packets at least as slow.
    """

    runs: pd.DataFrame
    quantiles: pd.DataFrame
    above: pd.DataFrame
    slowest: pd.DataFrame
    waits: pd.DataFrame
    curve: pd.DataFrame


def run_tails(
    study: Study, runs: pd.DataFrame, *, limit: float, calls: int = 100, confidence: float = 0.95
) -> RunTails:
    """Describe the tail of every run with at least 1,000 samples and an answered probe, in the order of ``runs``.

    ``limit``: in ns, of which the exceedance is estimated; ``calls``: the number of parallel calls.
    """
    tails: dict[str, list[pd.DataFrame]] = {name: [] for name in RunTails._fields}
    for run_id, samples in numbered_by_run(study, runs).items():
        run, rtt = runs.loc[run_id], round_trips(samples)
        answered = np.isfinite(rtt)
        if len(rtt) < FEWEST or not answered.any():
            continue
        values, shares = exceedance_curve(rtt)
        of_run = {
            "runs": pd.DataFrame({"packets": [len(rtt)], "largest_ns": [float(rtt[answered].max())]}),
            "quantiles": quantiles(rtt, LEVELS, confidence),
            "above": exceedance(rtt, limit, confidence=confidence),
            "slowest": fan_out(rtt, calls, confidence=confidence),
            "curve": pd.DataFrame({"rtt_ns": values, "share": shares}),
        }
        if str(run["closed_loop"]) == "True":
            of_run["waits"] = remaining_wait(rtt, confidence=confidence)
        for name, frame in of_run.items():
            tails[name].append(_labelled(frame, run_id, run))
    columns = {
        "runs": ["packets", "largest_ns"],
        "quantiles": ["q", *_ESTIMATE],
        "above": ["limit", *_ESTIMATE, "count"],
        "slowest": ["n_calls", *_ESTIMATE, "block_maxima"],
        "waits": ["q", *_ESTIMATE, "mean"],
        "curve": ["rtt_ns", "share"],
    }
    return RunTails(*(_joined(frames, columns[name]) for name, frames in tails.items()))


def _labelled(frame: pd.DataFrame, run_id: str, run: pd.Series) -> pd.DataFrame:
    """Return a frame about one run with the columns that name it."""
    labels = {"run_id": run_id, "name": name_of(run), "path": str(run["path"]), "method": str(run["method"])}
    return frame.assign(**labels, **({"run_ids": run_id} if "run_ids" in frame else {}))


def _joined(frames: list[pd.DataFrame], columns: list[str]) -> pd.DataFrame:
    """Return the rows of all runs, the columns that name the run first."""
    if not frames:
        return pd.DataFrame(columns=[*_RUN, *columns])
    joined = pd.concat(frames, ignore_index=True)
    return joined[[*_RUN, *joined.columns.difference(_RUN, sort=False)]]


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


def printed_exceedances(study: Study, runs: pd.DataFrame, *, limit: float, confidence: float = 0.95) -> pd.DataFrame:
    """Bound the share above ``limit`` (ns) by every printed table: of classes, which counts packets, else percentiles.

    One row per run with a table: ``run_id``, ``name``, ``path``, ``method`` and the share, between 0 and 1.
    """
    tables = {table.run_id: table for table in percentile_tables(study.quantiles, study.metrics)}
    shares = []
    classes = dict(iter(grouped(frequency_tables(study), "run_id")))
    for run_id, run in runs[runs.index.isin([*tables, *classes])].iterrows():
        if run_id in classes:
            ends = (classes[run_id][name].to_numpy("float64") for name in ("low_ns", "high_ns", "count"))
            share = histogram_exceedance(limit, *ends, confidence=confidence)
        else:
            table = tables[str(run_id)]
            share = table_exceedance(limit, table.n, table.ranks, table.values, confidence=confidence)
        shares.append(_labelled(share, str(run_id), run))
    return _joined(shares, ["limit", *_ESTIMATE])


def select_longest_runs(quantiles: pd.DataFrame) -> pd.DataFrame:
    """Return the percentiles from p99 up of the runs with most packets, at most 24 rows in their order.

    ``quantiles``: rows with ``run_id``, ``q`` and ``n``, as `azlatency.stats.printed_quantiles` returns them.
    """
    far = quantiles[quantiles["q"] >= 0.99]
    by_run = far.groupby("run_id", sort=False, dropna=False)["n"].agg(["first", "size"])
    selected: list[str] = []
    rows = 0
    for run_id, count in by_run.sort_values("first", ascending=False, kind="stable")["size"].items():
        if rows + count <= _MOST_ROWS:
            selected.append(str(run_id))
            rows += count
    return far[far["run_id"].isin(selected)]
