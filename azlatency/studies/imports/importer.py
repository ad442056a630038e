"""Import the logs of a study: parse them, add the manifest, and write the tables.

The import is incremental: the tables of a log depend on its bytes and the parser version only, and are kept while these
stay the same; the manifest is joined afterwards. Fresh and incremental imports write the same bytes. The import is
atomic: if it fails or is killed, the old tables stay. Logs are only read.
"""

from __future__ import annotations

import filecmp
import os
import warnings
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence, Set
from concurrent.futures import Executor
from contextlib import ExitStack
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, Any, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from azlatency.logs.parse import NO_LOG, LogError
from azlatency.logs.parsers import parser_version
from azlatency.logs.source.copied_files import CopiedFiles
from azlatency.logs.source.decode import is_no_log
from azlatency.logs.source.expand import path_of
from azlatency.studies.format import count_of
from azlatency.studies.imports.assembly import assemble, shortened
from azlatency.studies.imports.changes import Mark, archive_of, find_manifest, fingerprint, list_files
from azlatency.studies.imports.measured_table import TOLD
from azlatency.studies.imports.parsing import LargeSamples, ParsedBatch, parse_files, problem_of
from azlatency.studies.imports.writer import write_study
from azlatency.studies.manifest.machine_names import parse_maps
from azlatency.studies.manifest.manifest import Manifest
from azlatency.studies.runs.both_ends import ANY_ADDRESS
from azlatency.studies.runs.run_table import paths_by_scenario
from azlatency.studies.store.folders import check_study_name, data_folder, list_studies
from azlatency.studies.store.hosts import LARGEST_RECORDING, host_of, read_facts
from azlatency.studies.store.remote import (
    CHANGED,
    ChangedError,
    RemoteFile,
    checked_out,
    fetched_manifest,
    is_url,
    local_path,
    on_disk,
    publish,
)
from azlatency.studies.store.replacing import recover
from azlatency.studies.store.study import (
    LAYOUT,
    STAMP_FILE,
    Stamp,
    altered_files,
    data_version,
    digest,
    empty_stamp,
    read_stamp,
    unlisted_files,
)
from azlatency.studies.store.tables import large_files, read_stored, source_of

#: Metadata that a comparison of zones needs. The summary of an import counts the runs that lack it.
REQUIRED_METADATA = ("zone", "peer_zone", "region", "vm_size", "accelerated_networking", "placement")
#: Attributes of `ImportSummary` that describe one import and are not stored with the tables.
_NOT_STORED = ("folder", "reused", "parsed", "unchanged", "data_version")
#: Keys of the stamp that two imports of the same files may differ in.
_OF_ONE_IMPORT = ("summary", "imported_at", "tables")
#: At most this many events of a log are listed.
_MOST_LISTED = 1000
#: Ends of the names of texts that look like logs.
_LOG_ENDINGS = (".log", ".txt", ".out")


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
        Number of runs without the metadata of that name, except what the manifest lists as ``not_said``.
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
        files = self.not_recognised or self.unreadable or self.parsed or self.reused
        return bool(self.runs_by_tool) or not files


def most_telling(messages: Sequence[str]) -> str:
    """Return the message about a file without a log that says most: what the text is, else that of a text."""
    return min(
        messages,
        key=lambda line: (
            is_no_log(line),
            line.partition(": ")[2].startswith((f"{NO_LOG};", "empty file")),
            not path_of(line).endswith(_LOG_ENDINGS),
        ),
    )


def import_study(
    name: str,
    sources: Sequence[Path | str] | None = None,
    *,
    out: Path | str | None = None,
    executor: Executor | None = None,
    progress: Callable[[int, int], None] | None = None,
    rebuild: bool = False,
    replace: bool = False,
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
    replace : bool, default False
        Replace a study of this name that was imported from other folders.

    Returns
    -------
    ImportSummary
        What was read, what was not, and which metadata is missing.

    Raises
    ------
    LogError
        If a source does not exist, a store refuses access, a worker died, or the study of this name was imported from
        another folder. The old tables stay.
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
    sources = None if sources is None else [local_path(source) for source in sources]
    out = None if out is None else local_path(out)
    with ExitStack() as stack:
        is_remote = is_url(out)
        folder = Path(out or data_folder("processed")) / name
        if is_remote:
            folder = stack.enter_context(checked_out(str(out), name))
        if not replace and (origin := other_origin(folder, name, sources)):
            raise LogError(
                f"{folder}: study {name!r} was imported from {origin}, not from {_roots(name, sources)[0]}; nothing "
                "was written. Choose another name, or replace the study with --replace (in Python: replace=True)"
            )
        summary = _import(name, sources, folder, stack, executor, progress, rebuild=rebuild)
        if is_remote:
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
    roots = _roots(name, sources)
    _check_roots(name, roots, given=bool(sources))
    described = stack.enter_context(fetched_manifest(roots[0])) if len(roots) == 1 else None
    manifest = find_manifest(name, roots if described is None else [described])
    recover(folder)
    summary = ImportSummary(name, folder)
    last = read_stamp(folder)
    before = empty_stamp() if rebuild else _intact_stamp(folder, last)
    files = select_files(roots, manifest, summary, before, archive_of(name, roots))
    # The rows of logs that were moved to the archive stay if it is taken away.
    archive = f"{data_folder('archive') / name}{os.sep}"
    archived = {path for path, file in files.logs.items() if isinstance(file, str) and file.startswith(archive)}
    if taken_away := set(last["archived"]) & last["files"].keys() - files.logs.keys():
        marks = files.marks | {path: last["files"][path] for path in taken_away}
        files = files._replace(marks=dict(sorted(marks.items(), key=lambda item: item[0].split("/"))))
    stamp = new_stamp(name, roots if sources else [], manifest, files, summary)
    stamp |= {"origin": _origin(folder, roots), "archived": sorted(archived | taken_away)}
    if all(before[key] == value for key, value in stamp.items() if key not in _OF_ONE_IMPORT):
        version = data_version(before)
        of_this = {"folder": folder, "unchanged": True, "reused": len(files.marks), "data_version": version}
        return ImportSummary(**(before["summary"] | of_this))
    # The rows of a log depend on its bytes, its tool and the parsers only.
    reused = {
        path
        for path, mark in files.marks.items()
        if before["parser_version"] == parser_version()
        and mark.get("sources")
        and before["files"][path]["tool"] == mark["tool"]
    }
    _check_archive(name, files.marks.keys() - files.logs.keys() - reused)
    logs = parse_logs(name, files, manifest, summary, folder, reused, executor, progress)
    tables = join(logs, folder, manifest, summary)
    stamp |= stamp_of(logs, summary)
    summary.reused, summary.parsed = logs.reused, logs.parsed
    summary.data_version = data_version(stamp)
    if summary.usable:
        write_study(folder, tables, logs.large, logs.linked, stamp, manifest)
    return summary


class SelectedFiles(NamedTuple):
    """The files of a study by path: its logs, their fingerprints, and what was recorded about hosts."""

    logs: dict[str, str | RemoteFile]
    marks: dict[str, Mark]
    recordings: dict[str, str | RemoteFile]


class ParsedLogs(NamedTuple):
    """The logs of a study, parsed or kept from its last import, before they are joined with the manifest.

    ``paths`` has the path of each log by its id, in the order of the files; ``large`` the samples of large logs that
    were parsed, by their ids, and ``linked`` the files of those that are kept.
    """

    batches: list[ParsedBatch]
    marks: dict[str, Mark]
    paths: dict[str, str]
    kept: set[str]
    large: dict[str, LargeSamples]
    linked: list[Path]
    reused: int
    parsed: int


def new_stamp(
    name: str, roots: Sequence[Path | str], manifest: Manifest, files: SelectedFiles, summary: ImportSummary
) -> Stamp:
    """Return the stamp of an import before its logs are parsed; ``roots`` are those outside of ``data/raw``."""
    return empty_stamp() | {
        "study": name,
        "parser_version": parser_version(),
        "manifest": digest(manifest.files),
        # A page shows the lines of logs that are not in data/raw.
        "roots": [root if isinstance(root, str) else str(root.resolve()) for root in roots],
        "files": files.marks,
        "hosts": _facts_of_hosts(files.recordings, summary),
        "refused": list(summary.unreadable),
        "layout": LAYOUT,
    }


def stamp_of(logs: ParsedLogs, summary: ImportSummary) -> Stamp:
    """Return the keys of the stamp that are known when the logs are parsed and joined."""
    return {
        "files": logs.marks,
        "imported_at": datetime.now(UTC).isoformat(timespec="seconds"),
        "summary": {key: value for key, value in vars(summary).items() if key not in _NOT_STORED},
    }


def parse_logs(
    name: str,
    files: SelectedFiles,
    manifest: Manifest,
    summary: ImportSummary,
    folder: Path | None = None,
    reused: Set[str] = frozenset(),
    executor: Executor | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> ParsedLogs:
    """Parse files, but for those that are ``reused``; list what cannot be read in the summary.

    ``folder`` has the rows of the reused files; without one, none is reused.
    """
    changed = {path: file for path, file in files.logs.items() if path not in reused}
    batches, marks, problems = parse_files(changed, files.marks, executor, progress)
    summary.unreadable += problems
    listed = _list_sources(marks, manifest, summary)
    kept = set() if folder is None else _kept(folder, listed, reused)
    # The id of a source depends on other files, and which of equal files counts, too; see `CopiedFiles`.
    renamed = {
        source_id: source
        for source_id, source in listed.items()
        if source_id not in kept and (source.file in reused or source_id != source.id_of_bytes)
    }
    again = dict.fromkeys(source.file for source in renamed.values())
    _check_archive(name, again.keys() - files.logs.keys())
    ids = {source.path: source_id for source_id, source in renamed.items()}
    batches_again, read_again, _ = parse_files({path: files.logs[path] for path in again}, marks, executor, ids=ids)
    for path in again:
        if read_again.get(path) != marks[path]:
            raise LogError(f"{path}: {CHANGED}")
    batches = [*batches_again, *batches]
    added = listed.keys() - kept
    return ParsedLogs(
        batches=batches,
        marks=marks,
        paths={source_id: source.path for source_id, source in listed.items()},
        kept=kept,
        large={key: samples for batch in batches for key, samples in batch.large.items() if key in added},
        linked=[] if folder is None else [file for source_id, file in large_files(folder) if source_id in kept],
        reused=len(reused - again.keys()),
        parsed=len(changed | again),
    )


def join(logs: ParsedLogs, folder: Path | None, manifest: Manifest, summary: ImportSummary) -> dict[str, pa.Table]:
    """Return the tables of a study: the rows of the logs with what the manifest says; count runs in the summary."""
    large: dict[str, list[Path | IO[bytes]]] = {key: [*found.files.values()] for key, found in logs.large.items()}
    for file in logs.linked:
        large.setdefault(source_of(file), []).append(file)
    tables, notes = assemble(folder, logs.kept, [batch.tables for batch in logs.batches], large, logs.paths, manifest)
    _summarize(tables, logs.paths, manifest, summary)
    summary.notes += _scenario_notes(tables["runs"], manifest) + notes
    return tables


def _roots(name: str, sources: Sequence[Path | str] | None) -> list[Path | str]:
    """Return the files, folders and URLs of the logs of a study."""
    return [str(source) if is_url(source) else Path(source) for source in sources or [data_folder("raw") / name]]


def _origin(folder: Path, roots: Sequence[Path | str]) -> list[str]:
    """Return where the logs of an imported study are: relative to its folder if both are in the same place.

    A project that is moved or mounted elsewhere then keeps its studies.
    """
    place = folder.resolve()
    paths = [root if isinstance(root, str) else root.resolve() for root in roots]
    return [
        os.path.relpath(path, place) if isinstance(path, Path) and place.parents[1] in path.parents else str(path)
        for path in paths
    ]


def other_origin(folder: Path, name: str, sources: Sequence[Path | str] | None = None) -> str:
    """Return where the logs of the study in this folder are, if not among these sources; else an empty string."""
    recover(folder)
    origin = _origin(folder, _roots(name, sources))
    left_out: list[str] = [path for path in read_stamp(folder)["origin"] if path not in origin]
    if not left_out:
        return ""
    return left_out[0] if is_url(left_out[0]) else os.path.normpath(folder.resolve() / left_out[0])


def _intact_stamp(folder: Path, before: Stamp) -> Stamp:
    """Return what was imported before; the empty stamp if its files are not as they were written, so that all are."""
    if before["layout"] != LAYOUT:
        return empty_stamp()
    altered, foreign = altered_files(folder, before), unlisted_files(folder, before)
    for name in altered:
        if (folder / name).exists():
            warnings.warn(f"{folder / name}: not as it was imported (its SHA-256 differs); written again", stacklevel=2)
    for name in foreign:
        warnings.warn(f"{folder / name}: not a file of this import; removed", stacklevel=2)
    return empty_stamp() if altered or foreign else before


def _check_roots(name: str, roots: Sequence[Path | str], *, given: bool) -> None:
    """Raise `LogError` if a source does not exist; that of a URL shows when its files are listed."""
    for root in roots:
        if isinstance(root, str) or root.exists():
            continue
        if given:
            raise LogError(f"{root}: no such file or folder; check the path")
        known = ", ".join(list_studies()) or "none"
        raise LogError(f"study {name!r} not found. Known studies: {known}")


def select_files(
    roots: Sequence[Path | str],
    manifest: Manifest,
    summary: ImportSummary,
    before: Stamp,
    archive: Path | None = None,
) -> SelectedFiles:
    """Return the files of a study; list those that are ignored or cannot be read in the summary.

    Raises `LogError` if two different files would have one path.
    """
    files = SelectedFiles({}, {}, {})
    listed, refused = list_files(roots, manifest, archive)
    summary.unreadable += refused
    for path, file in listed:
        if reason := manifest.ignored(path):
            if host_of(path):
                files.recordings[path] = file
            else:
                summary.ignored.append(f"{path}: {reason}")
            continue
        other = files.logs.get(path)
        if isinstance(other, str) and isinstance(file, str):
            if not filecmp.cmp(other, file, shallow=False):
                raise LogError(f"{file}: {other} has the same name and different content; rename one of them")
            continue
        try:
            files.marks[path] = fingerprint(file, before["files"].get(path)) | {"tool": manifest.tool(path)}
        except OSError as error:
            summary.unreadable.append(f"{path}: {problem_of(error)}")
        else:
            files.logs[path] = file
    return files


def _check_archive(name: str, lost: Collection[str]) -> None:
    """Raise `LogError` if archived logs have to be parsed and are not there."""
    if lost:
        raise LogError(
            f"{data_folder('archive') / name}: {count_of(len(lost), 'archived log')} would have to be parsed again and "
            f"{'is' if len(lost) == 1 else 'are'} not there; nothing was written. Bring that folder back, or delete "
            f"data/processed/{name} to start without them"
        )


def _facts_of_hosts(recordings: Mapping[str, str | RemoteFile], summary: ImportSummary) -> dict[str, Any]:
    """Read what a script of `azlatency plan` recorded about the machines; list unreadable files in the summary."""
    facts = {}
    for path, file in recordings.items():
        try:
            with on_disk(file) as local, local.open("rb") as stream:
                raw = stream.read(LARGEST_RECORDING + 1)
        except (OSError, ChangedError) as error:
            summary.unreadable.append(f"{path}: {problem_of(error)}")
            continue
        if len(raw) > LARGEST_RECORDING:
            summary.ignored.append(f"{path}: too large for facts about a host")
        else:
            facts[path] = read_facts(raw)
    return facts


def _kept(folder: Path, listed: Mapping[str, _Listed], reused: Set[str]) -> set[str]:
    """Return the ids of the sources whose stored rows are valid."""
    if not reused:
        return set()
    sources = read_stored(folder, "sources")
    stored = set(zip(sources["source_id"].to_pylist(), sources["path"].to_pylist(), strict=True))
    return {key for key, source in listed.items() if source.file in reused and (key, source.path) in stored}


class _Listed(NamedTuple):
    """A source that counts: its file, its path, which differs from the file in an archive, and the id of its bytes."""

    file: str
    path: str
    id_of_bytes: str


def _list_sources(marks: Mapping[str, Mark], manifest: Manifest, summary: ImportSummary) -> dict[str, _Listed]:
    """Return the sources that count by their ids, in the order of the files; list the others in the summary."""
    copies = CopiedFiles()
    listed: list[_Listed] = []
    for file, mark in marks.items():
        for message in mark["unreadable"]:
            if reason := manifest.ignored(path := path_of(message)):
                summary.ignored.append(f"{path}: {reason}")
            else:
                (summary.not_recognised if is_no_log(message) else summary.unreadable).append(message)
        for source_id, path, size in mark["sources"]:
            if path != file and (reason := manifest.ignored(path)):
                summary.ignored.append(f"{path}: {reason}")
            elif original := copies.original_of(source_id, path, size):
                summary.duplicates.append(f"{path}: identical to {original}; counted once")
            else:
                listed.append(_Listed(file, path, source_id))
    return {copies.id_of(source.id_of_bytes, source.path): source for source in listed}


def _summarize(
    tables: Mapping[str, pa.Table], paths: Mapping[str, str], manifest: Manifest, summary: ImportSummary
) -> None:
    """Count the runs and the missing metadata; list files that were not recognised and errors."""
    runs, events = tables["runs"], tables["events"]
    of_tools = runs["tool"].value_counts()
    summary.runs_by_tool = dict(
        sorted(zip(*(of_tools.field(name).to_pylist() for name in ("values", "counts")), strict=True))
    )
    sought = [key for key in REQUIRED_METADATA if key not in manifest.study.get("not_said", ())]
    # The log of a server has no result that a comparison of zones could use.
    measured = runs.filter(pc.not_equal(pc.fill_null(runs["test"], ""), "server"))
    summary.missing = {key: measured[key].null_count for key in sought if measured[key].null_count}
    counts = Counter[str]()
    # An entry that contradicts another one is listed once for all logs, below.
    chosen = pc.or_(pc.equal(events["severity"], "error"), pc.equal(events["code"], "manifest_missing"))
    chosen = pc.and_(chosen, pc.not_equal(events["code"], "manifest_conflict"))
    for event in events.filter(chosen).to_pylist():
        path = paths[event["source_id"]]
        counts[path] += 1
        if counts[path] <= _MOST_LISTED:
            lines = summary.not_recognised if event["code"] == "not_recognised" else summary.problems
            lines.append(f"{path}:{event['line']}: {event['text']}")
    for path, count in counts.items():
        if count > _MOST_LISTED:
            summary.problems.append(f"{path}: {count_of(count - _MOST_LISTED, 'more error')}; see the table events")
    # What a table leaves out, or what looks odd in it, is no error.
    for event in events.filter(pc.is_in(events["code"], pa.array(TOLD))).to_pylist():
        summary.notes.append(f"{paths[event['source_id']]}: {event['text']}")
    for conflict, (first, number) in manifest.conflicts.items():
        more = f" ({count_of(number, 'run')})" if number > 1 else ""
        summary.problems.append(f"{first}: {conflict}{more}")


def _scenario_notes(runs: pa.Table, manifest: Manifest) -> list[str]:
    """Name a scenario that covers several paths, and say how machines with changing addresses are named."""
    machines = manifest.study.get("machines", [])
    # A draft names the ends of each path, whatever folder it is in.
    several = {} if manifest.study.get("drafted") else paths_by_scenario(runs, parse_maps(machines))
    notes = []
    if several:
        scenario, ends = next(iter(several.items()))
        more = f" (and {len(several) - 1} more like it)" if len(several) > 1 else ""
        count = count_of(len(ends), "path")
        notes.append(f"scenario {scenario!r} covers {count}, which are never pooled: {shortened(ends)}{more}")
    if several and not machines:
        notes.append(
            "if addresses change with every run, as those of pods do, name the machines in study.toml, "
            'for example machines = ["10.0.1.*=client", "10.0.2.*=server"]'
        )
    elif "zone" not in manifest.study.get("not_said", ()) and (left := _addresses_without_zone(runs, machines)):
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
    return list(dict.fromkeys(address for address, zone in ends if address and not zone and address not in ANY_ADDRESS))
