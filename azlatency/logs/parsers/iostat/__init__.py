"""iostat (sysstat) 10 to 12.7: text in all layouts, and JSON.

::

    Linux 6.18.44-lab (az1a)        11/21/26        _x86_64_        (2 CPU)

    11/21/26 02:27:05                                                                  -t
    avg-cpu:  %user   %nice %system %iowait  %steal   %idle
              75.00    0.00   24.51    0.00    0.49    0.00

    Device             tps    kB_read/s    kB_wrtn/s    kB_dscd/s    kB_read    kB_wrtn    kB_dscd
    vda           19309.90       720.79     76550.50         7.92        728      77316          8

    Device            r/s     rkB/s   rrqm/s  %rrqm r_await rareq-sz     w/s  …  f/s f_await  aqu-sz  %util       -x
    Device:         rrqm/s   wrqm/s     r/s     w/s    rkB/s    wkB/s avgrq-sz avgqu-sz   await  …  svctm  %util  (11.4)
         r/s     rkB/s   rrqm/s  %rrqm r_await rareq-sz Device                                                --pretty
    {"sysstat": {"hosts": [{"nodename": …, "statistics": [{"timestamp": …, "avg-cpu": {…}, "disk": [{…}]}]}]}}

**One report is one run**, so that every number keeps its line. Reports are not averaged: the log does not say which of
them belong to a test.

*Runs.* ``runs.test`` is ``since_boot`` for the first report, which covers the time since the host started, and
``report`` for the others. The first one is a ``report`` too if the command contains ``-y`` or if two empty lines follow
the banner. ``duration_ns`` is the difference of two time stamps (``-t``, whole seconds); ``started_at`` is the earlier
of them if it has a time zone. The interval of the command is ``requested_duration_ns``.

*Metrics.* Device metrics have ``side`` device and the name of the device as ``stream``; CPU metrics have ``scope``
host. A group of devices (``-g``) is a sum, so its ``scope`` is run. Columns become metrics by their names
(`azlatency.logs.parsers.iostat.columns`).

*Units.* kB and MB are powers of 1024; blocks and sectors are 512 bytes. With ``-h`` every number has its own suffix,
although the header still says kB. A decimal comma is read as a point.

*Interpretation.* A utilisation of 1 is not saturation if the device serves requests in parallel; time spent waiting for
disks counts as idle; sysstat's authors call ``service_time_mean`` unreliable and removed it.

Modules: `columns` (names and units), `reports` (what text and JSON share), `text`, `json_output`, `json_columns` (the
numbers of a long document).
"""

from __future__ import annotations

import re
from typing import ClassVar

from azlatency.logs.grammar.json_lines import begins_document
from azlatency.logs.grammar.units import UnitDefinition, prefixed
from azlatency.logs.parsers import Log, Parser, Signature
from azlatency.logs.parsers.common import record_no_data
from azlatency.logs.parsers.iostat.columns import COLUMNS
from azlatency.logs.parsers.iostat.json_output import IostatJson
from azlatency.logs.parsers.iostat.reports import Reports
from azlatency.logs.parsers.iostat.text import BANNER, CPU_HEADER, IostatText
from azlatency.logs.record import Recorder

_KNOWN_HEADER = rf"Device:?(?: {{1,40}}(?:{'|'.join(map(re.escape, COLUMNS))})){{1,30}}"


def _size_units(canonical: str, ending: str) -> dict[str, UnitDefinition]:
    """Return kB, MB and so on, which are binary, and blocks and sectors of 512 bytes, whatever the disk reports."""
    return {
        **prefixed(canonical, "kMGTP", 1024, f"B{ending}", tool="iostat"),
        **{f"iostat {name}{ending}": (canonical, 512) for name in ("blocks", "sectors")},
    }


class IostatParser(Parser):
    """Reads iostat; see `azlatency.logs.parsers.iostat`."""

    tool = "iostat"
    commands = ("iostat",)
    document_keys: ClassVar = {"sysstat": "{"}
    units: ClassVar = {**_size_units("bytes", ""), **_size_units("bytes/s", "/s"), "requests": ("count", 1)}
    signatures = (
        Signature(" CPU)", BANNER, weak=True),
        Signature("avg-cpu:", CPU_HEADER, weak=True),
        Signature("Device", _KNOWN_HEADER, weak=True),
        Signature('"sysstat"', r'\{?\s*"sysstat"\s*:.*', weak=True),
    )

    def parse(self, log: Log, recorder: Recorder) -> None:
        """Read the reports of one log."""
        is_json = log.is_document or any(begins_document(line.text) for line in log.lines)
        reports = Reports(log, recorder, "iostat-json" if is_json else "iostat-text")
        text, documents = IostatText(log, recorder, reports), IostatJson(log, recorder, reports)
        lines, index = log.lines, 0
        while index < len(lines):
            if begins_document(lines[index].text):
                index = documents.read(index)
            else:
                index = text.feed_until(begins_document, lines, index, recorder.accounting)
        reports.close(cut=bool(lines) and bool(lines[-1].text.strip()))
        if not reports.count:
            reason = "the log contains no iostat report; check that it is the output of iostat"
            record_no_data(recorder, log, reason)


PARSER = IostatParser()
