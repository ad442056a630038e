"""``azlatency manifest``: draft a study.toml."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from azlatency.cli.common import command, print_error, read
from azlatency.cli.completion import complete_path


@command(
    "manifest",
    "azlatency manifest data/raw/mine",
    "azlatency manifest data/raw/mine --write",
    "azlatency manifest data/raw/mine --runs",
)
def manifest(
    folder: Annotated[Path, typer.Argument(help="Folder of logs.", autocompletion=complete_path)],
    write: Annotated[bool, typer.Option("--write", help="Write the file into FOLDER instead of printing it.")] = False,
    runs: Annotated[bool, typer.Option("--runs", help="Draft a runs.csv, with one row per log, instead.")] = False,
) -> None:
    """Draft a study.toml from the logs and the file names; you fill in the rest.

    Zones, repeats and rounds are read from the names by patterns; comments show what they assign. What a name leaves
    open is left out.
    """
    from azlatency.studies.drafts.draft import draft, draft_runs
    from azlatency.studies.manifest.manifest import FILE_NAME

    if not folder.is_dir():
        raise typer.BadParameter(f"{folder} is not a folder; give the folder that contains the logs")
    target = folder / ("runs.csv" if runs else FILE_NAME)
    if write and target.exists():
        raise typer.BadParameter(f"{target} already exists; edit it, or delete it to start from a new draft")
    logs, unreadable = read([str(folder)])
    for row in logs.rows["sources"]:
        row["path"] = Path(row["path"]).relative_to(folder).as_posix()
    paths = [row["path"] for row in logs.rows["sources"]]
    text = draft_runs(logs, paths) if runs else draft(folder.resolve().name, logs, paths)
    for message in unreadable:
        print_error(message)
    if write:
        target.write_text(text, "utf-8")
        cells = f'fill in the empty cells, and add runs = "runs.csv" to {FILE_NAME}'
        use = cells if runs else "fill in the marked lines"
        print(f"{target}: drafted; {use}")
    else:
        print(text, end="")
