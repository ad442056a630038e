"""The intervals of a JSON document, decoded in one pass into rows.

The generic reader (`azlatency.logs.json_tokens`) reads what this one does not: damaged documents, members of another
type, and keys that occur twice.
"""

from __future__ import annotations

import re
from typing import Any, NamedTuple

import msgspec
from msgspec import UNSET, Struct, UnsetType

from azlatency.logs.parsers.iperf_rows import LONGEST_SHIFT, RowArithmetic
from azlatency.logs.units import Quantity, scale

_LONGEST_TEST = 1e9
_SECOND, _MICROSECOND, _MILLISECOND = scale("sec"), scale("us"), scale("ms")
# Times have six decimals, in 3.0 six significant digits.
_FIVE_DIGITS = 1e-5 * _SECOND
_END = re.compile(r'\]\s{0,100},\s{0,100}"end"\s{0,100}:\s{0,100}\{')
_RENAMED = {
    "size": "bytes",
    "speed": "bits_per_second",
    "resent": "retransmits",
    "window": "snd_cwnd",
    # No member has these names.
    **{name: f"row {name}" for name in ("line", "stream", "role", "side", "start_ns", "end_ns")},
}

_Number = int | float | None


class JsonRow(Struct, RowArithmetic, gc=False, rename=_RENAMED):
    """The interval of one stream, or the sum of all; the same names as `iperf_rows.Row`, computed when asked for."""

    socket: int | str | None = None
    start: _Number = None
    end: _Number = None
    seconds: _Number = None
    size: _Number = None
    speed: _Number = None
    resent: _Number = None
    window: _Number = None
    rtt: _Number = None
    jitter_ms: _Number = None
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
    def datagrams(self) -> Quantity | None:
        """Datagrams."""
        return _quantity(self.packets, "count")

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

    def to_interval(self, run_id: str, stream: str | None, throughput: float | None) -> dict[str, Any]:
        """Return the row of the table ``intervals``."""
        rtt, jitter = self.rtt, self.jitter_ms
        return {
            "run_id": run_id,
            "side": self.side,
            "stream": stream,
            "start_ns": self.start_ns,
            "end_ns": self.end_ns,
            "bytes": None if self.size is None else float(self.size),
            "bytes_resolution": None,
            "throughput": throughput,
            "throughput_printed": None if self.speed is None else float(self.speed),
            "retransmits": None if self.resent is None else round(self.resent),
            "cwnd_bytes": None if self.window is None else float(self.window),
            "rtt_ns": round(rtt * _MICROSECOND) if rtt is not None and 0 < rtt < _LONGEST_TEST else None,
            "jitter_ns": None if jitter is None else round(jitter * _MILLISECOND),
            "lost": None if self.lost_packets is None else round(self.lost_packets),
            "datagrams": None if self.packets is None else round(self.packets),
            "omitted": self.omitted,
            "line": self.line,
        }


class Interval(Struct, gc=False):
    """One element of the list ``intervals``."""

    streams: list[JsonRow] | None = None
    sum: JsonRow | None = None
    sum_bidir_reverse: JsonRow | None = None


class Element(NamedTuple):
    """An interval with the positions of its first character and of the one after its last."""

    interval: Interval
    begin: int
    end: int


_DECODER = msgspec.json.Decoder(list[Interval])


def decode_intervals(text: str, place: int) -> tuple[list[Element], int] | None:
    """Return the elements of the list at ``place`` and its end; None if the generic reader must read it."""
    closing = _END.search(text, place)
    if closing is None:
        return None
    stop = closing.start() + 1
    part = text[place:stop]
    try:
        intervals = _DECODER.decode(part)
    except (msgspec.DecodeError, UnicodeError):
        return None
    # Up to 3.10, "sum" occurs twice in a test of both directions.
    if part.count('"streams"') != len(intervals) or part.count('"sum"') > len(intervals):
        return None
    elements: list[Element] = []
    at = place + 1
    for interval in intervals:
        key = text.find('"streams"', at)
        begin = text.rfind("{", at, key)
        if begin < 0 or text[begin + 1 : key].strip():
            return None
        if elements:
            elements[-1] = elements[-1]._replace(end=text.rfind("}", at, begin) + 1)
        elements.append(Element(interval, begin, 0))
        at = key + 1
    if elements:
        elements[-1] = elements[-1]._replace(end=text.rfind("}", at, stop) + 1)
    return elements, stop


def _quantity(value: int | float | None, unit: str, factor: float = 1.0) -> Quantity | None:
    return None if value is None else Quantity(value * factor, unit, str(value), None)
