"""``azlatency check``: what each file can be used for."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from azlatency.cli.common import Sources, command, progress, read_each
from azlatency.studies.format import count_of, printable

if TYPE_CHECKING:
    from azlatency.logs.source.decode import Source
    from azlatency.logs.tables import Logs
    from azlatency.studies.manifest.measured_table import MeasuredTable


@command("check", "azlatency check ~/dump.zip", "azlatency check data/raw/mine", "iperf3 -c host | azlatency check -")
def check(
    sources: Sources,
) -> None:
    """Report for each file whether it can be used, and for what.

    Exit code 0: every file is usable, or the log of a server; 1: a file is not, or there is no file; 2: usage error.
    """
    from azlatency.logs.source.expand import path_of
    from azlatency.studies.quality import check as check_tables

    is_excluded, tables = _own_files(sources)
    grades: list[str] = []
    unreadable: list[str] = []
    with progress("check") as bar:
        for part in read_each(sources):
            if isinstance(part, str):
                if not is_excluded(path_of(part)):
                    unreadable.append(part)
                continue
            path = str(part.rows["sources"][0]["path"])
            for file_check in check_tables(_read_table(path, tables[path]) if path in tables else part):
                if not is_excluded(file_check.path):
                    print("\n".join(printable(line) for line in str(file_check).splitlines()))
                    grades.append(file_check.grade)
                    if file_check.grade == "useless" and path not in tables and not part.rows["runs"]:
                        _print_table(path)
                if bar is not None:
                    bar(len(grades), None, file_check.path)
    for message in unreadable:
        print(printable(message))
    grades += ["useless"] * len(unreadable)
    usable, limited, unusable = (grades.count(grade) for grade in ("good", "limited", "useless"))
    servers = f", {number} of servers" if (number := grades.count("server")) else ""
    counts = f"{usable} usable, {limited} usable with caveats, {unusable} unusable{servers}"
    print(f"{count_of(len(grades), 'file')}: {counts}")
    if unusable or not grades:
        raise typer.Exit(1)


def _own_files(sources: list[str]) -> tuple[Callable[[str], bool], dict[str, MeasuredTable]]:
    """Return what tells whether a file of a study is not a log, or is ignored; and its tables by their paths."""
    from azlatency.studies.manifest.manifest import FILE_NAME, read_manifest

    given = [Path(source) for source in sources if source != "-"]
    folders = dict.fromkeys(path if path.is_dir() else path.parent for path in given)
    manifests = {
        (folder / "x").as_posix().removesuffix("x"): read_manifest(folder)
        for folder in folders
        if (folder / FILE_NAME).is_file()
    }
    whole = [(prefix, manifest) for prefix, manifest in manifests.items() if Path(prefix) in given]

    def is_excluded(path: str) -> bool:
        names = [(path.removeprefix(prefix), manifest) for prefix, manifest in whole if path.startswith(prefix)]
        return any(manifest.is_own_file(name) or manifest.ignored(name) for name, manifest in names)

    return is_excluded, {
        f"{prefix}{file}": table for prefix, manifest in manifests.items() for file, table in manifest.tables.items()
    }


def _source_of(path: str) -> Source:
    """Return the text of a file that was read before."""
    from azlatency.logs.source.decode import Source
    from azlatency.logs.source.expand import expand

    return next(found for found in expand(Path(path)) if isinstance(found, Source))


def _read_table(path: str, table: MeasuredTable) -> Logs:
    from azlatency.studies.imports.measured_table import read_table

    return read_table(_source_of(path), table)


def _print_table(path: str) -> None:
    """Print the ``[[table]]`` of a file that looks like a table of measurements."""
    from azlatency.studies.drafts.table import draft_table

    # Standard input and a member of an archive are no file.
    if Path(path).is_file() and (lines := draft_table(_source_of(path), Path(path).name)):
        print(
            "  it looks like a table of measurements; if it is one, copy it to data/raw/NAME and describe it there in"
        )
        print("  study.toml (each line with a # is a question):")
        print("\n".join(f"    {line}" for line in lines))
