"""The rows of a CSV file, with their lines, and the forms of its cells."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator
from typing import NamedTuple

from azlatency.logs.source.decode import Source
from azlatency.logs.source.large import LARGEST_WHOLE, TooLargeError

_SEPARATORS = ",;\t|"
#: A number, and its unit if it has one.
CELL = re.compile(
    r"(?P<number>[+-]?[\d.,][\d.,'\u00a0\u202f ]*?(?:[eE][+-]?\d{1,3})?)\s?(?P<unit>[^\W\d_][\w/µμ]{0,15}|%)?"
)
LONGEST_CELL = 40
_UNIT = re.compile(
    r"(?<![^\W\d])(?P<unit>ns|us|µs|μs|ms|usec|msec|milliseconds|microseconds|[kKmMgG]bit/s|[kKmMgG]bps)(?!\w)"
)
DATE = re.compile(r"\d{4}-\d\d-\d\d")


class TableRow(NamedTuple):
    """The cells of a row, and its lines in the file."""

    first_line: int
    last_line: int
    cells: list[str]


def table_rows(source: Source) -> Iterator[TableRow]:
    """Yield the rows with their lines; the separator is the sign that occurs most often in the first lines.

    Raises `TooLargeError` for what does not fit, and for a row that is none.
    """
    if source.size_bytes > LARGEST_WHOLE:
        raise TooLargeError(f"a table of {source.size_bytes} bytes, more than {LARGEST_WHOLE}; split it", 1)
    lines = source.whole_text.split("\n")
    lines = [line + "\n" for line in lines[: len(lines) - (not lines[-1])]]
    sample = "".join(lines[:10])
    separator = max(_SEPARATORS, key=sample.count)
    reader = csv.reader(lines, delimiter=separator)
    before = 0
    try:
        for cells in reader:
            yield TableRow(before + 1, reader.line_num, [cell.strip() for cell in cells])
            before = reader.line_num
    except csv.Error as error:
        raise TooLargeError(f"no row of a table: {error}; correct the file", before + 1) from None


def rows_of_matrix(rows: Iterator[TableRow], headings: int) -> Iterator[TableRow]:
    """Yield the cells of a matrix, each with the first cell of its row and the heading of its column, as a row.

    The headings may lack the one above the first column.
    """
    columns: list[str] = []
    width = 0
    for row in rows:
        if not columns and row.last_line >= headings:
            columns = row.cells
            yield row._replace(cells=["row", "column", "cell"])
        elif columns and any(row.cells):
            width = width or len(row.cells)
            if len(row.cells) != width:
                yield row._replace(cells=row.cells[:1])  # which cell is missing nobody can see
                continue
            for column, cell in zip(columns[max(len(columns) - width + 1, 0) :], row.cells[1:], strict=False):
                yield row._replace(cells=[row.cells[0], column, cell])


def unit_in(heading: str) -> str:
    """Return the unit that a heading contains; empty if it has none, or several."""
    units = {match["unit"] for match in _UNIT.finditer(heading.replace("_", " "))}
    return units.pop() if len(units) == 1 else ""
