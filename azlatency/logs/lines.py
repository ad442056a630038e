"""The lines of a source; in a large source, consecutive lines that differ only in their digits form one block.

A ping log of a million replies has about a dozen distinct lines and a million that differ only in their digits.
`group_lines` finds such blocks by comparing the text without its digits; the lines of a block are built only on access.
`UniformBlock.columns` reads the numbers of a block in bulk: it removes the text that all rows share and parses the rest
as comma-separated values. It returns None if a row differs in anything else; the lines are then read one by one.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import accumulate, groupby
from typing import TYPE_CHECKING, Any, NamedTuple, overload

if TYPE_CHECKING:
    import numpy as np

_DIGITS = b"0123456789."
_PIECE = 2**20
#: Shorter runs cost more as columns than line by line.
_FEWEST = 64
_BETWEEN = b"\x1f"
_CONTROL = (b"\r", b"\x1b", b"\x08", _BETWEEN)
#: Up to here a product of a double and a power of ten is exact to less than half.
_EXACT = 2**51


class Line(NamedTuple):
    """One line of text as cleaned by `azlatency.logs.decode`; ``number`` is 1-based in the raw file."""

    number: int
    text: str


@dataclass(frozen=True)
class UniformBlock(Sequence[Line]):
    """Consecutive lines that differ in their digits only: ``length`` of them from line ``first`` on.

    They are ``whole[start:stop]``, every one of them with its line feed.
    """

    first: int
    length: int
    whole: str = field(repr=False)
    start: int
    stop: int

    @property
    def last(self) -> int:
        """Number of the last line."""
        return self.first + self.length - 1

    def _pieces(self) -> Iterator[str]:
        start = self.start
        while start < self.stop:
            stop = _piece_end(self.whole, start, self.stop)
            yield self.whole[start:stop]
            start = stop

    @cached_property
    def _lines(self) -> list[Line]:
        """All rows, for those who ask for some in the middle."""
        return list(self)

    def _offset(self, index: int) -> int:
        """Where a row begins, found without looking at those behind it."""
        if index >= self.length:
            return self.stop
        start = self.start
        for piece in self._pieces():
            count = piece.count("\n")
            if index < count:
                break
            index, start = index - count, start + len(piece)
        for _ in range(index):
            start = self.whole.index("\n", start) + 1
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
        self, match: re.Match[str], *, widths: Sequence[str] = (), **decimals: int
    ) -> dict[str, np.ndarray] | None:
        """The groups of ``match``, a match of the first row as it stands, in all rows; None where rows differ else.

        ``decimals``: by which power of ten the number of a group is multiplied to be whole, ``time=6`` for milliseconds
        that are wanted in nanoseconds. Groups that take no part in the match are left out. Arrays of int64, exact.
        ``widths``: groups of which the number of characters is wanted too, as "time width".
        """
        import numpy as np

        groups = sorted((name for name in decimals if match[name] is not None), key=match.start)
        row = match.string
        edges = [0, *(edge for name in groups for edge in match.span(name)), len(row)]
        shared = [row[start:stop].encode() for start, stop in zip(edges[::2], edges[1::2], strict=True)]
        if not all(shared[1:-1]):
            return None
        measured = [groups.index(name) for name in widths]
        columns = [np.empty(self.length, dtype=np.int64) for _ in [*groups, *widths]]
        done = 0
        for piece in self._pieces():
            found = _numbers(piece.encode(), shared, [decimals[name] for name in groups], measured)
            if found is None:
                return None
            for column, part in zip(columns, found, strict=True):
                column[done : done + len(part)] = part
            done += len(found[0])
        return dict(zip([*groups, *(f"{name} width" for name in widths)], columns, strict=True))


def shape_of(text: str) -> bytes:
    """What is left of a text without the digits and points of its numbers."""
    return text.encode(errors="surrogatepass").translate(None, _DIGITS)


def _piece_end(text: str, start: int, stop: int) -> int:
    """End of the piece that begins at ``start``: behind a line feed, or at ``stop``."""
    if start + _PIECE >= stop:
        return stop
    end = text.rfind("\n", start, start + _PIECE) + 1
    return end or text.find("\n", start, stop) + 1 or stop


def _numbers(body: bytes, shared: list[bytes], decimals: list[int], measured: list[int]) -> list[np.ndarray] | None:
    """The numbers between what all rows share, times their powers of ten; None where a row is not so.

    ``shared``: what stands before the first number, between two, and behind the last. ``measured``: the columns whose
    widths follow the numbers.
    """
    import pyarrow as pa

    count = body.count(b"\n")
    opening, closing = shared[0], shared[-1] + b"\n"
    if not body.startswith(opening) or not body.endswith(closing):
        return None
    body = _separated(body[len(opening) :] + opening, shared[1:-1], closing + opening)
    if not body:
        return None
    if any(decimals) and _bare_point(body):
        return None
    try:
        columns = _read(body, [pa.float64() if digits else pa.int64() for digits in decimals])
        if any(len(column) != count or column.null_count for column in columns):
            return None
        exact = [_times(column, digits) for column, digits in zip(columns, decimals, strict=True)]
        if any(array is None for array in exact):
            columns = _read(body, [pa.decimal128(38, digits) if digits else pa.int64() for digits in decimals])
            exact = [_unscaled(column, digits) for column, digits in zip(columns, decimals, strict=True)]
    except (pa.ArrowInvalid, OverflowError):
        return None
    return [*exact, *_widths(body, len(decimals), measured)]


def _separated(body: bytes, between: list[bytes], ends: bytes) -> bytes:
    """The rows with one character between two numbers, and a line feed behind the last; nothing where they differ."""
    fixed = [part for part in between if not set(part).isdisjoint(_DIGITS)]
    free = [part for part in between if part not in fixed]
    marks = [
        mark
        for mark in (free[0] if free else b"")
        if ends.count(mark) == 0 and all(part.count(mark) == 1 for part in free)
    ]
    if not marks or not set(ends).isdisjoint(_DIGITS):
        for part in sorted({ends, *between}, key=len, reverse=True):
            if part != b"\n":
                body = body.replace(part, b"\n" if part == ends else _BETWEEN)
        return body
    # All rows have the same characters beside their digits: one that stands once between any two numbers stays.
    mark = bytes(marks[:1])
    for part in set(fixed):
        if body.count(part) != body.count(b"\n") * fixed.count(part):
            return b""
        body = body.replace(part, mark)
    others = bytes(set(b"".join([*free, ends])) - {mark[0], ord("\n")})
    return body.translate(bytes.maketrans(mark, _BETWEEN), others)


def _widths(body: bytes, columns: int, measured: list[int]) -> list[np.ndarray]:
    import numpy as np

    if not measured:
        return []
    characters = np.frombuffer(body, dtype=np.uint8)
    ends = np.flatnonzero((characters == ord(_BETWEEN)) | (characters == ord("\n")))
    found = np.diff(ends, prepend=-1).reshape(-1, columns) - 1
    return [found[:, column] for column in measured]


def _bare_point(body: bytes) -> bool:
    """Whether a decimal point has no digit on one side: what readers of numbers take, but no tool prints."""
    import numpy as np

    characters = np.frombuffer(body, dtype=np.uint8)
    points = np.flatnonzero(characters == ord("."))
    beside = (characters[points - 1], characters[np.minimum(points + 1, len(body) - 1)])
    return any(((side < ord("0")) | (side > ord("9"))).any() for side in beside)


def _read(body: bytes, types: list[Any]) -> list[Any]:
    import pyarrow as pa
    from pyarrow import csv

    names = [str(index) for index in range(len(types))]
    table = csv.read_csv(
        pa.BufferReader(body),
        read_options=csv.ReadOptions(column_names=names, use_threads=False, block_size=len(body) + 1),
        parse_options=csv.ParseOptions(delimiter=_BETWEEN.decode(), quote_char=False, ignore_empty_lines=False),
        convert_options=csv.ConvertOptions(
            column_types=dict(zip(names, types, strict=True)), null_values=[""], strings_can_be_null=True
        ),
    )
    return [table[name].combine_chunks() for name in names]


def _times(column: Any, digits: int) -> Any:
    """A column of doubles times a power of ten as whole numbers; None where that is not exact."""
    import numpy as np

    values = column.to_numpy()
    if not digits:
        return values
    scaled = values * 10.0**digits
    return np.rint(scaled).astype(np.int64) if np.abs(scaled).max() < _EXACT else None


def _unscaled(column: Any, digits: int) -> Any:
    """A column of decimals times its power of ten; raises `OverflowError` where that is beyond 64 bits."""
    import numpy as np

    if not digits:
        return column.to_numpy()
    low, high = np.frombuffer(column.buffers()[1], dtype="<i8").reshape(-1, 2)[column.offset :][: len(column)].T
    if (high != low >> 63).any():
        raise OverflowError
    return low.copy()


class Lines(Sequence[Line]):
    """The lines of a large source: single ones, and `UniformBlock` whose lines are made when they are asked for."""

    def __init__(self, parts: list[list[Line] | UniformBlock]) -> None:
        self.parts = parts
        self._starts = [0, *accumulate(len(part) for part in parts)]

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
        part = bisect_right(self._starts, index) - 1
        return self.parts[part][index - self._starts[part]]

    def __iter__(self) -> Iterator[Line]:
        for part in self.parts:
            yield from part

    def positions(self) -> Iterator[int]:
        """Positions of the lines that show what there is: of `UniformBlock` the first stands for all."""
        for part, start in zip(self.parts, self._starts, strict=False):
            yield from range(start, start + 1 if isinstance(part, UniformBlock) else start + len(part))


def iter_blocks(lines: Sequence[Line]) -> Iterator[Line | UniformBlock]:
    """The lines one by one, but runs of alike rows in one piece."""
    return _iter_parts(lines) if isinstance(lines, Lines) else iter(lines)


def _iter_parts(lines: Lines) -> Iterator[Line | UniformBlock]:
    for part in lines.parts:
        if isinstance(part, UniformBlock):
            yield part
        else:
            yield from part


def unique_lines(lines: Sequence[Line]) -> tuple[str, Sequence[int]]:
    """The text of all lines, of alike rows the first only; and the position of each of its lines."""
    if not isinstance(lines, Lines):
        return "\n".join([line.text for line in lines]), range(len(lines))
    positions = list(lines.positions())
    return "\n".join([lines[position].text for position in positions]), positions


def find_lines_with(hint: str, joined: str) -> list[int]:
    """Indexes of the lines that contain ``hint``; one pass of `str.find`, so that large files cost little."""
    indexes: list[int] = []
    position, index, counted = joined.find(hint), 0, 0
    while position >= 0:
        index += joined.count("\n", counted, position)
        counted = position
        indexes.append(index)
        end = joined.find("\n", position)
        position = joined.find(hint, end) if end >= 0 else -1
    return indexes


def texts_by_number(lines: Sequence[Line], numbers: set[int]) -> Mapping[int, str]:
    """The texts of the lines with these numbers."""
    found: dict[int, str] = {}
    if not numbers:
        return found
    for entry in iter_blocks(lines):
        if isinstance(entry, Line):
            if entry.number in numbers:
                found[entry.number] = entry.text
        elif inside := numbers.intersection(range(entry.first, entry.last + 1)):
            found.update((number, entry[number - entry.first].text) for number in inside)
    return found


def group_lines(text: str, cleaned: Callable[[int, str], list[Line]]) -> Lines:
    """The lines of a large text; ``cleaned(number, raw)`` gives the lines that a physical one shows."""
    parts: list[list[Line] | UniformBlock] = []
    last: bytes | None = None  # the shape of the run that was the last part
    number, start = 1, 0
    while start < len(text):
        for shape, count, end in _alike(text, start, _piece_end(text, start, len(text))):
            if shape is None:
                texts = text[start:end].split("\n")[:count]
                parts.append([line for at, raw in enumerate(texts, start=number) for line in cleaned(at, raw)])
            elif shape == last and isinstance(run := parts[-1], UniformBlock):
                parts[-1] = UniformBlock(run.first, run.length + count, text, run.start, end)
            else:
                parts.append(UniformBlock(number, count, text, start, end))
            number, start, last = number + count, end, shape
    return Lines(parts)


def _alike(text: str, start: int, stop: int) -> Iterator[tuple[bytes | None, int, int]]:
    """The lines between two places as (shape, number of lines, end): alike ones, and the rest without a shape."""
    piece = text[start:stop]
    shapes = piece.encode().translate(None, _DIGITS)
    count = shapes.count(b"\n")
    shape = shapes[: shapes.find(b"\n") + 1]
    if _foldable(shape) and piece.endswith("\n") and shapes == shape * count:
        yield shape, count, stop
        return
    raw = piece.split("\n")
    if not piece.endswith("\n"):
        count += 1
    ends = list(accumulate((len(line) + 1 for line in raw[:count]), initial=start))
    ends[-1] = stop
    waiting, done = 0, 0
    for shape, group in groupby(shapes.split(b"\n")[:count]):
        length = sum(1 for _ in group)
        begun, done = done, done + length
        if length < _FEWEST or not _foldable(shape + b"\n") or (done == count and not piece.endswith("\n")):
            waiting += length
            continue
        if waiting:
            yield None, waiting, ends[begun]
            waiting = 0
        yield shape + b"\n", length, ends[done]
    if waiting:
        yield None, waiting, stop


def _foldable(shape: bytes) -> bool:
    """Whether lines of this shape may be folded: they have a text, and no character that `decode` undoes."""
    return len(shape) > 1 and not shape.isspace() and not any(odd in shape for odd in _CONTROL)
