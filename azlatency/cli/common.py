"""What every command shares: the application, one line for what is wrong, a progress bar, completion."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import typer

if TYPE_CHECKING:
    from rich.console import Console

    from azlatency.logs.tables import Logs

app = typer.Typer(
    name="azlatency",
    no_args_is_help=True,
    add_completion=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
    help="Latency and throughput between availability zones: raw logs to tidy tables to a report.",
    epilog="azlatency COMMAND --help shows examples; azlatency --install-completion completes studies and files.",
)

_Command = TypeVar("_Command", bound=Callable[..., Any])


def command(name: str, *examples: str) -> Callable[[_Command], _Command]:
    """Register a command with its examples below the help."""
    # Blocks that click must not fill into one paragraph are marked by \b.
    return app.command(name, epilog="\b\nExamples:\n" + "\n".join(f"  {each}" for each in examples))


def say(message: str) -> None:
    """One line on standard error; file names are untrusted too, so control characters are shown, not sent."""
    # Where both streams go into one file, the lines stay in order.
    sys.stdout.flush()
    print(shown(message), file=sys.stderr)


def shown(text: str) -> str:
    """Text without control characters."""
    return "".join(char if char.isprintable() else f"\\x{ord(char):02x}" for char in text)


def near(path: Path) -> Path:
    """A path as a user would type it: relative where it lies below the working folder."""
    here = Path.cwd()
    return path.relative_to(here) if path.is_absolute() and path.is_relative_to(here) else path


def console(stderr: bool = False) -> Console:
    """A console of rich: it honours NO_COLOR, and sends no colour into a pipe."""
    from rich.console import Console

    return Console(stderr=stderr, soft_wrap=False)


@contextmanager
def progress(title: str) -> Iterator[Any]:
    """A progress bar on standard error, on a terminal only; yields ``progress(done, total, what="")``."""
    bar_console = console(stderr=True)
    if not bar_console.is_terminal:
        yield None
        return
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn()
    with Progress(*columns, console=bar_console, transient=True) as bar:
        task = bar.add_task(title, total=None)
        yield lambda done, total, what="": bar.update(
            task, completed=done, total=total, description=shown(f"{title} {what}".strip())
        )


def read(files: list[str], explain: bool = False, tool: str | None = None) -> tuple[Logs, list[str]]:
    """Tables of all readable sources, and one line for each that cannot be read; ``-`` is standard input."""
    from azlatency.logs.decode import SourceError, expand, expand_bytes
    from azlatency.logs.parse import parse_source
    from azlatency.logs.tables import Logs

    tables = Logs()
    unreadable: list[str] = []
    seen: dict[str, str] = {}
    for file in files:
        found = expand_bytes(sys.stdin.buffer.read(), "<stdin>") if file == "-" else expand(file)
        for source in found:
            if isinstance(source, SourceError):
                unreadable.append(str(source))
            elif (first := seen.setdefault(source.source_id, source.path)) != source.path:
                say(f"{source.path}: the same bytes as {first}; read once")
            else:
                tables.extend(parse_source(source, explain=say if explain else None, tool=tool))
    return tables, unreadable


def folder_name(study: str) -> str:
    """The name of a study that can be a folder; anything else is a wrong usage."""
    if not study.strip() or "/" in study or "\\" in study or study.startswith(".") or not study.isprintable():
        raise typer.BadParameter(f"{study!r} cannot be a folder name", param_hint="--study")
    return study


# --- completion


def complete_study(incomplete: str) -> list[str]:
    """The studies of data/raw and data/processed whose names begin so."""
    from azlatency.studies.store import data_folder, list_studies

    imported = (path.parent.name for path in data_folder("processed").glob("*/import.json"))
    return sorted(name for name in {*list_studies(), *imported} if name.startswith(incomplete))


def complete_path(incomplete: str) -> list[str]:
    """Files and folders, a folder with its slash."""
    folder, name = os.path.split(incomplete)
    try:
        entries = sorted(Path(folder or ".").expanduser().iterdir())
    except OSError:
        return []
    return [
        os.path.join(folder, entry.name) + ("/" if entry.is_dir() else "")
        for entry in entries
        if entry.name.startswith(name) and (name.startswith(".") or not entry.name.startswith("."))
    ]


def complete_side(incomplete: str) -> list[str]:
    """What `compare` takes: studies, files, folders."""
    return [*complete_study(incomplete), *complete_path(incomplete)]
