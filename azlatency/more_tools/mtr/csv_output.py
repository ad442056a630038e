"""The CSV output of mtr (``-C``): a row per hop, with the target in each."""

from __future__ import annotations

import csv
import re

from azlatency.logs.grammar.rules import DATA, KNOWN, LONGEST_LINE, UNKNOWN, Line
from azlatency.logs.parsers import Log
from azlatency.logs.record import Recorder
from azlatency.more_tools.mtr.report import TITLES, Cell, Report, milliseconds
from azlatency.more_tools.mtr.text import protocol

HEADER = r"Mtr_Version,Start_Time,Status,Host,Hop,Ip,.{1,300}"


class MtrCsv:
    """Reads the rows of a log; rows with another target or time begin another report."""

    def __init__(self, log: Log, recorder: Recorder) -> None:
        self.log, self.recorder = log, recorder
        self.titles: list[str] = []
        self.report: Report | None = None
        self.key: tuple[str, ...] = ()
        self.last_line = log.first_line
        self.unfinished = log.unfinished_line

    def read(self) -> None:
        """Read all lines."""
        for line in self.log.lines:
            if line.text.strip():
                kind = self._read_line(line) if len(line.text) <= LONGEST_LINE else UNKNOWN
                self.recorder.accounting.mark(line.number, kind)
        self._close(self.unfinished == 0)

    def _read_line(self, line: Line) -> int:
        if re.fullmatch(HEADER, line.text.strip()):
            self._close(ended=True)
            self.titles = [title.strip() for title in line.text.strip().split(",")]
            return KNOWN
        cells = next(csv.reader([line.text.strip()]))
        if cells[-1:] == [""]:
            cells.pop()
        width = len(self.titles) - (self.titles[-1:] == [""])
        if not self.titles or len(cells) != width or line.number == self.unfinished:
            return UNKNOWN
        row = dict(zip(self.titles, cells, strict=False))
        if not cells[0].startswith("MTR.") or not row["Hop"].isdigit():
            return UNKNOWN
        return self._read_row(row, line)

    def _read_row(self, row: dict[str, str], line: Line) -> int:
        hop = int(row["Hop"])
        key = row["Host"], row["Start_Time"]
        if self.report is None or key != self.key or hop < max(self.report.hops, default=0):
            self._close(ended=True)
            self.key = key
            self.report = Report(self.recorder, line.number, "csv", target=row["Host"])
            version = row["Mtr_Version"].removeprefix("MTR.")
            self.report.run.set(tool_version=version, client=self.log.host, protocol=protocol(self.log))
        self.last_line = line.number
        if hop in self.report.hops:
            return KNOWN  # another host that answered for the hop above, with the numbers of the first
        values = {title: Cell(cell, line.number) for title, cell in row.items() if title in TITLES}
        try:
            self.report.add_hop(hop, row["Ip"], values, line.number, milliseconds)
        except ValueError:
            return UNKNOWN
        return DATA

    def _close(self, ended: bool) -> None:
        report, self.report = self.report, None
        if report is not None:
            report.finish(self.last_line, ended=ended)
