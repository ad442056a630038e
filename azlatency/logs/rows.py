"""The rows of a table, of which some are kept as columns until somebody asks for one of them.

A document with thousands of numbers of the same kind needs neither a dictionary nor a Python number for each.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, MutableSequence
from itertools import chain, repeat
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray

    #: A value for each row, or one that all rows have.
    Column = list[Any] | array[int] | NDArray[np.generic] | str | int | float | bool | None

Row = dict[str, Any]


class Columns:
    """Rows of one table as columns.

    Parameters
    ----------
    length : int
        Number of rows.
    columns : dict
        By name a list, array or NumPy array with a value for each row, or one value that all rows have.
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
            else:  # a NumPy array is copied in one piece
                plain = np.frombuffer(column, dtype=np.int64) if isinstance(column, array) else column
                arrays.append(pa.array(plain, field.type))
        return pa.table(arrays, schema=arrow_schema)


def _is_one_value(column: Column) -> bool:
    return column is None or isinstance(column, str | int | float)


class Rows(MutableSequence[Row]):
    """Rows in the order of the log; iterating does not keep those that are built from columns.

    Parameters
    ----------
    rows : list of dict
        The first rows.
    """

    def __init__(self, rows: list[Row]) -> None:
        self._parts: list[list[Row] | Columns] = [rows]

    def _built(self) -> list[Row]:
        """Return all rows, which stay built."""
        (*others, last) = self._parts
        if others or isinstance(last, Columns):
            last = list(self)
            self._parts = [last]
        return last

    def __len__(self) -> int:
        return sum(map(len, self._parts))

    def __iter__(self) -> Iterator[Row]:
        return chain.from_iterable(self._parts)

    def __eq__(self, other: object) -> bool:
        return list(self) == list(other) if isinstance(other, Rows | list) else NotImplemented

    __hash__ = None  # type: ignore[assignment]

    def __getitem__(self, index: Any) -> Any:
        return self._built()[index]

    def __setitem__(self, index: Any, row: Any) -> None:
        self._built()[index] = row

    def __delitem__(self, index: int | slice) -> None:
        del self._built()[index]

    def insert(self, index: int, value: Row) -> None:
        """Add a row before the one with this index."""
        if index < len(self):
            self._built().insert(index, value)
        elif isinstance(last := self._parts[-1], list):
            last.append(value)
        else:
            self._parts.append([value])

    def extend(self, values: Iterable[Row]) -> None:
        """Add rows; those of other `Columns` and `Rows` are not built."""
        if isinstance(values, Rows):
            for part in list(values._parts):
                self.extend(part)
        else:
            self._parts.append(values if isinstance(values, Columns) else list(values))

    def to_arrow(self, arrow_schema: pa.Schema) -> pa.Table:
        """Return the rows as a table with a schema."""
        import pyarrow as pa

        return pa.concat_tables([rows_to_arrow(part, arrow_schema) for part in self._parts])


def joined(rows: MutableSequence[Row], more: Iterable[Row]) -> MutableSequence[Row]:
    """Return ``rows`` with more rows at the end, as `Rows` if some of them are columns."""
    if isinstance(rows, list) and isinstance(more, Rows | Columns):
        rows = Rows(rows)
    rows.extend(more)
    return rows


def rows_to_arrow(rows: Iterable[Row], arrow_schema: pa.Schema) -> pa.Table:
    """Return rows as a table with a schema; an absent key is a missing value."""
    import pyarrow as pa

    if isinstance(rows, Rows | Columns):
        return rows.to_arrow(arrow_schema)
    return pa.table({name: [row.get(name) for row in rows] for name in arrow_schema.names}, schema=arrow_schema)
