"""Decide what is measured and in which order: hosts, tools, rounds.

Every round measures every pair of hosts with every tool once, in random order. The two directions of a pair follow each
other, and which one is first is random. If a base and a candidate are compared, every round measures both, and which
one is first is random. Drift (neighbours, clocks, throttling) is then not mistaken for a difference between paths,
directions or sides.

The number of rounds comes from a pilot measurement or from an assumed spread. It is never smaller than the number that
an exact test needs to distinguish the pairs of zones.
"""

from __future__ import annotations

import ipaddress
import random
import re
import tomllib
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations
from pathlib import Path
from typing import NamedTuple

import pandas as pd

from azlatency.stats.across_runs.attainable import rounds_needed
from azlatency.stats.across_runs.planning import PILOT, PRECISIONS, SEARCHED, plan, runs_for_spread
from azlatency.stats.across_runs.turns import FEWEST_ROUNDS
from azlatency.studies.format import percent, plain

#: More rounds than this are advised against: a wider interval, or another quantity, costs less.
MANY_ROUNDS = 100
#: A plan with more measurements is rejected: the precision is probably a typing error.
MAX_MEASUREMENTS = 50_000
_DNS_NAME = re.compile(r"(?!-)[A-Za-z0-9-]{1,63}(?:\.[A-Za-z0-9-]{1,63}){0,9}")
_SLUG = re.compile(r"[^A-Za-z0-9.]+")
_MAX_LENGTH = 64


class PlanError(ValueError):
    """A plan is not possible. The message is one line: what is wrong; what to do."""


@dataclass(frozen=True, slots=True)
class Host:
    """A machine: its logical zone, the name that the runner uses, and the address that is measured."""

    zone: str
    name: str
    address: str
    slug: str
    """The name in file names, unique among the hosts."""


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool of the shell script: program, server and client command, and the extension of its log.

    Commands have the placeholders ``{port}``, ``{next_port}``, ``{address}``, ``{seconds}``, ``{probes}`` and
    ``{bytes}``. ``has_message_size``: whether the message size applies. ``duration_factor``: duration of a run divided
    by the requested seconds.
    """

    program: str
    server: str
    client: str
    extension: str = "log"
    has_message_size: bool = False
    duration_factor: float = 1.0


#: Tools get consecutive ports in this order. qperf is last because it needs two.
TOOLS = {
    "ping": Tool("ping", "", "ping -n -D -i 0.2 -c {probes} {address}"),
    "sockperf": Tool(
        "sockperf",
        "sockperf server --tcp -p {port}",
        "sockperf ping-pong --tcp -i {address} -p {port} -t {seconds} -m {bytes}",
        has_message_size=True,
    ),
    "sockperf-udp": Tool(
        "sockperf",
        "sockperf server -p {port}",
        "sockperf ping-pong -i {address} -p {port} -t {seconds} -m {bytes}",
        has_message_size=True,
    ),
    "iperf3": Tool("iperf3", "iperf3 -s -p {port}", "iperf3 -c {address} -p {port} -t {seconds} -J", extension="json"),
    "qperf": Tool(
        "qperf",
        "qperf -lp {port}",
        "qperf -lp {port} -ip {next_port} -t {seconds} -vvs {address} tcp_lat tcp_bw",
        duration_factor=2,
    ),
}
#: Tools of the PowerShell script. Both ends run one test and then exit.
WINDOWS_TOOLS = ("latte", "ntttcp")


class Measurement(NamedTuple):
    """One run: round (from 1), index of the client host, index of the server host, tool, side (empty if only one)."""

    round: int
    client: int
    server: int
    tool: str
    side: str = ""


class Rounds(NamedTuple):
    """The number of rounds, and the reason for it in words."""

    number: int
    reason: str


@dataclass(frozen=True, kw_only=True)
class Plan:
    """A plan; `PlanError` if it is not possible.

    ``tools`` are different ones. ``seconds`` and ``message_bytes`` are per run; ``port`` is the first port of the
    servers. ``switches`` are the commands that switch to the base and to the candidate, by side; ``every`` is the
    number of minutes from the beginning of a round to that of the next.
    """

    study: str
    hosts: tuple[Host, ...]
    tools: tuple[str, ...]
    rounds: Rounds
    seed: int = 1
    seconds: int = 10
    message_bytes: int = 64
    port: int = 12300
    runner: tuple[str, ...] = ("ssh", "-o", "BatchMode=yes", "{name}")
    region: str | None = None
    switches: Mapping[str, str] = field(default_factory=dict)
    every: int = 0

    def __post_init__(self) -> None:
        known = (*TOOLS, *WINDOWS_TOOLS)
        if unknown := [tool for tool in self.tools if tool not in known]:
            raise PlanError(f"unknown tool {unknown[0]!r}; choose from {', '.join(known)}")
        if len(self.hosts) < 2:
            raise PlanError("a path has two ends; give at least two hosts (--host 1=vm-a@10.0.0.4 --host 2=…)")
        if not self.tools:
            raise PlanError(f"no tool given; give at least one of {', '.join(known)}")
        is_sized = 1 <= self.seconds <= 86_400 and 14 <= self.message_bytes <= 65_000
        if not is_sized or not 1024 <= self.port <= 65_535 - len(TOOLS) - 1:
            raise PlanError(
                "an option is out of range; use 1 to 86400 seconds, 14 to 65000 message bytes, port 1024 to 65529"
            )
        if (self.switches or self.every) and (windows := [tool for tool in self.tools if tool in WINDOWS_TOOLS]):
            raise PlanError(
                f"--base, --candidate and --every are not available with {windows[0]}; use a tool of the shell script"
            )
        per_round = len(self.hosts) * (len(self.hosts) - 1) * len(self.tools) * max(1, len(self.switches))
        if self.rounds.number * per_round > MAX_MEASUREMENTS:
            raise PlanError(
                f"{plain(self.rounds.number)} rounds need more than {plain(MAX_MEASUREMENTS)} measurements; reduce the "
                "precision, or give --rounds"
            )

    @cached_property
    def measurements(self) -> tuple[Measurement, ...]:
        """All runs in the order of measuring."""
        return schedule(len(self.hosts), self.tools, self.rounds.number, self.seed, self.switches or ("",))

    def command(self, template: str, address: str, tool: str) -> str:
        """Fill in a command of `TOOLS`. Addresses have been checked, so no word needs quotes."""
        port = self.port + list(TOOLS).index(tool)
        return template.format(
            port=port,
            next_port=port + 1,
            address=address,
            seconds=self.seconds,
            probes=5 * self.seconds,
            bytes=self.message_bytes,
        )

    def of(self, tools: Iterable[str]) -> tuple[Measurement, ...]:
        """Return the measurements with these tools, in order."""
        names = set(tools)
        return tuple(measurement for measurement in self.measurements if measurement.tool in names)

    def minutes(self, tools: Iterable[str]) -> float:
        """Estimate the duration of these tools in minutes, with two seconds of overhead per run."""
        factors = {name: tool.duration_factor for name, tool in TOOLS.items()}
        busy = sum(self.seconds * factors.get(run.tool, 1.0) + 2 for run in self.of(tools)) / 60
        return max(busy, (self.rounds.number - 1) * self.every + busy / self.rounds.number)

    def limits(self) -> list[str]:
        """Return what this design cannot answer, and what would."""
        limits = []
        zones = Counter(host.zone for host in self.hosts)
        if len(zones) > 1 and 1 in zones.values():
            limits.append(
                "zone or machine: with one host in a zone, a difference between zones or directions is that of these "
                "machines; give two hosts per zone"
            )
        if self.rounds.number < FEWEST_ROUNDS:
            limits.append(f"a change, by an exact test: it needs {FEWEST_ROUNDS} rounds")
        if self.minutes(self.tools) < 24 * 60:
            limits.append(
                "other hours and routes: all rounds are measured within a day; spread them with --every MINUTES"
            )
        return limits


# --- hosts


def parse_host(text: str, taken: Sequence[Host] = ()) -> Host:
    """Parse ``zone=name@address``. Raises `PlanError`."""
    zone, equals, rest = text.partition("=")
    name, at, address = rest.rpartition("@")
    if not (equals and at):
        raise PlanError(f"host {text!r} is not valid; write zone=name@address, for example 1=vm-a@10.0.0.4")
    return make_host(zone, name, address, taken)


def read_hosts(path: Path) -> list[Host]:
    """Read the ``[[host]]`` tables (zone, name, address) of a TOML file. Raises `PlanError`."""
    try:
        content = tomllib.loads(path.read_text("utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise PlanError(f"{path}: {error}; correct the file") from None
    hosts: list[Host] = []
    for number, table in enumerate(content.get("host", []), start=1):
        if not isinstance(table, dict) or set(table) != {"zone", "name", "address"}:
            raise PlanError(f"{path}: host {number} is not valid; give zone, name and address, and no other key")
        zone, name, address = (str(table[key]) for key in ("zone", "name", "address"))
        hosts.append(make_host(zone, name, address, hosts))
    return hosts


def make_host(zone: str, name: str, address: str, taken: Sequence[Host] = ()) -> Host:
    """Check and create a host. Raises `PlanError` for text that a shell, a file system or a tool could misread."""
    for key, value in (("zone", zone), ("name", name)):
        if not value.strip() or len(value) > _MAX_LENGTH or not value.isprintable() or value.startswith("-"):
            raise PlanError(
                f"{key} {value!r} is not valid; use 1 to {_MAX_LENGTH} printable characters, not starting with a hyphen"
            )
    if any(host.name == name for host in taken):
        raise PlanError(f"host {name!r} is given twice; give every host its own name")
    if not _is_address(address):
        raise PlanError(f"address {address!r} is neither an IP address nor a DNS name; correct it")
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


def schedule(
    hosts: int, tools: Sequence[str], rounds: int, seed: int, sides: Iterable[str] = ("",)
) -> tuple[Measurement, ...]:
    """Measure every pair and tool once per round in random order, with the two directions next to each other.

    Each side measures a round as a whole; the order of the sides is random.
    """
    generator = random.Random(seed)
    order: list[Measurement] = []
    halves = list(sides)
    for number in range(1, rounds + 1):
        if len(halves) > 1:
            generator.shuffle(halves)
        for side in halves:
            units = [(pair, tool) for pair in combinations(range(hosts), 2) for tool in tools]
            generator.shuffle(units)
            for (low, high), tool in units:
                first, second = (low, high) if generator.random() < 0.5 else (high, low)
                order += [Measurement(number, *ends, tool, side) for ends in ((first, second), (second, first))]
    return tuple(order)


# --- rounds


def practical(rounds_for: Callable[[float], Rounds], precision: float) -> Rounds:
    """Return the rounds for a precision; advise against more than `MANY_ROUNDS`, and refuse ten times as many."""
    rounds = rounds_for(precision)
    if rounds.number <= MANY_ROUNDS:
        return rounds
    wider = ((width, rounds_for(width).number) for width in PRECISIONS if width > precision)
    fewer = next(
        (f"--precision {plain(100 * width)}% ({number} rounds)" for width, number in wider if number <= MANY_ROUNDS), ""
    )
    advice = (
        f"more than {MANY_ROUNDS} rounds are rarely practical: {f'ask for {fewer}, ' if fewer else ''}make each run "
        "longer (--seconds), or leave out the tool that varies the most"
    )
    if rounds.number > 10 * MANY_ROUNDS:
        raise PlanError(f"±{percent(precision)} needs {plain(rounds.number)} rounds; {advice}; or choose --rounds")
    return Rounds(rounds.number, f"{rounds.reason}; {advice}")


def rounds_from_spread(spread: float, precision: float, hosts: Sequence[Host]) -> Rounds:
    """Compute the rounds from an assumed run-to-run spread (standard deviation / mean)."""
    wanted = runs_for_spread(spread, precision)
    reason = (
        f"for ±{percent(precision)} with an assumed run-to-run spread of {percent(spread)} (no pilot); after five "
        "rounds, plan again with --pilot"
    )
    return _at_least(Rounds(wanted, reason), hosts)


def rounds_from_pilot(pilots: Sequence[pd.DataFrame], precision: float, hosts: Sequence[Host]) -> Rounds:
    """Compute the rounds from the runs of a pilot: the number that its most variable path needs.

    Raises `PlanError` if no path has five runs, because the spread cannot be estimated.
    """
    plans = pd.concat([plan(runs, precision) for runs in pilots], ignore_index=True)
    firm = plans[plans["needed"].notna() | plans["flags"].str.contains("out_of_reach")]
    if firm.empty:
        ranges = plans[plans["low"].notna()]
        forecast = ""
        if len(ranges):
            high = plain(ranges["high"].max()) if ranges["high"].notna().all() else "an unknown number"
            forecast = f" (between {plain(ranges['low'].max())} and {high} rounds are needed)"
        raise PlanError(
            f"no path of the pilot has {PILOT} runs{forecast}; measure {PILOT} rounds first: --rounds {PILOT}"
        )
    numbers = firm["needed"].fillna(firm["high"]).fillna(SEARCHED)
    most = firm.loc[numbers.idxmax()]
    reason = (
        f"for ±{percent(precision)} with a pilot of {most['done']} runs: {most['path']}, {most['method']} "
        "varies the most; the upper bound of its spread is used"
    )
    return _at_least(Rounds(int(numbers.max()), reason), hosts)


def _at_least(rounds: Rounds, hosts: Sequence[Host]) -> Rounds:
    """Raise the number to what an exact test needs to distinguish the pairs of zones."""
    pairs = {tuple(sorted((first.zone, second.zone))) for first, second in combinations(hosts, 2)}
    minimum = rounds_needed(max(1, len(pairs)))
    if rounds.number >= minimum:
        return rounds
    noun = "pair" if len(pairs) == 1 else "pairs"
    return Rounds(minimum, f"the minimum for an exact test with {len(pairs)} {noun} of zones")
