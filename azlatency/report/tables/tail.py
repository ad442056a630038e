"""Tables of the page "The tail"."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from operator import attrgetter
from typing import TYPE_CHECKING, Any, NamedTuple

from azlatency.kit.cells import MICROSECONDS, PERCENT, Column, RunsRef, Table, interval, number, with_interval, words
from azlatency.kit.objects import Note
from azlatency.report.tables.common import COUNT, RUN, TENTHS, codes_of, explain, flags, from_run, paths_table
from azlatency.stats import rows
from azlatency.stats.result import results_only

if TYPE_CHECKING:
    import pandas as pd

    from azlatency.stats.result import Estimate
    from azlatency.stats.within_run.tail_by_run import RunTail

_NO_TAILS = "No log of this study has 1,000 or more samples of one run: only printed percentiles describe the tail."
_LEVELS = {0.5: "p50", 0.99: "p99", 0.999: "p99.9", 0.9999: "p99.99", 0.999999: "one in a million"}
_QUANTILE = with_interval(",.1f", no_low="0", no_high="no bound")


@results_only
def across_runs(runs: pd.DataFrame, typical: pd.DataFrame, plans: pd.DataFrame) -> Table[Estimate] | Note:
    """Return the typical p99 of each path and method over its runs, and the runs that ±10 % need.

    ``typical``: `azlatency.summarize` of ``p99_ns``; ``plans``: `azlatency.plan` of the same column.
    """
    repeated = rows.estimates(typical[typical["n"] > 1])
    if not repeated:
        return Note("No path has two runs with at least 100 packets, so there is no p99 across runs.")
    by_key = {(plan["path"], plan["method"]): plan for plan in plans.to_dict("records")}

    def needed(estimate: Estimate) -> str:
        plan = by_key[estimate.labels["path"], estimate.labels["method"]]
        needed, low, high = (number(",.0f").text(plan[name], 1) for name in ("needed", "low", "high"))
        return needed or (f"{low} – {high}" if low and high else "not known")

    table = paths_table(runs, repeated, "p99_ns", "p99 per run", MICROSECONDS, "p99 across runs")
    columns = [*table.columns[:-1], Column("runs for ±10 %", needed, words(), align="right"), table.columns[-1]]
    notes = ["Runs for ±10 %: a range if there are fewer than five runs.", *table.notes]
    return replace(table, columns=columns, notes=notes)


@results_only
def percentiles(tails: Sequence[RunTail]) -> Table[RunTail] | Note:
    """Return the percentiles of runs with samples; ``tails`` as `run_tails` returns them."""
    if not tails:
        return Note(_NO_TAILS)

    def worth(tail: RunTail) -> float:
        return min(quantile.n_effective or quantile.n for quantile in tail.quantiles)

    columns: list[Column[RunTail]] = [
        RUN,
        Column("packets", lambda tail: len(tail.rtt), COUNT),
        Column("effective", worth, COUNT),
        *(
            Column(_LEVELS[quantile.labels["q"]], _nth_quantile(index), _QUANTILE, MICROSECONDS)
            for index, quantile in enumerate(tails[0].quantiles)
        ),
        Column(
            "flags", lambda tail: [code for code in codes_of(tail.quantiles) if code != "unbounded_upper"], words(flags)
        ),
    ]
    notes = [
        "Low and high: the interval, where it is valid; –: the run has too few packets. Effective: the effective "
        "sample size, which accounts for autocorrelation; the smallest over the percentiles.",
        *explain(codes_of(quantile for tail in tails for quantile in tail.quantiles)),
    ]
    return Table("Percentiles from samples (scope: within run)", columns, tails, notes, from_run("samples"))


def _nth_quantile(index: int) -> Any:
    return lambda tail: tail.quantiles[index]


def _bounded(value: Estimate | None, scale: float) -> str:
    """Format an estimate with its interval, or with the reason why it has none."""
    if value is None:
        return ""
    shown = _QUANTILE.text(value, scale)
    reason = flags(code for code in value.codes if code not in ("unbounded_upper", "interpolated"))
    has_interval = value.estimate is not None and (value.low is not None or value.high is not None)
    return shown if has_interval or (value.estimate is not None and not reason) else f"{shown} ({reason})"


_BOUNDED = replace(_QUANTILE, text=_bounded)


class Exceedance(NamedTuple):
    """The share of a run's packets above a limit, counted from ``samples`` or bounded by a printed table."""

    name: str
    run_id: str
    origin: str
    share: Estimate


@results_only
def above_limit(tails: Sequence[RunTail], printed: Sequence[Estimate], limit_us: float) -> Table[Exceedance] | Note:
    """Return how often a round trip took longer than ``limit_us`` (µs), from samples and from printed tables."""
    rows = [Exceedance(tail.name, tail.run_id, "samples", tail.slower) for tail in tails]
    worst: dict[tuple[str, str], Estimate] = {}
    for share in printed:
        key = share.labels["path"], share.labels["method"]
        if key not in worst or (share.high or 0) > (worst[key].high or 0):
            worst[key] = share
    rows += [
        Exceedance(str(share.labels["name"]), str(share.labels["run_id"]), "printed table", share)
        for share in worst.values()
    ]
    if not rows:
        return Note("No log of this study has samples or printed percentiles, so no limit can be checked.")
    notes = explain(codes_of([*(tail.slower for tail in tails), *printed]))
    if len(worst) < len(printed):
        notes.insert(
            0, "Of several printed tables of one path and method, the one with the largest upper bound is shown."
        )
    columns: list[Column[Exceedance]] = [
        RUN,
        Column("from", attrgetter("origin")),
        Column("packets", attrgetter("share.n"), COUNT),
        Column("slower", attrgetter("share.estimate"), number(".3g"), PERCENT),
        Column("interval", lambda row: (row.share.low, row.share.high), interval(".3g", missing="none"), PERCENT),
        Column("flags", attrgetter("share.codes"), words(flags)),
    ]

    def source(row: Exceedance) -> list[RunsRef]:
        return [RunsRef((row.run_id,), "samples" if row.origin == "samples" else "percentiles")]

    return Table(f"How often slower than {limit_us:,g} µs", columns, rows, notes, source)


@results_only
def slowest_of(tails: Sequence[RunTail]) -> Table[RunTail] | Note:
    """Return the median of a single call and of the slowest of many parallel calls."""
    if not tails:
        return Note("Parallel calls cannot be estimated without samples.")
    calls = tails[0].slowest.labels["n_calls"]

    def times(tail: RunTail) -> float | None:
        single, slowest = tail.quantiles[0].estimate, tail.slowest.estimate
        return slowest / single if slowest and single else None

    columns: list[Column[RunTail]] = [
        RUN,
        Column("one call", lambda tail: tail.quantiles[0].estimate, TENTHS, MICROSECONDS),
        Column(f"slowest of {calls}", attrgetter("slowest"), _BOUNDED, MICROSECONDS),
        Column("times", times, number(".2f")),
        Column(
            f"slowest of {calls} in a row",
            lambda tail: tail.slowest.diagnostics.get("block_maxima"),
            TENTHS,
            MICROSECONDS,
        ),
    ]
    note = "Medians. The calls are assumed to be independent; the last column uses consecutive packets."
    return Table(f"One call, and the slowest of {calls}", columns, tails, [note], from_run("samples"))


@results_only
def at_random_moments(tails: Sequence[RunTail]) -> Table[RunTail] | Note:
    """Return how long a user waits who arrives at a random moment of a closed loop; ``tails``: `run_tails`."""
    closed = [tail for tail in tails if tail.waits]
    if not closed:
        return Note("No run of this study with samples is a closed loop.")
    columns: list[Column[RunTail]] = [
        RUN,
        Column("p50 of packets", lambda tail: tail.quantiles[0].estimate, TENTHS, MICROSECONDS),
        Column("p50 of waits", lambda tail: tail.waits[0], _BOUNDED, MICROSECONDS),
        Column("p99 of packets", lambda tail: tail.quantiles[1].estimate, TENTHS, MICROSECONDS),
        Column("p99 of waits", lambda tail: tail.waits[1], _BOUNDED, MICROSECONDS),
        Column("mean wait", lambda tail: tail.waits[0].diagnostics.get("mean"), TENTHS, MICROSECONDS),
    ]
    notes = [
        "Wait: the remaining time until the outstanding reply, for a user who arrives at a random moment. The "
        "round trip of the user comes after it.",
        *explain(codes_of(wait for tail in closed for wait in tail.waits)),
    ]
    return Table("Waits at a random moment", columns, closed, notes, from_run("samples"))
