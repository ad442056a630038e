"""Open what a user names on the command line: a study, a folder, an archive or a log."""

from __future__ import annotations

from pathlib import Path

from azlatency.logs.parse import LogError
from azlatency.studies.drafts.draft import draft
from azlatency.studies.imports.importer import import_study, most_telling, other_origin
from azlatency.studies.imports.in_memory import read_study
from azlatency.studies.imports.ingest import readable
from azlatency.studies.manifest.manifest import FILE_NAME
from azlatency.studies.runs.selection import select_scenario
from azlatency.studies.store.folders import data_folder, imported_studies, list_studies
from azlatency.studies.store.remote import is_url
from azlatency.studies.store.study import Study, load


def open_sides(base: str, candidate: str | None) -> tuple[Study, Study | None]:
    """Open two studies, or one; two parts of one folder, as ``logs@2025`` and ``logs@2026``, are read once."""
    names = [name.rpartition("@") for name in (base, candidate or "")]
    (whole, at, part), (other, other_at, other_part) = names
    if at and other_at and whole == other and not Path(base).exists():
        study = open_study(whole)
        return select_scenario(study, part), select_scenario(study, other_part)
    # Where one side has a study.toml, the names of the other would be read in another way.
    drafted = not any((Path(name) / FILE_NAME).is_file() for name in (base, candidate) if name)
    return open_study(base, drafted=drafted), None if candidate is None else open_study(candidate, drafted=drafted)


def open_study(name: str, *, drafted: bool = True) -> Study:
    """Open a study by name, or read the logs under a path or a URL into a study in memory.

    ``STUDY@SCENARIO`` is a study restricted to the runs of one scenario, or of a time. A study whose logs changed is
    imported again first. ``drafted``: whether logs without a study.toml have what their names suggest. Raises
    `LogError` if there is neither a study nor a path of this name, or if it contains no run.
    """
    imported = imported_studies()
    # Logs that were imported from elsewhere are not imported again: data/raw contains at most their study.toml.
    if name in list_studies() and not other_origin(data_folder("processed") / name, name):
        import_study(name)
        return load(name)
    if name in imported:
        return load(name)
    path = Path(name)
    study, at, scenario = name.rpartition("@")
    if at and not path.exists():
        return select_scenario(open_study(study, drafted=drafted), scenario)
    if is_url(name):
        return _read(name, [name], drafted=drafted)
    if not path.exists():
        studies = ", ".join(sorted({*list_studies(), *imported})) or "none"
        raise LogError(f"{name}: not a study, a file or a folder; known studies: {studies}")
    with readable([path]) as paths:
        return _read(name, paths, drafted=drafted)


def _read(name: str, sources: list[Path] | list[str], *, drafted: bool) -> Study:
    """Read logs into a study in memory; raise `LogError` if they contain no run. ``drafted`` as in `open_study`."""
    study, summary = read_study(Path(name).name, sources)
    if not summary.runs_by_tool:
        reasons = summary.unreadable or summary.not_recognised or summary.problems
        reason = f" ({most_telling(reasons)})" if reasons else ""
        raise LogError(f"{name}: contains no run{reason}; run azlatency check {name}")
    return study.described(draft(study.name, study)) if drafted and not study.manifest.files else study
