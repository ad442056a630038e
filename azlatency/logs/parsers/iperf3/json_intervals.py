"""The intervals in the JSON of iperf3."""

from __future__ import annotations

import re
from typing import Any

import msgspec
from msgspec import UNSET, Struct

from azlatency.logs.grammar import json_tokens
from azlatency.logs.grammar.json_lines import JsonLineMap
from azlatency.logs.grammar.rules import DATA
from azlatency.logs.parsers.iperf3.json_rows import NUMBERS, Interval, JsonRow, decode_intervals, number_in, to_row
from azlatency.logs.parsers.iperf3.run import Test
from azlatency.logs.parsers.iperf_rows import SUM
from azlatency.logs.record import Recorder

_INTERVAL = re.compile(r'\{\s{0,9}"event"\s{0,9}:\s{0,9}"interval"')


class _Event(Struct, gc=False):
    data: Interval


_EVENT = msgspec.json.Decoder(_Event)


class JsonIntervals:
    """Reads the intervals of the documents of one log."""

    def __init__(self, line_map: JsonLineMap, recorder: Recorder) -> None:
        self.line_map, self.recorder = line_map, recorder

    def read(self, place: int, test: Test) -> int:
        """Read the array of intervals that begins at ``place``; return the place after it."""
        decoded = decode_intervals(self.line_map, place)
        if decoded is None:
            return self._read_one_by_one(place, test)
        for interval, begin, last in zip(decoded.elements, decoded.begins, decoded.lasts, strict=True):
            self._add(interval, begin, last + 1, test)
        return decoded.stop

    def _read_one_by_one(self, place: int, test: Test) -> int:
        """Read the elements of the list whose opening bracket, or comma, is at ``place``."""
        end = place
        for value, begin, end in json_tokens.iter_elements(self.line_map.text, place):
            if value is None:
                break
            self.read_one(value, begin, end, test)
        return end

    def read_event(self, begin: int, test: Test) -> int:
        """Read the event at a place, which is an interval; return the place after it."""
        text = self.line_map.text
        end = text.rfind("}", begin, text.find("\n", begin) + 1 or len(text)) + 1
        if _INTERVAL.match(text, begin) and (interval := _decode_event(text[begin:end])) is not None:
            self._add(interval, begin, end, test)
            return end
        event, end = json_tokens.read_plain(text, begin)
        self.read_one(event.get("data"), begin, end, test)
        return end

    def _decoded_interval(self, interval: Interval, number: int, test: Test) -> None:
        streams = interval.streams or []
        test.bidir = test.bidir or len({bool(row.sender) for row in streams if row.sender is not UNSET}) > 1
        ends = {row.sender: _ends(row, test) for row in streams}
        for row in streams:
            role, side = ends[row.sender]
            if row.place(number, str(row.socket), role, side):
                test.intervals.append(row)
        if len(streams) > (2 if test.bidir else 1):
            for direction, total in enumerate((interval.sum, interval.sum_bidir_reverse)):
                if total is not None:
                    role = test.role_in_direction(direction)
                    sender = None if total.sender is UNSET else bool(total.sender)
                    if total.place(number, SUM, role, test.side_of(sender, role)):
                        test.intervals.append(total)

    def read_one(self, value: Any, begin: int, end: int, test: Test) -> None:
        """Read one interval, decoded from the text between two places."""
        if isinstance(value, dict):
            self._report_damage(begin, test)
            streams = [to_row(stream) for stream in value.get("streams") or [] if isinstance(stream, dict)]
            self._add(Interval(streams, *self._sums(value, begin, end)), begin, end, test)

    def _add(self, interval: Interval, begin: int, end: int, test: Test) -> None:
        """Add the rows of the interval between two places."""
        number = self.line_map.line_number(begin)
        self.recorder.accounting.mark_range(number, self.line_map.line_number(end - 1), DATA)
        self._decoded_interval(interval, number, test)

    def _report_damage(self, begin: int, test: Test) -> None:
        """Report the members of one interval that are not numbers; their rows are left out or lack them."""
        node, _ = json_tokens.read_value(self.line_map.text, begin)
        interval = node if node.get("streams") is not None else node.object("data")
        for row in (*interval.objects("streams"), interval.object("sum"), interval.object("sum_bidir_reverse")):
            for name in NUMBERS:
                number_in(row, name, self.line_map, test.run)

    def _sums(self, value: dict[str, Any], begin: int, end: int) -> list[JsonRow | None]:
        """Return the totals of an interval, forward and reverse, also where a key occurs twice."""
        if self.line_map.text.count('"sum"', begin, end) > 1:
            node, _ = json_tokens.read_value(self.line_map.text, begin)
            interval = node if node.get("sum") is not None else node.object("data")
            totals = [json_tokens.to_plain(total) for total in interval.all("sum")]
        else:
            totals = [value.get("sum"), value.get("sum_bidir_reverse")]
        return [to_row(total) if isinstance(total, dict) else None for total in totals[:2]]


def _decode_event(text: str) -> Interval | None:
    """Return the interval of an event; None if the generic reader must read it."""
    try:
        interval = _EVENT.decode(text).data
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return None
    # An object that was not decoded, because its key occurs twice for example, has a brace too.
    objects = 2 + len(interval.streams or ()) + (interval.sum is not None) + (interval.sum_bidir_reverse is not None)
    return interval if text.count("{") == text.count("}") == objects else None


def _ends(row: JsonRow, test: Test) -> tuple[str | None, str | None]:
    """Return role and side of a stream."""
    role = test.role_of(bool(row.sender))
    return role, test.side_of(None if row.sender is UNSET else bool(row.sender), role)
