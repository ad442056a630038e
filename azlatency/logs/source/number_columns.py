"""Reads the numbers of many lines that differ only in digits and points, all at once and exactly.

Lines of equal length whose digits are in the same places have one layout. If one of them matches the expression of the
line, so do all: whether the other characters are equal is checked for many lines at once. Their numbers are then read
from words of eight bytes, whose digits are joined by three multiplications, a method of D. Lemire.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Bytes = NDArray[np.uint8]
    Integers = NDArray[np.int64]

_NUMBER = re.compile(rb"(-?)([0-9]+)(\.[0-9]+)?")
_LINE_FEED = ord("\n")
#: More digits do not fit into 64 bits.
_MOST_DIGITS = 19
#: Bytes in front of the digits, so that the words of the first number do not begin before them.
_PAD = 24
_ALL = 2**64 - 1
#: Joins neighbouring digits, then pairs, then groups of four: bits of a result, factor, mask for every other result.
_JOINS = (
    (8, 10 * 2**8 + 1, 0x00FF00FF00FF00FF),
    (16, 100 * 2**16 + 1, 0x0000FFFF0000FFFF),
    (32, 10_000 * 2**32 + 1, _ALL),
)
#: Rows that are compared with a layout in one step, and bytes that are read at once: they fit into a processor's cache.
_STEP, _PIECE = 64, 2**19
#: Before lines are left to be read one by one, each is compared with so many layouts on average.
_MOST_COMPARISONS = 32


class Rows:
    """Lines that match one expression, of which the first is given: the text outside its numbers is that of all lines.

    ``decimals`` has the power of ten that turns the number of each group into an integer, or None if it is not needed;
    ``widths`` the groups whose number of characters is needed too.
    """

    def __init__(self, match: re.Match[str], decimals: Mapping[str, int | None], widths: Sequence[str] = ()) -> None:
        self._expression, self._decimals, self._widths = match.re, decimals, widths
        self._fixed = _split(match, decimals)[0]

    def read(self, body: bytes) -> list[Integers] | None:
        """Return the numbers of each group that is needed, then the numbers of characters of the groups ``widths``.

        None if a line is not of this form, or if a number has more digits than its power of ten or 64 bits allow.
        """
        text, length = np.frombuffer(body, dtype=np.uint8), body.index(b"\n") + 1
        if len(text) % length == 0:
            columns = self._read_equal(body[:length], text.reshape(-1, length))
            if columns is not None:
                return columns
        return self._read_mixed(body, text)

    def _layout(self, row: bytes) -> _Layout | None:
        """Return the layout of a row with its line feed; None if the row is not of this form."""
        match = self._expression.fullmatch(row[:-1].decode())
        if match is None:
            return None
        fixed, spans = _split(match, self._decimals)
        numbers = {}
        for name, (start, stop) in spans.items():
            number = _Number.find(row, start, stop, self._decimals[name])
            if number is None:
                return None
            numbers[name] = number
        return _Layout(row, numbers, self._widths) if fixed == self._fixed else None

    def _read_equal(self, first: bytes, rows: Bytes) -> list[Integers] | None:
        """Return the columns of rows that have the layout of the first one; None if one of them has another."""
        if (layout := self._layout(first)) is None:
            return None
        columns = [np.empty(len(rows), np.int64) for _ in range(layout.columns)]
        for part in _parts(len(rows), len(first)):
            fitting, values = layout.read(rows[part])
            if fitting is not None or values is None:
                return None
            for column, value in zip(columns, values, strict=True):
                column[part] = value
        return columns

    def _read_mixed(self, body: bytes, text: Bytes) -> list[Integers] | None:
        """Return the columns of rows of several layouts, which are read one layout after the other."""
        ends = np.flatnonzero(text == _LINE_FEED) + 1
        begins = np.concatenate(([0], ends[:-1]))
        lengths = ends - begins
        columns: list[Integers] = []
        waiting = [np.flatnonzero(lengths == length) for length in np.flatnonzero(np.bincount(lengths))]
        comparisons = 0
        while waiting:
            rows = waiting.pop()
            begin, length = int(begins[rows[0]]), int(lengths[rows[0]])
            layout = self._layout(body[begin : begin + length])
            comparisons += len(rows)
            if layout is None or comparisons > _MOST_COMPARISONS * len(ends):
                return None
            columns = columns or [np.empty(len(ends), np.int64) for _ in range(layout.columns)]
            whole = np.ndarray(len(text) - length + 1, f"V{length}", text.data, strides=(1,))
            others = []
            for part in _parts(len(rows), length):
                chosen = rows[part]
                fitting, values = layout.read(whole[begins[chosen]].view(np.uint8).reshape(-1, length))
                if values is None:
                    return None
                if fitting is not None:
                    others.append(chosen[~fitting])
                    chosen = chosen[fitting]
                for column, value in zip(columns, values, strict=True):
                    column[chosen] = value
            if others:
                waiting.append(np.concatenate(others))
        return columns


def _split(match: re.Match[str], names: Mapping[str, object]) -> tuple[list[str], dict[str, tuple[int, int]]]:
    """Return the text of a line outside the groups of these names, and the positions of the groups in its bytes."""
    row, fixed, done, spans = match.string, [], 0, {}
    for name in sorted(names, key=match.start):
        start, stop = match.span(name)
        fixed.append(row[done:start])
        spans[name], done = (len(row[:start].encode()), len(row[:stop].encode())), stop
    return [*fixed, row[done:]], {name: spans[name] for name in names}


def _parts(rows: int, length: int) -> Iterator[slice]:
    """Yield the parts of so many rows that are read at once."""
    size = max(_PIECE // length, 1)
    return (slice(start, start + size) for start in range(0, rows, size))


class _Number(NamedTuple):
    """A number in a row: start, end of its digits before the point, end, sign, and the power of ten for its integer."""

    start: int
    point: int
    stop: int
    negative: bool
    power: int | None

    @classmethod
    def find(cls, row: bytes, start: int, stop: int, power: int | None) -> _Number | None:
        """Return the number between two positions; None if there is none that can be read."""
        match = _NUMBER.fullmatch(row, start, stop)
        if match is None:
            return None
        point = match.end(2)
        places = max(stop - point - 1, 0)
        if power is not None and (places > power or point - match.start(2) + power > _MOST_DIGITS):
            return None
        return cls(match.start(2), point, stop, bool(match[1]), power)


class _Layout:
    """Rows of equal length whose digits are in the same places."""

    def __init__(self, row: bytes, numbers: Mapping[str, _Number], widths: Sequence[str]) -> None:
        self._length = len(row)
        self._numbers = [number for number in numbers.values() if number.power is not None]
        self._widths = [numbers[name].stop - numbers[name].start for name in widths]
        self.columns = len(self._numbers) + len(widths)
        # A row differs from the text in its digits only, and there by at most nine.
        text, most = bytearray(row), bytearray(len(row))
        for number in numbers.values():
            for start, stop in ((number.start, number.point), (number.point + 1, number.stop)):
                text[start:stop], most[start:stop] = b"0" * (stop - start), b"\x09" * (stop - start)
        self._text, self._most = (np.frombuffer(part * _STEP, np.uint8) for part in (text, most))

    def read(self, rows: Bytes) -> tuple[NDArray[np.bool_] | None, list[Integers | int] | None]:
        """Return which rows have this layout, None if all have, and their columns, None if a number is too long."""
        digits, others = np.empty(_PAD + rows.size, np.uint8), np.empty(rows.size, np.bool_)
        digits[:_PAD] = 0
        flat, step = rows.reshape(-1), self._text.size
        for start, stop in ((0, rows.size - rows.size % step), (rows.size - rows.size % step, rows.size)):
            shape = (-1, min(step, max(stop - start, 1)))
            found = digits[_PAD + start : _PAD + stop].reshape(shape)
            np.bitwise_xor(flat[start:stop].reshape(shape), self._text[: shape[1]], out=found)
            np.greater(found, self._most[: shape[1]], out=others[start:stop].reshape(shape))
        fitting: NDArray[np.bool_] | None = None
        if others.any():
            fitting = np.logical_not(others.reshape(rows.shape).any(axis=1))
            digits = np.concatenate((digits[:_PAD], digits[_PAD:].reshape(rows.shape)[fitting].reshape(-1)))
        columns: list[Integers | int] = []
        for number in self._numbers:
            column = self._integers(digits, number)
            if column is None:
                return fitting, None
            columns.append(column)
        return fitting, [*columns, *self._widths]

    def _integers(self, digits: Bytes, number: _Number) -> Integers | None:
        """Return a number of all rows times its power of ten; None beyond 64 bits."""
        start, point, stop, negative, power = number
        power, places = power or 0, max(stop - point - 1, 0)
        total = self._joined(digits, start, point)
        if power:
            total *= 10**power
        if places:
            decimals = self._joined(digits, point + 1, stop)
            if power > places:
                decimals *= 10 ** (power - places)
            total += decimals
        if point - start + power == _MOST_DIGITS and (total >> 63).any():
            return None
        column = total.view(np.int64)
        return -column if negative else column

    def _joined(self, digits: Bytes, start: int, stop: int) -> NDArray[np.uint64]:
        """Return the integers that the digits between two positions of each row form."""
        rows = (len(digits) - _PAD) // self._length
        total = np.zeros(rows, np.uint64)
        for done in range(0, stop - start if rows else 0, 8):
            words = np.ndarray(rows, "<u8", digits.data, _PAD + stop - done - 8, (self._length,))
            part = _join_digits(words.astype(np.uint64), min(stop - start - done, 8))
            if done:
                part *= 10**done
            total += part
        return total


def _join_digits(words: NDArray[np.uint64], width: int) -> NDArray[np.uint64]:
    """Return the numbers that the last bytes of words form; a byte is a digit."""
    if width == 1:
        words >>= 56
        return words
    if width & (width - 1):
        words &= _ALL << (64 - 8 * width) & _ALL
    for bits, factor, mask in _JOINS:
        words *= factor
        if 4 * width <= bits:
            words >>= 64 - bits
            break
        words >>= bits
        words &= mask
    return words
