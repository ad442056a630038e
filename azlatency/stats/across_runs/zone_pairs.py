"""Round-trip times by pair of zones, whichever end started them: the edges of a map of zones."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

import pandas as pd

from azlatency.stats.across_runs.main_method import as_measured, rank_methods
from azlatency.stats.across_runs.path_differences import PathDifferences, path_differences
from azlatency.stats.across_runs.run_values import resolution_of
from azlatency.studies.runs.groups import grouped
from azlatency.studies.runs.left_out import has_complete_repeat
from azlatency.studies.runs.path import NetworkPath
from azlatency.studies.runs.run_table import run_table, whole_run_values
from azlatency.studies.store.study import Study

_COLUMNS = ["first", "second", "path", "method", "value", "quantity", "run_ids", "step", "within"]


def zone_pairs(study: Study, runs: pd.DataFrame, levels: pd.DataFrame) -> pd.DataFrame:
    """Return the values of one kind of measurement by pair of zones; without round trips, the fastest TCP connects.

    ``runs``: as returned by `azlatency.latency`; ``levels``: as returned by `azlatency.stats.placement.widest`.

    One row per run, without those on one host: the names of both zones (``first`` and ``second``, sorted; equal inside
    one zone; a region stands for a zone that is not stated), ``path``, ``method``, ``value`` in ns, what it is
    (``quantity``: ``"mean RTT, qperf"``), the run (``run_ids``) and the step of the printed values (``step``, 0: not
    known). Reported numbers have no path and no run. ``within``: what names a path besides its zones, if that differs
    between paths of two zones: the region, VM sizes, a scenario of several pairs ("westeurope"; empty: nothing).
    ``method``: of several, that which says most about all paths; empty for reported numbers and TCP connects.
    """
    if levels.empty:
        return _frame(_connects(study))
    column, kind, origin = levels.iloc[0][["value", "kind", "origin"]]
    quantity = f"{column.removesuffix('_ns')} RTT, {kind.split()[0]}"
    if origin == "reported":
        rows = study.reported
        rows = rows[(rows["metric"] == "rtt_mean") & rows["segment"].isna()]
        return _frame((row, float(row["value_low"]), f"{quantity}, as reported", "") for _, row in rows.iterrows())
    method = rank_methods(as_measured(levels))[0]
    chosen = runs[(runs["method"] == method) & runs["path"].isin(levels["path"])]
    chosen = chosen[chosen[column].notna() & (chosen["placement"] != "same_host") & ~has_complete_repeat(chosen)]
    if levels["method"].nunique() > 1:
        quantity = f"{column.removesuffix('_ns')} RTT, {method}"
    pairs = _frame((row, float(row[column]), quantity, str(run_id)) for run_id, row in chosen.iterrows())
    return pairs.assign(method=method, step=resolution_of(chosen, column))


def _connects(study: Study) -> Iterable[tuple[Any, float, str, str]]:
    least = whole_run_values(study.metrics, "connect_min")
    table = run_table(study)
    for run_id, row in table[table.index.isin(least.index)].iterrows():
        yield row, float(least[run_id]), f"fastest TCP connect, {row['tool']}", str(run_id)


def _frame(rows: Iterable[tuple[Any, float, str, str]]) -> pd.DataFrame:
    """Return the rows whose zones are known."""
    known = []
    for row, value, quantity, run_id in rows:
        first, second = sorted((_end(row, ""), _end(row, "peer_")))
        if first and second:
            path = str(row["path"]) if run_id else ""
            known.append((first, second, path, "", value, quantity, run_id, 0.0, _besides_zones(row, first, second)))
    return _with_parts(pd.DataFrame(known, columns=_COLUMNS))


def _besides_zones(row: Any, *zones: str) -> tuple[str, ...]:
    """Return the regions, VM sizes and scenario of a run, as far as its zones do not say them."""
    regions, sizes = (
        {name for name in (row.get(column), row.get(f"peer_{column}")) if isinstance(name, str)}
        for column in ("region", "vm_size")
    )
    path = NetworkPath.parse(str(row.get("path", "")))
    scenario = path.scenario if path.shared and path.scenario else ""
    return "–".join(sorted(regions - {*zones})), "–".join(sorted(sizes)), scenario


def _with_parts(frame: pd.DataFrame) -> pd.DataFrame:
    """Name in ``within`` what differs between paths of two zones; a scenario of each pair is another name of it."""
    parts = pd.DataFrame(list(frame["within"]), columns=["region", "vm_size", "scenario"], index=frame.index)
    pairs = frame[["first", "second"]].join(parts)[frame["first"] != frame["second"]].drop_duplicates()
    differ = [name for name in parts if pairs[name].nunique() > 1]
    if pairs.drop_duplicates(["scenario", "first", "second"])["scenario"].is_unique:
        differ = [name for name in differ if name != "scenario"]
    return frame.assign(within=[", ".join(filter(None, row)) for row in parts[differ].to_numpy().tolist()])


def parts_of_paths(runs: pd.DataFrame) -> dict[str, str]:
    """Return what names each path besides its zones, as ``within`` of `zone_pairs`; of the runs of one method."""
    first = runs.drop_duplicates("path")
    pairs = _frame((row, 0.0, "", str(run_id)) for run_id, row in first.iterrows())
    return dict(zip(pairs["path"], pairs["within"], strict=True))


def medians_by_path(pairs: pd.DataFrame) -> pd.DataFrame:
    """Return the median run of each path of `zone_pairs`, and each reported number: ``first``, ``second``, ``value``.

    Both directions of a pair of zones are paths of it, and so is every pair of machines.
    """
    reported = pairs.index.astype(str)
    of_path = pairs.assign(path=pairs["path"].where(pairs["path"] != "", reported))
    return grouped(of_path, ["first", "second", "path"])["value"].median().reset_index()


def pair_differences(pairs: pd.DataFrame) -> PathDifferences:
    """Compare the paths of different pairs of zones, of one method; both directions of a pair are not compared."""
    named = pairs[pairs["method"] != ""]
    group_of = dict(zip(pairs["path"], pairs["first"] + "–" + pairs["second"], strict=True))
    values = {str(path): list(group) for path, group in grouped(named, "path")["value"]}
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
    """Return the pair of zones of a run, or the one zone of both ends; empty if unknown. Sorted, as in `zone_pairs`."""
    ends = {_end(row, ""), _end(row, "peer_")}
    return "" if "" in ends else "–".join(sorted(ends))


def is_own_zone(inside: str, pair: str) -> bool:
    """Return whether a path inside a zone is in a zone of a pair: the reference of what crossing to the other costs."""
    return bool(inside) and inside in pair.split("–")


def short_pair(pair: str) -> str:
    """Return a pair without the words that both names share: "us-south-dal10-a–us-south-dal12-a" is "dal10–dal12".

    A letter alone does not say that two zones are in one data centre: "che02-a–che02-b".
    """
    ends = [re.split(r"[- ]", end) for end in pair.split("–")]
    if len(ends) == 1 or len(ends[0]) != len(ends[1]):
        return pair
    differ = [place for place, words in enumerate(zip(*ends, strict=True)) if len(set(words)) > 1]
    if len(differ) == len(ends[0]):
        return pair
    is_letter = len(differ) == 1 and all(len(end[differ[0]]) == 1 and end[differ[0]].isalpha() for end in ends)
    first = differ[0] - (is_letter and differ[0] > 0 and " " not in pair)
    return "–".join("-".join(end[first : differ[-1] + 1]) for end in ends)


def _end(row: Any, peer: str) -> str:
    """Return the zone of one end without the region in its name, else its region if the other end is elsewhere."""
    zone, region = row[f"{peer}zone"], row[f"{peer}region"]
    if isinstance(zone, str) and zone:
        # "eu-west-1a" of eu-west-1, "westeurope-az1" of westeurope; "rack-1" and "hall-1" are not one zone.
        start, _, end = zone.rpartition("-")
        return end if start and isinstance(region, str) and region.startswith(start) else zone
    elsewhere = isinstance(region, str) and region and row["region"] != row["peer_region"]
    return region if elsewhere else ""
