"""The rows of iperf 2 and iperf 3: one interval, or the total of one end, as text and JSON print them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from statistics import median

from azlatency.logs.grammar.units import Quantity, quantity
from azlatency.logs.parsers import Log
from azlatency.logs.parsers.common import rate_range
from azlatency.logs.parsers.identities import Identity, sum_of_intervals, sum_of_streams
from azlatency.logs.record import Row, Run

SUM = "SUM"
#: Omitted seconds end within this share of an interval; a larger shift is not a matter of ``-O``.
LONGEST_SHIFT = 0.05
#: A last interval below this share of the usual length is reported, and a gap above it.
SHORT_TAIL = 0.5
_DEFAULT_NS = 10 * 10**9
#: What the numbers of both tools keep.
IDENTITIES: tuple[Identity, ...] = (
    *(partial(sum_of_streams, metric) for metric in ("throughput", "transferred")),
    *(partial(sum_of_intervals, metric) for metric in ("retransmits", "lost")),
    # What is under way at the end of the test is a datagram of the intervals or of the total only.
    partial(sum_of_intervals, "datagrams", tolerance=0.05),
)


@dataclass(slots=True, kw_only=True)
class RateRow:
    """One printed row: an interval, or the total of one end in the summary."""

    line: int
    stream: str
    start_ns: int
    end_ns: int
    slack_ns: float
    """Sum of the half-widths of the two printed times."""
    bytes: Quantity | None = None
    rate: Quantity | None = None
    seconds_ns: float | None = None
    """Printed duration, if there is one; it differs from end - start where omitted seconds end."""
    role: str | None = None
    side: str | None = None
    omitted: bool = False
    retransmits: Quantity | None = None
    cwnd: Quantity | None = None
    rtt_ns: int | None = None
    jitter: Quantity | None = None
    lost: Quantity | None = None
    datagrams: Quantity | None = None
    datagrams_side: str | None = None
    percent: str | None = None
    mixed: bool = False
    """Bytes and rate are the sender's, the time is the receiver's, so they need not agree."""
    lines: dict[str, int] | None = None
    """The line of each metric, where JSON prints them on lines of their own; ``line`` is that of the others."""

    @property
    def length_ns(self) -> int:
        """Duration of the row (ns)."""
        return self.end_ns - self.start_ns

    @property
    def silent(self) -> bool:
        """Whether the row prints 0 bytes."""
        return self.bytes is not None and self.bytes.value == 0

    def bounds(self) -> tuple[float, float] | None:
        """Return the least and greatest rate that bytes and times allow, or None if the row has no bytes."""
        if self.bytes is None:
            return None
        length = self.length_ns if self.seconds_ns is None else self.seconds_ns
        return rate_range(self.bytes, length, self.slack_ns)

    def agrees(self) -> bool:
        """Whether the printed rate can follow from the printed bytes and times."""
        return self._between(self.bounds())

    def contradiction(self) -> str | None:
        """Return how the printed rate contradicts the printed bytes and times; None if it agrees."""
        if self.bytes is None or self.rate is None or self.agrees():
            return None
        return f"{self.rate.printed} is not {self.bytes.printed} divided by {self.length_ns / 1e9:g} s"

    def _between(self, bounds: tuple[float, float] | None) -> bool:
        if bounds is None or self.rate is None:
            return True
        value = self.rate.value
        half = self.rate.half + 1e-6 * value
        return bounds[0] <= value + half and value - half <= bounds[1]

    def throughput(self) -> float | None:
        """Return the more precise of bytes / time and the printed rate, or None if they contradict each other."""
        bounds = self.bounds()
        length = self.length_ns if self.seconds_ns is None else self.seconds_ns
        if self.seconds_ns is not None and abs(self.seconds_ns - self.length_ns) > LONGEST_SHIFT * self.seconds_ns:
            return None
        if bounds is None or length <= 0:
            return self.rate.value if self.rate is not None and self._between(bounds) else None
        assert self.bytes is not None
        computed = 8e9 * self.bytes.value / length
        if not self._between(bounds):
            return computed if bounds[1] - bounds[0] <= 0.1 * computed else None
        if self.rate is None or bounds[1] - bounds[0] <= 2 * self.rate.half:
            return computed
        return self.rate.value

    def relative_resolution(self) -> float:
        """Return the relative half-width of the bytes and of the rate together."""
        quantities = [value for value in (self.bytes, self.rate) if value is not None and value.value]
        return sum(value.half / value.value for value in quantities)

    @property
    def counts_datagrams(self) -> bool:
        """Whether the row has what only UDP prints."""
        return self.datagrams is not None or self.jitter is not None

    @property
    def counts_segments(self) -> bool:
        """Whether the row has what only senders of TCP print."""
        return self.retransmits is not None or self.cwnd is not None

    def line_of(self, metric: str) -> int:
        """Return the line on which the value of a metric is printed."""
        return self.line if self.lines is None else self.lines.get(metric, self.line)


def report_gaps(intervals: Sequence[RateRow], run: Run, total: tuple[int, int] | None) -> None:
    """Report a last interval of a direction that is shorter than the others, and gaps, also at both ends of the total.

    ``total``: its start and end (ns).
    """
    if len(intervals) < 2:
        return
    rows = sorted((row.start_ns, row.line, row.end_ns) for row in intervals)
    usual = median(end_ns - start_ns for start_ns, _, end_ns in rows)
    start_ns, line, end_ns = rows[-1]
    if end_ns - start_ns < SHORT_TAIL * usual:
        text = f"the last interval is only {(end_ns - start_ns) / 1e9:g} s long; weight intervals by their length"
        run.add_event("tail_interval", "info", text, line)
    gaps = [(end, start, at) for (_, _, end), (start, at, _) in pairwise(rows)]
    if total is not None:
        gaps.append((total[0], rows[0][0], line))
        # Old versions of iperf 2 do not print the last interval.
        if total[1] - end_ns > (1 + SHORT_TAIL) * usual:
            gaps.append((end_ns, total[1], line))
    for begin_ns, stop_ns, line in gaps:
        if stop_ns - begin_ns > SHORT_TAIL * usual:
            text = f"no interval from {begin_ns / 1e9:g} s to {stop_ns / 1e9:g} s; rows are missing"
            run.add_event("interval_gap", "warning", text, line)


def is_printed_again(
    row: RateRow, key: tuple[object, ...], earlier: dict[tuple[object, ...], RateRow], run: Run
) -> bool:
    """Return whether the last row of this key has the bytes of this one, and report it; else add this row."""
    first = earlier.setdefault(key, row)
    if first is not row and first.bytes == row.bytes:
        text = f"the interval of line {first.line} is printed again; it is counted once"
        run.add_event("duplicate_interval", "info", text, row.line)
        return True
    earlier[key] = row
    return False


def interval_of(row: RateRow, stream: str | None, throughput: float | None) -> Row:
    """Return the columns of the table ``intervals`` for a row."""
    size, rate, cwnd = row.bytes, row.rate, row.cwnd
    return {
        "side": row.side,
        "stream": stream,
        "start_ns": row.start_ns,
        "end_ns": row.end_ns,
        "bytes": None if size is None else size.value,
        "bytes_resolution": None if size is None else size.resolution,
        "throughput_bit_s": throughput,
        "throughput_printed_bit_s": None if rate is None else rate.value,
        "retransmits": _whole(row.retransmits),
        "cwnd_bytes": None if cwnd is None else cwnd.value,
        "rtt_ns": row.rtt_ns,
        "jitter_ns": _whole(row.jitter),
        "lost": _whole(row.lost),
        "datagrams": _whole(row.datagrams),
        "omitted": row.omitted,
        "line": row.line,
    }


def _whole(value: Quantity | None) -> int | None:
    return None if value is None else round(value.value)


def is_client(log: Log) -> bool:
    """Return whether the command line of a log starts a client."""
    return not {"-c", "--client"}.isdisjoint(log.arguments)


def requested_duration(log: Log, *counts: str) -> int | None:
    """Return the duration (ns) that a client's command asks for; None with one of the options ``counts``."""
    is_counted = any(word.startswith(counts) for word in log.arguments)
    default = None if is_counted or log.option("-t", "--time") else _DEFAULT_NS
    return log.seconds("-t", "--time") or default


@dataclass(slots=True)
class Connection:
    """A line ``local … connected to …`` or, of iperf 2, ``connected with``."""

    stream: str
    local: str
    local_port: str
    remote: str
    remote_port: str
    flags: str = ""
    """What iperf 2 prints after the ends."""

    def ports(self, *, server: bool) -> str:
        """Return addresses and ports as ``client:port server:port``, which is the same text at both ends."""
        ends = (f"{self.local}:{self.local_port}", f"{self.remote}:{self.remote_port}")
        return " ".join(reversed(ends) if server else ends)


def percent_agrees(token: str | None, loss: float, within: float = 0.0) -> bool:
    """Whether a printed percentage is the rounded loss, or differs by the share ``within``.

    iperf prints two significant digits.
    """
    if token is None:
        return True
    try:
        printed = quantity(token, "%", significant=2)
    except ValueError:
        return False
    return abs(printed.value - loss) <= printed.half * 1.000001 + within * loss + 1e-12
