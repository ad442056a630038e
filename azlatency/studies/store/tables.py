"""The files of a study's tables: one per table, of the samples one per tool and one per large log and tool."""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Set
from pathlib import Path
from typing import IO

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from azlatency.logs import schema

#: The table ``runs`` without what the manifest added.
PARSED_RUNS = "parsed_runs"
#: Names of files with samples: a copy that begins with a dot (macOS leaves ``._part-0.parquet``) is none.
TABLE_FILES = "[!.]*.parquet"
#: A file with more rows is read by several threads.
_THREADS = 2**20


def stored_schema(name: str) -> pa.Schema:
    """Return the schema of the files of a table."""
    # Equal logs give equal files, whenever they are imported; the tool is in the name of the folder.
    left_out = {"sources": "imported_at", "samples": "tool"}.get(name)
    table_schema = schema.arrow_schema("runs" if name == PARSED_RUNS else name)
    return table_schema.remove(table_schema.get_field_index(left_out)) if left_out else table_schema


def sample_folder(tool: str) -> str:
    """Return the folder of the samples of a tool, in that of the study."""
    return f"samples/tool={tool}"


def large_file(source_id: str) -> str:
    """Return the name of the files with the samples of one large log."""
    return f"source-{source_id}.parquet"


def large_files(folder: Path) -> list[tuple[str, Path]]:
    """Return the source and the path of each file with the samples of a large log."""
    files = sorted(folder.glob(f"{sample_folder('*')}/{large_file('*')}"))
    return [(source_of(file), file) for file in files]


def source_of(file: Path) -> str:
    """Return the source whose samples a file of a large log has."""
    return file.stem.removeprefix("source-")


def read_stored(folder: Path, name: str) -> pa.Table:
    """Read the file of a table; the samples without those of large logs, with the column ``tool``."""
    if name != "samples":
        return read_file(folder / f"{name}.parquet", stored_schema(name))
    table_schema = schema.arrow_schema("samples")
    files = sorted(folder.glob(f"{sample_folder('*')}/part-0.parquet"))
    return pa.concat_tables([table_schema.empty_table(), *(read_samples(file) for file in files)])


def read_samples(file: Path) -> pa.Table:
    """Read the samples in a file, and add their tool."""
    return samples_of(file, file.parent.name.removeprefix("tool="))


def samples_of(file: Path | IO[bytes], tool: str) -> pa.Table:
    """Read the samples of a tool, and add it."""
    table, table_schema = read_file(file, stored_schema("samples")), schema.arrow_schema("samples")
    of_tool = table.append_column("tool", pa.repeat(pa.scalar(tool), table.num_rows))
    return of_tool.select(table_schema.names).cast(table_schema)


def read_file(file: Path | IO[bytes], table_schema: pa.Schema) -> pa.Table:
    """Read one file. Raises `ValueError` if it has not the columns of the schema."""
    # pyarrow.parquet.read_table imports the package for data sets of many files; threads cost more than a small file.
    with pq.ParquetFile(file) as stored:
        return stored.read(use_threads=stored.metadata.num_rows > _THREADS).cast(table_schema)


def row_groups(file: Path | IO[bytes], columns: Sequence[str]) -> Iterator[pa.Table]:
    """Yield columns of a file by row groups."""
    with pq.ParquetFile(file) as stored:
        for number in range(stored.num_row_groups):
            yield stored.read_row_group(number, list(columns), use_threads=False)


def source_ids(table: pa.Table) -> pa.ChunkedArray:
    """Return the log of each row."""
    # A run id starts with the id of its source.
    return table["source_id"] if "source_id" in table.column_names else pc.utf8_slice_codeunits(table["run_id"], 0, 16)


def select_sources(table: pa.Table, ids: Set[str] | pa.Array) -> pa.Table:
    """Return the rows of some logs."""
    value_set = ids if isinstance(ids, pa.Array) else pa.array(list(ids), pa.string())
    chosen = pc.is_in(source_ids(table), value_set=value_set)
    return table if pc.all(chosen).as_py() else table.filter(chosen)


def in_order(table: pa.Table, order: Sequence[str]) -> pa.Table:
    """Return rows in the order of their logs; the rows of one log keep their order."""
    ranks = pc.index_in(source_ids(table), value_set=pa.array(order, pa.string()))
    return table.take(pc.sort_indices(ranks)) if bool((np.diff(ranks.to_numpy()) < 0).any()) else table
