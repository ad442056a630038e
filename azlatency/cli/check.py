"""``azlatency check``: what each file can be used for."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from azlatency.cli.common import command, progress, read_each
from azlatency.cli.completion import complete_path
from azlatency.logs.format import count_of, printable


@command("check", "azlatency check ~/dump.zip", "azlatency check data/raw/mine", "iperf3 -c host | azlatency check -")
def check(
    sources: Annotated[
        list[str],
        typer.Argument(help="Logs, archives or folders; - reads standard input.", autocompletion=complete_path),
    ],
) -> None:
    """Report for each file whether it can be used, and for what.

    Exit code 0: every file is usable; 1: a file is not, or there is no file; 2: usage error.
    """
    from azlatency.studies.quality import check as check_tables

    excluded = {path for source in sources for path in _excluded_files(source)}
    grades: list[str] = []
    unreadable: list[str] = []
    with progress("check") as bar:
        for part in read_each(sources):
            if isinstance(part, str):
                unreadable.append(part)
                continue
            for file_check in check_tables(part):
                if file_check.path not in excluded:
                    print("\n".join(printable(line) for line in str(file_check).splitlines()))
                    grades.append(file_check.grade)
                if bar is not None:
                    bar(len(grades), None, file_check.path)
    for message in unreadable:
        print(printable(message))
    grades += ["useless"] * len(unreadable)
    usable, limited, unusable = (grades.count(grade) for grade in ("good", "limited", "useless"))
    print(f"{count_of(len(grades), 'file')}: {usable} usable, {limited} usable with caveats, {unusable} unusable")
    if unusable or not grades:
        raise typer.Exit(1)


def _excluded_files(source: str) -> list[str]:
    """List the files of a study's folder that are not logs, or that its manifest ignores."""
    from azlatency.studies.manifest import FILE_NAME, read_manifest

    folder = Path(source)
    if source == "-" or not (folder / FILE_NAME).is_file():
        return []
    manifest = read_manifest(folder)
    files = (path for path in folder.rglob("*") if path.is_file())
    names = [(path.as_posix(), path.relative_to(folder).as_posix()) for path in files]
    return [path for path, name in names if manifest.is_own_file(name) or manifest.ignored(name)]
