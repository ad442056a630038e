"""How an mtr log is recognised, and which reader reads it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from azlatency.logs.parsers import Log, Parser, Signature
from azlatency.logs.parsers.common import record_no_data
from azlatency.logs.parsers.identities import SENT_IS_RECEIVED_AND_LOST
from azlatency.logs.record import Recorder
from azlatency.logs.source.lines import Line
from azlatency.more_tools.mtr import csv_output
from azlatency.more_tools.mtr.json_output import read_json
from azlatency.more_tools.mtr.text import HEADER, START, MtrText, is_continued


class MtrParser(Parser):
    """Reads mtr; see `azlatency.more_tools.mtr`."""

    tool = "mtr"
    identities = (SENT_IS_RECEIVED_AND_LOST,)
    commands = ("mtr", "mtr-tiny")
    options: ClassVar = {"requested_count": ("-c", "--report-cycles"), "interval": ("-i", "--interval")}
    flags = "46CSTbeghjlnprtuvwxz"
    signatures = (
        Signature("Start: ", START, then=HEADER),
        Signature("My traceroute", r"My traceroute {1,4}\[.{1,40}\]"),
        Signature("Loss%", HEADER),
        Signature("Mtr_Version", csv_output.HEADER),
        Signature("<MTR ", r"<MTR SRC=.{1,600}>"),
        Signature('"report"', r'\{?\s*"report"\s*:\s*\{', then=r'"mtr"\s*:\s*\{'),
        Signature('"mtr"', r'\{\s*"report"\s*:\s*\{\s*"mtr"\s*:.{1,4000}'),
        Signature("|-- ", r"\d{1,3}\.\|-- .{1,600}", weak=True),
    )

    def parse(self, log: Log, recorder: Recorder) -> None:
        """Read one log: CSV or JSON if it begins so, else the lines of reports."""
        first = next((line.text.lstrip() for line in log.lines if line.text.strip()), "")
        if first.startswith("Mtr_Version"):
            csv_output.MtrCsv(log, recorder).read()
        elif first.startswith(("{", '"report"')):
            read_json(log, recorder)
        else:
            reader = MtrText(log, recorder)
            reader.feed(log.lines, recorder.accounting)
            reader.close(log.last_line)
            if not recorder.rows["runs"] or recorder.rows["runs"][-1]["last_line"] < log.first_line:
                record_no_data(recorder, log, "rows without the header of their columns")

    def find_continued(self, logs: Sequence[Sequence[Line]]) -> list[int]:
        """Return the headers that follow their own line ``Start:``, or the title of a screen."""
        return [index for index in range(1, len(logs)) if is_continued(logs[index - 1], logs[index])]


PARSER = MtrParser()
