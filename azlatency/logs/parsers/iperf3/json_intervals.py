"""The intervals in the JSON of iperf3."""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import UNSET

from azlatency.logs.grammar import json_tokens
from azlatency.logs.grammar.json_lines import JsonLineMap
from azlatency.logs.grammar.rules import DATA
from azlatency.logs.parsers.iperf3.json_rows import NUMBERS, Interval, JsonRow, number_in, to_row
from azlatency.logs.parsers.iperf3.run import Test
from azlatency.logs.parsers.iperf_rows import SUM
from azlatency.logs.record import Recorder

#: The totals of an interval, forward and reverse.
_SUMS = ("sum", "sum_bidir_reverse")


class JsonIntervals:
    """Reads the intervals of the documents of one log."""

    def __init__(self, line_map: JsonLineMap, recorder: Recorder) -> None:
        self.line_map, self.recorder = line_map, recorder

    def read(self, place: int, test: Test) -> int:
        """Read the array of intervals that begins at ``place``; return the place after it."""
        end = place
        for value, begin, end in json_tokens.iter_elements(self.line_map.text, place):
            self._read_one(value, begin, end, test)
        return end

    def read_event(self, begin: int, test: Test) -> int:
        """Read the event at a place, which is an interval; return the place after it."""
        event, end = json_tokens.read_plain(self.line_map.text, begin)
        self._read_one(event.get("data"), begin, end, test)
        return end

    def _read_one(self, value: Any, begin: int, end: int, test: Test) -> None:
        """Read one interval, decoded from the text between two places."""
        if not isinstance(value, dict):
            return
        try:
            interval = msgspec.convert(value, Interval)
        except msgspec.ValidationError:
            self._report_damage(begin, test)
            interval = Interval(
                [to_row(stream) for stream in value.get("streams") or [] if isinstance(stream, dict)],
                *(to_row(total) if isinstance(total := value.get(name), dict) else None for name in _SUMS),
            )
        if self.line_map.text.count('"sum"', begin, end) > 1:  # up to 3.10, in a test of both directions
            node, _ = json_tokens.read_value(self.line_map.text, begin)
            plain = map(json_tokens.to_plain, (node if node.get("sum") is not None else node.object("data")).all("sum"))
            totals = [to_row(total) if isinstance(total, dict) else None for total in plain]
            interval.sum, interval.sum_bidir_reverse = (*totals, None)[:2]
        number = self.line_map.line_number(begin)
        self.recorder.accounting.mark_range(number, self.line_map.line_number(end - 1), DATA)
        self._add_rows(interval, number, test)

    def _add_rows(self, interval: Interval, number: int, test: Test) -> None:
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

    def _report_damage(self, begin: int, test: Test) -> None:
        """Report the members of one interval that are not numbers; their rows are left out or lack them."""
        node, _ = json_tokens.read_value(self.line_map.text, begin)
        interval = node if node.get("streams") is not None else node.object("data")
        for row in (*interval.objects("streams"), interval.object("sum"), interval.object("sum_bidir_reverse")):
            for name in NUMBERS:
                number_in(row, name, self.line_map, test.run)


def _ends(row: JsonRow, test: Test) -> tuple[str | None, str | None]:
    """Return role and side of a stream."""
    role = test.role_of(bool(row.sender))
    return role, test.side_of(None if row.sender is UNSET else bool(row.sender), role)
