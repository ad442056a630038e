"""The intervals of a JSON document, decoded in one pass into rows.

The generic reader (`azlatency.logs.json_tokens`) reads what this one does not: damaged documents, members of another
type, and keys that occur twice.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import accumulate, cycle
from math import inf
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple, TypeGuard

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType

from azlatency.logs.json_lines import JsonLineMap
from azlatency.logs.json_tokens import JsonObject, Scalar
from azlatency.logs.parsers.iperf_rows import LONGEST_SHIFT, SHORT_TAIL, RowArithmetic
from azlatency.logs.record import Run
from azlatency.logs.rows import Columns, Rows
from azlatency.logs.units import Quantity, scale

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Column = NDArray[np.float64]

_LONGEST_TEST = 1e9
_SECOND, _MICROSECOND, _MILLISECOND = scale("sec"), scale("us"), scale("ms")
# Times have six decimals, in 3.0 six significant digits.
_FIVE_DIGITS = 1e-5 * _SECOND
_RENAMED = {
    "size": "bytes",
    "speed": "bits_per_second",
    "resent": "retransmits",
    "window": "snd_cwnd",
    # No member has these names.
    **{name: f"row {name}" for name in ("line", "stream", "role", "side", "start_ns", "end_ns")},
}

# More is damage; a column of integers could not store it, nor the jitter in ns.
_LARGEST, _LARGEST_JITTER = 10**18, 10**12
_BOUNDS, _JITTER_BOUNDS = (Meta(gt=-largest, lt=largest) for largest in (_LARGEST, _LARGEST_JITTER))
_Number = Annotated[int, _BOUNDS] | Annotated[float, _BOUNDS] | None
_Jitter = Annotated[int, _JITTER_BOUNDS] | Annotated[float, _JITTER_BOUNDS] | None


class JsonRow(Struct, RowArithmetic, gc=False, rename=_RENAMED):
    """The interval of one stream, or the sum of all; the same names as `iperf_rows.Row`, computed when asked for."""

    socket: int | float | str | None = None
    start: _Number = None
    end: _Number = None
    seconds: _Number = None
    size: _Number = None
    speed: _Number = None
    resent: _Number = None
    window: _Number = None
    rtt: _Number = None
    jitter_ms: _Jitter = None
    lost_packets: _Number = None
    packets: _Number = None
    omitted: bool = False
    sender: bool | UnsetType | None = UNSET
    line: int = 0
    stream: str = ""
    role: str | None = None
    side: str | None = None
    start_ns: int = 0
    end_ns: int = 0

    def place(self, line: int, stream: str, role: str | None, side: str | None) -> bool:
        """Complete the row; False if its times are missing or damaged."""
        start, end = self.start, self.end
        if start is None or end is None or not abs(start) < _LONGEST_TEST or not abs(end) < _LONGEST_TEST:
            return False
        self.line, self.stream, self.role, self.side = line, stream, role, side
        self.start_ns, self.end_ns = round(start * _SECOND), round(end * _SECOND)
        if side == "sender" and self.jitter_ms is not None:
            self.jitter_ms = self.lost_packets = None
        return True

    @property
    def counts_datagrams(self) -> bool:
        """Whether the row has what only UDP prints."""
        return self.packets is not None or self.jitter_ms is not None

    @property
    def counts_segments(self) -> bool:
        """Whether the row has what only senders of TCP print."""
        return self.resent is not None or self.window is not None

    @property
    def slack_ns(self) -> float:
        """Sum of the half-widths of the two printed times."""
        return _MICROSECOND + _FIVE_DIGITS * max(self.end or 0.0, 0.0)

    @property
    def seconds_ns(self) -> float | None:
        """The member ``seconds``."""
        return None if self.seconds is None else self.seconds * _SECOND

    @property
    def bytes(self) -> Quantity | None:
        """Bytes transferred."""
        return _quantity(self.size, "bytes")

    @property
    def rate(self) -> Quantity | None:
        """The printed rate."""
        return _quantity(self.speed, "bit/s")

    @property
    def retransmits(self) -> Quantity | None:
        """Retransmits."""
        return _quantity(self.resent, "count")

    @property
    def cwnd(self) -> Quantity | None:
        """Congestion window."""
        return _quantity(self.window, "bytes")

    @property
    def jitter(self) -> Quantity | None:
        """Jitter."""
        return _quantity(self.jitter_ms, "ns", _MILLISECOND)

    @property
    def lost(self) -> Quantity | None:
        """Lost datagrams."""
        return _quantity(self.lost_packets, "count")

    @property
    def datagrams(self) -> Quantity | None:
        """Datagrams."""
        return _quantity(self.packets, "count")

    @property
    def rtt_ns(self) -> int | None:
        """Smoothed round-trip time of the TCP stack."""
        return _round_trips([self.rtt])[0]

    def agreed_throughput(self) -> float | None:
        """Return the rate if bytes and times agree with it; None if not, or if one of them is missing."""
        size, rate, seconds, end = self.size, self.speed, self.seconds, self.end
        if not rate or size is None or size < 0 or end is None:
            return None
        length = self.end_ns - self.start_ns
        slack = _MICROSECOND + _FIVE_DIGITS * end if end > 0 else _MICROSECOND
        measured = length if seconds is None else seconds * _SECOND
        if measured <= slack or abs(measured - length) > LONGEST_SHIFT * measured:
            return None
        bits, half = 8e9 * size, 1e-6 * rate
        implied = bits / rate
        if (
            bits / (measured + slack) <= rate + half
            and rate - half <= bits / (measured - slack)
            and abs(implied - length) <= slack + 1e-3 * implied
        ):
            return float(rate)
        return None


#: The numbers of a row by the names of their members.
NUMBERS = dict(zip(JsonRow.__struct_encode_fields__[1:12], JsonRow.__struct_fields__[1:12], strict=True))


def to_row(members: Mapping[str, Any]) -> JsonRow:
    """Return the row of an object whose members may be of any type: only numbers of a possible size are kept."""
    numbers: dict[str, Any] = {
        name: value for member, name in NUMBERS.items() if _is_possible(member, value := members.get(member))
    }
    sender = bool(members["sender"]) if "sender" in members else UNSET
    return JsonRow(members.get("socket"), omitted=bool(members.get("omitted")), sender=sender, **numbers)


def _is_possible(member: str, value: object) -> TypeGuard[int | float]:
    """Return whether a value is a number of a size that a column can store."""
    largest = _LARGEST_JITTER if member == "jitter_ms" else _LARGEST
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < largest


def number_in(node: JsonObject, name: str, line_map: JsonLineMap, run: Run) -> Scalar | None:
    """Return a member that is a number; None if it is missing or anything else, which is reported.

    ``null`` and ``-nan`` are what iperf3 writes for a missing number.
    """
    member = node.get(name)
    if isinstance(member, Scalar):
        if _is_possible(name, member.value):
            return member
        if member.value is None and not any(map(str.isdigit, member.token)):
            return None
        shown = f'"{member.token[:30]}"' if isinstance(member.value, str) else member.token[:30]
    elif member is None:
        return None
    else:
        shown = "a list" if isinstance(member, list) else "an object"
    position = node.position if isinstance(member, list) else member.position
    text = f"{name!r} is {shown}, not a number that iperf3 writes; it is left out"
    run.add_event("malformed", "error", text, line_map.line_number(position))
    return None


class Interval(Struct, gc=False):
    """One element of the list ``intervals``."""

    streams: list[JsonRow] | None = None
    sum: JsonRow | None = None
    sum_bidir_reverse: JsonRow | None = None


class Document(Struct):
    """The part of a document that is large."""

    intervals: list[Interval] | None = None


_DECODER = msgspec.json.Decoder(list[Interval])
_KEY = '"intervals"'


class Intervals(NamedTuple):
    """The elements of a list, the positions of their first and last characters, and the end of the list."""

    elements: list[Interval]
    begins: list[int]
    lasts: list[int]
    stop: int


def decode_intervals(line_map: JsonLineMap, place: int, *, alone: bool = False) -> Intervals | None:
    """Return the elements of the list at ``place``, which may stand alone; None if the generic reader must read it."""
    text, document = line_map.text, line_map.log.document
    stop = len(text) if alone else _find_end(text, place)
    if stop is None:
        return None
    if (
        isinstance(document, Document)
        and text.find(_KEY, stop) < 0
        and text.rfind(_KEY, 0, text.rfind(_KEY, 0, place)) < 0
    ):
        intervals = document.intervals or []
    else:
        try:
            intervals = _DECODER.decode(text[place:stop])
        except (msgspec.DecodeError, UnicodeError, RecursionError):
            return None
    opening, closing = (line_map.find_all(brace, place, stop) for brace in "{}")
    objects = (
        1 + len(interval.streams or ()) + (interval.sum is not None) + (interval.sum_bidir_reverse is not None)
        for interval in intervals
    )
    ends = list(accumulate(objects, initial=0))
    # Up to 3.10, "sum" occurs twice in a test of both directions: then an object of the text was not decoded.
    if not len(opening) == len(closing) == ends[-1]:
        return None
    return Intervals(intervals, [opening[end] for end in ends[:-1]], [closing[end - 1] for end in ends[1:]], stop)


def _find_end(text: str, place: int) -> int | None:
    """Return the end of the list of intervals: the member ``end`` of the document follows it."""
    key = len(text)
    while (key := text.rfind('"end"', place, key)) >= 0:
        before = text[max(key - 100, place) : key].rstrip()
        if before.endswith(",") and (list_end := before[:-1].rstrip()).endswith("]"):
            return max(key - 100, place) + len(list_end)
    return None


class Series(NamedTuple):
    """The rows of a test of one direction: in each interval the same streams, then their sum if there are several."""

    rows: list[JsonRow]
    lines: list[int]
    streams: list[str]
    side: str

    @classmethod
    def of(cls, intervals: Sequence[Interval], lines: Sequence[int], streams: list[str], side: str) -> Series:
        """Return the rows of intervals, which begin in these lines."""
        rows: list[JsonRow] = []
        for interval in intervals:
            rows += interval.streams or []
            if len(streams) > 1 and interval.sum is not None:
                rows.append(interval.sum)
        return cls(rows, [line for line in lines for _ in streams], streams, side)

    def place(self) -> list[JsonRow]:
        """Complete the rows; return those with times."""
        places = zip(self.rows, self.lines, cycle(self.streams), strict=False)
        return [row for row, line, stream in places if row.place(line, stream, None, self.side)]

    def to_rows(self, run_id: str, names: Mapping[str, str | None]) -> Iterable[dict[str, Any]] | None:
        """Return the rows of the table ``intervals``; None if one may need an event.

        Such are a rate that contradicts its bytes and times, and intervals that `Order` finds not to be regular.
        """
        columns = self.to_columns(run_id, names, order := Order())
        return Columns(len(self.rows), columns) if columns is not None and order.is_regular else None

    def to_columns(self, run_id: str, names: Mapping[str, str | None], order: Order) -> dict[str, Any] | None:
        """Return the rows of the table ``intervals`` as columns, and add them to ``order``.

        ``names`` are the names of the streams in the table. None if a row may need an event: its rate contradicts its
        bytes and times.
        """
        import numpy as np

        rows, width, labels = self.rows, len(self.streams), [names.get(stream) for stream in self.streams]
        # A missing value becomes NaN, and no comparison with it is true.
        start, end, seconds, size, speed = (
            np.array(column, dtype=np.float64)
            for column in (
                [row.start for row in rows],
                [row.end for row in rows],
                [row.seconds for row in rows],
                [row.size for row in rows],
                [row.speed for row in rows],
            )
        )
        starts, ends = np.rint(start * _SECOND), np.rint(end * _SECOND)
        if len(set(labels)) < width or not (start >= 0).all() or not (end < _LONGEST_TEST).all():
            return None
        if not _agree(size, speed, seconds * _SECOND, ends - starts, end):
            return None
        order.add(starts.reshape(-1, width), ends.reshape(-1, width))
        jitter, lost = [row.jitter_ms for row in rows], [row.lost_packets for row in rows]
        if self.side == "sender":
            lost = [count if time is None else None for count, time in zip(lost, jitter, strict=True)]
            jitter = [None]
        return {
            "run_id": run_id,
            "side": self.side,
            "stream": labels * (len(rows) // width),
            "start_ns": starts.astype(np.int64),
            "end_ns": ends.astype(np.int64),
            "bytes": size,
            "bytes_resolution": None,
            "throughput": speed,
            "throughput_printed": speed,
            "retransmits": _whole([row.resent for row in rows]),
            "cwnd_bytes": [None if row.window is None else float(row.window) for row in rows],
            "rtt_ns": _round_trips([row.rtt for row in rows]),
            "jitter_ns": _whole(jitter, _MILLISECOND),
            "lost": _whole(lost),
            "datagrams": _whole([row.packets for row in rows]),
            "omitted": False,
            "line": self.lines,
        }


class LongSeries:
    """The rows of a long test of one direction, which are added in parts and are in a file.

    ``names`` are the names of the streams in the table ``intervals``.
    """

    def __init__(self, run_id: str, names: Mapping[str, str | None]) -> None:
        self._run_id, self._names = run_id, names
        self._rows, self._order = Rows(in_file=True), Order()
        self._kind: tuple[list[str], str] | None = None
        self._is_complete = True

    def add(self, series: Series | None) -> bool:
        """Add the next rows; return whether they are of the same series. None stands for other rows."""
        self._kind = self._kind or (series and (series.streams, series.side))
        if series is None or self._kind != (series.streams, series.side):
            self._is_complete, self._rows = False, Rows()
            return False
        if self._is_complete:
            columns = series.to_columns(self._run_id, self._names, self._order)
            if columns is None:
                self.add(None)
            else:
                self._rows.extend(Columns(len(series.rows), columns))
        return True

    def to_rows(self, run_id: str, names: Mapping[str, str | None]) -> Iterable[dict[str, Any]] | None:
        """Return the rows of the table; see `Series.to_rows`."""
        as_expected = all(self._names.get(stream) == name for (stream, name) in names.items())
        return self._rows if self._is_complete and as_expected and self._order.is_regular else None


class Order:
    """Whether intervals, which are added in parts, follow each other without gaps, and the last one is not short.

    What is shorter than half of the usual length, their median, is. The median of all is between those of the parts.
    """

    def __init__(self) -> None:
        self._in_order, self._gap = True, 0.0
        self._least, self._greatest = inf, 0.0  # of the medians
        self._last: tuple[Column, Column] | None = None

    def add(self, starts: Column, ends: Column) -> None:
        """Add intervals, one in each row, with a column for each stream."""
        import numpy as np

        usual = float(np.median(ends - starts))
        self._least, self._greatest = min(self._least, usual), max(self._greatest, usual)
        if self._last is not None:
            starts, ends = (np.vstack(pair) for pair in zip(self._last, (starts, ends), strict=True))
        first_starts, last_starts, first_ends = starts.min(axis=1), starts.max(axis=1), ends.min(axis=1)
        self._in_order &= bool((last_starts[:-1] < first_starts[1:]).all())
        gaps = (last_starts[1:] - first_ends[:-1], last_starts - first_ends)
        self._gap = max(self._gap, *(float(gap.max(initial=0.0)) for gap in gaps))
        self._last = starts[-1], ends[-1]

    @property
    def is_regular(self) -> bool:
        """Whether no interval is missing, none is printed twice, and the last one is not short."""
        if self._last is None:
            return False
        is_long = (self._last[1] - self._last[0] >= SHORT_TAIL * self._greatest).all()
        return self._in_order and bool(is_long) and self._gap <= SHORT_TAIL * self._least


def _agree(size: Column, speed: Column, measured: Column, length: Column, end: Column) -> bool:
    """Return whether `JsonRow.agreed_throughput` gives the rate of every row."""
    if not ((speed > 0) & (size >= 0)).all():
        return False
    slack = _MICROSECOND + _FIVE_DIGITS * end
    if not ((measured > slack) & (abs(measured - length) <= LONGEST_SHIFT * measured)).all():
        return False
    bits, half = 8e9 * size, 1e-6 * speed
    implied = bits / speed
    return bool(
        (
            (bits / (measured + slack) <= speed + half)
            & (speed - half <= bits / (measured - slack))
            & (abs(implied - length) <= slack + 1e-3 * implied)
        ).all()
    )


def _whole(values: Sequence[_Number], factor: float = 1) -> list[int | None] | None:
    """Return whole numbers; None if all are missing."""
    if values.count(None) == len(values):
        return None
    if factor == 1:
        return [value if value is None or value.__class__ is int else round(value) for value in values]
    return [None if value is None else round(value * factor) for value in values]


def _round_trips(printed: Sequence[_Number]) -> list[int | None]:
    return [
        round(value * _MICROSECOND) if value is not None and 0 < value < _LONGEST_TEST else None for value in printed
    ]


def _quantity(value: int | float | None, unit: str, factor: float = 1.0) -> Quantity | None:
    return None if value is None else Quantity(value * factor, unit, str(value), None)
