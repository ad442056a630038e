"""The rows of a CSV file and their lines."""

from __future__ import annotations

import pytest

from azlatency.logs.source.decode import Source
from azlatency.studies.manifest.table_rows import CELL, table_rows


@pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
def test_rows_have_the_lines_of_the_file(separator: str) -> None:
    text = 'from,to,RTT\n\na,b,1\n"a\nnote",c,2\n'.replace(",", separator)
    rows = [tuple(row) for row in table_rows(Source("t.csv", "0" * 64, len(text), "utf-8", text))]
    assert rows == [
        (1, 1, ["from", "to", "RTT"]), (2, 2, []), (3, 3, ["a", "b", "1"]), (4, 5, ["a\nnote", "c", "2"]),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("cell", "number", "unit"),
    [
        ("1.5", "1.5", None),
        ("1,5 ms", "1,5", "ms"),
        ("850µs", "850", "µs"),
        ("-3", "-3", None),
        ("2e3", "2e3", None),
        ("3 %", "3", "%"),
    ],
)
def test_a_cell_is_a_number_with_or_without_a_unit(cell: str, number: str, unit: str | None) -> None:
    match = CELL.fullmatch(cell)
    assert match is not None and (match["number"], match["unit"]) == (number, unit)
