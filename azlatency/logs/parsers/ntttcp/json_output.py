"""The JSON report of ntttcp for Linux (``-j``): every number is a string, most in an object of metric and value."""

from __future__ import annotations

import re
from functools import lru_cache

from azlatency.logs.grammar import json_tokens
from azlatency.logs.grammar.json_lines import JsonLineMap
from azlatency.logs.grammar.rules import DATA, KNOWN
from azlatency.logs.parsers import Log
from azlatency.logs.parsers.ntttcp.fields import ReportFields
from azlatency.logs.parsers.ntttcp.run import NtttcpRun
from azlatency.logs.record import Recorder

_SIDES = {"ntttcps": "sender", "ntttcpr": "receiver"}
# Names that differ from the XML name in more than camel case.
_XML_NAMES = {"throughputs": "throughput", "realTime": "realtime", "tcpAverageRtt metric": "tcp_average_rtt"}
#: Follows the rates in MB/s.
_WRONG_UNIT = " bps"


def read_json(log: Log, recorder: Recorder) -> None:
    """Read one report; one that is cut keeps the members before the cut."""
    line_map = JsonLineMap(log, recorder, whole=True)
    begin = line_map.begin(0 if log.is_document else _first_brace(log))
    document = json_tokens.JsonObject()
    ended, end = True, len(line_map.text)
    try:
        end = json_tokens.read_object(line_map.text, begin, document)
    except json_tokens.JsonError as error:
        ended = False
        if not error.at_end:
            end = error.position
    line_map.mark_between(begin, end, KNOWN)
    run = NtttcpRun(log, recorder, first_line=line_map.line_number(begin), form="linux-json")
    run.ended = ended
    for name, report in document.pairs:
        if name in _SIDES and isinstance(report, json_tokens.JsonObject):
            run.role = _SIDES[name]
            run.host = report.value("computername")
            fields = ReportFields(run, linux=True)
            _read_fields(report.object("parameters"), fields, line_map)
            _read_fields(report, fields, line_map)
            for thread in report.objects("threads"):
                _read_thread(thread, fields, line_map)
            fields.finish()
    run.finish(line_map.line_number(max(end - 1, begin)))


@lru_cache(maxsize=256)
def _xml_name(key: str) -> str:
    return _XML_NAMES.get(key) or re.sub(r"(?<=[a-z0-9])[A-Z]", lambda capital: "_" + capital[0].lower(), key)


def _read_fields(report: json_tokens.JsonObject, fields: ReportFields, line_map: JsonLineMap) -> None:
    for key, node in report.pairs:
        name = _xml_name(key)
        for metric, value, line in _values(node, line_map):
            if isinstance(value, str) and fields.take(name, metric, value, line):
                line_map.recorder.accounting.mark(line, DATA)


def _first_brace(log: Log) -> int:
    """Return the index of the first line with a brace."""
    return next((index for index, line in enumerate(log.lines) if "{" in line.text), 0)


def _read_thread(thread: json_tokens.JsonObject, fields: ReportFields, line_map: JsonLineMap) -> None:
    """Read the rates of one thread; the one in MB/s is followed by a wrong " bps"."""
    if (index := thread.value("index")) is None:
        return
    for metric, value, line in _values(thread.get("throughputs"), line_map):
        if fields.take_thread(str(index), metric, str(value).removesuffix(_WRONG_UNIT), line):
            line_map.recorder.accounting.mark(line, DATA)


def _values(node: object, line_map: JsonLineMap) -> list[tuple[str | None, object, int]]:
    """Return metric, value and line of a member: a string, an object of metric and value, or a list of these."""
    if isinstance(node, json_tokens.JsonObject):
        scalar = node.leaf("value")
        return [] if scalar is None else [(node.value("metric"), scalar.value, line_map.line_number(scalar.position))]
    if isinstance(node, json_tokens.Scalar):
        return [(None, node.value, line_map.line_number(node.position))]
    return [value for item in node for value in _values(item, line_map)] if isinstance(node, list) else []
