"""``azlatency parse`` and ``azlatency check``: what logs say, and what they are good for."""

from __future__ import annotations

import csv
import sys
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from azlatency.cli.common import command, complete_path, console, read, say, shown
from azlatency.logs import schema

if TYPE_CHECKING:
    from azlatency.logs.tables import Logs


class Format(StrEnum):
    """How `parse` prints."""

    table = "table"
    json = "json"
    csv = "csv"


@command(
    "parse",
    "azlatency parse run.log",
    "azlatency parse notes.md --format json",
    "azlatency parse dump.zip --format csv --table quantiles",
    "azlatency parse --tool latte latencies.dump",
    "ping -c 10 host | azlatency parse -",
)
def parse(
    files: Annotated[
        list[str],
        typer.Argument(
            help="Logs, notes files, archives or folders; - reads standard input.", autocompletion=complete_path
        ),
    ],
    format: Annotated[Format | None, typer.Option(help="Default: table on a terminal, json elsewhere.")] = None,
    table: Annotated[str | None, typer.Option(help=f"One table only: {', '.join(schema.TABLES)}.")] = None,
    samples: Annotated[bool, typer.Option("--samples", help="With json: every probe as well.")] = False,
    explain: Annotated[bool, typer.Option("--explain", help="Say which parser claimed which line.")] = False,
    strict: Annotated[bool, typer.Option("--strict", help="Stop at the first error in a log.")] = False,
    tool: Annotated[
        str | None, typer.Option(help="Whose logs they are, where nothing in them says so (latte -dump).")
    ] = None,
) -> None:
    """Parse logs and print what they say.

    Exit code 0: something was parsed; 1: nothing was recognised, or a line is an error; 2: wrong usage.
    """
    from azlatency.logs.parse import LogError
    from azlatency.logs.parsers import load_parsers

    if tool is not None and tool not in load_parsers():
        raise typer.BadParameter(f"no tool {tool!r}; tools: {', '.join(load_parsers())}", param_hint="--tool")
    if table is not None and table not in schema.TABLES:
        raise typer.BadParameter(f"no table {table!r}; tables: {', '.join(schema.TABLES)}", param_hint="--table")
    format = format or (Format.table if sys.stdout.isatty() else Format.json)
    tables, unreadable = read(files, explain, tool)
    for message in unreadable:
        say(message)
    errors = tables.errors()
    if strict and (unreadable or errors):
        raise LogError((unreadable + errors)[0])
    if format is Format.json:
        _print_json(tables, table, samples)
    elif format is Format.csv:
        _print_csv(tables, table or "runs")
    else:
        _print_tables(tables, table)
    for message in errors:
        say(message)
    if errors or unreadable or not tables.rows["runs"]:
        raise typer.Exit(1)


def _print_json(tables: Logs, table: str | None, samples: bool) -> None:
    import msgspec

    names = [table] if table else [name for name in schema.TABLES if samples or name != "samples"]
    content = msgspec.json.encode({name: tables.records(name) for name in names})
    sys.stdout.write(msgspec.json.format(content, indent=1).decode() + "\n")


def _print_csv(tables: Logs, table: str) -> None:
    writer = csv.DictWriter(sys.stdout, schema.names(table), lineterminator="\n")
    writer.writeheader()
    writer.writerows(tables.records(table))


def _print_tables(tables: Logs, table: str | None) -> None:
    from azlatency.cli.console import plain_table, run_summary

    out = console()
    if table is not None:
        out.print(plain_table(tables.records(table), table))
        return
    if tables.rows["runs"]:
        out.print(run_summary(tables))
    paths = {row["source_id"]: row["path"] for row in tables.rows["sources"]}
    for event in tables.rows["events"]:
        if event["severity"] == "warning":
            place = f"{paths[event['source_id']]}:{event['line']}"
            out.print(f"{place}: {event['text']}", style="yellow", markup=False, highlight=False)


@command("check", "azlatency check ~/dump.zip", "azlatency check data/raw/mine", "iperf3 -c host | azlatency check -")
def check(
    sources: Annotated[
        list[str],
        typer.Argument(help="Logs, archives or folders; - reads standard input.", autocompletion=complete_path),
    ],
) -> None:
    """Say of each file in plain words whether and for what it can be used."""
    from azlatency.studies.quality import check as check_tables

    tables, unreadable = read(sources)
    described = {path for source in sources for path in _manifest_files(source)}
    checks = [each for each in check_tables(tables) if each.path not in described]
    for each in checks:
        print("\n".join(shown(line) for line in str(each).splitlines()))
    for message in unreadable:
        print(f"{shown(message)}")
    useless = len(unreadable) + sum(each.grade == "useless" for each in checks)
    limited = sum(each.grade == "limited" for each in checks)
    total = len(checks) + len(unreadable)
    print(f"{total} files: {total - useless - limited} good, {limited} with care, {useless} useless")
    if useless or not total:
        raise typer.Exit(1)


def _manifest_files(source: str) -> list[str]:
    """Shown paths of the files of a study's folder that are no logs, or are left out by its manifest."""
    from azlatency.studies.manifest import FILE_NAME, read_manifest

    folder = Path(source)
    if source == "-" or not (folder / FILE_NAME).is_file():
        return []
    manifest = read_manifest(folder)
    files = (path for path in folder.rglob("*") if path.is_file())
    named = [(path.as_posix(), path.relative_to(folder).as_posix()) for path in files]
    return [path for path, inside in named if manifest.is_own_file(inside) or manifest.ignored(inside)]
