"""The CSV of iperf 2 (``-y C``): rows without a header, and rows under column names (``-e``, since 2.1.9).

::

    19700101000000,10.99.0.1,34253,10.99.0.2,5601,1,0.0-2.0,4129230,16440455,0.004,251,3060,8.203,0

Local time, address and port of both ends, stream, seconds, bytes, bit/s; UDP receivers add jitter (ms), lost, total,
loss (%) and out of order. A server of 2.1 prints 1970-01-01 as the time, and the client first. Intervals and totals
have the same form: a total is the last row of its stream that begins at 0.0; a stream whose only row ends on a whole
second is flagged (``total_unproven``). Stream -1 is the sum of the others; some versions do not print it, and then the
run has no total. -1 means missing. Bytes are exact but the times are rounded, so the printed rate is more precise.

::

    time,srcaddress,srcport,dstaddr,dstport,transferid,istart,iend,bytes,speed,writecnt,writeerr,tcpretry,tcpcwnd,...
    +0100:20260131123456.654321,10.99.0.1,34253,10.99.0.2,5001,1,0.0,1.0,3145728,25165824,24,0,0,87,63,412,21

The column names differ by kind of test (Locale.c of 2.2): ``writecnt`` identifies the end that sends, ``readcnt`` the
one that receives; ``bbavg`` to ``bbstdev`` are round-trip times in ms, ``ttavg`` to ``ttsdev`` one-way latencies in ms;
``tcprtt`` is in microseconds. The jitter and loss of a sender are not measured. ``tcpcwnd`` has no
documented unit and is not stored, nor are the bins of read sizes.
"""

from __future__ import annotations

import re
from itertools import takewhile

from azlatency.logs.grammar.rules import Line, data
from azlatency.logs.grammar.units import count, exact_bytes, nanoseconds, quantity
from azlatency.logs.parsers import Log
from azlatency.logs.parsers.common import LogReader, contradict
from azlatency.logs.parsers.iperf_rows import Connection
from azlatency.logs.record import Recorder
from azlatency.more_tools.iperf2.run import ReportRow, Test

ROW = (
    r"\d{14},[\w.:%-]{1,253},\d{1,5},[\w.:%-]{1,253},\d{1,5},-?\d{1,9},\d{1,9}\.\d-\d{1,9}\.\d,\d{1,18},\d{1,18}"
    r"(?:,-?[\d.]{1,12},-?\d{1,15},-?\d{1,15},-?[\d.]{1,12},-?\d{1,15})?"
)
HEADER = r"time,srcaddress,srcport,dstaddr,dstport,transferid,istart,iend,bytes,speed(?:,[a-z0-9]{1,20}){1,40}"
_NAMED_ROW = (
    r"[+-]\d{4}:\d{14}(?:\.\d{1,6})?,[\w.:%-]{1,253},\d{1,5},[\w.:%-]{1,253},\d{1,5},-?\d{1,9},\d{1,9}\.\d,\d{1,9}\.\d,"
    r"\d{1,18},\d{1,18}(?:,-?\d{1,18}(?:\.\d{1,9})?){1,40}"
)
_LOSSES = ("jitter", "errors", "datagrams", "errpercent", "outoforder")
_SERVER_TIME = "19700101000000"
_PORT = "5001"
_UDP = 14


class CsvRows(LogReader):
    """Reads the rows of one log; a row at 0.0 after the total of its stream, or of another protocol, begins a test."""

    def __init__(self, log: Log, recorder: Recorder) -> None:
        super().__init__(log, recorder)
        self.test: Test | None = None
        self.fields = 0
        self.names: list[str] = []
        self.latest: dict[tuple[str, ...], tuple[str, float, float]] = {}
        """Time, end and minus the start of the last row of each stream."""
        self.seen: dict[str, int] | None = None
        """The number of the first line of each text, once the rows are not in the order of time."""

    @data(HEADER, hint="time,")
    def header(self, line: Line, match: re.Match[str]) -> None:
        self.names = match[0].split(",")

    @data(ROW, hint=",")
    def plain_row(self, line: Line, match: re.Match[str]) -> None:
        self._row(line, match[0].split(","))

    @data(_NAMED_ROW, hint=":")
    def named_row(self, line: Line, match: re.Match[str]) -> None:
        """Read a row under column names: the cells of the row without names, and the additional ones."""
        cells = dict(zip(self.names, match[0].split(","), strict=True))
        sends, receives = "writecnt" in cells or "bbcnt" in cells, "readcnt" in cells
        fields = list(cells.values())[:10]
        fields[6:8] = [f"{cells['istart']}-{cells['iend']}"]
        if receives and "datagrams" in cells:
            fields += [cells[name] for name in _LOSSES]
        row = self._row(line, fields)
        if row is None or self.test is None:
            return
        row.receives = None if sends == receives else receives
        if "datagrams" in cells:
            self.test.run.set(protocol="udp")
        elif sends or receives:
            self.test.run.set(protocol="tcp")
        if "tcpretry" in cells and int(cells["tcpretry"]) >= 0:
            row.retransmits = count(cells["tcpretry"])
        if "tcprtt" in cells and int(cells["tcprtt"]) > 0:
            row.rtt_ns = nanoseconds(cells["tcprtt"], "us")
        if int(cells.get("bbcnt", 0)) > 0:
            row.bounces, row.rps = count(cells["bbcnt"]), quantity(cells["rps"], "rps")
        for first, number in (("bb", "bbcnt"), ("tt", "ttcnt")):
            # If there is only one value, minimum, maximum and deviation are printed as 0.
            printed = [cells[name] for name in cells if re.fullmatch(f"{first}(?:avg|min|max|st?dev)", name)]
            if int(cells.get(number, 0)) > 0:
                row.latency = tuple(quantity(token, "ms") for token in printed[: 4 if int(cells[number]) > 1 else 1])

    def _row(self, line: Line, fields: list[str]) -> ReportRow | None:
        if self.is_cut(line, "its row is", severity="info"):
            if self.test is not None:
                self.test.last_line = line.number
            return None
        stream = "SUM" if fields[5] == "-1" else fields[5]
        start, end = fields[6].split("-")
        # Address and port of this end, then of the other; a server of 2.1 prints the client first.
        ends = [*fields[3:5], *fields[1:3]] if fields[0] == _SERVER_TIME else fields[1:5]
        connection = Connection(stream, *ends)
        changed = len(fields) != self.fields
        self.fields = len(fields)
        if self.test is not None:
            # The number of the stream may now name another connection.
            changed = changed or self.test.connections.get(stream, connection) != connection
            if changed or self.test.over(stream, starts=float(start)):
                self.test.finish()
                self.test = None
        test = self.test or self._open(line, fields)
        test.last_line = line.number
        if stream != "SUM":
            test.connections.setdefault(stream, connection)
        first, last = quantity(start, "sec"), quantity(end, "sec")
        row = ReportRow(
            line=line.number,
            stream=stream,
            start_ns=nanoseconds(start, "sec"),
            end_ns=nanoseconds(end, "sec"),
            slack_ns=first.half + last.half,
            bytes=exact_bytes(fields[7]),
            rate=quantity(fields[8], "bits/sec"),
        )
        if len(fields) == _UDP:
            self._add_loss(test, row, fields)
        test.add(row)
        if int(fields[7]) and (above := self._same_above(line, fields)) != line.number:
            text = f"the row is that of line {above} again: the log is in the file twice; keep one copy"
            contradict(test.run, "repeated_row", text, line.number)
        return row

    def _same_above(self, line: Line, fields: list[str]) -> int:
        """Return the number of the first line with the text of this one."""
        start, end = fields[6].split("-")
        ends, place = (*fields[1:6],), (fields[0], float(end), -float(start))
        if self.seen is None and place > self.latest.get(ends, ("",)):
            self.latest[ends] = place
            return line.number
        if self.seen is None:
            self.seen = {}
            for earlier in takewhile(lambda earlier: earlier.number < line.number, self.log.lines):
                self.seen.setdefault(earlier.text, earlier.number)
        return self.seen.setdefault(line.text, line.number)

    def _add_loss(self, test: Test, row: ReportRow, fields: list[str]) -> None:
        if float(fields[9]) >= 0 and int(fields[10]) >= 0 and int(fields[11]) > 0:
            row.jitter, row.percent = quantity(fields[9], "ms"), fields[12]
            row.lost, row.datagrams = count(fields[10]), count(fields[11])
            row.receives = True
            if int(fields[13]) >= 0:
                test.out_of_order[row.stream] = (row.line, count(fields[13]))
        test.run.set(protocol="udp")

    def _open(self, line: Line, fields: list[str]) -> Test:
        run = self.recorder.start_run("iperf2", line.number)
        self.test = Test(self.log, run, "csv")
        self.test.last_line = line.number
        if fields[0] == _SERVER_TIME:
            self.test.first = "server"
        elif (fields[2] == _PORT) != (fields[4] == _PORT):
            run.set(client=fields[1 if fields[4] == _PORT else 3], server=fields[3 if fields[4] == _PORT else 1])
        return self.test

    def finish(self) -> None:
        """Complete the last test."""
        if self.test is not None:
            self.test.finish()
