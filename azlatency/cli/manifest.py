"""``azlatency manifest``: draft a study.toml."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from azlatency.cli.common import command, print_error, read
from azlatency.cli.completion import complete_path


@command("manifest", "azlatency manifest data/raw/mine", "azlatency manifest data/raw/mine --write")
def manifest(
    folder: Annotated[Path, typer.Argument(help="Folder of logs.", autocompletion=complete_path)],
    write: Annotated[bool, typer.Option("--write", help="Write FOLDER/study.toml instead of printing it.")] = False,
) -> None:
    """Draft a study.toml from the logs and the file names; you fill in the rest."""
    from azlatency.studies.manifest import FILE_NAME
    from azlatency.studies.manifest_draft import draft

    if not folder.is_dir():
        raise typer.BadParameter(f"{folder} is not a folder; give the folder that contains the logs")
    target = folder / FILE_NAME
    if write and target.exists():
        raise typer.BadParameter(f"{target} already exists; edit it, or delete it to start from a new draft")
    logs, unreadable = read([str(folder)])
    for row in logs.rows["sources"]:
        row["path"] = Path(row["path"]).relative_to(folder).as_posix()
    text = draft(folder.resolve().name, logs, [row["path"] for row in logs.rows["sources"]])
    for message in unreadable:
        print_error(message)
    if write:
        target.write_text(text, "utf-8")
        print(f"{target}: drafted; fill in the marked lines")
    else:
        print(text, end="")
