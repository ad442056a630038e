"""``azlatency verify``: build a report again from the raw logs, and compare every file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from azlatency.cli.common import command, print_error, progress
from azlatency.cli.completion import complete_path
from azlatency.studies.format import count_of


@command("verify", "azlatency verify build/site data/raw")
def verify(
    site: Annotated[Path, typer.Argument(help="Folder of a report.", autocompletion=complete_path)],
    raw: Annotated[Path, typer.Argument(help="Folder with the logs of its studies.", autocompletion=complete_path)],
) -> None:
    """Build a report again from the raw logs, in a temporary folder, and compare every file.

    Exit code 0: all files are equal; 1: one differs, or logs are missing; 2: usage error.
    """
    from azlatency.site.verify import NOT_REBUILT
    from azlatency.site.verify import verify as rebuild

    with progress("verify") as bar:
        result = rebuild(site, raw, progress=bar)
    for line in result.differences:
        print_error(line)
    if result.by_text:
        print("The report was built with other versions: texts and attributes are compared, not the places of marks.")
    print(f"{NOT_REBUILT} compares with an earlier report and is not built again.")
    differing = count_of(len(result.differences), "difference") if result.differences else "all equal"
    print(f"{count_of(result.files, 'file')} built again: {differing}")
    if result.differences:
        raise typer.Exit(1)
