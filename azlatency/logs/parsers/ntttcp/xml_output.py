"""The XML report of ntttcp (``-x``)."""

from __future__ import annotations

import re

from azlatency.logs.grammar.rules import Line, data, known
from azlatency.logs.parsers import Log
from azlatency.logs.parsers.common import LogReader
from azlatency.logs.parsers.ntttcp.fields import ReportFields
from azlatency.logs.parsers.ntttcp.run import NtttcpRun
from azlatency.logs.record import Recorder

# Elements around the text of notes.
_HTML = r"(?:h[1-6]|[abip]|t[dhr]|li|em|code|strong|title|span|div|small|summary|center|figcaption)"


class XmlReport(LogReader):
    """Reads the report of ``-x``, which has one element per line."""

    def __init__(self, log: Log, recorder: Recorder) -> None:
        super().__init__(log, recorder)
        self.result: NtttcpRun | None = None
        self.fields: ReportFields | None = None
        self.thread: str | None = None

    @data(r"<ntttcp([sr])(?: computername=\"([^\"]{0,100})\")?(?: version=\"([^\"]{0,40})\")?>", hint="<ntttcp")
    def root(self, line: Line, match: re.Match[str]) -> None:
        self.close(line.number - 1)
        linux = "linux" in (match[3] or "")
        self.result = NtttcpRun(
            self.log, self.recorder, first_line=line.number, form="linux-xml" if linux else "windows-xml"
        )
        self.result.role = "sender" if match[1] == "s" else "receiver"
        self.result.host = match[2] or None
        self.result.run.set(tool_version=None if linux else match[3])
        self.fields = ReportFields(self.result, linux=linux)
        self.thread = None

    @data(r"<thread index=\"(\d{1,6})\">", hint="<thread")
    def begin_thread(self, line: Line, match: re.Match[str]) -> None:
        self.thread = match[1]

    @data(r"</thread>", hint="</thread>")
    def end_thread(self, line: Line, match: re.Match[str]) -> None:
        self.thread = None

    @data(r"</ntttcp[sr]>", hint="</ntttcp")
    def end(self, line: Line, match: re.Match[str]) -> None:
        if self.result is not None:
            self.result.ended = True
            self.close(line.number)

    @data(
        rf"<(?!{_HTML}>)(?P<name>\w{{1,60}})(?: metric=\"(?P<metric>[^\"]{{0,40}})\")?>"
        r"(?P<value>[^<>]{0,600})</(?P=name)>",
        hint="</",
    )
    def element(self, line: Line, match: re.Match[str]) -> None:
        if self.fields is None or self.result is None:
            return
        name, metric, value = match["name"], match["metric"], match["value"]
        if self.thread is None:
            self.fields.take(name, metric, value, line.number)
        elif name == "throughput":
            self.fields.take_thread(self.thread, metric, value, line.number)

    known = known(
        ("<", r"</?parameters>|<\w{1,60}\s{0,2}/>|<\?xml .{0,100}\?>"),
        ("<", r"</?(?:perprocessorinfo|cpu|processor)\b[^<>]{0,100}>"),
    )

    def close(self, last_line: int) -> None:
        """Write the open report, if there is one."""
        if self.result is not None and self.fields is not None:
            self.fields.finish()
            self.result.finish(last_line)
        self.result = self.fields = None
