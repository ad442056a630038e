"""What a series shows and no test confirms: shifts near its ends, points away from their level, limits crossed.

A change of level needs five points on both sides and must be significant among all series. What is visible and misses
that is named with the reason, so that nobody takes silence for a constant level.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from azlatency.stats.across_runs.levels import SHORTEST, Step, find_steps
from azlatency.stats.across_runs.run_history import History, has_ended
from azlatency.stats.arrays import FloatArray
from azlatency.stats.rows import Row
from azlatency.studies.runs.groups import grouped
from azlatency.studies.runs.path import NetworkPath

_KEYS = ["path", "method", "metric", "what", "unit"]
_OF_SERIES = ["window_ns", "spacing_ns", "step"]
_COLUMNS = [*_KEYS, "kind", "at", "n", "date", "date_last", *_OF_SERIES, "before", "after", "ratio", "beside", "limit",
            "ended", "run_ids"]  # fmt: skip
#: Median absolute deviation to standard deviation, and how many of these a point must be away from its level.
_ROBUST, _DEVIATIONS = 1.4826, 3.0
#: Printed steps that rounding may explain, with room for the representation of the numbers.
_STEPS = 2 * (1 + 1e-9)
#: Flags of a series that is only too short.
_SHORT = {"few_clusters", "nights_missing"}
#: Round trips that designs are held against, in ns.
LIMITS = (1e6, 2e6)


def sightings(found: History, *, size: float = 0.15) -> pd.DataFrame:
    """Return what the series of a history show without a confirmed change; series that drift are left out.

    ``found``: as returned by `azlatency.history`; ``size``: the smallest relative difference that is named.

    One row per sighting, in the order of the series: ``path``, ``method``, ``metric``, ``what``, ``unit``, the
    ``kind``, the position ``at`` of its first point, ``n`` points, ``date`` and ``date_last``, their start times,
    ``window_ns``, ``spacing_ns`` and ``step`` as in the series, ``before`` and ``after`` in canonical units, their
    ``ratio``, the ``limit`` in ns, whether the series has ``ended`` and the ``run_ids`` of these points. Kinds:
    ``unconfirmed`` (a step that this series alone would show at the error of the call, but not among all series),
    ``oldest`` and ``newest`` (fewer than five points at the beginning or the end, all on one side of the level beside
    them, also of a level that began with an unconfirmed step; at the end also of the ``beside`` points before them; in
    published windows also at least half of ``size`` away, beyond all points before, where a path with a common end is
    newest), ``came_and_went`` (fewer than five points away from the level around them), ``on_the_way`` (fewer than
    five points between the levels before and after a step: ``before`` is the level that they left), ``short`` (the
    first and the last point of a series below ten points) and ``crossed`` (a mean or median round trip that is, for at
    least five points, on the other side of 1 or 2 ms than most of its points before ``at``, and no confirmed change
    crossed this limit). Points that are at most two printed steps away are left out, and what the points of a series
    do all the time.
    """
    series = found.series.set_index("what")
    searched = series[series["level"].notna() & series["drift"].isna()]
    is_short = ["few_clusters" in flags.split() and _SHORT.issuperset(flags.split()) for flags in series["flags"]]
    short = series[np.array(is_short, dtype=bool) & series["date_first"].notna()]
    rows: list[Row] = []
    for what, group in grouped(found.points[found.points["what"].isin([*searched.index, *short.index])], "what"):
        values, levels = (group[name].to_numpy(dtype="float64") for name in ("value", "level"))
        of_series = {name: float(series.loc[what, name]) for name in _OF_SERIES}
        if what in short.index:
            rows += [_named(group, sighting) | of_series for sighting in _from_first_to_last(values, of_series, size)]
            continue
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
            apart = list(_apart(values, levels, of_series["step"], size))
            if not any(sighting["kind"] == "newest" for sighting in apart):
                apart += _apart_from_five(values, levels, of_series["step"], size)
            seen = [*unconfirmed, *apart, *seen]
        rows += [_named(group, sighting) | of_series for sighting in seen]
    in_use = searched.index[~has_ended(searched)]
    rows += _moved_alike(rows, found.points[found.points["what"].isin(in_use)], searched["step"], size)
    frame = pd.DataFrame(rows, columns=_COLUMNS)
    dates = {name: pd.to_datetime(frame[name], utc=True).dt.as_unit("us") for name in ("date", "date_last")}
    numbers = dict.fromkeys((*_OF_SERIES, "before", "after", "ratio", "limit"), "float64")
    numbers |= dict.fromkeys(("at", "n", "beside"), "int64")
    ended = frame["what"].isin(series.index[has_ended(series)])
    return frame.assign(ended=ended, **dates).astype(numbers | dict.fromkeys([*_KEYS, "kind", "run_ids"], "str"))


def _named(points: pd.DataFrame, sighting: Row) -> Row:
    chosen = points.iloc[sighting["at"] : sighting["at"] + sighting["n"]]
    named = {name: points[name].iloc[0] for name in _KEYS}
    run_ids = " ".join(chosen["run_ids"])
    ratio = sighting["after"] / sighting["before"]
    return {**named, "date": chosen["date"].iloc[0], "date_last": chosen["date"].iloc[-1], "ratio": ratio, "beside": 0,
            "run_ids": run_ids, **sighting}  # fmt: skip


def _moved_alike(rows: list[Row], points: pd.DataFrame, steps: pd.Series, size: float) -> Iterator[Row]:
    """Yield the newest windows of series that moved as those of a named one with a common end, at its date.

    They moved by at least half of ``size``, to where no point was before. Only published windows share a date.
    """
    newest = [row for row in rows if row["kind"] == "newest" and row["window_ns"] > 0]
    named = {row["what"] for row in rows if row["kind"] in ("newest", "unconfirmed")}
    for what, group in grouped(points[~points["what"].isin(named)], "what") if newest else ():
        values, levels = (group[name].to_numpy(dtype="float64") for name in ("value", "level"))
        for row in newest:
            at = len(values) - row["n"]
            is_near = bool(_ends(group["path"].iloc[0]) & _ends(row["path"]))
            is_same = is_near and all(group[name].iloc[0] == row[name] for name in ("method", "metric"))
            if not is_same or at < SHORTEST or group["date"].iloc[at] != row["date"] or levels[at - 1] != levels[-1]:
                continue
            before, last = float(levels[-1]), values[at:]
            side = np.sign(np.log(row["ratio"]))
            is_record = last.max() < values[:at].min() if side < 0 else last.min() > values[:at].max()
            if is_record and (_sides(last, before, float(steps[what]), np.log1p(size / 2)) == side).all():
                sighting = {"kind": "newest", "at": at, "n": row["n"], "before": _others(values, levels, at, row["n"])}
                of_series = {name: row[name] for name in _OF_SERIES} | {"step": float(steps[what])}
                yield _named(group, sighting | {"after": float(np.median(last))}) | of_series
                break


def _ends(path: str) -> set[str]:
    return set(NetworkPath.parse(path).ends or ())


def _levels(values: FloatArray, steps: list[Step]) -> FloatArray:
    """Return for each point the median of the part between two steps that it belongs to."""
    parts = np.split(values, [step.at for step in steps])
    return np.repeat([float(np.median(part)) for part in parts], [len(part) for part in parts])


def _others(values: FloatArray, levels: FloatArray, at: int, n: int) -> float:
    """Return the median of the other points of the level of a stretch."""
    is_other = levels == levels[at]
    is_other[at : at + n] = False
    return float(np.median(values[is_other])) if is_other.any() else float(levels[at])


def _unconfirmed(values: FloatArray, steps: list[Step], size: float) -> Iterator[Row]:
    """Yield the steps of at least this size, which one series alone would show."""
    levels = _levels(values, steps)
    for step, end in zip(steps, [*(step.at for step in steps), len(values)][1:], strict=True):
        before, after = float(levels[step.at - 1]), float(levels[step.at])
        if abs(np.log(after / before)) >= np.log1p(size):
            yield {"kind": "unconfirmed", "at": step.at, "n": end - step.at, "before": before, "after": after}


def _usual(values: FloatArray, levels: FloatArray) -> tuple[float, float]:
    """Return how far, as a logarithm, the points of a series are from their level all the time: at its ends, between.

    The distances from a level count a shift near an end, and the printed step by which a level misses most of its
    points; the differences of neighbours leave out how far a level wanders. At the ends, their geometric mean counts.
    """
    distances, differences = np.abs(np.log(values / levels)), np.abs(np.diff(np.log(values))) / np.sqrt(2)
    between, of_neighbours = (_DEVIATIONS * _ROBUST * float(np.median(each)) for each in (distances, differences))
    return float(np.sqrt(between * of_neighbours)), between


def _sides(values: FloatArray, level: FloatArray | float, step: float, least: float) -> NDArray[np.int64]:
    """Return 1 and -1 for points above and below, by at least this logarithm and more than two steps, else 0."""
    away = np.log(values / level)
    is_away = (np.abs(away) >= least) & (np.abs(values - level) > _STEPS * step)
    return np.where(is_away, np.sign(away), 0).astype(np.int64)


def _apart(values: FloatArray, levels: FloatArray, step: float, size: float) -> Iterator[Row]:
    """Yield the stretches of fewer than five points that are away from their level, on one side."""
    at_ends, between = _usual(values, levels)
    sides = _sides(values, levels, step, max(np.log1p(size), min(at_ends, between)))
    at = 0
    for side, group in groupby(sides):
        n = len(list(group))
        if side and n < SHORTEST:
            level, middle = float(levels[at]), float(np.median(values[at : at + n]))
            others = _others(values, levels, at, n)
            kind, before, after, beside = "came_and_went", others, middle, 0
            if at == 0:
                kind, before, after = "oldest", middle, others
            elif at + n == len(values):
                kind = "newest"
                five = float(np.median(values[max(at - SHORTEST, 0) : at]))
                # A level wanders: the points before say less often too much.
                if np.log1p(size) <= abs(np.log(middle / five)) < abs(np.log(middle / level)):
                    before, beside = five, SHORTEST
            elif min(levels[at - 1], levels[at + n]) < middle < max(levels[at - 1], levels[at + n]):
                kind, before = "on_the_way", float(levels[at - 1])
            if abs(np.log(middle / level)) >= (at_ends if at == 0 or at + n == len(values) else between):
                yield {"kind": kind, "at": at, "n": n, "before": before, "after": after, "beside": beside}
        at += n


def _apart_from_five(values: FloatArray, levels: FloatArray, step: float, size: float) -> Iterator[Row]:
    """Yield fewer than five points at the end that are away from the five before them, where the level wanders."""
    least = max(np.log1p(size), _usual(values, levels)[0])
    for n in range(SHORTEST - 1, 0, -1):
        at = len(values) - n
        if levels[at - SHORTEST] != levels[-1]:
            continue
        before, after = (float(np.median(part)) for part in (values[at - SHORTEST : at], values[at:]))
        earlier, last = values[:at], values[at:]
        # What no point was before is more than what the points do all the time.
        is_record = last.max() < earlier.min() or last.min() > earlier.max()
        if abs(_sides(last, before, step, np.log1p(size) if is_record else least).sum()) == n:
            yield {"kind": "newest", "at": at, "n": n, "before": before, "after": after, "beside": SHORTEST}
            return


def _from_first_to_last(values: FloatArray, of_series: Row, size: float) -> Iterator[Row]:
    """Yield the first and the last value of a short series if they differ; single runs differ by chance as well."""
    if len(values) < 2 or not values.min() > 0:
        return
    least = (
        np.log1p(size)
        if of_series["window_ns"] > 0
        else max(np.log1p(size), _usual(values, np.full_like(values, np.median(values)))[0])
    )
    first, last = float(values[0]), float(values[-1])
    if _sides(values[-1:], first, of_series["step"], least).any():
        yield {"kind": "short", "at": 0, "n": len(values), "before": first, "after": last}


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
