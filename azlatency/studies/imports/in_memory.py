"""Logs become a study in memory: parsed and joined with the manifest, as an import does, and not written.

Only the samples of large logs are on disk, in temporary files without a name, as they are during an import: a log of
300 MB would need several times its size in memory.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from uuid import uuid4

import pyarrow as pa
import pyarrow.compute as pc

from azlatency.logs import schema
from azlatency.studies.imports.importer import (
    ImportSummary,
    ParsedLogs,
    join,
    new_stamp,
    parse_logs,
    select_files,
    stamp_of,
)
from azlatency.studies.imports.writer import descriptions, write_study
from azlatency.studies.manifest.manifest import FILE_NAME, Manifest, parse_manifest, read_manifest
from azlatency.studies.store.folders import data_folder, data_in
from azlatency.studies.store.remote import fetched_manifest, is_url
from azlatency.studies.store.study import Stamp, Study, digest, empty_stamp, with_import_time
from azlatency.studies.store.tables import samples_of


@dataclass(frozen=True, repr=False)
class MemoryStudy(Study):
    """A study whose tables are in memory; ``folder`` is where its logs are.

    ``logs`` are the logs before they were joined with the ``manifest``; ``tables`` lack the samples of large logs;
    ``texts`` is the JSON that an import would write, by the names of its files. ``drafted``: the text of the manifest,
    if it was drafted from the names of the logs.
    """

    logs: ParsedLogs
    manifest: Manifest
    tables: dict[str, pa.Table]
    texts: dict[str, str]
    stamp: Stamp
    drafted: str = ""

    @property
    def is_stored(self) -> bool:
        """Whether the tables are files: they are not."""
        return False

    def to_arrow(self, table: str) -> pa.Table:
        """Return one table as a `pyarrow.Table`; see `Study.to_arrow`."""
        table_schema = schema.arrow_schema(table)
        if table == "samples":
            return pa.concat_tables([table_schema.empty_table(), *self._samples_by_tool()])
        content = self.tables[table]
        return with_import_time(content, self.stamp) if table == "sources" else content

    def _samples_by_tool(self) -> Iterator[pa.Table]:
        """Yield the samples of each tool, then those of its large logs, as the files of an import are read."""
        samples, large = self.tables["samples"], self.logs.large
        tools = {*pc.unique(samples["tool"]).to_pylist(), *(tool for found in large.values() for tool in found.files)}
        for tool in sorted(tools):
            yield samples.filter(pc.equal(samples["tool"], tool))
            for source_id in sorted(large):
                if tool in large[source_id].files:
                    yield samples_of(large[source_id].files[tool], tool)

    @cached_property
    def _stamp(self) -> Stamp:
        return self.stamp

    def _read_json(self, name: str) -> Any:
        return json.loads(self.texts[name])

    def described(self, draft: str) -> MemoryStudy:
        """Return the study with a manifest that was drafted; no log is parsed again."""
        manifest, summary = parse_manifest(draft, self.name), ImportSummary(self.name, self.folder)
        return replace(_joined(self.name, self.folder, self.logs, manifest, self.stamp, summary), drafted=draft)


def read_study(
    name: str, sources: Sequence[Path | str], progress: Callable[[int, int], None] | None = None
) -> tuple[MemoryStudy, ImportSummary]:
    """Read files, archives or folders, or one URL, into a study in memory; return what was read and what not, too.

    A single folder may contain its own ``study.toml``. ``progress`` is called with the number of files that are done,
    and of all. The study has no runs if no log was recognised.
    """
    summary = ImportSummary(name, "")
    with fetched_manifest(sources[0]) as fetched:
        manifest = _find_manifest(name, sources if fetched is None else [fetched])
        files = select_files(sources, manifest, summary, empty_stamp())
        stamp = new_stamp(name, sources, manifest, files, summary)
        logs = parse_logs(name, files, manifest, summary, progress=progress)
        folder = Path() if is_url(sources[0]) else Path(sources[0])
        return _joined(name, folder, logs, manifest, stamp, summary), summary


def _find_manifest(name: str, sources: Sequence[Path | str]) -> Manifest:
    """Read the manifest of a single folder, or the one that is among the sources; it may be empty."""
    paths = [source for source in sources if isinstance(source, Path)]
    described = next((path.parent for path in paths if path.name == FILE_NAME), None)
    if described is None and len(paths) == 1 and paths[0].is_dir():
        described = paths[0]
    return Manifest(name, Path()) if described is None else read_manifest(described, name)


def _joined(
    name: str, folder: Path, logs: ParsedLogs, manifest: Manifest, stamp: Stamp, summary: ImportSummary
) -> MemoryStudy:
    """Join logs with a manifest; count runs in the summary."""
    tables = join(logs, None, manifest, summary)
    texts = descriptions(name, manifest)
    return MemoryStudy(
        name=name,
        folder=folder,
        info=json.loads(texts["study.json"]),
        # Two readings of the same logs are two studies, as two imports are.
        version=uuid4().hex,
        logs=logs,
        manifest=manifest,
        tables=tables,
        texts=texts,
        stamp=stamp | stamp_of(logs, summary),
    )


@contextmanager
def stored(study: MemoryStudy) -> Iterator[None]:
    """Write a study to a temporary folder, which is the folder of all data until the context ends.

    The notebooks of a report run in processes of their own and load the study from there. Its logs are not copied.
    """
    with TemporaryDirectory(prefix="azlatency-") as temporary, data_in(Path(temporary)):
        stamp, raw = study.stamp, data_folder("raw") / study.name
        raw.mkdir(parents=True)
        if study.drafted:
            (raw / FILE_NAME).write_text(study.drafted, "utf-8")
            stamp = stamp | {"manifest": digest([raw / FILE_NAME])}
        folder = data_folder("processed") / study.name
        folder.parent.mkdir()
        write_study(folder, study.tables, study.logs.large, [], stamp, study.manifest)
        yield
