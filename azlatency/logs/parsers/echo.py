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

from azlatency.logs.grammar.rules import DATA, Line, RuleReader, bulk, data, known
from azlatency.logs.grammar.samples import SampleColumns
from azlatency.logs.grammar.units import Quantity, nanoseconds, quantity
from azlatency.logs.parsers import Log, Parser, Signature
from azlatency.logs.parsers.common import check_samples, contradict, end_run, utc
from azlatency.logs.parsers.identities import SENT_IS_RECEIVED_AND_LOST
from azlatency.logs.record import Recorder, Run
from azlatency.logs.source.lines import UniformBlock, find_line, have_decimals

_CSV_HEADER = "packet_num,timestamp,send_time_ns,receive_time_ns,rtt_us"
_STAMP = r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d[.,]\d{3} - "
_MICRO = "[μµ]s"
_NUMBER = r"(-?\d{1,15}(?:\.\d{1,6})?)"
_TIME = _NUMBER + _MICRO
#: Replies and statistics are printed in ns.
_PRINTED_STEP_NS = 1


class _EchoLog(RuleReader):
    prefix = re.compile(_STAMP)

    def __init__(self, log: Log, recorder: Recorder) -> None:
        self.log = log
        self.run = recorder.start_run("echo", log.first_line, dialect="echo-log", **_ECHO)
        self.samples = SampleColumns()
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
        self.samples.add(int(match[1]), *((rtt, "ok") if rtt > 0 else (None, "void")))
        if rtt <= 0:
            _report_clock_step(self.run, line.number, match[1], rtt)

    @data(r"INFO - Packets: Sent = (\d+), Received = (\d+), Lost = (\d+) \([\d.]{1,8}% loss\)", hint="Packets: Sent")
    def packets(self, line: Line, match: re.Match[str]) -> None:
        sent, received = int(match[1]), int(match[2])
        self.run.add_counts(line.number, sent=match[1], received=match[2], lost=match[3])
        if sent:
            self.run.add_metric("loss", Quantity((sent - received) / sent, "fraction", match[3], None), line.number)
        self.run.add_counts(line.number, observations=match[2])
        # The times follow, unless the console lost every line with a μ.
        self.ended = not (received and self.samples)

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
        self.run.end_as("interrupted", "info", "ended by Ctrl-C, as every run without --count", line.number)

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
        replies = len(self.samples)
        if self.ended and not self.dropped and run.value("received") not in (None, float(replies)):
            text = f"{replies} replies, but the summary counts {run.value('received'):.0f}; lines are missing"
            run.add_event("lines_missing", "warning", text, log.last_line)
        elif self.ended and replies and replies == self.samples.count("ok"):
            check_samples(run, self.samples.rtt, _PRINTED_STEP_NS)
        if self.pending is not None and lost:
            self.samples.add(self.pending, None, "lost")
        run.add_samples(**self.samples.columns())
        if self.samples:
            text = "the CSV of the same run has these samples to the nanosecond; count only one of the two files"
            run.add_event("same_run_as_csv", "info", text, log.first_line)
        if self.failed and not self.samples:
            run.set(status="failed")
        end_run(run, has_numbers=bool(self.samples), ended=self.ended, last_line=log.last_line)


#: Columns of every run.
_ECHO = {"test": "echo", "protocol": "tcp", "printed_as": "round_trip", "closed_loop": True, "connections": 1}


def _report_clock_step(run: Run, number: int, packet: str, rtt: int) -> None:
    text = f"packet {packet} returned {-rtt} ns before it was sent: the clock was set; the sample has no value"
    run.add_event("clock_step", "warning", text, number)


class _EchoCsv(RuleReader):
    """Reads the rows of the CSV, which has exact send and receive times."""

    def __init__(self, run: Run) -> None:
        self.run, self.samples = run, SampleColumns()
        self.first = self.last_sent = self.last_received = 0

    @data(
        r"(?P<packet>\d{1,12}),(?P<year>\d{4})-(?P<month>\d\d)-(?P<day>\d\d) (?P<hour>\d\d):(?P<minute>\d\d)"
        r":(?P<second>\d\d(?:\.\d{1,9})?),(?P<sent>\d{10,19}),(?P<received>\d{10,19}),(?P<rtt>-?\d{1,15}\.\d{3})",
        hint=",",
    )
    def row(self, line: Line, match: re.Match[str]) -> None:
        """Read one row; one whose clock was set has no time."""
        packet, sent, received = (int(match[name]) for name in ("packet", "sent", "received"))
        rtt: int | None = received - sent
        self.first = self.first if self.samples else sent
        if received <= sent or sent < self.last_sent:
            _report_clock_step(self.run, line.number, str(packet), received - sent)
            rtt = None
        elif rtt != nanoseconds(match["rtt"], "us"):
            text = f"rtt_us of packet {packet} is not receive - send"
            self.run.add_event("value_conflict", "error", text, line.number)
            rtt = None
        self.last_sent, self.last_received = sent, received
        self.samples.add(packet, rtt, "void" if rtt is None else "ok", sent - self.first)

    @bulk(row)
    def rows(self, rows: UniformBlock, match: re.Match[str]) -> bool:
        """Read many rows whose times agree at once."""
        import numpy as np

        texts = dict.fromkeys(("year", "month", "day", "hour", "minute"), 0)
        columns = rows.columns(match, widths=("rtt",), packet=0, **texts, second=9, sent=0, received=0, rtt=3)
        if columns is None or not have_decimals(columns["rtt"], columns["rtt width"], 3, 3):
            return False
        packet, sent, received = columns["packet"], columns["sent"], columns["received"]
        rtt = received - sent
        before = np.concatenate(([self.last_sent], sent[:-1]))
        is_time = (
            all((columns[name] < 100).all() for name in texts if name != "year") and (columns["year"] < 10**4).all()
        )
        if not is_time or packet.max() >= 10**12 or ((rtt <= 0) | (sent < before) | (rtt != columns["rtt"])).any():
            return False
        self.first = self.first if self.samples else int(sent[0])
        self.samples.extend(packet, rtt, sent - self.first)
        self.last_sent, self.last_received = int(sent[-1]), int(received[-1])
        return True

    def finish(self, first_line: int) -> None:
        import numpy as np

        run = self.run
        if not self.samples:
            text = "the file has a header but no rows: no packet returned; see the log"
            run.end_as("no_data", "warning", text, first_line)
            return
        run.set(started_at=utc(self.first), duration_ns=max(self.last_received - self.first, 0))
        columns = self.samples.columns()
        run.add_samples(**columns)
        if (np.diff(np.asarray(columns["seq"])) <= 0).any():
            text = "the numbers of the packets do not rise: rows stand twice, or are of several runs"
            contradict(run, "count_mismatch", text, first_line)


class EchoParser(Parser):
    """Reads echo_test; see `azlatency.logs.parsers.echo`."""

    tool = "echo"
    identities = (SENT_IS_RECEIVED_AND_LOST,)
    reads_any_size = True
    commands = ("echo_client.py",)
    signatures = (
        Signature(_CSV_HEADER, re.escape(_CSV_HEADER)),
        Signature("Starting Echo Client", _STAMP + r"INFO - Starting Echo Client.{0,300}"),
        Signature("Received response for packet", _STAMP + r"INFO - Received response for.{1,80}", weak=True),
        Signature("Echo Client Statistics", r".{0,40}--- Echo Client Statistics ---", weak=True),
    )

    def parse(self, log: Log, recorder: Recorder) -> None:
        """Read one file: the CSV or the log."""
        header = find_line(log.lines, _CSV_HEADER)
        if header is not None:
            first = log.lines[header].number
            run = recorder.start_run("echo", first, dialect="echo-csv", last_line=log.last_line, **_ECHO)
            recorder.accounting.mark(first, DATA)
            rows = _EchoCsv(run)
            rows.feed(log.lines[header + 1 :], recorder.accounting)
            rows.finish(first)
            return
        reader = _EchoLog(log, recorder)
        reader.feed(log.lines, recorder.accounting)
        reader.finish()


PARSER = EchoParser()
