"""Write the tables of a study to ``data/processed/<study>``.

A study is replaced as a whole: the tables are written to a temporary folder, which is then renamed. A reader finds
either the old tables or the new ones.
"""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from azlatency.logs import schema
from azlatency.logs.record import SampleBlock
from azlatency.logs.tables import sample_tables
from azlatency.studies.manifest import Manifest, read_baseline, read_reported
from azlatency.studies.parts import in_groups, part_names
from azlatency.studies.store import PARSED_RUNS, Stamp, digest, large_file, large_files, write_stamp

if TYPE_CHECKING:
    import pyarrow as pa

#: Tables with at most this many rows are also written as CSV.
CSV_ROWS = 10_000


def write_study(
    folder: Path,
    files: Mapping[str, Sequence[pa.Table | None]],
    stamp: Stamp,
    manifest: Manifest,
    large: Mapping[str, LargeTables] | None = None,
) -> None:
    """Write all files of a study, then replace its folder.

    ``files`` has the parts of each table by its stem; None stands for a file of the old folder. ``large`` are the
    long tables of large logs by source.
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
            tables.save(staging, large_file(source_id))
        for stem, parts in files.items():
            whole = len(parts) == 1 and not (staging / stem).is_dir()
            for name, part in zip(part_names(stem, len(parts)), parts, strict=True):
                if part is None:
                    for file in folder.glob(f"{name.removesuffix('.parquet')}.*"):
                        _link(file, staging / file.relative_to(folder))
                elif stem in schema.TABLES:
                    _write_table(staging / name, part, with_csv=whole)
                else:
                    _write_part(staging / name, part, **({} if stem == PARSED_RUNS else _SAMPLES))
        _write_json(staging / "study.json", description)
        _write_json(staging / "expectations.json", read_baseline(manifest, "expectation"))
        _write_json(staging / "reported.json", read_reported(manifest))
        written = (path for path in staging.rglob("*") if path.is_file() and path.suffix != ".csv")
        stamp["tables"] = {path.relative_to(staging).as_posix(): digest([path]) for path in sorted(written)}
        write_stamp(staging, stamp)
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


def _link(file: Path, target: Path) -> None:
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


#: Rows of a row group of these files, except samples.
ROW_GROUP = 2**14


class LargeTables:
    """The long tables of one large log, each in a file of its own; they travel between processes as their bytes.

    Parameters
    ----------
    stored : mapping of str to Path, optional
        Files of the study that was imported before, by place: the path of their folder in that of the study.

    Attributes
    ----------
    marks : list of tuple
        Of each run with rows in these tables: its id, mark and number of values (`copies.value_marks`). Empty if the
        runs are in a file themselves, with their marks.
    """

    def __init__(self, stored: Mapping[str, Path] | None = None) -> None:
        self._stored = dict(stored or {})
        self._files: dict[str, IO[bytes]] = {}
        self.marks: list[tuple[str, int, int]] = []

    def __contains__(self, place: str) -> bool:
        return place in self._files or place in self._stored

    def places(self, table: str) -> list[str]:
        """Return the places of a table: of samples, one for each tool."""
        return sorted(place for place in self._files.keys() | self._stored.keys() if place.partition("/")[0] == table)

    def write_samples(self, blocks: Iterable[SampleBlock]) -> Iterator[pa.Table]:
        """Write the samples of a log, and yield them part by part."""
        import pyarrow.parquet as pq

        with ExitStack() as stack:
            writers: dict[str, Any] = {}
            for table in sample_tables(blocks):
                place, part = f"samples/tool={table['tool'][0]}", table.drop_columns(["tool"])
                if place not in writers:
                    file = self._files[place] = _new_file()
                    writers[place] = stack.enter_context(pq.ParquetWriter(file, part.schema, **_SAMPLES))
                writers[place].write_table(part.combine_chunks())
                yield part

    def write_table(self, place: str, tables: Iterable[pa.Table]) -> None:
        """Write another table of a log, in row groups of the same size however it comes."""
        import pyarrow.parquet as pq

        file, writer = _new_file(), None  # the rows may come from the old file
        with ExitStack() as stack:
            for group in in_groups(tables, ROW_GROUP):
                writer = writer or stack.enter_context(pq.ParquetWriter(file, group.schema, compression="zstd"))
                writer.write_table(group)
        self._files.pop(place, None)
        self._stored.pop(place, None)
        if writer is not None:
            self._files[place] = file

    def pieces(self, place: str, columns: Sequence[str] | None = None) -> Iterator[pa.Table]:
        """Yield a table, or some of its columns, by row groups; nothing if it has no file."""
        import pyarrow.parquet as pq

        if place not in self:
            return
        with pq.ParquetFile(self._files.get(place) or self._stored[place]) as content:
            for number in range(content.num_row_groups):
                yield content.read_row_group(number, columns, use_threads=False)

    def save(self, folder: Path, name: str) -> None:
        """Copy the files to the folders of their tables in that of the study; those that it has already are linked."""
        for place, stored in self._stored.items():
            if place not in self._files:
                _link(stored, folder / place / name)
        for place, file in self._files.items():
            (folder / place).mkdir(parents=True, exist_ok=True)
            file.seek(0)
            with (folder / place / name).open("wb") as target:
                shutil.copyfileobj(file, target)

    def __getstate__(self) -> dict[str, Any]:
        content = {}
        for place, file in self._files.items():
            file.seek(0)
            content[place] = file.read()
        return {"content": content, "marks": self.marks}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self._stored, self._files, self.marks = {}, {}, state["marks"]
        for place, raw in state["content"].items():
            self._files[place] = _new_file()
            self._files[place].write(raw)


def _new_file() -> IO[bytes]:
    return tempfile.TemporaryFile(prefix="azlatency-")  # closed with the tables


def stored_large(folder: Path) -> dict[str, LargeTables]:
    """Return the tables of each large log of an imported study."""
    places: dict[str, dict[str, Path]] = {}
    for file in large_files(folder):
        source_id = file.stem.removeprefix("source-")
        places.setdefault(source_id, {})[file.parent.relative_to(folder).as_posix()] = file
    return {source_id: LargeTables(files) for source_id, files in places.items()}


def _write_json(path: Path, content: Any) -> None:
    # Dates of TOML become text.
    path.write_text(json.dumps(content, ensure_ascii=True, indent=1, default=str) + "\n", "utf-8")
