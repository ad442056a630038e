"""Write the tables of a study to ``data/processed/<study>``.

A study is replaced as a whole: the tables are written to a temporary folder, which is then renamed. A reader finds
either the old tables or the new ones.
"""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from azlatency.logs import schema
from azlatency.logs.record import SampleBlock
from azlatency.logs.tables import sample_tables
from azlatency.studies.manifest import Manifest, read_baseline, read_reported
from azlatency.studies.parts import part_names
from azlatency.studies.store import PARSED_RUNS, STAMP_FILE, Stamp, large_file, large_files

if TYPE_CHECKING:
    import pyarrow as pa

#: Tables with at most this many rows are also written as CSV.
CSV_ROWS = 10_000


def write_study(
    folder: Path,
    files: Mapping[str, Sequence[pa.Table | None]],
    stamp: Stamp,
    manifest: Manifest,
    large: Mapping[str, LargeTables | None] | None = None,
) -> None:
    """Write all files of a study, then replace its folder.

    ``files`` has the parts of each table by its stem; None stands for a file of the old folder. ``large`` are the
    samples and other long tables of large logs by source; None if they are in the old folder.
    """
    staging = folder.with_name(f".{folder.name}.{os.getpid()}.new")
    shutil.rmtree(staging, ignore_errors=True)
    (staging / "samples").mkdir(parents=True)
    try:
        description = {
            "name": stamp["study"],
            **manifest.study,
            "scenarios": manifest.scenarios(),
            "conclusions": manifest.conclusions,
            "unquantified": read_baseline(manifest, "unquantified"),
        }
        for source_id, tables in (large or {}).items():
            if tables is None:
                _link(folder, staging, (file for file in large_files(folder) if file.name == large_file(source_id)))
            else:
                tables.save(staging, large_file(source_id))
        for stem, parts in files.items():
            whole = len(parts) == 1 and not (staging / stem).is_dir()
            for name, part in zip(part_names(stem, len(parts)), parts, strict=True):
                if part is None:
                    _link(folder, staging, folder.glob(f"{name.removesuffix('.parquet')}.*"))
                elif stem in schema.TABLES:
                    _write_table(staging / name, part, with_csv=whole)
                else:
                    _write_part(staging / name, part, **({} if stem == PARSED_RUNS else _SAMPLES))
        _write_json(staging / "study.json", description)
        _write_json(staging / "expectations.json", read_baseline(manifest, "expectation"))
        _write_json(staging / "reported.json", read_reported(manifest))
        written = (path for path in staging.rglob("*") if path.is_file() and path.suffix != ".csv")
        stamp["tables"] = sorted(path.relative_to(staging).as_posix() for path in written)
        _write_json(staging / STAMP_FILE, stamp, indent=None)
        _replace(folder, staging)
    finally:
        shutil.rmtree(staging, ignore_errors=True)
        with suppress(OSError):  # it exists and is not empty, unless this import created it and failed
            folder.parent.rmdir()


def _replace(folder: Path, staging: Path) -> None:
    old = folder.with_name(f".{folder.name}.{os.getpid()}.old")
    if folder.exists():
        os.rename(folder, old)
    os.rename(staging, folder)
    shutil.rmtree(old, ignore_errors=True)


def _link(folder: Path, staging: Path, files: Iterable[Path]) -> None:
    for file in files:
        target = staging / file.relative_to(folder)
        target.parent.mkdir(parents=True, exist_ok=True)
        try:
            os.link(file, target)
        except OSError:  # a file system without hard links
            shutil.copy2(file, target)


def _write_part(path: Path, part: pa.Table, **options: Any) -> None:
    """Write a part of a table as Parquet."""
    import pyarrow.parquet as pq

    path.parent.mkdir(exist_ok=True)
    pq.write_table(part.combine_chunks(), path, **{"compression": "zstd", **options})


def _write_table(path: Path, table: pa.Table, *, with_csv: bool = True) -> None:
    """Write a table or a part of it as Parquet, and a whole one as CSV, too, if a spreadsheet can open it."""
    _write_part(path, table)
    if with_csv and table.num_rows <= CSV_ROWS:
        from pyarrow import csv

        csv.write_csv(_escape_formulas(table), path.with_suffix(".csv"))


def _escape_formulas(table: pa.Table) -> pa.Table:
    """Put an apostrophe before text that a spreadsheet would execute as a formula, as OWASP advises.

    Numbers stay as printed. Only the CSV file is escaped; Parquet contains the text of the log.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    for index, column in enumerate(table.columns):
        if not pa.types.is_string(column.type):
            continue
        formula = pc.match_substring_regex(column, r"^[=+@\t\r-]")
        if not pc.any(formula).as_py():
            continue
        number = pc.match_substring_regex(column, r"^[+-]?[0-9.,]+$")
        escaped = pc.binary_join_element_wise("'", column, "")
        text = pc.if_else(pc.and_(formula, pc.invert(number)), escaped, column)
        table = table.set_column(index, table.schema.field(index), text)
    return table


#: How samples are written: about 4 bytes each.
_SAMPLES: dict[str, Any] = {
    "compression": "zstd",
    "use_dictionary": ["run_id", "status"],
    "column_encoding": dict.fromkeys(("seq", "sent_ns", "rtt_ns", "low_ns", "high_ns"), "DELTA_BINARY_PACKED"),
}


class LargeTables:
    """The samples of one large log by tool, and its other long tables, which travel between processes as their bytes.

    Attributes
    ----------
    marks : list of tuple
        Of each run with rows in these tables: its id, mark and number of values (`copies.value_marks`).
    """

    def __init__(self, content: Mapping[str, bytes] | None = None, marks: Iterable[tuple[str, int, int]] = ()) -> None:
        self._files: dict[str, IO[bytes]] = {}
        self.marks = list(marks)
        for place, raw in (content or {}).items():
            self._open(place).write(raw)

    def _open(self, place: str) -> IO[bytes]:
        return self._files.setdefault(place, tempfile.TemporaryFile(prefix="azlatency-"))

    def write_samples(self, blocks: Iterable[SampleBlock]) -> None:
        """Write the samples of a log, part by part."""
        parts = ((f"samples/tool={table['tool'][0]}", table.drop_columns(["tool"])) for table in sample_tables(blocks))
        self._write(parts, **_SAMPLES)

    def write_table(self, name: str, tables: Iterable[pa.Table]) -> None:
        """Write another table of a log, part by part."""
        self._write(((name, table) for table in tables), compression="zstd")

    def _write(self, parts: Iterable[tuple[str, pa.Table]], **options: Any) -> None:
        import pyarrow.parquet as pq

        with ExitStack() as stack:
            writers: dict[str, Any] = {}
            for place, part in parts:
                if place not in writers:
                    writers[place] = stack.enter_context(pq.ParquetWriter(self._open(place), part.schema, **options))
                writers[place].write_table(part.combine_chunks())

    def save(self, folder: Path, name: str) -> None:
        """Copy the files to the folders of their tables."""
        for place, file in self._files.items():
            (folder / place).mkdir(exist_ok=True)
            file.seek(0)
            with (folder / place / name).open("wb") as target:
                shutil.copyfileobj(file, target)

    def __reduce__(self) -> tuple[Any, ...]:
        content = {}
        for place, file in self._files.items():
            file.seek(0)
            content[place] = file.read()
        return LargeTables, (content, self.marks)


def _write_json(path: Path, content: Any, indent: int | None = 1) -> None:
    # Dates of TOML become text. A path may contain bytes that are not UTF-8. Without indentation, it takes a tenth of
    # the time.
    path.write_text(json.dumps(content, ensure_ascii=True, indent=indent, default=str) + "\n", "utf-8")
