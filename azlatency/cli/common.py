"""What every command uses: the application, reading logs, error lines, a progress bar."""

from __future__ import annotations

import codecs
import inspect
import io
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from copy import copy
from difflib import get_close_matches
from functools import wraps
from pathlib import Path
from types import UnionType
from typing import TYPE_CHECKING, Annotated, Any, Protocol, TypeVar, get_args

import typer
from typer.core import TyperCommand, TyperGroup
from typer.models import ArgumentInfo

from azlatency.cli.completion import complete_path
from azlatency.cli.grid import wrap
from azlatency.studies.format import count_of, printable

if TYPE_CHECKING:
    from rich.console import Console

    from azlatency.logs.source.copied_files import CopiedFiles
    from azlatency.logs.tables import Logs

_USAGE_ERROR: Any = typer.BadParameter.__mro__[1]


#: What a command reads that writes nothing.
Sources = Annotated[
    list[str], typer.Argument(help="Logs, archives or folders; - reads standard input.", autocompletion=complete_path)
]
#: The commands in the order of work, as the help lists them; others follow.
_ORDER = (
    "init",
    "answer",
    "check",
    "parse",
    "import",
    "report",
    "verify",
    "compare",
    "history",
    "export",
    "plan",
)
#: What the help calls a value of a type.
_METAVARS = {str: "TEXT", int: "NUMBER", float: "NUMBER", Path: "PATH"}


class _Commands(TyperGroup):
    """The commands; a usage error quotes arguments, which may be names of files, and is escaped like other messages."""

    def list_commands(self, ctx: Any) -> list[str]:
        return sorted(self.commands, key=lambda name: _ORDER.index(name) if name in _ORDER else len(_ORDER))

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """List the commands with their whole first sentence; by default, it is cut at the width of the terminal."""
        sentences = {name: (self.commands[name].help or "").partition("\n\n")[0] for name in self.list_commands(ctx)}
        with formatter.section("Commands"):
            formatter.write_dl([(name, " ".join(text.split())) for name, text in sentences.items()])

    def make_context(self, *args: Any, **options: Any) -> Any:
        _prepare_streams()
        with _escaped(), _orderly_end():
            return super().make_context(*args, **options)

    def parse_args(self, ctx: Any, args: list[str]) -> Any:
        """Print the help without arguments: on standard output, because it is what was asked for."""
        return super().parse_args(ctx, args or ["--help"])

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Take a file, a folder or standard input in the place of a command as what ``answer`` reads."""
        name = args[0]
        if name in self.commands:
            return super().resolve_command(ctx, args)
        if name == "-" or Path(name).exists():
            return super().resolve_command(ctx, ["answer", *args])
        similar = get_close_matches(name, self.commands)
        hint = f"did you mean azlatency {similar[0]}?" if similar else "azlatency -h lists the commands"
        print_error(f"{name}: no such file, folder or command; {hint}")
        raise typer.Exit(2)

    def invoke(self, ctx: Any) -> Any:
        with _escaped(), _orderly_end():
            return super().invoke(ctx)


@contextmanager
def _orderly_end() -> Iterator[None]:
    """End the command with one line after Ctrl-C, and with success if the reader of a pipe has what it wanted."""
    try:
        yield
        sys.stdout.flush()
    except (KeyboardInterrupt, typer.Abort):  # the second comes from a question
        print_error("interrupted")
        raise typer.Exit(130) from None
    except BrokenPipeError:
        discard_output()
        raise typer.Exit(0) from None


#: What is printed for characters that an output cannot hold; a minus sign or a unit must not become a question mark.
_IN_ASCII = {
    "→": "->",
    "↔": "<->",
    "−": "-",
    "–": "-",
    "µ": "u",
    "×": "x",
    "±": "+/-",
    "≥": ">=",
    "≤": "<=",
    "…": "...",
}


def _in_ascii(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    return "".join(_IN_ASCII.get(char, "?") for char in error.object[error.start : error.end]), error.end


def _prepare_streams() -> None:
    """Connect the standard streams that the caller closed (``>&-``) to nothing; the exit code still counts.

    Without it, the first file that a command opens would take the place of the stream. The processes that build a
    report inherit the streams. Characters that an output cannot hold (Windows, ``>``) are replaced.
    """
    codecs.register_error("in_ascii", _in_ascii)
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            stream = open(os.devnull, mode, encoding="utf-8")  # noqa: SIM115 - open until the command ends
            os.set_inheritable(stream.fileno(), True)
            setattr(sys, name, stream)
        elif mode == "w" and isinstance(stream := getattr(sys, name), io.TextIOWrapper):
            stream.reconfigure(errors="in_ascii")


def discard_output() -> None:
    """Print nothing more: nobody reads it, and Python would complain when it ends."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


@contextmanager
def _escaped() -> Iterator[None]:
    try:
        yield
    except _USAGE_ERROR as error:
        error.message = printable(error.message)
        raise


app = typer.Typer(
    name="azlatency",
    cls=_Commands,
    add_completion=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
    help=(
        "Turn raw latency and throughput logs into tables, reports and comparisons of availability zones.\n\n"
        "azlatency DUMP (logs, folders, archives) is short for azlatency answer DUMP."
    ),
    epilog=(
        "Run azlatency COMMAND --help for examples. Run azlatency --install-completion to complete studies and files "
        "in your shell."
    ),
)

_Command = TypeVar("_Command", bound=Callable[..., Any])


class Progress(Protocol):
    """A function that is called after each step."""

    def __call__(self, done: int, total: int | None, what: str = "") -> None:
        """Report the steps done, the steps in total if they are known, and the name of the current step."""


class _OneCommand(TyperCommand):
    """A command whose help does not add the Python type to the name of an argument."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        for parameter in self.params:
            if parameter.param_type_name == "argument":
                parameter.display_type_rich = lambda ctx: None  # type: ignore[attr-defined]


class _Output:
    """Whether notes and progress are printed; each command sets it."""

    quiet = False


def command(name: str, *examples: str) -> Callable[[_Command], _Command]:
    """Register a command, with the option ``--quiet``, and with examples at the end of its help."""

    def register(function: _Command) -> _Command:
        @wraps(function)
        def run(*, quiet: bool, **options: Any) -> None:
            _Output.quiet = quiet
            function(**options)

        signature = inspect.signature(function, eval_str=True)
        quiet = inspect.Parameter(
            "quiet",
            inspect.Parameter.KEYWORD_ONLY,
            default=False,
            annotation=Annotated[
                bool, typer.Option("--quiet", "-q", help="Print results and errors only: no notes, no progress.")
            ],
        )
        run.__signature__ = signature.replace(  # type: ignore[attr-defined]
            parameters=[*map(_with_metavar, signature.parameters.values()), quiet]
        )
        run.__annotations__ = {}
        # click does not rewrap a paragraph that starts with \b.
        epilog = "\b\nExamples:\n" + "\n".join(f"  {example}" for example in examples)
        app.command(name, cls=_OneCommand, epilog=epilog)(run)
        return function

    return register


def _with_metavar(parameter: inspect.Parameter) -> inspect.Parameter:
    """Name the value of an option by its type, and an argument by itself; Typer would show ``list[str]``."""
    kind, info = get_args(parameter.annotation)
    kinds = [kind, *(get_args(kind) if isinstance(kind, UnionType) else ())]
    kinds += [part for each in kinds for part in get_args(each)]
    is_argument = isinstance(info, ArgumentInfo)
    metavar = (
        parameter.name.upper() if is_argument else next((_METAVARS[kind] for kind in kinds if kind in _METAVARS), None)
    )
    named = copy(info)
    named.metavar = info.metavar or metavar
    return parameter.replace(annotation=Annotated[kind, named])


def print_error(message: str) -> None:
    """Print one line on standard error, with control characters escaped: names of files and logs are untrusted."""
    # If both streams go to the same file, their lines stay in order.
    sys.stdout.flush()
    print(printable(message), file=sys.stderr)


#: Blanks before a line that is to be copied.
_TO_COPY = 4


def print_note(message: str) -> None:
    """Print one line on standard error that ``--quiet`` leaves out, wrapped between words on a terminal."""
    if _Output.quiet:
        return
    text = message.lstrip(" ")
    indent = message[: len(message) - len(text)]
    # Lines to copy are indented, and stay whole.
    if len(indent) >= _TO_COPY or not sys.stderr.isatty():
        print_error(message)
        return
    for line in wrap(printable(text), console(stderr=True).width - len(indent)):
        print_error(indent + line)


#: Words that a list of files or runs adds to a message.
_OF_LISTS = frozenset(("run", "runs", "and", "more"))


def folded(lines: Sequence[str]) -> list[str]:
    """Return the first of the lines that give the same reason for different files, with the number of the others."""
    alike: dict[str, list[str]] = {}
    for line in lines:
        kind = " ".join(word for word in line.split() if word.isalpha() and word not in _OF_LISTS)
        alike.setdefault(kind, []).append(line)
    return [first + (f" (and {len(rest)} more like it)" if rest else "") for first, *rest in alike.values()]


def is_quiet() -> bool:
    """Return whether the command was called with ``--quiet``."""
    return _Output.quiet


def no_file(sources: Sequence[object]) -> str:
    """Return the message about sources without a file."""
    named = ", ".join(map(str, sources))
    return f"{named}: no file to read besides README.md and hidden files; give a log, or a folder or archive of logs"


def relative(path: Path) -> Path:
    """Return a path relative to the working directory if it is inside it."""
    here = Path.cwd()
    return path.relative_to(here) if path.is_absolute() and path.is_relative_to(here) else path


def console(stderr: bool = False) -> Console:
    """Create a rich console. It honours NO_COLOR and does not write colour codes to a pipe."""
    from rich.console import Console

    class Whole(Console):
        def on_broken_pipe(self) -> None:
            """Leave the end of the command to it; rich would end it with an error."""
            raise  # noqa: PLE0704 (rich calls this while it handles the error)

    return Whole(stderr=stderr, soft_wrap=False)


@contextmanager
def progress(title: str) -> Iterator[Progress | None]:
    """Show a progress bar on standard error; yield None if standard error is not a terminal."""
    bar_console = console(stderr=True)
    if _Output.quiet or not bar_console.is_terminal:
        yield None
        return
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Bar

    columns = TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn()
    # A bar redirects what is printed meanwhile above itself, to standard error: a pipe would get nothing.
    with Bar(*columns, console=bar_console, transient=True, redirect_stdout=sys.stdout.isatty()) as bar:
        task = bar.add_task(title, total=None)
        yield lambda done, total, what="": bar.update(
            task, completed=done, total=total, description=printable(f"{title} {what}".strip())
        )


def read(files: list[str], explain: bool = False, tool: str | None = None) -> tuple[Logs, list[str]]:
    """Parse files, folders and archives; ``-`` is standard input.

    Returns the contents of all readable sources, and one message per source that cannot be read.
    """
    from azlatency.logs.parse import join
    from azlatency.logs.source.copied_files import CopiedFiles

    parts: list[Logs] = []
    unreadable: list[str] = []
    copies = CopiedFiles(files)
    for part in read_each(files, explain, tool, copies):
        if isinstance(part, str):
            unreadable.append(part)
        else:
            parts.append(part)
    return join(parts, copies), unreadable


#: More copies of other files than this are counted, not listed.
_COPIES_NAMED = 4


def read_each(
    files: list[str], explain: bool = False, tool: str | None = None, copies: CopiedFiles | None = None
) -> Iterator[Logs | str]:
    """Yield the contents of each source that is not a copy, or a message if it cannot be read; see `read`.

    ``copies``, to which every source is added, has the ids of the sources when all are read.
    """
    from azlatency.logs.parse import parse_source
    from azlatency.logs.source.copied_files import CopiedFiles
    from azlatency.logs.source.decode import SourceError
    from azlatency.logs.source.expand import expand, expand_stream

    copies = CopiedFiles(files) if copies is None else copies
    skipped = 0
    for file in files:
        sources = expand_stream(sys.stdin.buffer, "<stdin>") if file == "-" else expand(file)
        for source in sources:
            if isinstance(source, SourceError):
                yield str(source)
                continue
            original = copies.original_of(source.source_id, source.path, source.size_bytes)
            if original is None:
                yield parse_source(source, explain=print_error if explain else None, tool=tool)
                continue
            skipped += 1
            if skipped <= _COPIES_NAMED:
                print_note(f"{source.path}: identical to {original}; skipped")
    if skipped > _COPIES_NAMED:
        print_note(f"{count_of(skipped - _COPIES_NAMED, 'more file')} identical to another one; skipped")


def folder_name(study: str) -> str:
    """Check that the name of a study can be used as the name of a folder."""
    from azlatency.logs.parse import LogError
    from azlatency.studies.store.folders import check_study_name

    try:
        return check_study_name(study)
    except LogError as error:
        raise typer.BadParameter(str(error), param_hint="--study") from None
