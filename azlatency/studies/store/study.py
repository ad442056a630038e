"""Load an imported study from ``data/processed/<study>``.

`azlatency.studies.imports.importer` writes that folder, `azlatency.studies.imports.changes` compares it with the logs.
"""

from __future__ import annotations

import atexit
import hashlib
import json
from collections import Counter
from collections.abc import Iterable
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property, partial
from html import escape
from pathlib import Path
from typing import Any, Literal, TypeAlias, TypedDict

import msgspec
import pandas as pd
import pyarrow as pa

from azlatency.logs import schema
from azlatency.logs.parse import LogError
from azlatency.logs.tables import TableSet
from azlatency.studies.format import count_of, did_you_mean
from azlatency.studies.store.folders import check_study_name, data_folder
from azlatency.studies.store.hosts import hosts_frame
from azlatency.studies.store.remote import checked_out, is_url, local_path
from azlatency.studies.store.replacing import recover
from azlatency.studies.store.tables import TABLE_FILES, read_samples, read_stored, sample_folder

#: The content of `STAMP_FILE`: what was imported, and by which version of the parsers.
Stamp: TypeAlias = dict[str, Any]
STAMP_FILE = "import.json"


class _StampTypes(TypedDict):
    """The types in the file of a stamp, which somebody may have edited."""

    study: str | None
    parser_version: str | None
    manifest: str | None
    roots: list[str]
    origin: list[str]
    files: dict[str, dict[str, Any]]
    archived: list[Any]
    hosts: dict[str, Any]
    summary: dict[str, Any] | None
    refused: list[Any]
    imported_at: datetime | None
    layout: int | None
    tables: dict[str, str | None]


#: Which files a study has, and which columns; the tables of another layout are written anew.
LAYOUT = 9
#: Studies that were loaded from a store; deleted when Python ends.
_DOWNLOADED = ExitStack()
atexit.register(_DOWNLOADED.close)


class StudyInfo(TypedDict, total=False):
    """The keys of ``[study]`` in ``study.toml``; see ``data/raw/README.md``."""

    name: str
    title: str
    question: str
    source: str
    notes: str
    before: str
    likely_cause: str
    likely_cause_source: str
    not_measured: str
    runs: str
    reported: str
    baseline: str
    region: str
    subscription: str
    vm_size: str
    placement: str
    date: str
    emulated: bool
    drafted: bool
    pattern: list[str] | str
    pseudonymise_subscriptions: bool
    accelerated_networking: bool
    zone_maps: list[str]
    machines: list[str]
    not_said: list[str]
    scenarios: list[str]
    conclusions: list[dict[str, str | int]]
    unquantified: list[dict[str, str]]


class Expectation(TypedDict, total=False):
    """One ``[[expectation]]`` of a baseline file: ``low`` and ``high`` in the canonical ``unit``."""

    name: str
    metric: str
    relation: Literal["at_least", "at_most", "about", "between"]
    low: float
    high: float
    tolerance: float
    unit: str
    tool: str
    vm_size: str
    printed: str
    printed_as: str
    conditions: str
    command: str
    source_line: int
    notes: str


@dataclass(frozen=True, repr=False)
class Study(TableSet):
    """An imported study, as returned by `load`: its description and its tables.

    Attributes
    ----------
    name : str
        Name of the study and of its folder.
    folder : pathlib.Path
        Folder of the tables.
    info : StudyInfo
        The keys of ``[study]`` in ``study.toml``, and the scenarios in the order of the manifest.
    version : str
        Digest of the import that was loaded. Tables of two imports are never mixed.
    """

    name: str
    folder: Path
    info: StudyInfo
    version: str

    def to_arrow(self, table: str) -> pa.Table:
        """Return one table as a `pyarrow.Table`: that of the import that was loaded, else `LogError`."""
        schema.names(table)
        self.verify(table)
        content = read_table(self.folder, table)
        self._check_version()
        return content

    def verify(self, *tables: str) -> None:
        """Raise `LogError` if a file of these tables, or of any table, is not as the import wrote it."""
        altered = altered_files(self.folder, self._stamp, *tables)
        self._check_version()
        if altered:
            raise _altered(self.folder / altered[0], self.name)

    def _check_version(self) -> None:
        if digest([self.folder / STAMP_FILE]) != self.version:
            raise LogError(f"{self.name}: imported again since it was loaded; load it again")

    @cached_property
    def _stamp(self) -> Stamp:
        return read_stamp(self.folder)

    @cached_property
    def file_names(self) -> frozenset[str]:
        """The paths of all files that were imported, copies included, and of the members of archives."""
        marks = self._stamp["files"].values()
        return frozenset(str(name) for mark in marks for _, name, *_ in mark.get("sources") or ())

    @cached_property
    def data_version(self) -> str:
        """Hash of the logs, the manifest and the parser version: 16 hex digits, equal on every machine."""
        return data_version(self._stamp)

    @cached_property
    def expectations(self) -> list[Expectation]:
        """The expected values of the study's baseline file."""
        return list(self._read_json("expectations.json"))

    @cached_property
    def reported(self) -> pd.DataFrame:
        """Numbers that someone published without a log. Every column is text."""
        return pd.DataFrame(self._read_json("reported.json")).convert_dtypes()

    @cached_property
    def hosts(self) -> pd.DataFrame:
        """What the script of `azlatency plan` recorded about the machines; empty if no such script measured."""
        return hosts_frame(self._stamp["hosts"])

    @property
    def is_stored(self) -> bool:
        """Whether the tables are files in ``folder``."""
        return True

    def imported_from(self) -> list[Path]:
        """Return the folders and files of the logs; an empty list stands for ``data/raw``."""
        return [Path(root) for root in self._stamp["roots"]]

    def _read_json(self, name: str) -> Any:
        self.verify(name)
        return json.loads((self.folder / name).read_text("utf-8"))

    def __repr__(self) -> str:
        facts = self._summary()
        width = max(len(name) for name, _ in facts)
        return "\n".join([f"Study: {self.name}", *(f"  {name.ljust(width)}  {text}" for name, text in facts)])

    def _repr_html_(self) -> str:
        rows = "".join(f"<tr><th>{escape(name)}</th><td>{escape(text)}</td></tr>" for name, text in self._summary())
        return f"<div><p>Study: {escape(self.name)}</p><table>{rows}</table></div>"

    def _summary(self) -> list[tuple[str, str]]:
        """Return what identifies the study: description, runs of each tool, scenarios and data version."""
        tools = Counter(self.runs["tool"])
        runs = count_of(tools.total(), "run")
        if tools:
            runs += ": " + ", ".join(f"{number} {tool}" for tool, number in sorted(tools.items()))
        facts = [
            ("title", str(self.info.get("title", ""))),
            ("question", str(self.info.get("question", ""))),
            ("runs", runs),
            ("scenarios", ", ".join(self.info.get("scenarios", []))),
            ("data version", self.data_version),
        ]
        return [(name, text) for name, text in facts if text]


def load(name: str, *, processed: Path | str | None = None) -> Study:
    """Load an imported study.

    Parameters
    ----------
    name : str
        Name of the study.
    processed : path-like, optional
        Folder of the imported studies, or its URL (see `import_study`), from which the tables are downloaded to a
        temporary folder that exists until Python ends. Default: ``data/processed``.

    Returns
    -------
    Study
        The study. Its tables are read on first use.

    Raises
    ------
    LogError
        If the study is not imported, or one of its files was deleted. The message lists the imported studies.

    Examples
    --------
    >>> import azlatency as az
    >>> study = az.load("westeurope-azure-cni")
    >>> study.info["region"], len(study.runs)
    ('westeurope', 25)
    """
    check_study_name(name)
    processed = None if processed is None else local_path(processed)
    if is_url(processed):
        processed = _DOWNLOADED.enter_context(checked_out(str(processed), name)).parent
    root = Path(processed or data_folder("processed"))
    folder = root / name
    recover(folder)
    if not (folder / STAMP_FILE).is_file():
        known = ", ".join(sorted(path.parent.name for path in root.glob(f"*/{STAMP_FILE}"))) or "none"
        hint = did_you_mean(name, known.split(", "))
        raise LogError(
            f"study {name!r} not found{hint or '.'} Known studies: {known}. Import it: azlatency import --study NAME"
        )
    stamp = read_stamp(folder)
    if stamp["layout"] != LAYOUT:
        raise LogError(f"{name}: imported by another version of azlatency. Run: azlatency import --study {name}")
    if missing := [file for file in stamp["tables"] if not (folder / file).is_file()]:
        raise LogError(f"{folder / missing[0]}: this file was deleted. Run: azlatency import --study {name}")
    if foreign := unlisted_files(folder, stamp):
        raise LogError(
            f"{folder / foreign[0]}: not a file of this import. Delete it, or run: azlatency import --study {name}"
        )
    version = digest([folder / STAMP_FILE])
    if altered := altered_files(folder, stamp, "study.json"):
        raise _altered(folder / altered[0], name)
    return Study(name, folder, json.loads((folder / "study.json").read_text("utf-8")), version)


def _altered(file: Path, study: str) -> LogError:
    return LogError(f"{file}: not as it was imported (its SHA-256 differs). Run: azlatency import --study {study}")


def unlisted_files(folder: Path, stamp: Stamp) -> list[str]:
    """Return the tables in a folder that its import did not write; names that begin with a dot do not count."""
    found = (path.relative_to(folder) for path in folder.rglob("*.parquet"))
    return sorted(
        path.as_posix()
        for path in found
        if path.as_posix() not in stamp["tables"] and not any(part.startswith(".") for part in path.parts)
    )


def altered_files(folder: Path, stamp: Stamp, *tables: str) -> list[str]:
    """Return the files of an import, or of some of its tables, that are missing or have other bytes."""
    chosen = {
        name: hashed for name, hashed in stamp["tables"].items() if not tables or name.startswith((*tables, "sources."))
    }
    return [name for name, hashed in chosen.items() if digest([folder / name]) != hashed]


def read_table(folder: Path, name: str) -> pa.Table:
    """Read one table of an imported study. Rows are in the order of the logs, samples in that of the tools first."""
    if name == "samples":
        files = sorted(folder.glob(f"{sample_folder('*')}/{TABLE_FILES}"))
        return pa.concat_tables([schema.arrow_schema(name).empty_table(), *map(read_samples, files)])
    table = read_stored(folder, name)
    return with_import_time(table, read_stamp(folder)) if name == "sources" else table


def with_import_time(sources: pa.Table, stamp: Stamp) -> pa.Table:
    """Return the table ``sources`` with the time of its import, which is not in its file."""
    table_schema = schema.arrow_schema("sources")
    moment = pa.scalar(stamp["imported_at"]).cast(table_schema.field("imported_at").type)
    position = table_schema.names.index("imported_at")
    return sources.add_column(position, "imported_at", pa.repeat(moment, sources.num_rows)).cast(table_schema)


def empty_stamp() -> Stamp:
    """Return the stamp of a study that was never imported."""
    return {
        "study": None, "parser_version": None, "manifest": None, "roots": [], "origin": [], "files": {}, "archived": [],
        "hosts": {}, "summary": None, "refused": [], "imported_at": None, "layout": None, "tables": {},
    }  # fmt: skip


def read_stamp(folder: Path) -> Stamp:
    """Read what was imported into a folder; the empty stamp if nothing was, or if another version wrote it."""
    empty = empty_stamp()
    try:
        raw = (folder / STAMP_FILE).read_bytes()
    except OSError:
        return empty
    try:
        stamp = msgspec.json.decode(raw)
    except (msgspec.DecodeError, UnicodeError):
        try:
            stamp = json.loads(raw)  # which reads what `write_stamp` escapes
        except ValueError:
            return empty
    try:
        msgspec.convert(stamp, _StampTypes)
    except msgspec.ValidationError:
        return empty
    return stamp if isinstance(stamp, dict) and stamp.keys() == empty.keys() else empty


def write_stamp(folder: Path, stamp: Stamp) -> None:
    """Write what was imported, faster than `json`, which escapes bytes in paths that are not UTF-8."""
    try:
        raw = msgspec.json.encode(stamp)
    except UnicodeEncodeError:
        raw = json.dumps(stamp).encode()
    (folder / STAMP_FILE).write_bytes(raw + b"\n")


def data_version(stamp: Stamp) -> str:
    """Hash the paths and bytes of the logs, the manifest and the parser version to 16 hex digits."""
    logs = sorted((path, file["sha256"]) for path, file in stamp["files"].items())
    content = json.dumps([stamp["parser_version"], stamp["manifest"], logs], ensure_ascii=True)
    return hashlib.sha256(content.encode()).hexdigest()[:16]


def digest(files: Iterable[Path]) -> str:
    """Return the SHA-256 of the bytes of all files; a missing file counts as empty."""
    hasher = hashlib.sha256()
    for file in files:
        if file.is_file():
            with file.open("rb") as stream:
                for piece in iter(partial(stream.read, 2**20), b""):
                    hasher.update(piece)
    return hasher.hexdigest()
