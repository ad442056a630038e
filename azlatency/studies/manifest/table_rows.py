"""The rows of a CSV file, with their lines, and the forms of its cells."""

from __future__ import annotations

import csv
import re
from collections.abc import Collection, Iterator
from typing import NamedTuple

from azlatency.logs.source.decode import Source
from azlatency.logs.source.large import LARGEST_WHOLE, TooLargeError

_SEPARATORS = ",;\t|"
_SAMPLE = 2**16
_OF_EXCEL = re.compile(r"\ufeff?sep=(?P<sign>[,;\t|])\s*(?:\n|\Z)", re.IGNORECASE)
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


def separator_of(source: Source) -> str:
    """Return the sign that occurs most often in the first lines, or that Excel wrote into a line of its own."""
    first = source.whole_text[:_SAMPLE]
    said = _OF_EXCEL.match(first)
    return said["sign"] if said else max(_SEPARATORS, key="\n".join(first.split("\n")[:10]).count)


def table_rows(source: Source) -> Iterator[TableRow]:
    """Yield the rows with their lines; a first line ``sep=;`` is none.

    Raises `TooLargeError` for what does not fit, and for a row that is none.
    """
    if source.size_bytes > LARGEST_WHOLE:
        raise TooLargeError(f"a table of {source.size_bytes} bytes, more than {LARGEST_WHOLE}; split it", 1)
    lines = source.whole_text.split("\n")
    lines = [line + "\n" for line in lines[: len(lines) - (not lines[-1])]]
    reader = csv.reader(lines, delimiter=separator_of(source))
    before = 0
    try:
        for cells in reader:
            if not before and _OF_EXCEL.match(lines[0]):
                before = reader.line_num
                continue
            yield TableRow(before + 1, reader.line_num, [cell.strip() for cell in cells])
            before = reader.line_num
    except csv.Error as error:
        raise TooLargeError(f"no row of a table: {error}; correct the file", before + 1) from None


def rows_of_matrix(rows: Iterator[TableRow], headings: int, named: Collection[str] = ()) -> Iterator[TableRow]:
    """Yield the cells of a matrix, each with the first cell of its row and the heading of its column, as a row.

    The headings may lack the one above the first column. Columns that are ``named`` hold no cells of the matrix; each
    row yielded has theirs.
    """
    columns: list[str] = []
    width = 0
    kept: list[int] = []
    for row in rows:
        if not columns and row.last_line >= headings:
            columns = row.cells
            wanted = {name.strip().casefold() for name in named}
            kept = [at for at, heading in enumerate(columns) if heading.casefold() in wanted]
            # If one is not there, the message about it names those that are.
            shown = [columns[at] for at in kept] if len(kept) == len(wanted) else columns
            yield row._replace(cells=["row", *shown, "column", "cell"])
        elif columns and any(row.cells):
            width = width or len(row.cells)
            if len(row.cells) != width:
                yield row._replace(cells=row.cells[:1])  # which cell is missing nobody can see
                continue
            shift = width - len(columns)
            own = [row.cells[at + shift] for at in kept]
            for at in range(max(1 - shift, 0), len(columns)):
                if at not in kept:
                    yield row._replace(cells=[row.cells[0], *own, columns[at], row.cells[at + shift]])


def unit_in(heading: str) -> str:
    """Return the unit that a heading contains; empty if it has none, or several."""
    units = {match["unit"] for match in _UNIT.finditer(heading.replace("_", " "))}
    return units.pop() if len(units) == 1 else ""
