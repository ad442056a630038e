"""Import the logs of a study: parse them, add the manifest, and write the tables.

The import is incremental: a file whose bytes did not change keeps its rows, unless the manifest or the parser version
changed. It is atomic: if it fails or is killed, the old tables stay. Logs are only read.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from azlatency.logs import schema
from azlatency.logs.decode import SourceError, expand
from azlatency.logs.format import count_of
from azlatency.logs.parse import LogError, parse_source
from azlatency.logs.parsers import parser_version
from azlatency.logs.tables import Logs
from azlatency.studies.changes import find_manifest, fingerprint, iter_files
from azlatency.studies.manifest import Manifest
from azlatency.studies.runs import paths_by_scenario
from azlatency.studies.store import (
    Stamp,
    data_folder,
    data_version,
    digest,
    list_studies,
    read_stamp,
    read_table,
    recover,
)
from azlatency.studies.writer import write_study

if TYPE_CHECKING:
    import pyarrow as pa

#: Metadata that a comparison of zones needs. The summary of an import counts the runs that lack it.
REQUIRED_METADATA = ("zone", "peer_zone", "region", "vm_size", "accelerated_networking", "placement")
#: Attributes of `ImportSummary` that describe one import and are not stored with the tables.
_NOT_STORED = ("folder", "reused", "parsed", "unchanged", "data_version")


@dataclass
class ImportSummary:
    """What an import read and wrote.

    Attributes
    ----------
    study : str
        Name of the study.
    folder : pathlib.Path
        Folder of the tables.
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
    folder: Path
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
    sources: Sequence[Path] | None = None,
    *,
    out: Path | None = None,
    executor: Executor | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> ImportSummary:
    """Import the logs of a study into ``data/processed/<name>``.

    Parameters
    ----------
    name : str
        Name of the study.
    sources : sequence of pathlib.Path, optional
        Files, archives or folders. Default: ``data/raw/<name>``. A single folder may contain its own ``study.toml``;
        otherwise that of ``data/raw/<name>`` applies, if it exists.
    out : pathlib.Path, optional
        Folder of the imported studies. Default: ``data/processed``.
    executor : concurrent.futures.Executor, optional
        Executor that parses the files. Default: parse them one after the other.
    progress : callable, optional
        Called as ``progress(done, total)`` after each file.

    Returns
    -------
    ImportSummary
        What was read, what was not, and which metadata is missing.

    Raises
    ------
    LogError
        If a source does not exist.
    ManifestError
        If ``study.toml`` or a file that it names cannot be used. The old tables stay.
    """
    roots = [Path(source) for source in sources] if sources else [data_folder("raw") / name]
    _check_roots(name, roots, given=bool(sources))
    manifest = find_manifest(name, roots)
    folder = (out or data_folder("processed")) / name
    recover(folder)
    summary = ImportSummary(name, folder)
    files = _select_files(roots, manifest, summary)
    before = read_stamp(folder)
    stamp: Stamp = {
        "study": name,
        "parser_version": parser_version(),
        "manifest": digest(manifest.files),
        # A page shows the lines of logs that are not in data/raw.
        "roots": [str(root.resolve()) for root in roots] if sources else [],
        "files": {path: fingerprint(file, before["files"].get(path)) for path, file in files.items()},
    }
    if {**before, "summary": None} == {**stamp, "summary": None}:
        return _restore_summary(before, summary)
    reused = _reusable_paths(before, stamp)
    source_paths = {source_id: path for path in reused for source_id in before["files"][path]["sources"]}
    reused_ids = set(source_paths)
    changed = {path: file for path, file in files.items() if path not in reused}
    logs, source_ids = _parse(changed, manifest, source_paths, summary, executor, progress)
    for path, ids in source_ids.items():
        stamp["files"][path] = {**stamp["files"][path], "sources": ids}
    tables = _join_reused(logs, folder, reused_ids)
    _summarize(tables, summary)
    stamp["summary"] = {key: value for key, value in vars(summary).items() if key not in _NOT_STORED}
    summary.reused, summary.parsed, summary.data_version = len(reused), len(changed), data_version(stamp)
    write_study(folder, tables, stamp, manifest)
    return summary


def _check_roots(name: str, roots: Sequence[Path], *, given: bool) -> None:
    """Raise `LogError` if a source does not exist."""
    for root in roots:
        if root.exists():
            continue
        if given:
            raise LogError(f"{root}: no such file or folder; check the path")
        known = ", ".join(list_studies()) or "none"
        raise LogError(f"study {name!r} not found. Known studies: {known}")


def _select_files(roots: Sequence[Path], manifest: Manifest, summary: ImportSummary) -> dict[str, Path]:
    """Return the logs by their path; list those that the manifest ignores in the summary."""
    files = {}
    for path, file in iter_files(roots, manifest):
        if reason := manifest.ignored(path):
            summary.ignored.append(f"{path}: {reason}")
        else:
            files[path] = file
    return files


def _reusable_paths(before: Stamp, stamp: Stamp) -> set[str]:
    """Return the paths of the logs whose rows are still valid."""
    if any(before[key] != stamp[key] for key in ("parser_version", "manifest")):
        return set()
    files = before["files"]
    return {
        path
        for path, file in stamp["files"].items()
        if path in files and files[path]["sources"] and files[path]["sha256"] == file["sha256"]
    }


def _parse(
    files: dict[str, Path],
    manifest: Manifest,
    source_paths: dict[str, str],
    summary: ImportSummary,
    executor: Executor | None,
    progress: Callable[[int, int], None] | None,
) -> tuple[Logs, dict[str, list[str]]]:
    """Parse files; return their tables, and the source ids of each file.

    ``source_paths`` maps the id of each known source to its path. Of identical sources only the first one is kept.
    """
    logs, source_ids = Logs(), {path: list[str]() for path in files}
    mapper = executor.map if executor is not None else map
    results = mapper(_parse_file, files.keys(), files.values(), [manifest.tool(path) for path in files])
    for done, (path, parts) in enumerate(zip(files, results, strict=True), start=1):
        for part in parts:
            if isinstance(part, str):
                summary.unreadable.append(part)
                continue
            source = part.rows["sources"][0]
            first = source_paths.setdefault(source["source_id"], source["path"])
            if first != source["path"]:
                summary.duplicates.append(f"{source['path']}: identical to {first}; imported once")
                continue
            source_ids[path].append(source["source_id"])
            _add_manifest(part, manifest)
            logs.extend(part)
        if progress is not None:
            progress(done, len(files))
    return logs, source_ids


def _parse_file(path: str, file: Path, tool: str | None) -> list[Logs | str]:
    """Parse all sources of a file; a source that cannot be read is returned as its message."""
    return [
        str(source) if isinstance(source, SourceError) else parse_source(source, tool=tool)
        for source in expand(file, name=path)
    ]


def _add_manifest(logs: Logs, manifest: Manifest) -> None:
    """Add the columns and events of the manifest to the runs of one source."""
    source = logs.rows["sources"][0]
    for run in logs.rows["runs"]:
        for code, severity, text in manifest.describe(run, source["path"]):
            event = {"source_id": source["source_id"], "run_id": run["run_id"], "line": run["first_line"]}
            logs.rows["events"].append({**event, "code": code, "severity": severity, "text": text})


def _join_reused(logs: Logs, folder: Path, source_ids: set[str]) -> dict[str, pa.Table]:
    """Return the tables of the parsed logs together with the stored rows of unchanged sources."""
    import pyarrow as pa
    import pyarrow.compute as pc

    tables = {name: logs.to_arrow(name) for name in schema.TABLES}
    if not source_ids:
        return tables
    reused = pa.array(sorted(source_ids))
    for name, parsed in tables.items():
        stored = read_table(folder, name)
        # A run id starts with the id of its source.
        keys = (
            stored["source_id"]
            if "source_id" in stored.column_names
            else pc.utf8_slice_codeunits(stored["run_id"], 0, 16)
        )
        tables[name] = pa.concat_tables([stored.filter(pc.is_in(keys, reused)), parsed])
    order = pc.sort_indices(tables["sources"], sort_keys=[("path", "ascending")])
    tables["sources"] = tables["sources"].take(order)
    return tables


def _summarize(tables: dict[str, pa.Table], summary: ImportSummary) -> None:
    """Count the runs and the missing metadata; list files that were not recognised and errors."""
    runs, sources = tables["runs"], tables["sources"]
    summary.runs_by_tool = dict(sorted(Counter(runs["tool"].to_pylist()).items()))
    paths = dict(zip(sources["source_id"].to_pylist(), sources["path"].to_pylist(), strict=True))
    for event in tables["events"].to_pylist():
        message = f"{paths.get(event['source_id'], event['source_id'])}:{event['line']}: {event['text']}"
        if event["code"] == "not_recognised":
            summary.not_recognised.append(message)
        elif event["severity"] == "error" or event["code"] == "manifest_missing":
            summary.problems.append(message)
    summary.notes = [
        f"scenario {scenario!r} covers {count_of(len(paths), 'path')}, which are never pooled: {_shortened(paths)}"
        for scenario, paths in paths_by_scenario(runs).items()
    ]
    summary.missing = {key: runs[key].null_count for key in REQUIRED_METADATA if runs.num_rows and runs[key].null_count}


def _shortened(names: Sequence[str]) -> str:
    """List up to three names."""
    return ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")


def _restore_summary(stamp: Stamp, summary: ImportSummary) -> ImportSummary:
    """Fill a summary with that of the last import."""
    for key, value in stamp["summary"].items():
        setattr(summary, key, value)
    summary.unchanged, summary.reused, summary.data_version = True, len(stamp["files"]), data_version(stamp)
    return summary
