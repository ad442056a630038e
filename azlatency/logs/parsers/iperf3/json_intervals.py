"""The numbers and the intervals in the JSON of iperf3."""

from __future__ import annotations

from typing import Any, TypeGuard

from azlatency.logs.grammar import json_tokens
from azlatency.logs.grammar.json_lines import JsonLineMap
from azlatency.logs.grammar.rules import DATA
from azlatency.logs.grammar.units import Quantity, scale
from azlatency.logs.parsers.iperf3.run import Test
from azlatency.logs.parsers.iperf_rows import SUM, RateRow
from azlatency.logs.record import Recorder, Run

#: The totals of an interval, forward and reverse.
_SUMS = ("sum", "sum_bidir_reverse")
_LONGEST_TEST = 1e9
_SECOND, _MICROSECOND, _MILLISECOND = scale("sec"), scale("us"), scale("ms")
# Times have six decimals, in 3.0 six significant digits.
_FIVE_DIGITS = 1e-5 * _SECOND
#: What a row prints beside its times: the attribute of `RateRow`, the unit and its factor, by member.
_QUANTITIES = {
    "bytes": ("bytes", "bytes", 1.0),
    "bits_per_second": ("rate", "bit/s", 1.0),
    "retransmits": ("retransmits", "count", 1.0),
    "snd_cwnd": ("cwnd", "bytes", 1.0),
    "jitter_ms": ("jitter", "ns", _MILLISECOND),
    "lost_packets": ("lost", "count", 1.0),
    "packets": ("datagrams", "count", 1.0),
}
# More is damage; a column of integers could not store it, nor the jitter in ns.
_LARGEST, _LARGEST_JITTER = 10**18, 10**12
#: The members of a row that are numbers, with the largest one.
_NUMBERS = dict.fromkeys((
    "start", "end", "seconds", "bytes", "bits_per_second", "retransmits", "snd_cwnd", "rtt", "jitter_ms",
    "lost_packets", "packets",
), _LARGEST) | {"jitter_ms": _LARGEST_JITTER}  # fmt: skip


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
        streams = value.get("streams")
        rows = [row for row in streams if isinstance(row, dict)] if isinstance(streams, list) else []
        sums = [total if isinstance(total := value.get(name), dict) else {} for name in _SUMS]
        if not all(map(_is_whole, (*rows, *sums))):
            self._report_damage(begin, test)
        if self.line_map.text.count('"sum"', begin, end) > 1:  # up to 3.10, in a test of both directions
            node, _ = json_tokens.read_value(self.line_map.text, begin)
            plain = map(json_tokens.to_plain, (node if node.get("sum") is not None else node.object("data")).all("sum"))
            sums = [total if isinstance(total, dict) else {} for total in plain]
        number = self.line_map.line_number(begin)
        self.recorder.accounting.mark_range(number, self.line_map.line_number(end - 1), DATA)
        self._add_rows(rows, sums, number, test)

    def _add_rows(self, rows: list[dict[str, Any]], sums: list[dict[str, Any]], number: int, test: Test) -> None:
        test.bidir = test.bidir or len({bool(row["sender"]) for row in rows if "sender" in row}) > 1
        for row in rows:
            _add_row(row, number, str(row.get("socket")), test.role_of(bool(row.get("sender"))), test)
        if len(rows) > (2 if test.bidir else 1):
            for direction, total in enumerate(sums[:2]):
                _add_row(total, number, SUM, test.role_in_direction(direction), test)

    def _report_damage(self, begin: int, test: Test) -> None:
        """Report the members of one interval that are not numbers; their rows are left out or lack them."""
        node, _ = json_tokens.read_value(self.line_map.text, begin)
        interval = node if node.get("streams") is not None else node.object("data")
        for row in (*interval.objects("streams"), interval.object("sum"), interval.object("sum_bidir_reverse")):
            for name in _NUMBERS:
                number_in(row, name, self.line_map, test.run)


def _add_row(members: dict[str, Any], line: int, stream: str, role: str | None, test: Test) -> None:
    """Add the interval of one stream, or the sum of all, unless its times are missing or damaged."""
    numbers = {name: members[name] for name, most in _NUMBERS.items() if _is_possible(members.get(name), most)}
    start, end, rtt = numbers.get("start"), numbers.get("end"), numbers.get("rtt", 0)
    if start is None or end is None or not max(abs(start), abs(end)) < _LONGEST_TEST:
        return
    row = RateRow(
        line=line,
        stream=stream,
        role=role,
        side=test.side_of(bool(members["sender"]) if "sender" in members else None, role),
        start_ns=round(start * _SECOND),
        end_ns=round(end * _SECOND),
        slack_ns=_MICROSECOND + _FIVE_DIGITS * max(end, 0.0),
        seconds_ns=numbers["seconds"] * _SECOND if "seconds" in numbers else None,
        rtt_ns=round(rtt * _MICROSECOND) if 0 < rtt < _LONGEST_TEST else None,
        omitted=bool(members.get("omitted")),
    )
    for name, (attribute, unit, factor) in _QUANTITIES.items():
        if (value := numbers.get(name)) is not None:
            setattr(row, attribute, Quantity(value * factor, unit, str(value), None))
    if row.side == "sender" and row.jitter is not None:
        row.jitter = row.lost = None
    test.intervals.append(row)


def _is_possible(value: object, largest: int) -> TypeGuard[int | float]:
    """Return whether a value is a number of a size that a column can store."""
    return value.__class__ in (int, float) and -largest < value < largest


def _is_whole(members: dict[str, Any]) -> bool:
    """Return whether the members of a row that should be numbers are."""
    return all(name not in _NUMBERS or _is_possible(members[name], _NUMBERS[name]) for name in members)


def number_in(node: json_tokens.JsonObject, name: str, line_map: JsonLineMap, run: Run) -> json_tokens.Scalar | None:
    """Return a member that is a number; None if it is missing or anything else, which is reported.

    ``null`` and ``-nan`` are what iperf3 writes for a missing number.
    """
    member = node.get(name)
    if isinstance(member, json_tokens.Scalar):
        if _is_possible(member.value, _NUMBERS.get(name, _LARGEST)):
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
