"""A plan -> the POSIX shell script that carries it out. Every text from outside is quoted for the shell."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from azlatency import __version__
from azlatency.planning.design import TOOLS, Host, Plan

_VERSIONS = {"ping": "ping -V", "sockperf": "sockperf --version", "iperf3": "iperf3 --version",
             "qperf": "qperf --version"}  # fmt: skip
#: Seconds that a client may take beyond its own time before it is ended.
_GRACE = 30


def shell_script(plan: Plan, file: str = "measure.sh") -> str:
    """The whole script. ``file``: the name that its head shows."""
    tools = [tool for tool in plan.tools if tool in TOOLS]
    measurements = plan.of(tools)
    digits = max(2, len(str(plan.rounds.number)))
    serving = [tool for tool in tools if TOOLS[tool].server]
    ports = [plan.port + list(TOOLS).index(tool) for tool in serving] or [plan.port]
    return environment().get_template("measure.sh.j2").render(
        file=comment(file),
        **about(plan, tools),
        programs=dict.fromkeys(TOOLS[tool].program for tool in tools),
        versions=dict.fromkeys(_VERSIONS[TOOLS[tool].program] for tool in tools),
        first_port=min(ports),
        last_port=max(ports) + (1 if "qperf" in tools else 0),
        runner=lambda host: runner(plan, host),
        serving=[
            {"name": tool, "program": TOOLS[tool].program, "server": plan.command(TOOLS[tool].server, "", tool)}
            for tool in serving
        ],
        tools=[_client(plan, tool) for tool in tools],
        measurements=[{**each._asdict(), "round_text": f"{each.round:0{digits}d}"} for each in measurements],
        toml_name=f"name = {toml(plan.study)}",
        toml_source=f"source = {toml(f'azlatency plan {__version__}, seed {plan.seed}')}",
        toml_notes=f"{plan.rounds.number} rounds: {plan.rounds.reason}. Versions:".replace("\\", "").replace('"', "'"),
    )  # fmt: skip


def _client(plan: Plan, tool: str) -> dict[str, Any]:
    """What the script knows of a tool; the address is filled in by the script."""
    spec = TOOLS[tool]
    words = plan.command(spec.client, "\0", tool).split("\0")
    return {
        "name": tool,
        "client": '"$to_address"'.join(shlex.quote(part) if part else "" for part in words),
        "ending": spec.ending,
        "bytes": plan.message_bytes if spec.sized else "",
        "limit": int(plan.seconds * spec.share) + _GRACE,
    }


def runner(plan: Plan, host: Host) -> str:
    """The words that bring a command to a host, quoted."""
    fields = {"name": host.name, "address": host.address, "zone": host.zone}
    return " ".join(shlex.quote(word.format_map(fields)) for word in plan.runner)


def environment() -> Any:
    """The templates beside this module, with filters for the shell, for PowerShell and for comments."""
    import jinja2

    found = jinja2.Environment(
        loader=jinja2.FileSystemLoader(Path(__file__).parent), undefined=jinja2.StrictUndefined,
        keep_trailing_newline=True, autoescape=False,
    )  # fmt: skip
    found.filters.update(sh=shlex.quote, comment=comment)
    return found


def comment(text: str) -> str:
    """Text in a comment: one line."""
    return "".join(char if char.isprintable() else "?" for char in text)


def toml(text: str) -> str:
    """A TOML basic string."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return '"' + "".join(char if char.isprintable() else _escaped(char) for char in escaped) + '"'


def _escaped(char: str) -> str:
    """TOML's escape of a character: four digits reach only the first plane."""
    return f"\\u{ord(char):04x}" if ord(char) <= 0xFFFF else f"\\U{ord(char):08x}"


def about(plan: Plan, tools: Sequence[str]) -> dict[str, Any]:
    """What every template says of a plan, whatever it is written in."""
    return {
        "version": __version__,
        "study": plan.study,
        "seed": plan.seed,
        "hosts": plan.hosts,
        "rounds": plan.rounds,
        "region": plan.region or "",
        "minutes": f"{plan.minutes(tools):,.0f}",
    }
