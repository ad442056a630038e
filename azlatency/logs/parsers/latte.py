"""latte (Windows): a block of names and values with an optional histogram, the rows of ``-csv``, and ``-dump``.

::

    Protocol      TCP
    SendMethod    Blocking
    ReceiveMethod Blocking
    SO_SNDBUF     Default
    SO_RCVBUF     Default
    MsgSize(byte) 4
    Iterations    65100
    Latency(usec) 2026.40
    CPU(%)        5.2
    CtxSwitch/sec 1382      (2.80/iteration)
    SysCall/sec   3678      (7.45/iteration)
    Interrupt/sec 1100      (2.23/iteration)

    Interval(usec)   Frequency
          0          9999967
       1000          14

    Protocol,SendMethod,ReceiveMethod,SO_SNDBUF,SO_RCVBUF,MsgSize(byte),Iterations,Latency(usec),CPU(%),...

No source is public; the reading is based on the binary v0000.8303 and on published logs.

*RTT.* ``Latency(usec)`` is the elapsed time divided by the iterations: a mean **round-trip time**. ``-hrtt`` halves it
and changes the label in the block, but not the column of the CSV. It does not halve the counts, so the events per
second of such a block are printed twice as high; they are halved.

*Sides.* The receiver prints the same block as the sender of the same run; only the command distinguishes them (``-c``
is the sender).

*Checks.* (X/sec) / (X/iteration) * latency is one second in every real block. A long run overflows to a negative
latency, which is rejected. The last row of the histogram has no upper bound, unless ``-hc`` shows that empty rows were
omitted.

*Dump.* A file of ``-dump`` has one whole number of microseconds per line, truncated, per iteration. Nothing in it names
the tool, so it is read only if the manifest or the caller says ``tool = "latte"``. Each line is a sample with bounds.
"""

from __future__ import annotations

import re
from typing import ClassVar

from azlatency.logs.grammar.rules import DATA, Line, bulk, data, known
from azlatency.logs.grammar.samples import SampleColumns
from azlatency.logs.grammar.units import Quantity, count, exact_bytes, nanoseconds, quantity
from azlatency.logs.parsers import Log, Parser, Signature
from azlatency.logs.parsers.common import LogReader, end_run, record_no_data
from azlatency.logs.parsers.identities import equal_buckets
from azlatency.logs.record import Recorder, Run
from azlatency.logs.source.large import linear
from azlatency.logs.source.lines import UniformBlock, iter_blocks

_PROTOCOL = r"(?P<protocol>TCP|UDP|RAW|UDP_MCAST|RAW_MCAST)"
_METHOD = r"(?:Blocking|NonBlocking|Ov_Event|Ov_CP|Ov_POLL|Select|RIO)"
_BUFFER = r"(?:Default|\d{1,12})"
_DECIMAL = r"-?\d{1,18}(?:\.\d{1,6})?"
# Metric of the rate and metric of the count per iteration.
_COUNTERS = {
    "CtxSwitch": ("context_switch_rate", "context_switches_per_iteration"),
    "SysCall": ("system_call_rate", "system_calls_per_iteration"),
    "Interrupt": ("interrupt_rate", "interrupts_per_iteration"),
}
_CSV_HEADER = (
    r"(?:Tag,)?Protocol,SendMethod,ReceiveMethod,SO_SNDBUF,SO_RCVBUF,MsgSize\(byte\),Iterations,"
    r"Latency\(usec\),.{0,200}"
)
_CSV_ROW = (
    rf"(?:[^,]{{0,80}},)?{_PROTOCOL},{_METHOD},{_METHOD},{_BUFFER},{_BUFFER},(?P<size>\d+),(?P<iterations>\d+),"
    rf"(?P<latency>{_DECIMAL}),(?P<cpu>{_DECIMAL})"
    + "".join(rf",(?P<{name}>{_DECIMAL})[^,]{{0,40}}" for name in _COUNTERS)
)
# Latencies have two decimals, the CPU one: such a line is whole even if no line feed ends it.
_WHOLE = re.compile(r"^(?:Half Round-Trip )?Latency\(usec\).*\.\d\d$|^CPU\(%\).*\.\d$")
# How a line ends that may have been cut within a number.
_UNFINISHED = tuple("0123456789.")
_IDENTITY_TOLERANCE = 0.005
_SECOND_US = 1e6


class _Latte(LogReader):
    def __init__(self, log: Log, recorder: Recorder) -> None:
        super().__init__(log, recorder)
        self.run: Run | None = None
        self.half = self.overflowed = self.cut = False
        self.counters: dict[str, tuple[Quantity, Quantity, int]] = {}
        self.buckets: list[tuple[int, int, int]] = []
        self.last_read = log.first_line

    def read(self, line: Line) -> int:
        """Apply the rules, and remember the last line of the block; leave out a line that may be cut."""
        text = line.text.strip()
        may_be_cut = text[-1:] in _UNFINISHED and not _WHOLE.search(text) and self.run is not None
        if may_be_cut and self.is_cut(line):
            self.cut = True
            self.last_read = line.number
            return DATA
        if kind := super().read(line):
            self.last_read = line.number
        return kind

    @property
    def current(self) -> Run:
        """Return the open run; a block whose first lines are missing opens one."""
        if self.run is None:
            self._open(self.log.first_line)
        assert self.run is not None
        return self.run

    def _open(self, number: int) -> None:
        self.run = self.recorder.start_run("latte", number, test="ping-pong", closed_loop=True)
        self.half, self.overflowed, self.counters, self.buckets = False, False, {}, []

    # --- the block

    @data(rf"Protocol\s+{_PROTOCOL}", hint="Protocol")
    @data(r"MsgSize\(byte\)\s+(?P<size>\d{1,12})", hint="MsgSize")
    @data(r"Iterations\s+(?P<iterations>\d{1,18})", hint="Iterations")
    @data(rf"(?P<half>Half Round-Trip )?Latency\(usec\)\s+(?P<latency>{_DECIMAL})", hint="Latency(usec)")
    @data(rf"CPU\(%\)\s+(?P<cpu>{_DECIMAL})", hint="CPU(%)")
    @data(_CSV_ROW, hint=",")
    def values(self, line: Line, match: re.Match[str]) -> None:
        """Read a line of the block, or all columns of a row of CSV: those that the names in the pattern say."""
        columns = match.re.groupindex
        if "protocol" in columns:
            self.finish(line.number - 1)
            self._open(line.number)
            self.current.set(protocol=match["protocol"].split("_")[0].lower())
        if "size" in columns:
            self.current.set(message_bytes=int(exact_bytes(match["size"]).value))
        if "iterations" in columns:
            self.current.set(requested_count=int(count(match["iterations"]).value))
            self.current.add_metric("observations", count(match["iterations"]), line.number)
        if "latency" in columns:
            self.half = match["half"] is not None if "half" in columns else "-hrtt" in self.log.arguments
            self._add_latency(match["latency"], line)
        if "cpu" in columns:
            self.current.add_metric("cpu_busy", quantity(match["cpu"], "%"), line.number, scope="host")
        for column, (name, _) in _COUNTERS.items() if "Interrupt" in columns else ():
            self.current.add_metric(name, quantity(match[column], "/sec"), line.number, scope="host")

    @data(rf"(CtxSwitch|SysCall|Interrupt)/sec\s+({_DECIMAL})\s+\(({_DECIMAL})/iteration\)", hint="/iteration)")
    def counter(self, line: Line, match: re.Match[str]) -> None:
        rate = quantity(match[2], "/sec")
        per_iteration = quantity(match[3], "1")._replace(unit="count", printed_unit=None)
        rate_name, count_name = _COUNTERS[match[1]]
        self.current.add_metric(rate_name, rate, line.number, scope="host")
        self.current.add_metric(count_name, per_iteration, line.number, scope="host")
        self.counters[match[1]] = (rate, per_iteration, line.number)

    @data(r"(\d{1,12})\s+(\d{1,18})", hint="")
    def bucket(self, line: Line, match: re.Match[str]) -> None:
        self.buckets.append((nanoseconds(match[1], "usec"), int(match[2]), line.number))

    known = known(
        ("Method", rf"(?:Send|Receive)Method\s+{_METHOD}"),
        ("SO_", rf"SO_(?:SND|RCV)BUF\s+{_BUFFER}"),
        ("Interval(usec)", r"Interval\(usec\)\s+Frequency"),
        ("Protocol,", _CSV_HEADER),
    )

    # --- helpers and the end

    def _add_latency(self, token: str, line: Line) -> None:
        run = self.current
        printed = quantity(token, "usec")
        if printed.value <= 0:
            self.overflowed = True
            text = f"the latency is {token} usec: the timer of a long run overflowed; run fewer iterations"
            run.add_event("overflow", "error", text, line.number)
            return
        run.add_metric("rtt_mean", printed.doubled() if self.half else printed, line.number)
        run.set(printed_as="half_round_trip" if self.half else "round_trip")
        if not self.half:
            text = "Latency(usec) is read as RTT: v0000.8303 prints elapsed / iterations, halved only by -hrtt"
            run.add_event("assumed_round_trip", "info", text, line.number)

    def finish(self, last_line: int) -> None:
        """Complete the open run, if there is one."""
        if self.run is None:
            return
        run, self.run = self.run, None
        self._read_command(run)
        self._store_histogram(run)
        self._check_identity(run)
        has_numbers = run.value("rtt_mean") is not None
        if self.overflowed:
            run.set(status="failed", last_line=last_line)
        elif not has_numbers and not self.cut:
            # Without a latency the iterations are the requested ones, not observations.
            run.remove_metric("observations")
            run.set(status="no_data", last_line=self.last_read)
            text = "the block ends before its latency; it has the settings but no result"
            run.add_event("no_data", "warning", text, self.last_read)
        else:
            if not has_numbers:
                run.remove_metric("observations")
            # The rate of interrupts is the last line of a block, also below a histogram.
            ended = not self.cut and run.value("interrupt_rate") is not None
            end_run(run, has_numbers=has_numbers, ended=ended, last_line=last_line)

    def _read_command(self, run: Run) -> None:
        log = self.log
        words = log.arguments
        if not words:
            text = "the log does not show whether the sender or the receiver wrote it; count only one of the two"
            run.add_event("side_unknown", "info", text, run.row["first_line"])
            return
        address = log.option("-a") or ""
        host = address.rsplit(":", 1)[0] or None
        if "-c" in words:
            run.set(dialect="latte-sender", server=host, client=log.host)
        else:
            run.set(dialect="latte-receiver", server=host)
            text = "written by the receiver (the command has no -c); the log of the sender is the same run"
            run.add_event("receiver_side", "info", text, run.row["first_line"])

    def _store_histogram(self, run: Run) -> None:
        """Store the buckets from one printed edge to the next, and compare their total with the iterations."""
        if not self.buckets:
            return
        rows = self.log.option("-hc")
        open_ended = rows is None or not rows.isdigit() or len(self.buckets) >= int(rows)
        lows = [low for low, _, _ in self.buckets]
        width = lows[-1] - lows[-2] if len(lows) > 1 else None
        highs = [*lows[1:], None if open_ended or width is None else lows[-1] + width]
        for (low, frequency, number), high in zip(self.buckets, highs, strict=True):
            run.add_bucket(metric="rtt", stream=None, low_ns=low, high_ns=high, count=frequency, line=number)
        total, iterations = sum(frequency for _, frequency, _ in self.buckets), run.value("observations")
        if iterations is not None and total != iterations:
            text = f"the histogram adds up to {total} of {iterations:.0f} iterations; it is cut or edited"
            run.add_event("histogram_total", "warning", text, self.buckets[-1][2])

    def _check_identity(self, run: Run) -> None:
        """Check that events per second / events per iteration is the number of iterations per second."""
        rtt = run.value("rtt_mean")
        if rtt is None:
            return
        for name, (rate, per_iteration, line) in self.counters.items():
            if not per_iteration.value or not rate.value:
                continue
            product = rate.value / per_iteration.value * rtt / 1000
            slack = rate.half / rate.value + _IDENTITY_TOLERANCE
            slack += per_iteration.half / per_iteration.value
            row = run.row_of(_COUNTERS[name][0])
            if self.half and row is not None and abs(product / (2 * _SECOND_US) - 1) <= slack:
                # -hrtt halves the time but not the counts.
                row.update(value=row["value"] / 2, resolution=(row["resolution"] or 0) / 2 or None)
                text = f"{name}/sec is twice the rate because of -hrtt; it is halved"
                run.add_event("rate_halved", "info", text, line)
            elif abs(product / _SECOND_US - 1) > slack:
                text = f"{name}/sec, /iteration and the latency contradict each other: product {product / 1e6:.3f}"
                run.add_event("identity_failed", "warning", text, line)


_DUMPED = r"(?P<time>\d{1,12})"
_LONGEST = 10**12


class _Dump(LogReader):
    """Reads the round-trip times of ``-dump``; a last line without a line feed may be cut and is left out."""

    def __init__(self, log: Log, recorder: Recorder) -> None:
        self.log, self.cut = log, log.unfinished_line
        self.run = recorder.start_run("latte", log.first_line, dialect="latte-dump", closed_loop=True)
        self.samples = SampleColumns()

    @data(_DUMPED, hint="")
    def time(self, line: Line, match: re.Match[str]) -> None:
        if line.number != self.cut:
            self.samples.add(len(self.samples), nanoseconds(match["time"], "usec"))

    @bulk(time)
    def times(self, rows: UniformBlock, match: re.Match[str]) -> bool:
        import numpy as np

        columns, begin = rows.columns(match, time=0), len(self.samples)
        if columns is None or columns["time"].max() >= _LONGEST:
            return False
        times = columns["time"] * nanoseconds("1", "usec")
        self.samples.extend(np.arange(begin, begin + len(rows), dtype=np.int64), times)
        return True

    def finish(self) -> None:
        run, log = self.run, self.log
        run.set(printed_as="round_trip", last_line=log.last_line)
        if self.cut:
            text = "the log ends within this line; its number is left out"
            run.add_event("unfinished_line", "warning", text, self.cut)
        high = linear(self.samples.rtt, -nanoseconds("1", "usec"), 1)
        run.add_samples(**self.samples.columns(), low_ns=self.samples.rtt, high_ns=high)
        text = "the values are read as round-trip times; the file does not show whether -hrtt halved them"
        run.add_event("assumed_round_trip", "info", text, log.first_line)


def _is_dump(log: Log) -> bool:
    """Return whether all lines are whole numbers, or blank."""
    pattern, found = re.compile(_DUMPED), False
    for item in iter_blocks(log.lines):
        first = item if isinstance(item, Line) else item[0]
        match = pattern.fullmatch(first.text.strip())
        if isinstance(item, UniformBlock) and match is not None:
            columns = item.columns(match, time=0)
            if columns is not None and columns["time"].max() < _LONGEST:
                found = True
                continue
        for line in [item] if isinstance(item, Line) else item:
            text = line.text.strip()
            if text and pattern.fullmatch(text) is None:
                return False
            found |= bool(text)
    return found


class LatteParser(Parser):
    """Reads latte; see `azlatency.logs.parsers.latte`."""

    tool = "latte"
    identities = (equal_buckets,)
    reads_any_size = True
    commands = ("latte",)
    options: ClassVar = {"requested_count": ("-i",)}
    signatures = (
        Signature("Protocol", rf"Protocol\s+{_PROTOCOL}"),
        Signature("MsgSize(byte),Iterations", _CSV_HEADER),
        Signature("Latency(usec)", rf"(?:Half Round-Trip )?Latency\(usec\)\s+{_DECIMAL}", weak=True),
        Signature("Blocking,", _CSV_ROW, weak=True),
    )

    def parse(self, log: Log, recorder: Recorder) -> None:
        """Read one log; each block and each CSV row is a run."""
        if _is_dump(log):
            dump = _Dump(log, recorder)
            dump.feed(log.lines, recorder.accounting)
            dump.finish()
            return
        reader = _Latte(log, recorder)
        runs_before = len(recorder.rows["runs"])
        reader.feed(log.lines, recorder.accounting)
        reader.finish(log.last_line)
        if len(recorder.rows["runs"]) == runs_before:
            record_no_data(recorder, log, "the file has a header but no rows", severity="warning")


PARSER = LatteParser()
