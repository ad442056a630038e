"""Tables of plain text, for tests of pages."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from operator import itemgetter
from typing import Any

from azlatency.report.table import Column, Ref, Table


def text_table(
    caption: str, headers: Sequence[str], rows: Sequence[Sequence[str]], right: Iterable[int] = (),
    notes: Sequence[str] = (), refs: Sequence[dict[int, list[Ref]]] = (),
) -> Table[Any]:  # fmt: skip
    """A table of cells; ``right``: columns set flush right; ``refs``: references of each row by column, -1: the row."""
    places = {id(row): found for row, found in zip(rows, refs, strict=False)}

    def refs_at(column: int) -> Any:
        return lambda row: places.get(id(row), {}).get(column, [])

    columns = [
        Column(header, itemgetter(index), align="right" if index in right else "left", source=refs_at(index))
        for index, header in enumerate(headers)
    ]
    return Table(caption, columns, rows, notes, refs_at(-1))
