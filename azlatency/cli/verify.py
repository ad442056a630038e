"""``azlatency verify``: recompute the numbers of a report from the raw logs."""

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
    """Recompute the numbers on the pages of a report, outside of charts, from the raw logs.

    The logs are imported and the pages made again in a temporary folder.
    Exit code 0: all numbers are equal; 1: one differs, or logs are missing; 2: usage error.
    """
    from azlatency.site.verify import verify as recompute

    with progress("verify") as bar:
        result = recompute(site, raw, progress=bar)
    for line in result.differences:
        print_error(line)
    differing = count_of(len(result.differences), "difference") if result.differences else "all equal"
    print(f"{count_of(result.numbers, 'number')} on {count_of(result.pages, 'page')} recomputed: {differing}")
    if result.differences:
        raise typer.Exit(1)
