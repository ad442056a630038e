"""Night after night: the series of runs of each path, method and metric, and where its level changed.

All series of a call are one family (Benjamini and Hochberg, JRSS B 57:289, 1995): at most the error of healthy studies
shows any change, and where many series changed, at most this share of those that are reported did not.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import pandas as pd

from azlatency.logs.tables import Logs
from azlatency.stats.across_runs.comparison import Setting, compare_sides, sides_of
from azlatency.stats.across_runs.levels import SHORTEST, Step, drift, find_steps, step_at
from azlatency.stats.across_runs.run_values import (
    METRICS,
    check_columns,
    effective_margin,
    floats,
    in_time_order,
    is_frame,
    parse_margin,
    refusals,
    resolution_column,
    resolution_of,
    run_ids_of,
    unit_of,
)
from azlatency.stats.arrays import FloatArray
from azlatency.stats.rows import Row
from azlatency.studies.format import natural_key
from azlatency.studies.runs.groups import grouped
from azlatency.studies.runs.round_trips import latency
from azlatency.studies.runs.run_table import FROM_TABLE, whole_run_values
from azlatency.studies.runs.throughput import throughput
from azlatency.studies.store.study import Study

METHOD = (
    "circular binary segmentation (Olshen et al. 2004), widened for AR(1); false discovery rate over all series "
    "(Benjamini and Hochberg 1995), the others at the dates of these changes (Bonferroni)"
)
#: Fewest points of a series that is judged: two levels.
FEWEST = 2 * SHORTEST
#: The column of each metric.
VALUE_COLUMNS = {metric: column for column, metric in METRICS.items()}
#: Columns that name a series in each frame of a history.
KEYS = ["path", "method", "metric"]
# Columns that order, name and label the points of a series.
_OF_POINT = (
    "started_at", "round", "file", "first_line", "run_id", "label", "tool_version", "dialect", "duration_ns",
)  # fmt: skip
#: Flags that do not prevent the search.
_WARNINGS = {"order_assumed", "clock_set_back", "nights_missing"}
#: Runs that start this soon after each other may belong to one night; see `_nights`.
_ONE_NIGHT = timedelta(hours=2)
#: A path that was not measured for this many times the usual gap has ended.
ENDED = 3
_PLACES = ("at", "at_low", "at_high")
_RATIO = ["ratio", "ratio_low", "ratio_high", "difference", "difference_low", "difference_high"]
_COMMON = ["scope", "confidence", "statistic", "flags", "run_ids"]
_COLUMNS = {
    "series": [
        *KEYS, "what", "n", "change_count", "level", "before", "drift", "alarmed", "date_first", "date_last",
        "window_ns", "spacing_ns", "unit", "step", "missing", "family", *_COMMON,
    ],
    "changes": [
        *KEYS, "what", "at", "at_low", "at_high", "date", "date_low", "date_high", "window_ns", "before", "after",
        "unit", *_RATIO, "verdict", "margin", "p", "n", "label", "label_before", *_COMMON,
    ],
    "points": [*KEYS, "what", "position", "date", "value", "unit", "level", "label", "run_ids"],
}  # fmt: skip
_DATES = ("date_first", "date_last", "date", "date_low", "date_high")
_COUNTS = ("n", "change_count", "missing", "family", "at", "at_low", "at_high", "position")
_NUMBERS = ("window_ns", "level", "before", "after", "drift", "value", "margin", "p", "confidence", *_RATIO,
            "spacing_ns", "step")  # fmt: skip


class History(NamedTuple):
    """The series of a study, their changes of level and their points, in canonical units and UTC.

    The columns ``path``, ``method`` and ``metric`` name a series in each frame.

    Attributes
    ----------
    series : DataFrame
        One row per series, in the order of paths: ``n`` points, ``change_count``, the ``level`` now and the one
        ``before`` the last change. ``level`` is missing if the series was not searched; ``flags`` say why. ``drift``:
        the last over the first value of a line through the points, if it fits better than steps, or if there are none
        and its slope is significant; such a series has no changes. ``alarmed``: whether a change, or the drift, exceeds
        the margin. ``first`` and ``last``: start of these points; ``window_ns``: the time that each of them is a
        published mean over, missing for runs; ``spacing_ns``: the usual time between two of them, missing without
        times; ``step`` in which the logs print them, 0 if unknown; ``missing``: nights without a run between them;
        ``family``: number of series searched together.
    changes : DataFrame
        One row per change in the order of time: ``at``, the position (0-based) of the first point of the new level, and
        ``date``, its start, with their 95 % intervals (of a window of ``window_ns``, the level may have changed within
        it or before it, after most of the window before); ``before`` and ``after``, the levels: medians of their ``n``
        points, for loss means. ``ratio`` and ``difference`` of the points after to those before, missing where a value
        is 0, and for loss. ``verdict``: different, or different_within_margin if the levels differ by no more than
        ``margin``. ``p`` is adjusted for all series. ``label`` and ``label_before``: what was in force after and before
        the interval of the date, the column ``label`` or else the version of the tool; empty if only a version is known
        and did not change. Flags ``new_tool_version``: it changed within that interval, ``date_of_others``: found only
        at a date at which other series changed, and ``one_printed_step``: the levels differ by no more than one step of
        the printed numbers.
    points : DataFrame
        One row per point: ``position``, ``date``, ``value``, the ``level`` that it belongs to, the ``label`` in force,
        and its runs.
    """

    series: pd.DataFrame
    changes: pd.DataFrame
    points: pd.DataFrame


@dataclass(frozen=True, slots=True)
class _Series:
    """The points of one path, method and metric in the order of time; ``times`` is empty if they are unknown.

    ``step`` is the coarsest step in which the logs print these values, 0 if it is not known.
    """

    keys: dict[str, str]
    unit: str
    values: FloatArray
    times: list[datetime]
    run_ids: list[str]
    labels: list[str]
    versions: list[str]
    missing: int
    window_ns: float
    step: float
    flags: list[str]

    @property
    def is_searched(self) -> bool:
        return set(self.flags) <= _WARNINGS

    @property
    def named(self) -> Row:
        """The columns that name the series in each frame."""
        return {**self.keys, "what": ", ".join(self.keys.values()), "unit": self.unit}


class _Found(NamedTuple):
    """The steps of a series, the level of each part, and how far it drifts; no levels if it was not searched.

    ``tests``: by which number the error was divided; ``at_date_of_others``: the steps were not searched.
    """

    steps: list[Step]
    parts: list[FloatArray]
    levels: list[float]
    drift: float | None = None
    tests: float = 1.0
    at_date_of_others: bool = False

    @property
    def changes(self) -> bool:
        """Whether the level of the series steps or drifts."""
        return bool(self.steps) or self.drift is not None


def history(
    runs: pd.DataFrame | Study | Logs,
    *,
    value: str | Sequence[str] | None = None,
    margin: float | str = "5%",
    confidence: float = 0.95,
) -> History:
    """Return the history of each path, method and metric, with its changes of level.

    Parameters
    ----------
    runs : DataFrame, Study or Logs
        One row per run, as returned by `azlatency.latency` or `azlatency.throughput`, or a study with both.
    value : str or sequence of str, optional
        Columns to search; by default median (else mean), 99th percentile, goodput and loss, as far as there are.
    margin : float or str, default "5%"
        Largest change that does not matter in practice: ``0.05``, ``"5%"`` or ``"2 us"``. A time judges latencies only.
    confidence : float, default 0.95
        One minus the error, between 0.5 and 1: the probability that any of several series shows a change if none
        changed, and the expected share of unchanged series among those that are reported.

    Returns
    -------
    History
        Three frames: ``series``, ``changes`` and ``points``. A point is a run; if a series consists of at least five
        nights that are far apart, the runs of a night, which start within two hours of each other, are one point, their
        median. Not searched: series below ten points (``few_clusters``), and runs that must not be pooled. Other flags:
        ``order_assumed`` (no start times), ``clock_set_back`` (rounds and start times disagree), ``nights_missing``.

    Raises
    ------
    KeyError
        If the runs have none of the columns.
    ValueError
        If the confidence is out of range, or the margin has another form.

    Notes
    -----
    Circular binary segmentation (Olshen et al. 2004) of logarithms, limited to three robust standard deviations around
    their running median; tail probabilities of Siegmund (1988), widened for AR(1) dependence between neighbours. A
    level lasts at least five points. If a line fits better than the steps, or its slope is significant where there are
    no steps, the series drifts and has no changes. Series without a change are tested again at the dates at which
    others changed, as a known date needs no search. Errors and power are measured in docs/questions/history.md.

    Examples
    --------
    >>> import pandas as pd
    >>> import azlatency as az
    >>> nights = pd.date_range("2026-09-01", periods=40, tz="UTC")
    >>> times = [(450 if night < 25 else 490) * 1e3 + night % 7 * 2e3 for night in range(40)]
    >>> runs = pd.DataFrame({"path": "a → b", "method": "ping", "started_at": nights, "median_ns": times})
    >>> print(az.say(az.history(runs).changes))
    a → b, ping, median: changed on 2026-09-26: +40 µs (+8.8 %, 95 % CI +8.2 to +9.6)
    """
    if not 0.5 < confidence < 1:
        raise ValueError(f"confidence {confidence} is out of range; choose a level between 0.5 and 1")
    parse_margin(margin)
    frame = runs if is_frame(runs) else measured_runs(runs)
    order = {metric: place for place, metric in enumerate(METRICS.values())}
    every = sorted(
        _series(frame, [value] if isinstance(value, str) else value),
        key=lambda one: (
            natural_key(one.keys["path"]), one.keys["method"], order.get(one.keys["metric"], len(order)),
        ),
    )  # fmt: skip
    family = sum(one.is_searched for one in every)
    searched = _search_dates(every, _search_all(every, 1 - confidence), 1 - confidence)
    series, changes = [], []
    points: dict[str, list[object]] = {name: [] for name in _COLUMNS["points"]}
    for one, found in zip(every, searched, strict=True):
        shared = {
            **one.named,
            "scope": "across_runs",
            "confidence": confidence,
            "window_ns": one.window_ns,
            "run_ids": " ".join(dict.fromkeys(" ".join(one.run_ids).split())),
        }
        rows = [shared | _change(one, found, place, margin, confidence) for place in range(len(found.steps))]
        changes += rows
        series.append(shared | _summary(one, found, rows, margin, family if one.is_searched else 1))
        for name, cells in _points(one, found).items():
            points[name] += cells
    return History(
        *(_frame(rows, name) for name, rows in (("series", series), ("changes", changes), ("points", points)))
    )


def has_ended(series: pd.DataFrame) -> pd.Series:
    """Return which series of a history have ended: others go on; without dates, none."""
    last = series["date_last"]
    return last.max() - last > ENDED * pd.to_timedelta(series["spacing_ns"], unit="ns")


def _frame(rows: list[Row] | dict[str, list[object]], name: str) -> pd.DataFrame:
    """Return rows with the types of their columns, which a frame without rows does not know."""
    types = dict.fromkeys(_COLUMNS[name], "str") | {"alarmed": "bool"}
    types |= dict.fromkeys(_COUNTS, "int64") | dict.fromkeys(_NUMBERS, "float64")
    frame = pd.DataFrame(rows, columns=_COLUMNS[name])
    dates = {date: pd.to_datetime(frame[date], utc=True).dt.as_unit("us") for date in _DATES if date in frame}
    return frame.assign(**dates).astype({name: types[name] for name in frame if name not in _DATES})


def measured_runs(study: Study | Logs) -> pd.DataFrame:
    """Return the runs of a study that measured latency, with the column ``loss``, and those that measured goodput."""
    times = latency(study)
    loss = whole_run_values(study.metrics, "loss").reindex(times.index)
    return pd.concat([times.assign(loss=loss.astype("float64")), throughput(study)])


def _series(runs: pd.DataFrame, columns: Sequence[str] | None) -> Iterator[_Series]:
    """Yield the series of each path, method and column, not yet searched."""
    check_columns(runs, "path", "method", *columns or ())
    names = [name for name in columns or METRICS if name in runs.columns]
    if columns is None and not names:
        check_columns(runs, *METRICS)
    # To copy all columns of a run table takes a hundred times longer than a short series is worth.
    kept = {*_OF_POINT, *names, *map(resolution_column, names)}
    used = runs[[name for name in runs.columns if name in kept]]
    for (path, method), places in grouped(runs, ["path", "method"]).indices.items():
        group = used.iloc[places]
        complete = runs.iloc[places] if len(places) >= FEWEST else group
        has_median = "median_ns" in names and group["median_ns"].notna().any()
        for column in names:
            is_measured = group[column].notna().to_numpy(dtype=bool)
            if is_measured.any() and not (columns is None and column == "mean_ns" and has_median):
                keys = {"path": str(path), "method": str(method), "metric": METRICS.get(column, column)}
                chosen = slice(None) if is_measured.all() else is_measured
                measured, whole = group[chosen], complete[chosen]
                refused = ["few_clusters"] if len(measured) < FEWEST else refusals([whole], column)
                refused = [code for code in refused if code != "loss_censored"]
                yield _one_series(measured, column, keys, refused)


def _one_series(runs: pd.DataFrame, column: str, keys: dict[str, str], refused: list[str]) -> _Series:
    """Return the points of one series in the order of time, with the reasons why it is not searched."""
    runs, times, warnings = _ordered(runs)
    values = floats(runs[column])
    nights = _nights(times) if times else [slice(place, place + 1) for place in range(len(values))]
    run_ids = run_ids_of(runs) or ("",) * len(values)
    if len(nights) < FEWEST and not refused:
        refused = ["few_clusters"]
    versions = _labels(runs, "tool_version")
    labels = [text or version for text, version in zip(_labels(runs, "label"), versions, strict=True)]
    starts = [times[night.start] for night in nights] if times else []
    missing = _missing(starts)
    if len(nights) < len(values):  # most nights have one run, and the median of an array takes longer than all the rest
        values = np.array([np.median(values[night]) for night in nights])
    return _Series(
        keys=keys,
        unit="fraction" if column == "loss" else unit_of(column),
        values=values,
        times=starts,
        run_ids=[" ".join(run_ids[night]) for night in nights],
        labels=[labels[night.start] for night in nights],
        versions=[versions[night.start] for night in nights],
        missing=missing,
        window_ns=_window(runs),
        step=resolution_of(runs, column),
        flags=[*refused, *warnings, *(["nights_missing"] if missing else [])],
    )


def _ordered(runs: pd.DataFrame) -> tuple[pd.DataFrame, list[datetime], list[str]]:
    """Return the runs in the order of their start times, these times in UTC, and warnings about the order."""
    if "started_at" not in runs.columns or runs["started_at"].isna().any():
        in_order, source = in_time_order(runs.drop(columns="started_at", errors="ignore"))
        warnings = {"file": ["order_assumed"], "unknown": ["order_unknown"]}
        return in_order, [], warnings.get(source, [])
    in_order = runs.sort_values("started_at", kind="stable")
    times = [time.to_pydatetime() for time in in_order["started_at"]]
    times = [time.astimezone(UTC) if time.tzinfo else time.replace(tzinfo=UTC) for time in times]
    rounds = in_order["round"] if "round" in runs.columns else in_order["started_at"]
    set_back = rounds.notna().all() and rounds.is_unique and not rounds.is_monotonic_increasing
    return in_order, times, ["clock_set_back"] if set_back else []


def _nights(times: Sequence[datetime]) -> list[slice]:
    """Return the runs of each night; each run by itself if the series does not consist of nights.

    Nights are at least as many as the points of the shortest level, and usually far apart: the time between two of them
    is more than twice as long as the time from the first to the last run of one. Otherwise the series was interrupted,
    as hourly runs by a reboot.
    """
    starts = [0, *(at for at in range(1, len(times)) if times[at] - times[at - 1] > _ONE_NIGHT)]
    nights = [slice(begin, end) for begin, end in pairwise([*starts, len(times)])]
    gaps = sorted(times[at] - times[at - 1] for at in starts[1:])
    lengths = sorted(times[night.stop - 1] - times[night.start] for night in nights if night.stop - night.start > 1)
    if lengths and len(nights) >= SHORTEST and 2 * lengths[len(lengths) // 2] < gaps[len(gaps) // 2]:
        return nights
    return [slice(place, place + 1) for place in range(len(times))]


def _missing(times: Sequence[datetime]) -> int:
    """Return how many points are missing, if most of them are as far from each other as any two neighbours."""
    usual = _usual_gap(times)
    if not usual > _ONE_NIGHT.total_seconds():
        return 0
    return sum(max(round((after - before).total_seconds() / usual) - 1, 0) for before, after in pairwise(times))


def _usual_gap(times: Sequence[datetime]) -> float:
    """Return the median time between two neighbouring points in seconds; missing if there are none."""
    gaps = sorted((after - before).total_seconds() for before, after in pairwise(times))
    return gaps[len(gaps) // 2] if gaps else np.nan


def _window(runs: pd.DataFrame) -> float:
    """Return the length of the windows of a published table in ns; missing for runs."""
    if not {"dialect", "duration_ns"} <= set(runs.columns) or not runs["dialect"].eq(FROM_TABLE).all():
        return np.nan
    return float(runs["duration_ns"].median())


def _labels(runs: pd.DataFrame, column: str) -> list[str]:
    """Return the text of a column for each run; empty if it is missing."""
    if column not in runs.columns:
        return [""] * len(runs)
    cells = runs[column]
    return [str(cell) if known else "" for cell, known in zip(cells, cells.notna(), strict=True)]


def _search_all(every: Sequence[_Series], error: float) -> list[_Found]:
    """Return the levels of all series.

    The k series that change are searched at k shares of the error: the largest k for which as many change.
    """
    family = shares = sum(one.is_searched for one in every)
    found = [_search(one, error) if one.is_searched else _Found([], [], []) for one in every]
    while (changed := sum(each.changes for each in found)) < shares and shares > 1:
        shares = max(changed, 1)
        # What does not change at a larger error does not change at a smaller one.
        found = [
            _search(one, error, family / shares) if each.changes else each
            for one, each in zip(every, found, strict=True)
        ]
    return found


def _search_dates(every: Sequence[_Series], found: Sequence[_Found], error: float) -> list[_Found]:
    """Return the levels of all series, where those without a change are tested at the dates at which others changed.

    A date that other series chose needs no search. The error is divided by the number of these tests.
    """
    dates = {one.times[step.at] for one, each in zip(every, found, strict=True) if one.times for step in each.steps}
    places = [
        _testable(one, dates) if one.is_searched and not each.changes else set()
        for one, each in zip(every, found, strict=True)
    ]
    tests = sum(map(len, places))
    result = list(found)
    for number, (one, tried) in enumerate(zip(every, places, strict=True)):
        if tried and (step := step_at(one.values, tried, error / tests)):
            result[number] = _levels(one, [step], tests)._replace(at_date_of_others=True)
    return result


def _testable(series: _Series, dates: set[datetime]) -> set[int]:
    """Return the places nearest to the dates that lie between two levels; none if the values are all equal."""
    if not series.times or series.values.min() == series.values.max():
        return set()
    times, nearest = series.times, set()
    for date in dates:
        after = bisect_left(times, date)
        is_before = after == len(times) or (after > 0 and date - times[after - 1] <= times[after] - date)
        nearest.add(after - is_before)
    return {at for at in nearest if SHORTEST <= at <= len(times) - SHORTEST}


def _search(series: _Series, error: float, tests: float = 1.0) -> _Found:
    """Return the levels of a series, each significant at ``error`` divided by the number of tests."""
    steps = find_steps(series.values, error / tests)
    moved = drift(series.values, steps, error / tests)
    return _levels(series, [], tests)._replace(drift=moved) if moved is not None else _levels(series, steps, tests)


def _levels(series: _Series, steps: list[Step], tests: float) -> _Found:
    """Return the level of each part between the steps."""
    parts = np.split(series.values, [step.at for step in steps])
    middle = np.mean if series.unit == "fraction" else np.median
    return _Found(steps, parts, [float(middle(part)) for part in parts], tests=tests)


def _summary(series: _Series, found: _Found, changes: list[Row], margin: float | str, family: int) -> Row:
    """Return what the frame ``series`` says of a series, besides its name and its runs."""
    levels, verdicts = found.levels, [change["verdict"] for change in changes]
    if found.drift is not None:
        verdicts.append(_verdict(levels[0], levels[0] * found.drift, series.unit, margin)[0])
    return {
        "n": len(series.values),
        "change_count": len(changes),
        "level": levels[-1] if levels else np.nan,
        "before": levels[-2] if len(levels) > 1 else np.nan,
        "drift": np.nan if found.drift is None else found.drift,
        "alarmed": "different" in verdicts,
        "date_first": series.times[0] if series.times else None,
        "date_last": series.times[-1] if series.times else None,
        "spacing_ns": _usual_gap(series.times) * 1e9,
        "step": series.step,
        "missing": series.missing,
        "family": family,
        "statistic": METHOD,
        "flags": " ".join(series.flags),
    }


def _change(series: _Series, found: _Found, place: int, margin: float | str, confidence: float) -> Row:
    """Return what the frame ``changes`` says of one step, besides the name of the series."""
    step, (before, after) = found.steps[place], found.levels[place : place + 2]
    old, new = found.parts[place : place + 2]
    compared: Row = {}
    if series.unit != "fraction" and min(old.min(), new.min()) > 0:
        compared = compare_sides(sides_of(new, old, unit=series.unit), Setting(confidence=confidence))
        # The estimate is that of the two levels, which stand beside it.
        compared |= {"ratio": after / before, "difference": after - before}
    verdict, limit = _verdict(before, after, series.unit, margin)
    # What changed within the interval of the time is what may have caused the step.
    last, next_ = max(step.low - 1, 0), min(step.high, len(series.values) - 1)
    versions = {series.versions[last], series.versions[next_]} - {""}
    relabelled = series.labels[last] != series.labels[next_]
    # A version that stayed the same explains nothing.
    is_stated = series.labels[step.at] != series.versions[step.at]
    places = (last, next_) if relabelled else (step.at - 1, step.at)
    labels = [series.labels[at] if relabelled or is_stated else "" for at in places]
    flags = ["new_tool_version"] if len(versions) > 1 else []
    if found.at_date_of_others:
        flags.append("date_of_others")
    if 0 < abs(after - before) <= series.step:
        flags.append("one_printed_step")
    # The points next to the change come first: they are those that a reader looks for.
    points = sorted(range(len(series.values)), key=lambda point: abs(point + 0.5 - step.at))
    row: Row = {
        "at": step.at,
        "run_ids": " ".join(dict.fromkeys(" ".join(series.run_ids[point] for point in points).split())),
        "at_low": step.low,
        "at_high": step.high,
        "before": before,
        "after": after,
        **{name: compared.get(name, np.nan) for name in _RATIO},
        "verdict": verdict,
        "margin": limit,
        "p": min(step.p * found.tests, 1.0),
        "n": len(old) + len(new),
        "label_before": labels[0],
        "label": labels[1],
        "statistic": compared.get("statistic", ""),
        "flags": " ".join(flags),
    }
    if series.times:
        row |= {date: series.times[row[at]] for at, date in zip(_PLACES, _DATES[2:], strict=True)}
    return row


def _verdict(before: float, after: float, unit: str, margin: float | str) -> tuple[str, float]:
    """Return whether two levels differ by more than the margin, and the margin as a share; a time is for times only."""
    if unit != "ns" and parse_margin(margin)[1]:
        return "", np.nan
    share = effective_margin(margin, before, unit)
    return "different_within_margin" if before / (1 + share) <= after <= before * (1 + share) else "different", share


def _points(series: _Series, found: _Found) -> dict[str, list[object]]:
    """Return the columns of the frame ``points``."""
    number = len(series.values)
    sizes = [len(part) for part in found.parts]
    return {
        **{name: [text] * number for name, text in series.named.items()},
        "position": list(range(number)),
        "date": list(series.times) or [None] * number,
        "value": series.values.tolist(),
        "level": np.repeat(found.levels, sizes).tolist() if sizes else [np.nan] * number,
        "label": list(series.labels),
        "run_ids": list(series.run_ids),
    }
