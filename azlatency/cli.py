"""The command line: ``parse``, ``check``, ``manifest``, ``import``, ``report``.

Errors are one line, ``file:line: what, and what to do``.

Exit codes: 0 done; 1 nothing recognised, or an error in a log; 2 usage.
"""

from __future__ import annotations

import csv
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from azlatency import __version__, schema

if TYPE_CHECKING:
    from rich.console import Console

    from azlatency.dataset import ImportSummary
    from azlatency.reader import Tables

app = typer.Typer(
    name="azlatency",
    no_args_is_help=True,
    add_completion=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    help="Latency and throughput between availability zones: raw logs to tidy tables to a report.",
)


class Format(StrEnum):
    """How `parse` prints."""

    table = "table"
    json = "json"
    csv = "csv"


def main() -> None:
    """Entry point of the command; every expected failure is one line on standard error."""
    import warnings

    from azlatency.manifest import ManifestError
    from azlatency.reader import LogError

    warnings.showwarning = lambda message, *_args, **_options: _say(f"warning: {message}")
    try:
        app()
    except (LogError, ManifestError) as error:
        _say(str(error))
        sys.exit(1)
    except BrokenPipeError:
        sys.stderr.close()
        sys.exit(0)
    except KeyboardInterrupt:
        print("interrupted; nothing half-written is left", file=sys.stderr)
        sys.exit(130)


def _say(message: str) -> None:
    """One line on standard error; file names are untrusted too, so control characters are shown, not sent."""
    print(_shown(message), file=sys.stderr)


def _shown(text: str) -> str:
    """Text without control characters."""
    return "".join(char if char.isprintable() else f"\\x{ord(char):02x}" for char in text)


def _version(wanted: bool) -> None:
    if wanted:
        print(f"azlatency {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    pass


@app.command()
def parse(
    files: Annotated[list[str], typer.Argument(help="Logs, notes files, archives or folders; - reads standard input.")],
    format: Annotated[Format | None, typer.Option(help="Default: table on a terminal, json elsewhere.")] = None,
    table: Annotated[str | None, typer.Option(help=f"One table only: {', '.join(schema.TABLES)}.")] = None,
    samples: Annotated[bool, typer.Option("--samples", help="With json: every probe as well.")] = False,
    explain: Annotated[bool, typer.Option("--explain", help="Say which parser claimed which line.")] = False,
    strict: Annotated[bool, typer.Option("--strict", help="Stop at the first error in a log.")] = False,
) -> None:
    """Parse logs and print what they say.

    Examples: azlatency parse run.log · azlatency parse notes.md --format json · ping host | azlatency parse -
    """
    from azlatency.reader import LogError

    if table is not None and table not in schema.TABLES:
        raise typer.BadParameter(f"no table {table!r}; tables: {', '.join(schema.TABLES)}", param_hint="--table")
    format = format or (Format.table if sys.stdout.isatty() else Format.json)
    tables, unreadable = _read(files, explain)
    for message in unreadable:
        _say(message)
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
        _say(message)
    if errors or unreadable or not tables.rows["runs"]:
        raise typer.Exit(1)


def _read(files: list[str], explain: bool) -> tuple[Tables, list[str]]:
    """Tables of all readable sources, and one line for each that cannot be read."""
    from azlatency.decode import SourceError, expand, expand_bytes
    from azlatency.reader import Tables, parse_source

    say = _say if explain else None
    tables = Tables()
    unreadable: list[str] = []
    seen: dict[str, str] = {}
    for file in files:
        found = expand_bytes(sys.stdin.buffer.read(), "<stdin>") if file == "-" else expand(file)
        for source in found:
            if isinstance(source, SourceError):
                unreadable.append(str(source))
            elif (first := seen.setdefault(source.source_id, source.path)) != source.path:
                _say(f"{source.path}: the same bytes as {first}; read once")
            else:
                tables.extend(parse_source(source, explain=say))
    return tables, unreadable


def _print_json(tables: Tables, table: str | None, samples: bool) -> None:
    import msgspec

    names = [table] if table else [name for name in schema.TABLES if samples or name != "samples"]
    content = msgspec.json.encode({name: tables.records(name) for name in names})
    sys.stdout.write(msgspec.json.format(content, indent=1).decode() + "\n")


def _print_csv(tables: Tables, table: str) -> None:
    writer = csv.DictWriter(sys.stdout, schema.names(table), lineterminator="\n")
    writer.writeheader()
    writer.writerows(tables.records(table))


def _print_tables(tables: Tables, table: str | None) -> None:
    from azlatency.terminal import plain_table, run_summary

    console = _console()
    if table is not None:
        console.print(plain_table(tables.records(table), table))
        return
    if tables.rows["runs"]:
        console.print(run_summary(tables))
    paths = {row["source_id"]: row["path"] for row in tables.rows["sources"]}
    for event in tables.rows["events"]:
        if event["severity"] == "warning":
            place = f"{paths[event['source_id']]}:{event['line']}"
            console.print(f"{place}: {event['text']}", style="yellow", markup=False, highlight=False)


@app.command("import")
def import_(
    sources: Annotated[
        list[Path] | None, typer.Argument(help="Logs, archives or folders; default data/raw/STUDY.")
    ] = None,
    study: Annotated[str | None, typer.Option(help="Name of the study.")] = None,
    all_studies: Annotated[bool, typer.Option("--all", help="Every study in data/raw.")] = False,
    out: Annotated[Path | None, typer.Option(help="Where to write; default data/processed.")] = None,
) -> None:
    """Import logs into data/processed: incremental, atomic, raw files untouched.

    Examples: azlatency import --all · azlatency import dump.zip --study mine · azlatency import --study mine
    """
    from azlatency.dataset import import_study, studies

    if all_studies == (study is not None) or (all_studies and sources):
        raise typer.BadParameter("give --study NAME (with or without sources), or --all alone")
    names = studies() if all_studies else [str(study)]
    if not names:
        raise typer.BadParameter("data/raw holds no study; run in the project's folder or set AZLATENCY_DATA")
    if study is not None and (not study.strip() or "/" in study or "\\" in study or study.startswith(".")):
        raise typer.BadParameter(f"{study!r} cannot be a folder name", param_hint="--study")
    usable = True
    for name in names:
        with _progress(name) as progress:
            summary = import_study(name, sources, out=out, progress=progress)
        _print_summary(summary)
        usable = usable and summary.usable
    if not usable:
        raise typer.Exit(1)


@app.command()
def check(
    sources: Annotated[list[str], typer.Argument(help="Logs, archives or folders; - reads standard input.")],
) -> None:
    """Say of each file in plain words whether and for what it can be used.

    Example: azlatency check ~/dump.zip
    """
    from azlatency.checking import check as check_tables

    tables, unreadable = _read(sources, explain=False)
    described = {path for source in sources for path in _manifest_files(source)}
    checks = [each for each in check_tables(tables) if each.path not in described]
    for each in checks:
        print("\n".join(_shown(line) for line in str(each).splitlines()))
    for message in unreadable:
        print(f"{_shown(message)}")
    useless = len(unreadable) + sum(each.grade == "useless" for each in checks)
    limited = sum(each.grade == "limited" for each in checks)
    total = len(checks) + len(unreadable)
    print(f"{total} files: {total - useless - limited} good, {limited} with care, {useless} useless")
    if useless or not total:
        raise typer.Exit(1)


def _manifest_files(source: str) -> list[str]:
    """The paths, as they are shown, of the files of a study's folder that describe it and are no logs."""
    from azlatency.manifest import FILE_NAME, read_manifest

    folder = Path(source)
    if source == "-" or not (folder / FILE_NAME).is_file():
        return []
    manifest = read_manifest(folder)
    files = (path for path in folder.rglob("*") if path.is_file())
    return [path.as_posix() for path in files if manifest.is_own_file(path.relative_to(folder).as_posix())]


@app.command()
def manifest(
    folder: Annotated[Path, typer.Argument(help="Folder of logs.")],
    write: Annotated[bool, typer.Option("--write", help="Write FOLDER/study.toml instead of printing it.")] = False,
) -> None:
    """Draft a study.toml from what the logs and file names say; the gaps are for you to fill.

    Example: azlatency manifest data/raw/mine --write
    """
    from azlatency.drafting import draft

    if not folder.is_dir():
        raise typer.BadParameter(f"{folder} is no folder")
    target = folder / "study.toml"
    if write and target.exists():
        raise typer.BadParameter(f"{target} exists and is not written over")
    tables, unreadable = _read([str(folder)], explain=False)
    for row in tables.rows["sources"]:
        row["path"] = Path(row["path"]).relative_to(folder).as_posix()
    text = draft(folder.resolve().name, tables, [row["path"] for row in tables.rows["sources"]])
    for message in unreadable:
        _say(message)
    if write:
        target.write_text(text, "utf-8")
        print(f"{target}: drafted; fill in what is marked")
    else:
        print(text, end="")


@app.command()
def report(
    study: Annotated[list[str] | None, typer.Option(help="Only these studies; default all imported ones.")] = None,
    out: Annotated[Path, typer.Option(help="Folder of the site.")] = Path("build/site"),
) -> None:
    """Run the notebooks and render the site.

    Example: azlatency report --study westeurope-azure-cni --out build/site
    """
    from azlatency.report import build

    with _progress("report") as progress:
        failed = build(out, study, progress=progress)
    print(f"{out / 'index.html'}")
    if failed:
        for message in failed:
            _say(message)
        raise typer.Exit(1)


def _console(stderr: bool = False) -> Console:
    from rich.console import Console

    return Console(stderr=stderr, soft_wrap=False)


@contextmanager
def _progress(title: str) -> Iterator[Any]:
    """A progress bar on standard error, on a terminal only; yields ``progress(done, total)``."""
    console = _console(stderr=True)
    if not console.is_terminal:
        yield None
        return
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn()
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task(title, total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)


def _print_summary(summary: ImportSummary) -> None:
    """The closing summary: recognised, not recognised, missing."""
    runs = ", ".join(f"{count} {tool}" for tool, count in summary.runs_by_tool.items()) or "no runs"
    how = "unchanged" if summary.unchanged else f"{summary.parsed} files parsed, {summary.reused} unchanged"
    print(f"{summary.study}: {runs} ({how}) -> {summary.folder}")
    for title, lines in (
        ("not recognised", summary.not_recognised),
        ("unreadable", summary.unreadable),
        ("errors", summary.problems),
        ("left out", summary.duplicates + summary.ignored),
    ):
        for line in lines:
            _say(f"  {title}: {line}")
    if summary.missing:
        missing = ", ".join(f"{key} ({count} runs)" for key, count in summary.missing.items())
        _say(f"  missing metadata: {missing}; say it in study.toml")
