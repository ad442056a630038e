"""Parse files in batches, in this process or in the workers of an executor."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import BrokenExecutor, Executor
from contextlib import ExitStack
from functools import partial
from itertools import product
from pathlib import Path
from types import MappingProxyType
from typing import IO, Any, NamedTuple, TypeAlias

import pyarrow as pa
import pyarrow.parquet as pq

from azlatency.logs import schema
from azlatency.logs.parse import LogError, parse_source, with_id
from azlatency.logs.parsers import parser_version
from azlatency.logs.source.decode import SourceError
from azlatency.logs.source.expand import expand
from azlatency.logs.tables import Logs, sample_tables
from azlatency.studies.imports.changes import Mark, has_changed
from azlatency.studies.imports.measured_table import read_table
from azlatency.studies.manifest.measured_table import MARK, MeasuredTable
from azlatency.studies.store.remote import CHANGED, DISK_ERRORS, ChangedError, RemoteFile, on_disk
from azlatency.studies.store.study import digest
from azlatency.studies.store.tables import PARSED_RUNS, large_file, sample_folder

#: The samples of a log with more of them have a file of their own and never are in memory together.
_MOST_SAMPLES = 2**18
#: A worker parses at most this many files, or this many bytes, at a time: its answer costs some milliseconds to send.
#: An import has enough batches for several workers.
_MOST_FILES, _FEWEST_FILES, _BATCH_BYTES = 256, 16, 4 * 1024**2
_BATCHES = 32
#: How samples are written: about 4 bytes each.
SAMPLE_OPTIONS: dict[str, Any] = {
    "compression": "zstd",
    "use_dictionary": ["run_id", "status"],
    "column_encoding": dict.fromkeys(("seq", "sent_ns", "rtt_ns", "low_ns", "high_ns"), "DELTA_BINARY_PACKED"),
}
#: The path of a file, the file, and its tool or its columns if the manifest names them.
Task: TypeAlias = "tuple[str, str | RemoteFile, str | None]"


class ParsedFile(NamedTuple):
    """What a worker read of one file: its hash, id, path and size of its sources, and the sources that cannot be read.

    These ids are those of the bytes; see `azlatency.logs.source.copied_files`.

    If the whole file cannot be read, ``problem`` says why.
    """

    sha256: str
    sources: list[list[Any]]
    unreadable: list[str]
    problem: str = ""


class ParsedBatch(NamedTuple):
    """What a worker returns: files, and the tables of their sources, each source once.

    The samples of large logs, by source, are not in the table ``samples``.
    """

    parser_version: str
    files: list[ParsedFile]
    tables: dict[str, pa.Table]
    large: dict[str, LargeSamples]


class LargeSamples:
    """The samples of a large log, taken from its tables, in a file per tool; workers send the bytes of the files."""

    def __init__(self, logs: Logs) -> None:
        self.files: dict[str, IO[bytes]] = {}
        with ExitStack() as stack:
            writers: dict[str, Any] = {}
            for table in sample_tables(logs.sample_blocks):
                tool, part = table["tool"][0].as_py(), table.drop_columns(["tool"])
                if tool not in writers:
                    self.files[tool] = _new_file()
                    writer = pq.ParquetWriter(self.files[tool], part.schema, **SAMPLE_OPTIONS)
                    writers[tool] = stack.enter_context(writer)
                writers[tool].write_table(part.combine_chunks())
        logs.sample_blocks.clear()

    def save(self, folder: Path, source_id: str) -> None:
        """Copy the files to their places in the folder of a study."""
        for tool, file in self.files.items():
            place = folder / sample_folder(tool)
            place.mkdir(parents=True, exist_ok=True)
            file.seek(0)
            with (place / large_file(source_id)).open("wb") as target:
                shutil.copyfileobj(file, target)

    def __getstate__(self) -> dict[str, bytes]:
        content = {}
        for tool, file in self.files.items():
            file.seek(0)
            content[tool] = file.read()
        return content

    def __setstate__(self, content: dict[str, bytes]) -> None:
        self.files = {tool: _new_file() for tool in content}
        for tool, raw in content.items():
            self.files[tool].write(raw)


def _new_file() -> IO[bytes]:
    return tempfile.TemporaryFile(prefix="azlatency-")  # closed with the samples


def parse_files(
    files: Mapping[str, str | RemoteFile],
    marks: Mapping[str, Mark],
    executor: Executor | None,
    progress: Callable[[int, int], None] | None = None,
    ids: Mapping[str, str] = MappingProxyType({}),
) -> tuple[list[ParsedBatch], dict[str, Mark], list[str]]:
    """Parse files in batches; return them, the marks with the hash and the sources of each file, and what is damaged.

    A file that cannot be read, or that changed while it was read, has no mark: it is tried again. ``ids`` has the ids
    of sources, by path, that are not those of their bytes.
    """
    batches = list(split(files, marks))
    mapper: Callable[..., Iterable[ParsedBatch]] = executor.map if executor is not None else map
    parsed: list[ParsedBatch] = []
    marks_after, problems = dict(marks), []
    done = 0
    try:
        for batch, result in zip(batches, mapper(partial(parse_batch, ids=dict(ids)), batches), strict=True):
            if result.parser_version != parser_version():
                raise LogError(
                    f"a worker has another version of the parsers ({result.parser_version} instead of "
                    f"{parser_version()}); install the same version of azlatency on every machine"
                )
            parsed.append(result)
            for (path, file, _), read in zip(batch, result.files, strict=True):
                problem = read.problem
                if not problem and isinstance(file, str) and has_changed(file, marks[path]):
                    problem = CHANGED
                if problem:
                    problems.append(f"{path}: {problem}")
                    del marks_after[path]
                else:
                    of_file = {"sha256": read.sha256, "sources": read.sources, "unreadable": read.unreadable}
                    marks_after[path] = marks[path] | of_file
            done += len(batch)
            if progress is not None:
                progress(done, len(files))
    except BrokenExecutor as error:
        raise LogError(f"a worker process died ({error}); check its memory and import again") from None
    return parsed, marks_after, problems


def split(files: Mapping[str, str | RemoteFile], marks: Mapping[str, Mark]) -> Iterator[list[Task]]:
    """Yield path, file and tool of consecutive files that are parsed together."""
    batch: list[Task] = []
    size, most = 0, min(max(len(files) // _BATCHES, _FEWEST_FILES), _MOST_FILES)
    for path, file in files.items():
        size += marks[path]["size"]
        if batch and (len(batch) == most or size > _BATCH_BYTES):
            yield batch
            batch, size = [], marks[path]["size"]
        batch.append((path, file, marks[path]["tool"]))
    if batch:
        yield batch


def parse_batch(batch: Sequence[Task], ids: Mapping[str, str] = MappingProxyType({})) -> ParsedBatch:
    """Parse files, here or in a worker; ``ids`` has the ids of sources, by path, that are not those of their bytes."""
    refused: dict[str, str] = {}
    try:
        return _parse_files(batch, refused, ids)
    except (pa.lib.ArrowException, OverflowError):
        # A damaged document may contain any number or text in any place.
        for task in batch:
            try:
                _parse_files([task], refused, ids)
            except (pa.lib.ArrowException, OverflowError) as error:
                value = _find_misfit(task) or "a value"
                refused[task[0]] = f"{value} does not fit its column ({error}); correct the log, or leave it out"
    return _parse_files(batch, refused, ids)


def _find_misfit(task: Task) -> str | None:
    """Return line, name and value of the first number or text of a file that its column cannot store."""
    tables = [table for part in _parse_file(*task)[1] if not isinstance(part, str) for table in part.rows.items()]
    for name, rows in tables:
        for row, column in product(rows, schema.arrow_schema(name)):
            try:
                pa.scalar(row.get(column.name), column.type)
            except (pa.lib.ArrowException, OverflowError):
                return f"line {row.get('line') or row.get('first_line')}: {column.name} {row[column.name]!r:.40}"
    return None


def _parse_files(batch: Sequence[Task], refused: Mapping[str, str], ids: Mapping[str, str]) -> ParsedBatch:
    """Parse files but those that are refused."""
    logs, files, seen = Logs(), [], set()
    large = {}
    for path, file, tool in batch:
        try:
            if path in refused:
                raise LogError(refused[path])
            sha256, parts = _parse_file(path, file, tool)
        except (ChangedError, LogError, OSError) as error:
            if isinstance(error, OSError) and error.errno in DISK_ERRORS:
                raise
            files.append(ParsedFile("", [], [], problem_of(error)))
            continue
        sources = []
        for part in parts:
            if isinstance(part, str):
                continue
            row = part.rows["sources"][0]
            sources.append([row["source_id"], row["path"], row["size_bytes"]])
            source_id = ids.get(row["path"], row["source_id"])
            if source_id not in seen:
                seen.add(source_id)
                source = with_id(part, source_id)
                if sum(len(block.seq) for block in source.sample_blocks) > _MOST_SAMPLES:
                    large[source_id] = LargeSamples(source)
                logs.extend(source)
        files.append(ParsedFile(sha256, sources, [part for part in parts if isinstance(part, str)]))
    # One chunk, and not one per run.
    tables = {name: logs.to_arrow(name).combine_chunks() for name in schema.TABLES}
    tables["sources"] = tables["sources"].drop_columns(["imported_at"])
    tables[PARSED_RUNS] = tables.pop("runs")
    return ParsedBatch(parser_version(), files, tables, large)


def problem_of(error: Exception) -> str:
    """Say what is wrong with a file that cannot be read, and what to do."""
    return f"{error.strerror or error}; check the file" if isinstance(error, OSError) else str(error)


def _parse_file(path: str, file: str | RemoteFile, tool: str | None) -> tuple[str, list[Logs | str]]:
    """Return the hash of a file and all its sources; a source that cannot be read is returned as its message."""
    table = MeasuredTable.from_text(tool) if tool is not None and tool.startswith(MARK) else None
    with on_disk(file) as local:
        parts = [
            str(source)
            if isinstance(source, SourceError)
            else read_table(source, table)
            if table is not None
            else parse_source(source, tool=tool)
            for source in expand(local, name=path)
        ]
        sources = (part.rows["sources"][0] for part in parts if isinstance(part, Logs))
        sha256 = next((source["sha256"] for source in sources if source["path"] == path), None)
        return sha256 or digest([local]), parts  # that of an archive is not the hash of its members
