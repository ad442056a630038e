"""The text output of iperf3 clients and servers."""

from __future__ import annotations

import re
from datetime import UTC, datetime

from azlatency.logs.grammar.rules import BLANK, Line, data, known
from azlatency.logs.grammar.units import count, nanoseconds, quantity
from azlatency.logs.parsers import Log
from azlatency.logs.parsers.common import LogReader
from azlatency.logs.parsers.iperf3.json_output import Documents
from azlatency.logs.parsers.iperf3.run import Test
from azlatency.logs.parsers.iperf_rows import Connection, RateRow
from azlatency.logs.record import Recorder

_SEPARATOR = "- - - - "
ANCHORS = (
    r"\[ *(?:ID|SUM|\d{1,5})\]|Connecting to host |Accepted connection from |Reverse mode, |Server listening on |"
    r"iperf Done\.|iperf3: |- - - - |-{20}|Test Complete\.|CPU Utilization: |Starting Test: |Time: |Cookie: |"
    r"TCP MSS: |Target Bitrate: |(?:snd|rcv)_tcp_congestion |Server output:|iperf 3\.\d|Control connection MSS |"
    r"warning: "
)
_CORE = re.compile(ANCHORS)
_LONGEST_PREFIX = 200
ROW = (
    r"\[ *(?P<id>SUM|\d{1,5})\](?:\[(?P<role>[TR]X-[CS])\])? +"
    r"(?P<start>\d{1,9}\.\d\d)- *(?P<end>\d{1,9}\.\d\d) *sec +"
    r"(?P<bytes>[\d.]{1,12}) (?P<byte_unit>[KMGT]?Bytes) +"
    r"(?P<rate>[\d.]{1,12}) (?P<rate_unit>[KMGT]?(?:bits|Bytes)/sec)"
    r"(?: +(?:(?P<jitter>[\d.]{1,12}) ms +(?P<lost>-?\d{1,15}|Unknown)/(?P<total>-?\d{1,15})"
    r"(?: +\((?P<percent>[^()%]{1,12})%\))?"
    r"|(?P<count>\d{1,15})"
    r"(?: +(?:(?P<cwnd>[\d.]{1,12}) (?P<cwnd_unit>[KMGT]?Bytes)|[\d.]{1,12} [KMGT]?By\w{0,3}\.\.\.))?))?"
    r"(?: +(?P<label>sender|receiver|\(omitted\)))?"
)
CONNECTED = r"\[ *(\d{1,5})\] local (\S{1,253}) port (\d{1,5}) connected to (\S{1,253}) port (\d{1,5})"
_OUT_OF_ORDER = r"\[ *(\d{1,5}|SUM)\] +\d{1,9}\.\d- *\d{1,9}\.\d +sec +(\d{1,15}) datagrams received out-of-order"
_NOT_AVAILABLE = r"\[ *\d{1,5}\](?:\[[TR]X-[CS]\])? \((?:sender|receiver) statistics not available\)"
_TITLE = r"(?:Retr(?:ansmits)?|Cwnd|RTT|Jitter|Lost/Total|Total|Datagrams)"
STOPPED = r"iperf3: (?:(?:parameter )?error - [a-zA-Z]|interrupt - |the (?:client|server) has terminated).{0,300}"
# The half-widths of two times with the two decimals that `ROW` asks for.
_SLACK_NS = 2 * quantity("0.00", "sec").half
_DATE = "%a, %d %b %Y %H:%M:%S"


class Iperf3Text(LogReader):
    """Reads the text of one log; each client or accepted connection is a test."""

    def __init__(self, log: Log, recorder: Recorder, documents: Documents) -> None:
        super().__init__(log, recorder)
        self.documents = documents
        self.test: Test | None = None
        self.begun = 0
        self.last: Test | None = None
        """The test that was begun last; the runs of others must be free to leave the memory."""
        self.version: str | None = None
        self.started_at: datetime | None = None
        self.command: str | None = None
        self.listening = False
        self.server_output = False
        self.stopped: tuple[int, str, bool] | None = None
        self.columns = ""
        self.after_separator = False
        self.in_summary = False
        self.has_server_total = False
        self.prefixes: set[str] = set()

    # --- lines and their prefixes

    def read(self, line: Line) -> int:
        """Remove the prefix and apply the rules; a line that consists of the prefix only is blank."""
        number, text = line
        text = text.strip()
        core = _CORE.search(text, 0, _LONGEST_PREFIX)
        if core is not None and (start := core.start()):
            self.prefixes.add(_shape(text[:start]))
            text = text[start:]
            line = Line(number, text)
        elif core is None and self.prefixes and _shape(text) in self.prefixes:
            return BLANK
        separator = text.startswith(_SEPARATOR)
        kind = super().read(line)
        # A header that stands twice is one.
        self.after_separator = separator or (self.after_separator and text.startswith("[ ID]"))
        if kind and self.test is not None:
            self.test.last_line = number
        return kind

    # --- which test

    def _begin(self, line: Line, *, server: bool | None) -> Test:
        """Open a test; the version and the start time above it belong to it."""
        self.close(line.number - 1)
        run = self.recorder.start_run("iperf3", line.number, tool_version=self.version, started_at=self.started_at)
        self.test = Test(self.log, run, "text", line.number, server=server, command=self.command)
        self.begun, self.last = self.begun + 1, self.test
        self.started_at = self.command = None
        self.columns, self.in_summary, self.server_output = "", False, False
        return self.test

    def _current(self, line: Line) -> Test:
        """Return the open test; a log that begins in the middle opens one."""
        return self.test or self._begin(line, server=None)

    def _row_test(self, line: Line) -> Test:
        """Return the test that a row belongs to; a row after the last line of a test begins another."""
        test = self._current(line)
        return self._begin(line, server=None) if test.done and not self.server_output else test

    def close(self, last_line: int) -> None:
        """Finish the open test, if there is one."""
        test, self.test = self.test, None
        if test is None:
            return
        if self.stopped is not None and self.begun == 1:
            # The message on standard error is often the first line of the file.
            number, text, normal = self.stopped
            self.stopped = None
            self._stop(test, number, text, normal=normal)
        test.cut = test.cut or (self.server_output and not self.has_server_total)
        test.finish(min(last_line, test.last_line))

    @data(r"iperf (3\.[\w.+-]{1,40})(?: \(cJSON [\w.]{1,20}\))?", hint="iperf 3")
    def version_line(self, line: Line, match: re.Match[str]) -> None:
        """Read the version; it begins another log."""
        if self.test is not None and (self.test.server or not self.test.empty):
            self.close(line.number - 1)
        self.version = match[1]

    @data(r"Time: (\w{3}, \d{1,2} \w{3} \d{4} \d\d:\d\d:\d\d) (?:GMT|UTC)", hint="Time: ")
    def date(self, line: Line, match: re.Match[str]) -> None:
        try:
            self.started_at = datetime.strptime(match[1], _DATE).replace(tzinfo=UTC)
        except ValueError:
            return

    @data(r"Connecting to host (\S{1,253}), port (\d{1,5})", hint="Connecting to host ")
    def connecting(self, line: Line, match: re.Match[str]) -> None:
        self._begin(line, server=False).run.set(server=match[1])
        self.listening = False

    @data(r"Server listening on (\d{1,5})(?: \(test #\d{1,9}\))?", hint="Server listening on ")
    def server_listening(self, line: Line, match: re.Match[str]) -> None:
        """Read that the server waits for its next client; its output that a client prints may begin so."""
        if self.server_output and not self.has_server_total:
            return
        self.close(line.number - 1)
        self.listening = True

    @data(r"Accepted connection from (\S{1,253}), port (\d{1,5})", hint="Accepted connection from ")
    def accepted(self, line: Line, match: re.Match[str]) -> None:
        if self.server_output:
            return
        test = self.test
        if test is not None and test.server is False and not self.listening and not test.ended:
            test.interleaved = True
            return
        self.listening = False
        self._begin(line, server=True).run.set(client=match[1])

    @data(r"Reverse mode, remote host (\S{1,253}) is sending", hint="Reverse mode, ")
    def reverse(self, line: Line, match: re.Match[str]) -> None:
        """Read that the server sends (``-R``)."""
        self._current(line).reverse = True

    @data(CONNECTED, hint=" connected to ")
    def connected(self, line: Line, match: re.Match[str]) -> None:
        if self.server_output:
            return
        test = self.test
        new = Connection(*match.groups())
        if test is not None and not test.empty and test.connections and not test.mirrors(new):
            # All streams are opened before the first row.
            test = self._begin(line, server=None)
        (test or self._begin(line, server=None)).add_connection(new)

    @data(
        r"Starting Test: protocol: (\w{1,10}), (\d{1,6}) streams, (\d{1,12}) byte blocks, omitting (\d{1,9}) seconds, "
        r"(?:(\d{1,9}) second test|(\d{1,18}) (bytes|blocks) to send)(?:, tos \d{1,3})?",
        hint="Starting Test: ",
    )
    def starting(self, line: Line, match: re.Match[str]) -> None:
        """Read the settings of the test (``-V``)."""
        test = self._current(line)
        test.streams, test.verbose = int(match[2]), True
        requested = None if match[5] is None else nanoseconds(match[5], "sec")
        test.run.set(
            protocol=match[1].lower(),
            message_bytes=int(match[3]),
            warmup_ns=nanoseconds(match[4], "sec"),
            requested_duration_ns=requested or None,
            requested_bytes=int(match[6]) * (int(match[3]) if match[7] == "blocks" else 1) if match[6] else None,
        )
        if test.run.row.get("started_at") is None and self.started_at is not None:
            test.run.set(started_at=self.started_at)
            self.started_at = None

    @data(r"Target Bitrate: (\d{1,18})", hint="Target Bitrate: ")
    def target(self, line: Line, match: re.Match[str]) -> None:
        if self.test is not None and int(match[1]):
            self.test.report_target(match[1], line.number)

    # --- rows

    @data(r"\[ ID\](?:\[Role\])? Interval +Transfer +(Bandwidth|Bitrate)((?: +" + _TITLE + r"){0,5})", hint="[ ID]")
    def header(self, line: Line, match: re.Match[str]) -> None:
        after_separator = self.after_separator
        test = self._row_test(line)
        test.legacy = match[1] == "Bandwidth"
        self.columns = match[2]
        self.in_summary = after_separator

    @data(ROW, hint="/sec")
    def row(self, line: Line, match: re.Match[str]) -> None:
        test = self._row_test(line)
        label = match["label"]
        if self.after_separator and match["jitter"] is not None and test.ends_intervals(self._read_row(line, match)):
            self.in_summary = True  # the column titles above it are missing
        # A total without its last column looks like an interval.
        whole = match[0].endswith(("/sec", "Bytes", "%)")) and not self.in_summary
        if line.number == self.unfinished and label is None and not whole:
            text = "the log ends within this line; its row is left out"
            test.run.add_event("unfinished_line", "info", text, line.number)
            test.cut = self.in_summary
            return
        # Up to 3.1 the summary row of UDP has no label.
        unlabelled = self.in_summary and label is None and match["jitter"] is not None
        total = label in ("sender", "receiver") or unlabelled
        row = self._read_row(line, match)
        if match["jitter"] is not None:
            self._read_udp(row, match, total=total)
        elif match["count"] is not None:
            self._read_count(row, match)
        if self.server_output and not total:
            row.side = row.side or ("sender" if test.reverse else "receiver")
        if not total:
            test.intervals.append(row)
        elif self.server_output:
            self.has_server_total = True
            test.server_totals.append(row)
        else:
            row.side = row.side or test.local_side(row.role)
            if test.has_total_like(row):
                test = self._begin(line, server=None)
            test.summary.append(row)
        # Below a total without a line feed there may be those of other streams.
        test.cut = line.number == self.unfinished and not test.connections

    def _read_row(self, line: Line, match: re.Match[str]) -> RateRow:
        stream, role, start, end, size, size_unit, rate, rate_unit, *_, label = match.groups()
        return RateRow(
            line=line.number,
            stream=stream,
            role=role,
            start_ns=nanoseconds(start, "sec"),
            end_ns=nanoseconds(end, "sec"),
            slack_ns=_SLACK_NS,
            bytes=quantity(size, size_unit),
            rate=quantity(rate, rate_unit),
            side=label if label in ("sender", "receiver") else None,
            omitted=label == "(omitted)",
        )

    def _read_udp(self, row: RateRow, match: re.Match[str], *, total: bool) -> None:
        """Read jitter, lost and total of the receiver; up to 3.1 the summary has one row for both ends."""
        row.datagrams = count(match["total"])
        if total and row.side == "sender":
            return
        row.jitter, row.percent = quantity(match["jitter"], "ms"), match["percent"]
        row.lost = None if match["lost"] == "Unknown" else count(match["lost"])
        if total and row.side is None:
            row.side, row.mixed = "sender", True
            row.datagrams_side = self.test.local_side(row.role) if self.test is not None else None
        row.side = row.side or "receiver"

    def _read_count(self, row: RateRow, match: re.Match[str]) -> None:
        """Read a single count: retransmits or, in sender rows of UDP, datagrams, depending on the column titles."""
        row.side = row.side or "sender"
        if match["cwnd"] is not None:
            row.cwnd = quantity(match["cwnd"], match["cwnd_unit"])
        if match["cwnd"] is not None or "Retr" in self.columns or match["label"] == "sender":
            row.retransmits = count(match["count"])
        elif "Datagrams" in self.columns:
            row.datagrams = count(match["count"])
        elif self.test is not None:
            text = f"{match['count']} may be retransmits or datagrams: the log has no column titles; it is left out"
            self.test.run.add_event("unit_ambiguous", "warning", text, row.line)

    @data(_OUT_OF_ORDER, hint="out-of-order")
    def out_of_order(self, line: Line, match: re.Match[str]) -> None:
        test = self._current(line)
        if not self.server_output:
            test.out_of_order.append((line.number, match[1], count(match[2])))

    @data(r"\[ *(\d{1,5})\] Sent (\d{1,15}) datagrams", hint="] Sent ")
    def sent_datagrams(self, line: Line, match: re.Match[str]) -> None:
        """Read the number of datagrams sent (3.1 and older)."""
        self._current(line).sent.append((line.number, match[1], count(match[2])))

    @data(
        r"CPU Utilization: local/(?:sender|receiver) ([\d.]{1,8})% \(([\d.]{1,8})%u/([\d.]{1,8})%s\), "
        r"remote/(?:sender|receiver) ([\d.]{1,8})% \(([\d.]{1,8})%u/([\d.]{1,8})%s\)",
        hint="CPU Utilization: ",
    )
    def cpu(self, line: Line, match: re.Match[str]) -> None:
        if self.test is None or self.server_output:
            return
        for side, first in (("local", 1), ("remote", 4)):
            self.test.add_cpu(side, *((quantity(match[first + i], "%"), line.number) for i in range(3)))

    # --- how it ended

    @data(r"iperf Done\.", hint="iperf Done.")
    def done(self, line: Line, match: re.Match[str]) -> None:
        if self.test is not None:
            self.test.ended = self.test.done = True
        self.server_output = False

    @data(r"Server output:", hint="Server output:")
    def begin_server_output(self, line: Line, match: re.Match[str]) -> None:
        """Begin the output of the server (``--get-server-output``)."""
        self.server_output, self.columns, self.in_summary = True, "", False
        self.has_server_total = False

    @data(r"iperf3: (?:error - )?(interrupt - the (?:client|server) has terminated.{0,60})", hint="has terminated")
    @data(r"iperf3: (?:error - )?(the (?:client|server) has terminated.{0,60})", hint="has terminated")
    def terminated(self, line: Line, match: re.Match[str]) -> None:
        """Read that an end was stopped; a server always ends so, after its tests."""
        normal = "the server has terminated" in match[1] and match[1].startswith("interrupt")
        if self.test is None:
            self.stopped = (line.number, match[1], normal) if self.stopped is None or self.stopped[2] else self.stopped
        else:
            self._stop(self.test, line.number, match[1], normal=normal)

    def _stop(self, test: Test, number: int, text: str, *, normal: bool) -> None:
        if normal and test.server and test.summary:
            return
        test.ended = True
        test.run.end_as("interrupted", "warning", f"{text}; the totals cover the time until then", number)

    @data(r"iperf3: (?:parameter )?error - (.{1,300})", hint="error - ")
    @data(r"iperf3: (the (?:client|server) has unexpectedly closed the connection)", hint="unexpectedly closed")
    def failed(self, line: Line, match: re.Match[str]) -> None:
        test = self.test or self.documents.test
        if test is not None and test.server and test.summary:
            test.run.add_event("message", "info", f"iperf3 reported: {match[1]}", line.number)
            return
        if test is None:
            if self.last is not None and not self.listening:
                self.last.run.add_event("message", "info", f"iperf3 reported: {match[1]}", line.number)
                return
            test = self._begin(line, server=None)
        test.failure, test.ended = (line.number, match[1].strip()), True

    @data(r"(?:\S{0,60}/)?iperf3(?:\.exe)? (?:-\S.{0,500})", hint="iperf3")
    def command_line(self, line: Line, match: re.Match[str]) -> None:
        self.close(line.number - 1)
        self.command = match[0]

    known = known(
        (_SEPARATOR, r"(?:- ){10,40}-?"),
        ("-----", r"-{20,80}"),
        ("Test Complete", r"Test Complete\. Summary Results:"),
        ("statistics not available", _NOT_AVAILABLE),
        ("_congestion", r"(?:snd|rcv)_tcp_congestion \S{1,40}"),
        ("Control connection MSS", r"Control connection MSS \d{1,9}"),
        ("Cookie", r"Cookie: \S{1,80}"),
        ("TCP MSS", r"TCP MSS: \d{1,9}(?: \(default\))?"),
        ("Linux", r"Linux \S.{0,300}"),
        (" ", r"(?:Darwin|FreeBSD|NetBSD|OpenBSD|SunOS|CYGWIN_NT-\S{1,20}) \S.{0,300}"),
        ("Optional features available", r"Optional features available: .{0,600}"),
        ("iperf3: OUT OF ORDER", r"iperf3: OUT OF ORDER - .{0,200}"),
        ("WARNING", r"(?:iperf3: )?WARNING: .{0,300}"),
        ("warning: ", r"(?:iperf3: )?warning: .{0,300}"),
    )


def _shape(text: str) -> str:
    """Return a prefix with its letters and digits made equal, so that all time stamps look the same."""
    return re.sub(r"[^\W\d]+", "a", re.sub(r"\d+", "0", text.strip()))
