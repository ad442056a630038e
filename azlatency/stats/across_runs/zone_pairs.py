"""Round-trip times by pair of zones, whichever end started them: the edges of a map of zones."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from statistics import median
from typing import TYPE_CHECKING, Any

from azlatency.stats.across_runs.path_differences import PathDifferences, path_differences
from azlatency.studies.runs.run_table import run_table, whole_run_rows

if TYPE_CHECKING:
    import pandas as pd

    from azlatency.studies.store.study import Study


@dataclass(frozen=True, slots=True, kw_only=True)
class ZonePair:
    """Run values between two zones, or inside one.

    Attributes
    ----------
    first, second : str
        Names of the zones, sorted; equal inside one zone. A region stands for a zone that is not stated.
    values : tuple of float
        One value per run in ns.
    quantity : str
        What the values are, for example ``"mean RTT, qperf"``.
    run_ids : tuple of str
        The runs; empty for reported numbers.
    path_of : tuple of str
        The path of each value; empty for reported numbers.
    method : str
        The method of all values; empty for reported numbers and for several methods.
    """

    first: str
    second: str
    values: tuple[float, ...]
    quantity: str
    run_ids: tuple[str, ...] = ()
    path_of: tuple[str, ...] = ()
    method: str = ""

    @property
    def paths(self) -> tuple[str, ...]:
        """The paths between the two zones."""
        return tuple(dict.fromkeys(self.path_of))

    @property
    def by_path(self) -> dict[str, list[float]]:
        """The values of each path; empty for reported numbers."""
        values: dict[str, list[float]] = {}
        for path, value in zip(self.path_of, self.values, strict=bool(self.path_of)):
            values.setdefault(path, []).append(value)
        return values

    @property
    def typical(self) -> tuple[float, ...]:
        """The median run of each path in ns: of both directions, and of every pair of machines."""
        return tuple(median(values) for values in self.by_path.values()) or self.values

    @property
    def inside(self) -> bool:
        """Whether both ends are in one zone."""
        return self.first == self.second


def zone_pairs(study: Study, runs: pd.DataFrame, levels: pd.DataFrame) -> list[ZonePair]:
    """Return the values of one kind of measurement by pair of zones.

    Parameters
    ----------
    study : Study
        An imported study.
    runs : DataFrame
        One row per run, as returned by `azlatency.latency`.
    levels : DataFrame
        Conditions of one kind of measurement, as returned by `azlatency.stats.placement.widest`.

    Returns
    -------
    list of ZonePair
        In the order of the runs, without those on one host. Without round trips, the fastest TCP connects of the study.
    """
    if levels.empty:
        return _grouped(_connects(study))
    column, kind, origin = levels.iloc[0][["value", "kind", "origin"]]
    quantity = f"{column.removesuffix('_ns')} RTT, {kind.split()[0]}"
    if origin == "reported":
        rows = study.reported
        rows = rows[(rows["metric"] == "rtt_mean") & rows["segment"].isna()]
        return _grouped((row, float(row["value_low"]), f"{quantity}, as reported", "") for _, row in rows.iterrows())
    methods = set(levels["method"])
    chosen = runs[runs["method"].isin(methods) & runs["path"].isin(levels["path"])]
    chosen = chosen[chosen[column].notna() & (chosen["placement"] != "same_host")]
    pairs = _grouped((row, float(row[column]), quantity, str(run_id)) for run_id, row in chosen.iterrows())
    method = methods.pop() if len(methods) == 1 else ""
    return [replace(pair, method=method) for pair in pairs]


def _connects(study: Study) -> Iterable[tuple[Any, float, str, str]]:
    least = whole_run_rows(study.metrics, "connect_min")["value"]
    table = run_table(study)
    for run_id, row in table[table.index.isin(least.index)].iterrows():
        yield row, float(least[run_id]), f"fastest TCP connect, {row['tool']}", str(run_id)


def _grouped(rows: Iterable[tuple[Any, float, str, str]]) -> list[ZonePair]:
    pairs: dict[tuple[str, str], ZonePair] = {}
    for row, value, quantity, run_id in rows:
        ends = _end(row, ""), _end(row, "peer_")
        if not ends[0] or not ends[1]:
            continue
        first, second = sorted(ends)
        before = pairs.get((first, second))
        pairs[first, second] = ZonePair(
            first=first,
            second=second,
            values=(*(before.values if before else ()), value),
            quantity=quantity,
            run_ids=(*(before.run_ids if before else ()), *([run_id] if run_id else [])),
            path_of=(*(before.path_of if before else ()), *([str(row["path"])] if run_id else [])),
        )
    return list(pairs.values())


def pair_differences(pairs: Sequence[ZonePair]) -> PathDifferences:
    """Compare the paths of different pairs of zones, of one method; both directions of a pair are not compared."""
    values = {path: some for pair in pairs if pair.method for path, some in pair.by_path.items()}
    group_of = {path: f"{pair.first}–{pair.second}" for pair in pairs for path in pair.paths}
    return path_differences(values, group_of=group_of)


def zones_of(runs: pd.DataFrame) -> dict[str, tuple[str, str]]:
    """Return the zones of client and server by path, where both are known and the path left its host."""
    found: dict[str, tuple[str, str]] = {}
    if not {"zone", "peer_zone", "region", "peer_region", "placement"} <= set(runs.columns):
        return found
    for _, row in runs.drop_duplicates("path").iterrows():
        ends = _end(row, ""), _end(row, "peer_")
        if all(ends) and row["placement"] != "same_host":
            found[str(row["path"])] = ends
    return found


def pair_of_ends(row: Any) -> str:
    """Return the pair of zones of a run, or the one zone of both ends; empty if unknown. Sorted, as in a `ZonePair`."""
    ends = {_end(row, ""), _end(row, "peer_")}
    return "" if "" in ends else "–".join(sorted(ends))


def short_pair(pair: str) -> str:
    """Return a pair without the words that both names share: "us-south-dal10-a–us-south-dal12-a" is "dal10–dal12"."""
    ends = [re.split(r"[- ]", end) for end in pair.split("–")]
    if len(ends) == 1 or len(ends[0]) != len(ends[1]):
        return pair
    differ = [place for place, words in enumerate(zip(*ends, strict=True)) if len(set(words)) > 1]
    return "–".join("-".join(end[differ[0] : differ[-1] + 1]) for end in ends)


def _end(row: Any, peer: str) -> str:
    """Return the zone of one end without the region in its name, else its region if the other end is elsewhere."""
    zone, region = row[f"{peer}zone"], row[f"{peer}region"]
    if isinstance(zone, str) and zone:
        # "eu-west-1a" of eu-west-1, "westeurope-az1" of westeurope; "rack-1" and "hall-1" are not one zone.
        start, _, end = zone.rpartition("-")
        return end if start and isinstance(region, str) and region.startswith(start) else zone
    elsewhere = isinstance(region, str) and region and row["region"] != row["peer_region"]
    return region if elsewhere else ""
