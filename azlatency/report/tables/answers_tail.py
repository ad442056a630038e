"""The tables of the pages on placement, tails and stability: one function a table, frames and results in.

As in `azlatency.report.tables.tables`, nothing is computed here but units and layout.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Any

from azlatency.report.objects import Note, Origin, Reported, Runs, Table
from azlatency.report.tables.tables import explained, gigabits, micros, remarks, text, whole
from azlatency.stats.across_runs.placement import Change, Condition
from azlatency.stats.result import CODES, SHORT, Estimate
from azlatency.stats.within_run.stability import Lifetime
from azlatency.stats.within_run.tail_by_run import RunTail
from azlatency.stats.within_run.time_series import Ends, Rate, RunInTime, Segments
from azlatency.studies.store import load

_SAID = {"vm_size": "VM size", "accelerated_networking": "accelerated networking", "message_bytes": "message size"}
_VERDICTS = {
    "different": "differs",
    "different_within_margin": "differs, within the margin",
    "equivalent": "equal within the margin",
    "undetermined": "open: more runs",
}


# --- placement


def conditions(found: Sequence[Condition]) -> Table | Note:
    """What was measured under which circumstances; ``found`` as `azlatency.stats.across_runs.placement.conditions`."""
    if not found:
        return Note("This study holds no latency, neither in a log nor in a text.")
    rows = []
    for each in found:
        low, high = min(each.values), max(each.values)
        fast = {True: ", acc. networking", False: ", no acc. networking", None: ""}[each.accelerated_networking]
        rows.append(
            (
                each.path,
                (each.placement or "not said").replace("_", " "),
                micros(low, 1) if low == high else f"{micros(low, 1)} – {micros(high, 1)}",
                each.statistic,
                whole(each.runs) if each.runs is not None else "not said",
                each.origin,
                each.method,
                text(each.vm_size).removeprefix("Standard_") + fast or "not said",
            )
        )
    headers = ("path", "placement", "round trip, µs", "of a run", "runs", "from", "method", "VM")
    notes = ["Reported: stands only in a text; the log, the spread and the unit cannot be checked."]
    kept = notes if any(each.origin == "reported" for each in found) else []
    origins = [{0: (_measured(each),)} for each in found]
    return Table("Round trips by placement, near to far", headers, rows, frozenset({2, 4}), kept, origins)


def _measured(each: Condition) -> Origin:
    """The runs of a condition, or the line of the text that reports it."""
    if each.origin == "reported":
        return Reported(each.path, "rtt_mean")
    return Runs(f"{each.statistic}_ns", each.path, each.method)


def changes(found: Sequence[Change], what: str) -> Table | Note:
    """Pairs that differ in ``what`` alone; ``found`` as `azlatency.stats.across_runs.placement.changes`."""
    if not found:
        return Note(f"No two measurements of this study differ in {what} alone.")
    rows = []
    for each in found:
        base, other = (_level(each, side) for side in (each.base, each.other))
        ratio = None if each.comparison is None else each.comparison.ratio
        interval = "none"
        if ratio is not None and ratio.low is not None and ratio.high is not None:
            interval = f"{ratio.low:.3g} – {ratio.high:.3g}"
        point = f"{ratio.estimate:.3g}" if ratio is not None and ratio.estimate is not None else None
        low, high = f"{each.ratio_low:.3g}", f"{each.ratio_high:.3g}"
        measured = point or (low if low == high else f"{low} – {high}")
        rows.append((base, other, measured, interval, _runs(each), each.other.method, _conclusion(each)))
    headers = ("from", "to", "times", "interval", "runs", "method", "conclusion")
    codes = dict.fromkeys(code for each in found if each.comparison is not None for code in each.comparison.codes)
    notes = [f"{SHORT[code].capitalize()}: {CODES[code]}." for code in codes if code != "cannot_reach_alpha"]
    if "cannot_reach_alpha" in codes:
        notes.append(
            "Intervals and verdicts take the logarithms of run values as normal; with so few runs no test without that "
            "assumption could decide. Each interval holds by itself: of twenty, one is expected to miss."
        )
    origins = [{0: (_measured(each.base), _measured(each.other))} for each in found]
    return Table(f"One change at a time: {what}", headers, rows, frozenset({2, 3, 4}), notes, origins)


def _level(each: Change, side: Condition) -> str:
    if each.factor == "placement":
        placement = (side.placement or "").replace("_", " ")
        return side.path if placement in side.path.lower() else f"{side.path} ({placement})"
    value = getattr(side, each.factor)
    level = {
        "accelerated_networking": {True: "on", False: "off"}.get(value, ""),
        "message_bytes": f"{value} B",
        "vm_size": str(value).removeprefix("Standard_"),
    }[each.factor]
    return f"{level}: {side.path}"


def _runs(each: Change) -> str:
    return " / ".join("?" if side.runs is None else str(side.runs) for side in (each.base, each.other))


def _conclusion(each: Change) -> str:
    unsaid = "".join(f"; {_SAID.get(name, name)} may differ, too" for name in each.unsaid)
    if each.comparison is None:
        return "none: no log" + unsaid
    if "no_replication" in each.comparison.codes:
        return "none: one run" + unsaid
    return _VERDICTS[each.comparison.verdict] + unsaid


# --- stability


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
        "Every run with samples, in time", headers, rows, frozenset({1, 2, 3, 4, 6, 7}), notes, _of_samples(found)
    )


def _of_samples(runs: Iterable[RunInTime | RunTail]) -> list[dict[int, Sequence[Origin]]]:
    """Rows that are computed from the samples of one run each."""
    return [{0: (Runs("samples", run=each.run_id),)} for each in runs]


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
    return Table("Level shifts", headers, rows, frozenset({2, 3, 4}), origins=_of_samples(shifted))


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


# --- tails


def percentiles(found: Sequence[RunTail]) -> Table | Note:
    """Percentiles of runs with samples, one row a run; ``found`` as `runtails.tails_of_runs`."""
    if not found:
        return Note(_NO_TAILS)
    names = {0.5: "p50", 0.99: "p99", 0.999: "p99.9", 0.9999: "p99.99", 0.999999: "one in a million"}
    rows = []
    for each in found:
        least = min(quantile.n_effective or quantile.n for quantile in each.quantiles)
        why = remarks(dict.fromkeys(code for one in each.quantiles for code in one.codes if code != "unbounded_upper"))
        cells = [_ends(quantile) for quantile in each.quantiles]
        rows.append((f"{each.path}, {each.method}", whole(len(each.rtt)), f"{least:,.0f}", *cells, why))
    levels = [names[quantile.labels["q"]] for quantile in found[0].quantiles]
    notes = [
        "In brackets the interval, where one holds; – where no packet was late enough. Worth: independent packets that "
        "the run is worth at the percentile where it is worth least.",
        *explained([quantile for each in found for quantile in each.quantiles]),
    ]
    headers = ("run", "packets", "worth", *(f"{level}, µs" for level in levels), "remark")
    title = "Percentiles from samples (scope: within run)"
    return Table(title, headers, rows, frozenset({1, 2}), notes, _of_samples(found))


_NO_TAILS = (
    "No log of this study holds 1,000 or more samples of one run: of a tail only what printed percentiles bracket is "
    "known."
)


def _ends(each: Estimate) -> str:
    """An estimate in µs, with its interval in brackets where there is one."""
    if each.estimate is None:
        return "–"
    if each.low is None and each.high is None:
        return micros(each.estimate)
    high = "no bound" if each.high is None else micros(each.high)
    return f"{micros(each.estimate)} ({micros(each.low) or '0'} – {high})"


def _bounded(each: Estimate) -> str:
    """An estimate in µs with its interval in brackets, or the reason why there is none."""
    words = remarks(code for code in each.codes if code not in ("unbounded_upper", "interpolated"))
    if each.estimate is None:
        return f"– ({words})"
    if each.low is None and each.high is None:
        return f"{micros(each.estimate)} ({words})" if words else micros(each.estimate)
    return _ends(each)


def fits(found: Sequence[RunTail]) -> Table | Note:
    """The fitted tails, or why there is none; ``found`` as `runtails.tails_of_runs`."""
    if not found:
        return Note(_NO_TAILS)
    rows = []
    for each in found:
        fit, shape = each.fit, each.fit.shape
        ends = "" if shape.low is None or shape.high is None else f" ({shape.low:.2f} – {shape.high:.2f})"
        own = "" if each.own_level is None else _bounded(each.own_level)
        rows.append(
            (
                f"{each.path}, {each.method}",
                "refused" if fit.refused else fit.verdict,
                "" if shape.estimate is None else f"{shape.estimate:.2f}{ends}",
                "" if fit.threshold is None else micros(fit.threshold),
                whole(fit.clusters),
                micros(each.largest),
                own,
                "" if each.million is None else _bounded(each.million),
                remarks(fit.codes),
            )
        )
    headers = (
        "run", "tail", "shape", "from, µs", "clusters", "largest seen, µs", "fit: once in this run, µs",
        "fit: once in a million, µs", "remark",
    )  # fmt: skip
    known = [level for each in found for level in (each.own_level, each.million) if level is not None]
    notes = explained([*(each.fit.shape for each in found), *known])
    return Table("Is the tail heavy?", headers, rows, frozenset({3, 4, 5}), notes, _of_samples(found))


def above_limit(found: Sequence[RunTail], printed: Sequence[Estimate], limit_us: float) -> Table | Note:
    """How often a round trip was slower than the limit, from samples and from printed tables."""
    rows = [(f"{each.path}, {each.method}", "samples", whole(each.slower.n), *_share(each.slower)) for each in found]
    worst: dict[tuple[str, str], Estimate] = {}
    for each in printed:
        key = each.labels["path"], each.labels["method"]
        if key not in worst or (each.high or 0) > (worst[key].high or 0):
            worst[key] = each
    rows += [
        (f"{path}, {method}", "printed table", whole(one.n), *_share(one)) for (path, method), one in worst.items()
    ]
    if not rows:
        return Note("No log of this study holds samples or printed percentiles: no limit can be checked.")
    notes = explained([*(each.slower for each in found), *printed])
    if len(worst) < len(printed):
        notes.insert(0, "Of several printed tables of one path and method, the one that allows the most.")
    headers = ("run", "from", "packets", "slower, %", "interval, %", "remark")
    origins = _of_samples(found)
    origins += [{0: (Runs("percentiles", run=str(one.labels["run_id"])),)} for one in worst.values()]
    return Table(f"How often slower than {limit_us:,g} µs", headers, rows, frozenset({2, 3, 4}), notes, origins)


def _share(each: Estimate) -> tuple[str, str, str]:
    point = "" if each.estimate is None else f"{100 * each.estimate:.3g}"
    known = each.low is not None and each.high is not None
    ends = f"{100 * (each.low or 0):.3g} – {100 * (each.high or 0):.3g}" if known else "none"
    return point, ends, remarks(each.codes)


def slowest_of(found: Sequence[RunTail]) -> Table | Note:
    """The typical slowest of many calls at once beside the typical single call."""
    if not found:
        return Note("Without samples nothing can be said of many calls at once.")
    rows = []
    for each in found:
        single, slowest = each.quantiles[0], each.slowest
        times = slowest.estimate / single.estimate if slowest.estimate and single.estimate else None
        seen = slowest.diagnostics.get("block_maxima")
        rows.append(
            (
                f"{each.path}, {each.method}",
                micros(single.estimate),
                _bounded(slowest),
                "" if times is None else f"{times:.2f}",
                "" if seen is None else micros(seen),
            )
        )
    calls = found[0].slowest.labels["n_calls"]
    headers = ("run", "one call, µs", f"slowest of {calls}, µs", "times", f"slowest of {calls} in a row, µs")
    notes = ["Medians. The calls are taken as independent; the last column takes packets as they followed one another."]
    title = f"One call, and the slowest of {calls}"
    return Table(title, headers, rows, frozenset({1, 3, 4}), notes, _of_samples(found))


def by_time(found: Sequence[RunTail]) -> Table | Note:
    """Percentiles by request and by time, of closed loops; ``found`` as `runtails.tails_of_runs`."""
    rows, closed = [], [each for each in found if each.loop is not None]
    for each in closed:
        assert each.loop is not None
        pairs = zip(each.loop.by_request, each.loop.by_time, strict=True)
        cells = [micros(one.estimate) or "–" for pair in pairs for one in pair]
        rows.append((f"{each.path}, {each.method}", *cells, micros(each.loop.residual_wait)))
    if not rows:
        return Note("No run of this study with samples is a closed loop.")
    headers = ("run", "p50 by request, µs", "p50 by time, µs", "p99 by request, µs", "p99 by time, µs", "mean wait, µs")
    note = "Mean wait: of someone who comes at a random moment, for the answer that is under way."
    return Table("By request and by time", headers, rows, frozenset(range(1, 6)), (note,), _of_samples(closed))


# --- the way in


def studies(names: Sequence[str]) -> Table | Note:
    """The imported studies among ``names``: what they ask, what they hold."""
    rows = []
    for name in names:
        study = load(name)
        tools = ", ".join(sorted(set(study.runs["tool"]))) or "–"
        where = "emulated lab" if study.info.get("emulated") else text(study.info.get("region")) or "not said"
        rows.append((name, text(study.info.get("question")), where, whole(len(study.runs)), tools))
    if not rows:
        return Note("No study is imported yet: azlatency import --all.")
    headers = ("study", "question", "where", "runs", "tools")
    notes = ["A study with 0 runs holds numbers from a text, or a specification: they can be quoted, not tested."]
    return Table("The studies", headers, rows, frozenset({3}), notes)
