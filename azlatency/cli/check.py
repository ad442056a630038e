"""``azlatency check``: what each file can be used for."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import typer

from azlatency.cli.common import command, progress, read_each
from azlatency.cli.completion import complete_path
from azlatency.studies.format import count_of, printable


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
    from azlatency.logs.source.expand import path_of
    from azlatency.studies.quality import check as check_tables

    is_excluded = _exclusion(sources)
    grades: list[str] = []
    unreadable: list[str] = []
    with progress("check") as bar:
        for part in read_each(sources):
            if isinstance(part, str):
                if not is_excluded(path_of(part)):
                    unreadable.append(part)
                continue
            for file_check in check_tables(part):
                if not is_excluded(file_check.path):
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


def _exclusion(sources: list[str]) -> Callable[[str], bool]:
    """Return what tells whether a file is one of a study's folder that is not a log, or that its manifest ignores."""
    from azlatency.studies.manifest.manifest import FILE_NAME, read_manifest

    folders = [Path(source) for source in sources if source != "-" and (Path(source) / FILE_NAME).is_file()]
    manifests = [((folder / "x").as_posix().removesuffix("x"), read_manifest(folder)) for folder in folders]

    def is_excluded(path: str) -> bool:
        names = [(path.removeprefix(prefix), manifest) for prefix, manifest in manifests if path.startswith(prefix)]
        return any(manifest.is_own_file(name) or manifest.ignored(name) for name, manifest in names)

    return is_excluded
