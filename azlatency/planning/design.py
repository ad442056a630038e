"""What is measured, in which order: hosts, tools, rounds.

Every round holds every pair of hosts and every tool once, in random order; the two directions of a pair stand next to
each other, and chance decides which goes first. Then nothing that drifts (neighbours, clocks, throttling) is mistaken
for a difference between paths or directions.

How many rounds: from a pilot by `planning.runs_needed`, or from a spread that the user takes for
granted; and never fewer than are needed before any test can tell the pairs of zones apart.
"""

from __future__ import annotations

import ipaddress
import random
import re
import tomllib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from azlatency.stats.across_runs.planning import PILOT, plans_by_path, rounds_needed, runs_for_spread

if TYPE_CHECKING:
    import pandas as pd

#: More measurements than this are a slip of the precision, not a plan.
MOST_MEASUREMENTS = 50_000
_DNS_NAME = re.compile(r"(?!-)[A-Za-z0-9-]{1,63}(?:\.[A-Za-z0-9-]{1,63}){0,9}")
_SLUG = re.compile(r"[^A-Za-z0-9.]+")
_LONGEST = 64


class PlanError(ValueError):
    """A plan that cannot be made, in one line: what, and what to do."""


@dataclass(frozen=True, slots=True)
class Host:
    """A machine: its zone as its owner numbers it, its name for the runner, the address that is measured."""

    zone: str
    name: str
    address: str
    slug: str
    """The name as it stands in names of files, different for every host."""


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool that the shell script runs: the program, its server and its client as templates, ending of the log.

    Placeholders: ``{port}``, ``{address}``, ``{seconds}``, ``{probes}``, ``{bytes}``. ``share``: time of a run over
    the seconds asked for.
    """

    program: str
    server: str
    client: str
    ending: str = "log"
    sized: bool = False
    share: float = 1.0


#: Ports are one after the other from the first one, in this order; qperf takes two, and the last is left free for it.
TOOLS = {
    "ping": Tool("ping", "", "ping -n -D -i 0.2 -c {probes} {address}"),
    "sockperf": Tool(
        "sockperf",
        "sockperf server --tcp -p {port}",
        "sockperf ping-pong --tcp -i {address} -p {port} -t {seconds} -m {bytes}",
        sized=True,
    ),
    "sockperf-udp": Tool(
        "sockperf",
        "sockperf server -p {port}",
        "sockperf ping-pong -i {address} -p {port} -t {seconds} -m {bytes}",
        sized=True,
    ),
    "iperf3": Tool("iperf3", "iperf3 -s -p {port}", "iperf3 -c {address} -p {port} -t {seconds} -J", "json"),
    "qperf": Tool(
        "qperf",
        "qperf -lp {port}",
        "qperf -lp {port} -ip {next_port} -t {seconds} -vvs {address} tcp_lat tcp_bw",
        share=2,
    ),
}
#: Tools of the PowerShell script; both ends run for one test and stop by themselves.
WINDOWS_TOOLS = ("latte", "ntttcp")


class Measurement(NamedTuple):
    """One run: round (from 1), index of the initiating and of the answering host, tool."""

    round: int
    client: int
    server: int
    tool: str


class Rounds(NamedTuple):
    """How many rounds, and why, in a sentence."""

    number: int
    reason: str


@dataclass(frozen=True)
class Plan:
    """A whole plan. ``seconds`` and ``message_bytes`` of a run, ``port`` the first of the ports that servers take."""

    study: str
    hosts: tuple[Host, ...]
    tools: tuple[str, ...]
    rounds: Rounds
    seed: int
    seconds: int = 10
    message_bytes: int = 64
    port: int = 12300
    runner: tuple[str, ...] = ("ssh", "-o", "BatchMode=yes", "{name}")
    region: str | None = None
    measurements: tuple[Measurement, ...] = field(default=())

    def command(self, template: str, address: str, tool: str) -> str:
        """A template of `TOOLS` filled in; addresses were checked, so that no word of it needs quotes."""
        port = self.port + list(TOOLS).index(tool)
        return template.format(
            port=port, next_port=port + 1, address=address, seconds=self.seconds, probes=5 * self.seconds,
            bytes=self.message_bytes,
        )  # fmt: skip

    def of(self, tools: Iterable[str]) -> tuple[Measurement, ...]:
        """The measurements of some tools, in order."""
        wanted = set(tools)
        return tuple(each for each in self.measurements if each.tool in wanted)

    def minutes(self, tools: Iterable[str]) -> float:
        """About how long they take: the runs, and two seconds each around them."""
        shares = {name: tool.share for name, tool in TOOLS.items()}
        return sum(self.seconds * shares.get(each.tool, 1.0) + 2 for each in self.of(tools)) / 60


# --- hosts


def parse_host(text: str, taken: Sequence[Host] = ()) -> Host:
    """``zone=name@address``. Raises `PlanError`."""
    zone, equals, rest = text.partition("=")
    name, at, address = rest.rpartition("@")
    if not (equals and at):
        raise PlanError(f"host {text!r}: write zone=name@address, such as 1=vm-a@10.0.0.4")
    return make_host(zone, name, address, taken)


def read_hosts(path: Path) -> list[Host]:
    """The ``[[host]]`` tables (zone, name, address) of a TOML file. Raises `PlanError`."""
    try:
        content = tomllib.loads(path.read_text("utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise PlanError(f"{path}: {error}; correct the file") from None
    hosts: list[Host] = []
    for number, table in enumerate(content.get("host", []), start=1):
        if not isinstance(table, dict) or set(table) != {"zone", "name", "address"}:
            raise PlanError(f"{path}: host {number}: give zone, name and address, and nothing else")
        zone, name, address = (str(table[key]) for key in ("zone", "name", "address"))
        hosts.append(make_host(zone, name, address, hosts))
    return hosts


def make_host(zone: str, name: str, address: str, taken: Sequence[Host] = ()) -> Host:
    """A checked host. Raises `PlanError` for what a shell, a file system or a tool could take for something else."""
    for what, value in (("zone", zone), ("name", name)):
        if not value.strip() or len(value) > _LONGEST or not value.isprintable() or value.startswith("-"):
            raise PlanError(f"{what} {value!r}: 1 to {_LONGEST} printable characters, no hyphen in front")
    if any(host.name == name for host in taken):
        raise PlanError(f"host {name!r}: named twice; every host needs a name of its own")
    if not _is_address(address):
        raise PlanError(f"address {address!r}: no IP address and no DNS name")
    slug = _SLUG.sub("_", name).strip("_.") or "host"
    if any(host.slug == slug for host in taken):
        slug = f"{slug}_{len(taken) + 1}"
    return Host(zone, name, address, slug)


def _is_address(text: str) -> bool:
    try:
        ipaddress.ip_address(text)
    except ValueError:
        return _DNS_NAME.fullmatch(text) is not None
    return "%" not in text


# --- order


def schedule(hosts: int, tools: Sequence[str], rounds: int, seed: int) -> tuple[Measurement, ...]:
    """Every pair and tool once a round in random order, its two directions side by side."""
    chance = random.Random(seed)
    found: list[Measurement] = []
    for number in range(1, rounds + 1):
        units = [(pair, tool) for pair in combinations(range(hosts), 2) for tool in tools]
        chance.shuffle(units)
        for (one, other), tool in units:
            first, second = (one, other) if chance.random() < 0.5 else (other, one)
            found += [Measurement(number, first, second, tool), Measurement(number, second, first, tool)]
    return tuple(found)


def make_plan(
    study: str,
    hosts: Sequence[Host],
    tools: Sequence[str],
    rounds: Rounds,
    *,
    seed: int = 1,
    seconds: int = 10,
    message_bytes: int = 64,
    port: int = 12300,
    runner: Sequence[str] = ("ssh", "-o", "BatchMode=yes", "{name}"),
    region: str | None = None,
) -> Plan:
    """A checked plan. Raises `PlanError`."""
    known = (*TOOLS, *WINDOWS_TOOLS)
    if unknown := [tool for tool in tools if tool not in known]:
        raise PlanError(f"no tool {unknown[0]!r}; tools: {', '.join(known)}")
    if len(hosts) < 2:
        raise PlanError("a path has two ends: name at least two hosts (--host 1=vm-a@10.0.0.4 --host 2=…)")
    if not tools:
        raise PlanError(f"name at least one tool: {', '.join(known)}")
    if not 1 <= seconds <= 86_400 or not 14 <= message_bytes <= 65_000 or not 1024 <= port <= 65_535 - len(TOOLS) - 1:
        raise PlanError("seconds from 1 to 86400, message bytes from 14 to 65000, ports from 1024 to 65529")
    if rounds.number * len(hosts) * (len(hosts) - 1) * len(set(tools)) > MOST_MEASUREMENTS:
        raise PlanError(
            f"{rounds.number} rounds of so many pairs and tools are more than {MOST_MEASUREMENTS} measurements; "
            "ask for less precision, or give --rounds"
        )
    names = tuple(dict.fromkeys(tools))
    order = schedule(len(hosts), names, rounds.number, seed)
    return Plan(
        study, tuple(hosts), names, rounds, seed, seconds, message_bytes, port, tuple(runner), region, order
    )  # fmt: skip


# --- rounds


def rounds_from_spread(spread: float, precision: float, hosts: Sequence[Host], confidence: float = 0.95) -> Rounds:
    """Rounds from a run-to-run spread (sd over mean) that is taken for granted."""
    wanted = runs_for_spread(spread, precision, confidence)
    reason = (
        f"±{100 * precision:g} % from an assumed run-to-run spread of {100 * spread:g} %, not from a pilot: "
        "plan again with --pilot once there are five rounds"
    )
    return _at_least(Rounds(wanted, reason), hosts, confidence)


def rounds_from_pilot(
    pilots: Sequence[pd.DataFrame], precision: float, hosts: Sequence[Host], confidence: float = 0.95
) -> Rounds:
    """Rounds from the runs of a pilot (frames of `azlatency.studies.runs`): what its most scattered path needs.

    Raises `PlanError` where no path of it has five runs: its spread would be a guess.
    """
    plans = [plan for runs in pilots for plan in plans_by_path(runs, precision, confidence=confidence)]
    firm = [plan for plan in plans if plan.needed is not None]
    if not firm:
        ranges = [plan for plan in plans if plan.low is not None]
        told = ""
        if ranges:
            low, highs = max(plan.low or 0 for plan in ranges), [plan.high for plan in ranges]
            high = "more than can be named" if None in highs else max(each for each in highs if each is not None)
            told = f" (somewhere between {low} and {high} rounds)"
        raise PlanError(f"no path of the pilot has {PILOT} runs{told}; measure {PILOT} rounds first: --rounds {PILOT}")
    most = max(firm, key=lambda plan: plan.needed or 0)
    reason = (
        f"±{100 * precision:g} % from a pilot of {most.done} runs: {most.labels['path']}, {most.labels['method']} "
        "spreads the most, taken at the upper bound of its spread"
    )
    return _at_least(Rounds(most.needed or 0, reason), hosts, confidence)


def _at_least(rounds: Rounds, hosts: Sequence[Host], confidence: float) -> Rounds:
    """Not fewer than any test needs to tell the pairs of zones apart."""
    pairs = {tuple(sorted((one.zone, other.zone))) for one, other in combinations(hosts, 2)}
    fewest = rounds_needed(max(1, len(pairs)), confidence)
    if rounds.number >= fewest:
        return rounds
    return Rounds(fewest, f"before fewer rounds no test can decide between {len(pairs)} pairs of zones")
