"""The rows of a table, of which some are kept as columns until somebody asks for one of them.

A document with thousands of numbers of the same kind needs neither a dictionary nor a Python number for each. The rows
of a large log move into a temporary file.
"""

from __future__ import annotations

import tempfile
from array import array
from collections.abc import Iterable, Iterator, MutableSequence
from heapq import heappop, heappush, heapreplace
from itertools import pairwise, repeat
from operator import itemgetter
from typing import IO, TYPE_CHECKING, Any, NamedTuple, TypeAlias

from azlatency.logs.spool import Spool, Stored

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray

    #: A value for each row, or one that all rows have.
    Column: TypeAlias = "list[Any] | Repeating | array[int] | NDArray[np.generic] | str | int | float | bool | None"

Row = dict[str, Any]
#: Fewer rows of a large log are not worth columns of their own.
_FEWEST = 2**7


class Repeating(NamedTuple):
    """A column that has its values again and again, or with ``each`` the first one several times, then the next one."""

    values: list[Any]
    each: bool = False

    def to_list(self, length: int) -> list[Any]:
        """Return the values of a column of a length, which is a multiple of their number."""
        times = length // len(self.values)
        return [value for value in self.values for _ in range(times)] if self.each else self.values * times


class Columns:
    """Rows of one table as columns.

    Parameters
    ----------
    length : int
        Number of rows.
    columns : dict
        By name a list, `Repeating`, array or NumPy array with a value for each row, or one value that all rows have.
    """

    def __init__(self, length: int, columns: dict[str, Column]) -> None:
        self._length, self._columns = length, columns

    def __len__(self) -> int:
        return self._length

    def __iter__(self) -> Iterator[Row]:
        """Build the rows."""
        names, columns = list(self._columns), map(self._values, self._columns.values())
        return (dict(zip(names, values, strict=True)) for values in zip(*columns, strict=True))

    def _values(self, column: Column) -> Iterable[Any]:
        if isinstance(column, list):
            return column
        if isinstance(column, Repeating):
            return column.to_list(self._length)
        return repeat(column, self._length) if _is_one_value(column) else column.tolist()  # type: ignore[union-attr]

    def to_arrow(self, arrow_schema: pa.Schema) -> pa.Table:
        """Return the rows as a table with a schema."""
        import numpy as np
        import pyarrow as pa

        arrays = []
        for field in arrow_schema:
            column = self._columns.get(field.name)
            if column is None:
                arrays.append(pa.nulls(self._length, field.type))
            elif _is_one_value(column):
                arrays.append(pa.repeat(pa.scalar(column, field.type), self._length))
            elif isinstance(column, Repeating):
                arrays.append(pa.array(column.to_list(self._length), field.type))
            else:  # a NumPy array is copied in one piece
                plain = np.frombuffer(column, dtype=np.int64) if isinstance(column, array) else column
                arrays.append(pa.array(plain, field.type))
        return pa.table(arrays, schema=arrow_schema)


class _ColumnsInFile:
    """Columns that are read from a temporary file whenever they are needed."""

    def __init__(self, columns: Columns, file: IO[bytes]) -> None:
        self._length, self.stored = len(columns), Stored([columns], file)

    def __len__(self) -> int:
        return self._length

    def __iter__(self) -> Iterator[Row]:
        return iter(self.load())

    def load(self) -> Columns:
        """Return the columns."""
        return self.stored.load()[0]

    def to_arrow(self, arrow_schema: pa.Schema) -> pa.Table:
        """Return the rows as a table with a schema."""
        return self.load().to_arrow(arrow_schema)

    def __reduce__(self) -> tuple[Any, ...]:
        return _itself, (self.load(),)  # for another process


def _itself(columns: Columns) -> Columns:
    return columns


def _is_one_value(column: Column) -> bool:
    return column is None or isinstance(column, str | int | float)


class Rows(Spool[Row]):
    """Rows in the order of the log; iterating does not keep those that are built from columns or read from a file.

    Parameters
    ----------
    items : list of dict
        The first rows.
    settles : bool
        See `Spool`.
    in_file : bool
        Whether columns that are added move into a temporary file.
    """

    def __init__(self, items: list[Row] | None = None, *, settles: bool = True, in_file: bool = False) -> None:
        super().__init__(items, settles=settles)
        self._in_file = in_file
        self._file: IO[bytes] | None = None

    def __reduce__(self) -> tuple[Any, ...]:
        return Rows, (), {**self.__dict__, "_in_file": False, "_file": None}  # for another process

    def _kept(self, columns: Columns) -> Any:
        """Return what is added to the parts for columns."""
        if not self._in_file:
            return columns
        if self._file is None:
            self._file = tempfile.TemporaryFile(prefix="azlatency-")  # noqa: SIM115  # closed with its last columns
        return _ColumnsInFile(columns, self._file)

    def extend(self, values: Iterable[Row]) -> None:
        """Add rows; those of other `Columns` and `Rows` are not built."""
        if isinstance(values, Rows) and self._in_file:
            for part in values._parts:  # into one file, because a process can have few open at a time
                self.extend(part.load() if isinstance(part, _ColumnsInFile) else part)
        elif isinstance(values, Columns) and not (self._in_file and len(values) < _FEWEST):
            self.add_part(self._kept(values))
        else:
            super().extend(values)

    def sorted_by(self, column: str) -> Rows:
        """Return the rows in ascending order of a column; equal ones keep their order."""
        if all(row[column] <= later[column] for row, later in pairwise(self)):
            return self
        lows = [(min(row[column] for row in part), number) for number, part in enumerate(self._parts) if len(part)]
        rows, opened = Rows(), list[tuple[Any, int, Row, Iterator[Row]]]()
        # Most rows are in order, so that few parts are needed at a time.
        for low in (*sorted(lows), None):
            while opened and (low is None or opened[0][:2] < low):
                _, number, row, others = opened[0]
                rows.append(row)
                if (following := next(others, None)) is None:
                    heappop(opened)
                else:
                    heapreplace(opened, (following[column], number, following, others))
            if low is not None:
                others = iter(sorted(self._parts[low[1]], key=itemgetter(column)))
                heappush(opened, (*low, next(others), others))
        return rows

    def tables(self, arrow_schema: pa.Schema, fewest: int = 0) -> Iterator[pa.Table]:
        """Yield the rows as tables with a schema, each of at least ``fewest`` rows but the last."""
        import pyarrow as pa

        waiting: list[pa.Table] = []
        for part in self._parts:
            waiting.append(rows_to_arrow(part, arrow_schema))
            if sum(table.num_rows for table in waiting) >= fewest:
                yield pa.concat_tables(waiting)
                waiting.clear()
        if waiting:
            yield pa.concat_tables(waiting)

    def to_arrow(self, arrow_schema: pa.Schema) -> pa.Table:
        """Return the rows as a table with a schema."""
        import pyarrow as pa

        return pa.concat_tables(self.tables(arrow_schema))


def joined(rows: MutableSequence[Row], more: Iterable[Row]) -> MutableSequence[Row]:
    """Return ``rows`` with more rows at the end, as `Rows` if some of them are columns."""
    if isinstance(rows, list) and isinstance(more, Rows | Columns):
        rows = Rows(rows, settles=False)
    rows.extend(more)
    return rows


def rows_to_arrow(rows: Iterable[Row], arrow_schema: pa.Schema) -> pa.Table:
    """Return rows as a table with a schema; an absent key is a missing value."""
    import pyarrow as pa

    if isinstance(rows, Rows | Columns | _ColumnsInFile):
        return rows.to_arrow(arrow_schema)
    rows = rows if isinstance(rows, list) else list(rows)  # those in a file are read once
    return pa.table({name: _column(rows, name) for name in arrow_schema.names}, schema=arrow_schema)


def _column(rows: list[Row], name: str) -> list[Any]:
    try:
        return list(map(itemgetter(name), rows))
    except KeyError:
        return [row.get(name) for row in rows]
