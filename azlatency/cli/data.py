"""``azlatency import`` and ``azlatency manifest``: from a dump of logs to a study."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from azlatency.cli.common import command, complete_path, complete_study, folder_name, near, progress, read, say

if TYPE_CHECKING:
    from azlatency.studies.store import ImportSummary


@command(
    "import",
    "azlatency import ~/dump.zip --study mine     # then fill in data/raw/mine/study.toml, and:",
    "azlatency import --study mine",
    "azlatency import notes.md logs/ --study mine",
    "ping -c 100 host | azlatency import - --study mine",
    "azlatency import --all",
)
def import_(
    sources: Annotated[
        list[Path] | None,
        typer.Argument(
            help="Logs, notes files, archives or folders, - for standard input; default: what data/raw/STUDY holds.",
            autocompletion=complete_path,
        ),
    ] = None,
    study: Annotated[str | None, typer.Option(help="Name of the study.", autocompletion=complete_study)] = None,
    all_studies: Annotated[bool, typer.Option("--all", help="Every study in data/raw.")] = False,
    out: Annotated[Path | None, typer.Option(help="Where to write; default data/processed.")] = None,
) -> None:
    """Import logs into data/processed: incremental and atomic.

    Sources are copied into data/raw/STUDY and stay untouched; a study.toml is drafted there if there is none. Exit code
    0: something was imported; 1: nothing was recognised; 2: wrong usage.
    """
    from azlatency.studies.store import list_studies

    if all_studies == (study is not None) or (all_studies and sources):
        raise typer.BadParameter("give --study NAME (with or without sources), or --all alone")
    if study is not None:
        usable = _import_one(folder_name(study), sources or [], out)
    else:
        names = list_studies()
        if not names:
            raise typer.BadParameter("data/raw holds no study; run in the project's folder or set AZLATENCY_DATA")
        usable = all([_import_one(name, [], out) for name in names])
    if not usable:
        raise typer.Exit(1)


def _import_one(name: str, sources: list[Path], out: Path | None) -> bool:
    """Take in, import, print the summary, draft the manifest; whether anything could be used."""
    from azlatency.studies.ingest import take_in
    from azlatency.studies.store import data_folder, import_study

    folder = data_folder("raw") / name
    taken = take_in(sources, folder) if sources else None
    try:
        with progress(name) as bar:
            summary = import_study(name, out=out, progress=bar)
    except BaseException:
        if taken is not None:
            taken.undo()
        raise
    _print_summary(summary)
    if taken is None:
        return summary.usable
    if not summary.usable and taken.new:
        taken.undo()
        say(f"  nothing was kept in {near(folder)}")
        return False
    _draft(name, folder, summary)
    return summary.usable


def _draft(name: str, folder: Path, summary: ImportSummary) -> None:
    """Write the first study.toml of a study, and say what comes next."""
    from azlatency.logs.tables import Logs
    from azlatency.studies.manifest import FILE_NAME
    from azlatency.studies.manifest_draft import draft
    from azlatency.studies.store import load

    target = folder / FILE_NAME
    if target.exists():
        return
    study = load(name, processed=summary.folder.parent)
    tables = Logs()
    tables.rows["sources"] = study.sources[["source_id", "path"]].to_dict("records")
    tables.rows["runs"] = study.runs[["source_id", "tool"]].to_dict("records")
    target.write_text(draft(name, tables, list(study.sources["path"])), "utf-8")
    print(f"drafted {near(target)}: check what it proposes, fill in what only you know, then")
    print(f"  azlatency import --study {name}")
    print(f"  azlatency report --study {name}")


def _print_summary(summary: ImportSummary) -> None:
    """The closing summary: recognised, not recognised, missing."""
    runs = ", ".join(f"{count} {tool}" for tool, count in summary.runs_by_tool.items()) or "no runs"
    how = "unchanged" if summary.unchanged else f"{summary.parsed} files parsed, {summary.reused} unchanged"
    print(f"{summary.study}: {runs} ({how}) -> {near(summary.folder)}, data version {summary.data_version}")
    for title, lines in (
        ("not recognised", summary.not_recognised),
        ("unreadable", summary.unreadable),
        ("errors", summary.problems),
        ("left out", summary.duplicates + summary.ignored),
    ):
        for line in lines:
            say(f"  {title}: {line}")
    if summary.missing:
        missing = ", ".join(f"{key} ({count} runs)" for key, count in summary.missing.items())
        say(f"  missing metadata: {missing}; say it in study.toml")


@command("manifest", "azlatency manifest data/raw/mine", "azlatency manifest data/raw/mine --write")
def manifest(
    folder: Annotated[Path, typer.Argument(help="Folder of logs.", autocompletion=complete_path)],
    write: Annotated[bool, typer.Option("--write", help="Write FOLDER/study.toml instead of printing it.")] = False,
) -> None:
    """Draft a study.toml from what the logs and file names say; the gaps are for you to fill."""
    from azlatency.studies.manifest import FILE_NAME
    from azlatency.studies.manifest_draft import draft

    if not folder.is_dir():
        raise typer.BadParameter(f"{folder} is no folder")
    target = folder / FILE_NAME
    if write and target.exists():
        raise typer.BadParameter(f"{target} exists and is not written over")
    tables, unreadable = read([str(folder)])
    for row in tables.rows["sources"]:
        row["path"] = Path(row["path"]).relative_to(folder).as_posix()
    text = draft(folder.resolve().name, tables, [row["path"] for row in tables.rows["sources"]])
    for message in unreadable:
        say(message)
    if write:
        target.write_text(text, "utf-8")
        print(f"{target}: drafted; fill in what is marked")
    else:
        print(text, end="")
