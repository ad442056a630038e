"""Write the POSIX shell script of a plan. All text from outside is quoted for the shell."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import jinja2

from azlatency import __version__
from azlatency.planning.design import TOOLS, Host, Plan
from azlatency.studies.format import format_number, toml_text

_VERSIONS = {"ping": "ping -V", "sockperf": "sockperf --version", "iperf3": "iperf3 --version",
             "qperf": "qperf --version"}  # fmt: skip
#: Seconds after the end of a run until a client that still runs is stopped.
_GRACE_SECONDS = 30


def shell_script(plan: Plan, file: str = "measure.sh") -> str:
    """Return the script. ``file`` is the name that its header shows."""
    tools = [tool for tool in plan.tools if tool in TOOLS]
    measurements = plan.of(tools)
    digits = max(2, len(str(plan.rounds.number)))
    serving = [tool for tool in tools if TOOLS[tool].server]
    ports = [plan.port + list(TOOLS).index(tool) for tool in serving] or [plan.port]
    return (
        environment()
        .get_template("measure.sh.j2")
        .render(
            file=comment(file),
            **common_values(plan, tools),
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
            measurements=[
                {**measurement._asdict(), "round_text": str(measurement.round).zfill(digits)}
                for measurement in measurements
            ],
            sides=[
                {
                    "name": side,
                    "command": plan.switches.get(side, ""),
                    "toml_name": f'name = "{toml_text(f"{plan.study}-{side}" if side else plan.study)}"',
                }
                for side in plan.switches or ("",)
            ],
            every=plan.every,
            limits=plan.limits(),
            toml_notes=f"{plan.rounds.number} rounds: {plan.rounds.reason}. Versions:".replace("\\", "").replace(
                '"', "'"
            ),
        )
    )


def _client(plan: Plan, tool: str) -> dict[str, Any]:
    """Return the client of a tool for the template; the script fills in the address."""
    spec = TOOLS[tool]
    words = plan.command(spec.client, "\0", tool).split("\0")
    return {
        "name": tool,
        "client": '"$to_address"'.join(shlex.quote(part) if part else "" for part in words),
        "extension": spec.extension,
        "bytes": plan.message_bytes if spec.has_message_size else "",
        "limit": int(plan.seconds * spec.duration_factor) + _GRACE_SECONDS,
    }


def runner(plan: Plan, host: Host) -> str:
    """Return the words of the runner for a host, quoted for the shell."""
    fields = {"name": host.name, "address": host.address, "zone": host.zone}
    return " ".join(shlex.quote(word.format_map(fields)) for word in plan.runner)


def environment() -> jinja2.Environment:
    """Return the templates of this package, with filters for shell words and comments."""
    templates = jinja2.Environment(
        loader=jinja2.FileSystemLoader(Path(__file__).parent),
        undefined=jinja2.StrictUndefined,
        keep_trailing_newline=True,
        autoescape=False,
    )
    templates.filters.update(sh=shlex.quote, comment=comment)
    return templates


def comment(text: str) -> str:
    """Reduce text to one line for a comment."""
    return "".join(char if char.isprintable() else "?" for char in text)


def common_values(plan: Plan, tools: Sequence[str]) -> dict[str, Any]:
    """Return the values that both templates use."""
    return {
        "version": __version__,
        "study": plan.study,
        "seed": plan.seed,
        "hosts": plan.hosts,
        "rounds": plan.rounds,
        "region": plan.region or "",
        "minutes": format_number(plan.minutes(tools), 0),
        "toml_source": f'source = "azlatency plan {__version__}, seed {plan.seed}"',
    }
