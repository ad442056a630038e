"""The output of ``compare`` and ``history``: a table, or one of the formats for CI."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from azlatency.cli.common import console, discard_output, is_quiet, print_error
from azlatency.cli.completion import complete_path
from azlatency.cli.grid import print_table, print_text
from azlatency.studies.format import printable

if TYPE_CHECKING:
    from azlatency.gate.formats import Mark, Sheet

Format = Literal["table", "markdown", "json", "junit"]
FormatOption = Annotated[Format, typer.Option(help="Output format.")]
OutOption = Annotated[
    Path | None, typer.Option(help="Write the result to this file and print the table.", autocompletion=complete_path)
]
_STYLES: dict[Mark, str] = {"bad": "bold red", "good": "green", "open": "yellow", "refused": "magenta"}


@contextmanager
def usage_errors() -> Iterator[None]:
    """End the command with exit code 2 and one line if an input cannot be read or an option has a wrong value."""
    from azlatency.logs.parse import LogError
    from azlatency.studies.store.own_files import ManifestError

    try:
        yield
    except (LogError, ManifestError) as error:
        print_error(str(error))
        raise typer.Exit(2) from None
    except ValueError as error:
        raise typer.BadParameter(printable(str(error))) from None


def show(sheet: Sheet, record: Mapping[str, Any], format: Format, out: Path | None) -> None:
    """Print a sheet in a format, or write it to a file and print the table; ``record`` is its JSON."""
    from azlatency.studies.store.replacing import write_whole

    if out is not None:
        write_whole(out, _formatted(sheet, record, "markdown" if format == "table" else format))
    try:
        if out is not None or format == "table":
            _print_table(sheet)
        else:
            sys.stdout.write(_formatted(sheet, record, format))
        sys.stdout.flush()
    except BrokenPipeError:
        discard_output()  # after `| head`, the exit code still counts


def _formatted(sheet: Sheet, record: Mapping[str, Any], format: Format) -> str:
    from azlatency.gate import formats

    if format == "markdown":
        return formats.markdown(sheet)
    if format == "junit":
        return formats.junit(sheet)
    return json.dumps(record, indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def _print_table(sheet: Sheet) -> None:
    out = console()
    left = print_table(
        out,
        [line.cells for line in sheet.lines],
        texts=("path", "method", "changed on", "change", "label"),
        leave=sheet.leave,
        names=[f"{line.group}, {line.name}" for line in sheet.lines],
        styles=[_STYLES[line.mark] for line in sheet.lines],
    )
    explained = [*(text for column, text in sheet.legend.items() if column not in left), *sheet.notes]
    for line in (*(() if is_quiet() else explained), sheet.headline):
        print_text(out, line)
