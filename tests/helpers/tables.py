"""Tables of plain text, for tests of pages."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from operator import itemgetter
from typing import Any

from azlatency.kit.cells import Column, Ref, Table
from azlatency.studies.store.study import Study


def text_table(
    caption: str,
    headers: Sequence[str],
    rows: Sequence[Sequence[str]],
    right: Iterable[int] = (),
    notes: Sequence[str] = (),
    refs: Sequence[dict[int, list[Ref]]] = (),
) -> Table:
    """A table of cells; ``right``: columns set flush right; ``refs``: references of each row by column, -1: the row."""
    places = {id(row): ref for row, ref in zip(rows, refs, strict=False)}

    def refs_at(column: int) -> Any:
        return lambda row: places.get(id(row), {}).get(column, [])

    columns = [
        Column(header, itemgetter(index), align="right" if index in right else "left", source=refs_at(index))
        for index, header in enumerate(headers)
    ]
    return Table(caption, columns, rows, notes, refs_at(-1))


def cell(table: object, row: str, column: str) -> str:
    """Return the text of a cell: the first row whose first cells start with ``row``, the column with that header."""
    return _cells(table, row)[_shown(table).headers.index(column)]


def logs_behind(study: Study, table: object, row: str) -> set[str]:
    """Return the paths of the logs whose runs a row is computed from."""
    shown = _shown(table)
    place = shown.cells.index(_cells(table, row))
    references = shown.record()["rows"][place]["refs"]
    run_ids = {run_id for reference in references for run_id in reference.get("run_ids", ())}
    sources = study.runs[study.runs["run_id"].isin(run_ids)]["source_id"]
    return set(study.sources[study.sources["source_id"].isin(sources)]["path"])


def _cells(table: object, row: str) -> tuple[str, ...]:
    return next(cells for cells in _shown(table).cells if ", ".join(cells).startswith(row))


def _shown(table: object) -> Table:
    assert isinstance(table, Table), table
    return table
