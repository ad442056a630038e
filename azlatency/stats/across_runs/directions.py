"""Runs as values of directions: initiator to responder, or sender to receiver."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any, Literal, NamedTuple

import numpy as np
import pandas as pd

from azlatency.stats.across_runs.run_values import Order, RunValues, floats, geometric_mean, in_time_order, run_ids_of
from azlatency.studies.runs.path import Endpoint, NetworkPath

Metric = Literal["latency", "throughput", "retransmits"]


class Directed(NamedTuple):
    """Value of one run and its direction: initiator to responder, or sender to receiver."""

    start: str
    end: str
    round: Hashable | None
    value: float
    run_id: str | None = None


def data_path(path: NetworkPath, test: str | None) -> NetworkPath | None:
    """Return the path from the sender of a stream to its receiver: a reverse test sends from server to client.

    ``None`` for a path that names no direction and for a test of both directions at once.
    """
    if (path.scenario is not None and path.ends is None) or "-bidir" in (test or ""):
        return None
    return path.reversed() if (test or "").endswith("-reverse") else path


def by_data_direction(runs: pd.DataFrame) -> pd.DataFrame:
    """Return runs with their paths as "sender → receiver", as far as they name both."""
    if "path" not in runs.columns or "test" not in runs.columns:
        return runs
    paths = [
        str(data_path(path, test if isinstance(test, str) else None) or path)
        for path, test in zip(map(NetworkPath.parse, runs["path"]), runs["test"], strict=True)
    ]
    return runs.assign(path=pd.Series(paths, runs.index, dtype="str"))


def without_direction(methods: pd.Series) -> pd.Series:
    """Return methods without the word for a reverse test: only the direction of its data differs."""
    return methods.str.replace(" stream-reverse", "", regex=False)


def in_time_order_of_paths(frame: pd.DataFrame) -> tuple[pd.DataFrame, Order]:
    """Return the runs of each path in the order of measuring, and where it comes from: the least certain of them."""
    if "path" not in frame.columns or not len(frame):
        return frame, "unknown"
    parts = [in_time_order(part) for _, part in frame.groupby("path", sort=False, dropna=False)]
    orders: tuple[Order, ...] = ("unknown", "file", "round", "started_at")
    return pd.concat([part for part, _ in parts]), min((order for _, order in parts), key=orders.index)


def directed(frame: pd.DataFrame, metric: Metric, column: str) -> tuple[list[Directed], dict[str, str]]:
    """Return the runs with a direction and a finite value, and the zone of each node.

    Nodes are the ends of ``path`` if it names both, else the zones, with their regions if there are several. Round
    trips run from initiator to responder, streams from sender to receiver.
    """
    zones: dict[str, str] = {}
    runs: list[Directed] = []
    paths, near_zones, far_zones = column_cells(frame, "path"), _zone_names(frame, ""), _zone_names(frame, "peer_")
    rounds, tests = column_cells(frame, "round"), column_cells(frame, "test")
    run_ids = run_ids_of(frame) or (None,) * len(frame)
    for row, number in enumerate(floats(frame[column])):
        near, far = near_zones[row], far_zones[row]
        ends = _ends(paths[row], near, far)
        path = (
            None if ends is None else data_path(NetworkPath.between(*ends), None if metric == "latency" else tests[row])
        )
        direction = None if path is None else path.ends
        if ends is None or direction is None or not math.isfinite(number):
            continue
        zones.update({end: str(zone) for end, zone in zip(ends, (near, far), strict=True) if zone is not None})
        if direction[0] != direction[1] or near == far:
            runs.append(Directed(*direction, rounds[row], float(number), run_ids[row]))
    return runs, zones


def _zone_names(frame: pd.DataFrame, end: Literal["", "peer_"]) -> list[str | None]:
    """Return the physical zone of one end of each run, else its zone; with the region if the frame has several."""
    cells = [column_cells(frame, end + name) for name in ("physical_zone", "region", "zone")]
    regions = {*column_cells(frame, "region"), *column_cells(frame, "peer_region")} - {None}
    return [
        physical or (zone and (Endpoint(region=region, zone=zone).place_name() if len(regions) > 1 else str(zone)))
        for physical, region, zone in zip(*cells, strict=True)
    ]


def column_cells(frame: pd.DataFrame, column: str) -> list[Any]:
    """Return a column as a list with ``None`` for missing values; all ``None`` if there is no such column."""
    if column not in frame.columns:
        return [None] * len(frame)
    present = frame[column].notna()
    return [cell if ok else None for cell, ok in zip(frame[column], present, strict=True)]


def _ends(path: Any, near: Any, far: Any) -> tuple[str, str] | None:
    if path is not None and (ends := NetworkPath.parse(path).ends) is not None:
        return ends
    return None if near is None or far is None else (zone_node(near), zone_node(far))


def zone_node(zone: str) -> str:
    """Return the name of the node of a zone: ``zone 1``; a name with its region stays as it is."""
    return zone if " zone " in zone else f"zone {zone}"


class DirectedValues(NamedTuple):
    """Runs by direction, of zones or hosts (``nodes``) in order of appearance.

    ``by_round`` has a value for each known round, the geometric mean of its runs. ``resolution`` is the largest step of
    the printed values, in ``unit`` as they are.
    """

    nodes: tuple[str, ...]
    runs: dict[tuple[str, str], list[Directed]]
    by_round: dict[tuple[str, str], dict[Hashable, float]]
    unit: str
    resolution: float
    order: Order

    def numbers(self, direction: tuple[str, str]) -> list[float]:
        """Return the value of each run of a direction."""
        return [run.value for run in self.runs.get(direction, ())]

    def values(self, numbers: Iterable[float], order: Order) -> RunValues:
        """Return numbers as run values."""
        values = np.array(list(numbers), dtype=float)
        return RunValues(values=values, rounds=None, missing=0, unit=self.unit, resolution=self.resolution, order=order)

    def run_ids(
        self, directions: Iterable[tuple[str, str]], rounds: Iterable[Hashable] | None = None
    ) -> tuple[str, ...]:
        """Return the runs of some directions, in some rounds or (``None``) in all."""
        named = [run for way in directions for run in self.runs.get(way, ()) if run.run_id is not None]
        chosen = {run.round for run in named} if rounds is None else set(rounds)
        return tuple(str(run.run_id) for run in named if run.round in chosen)


def group_directions(runs: Sequence[Directed], unit: str, resolution: float, order: Order) -> DirectedValues:
    """Group directed runs by direction and round."""
    of_direction: dict[tuple[str, str], list[Directed]] = {}
    rounds: dict[tuple[str, str], dict[Hashable, list[float]]] = {}
    for run in runs:
        of_direction.setdefault((run.start, run.end), []).append(run)
        of_round = rounds.setdefault((run.start, run.end), {})
        if run.round is not None:
            of_round.setdefault(run.round, []).append(run.value)
    nodes = dict.fromkeys(end for run in runs for end in (run.start, run.end))
    by_round = {way: {key: geometric_mean(of_key) for key, of_key in keys.items()} for way, keys in rounds.items()}
    return DirectedValues(tuple(nodes), of_direction, by_round, unit, resolution, order)


def in_different_zones(i: str, j: str, zones: Mapping[str, str]) -> bool:
    """Return whether two nodes are in different zones, as far as their zones are known."""
    return i != j and (zones.get(i) is None or zones.get(i) != zones.get(j))
