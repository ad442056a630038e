"""``azlatency ask``: show what would be pooled, ask what the names leave open, and write the study.toml."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from azlatency.cli.common import command, console, print_error, read, relative
from azlatency.cli.completion import complete_path

if TYPE_CHECKING:
    from collections.abc import Sequence

    from azlatency.logs.tables import Logs
    from azlatency.studies.drafts.questions import Question

_ROWS = 40


@command("ask", "azlatency ask ~/dump")
def ask(
    dump: Annotated[Path, typer.Argument(help="Folder of logs.", autocompletion=complete_path)],
) -> None:
    """Show which runs of a dump repeat each other, ask what the names leave open, and write its study.toml.

    Without a terminal, only the table is printed. A study.toml is never overwritten.
    """
    from azlatency.studies.manifest.manifest import FILE_NAME

    if not dump.is_dir():
        raise typer.BadParameter(f"{dump} is not a folder; unpack it, or import it with --study")
    logs, unreadable = read([str(dump)])
    for message in unreadable:
        print_error(message)
    text = ask_about(dump.resolve().name, logs, dump)
    target = dump / FILE_NAME
    if text is None:
        return
    if target.exists():
        print_error(f"{relative(target)} already exists; edit it, or delete it and ask again")
        raise typer.Exit(1)
    target.write_text(text, "utf-8")
    print(f"{relative(target)}: written")


def ask_about(name: str, logs: Logs, folder: Path) -> str | None:
    """Print the table of the runs; in a terminal, ask and return the text of the study.toml."""
    from azlatency.studies.drafts.questions import answered

    for row in logs.rows["sources"]:
        row["path"] = Path(row["path"]).relative_to(folder).as_posix()
    paths = [row["path"] for row in logs.rows["sources"]]
    _print_groups(logs, paths)
    return answered(name, logs, paths, _prompt) if sys.stdin.isatty() and sys.stdout.isatty() else None


def _print_groups(logs: Logs, paths: Sequence[str]) -> None:
    from rich.table import Table
    from rich.text import Text

    from azlatency.studies.drafts.questions import groups
    from azlatency.studies.format import printable

    found = groups(logs, paths) if logs.rows["runs"] else []
    table = Table("from → to", "tool", "size", "treatment", "repeats", title="runs that repeat each other")
    for group in found[:_ROWS]:
        table.add_row(*(Text(printable(str(cell))) for cell in group))
    console().print(table)
    if len(found) > _ROWS:
        print(f"… and {len(found) - _ROWS} more rows")
    if found and found[0].repeats == 1:
        print("No two runs repeat each other: each row is one run, and no result has an interval across runs.")


def _prompt(question: Question) -> str:
    from azlatency.studies.drafts.questions import shown

    print(f"\n  {shown(question)}")
    text = f"{question.text} ({'/'.join(question.answers)})" if question.answers else question.text
    while True:
        answer: str = typer.prompt(text, default=question.default, show_default=bool(question.default))
        if not question.answers or answer in question.answers:
            return answer
