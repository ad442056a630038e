"""Tables of the page "Stability over time"."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from operator import attrgetter, itemgetter
from typing import TYPE_CHECKING, Any, NamedTuple

from azlatency.kit.cells import (
    GIGABITS,
    MICROSECONDS,
    PERCENT,
    Column,
    Format,
    ReportedRef,
    RunsRef,
    Table,
    Unit,
    interval,
    number,
    words,
)
from azlatency.kit.objects import Note
from azlatency.kit.units import level
from azlatency.report.tables.common import COUNT, RUN, TENTHS, codes_of, explain, flags, from_run
from azlatency.stats.result import results_only

if TYPE_CHECKING:
    from azlatency.stats.within_run.lifetimes import Lifetime
    from azlatency.stats.within_run.stability import Shift
    from azlatency.stats.within_run.time_series import ConnectionEnds, ReportedSegments, RunTimeSeries, ThroughputSeries

_SECONDS = Unit(1.0, "s")


@results_only
def runs_in_time(results: Sequence[RunTimeSeries]) -> Table[RunTimeSeries] | Note:
    """Return the duration, loss, jitter and level shifts of each run with samples; ``results``: `run_time_series`."""
    if not results:
        return Note("No log of this study has samples in time, so the stability of its runs cannot be tested.")
    columns: list[Column[RunTimeSeries]] = [
        RUN,
        Column("probes", lambda run: len(run.rtt), COUNT),
        Column("duration", attrgetter("seconds"), TENTHS, _SECONDS),
        Column("lost", attrgetter("lost"), COUNT),
        Column("jitter", attrgetter("jitter"), TENTHS, MICROSECONDS),
        Column("level", _level),
        Column("drift", lambda run: (run.drift.slope.low, run.drift.slope.high), interval("+z,.1f"), MICROSECONDS),
        Column("clock steps", lambda run: None if run.sent is None else run.steps, number(",.0f", missing="no times")),
    ]
    notes = [
        "Jitter: median difference of successive round-trip times. Drift: interval of the change from start to end.",
        "Level: shifts of block medians, confirmed by a test that accounts for autocorrelation.",
    ]
    return Table("Every run with samples, in time", columns, results, notes, from_run("samples"))


def _level(run: RunTimeSeries) -> str:
    shifts, stable = run.stability.shifts, run.stability.stable
    if stable is None:
        return "too short to test"
    if stable:
        return f"{len(shifts)} unconfirmed" if shifts else "no shift"
    return f"{sum(shift.confirmed for shift in shifts)} confirmed"


class ShiftRow(NamedTuple):
    """A level shift of a run."""

    run: RunTimeSeries
    shift: Shift


@results_only
def shifts(results: Sequence[RunTimeSeries]) -> Table[ShiftRow] | Note:
    """Return each level shift with size, time and confirmation; ``results`` as `run_time_series` returns them."""
    if not results:
        return Note("Level shifts cannot be detected without samples.")
    rows = [ShiftRow(run, shift) for run in results for shift in run.stability.shifts]
    if not rows:
        tried = sum(run.stability.stable is not None for run in results)
        return Note(f"No level shift in any of the {tried} runs that are long enough to test.")
    columns: list[Column[ShiftRow]] = [
        Column("run", attrgetter("run.name")),
        Column("after", _moment, _MOMENT),
        Column("change", attrgetter("shift.change.estimate"), TENTHS, MICROSECONDS),
        Column("interval", lambda row: (row.shift.change.low, row.shift.change.high), interval(",.1f"), MICROSECONDS),
        Column("relative", attrgetter("shift.relative"), words(lambda share: f"{100 * share:+.1f} %"), align="right"),
        Column("state", lambda row: "confirmed" if row.shift.confirmed else "not confirmed"),
        Column("beyond the margin", attrgetter("shift.practical")),
    ]
    return Table("Level shifts", columns, rows, source=lambda row: [RunsRef((row.run.run_id,), "samples")])


def _moment_text(value: tuple[float, float, float, str], scale: float) -> str:
    moment, low, high, unit = value
    return f"{moment:,.1f} ({low:,.1f} – {high:,.1f}) {unit}"


def _moments(value: tuple[float, float, float, str], scale: float) -> tuple[str, ...]:
    *numbers, unit = value
    return *(f"{number:,.1f}" for number in numbers), unit


_MOMENT = Format(_moment_text, ("", "low", "high", "unit"), tuple, right=False, pieces=_moments)


def _moment(row: ShiftRow) -> tuple[float, float, float, str]:
    """Return the time of a shift and its interval, in seconds, or in probes if the log has no send times."""
    scale, unit = (1.0, "probes") if row.run.sent is None else (1e9, "s")
    return row.shift.at / scale, row.shift.at_low / scale, row.shift.at_high / scale, unit


@results_only
def lifetimes(life: Lifetime) -> Table[tuple[str, str]] | Note:
    """Return how long connections lasted, including censored ones; ``life`` as `connections` returns it."""
    if not life.n:
        return Note("No log of this study follows a connection in time, so lifetimes cannot be estimated.")
    confidence = level(life.rate.confidence)
    rows = [
        ("connections followed", f"{life.n:,}"),
        ("of them cut off", f"{life.losses:,}"),
        ("followed for, total seconds", f"{life.seconds:,.1f}"),
        ("median lifetime, seconds", number(",.1f", "not reached").text(life.median.estimate, 1)),
        (
            "losses, at most one in … seconds",
            f"{1 / life.rate.high:,.0f} ({confidence})" if life.rate.high else "no bound",
        ),
    ]
    note = "A connection that was still open at the end of its test is censored: it lasted at least that long."
    columns: list[Column[tuple[str, str]]] = [
        Column("what", itemgetter(0)),
        Column("value", itemgetter(1), align="right"),
    ]
    return Table("Lifetime of the connections", columns, rows, [note], lambda row: [RunsRef(life.run_ids, "samples")])


class ReportedEnd(NamedTuple):
    """The end of a connection as an author reports it; ``gap`` in s after the first end."""

    path: str
    printed: str
    gap: float
    lasted: str


@results_only
def ends(reported: ConnectionEnds | None) -> Table[ReportedEnd] | Note:
    """Return when connections broke, as an author reports it; ``reported`` as `reported_connection_ends` returns it."""
    if reported is None:
        return Note("No text of this study reports when a connection broke.")
    rows = [
        ReportedEnd(*end) for end in zip(reported.paths, reported.printed, reported.gaps, reported.lasted, strict=True)
    ]
    columns: list[Column[ReportedEnd]] = [
        Column("connection", attrgetter("path")),
        Column("broke at, as printed", attrgetter("printed")),
        Column("seconds after the first", attrgetter("gap"), COUNT,
               source=lambda end: [ReportedRef(end.path, "failed_at")]),
        Column("reported duration", attrgetter("lasted")),
    ]  # fmt: skip
    notes = ["As reported, without a time zone. Ends within a minute of each other are unlikely to be independent."]

    def source(end: ReportedEnd) -> list[ReportedRef]:
        return [ReportedRef(end.path, "failed_at"), ReportedRef(end.path, "duration")]

    return Table("How the connections ended, as reported", columns, rows, notes, source)


@results_only
def segments(results: Sequence[ReportedSegments]) -> Table[ReportedSegments] | Note:
    """Return the changes between reported segments; ``results`` as `reported_segments` returns them."""
    if not results:
        return Note("No text of this study reports segments of a run, and no connection of its logs broke.")
    columns: list[Column[ReportedSegments]] = [
        Column("connection", attrgetter("path")),
        Column("last change", lambda result: result.changes[-1], number(",.2f"), MICROSECONDS),
        Column("changes before", lambda result: result.changes[:-1], words(_list_of_changes), MICROSECONDS),
        Column("p of a trend", attrgetter("drift.p"), number(".2f")),
    ]
    notes = ["No test of so few segments can show that the last change is unusual; compare it with those before."]

    def source(result: ReportedSegments) -> list[ReportedRef]:
        return [ReportedRef(result.path, "rtt_mean", segment=True)]

    return Table("Was the last change unusual?", columns, results, notes, source)


def _list_of_changes(changes: Sequence[float]) -> str:
    return ", ".join(number(",.2f").text(change, MICROSECONDS.scale) for change in changes)


_REPORTED_METRICS = {"min": "rtt_min", "mean": "rtt_mean", "max": "rtt_max"}


def reported_spread(results: Sequence[Mapping[str, Any]]) -> Table[Mapping[str, Any]] | Note:
    """Return the reported percentiles and means; ``results`` as `reported_spread` returns them."""
    if not results:
        return Note("No text of this study reports percentiles of a run in time.")
    names = [name for name in ("min", "mean", "p95", "p99", "max") if any(name in row for row in results)]
    columns: list[Column[Mapping[str, Any]]] = [
        Column("connection", itemgetter("path")),
        *(_reported_column(name) for name in names),
        *(_over_mean(name) for name in ("p95", "p99")),
    ]
    note = "Reported: the samples behind these numbers were not published. The maximum is one packet."
    return Table(
        "Spread of the round-trip times, as reported",
        columns,
        results,
        [note],
        lambda row: [_reported_ref(row, name) for name in names],
    )


def _reported_ref(row: Mapping[str, Any], name: str) -> ReportedRef:
    if name in _REPORTED_METRICS:
        return ReportedRef(row["path"], _REPORTED_METRICS[name])
    return ReportedRef(row["path"], "rtt", f"{float(name[1:]) / 100:g}")


def _reported_column(name: str) -> Column[Mapping[str, Any]]:
    return Column(name, lambda row: row.get(name), COUNT, MICROSECONDS, source=lambda row: [_reported_ref(row, name)])


def _over_mean(name: str) -> Column[Mapping[str, Any]]:
    def value(row: Mapping[str, Any]) -> float | None:
        return row[name] / row["mean"] if name in row and "mean" in row else None

    return Column(f"{name} ÷ mean", value, number(".2f"))


@results_only
def rates(results: Sequence[ThroughputSeries]) -> Table[ThroughputSeries] | Note:
    """Return each stream in time; ``results`` as `throughput_series` returns them."""
    if not results:
        return Note("No log of this study reports throughput by interval.")
    columns: list[Column[ThroughputSeries]] = [
        RUN,
        Column("intervals", attrgetter("intervals"), COUNT),
        Column("duration", attrgetter("seconds"), COUNT, _SECONDS),
        Column("goodput", attrgetter("mean.estimate"), number(",.3f"), GIGABITS),
        Column("interval", lambda rate: (rate.mean.low, rate.mean.high), interval(",.3f"), GIGABITS),
        Column("sd ÷ mean", attrgetter("spread"), number(".1f"), PERCENT),
        Column("throttled", _fall),
        Column("flags", attrgetter("mean.codes"), words(flags)),
    ]
    notes = explain(codes_of(rate.mean for rate in results))
    return Table("Throughput in time (scope: within run)", columns, results, notes, from_run("intervals"))


def _fall(rate: ThroughputSeries) -> str:
    throttled = rate.throttled
    return {True: f"after {throttled.at_s or 0:,.0f} s", False: "no", None: "too few to test"}[throttled.found]
