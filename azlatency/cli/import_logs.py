"""``azlatency import``: turn a dump of logs into a study."""

from __future__ import annotations

from contextlib import nullcontext
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from azlatency.cli.answer import not_recognised
from azlatency.cli.common import command, folded, folder_name, no_file, print_error, print_note, progress, relative
from azlatency.cli.completion import complete_path, complete_study
from azlatency.studies.format import count_of

if TYPE_CHECKING:
    from collections.abc import Callable
    from concurrent.futures import Executor
    from contextlib import AbstractContextManager

    from azlatency.studies.imports.importer import ImportSummary


@command(
    "import",
    "azlatency import ~/dump.zip --study mine     # then fill in data/raw/mine/study.toml, and:",
    "azlatency import --study mine",
    "azlatency import notes.md logs/ --study mine",
    "ping -c 100 host | azlatency import - --study mine",
    "azlatency import s3://bucket/dump --study mine --dask tcp://10.0.0.4:8786",
    "azlatency import 2026-11-24/ --study nightly --append     # one more night",
    "azlatency import 2026-11-24/ --study nightly --append --keep 400d",
    "azlatency import --all",
)
def import_(  # noqa: PLR0913 - one for each option of the command
    sources: Annotated[
        list[str] | None,
        typer.Argument(
            help="Logs, notes files, archives or folders, or URLs of these (s3://, abfs://, gs://); - reads standard "
            "input. Default: data/raw/STUDY.",
            autocompletion=complete_path,
        ),
    ] = None,
    study: Annotated[str | None, typer.Option(help="Name of the study.", autocompletion=complete_study)] = None,
    all_studies: Annotated[bool, typer.Option("--all", help="Import every study in data/raw.")] = False,
    out: Annotated[str | None, typer.Option(help="Output folder or its URL. Default: data/processed.")] = None,
    dask: Annotated[
        str | None, typer.Option(metavar="ADDRESS", help="Parse on the workers of the Dask cluster at this address.")
    ] = None,
    rebuild: Annotated[bool, typer.Option("--rebuild", help="Parse every log and write every table again.")] = False,
    replace: Annotated[
        bool, typer.Option("--replace", help="Replace a study of this name that was imported from another folder.")
    ] = False,
    append: Annotated[
        bool,
        typer.Option(
            "--append",
            help="Add the source as one more night: a folder of data/raw/STUDY, named like the source if its name "
            "contains a date, else by the time. Rows of its runs.csv are added to that of the study.",
        ),
    ] = False,
    keep: Annotated[
        str | None,
        typer.Option(
            metavar="AGE",
            help="First move the logs whose runs started longer ago (400d) from data/raw/STUDY to data/archive/STUDY. "
            "The tables, and so the history, keep their runs.",
        ),
    ] = None,
    runs_csv: Annotated[
        bool, typer.Option("--runs-csv", help="Also draft a runs.csv: one row per log, with what its name says.")
    ] = False,
) -> None:
    """Import logs into data/processed.

    Sources are copied to data/raw/STUDY and are never modified. If that folder has no study.toml, a draft is written.
    Logs at a URL are read where they are, with the study.toml next to them.
    Unchanged files are not parsed again. A study is not replaced by logs of another folder.
    Exit code 0: runs were imported; 1: no log was recognised, a file could not be read or contains an error (the
    others are imported), or the study was imported from another folder; 2: usage error.
    """
    from azlatency.studies.imports.importer import import_study
    from azlatency.studies.store.folders import list_studies
    from azlatency.studies.store.remote import is_url, local_path

    if all_studies == (study is not None) or (all_studies and sources):
        raise typer.BadParameter("give --study NAME (with or without sources), or --all without sources")
    if append and (study is None or not sources or len(sources) > 1 or is_url(local_path(sources[0]))):
        raise typer.BadParameter("--append needs --study NAME and one folder, archive or log")
    if keep is not None and (study is None or (sources and not append)):
        raise typer.BadParameter("--keep needs --study NAME, and sources only with --append")
    names = list_studies() if study is None else [folder_name(study)]
    if not names:
        raise typer.BadParameter("data/raw contains no study; run in the project's folder or set AZLATENCY_DATA")
    out = None if out is None else str(local_path(out))
    sources = [str(local_path(source)) for source in sources or []]
    if keep is not None:
        _archive(names[0], keep, out)
    with _executor(dask) as executor:
        importing = partial(import_study, out=out, executor=executor, rebuild=rebuild, replace=replace)
        if append:
            usable = _append(importing, names[0], sources[0], out)
        elif study is not None:
            usable = _import_study(importing, names[0], sources, out)
        else:
            usable = all([_import_or_report(importing, name, out) for name in names])
    if runs_csv and study is not None:
        _draft_runs(names[0], out)
    if not usable:
        raise typer.Exit(1)


def _draft_runs(name: str, out: str | None) -> None:
    """Draft the runs.csv of a study."""
    from azlatency.studies.drafts.draft import draft_runs
    from azlatency.studies.store.folders import data_folder
    from azlatency.studies.store.study import load

    target = data_folder("raw") / name / "runs.csv"
    if target.exists():
        raise typer.BadParameter(f"{relative(target)} already exists; edit it, or delete it to start from a new draft")
    study = load(name, processed=out)
    target.write_text(draft_runs(study), "utf-8")
    print(f'drafted {relative(target)}; fill in the empty cells, and add runs = "runs.csv" to study.toml')


def _executor(dask: str | None) -> AbstractContextManager[Executor | None]:
    """Return the executor that parses: that of a Dask cluster, or none."""
    if dask is None:
        return nullcontext()
    from azlatency.studies.imports.cluster import dask_executor

    return dask_executor(dask)


def _import_or_report(importing: Callable[..., ImportSummary], name: str, out: str | None) -> bool:
    """Import a study; print an error, so that the next study is imported in any case."""
    from azlatency.logs.parse import LogError
    from azlatency.studies.store.own_files import ManifestError

    try:
        return _import_study(importing, name, [], out)
    except (LogError, ManifestError) as error:
        print_error(str(error))
        return False


def _import_study(importing: Callable[..., ImportSummary], name: str, sources: list[str], out: str | None) -> bool:
    """Copy the sources, import them, print the summary and draft the manifest; return whether a run was imported."""
    from azlatency.logs.parse import LogError
    from azlatency.studies.imports.ingest import CopiedFiles, copy_sources
    from azlatency.studies.store.folders import data_folder
    from azlatency.studies.store.remote import is_url

    folder = data_folder("raw") / name
    in_place = sources if any(map(is_url, sources)) else None
    before = sum(path.is_file() for path in folder.rglob("*"))
    copied = CopiedFiles(folder)
    if sources and not in_place:
        copied = copy_sources([Path(source) for source in sources], folder)
        if not folder.is_dir():
            raise LogError(no_file(sources))
    try:
        with progress(name) as bar:
            summary = importing(name, in_place, progress=bar)
    except BaseException:
        copied.undo()
        raise
    summary.unreadable += copied.refused
    if before and copied.new:
        added = count_of(len(copied.new), "new file")
        print_note(f"{name} existed already: {added} added to its {count_of(before, 'file')}, nothing overwritten")
    if copied.new and not summary.usable:
        copied.undo()
        _print_summary(summary, folder)
        print_error(f"  no usable log; nothing was copied to {relative(folder)}")
        return False
    drafted = summary.usable and not in_place and _draft_manifest(name, folder, out)
    if drafted:
        again = importing(name, None)
        summary.missing, summary.notes, summary.data_version = again.missing, again.notes, again.data_version
    _print_summary(summary, folder, drafted=drafted)
    if drafted:
        _print_draft(name, folder, out)
    return summary.usable and not summary.unreadable and not summary.problems


def _append(importing: Callable[..., ImportSummary], name: str, source: str, out: str | None) -> bool:
    """Append a night and import the study; two jobs that do so wait for each other."""
    from azlatency.studies.imports.append import append, locked
    from azlatency.studies.store.folders import data_folder

    folder = data_folder("raw") / name
    with locked(folder):
        night = append(Path(source), folder)
        for note in night.notes:
            print_note(f"  note: {note}")
        print(f"{relative(folder / night.name)}: {count_of(night.new, 'new file')}")
        return _import_study(importing, name, [], out)


def _archive(name: str, age: str, out: str | None) -> None:
    """Move the logs of old runs, as they were last imported, to the archive of the study."""
    from datetime import UTC, datetime

    from azlatency.logs.parse import LogError
    from azlatency.studies.imports.append import locked
    from azlatency.studies.imports.retention import archive_old, parse_age
    from azlatency.studies.store.folders import data_folder
    from azlatency.studies.store.study import load

    try:
        before = datetime.now(UTC) - parse_age(age)
    except ValueError as error:
        raise typer.BadParameter(f"--keep: {error}") from None
    with locked(data_folder("raw") / name):
        try:
            study = load(name, processed=out)
        except LogError:
            print_error("  note: no log was moved, because this version of azlatency has not yet imported the study")
            return
        moved = archive_old(study, before)
    if moved.files:
        print(f"{relative(data_folder('archive') / name)}: {count_of(moved.files, 'log')} moved here")
    for note in moved.notes:
        print_note(f"  note: {note}")


def _draft_manifest(name: str, folder: Path, out: str | None) -> bool:
    """Write the first study.toml of a study, unless there is one; return whether it was written."""
    from azlatency.studies.drafts.draft import draft
    from azlatency.studies.manifest.manifest import FILE_NAME
    from azlatency.studies.store.study import load

    target = folder / FILE_NAME
    if target.exists() or not folder.is_dir():
        return False
    study = load(name, processed=out)
    target.write_text(draft(name, study), "utf-8")
    return True


def _print_draft(name: str, folder: Path, out: str | None) -> None:
    """Print what the first study.toml assumes, the first lines that would change it, and the next step."""
    from azlatency.studies.manifest.manifest import FILE_NAME
    from azlatency.studies.runs.assumptions import assumptions
    from azlatency.studies.store.study import load

    lines = assumptions(load(name, processed=out))
    parts = [(is_advice, [*part]) for is_advice, part in groupby(lines, lambda line: line.startswith(" "))]
    advice = [part for is_advice, part in parts if is_advice]
    for is_advice, part in parts:
        for line in part if not is_advice or part is advice[0] else ():
            print_note(f"  {line}")
    if len(advice) > 1:
        print_note(f"  azlatency {relative(folder)} prints the lines for the other assumptions")
    print(f"drafted {relative(folder / FILE_NAME)}; add what you know to it. Next:")
    print(f"  azlatency report --study {name}")


def _print_summary(summary: ImportSummary, folder: Path, *, drafted: bool = False) -> None:
    """Print what was imported, what was not, and which metadata is missing."""
    from azlatency.studies.manifest.manifest import FILE_NAME

    runs = ", ".join(f"{count} {tool}" for tool, count in summary.runs_by_tool.items()) or "no runs"
    files = f"{count_of(summary.parsed, 'file')} parsed, {summary.reused} unchanged"
    target = summary.folder if isinstance(summary.folder, str) else relative(summary.folder)
    written = f" -> {target}, data version {summary.data_version}" if summary.usable else ""
    print(f"{summary.study}: {runs} ({'unchanged' if summary.unchanged else files}){written}")
    if summary.not_recognised:
        print_note(f"  {not_recognised(summary.not_recognised)}")
    for title, lines in (
        ("unreadable", summary.unreadable),
        ("error", summary.problems),
        ("skipped", summary.duplicates + summary.ignored),
        ("note", summary.notes),
    ):
        tell = print_note if title in ("skipped", "note") else print_error
        for line in folded(lines):
            tell(f"  {title}: {line}")
    keys_by_count: dict[int, list[str]] = {}
    for key, count in summary.missing.items():
        keys_by_count.setdefault(count, []).append(key)
    if keys_by_count:
        missing = "; ".join(f"{', '.join(keys)} ({count_of(count, 'run')})" for count, keys in keys_by_count.items())
        print_note(f"  missing: {missing}" + ("" if drafted else f"; add them to {relative(folder / FILE_NAME)}"))
