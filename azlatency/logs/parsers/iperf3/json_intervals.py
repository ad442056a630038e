"""The intervals in the JSON of iperf3: as a series of columns where all are alike, else row by row."""

from __future__ import annotations

from typing import Any

from msgspec import UNSET

from azlatency.logs import json_tokens
from azlatency.logs.grammar import DATA
from azlatency.logs.json_lines import JsonLineMap
from azlatency.logs.parsers.iperf3.json_rows import Interval, JsonRow, Series, decode_intervals, to_row
from azlatency.logs.parsers.iperf3.run import Test
from azlatency.logs.parsers.iperf_rows import SUM
from azlatency.logs.record import Recorder

#: Fewer rows are faster to check one by one.
_FEWEST_COLUMNS = 64


class JsonIntervals:
    """Reads the intervals of the documents of one log."""

    def __init__(self, line_map: JsonLineMap, recorder: Recorder) -> None:
        self.line_map, self.recorder = line_map, recorder

    def read(self, place: int, test: Test) -> int:
        """Read the array of intervals that begins at ``place``; return the place after it."""
        decoded = decode_intervals(self.line_map, place)
        if decoded is not None:
            lines, last_lines = map(self.line_map.line_numbers, (decoded.begins, decoded.lasts))
            for first, last in zip(lines, last_lines, strict=True):
                self.recorder.accounting.mark_range(first, last, DATA)
            test.series = _find_series(decoded.elements, lines, test)
            for interval, line in zip(decoded.elements[: None if test.series is None else 1], lines, strict=False):
                self._decoded_interval(interval, line, test)
            return decoded.stop
        end = place
        for value, begin, end in json_tokens.iter_elements(self.line_map.text, place):
            if value is None:
                break
            self.read_one(value, begin, end, test)
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
            number = self.line_map.line_number(begin)
            self.recorder.accounting.mark_range(number, self.line_map.line_number(end - 1), DATA)
            streams = [to_row(stream) for stream in value.get("streams") or [] if isinstance(stream, dict)]
            self._decoded_interval(Interval(streams, *self._sums(value, begin, end)), number, test)

    def _sums(self, value: dict[str, Any], begin: int, end: int) -> list[JsonRow | None]:
        """Return the totals of an interval, forward and reverse, also where a key occurs twice."""
        if self.line_map.text.count('"sum"', begin, end) > 1:
            node, _ = json_tokens.read_value(self.line_map.text, begin)
            interval = node if node.get("sum") is not None else node.object("data")
            totals = [json_tokens.to_plain(total) for total in interval.all("sum")]
        else:
            totals = [value.get("sum"), value.get("sum_bidir_reverse")]
        return [to_row(total) if isinstance(total, dict) else None for total in totals[:2]]


def _find_series(intervals: list[Interval], numbers: list[int], test: Test) -> Series | None:
    """Return the rows as a series if all intervals have the same streams and the test has one direction."""
    sockets = [row.socket for row in intervals[0].streams or []] if intervals else []
    names = [str(socket) for socket in sockets] + [SUM] * (len(sockets) > 1)
    unusual = test.bidir or test.intervals or test.run.row.get("protocol") is None
    if unusual or not names or len(set(names)) < len(names):
        return None
    rows: list[JsonRow] = []
    lines: list[int] = []
    for interval, number in zip(intervals, numbers, strict=True):
        streams, total = interval.streams or [], interval.sum
        if [row.socket for row in streams] != sockets:
            return None
        rows += streams
        if len(streams) > 1:
            if total is None or interval.sum_bidir_reverse is not None:
                return None
            rows.append(total)
        lines += [number] * len(names)
    if len(rows) < _FEWEST_COLUMNS or len({row.sender for row in rows}) > 1 or any([row.omitted for row in rows]):
        return None
    _, side = _ends(rows[0], test)
    return None if side is None else Series(rows, lines, names, side)


def _ends(row: JsonRow, test: Test) -> tuple[str | None, str | None]:
    """Return role and side of a stream."""
    role = test.role_of(bool(row.sender))
    return role, test.side_of(None if row.sender is UNSET else bool(row.sender), role)
