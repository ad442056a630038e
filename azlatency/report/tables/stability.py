"""Tables of the page "Stability over time"."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from azlatency.report.objects import Note, Origin, Reported, Runs, Table
from azlatency.report.tables.common import explained, gigabits, micros, remarks, samples_of, whole
from azlatency.stats.result import CODES, SHORT

if TYPE_CHECKING:
    from azlatency.stats.within_run.stability import Lifetime
    from azlatency.stats.within_run.time_series import Ends, Rate, RunInTime, Segments


def runs_in_time(found: Sequence[RunInTime]) -> Table | Note:
    """Every run with samples: how long, what was lost, jitter, shifts; ``found`` as `intime.runs_in_time`."""
    if not found:
        return Note("No log of this study holds samples in time: whether its runs were stable cannot be asked.")
    rows = []
    for each in found:
        shifts = each.stability.shifts
        confirmed = sum(shift.confirmed for shift in shifts)
        stable = {True: "no shift", False: f"{confirmed} confirmed", None: "too short to tell"}[each.stability.stable]
        if each.stability.stable and shifts:
            stable = f"{len(shifts)} unconfirmed"
        low, high = each.drift.slope.low, each.drift.slope.high
        rows.append(
            (
                f"{each.path}, {each.method}",
                whole(len(each.rtt)),
                "" if each.seconds is None else f"{each.seconds:,.1f}",
                whole(each.lost),
                micros(each.jitter, 1),
                stable,
                "" if low is None or high is None else f"{low / 1e3:+,.1f} – {high / 1e3:+,.1f}",
                whole(each.steps) if each.sent is not None else "no times",
            )
        )
    headers = ("run", "probes", "seconds", "lost", "jitter, µs", "level", "drift, µs", "clock set")
    notes = [
        "Jitter: median difference of neighbouring round trips. Drift: interval of the change from begin to end.",
        "Level: shifts of block medians; confirmed by a test that holds for dependent packets.",
    ]
    return Table(
        "Every run with samples, in time", headers, rows, frozenset({1, 2, 3, 4, 6, 7}), notes, samples_of(found)
    )


def shifts(found: Sequence[RunInTime]) -> Table | Note:
    """Each level shift with size, time and confirmation; ``found`` as `intime.runs_in_time`."""
    if not found:
        return Note("Without samples no level shift can be looked for.")
    rows, shifted = [], []
    for each in found:
        for shift in each.stability.shifts:
            shifted.append(each)
            in_packets = each.sent is None
            when = [moment if in_packets else moment / 1e9 for moment in (shift.at, shift.at_low, shift.at_high)]
            change = shift.change
            rows.append(
                (
                    f"{each.path}, {each.method}",
                    f"{when[0]:,.1f} ({when[1]:,.1f} – {when[2]:,.1f})" + (" probes" if in_packets else " s"),
                    micros(change.estimate),
                    "" if change.low is None else f"{micros(change.low)} – {micros(change.high)}",
                    f"{100 * shift.relative:+.1f} %",
                    "confirmed" if shift.confirmed else "not confirmed",
                    "yes" if shift.practical else "no",
                )
            )
    if not rows:
        tried = sum(each.stability.stable is not None for each in found)
        return Note(f"No level shift in any of the {tried} runs that are long enough to tell.")
    headers = ("run", "after (interval)", "change, µs", "interval, µs", "relative", "state", "beyond the margin")
    return Table("Level shifts", headers, rows, frozenset({2, 3, 4}), origins=samples_of(shifted))


def lifetimes(life: Lifetime) -> Table | Note:
    """How long connections lived, censored ones counted; ``life`` as `intime.connections`."""
    if not life.n:
        return Note("No log of this study follows a connection in time: nothing can be said of how long one lives.")
    rows = [
        ("connections followed", whole(life.n)),
        ("of them cut off", whole(life.losses)),
        ("followed for, seconds together", f"{life.seconds:,.1f}"),
        ("median lifetime, seconds", "not reached" if life.median.estimate is None else f"{life.median.estimate:,.1f}"),
        (
            "losses, at most one in … seconds",
            "no bound" if not life.rate.high else f"{1 / life.rate.high:,.0f} ({100 * life.rate.confidence:g} %)",
        ),
    ]
    note = "A connection that was alive at the end of its test is censored: it lived at least so long."
    origins = [{0: (Runs("samples", every=True, part="TCP"),)} for _ in rows]
    return Table("Life of the connections", ("what", "value"), rows, frozenset({1}), (note,), origins)


def ends(found: Ends | None) -> Table | Note:
    """When connections broke, as a text says it; ``found`` as `intime.reported_ends`."""
    if found is None:
        return Note("No text of this study says when a connection broke.")
    rows = [
        (path, printed, f"{gap:,.0f}", lasted)
        for path, printed, gap, lasted in zip(found.paths, found.printed, found.gaps, found.lasted, strict=True)
    ]
    notes = ["Reported, time zone not stated. Ends within a minute of each other are hardly independent events."]
    headers = ("connection", "broke at, as printed", "seconds after the first", "said to have lasted")
    origins = [
        {0: (Reported(row[0], "failed_at"), Reported(row[0], "duration")), 2: (Reported(row[0], "failed_at"),)}
        for row in rows
    ]
    return Table("How the connections ended, as reported", headers, rows, frozenset({2}), notes, origins)


def segments(found: Sequence[Segments]) -> Table | Note:
    """The event test on reported segments; ``found`` as `intime.reported_segments`."""
    if not found:
        return Note("No text of this study reports segments of a run, and no connection of its logs broke.")
    rows = []
    for each in found:
        others = [later - earlier for earlier, later in pairwise(each.values[:-1])]
        p, least = each.event.p, each.event.attainable_p
        rows.append(
            (
                each.path,
                micros(each.event.change, 2),
                ", ".join(micros(other, 2) for other in others),
                "" if p is None else f"{p:.2f}",
                "" if least is None else f"{least:.2f}",
                "" if each.drift.p is None else f"{each.drift.p:.2f}",
                remarks(each.event.codes),
            )
        )
    codes = dict.fromkeys(code for each in found for code in each.event.codes)
    notes = [
        "p: share of the changes between neighbouring segments, the last among them, that are at least as large.",
        *(f"{SHORT[code].capitalize()}: {CODES[code]}." for code in codes),
    ]
    headers = (
        "connection",
        "last change, µs",
        "changes before, µs",
        "p",
        "smallest possible p",
        "p of a trend",
        "remark",
    )
    origins = [{0: (Reported(each.path, "rtt_mean", segment=True),)} for each in found]
    return Table("Was the last change unusual?", headers, rows, frozenset({1, 3, 4, 5}), notes, origins)


def reported_spread(found: Sequence[dict[str, Any]]) -> Table | Note:
    """Reported percentiles beside the mean; ``found`` as `intime.spread_of_reported`."""
    if not found:
        return Note("No text of this study reports percentiles of a run in time.")
    names = [name for name in ("min", "mean", "p95", "p99", "max") if any(name in each for each in found)]
    rows = []
    for each in found:
        ratios = [each[name] / each["mean"] if name in each and "mean" in each else None for name in ("p95", "p99")]
        values = [micros(each.get(name), 0) for name in names]
        rows.append((str(each["path"]), *values, *("" if ratio is None else f"{ratio:.2f}" for ratio in ratios)))
    headers = ("connection", *(f"{name}, µs" for name in names), "p95 ÷ mean", "p99 ÷ mean")
    note = "Reported: the samples behind these numbers were not published. The maximum is one packet."
    origins = [_spread_origins(row[0], names) for row in rows]
    title = "Spread of the round trips, as reported"
    return Table(title, headers, rows, frozenset(range(1, len(headers))), (note,), origins)


def _spread_origins(path: str, names: Sequence[str]) -> dict[int, Sequence[Origin]]:
    """Where each reported number of a path stands; a ratio comes from two of them."""
    metrics = {"min": "rtt_min", "mean": "rtt_mean", "max": "rtt_max"}
    lines = [
        Reported(path, metrics[name]) if name in metrics else Reported(path, "rtt", f"{float(name[1:]) / 100:g}")
        for name in names
    ]
    return {0: tuple(lines), **{column: (line,) for column, line in enumerate(lines, start=1)}}


def rates(found: Sequence[Rate]) -> Table | Note:
    """Streams in time; ``found`` as `intime.rates_in_time`."""
    if not found:
        return Note("No log of this study reports throughput by interval.")
    rows = []
    for each in found:
        mean = each.mean
        thrown = each.throttled
        fall = {True: f"after {thrown.at_s or 0:,.0f} s", False: "no", None: "too few to tell"}[thrown.found]
        rows.append(
            (
                f"{each.path}, {each.method}",
                whole(each.intervals),
                f"{each.seconds:,.0f}",
                gigabits(mean.estimate),
                "" if mean.low is None else f"{gigabits(mean.low)} – {gigabits(mean.high)}",
                "" if each.spread is None else f"{100 * each.spread:.1f} %",
                fall,
                remarks(mean.codes),
            )
        )
    notes = explained([each.mean for each in found])
    headers = ("run", "intervals", "seconds", "Gbit/s", "interval", "sd ÷ mean", "fell to a lower level", "remark")
    origins = [{0: (Runs("intervals", run=each.run_id),)} for each in found]
    return Table("Throughput in time (scope: within run)", headers, rows, frozenset({1, 2, 3, 4, 5}), notes, origins)
