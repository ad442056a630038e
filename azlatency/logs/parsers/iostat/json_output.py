"""The JSON output of iostat (``-o JSON``)."""

from __future__ import annotations

import re

from azlatency.logs import json_tokens
from azlatency.logs.json_lines import JsonLineMap
from azlatency.logs.parsers import Log
from azlatency.logs.parsers.iostat.reports import TIME, Reports, read_stamp
from azlatency.logs.record import Recorder
from azlatency.logs.units import UnitError


class IostatJson:
    """Reads the JSON documents of a log."""

    def __init__(self, log: Log, recorder: Recorder, reports: Reports) -> None:
        self.line_map = JsonLineMap(log, recorder)
        self.log, self.recorder, self.reports = log, recorder, reports

    def read(self, index: int) -> int:
        """Read the document that begins in line ``index``; return the index of the first line after it."""
        reports_before = self.reports.count
        next_index, fault = self.line_map.read_document(index, self._document)
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

    def _document(self, begin: int) -> int:
        """Read {"sysstat": {"hosts": [{…, "statistics": [reports]}]}}, report by report: a cut document keeps some."""
        text, place = self.line_map.text, begin
        for key, mark in (("sysstat", "{"), ("hosts", "[")):
            place = json_tokens.skip_blanks(text, place + 1)
            name, place = json_tokens.read_string(text, place)
            place = json_tokens.expect(text, place, ":")
            if name != key or text[place : place + 1] != mark:
                raise json_tokens.JsonError(text, place)
        place = json_tokens.skip_blanks(text, place + 1)
        while text[place : place + 1] != "]":
            place = json_tokens.skip_comma(text, self._host(place), "]")
        for _ in range(2):
            place = json_tokens.skip_blanks(text, place + 1)
            if text[place : place + 1] != "}":
                raise json_tokens.JsonError(text, place)
        return place + 1

    def _host(self, place: int) -> int:
        text = self.line_map.text
        place = json_tokens.skip_blanks(text, place + 1)
        while text[place : place + 1] != "}":
            key, place = json_tokens.read_string(text, place)
            place = json_tokens.expect(text, place, ":")
            if key == "statistics" and text[place : place + 1] == "[":
                place = self._statistics(place)
            else:
                value, place = json_tokens.read_value(text, place)
                if key == "nodename" and isinstance(value, json_tokens.Scalar):
                    self.reports.begin_invocation(str(value.value))
                    self.line_map.mark_data(value)
            place = json_tokens.skip_comma(text, place, "}")
        return place + 1

    def _statistics(self, place: int) -> int:
        text = self.line_map.text
        place = json_tokens.skip_blanks(text, place + 1)
        while text[place : place + 1] != "]":
            node = json_tokens.JsonObject()
            try:
                end = json_tokens.read_object(text, place, node)
            except json_tokens.JsonError:
                node.position = place
                self._report(node)
                raise
            self._report(node)
            if self.reports.report is not None:
                self.reports.report.run.set(last_line=self.line_map.line_number(end - 1))
            place = json_tokens.skip_comma(text, end, "]")
        return place + 1

    def _report(self, node: json_tokens.JsonObject) -> None:
        if not {"avg-cpu", "disk"} & {key for key, _ in node.pairs}:
            return
        stamp = None
        leaf = node.leaf("timestamp")
        if leaf is not None and isinstance(leaf.value, str):
            self.line_map.mark_data(leaf)
            match = re.fullmatch(TIME, leaf.value)
            stamp = read_stamp(match) if match else None
        self.reports.open(self.line_map.line_number(node.position), stamp)
        for key, value in node.object("avg-cpu").pairs:
            if isinstance(value, json_tokens.Scalar) and value.value is not None:
                self.reports.add_cpu_share(key, value.token, self.line_map.mark_data(value))
        for disk in node.objects("disk"):
            self._disk(disk)

    def _disk(self, node: json_tokens.JsonObject) -> None:
        name = node.value("disk_device")
        if not isinstance(name, str):
            return
        for key, leaf in node.pairs:
            if (
                isinstance(leaf, json_tokens.Scalar)
                and isinstance(leaf.value, int | float)
                and not isinstance(leaf.value, bool)
            ):
                try:
                    self.reports.add_value(name, key, leaf.token, "", self.line_map.mark_data(leaf))
                except UnitError:
                    continue
