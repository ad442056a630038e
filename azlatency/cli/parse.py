"""``azlatency parse``: print the contents of logs as JSON, CSV or a summary."""

from __future__ import annotations

import csv
import json
import sys
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from azlatency.cli.common import command, console, no_file, print_error, read
from azlatency.cli.completion import complete_path
from azlatency.logs import schema
from azlatency.studies.format import escape_formula, escape_json, printable

if TYPE_CHECKING:
    from azlatency.logs.tables import Logs


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
    format: Annotated[
        Literal["table", "json", "csv"] | None,
        typer.Option(help="Output format. Default: table on a terminal, otherwise json."),
    ] = None,
    table: Annotated[str | None, typer.Option(help=f"Print one table only: {', '.join(schema.TABLES)}.")] = None,
    samples: Annotated[bool, typer.Option("--samples", help="Include the single probes in the JSON output.")] = False,
    explain: Annotated[bool, typer.Option("--explain", help="Print which parser claimed which line.")] = False,
    strict: Annotated[bool, typer.Option("--strict", help="Stop at the first error in a log.")] = False,
    tool: Annotated[
        str | None, typer.Option(help="Tool to assume when it cannot be detected (for example latte -dump).")
    ] = None,
) -> None:
    """Parse logs and print their contents.

    Exit code 0: at least one run was parsed; 1: no log was recognised, a log contains an error, or a file could not be
    read (pictures and programs among the logs do not count); 2: usage error.
    """
    from azlatency.logs.parse import LogError
    from azlatency.logs.parsers import load_parsers
    from azlatency.logs.source.decode import is_no_log

    if tool is not None and tool not in load_parsers():
        raise typer.BadParameter(f"unknown tool {tool!r}; choose from {', '.join(load_parsers())}", param_hint="--tool")
    if table is not None and table not in schema.TABLES:
        raise typer.BadParameter(
            f"unknown table {table!r}; choose from {', '.join(schema.TABLES)}", param_hint="--table"
        )
    format = format or ("table" if sys.stdout.isatty() else "json")
    logs, unreadable = read(files, explain, tool)
    for message in unreadable:
        print_error(message)
    errors = logs.errors()
    if strict and (unreadable or errors):
        raise LogError((unreadable + errors)[0])
    if format == "json":
        _print_json(logs, table, samples)
    elif format == "csv":
        _print_csv(logs, table or "runs")
    else:
        _print_tables(logs, table)
    for message in errors:
        print_error(message)
    if not logs.rows["sources"] and not unreadable:
        print_error(no_file(files))
    if errors or not all(map(is_no_log, unreadable)) or not logs.rows["runs"]:
        raise typer.Exit(1)


def _print_json(logs: Logs, table: str | None, samples: bool) -> None:
    """Print one record per line."""
    names = [table] if table else [name for name in schema.TABLES if samples or name != "samples"]
    separator = "{"
    for name in names:
        sys.stdout.write(f'{separator}\n "{name}": [')
        end = ""
        for record in logs.iter_records(name):
            text = escape_json(json.dumps(record, ensure_ascii=False, allow_nan=False))
            sys.stdout.write(f"{',' if end else ''}\n  {text}")
            end = "\n "
        sys.stdout.write(f"{end}]")
        separator = ","
    sys.stdout.write("\n}\n")


def _print_csv(logs: Logs, table: str) -> None:
    writer = csv.DictWriter(sys.stdout, schema.names(table), lineterminator="\n")
    writer.writeheader()
    for record in logs.iter_records(table):
        cells = ((name, printable(value) if isinstance(value, str) else value) for name, value in record.items())
        writer.writerow({name: escape_formula(value) for name, value in cells})


def _print_tables(logs: Logs, table: str | None) -> None:
    """Print one table in full, or a summary of the runs followed by the warnings."""
    from azlatency.cli.console import full_rows, run_summary
    from azlatency.cli.grid import print_table, print_text

    out = console()
    if table is not None:
        rows = logs.records(table)
        texts = [name for name in schema.names(table) if any(isinstance(row[name], str) for row in rows)]
        print_table(out, full_rows(rows), texts=texts)
        return
    if runs := run_summary(logs):
        if any(run["mean"] or run["median"] for run in runs):
            print_text(out, "Latencies are round-trip times in µs.")
        print_table(out, runs, texts=("log:lines", "test", "status"), leave=("n",))
    paths = {row["source_id"]: row["path"] for row in logs.rows["sources"]}
    for event in logs.rows["events"]:
        if event["severity"] == "warning":
            print_text(out, f"{paths[event['source_id']]}:{event['line']}: {event['text']}", style="yellow")
