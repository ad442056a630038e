"""What several parsers share: how a run ends, and the invariants that hold for every latency log."""

from __future__ import annotations

import math

from azlatency.parsers import Log
from azlatency.record import Row, Run


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


def unfinished_line(log: Log) -> int:
    """Number of the log's last line where no line feed ends it, else 0: a number at its very end may be cut short."""
    source = log.source
    at_end = log.last_line >= source.line_count and not source.text.endswith("\n")
    return log.last_line if at_end else 0


def end_run(run: Run, *, has_numbers: bool, ended: bool, last_line: int) -> None:
    """Set the status of a run whose text may stop in the middle, with the event that says so."""
    run.set(last_line=last_line)
    if run.row["status"] != "complete":
        return
    if not ended and has_numbers:
        run.set(status="truncated")
        run.event("truncated", "warning", "the log stops before its end; what stands above is kept", last_line)
    elif not ended:
        run.set(status="truncated")
        run.event("truncated", "error", "the log stops before any result; copy the whole log", last_line)
