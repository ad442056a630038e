"""mtr 0.69 to 0.96: the report (``-r``, ``-w``), a copy of the screen, CSV (``-C``), JSON (``-j``) and XML (``-x``).

::

    Start: 2026-11-22T07:09:33+0000
    HOST: client-az1                  Loss%   Snt   Last   Avg  Best  Wrst StDev
      1.|-- 10.66.2.4                  0.0%    10  3074. 613.0   0.6 3074. 1098.7
      2.|-- ???                       100.0    10    0.0   0.0   0.0   0.0   0.0
      3.|-- 10.66.9.9                  0.0%    10    1.9   2.7   1.3   5.3   1.6

*Runs.* Each report is a run to the host of its last row. The other hops are streams, ``hop 1 10.66.2.4``: a router
limits the rate of its own replies, so the loss and the times of a hop are not those of the traffic that it forwards.
The run has no numbers of its own if the last row is ``???``, repeats the host above (a router reports the target as
unreachable, which mtr times like a reply), or is not the address that the log names as the target. Where the log names
none, the last row may be that of a router, because the report has no end mark: ``target_assumed``.

*Times* are round trips in ms. mtr computes in whole microseconds: it cuts the running mean after every reply
(net.c, ``nh->avg += …`` into an int), so a printed mean may be too small by half a microsecond per reply; the
resolution of ``Avg``, ``Gmean``, ``StDev`` and ``Javg`` includes that. ``Jint`` is printed 16 times too large (the
scaled estimator of RFC 1889 without the final shift); the tables contain a sixteenth.

*Digits.* The report has one decimal and the CSV two. JSON of 0.94 and later has five significant digits without
trailing zeros. A column of the report that is too narrow loses its last characters: ``3074.`` stands for 3074.0 to
3074.9; an integer that fills its column may be the beginning of a longer one and is left out (``cut_number``).

*Counts.* ``Snt`` includes probes that are still under way at the end, so received and lost probes do not follow from
``Snt`` and ``Loss%``; they are stored only if the columns ``Rcv`` and ``Drop`` are printed.

*Dates.* ``Start:`` has a time zone from 0.90 on; older ones are local times and not stored. ``Start_Time`` of the CSV
is the time at which mtr ended, and is not stored either.
"""

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
