"""echo_test, a TCP echo client in Python: the CSV of its timings, and its log.

::

    packet_num,timestamp,send_time_ns,receive_time_ns,rtt_us
    1,2026-11-21 01:47:19.701664,1795225639701692776,1795225639702037188,344.412

    2026-11-21 01:47:19.701 - INFO - Sending packet #1 (1400 bytes)...
    2026-11-21 01:47:19.702 - INFO - Received response for packet #1 in 344.412 μs
    --- Echo Client Statistics ---
    2026-11-21 01:47:22.596 - INFO - Packets: Sent = 300, Received = 300, Lost = 0 (0.0% loss)
    2026-11-21 01:47:22.597 - INFO - RTT: Min = 74.639μs, Max = 25414.889μs, Avg = 3107.770μs

Every time is the **round-trip time** of an application echo over one TCP connection; the next packet is sent after the
previous one returned (closed loop).

*Clock.* ``send_time_ns`` is the wall clock in UTC. ``timestamp`` is the same moment in an unknown local time and is not
used. If the wall clock is set during the run, round-trip times of zero or less appear: such a sample has no value, and
an event reports it. A lost packet ends the run and has no row in the CSV; only the log shows the reason.

*Log.* The log has the same samples as the CSV (dialect ``echo-log``). Its times of day are local and coarse, so its
samples have no send time. A Windows console that cannot print μ loses every line with one; the summary then counts the
packets, and no packet is reported as lost because of that.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from azlatency.logs.grammar import BLANK, DATA, UNKNOWN, Line, LineLog, data, known
from azlatency.logs.parsers import Log, Parser, Signature
from azlatency.logs.parsers.common import contradict, end_run, utc
from azlatency.logs.record import Recorder, Run
from azlatency.logs.units import Quantity, count, nanoseconds, quantity

_CSV_HEADER = "packet_num,timestamp,send_time_ns,receive_time_ns,rtt_us"
_ROW = re.compile(
    r"(\d{1,12}),\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(?:\.\d{1,9})?,(\d{10,19}),(\d{10,19}),(-?\d{1,15}\.\d{3})"
)
_STAMP = r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d[.,]\d{3} - "
_MICRO = "[μµ]s"
_NUMBER = r"(-?\d{1,15}(?:\.\d{1,6})?)"
_TIME = _NUMBER + _MICRO


class _EchoLog(LineLog):
    prefix = re.compile(_STAMP)

    def __init__(self, log: Log, recorder: Recorder) -> None:
        self.log = log
        self.run = recorder.start_run("echo", log.first_line, dialect="echo-log", **_ECHO)
        self.sequence: list[int] = []
        self.rtt: list[int | None] = []
        self.status: list[str] = []
        self.pending: int | None = None
        self.dropped = False
        self.failed = False
        self.ended = False

    @data(r"INFO - (?:Connecting|Connected) to (\S{1,200}):(\d{1,5})(?:\.\.\.)?", hint="Connect")
    def connection(self, line: Line, match: re.Match[str]) -> None:
        self.run.set(server=match[1])

    @data(r"INFO - Sending packet #(\d{1,12}) \((\d{1,12}) bytes\)\.\.\.", hint="Sending packet")
    def sending(self, line: Line, match: re.Match[str]) -> None:
        self.pending = int(match[1])
        self.run.set(message_bytes=int(match[2]))

    @data(rf"INFO - Received response for packet #(\d{{1,12}}) in {_NUMBER} {_MICRO}", hint="Received response")
    def response(self, line: Line, match: re.Match[str]) -> None:
        rtt = nanoseconds(match[2], "us")
        self.pending = None
        self.sequence.append(int(match[1]))
        self.rtt.append(rtt if rtt > 0 else None)
        self.status.append("ok" if rtt > 0 else "void")
        if rtt <= 0:
            _report_clock_step(self.run, line.number, match[1], rtt)

    @data(r"INFO - Packets: Sent = (\d+), Received = (\d+), Lost = (\d+) \([\d.]{1,8}% loss\)", hint="Packets: Sent")
    def packets(self, line: Line, match: re.Match[str]) -> None:
        sent, received = int(match[1]), int(match[2])
        self.run.add_metric("sent", count(match[1]), line.number)
        self.run.add_metric("received", count(match[2]), line.number)
        self.run.add_metric("lost", count(match[3]), line.number)
        if sent:
            self.run.add_metric("loss", Quantity((sent - received) / sent, "fraction", match[3], None), line.number)
        self.run.add_metric("observations", count(match[2]), line.number)
        if int(match[3]) != sent - received:
            self.run.add_event("count_mismatch", "error", "lost is not sent - received: the log is edited", line.number)
        # The times follow, unless the console lost every line with a μ.
        self.ended = not (received and self.rtt)

    @data(rf"INFO - RTT: Min = {_TIME}, Max = {_TIME}, Avg = {_TIME}", hint="RTT: Min")
    def extremes(self, line: Line, match: re.Match[str]) -> None:
        for name, token in zip(("rtt_min", "rtt_max", "rtt_mean"), match.groups(), strict=True):
            self.run.add_metric(name, quantity(token, "us"), line.number)
        self.ended = True

    @data(rf"INFO -\s+StdDev = {_TIME}", hint="StdDev")
    def deviation(self, line: Line, match: re.Match[str]) -> None:
        # Python's statistics.stdev: the sample standard deviation.
        self.run.add_metric("rtt_sd", quantity(match[1], "us"), line.number)

    @data(r"(?:ERROR|WARNING|INFO) - (TCP CONNECTION DROP: .{1,200})", hint="CONNECTION DROP")
    @data(r"(?:ERROR|WARNING) - ((?:Timeout|Timed out|No response|Socket timeout).{0,200})", hint="- ")
    def drop(self, line: Line, match: re.Match[str]) -> None:
        self.dropped = True
        self.run.set(status="interrupted")
        self.run.add_event("connection_drop", "warning", f"the run ended early: {match[1]}", line.number)

    @data(r"INFO - User interrupted.{0,80}", hint="User interrupted")
    def interrupted(self, line: Line, match: re.Match[str]) -> None:
        self.run.set(status="interrupted")
        self.run.add_event("interrupted", "info", "ended by Ctrl-C, as every run without --count", line.number)

    @data(r"ERROR - ((?:Socket error|Connection|Could not|Failed).{0,200})", hint="ERROR - ")
    def failure(self, line: Line, match: re.Match[str]) -> None:
        self.failed = True
        self.run.add_event("failed", "error", f"echo_client failed: {match[1]}", line.number)

    known = known(
        ("Starting Echo Client", r"INFO - Starting Echo Client.{0,300}"),
        ("Precise timing data", r"INFO - Precise timing data will be saved to .{1,300}"),
        ("INFO -", r"INFO -"),
        ("Echo Client Statistics", r"(?:INFO - )?--- Echo Client Statistics ---"),
        ("INFO - ", r"INFO - (?:Connection closed|Echo client terminated)\.?"),
    )

    def finish(self) -> None:
        """Complete the run: samples and status."""
        run, log = self.run, self.log
        lost = self.dropped or bool(run.value("lost"))
        times = [rtt for rtt in self.rtt if rtt is not None]
        if self.ended and not self.dropped and run.value("received") not in (None, float(len(self.rtt))):
            text = f"{len(self.rtt)} replies, but the summary counts {run.value('received'):.0f}; lines are missing"
            run.add_event("lines_missing", "warning", text, log.last_line)
        elif self.ended and times and len(times) == len(self.rtt):
            for name, extreme in (("rtt_min", min(times)), ("rtt_max", max(times))):
                row = run.row_of(name)
                if row is not None and abs(row["value"] - extreme) > 2 * (row["resolution"] or 0):
                    text = f"{name} is {row['value'] / 1e3:g} us, but the replies give {extreme / 1e3:g} us"
                    contradict(run, "summary_mismatch", text, row["line"])
        if self.pending is not None and lost:
            self.sequence.append(self.pending)
            self.rtt.append(None)
            self.status.append("lost")
        run.add_samples(seq=self.sequence, sent_ns=[None] * len(self.rtt), rtt_ns=self.rtt, status=self.status)
        if self.sequence:
            text = "the CSV of the same run has these samples to the nanosecond; count only one of the two files"
            run.add_event("same_run_as_csv", "info", text, log.first_line)
        if self.failed and not self.sequence:
            run.set(status="failed")
        end_run(run, has_numbers=bool(self.sequence), ended=self.ended, last_line=log.last_line)


#: Columns of every run.
_ECHO = {
    "test": "echo",
    "protocol": "tcp",
    "printed_as": "round_trip",
    "closed_loop": True,
    "connections": 1,
}


def _report_clock_step(run: Run, number: int, packet: str, rtt: int) -> None:
    text = f"packet {packet} returned {-rtt} ns before it was sent: the clock was set; the sample has no value"
    run.add_event("clock_step", "warning", text, number)


def _read_csv(log: Log, recorder: Recorder) -> None:
    """Read the CSV, which has exact send and receive times."""
    run = recorder.start_run("echo", log.first_line, dialect="echo-csv", last_line=log.last_line, **_ECHO)
    recorder.accounting.mark(log.lines[0].number, DATA)
    rows = _read_rows(log.lines[1:], recorder)
    if not rows:
        run.set(status="no_data")
        run.add_event(
            "no_data", "warning", "the file has a header but no rows: no packet returned; see the log", log.first_line
        )
        return
    first = rows[0][1][1]
    sequence, sent, rtts, status = [], [], [], []
    last_sent = first
    for number, (packet, tx, rx, printed) in rows:
        rtt: int | None = rx - tx
        if rx - tx <= 0 or tx < last_sent:
            _report_clock_step(run, number, str(packet), rx - tx)
            rtt = None
        elif rx - tx != printed:
            run.add_event("value_conflict", "error", f"rtt_us of packet {packet} is not receive - send", number)
            rtt = None
        last_sent = tx
        sequence.append(packet)
        sent.append(tx - first)
        rtts.append(rtt)
        status.append("ok" if rtt is not None else "void")
    run.set(started_at=utc(first), duration_ns=max(sent[-1] + rows[-1][1][2] - rows[-1][1][1], 0))
    run.add_samples(seq=sequence, sent_ns=sent, rtt_ns=rtts, status=status)


def _read_rows(lines: Sequence[Line], recorder: Recorder) -> list[tuple[int, tuple[int, int, int, int]]]:
    """Return line number and (packet, send, receive, printed RTT) of each row; other lines are unknown."""
    rows, accounting = [], recorder.accounting
    for line in lines:
        if match := _ROW.fullmatch(line.text.strip()):
            printed = nanoseconds(match[4], "us")
            rows.append((line.number, (int(match[1]), int(match[2]), int(match[3]), printed)))
            accounting.mark(line.number, DATA)
        else:
            accounting.mark(line.number, UNKNOWN if line.text.strip() else BLANK)
    return rows


class EchoParser(Parser):
    """Reads echo_test; see `azlatency.logs.parsers.echo`."""

    tool = "echo"
    commands = ("echo_client.py",)
    signatures = (
        Signature(_CSV_HEADER, re.escape(_CSV_HEADER)),
        Signature("Starting Echo Client", _STAMP + r"INFO - Starting Echo Client.{0,300}"),
        Signature("Received response for packet", _STAMP + r"INFO - Received response for.{1,80}", weak=True),
        Signature("Echo Client Statistics", r".{0,40}--- Echo Client Statistics ---", weak=True),
    )

    def parse(self, log: Log, recorder: Recorder) -> None:
        """Read one file: the CSV or the log."""
        lines = log.lines
        header = next((index for index, line in enumerate(lines) if line.text.strip() == _CSV_HEADER), None)
        if header is not None:
            part = Log(log.source, log.tool, lines[header:], log.headings, log.command, log.host)
            _read_csv(part, recorder)
            return
        reader = _EchoLog(log, recorder)
        reader.feed(lines, recorder.accounting)
        reader.finish()


PARSER = EchoParser()
