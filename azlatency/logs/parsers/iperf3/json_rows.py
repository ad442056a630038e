"""The rows of the intervals of a JSON document."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, TypeGuard

from msgspec import UNSET, Meta, Struct, UnsetType

from azlatency.logs.grammar.json_lines import JsonLineMap
from azlatency.logs.grammar.json_tokens import JsonObject, Scalar
from azlatency.logs.grammar.units import Quantity, scale
from azlatency.logs.parsers.iperf_rows import LONGEST_SHIFT, RowArithmetic
from azlatency.logs.record import Run

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


def _quantity_of(member: str, unit: str, factor: float = 1.0) -> property:
    """Return a property with the number of a member, which is exact; None if the member is missing."""

    def read(row: JsonRow) -> Quantity | None:
        value = getattr(row, member)
        return None if value is None else Quantity(value * factor, unit, str(value), None)

    return property(read)


class JsonRow(Struct, RowArithmetic, gc=False, rename=_RENAMED):
    """The interval of one stream, or the sum of all; the names of `iperf_rows.RateRow`, computed when asked for."""

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

    bytes = _quantity_of("size", "bytes")
    rate = _quantity_of("speed", "bit/s")
    retransmits = _quantity_of("resent", "count")
    cwnd = _quantity_of("window", "bytes")
    jitter = _quantity_of("jitter_ms", "ns", _MILLISECOND)
    lost = _quantity_of("lost_packets", "count")
    datagrams = _quantity_of("packets", "count")

    @property
    def rtt_ns(self) -> int | None:
        """Smoothed round-trip time of the TCP stack."""
        is_possible = self.rtt is not None and 0 < self.rtt < _LONGEST_TEST
        return round(self.rtt * _MICROSECOND) if self.rtt is not None and is_possible else None

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
