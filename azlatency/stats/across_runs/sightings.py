"""What a series shows and no test confirms: shifts near its ends, points away from their level, limits crossed.

A change of level needs five points on both sides and must be significant among all series. What is visible and misses
that is named with the reason, so that nobody takes silence for a constant level.
"""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from azlatency.stats.across_runs.levels import SHORTEST, find_steps
from azlatency.studies.runs.groups import grouped

if TYPE_CHECKING:
    from collections.abc import Iterator

    from azlatency.stats.across_runs.levels import Step
    from azlatency.stats.across_runs.run_history import History
    from azlatency.stats.arrays import FloatArray
    from azlatency.stats.rows import Row

_KEYS = ["path", "method", "metric", "what", "unit"]
_COLUMNS = [*_KEYS, "kind", "at", "n", "date", "date_last", "window_ns", "before", "after", "ratio", "limit",
            "run_ids"]  # fmt: skip
#: Median absolute deviation to standard deviation, and how many of these a point must be away from its level.
_ROBUST, _DEVIATIONS = 1.4826, 3.0
#: Round trips that designs are held against, in ns.
LIMITS = (1e6, 2e6)


def sightings(found: History, *, size: float = 0.15) -> pd.DataFrame:
    """Return what the searched series of a history show without a confirmed change; series that drift are left out.

    ``found``: as returned by `azlatency.history`; ``size``: the smallest relative difference that is named.

    One row per sighting, in the order of the series: ``path``, ``method``, ``metric``, ``what``, ``unit``, the
    ``kind``, the position ``at`` of its first point, ``n`` points, ``date`` and ``date_last``, their start times,
    ``window_ns`` as in the series, ``before`` and ``after`` in canonical units, their ``ratio``, the ``limit`` in ns
    and the ``run_ids`` of these points. Kinds: ``unconfirmed`` (a step that this series alone would show at the error
    of the call, but not among all series), ``oldest`` and ``newest`` (fewer than five points at the beginning or the
    end, all on one side of the level beside them, also of a level that began with an unconfirmed step),
    ``came_and_went`` (fewer than five points away from the level around them), ``on_the_way`` (fewer than five points
    between the levels before and after a step: ``before`` is the level that they left) and ``crossed`` (a mean or
    median round trip that is, for at least five points, on the other side of 1 or 2 ms than most of its points before
    ``at``, and no confirmed change crossed this limit).
    """
    searched = found.series[found.series["level"].notna() & found.series["drift"].isna()].set_index("what")
    rows: list[Row] = []
    for what, group in grouped(found.points[found.points["what"].isin(searched.index)], "what"):
        values, levels = (group[name].to_numpy(dtype="float64") for name in ("value", "level"))
        seen = (
            list(_crossed(values, levels)) if group["unit"].iloc[0] == "ns" and group["metric"].iloc[0] != "p99" else []
        )
        if values.min() > 0:
            steps: list[Step] = []
            if not searched.loc[what, "change_count"]:
                steps = find_steps(values, 1 - float(searched.loc[what, "confidence"]))
            unconfirmed = list(_unconfirmed(values, steps, size))
            if unconfirmed:
                levels = _levels(values, steps)
            seen = [*unconfirmed, *_apart(values, levels, size), *seen]
        rows += [{**_named(group, sighting), "window_ns": searched.loc[what, "window_ns"]} for sighting in seen]
    frame = pd.DataFrame(rows, columns=_COLUMNS)
    dates = {name: pd.to_datetime(frame[name], utc=True).dt.as_unit("us") for name in ("date", "date_last")}
    numbers = dict.fromkeys(("window_ns", "before", "after", "ratio", "limit"), "float64") | {
        "at": "int64",
        "n": "int64",
    }
    return frame.assign(**dates).astype(numbers | dict.fromkeys([*_KEYS, "kind", "run_ids"], "str"))


def _named(points: pd.DataFrame, sighting: Row) -> Row:
    chosen = points.iloc[sighting["at"] : sighting["at"] + sighting["n"]]
    named = {name: points[name].iloc[0] for name in _KEYS}
    run_ids = " ".join(chosen["run_ids"])
    ratio = sighting["after"] / sighting["before"]
    return {**named, "date": chosen["date"].iloc[0], "date_last": chosen["date"].iloc[-1], "ratio": ratio,
            "run_ids": run_ids, **sighting}  # fmt: skip


def _levels(values: FloatArray, steps: list[Step]) -> FloatArray:
    """Return for each point the median of the part between two steps that it belongs to."""
    parts = np.split(values, [step.at for step in steps])
    return np.repeat([float(np.median(part)) for part in parts], [len(part) for part in parts])


def _unconfirmed(values: FloatArray, steps: list[Step], size: float) -> Iterator[Row]:
    """Yield the steps of at least this size, which one series alone would show."""
    levels = _levels(values, steps)
    for step, end in zip(steps, [*(step.at for step in steps), len(values)][1:], strict=True):
        before, after = float(levels[step.at - 1]), float(levels[step.at])
        if abs(np.log(after / before)) >= np.log1p(size):
            yield {"kind": "unconfirmed", "at": step.at, "n": end - step.at, "before": before, "after": after}


def _apart(values: FloatArray, levels: FloatArray, size: float) -> Iterator[Row]:
    """Yield the stretches of fewer than five points that are away from their level, on one side."""
    away = np.log(values / levels)
    # What the points of a level do all the time is no sighting.
    usual = _DEVIATIONS * _ROBUST * float(np.median(np.abs(away)))
    sides = np.where(np.abs(away) >= max(np.log1p(size), usual), np.sign(away), 0).astype(int)
    at = 0
    for side, group in groupby(sides):
        n = len(list(group))
        if side and n < SHORTEST:
            level, middle = float(levels[at]), float(np.median(values[at : at + n]))
            kind, before, after = "came_and_went", level, middle
            if at == 0:
                kind, before, after = "oldest", middle, level
            elif at + n == len(values):
                kind = "newest"
            elif min(levels[at - 1], levels[at + n]) < middle < max(levels[at - 1], levels[at + n]):
                kind, before = "on_the_way", float(levels[at - 1])
            yield {"kind": kind, "at": at, "n": n, "before": before, "after": after}
        at += n


def _crossed(values: FloatArray, levels: FloatArray) -> Iterator[Row]:
    """Yield where a series came to stay on the other side of a limit than most of its points before."""
    for limit in LIMITS:
        below = values < limit
        is_confirmed = (levels < limit).any() and not (levels < limit).all()
        at = int(np.flatnonzero(below != below[-1])[-1]) + 1 if (below != below[-1]).any() else 0
        if is_confirmed or not SHORTEST <= at <= len(values) - SHORTEST:
            continue
        before, after = float(np.median(values[:at])), float(np.median(values[at:]))
        if (before < limit) != (after < limit):
            row = {"kind": "crossed", "at": at, "n": len(values) - at, "before": before, "after": after}
            yield {**row, "limit": limit}
