"""Helpers for all parsers: how a run ends, and checks that hold for the numbers of every log."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from operator import itemgetter
from typing import Any

from azlatency.logs.grammar.rules import UNKNOWN, RuleReader
from azlatency.logs.grammar.samples import SampleColumns
from azlatency.logs.grammar.units import Quantity, nanoseconds
from azlatency.logs.parsers import Log
from azlatency.logs.record import Recorder, Row, Run
from azlatency.logs.source.large import Column, extremes, least, linear, total
from azlatency.logs.source.lines import Line


def printed_rank(q: float, n: int) -> int:
    """Return the 1-based order statistic that sockperf prints for quantile ``q`` of ``n`` observations.

    It is the nearest rank, ``(int)(0.5 + p*N)`` counted from 1 (sockperf client.cpp 313); 0 if the line is omitted.
    """
    return math.floor(0.5 + q * n)


def complete_quantile(row: Row, n: int, rank: int) -> None:
    """Complete the row of a printed quantile from the number of observations and the rank of the value."""
    row.update(n=n, rank=rank, beyond=n * (1 - row["q"]), resolved=rank < n)


def closed_loop_share(n: int, mean_ns: float, duration_ns: int) -> float | None:
    """Return ``n * mean / duration``: about 1 if a closed loop printed round trips, about 0.5 if it printed halves.

    A closed loop sends the next probe when the reply arrives, so its round trips fill the whole duration. None if the
    duration is unknown.
    """
    return n * mean_ns / duration_ns if duration_ns else None


def utc(epoch_ns: int) -> datetime:
    """Convert an epoch in nanoseconds to UTC, truncated to microseconds, with integers only."""
    return datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=epoch_ns // 1000)


class LogReader(RuleReader):
    """A reader of the lines of one log, of which the last one may be cut."""

    def __init__(self, log: Log, recorder: Recorder) -> None:
        self.log, self.recorder, self.unfinished = log, recorder, log.unfinished_line

    def is_cut(self, line: Line, left_out: str = "its number is", *, severity: str = "warning") -> bool:
        """Return whether the log ends within a line; if so, report that its number, or something else, is left out."""
        if line.number != self.unfinished:
            return False
        text = f"the log ends within this line; {left_out} left out"
        # Of a reader that reads one run at a time, the event belongs to it.
        run: Run | Recorder = getattr(self, "run", None) or self.recorder
        run.add_event("unfinished_line", severity, text, line.number)
        return True


def ends_in_unknown_line(log: Log, recorder: Recorder) -> bool:
    """Return whether the last line has neither a line feed nor a known form: the log was cut within it."""
    number = log.unfinished_line
    return bool(number) and recorder.accounting.kind_of(number) == UNKNOWN


def end_run(run: Run, *, has_numbers: bool, ended: bool, last_line: int) -> None:
    """Complete a run: set its last line and status, and check its numbers.

    If the log does not contain the end of the tool's output (``ended``), the run is ``truncated``, with an event.
    """
    run.set(last_line=last_line)
    check_numbers(run)
    if run.row["status"] != "complete":
        return
    if not ended:
        run.set(status="truncated")
        severity = "warning" if has_numbers else "error"
        what = "the tool finished; the results up to here are kept" if has_numbers else "any result; copy the whole log"
        run.add_event("truncated", severity, f"the log ends before {what}", last_line)


def mark_summary_only(run: Run) -> None:
    """Mark a run of which only lines of the summary are left: its numbers are kept, but not what was measured."""
    text = "only lines of the summary are left: who measured whom, how often and when is unknown"
    run.end_as("summary_only", "info", text, run.row["first_line"])


#: Why the log of a server has no result, and needs none.
UNREACHED = "no client reached this server before the log ends"


def record_no_data(
    recorder: Recorder, log: Log, text: str, *, severity: str = "error", tool_version: str | None = None
) -> None:
    """Record a run without numbers for a log that has none; ``text`` says why."""
    run = recorder.start_run(log.tool, log.first_line, last_line=log.last_line, status="no_data")
    run.set(tool_version=tool_version)
    run.add_event("no_data", severity, text, log.first_line)


def record_server(recorder: Recorder, log: Log, *, tool_version: str | None = None) -> None:
    """Record the log of a server that no client reached: there is no result to wait for."""
    run = recorder.start_run(log.tool, log.first_line, last_line=log.last_line, test="server")
    run.set(tool_version=tool_version)
    run.end_as("no_data", "info", UNREACHED, log.last_line)


def contradict(run: Run, code: str, text: str, line: int) -> None:
    """Report numbers of the log that exclude each other; the run is then not complete, but ``failed``."""
    run.add_event(code, "error", text, line)
    run.set(status="failed")


# --- checks of numbers


def record_loss(run: Run, sent: int, received: int, line: int, *, percent: str | None, lost: str | None = None) -> bool:
    """Record the probes that were lost, and their share, with what the log prints of them; return whether it is known.

    ``received`` are the probes with a reply. It is greater than ``sent`` if a tool counts duplicates as replies.
    """
    if received > sent:
        text = f"{received} received of {sent} sent: duplicates are included, so the loss is unknown"
        run.add_event("more_received_than_sent", "warning", text, line)
        return False
    run.add_metric("lost", Quantity(float(sent - received), "count", lost, None), line)
    if sent:
        run.add_metric("loss", Quantity((sent - received) / sent, "fraction", percent, None), line)
    return True


def check_loss(run: Run, percent: str, sent: int, received: int, line: int, *, is_cut: bool = False) -> None:
    """Report a printed percentage that differs from the counts, which are used.

    Many tools round to whole percent; ``is_cut`` if the tool always cuts.
    """
    loss = 100 * (sent - received) / sent
    difference = abs(float(percent) - loss)
    if difference > 5e-5 + 1e-5 * loss:
        is_wrong = difference >= 1 or (is_cut and int(percent) != int(loss))
        text = f"the log prints {percent}% loss; the counts give {loss:.6g}%"
        run.add_event("loss_recomputed", "warning" if is_wrong else "info", text, line)


def check_samples(
    run: Run,
    times: Column,
    slack_ns: float,
    *,
    half_width_ns: float | None = None,
    code: str = "summary_mismatch",
    prefix: str = "rtt",
) -> None:
    """Report a printed minimum, mean or maximum that the samples contradict, whose times (ns) are all given.

    ``slack_ns`` is what the samples are rounded by, ``half_width_ns`` what the printed values are; by default it is
    their resolution.
    """
    low, high = extremes(times)
    for name, value in (("min", low), ("mean", total(times) / len(times)), ("max", high)):
        row = run.row_of(f"{prefix}_{name}")
        if row is None:
            continue
        rounding = (row["resolution"] or 0.0) if half_width_ns is None else half_width_ns
        if abs(row["value"] - value) > slack_ns + rounding:
            printed, computed = row["value"] / 1e3, value / 1e3
            text = f"the log prints {name} = {printed:.3f} us; its {len(times)} samples give {computed:.3f} us"
            contradict(run, code, text, row["line"])


_CLOSED_LOOP_SLACK = 1.05
_TICK_NS = 20e6


def check_numbers(run: Run, *prefixes: str, stream: str | None = None) -> None:
    """Add error events for numbers of a run that contradict each other, beyond the rounding of the printed numbers.

    The quantiles of each latency in ``prefixes`` must rise from the minimum to the maximum. Without prefixes, ``"rtt"``
    and the duration of the run are checked. The other identities are those of `azlatency.logs.parsers.identities`.
    """
    for prefix in prefixes or ("rtt",):
        _check_order(run, prefix, stream)
    if not prefixes:
        _check_duration(run)
        for metric, place in run.quantile_places():
            if "not_monotone" not in run.codes and (metric, place) != ("rtt", stream):
                _check_order(run, metric, place)


def _check_order(run: Run, prefix: str, stream: str | None) -> None:
    """Check that quantiles increase with q, from the minimum to the maximum."""
    rows = run.quantile_rows(prefix, stream)
    if not rows:
        return
    rows.sort(key=itemgetter("q"))
    low, high = (run.row_of(f"{prefix}_{ending}", stream=stream) for ending in ("min", "max"))
    values = [_value(row) for row in (low, *rows, high) if row]
    if values == sorted(values):
        return
    last = low
    for row in [*rows, *([high] if high is not None else [])]:
        if last is not None and exceeds(last, row):
            text = f"{_label(row)} {_shown(row)} is less than {_label(last)} {_shown(last)}"
            run.add_event("not_monotone", "error", text, row["line"])
        last = row


def _check_duration(run: Run) -> None:
    """Check that the round trips of a closed loop do not take longer than the run."""
    duration = run.row.get("duration_ns")
    if not duration or not run.row.get("closed_loop") or (run.row.get("connections") or 1) > 1:
        return
    n, mean = run.value("observations"), run.row_of("rtt_mean")
    if not n or mean is None:
        return
    if n * (mean["value"] - slack(mean)) > _CLOSED_LOOP_SLACK * duration + _TICK_NS:
        text = f"{n:.0f} consecutive round trips of {_shown(mean)} take longer than {duration / 1e9:g} s"
        run.add_event("impossible_duration", "error", text, mean["line"])


def _value(row: Row) -> float:
    return float(row["value_ns"] if "value_ns" in row else row["value"])


def exceeds(row: Row, limit: Row) -> bool:
    """Return whether a number is greater than another by more than the rounding of both explains."""
    value, bound = _value(row), _value(limit)
    return value > bound and value > bound + slack(row, limit)


def slack(*rows: Row) -> float:
    """Return the difference that the rounding of the printed numbers explains."""
    halves = [row.get("resolution_ns") or row.get("resolution") or 0.0 for row in rows]
    return 1.001 * sum(halves) + 1e-9 * max(abs(_value(row)) for row in rows)


def rate_range(size: Quantity, time_ns: float, slack_ns: float) -> tuple[float, float]:
    """Return the least and the greatest rate (bit/s) that a printed size and a time within its rounding allow."""
    low = 8e9 * max(size.value - size.half, 0.0) / (time_ns + slack_ns) if time_ns + slack_ns > 0 else 0.0
    high = 8e9 * (size.value + size.half) / (time_ns - slack_ns) if time_ns - slack_ns > 0 else math.inf
    return low, high


def rate_agrees(rate: Quantity, size: Quantity, time_ns: float, slack_ns: float, *, share: float = 0.0) -> bool:
    """Return whether a printed rate can be a printed size by a time, within the rounding and a ``share`` of it."""
    low, high = rate_range(size, time_ns, slack_ns)
    margin = 1.001 * rate.half + share * rate.value
    return low - margin <= rate.value <= high + margin


def _label(row: Row) -> str:
    return f"p{100 * row['q']:g}" if "q" in row else row["metric"].rsplit("_", 1)[-1]


def _shown(row: Row) -> str:
    return f"{_value(row) / 1e3:.6g} us"


def timed_columns(
    run: Run, samples: SampleColumns, interval: str | None, unit: str, first_seq: int = 0
) -> dict[str, Sequence[Any]]:
    """Return the columns of samples with the times since the first one was sent, which is the start of the run.

    If none has a time, the probes are ``interval`` apart, the value of an option, from the number ``first_seq`` on.
    """
    columns = samples.columns()
    if (first := least(samples.sent)) is not None:
        columns["sent_ns"] = linear(samples.sent, first, 1)
        run.set(started_at=utc(first))
    elif interval and re.fullmatch(r"\d{1,6}(?:\.\d{1,6})?", interval):
        columns["sent_ns"] = linear(samples.seq, first_seq, nanoseconds(interval, unit))
    return columns
