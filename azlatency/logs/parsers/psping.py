"""PsPing 2.01 and 2.10 (Sysinternals): ICMP ping, TCP connect, latency and bandwidth tests of Windows.

::

    PsPing v2.10 - PsPing - ping, latency, bandwidth measurement utility
    Pinging 10.2.2.4 with 32 bytes of data:
    12 iterations (warmup 2) ping test:
    Reply from 10.2.2.4: 41.93ms
    TCP connect to 10.2.2.4:443:
    Connecting to 10.2.2.4:443 (warmup): from 10.2.1.4:50671: 41.47ms
    TCP latency test connecting to 10.2.2.4:5201: Connected
    305 iterations (warmup 5) sending 1500 bytes TCP latency test: 100%
    TCP roundtrip latency statistics (post warmup):
      Sent = 300, Size = 1500, Total Bytes: 450000,
      Sent = 10, Received = 10, Lost = 0 (0% loss),
      Minimum = 41.42ms, Maximum = 42.12ms, Average = 41.78ms
    Latency Count
    41.42   2
    TCP bandwidth test connecting to 10.2.2.4:5201: Connected
    316 iterations (16 warmup) sending 1500 bytes TCP bandwidth test: 100%
    TCP sender bandwidth statistics:
      Minimum = 496.93 KB/s, Maximum = 586.44 KB/s, Average = 564.13 KB/s

The format is known from real outputs only, because no source is public.

*Latency.* ICMP and ``TCP roundtrip latency`` are **round-trip times** in milliseconds with two decimals. A **TCP
connect** is a round trip plus the work of two machines to set up a connection, so it is not comparable: ``test`` is
``connect``, the metrics are ``connect_mean``, ``connect_min`` and ``connect_max``, the samples have the quantity
``connect``, and the event ``connect_time`` says so. If such a log has no statistics, they are computed from its lines.

*Warm-up.* The warm-up replies of an ICMP test look like all others: the first ones, as many as the header says, are
``warmup`` samples.

*Histogram.* The rows have the lower edges of equal buckets; the last one contains only the maximum and has no upper
bound. The latency mode prints ``Maxiumum``. With ``-q`` progress overwrites itself.

*Bandwidth.* Rates are in units of 1024 bytes, as the histogram proves: it has the same rates in bytes per second, and
is used only for this check. ``Total Bytes`` of a bandwidth test includes the warm-up and is not stored.

*Not read.* The output of the server.
"""

from __future__ import annotations

import math
import re
from array import array
from functools import partial
from typing import ClassVar

from azlatency.logs.grammar.rules import Line, data, known
from azlatency.logs.grammar.samples import SampleColumns
from azlatency.logs.grammar.units import Quantity, exact_bytes, nanoseconds, prefixed, quantity
from azlatency.logs.parsers import Log, Parser, Signature
from azlatency.logs.parsers.common import LogReader, check_loss, check_samples, contradict, end_run
from azlatency.logs.parsers.identities import SENT_IS_RECEIVED_AND_LOST, equal_buckets
from azlatency.logs.record import Recorder, Run
from azlatency.logs.source.large import Repeated

_MS = r"(\d{1,9}\.\d{2})ms"
#: Times have two decimals of a millisecond.
_STEP_NS = 10_000
# People replace addresses by "<IP Address>" or "[redacted]", and ports by words.
_HOST = r"(<[^<>]{1,80}>|\S{1,255})"
_PORT = r":(\d{1,5}|<[^<>]{1,40}>)"
_ITERATIONS = (
    r"\d{1,9} iterations \((?:warmup (\d{1,9})|(\d{1,9}) warmup)\) (?:(?:sending|receiving) (\d{1,9}) bytes )?"
    r"(?:ping|(?:TCP|UDP) (?:latency|bandwidth)|connecting) test:[ \d%]{0,3000}"
)
_RATE = r"(\d{1,9}\.\d{2}) ([KMGT]?B/s)"
_COUNTS = r"Sent = (\d{1,12}), Received = (\d{1,12}), Lost = (\d{1,12}) \((\d{1,3})% loss\),?"
_VOLUME = r"Sent = (\d{1,12}), Size = (\d{1,12}), Total Bytes: (\d{1,15}),?"
_ROUND_TRIP: dict[str, object] = {"printed_as": "round_trip", "closed_loop": True}
_NO_ANSWER = (
    r"(?:Request timed out\.|This operation returned because the timeout period expired\."
    r"|The remote computer refused the network connection\.|Destination host unreachable\."
    r"|The (?:network|host|remote) .{1,120}\.|General failure\.)"
)


class _PsPing(LogReader):
    def __init__(self, log: Log, recorder: Recorder) -> None:
        super().__init__(log, recorder)
        self.version: str | None = None
        self.command: str | None = None
        self._open(log.first_line)

    def _open(self, number: int) -> None:
        self.run: Run = self.recorder.start_run("psping", number)
        self.begun = self.has_counts = self.ended = self.failed = self.histogram = False
        self.warmup = 0
        self.replies, self.connects = SampleColumns(), SampleColumns()
        self.failed_as = "lost"
        """The status of a connect whose line ends before its time."""
        self.shortest: tuple[Quantity, int] | None = None
        self.longest: tuple[Quantity, int] | None = None
        """The extremes of the connects, with their lines."""
        self.rows: list[tuple[str, int, int]] = []
        self.side: str | None = None
        self.last_line = number

    # --- what was run

    @data(r"PsPing v(\S{1,20}) - .{1,120}", hint="PsPing v")
    def banner(self, line: Line, match: re.Match[str]) -> None:
        self.version = match[1]

    @data(r"[^\s>]{0,200}>?\s?(psping(?:64)?(?:\.exe)? .{1,500})", hint="ping")
    @data(r"[^\s>]{0,200}>?\s?(PsPing(?:64)?(?:\.exe)? (?!v\d).{1,500})", hint="PsPing")
    def command_line(self, line: Line, match: re.Match[str]) -> None:
        if self.begun:
            self._begin_run(line)
        self.command = match[1]

    @data(rf"TCP connect to {_HOST}{_PORT}:", hint="TCP connect to")
    def connect_header(self, line: Line, match: re.Match[str]) -> None:
        self._begin_test(line, test="connect", protocol="tcp", server=match[1], closed_loop=True)
        text = "a TCP connect takes longer than a round trip; the times are stored as connect_*, not as rtt_*"
        self.run.add_event("connect_time", "info", text, line.number)

    @data(rf"Pinging {_HOST} with (\d{{1,6}}) bytes of data:", hint="Pinging ")
    def ping_header(self, line: Line, match: re.Match[str]) -> None:
        self._begin_test(
            line, test="echo", protocol="icmp", server=match[1], message_bytes=int(match[2]), **_ROUND_TRIP
        )

    @data(rf"(TCP|UDP) (latency|bandwidth) test connecting to {_HOST}{_PORT}:(?: Connected)?", hint=" test connecting")
    def test_header(self, line: Line, match: re.Match[str]) -> None:
        kind = _ROUND_TRIP if match[2] == "latency" else {}
        self._begin_test(line, test=match[2], protocol=match[1].lower(), server=match[3], **kind)

    @data(_ITERATIONS, hint=" iterations (")
    def iterations_line(self, line: Line, match: re.Match[str]) -> None:
        self.warmup = int(match[1] or match[2])
        if match[3] is not None:
            self.run.set(message_bytes=int(match[3]))

    # --- probes

    @data(rf"Reply from {_HOST}: (?P<time>\d{{1,9}}\.\d{{2}})ms", hint="Reply from")
    def reply(self, line: Line, match: re.Match[str]) -> None:
        self.replies.add(len(self.replies), nanoseconds(match["time"], "ms"))

    @data(
        rf"Connecting to {_HOST}{_PORT}(?P<warmup> \(warmup\))?:(?: from (?P<client>\S{{1,100}}):\d{{1,5}}:)?"
        rf"(?: (?P<time>\d{{1,9}}\.\d\d)ms| (?P<fault>{_NO_ANSWER}))?",
        hint="Connecting to",
    )
    def connecting(self, line: Line, match: re.Match[str]) -> None:
        if match["client"] is not None and match["time"] is not None:
            self.run.set(client=match["client"])
        self.failed_as = "lost" if match["warmup"] is None else "warmup"
        if match["fault"] is not None:
            self.connects.add(len(self.connects), None, self.failed_as)
        elif match["time"] is not None and match["warmup"] is not None:
            self.connects.add(len(self.connects), nanoseconds(match["time"], "ms"), "warmup")
        elif match["time"] is not None:
            time = quantity(match["time"], "ms")
            self.connects.add(len(self.connects), int(time.value))
            if self.shortest is None or time.value < self.shortest[0].value:
                self.shortest = time, line.number
            if self.longest is None or time.value >= self.longest[0].value:
                self.longest = time, line.number

    @data(_NO_ANSWER, hint=".")
    def no_answer(self, line: Line, match: re.Match[str]) -> None:
        if self.run.row.get("test") == "echo":
            self.replies.add(len(self.replies), None, "lost")
        elif self.run.row.get("test") == "connect":
            self.connects.add(len(self.connects), None, self.failed_as)

    # --- statistics

    @data(rf"TCP connect statistics for {_HOST}{_PORT}:", hint="TCP connect statistics")
    @data(rf"Ping statistics for {_HOST}:", hint="Ping statistics for")
    def statistics(self, line: Line, match: re.Match[str]) -> None:
        connect = match[0].startswith("TCP")
        self._set_test(line, "connect" if connect else "echo", "tcp" if connect else "icmp")
        if self.run.row.get("server") is None:
            self.run.set(server=match[1])

    @data(r"(TCP|UDP) roundtrip (latency) statistics \(post warmup\):", hint="roundtrip latency statistics")
    @data(r"(TCP|UDP) (?P<side>sender|receiver) (bandwidth) statistics:", hint=" bandwidth statistics:")
    def test_statistics(self, line: Line, match: re.Match[str]) -> None:
        self._set_test(line, match.groups()[-1], match[1].lower())
        self.side = match.groupdict().get("side")

    @data(_COUNTS, hint="Sent = ")
    def counts(self, line: Line, match: re.Match[str]) -> None:
        self.has_counts = True
        run, (sent, received, lost) = self.run, map(int, match.groups()[:3])
        run.add_counts(line.number, sent=match[1], received=match[2], lost=match[3], observations=received)
        if sent:
            run.add_metric("loss", Quantity(lost / sent, "fraction", match[4], None), line.number)
            check_loss(run, match[4], sent, sent - lost, line.number)
        self.ended = not received

    @data(_VOLUME, hint="Total Bytes:")
    def volume(self, line: Line, match: re.Match[str]) -> None:
        self.has_counts = True
        sent, size, total = (int(group) for group in match.groups())
        if self.run.row.get("test") == "bandwidth":
            self.run.set(message_bytes=size)
            return
        if sent * size != total:
            text = f"{sent} messages of {size} bytes are not {total} bytes; the log is edited"
            self.run.add_event("count_mismatch", "error", text, line.number)
            return
        self.run.set(message_bytes=size)
        self.run.add_counts(line.number, sent=match[1])
        self.run.add_metric("transferred", exact_bytes(match[3]), line.number)
        self.run.add_counts(line.number, observations=sent)

    @data(rf"Minimum = {_MS}, Max(?:im|ium)um = {_MS}, Average = {_MS}", hint="Minimum = ")
    def times(self, line: Line, match: re.Match[str]) -> None:
        prefix = self._prefix
        if prefix is None:
            text = "the line that names the test is missing; the times are left out"
            self.run.add_event("unit_ambiguous", "warning", text, line.number)
            return
        low, high, mean = (quantity(token, "ms") for token in match.groups())
        for name, value in (("min", low), ("max", high), ("mean", mean)):
            self.run.add_metric(f"{prefix}_{name}", value, line.number)
        self.ended = True

    @data(rf"Minimum = {_RATE}, Maximum = {_RATE}, Average = {_RATE}", hint="B/s")
    def rates(self, line: Line, match: re.Match[str]) -> None:
        if self.side is None:
            raise ValueError("the line that names the side is missing")
        printed = [quantity(token, f"psping {unit}") for token, unit in zip(*[iter(match.groups())] * 2, strict=True)]
        names = ("throughput_min", "throughput_max", "throughput")
        for name, value in zip(names, printed, strict=True):
            self.run.add_metric(name, value, line.number, side=self.side)
        self.ended = True
        self.has_counts = True

    @data(r"(?:Latency|Bandwidth)\s{1,20}Count", hint="Count")
    def histogram_header(self, line: Line, match: re.Match[str]) -> None:
        self.histogram = True

    @data(r"(\d{1,9}\.\d{2})\s{1,20}(\d{1,12})", hint=".")
    def bucket(self, line: Line, match: re.Match[str]) -> None:
        if self.is_cut(line, "its count is"):
            return
        if self.histogram:
            self.rows.append((match[1], int(match[2]), line.number))
        else:
            text = "the histogram row has no header; it is left out"
            self.run.add_event("histogram_without_header", "warning", text, line.number)

    @data(r"(Could not find host .{1,200}|Error .{1,200}|Server closed .{1,200})", hint=" ")
    def failure(self, line: Line, match: re.Match[str]) -> None:
        self.failed = True
        self.run.add_event("failed", "error", f"psping failed: {match[1]}", line.number)

    known = known(
        ("Copyright (C)", r"Copyright \(C\) [\d-]{4,9} Mark Russinovich"),
        ("Sysinternals", r"Sysinternals - www\.sysinternals\.com"),
        ("Connected", r"Connected"),
        ("Setting warmup count", r"Setting warmup count to match number of outstanding I/Os: \d{1,6}"),
        ("%", r"[\d%]{2,3000}"),
    )

    # --- helpers

    def read(self, line: Line) -> int:
        """Apply the rules, and remember the last line that was read."""
        if kind := super().read(line):
            self.last_line = line.number
        return kind

    @property
    def _prefix(self) -> str | None:
        """First part of the names of this test's times."""
        return {"connect": "connect", "echo": "rtt", "latency": "rtt"}.get(self.run.row.get("test") or "")

    def _begin_test(self, line: Line, **fields: object) -> None:
        if self.begun:
            self._begin_run(line)
        self.begun = True
        self.run.set(**fields)

    def _set_test(self, line: Line, test: str, protocol: str) -> None:
        """Set the test of statistics; further ones, or those of another test than the header, begin another run."""
        if self.has_counts:
            self._begin_run(line)
        if self.run.row.get("test") is None:
            self.run.set(test=test, protocol=protocol)
            if test != "bandwidth":
                self.run.set(printed_as=None if test == "connect" else "round_trip", closed_loop=True)
        elif self.run.row["test"] != test:
            text = f"statistics of a {test} test after the header of a {self.run.row['test']} test are another run"
            self.run.add_event("test_conflict", "warning", text, line.number)
            self._begin_run(line)
            self._set_test(line, test, protocol)
            return
        self.begun = True

    def _begin_run(self, line: Line) -> None:
        self.finish(self.last_line)
        self._open(line.number)
        self.version = self.command = None

    # --- the end

    def finish(self, last_line: int) -> None:
        """Complete the run: columns, samples, histogram and status."""
        run, row = self.run, self.run.row
        row["tool_version"] = self.version
        row["command"] = row.get("command") or self.command
        row["client"] = row.get("client") or self.log.host
        row["connections"] = 1 if row.get("protocol") == "tcp" and row.get("test") in ("latency", "bandwidth") else None
        self._store_samples()
        self._compute_connect_statistics()
        self._check_connects()
        self._store_histogram()
        has_numbers = bool(self.replies or self.connects.count("ok") or self.has_counts)
        if self.failed and not has_numbers:
            run.set(status="failed", last_line=last_line)
        elif self.ended and run.value("received") == 0:
            run.set(status="no_data", last_line=last_line)
            run.add_event("no_data", "warning", "no probe was answered", last_line)
        end_run(run, has_numbers=has_numbers, ended=self.ended, last_line=last_line)

    def _store_samples(self) -> None:
        """Store the connects, and the ICMP replies, of which the first ones are the warm-up, as many as announced."""
        if self.connects:
            columns = self.connects.columns()
            times = columns.pop("rtt_ns")
            no_times = Repeated(None, len(self.connects))
            self.run.add_samples(**columns, rtt_ns=no_times, quantity="connect", time_ns=times)
        if not self.replies or self.run.row.get("test") != "echo":
            return
        warmup = min(self.warmup, len(self.replies))
        self.replies.relabel(warmup, "warmup")
        self.run.add_samples(**self.replies.columns())
        if warmup:
            text = f"the first {warmup} replies are the warm-up, although the lines do not show it"
            self.run.add_event("warmup_unmarked", "info", text, self.run.row["first_line"])
        answers, received = self.replies.count("ok"), self.run.value("received")
        if received is not None and received != answers:
            text = f"the log has {answers} replies after the warm-up, but the statistics count {received:.0f}"
            self.run.add_event("count_mismatch", "warning", text, self.last_line)
        printed = (self.run.value("rtt_min"), self.run.value("rtt_max"))
        if received in (None, answers) and answers and printed[0] is not None and self.replies.extremes() != printed:
            text = "minimum and maximum are not those of the replies after the warm-up; the log is edited"
            self.run.add_event("value_conflict", "error", text, self.last_line)

    def _compute_connect_statistics(self) -> None:
        """Compute the statistics of a connect test that prints none from its lines."""
        run = self.run
        if run.row.get("test") != "connect" or self.has_counts or self.shortest is None or self.longest is None:
            return
        run.add_metric("connect_min", *self.shortest)
        run.add_metric("connect_max", *self.longest)
        # No line prints the mean and the count: they have that of the header, and no token.
        times = [time for _, time, status in self.connects.rows() if status == "ok"]
        line, number = run.row["first_line"], len(times)
        mean = Quantity(math.fsum(times) / number, "ns", None, self.shortest[0].resolution)
        run.add_metric("connect_mean", mean, line)
        run.add_counts(line, observations=number)
        text = "the log has no statistics; they are computed from the lines after the warm-up"
        run.add_event("computed_from_lines", "info", text, line)

    def _check_connects(self) -> None:
        """Report printed statistics that the connects contradict, whose times are all given."""
        run = self.run
        times = [time for _, time, status in self.connects.rows() if status == "ok" and time is not None]
        received = run.value("observations")
        if run.row.get("test") != "connect" or not times or received is None:
            return
        if len(times) > received:
            text = f"the log has {len(times)} connects after the warm-up, but the statistics count {received:.0f}"
            contradict(run, "count_mismatch", text, self.last_line)
        elif len(times) < received:
            text = f"{len(times)} connects have a line, but the statistics count {received:.0f}; lines are missing"
            run.add_event("lines_missing", "warning", text, self.last_line)
        if len(times) == received:
            check_samples(run, array("q", times), 1.002 * _STEP_NS / 2, prefix="connect")

    def _check_edges(self, prefix: str) -> None:
        """Check that the histogram begins at the minimum and ends at the maximum."""
        for name, (token, _, number) in (("min", self.rows[0]), ("max", self.rows[-1])):
            row = self.run.row_of(f"{prefix}_{name}")
            if row is not None and abs(nanoseconds(token, "ms") - row["value"]) > 2.002 * (row["resolution"] or 0.0):
                text = f"an end of the histogram is {token} ms, but the {name} is {row['printed']} ms"
                contradict(self.run, "summary_mismatch", text, number)

    def _check_unit(self) -> None:
        """Check that the first edge of the histogram is the minimum in bytes per second."""
        low = self.run.row_of("throughput_min", side=self.side)
        if low is not None and self.rows and abs(8 * float(self.rows[0][0]) - low["value"]) > 1.01 * low["resolution"]:
            text = f"the histogram begins at {self.rows[0][0]} bytes/s, but the minimum is {low['printed']}"
            text = f"{text} {low['printed_unit']}; the log is edited"
            self.run.add_event("unit_conflict", "error", text, low["line"])

    def _store_histogram(self) -> None:
        prefix, run = self._prefix, self.run
        self._check_unit()
        if not self.rows or prefix is None:
            return
        self._check_edges(prefix)
        edges = [nanoseconds(token, "ms") for token, _, _ in self.rows]
        if edges != sorted(edges):
            contradict(run, "not_monotone", "the edges of the histogram do not rise", self.rows[0][2])
        for (_, number, line), low, high in zip(self.rows, edges, [*edges[1:], None], strict=True):
            run.add_bucket(metric=prefix, stream=None, low_ns=low, high_ns=high, count=number, line=line)
        total, observations = sum(number for _, number, _ in self.rows), run.value("observations")
        if observations is not None and total != observations:
            text = f"the histogram adds up to {total}, the statistics count {observations:.0f}; rows are missing"
            run.add_event("count_mismatch", "warning", text, self.rows[0][2])


_THEN_ITERATIONS = re.compile(_ITERATIONS)
_BANNER = re.compile(r"PsPing v\S{1,20} - .{1,120}")


class PsPingParser(Parser):
    """Reads PsPing; see `azlatency.logs.parsers.psping`."""

    tool = "psping"
    # Edges have two decimals of a millisecond.
    identities = (SENT_IS_RECEIVED_AND_LOST, partial(equal_buckets, rounding_ns=20_000))
    commands = ("psping", "psping64", "PsPing", "PsPing64")
    sends_rarely = True
    options: ClassVar = {"requested_count": ("-n",), "interval": ("-i",)}
    # Binary: the histogram prints the same rates in bytes per second.
    units = prefixed("bit/s", "KMGT", 1024, "B/s", factor=8, tool="psping")
    signatures = (
        Signature("PsPing v", _BANNER),
        # Windows ping prints these two as well; the next line decides.
        Signature("Pinging ", rf"Pinging {_HOST} with \d+ bytes of data:", True, _THEN_ITERATIONS),
        Signature("Ping statistics for", rf"Ping statistics for {_HOST}:", True, _COUNTS),
        Signature("TCP connect", rf"TCP connect (?:to|statistics for) {_HOST}{_PORT}:", weak=True),
        Signature("latency test connecting", rf"(?:TCP|UDP) latency test connecting to {_HOST}:.{{0,20}}", True),
        Signature(
            "bandwidth",
            rf"(?:TCP|UDP) (?:bandwidth test connecting to {_HOST}:.{{0,20}}"
            r"|(?:sender|receiver) bandwidth statistics:)",
            True,
        ),
        Signature("roundtrip latency", r"(?:TCP|UDP) roundtrip latency statistics \(post warmup\):", weak=True),
    )

    def parse(self, log: Log, recorder: Recorder) -> None:
        """Read one log; each header is a run."""
        reader = _PsPing(log, recorder)
        reader.feed(log.lines, recorder.accounting)
        reader.finish(max(reader.last_line, log.first_line))


PARSER = PsPingParser()
