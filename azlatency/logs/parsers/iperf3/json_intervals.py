"""The intervals in the JSON of iperf3: as a series of columns where all are alike, else row by row."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import msgspec
from msgspec import UNSET, Struct

from azlatency.logs import json_tokens
from azlatency.logs.grammar import DATA
from azlatency.logs.json_lines import JsonLineMap
from azlatency.logs.large import FileText, Piece
from azlatency.logs.long_documents import PIECE
from azlatency.logs.parsers.iperf3.json_rows import (
    NUMBERS,
    Interval,
    JsonRow,
    LongSeries,
    Series,
    decode_intervals,
    number_in,
    to_row,
)
from azlatency.logs.parsers.iperf3.run import Test
from azlatency.logs.parsers.iperf_rows import SUM
from azlatency.logs.record import Recorder

#: Returns intervals with their lines.
Load = Callable[[], tuple[list[Interval], list[int]] | None]
_INTERVAL = re.compile(r'\{\s{0,9}"event"\s{0,9}:\s{0,9}"interval"')


class _Event(Struct, gc=False):
    data: Interval


_EVENTS = msgspec.json.Decoder(_Event)
#: Fewer rows are faster to check one by one.
_FEWEST_COLUMNS = 64


class JsonIntervals:
    """Reads the intervals of the documents of one log."""

    def __init__(self, line_map: JsonLineMap, recorder: Recorder) -> None:
        self.line_map, self.recorder = line_map, recorder
        self._alone_until = 0

    def read(self, place: int, test: Test) -> int:
        """Read the array of intervals that begins at ``place``; return the place after it."""
        first, end = json_tokens.skip_blanks(self.line_map.text, place + 1), 0
        for piece in self.line_map.windows(first):
            end = self._read_list(0, test, partial(self._load_piece, piece))
        if not end:
            return self._read_list(place, test)
        # Of a long list, the text contains a digit, and what follows the complete elements.
        text = self.line_map.text
        following = json_tokens.skip_comma(text, first + 1, "]")
        return following + 1 if text.startswith("]", following) else self._read_one_by_one(following - 1, test)

    def _read_list(self, place: int, test: Test, load: Load | None = None) -> int:
        """Read the list at ``place``, part of a long one if its elements can be loaded again."""
        decoded = decode_intervals(self.line_map, place, alone=load is not None)
        if decoded is not None:
            lines, last_lines = map(self.line_map.line_numbers, (decoded.begins, decoded.lasts))
            for first, last in zip(lines, last_lines, strict=True):
                self.recorder.accounting.mark_range(first, last, DATA)
            if load is not None:
                self._read_part(decoded.elements, lines, load, test)
                return decoded.stop
            fewest = _FEWEST_COLUMNS
            test.series = None if test.intervals else _find_series(decoded.elements, lines, test, fewest=fewest)
            for interval, line in zip(decoded.elements[: None if test.series is None else 1], lines, strict=False):
                self._decoded_interval(interval, line, test)
            return decoded.stop
        return self._read_one_by_one(place, test)

    def _read_one_by_one(self, place: int, test: Test) -> int:
        """Read the elements of the list whose opening bracket, or comma, is at ``place``."""
        end = place
        for value, begin, end in json_tokens.iter_elements(self.line_map.text, place):
            if value is None:
                break
            self.read_one(value, begin, end, test)
        return end

    def _load_piece(self, piece: Piece) -> tuple[list[Interval], list[int]]:
        """Return intervals of a long document with their lines."""
        line_map = JsonLineMap(self.line_map.log, self.recorder)  # another part is shown in the usual one
        line_map.show_piece(piece)
        decoded = decode_intervals(line_map, 0, alone=True)
        assert decoded is not None
        return decoded.elements, line_map.line_numbers(decoded.begins)

    def _read_part(self, intervals: list[Interval], lines: list[int], load: Load, test: Test) -> None:
        """Read some of very many intervals."""
        series = _find_series(intervals, lines, test, fewest=1)
        if series is not None and _long_series(test).add(series):
            test.intervals.add_part(Part(load, series))
            return
        _long_series(test).add(None)
        for interval, line in zip(intervals, lines, strict=True):
            self._decoded_interval(interval, line, test)

    # --- a document in each line

    def read_lines(self, index: int, test: Test) -> int:
        """Read the intervals that begin in line ``index``, one in each line; return the index of the first other line.

        That is ``index`` if the line has to be read alone.
        """
        if index < self._alone_until:
            return index
        lines, stop, size = self.line_map.log.lines, index, 0
        while stop < len(lines) and size < PIECE and _INTERVAL.match(text := lines[stop].text):
            stop, size = stop + 1, size + len(text)
        if stop == index:
            return index
        load = partial(self._load_lines, index, stop)
        if (loaded := load()) is None:
            self._alone_until = stop
            return index
        for number in loaded[1]:
            self.recorder.accounting.mark(number, DATA)
        self._read_part(*loaded, load, test)
        test.last_line = loaded[1][-1]
        return stop

    def _load_lines(self, start: int, stop: int) -> tuple[list[Interval], list[int]] | None:
        """Return the intervals in some lines; None if they have to be read one by one."""
        lines = list(map(self.line_map.log.lines.__getitem__, range(start, stop)))
        intervals = _decode_lines("\n".join([line.text for line in lines]), len(lines))
        return None if intervals is None else (intervals, [line.number for line in lines])

    def read_event(self, begin: int, test: Test) -> int:
        """Read the event at a place, which is an interval; return the place after it."""
        text = self.line_map.text
        end = text.rfind("}", begin, text.find("\n", begin) + 1 or len(text)) + 1
        if _INTERVAL.match(text, begin) and (intervals := _decode_lines(text[begin:end], 1)) is not None:
            self._add(intervals[0], begin, end, test)
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
        if isinstance(self.line_map.log.source.text, FileText):
            _long_series(test).add(None)
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


def _decode_lines(text: str, count: int) -> list[Interval] | None:
    """Return the intervals in lines with an event each; None if they have to be read one by one."""
    try:
        events = _EVENTS.decode_lines(text)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return None
    # An object that was not decoded, because its key occurs twice for example, has a brace too.
    objects = 2 * len(events) + sum(
        len(event.data.streams or ()) + (event.data.sum is not None) + (event.data.sum_bidir_reverse is not None)
        for event in events
    )
    if len(events) != count or not text.count("{") == text.count("}") == objects:
        return None
    return [event.data for event in events]


def _find_series(intervals: list[Interval], numbers: list[int], test: Test, *, fewest: int) -> Series | None:
    """Return the rows as a series if all intervals have the same streams and the test has one direction."""
    sockets = [row.socket for row in intervals[0].streams or []] if intervals else []
    names = [str(socket) for socket in sockets] + [SUM] * (len(sockets) > 1)
    unusual = test.bidir or test.run.row.get("protocol") is None
    if unusual or not names or len(set(names)) < len(names):
        return None
    for interval in intervals:
        if [row.socket for row in interval.streams or []] != sockets:
            return None
        if len(sockets) > 1 and (interval.sum is None or interval.sum_bidir_reverse is not None):
            return None
    _, side = _ends((intervals[0].streams or [])[0], test)
    if side is None:
        return None
    series = Series.of(intervals, numbers, names, side)
    rows = series.rows
    if len(rows) < fewest or len({row.sender for row in rows}) > 1 or any([row.omitted for row in rows]):
        return None
    return series


class Part:
    """Rows of a series that are read from the log whenever they are needed."""

    def __init__(self, load: Load, series: Series) -> None:
        self._load, self._length = load, len(series.rows)
        self.streams, self.side, self.first = series.streams, series.side, series.rows[: len(series.streams)]

    def __len__(self) -> int:
        return self._length

    def __iter__(self) -> Iterator[JsonRow]:
        """Yield the rows that have times."""
        loaded = self._load()
        return iter(Series.of(*loaded, self.streams, self.side).place() if loaded is not None else ())


def _long_series(test: Test) -> LongSeries:
    if not isinstance(test.series, LongSeries):
        test.series = test.long_series()
    return test.series


def _ends(row: JsonRow, test: Test) -> tuple[str | None, str | None]:
    """Return role and side of a stream."""
    role = test.role_of(bool(row.sender))
    return role, test.side_of(None if row.sender is UNSET else bool(row.sender), role)
