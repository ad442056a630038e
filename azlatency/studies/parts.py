"""How the tables of a study are divided into files, so that a new log changes few of them.

A table with few rows, or of few logs, is one file. Another one has a power of two of files, its parts; the first digits
of the hash of a log decide to which part its rows belong. The number of parts depends on the numbers of rows and logs
alone, and the rows of a part have the order of the logs. So the same logs give the same files, whatever was imported
before.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence, Set
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray

#: A part has at least so many rows, and the rows of at least so many logs, on average. A spreadsheet gets whole tables
#: only, so a table that is written as CSV too (`azlatency.studies.writer`) must have one part.
_ROWS, _SOURCES = 2**13, 2**9
_MOST = 2**16
#: A file with more rows is read by several threads.
_THREADS = 2**20


def count_parts(rows: int, sources: int) -> int:
    """Return the number of parts of a table with so many rows in a study of so many logs: a power of two."""
    most = min(rows // _ROWS, sources // _SOURCES, _MOST)
    return 1 << max(most.bit_length() - 1, 0)


def part_of(source_id: str, count: int) -> int:
    """Return the part that contains the rows of a log, from 0 to ``count - 1``."""
    return int(source_id[:4], 16) * count >> 16


def part_names(stem: str, count: int) -> list[str]:
    """Return the names of the files of a table, ``metrics.parquet`` or ``metrics-00000-of-00004.parquet`` and so on."""
    if count == 1:
        return [f"{stem}.parquet"]
    stem = stem.removesuffix("-0")  # "part-0" of samples
    return [f"{stem}-{part:05}-of-{count:05}.parquet" for part in range(count)]


def part_files(folder: Path, stem: str) -> list[Path]:
    """Return all files that a stored table must have."""
    whole = folder / f"{stem}.parquet"
    parts = whole.parent.glob(f"{whole.stem.removesuffix('-0')}-*-of-*.parquet")
    some = None if whole.is_file() else next(parts, None)
    count = 1 if some is None else int(some.stem.rpartition("-")[2])
    return [folder / name for name in part_names(stem, count)]


def sample_stems(folder: Path) -> list[str]:
    """Return the stems of the samples of all tools, without the large logs that have files of their own."""
    folders = sorted({file.parent.name for file in (folder / "samples").glob("tool=*/part-*.parquet")})
    return [sample_stem(name.removeprefix("tool=")) for name in folders]


def sample_stem(tool: str) -> str:
    """Return the stem of the samples of a tool."""
    return f"samples/tool={tool}/part-0"


def read_part(file: Path, table_schema: pa.Schema, columns: Sequence[str] | None = None) -> pa.Table:
    """Read one file, or some of its columns. Raises `ValueError` if it has not the columns of the schema."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    if columns is not None:
        table_schema = pa.schema([table_schema.field(name) for name in columns])
    # pyarrow.parquet.read_table imports the package for data sets of many files; threads cost more than a small file.
    with pq.ParquetFile(file) as stored:
        return stored.read(columns, use_threads=stored.metadata.num_rows > _THREADS).cast(table_schema)


def source_ids(table: pa.Table) -> pa.ChunkedArray:
    """Return the log of each row."""
    import pyarrow.compute as pc

    # A run id starts with the id of its source.
    return table["source_id"] if "source_id" in table.column_names else pc.utf8_slice_codeunits(table["run_id"], 0, 16)


def of_sources(table: pa.Table, ids: Set[str] | pa.Array) -> pa.Table:
    """Return the rows of some logs."""
    import pyarrow as pa
    import pyarrow.compute as pc

    value_set = ids if isinstance(ids, pa.Array) else pa.array(list(ids), pa.string())
    chosen = pc.is_in(source_ids(table), value_set=value_set)
    return table if pc.all(chosen).as_py() else table.filter(chosen)


def in_order(table: pa.Table, order: Sequence[str]) -> pa.Table:
    """Return rows in the order of their logs; the rows of one log keep their order."""
    import numpy as np
    import pyarrow as pa
    import pyarrow.compute as pc

    ranks = pc.index_in(source_ids(table), value_set=pa.array(order, pa.string()))
    return table.take(pc.sort_indices(ranks)) if bool((np.diff(ranks.to_numpy()) < 0).any()) else table


def split(table: pa.Table, count: int) -> list[pa.Table]:
    """Return the parts of a table; the rows of each keep their order."""
    import numpy as np

    if count == 1:
        return [table]
    parts = _parts_of_rows(table, count)
    ends = np.cumsum(np.bincount(parts, minlength=count))
    table = table.combine_chunks().take(np.argsort(parts, kind="stable"))
    return [table.slice(start, end - start) for start, end in zip([0, *ends], ends, strict=False)]


def _parts_of_rows(table: pa.Table, count: int) -> NDArray[np.int64]:
    import numpy as np
    import pyarrow as pa

    coded = pa.chunked_array(source_ids(table).chunks, pa.string()).combine_chunks().dictionary_encode()
    of_source = np.array([part_of(source_id, count) for source_id in coded.dictionary.to_pylist()], np.int64)
    return of_source[coded.indices.to_numpy()] if len(of_source) else of_source


def in_groups(tables: Iterable[pa.Table], rows: int) -> Iterator[pa.Table]:
    """Yield the rows of tables in tables of ``rows`` rows in one piece each, the last one with the others."""
    import pyarrow as pa

    waiting: list[pa.Table] = []
    count = 0
    for table in tables:
        waiting.append(table)
        count += table.num_rows
        while count >= rows:
            whole = pa.concat_tables(waiting)
            yield whole.slice(0, rows).combine_chunks()
            waiting, count = [whole.slice(rows)], count - rows
    if count:
        yield pa.concat_tables(waiting).combine_chunks()


@dataclass(frozen=True)
class Change:
    """The logs of a study, now and at the import before.

    Attributes
    ----------
    order, before : sequence of str
        Their ids in the order of the files, now and then.
    kept : set of str
        The logs whose stored rows are still right.
    """

    order: Sequence[str]
    before: Sequence[str] = ()
    kept: Set[str] = frozenset()

    @cached_property
    def _parts(self) -> dict[int, set[int]]:
        return {}

    @cached_property
    def kept_ids(self) -> pa.Array:
        """The logs that are kept."""
        import pyarrow as pa

        return pa.array(list(self.kept), pa.string())

    @cached_property
    def _new(self) -> Set[str] | None:
        """The logs that are new, gone or no longer right; None if the order of the others changed."""
        common = self.kept & set(self.order) & set(self.before)
        if [log for log in self.order if log in common] != [log for log in self.before if log in common]:
            return None
        return set(self.order).union(self.before) - common

    def parts(self, count: int) -> set[int]:
        """Return the parts whose logs, or the order of whose logs, changed."""
        if count not in self._parts and self._new is not None:
            self._parts[count] = {part_of(source_id, count) for source_id in self._new}
        elif count not in self._parts:
            now: list[list[str]] = [[] for _ in range(count)]
            then: list[list[str]] = [[] for _ in range(count)]
            for source_id in self.order:
                now[part_of(source_id, count)].append(source_id)
            for source_id in self.before:
                then[part_of(source_id, count)].append(source_id if source_id in self.kept else "")
            self._parts[count] = {part for part in range(count) if now[part] != then[part]}
        return self._parts[count]


def updated(folder: Path, stem: str, added: pa.Table, change: Change) -> list[pa.Table | None]:
    """Return the parts of a table, with None for those whose stored file is still right.

    ``stem`` is the path of the table's file in ``folder`` without its suffix, ``added`` the rows of all logs that are
    not kept, and ``change`` the logs now and before.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    files = part_files(folder, stem) if change.kept else []
    changed = change.parts(len(files)) if files else set()
    stored = {part: read_part(files[part], added.schema) for part in changed}
    others = [file for part, file in enumerate(files) if part not in changed]
    rows = [*(of_sources(table, change.kept_ids) for table in stored.values()), added]
    count = count_parts(
        sum(table.num_rows for table in rows) + sum(pq.read_metadata(file).num_rows for file in others),
        len(change.order),
    )
    if count != len(files):
        rows += [read_part(file, added.schema) for file in others]
        changed, stored = set(range(count)), {}
    parts = split(in_order(pa.concat_tables(rows), change.order), count) if changed else []
    return [
        None if part not in changed or (part in stored and parts[part].equals(stored[part])) else parts[part]
        for part in range(count)
    ]


def rows_of(
    folder: Path,
    stem: str,
    parts: Sequence[pa.Table | None],
    table_schema: pa.Schema,
    *,
    columns: Sequence[str] | None = None,
    ids: Set[str] | None = None,
) -> pa.Table:
    """Return the rows of a table, or those of some logs, from its new parts and the stored files of the others.

    ``columns`` selects columns, among which are the ids.
    """
    import pyarrow as pa

    names = part_names(stem, len(parts))
    wanted = range(len(parts)) if ids is None else sorted({part_of(source_id, len(parts)) for source_id in ids})
    tables = []
    for number in wanted:
        part = parts[number]
        if part is None:
            part = read_part(folder / names[number], table_schema, columns)
        elif columns is not None:
            part = part.select(columns)
        tables.append(part if ids is None else of_sources(part, ids))
    return pa.concat_tables(tables or [table_schema.empty_table()])
