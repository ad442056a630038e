"""``azlatency report`` and ``azlatency compare``: the site, and a verdict for CI."""

from __future__ import annotations

import sys
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from azlatency.cli.common import command, complete_path, complete_side, complete_study, console, progress, say, shown

if TYPE_CHECKING:
    from azlatency.gate.verdict import Judgement


@command(
    "report",
    "azlatency report",
    "azlatency report --study westeurope-azure-cni --out build/site",
    "azlatency report --study before --study after",
)
def report(
    study: Annotated[
        list[str] | None,
        typer.Option(help="Only these studies; default all imported ones.", autocompletion=complete_study),
    ] = None,
    out: Annotated[Path, typer.Option(help="Folder of the site.", autocompletion=complete_path)] = Path("build/site"),
    force: Annotated[bool, typer.Option("--force", help="Run everything again, also what has not changed.")] = False,
) -> None:
    """Run the notebooks and render the site; what has not changed since the last report is kept."""
    from azlatency.site.build import build

    with progress("report") as bar:
        failed = build(out, study, progress=bar, force=force)
    print(f"{out / 'index.html'}")
    if failed:
        for message in failed:
            say(message)
        raise typer.Exit(1)


#: A pipe has no width: rows stay on one line.
_PIPE_WIDTH = 200


class Format(StrEnum):
    """How `compare` prints."""

    table = "table"
    markdown = "markdown"
    json = "json"
    junit = "junit"


@command(
    "compare",
    "azlatency compare before after",
    "azlatency compare base.zip new.zip --margin 5%",
    "azlatency compare base/ new/ --metric p99 --metric throughput --tool sockperf",
    'azlatency compare main pull-request --format markdown >> "$GITHUB_STEP_SUMMARY"',
    "azlatency compare main pull-request --format junit --out compare.xml",
)
def compare(
    base: Annotated[
        str, typer.Argument(help="A study's name, else a folder, archive or log.", autocompletion=complete_side)
    ],
    candidate: Annotated[
        str, typer.Argument(help="The same, for what is held against it.", autocompletion=complete_side)
    ],
    margin: Annotated[str, typer.Option(help="What is equal in practice: 5%, 0.05 or 2us.")] = "5%",
    metric: Annotated[
        list[str] | None,
        typer.Option(help="latency (median of a run, else its mean), median, mean, p50 to p99.9999, throughput."),
    ] = None,
    confidence: Annotated[float, typer.Option(help="Level of the intervals, above 0.5 and below 1.")] = 0.95,
    tool: Annotated[str | None, typer.Option(help="Runs of this tool only.")] = None,
    path: Annotated[str | None, typer.Option(help='Paths that match this pattern only, such as "az1*".')] = None,
    format: Annotated[Format, typer.Option(help="How to print.")] = Format.table,
    out: Annotated[
        Path | None,
        typer.Option(help="Write it into this file; the table is still printed.", autocompletion=complete_path),
    ] = None,
) -> None:
    """Did anything change that matters? Runs of the same path, tool and parameters, candidate over base.

    Exit code 0: no change beyond the margin; 1: a change beyond it, up or down; 3: undetermined, and how many runs are
    missing; 2: wrong usage, or a side that cannot be read.
    """
    from azlatency.gate.inputs import opened
    from azlatency.gate.verdict import judge
    from azlatency.logs.parse import LogError
    from azlatency.studies.manifest import ManifestError

    try:
        with opened(base) as first, opened(candidate) as second:
            found = judge(first, second, names=(base, candidate), margin=margin, metrics=metric or ["latency"],
                          confidence=confidence, tool=tool, path=path)  # fmt: skip
    except (LogError, ManifestError) as error:
        say(str(error))
        raise typer.Exit(2) from None
    except ValueError as error:
        raise typer.BadParameter(shown(str(error))) from None
    if out is not None:
        _write(out, _formatted(found, Format.markdown if format is Format.table else format))
    if out is not None or format is Format.table:
        _print(found)
    else:
        sys.stdout.write(_formatted(found, format))
    raise typer.Exit(found.exit_code)


def _formatted(found: Judgement, format: Format) -> str:
    from azlatency.gate import formats

    if format is Format.markdown:
        return formats.markdown(found)
    if format is Format.junit:
        return formats.junit(found)
    import msgspec

    return msgspec.json.format(msgspec.json.encode(formats.record(found)), indent=1).decode() + "\n"


def _print(found: Judgement) -> None:
    from azlatency.gate import formats

    out = console()
    if not out.is_terminal:
        out.width = max(out.width, _PIPE_WIDTH)
    if found.rows:
        out.print(formats.table(found))
    for line in formats.notes(found):
        out.print(line, markup=False, highlight=False)
    out.print(found.headline, markup=False, highlight=False)


def _write(path: Path, text: str) -> None:
    """Beside first, then in its place: a reader finds the old file or the whole new one."""
    import os

    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        part.write_text(text, "utf-8")
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)
