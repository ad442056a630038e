"""The JSON output of iostat (``-o JSON``)."""

from __future__ import annotations

import re

from azlatency.logs.grammar.json_lines import JsonLineMap
from azlatency.logs.grammar.json_tokens import JsonObject, Kept, Scalar
from azlatency.logs.parsers import Log
from azlatency.logs.parsers.iostat.reports import TIME, Reports, Stamp, read_stamp
from azlatency.logs.parsers.iostat.reports import Report as OpenReport
from azlatency.logs.record import Recorder

_TIME = re.compile(TIME)
#: A report in which a document is cut keeps its complete members.
_KEPT: Kept = {"sysstat": {"hosts": {"statistics": {}}}}


class IostatJson:
    """Reads the JSON documents of a log."""

    def __init__(self, log: Log, recorder: Recorder, reports: Reports) -> None:
        self.line_map = JsonLineMap(log, recorder)
        self.log, self.recorder, self.reports = log, recorder, reports

    def read(self, index: int) -> int:
        """Read the document that begins in line ``index``; return the index of the first line after it."""
        reports_before = self.reports.count
        document, next_index, fault = self.line_map.read_document(index, _KEPT)
        for host in document.object("sysstat").objects("hosts"):
            self._read_host(host)
        report = self.reports.report
        if fault is not None:
            number = self.line_map.line_number(fault.position)
            run = report.run if report is not None else None
            if run is None:
                run = self.recorder.start_run("iostat", self.log.lines[index].number, dialect="iostat-json")
                self.reports.count += 1
            code = "truncated" if fault.at_end else "malformed"
            run.set(status="truncated", last_line=self.log.lines[next_index - 1].number)
            severity = "warning" if report is not None else "error"
            run.add_event(code, severity, "the document ends here; the reports above are kept", number)
        elif self.reports.count == reports_before:
            run = self.recorder.start_run(
                "iostat", self.log.lines[index].number, dialect="iostat-json", status="no_data"
            )
            run.add_event("no_data", "error", "the sysstat document contains no iostat report", run.row["first_line"])
            self.reports.count += 1
        self.reports.close()
        return next_index

    def _read_host(self, host: JsonObject) -> None:
        for key, value in host.pairs:
            if key == "nodename" and isinstance(value, Scalar):
                self.reports.begin_invocation(str(value.value))
                self.line_map.mark_data(value)
            if key == "statistics" and isinstance(value, list):
                for report in value:
                    if isinstance(report, JsonObject):
                        self._read_report(report)

    def _read_report(self, node: JsonObject) -> None:
        report = self._report(node, self.line_map.line_number(node.position))
        if report is not None and node.end:
            report.run.set(last_line=self.line_map.line_number(node.end - 1))

    def _open(self, node: JsonObject, line: int) -> OpenReport:
        leaf = node.leaf("timestamp")
        text = leaf.value if leaf is not None else None
        if leaf is not None and isinstance(text, str):
            self.line_map.mark_data(leaf)
        return self.reports.open(line, _stamp(text))

    def _report(self, node: JsonObject, line: int) -> OpenReport | None:
        """Read one report; return the open one."""
        if {"avg-cpu", "disk"} & {key for key, _ in node.pairs}:
            self._open(node, line)
            self.reports.add_cpu_shares(self._numbers(node.object("avg-cpu")))
            for disk in node.objects("disk"):
                if isinstance(name := disk.value("disk_device"), str):
                    self.reports.add_values(name, self._numbers(disk))
        return self.reports.report

    def _numbers(self, node: JsonObject) -> list[tuple[str, str, int]]:
        """Return key, token and line of the numbers of an object."""
        numbers = self.line_map.numbers(node)
        self.line_map.mark_lines([line for _, _, line in numbers])
        return numbers


def _stamp(text: object) -> Stamp | None:
    match = _TIME.fullmatch(text) if isinstance(text, str) else None
    return read_stamp(match) if match else None
