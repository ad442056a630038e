"""What keeps a log of any size within bounded memory: text that stays in its file, and columns that move into one.

`FileText` is the text of a large log; the lines are built from pieces of it. `Integers` is a column of samples of which
only the last million are in memory. `Labels` and `Repeated` are columns of text that store a number, or one value.
"""

from __future__ import annotations

import os
import tempfile
from array import array
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import IO, TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

#: Stands for a missing value in a column of 64-bit integers.
NULL = -(2**63)
#: A longer column is kept in a temporary file.
MOST_IN_MEMORY = 2**20
_WINDOW = 4096
#: Fewer values need no numpy, whose import takes longer than to compare them.
_FEW = 2**14


#: Of larger files, only samples fit into memory: rows, runs and JSON are objects in memory.
LARGEST_WHOLE = 256 * 1024**2


class TooLargeError(Exception):
    """A part of a log, whose line is given, does not fit into memory."""

    def __init__(self, text: str, line: int) -> None:
        super().__init__(text)
        self.line = line


class FileText:
    """The text of a file in UTF-8, with the methods of `str` that reading its lines needs. Positions count bytes.

    The file is closed with the last reference to it.
    """

    def __init__(self, file: IO[bytes], size: int, line_feeds: int) -> None:
        self._file, self._size, self._line_feeds = file, size, line_feeds

    def __len__(self) -> int:
        return self._size

    def __getitem__(self, part: slice) -> str:
        start, stop, _ = part.indices(self._size)
        return self.read(start, stop).decode()

    def read(self, start: int, stop: int) -> bytes:
        """Return the bytes between two positions."""
        self._file.seek(start)
        raw = self._file.read(stop - start)
        if len(raw) < stop - start:
            raise OSError("the file became shorter while it was read")
        return raw

    def count(self, mark: str) -> int:
        """Return the number of line feeds."""
        return self._line_feeds

    def endswith(self, mark: str) -> bool:
        """Return whether a line feed is the last character."""
        return self.read(self._size - 1, self._size) == mark.encode()

    def find(self, mark: str, start: int, stop: int | None = None) -> int:
        """Return the position of the first line feed between two positions, or -1."""
        stop, width = self._size if stop is None else min(stop, self._size), _WINDOW
        while start < stop:
            raw = self.read(start, min(start + width, stop))
            if (place := raw.find(mark.encode())) >= 0:
                return start + place
            start, width = start + len(raw), 2 * width
        return -1

    def rfind(self, mark: str, start: int, stop: int) -> int:
        """Return the position of the last line feed between two positions, or -1."""
        stop, width = min(stop, self._size), _WINDOW
        while start < stop:
            raw = self.read(max(stop - width, start), stop)
            stop, width = stop - len(raw), 2 * width
            if (place := raw.rfind(mark.encode())) >= 0:
                return stop + place
        return -1

    def index(self, mark: str, start: int) -> int:
        """Return the position of the first line feed from ``start`` on; `ValueError` if there is none."""
        return _found(self.find(mark, start))

    def rindex(self, mark: str, start: int, stop: int) -> int:
        """Return the position of the last line feed between two positions; `ValueError` if there is none."""
        return _found(self.rfind(mark, start, stop))


def count_line_feeds(data: bytes) -> int:
    """Return the number of line feeds, in a fifth of the time of `bytes.count` where lines are short."""
    import numpy as np

    return int(np.count_nonzero(np.frombuffer(data, np.uint8) == ord("\n")))


def _found(place: int) -> int:
    if place < 0:
        raise ValueError("substring not found")
    return place


class Integers(Sequence[Any]):
    """A column of integers in a temporary file; `NULL` is a missing value, which is read as None."""

    def __init__(self, values: array[int] | bytearray = array("q")) -> None:  # noqa: B008  # never changed
        self._code = values.typecode if isinstance(values, array) else "B"
        self._tail = array(self._code)
        self._width = self._tail.itemsize
        self._file: IO[bytes] | None = None
        # Missing values at the start, and values in the file. The others are in the tail.
        self._missing = self._stored = 0
        self.frombytes(memoryview(values).cast("B") if values else b"")

    def __len__(self) -> int:
        return self._missing + self._stored + len(self._tail)

    def append(self, value: int | None) -> None:
        """Add one value."""
        value = NULL if value is None else value
        if value == NULL and not self._stored and not self._tail:
            self._missing += 1
            return
        self._tail.append(value)
        self._spill()

    def frombytes(self, raw: bytes | memoryview) -> None:
        """Add the values in the bytes of an array of the same type."""
        null = NULL.to_bytes(8, "little", signed=True)
        if not self._stored and not self._tail and self._code == "q" and raw[:8] == null:
            count = len(raw) // self._width
            if bytes(raw) == null * count:
                self._missing += count
                return
        room = MOST_IN_MEMORY - len(self._tail) if self._file is None else 0
        if len(raw) < max(_WINDOW, room * self._width):
            self._tail.frombytes(raw)
            self._spill()
        else:
            self._write(self._tail)
            self._write(raw)
            self._tail = array(self._code)

    def extend(self, values: bytes | array[int]) -> None:
        """Add many values."""
        self.frombytes(bytes(values))

    def _spill(self) -> None:
        if len(self._tail) < MOST_IN_MEMORY:
            return
        self._write(self._tail)
        self._tail = array(self._code)

    def _write(self, values: array[int] | bytes | memoryview) -> None:
        if self._file is None:
            self._file = tempfile.TemporaryFile(prefix="azlatency-", buffering=0)  # noqa: SIM115  # closed with the column
        raw = memoryview(values).cast("B") if values else memoryview(b"")
        self._file.seek(0, os.SEEK_END)
        if self._file.write(raw) != len(raw):
            raise OSError("the disk with the temporary files is full")
        self._stored += len(raw) // self._width

    def __getitem__(self, index: int | slice) -> Any:
        """Return one value, or several as an array with `NULL` for missing values."""
        if isinstance(index, slice):
            start, stop, _ = index.indices(len(self))
            return self._values(start, stop)
        at = range(len(self))[index]
        in_tail = at - self._missing - self._stored
        value = self._tail[in_tail] if in_tail >= 0 else int(self._values(at, at + 1)[0])
        return None if value == NULL else value

    def __setitem__(self, index: int, value: int) -> None:
        index = range(len(self))[index]
        if index < self._missing:
            if value == NULL:
                return
            self._tail = array(self._code, self._values(0, len(self)).tobytes())
            self._file, self._missing, self._stored = None, 0, 0
            self._spill()
        at = index - self._missing
        if at >= self._stored:
            self._tail[at - self._stored] = value
            return
        assert self._file is not None
        self._file.seek(at * self._width)
        self._file.write(array(self._code, [value]))

    def _values(self, start: int, stop: int) -> NDArray[np.int64]:
        import numpy as np

        first, last = max(start - self._missing, 0), max(stop - self._missing, 0)
        parts = [array(self._code, [NULL]) * (max(stop - start, 0) - (last - first))] if self._code == "q" else []
        if first < self._stored and self._file is not None:
            self._file.seek(first * self._width)
            count = min(last, self._stored) - first
            parts.append(array(self._code, self._file.read(count * self._width)))
        if last > self._stored:
            parts.append(self._tail[max(first - self._stored, 0) : last - self._stored])
        return np.frombuffer(b"".join(parts), dtype=self._code)

    def pieces(self) -> Iterator[NDArray[np.int64]]:
        """Yield all values piece by piece, with `NULL` for missing values."""
        for start in range(0, len(self), MOST_IN_MEMORY):
            yield self[start : start + MOST_IN_MEMORY]

    def map(self, function: Callable[[NDArray[np.int64]], NDArray[np.int64]]) -> Integers:
        """Return a new column with ``function`` applied to the values that are not missing."""
        import numpy as np

        column = Integers()
        for piece in self.pieces():
            column.frombytes(np.where(piece == NULL, NULL, function(piece)).tobytes())
        return column

    def __iter__(self) -> Iterator[Any]:
        for piece in self.pieces():
            yield from (None if value == NULL else value for value in piece.tolist())

    def __contains__(self, value: object) -> bool:
        return any(bool((piece == value).any()) for piece in self.pieces())

    def count(self, value: Any) -> int:
        """Return how many values are equal to ``value``."""
        return sum(int((piece == value).sum()) for piece in self.pieces())

    def __reduce__(self) -> tuple[Any, ...]:
        values = array(self._code)
        for piece in self.pieces():
            values.frombytes(piece.tobytes())
        return Integers, (values,)


Column: TypeAlias = "array[int] | Integers"


def extended(column: Column, values: NDArray[np.int64]) -> Column:
    """Add values to a column and return it, or the `Integers` that take its place once it is long."""
    column.frombytes(values.ravel().view("B").data)
    return Integers(column) if isinstance(column, array) and len(column) > MOST_IN_MEMORY else column


def pieces_of(column: Column) -> Iterator[NDArray[np.int64]]:
    """Yield all values of a column piece by piece, with `NULL` for missing values."""
    if isinstance(column, Integers):
        yield from column.pieces()
    else:
        import numpy as np

        yield np.array(column)


def extremes(column: Column) -> tuple[int, int]:
    """Return the least and the greatest value of a column that are not missing; at least one must not be."""
    if isinstance(column, array) and len(column) < _FEW:
        known = [value for value in column if value != NULL] if NULL in column else column
        return min(known), max(known)
    pieces = (piece[piece != NULL] for piece in pieces_of(column))
    ends = [(int(piece.min()), int(piece.max())) for piece in pieces if len(piece)]
    return min(low for low, _ in ends), max(high for _, high in ends)


def total(column: Column) -> int:
    """Return the sum of the values of a column without missing values."""
    return sum(int(piece.sum()) for piece in pieces_of(column))


def least(column: Column | Sequence[int | None]) -> int | None:
    """Return the least value of a column; None if all are missing."""
    if isinstance(column, Integers):
        return None if column.count(NULL) == len(column) else extremes(column)[0]
    return min((value for value in column if value is not None and value != NULL), default=None)


def linear(column: Column | Sequence[int | None], first: int, step: int) -> Sequence[int | None]:
    """Return ``(value - first) * step`` of each value that is not missing."""
    if isinstance(column, array) and len(column) > _WINDOW:
        column = Integers(column)
    if isinstance(column, Integers):
        return column.map(lambda values: (values - first) * step)
    return [None if value is None or value == NULL else (value - first) * step for value in column]


def nullable(column: Column) -> Sequence[int | None]:
    """Return the column as it is if it is complete, else as a list with None for `NULL`."""
    if isinstance(column, Integers) or not (nulls := column.count(NULL)):
        return column
    if nulls == len(column):
        return Repeated(None, nulls)
    return [None if value == NULL else value for value in column]


def frequencies(column: Column) -> Mapping[int, int]:
    """Return how often each value of a column occurs."""
    if isinstance(column, array):
        return Counter(column)
    import numpy as np

    total: Counter[int] = Counter()
    for piece in column.pieces():
        values, counts = np.unique(piece, return_counts=True)
        total.update(dict(zip(values.tolist(), counts.tolist(), strict=True)))
    return total


class Repeated(Sequence[Any]):
    """A column of ``length`` equal values."""

    def __init__(self, value: str | None, length: int) -> None:
        self.value, self._length = value, length

    def __len__(self) -> int:
        return self._length

    def __getitem__(self, index: int | slice) -> Any:
        place = range(self._length)[index]
        return Repeated(self.value, len(place)) if isinstance(place, range) else self.value


class Labels(Sequence[Any]):
    """A column of texts, stored as their indexes in ``labels``."""

    def __init__(self, indexes: Integers, labels: Sequence[str]) -> None:
        self._indexes, self._labels = indexes, labels

    def __len__(self) -> int:
        return len(self._indexes)

    def __getitem__(self, index: int | slice) -> Any:
        indexes = self._indexes[index]
        return [self._labels[value] for value in indexes] if isinstance(index, slice) else self._labels[indexes]

    def __iter__(self) -> Iterator[str]:
        for piece in self._indexes.pieces():
            yield from (self._labels[value] for value in piece.tolist())
