"""A first ``study.toml`` for a folder of logs: what the logs and file names say, and gaps to fill in by hand.

Zones are read from names such as ``az1-az3/``, ``zone1_zone2.log`` or ``az2a-az1b``, rounds from ``round02_ping.log``;
they are a proposal, marked so.
Nothing is written over: the draft goes to standard output or into a new file.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from azlatency.logs.tables import Logs

_PAIR = re.compile(r"(?:az|zone)[ _-]?(\d)[a-z]?[ _-]*(?:to|-|_|→)[ _-]*(?:az|zone)?[ _-]?(\d)", re.IGNORECASE)
_REPEAT = re.compile(r"(?:^|[_-])(?:r|run|rep|repeat)[_-]?(\d{1,3})(?=\D|$)", re.IGNORECASE)
_ROUND = re.compile(r"(?<![A-Za-z])round[_-]?0*(\d{1,4})(?=[^\d/][^/]*$)", re.IGNORECASE)
_GAP = "# fill in: "


@dataclass(frozen=True)
class _Group:
    """Logs that one entry describes: a glob, the zones its name shows, the tools in it."""

    pattern: str
    zones: tuple[str, str] | None
    tools: tuple[str, ...]
    logs: int


def draft(name: str, tables: Logs, paths: Sequence[str]) -> str:
    """The text of a ``study.toml`` for these logs. ``paths``: relative to the study's folder, slashes forward."""
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
            f'log = "{_text(group.pattern)}"'.ljust(39) + f" # {group.logs} logs: {', '.join(group.tools)}",
        ]
        if group.zones:
            lines += [
                f'scenario = "{_text(_scenario(group, groups))}"',
                f'zone = "{group.zones[0]}"',
                f'peer_zone = "{group.zones[1]}"   # from the name; client first: check',
            ]
        else:
            lines += [f'{_GAP}zone = "1"            (the client\'s)', f'{_GAP}peer_zone = "2"       (the server\'s)']
    lines += [*_rounds(tables, paths), *_rest(tables, paths)]
    return "\n".join(lines) + "\n"


def _scenario(group: _Group, groups: Sequence[_Group]) -> str:
    """The pair of zones; the name of the logs where several groups are of one pair, since they may be several paths."""
    assert group.zones is not None
    if sum(each.zones == group.zones for each in groups) > 1:
        return group.pattern.strip("*/")
    return f"zone {group.zones[0]} → zone {group.zones[1]}"


def _rounds(tables: Logs, paths: Sequence[str]) -> list[str]:
    """An entry for each round that the names of the logs show."""
    tools = _tools(tables)
    found: dict[str, int] = {}
    for path in paths:
        if path in tools and (named := _ROUND.search(path)):
            found[named[0]] = int(named[1])
    lines: list[str] = []
    for name, number in sorted(found.items(), key=lambda item: item[1]):
        lines += ["", "[[run]]", f'log = "*{name}[!0-9]*"'.ljust(39) + " # from the name: check", f"round = {number}"]
    return lines


def _groups(tables: Logs, paths: Sequence[str]) -> list[_Group]:
    """Logs by folder and by the zones in their names, in order of path."""
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
    """A glob for the logs that belong together: the folder that names a pair, else the name's part that does."""
    folder, _, file = path.rpartition("/")
    if _PAIR.search(folder):
        parts = folder.split("/")
        last = max(index for index, part in enumerate(parts) if _PAIR.search(part))
        return "*" + parts[last] + "/*" if last else parts[last] + "/*"
    if found := _PAIR.search(file):
        prefix = f"{folder}/" if folder else ""
        return f"{prefix}*{found[0]}*"
    return f"{folder}/*" if folder else path


def _zones(pattern: str) -> tuple[str, str] | None:
    found = _PAIR.search(pattern)
    return (found[1], found[2]) if found else None


def _rest(tables: Logs, paths: Sequence[str]) -> list[str]:
    """Comments on what was not recognised and on repeats that the names show."""
    tools = _tools(tables)
    lines = [f"# not recognised: {path}" for path in paths if path not in tools]
    repeats = sorted({found[1] for path in paths if (found := _REPEAT.search(path.rsplit("/", 1)[-1]))})
    if repeats:
        lines.append(
            f"# the names show repeats {', '.join(repeats)}: a runs.csv with one row a log can say which is which"
        )
    return ["", *lines] if lines else []


def _tools(tables: Logs) -> dict[str, tuple[str, ...]]:
    names = {row["source_id"]: row["path"] for row in tables.rows["sources"]}
    found: dict[str, list[str]] = {}
    for run in tables.rows["runs"]:
        found.setdefault(names[run["source_id"]], []).append(run["tool"])
    return {path: tuple(dict.fromkeys(tools)) for path, tools in found.items()}


def _text(value: str) -> str:
    """A string that is safe inside a TOML basic string."""
    escaped = value.replace("\\", "\\\\").replace('"', '\\"')
    return "".join(char if char.isprintable() else f"\\u{ord(char):04x}" for char in escaped)
