"""The text output of iperf 2 clients and servers, plain and ``-e``."""

from __future__ import annotations

import re
from datetime import UTC, datetime

from azlatency.logs.grammar.rules import Line, data, known
from azlatency.logs.grammar.units import count, nanoseconds, quantity
from azlatency.logs.parsers import Log
from azlatency.logs.parsers.common import LogReader, contradict, record_no_data, record_server
from azlatency.logs.parsers.iperf_rows import Connection
from azlatency.logs.record import Recorder
from azlatency.more_tools.iperf2.run import Histogram, ReportRow, Test

_ID = r"\[ {0,4}(?P<id>\*?(?:\d{1,6}|SUM(?:-\d{1,6})?|FD\d{1,6}))\]"
_TIMES = r" {1,8}(?P<start>\d{1,9}\.\d{1,4})- {0,8}(?P<end>\d{1,9}\.\d{1,4}) {1,4}sec"
_AMOUNT = (
    r" {1,6}(?P<bytes>[\d.]{1,12}) {1,3}(?P<byte_unit>[KMGT]?Bytes) {1,6}"
    r"(?P<rate>[\d.]{1,12}) {1,24}(?P<rate_unit>[KMGT]?(?:bits|Bytes)/sec)"
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
_WRITES = r" {1,8}\d{1,15}/\d{1,15}"
_READS = r"\d{1,15}=\d{1,12}(?::\d{1,12}){0,15}"
_ROW = _ID + _TIMES + _AMOUNT
CONNECTED = (
    _ID.replace("|SUM(?:-\\d{1,6})?|FD\\d{1,6}", "")
    + r" local (\S{1,253}) port (\d{1,5}) connected with (\S{1,253}) port (\d{1,5})((?: \(.{1,200}?\))?"
    r"(?: on (\d{4}-\d\d-\d\d \d\d:\d\d:\d\d) \((\w{1,10})\))?)"
)
BANNER_CLIENT = r"Client connecting to (\S{1,253}), (TCP|UDP) port (\d{1,5})(?: .{1,200})?"
BANNER_SERVER = r"Server listening on (TCP|UDP) port (\d{1,5})(?: .{1,200})?"
_START = re.compile(_ID + _TIMES)
#: Within so many lines, every stream of a test has another row.
_LINES_OF_REPORT = 300
_HISTOGRAM = (
    _ID + _TIMES + r" (?P<kind>[A-Z]{1,4}\d{0,2})(?P<final>\(f\))?-PDF: bin\(w=(?P<width>\d{1,9})(?P<unit>us|ms)\):"
    r"cnt\((?P<count>\d{1,15})\)=(?P<bins>[\d:,]{0,3500})"
    r" {1,3}\((?P<qs>[\d./]{1,40})%=(?P<values>[\d/]{1,60})(?:,.{0,200})?\)"
)
_BINS = re.compile(r"(\d{1,12}):(\d{1,15})")
# Rows of iperf3 have two decimals, but its counts of datagrams out of order have one, so the bytes are required.
LOOSE_ROW = (
    r"\[ {0,4}(?:\*?\d{1,6}|SUM(?:-\d{1,6})?)\] {1,3}"
    r"\d{1,9}\.(?:\d|\d{4})- {0,3}\d{1,9}\.(?:\d|\d{4}) sec {2,8}[\d.]{1,12} {1,3}[KMGT]?Bytes.{1,300}"
)
_FAILED = (
    r"(?:\[ {0,4}\d{1,6}\] )?((?:tcp |udp )?(?:connect|connect\(\)|bind|write|read|recv|accept|shutdown|socket) "
    r"?failed.{0,300}|error: .{1,300})"
)


class Iperf2Text(LogReader):
    """Reads the text of one log."""

    def __init__(self, log: Log, recorder: Recorder) -> None:
        super().__init__(log, recorder)
        self.test: Test | None = None
        self.tests = 0
        self.version: str | None = None
        self.first_banner: str | None = None
        """``client`` or ``server``: the end that wrote the log."""
        self.connect: tuple[str, str] | None = None
        """Server and port of the last client's banner."""
        self.listen: str | None = None
        self.protocol: str | None = None
        self.protocols: dict[str, str] = {}
        """The protocol in the last banner of a client, and in that of a server."""
        self.block: int | None = None
        self.report_of: str | None = None
        self.failures: list[tuple[int, str]] = []
        self.bins: int | None = None
        self.form: tuple[re.Pattern[str] | None, str | None] = (None, None)
        """The pattern of the last row, and its last column."""
        self.ran = False
        """Whether a connection follows the last banner."""

    # --- which test

    def close(self) -> None:
        """Finish the open test, if there is one."""
        test, self.test = self.test, None
        if test is not None:
            test.cut |= self.report_of is not None  # the row of the server's report is missing
            test.finish()
        self.report_of = None

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

    @data(BANNER_CLIENT, hint="Client connecting to ")
    def client_banner(self, line: Line, match: re.Match[str]) -> None:
        # A server that tests back prints this banner between its connection and its rows.
        if self.test is None or self.test.rows:
            self.close()
            # The client of a dual test listens too, and prints that banner first.
            dual = self.first_banner == "server" and not self.ran
            self.listen = self.listen if dual else None
            self.first_banner, self.block, self.ran = "client", None, False
        self.connect, self.protocol = (match[1], match[3]), match[2].lower()
        self.protocols["client"] = self.protocol
        if self.test is not None:
            self.test.connect = self.connect

    @data(BANNER_SERVER, hint="Server listening on ")
    def server_banner(self, line: Line, match: re.Match[str]) -> None:
        # The client of a dual test listens as well, before it connects.
        dual = self.first_banner == "client" and self.listen is None and not self.ran and not self.failures
        if not dual:
            self.close()
            self.first_banner, self.connect, self.block, self.ran = "server", None, None, False
        self.listen, self.protocol = match[2], match[1].lower()
        self.protocols["server"] = self.protocol

    @data(CONNECTED, hint="connected with")
    def connected(self, line: Line, match: re.Match[str]) -> None:
        if self.test is not None and self.test.over(match["id"]) and not self._goes_on(line, self.test):
            self.close()
        test = self._open(line)
        connection = Connection(match["id"], match[2], match[3], match[4], match[5], match[6] or "")
        if self._is_of_another(test, connection):
            text = "the connection is none of the test above: the lines of several outputs are mixed; separate them"
            contradict(test.run, "mixed_outputs", text, line.number)
        test.connections[match["id"]] = connection
        if match[8] == "UTC":
            test.run.set(started_at=datetime.strptime(match[7], "%Y-%m-%d %H:%M:%S").replace(tzinfo=UTC))

    def _is_of_another(self, test: Test, connection: Connection) -> bool:
        """Return whether a connection cannot be of a test, whose banners name its ports and its protocol."""
        ends = self._ends_of(connection)
        if (self.connect or self.listen) and not ends:
            return True
        if test.connections.get(connection.stream, connection) != connection:
            return True
        connections = [*test.connections.values(), connection]
        is_dual = len(set().union(*map(self._ends_of, connections))) > 1
        hosts = {one.remote.split("%")[0] for one in connections}
        return is_dual and (len(set(self.protocols.values())) > 1 or len(hosts) > 1)

    def _ends_of(self, connection: Connection) -> set[str]:
        """Return which banner names the port of a connection: that of the client, of the server, or of a dual test."""
        opened = self.connect is not None and connection.remote_port == self.connect[1]
        accepted = connection.local_port == self.listen
        return {end for end, is_named in (("client", opened), ("server", accepted)) if is_named}

    def _goes_on(self, line: Line, test: Test) -> bool:
        """Return whether a row below continues a stream of the open test, whose other direction connects here."""
        below = line.number - self.log.first_line + 1
        for _, text in self.log.lines[below : below + _LINES_OF_REPORT]:
            if "] local " in text or " on TCP port " in text:
                return False
            if (row := _START.match(text.strip())) and test.is_next(row["id"], nanoseconds(row["start"], "sec")):
                return True
        return False

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

    @data(_ROW + "#{0,200}", hint="/sec")  # some people mark rows
    @data(_ROW + r" {1,8}" + _READS, hint="/sec")
    @data(_ROW + _UDP + r"(?: {1,4}" + _FOUR + r"(?: {1,4}(?P<pps>\d{1,12}) pps)?.{0,80})?", hint=" ms ")
    # -e: TCP senders and their sum, UDP senders, one-way latencies (--trip-times), round trips (--bounceback)
    @data(_ROW + _WRITES + _STACK + r"(?: {1,8}\S{1,20})?", hint=" us")
    @data(_ROW + _WRITES + r" {1,16}(?P<retries>\d{1,12})", hint="/sec")
    @data(_ROW + _WRITES + r" {1,16}(?P<pps>\d{1,12}) pps", hint=" pps")
    @data(_ROW + r" {1,8}" + _FOUR + r" \(\d{1,15}/\d{1,15}\) .{1,40}? {1,8}" + _READS, hint=" ms (")
    @data(_ROW + r" {1,8}(?P<n>\d{1,12})=" + _FOUR + _STACK + r" {1,16}(?P<rps>\d{1,12}) rps", hint=" rps")
    def row(self, line: Line, match: re.Match[str]) -> None:
        """Read a row; the names in its pattern are the columns that it has. NA, -1 and dashes mean missing."""
        if match["id"].startswith("FD"):
            return
        row, columns = self._add_row(line, match), match.re.groupindex
        if "jitter" in columns:
            row.jitter, row.percent = quantity(match["jitter"], "ms"), match["percent"]
            row.lost, row.datagrams = count(match["lost"]), count(match["total"])
            row.receives = True
        if "pps" in columns and match["pps"] is not None:
            row.message_rate = quantity(match["pps"], "/s")
        if "retries" in columns and match["retries"] != "NA" and ("rtt" in columns or line.number != self.unfinished):
            row.retransmits = count(match["retries"])
        if "rtt" in columns:
            row.cwnd = quantity(match["cwnd"], "KBytes") if int(match["cwnd"] or 0) > 0 else None
            row.rtt_ns = nanoseconds(match["rtt"], "us") if int(match["rtt"] or 0) > 0 else None
        if "rps" in columns:
            row.bounces, row.rps = count(match["n"]), quantity(match["rps"], "rps")
        if "avg" in columns and match["avg"] not in (None, "-"):
            row.latency = tuple(quantity(match[name], "ms") for name in ("avg", "min", "max", "sd"))

    def _add_row(self, line: Line, match: re.Match[str]) -> ReportRow:
        start, end = quantity(match["start"], "sec"), quantity(match["end"], "sec")
        size = quantity(match["bytes"], match["byte_unit"])
        if self.test is not None and self.test.over(
            match["id"], starts=float(match["start"]), report=self.report_of, end=end, size=size
        ):
            self.close()
        test = self._open(line)
        row = ReportRow(
            line=line.number,
            stream=match["id"],
            start_ns=nanoseconds(match["start"], "sec"),
            end_ns=nanoseconds(match["end"], "sec"),
            slack_ns=start.half + end.half,
            bytes=size,
            rate=quantity(match["rate"], match["rate_unit"]),
        )
        # A blank follows the unit only if there are more columns.
        ends_with_unit = match[0].endswith(("/sec", "%)", " us", " pps", " rps")) and not line.text.endswith(" ")
        if line.number == self.unfinished and (
            (match.re, match.lastgroup) != self.form or self.report_of == match["id"] or not ends_with_unit
        ):
            # A unit follows most numbers of a row, but columns may be missing.
            test.cut = True
        self.form = match.re, match.lastgroup
        row.report = self.report_of == match["id"]
        if row.report:
            self.report_of = None
        test.add(row)
        return row

    @data(_ID + r" Sent (\d{1,15}) datagrams", hint="] Sent ")
    def sent(self, line: Line, match: re.Match[str]) -> None:
        self._open(line).sent[match["id"]] = (line.number, count(match[2]))

    @data(_ID + r" Server Report:", hint="Server Report:")
    def server_report(self, line: Line, match: re.Match[str]) -> None:
        """Read that the next row is the report of the server."""
        self._open(line)
        self.report_of = match["id"]

    @data(_ID + _TIMES + r" {1,8}(\d{1,15}) datagrams received out-of-order", hint="out-of-order")
    def out_of_order(self, line: Line, match: re.Match[str]) -> None:
        self._open(line).out_of_order[match["id"]] = (line.number, count(match[4]))

    @data(_HISTOGRAM, hint="-PDF: bin(w=")
    def histogram(self, line: Line, match: re.Match[str]) -> None:
        if match["final"] is None:
            return
        outside = re.search(r"obl/obu=(\d{1,15})/(\d{1,15})", match[0])
        below, above = (int(outside[1]), int(outside[2])) if outside else (0, 0)
        histogram = Histogram(
            line=line.number,
            stream=match["id"],
            kind=match["kind"].rstrip("0123456789"),
            width_ns=nanoseconds(match["width"], match["unit"]),
            count=int(match["count"]),
            bins=[(int(number), int(counted)) for number, counted in _BINS.findall(match["bins"])],
            below=below,
            above=above,
            quantiles=list(zip(match["qs"].split("/"), match["values"].split("/"), strict=False)),
        )
        self._open(line).histograms.append(histogram)

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
        """Read that the test was interrupted."""
        if self.test is not None:
            self.test.interrupted = (line.number, match[0])

    @data(_ID + r" WARNING: (.{1,300})", hint="WARNING: ")
    def warning(self, line: Line, match: re.Match[str]) -> None:
        run_id = None
        if self.test is not None:
            run_id = self.test.run.run_id
            self.test.unreported.add(match["id"])
        self.recorder.add_event("message", "info", f"iperf reported: {match[2]}", line.number, run_id)

    def finish(self) -> None:
        """Complete the last test; a log without a test becomes a failed run or one without data."""
        self.close()
        if self.failures:
            first = self.failures[0][0]
            run = self.recorder.start_run("iperf2", first, tool_version=self.version, protocol=self.protocol)
            test = Test(self.log, run, "text", connect=self.connect, listen=self.listen, first=self.first_banner)
            test.failures, test.last_line = self.failures, self.failures[-1][0]
            test.finish()
            self.tests += 1
        elif not self.tests and self.first_banner == "server":
            record_server(self.recorder, self.log, tool_version=self.version)
        elif not self.tests:
            text = "the log contains no iperf test"
            record_no_data(self.recorder, self.log, text, tool_version=self.version)

    known = known(
        ("-----", r"-{20,80}"),
        ("[ ID]", r"\[ ID\] {1,4}Interval .{1,200}"),
        ("[SUM-cnt] Interval", r"\[SUM-cnt\] Interval .{1,200}"),
        ("-PDF: ", _ID + _TIMES + r" \w{1,8}(?:\(f\))?-PDF: bin\(.{1,40}\):cnt\(\d{1,15}\)=.{1,4000}\)"),
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
