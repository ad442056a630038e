"""The text output of iostat."""

from __future__ import annotations

import re

from azlatency.logs.grammar.rules import DATA, Line, data
from azlatency.logs.parsers import Log
from azlatency.logs.parsers.common import LogReader
from azlatency.logs.parsers.iostat.columns import COLUMNS
from azlatency.logs.parsers.iostat.reports import TIME, Reports, Stamp, read_stamp
from azlatency.logs.record import Recorder

BANNER = r"(\w{1,20}) (\S{1,200}) \((.{1,253}?)\)\s{1,8}(\S{1,40})\s{1,8}_(\S{1,40})_\s{1,8}\(\d{1,6} CPU\)"
CPU_HEADER = r"avg-cpu:(?: {1,8}%\w{1,10}){3,10}"
_DEVICE_HEADER = r"Device:?(?: {1,40}[%\w+/-]{1,20}){1,30}"
_PRETTY_HEADER = r"[%\w+/-]{1,20}(?: {1,40}[%\w+/-]{1,20}){0,30} {1,20}Device:?"
_VALUE = re.compile(r"(\d{1,18}(?:[.,]\d{1,6})?)([sBkMGTP%]?)")


class IostatText(LogReader):
    """Reads the text of one log; rows are read by the header above them."""

    def __init__(self, log: Log, recorder: Recorder, reports: Reports) -> None:
        super().__init__(log, recorder)
        self.reports = reports
        self.stamp: tuple[int, Stamp] | None = None
        self.table: list[str] | None = None
        self.pretty = False
        self.cpu_columns: list[str] | None = None
        self.blank_lines = -1

    def blank(self, line: Line) -> None:
        """End a table; two blank lines after the banner stand for the report that ``-y`` omits."""
        self.table = self.cpu_columns = None
        if self.blank_lines >= 0:
            self.blank_lines += 1

    def read(self, line: Line) -> int:
        """Read a row of the table above, or apply the rules."""
        if self.cpu_columns is not None or self.table is not None:
            if self.is_cut(line, "its row is", severity="info"):
                return super().read(line)
            if self._read_row(line):
                return DATA
        return super().read(line)

    @data(BANNER, hint=" CPU)")
    def banner(self, line: Line, match: re.Match[str]) -> None:
        """Read the banner, which begins the output of a command."""
        self.reports.begin_invocation(match[3])
        self.stamp, self.table, self.cpu_columns, self.blank_lines = None, None, None, 0

    @data(TIME, hint=":")
    def time(self, line: Line, match: re.Match[str]) -> None:
        """Read the time stamp above a report."""
        self._detect_omitted_report()
        self.stamp = (line.number, read_stamp(match))
        self.table = self.cpu_columns = None

    @data(CPU_HEADER, hint="avg-cpu:")
    def cpu_header(self, line: Line, match: re.Match[str]) -> None:
        """Read the header of the CPU shares, which begins a report."""
        self._begin(line)
        self.cpu_columns = [word.lstrip("%") for word in match[0].split()[1:]]
        self._expect(line)

    @data(_DEVICE_HEADER, hint="Device")
    @data(_PRETTY_HEADER, hint="Device")
    def device_header(self, line: Line, match: re.Match[str]) -> None:
        words = match[0].split()
        self.pretty = words[0].rstrip(":") != "Device"
        table = words[:-1] if self.pretty else words[1:]
        report = self.reports.report
        # Without CPU shares a header begins a new report, unless it continues it with other columns (--pretty -x).
        columns = set() if report is None else {column for values in report.values.values() for column in values}
        if report is None or self.stamp is not None or columns & set(table):
            self._begin(line)
        self.table, self.cpu_columns = table, None
        self._expect(line)

    def unmatched(self, line: Line) -> None:
        """Mark the report as cut if the log ends within this line."""
        if line.number == self.unfinished:
            self._expect(line)

    def _expect(self, line: Line) -> None:
        if self.reports.report is not None:
            self.reports.report.open_header = line.number
            self.reports.report.run.set(last_line=line.number)

    def _detect_omitted_report(self) -> None:
        if self.blank_lines >= 2:
            self.reports.skips_boot = True
        self.blank_lines = -1

    def _begin(self, line: Line) -> None:
        self._detect_omitted_report()
        first, stamp = self.stamp or (line.number, None)
        self.stamp = None
        self.reports.open(first, stamp)

    def _read_row(self, line: Line) -> bool:
        """Read a row of the table whose header is above; return False if it does not fit."""
        report = self.reports.report
        if report is None:
            return False
        words = line.text.split()
        if self.cpu_columns is not None:
            columns, device = self.cpu_columns, None
        elif self.pretty:
            columns, device = self.table or [], words.pop() if words else ""
        else:
            columns, device = self.table or [], words.pop(0) if words else ""
        values = [_VALUE.fullmatch(word) for word in words]
        if len(words) != len(columns) or not all(values):
            return False
        pairs = [(match[1].replace(",", "."), match[2]) for match in values if match]
        if device is not None and not all(column in COLUMNS for column in columns):
            return False
        if device is not None and line.text.startswith(" ") and not self.pretty:
            device = " " + device
        cells = [(column, token, line.number) for column, (token, _) in zip(columns, pairs, strict=True)]
        if device is None:
            self.reports.add_cpu_shares(cells)
        else:
            self.reports.add_values(device, cells, [suffix for _, suffix in pairs])
        report.open_header = 0
        report.run.set(last_line=line.number)
        if device is None:
            self.cpu_columns = None
        return True
