"""The files of ``-R`` and ``-P``: the samples as CSV, and the frequency table as JSON."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Annotated, NamedTuple

import msgspec
from msgspec import Meta, Struct

from azlatency.logs.grammar import BLANK, DATA, Line, LineLog, bulk, data
from azlatency.logs.json_lines import JsonLineMap
from azlatency.logs.large import FileText, LongText, Piece, Shortened, linear
from azlatency.logs.lines import Lines, UniformBlock
from azlatency.logs.long_documents import PIECE, shorten
from azlatency.logs.parsers import Log
from azlatency.logs.parsers.common import end_run, unfinished_line
from azlatency.logs.parsers.lagscope.text import MICROSECOND, RUN
from azlatency.logs.record import Recorder
from azlatency.logs.samples import SampleColumns
from azlatency.logs.units import Quantity

CSV_HEADER = "Index, Latency(us)"
_PAIR = re.compile(r'\{\s{0,40}"latency": (\d{1,12}),\s{0,40}"frequency": (\d{1,12})\s{0,40}\}')
_LONGEST_PAIR = 256
_BLANK_LINE = re.compile(r"\n[^\S\n]*\n")


class Samples(LineLog):
    """Reads the samples of ``-R``, truncated to whole microseconds."""

    def __init__(self, log: Log, recorder: Recorder) -> None:
        self.log, self.unfinished = log, unfinished_line(log)
        self.run = recorder.start_run("lagscope", log.first_line, dialect="lagscope-csv", **RUN)
        self.samples = SampleColumns()
        self.in_order = True

    @data(r"(?P<index>\d{1,10}), (?P<time>\d{1,12})", hint=", ")
    def row(self, line: Line, match: re.Match[str]) -> None:
        if line.number == self.unfinished:
            text = "the log ends within this line; its sample is left out"
            self.run.add_event("unfinished_line", "warning", text, line.number)
            return
        self.in_order &= int(match["index"]) == len(self.samples)
        self.samples.add(int(match["index"]), int(match["time"]) * MICROSECOND)

    @bulk(row)
    def rows(self, rows: UniformBlock, match: re.Match[str]) -> bool:
        """Read rows with indexes and times of the same length."""
        import numpy as np

        columns = rows.columns(match, index=0, time=0)
        if columns is None or columns["index"].max() >= 10**10 or columns["time"].max() >= 10**12:
            return False
        begin = len(self.samples)
        self.in_order &= bool((columns["index"] == np.arange(begin, begin + len(rows))).all())
        self.samples.extend(columns["index"], columns["time"] * MICROSECOND)
        return True

    def finish(self) -> None:
        """Complete the run."""
        run, first = self.run, self.log.first_line
        run.set(last_line=self.log.last_line)
        if not self.samples:
            run.set(status="no_data")
            run.add_event("no_data", "warning", "the file has a header but no rows", first)
            return
        if not self.in_order:
            text = "the row numbers have gaps or do not start at 0; rows are missing or belong to two runs"
            run.add_event("lines_missing", "warning", text, first)
        high = linear(self.samples.rtt, -MICROSECOND, 1)
        run.add_samples(**self.samples.columns(), low_ns=self.samples.rtt, high_ns=high)
        text = "times are truncated to whole microseconds; each may be up to 1 us higher"
        run.add_event("floored", "info", text, first)
        text = "this file and the log of lagscope describe the same run; count only one of them"
        run.add_event("same_run_as_log", "info", text, first)


_ONE_LIST = re.compile(r'\s*\{\s*"latencies"\s*:\s*\[\s*0 \s*\]\s*\}\s*')
_ELEMENTS = msgspec.json.Decoder(list[msgspec.Raw])
_Whole = Annotated[int, Meta(ge=0, lt=10**12)]


class _Pair(Struct, gc=False, forbid_unknown_fields=True):
    latency: _Whole
    frequency: _Whole


_PAIRS = msgspec.json.Decoder(list[_Pair])


class Table(Struct, forbid_unknown_fields=True):
    """The document of ``-P``."""

    latencies: list[_Pair]


def read_json(log: Log, recorder: Recorder) -> None:
    """Read the frequency table of ``-P file``: a histogram with buckets of 1 µs."""
    run = recorder.start_run("lagscope", log.first_line, dialect="lagscope-json", last_line=log.last_line, **RUN)
    table = _LargeTable(log, recorder) if isinstance(log.source.text, FileText) else _Table(log, recorder)
    count = sum(len(pairs.lines) for pairs in table.parts())
    if table.is_valid and count != table.count:
        run.set(status="failed")
        run.add_event("malformed", "error", "the file is not a frequency table of lagscope", log.first_line)
        return
    recorder.accounting.mark_range(log.first_line, log.last_line, DATA)
    for first, text in table.texts():
        _mark_blank_lines(first, text, recorder)
    total = 0
    for latencies, frequencies, lines in table.parts():
        total += sum(frequencies)
        run.add_columns(
            "histograms",
            len(latencies),
            metric="rtt",
            low_ns=[latency * MICROSECOND for latency in latencies],
            high_ns=[(latency + 1) * MICROSECOND for latency in latencies],
            count=frequencies,
            line=lines,
        )
    if count and table.is_valid:
        run.add_metric("observations", Quantity(float(total), "count", None, None), log.first_line)
        text = "times are truncated to whole microseconds; each may be up to 1 us higher"
        run.add_event("floored", "info", text, log.first_line)
        text = "this file and the log of lagscope describe the same run; count only one of them"
        run.add_event("same_run_as_log", "info", text, log.first_line)
    end_run(run, has_numbers=count > 0, ended=table.is_valid, last_line=log.last_line)


def _mark_blank_lines(first: int, text: str, recorder: Recorder) -> None:
    """Mark the blank lines of a text, which begins with a line of this number."""
    if _BLANK_LINE.search(f"\n{text}") or text[-1:] in (" ", "\t"):
        for number, line in enumerate(text.removesuffix("\n").split("\n"), start=first):
            if not line or line.isspace():
                recorder.accounting.mark_range(number, number, BLANK)


class _Pairs(NamedTuple):
    """Latency (µs), frequency and last line of each pair."""

    latencies: list[int]
    frequencies: list[int]
    lines: list[int]


class _Table:
    """The table of a log in memory.

    Attributes
    ----------
    is_valid : bool
        Whether it is a JSON document.
    count : int
        The number of its elements.
    """

    def __init__(self, log: Log, recorder: Recorder) -> None:
        self._log, self._pairs, self.is_valid = log, _read_table(log, recorder), True
        if self._pairs is None:
            self._pairs = _find_pairs(log.first_line, log.text)
            try:
                document = json.loads(log.text)
            except (ValueError, RecursionError):
                document, self.is_valid = None, False
            self.count = len(document.get("latencies", [])) if isinstance(document, dict) else -1
        else:
            self.count = len(self._pairs.lines)

    def texts(self) -> Iterator[tuple[int, str]]:
        """Yield the text with the number of its first line."""
        yield self._log.first_line, self._log.text

    def parts(self) -> Iterator[_Pairs]:
        """Yield the pairs."""
        assert self._pairs is not None
        yield self._pairs


class _LargeTable:
    """The table of a log that stays in its file; see `_Table`."""

    def __init__(self, log: Log, recorder: Recorder) -> None:
        text, lines = log.source.text, log.lines
        assert isinstance(text, FileText)
        self._log, self._text, self._begin, self._stop = log, text, 0, len(text)
        if isinstance(lines, Lines):
            self._begin, self._stop = lines.place_of(0), lines.end_in(text)
        if isinstance(text, LongText):
            found: Shortened | None = text.shortened
        else:
            found = shorten(text, self._begin, self._stop, log.tool, log.first_line - 1)
        self.is_valid, self.count = found is not None and found.is_complete, -1
        self._pieces: list[Piece] = []
        if found is not None and self.is_valid and _ONE_LIST.fullmatch(found.rest):
            ((self._pieces, _),) = found.lists.values()
            self.count = sum(len(_ELEMENTS.decode(self._shown(piece))) for piece in self._pieces)
        self._line_map = JsonLineMap(log, recorder)

    def _shown(self, piece: Piece) -> str:
        return f"[{self._text[piece.begin : piece.end]}]"

    def texts(self) -> Iterator[tuple[int, str]]:
        """Yield parts of the text that end with a line, with the number of the first line."""
        number, place = self._log.first_line, self._begin
        while place < self._stop:
            end = min(place + PIECE, self._stop)
            end = self._text.find("\n", end - 1, self._stop) + 1 or self._stop
            text = self._text[place:end]
            yield number, text
            number, place = number + text.count("\n"), end

    def parts(self) -> Iterator[_Pairs]:
        """Yield the pairs."""
        for piece in self._pieces:
            self._line_map.show_piece(piece)
            try:
                pairs = _read_pairs(_PAIRS.decode(self._line_map.text), self._line_map)
            except msgspec.DecodeError:
                pairs = None
            yield pairs or _find_pairs(piece.line + 1, self._line_map.text)
        if not self._pieces:
            waiting = ""
            for number, text in self.texts():
                end = text.rfind("}") + 1
                yield _find_pairs(number - waiting.count("\n"), waiting + text[:end])
                waiting = (waiting * (not end) + text[end:])[-_LONGEST_PAIR:]


def _read_table(log: Log, recorder: Recorder) -> _Pairs | None:
    """Return the pairs of a valid document; None for any other text."""
    return None if log.document is None else _read_pairs(log.document.latencies, JsonLineMap(log, recorder))


def _read_pairs(pairs: list[_Pair], line_map: JsonLineMap) -> _Pairs | None:
    """Return the pairs in the text that is shown; None if there are others."""
    text = line_map.text
    ends = line_map.find_all("}", 0, len(text))[: len(pairs)]
    # Neither may a member occur twice.
    if not len(ends) == len(pairs) == text.count('"latency"') == text.count('"frequency"'):
        return None
    return _Pairs([pair.latency for pair in pairs], [pair.frequency for pair in pairs], line_map.line_numbers(ends))


def _find_pairs(number: int, text: str) -> _Pairs:
    """Return the pairs of any other text, which begins with a line of this number."""
    counted = 0
    pairs = _Pairs([], [], [])
    for match in _PAIR.finditer(text):
        number += text.count("\n", counted, match.end())
        counted = match.end()
        for column, value in zip(pairs, (int(match[1]), int(match[2]), number), strict=True):
            column.append(value)
    return pairs
