"""Import the logs of a study: parse them, add the manifest, and write the tables.

The import is incremental: the tables of a log depend on its bytes and the parser version only, and are kept while these
stay the same; the manifest is joined afterwards. Fresh and incremental imports write the same bytes. The import is
atomic: if it fails or is killed, the old tables stay. Logs are only read.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, MutableSequence, Sequence
from concurrent.futures import BrokenExecutor, Executor
from contextlib import ExitStack
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from azlatency.logs import schema
from azlatency.logs.cache import parse_cached, uncached
from azlatency.logs.decode import SourceError
from azlatency.logs.expand import expand, path_of
from azlatency.logs.format import count_of
from azlatency.logs.parse import LogError
from azlatency.logs.parsers import parser_version
from azlatency.logs.record import Row, run_id_of
from azlatency.logs.rows import Rows, rows_to_arrow
from azlatency.logs.spool import BLOCK
from azlatency.logs.tables import Logs
from azlatency.studies.assembly import Assembled, assemble, shortened
from azlatency.studies.changes import find_manifest, fingerprint, has_changed, list_files
from azlatency.studies.copies import COLUMNS, mark_values, value_marks
from azlatency.studies.machine_names import parse_maps
from azlatency.studies.manifest import Manifest
from azlatency.studies.parts import of_sources
from azlatency.studies.remote import (
    DISK_ERRORS,
    ChangedError,
    RemoteFile,
    checked_out,
    fetched_manifest,
    is_url,
    publish,
)
from azlatency.studies.runs import paths_by_scenario
from azlatency.studies.store import (
    EMPTY_STAMP,
    LAYOUT,
    PARSED_RUNS,
    STAMP_FILE,
    VALUE_MARKS,
    Stamp,
    altered_files,
    check_study_name,
    data_folder,
    data_version,
    digest,
    list_studies,
    read_stamp,
    recover,
)
from azlatency.studies.writer import MANY_RUNS, LargeTables, stored_large, write_study

if TYPE_CHECKING:
    import pyarrow as pa

# Arrow's own pool keeps up to 70 MB of what is freed. It is chosen when Arrow is imported, which is later.
os.environ.setdefault("ARROW_DEFAULT_MEMORY_POOL", "system")

#: Metadata that a comparison of zones needs. The summary of an import counts the runs that lack it.
REQUIRED_METADATA = ("zone", "peer_zone", "region", "vm_size", "accelerated_networking", "placement")
#: Attributes of `ImportSummary` that describe one import and are not stored with the tables.
_NOT_STORED = ("folder", "reused", "parsed", "unchanged", "data_version")
#: The samples of a log with more of them have a file of their own and never are in memory together.
_MOST_SAMPLES = 2**18
#: So do these tables of a log with more rows.
_LONG, _MOST_ROWS = ("metrics", "quantiles", "intervals", "histograms"), 2**17
#: A worker parses this many files, or this many bytes, at a time: its answer costs some milliseconds to send. An import
#: has enough batches for several workers.
_MOST_FILES, _FEWEST_FILES, _BATCH_BYTES = 256, 16, 4 * 1024**2
_BATCHES = 32
#: Scenarios of several paths that are named.
_SCENARIOS = 3
_CHANGED = "changed while it was read; import it again"


@dataclass
class ImportSummary:
    """What an import read and wrote.

    Attributes
    ----------
    study : str
        Name of the study.
    folder : pathlib.Path or str
        Folder of the tables, or its URL.
    runs_by_tool : dict of str to int
        Number of runs of each tool.
    not_recognised, unreadable, ignored, duplicates, problems : list of str
        One message per file: no known tool, damaged, ignored by the manifest, identical to another file, or with an
        error.
    missing : dict of str to int
        Number of runs without the metadata of that name.
    notes : list of str
        What to know before the runs are used: scenarios of several paths.
    reused, parsed : int
        Number of files that kept their rows, and that were parsed.
    unchanged : bool
        Whether nothing changed since the last import, so that nothing was written.
    data_version : str
        See `Study.data_version`.
    """

    study: str
    folder: Path | str
    runs_by_tool: dict[str, int] = field(default_factory=dict)
    not_recognised: list[str] = field(default_factory=list)
    unreadable: list[str] = field(default_factory=list)
    ignored: list[str] = field(default_factory=list)
    duplicates: list[str] = field(default_factory=list)
    missing: dict[str, int] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    reused: int = 0
    parsed: int = 0
    unchanged: bool = False
    data_version: str = ""

    @property
    def usable(self) -> bool:
        """Whether a run was imported, or the study consists of reported numbers or a baseline only."""
        return bool(self.runs_by_tool) or not (self.not_recognised or self.unreadable)


def import_study(
    name: str,
    sources: Sequence[Path | str] | None = None,
    *,
    out: Path | str | None = None,
    executor: Executor | None = None,
    progress: Callable[[int, int], None] | None = None,
    rebuild: bool = False,
) -> ImportSummary:
    """Import the logs of a study into ``data/processed/<name>``.

    Parameters
    ----------
    name : str
        Name of the study.
    sources : sequence of path-like, optional
        Files, archives or folders, or their URLs (``s3://``, ``abfs://``, ``gs://``, ``memory://`` and others that
        fsspec knows). Default: ``data/raw/<name>``. A single folder may contain its own ``study.toml``; otherwise that
        of ``data/raw/<name>`` applies, if it exists.
    out : path-like, optional
        Folder of the imported studies, or its URL. Default: ``data/processed``.
    executor : concurrent.futures.Executor, optional
        Executor that parses the files; that of a Dask cluster is ``distributed.Client(address).get_executor()``. Its
        workers read the sources themselves. The tables are the same with any executor. Default: parse the files one
        after the other in this process.
    progress : callable, optional
        Called as ``progress(done, total)`` with the number of files, whenever some are parsed.
    rebuild : bool, default False
        Parse every log and write every table again, whatever was imported before.

    Returns
    -------
    ImportSummary
        What was read, what was not, and which metadata is missing.

    Raises
    ------
    LogError
        If a source does not exist, a store refuses access, or a worker died. The old tables stay.
    ManifestError
        If ``study.toml`` or a file that it names cannot be used. The old tables stay.

    Examples
    --------
    >>> import azlatency as az
    >>> summary = az.import_study("westeurope-azure-cni")
    >>> summary.runs_by_tool
    {'iperf3': 5, 'ntttcp': 5, 'qperf': 10, 'sockperf': 5}
    """
    check_study_name(name)
    with ExitStack() as stack:
        if rebuild:
            stack.enter_context(uncached())
        if out is None or not is_url(out):
            folder = Path(out or data_folder("processed")) / name
            return _import(name, sources, folder, stack, executor, progress, rebuild=rebuild)
        folder = stack.enter_context(checked_out(str(out), name))
        summary = _import(name, sources, folder, stack, executor, progress, rebuild=rebuild)
        if summary.usable and not summary.unchanged:
            publish(folder, str(out), digest([folder / STAMP_FILE])[:16])
        summary.folder = f"{str(out).rstrip('/')}/{name}"
        return summary


def _import(
    name: str,
    sources: Sequence[Path | str] | None,
    folder: Path,
    stack: ExitStack,
    executor: Executor | None,
    progress: Callable[[int, int], None] | None,
    *,
    rebuild: bool,
) -> ImportSummary:
    """Import a study into a folder of this machine; see `import_study`."""
    roots = [str(source) if is_url(source) else Path(source) for source in sources or [data_folder("raw") / name]]
    _check_roots(name, roots, given=bool(sources))
    described = stack.enter_context(fetched_manifest(roots[0])) if len(roots) == 1 else None
    manifest = find_manifest(name, roots if described is None else [described])
    recover(folder)
    summary = ImportSummary(name, folder)
    before = EMPTY_STAMP if rebuild else _intact_stamp(folder)
    files, marks = _select_files(roots, manifest, summary, before)
    stamp: Stamp = {
        "study": name,
        "parser_version": parser_version(),
        "manifest": digest(manifest.files),
        # A page shows the lines of logs that are not in data/raw.
        "roots": [root if isinstance(root, str) else str(root.resolve()) for root in roots] if sources else [],
        "files": marks,
        "refused": list(summary.unreadable),
        "layout": LAYOUT,
    }
    if all(before[key] == value for key, value in stamp.items()):
        return _restore_summary(before, summary)
    reused = _reusable_paths(before, stamp)
    changed = {
        path: Path(file) if isinstance(file, str) else file for path, file in files.items() if path not in reused
    }
    parsed = _parse(changed, marks, summary, executor, progress)
    paths = _list_sources(marks, manifest, summary)
    stored_ids = {source_id for path in reused for source_id, _ in marks[path]["sources"]} & paths.keys()
    large = {source_id: tables for source_id, tables in stored_large(folder).items() if source_id in stored_ids}
    for batch in parsed:
        large |= {source_id: tables for source_id, tables in batch.large.items() if source_id in paths}
    large = {source_id: large[source_id] for source_id in paths if source_id in large}
    tables = assemble(folder, _added(parsed, paths, stored_ids), large, paths, stored_ids, manifest,
                      same_manifest=before["manifest"] == stamp["manifest"])  # fmt: skip
    _summarize(tables, paths, manifest, summary)
    stamp["imported_at"] = datetime.now(UTC).isoformat(timespec="seconds")
    stamp["summary"] = {key: value for key, value in vars(summary).items() if key not in _NOT_STORED}
    summary.reused, summary.parsed, summary.data_version = len(reused), len(changed), data_version(stamp)
    if summary.usable:
        write_study(folder, tables.files, stamp, manifest, large)
    return summary


def _intact_stamp(folder: Path) -> Stamp:
    """Return what was imported before; the empty stamp if its files are not as they were written, so that all are."""
    before = read_stamp(folder)
    if before["layout"] != LAYOUT:
        return EMPTY_STAMP
    altered = altered_files(folder, before)
    for name in altered:
        if (folder / name).exists():
            warnings.warn(f"{folder / name}: not as it was imported (its SHA-256 differs); written again", stacklevel=2)
    return EMPTY_STAMP if altered else before


def _check_roots(name: str, roots: Sequence[Path | str], *, given: bool) -> None:
    """Raise `LogError` if a source does not exist; that of a URL shows when its files are listed."""
    for root in roots:
        if isinstance(root, str) or root.exists():
            continue
        if given:
            raise LogError(f"{root}: no such file or folder; check the path")
        known = ", ".join(list_studies()) or "none"
        raise LogError(f"study {name!r} not found. Known studies: {known}")


def _select_files(
    roots: Sequence[Path | str], manifest: Manifest, summary: ImportSummary, before: Stamp
) -> tuple[dict[str, str | RemoteFile], dict[str, Any]]:
    """Return the logs and their fingerprints by path; list ignored and unreadable files in the summary."""
    files: dict[str, str | RemoteFile] = {}
    marks = {}
    listed, refused = list_files(roots, manifest)
    summary.unreadable += refused
    for path, file in listed:
        if reason := manifest.ignored(path):
            summary.ignored.append(f"{path}: {reason}")
            continue
        known = before["files"].get(path)
        try:
            mark = fingerprint(file, known)
        except OSError as error:
            summary.unreadable.append(f"{path}: {error.strerror}; check the file")
            continue
        tool = manifest.tool(path)
        files[path], marks[path] = file, mark if mark is known and mark["tool"] == tool else {**mark, "tool": tool}
    return files, marks


def _reusable_paths(before: Stamp, stamp: Stamp) -> set[str]:
    """Return the paths of the logs whose rows are still valid: they depend on the bytes and the parsers only."""
    if any(before[key] != stamp[key] for key in ("parser_version", "layout")):
        return set()
    files = before["files"]
    return {
        path
        for path, file in stamp["files"].items()
        if (then := files.get(path))
        and then.get("sources")
        and then["sha256"] == file.get("sha256")
        and then["tool"] == file["tool"]
    }


#: The path of a file, the file, and its tool if the manifest names it.
_Task: TypeAlias = "tuple[str, Path | RemoteFile, str | None]"


class ParsedFile(NamedTuple):
    """What a worker read of one file: its hash, the id and path of its sources, and the sources that cannot be read.

    If the whole file cannot be read, ``problem`` says why.
    """

    sha256: str
    sources: list[list[str]]
    unreadable: list[str]
    problem: str = ""


class ParsedBatch(NamedTuple):
    """What a worker returns: files, and the tables of their sources, each source once.

    The samples of large logs, by source, are not in the table ``samples``.
    """

    parser_version: str
    files: list[ParsedFile]
    tables: dict[str, pa.Table]
    large: dict[str, LargeTables]

    def __reduce__(self) -> tuple[Any, ...]:
        # Between processes, the streams of Arrow cost a tenth of pickling each of a hundred columns.
        packed = {name: _to_stream(table) for name, table in self.tables.items()}
        return _unpack_batch, (self.parser_version, self.files, packed, self.large)


def _to_stream(table: pa.Table) -> bytes:
    import pyarrow as pa

    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return sink.getvalue().to_pybytes()


def _unpack_batch(
    version: str, files: list[ParsedFile], packed: dict[str, bytes], large: dict[str, LargeTables]
) -> ParsedBatch:
    import pyarrow as pa

    tables = {name: pa.ipc.open_stream(stream).read_all() for name, stream in packed.items()}
    return ParsedBatch(version, files, tables, large)


def _parse(
    files: dict[str, Path | RemoteFile],
    marks: dict[str, Any],
    summary: ImportSummary,
    executor: Executor | None,
    progress: Callable[[int, int], None] | None,
) -> list[ParsedBatch]:
    """Parse files in batches, and add the hash and the sources of each file to its mark.

    The mark of a file that cannot be read, or that changed while it was read, is removed: it is tried again.
    """
    batches = list(_split(files, marks))
    mapper: Callable[..., Iterable[ParsedBatch]] = executor.map if executor is not None else map
    parsed: list[ParsedBatch] = []
    done = 0
    try:
        for batch, result in zip(batches, mapper(_parse_batch, batches), strict=True):
            if result.parser_version != parser_version():
                raise LogError(
                    f"a worker has another version of the parsers ({result.parser_version} instead of "
                    f"{parser_version()}); install the same version of azlatency on every machine"
                )
            parsed.append(result)
            for (path, file, _), read in zip(batch, result.files, strict=True):
                problem = read.problem
                if not problem and isinstance(file, Path) and has_changed(file, marks[path]):
                    problem = _CHANGED
                if problem:
                    summary.unreadable.append(f"{path}: {problem}")
                    del marks[path]
                else:
                    marks[path] |= {"sha256": read.sha256, "sources": read.sources, "unreadable": read.unreadable}
            done += len(batch)
            if progress is not None:
                progress(done, len(files))
    except BrokenExecutor as error:
        raise LogError(f"a worker process died ({error}); check its memory and import again") from None
    return parsed


def _split(files: dict[str, Path | RemoteFile], marks: dict[str, Any]) -> Iterator[list[tuple[str, Any, str | None]]]:
    """Yield path, file and tool of consecutive files that are parsed together."""
    batch: list[tuple[str, Any, str | None]] = []
    size, most = 0, min(max(len(files) // _BATCHES, _FEWEST_FILES), _MOST_FILES)
    for path, file in files.items():
        size += marks[path]["size"]
        if batch and (len(batch) == most or size > _BATCH_BYTES):
            yield batch
            batch, size = [], marks[path]["size"]
        batch.append((path, file, marks[path]["tool"]))
    if batch:
        yield batch


def _parse_batch(batch: Sequence[_Task]) -> ParsedBatch:
    """Parse files, here or in a worker."""
    import pyarrow as pa

    refused: dict[str, str] = {}
    try:
        return _parse_files(batch, refused)
    except (pa.lib.ArrowException, OverflowError):
        # A damaged document may contain any number or text in any place.
        for task in batch:
            try:
                _parse_files([task], refused)
            except (pa.lib.ArrowException, OverflowError) as error:
                value = _find_misfit(task) or "a value"
                refused[task[0]] = f"{value} does not fit its column ({error}); correct the log, or leave it out"
    return _parse_files(batch, refused)


def _find_misfit(task: _Task) -> str | None:
    """Return line, name and value of the first number or text of a file that its column cannot store."""
    import pyarrow as pa

    tables = [table for part in _parse_file(*task)[1] if not isinstance(part, str) for table in part.rows.items()]
    for name, rows in tables:
        for row, column in product(rows, schema.arrow_schema(name)):
            try:
                pa.scalar(row.get(column.name), column.type)
            except (pa.lib.ArrowException, OverflowError):
                return f"line {row.get('line') or row.get('first_line')}: {column.name} {row[column.name]!r:.40}"
    return None


def _parse_files(batch: Sequence[_Task], refused: Mapping[str, str]) -> ParsedBatch:
    """Parse files but those that are refused."""
    logs, files, seen = Logs(), [], set()
    large = {}
    for path, file, tool in batch:
        if path in refused:
            files.append(ParsedFile("", [], [], refused[path]))
            continue
        try:
            sha256, parts = _parse_file(path, file, tool)
        except ChangedError:
            files.append(ParsedFile("", [], [], _CHANGED))
            continue
        except OSError as error:
            if error.errno in DISK_ERRORS:
                raise
            files.append(ParsedFile("", [], [], f"{error.strerror or error}; check the file"))
            continue
        except LogError as error:
            files.append(ParsedFile("", [], [], str(error)))
            continue
        sources = []
        for part in parts:
            if isinstance(part, str):
                continue
            row = part.rows["sources"][0]
            sources.append([row["source_id"], row["path"]])
            if row["source_id"] not in seen:
                seen.add(row["source_id"])
                if (of_log := _take_large(part)) is not None:
                    large[row["source_id"]] = of_log
                logs.extend(part)
        files.append(ParsedFile(sha256, sources, [part for part in parts if isinstance(part, str)]))
    # One chunk, and not one per run.
    tables = {name: logs.to_arrow(name).combine_chunks() for name in schema.TABLES}
    return ParsedBatch(parser_version(), files, tables, large)


def _take_large(logs: Logs) -> LargeTables | None:
    """Take the samples of a log, and its other long tables, if they have files of their own; None if it has none."""
    rows = logs.rows
    many = max(len(rows["runs"]), len(rows["events"])) > MANY_RUNS
    own = [name for name in _LONG if rows[name] and (many or len(rows[name]) > _MOST_ROWS)]
    if many or sum(len(block.seq) for block in logs.sample_blocks) > _MOST_SAMPLES:
        own.append("samples")
    if not own:
        return None
    large, marks = LargeTables(), _Marks(rows["sources"][0]["source_id"], len(rows["runs"]))
    for name in own:
        if name == "samples":
            for part in large.write_samples(logs.sample_blocks):
                marks.add(name, part)
            logs.sample_blocks.clear()
        else:
            large.write_table(name, marks.of_tables(name, _tables(rows[name], name)))
            rows[name] = []
    if many:
        large.write_table(PARSED_RUNS, marks.appended(_tables(rows["runs"], "runs")))
        large.write_table("events", _tables(rows["events"], "events"))
        rows["runs"], rows["events"] = [], []
    else:
        large.marks = marks.rows()
    return large


def _tables(rows: MutableSequence[Row], name: str) -> Iterator[pa.Table]:
    """Yield the rows of a table in parts."""
    table_schema = schema.arrow_schema(name)
    return rows.tables(table_schema, BLOCK) if isinstance(rows, Rows) else iter([rows_to_arrow(rows, table_schema)])


class _Marks:
    """The marks of the runs of one log, counted from 1, and their numbers of values; see `copies.value_marks`."""

    def __init__(self, source_id: str, count: int) -> None:
        import numpy as np

        self._source_id = source_id
        self._marks, self._counts = np.zeros(count, np.uint64), np.zeros(count, np.int64)

    def add(self, name: str, content: pa.Table) -> None:
        """Add rows of a table."""
        import pyarrow as pa
        import pyarrow.compute as pc

        if name not in COLUMNS or not content.num_rows:
            return
        # A part has rows of few runs that follow each other.
        numbers = pc.utf8_slice_codeunits(pc.unique(content["run_id"]), 17).cast(pa.int64()).to_numpy()
        part = range(int(numbers.min()), int(numbers.max()) + 1)
        run_ids = pa.array([run_id_of(self._source_id, number) for number in part], pa.string())
        rows = slice(part.start - 1, part.stop - 1)
        mark_values(name, content, run_ids, self._marks[rows], self._counts[rows])

    def of_tables(self, name: str, tables: Iterable[pa.Table]) -> Iterator[pa.Table]:
        """Yield parts of a table after adding them."""
        for table in tables:
            self.add(name, table)
            yield table

    def appended(self, tables: Iterable[pa.Table]) -> Iterator[pa.Table]:
        """Yield the table ``runs`` in parts with the marks."""
        import pyarrow as pa

        start = 0
        for table in tables:
            stop = start + table.num_rows
            marked = table.append_column(VALUE_MARKS[0], pa.array(self._marks[start:stop]))
            yield marked.append_column(VALUE_MARKS[1], pa.array(self._counts[start:stop]))
            start = stop

    def rows(self) -> list[tuple[str, int, int]]:
        """Return the id, the mark and the number of values of each run with rows."""
        rows = enumerate(zip(self._marks.tolist(), self._counts.tolist(), strict=True), start=1)
        return [(run_id_of(self._source_id, number), mark, count) for number, (mark, count) in rows if mark or count]


def _parse_file(path: str, file: Path | RemoteFile, tool: str | None) -> tuple[str, list[Logs | str]]:
    """Return the hash of a file and all its sources; a source that cannot be read is returned as its message."""
    if isinstance(file, RemoteFile):
        with file.fetched() as local:
            return _parse_file(path, local, tool)
    parts = [
        str(source) if isinstance(source, SourceError) else parse_cached(source, tool)
        for source in expand(file, name=path)
    ]
    sources = (part.rows["sources"][0] for part in parts if isinstance(part, Logs))
    sha256 = next((source["sha256"] for source in sources if source["path"] == path), None)
    return sha256 or digest([file]), parts  # that of an archive is not the hash of its members


def _list_sources(marks: dict[str, Any], manifest: Manifest, summary: ImportSummary) -> dict[str, str]:
    """Return the path of each source by its id, in the order of the files; of identical sources only the first."""
    paths: dict[str, str] = {}
    for file, mark in marks.items():
        for message in mark["unreadable"]:
            if reason := manifest.ignored(path := path_of(message)):
                summary.ignored.append(f"{path}: {reason}")
            else:
                summary.unreadable.append(message)
        for source_id, path in mark["sources"]:
            if path != file and (reason := manifest.ignored(path)):
                summary.ignored.append(f"{path}: {reason}")
            elif (first := paths.setdefault(source_id, path)) != path:
                summary.duplicates.append(f"{path}: identical to {first}; imported once")
    return paths


def _added(parsed: Sequence[ParsedBatch], paths: dict[str, str], stored_ids: set[str]) -> dict[str, pa.Table]:
    """Return the rows of the logs that were parsed and are not stored, each log once, as they are stored.

    But the samples have the column ``tool``.
    """
    import pyarrow as pa

    seen = set(stored_ids)
    parts: dict[str, list[pa.Table]] = {}
    for batch in (*parsed, _parse_batch([])):
        ids = {source_id for file in batch.files for source_id, _ in file.sources}
        wanted = (ids & paths.keys()) - seen
        seen |= ids
        for name, table in batch.tables.items():
            parts.setdefault(name, []).append(table if wanted == ids else of_sources(table, wanted))
    tables = {name: pa.concat_tables(tables) for name, tables in parts.items()}
    tables["sources"] = tables["sources"].drop_columns(["imported_at"])
    runs = tables.pop("runs")
    marks = value_marks(runs["run_id"], tables.__getitem__)
    large = [found for batch in parsed for of_log in batch.large.values() for found in of_log.marks]
    places = {run_id: at for at, run_id in enumerate(runs["run_id"].to_pylist())} if large else {}
    for run_id, *found in large:
        for values, value in zip(marks, found, strict=True):
            if run_id in places:
                values[places[run_id] : places[run_id] + 1] += values.dtype.type(value)
    for name, values in zip(VALUE_MARKS, marks, strict=True):
        runs = runs.append_column(name, pa.array(values))
    return tables | {PARSED_RUNS: runs}


def _summarize(tables: Assembled, paths: dict[str, str], manifest: Manifest, summary: ImportSummary) -> None:
    """Count the runs and the missing metadata; list files that were not recognised and errors."""
    import pyarrow.compute as pc

    runs = tables.kinds_of_runs
    of_tools = runs.group_by("tool", use_threads=False).aggregate([("count", "sum")])
    summary.runs_by_tool = dict(
        sorted(zip(*(of_tools[name].to_pylist() for name in ("tool", "count_sum")), strict=True))
    )
    numbers = {key: pc.sum(runs["count"].filter(runs[key].is_null())).as_py() for key in REQUIRED_METADATA}
    summary.missing = {key: number for key, number in numbers.items() if number}
    for event in tables.told.to_pylist():
        message = f"{paths.get(event['source_id'], event['source_id'])}:{event['line']}: {event['text']}"
        (summary.not_recognised if event["code"] == "not_recognised" else summary.problems).append(message)
    for path, more in tables.untold.items():
        summary.problems.append(f"{path}: {count_of(more, 'more error')}; see the table events")
    for conflict, (first, number) in manifest.conflicts.items():
        count = f" ({count_of(number, 'run')})" if number > 1 else ""
        summary.problems.append(f"{first}: {conflict}{count}")
    summary.notes = _scenario_notes(runs, manifest) + tables.notes


def _scenario_notes(runs: pa.Table, manifest: Manifest) -> list[str]:
    """Name the scenarios that cover several paths, and say how machines with changing addresses are named."""
    machines = manifest.study.get("machines", [])
    several = paths_by_scenario(runs, parse_maps(machines))
    notes = [
        f"scenario {scenario!r} covers {count_of(len(ends), 'path')}, which are never pooled: {shortened(ends)}"
        for scenario, ends in list(several.items())[:_SCENARIOS]
    ]
    if more := len(several) - len(notes):
        notes.append(f"{count_of(more, 'more scenario')} with several paths")
    if several and not machines:
        notes.append(
            "if addresses change with every run, as those of pods do, name the machines in study.toml, "
            'for example machines = ["10.0.1.*=client", "10.0.2.*=server"]'
        )
    elif left := _addresses_without_zone(runs, machines):
        notes.append(
            f"{shortened(left)} {'has' if len(left) == 1 else 'have'} no zone, unlike the ends of other runs; name "
            f'what each of them is in study.toml, for example machines = ["{left[0]}=zone 1"]'
        )
    return notes


def _addresses_without_zone(runs: pa.Table, machines: list[str]) -> list[str]:
    """Return the addresses that stand for an end, if other ends of the study have zones, and no machine names them."""
    names = ("client", "zone", "server", "peer_zone")
    rows = list(zip(*(runs[name].to_pylist() for name in names), strict=True))
    if machines or not any(zone or peer_zone for _, zone, _, peer_zone in rows):
        return []
    ends = (end for client, zone, server, peer_zone in rows for end in ((client, zone), (server, peer_zone)))
    return list(dict.fromkeys(address for address, zone in ends if address and not zone))


def _restore_summary(stamp: Stamp, summary: ImportSummary) -> ImportSummary:
    """Fill a summary with that of the last import."""
    for key, value in stamp["summary"].items():
        setattr(summary, key, value)
    summary.unchanged, summary.reused, summary.data_version = True, len(stamp["files"]), data_version(stamp)
    return summary
