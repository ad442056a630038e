"""Draft a ``study.toml`` for a folder of logs, with marked lines to fill in.

Zones are read from names such as ``az1-az3/``, ``zone1_zone2.log`` or ``az2a-az1b``, rounds from names such as
``round02_ping.log``. Comments in the draft ask the user to check them.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from azlatency.logs.format import count_of
from azlatency.logs.tables import Logs
from azlatency.studies.path import Path

_PAIR = re.compile(r"(?:az|zone)[ _-]?(\d)[a-z]?[ _-]*(?:to|-|_|→)[ _-]*(?:az|zone)?[ _-]?(\d)", re.IGNORECASE)
_REPEAT = re.compile(r"(?:^|[_-])(?:r|run|rep|repeat)[_-]?(\d{1,3})(?=\D|$)", re.IGNORECASE)
_ROUND = re.compile(r"(?<![A-Za-z])round[_-]?0*(\d{1,4})(?=[^\d/][^/]*$)", re.IGNORECASE)
_GAP = "# fill in: "


@dataclass(frozen=True)
class _Group:
    """Logs that one entry describes: their glob pattern, the zones in their names, and their tools."""

    pattern: str
    zones: tuple[str, str] | None
    tools: tuple[str, ...]
    logs: int


def draft(name: str, tables: Logs, paths: Sequence[str]) -> str:
    """Draft a ``study.toml``.

    Parameters
    ----------
    name : str
        Name of the study.
    tables : Logs
        The parsed logs.
    paths : sequence of str
        Paths of all sources, relative to the folder of the study, with forward slashes.

    Returns
    -------
    str
        The text of the draft.
    """
    lines = [
        "[study]",
        f'name = "{_text(name)}"',
        f'{_GAP}title = "…"',
        f'{_GAP}question = "…?"',
        f'{_GAP}region = "westeurope"',
        f'{_GAP}subscription = "…"          (zone numbers are per subscription)',
        f'{_GAP}vm_size = "Standard_D4s_v5"',
        f"{_GAP}accelerated_networking = true",
        f"{_GAP}date = 2026-01-31",
        f'{_GAP}source = "who measured, where it is published"',
    ]
    groups = _groups(tables, paths)
    for group in groups:
        lines += [
            "",
            "[[run]]",
            f'log = "{_text(group.pattern)}"'.ljust(39) + f" # {count_of(group.logs, 'log')}: {', '.join(group.tools)}",
        ]
        if group.zones:
            lines += [
                f'scenario = "{_text(_scenario(group, groups))}"',
                f'zone = "{group.zones[0]}"',
                f'peer_zone = "{group.zones[1]}"   # from the name, client first; check it',
            ]
        else:
            lines += [f'{_GAP}zone = "1"            (the client\'s)', f'{_GAP}peer_zone = "2"       (the server\'s)']
    lines += [*_rounds(tables, paths), *_rest(tables, paths)]
    return "\n".join(lines) + "\n"


def _scenario(group: _Group, groups: Sequence[_Group]) -> str:
    """Return the pair of zones, or the name of the logs if several groups have the same pair of zones."""
    assert group.zones is not None
    if sum(other.zones == group.zones for other in groups) > 1:
        return group.pattern.strip("*/")
    client, server = group.zones
    return str(Path.between(f"zone {client}", f"zone {server}"))


def _rounds(tables: Logs, paths: Sequence[str]) -> list[str]:
    """Return an entry for each round in the names of the logs."""
    tools = _tools(tables)
    rounds: dict[str, int] = {}
    for path in paths:
        if path in tools and (match := _ROUND.search(path)):
            rounds[match[0]] = int(match[1])
    lines: list[str] = []
    for name, number in sorted(rounds.items(), key=lambda item: item[1]):
        lines += [
            "",
            "[[run]]",
            f'log = "*{name}[!0-9]*"'.ljust(39) + " # from the name; check it",
            f"round = {number}",
        ]
    return lines


def _groups(tables: Logs, paths: Sequence[str]) -> list[_Group]:
    """Group the logs by folder and by the zones in their names, in the order of their paths."""
    tools = _tools(tables)
    keys: dict[str, list[str]] = {}
    for path in paths:
        if path in tools:
            keys.setdefault(_pattern(path), []).append(path)
    return [
        _Group(
            pattern, _zones(pattern), tuple(dict.fromkeys(tool for path in group for tool in tools[path])), len(group)
        )
        for pattern, group in keys.items()
    ]


def _pattern(path: str) -> str:
    """Return a glob pattern for the folder, or the part of a file name, that contains a pair of zones."""
    folder, _, file = path.rpartition("/")
    if _PAIR.search(folder):
        parts = folder.split("/")
        last = max(index for index, part in enumerate(parts) if _PAIR.search(part))
        return "*" + parts[last] + "/*" if last else parts[last] + "/*"
    if match := _PAIR.search(file):
        prefix = f"{folder}/" if folder else ""
        return f"{prefix}*{match[0]}*"
    return f"{folder}/*" if folder else path


def _zones(pattern: str) -> tuple[str, str] | None:
    match = _PAIR.search(pattern)
    return (match[1], match[2]) if match else None


def _rest(tables: Logs, paths: Sequence[str]) -> list[str]:
    """Return comments on files that were not recognised and on repeats in the names of the logs."""
    tools = _tools(tables)
    lines = [f"# not recognised: {path}" for path in paths if path not in tools]
    repeats = sorted({match[1] for path in paths if (match := _REPEAT.search(path.rsplit("/", 1)[-1]))})
    if repeats:
        lines.append(
            f"# the names contain repeats {', '.join(repeats)}; to record them, use a runs.csv with one row per log"
        )
    return ["", *lines] if lines else []


def _tools(tables: Logs) -> dict[str, tuple[str, ...]]:
    names = {row["source_id"]: row["path"] for row in tables.rows["sources"]}
    tools_by_path: dict[str, list[str]] = {}
    for run in tables.rows["runs"]:
        tools_by_path.setdefault(names[run["source_id"]], []).append(run["tool"])
    return {path: tuple(dict.fromkeys(tools)) for path, tools in tools_by_path.items()}


def _text(value: str) -> str:
    """Escape a string for a TOML basic string."""
    escaped = value.replace("\\", "\\\\").replace('"', '\\"')
    return "".join(char if char.isprintable() else f"\\u{ord(char):04x}" for char in escaped)
