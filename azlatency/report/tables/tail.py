"""Tables of the page "The tail"."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from azlatency.report.objects import Note, Runs, Table
from azlatency.report.tables.common import explained, micros, remarks, samples_of, whole

if TYPE_CHECKING:
    from azlatency.stats.result import Estimate
    from azlatency.stats.within_run.tail_by_run import RunTail


_NO_TAILS = (
    "No log of this study holds 1,000 or more samples of one run: of a tail only what printed percentiles bracket is "
    "known."
)


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
    return Table(title, headers, rows, frozenset({1, 2}), notes, samples_of(found))


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
    return Table("Is the tail heavy?", headers, rows, frozenset({3, 4, 5}), notes, samples_of(found))


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
    origins = samples_of(found)
    origins += [{0: (Runs("percentiles", run=str(one.labels["run_id"])),)} for one in worst.values()]
    return Table(f"How often slower than {limit_us:,g} µs", headers, rows, frozenset({2, 3, 4}), notes, origins)


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
    return Table(title, headers, rows, frozenset({1, 3, 4}), notes, samples_of(found))


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
    return Table("By request and by time", headers, rows, frozenset(range(1, 6)), (note,), samples_of(closed))


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


def _share(each: Estimate) -> tuple[str, str, str]:
    point = "" if each.estimate is None else f"{100 * each.estimate:.3g}"
    known = each.low is not None and each.high is not None
    ends = f"{100 * (each.low or 0):.3g} – {100 * (each.high or 0):.3g}" if known else "none"
    return point, ends, remarks(each.codes)
