"""The JSON output of mtr (``-j``): the target, and a list of hops."""

from __future__ import annotations

from azlatency.logs.grammar.json_lines import JsonLineMap
from azlatency.logs.grammar.json_tokens import JsonObject, Scalar
from azlatency.logs.grammar.rules import Line
from azlatency.logs.parsers import Log
from azlatency.logs.record import Recorder
from azlatency.more_tools.mtr.report import TITLES, Cell, ReadTime, Report, five_digits, milliseconds
from azlatency.more_tools.mtr.text import MtrText, protocol


def read_json(log: Log, recorder: Recorder) -> None:
    """Read the documents of a log."""
    line_map = JsonLineMap(log, recorder)
    index = 0
    while index < len(log.lines):
        line = log.lines[index]
        if line.text.lstrip().startswith("{"):
            index = _read_document(log, recorder, line_map, index)
        else:
            MtrText(log, recorder).feed([line], recorder.accounting)
            index += 1


def _read_document(log: Log, recorder: Recorder, line_map: JsonLineMap, index: int) -> int:
    first: Line = log.lines[index]
    root, after, fault = line_map.read_document(index)
    document = root.object("report")
    head = document.object("mtr")
    for _, value in head.pairs:
        if isinstance(value, Scalar):
            line_map.mark_data(value)
    target = head.value("dst")
    report = Report(recorder, first.number, "json", target=target if isinstance(target, str) else None)
    client = head.value("src")
    report.run.set(client=client if isinstance(client, str) else log.host, protocol=protocol(log))
    hubs = document.objects("hubs")
    # Until 0.93 the numbers were printed with fixed decimals, and the counts as strings.
    read_time = milliseconds if any(isinstance(hub.value("count"), str) for hub in hubs) else five_digits
    for hub in hubs:
        _read_hub(report, hub, line_map, read_time)
    report.finish(log.lines[after - 1].number, ended=fault is None)
    return after


def _read_hub(report: Report, hub: JsonObject, line_map: JsonLineMap, read_time: ReadTime) -> None:
    hop, host = hub.leaf("count"), hub.value("host")
    if hop is None or not str(hop.value).isdigit() or not isinstance(host, str):
        return
    values = {}
    for key, value in hub.pairs:
        if isinstance(value, Scalar) and key in TITLES and value.value is not None:
            values[key] = Cell(value.token, line_map.mark_data(value))
    number = line_map.mark_data(hop)
    try:
        report.add_hop(int(hop.value), host, values, number, read_time)
    except ValueError:
        report.run.add_event("malformed", "error", f"hop {hop.value} has a value that is not a number", number)
