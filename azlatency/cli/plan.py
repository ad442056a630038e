"""``azlatency plan``: hosts, tools and a wanted precision -> a script that measures."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from azlatency.cli.common import command, complete_path, complete_side, folder_name, say, shown

if TYPE_CHECKING:
    from azlatency.planning.design import Host, Plan, Rounds


@command(
    "plan",
    "azlatency plan --host 1=vm-a@10.0.0.4 --host 2=vm-b@10.0.1.4 --tool sockperf --tool iperf3",
    "azlatency plan --hosts hosts.toml --tool ping --precision 2% --pilot mine --out measure.sh",
    "azlatency plan --hosts hosts.toml --tool qperf --rounds 8 --runner 'ssh azureuser@{address}'",
    "azlatency plan --hosts windows.toml --tool latte --tool ntttcp --out measure.ps1",
)
def plan(
    host: Annotated[list[str] | None, typer.Option(help="zone=name@address; repeat for each host.")] = None,
    hosts: Annotated[
        Path | None,
        typer.Option(help="TOML with [[host]] tables: zone, name, address.", autocompletion=complete_path),
    ] = None,
    tool: Annotated[
        list[str] | None,
        typer.Option(help="ping, sockperf, sockperf-udp, iperf3, qperf (shell); latte, ntttcp (PowerShell)."),
    ] = None,
    precision: Annotated[str, typer.Option(help="Wanted half-width of the interval of a typical run.")] = "5%",
    pilot: Annotated[
        str | None,
        typer.Option(
            help="Study, folder, archive or log whose spread tells how many rounds.", autocompletion=complete_side
        ),
    ] = None,
    spread: Annotated[str, typer.Option(help="Without a pilot: the run-to-run spread to assume.")] = "10%",
    rounds: Annotated[int | None, typer.Option(min=1, help="This many rounds, whatever the precision.")] = None,
    seconds: Annotated[int, typer.Option(help="Length of a run.")] = 10,
    message_bytes: Annotated[int, typer.Option(help="Message size of sockperf.")] = 64,
    port: Annotated[int, typer.Option(help="First of the ports that servers take.")] = 12300,
    seed: Annotated[int, typer.Option(help="Of the random order.")] = 1,
    runner: Annotated[
        str,
        typer.Option(help="How a command reaches a host: {name}, {address}, {zone} are filled in; 'sh -s' is added."),
    ] = "ssh -o BatchMode=yes {name}",
    region: Annotated[
        str | None, typer.Option(help="Region to note where the metadata service does not say it.")
    ] = None,
    study: Annotated[str, typer.Option(help="Name of the study that the logs become.")] = "measured",
    out: Annotated[
        Path, typer.Option(help="The script; a PowerShell one stands beside it as .ps1.", autocompletion=complete_path)
    ] = Path("measure.sh"),
) -> None:
    """Write a script that measures between hosts in rounds; nothing is sent before you run it.

    The script writes logs, runs.csv and study.toml, so that `azlatency import FOLDER --study NAME` needs nothing else.
    """
    from azlatency.planning.design import WINDOWS_TOOLS, PlanError, make_plan, parse_host, read_hosts

    try:
        found: list[Host] = read_hosts(hosts) if hosts is not None else []
        for text in host or []:
            found.append(parse_host(text, found))
        made = make_plan(
            folder_name(study), found, tool or [], _rounds(found, tool or [], precision, pilot, spread, rounds),
            seed=seed, seconds=seconds, message_bytes=message_bytes, port=port, runner=_words(runner), region=region,
        )  # fmt: skip
    except PlanError as error:
        raise typer.BadParameter(shown(str(error))) from None
    windows = [each for each in made.tools if each in WINDOWS_TOOLS]
    _write(made, out, windows)


def _write(made: Plan, out: Path, windows: list[str]) -> None:
    from azlatency.planning.powershell import powershell_script
    from azlatency.planning.shell import shell_script

    say(f"rounds: {made.rounds.number}, {made.rounds.reason}")
    unix = [each for each in made.tools if each not in windows]
    for tools, path in ((unix, out), (windows, out.with_suffix(".ps1"))):
        if not tools:
            continue
        text = shell_script(made, path.name) if tools is unix else powershell_script(made)
        path.parent.mkdir(parents=True, exist_ok=True)
        # PowerShell 5.1 reads a script without a byte order mark in the code page of the machine.
        path.write_text(text, "utf-8" if tools is unix else "utf-8-sig", newline="\n")
        if tools is unix:
            path.chmod(0o755)
        say(f"{len(made.of(tools))} measurements with {', '.join(tools)}, about {made.minutes(tools):,.0f} minutes")
        print(path)


def _rounds(
    hosts: list[Host], tools: list[str], precision: str, pilot: str | None, spread: str, rounds: int | None
) -> Rounds:
    """By number, by pilot, or by an assumed spread; the reason says which."""
    from azlatency.planning.design import Rounds, rounds_from_pilot, rounds_from_spread

    if rounds is not None:
        return Rounds(rounds, "as asked for with --rounds")
    wanted = _share("--precision", precision)
    if pilot is None:
        return rounds_from_spread(_share("--spread", spread), wanted, hosts)
    from azlatency.gate.inputs import opened
    from azlatency.studies.runs import latency_runs, throughput_runs

    programs = {each.split("-")[0] for each in tools}
    with opened(pilot) as study:
        frames = [frame[frame["tool"].isin(programs)] for frame in (latency_runs(study), throughput_runs(study))]
    return rounds_from_pilot([frame for frame in frames if len(frame)], wanted, hosts)


def _share(option: str, text: str) -> float:
    from azlatency.stats.across_runs.run_values import parse_margin

    try:
        relative, absolute = parse_margin(float(text) if text.replace(".", "", 1).isdigit() else text)
    except ValueError:
        relative, absolute = 0.0, 0.0
    if absolute or not 0 < relative < 1:
        raise typer.BadParameter(f"{text!r}: write 5% or 0.05, above 0 and below 1", param_hint=option)
    return relative


def _words(runner: str) -> list[str]:
    """The words of the runner, its placeholders known."""
    try:
        words = shlex.split(runner)
        for word in words:
            word.format(name="", address="", zone="")
    except (ValueError, KeyError, IndexError, AttributeError):
        hint = "quote it as for a shell; {name}, {address} and {zone} are filled in"
        raise typer.BadParameter(f"{runner!r}: {hint}", param_hint="--runner") from None
    return words
