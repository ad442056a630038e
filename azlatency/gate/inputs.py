"""Open what a user names on the command line: a study, a folder, an archive or a log."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from azlatency.logs.parse import LogError
from azlatency.studies.imports.importer import import_study, other_origin
from azlatency.studies.imports.ingest import copy_sources
from azlatency.studies.runs.selection import select_scenario
from azlatency.studies.store.folders import TEMPORARY_STUDY, data_folder, list_studies
from azlatency.studies.store.remote import is_url
from azlatency.studies.store.study import Study, load


@contextmanager
def open_study(name: str) -> Iterator[Study]:
    """Open a study by name, or import the logs under a path or a URL into a temporary study.

    ``STUDY@SCENARIO`` is a study restricted to the runs of one scenario, or of a time. A study whose logs changed is
    imported again first. The temporary study is deleted when the context ends. Raises `LogError` if there is neither a
    study nor a path of this name, or if it contains no run.
    """
    imported = [path.parent.name for path in data_folder("processed").glob("*/import.json")]
    # Logs that were imported from elsewhere are not imported again: data/raw contains at most their study.toml.
    if name in list_studies() and not other_origin(data_folder("processed") / name, name):
        import_study(name)
        yield load(name)
        return
    if name in imported:
        yield load(name)
        return
    path = Path(name)
    study, at, scenario = name.rpartition("@")
    if at and not path.exists():
        with open_study(study) as whole:
            yield select_scenario(whole, scenario)
        return
    if not path.exists() and not is_url(name):
        studies = ", ".join(sorted({*list_studies(), *imported})) or "none"
        raise LogError(f"{name}: not a study, a file or a folder; known studies: {studies}")
    with TemporaryDirectory(prefix="azlatency-") as temporary:
        raw = Path(temporary) / "raw" / TEMPORARY_STUDY
        source = name if is_url(name) else path if path.is_dir() else copy_sources([path], raw).folder
        summary = import_study(TEMPORARY_STUDY, [source], out=Path(temporary))
        if not summary.runs_by_tool:
            reasons = (summary.unreadable + summary.not_recognised + summary.problems)[:1]
            reason = f" ({reasons[0]})" if reasons else ""
            raise LogError(f"{name}: contains no run{reason}; run azlatency check {name}")
        yield load(TEMPORARY_STUDY, processed=Path(temporary))
