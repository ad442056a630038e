"""``azlatency plan``: write a script that measures between hosts."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from azlatency.cli.common import command, folder_name, print_note
from azlatency.cli.completion import complete_path, complete_study_or_path
from azlatency.studies.format import count_of, format_number, printable

if TYPE_CHECKING:
    from azlatency.planning.design import Host, Plan, Rounds


@command(
    "plan",
    "azlatency plan --host 1=vm-a@10.0.0.4 --host 2=vm-b@10.0.1.4 --tool sockperf --tool iperf3",
    "azlatency plan --hosts hosts.toml --tool ping --precision 2% --pilot mine --out measure.sh",
    "azlatency plan --hosts hosts.toml --tool qperf --rounds 8 --runner 'ssh azureuser@{address}'",
    "azlatency plan --hosts hosts.toml --tool sockperf --base './deploy v1' --candidate './deploy v2' --every 60",
    "azlatency plan --hosts windows.toml --tool latte --tool ntttcp --out measure.ps1",
)
def plan(  # noqa: PLR0913 - one for each option of the command
    host: Annotated[list[str] | None, typer.Option(help="Host as zone=name@address; repeat for each host.")] = None,
    hosts: Annotated[
        Path | None,
        typer.Option(help="TOML file with [[host]] tables: zone, name, address.", autocompletion=complete_path),
    ] = None,
    tool: Annotated[
        list[str] | None,
        typer.Option(
            help="Tool to run: ping, sockperf, sockperf-udp, iperf3, qperf (shell script); latte, ntttcp (PowerShell "
            "script). Repeat for several."
        ),
    ] = None,
    precision: Annotated[
        str, typer.Option(help="Wanted half-width of the confidence interval of a path, relative: 5% or 0.05.")
    ] = "5%",
    pilot: Annotated[
        str | None,
        typer.Option(
            help="Pilot measurement (study, folder, archive or log) from which the number of rounds is computed.",
            autocompletion=complete_study_or_path,
        ),
    ] = None,
    spread: Annotated[
        str, typer.Option(help="Run-to-run spread (standard deviation / mean) to assume without a pilot.")
    ] = "10%",
    rounds: Annotated[int | None, typer.Option(min=1, help="Number of rounds; overrides the precision.")] = None,
    seconds: Annotated[int, typer.Option(help="Duration of one run in seconds.")] = 10,
    message_bytes: Annotated[int, typer.Option(help="Message size of sockperf in bytes.")] = 64,
    port: Annotated[int, typer.Option(help="First port for the servers; each tool uses the next one.")] = 12300,
    seed: Annotated[int, typer.Option(help="Seed of the random order.")] = 1,
    runner: Annotated[
        str,
        typer.Option(
            help="Command that runs a script on a host. {name}, {address} and {zone} are replaced; 'sh -s' is appended."
        ),
    ] = "ssh -o BatchMode=yes {name}",
    base: Annotated[
        str | None,
        typer.Option(
            help="Command that switches to the base, run on this machine; every round then measures base and candidate "
            "in random order."
        ),
    ] = None,
    candidate: Annotated[str | None, typer.Option(help="Command that switches to the candidate.")] = None,
    every: Annotated[
        int, typer.Option(min=0, max=10_080, help="Minutes from the beginning of a round to that of the next.")
    ] = 0,
    region: Annotated[
        str | None, typer.Option(help="Region to record if the host's metadata service does not report one.")
    ] = None,
    study: Annotated[str, typer.Option(help="Name of the study for the logs.")] = "measured",
    out: Annotated[
        Path,
        typer.Option(help="Output script; the .ps1 is written next to it if needed.", autocompletion=complete_path),
    ] = Path("measure.sh"),
) -> None:
    """Write a script that measures between hosts in rounds. This command itself sends no traffic.

    The script writes logs, runs.csv and study.toml, so that `azlatency import FOLDER --study NAME` needs no editing.
    """
    from azlatency.planning.design import Plan, PlanError, Rounds, parse_host, read_hosts

    tools = list(dict.fromkeys(tool or []))
    if (base is None) != (candidate is None):
        raise typer.BadParameter("give both --base and --candidate, or neither", param_hint="--base")
    switches = {} if base is None or candidate is None else {"base": base, "candidate": candidate}
    try:
        machines: list[Host] = read_hosts(hosts) if hosts is not None else []
        for text in host or []:
            machines.append(parse_host(text, machines))
        made = Plan(
            study=folder_name(study),
            hosts=tuple(machines),
            tools=tuple(tools),
            rounds=_rounds(machines, tools, precision, pilot, spread)
            if rounds is None
            else Rounds(rounds, "as requested with --rounds"),
            seed=seed,
            seconds=seconds,
            message_bytes=message_bytes,
            port=port,
            runner=tuple(_runner_words(runner)),
            region=region,
            switches=switches,
            every=every,
        )
    except PlanError as error:
        raise typer.BadParameter(printable(str(error))) from None
    _write_scripts(made, out)


def _write_scripts(plan: Plan, out: Path) -> None:
    """Write the shell script, the PowerShell script, or both."""
    from azlatency.planning.design import WINDOWS_TOOLS
    from azlatency.planning.powershell import powershell_script
    from azlatency.planning.shell import shell_script

    print_note(f"rounds: {plan.rounds.number}, {plan.rounds.reason}")
    for limit in plan.limits():
        print_note(f"not answered by this plan: {limit}")
    for windows, path in ((False, out), (True, out.with_suffix(".ps1"))):
        tools = [tool for tool in plan.tools if (tool in WINDOWS_TOOLS) == windows]
        if not tools:
            continue
        path.parent.mkdir(parents=True, exist_ok=True)
        if windows:
            # Without a byte order mark, PowerShell 5.1 reads a script in the code page of the machine.
            path.write_text(powershell_script(plan), "utf-8-sig", newline="\n")
        else:
            path.write_text(shell_script(plan, path.name), "utf-8", newline="\n")
            path.chmod(0o755)
        count = count_of(len(plan.of(tools)), "measurement")
        print_note(f"{count} with {', '.join(tools)}, about {format_number(plan.minutes(tools), 0)} minutes")
        print(path)


def _rounds(hosts: list[Host], tools: list[str], precision: str, pilot: str | None, spread: str) -> Rounds:
    """Choose the number of rounds from a pilot, or from an assumed spread."""
    from azlatency.planning.design import practical, rounds_from_pilot, rounds_from_spread

    wanted = _fraction("--precision", precision)
    if pilot is None:
        assumed = _fraction("--spread", spread)
        return practical(lambda width: rounds_from_spread(assumed, width, hosts), wanted)
    from azlatency.gate.inputs import open_study
    from azlatency.studies.runs.round_trips import latency
    from azlatency.studies.runs.throughput import throughput

    programs = {tool.split("-")[0] for tool in tools}
    study = open_study(pilot)
    measured = [frame[frame["tool"].isin(programs)] for frame in (latency(study), throughput(study))]
    return practical(lambda width: rounds_from_pilot(measured, width, hosts), wanted)


def _fraction(option: str, text: str) -> float:
    """Read a percentage or a fraction between 0 and 1."""
    from azlatency.stats.across_runs.run_values import parse_fraction

    try:
        fraction = parse_fraction(text)
    except ValueError:
        fraction = 0.0
    if not 0 < fraction < 1:
        raise typer.BadParameter(f"{text!r} is not a fraction between 0 and 1; write 5% or 0.05", param_hint=option)
    return fraction


def _runner_words(runner: str) -> list[str]:
    """Split the runner into words and check its placeholders."""
    try:
        words = shlex.split(runner)
        for word in words:
            word.format(name="", address="", zone="")
    except (ValueError, KeyError, IndexError, AttributeError):
        hint = "quote it as for a shell; the placeholders are {name}, {address} and {zone}"
        raise typer.BadParameter(f"{runner!r} is not a valid command; {hint}", param_hint="--runner") from None
    return words
