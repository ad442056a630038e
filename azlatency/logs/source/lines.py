"""The lines of a source; in a large source, consecutive lines that differ only in their digits form one block.

A ping log of a million replies has about a dozen distinct lines and a million that differ only in their digits.
`group_lines` finds such blocks by comparing the text without its digits; the lines of a block are built only on access.
`UniformBlock.columns` reads the numbers of a block in bulk (`azlatency.logs.source.number_columns`). It returns None if
a row differs in anything else; the lines are then read one by one.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from itertools import accumulate, groupby
from typing import TYPE_CHECKING, NamedTuple, TypeVar, overload

from azlatency.logs.source.large import LARGEST_WHOLE, FileText, TooLargeError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_DIGITS = b"0123456789."
#: The arrays that are built from a piece fit into the cache of a processor.
_PIECE = 2**18
#: In a text that stays in its file, no block is much larger.
_LARGEST_BLOCK = 2**22
#: Lines of one piece of `unique_pieces`.
_UNIQUE = 2**14
#: Shorter blocks are faster to read line by line.
_FEWEST = 100
_CONTROL = (b"\r", b"\x1b", b"\x08")
#: Characters of the shapes that are kept by a `ByShape`, of one of them, and what one takes besides.
_MOST_SHAPES, _LONGEST_SHAPE, _SIZE_OF_SHAPE = 2**19, 2**14, 64


_Entry = TypeVar("_Entry")
_compiled = cache(re.compile)


class Line(NamedTuple):
    """One line of text as cleaned by `azlatency.logs.source.decode`; ``number`` is 1-based in the raw file."""

    number: int
    text: str


@dataclass(frozen=True)
class UniformBlock(Sequence[Line]):
    """Consecutive lines that differ only in their digits: ``length`` lines from number ``first``.

    The lines are ``whole[start:stop]``, each with its line feed.
    """

    first: int
    length: int
    whole: str | FileText = field(repr=False)
    start: int
    stop: int

    @property
    def last(self) -> int:
        """1-based number of the last line."""
        return self.first + self.length - 1

    def _pieces(self) -> Iterator[str]:
        start = self.start
        while start < self.stop:
            stop = _piece_end(self.whole, start, self.stop)
            yield self.whole[start:stop]
            start = stop

    def _encoded_pieces(self) -> Iterator[bytes]:
        start = self.start
        while start < self.stop:
            stop = _piece_end(self.whole, start, self.stop, _LARGEST_BLOCK)
            yield _encoded(self.whole, start, stop)
            start = stop

    @cached_property
    def _lines(self) -> list[Line]:
        return list(self)  # built on the first access to a row in the middle

    def drop_lines(self) -> None:
        """Drop the lines that were built."""
        self.__dict__.pop("_lines", None)

    def _offset(self, index: int) -> int:
        """Return where a row starts, without reading the rows after it."""
        if index >= self.length:
            return self.stop
        start = self.start
        for piece in self._pieces():
            count = piece.count("\n")
            if index < count:
                return start + len(piece) - len(piece.split("\n", index)[-1])
            index, start = index - count, start + len(piece)
        return start

    def __len__(self) -> int:
        return self.length

    @overload
    def __getitem__(self, index: int) -> Line: ...
    @overload
    def __getitem__(self, index: slice) -> UniformBlock: ...
    def __getitem__(self, index: int | slice) -> Line | UniformBlock:
        if isinstance(index, slice):
            start, stop, _ = index.indices(self.length)
            if stop - start == self.length:
                return self
            edges = self._offset(start), self._offset(max(stop, start))
            return UniformBlock(self.first + start, max(stop - start, 0), self.whole, *edges)
        index = range(self.length)[index]
        if index == 0:
            return Line(self.first, self.whole[self.start : self.whole.index("\n", self.start)])
        if index == self.length - 1:
            return Line(self.last, self.whole[self.whole.rindex("\n", self.start, self.stop - 1) + 1 : self.stop - 1])
        return self._lines[index]

    def __iter__(self) -> Iterator[Line]:
        number = self.first
        for piece in self._pieces():
            texts = piece.split("\n")
            yield from map(Line, range(number, number + len(texts) - 1), texts)
            number += len(texts) - 1

    def columns(
        self, match: re.Match[str], *, widths: Sequence[str] = (), **decimals: int | None
    ) -> dict[str, NDArray[np.int64]] | None:
        """Read the numbers of all rows as one exact int64 array per named group of the match of the first row.

        ``decimals``: the groups that vary, each with the power of ten that turns its number into an integer (``time=6``
        converts milliseconds to nanoseconds), None if the number is not needed; groups that took no part in the match
        are skipped. ``widths``: groups whose number of characters is needed too, as the column ``"NAME width"``. None
        if rows differ in more than these numbers.
        """
        import numpy as np

        from azlatency.logs.source.number_columns import Rows  # needs numpy

        varying = {name: power for name, power in decimals.items() if match[name] is not None}
        names = [*(name for name, power in varying.items() if power is not None), *(f"{name} width" for name in widths)]
        rows = Rows(match, varying, widths)
        pieces = []
        for body in self._encoded_pieces():
            if (columns := rows.read(body)) is None:
                return None
            pieces.append(columns)
        whole = pieces[0] if len(pieces) == 1 else map(np.concatenate, zip(*pieces, strict=True))
        return dict(zip(names, whole, strict=True))


class Piece(NamedTuple):
    """Some lines of a source: the position, the text and the shape of each."""

    positions: Sequence[int]
    texts: list[str]
    shapes: list[bytes]


class ShapedLines(list[Line]):
    """Lines with their texts and their shapes (`shape_of`), which several readers need."""

    def __init__(self, lines: Iterable[Line], texts: list[str], shapes: list[bytes]) -> None:
        super().__init__(lines)
        self.texts, self.shapes = texts, shapes

    def part(self, start: int, stop: int) -> ShapedLines:
        """Return the lines ``start`` to ``stop`` (exclusive); a slice is a plain list."""
        if stop - start == len(self):
            return self
        return ShapedLines(self[start:stop], self.texts[start:stop], self.shapes[start:stop])


def shape_of(text: str) -> bytes:
    """Return a text without digits and points, as bytes."""
    return text.encode("utf-8", "surrogatepass").translate(None, _DIGITS)


def shaped(lines: list[Line]) -> ShapedLines:
    """Return lines with their shapes."""
    texts = [text for _, text in lines]
    return ShapedLines(lines, texts, shape_of("\n".join(texts)).split(b"\n"))


class ByShape(dict[bytes, list[_Entry]]):
    """What a line of a shape may match, selected once for all lines of the shape.

    Each entry has a literal that every such line contains, the pattern of the line's shape or None, and what makes the
    entry when a line needs it. If a line contains a literal, its shape contains the literal without digits, so nothing
    is lost.
    """

    def __init__(self, entries: Iterable[tuple[str, str | None, Callable[[], _Entry]]]) -> None:
        self._entries = [(shape_of(hint), pattern, cache(entry)) for hint, pattern, entry in entries]
        self._size = 0

    def __missing__(self, shape: bytes) -> list[_Entry]:
        text = shape.decode("utf-8", "surrogatepass").strip()
        # Rules are applied after an echoed Ctrl-C, which is no part of their shape.
        selected = [
            entry()
            for hint, pattern, entry in self._entries
            if hint in shape and (pattern is None or "^C" in text or _compiled(pattern).fullmatch(text))
        ]
        # Logs have few shapes of lines; a text with ever new ones, or with long lines, must not fill the memory.
        if len(shape) <= _LONGEST_SHAPE:
            self._size += len(shape) + _SIZE_OF_SHAPE
            if self._size > _MOST_SHAPES:
                self.clear()
                self._size = 0
            self[shape] = selected
        return selected


def _piece_end(text: str | FileText, start: int, stop: int, size: int | None = None) -> int:
    """Return the end of the piece that starts at ``start``: after a line feed, or ``stop``."""
    size = size or _PIECE
    if start + size >= stop:
        return stop
    end = text.rfind("\n", start, start + size) + 1
    return end or text.find("\n", start, stop) + 1 or stop


def _encoded(text: str | FileText, start: int, stop: int) -> bytes:
    return text.read(start, stop) if isinstance(text, FileText) else text[start:stop].encode()


class Lines(Sequence[Line]):
    """The lines of a large source: lists of lines, and parts whose lines are built on access."""

    def __init__(self, parts: list[list[Line] | UniformBlock]) -> None:
        self.parts = parts
        self._starts = [0, *accumulate(len(part) for part in parts)]
        self._read: UniformBlock | None = None

    def __len__(self) -> int:
        return self._starts[-1]

    @overload
    def __getitem__(self, index: int) -> Line: ...
    @overload
    def __getitem__(self, index: slice) -> Lines: ...
    def __getitem__(self, index: int | slice) -> Line | Lines:
        if isinstance(index, slice):
            start, stop, _ = index.indices(len(self))
            first, last = bisect_right(self._starts, start) - 1, bisect_left(self._starts, stop)
            places = zip(self.parts[first:last], self._starts[first:last], strict=True)
            cut = [part[max(start - at, 0) : max(stop - at, 0)] for part, at in places]
            return Lines([part for part in cut if len(part)])
        index = range(len(self))[index]
        number = bisect_right(self._starts, index) - 1
        part, index = self.parts[number], index - self._starts[number]
        if part is not self._read and isinstance(part, UniformBlock) and 0 < index < part.length - 1:
            if self._read is not None:
                self._read.drop_lines()  # readers go forward
            self._read = part
        return part[index]

    def __iter__(self) -> Iterator[Line]:
        for part in self.parts:
            yield from part

    def unique_pieces(self) -> Iterator[tuple[str, Sequence[int]]]:
        """Yield the texts and positions of all lines, but only the first one of each `UniformBlock`, in pieces."""
        texts: list[str] = []
        positions: list[int] = []
        for part, start in zip(self.parts, self._starts, strict=False):
            shown = [part[0]] if isinstance(part, UniformBlock) else part
            texts += [line.text for line in shown]
            positions += range(start, start + len(shown))
            if len(texts) >= _UNIQUE:
                yield "\n".join(texts), positions
                texts, positions = [], []
        if texts:
            yield "\n".join(texts), positions


def iter_blocks(lines: Sequence[Line]) -> Iterator[Line | UniformBlock]:
    """Yield the lines one by one, but each `UniformBlock` as a whole."""
    if isinstance(lines, list) or not isinstance(lines, Lines):
        yield from lines
        return
    for part in lines.parts:
        if isinstance(part, UniformBlock):
            yield part
        else:
            yield from part


def unique_pieces(lines: Sequence[Line]) -> Iterable[tuple[str, Sequence[int]]]:
    """Return the text of the lines in pieces, of a block only the first row, and the position of each line."""
    # The type of an abstract class takes long to check.
    if not isinstance(lines, list) and isinstance(lines, Lines):
        return lines.unique_pieces()
    return [("\n".join([text for _, text in lines]), range(len(lines)))]


def find_lines_with(hints: Sequence[str], lines: Sequence[Line]) -> Iterator[tuple[int, str]]:
    """Yield position and text of the lines that contain one of some literals; of a block only the first row."""
    if isinstance(lines, ShapedLines):
        yield from sorted({(at, text) for hint in hints for at, text in enumerate(lines.texts) if hint in text})
        return
    for whole, positions in unique_pieces(lines):
        for index, text in _find_in_text(hints, whole):
            yield positions[index], text


def _find_in_text(hints: Sequence[str], text: str) -> list[tuple[int, str]]:
    """Return index and text of the lines that contain one of some literals, in one pass of `str.find` for each."""
    found: dict[int, str] = {}
    for hint in hints:
        position, index, counted = text.find(hint), 0, 0
        while position >= 0:
            index += text.count("\n", counted, position)
            end = text.find("\n", position)
            found[index] = text[text.rfind("\n", counted, position) + 1 : end if end >= 0 else None]
            counted = position
            position = text.find(hint, end) if end >= 0 else -1
    return sorted(found.items())


def find_texts(lines: Sequence[Line], find: Callable[[int], int]) -> Iterator[tuple[int, str]]:
    """Yield number and text of each line for whose number ``find`` asks; that of a line in pieces is the last one.

    ``find(number)`` returns the next such number above another one, or 0. A line of which nothing is shown is left out.
    """
    wanted, text = find(0), None
    for item in iter_blocks(lines) if wanted else ():
        first, last = (item.number, item.number) if isinstance(item, Line) else (item.first, item.last)
        while 0 < wanted < first:
            if text is not None:
                yield wanted, text
            wanted, text = find(wanted), None
        if not wanted:
            return
        if isinstance(item, Line):
            text = item.text if first == wanted else text
            continue
        if wanted <= last:
            for line in item:
                if line.number == wanted:
                    yield wanted, line.text
                    wanted = find(wanted)
    if text is not None:
        yield wanted, text


def find_line(lines: Sequence[Line], shown: str) -> int | None:
    """Return the position of the first line with this text between its blanks; None if there is none."""
    return next((position for position, text in find_lines_with([shown], lines) if text.strip() == shown), None)


def have_decimals(values: NDArray[np.int64], widths: NDArray[np.int64], decimals: int, power: int) -> bool:
    """Return whether all numbers, which were read times ten to a power, have so many decimals and no leading zero."""
    whole = values // 10**power
    places = range(1, int(widths.max()) - decimals)  # more would be wider than any of them
    digits = sum((whole >= 10**place for place in places), start=1)
    return bool((widths == digits + 1 + decimals).all())


def group_lines(text: str | FileText, clean: Callable[[int, str], list[Line]]) -> Sequence[Line]:
    """Return the lines of a large text; ``clean(first, text)`` returns the lines that a part of it shows.

    Raises `TooLargeError` if those that differ in more than their digits do not fit into memory.
    """
    parts: list[list[Line] | UniformBlock] = []
    last: bytes | None = None  # shape of the block that is the last part
    number, start, different = 1, 0, 0
    while start < len(text):
        for shape, count, end in _find_uniform(text, start, _piece_end(text, start, len(text))):
            if shape is None:
                if (different := different + end - start) > LARGEST_WHOLE:
                    what = f"more than {LARGEST_WHOLE} bytes of lines that differ in more than their digits"
                    raise TooLargeError(f"{what} do not fit into memory; split the file", number)
                parts.append(clean(number, text[start:end]))
            elif (
                shape == last
                and isinstance(block := parts[-1], UniformBlock)
                and (isinstance(text, str) or end - block.start <= _LARGEST_BLOCK)
            ):
                parts[-1] = UniformBlock(block.first, block.length + count, text, block.start, end)
            else:
                parts.append(UniformBlock(number, count, text, start, end))
            number, start, last = number + count, end, shape
    return parts[0] if len(parts) == 1 and isinstance(parts[0], list) else Lines(parts)


def _find_uniform(text: str | FileText, start: int, stop: int) -> Iterator[tuple[bytes | None, int, int]]:
    """Yield the lines between two positions as (shape, number of lines, end), with the shape None if they differ."""
    body = _encoded(text, start, stop)
    shapes = body.translate(None, _DIGITS)
    shape = shapes[: shapes.find(b"\n") + 1]
    count = len(shapes) // max(len(shape), 1)
    if _can_be_grouped(shape) and body.endswith(b"\n") and shapes == shape * count:
        yield shape, count, stop
        return
    piece = text[start:stop]
    count = shapes.count(b"\n")
    raw = piece.split("\n")
    if not piece.endswith("\n"):
        count += 1
    in_file = isinstance(text, FileText) and not piece.isascii()  # where positions count bytes
    ends = list(accumulate((len(line.encode() if in_file else line) + 1 for line in raw[:count]), initial=start))
    ends[-1] = stop
    waiting, done = 0, 0
    for shape, group in groupby(shapes.split(b"\n")[:count]):
        length = sum(1 for _ in group)
        begun, done = done, done + length
        if length < _FEWEST or not _can_be_grouped(shape + b"\n") or (done == count and not piece.endswith("\n")):
            waiting += length
            continue
        if waiting:
            yield None, waiting, ends[begun]
            waiting = 0
        yield shape + b"\n", length, ends[done]
    if waiting:
        yield None, waiting, stop


def _can_be_grouped(shape: bytes) -> bool:
    """Return whether lines of this shape can form a block: not blank, and without characters that `decode` removes."""
    # Lines of digits alone look like blank lines; the readers of a block tell them apart.
    return shape == b"\n" or (
        len(shape) > 1 and not shape.isspace() and not any(character in shape for character in _CONTROL)
    )
