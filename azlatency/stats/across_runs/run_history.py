"""Night after night: the series of runs of each path, method and metric, and where its level changed.

All series of a call are one family: each is searched at the error divided by their number (Bonferroni), so that at most
that share of healthy studies shows any change.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import TYPE_CHECKING, Any, ClassVar

from azlatency.stats.across_runs.comparison import compare_runs
from azlatency.stats.across_runs.levels import SHORTEST, Step, drift, find_steps
from azlatency.stats.across_runs.run_values import (
    check_columns,
    effective_margin,
    floats,
    in_time_order,
    is_frame,
    refusals,
    run_ids_of,
    unit_of,
)
from azlatency.stats.result import Comparison, Result, Results, Row
from azlatency.studies.format import count_of, format_value, natural_key
from azlatency.studies.runs.groups import grouped
from azlatency.studies.runs.round_trips import latency
from azlatency.studies.runs.run_table import whole_run_rows
from azlatency.studies.runs.throughput import throughput

if TYPE_CHECKING:
    import pandas as pd

    from azlatency.logs.tables import Logs
    from azlatency.stats.arrays import FloatArray
    from azlatency.studies.store.study import Study

METHOD = "circular binary segmentation (Olshen et al. 2004), widened for AR(1); Bonferroni over all series"
#: Fewest points of a series that is judged.
FEWEST = 20
#: Columns of a run table that have a history, and the name of each as a metric.
METRICS = {
    "median_ns": "median", "mean_ns": "mean", "p99_ns": "p99", "throughput_bit_s": "goodput", "loss": "loss",
}  # fmt: skip
#: The column of each metric.
VALUE_COLUMNS = {metric: column for column, metric in METRICS.items()}
# Columns that order, name and label the points of a series.
_OF_POINT = ("started_at", "round", "file", "first_line", "run_id", "label", "tool_version")
#: Flags that do not prevent the search.
_WARNINGS = {"order_assumed", "clock_set_back", "nights_missing"}
#: Runs that start this soon after each other may belong to one night; see `_nights`.
_ONE_NIGHT = timedelta(hours=2)


@dataclass(frozen=True, slots=True, kw_only=True)
class Change(Result):
    """One change of level.

    Attributes
    ----------
    at, at_low, at_high : int
        Position (0-based) of the first point of the new level, with its 95 % interval.
    time, time_low, time_high : datetime or None
        The same as start times in UTC; ``None`` if the runs have none.
    before, after : float
        Level of the part before and of the part after: the median of its points, for loss their mean.
    comparison : Comparison or None
        After against before: ratio and difference with their intervals; ``None`` where it has no ratio, as for loss.
    p : float
        p-value, adjusted for all series of the call.
    label, label_before : str
        Labels in force after and before the interval of the time; see `RunHistory.run_labels`. Empty if only the
        version of the tool is known, and did not change.
    codes : tuple of str
        ``new_tool_version`` if the version of the tool changed within the interval of the time.
    """

    at: int
    at_low: int
    at_high: int
    time: datetime | None
    time_low: datetime | None
    time_high: datetime | None
    before: float
    after: float
    unit: str
    comparison: Comparison | None
    p: float
    label: str = ""
    label_before: str = ""
    codes: tuple[str, ...] = ()
    labels: dict[str, Any] = field(default_factory=dict)
    scope: str = "across_runs"

    ROW: ClassVar[Row] = (
        "at", "at_low", "at_high", ("date", "time"), ("date_low", "time_low"), ("date_high", "time_high"),
        "before", "after", "unit", ("ratio", "comparison.ratio.estimate"), ("ratio_low", "comparison.ratio.low"),
        ("ratio_high", "comparison.ratio.high"), ("difference", "comparison.difference.estimate"),
        ("difference_low", "comparison.difference.low"), ("difference_high", "comparison.difference.high"), "p",
        "label", "label_before", "scope",
    )  # fmt: skip

    @property
    def date(self) -> str:
        """When the new level began: the day, with the time if its interval is within it, or the number of the run."""
        if self.time is None or self.time_low is None or self.time_high is None:
            return f"run {self.at + 1}"
        in_a_day = self.time_low.date() == self.time_high.date() and self.time_low != self.time_high
        return f"{self.time:%Y-%m-%d %H:%M}" if in_a_day else f"{self.time:%Y-%m-%d}"

    @property
    def size(self) -> str:
        """The difference and the ratio, for example ``+120 µs (+14 %, 95 % CI 13–15)``."""
        gap = self.after - self.before
        if not math.isfinite(gap):
            return f"{format_value(self.before, self.unit)} → {format_value(self.after, self.unit)}"
        text = f"{'−' if gap < 0 else '+'}{format_value(abs(gap), self.unit, like=abs(gap) or None)}"
        ratio = self.comparison.ratio if self.comparison else None
        if ratio is None or ratio.estimate is None:
            return text
        percent = f"{_percent(ratio.estimate)} %"
        if ratio.low is None or ratio.high is None:
            return f"{text} ({percent})"
        level = f"{100 * ratio.confidence:g} % CI"
        return f"{text} ({percent}, {level} {_percent(ratio.low)} to {_percent(ratio.high)})"

    @property
    def labelled(self) -> str:
        """What is known about the change besides its size: the label in force, and a new version of the tool."""
        text = f"label {self.label}" if self.label else ""
        if self.label and self.label_before and self.label != self.label_before:
            text += f" (before: {self.label_before})"
        return f"{text}; new version of the tool".removeprefix("; ") if self.codes else text

    def exceeds(self, margin: float | str) -> bool:
        """Return whether the two levels differ by more than a margin: ``0.05``, ``"5%"`` or ``"2 us"``."""
        return _exceeds(self.before, self.after, self.unit, margin)

    def __str__(self) -> str:
        what = ", ".join(str(value) for value in self.labels.values())
        note = f"; {self.labelled}" if self.labelled else ""
        return f"{what}{': ' if what else ''}changed on {self.date}: {self.size}{note}"


def _exceeds(before: float, after: float, unit: str, margin: float | str) -> bool:
    largest = 1 + effective_margin(margin, before, unit)
    return not before / largest <= after <= before * largest


def _percent(ratio: float) -> str:
    """Return a ratio as a change in percent, with its sign."""
    return f"{100 * (ratio - 1):+.1f}".replace("-", "−")


@dataclass(frozen=True, slots=True, kw_only=True)
class RunHistory(Result):
    """The series of one path, method and metric.

    Attributes
    ----------
    what : str
        Path, method and metric.
    labels : dict
        ``path``, ``method`` and ``metric``.
    values : tuple of float
        One value per point in ``unit``: a run, or the median of the runs of one night.
    times : tuple of datetime
        Start of each point in UTC; empty if unknown.
    points : tuple of tuple of str
        Runs (``run_id``) of each point.
    run_labels : tuple of str
        Label in force at each point: the column ``label``, else the version of the tool.
    versions : tuple of str
        Version of the tool at each point; empty texts where it is unknown.
    changes : tuple of Change
        Changes of level in the order of time.
    levels : tuple of float
        Level of each part; the last is the level now.
    drift : float or None
        The last over the first value of a line through the points, if the line fits better than steps: the series
        moves slowly and has no changes with a date.
    family : int
        Number of series that were searched together.
    missing : int
        Number of nights without a run between the first and the last.
    """

    what: str
    labels: dict[str, Any]
    values: tuple[float, ...]
    times: tuple[datetime, ...]
    points: tuple[tuple[str, ...], ...]
    run_labels: tuple[str, ...]
    versions: tuple[str, ...]
    unit: str
    confidence: float
    changes: tuple[Change, ...] = ()
    levels: tuple[float, ...] = ()
    drift: float | None = None
    family: int = 1
    missing: int = 0
    codes: tuple[str, ...] = ()
    scope: str = "across_runs"
    method: str = METHOD

    ROW: ClassVar[Row] = (
        "what", "n", ("change_count", "changes.#"), ("level", "level"), "before", ("first", "first"), ("last", "last"),
        "unit", "missing", "family", "scope", "confidence", ("statistic", "method"),
    )  # fmt: skip

    @property
    def n(self) -> int:
        """The number of points."""
        return len(self.values)

    @property
    def refused(self) -> bool:
        """Whether the series was not searched: too short, or runs that must not be pooled."""
        return not self.levels

    @property
    def level(self) -> float | None:
        """The level now."""
        return self.levels[-1] if self.levels else None

    @property
    def before(self) -> float | None:
        """The level before the last change; ``None`` if there was none."""
        return self.levels[-2] if len(self.levels) > 1 else None

    @property
    def first(self) -> datetime | None:
        """When the first point started."""
        return self.times[0] if self.times else None

    @property
    def last(self) -> datetime | None:
        """When the last point started."""
        return self.times[-1] if self.times else None

    @property
    def drift_in_words(self) -> str:
        """How far the series drifts over all its points; empty if it does not."""
        return "" if self.drift is None else f"drifts by {_percent(self.drift)} % over {count_of(self.n, 'point')}"

    def drifts_beyond(self, margin: float | str) -> bool:
        """Return whether the series drifts by more than a margin over all its points."""
        return self.drift is not None and _exceeds(self.levels[0], self.levels[0] * self.drift, self.unit, margin)

    def __str__(self) -> str:
        if self.refused:
            return f"{self.what}: not estimable, {count_of(self.n, 'point')}{self.flag_note}"
        if self.drift is not None:
            return f"{self.what}: {format_value(self.level, self.unit)}, {self.drift_in_words}{self.flag_note}"
        if not self.changes:
            return f"{self.what}: {format_value(self.level, self.unit)}, no change in {count_of(self.n, 'point')}" + (
                self.flag_note
            )
        steps = "; ".join(f"{change.date} {change.size}" for change in self.changes)
        return f"{self.what}: {format_value(self.level, self.unit)}, changed {steps}{self.flag_note}"


def history(
    runs: pd.DataFrame | Study | Logs, *, value: str | Sequence[str] | None = None, confidence: float = 0.95
) -> Results[RunHistory]:
    """Return the history of each path, method and metric, with its changes of level.

    Parameters
    ----------
    runs : DataFrame, Study or Logs
        One row per run, as returned by `azlatency.latency` or `azlatency.throughput`, or a study with both.
    value : str or sequence of str, optional
        Columns to search; by default median (else mean), 99th percentile, goodput and loss, as far as there are.
    confidence : float, default 0.95
        One minus the probability that any series of runs that did not change shows a change, between 0.5 and 1.

    Returns
    -------
    Results of RunHistory
        One per path, method and metric, in the order of paths. A point is a run; if a series consists of at least five
        nights that are far apart, the runs of a night, which start within two hours of each other, are one point, their
        median. Not estimable below 20 points
        (``few_clusters``), and for runs that must not be pooled. Flags: ``order_assumed`` (no start times),
        ``clock_set_back`` (rounds and start times disagree), ``nights_missing``.

    Raises
    ------
    KeyError
        If the runs have none of the columns.
    ValueError
        If the confidence is out of range.

    Notes
    -----
    Circular binary segmentation (Olshen et al. 2004) of logarithms, limited to three robust standard deviations around
    their running median; tail probabilities of Siegmund (1988), widened for AR(1) dependence between neighbours. A
    level lasts at least five points. If a line fits better than the steps, the series drifts and has no changes. The
    errors and the power are measured in docs/questions/history.md.

    Examples
    --------
    >>> import pandas as pd
    >>> import azlatency as az
    >>> nights = pd.date_range("2026-09-01", periods=40, tz="UTC")
    >>> times = [(450 if night < 25 else 490) * 1e3 + night % 7 * 2e3 for night in range(40)]
    >>> runs = pd.DataFrame({"path": "a → b", "method": "ping", "started_at": nights, "median_ns": times})
    >>> print(az.history(runs)[0].changes[0])
    a → b, ping, median: changed on 2026-09-26: +40.0 µs (+8.8 %, 95 % CI +8.2 to +9.7)
    """
    if not 0.5 < confidence < 1:
        raise ValueError(f"confidence {confidence} is out of range; choose a level between 0.5 and 1")
    frame = runs if is_frame(runs) else measured_runs(runs)
    columns = [value] if isinstance(value, str) else value
    series = list(_series(frame, columns, confidence))
    family = sum(not set(one.codes) - _WARNINGS for one in series)
    judged = [one if set(one.codes) - _WARNINGS else _judged(one, family) for one in series]
    order = {metric: place for place, metric in enumerate(METRICS.values())}
    return Results(
        sorted(
            judged,
            key=lambda one: (
                natural_key(one.labels["path"]),
                one.labels["method"],
                order.get(one.labels["metric"], len(order)),
            ),
        )
    )


def measured_runs(study: Study | Logs) -> pd.DataFrame:
    """Return the runs of a study that measured latency, with the column ``loss``, and those that measured goodput."""
    import pandas as pd

    times = latency(study)
    loss = whole_run_rows(study.metrics, "loss")["value"].reindex(times.index)
    return pd.concat([times.assign(loss=loss.astype("float64")), throughput(study)])


def _series(runs: pd.DataFrame, columns: Sequence[str] | None, confidence: float) -> Iterator[RunHistory]:
    """Yield the series of each path, method and column, not yet searched."""
    check_columns(runs, "path", "method", *columns or ())
    names = [name for name in columns or METRICS if name in runs.columns]
    if columns is None and not names:
        check_columns(runs, *METRICS)
    # To copy all columns of a run table takes a hundred times longer than a short series is worth.
    used = runs[[name for name in runs.columns if name in {*_OF_POINT, *names}]]
    for (path, method), places in grouped(runs, ["path", "method"]).indices.items():
        group = used.iloc[places]
        has_median = "median_ns" in names and group["median_ns"].notna().any()
        for column in names:
            is_measured = group[column].notna().to_numpy()
            if is_measured.any() and not (columns is None and column == "mean_ns" and has_median):
                labels = {"path": str(path), "method": str(method), "metric": METRICS.get(column, column)}
                measured = places[is_measured]
                refused = ["few_clusters"] if len(measured) < FEWEST else refusals([runs.iloc[measured]], column)
                refused = [code for code in refused if code != "loss_censored"]
                yield _one_series(group[is_measured], column, labels, refused, confidence)


def _one_series(
    runs: pd.DataFrame, column: str, labels: dict[str, Any], refused: list[str], confidence: float
) -> RunHistory:
    """Return the points of one series in the order of time, with the reasons why it is not searched."""
    import numpy as np

    runs, times, warnings = _ordered(runs)
    values = floats(runs[column])
    nights = _nights(times) if times else [slice(place, place + 1) for place in range(len(values))]
    run_ids = run_ids_of(runs) or ("",) * len(values)
    if len(nights) < FEWEST and not refused:
        refused = ["few_clusters"]
    versions = _labels(runs, "tool_version")
    run_labels = [text or version for text, version in zip(_labels(runs, "label"), versions, strict=True)]
    missing = _missing([times[night.start] for night in nights]) if times else 0
    # Most nights have one run, and the median of an array takes longer than all the rest.
    several = len(nights) < len(values)
    return RunHistory(
        what=", ".join(labels.values()),
        labels=labels,
        values=tuple(float(np.median(values[night])) for night in nights) if several else tuple(map(float, values)),
        times=tuple(times[night.start] for night in nights) if times else (),
        points=tuple(run_ids[night] for night in nights),
        run_labels=tuple(run_labels[night.start] for night in nights),
        versions=tuple(versions[night.start] for night in nights),
        unit="fraction" if column == "loss" else unit_of(column),
        confidence=confidence,
        missing=missing,
        codes=(*refused, *warnings, *["nights_missing"] * bool(missing)),
        run_ids=tuple(dict.fromkeys(filter(None, run_ids))),
    )


def _ordered(runs: pd.DataFrame) -> tuple[pd.DataFrame, list[datetime], list[str]]:
    """Return the runs in the order of their start times, these times, and warnings about the order."""
    if "started_at" not in runs.columns or runs["started_at"].isna().any():
        in_order, source = in_time_order(runs.drop(columns="started_at", errors="ignore"))
        return in_order, [], ["order_assumed"] if source == "file" else ["order_unknown"] * (source == "unknown")
    in_order = runs.sort_values("started_at", kind="stable")
    times = [time.to_pydatetime() for time in in_order["started_at"]]
    times = [time if time.tzinfo else time.replace(tzinfo=UTC) for time in times]
    rounds = in_order["round"] if "round" in runs.columns else in_order["started_at"]
    set_back = rounds.notna().all() and rounds.is_unique and not rounds.is_monotonic_increasing
    return in_order, times, ["clock_set_back"] * bool(set_back)


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
    gaps = sorted((after - before).total_seconds() for before, after in pairwise(times))
    usual = gaps[len(gaps) // 2] if gaps else 0.0
    return sum(max(round(gap / usual) - 1, 0) for gap in gaps) if usual > _ONE_NIGHT.total_seconds() else 0


def _labels(runs: pd.DataFrame, column: str) -> list[str]:
    """Return the text of a column for each run; empty if it is missing."""
    if column not in runs.columns:
        return [""] * len(runs)
    cells = runs[column]
    return [str(cell) if known else "" for cell, known in zip(cells, cells.notna(), strict=True)]


def _judged(series: RunHistory, family: int) -> RunHistory:
    """Return a series with its changes; the error of one series is that of the call, divided by their number."""
    import numpy as np

    x = np.array(series.values)
    steps = find_steps(x, (1 - series.confidence) / family)
    moved = drift(x, steps)
    steps = [] if moved is not None else steps
    parts = np.split(x, [step.at for step in steps])
    middle = np.mean if series.unit == "fraction" else np.median
    levels = tuple(float(middle(part)) for part in parts)
    changes = tuple(
        _change(series, step, levels[place : place + 2], (parts[place], parts[place + 1]), family)
        for place, step in enumerate(steps)
    )
    return replace(series, levels=levels, changes=changes, drift=moved, family=family)


def _change(
    series: RunHistory, step: Step, levels: tuple[float, ...], parts: tuple[FloatArray, FloatArray], family: int
) -> Change:
    times: tuple[datetime | None, ...] = tuple(
        series.times[place] if series.times else None for place in (step.at, step.low, step.high)
    )
    comparison = None
    if series.unit != "fraction" and min(part.min() for part in parts) > 0:
        comparison = compare_runs(parts[1], parts[0], confidence=series.confidence, unit=series.unit)
    # What changed within the interval of the time is what may have caused the step.
    last, next_ = max(step.low - 1, 0), min(step.high, series.n - 1)
    versions = {series.versions[last], series.versions[next_]} - {""}
    relabelled = series.run_labels[last] != series.run_labels[next_]
    # A version that stayed the same explains nothing.
    is_stated = series.run_labels[step.at] != series.versions[step.at]
    places = (last, next_) if relabelled else (step.at - 1, step.at)
    labels = [series.run_labels[place] if relabelled or is_stated else "" for place in places]
    return Change(
        at=step.at,
        at_low=step.low,
        at_high=step.high,
        time=times[0],
        time_low=times[1],
        time_high=times[2],
        before=levels[0],
        after=levels[1],
        unit=series.unit,
        comparison=comparison,
        p=min(step.p * family, 1.0),
        label=labels[1],
        label_before=labels[0],
        codes=("new_tool_version",) * (len(versions) > 1),
        labels=series.labels,
    )
