"""The JSON report of ntttcp for Linux (``-j``): every number is a string, most in an object of metric and value."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any

from azlatency.logs import json_tokens
from azlatency.logs.grammar import DATA, KNOWN
from azlatency.logs.json_lines import JsonLineMap
from azlatency.logs.parsers import Log
from azlatency.logs.parsers.ntttcp.fields import Rates, ReportFields, Threads, rates_of, take_thread
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


#: So many threads of a long list that are not alike are kept together.
_MOST_WAITING = 4096
#: The list of threads.
_KEPT: json_tokens.Kept = {side: {"threads": {}} for side in _SIDES}


def read_json(log: Log, recorder: Recorder) -> None:
    """Read one report; one that is cut keeps the members before the cut."""
    line_map = JsonLineMap(log, recorder, whole=True)
    begin = line_map.begin(0 if log.document is not None else _first_brace(log))
    document = json_tokens.JsonObject()
    ended, end = True, len(line_map.text)
    try:
        end = line_map.read_object(begin, document, _KEPT if line_map.is_valid else None)
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


def _first_brace(log: Log) -> int:
    """Return the index of the first line with a brace."""
    return next((index for index, line in enumerate(log.lines) if "{" in line.text), 0)


def _read_threads(threads: object, fields: ReportFields, line_map: JsonLineMap) -> None:
    if isinstance(threads, list) and any(map(line_map.is_divided, threads)):
        fields.use_parts(partial(_read_parts, threads, line_map))
        return
    for part in threads if isinstance(threads, list) else []:
        if isinstance(part, json_tokens.JsonObject):
            _read_thread(part, fields.threads, line_map)
        elif threads == [part] and len(part) > 1 and (rates := _read_alike(part, line_map)) is not None:
            fields.thread_rates = rates
        else:
            for thread in part.objects():
                _read_thread(thread, fields.threads, line_map)


def _read_parts(threads: list[Any], line_map: JsonLineMap) -> Iterator[dict[str, Rates]]:
    """Yield the rates of the threads of a long list in parts."""
    waiting: Threads = {}
    for part in line_map.elements(threads):
        if isinstance(part, json_tokens.JsonObject):
            _read_thread(part, waiting, line_map)
        elif isinstance(part, json_tokens.Scalar | list):
            continue
        elif len(part) > 1 and (rates := _read_alike(part, line_map)) is not None:
            yield rates_of(waiting)
            waiting = {}
            yield rates
        else:
            for thread in part.objects():
                _read_thread(thread, waiting, line_map)
        if len(waiting) >= _MOST_WAITING:
            yield rates_of(waiting)
            waiting = {}
    yield rates_of(waiting)


def _read_alike(threads: Alike, line_map: JsonLineMap) -> dict[str, Rates] | None:
    """Read the rates of threads as columns; None if they have to be read thread by thread."""
    index, nodes = threads.first.leaf("index"), threads.first.get("throughputs")
    name = threads.find(index) if index is not None and isinstance(index.value, str) else None
    names = [] if name is None else threads.tokens([name])
    if not isinstance(nodes, list) or len(set(names)) < len(threads):
        return None
    numbers: dict[str, tuple[Number, int]] = {}
    for node in nodes:
        metric, value = (node.leaf(key) if isinstance(node, json_tokens.JsonObject) else None for key in _RATE)
        if metric is None or value is None or not isinstance(value.value, str) or _VARIES.search(metric.token):
            return None
        number = threads.find(value, _WRONG_UNIT if value.token.endswith(_WRONG_UNIT) else "")
        if number is None:
            return None
        numbers[metric.token] = number, line_map.line_number(value.position)
    read = threads.digits([number for number, _ in numbers.values()]) if numbers else None
    if read is None:
        return None
    if "mbps" in numbers:
        line_map.mark_in_all(threads, [numbers["mbps"][1]])
    return {
        rate: Rates(
            names,
            partial(threads.tokens, [number]),
            line_map.lines_in_all(threads, line),
            partial(_convert, *read, column),
        )
        for column, (rate, (number, line)) in enumerate(numbers.items())
    }


def _convert(digits: Digits, decimals: Digits, column: int, unit: str) -> tuple[Column, Column] | None:
    """Return a number of all threads with half its last digit."""
    converted = ratios(digits[:, [column]], decimals[:, [column]], [unit])
    return None if converted is None else (converted[0][:, 0], converted[1][:, 0])


def _read_thread(thread: json_tokens.JsonObject, threads: Threads, line_map: JsonLineMap) -> None:
    """Read the rates of one thread; the one in MB/s is followed by a wrong " bps"."""
    if (index := thread.value("index")) is None:
        return
    for metric, value, line in _values(thread.get("throughputs"), line_map):
        if take_thread(threads, str(index), metric, str(value).removesuffix(_WRONG_UNIT), line):
            line_map.recorder.accounting.mark(line, DATA)


def _values(node: object, line_map: JsonLineMap) -> list[tuple[str | None, object, int]]:
    """Return metric, value and line of a member: a string, an object of metric and value, or a list of these."""
    if isinstance(node, json_tokens.JsonObject):
        scalar = node.leaf("value")
        return [] if scalar is None else [(node.value("metric"), scalar.value, line_map.line_number(scalar.position))]
    if isinstance(node, json_tokens.Scalar):
        return [(None, node.value, line_map.line_number(node.position))]
    return [value for item in node for value in _values(item, line_map)] if isinstance(node, list) else []
