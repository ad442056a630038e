"""Reads elements of a list in a long valid JSON document that differ only in the digits of their numbers.

A tool prints all threads, reports or jobs in the same way. The first of such elements is read by
`azlatency.logs.json_tokens`. The others have the same text around their numbers, so that each number of the first one
is in the same place in all of them. The numbers are found, compared and converted in vectorised passes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

import msgspec
import numpy as np

from azlatency.logs.json_tokens import JsonObject, Scalar, read_object
from azlatency.logs.number_columns import join_digits

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Positions = NDArray[np.intp]

#: So many elements, and at most so many bytes, are searched for alike ones at once: new memory costs more than passes.
_ELEMENTS, _WINDOW = 16, 2**16
#: So many alike elements, and at most so many bytes, are returned at once.
_FEWEST, _LARGEST = 3, 2**23
_MOST_DIGITS = 17
_POWERS = 10 ** np.arange(_MOST_DIGITS + 1)
_DIGITS = b"0123456789"
#: So many numbers of an element are cut out of the text at once: other characters become blanks or are left out.
_MANY = 8
_BLANKS = bytes(byte if byte in b"\x010123456789." else ord(" ") for byte in range(256))
_LEFT_OUT = b' "{}\n\t' + bytes(range(ord("a"), ord("z") + 1))
#: Stands for the first digit of a number in question; no valid document contains it.
_MARK = b"\x01"
#: Digits are read eight at a time.
_WORD, _DIGIT_BITS, _ALL_BITS = 8, np.uint64(0x0F0F0F0F0F0F0F0F), np.uint64(2**64 - 1)
_NEXT = re.compile(r"[ \t\r\n]*,[ \t\r\n]*")


class Number(NamedTuple):
    """The first and the last of the runs of digits of a number: it has two if it has a point."""

    first: int
    last: int


class Element:
    """An element of a list that is read when it is needed, because many of them would need much memory.

    Parameters
    ----------
    text : str
        A text in ASCII.
    begins : list of int
        Where the element begins.
    """

    def __init__(self, text: str, begins: list[int]) -> None:
        self._text, self.begins = text, begins

    def __len__(self) -> int:
        return len(self.begins)

    def objects(self) -> Iterator[JsonObject]:
        """Read the elements one by one."""
        for begin in self.begins:
            read_object(self._text, begin, element := JsonObject())
            yield element


class Alike(Element):
    """Elements of a list that follow each other and have the same text but for their digits.

    Parameters
    ----------
    first : JsonObject
        The first of the elements.
    text : str
        A text in ASCII.
    data : array of uint8
        Its bytes.
    starts, ends : array of int, shape (elements, runs)
        Where each run of digits starts and ends in it.
    """

    def __init__(
        self, first: JsonObject, text: str, data: NDArray[np.uint8], starts: Positions, ends: Positions
    ) -> None:
        super().__init__(text, (starts[:, 0] - (starts[0, 0] - first.position)).tolist())
        self.first, self._data, self._starts, self._ends = first, data, starts, ends
        self._runs = {start: index for index, start in enumerate(starts[0].tolist())}

    def find(self, scalar: Scalar, ending: str = "") -> Number | None:
        """Find a value of the first element that is a decimal number; None if it is not one.

        A string is the number that it begins with if only ``ending`` follows.
        """
        whole, point, decimals = scalar.token.removesuffix(ending).partition(".")
        first = self._runs.get(scalar.position + isinstance(scalar.value, str))
        if first is None or not whole or not (whole + decimals).isdecimal() or (point and not decimals):
            return None
        return Number(first, first + len(point))

    def tokens(self, numbers: Sequence[Number]) -> list[str]:
        """Return numbers of all elements as printed, element by element."""
        firsts, lasts = np.array(numbers).T
        begin, places = self.first.position, self._places_of_tokens(numbers)
        if places is None:
            starts, ends = self._starts[:, firsts].reshape(-1), self._ends[:, lasts].reshape(-1)
            return [self._text[start:end] for start, end in zip(starts.tolist(), ends.tolist(), strict=True)]
        indexes, width = places
        tokens = _numbers_only(self._data[begin : int(self._ends[-1, -1])].tobytes()).decode().split()
        columns = [tokens[index::width] for index in indexes]
        return tokens if indexes == list(range(width)) else list(chain.from_iterable(zip(*columns, strict=True)))

    def _places_of_tokens(self, numbers: Sequence[Number]) -> tuple[list[int], int] | None:
        """Return which tokens of an element numbers are, and how many it has; None if they are read one by one."""
        if len(numbers) < _MANY:
            return None
        begin = self.first.position
        element = bytearray(self._data[begin : self.begins[1]])
        places = [(int(self._starts[0, first]) - begin, int(self._ends[0, last]) - begin) for first, last in numbers]
        marked = {start: _MARK + bytes(element[start + 1 : end]) for start, end in sorted(places)}
        for start in marked:
            element[start : start + 1] = _MARK
        tokens = _numbers_only(bytes(element)).split()
        found = [index for index, token in enumerate(tokens) if _MARK in token]
        if [tokens[index] for index in found] != list(marked.values()):
            return None
        index_at = dict(zip(marked, found, strict=True))
        return [index_at[start] for start, _ in places], len(tokens)

    def texts(self, scalar: Scalar) -> list[str]:
        """Return a string of all elements."""
        begin, end = scalar.position + 1, scalar.position + 1 + len(scalar.token)
        runs = [run for start, run in self._runs.items() if begin <= start < end]
        if not runs:
            return [scalar.token] * len(self)
        begins = self._starts[:, runs[0]] - (self._starts[0, runs[0]] - begin)
        ends = self._ends[:, runs[-1]] + (end - self._ends[0, runs[-1]])
        return [self._text[begin:end] for begin, end in zip(begins.tolist(), ends.tolist(), strict=True)]

    def digits(self, numbers: Sequence[Number]) -> tuple[NDArray[np.int64], NDArray[np.int64]] | None:
        """Return numbers of all elements for `azlatency.logs.units.ratios`.

        Parameters
        ----------
        numbers : sequence of Number
            Which numbers.

        Returns
        -------
        tuple of array or None
            The digits, and how many of them are decimals, shape (elements, numbers). None if there are more than 17.
        """
        ends, sizes = self._ends, self._ends - self._starts
        firsts, lasts = np.array(numbers).T
        pointed = (firsts < lasts).nonzero()[0]
        decimals = np.where(firsts < lasts, sizes[:, lasts], 0)
        if (sizes[:, firsts] + decimals).max() > _MOST_DIGITS:
            return None
        digits = self._read(ends[:, firsts], sizes[:, firsts])
        if len(pointed):
            digits[:, pointed] *= _POWERS[decimals[:, pointed]]
            digits[:, pointed] += self._read(ends[:, lasts[pointed]], decimals[:, pointed])
        return digits, decimals

    def _read(self, ends: Positions, sizes: Positions) -> NDArray[np.int64]:
        """Return the integers of so many digits that end at these positions."""
        words = np.ndarray(len(self._data) - _WORD + 1, "<u8", self._data.data, strides=(1,))
        total = np.zeros(ends.shape, np.uint64)
        for done in range(0, int(sizes.max()), _WORD):
            # In front of the digits and of the text there is nothing.
            word = words[np.maximum(ends - done, _WORD) - _WORD] & _DIGIT_BITS
            word &= _ALL_BITS << (8 * (_WORD - np.clip(sizes - done, 0, _WORD))).astype(np.uint64)
            total += join_digits(word, _WORD) * 10**done
        return total.astype(np.int64)


class AlikeReader:
    """Reads the elements of the lists of a document.

    Parameters
    ----------
    text : str
        A text in ASCII that is a document.
    document : msgspec.Raw, optional
        What ``msgspec`` decodes it to.
    """

    def __init__(self, text: str, document: msgspec.Raw | None = None) -> None:
        # Without a copy if the document begins with the text.
        raw = document if document is not None and text[0] == "{" else text.encode()
        self._text, self._data = text, np.frombuffer(raw, dtype=np.uint8)

    def read(self, position: int, depth: int) -> tuple[Element, int]:
        """Read the element at ``position``, an object inside of ``depth`` others, and those after it that are alike.

        Returns
        -------
        tuple
            The elements (`Alike`), or the first one if the next ones differ, and the position after them.
        """
        end = read_object(self._text, position, first := JsonObject(), depth)
        comma = _NEXT.match(self._text, end)
        if comma is None or not self._is_repeated(position, end, comma.end()):
            return Element(self._text, [position]), end
        template = _Template(self._data, position, end, comma.end())
        between, parts, begin = comma[0], [], position
        window = max(min(_ELEMENTS * (end - position), _WINDOW), 4 * (end - position))
        while begin - position < _LARGEST and len((found := template.find(begin, window))[0]):
            parts.append(found)
            end = int(found[1][-1, -1]) + template.behind
            if not self._text.startswith(between, end):
                break
            begin, window = end + len(between), max(window, _WINDOW)
        starts, ends = (np.concatenate(sides) for sides in zip(*parts, strict=True))
        if len(starts) < _FEWEST:
            return Element(self._text, [position]), first.end
        return Alike(first, self._text, self._data, starts, ends), end

    def _is_repeated(self, position: int, end: int, following: int) -> bool:
        """Return whether the next element has the same text without digits."""
        element = self._data[position:end].tobytes().translate(None, _DIGITS)
        next_one = self._data[following : following + 2 * (end - position)].tobytes().translate(None, _DIGITS)
        return len(element) < end - position and next_one.startswith(element)


class _Template:
    """The first of the elements: from ``begin`` to ``end``, and the next one begins at ``following``."""

    def __init__(self, data: NDArray[np.uint8], begin: int, end: int, following: int) -> None:
        self._data = data
        edges = _edges(data, begin, end)
        starts, ends = edges[::2], edges[1::2]
        self.behind = end - int(ends[-1])
        # The texts in front of the runs of digits, of which the first one begins behind the element before.
        self._lengths = np.append(starts[0] - begin + following - int(ends[-1]), starts[1:] - ends[:-1])
        self._front = int(starts[0]) - begin
        self._element, self._unit = (data[begin:stop].tobytes().translate(None, _DIGITS) for stop in (end, following))

    def find(self, begin: int, window: int) -> tuple[Positions, Positions]:
        """Return where the runs of digits start and end in the alike elements from ``begin`` on."""
        width, stop = len(self._lengths), begin + window
        edges = _edges(self._data, begin, stop)
        count = len(edges) // (2 * width)
        starts, ends = (edges[side : 2 * width * count : 2].reshape(-1, width) for side in (0, 1))
        if not count:
            return starts, ends
        # The ends before the starts: in front of the first element is what would be the end of another one.
        before = np.append(begin + self._front - self._lengths[0], ends.reshape(-1)[:-1]).reshape(-1, width)
        same = (starts - before == self._lengths).all(axis=1)
        count = min(self._count_texts(begin, stop), count if same.all() else int(same.argmin()))
        return starts[:count], ends[:count]

    def _count_texts(self, begin: int, stop: int) -> int:
        """Return how many elements between two positions have the text of the first one, without digits."""
        text = self._data[begin:stop].tobytes().translate(None, _DIGITS)
        same = self._unit * (len(text) // len(self._unit) + 1)
        size = len(text)
        if not same.startswith(text):
            differs = np.frombuffer(text, np.uint8) != np.frombuffer(same, np.uint8, count=size)
            size = int(differs.argmax())
        return max((size - len(self._element)) // len(self._unit) + 1, 0)


def _numbers_only(text: bytes) -> bytes:
    return text.translate(_BLANKS, _LEFT_OUT)


def _edges(data: NDArray[np.uint8], begin: int, end: int) -> Positions:
    """Return where runs of digits start and end in a part of a text that begins with no digit."""
    inside = data[begin:end] - np.uint8(ord("0")) < 10
    return (inside[1:] != inside[:-1]).nonzero()[0] + (begin + 1)
