"""``azlatency history``: whether the level of any path changed over time."""

from __future__ import annotations

from typing import Annotated

import typer

from azlatency.cli.common import command
from azlatency.cli.completion import complete_study_or_path
from azlatency.cli.sheets import FormatOption, OutOption, show, usage_errors


@command(
    "history",
    "azlatency history nightly",
    "azlatency history nightly --since 14d           # exit code 1 if a level changed in the last 14 days",
    "azlatency history nightly --since 2026-11-12 --metric p99 --tool sockperf",
    'azlatency history nightly --since 14d --format markdown >> "$GITHUB_STEP_SUMMARY"',
    "azlatency history nightly --since 14d --format junit --out history.xml",
)
def history(
    studies: Annotated[
        list[str],
        typer.Argument(help="Studies, folders, archives or URLs of logs.", autocompletion=complete_study_or_path),
    ],
    since: Annotated[
        str,
        typer.Option(
            metavar="DATE|AGE|RUN",
            help="Judge only changes from this date (2026-11-12, UTC), age (14d), log or run on. Default: all.",
        ),
    ] = "",
    metric: Annotated[
        list[str] | None,
        typer.Option(help="Metric: median, mean, p99, goodput, loss. Repeat for several. Default: all that are known."),
    ] = None,
    confidence: Annotated[
        float, typer.Option(help="One minus the probability of any change where nothing changed, between 0.5 and 1.")
    ] = 0.95,
    margin: Annotated[
        str,
        typer.Option(
            help="Largest change that does not matter in practice: 5%, 0.05 or 2us. Smaller ones are shown.",
        ),
    ] = "5%",
    tool: Annotated[str | None, typer.Option(help="Judge only runs of this tool.")] = None,
    format: FormatOption = "table",
    out: OutOption = None,
) -> None:
    """Find changes of level in the series of runs of each path, method and metric.

    Exit code 0: no change beyond the margin; 1: a change or a drift beyond it, in either direction; 3: no series has
    enough runs; 2: usage error or unreadable input. A change is reported after five nights at the new level or more:
    with --since, look back two weeks or more.
    """
    from azlatency.gate.history import judge_history, sheet
    from azlatency.gate.inputs import open_study

    with usage_errors():
        opened = {name: open_study(name) for name in dict.fromkeys(studies)}
        judgement = judge_history(
            opened, since=since, metrics=metric or (), confidence=confidence, margin=margin, tool=tool
        )
    show(sheet(judgement), judgement.record(), format, out)
    raise typer.Exit(judgement.exit_code)
