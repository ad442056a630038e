"""Reads the numbers of many lines that differ only in digits and points, all at once and exactly.

Each number is read from the eight bytes that end with its last digit, as one integer: three multiplications join eight
digits, a method of D. Lemire. Longer numbers take two or three such steps.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Integers = NDArray[np.uint64]

_RUN = re.compile(rb"[0-9.]+")
_POINT, _LINE_FEED = ord("."), ord("\n")
#: Bytes in front of the text, so that the words of its first number do not begin before it.
_PAD = bytes(24)
#: More digits do not fit into 64 bits.
_MOST_DIGITS = 19
_ALL = np.uint64(2**64 - 1)
_POWERS = 10 ** np.arange(_MOST_DIGITS + 1, dtype=np.uint64)
#: Joins neighbouring digits, then pairs, then groups of four: mask, multiplier, shift.
_JOINS = tuple(
    tuple(map(np.uint64, step))
    for step in (
        (0x0F0F0F0F0F0F0F0F, 10 * 2**8 + 1, 8),
        (0x00FF00FF00FF00FF, 100 * 2**16 + 1, 16),
        (0x0000FFFF0000FFFF, 10_000 * 2**32 + 1, 32),
    )
)


class Group(NamedTuple):
    """A number that varies: which of the runs of digits and points it is, its sign, and its power of ten if needed."""

    run: int
    negative: bool
    decimals: int | None


class Rows:
    """The layout of lines of which the first one is known.

    Parameters
    ----------
    match : re.Match
        Match of the first line. Its named groups say where the numbers are.
    decimals : mapping of str to int
        Groups that vary, each with the power of ten that turns its number into an integer, or None if it is not needed.
    """

    def __init__(self, match: re.Match[str], decimals: Mapping[str, int | None]) -> None:
        row = match.string
        self._row = row.encode()
        self._runs = [run.span() for run in _RUN.finditer(self._row)]
        #: None if something else than one number is asked for.
        self.groups: dict[str, Group] | None = {}
        for name, power in decimals.items():
            start, stop = (len(row[:edge].encode()) for edge in match.span(name))
            negative = self._row[start:stop].startswith(b"-")
            if (start + negative, stop) not in self._runs:
                self.groups = None
                return
            self.groups[name] = Group(self._runs.index((start + negative, stop)), negative, power)
        self._read = {group.run for group in self.groups.values()}

    def read(self, body: bytes, widths: Sequence[str]) -> list[NDArray[np.int64]] | None:
        """Return the numbers of each group that is needed, then the numbers of characters of the groups ``widths``.

        None if a line has another layout, or if a number has more digits than its power of ten or 64 bits allow.
        """
        if self.groups is None:
            return None
        text = np.frombuffer(_PAD + body, dtype=np.uint8)
        edges = self._find_edges(text)
        if edges is None:
            return None
        words = np.ndarray(len(text) - 7, dtype="<u8", buffer=text.data, strides=(1,))
        columns, points = [], 0
        for run, (start, stop) in enumerate(self._runs):
            if run not in self._read:
                points += len(edges[0]) * self._row.count(b".", start, stop)
                for step in range(0, stop - start, 8):
                    same = _last_bytes(words, edges[2 * run + 1] - step, min(stop - start - step, 8))
                    if (same != same[0]).any():
                        return None
        for run, negative, decimals in self.groups.values():
            begin, end = edges[2 * run : 2 * run + 2]
            places = _decimals(text, begin, end, decimals)
            points += int(np.count_nonzero(places)) if isinstance(places, np.ndarray) else len(end) * (places > 0)
            if decimals is None:
                continue
            column = _scaled(words, begin, end, places, decimals)
            if column is None:
                return None
            columns.append(-column if negative else column)
        if np.count_nonzero(text == _POINT) != points:
            return None
        runs = [self.groups[name].run for name in widths]
        return [*columns, *(edges[2 * run + 1] - edges[2 * run] for run in runs)]

    def _find_edges(self, text: NDArray[np.uint8]) -> NDArray[np.intp] | None:
        """Return the starts and the ends of each run in all lines; None unless all have the text of the first one.

        The lines without their digits and points are known to be equal: runs at equal distances are in equal places.
        """
        inside, point = np.empty(len(text), np.bool_), np.empty(len(text), np.bool_)
        np.less(text - np.uint8(ord("0")), 10, out=inside)
        np.logical_or(inside, np.equal(text, _POINT, out=point), out=inside)
        flat = np.flatnonzero(np.not_equal(inside[1:], inside[:-1], out=point[1:])) + 1
        first = [edge for run in self._runs for edge in run]
        if not len(flat) or len(flat) % len(first):
            return None
        edges = flat.reshape(-1, len(first)).T.copy()
        variable = {2 * run + 1 for run in self._read}
        for index in range(1, len(first)):
            distance = first[index] - first[index - 1]
            if index not in variable and (edges[index] - edges[index - 1] != distance).any():
                return None
        ends = edges[-1] + (len(self._row) - first[-1])
        whole = edges[0][0] == len(_PAD) + first[0] and ends[-1] == len(text) - 1
        right = whole and (text[ends] == _LINE_FEED).all() and (edges[0][1:] - ends[:-1] == first[0] + 1).all()
        return edges if right else None


def _last_bytes(words: Integers, end: NDArray[np.intp], width: NDArray[np.intp] | int) -> Integers:
    """Return words that end with the bytes before a position, the first of the eight bytes zero if there are less."""
    word = words[end - 8]
    if isinstance(width, np.ndarray):
        word &= _ALL << (64 - 8 * width.clip(0, 8)).astype(np.uint64)
    elif width < 8:
        word &= _ALL << np.uint64(64 - 8 * width)
    return word


def _digits(words: Integers, end: NDArray[np.intp], width: NDArray[np.intp] | int) -> Integers:
    """Return the numbers of so many digits that end at these positions."""
    total = _eight_digits(_last_bytes(words, end, width))
    for step in range(8, int(width.max()) if isinstance(width, np.ndarray) else width, 8):
        word = _last_bytes(words, end - step, width - step)
        more = _eight_digits(word) if isinstance(width, np.ndarray) or width - step > 1 else word >> 56 & 15
        more *= _POWERS[step]
        total += more
    return total


def _eight_digits(word: Integers) -> Integers:
    """Turn words of eight digits into their numbers; a byte of zero counts as the digit 0."""
    for mask, factor, shift in _JOINS:
        word &= mask
        word *= factor
        word >>= shift
    return word


def _decimals(
    text: NDArray[np.uint8], begin: NDArray[np.intp], end: NDArray[np.intp], most: int | None
) -> NDArray[np.intp] | int:
    """Return the number of digits after the point of each number, up to ``most``; 0 if there is no point."""
    whole, point, decimals = text[begin[0] : end[0]].tobytes().partition(b".")
    if most == 0 or (most is None and not point):
        return 0
    likely, most = len(decimals), most or _MOST_DIGITS
    usual = whole and 0 < likely <= most and (end - begin > likely + 1).all()
    if usual and (text[end - (1 + likely)] == _POINT).all():
        return likely
    places = np.zeros(len(end), np.intp)
    for count in range(1, most + 1):
        places[(text[end - (1 + count)] == _POINT) & (end - begin > count + 1)] = count
    return places


def _scaled(
    words: Integers, begin: NDArray[np.intp], end: NDArray[np.intp], places: NDArray[np.intp] | int, decimals: int
) -> NDArray[np.int64] | None:
    """Return the numbers times a power of ten; None beyond 64 bits."""
    point = end - places - (places > 0)
    whole = point - begin
    longest = int(whole.max())
    if longest + decimals > _MOST_DIGITS:
        return None
    numbers = _digits(words, point, longest if (whole == longest).all() else whole)
    if decimals:
        numbers *= _POWERS[decimals]
        numbers += _digits(words, end, places) * _POWERS[decimals - places]
    return None if (numbers >> np.uint64(63)).any() else numbers.view(np.int64)
