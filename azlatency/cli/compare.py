"""``azlatency compare``: compare two sets of logs, for example in CI."""

from __future__ import annotations

from typing import Annotated

import typer

from azlatency.cli.common import command
from azlatency.cli.completion import complete_study_or_path
from azlatency.cli.sheets import FormatOption, OutOption, show, usage_errors


@command(
    "compare",
    "azlatency compare before after",
    "azlatency compare base.zip new.zip --margin 5%",
    "azlatency compare cubic/ vegas/ --across congestion",
    "azlatency compare mine --across scenario       # every pair of scenarios",
    "azlatency compare mine@before mine@after       # two scenarios of the study mine",
    "azlatency compare base/ new/ --metric p99 --metric throughput --tool sockperf",
    'azlatency compare main pull-request --format markdown >> "$GITHUB_STEP_SUMMARY"',
    "azlatency compare main pull-request --format junit --out compare.xml",
)
def compare(  # noqa: PLR0913 - one for each option of the command
    base: Annotated[
        str,
        typer.Argument(
            help="Base: study, study@scenario, study@2026-08, folder, archive, log.",
            autocompletion=complete_study_or_path,
        ),
    ],
    candidate: Annotated[
        str | None,
        typer.Argument(
            help="Candidate, like base. Left out: every pair of scenarios of the base, with --across scenario.",
            autocompletion=complete_study_or_path,
        ),
    ] = None,
    margin: Annotated[
        str, typer.Option(help="Largest change that does not matter in practice: 5%, 0.05 or 2us.")
    ] = "5%",
    metric: Annotated[
        list[str] | None,
        typer.Option(
            help="Metric to compare: latency (median of the run, otherwise its mean), median, mean, p50 to p99.9999, "
            "throughput. Repeat for several. Default: latency and throughput, or latency if the margin is a time."
        ),
    ] = None,
    map: Annotated[
        list[str] | None,
        typer.Option(
            help="PATTERN=NAME: one name for matching machines, zones or scenarios, such as 10.0.*=client if addresses "
            "change. Repeat for several."
        ),
    ] = None,
    across: Annotated[
        str | None,
        typer.Option(
            metavar="FIELD[,FIELD]",
            help="Fields that may differ between the sides, because they are the question: settings, congestion, "
            "message_bytes, connections, tool … All others must be equal.",
        ),
    ] = None,
    confidence: Annotated[float, typer.Option(help="Confidence level of the intervals, between 0.5 and 1.")] = 0.95,
    tool: Annotated[str | None, typer.Option(help="Compare only runs of this tool.")] = None,
    path: Annotated[
        str | None, typer.Option(help='Compare only paths that match this pattern, such as "az1*".')
    ] = None,
    format: FormatOption = "table",
    out: OutOption = None,
) -> None:
    """Compare the runs of two studies or folders of logs, path by path.

    Runs are compared only if path, tool and parameters are the same. Exit code 0: no change beyond the margin; 1: a
    change beyond the margin, in either direction; 3: inconclusive, with the number of runs still needed, or a change
    between runs that drift; 2: usage error or unreadable input.
    """
    from azlatency.gate.comparison_sheet import sheet
    from azlatency.gate.inputs import open_sides
    from azlatency.gate.verdict import judge
    from azlatency.studies.manifest.machine_names import parse_maps

    fields = [field.strip() for field in (across or "").split(",") if field.strip()]
    if candidate is None and fields != ["scenario"]:
        raise typer.BadParameter("give a candidate, or --across scenario to compare the scenarios of one study")
    with usage_errors():
        judgement = judge(
            *open_sides(base, candidate),
            names=(base, candidate or base),
            margin=margin,
            metrics=metric or (),
            maps=parse_maps(map or []),
            confidence=confidence,
            tool=tool,
            path=path,
            across=fields,
        )
    show(sheet(judgement), judgement.record(), format, out)
    raise typer.Exit(judgement.exit_code)
