"""How an iostat log is recognised and read."""

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
        is_json = log.document is not None or any(begins_document(line.text) for line in log.lines)
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
