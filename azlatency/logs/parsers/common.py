"""What several parsers share: how a run ends, and the invariants that hold for every latency log."""

from __future__ import annotations

import math
from datetime import UTC, datetime, timedelta

from azlatency.logs.parsers import Log
from azlatency.logs.record import Row, Run


def printed_rank(q: float, n: int) -> int:
    """1-based order statistic that sockperf prints for quantile ``q`` of ``n`` observations.

    Nearest rank without interpolation, ``(int)(0.5 + p*N)`` counted from 1 (sockperf client.cpp 313); 0 where the tool
    leaves the line out.
    """
    return math.floor(0.5 + q * n)


def complete_quantile(row: Row, n: int, rank: int) -> None:
    """Fill in what the number of observations says about a printed quantile."""
    row.update(n=n, rank=rank, beyond=n * (1 - row["q"]), resolved=rank < n)


def closed_loop_share(n: int, mean_ns: float, duration_ns: int) -> float | None:
    """``n * mean / duration``: about 1 where a closed loop printed round trips, about 0.5 where it printed halves.

    Between two probes of a closed loop nothing happens but the round trip (design: formats, invariant 1). None where
    the duration is unknown.
    """
    return n * mean_ns / duration_ns if duration_ns else None


def utc(epoch_ns: int) -> datetime:
    """Convert an epoch in nanoseconds to UTC, truncated to microseconds, with integers only."""
    return datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=epoch_ns // 1000)


def unfinished_line(log: Log) -> int:
    """Number of the log's last line where no line feed ends it, else 0: a number at its very end may be cut short."""
    source = log.source
    at_end = log.last_line >= source.line_count and not source.text.endswith("\n")
    return log.last_line if at_end else 0


def end_run(run: Run, *, has_numbers: bool, ended: bool, last_line: int) -> None:
    """Set the status of a run whose text may stop in the middle, with the event that says so; check its numbers."""
    run.set(last_line=last_line)
    check_numbers(run)
    if run.row["status"] != "complete":
        return
    if not ended and has_numbers:
        run.set(status="truncated")
        run.add_event("truncated", "warning", "the log stops before its end; what stands above is kept", last_line)
    elif not ended:
        run.set(status="truncated")
        run.add_event("truncated", "error", "the log stops before any result; copy the whole log", last_line)


# --- invariants (design: formats-latency 1.9)

_COUNT_PAIRS = (("received", "sent"), ("valid_received", "valid_sent"), ("lost", "sent"), ("lost", "datagrams"))
_CLOSED_LOOP_SLACK = 1.05
_TICK_NS = 20e6


def check_numbers(run: Run, *prefixes: str, stream: str | None = None) -> None:
    """Events for numbers of a run that contradict one another: the log is edited, mistyped or damaged.

    ``prefixes`` name the latencies (``rtt`` unless given) whose minimum, mean, maximum, deviation and quantiles must
    fit. Every comparison allows for the rounding of what was printed.
    """
    for prefix in prefixes or ("rtt",):
        if "impossible_order" not in run.codes:
            _check_spread(run, prefix, stream)
        _check_order(run, prefix, stream)
    if not prefixes:
        _check_duration(run)
        _check_counts(run)


def _check_spread(run: Run, prefix: str, stream: str | None) -> None:
    """The minimum is below the maximum, the mean between them, the deviation at most half of what lies between them."""
    low, mean, high, deviation = (
        run.row_of(f"{prefix}_{name}", stream=stream) for name in ("min", "mean", "max", "sd")
    )
    if low is not None and high is not None and _above(low, high):
        run.add_event(
            "not_monotone",
            "error",
            f"the minimum {low['printed']} is above the maximum {high['printed']}",
            high["line"],
        )
        return
    if mean is not None:
        if low is not None and _above(low, mean):
            text = f"the mean {_shown(mean)} is below the minimum {_shown(low)}"
            run.add_event("impossible_spread", "error", text, mean["line"])
        if high is not None and _above(mean, high):
            text = f"the mean {_shown(mean)} is above the maximum {_shown(high)}"
            run.add_event("impossible_spread", "error", text, mean["line"])
    if deviation is not None and low is not None and high is not None:
        n = max(run.value("observations") or 2, 2)
        most = (high["value"] - low["value"]) / 2 * math.sqrt(n / (n - 1))
        if deviation["value"] > most + 2 * _slack(low, high, deviation):
            text = f"a deviation of {_shown(deviation)} is impossible between {_shown(low)} and {_shown(high)}"
            run.add_event("impossible_spread", "error", text, deviation["line"])


def _check_order(run: Run, prefix: str, stream: str | None) -> None:
    """Quantiles rise with q, from the minimum to the maximum."""
    rows = sorted(run.quantile_rows(prefix, stream), key=lambda row: row["q"])
    if not rows:
        return
    low, high = (run.row_of(f"{prefix}_{name}", stream=stream) for name in ("min", "max"))
    last = low
    for row in [*rows, *([high] if high is not None else [])]:
        if last is not None and _above(last, row):
            text = f"{_label(row)} {_shown(row)} is less than {_label(last)} {_shown(last)}"
            run.add_event("not_monotone", "error", text, row["line"])
        last = row


def _check_duration(run: Run) -> None:
    """A closed loop has no more time in round trips than the run lasted."""
    n, mean, duration = run.value("observations"), run.row_of("rtt_mean"), run.row.get("duration_ns")
    if not run.row.get("closed_loop") or (run.row.get("connections") or 1) > 1 or not (n and mean and duration):
        return
    if n * (mean["value"] - _slack(mean)) > _CLOSED_LOOP_SLACK * duration + _TICK_NS:
        text = f"{n:.0f} round trips of {_shown(mean)} one after the other last longer than {duration / 1e9:g} s"
        run.add_event("impossible_duration", "error", text, mean["line"])


def _check_counts(run: Run) -> None:
    """What is a part is not more than the whole."""
    for part, whole in _COUNT_PAIRS:
        for less in run.metric_rows(part):
            if less["side"] in ("local", "remote"):
                continue  # each end of a ping-pong counts what it sent itself: one more or less
            more = run.row_of(whole, side=less["side"], stream=less["stream"])
            if more is not None and _above(less, more):
                text = f"{part} {less['value']:.0f} is more than {whole} {more['value']:.0f}"
                run.add_event("count_mismatch", "error", text, less["line"])


def _value(row: Row) -> float:
    return row["value_ns"] if "value_ns" in row else row["value"]


def _above(one: Row, other: Row) -> bool:
    """Whether a number is above another by more than the rounding of the two explains."""
    value, bound = _value(one), _value(other)
    return value > bound and value > bound + _slack(one, other)


def _slack(*rows: Row) -> float:
    """What the rounding of the printed numbers explains, in binary floating point."""
    halves = [row.get("resolution_ns") or row.get("resolution") or 0.0 for row in rows]
    return 1.001 * sum(halves) + 1e-9 * max(abs(_value(row)) for row in rows)


def _label(row: Row) -> str:
    return f"p{100 * row['q']:g}" if "q" in row else row["metric"].rsplit("_", 1)[-1]


def _shown(row: Row) -> str:
    return f"{_value(row) / 1e3:.6g} us"
