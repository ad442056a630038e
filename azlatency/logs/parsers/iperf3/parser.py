"""iperf3: text of clients and servers here; JSON and JSON streams in `azlatency.logs.parsers.iperf3.json_output`.

    Connecting to host 10.2.2.4, port 5001
    [  5] local 10.2.1.4 port 39194 connected to 10.2.2.4 port 5001
    [ ID] Interval           Transfer     Bitrate         Retr  Cwnd
    [  5]   0.00-1.01   sec   305 MBytes  2.53 Gbits/sec  632   2.44 MBytes       (omitted)
    [  5]   0.00-1.00   sec   216 MBytes  1.81 Gbits/sec   95   3.54 MBytes
    - - - - - - - - - - - - - - - - - - - - - - - - -
    [ ID] Interval           Transfer     Bitrate         Retr
    [  5]   0.00-3.00   sec   415 MBytes  1.16 Gbits/sec  320             sender
    [  5]   0.00-3.02   sec   419 MBytes  1.16 Gbits/sec                  receiver

    iperf Done.

    [  5]   0.00-1.00   sec  7.94 MBytes  66.6 Mbits/sec  5747                                   UDP, sender
    [  5]   0.00-3.00   sec  30.8 MBytes  86.1 Mbits/sec  0.007 ms  3578/25894 (14%)  receiver   UDP, receiver
    [  5][TX-C]   0.00-1.00   sec   368 MBytes  3.09 Gbits/sec  226   3.51 MBytes                --bidir

Versions seen: 3.0.11 to 3.21. A prefix (``--timestamps``, ``-T``, ``> ``, ``^C``, the name of a container) may stand
before any line and is left out. Sizes count in powers of 1024, rates in powers of 1000, ``-f K`` and ``-f M`` rates
in 1024 (units.c 239, 249).

One test is one run; a server's log has several. ``runs.test`` is ``stream`` (client sends), ``stream-reverse``
(``-R``) or ``stream-bidir``; streams are named as in `azlatency.logs.parsers.iperf3.run`. Both ends' totals are kept,
``side`` tells them apart, they are never added; so are the intervals of a ``--get-server-output``. Retransmits that
are not printed are missing. ``throughput`` of an interval is the sharper of 8*bytes/time and the printed rate. UDP:
the sender's row always says 0 lost and is read for its bytes and datagrams only; ``loss`` is 1 - received/sent where
both counts are known and no seconds were left out (``-O``), else lost/total. Up to 3.1 one UDP row holds the sender's
bytes and rate and the receiver's jitter and loss.

Ignored: cookies, MSS, congestion control names, the system's name.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime

from azlatency.logs.grammar import BLANK, Line, LineAccounting, LineLog, data, known
from azlatency.logs.parsers import Log, Parser, Signature
from azlatency.logs.parsers.common import unfinished_line
from azlatency.logs.parsers.iperf3.json_output import Documents
from azlatency.logs.parsers.iperf3.run import Connection, Row, Test
from azlatency.logs.record import Recorder
from azlatency.logs.units import count, nanoseconds, quantity

_SEPARATOR = "- - - - "
_ANCHORS = (
    r"\[ *(?:ID|SUM|\d{1,5})\]|Connecting to host |Accepted connection from |Reverse mode, |Server listening on |"
    r"iperf Done\.|iperf3: |- - - - |-{20}|Test Complete\.|CPU Utilization: |Starting Test: |Time: |Cookie: |"
    r"TCP MSS: |Target Bitrate: |(?:snd|rcv)_tcp_congestion |Server output:|iperf 3\.\d|Control connection MSS |"
    r"warning: "
)
_CORE = re.compile(_ANCHORS)
_LONGEST_PREFIX = 200
_ROW = (
    r"\[ *(?P<id>SUM|\d{1,5})\](?:\[(?P<role>[TR]X-[CS])\])? +"
    r"(?P<start>\d{1,9}\.\d\d)- *(?P<end>\d{1,9}\.\d\d) +sec +"
    r"(?P<bytes>[\d.]{1,12}) (?P<byte_unit>[KMGT]?Bytes) +"
    r"(?P<rate>[\d.]{1,12}) (?P<rate_unit>[KMGT]?(?:bits|Bytes)/sec)"
    r"(?: +(?:(?P<jitter>[\d.]{1,12}) ms +(?P<lost>-?\d{1,15}|Unknown)/(?P<total>-?\d{1,15})"
    r"(?: +\((?P<percent>[^()%]{1,12})%\))?"
    r"|(?P<count>\d{1,15})(?: +(?P<cwnd>[\d.]{1,12}) (?P<cwnd_unit>[KMGT]?Bytes))?))?"
    r"(?: +(?P<label>sender|receiver|\(omitted\)))?"
)
_CONNECTED = r"\[ *(\d{1,5})\] local (\S{1,253}) port (\d{1,5}) connected to (\S{1,253}) port (\d{1,5})"
_OUT_OF_ORDER = r"\[ *(\d{1,5}|SUM)\] +\d{1,9}\.\d- *\d{1,9}\.\d +sec +(\d{1,15}) datagrams received out-of-order"
_NOT_AVAILABLE = r"\[ *\d{1,5}\](?:\[[TR]X-[CS]\])? \((?:sender|receiver) statistics not available\)"
_STOPPED = r"iperf3: (?:error - |interrupt - |the client has terminated|the server has terminated).{0,300}"
# The half-widths of two times with the two decimals that `_ROW` asks for.
_SLACK_NS = 2 * (quantity("0.00", "sec").resolution or 0.0)
_DATE = "%a, %d %b %Y %H:%M:%S"


class _Iperf3(LineLog):
    def __init__(self, log: Log, recorder: Recorder, documents: Documents) -> None:
        self.log, self.recorder, self.documents = log, recorder, documents
        self.unfinished = unfinished_line(log)
        self.test: Test | None = None
        self.tests: list[Test] = []
        self.version: str | None = None
        self.started_at: datetime | None = None
        self.command: str | None = None
        self.listening = False
        self.server_output = False
        self.stopped: tuple[int, str, bool] | None = None
        self.columns = ""
        self.after_separator = False
        self.in_summary = False
        self.prefixes: set[str] = set()

    # --- lines, and what stands before them

    def read(self, line: Line, accounting: LineAccounting) -> bool:
        """Read the line without its prefix; a line that is nothing but the prefix is blank."""
        text = line.text.strip()
        found = _CORE.search(text, 0, _LONGEST_PREFIX)
        if found is not None and found.start() > 0:
            self.prefixes.add(_shape(text[: found.start()]))
            text = text[found.start() :]
            line = Line(line.number, text)
        elif found is None and self.prefixes and _shape(text) in self.prefixes:
            accounting.mark(line.number, BLANK)
            return True
        separator = text.startswith(_SEPARATOR)
        known_line = super().read(line, accounting)
        self.after_separator = separator
        if known_line and self.test is not None:
            self.test.last_line = line.number
        return known_line

    # --- which test

    def _begin(self, line: Line, *, server: bool | None) -> Test:
        """Open a run; what the banner above said belongs to it."""
        self.close(line.number - 1)
        run = self.recorder.start_run("iperf3", line.number, tool_version=self.version, started_at=self.started_at)
        self.test = Test(self.recorder, self.log, run, line.number, "text", server=server, command=self.command)
        self.tests.append(self.test)
        self.started_at = self.command = None
        self.columns, self.in_summary, self.server_output = "", False, False
        return self.test

    def _current(self, line: Line) -> Test:
        """The open test; rows of a paste that begins in the middle open one."""
        return self.test or self._begin(line, server=None)

    def _row_test(self, line: Line) -> Test:
        """The test that a row belongs to: rows behind the closing words of one are another's."""
        test = self._current(line)
        return self._begin(line, server=None) if test.done and not self.server_output else test

    def close(self, last_line: int) -> None:
        """Finish the open test, if there is one."""
        test, self.test = self.test, None
        if test is None:
            return
        if self.stopped is not None and test is self.tests[0]:
            # Standard error often comes first in the file.
            number, text, normal = self.stopped
            self.stopped = None
            self._stop(test, number, text, normal=normal)
        test.finish(min(last_line, max(test.last_line, test.first_line)))

    @data(r"iperf (3\.[\w.+-]{1,40})(?: \(cJSON [\w.]{1,20}\))?", hint="iperf 3")
    def version_line(self, line: Line, match: re.Match[str]) -> None:
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
        self._current(line).reverse = True

    @data(_CONNECTED, hint=" connected to ")
    def connected(self, line: Line, match: re.Match[str]) -> None:
        if self.server_output:
            return
        test = self.test
        if test is not None and test.server is None and not test.empty and test.connections:
            test = self._begin(line, server=None)
        (test or self._begin(line, server=None)).connection(Connection(*match.groups()))

    @data(
        r"Starting Test: protocol: (\w{1,10}), (\d{1,6}) streams, (\d{1,12}) byte blocks, omitting (\d{1,9}) seconds, "
        r"(?:(\d{1,9}) second test|\d{1,18} (?:bytes|blocks) to send)(?:, tos \d{1,3})?",
        hint="Starting Test: ",
    )
    def starting(self, line: Line, match: re.Match[str]) -> None:
        test = self._current(line)
        test.streams = int(match[2])
        requested = None if match[5] is None else nanoseconds(match[5], "sec")
        test.run.set(
            protocol=match[1].lower(),
            message_bytes=int(match[3]),
            warmup_ns=nanoseconds(match[4], "sec"),
            requested_duration_ns=requested or None,
        )
        if test.run.row.get("started_at") is None and self.started_at is not None:
            test.run.set(started_at=self.started_at)
            self.started_at = None

    @data(r"Target Bitrate: (\d{1,18})", hint="Target Bitrate: ")
    def target(self, line: Line, match: re.Match[str]) -> None:
        if self.test is not None and int(match[1]):
            self.test.paced(f"sending was held to {match[1]} bit/s", line.number)

    # --- rows

    @data(r"\[ ID\](?:\[Role\])? Interval +Transfer +(?:Bandwidth|Bitrate)( .{0,60})?", hint="[ ID]")
    def header(self, line: Line, match: re.Match[str]) -> None:
        after_separator = self.after_separator
        self._row_test(line)
        self.columns = match[1] or ""
        self.in_summary = after_separator

    @data(_ROW, hint="/sec")
    def row(self, line: Line, match: re.Match[str]) -> None:
        test = self._row_test(line)
        label = match["label"]
        if line.number == self.unfinished and label is None:
            test.run.add_event("unfinished_line", "info", "the last line is cut, its row is left out", line.number)
            return
        # Up to 3.1 the summary row of UDP has no label.
        unlabelled = self.in_summary and label is None and match["jitter"] is not None
        total = label in ("sender", "receiver") or unlabelled
        row = self._row(line, match)
        if match["jitter"] is not None:
            self._udp(row, match, total=total)
        elif match["count"] is not None:
            self._counted(row, match)
        if self.server_output and not total:
            row.side = row.side or ("sender" if test.reverse else "receiver")
        if not total:
            test.intervals.append(row)
        elif not self.server_output:
            row.side = row.side or test.local_side(row.role)
            test.summary.append(row)

    def _row(self, line: Line, match: re.Match[str]) -> Row:
        label = match["label"]
        return Row(
            line=line.number,
            stream=match["id"],
            role=match["role"],
            start_ns=nanoseconds(match["start"], "sec"),
            end_ns=nanoseconds(match["end"], "sec"),
            slack_ns=_SLACK_NS,
            bytes=quantity(match["bytes"], match["byte_unit"]),
            rate=quantity(match["rate"], match["rate_unit"]),
            side=label if label in ("sender", "receiver") else None,
            omitted=label == "(omitted)",
        )

    def _udp(self, row: Row, match: re.Match[str], *, total: bool) -> None:
        """Jitter, lost and total: the receiver's, but a summary up to 3.1 has one row for both ends."""
        row.datagrams = count(match["total"])
        if total and row.side == "sender":
            return
        row.jitter, row.percent = quantity(match["jitter"], "ms"), match["percent"]
        row.lost = None if match["lost"] == "Unknown" else count(match["lost"])
        if total and row.side is None:
            row.side, row.mixed = "sender", True
            row.datagrams_side = self.test.local_side(row.role) if self.test is not None else None
        row.side = row.side or "receiver"

    def _counted(self, row: Row, match: re.Match[str]) -> None:
        """A lone number is retransmits or, in the sender's rows of a UDP test, datagrams; the header tells."""
        row.side = row.side or "sender"
        if match["cwnd"] is not None:
            row.cwnd = quantity(match["cwnd"], match["cwnd_unit"])
        if match["cwnd"] is not None or "Retr" in self.columns or match["label"] == "sender":
            row.retransmits = count(match["count"])
        elif "Datagrams" in self.columns:
            row.datagrams = count(match["count"])
        elif self.test is not None:
            text = f"{match['count']} may be retransmits or datagrams: the header is not in the log"
            self.test.run.add_event("unit_ambiguous", "warning", text, row.line)

    @data(_OUT_OF_ORDER, hint="out-of-order")
    def out_of_order(self, line: Line, match: re.Match[str]) -> None:
        test = self._current(line)
        if not self.server_output:
            test.out_of_order.append((line.number, match[1], count(match[2])))

    @data(r"\[ *(\d{1,5})\] Sent (\d{1,15}) datagrams", hint="] Sent ")
    def sent_datagrams(self, line: Line, match: re.Match[str]) -> None:
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
            total, user, system = (quantity(match[first + i], "%") for i in range(3))
            self.test.cpu(side, total, user, system, line.number)

    # --- how it ended

    @data(r"iperf Done\.", hint="iperf Done.")
    def done(self, line: Line, match: re.Match[str]) -> None:
        if self.test is not None:
            self.test.ended = self.test.done = True
        self.server_output = False

    @data(r"Server output:", hint="Server output:")
    def begin_server_output(self, line: Line, match: re.Match[str]) -> None:
        self.server_output, self.columns, self.in_summary = True, "", False

    @data(r"iperf3: (?:error - )?(interrupt - the (?:client|server) has terminated.{0,60})", hint="has terminated")
    @data(r"iperf3: (?:error - )?(the (?:client|server) has terminated.{0,60})", hint="has terminated")
    def terminated(self, line: Line, match: re.Match[str]) -> None:
        # A server ends by a signal; that says nothing about the tests it has served.
        normal = "the server has terminated" in match[1] and match[1].startswith("interrupt")
        if self.test is None:
            self.stopped = (line.number, match[1], normal) if self.stopped is None or self.stopped[2] else self.stopped
        else:
            self._stop(self.test, line.number, match[1], normal=normal)

    def _stop(self, test: Test, number: int, text: str, *, normal: bool) -> None:
        if normal and test.server and test.summary:
            return
        test.ended = True
        test.run.set(status="interrupted")
        test.run.add_event("interrupted", "warning", f"{text}; the totals cover what there was", number)

    @data(r"iperf3: error - (.{1,300})", hint="iperf3: error - ")
    @data(r"iperf3: (the (?:client|server) has unexpectedly closed the connection)", hint="unexpectedly closed")
    def failed(self, line: Line, match: re.Match[str]) -> None:
        test = self.test or self.documents.test
        if test is not None and test.server and test.summary:
            test.run.add_event("message", "info", f"iperf3 said: {match[1]}", line.number)
            return
        if test is None:
            if self.tests and not self.listening:
                self.tests[-1].run.add_event("message", "info", f"iperf3 said: {match[1]}", line.number)
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
    """A prefix with its letters and digits made equal, so that two time stamps look the same."""
    return re.sub(r"[^\W\d]+", "a", re.sub(r"\d+", "0", text.strip()))


def _weak(hint: str, pattern: str) -> Signature:
    """A line behind any prefix. All are weak: the parser itself knows where one test ends and the next begins."""
    return Signature(hint, re.compile(r".{0,200}?" + pattern), weak=True)


class Iperf3Parser(Parser):
    """Reads iperf3; see the module's docstring."""

    tool = "iperf3"
    commands = ("iperf3",)
    signatures = (
        _weak("Connecting to host ", r"Connecting to host \S{1,253}, port \d{1,5}"),
        _weak("iperf 3.", r"iperf 3\.[\w.+-]{1,40}(?: \(cJSON [\w.]{1,20}\))?"),
        _weak("iperf3: ", _STOPPED),
        _weak("Server listening on ", r"Server listening on \d{1,5}(?: \(test #\d{1,9}\))?"),
        _weak("Accepted connection from ", r"Accepted connection from \S{1,253}, port \d{1,5}"),
        _weak(" connected to ", _CONNECTED),
        # One space before a short time is iperf 2's form.
        _weak("/sec", r"(?!\[[ \w]{1,8}\] \d{1,2}\.)" + _ROW),
        # Spelled out, for every interval has a "start" too.
        *(
            Signature(hint, re.compile(r'\{?\s*"start"\s*:\s*\{.*'), weak=True)
            for hint in ('"start":\t{', '"start": {', '"start":{')
        ),
        Signature(
            '"event"', re.compile(r'\{\s*"event"\s*:\s*"(?:start|interval|end|error)"\s*,\s*"data".*'), weak=True
        ),
    )

    def parse(self, log: Log, recorder: Recorder) -> None:
        """Read the tests of one log, text and JSON as they come."""
        documents = Documents(log, recorder)
        reader = _Iperf3(log, recorder, documents)
        lines, index = log.lines, 0
        while index < len(lines):
            if lines[index].text.lstrip().startswith("{"):
                reader.close(lines[index].number - 1)
                index = documents.read(index)
            else:
                reader.feed_line(lines[index], recorder.accounting)
                index += 1
        reader.close(log.last_line)
        documents.close(log.last_line)
        if not reader.tests and not documents.tests:
            _without_test(reader, log, recorder)


def _without_test(reader: _Iperf3, log: Log, recorder: Recorder) -> None:
    """A server that nobody called, a version, an error of the options: a run with no data, and why."""
    run = recorder.start_run(
        "iperf3", log.first_line, last_line=log.last_line, status="no_data", tool_version=reader.version
    )
    run.add_event("no_data", "error", "iperf3 ran no test here: no connection, no result", log.first_line)


PARSER = Iperf3Parser()
