"""The JSON report of ntttcp for Linux (``-j``): every number is a string, most in an object of metric and value."""

from __future__ import annotations

import re
from functools import lru_cache, partial
from typing import TYPE_CHECKING

from azlatency.logs import json_tokens
from azlatency.logs.grammar import DATA, KNOWN
from azlatency.logs.json_lines import JsonLineMap
from azlatency.logs.parsers import Log
from azlatency.logs.parsers.ntttcp.fields import Rates, ReportFields
from azlatency.logs.parsers.ntttcp.run import NtttcpRun
from azlatency.logs.record import Recorder
from azlatency.logs.units import ratios

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from azlatency.logs.json_lists import Alike, Number
    from azlatency.logs.units import Column

    Digits = NDArray[np.int64]

_SIDES = {"ntttcps": "sender", "ntttcpr": "receiver"}
# Names that differ from the XML name in more than camel case.
_XML_NAMES = {"throughputs": "throughput", "realTime": "realtime", "tcpAverageRtt metric": "tcp_average_rtt"}
#: Digits may differ from thread to thread.
_VARIES = re.compile(r"[\d.]")
_RATE = ("metric", "value")
#: Follows the rates in MB/s.
_WRONG_UNIT = " bps"


#: The list of threads.
_KEPT: json_tokens.Kept = {side: {"threads": {}} for side in _SIDES}


def read_json(log: Log, recorder: Recorder) -> None:
    """Read one report; one that is cut keeps the members before the cut."""
    line_map = JsonLineMap(log, recorder, whole=True)
    begin = line_map.text.find("{")
    document = json_tokens.JsonObject()
    ended, end = True, len(line_map.text)
    try:
        end = line_map.read_object(begin, document, _KEPT if log.document is not None else None)
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
            _read_threads(report.get("threads"), fields, line_map)
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


def _read_threads(threads: object, fields: ReportFields, line_map: JsonLineMap) -> None:
    for part in threads if isinstance(threads, list) else []:
        if isinstance(part, json_tokens.JsonObject):
            _read_thread(part, fields, line_map)
        elif not (threads == [part] and len(part) > 1 and _read_alike(part, fields, line_map)):
            for thread in part.objects():
                _read_thread(thread, fields, line_map)


def _read_alike(threads: Alike, fields: ReportFields, line_map: JsonLineMap) -> bool:
    """Read the rates of threads as columns; return False if they have to be read thread by thread."""
    index, nodes = threads.first.leaf("index"), threads.first.get("throughputs")
    name = threads.find(index) if index is not None and isinstance(index.value, str) else None
    names = [] if name is None else threads.tokens([name])
    if not isinstance(nodes, list) or len(set(names)) < len(threads):
        return False
    numbers: dict[str, tuple[Number, int]] = {}
    for node in nodes:
        metric, value = (node.leaf(key) if isinstance(node, json_tokens.JsonObject) else None for key in _RATE)
        if metric is None or value is None or not isinstance(value.value, str) or _VARIES.search(metric.token):
            return False
        number = threads.find(value, _WRONG_UNIT if value.token.endswith(_WRONG_UNIT) else "")
        if number is None:
            return False
        numbers[metric.token] = number, line_map.line_number(value.position)
    read = threads.digits([number for number, _ in numbers.values()]) if numbers else None
    if read is None:
        return False
    for column, (rate, (number, line)) in enumerate(numbers.items()):
        lines = line_map.lines_in_all(threads, line)
        fields.thread_rates[rate] = Rates(
            names, partial(threads.tokens, [number]), lines, partial(_convert, *read, column)
        )
    if "mbps" in numbers:
        line_map.mark_in_all(threads, [numbers["mbps"][1]])
    return True


def _convert(digits: Digits, decimals: Digits, column: int, unit: str) -> tuple[Column, Column] | None:
    """Return a number of all threads with half its last digit."""
    converted = ratios(digits[:, [column]], decimals[:, [column]], [unit])
    return None if converted is None else (converted[0][:, 0], converted[1][:, 0])


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
