"""Raw logs and manifest -> ``data/processed/<study>/*.parquet``; and back as frames.

The import is incremental: a source whose bytes, manifest and parser version are unchanged is taken from the tables that
are there. It is atomic: tables are written into a folder beside, which then takes the place of the old one by a rename;
a reader finds the old tables or the new ones, and `load` puts the old ones back where an import was killed in between.
Raw files are only read.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from azlatency.logs import schema
from azlatency.logs.decode import SourceError, expand
from azlatency.logs.parse import LogError, parse_source
from azlatency.logs.parsers import parser_version
from azlatency.logs.record import Row
from azlatency.logs.tables import Logs, to_frame
from azlatency.studies.manifest import Manifest, ManifestError, read_baseline, read_manifest, read_reported

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

_STAMP = "import.json"
#: Logs of at most so many rows are written as CSV too.
CSV_ROWS = 10_000
#: What a comparison of zones cannot do without; the closing summary of an import counts the runs that lack it.
WANTED = ("zone", "peer_zone", "region", "vm_size", "accelerated_networking", "placement")


def data_folder(kind: str) -> Path:
    """``data/raw`` or ``data/processed``: of ``AZLATENCY_DATA``, else of the nearest folder upwards that has it."""
    if root := os.environ.get("AZLATENCY_DATA"):
        return Path(root) / kind
    here = Path.cwd()
    for folder in (here, *here.parents):
        if (folder / "data" / kind).is_dir():
            return folder / "data" / kind
    return here / "data" / kind


@dataclass
class ImportSummary:
    """What an import did, for the closing summary."""

    study: str
    folder: Path
    runs_by_tool: dict[str, int] = field(default_factory=dict)
    not_recognised: list[str] = field(default_factory=list)
    unreadable: list[str] = field(default_factory=list)
    ignored: list[str] = field(default_factory=list)
    duplicates: list[str] = field(default_factory=list)
    missing: dict[str, int] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)
    reused: int = 0
    parsed: int = 0
    unchanged: bool = False
    data_version: str = ""

    @property
    def usable(self) -> bool:
        """Whether anything was recognised, or the study lives from reported numbers or a baseline."""
        return bool(self.runs_by_tool) or not (self.not_recognised or self.unreadable)


def list_studies(raw: Path | None = None) -> list[str]:
    """Names of the studies in ``data/raw``: the folders with a ``study.toml``."""
    folder = raw or data_folder("raw")
    return sorted(path.parent.name for path in folder.glob("*/study.toml"))


def import_study(
    name: str,
    sources: Sequence[Path] | None = None,
    *,
    out: Path | None = None,
    executor: Executor | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> ImportSummary:
    """Import logs into ``out/name`` (default ``data/processed/name``).

    ``sources``: files, archives or folders; default ``data/raw/name``. A single folder may hold a ``study.toml``; for
    other sources the one of ``data/raw/name`` is used where it exists. ``progress(done, total)`` is called after each
    file. Raises `LogError` or `ManifestError` (one line) where nothing can be imported; the old tables then stay.
    """
    roots = [Path(source) for source in sources] if sources else [data_folder("raw") / name]
    for root in roots:
        if not root.exists():
            known = ", ".join(list_studies()) or "none"
            raise LogError(f"{root}: no such file or folder; studies in data/raw: {known}")
    manifest = _manifest_for(name, roots)
    out = (out or data_folder("processed")) / name
    recover(out)
    summary = ImportSummary(name, out)
    files = list(_files(roots, manifest, summary))
    before = _read_stamp(out)
    stamp: dict[str, Any] = {
        "study": name,
        "parser_version": parser_version(),
        "manifest": _digest(manifest.files),
        # Where logs from elsewhere are, so that a page can show their lines.
        "roots": [str(root.resolve()) for root in roots] if sources else [],
        "files": {path: _fingerprint(file, before["files"].get(path)) for path, file in files},
    }
    if {**before, "summary": None} == {**stamp, "summary": None}:
        return _recall(before, summary)
    fresh = before["parser_version"] != stamp["parser_version"] or before["manifest"] != stamp["manifest"]
    kept = set() if fresh else _kept(files, before["files"], stamp["files"])
    seen = {source: path for path in kept for source in before["files"][path]["sources"]}
    todo = [(path, file) for path, file in files if path not in kept]
    tables, ids = _parse(todo, manifest, seen, summary, executor, progress)
    for path, sources_of_path in ids.items():
        stamp["files"][path] = {**stamp["files"][path], "sources": sources_of_path}
    arrow = _with_kept(tables, out, {source for path in kept for source in before["files"][path]["sources"]})
    _summarise(arrow, summary)
    told_anew = ("folder", "reused", "parsed", "unchanged", "data_version")
    stamp["summary"] = {key: value for key, value in vars(summary).items() if key not in told_anew}
    summary.reused, summary.parsed, summary.data_version = len(kept), len(todo), _data_version(stamp)
    _write(out, arrow, stamp, manifest)
    return summary


def changed_since_import(name: str) -> str:
    """What is not in the imported tables yet, in words; empty where they are up to date.

    Logs from elsewhere that are no longer where they were are not missed: their tables are all there is.
    """
    stamp = _read_stamp(data_folder("processed") / name)
    roots = [Path(root) for root in stamp["roots"]] or [data_folder("raw") / name]
    if not all(root.exists() for root in roots):
        return ""
    try:
        manifest = _manifest_for(name, roots)
        files = dict(_files(roots, manifest, ImportSummary(name, Path())))
    except (ManifestError, OSError) as error:
        return f"the manifest cannot be read ({error})"
    if stamp["parser_version"] != parser_version():
        return "this library reads logs in another way"
    known = stamp["files"]
    changed = sum(
        path in known and _fingerprint(file, known[path])["sha256"] != known[path]["sha256"]
        for path, file in files.items()
    )
    told = [
        f"{count} {'file' if count == 1 else 'files'} {what}"
        for count, what in (
            (len(files.keys() - known.keys()), "came"),
            (len(known.keys() - files.keys()), "went"),
            (changed, "changed"),
        )
        if count
    ]
    told += ["the manifest changed"] if stamp["manifest"] != _digest(manifest.files) else []
    return ", ".join(told)


def _manifest_for(name: str, roots: list[Path]) -> Manifest:
    """The manifest inside a single source folder, else that of ``data/raw/name``, else one that says nothing."""
    inside = roots[0] if len(roots) == 1 and roots[0].is_dir() else None
    home = data_folder("raw") / name
    if inside is not None and ((inside / "study.toml").is_file() or not home.is_dir()):
        return read_manifest(inside, name)
    return read_manifest(home, name)


def _files(roots: list[Path], manifest: Manifest, summary: ImportSummary) -> Iterable[tuple[str, Path]]:
    """The log files as (path to show, file), the manifest's own files and ignored ones left out."""
    for root in roots:
        found = [root] if root.is_file() else sorted(path for path in root.rglob("*") if path.is_file())
        for file in found:
            inside = file.relative_to(root) if root.is_dir() else Path(file.name)
            path = inside.as_posix() if len(roots) == 1 else (Path(root.name) / inside).as_posix()
            if any(part.startswith(".") for part in inside.parts) or manifest.is_own_file(path):
                continue
            if reason := manifest.ignored(path):
                summary.ignored.append(f"{path}: {reason}")
                continue
            yield path, file


def _fingerprint(file: Path, before: dict[str, Any] | None) -> dict[str, Any]:
    """Size, time and SHA-256 of a file; the hash is computed anew only where size or time changed."""
    status = file.stat()
    found: dict[str, Any] = {"size": status.st_size, "mtime_ns": status.st_mtime_ns}
    if before is not None and all(before[key] == value for key, value in found.items()):
        return before
    if before is not None:
        found["sources"] = before["sources"]
    with file.open("rb") as stream:
        found["sha256"] = hashlib.file_digest(stream, "sha256").hexdigest()
    return found


def _digest(files: list[Path]) -> str:
    digest = hashlib.sha256()
    for file in files:
        digest.update(file.read_bytes() if file.is_file() else b"")
    return digest.hexdigest()


def _kept(files: list[tuple[str, Path]], before: dict[str, Any], now: dict[str, Any]) -> set[str]:
    """Paths whose bytes are those of the last import, so that their tables can be kept."""
    return {
        path
        for path, _ in files
        if path in before and before[path]["sources"] and before[path]["sha256"] == now[path]["sha256"]
    }


def _parse(
    todo: list[tuple[str, Path]],
    manifest: Manifest,
    seen: dict[str, str],
    summary: ImportSummary,
    executor: Executor | None,
    progress: Callable[[int, int], None] | None,
) -> tuple[Logs, dict[str, list[str]]]:
    """Tables of all files, and the ids of the sources in each file; of identical sources the first stands for all.

    ``seen``: path by source id of what is in the tables already.
    """
    tables, ids = Logs(), {path: list[str]() for path, _ in todo}
    mapper = executor.map if executor is not None else map
    tools = [manifest.tool(path) for path, _ in todo]
    parts = mapper(_parse_file, *zip(*todo, strict=True), tools) if todo else []
    for done, (part, (path, _)) in enumerate(zip(parts, todo, strict=True), start=1):
        for one in part:
            if isinstance(one, str):
                summary.unreadable.append(one)
                continue
            source = one.rows["sources"][0]
            if (first := seen.setdefault(source["source_id"], source["path"])) != source["path"]:
                summary.duplicates.append(f"{source['path']}: the same bytes as {first}; imported once")
                continue
            ids[path].append(source["source_id"])
            _describe(one, manifest)
            tables.extend(one)
        if progress is not None:
            progress(done, len(todo))
    return tables, ids


def _parse_file(path: str, file: Path, tool: str | None) -> list[Logs | str]:
    """All sources in one file; what cannot be read comes as its one-line message."""
    return [
        str(source) if isinstance(source, SourceError) else parse_source(source, tool=tool)
        for source in expand(file, name=path)
    ]


def _describe(tables: Logs, manifest: Manifest) -> None:
    """Join the manifest to the runs of one source."""
    source = tables.rows["sources"][0]
    for run in tables.rows["runs"]:
        for code, severity, text in manifest.describe(run, source["path"]):
            event = {"source_id": source["source_id"], "run_id": run["run_id"], "line": run["first_line"]}
            tables.rows["events"].append({**event, "code": code, "severity": severity, "text": text})


def _with_kept(tables: Logs, out: Path, kept: set[str]) -> dict[str, pa.Table]:
    """The new tables, together with the rows of unchanged sources from the tables that are there."""
    import pyarrow as pa
    import pyarrow.compute as pc

    arrow = {name: tables.to_arrow(name) for name in schema.TABLES}
    if not kept:
        return arrow
    wanted = pa.array(sorted(kept))
    for name, fresh in arrow.items():
        old = _read_table(out, name)
        key = old["source_id"] if "source_id" in old.column_names else pc.utf8_slice_codeunits(old["run_id"], 0, 16)
        arrow[name] = pa.concat_tables([old.filter(pc.is_in(key, wanted)), fresh])
    order = pc.sort_indices(arrow["sources"], sort_keys=[("path", "ascending")])
    arrow["sources"] = arrow["sources"].take(order)
    return arrow


def _summarise(arrow: dict[str, pa.Table], summary: ImportSummary) -> None:
    """Fill in what was recognised, what was not, and what metadata is missing."""
    from collections import Counter

    runs, sources = arrow["runs"], arrow["sources"]
    summary.runs_by_tool = dict(sorted(Counter(runs["tool"].to_pylist()).items()))
    paths = dict(zip(sources["source_id"].to_pylist(), sources["path"].to_pylist(), strict=True))
    for event in arrow["events"].to_pylist():
        where = f"{paths.get(event['source_id'], event['source_id'])}:{event['line']}: {event['text']}"
        if event["code"] == "not_recognised":
            summary.not_recognised.append(where)
        elif event["severity"] == "error" or event["code"] == "manifest_missing":
            summary.problems.append(where)
    summary.missing = {key: runs[key].null_count for key in WANTED if runs.num_rows and runs[key].null_count}


def _recall(before: dict[str, Any], summary: ImportSummary) -> ImportSummary:
    for key, value in before["summary"].items():
        setattr(summary, key, value)
    summary.unchanged, summary.reused, summary.data_version = True, len(before["files"]), _data_version(before)
    return summary


def _read_stamp(out: Path) -> dict[str, Any]:
    empty: dict[str, Any] = {
        "study": None, "parser_version": None, "manifest": None, "roots": [], "files": {}, "summary": None,
    }  # fmt: skip
    try:
        stamp = json.loads((out / _STAMP).read_text("utf-8"))
    except (OSError, ValueError):
        return empty
    return stamp if set(stamp) == set(empty) else empty


# --- files


def _write(out: Path, arrow: dict[str, pa.Table], stamp: dict[str, Any], manifest: Manifest) -> None:
    """Write everything beside ``out``, then let it take the place of ``out``."""
    staging = out.with_name(f".{out.name}.{os.getpid()}.new")
    shutil.rmtree(staging, ignore_errors=True)
    staging.mkdir(parents=True)
    try:
        for name, table in arrow.items():
            if name == "samples":
                _write_samples(staging / name, table)
            else:
                _write_table(staging / f"{name}.parquet", table)
        _write_json(
            staging / "study.json",
            {
                "name": stamp["study"],
                **_jsonable(manifest.study),
                "scenarios": manifest.scenarios(),
                "unquantified": _jsonable(read_baseline(manifest, "unquantified")),
            },
        )
        _write_json(staging / "expectations.json", _jsonable(read_baseline(manifest, "expectation")))
        _write_json(staging / "reported.json", read_reported(manifest))
        _write_json(staging / _STAMP, stamp)
        _swap(staging, out)
    finally:
        shutil.rmtree(staging, ignore_errors=True)


def _swap(staging: Path, out: Path) -> None:
    old = out.with_name(f".{out.name}.{os.getpid()}.old")
    if out.exists():
        os.rename(out, old)
    os.rename(staging, out)
    shutil.rmtree(old, ignore_errors=True)


def recover(out: Path) -> None:
    """Undo what a killed import left: put the old tables back where the new ones had not taken their place yet."""
    for old in sorted(out.parent.glob(f".{out.name}.*.old")):
        if out.exists():
            shutil.rmtree(old, ignore_errors=True)
        else:
            os.rename(old, out)


def _write_table(path: Path, table: pa.Table) -> None:
    """Parquet; beside it, for a table that a spreadsheet can hold, the same as CSV."""
    import pyarrow.parquet as pq

    pq.write_table(table, path, compression="zstd")
    if table.num_rows <= CSV_ROWS:
        from pyarrow import csv

        csv.write_csv(_harmless(table), path.with_suffix(".csv"))


def _harmless(table: pa.Table) -> pa.Table:
    """The table for a spreadsheet: text that it would take for a formula gets an apostrophe in front, as OWASP advises.

    Printed numbers stay as they are. Parquet holds the text as it stands in the log.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    for index, column in enumerate(table.columns):
        if not pa.types.is_string(column.type):
            continue
        formula = pc.match_substring_regex(column, r"^[=+@\t\r-]")
        number = pc.match_substring_regex(column, r"^[+-]?[0-9.,]+$")
        risky = pc.and_(formula, pc.invert(number))
        shown = pc.if_else(risky, pc.binary_join_element_wise("'", column, ""), column)
        table = table.set_column(index, table.schema.field(index), shown)
    return table


def _write_samples(folder: Path, table: pa.Table) -> None:
    """One file a tool, integers delta-encoded: about 4 bytes a sample."""
    import pyarrow.compute as pc
    import pyarrow.parquet as pq

    folder.mkdir()
    integers = ("seq", "sent_ns", "rtt_ns", "low_ns", "high_ns")
    for tool in pc.unique(table["tool"]).to_pylist():
        part = table.filter(pc.equal(table["tool"], tool))
        (folder / f"tool={tool}").mkdir()
        pq.write_table(
            part.drop_columns(["tool"]),
            folder / f"tool={tool}" / "part-0.parquet",
            compression="zstd",
            use_dictionary=["run_id", "status"],
            column_encoding=dict.fromkeys(integers, "DELTA_BINARY_PACKED"),
        )


def _read_table(folder: Path, name: str) -> pa.Table:
    import pyarrow as pa
    import pyarrow.parquet as pq

    wanted = schema.arrow_schema(name)
    if name != "samples":
        return pq.read_table(folder / f"{name}.parquet").cast(wanted)
    parts = []
    for path in sorted((folder / name).glob("tool=*/*.parquet")):
        part = pq.read_table(path, partitioning=None)
        tool = pa.repeat(pa.scalar(path.parent.name.removeprefix("tool=")), part.num_rows)
        parts.append(part.append_column("tool", tool).select(wanted.names).cast(wanted))
    return pa.concat_tables(parts) if parts else wanted.empty_table()


def _data_version(stamp: dict[str, Any]) -> str:
    """16 hex digits of a hash over the paths and bytes of the logs, the manifest and the version of the parsers."""
    logs = sorted((path, file["sha256"]) for path, file in stamp["files"].items())
    content = json.dumps([stamp["parser_version"], stamp["manifest"], logs], ensure_ascii=True)
    return hashlib.sha256(content.encode()).hexdigest()[:16]


def _jsonable(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _jsonable(each) for key, each in value.items()}
    if isinstance(value, list):
        return [_jsonable(each) for each in value]
    return value if isinstance(value, str | int | float | bool | None) else str(value)


def _write_json(path: Path, content: Any) -> None:
    path.write_text(json.dumps(content, ensure_ascii=False, indent=1) + "\n", "utf-8")


# --- reading


@dataclass(frozen=True)
class Study:
    """An imported study: its description and its tables as pandas frames with Arrow-backed types."""

    name: str
    folder: Path
    info: dict[str, Any]
    version: str
    """Digest of the import it was loaded from; tables of two imports are never mixed."""

    def table(self, name: str) -> pd.DataFrame:
        """One table of data-model.md. Raises `KeyError` for an unknown one, `LogError` after another import."""
        schema.names(name)
        table = _read_table(self.folder, name)
        if _digest([self.folder / _STAMP]) != self.version:
            raise LogError(f"{self.name}: imported anew since it was loaded; load it again")
        return to_frame(table)

    @cached_property
    def data_version(self) -> str:
        """Names what the tables hold: the same for the same logs, manifest and parsers, on every machine."""
        return _data_version(self._json(_STAMP))

    @cached_property
    def sources(self) -> pd.DataFrame:
        """One row an input file."""
        return self.table("sources")

    @cached_property
    def runs(self) -> pd.DataFrame:
        """One row a test of one tool between one client and one server."""
        return self.table("runs")

    @cached_property
    def metrics(self) -> pd.DataFrame:
        """One row a printed number; ``value`` in ``unit``."""
        return self.table("metrics")

    @cached_property
    def quantiles(self) -> pd.DataFrame:
        """One row a quantile; ``value_ns`` is a round trip in ns."""
        return self.table("quantiles")

    @cached_property
    def intervals(self) -> pd.DataFrame:
        """One row a reporting interval; times in ns, ``throughput`` in bit/s."""
        return self.table("intervals")

    @cached_property
    def samples(self) -> pd.DataFrame:
        """One row a probe; ``rtt_ns`` is a round trip in ns, null where there was no answer."""
        return self.table("samples")

    @cached_property
    def histograms(self) -> pd.DataFrame:
        """One row a bucket."""
        return self.table("histograms")

    @cached_property
    def events(self) -> pd.DataFrame:
        """One row a remark about a line."""
        return self.table("events")

    @cached_property
    def expectations(self) -> list[Row]:
        """What the study's baseline expects, as it stands in its file."""
        return list(self._json("expectations.json"))

    @cached_property
    def reported(self) -> pd.DataFrame:
        """Numbers that stand only in a text, not in a log; every column is text."""
        import pandas as pd

        return pd.DataFrame(self._json("reported.json")).convert_dtypes()

    def imported_from(self) -> list[Path]:
        """Where its logs were imported from, if not from ``data/raw``."""
        return [Path(root) for root in self._json(_STAMP).get("roots", [])]

    def _json(self, name: str) -> Any:
        return json.loads((self.folder / name).read_text("utf-8"))


def load(name: str, *, processed: Path | None = None) -> Study:
    """An imported study by name. Raises `LogError` that lists the known ones for an unknown name."""
    root = processed or data_folder("processed")
    folder = root / name
    recover(folder)
    if not (folder / _STAMP).is_file():
        known = sorted(path.parent.name for path in root.glob(f"*/{_STAMP}"))
        raise LogError(
            f"{name}: no such study in {root}; imported: {', '.join(known) or 'none'} (azlatency import --all)"
        )
    version = _digest([folder / _STAMP])
    return Study(name, folder, json.loads((folder / "study.json").read_text("utf-8")), version)


__all__ = [
    "WANTED",
    "ImportSummary",
    "ManifestError",
    "Study",
    "changed_since_import",
    "data_folder",
    "import_study",
    "list_studies",
    "load",
    "recover",
]  # fmt: skip
