"""iperf 2: text of clients and servers, plain and ``-e``; comma-separated (``-y C``) in `parsers.iperf2.csv_output`.

    Client connecting to 10.99.0.2, TCP port 5601 with pid 11530 (1 flows)
    [  1] local 10.99.0.1%va port 33444 connected with 10.99.0.2 port 5601 (trip-times) … on 2026-11-21 01:39:37 (UTC)
    [ ID] Interval            Transfer    Bandwidth       Write/Err  Rtry     Cwnd/RTT(var)        NetPwr
    [  1] 0.0000-1.0000 sec  12.0 MBytes   101 Mbits/sec  192/0          1      305K/385(569) us  32683
    [  1] 0.0000-2.0468 sec  23.9 MBytes  97.8 Mbits/sec  382/0          2      345K/2971(5813) us  4117
    [SUM]  0.0-10.8 sec   344 MBytes   266 Mbits/sec                                               -P
    [  3]  0.0- 6.0 sec  3664 KBytes  5000 Kbits/sec   0.018 ms    0/ 2552 (0%)                    UDP, receiver
    … 0.002 ms 7/3401 (0.21%) 0.063/0.002/11.601/0.755 ms 1694 pps 3394/0(1) pkts 39608            UDP, receiver, -e
    … 20=1.016/0.027/12.220/3.047 ms    0   43K/2134 us    984 rps                                 --bounceback
    … T8(f)-PDF: bin(w=10us):cnt(3394)=1:3150,2:127 (5.00/95.00/99.7%=1/2/925,Outliers=0,obl/obu=0/0)

Versions seen: 2.0.5 to 2.1.8. Bytes count in powers of 1024, bits in powers of 1000. Sides, streams and tests are named
as in `parsers.iperf3.run`; ``test`` may also be ``bounceback``. A ``*`` before the number of a stream marks
the direction from server to client; ``[FD1]`` adds both directions up and is left out.

A total has the same form as an interval: it is the last row of its stream that begins at 0. Where a stream has one row
only and that ends on a whole second, it may be the first interval of a log that was cut: in the form with four
decimals, where a measured total never is so round, it is taken as an interval; with one decimal as a total, flagged
``total_unproven`` unless the command has no ``-i``. ``[SUM]`` of some 2.0 servers counts the first interval twice: a
sum that is not the sum of the streams is left out (``sum_mismatch``).

``--bounceback`` measures round trips of a closed loop (``rtt_*``); its bytes count both ways and are left out. The
latencies of a UDP server and of ``--trip-times`` go one way, from one clock to another: ``one_way_latency_*``, right as
far as the two clocks agree (``one_way_clocks``), never ``rtt_*``. Bin k of a histogram holds ((k-1)w, kw]; final ones
are kept, by their names: ``BB8`` rtt, ``T8`` one_way_latency, ``F8`` frame_latency, ``W8`` write_latency; the three
printed quantiles are bins too. ``Cwnd/RTT`` is what the kernel saw at the end of the row; it stands in the intervals.

Events beside those above and of iperf3: ``sum_mismatch``, ``histogram_total``, ``message``.
Ignored: sizes of windows and buffers, distribution of reads, NetPwr, burst sizes, histograms of single intervals.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import ClassVar

from azlatency.logs.grammar import Line, LineLog, data, known
from azlatency.logs.parsers import Log, Parser, Signature
from azlatency.logs.parsers.common import unfinished_line
from azlatency.logs.parsers.iperf2.csv_output import HEADER as CSV_HEADER
from azlatency.logs.parsers.iperf2.csv_output import ROW as CSV_ROW
from azlatency.logs.parsers.iperf2.csv_output import Rows
from azlatency.logs.parsers.iperf2.run import Connection, Histogram, Row, Test
from azlatency.logs.record import Recorder
from azlatency.logs.units import count, nanoseconds, quantity

_ID = r"\[ {0,4}(?P<id>\*?(?:\d{1,6}|SUM(?:-\d{1,6})?|FD\d{1,6}))\]"
_TIMES = r" {1,8}(?P<start>\d{1,9}\.\d{1,4})- {0,8}(?P<end>\d{1,9}\.\d{1,4}) {1,4}sec"
_AMOUNT = (
    r" {1,6}(?P<bytes>[\d.]{1,12}) {1,3}(?P<byte_unit>[KMGT]?Bytes) {1,6}"
    r"(?P<rate>[\d.]{1,12}) {1,3}(?P<rate_unit>[KMGT]?(?:bits|Bytes)/sec)"
)
_FOUR = r"(?P<avg>-|[\d.]{1,14})/(?P<min>-|[\d.]{1,14})/(?P<max>-|[\d.]{1,14})/(?P<sd>-|[\d.]{1,14}) ms"
_UDP = (
    r" {1,8}(?P<jitter>[\d.]{1,12}) ms {1,8}(?P<lost>-?\d{1,15})/ {0,8}(?P<total>-?\d{1,15})"
    r" {1,8}\((?P<percent>-?(?:\d{1,9}(?:\.\d{1,6})?(?:e[+-]\d\d)?|nan))%\)"
)
_STACK = (
    r" {1,16}(?P<retries>\d{1,12}|NA) {1,16}"
    r"(?:(?P<cwnd>-?\d{1,12})K|NA)/(?:(?P<rtt>-?\d{1,12})|NA)(?:\(\d{1,12}\))? us"
)
_READS = r"\d{1,15}=\d{1,12}(?::\d{1,12}){0,15}"
_ROW = _ID + _TIMES + _AMOUNT
_CONNECTED = (
    _ID.replace("|SUM(?:-\\d{1,6})?|FD\\d{1,6}", "")
    + r" local (\S{1,253}) port (\d{1,5}) connected with (\S{1,253}) port (\d{1,5})((?: \(.{1,200}?\))?"
    r"(?: on (\d{4}-\d\d-\d\d \d\d:\d\d:\d\d) \((\w{1,10})\))?)"
)
_BANNER_CLIENT = r"Client connecting to (\S{1,253}), (TCP|UDP) port (\d{1,5})(?: .{1,200})?"
_BANNER_SERVER = r"Server listening on (TCP|UDP) port (\d{1,5})(?: .{1,200})?"
_HISTOGRAM = (
    _ID + _TIMES + r" (?P<kind>[A-Z]{1,4}\d{0,2})(?P<final>\(f\))?-PDF: bin\(w=(?P<width>\d{1,9})(?P<unit>us|ms)\):"
    r"cnt\((?P<count>\d{1,15})\)=(?P<bins>[\d:,]{0,3500})"
    r" {1,3}\((?P<qs>[\d./]{1,40})%=(?P<values>[\d/]{1,60})(?:,.{0,200})?\)"
)
_BINS = re.compile(r"(\d{1,12}):(\d{1,15})")
# Two decimals are iperf3's, unless a line above says otherwise.
_LOOSE_ROW = (
    r"\[ {0,4}(?:\*?\d{1,6}|SUM(?:-\d{1,6})?)\] {1,3}"
    r"\d{1,9}\.(?:\d|\d{4})- {0,3}\d{1,9}\.(?:\d|\d{4}) sec  .{1,300}"
)
_FAILED = (
    r"(?:\[ {0,4}\d{1,6}\] )?((?:tcp |udp )?(?:connect|connect\(\)|bind|write|read|recv|accept|shutdown|socket) "
    r"?failed.{0,300}|error: .{1,300})"
)


class _Iperf2(LineLog):
    def __init__(self, log: Log, recorder: Recorder) -> None:
        self.log, self.recorder = log, recorder
        self.unfinished = unfinished_line(log)
        self.test: Test | None = None
        self.tests = 0
        self.version: str | None = None
        self.first_banner: str | None = None
        """``client`` or ``server``: the end that writes this log."""
        self.connect: tuple[str, str] | None = None
        """Server and port of the last client's banner."""
        self.listen: str | None = None
        self.protocol: str | None = None
        self.block: int | None = None
        self.report_of: str | None = None
        self.failures: list[tuple[int, str]] = []
        self.bins: int | None = None
        self.ran = False
        """Whether a connection stands behind the last banner."""

    # --- which test

    def close(self) -> None:
        """Finish the open test, if there is one."""
        test, self.test = self.test, None
        self.report_of = None
        if test is not None:
            test.finish()

    def _open(self, line: Line) -> Test:
        if self.test is None:
            run = self.recorder.start_run("iperf2", line.number, tool_version=self.version, protocol=self.protocol)
            self.test = Test(self.log, run, "text", connect=self.connect, listen=self.listen, first=self.first_banner)
            self.test.block, self.test.bins = self.block, self.bins
            self.test.failures, self.failures = self.failures, []
            self.tests += 1
        self.ran = True
        self.test.last_line = line.number
        return self.test

    @data(r"iperf version (2\.[\w.+-]{1,40})(?: .{0,200})?", hint="iperf version 2")
    def version_line(self, line: Line, match: re.Match[str]) -> None:
        self.version = match[1]

    @data(_BANNER_CLIENT, hint="Client connecting to ")
    def client_banner(self, line: Line, match: re.Match[str]) -> None:
        # A server that tests back at once shows this banner between its connection and the rows.
        if self.test is None or self.test.rows:
            self.close()
            self.first_banner, self.listen, self.block, self.ran = "client", None, None, False
        self.connect, self.protocol = (match[1], match[3]), match[2].lower()
        if self.test is not None:
            self.test.connect = self.connect

    @data(_BANNER_SERVER, hint="Server listening on ")
    def server_banner(self, line: Line, match: re.Match[str]) -> None:
        # The client of a dual test listens as well, before it connects.
        dual = self.first_banner == "client" and self.listen is None and not self.ran and not self.failures
        if not dual:
            self.close()
            self.first_banner, self.connect, self.block = "server", None, None
        self.listen, self.protocol = match[2], match[1].lower()

    @data(_CONNECTED, hint="connected with")
    def connected(self, line: Line, match: re.Match[str]) -> None:
        if self.test is not None and self.test.over(match["id"]):
            self.close()
        test = self._open(line)
        rest = match[6] or ""
        test.connections[match["id"]] = Connection(match["id"], match[2], match[3], match[4], match[5], rest)
        if match[8] == "UTC":
            test.run.set(started_at=datetime.strptime(match[7], "%Y-%m-%d %H:%M:%S").replace(tzinfo=UTC))

    @data(r"(?:Sending|Receiving) (\d{1,7}) byte datagrams.{0,200}", hint=" byte datagrams")
    @data(r"Write buffer size: (\d{1,12}) Byte", hint="Write buffer size")
    @data(r"Bounce-back test \(size= {0,4}(\d{1,12}) Byte\).{0,200}", hint="Bounce-back test")
    def block_size(self, line: Line, match: re.Match[str]) -> None:
        self.block = int(match[1])
        if self.test is not None:
            self.test.block = self.block

    @data(r"Enabled (?:receive|select|write) histograms bin-width=.{1,40}, bins=(\d{1,9}).{0,100}", hint=", bins=")
    def histogram_size(self, line: Line, match: re.Match[str]) -> None:
        self.bins = int(match[1])

    # --- rows

    @data(_ROW, hint="/sec")
    @data(_ROW + r" {1,8}" + _READS, hint="/sec")
    def plain_row(self, line: Line, match: re.Match[str]) -> None:
        self._row(line, match)

    @data(_ROW + _UDP + r"(?: {1,4}" + _FOUR + r"(?: {1,4}(?P<pps>\d{1,12}) pps)?.{0,80})?", hint=" ms ")
    def udp_row(self, line: Line, match: re.Match[str]) -> None:
        row = self._row(line, match)
        if row is None:
            return
        row.jitter, row.percent = quantity(match["jitter"], "ms"), match["percent"]
        row.lost, row.datagrams = count(match["lost"]), count(match["total"])
        row.receives = True
        if match["pps"] is not None:
            row.message_rate = quantity(match["pps"], "/s")
        _four(row, match)

    @data(_ROW + r" {1,8}\d{1,15}/\d{1,15}" + _STACK + r"(?: {1,8}\S{1,20})?", hint=" us")
    def write_row(self, line: Line, match: re.Match[str]) -> None:
        self._stack(self._row(line, match), match)

    @data(_ROW + r" {1,8}\d{1,15}/\d{1,15} {1,16}(?P<pps>\d{1,12}) pps", hint=" pps")
    def udp_write_row(self, line: Line, match: re.Match[str]) -> None:
        row = self._row(line, match)
        if row is not None:
            row.message_rate = quantity(match["pps"], "/s")

    @data(_ROW + r" {1,8}" + _FOUR + r" \(\d{1,15}/\d{1,15}\) .{1,40}? {1,8}" + _READS, hint=" ms (")
    def trip_row(self, line: Line, match: re.Match[str]) -> None:
        row = self._row(line, match)
        if row is not None:
            _four(row, match)

    @data(_ROW + r" {1,8}(?P<n>\d{1,12})=" + _FOUR + _STACK + r" {1,16}(?P<rps>\d{1,12}) rps", hint=" rps")
    def bounce_row(self, line: Line, match: re.Match[str]) -> None:
        row = self._row(line, match)
        self._stack(row, match)
        if row is None:
            return
        row.bounces, row.rps = count(match["n"]), quantity(match["rps"], "rps")
        _four(row, match)

    def _row(self, line: Line, match: re.Match[str]) -> Row | None:
        if match["id"].startswith("FD"):
            return None
        # Bytes and rates of a row without its line feed may be cut short.
        if line.number == self.unfinished:
            self.recorder.add_event("unfinished_line", "info", "the last line is cut, its row is left out", line.number)
            return None
        if self.test is not None and self.test.over(match["id"], starts=float(match["start"]), report=self.report_of):
            self.close()
        test = self._open(line)
        start, end = quantity(match["start"], "sec"), quantity(match["end"], "sec")
        row = Row(
            line=line.number,
            stream=match["id"],
            start_ns=nanoseconds(match["start"], "sec"),
            end_ns=nanoseconds(match["end"], "sec"),
            slack_ns=(start.resolution or 0.0) + (end.resolution or 0.0),
            bytes=quantity(match["bytes"], match["byte_unit"]),
            rate=quantity(match["rate"], match["rate_unit"]),
        )
        row.report = self.report_of == match["id"]
        if row.report:
            self.report_of = None
        test.rows.append(row)
        return row

    def _stack(self, row: Row | None, match: re.Match[str]) -> None:
        """What the kernel says of the connection; NA and -1 where it does not."""
        if row is None:
            return
        if match["retries"] != "NA":
            row.retransmits = count(match["retries"])
        if match["cwnd"] is not None and int(match["cwnd"]) > 0:
            row.cwnd = quantity(match["cwnd"], "KBytes")
        if match["rtt"] is not None and int(match["rtt"]) > 0:
            row.rtt_ns = nanoseconds(match["rtt"], "us")

    @data(_ID + r" Sent (\d{1,15}) datagrams", hint="] Sent ")
    def sent(self, line: Line, match: re.Match[str]) -> None:
        self._open(line).sent[match["id"]] = (line.number, count(match[2]))

    @data(_ID + r" Server Report:", hint="Server Report:")
    def server_report(self, line: Line, match: re.Match[str]) -> None:
        self._open(line)
        self.report_of = match["id"]

    @data(_ID + _TIMES + r" {1,8}(\d{1,15}) datagrams received out-of-order", hint="out-of-order")
    def out_of_order(self, line: Line, match: re.Match[str]) -> None:
        self._open(line).out_of_order[match["id"]] = (line.number, count(match[4]))

    @data(_HISTOGRAM, hint="-PDF: bin(w=")
    def histogram(self, line: Line, match: re.Match[str]) -> None:
        if match["final"] is None or line.number == self.unfinished:
            return
        pairs = [(int(one), int(two)) for one, two in _BINS.findall(match["bins"])]
        outside = re.search(r"obl/obu=(\d{1,15})/(\d{1,15})", match[0])
        width = nanoseconds(match["width"], match["unit"])
        below, above = (int(outside[1]), int(outside[2])) if outside else (0, 0)
        quantiles = list(zip(match["qs"].split("/"), match["values"].split("/"), strict=False))
        name = match["kind"].rstrip("0123456789")
        found = Histogram(line.number, match["id"], name, width, int(match["count"]), pairs, below, above, quantiles)
        self._open(line).histograms.append(found)

    # --- what went wrong

    @data(_FAILED, hint="failed")
    @data(_FAILED, hint="error: ")
    def failed(self, line: Line, match: re.Match[str]) -> None:
        text = next(group for group in reversed(match.groups()) if group)
        if self.test is None:
            self.failures.append((line.number, text))
        else:
            self.test.failures.append((line.number, text))

    @data(r"Waiting for server threads to complete\. Interrupt again to force quit\.", hint="Interrupt again")
    def interrupted(self, line: Line, match: re.Match[str]) -> None:
        if self.test is not None:
            self.test.interrupted = (line.number, match[0])

    @data(_ID + r" WARNING: (.{1,300})", hint="WARNING: ")
    def warning(self, line: Line, match: re.Match[str]) -> None:
        run_id = self.test.run.run_id if self.test is not None else None
        self.recorder.add_event("message", "info", f"iperf said: {match[2]}", line.number, run_id)

    def finish(self) -> None:
        """The end of the log."""
        self.close()
        if self.failures:
            first = self.failures[0][0]
            run = self.recorder.start_run("iperf2", first, tool_version=self.version, protocol=self.protocol)
            test = Test(self.log, run, "text", connect=self.connect, listen=self.listen, first=self.first_banner)
            test.failures, test.last_line = self.failures, self.failures[-1][0]
            test.finish()
            self.tests += 1
        elif not self.tests:
            run = self.recorder.start_run(
                "iperf2", self.log.first_line, last_line=self.log.last_line, status="no_data", tool_version=self.version
            )
            text = "iperf ran no test here: no connection, no result"
            run.add_event("no_data", "error", text, self.log.first_line)

    known = known(
        ("-----", r"-{20,80}"),
        ("[ ID]", r"\[ ID\] {1,4}Interval .{1,200}"),
        ("[SUM-cnt] Interval", r"\[SUM-cnt\] Interval .{1,200}"),
        ("-PDF: ", _ID + _TIMES + r" \w{1,8}(?:\(f\))?-PDF: .{1,4000}"),
        ("FD", r"\[ {0,4}FD\d{1,6}\].{1,200}"),
        ("TCP window size", r"TCP window size: .{1,100}"),
        ("UDP buffer size", r"UDP buffer size: .{1,100}"),
        ("buffer size", r"(?:Read|Write) buffer size: .{1,100}"),
        ("TOS ", r"TOS (?:set to|will be set to) .{1,200}"),
        ("Bursting:", r"Bursting: .{1,200}"),
        ("IPG", r".{0,100}IPG target.{1,100}"),
        ("Binding to local", r"Binding to local (?:address|port) .{1,300}"),
        ("MSS ", r"(?:\[ {0,4}\d{1,6}\] )?MSS (?:size|and MTU|req size) .{1,200}"),
        ("TCP congestion control", r"TCP congestion control .{1,200}"),
        ("WARN", r"WARN(?:ING)?: .{1,300}"),
    )


def _four(row: Row, match: re.Match[str]) -> None:
    """Average, minimum, maximum and deviation in ms; dashes where nothing arrived."""
    if match["avg"] in (None, "-"):
        return
    row.latency = tuple(quantity(match[name], "ms") for name in ("avg", "min", "max", "sd"))


def _weak(hint: str, pattern: str) -> Signature:
    """All are weak: the parser itself knows where one test ends and the next begins."""
    return Signature(hint, re.compile(pattern), weak=True)


class Iperf2Parser(Parser):
    """Reads iperf 2; see the module's docstring."""

    tool = "iperf2"
    commands = ("iperf", "iperf2")
    units: ClassVar = {"rps": ("1/s", 1)}
    signatures = (
        _weak("Client connecting to ", _BANNER_CLIENT),
        _weak("Server listening on ", _BANNER_SERVER),
        _weak("connected with", _CONNECTED),
        _weak("iperf version 2", r"iperf version 2\.[\w.+-]{1,40}(?: .{0,200})?"),
        _weak(" sec ", _LOOSE_ROW),
        _weak(",0.0-", CSV_ROW),
        _weak("time,srcaddress,", CSV_HEADER),
    )

    def parse(self, log: Log, recorder: Recorder) -> None:
        """Read the tests of one log, text or comma-separated."""
        first = next((line.text.strip() for line in log.lines if line.text.strip()), "")
        if re.fullmatch(f"{CSV_ROW}|{CSV_HEADER}", first):
            Rows(log, recorder).read()
            return
        reader = _Iperf2(log, recorder)
        reader.feed(log.lines, recorder.accounting)
        reader.finish()


PARSER = Iperf2Parser()
