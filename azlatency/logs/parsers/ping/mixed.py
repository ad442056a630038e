"""Separates the pings of several hosts that wrote into one file at the same time.

A line belongs to the host that it names: the first line and the line above the summary name their target, a reply names
its sender. A line that names no target belongs to the target of the line above.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from azlatency.logs.parsers import Log
from azlatency.logs.source.lines import Line, find_lines_with

_HEADER = re.compile(r"PING (\S{1,200}?) ?\((\S{1,200}?)(?: \((\S{1,60})\))?\):? .{1,120}")
_STATISTICS = re.compile(r"--- (\S{1,200}) ping statistics ---")
_SENDER = re.compile(r"(?:\[[\d.]{1,24}\] )?\d{1,6} bytes from (\S{1,200}?)(?: \((\S{1,60})\))?: .{1,200}")
_HINTS = ("PING ", " ping statistics ---")


def find_continued(logs: Sequence[Sequence[Line]]) -> list[int]:
    """Return the indexes of the logs that continue the log above, because the summary of a ping above is in them."""
    unfinished: dict[str, int] = {}
    continued: set[int] = set()
    for index, lines in enumerate(logs):
        targets: set[str] = set()
        for match in _targets(lines):
            if match.re is _HEADER:
                targets = _names(match)
                unfinished[match[1]] = index
                continue
            start = unfinished.pop(match[1], None)
            if start is not None and match[1] not in targets:
                continued.update(range(start + 1, index + 1))
    return sorted(continued)


def separate_targets(log: Log) -> list[Log]:
    """Return one log per target where the lines of several pings are mixed, else the log as it is."""
    if not _is_mixed(log.lines):
        return [log]
    parts: list[list[Line]] = []
    part_of: dict[str, list[Line]] = {}
    lines = list(log.lines)
    for line in lines:
        match = _target(line.text.strip())
        if match is not None:
            part = next((part_of[name] for name in _names(match) if name in part_of), None)
            if part is None:
                part = []
                parts.append(part)
            part_of.update(dict.fromkeys(_names(match), part))
    current = parts[0]
    for line in lines:
        match = _target(line.text.strip()) or _SENDER.fullmatch(line.text.strip())
        if match is not None:
            current = next((part_of[name] for name in _names(match) if name in part_of), current)
        current.append(line)
    return [replace(log, lines=part) for part in parts if part]


def _is_mixed(lines: Sequence[Line]) -> bool:
    """Return whether a summary names another target than the first line above it, and that target has other lines."""
    targets: set[str] = set()
    above: set[str] = set()
    strange: set[str] = set()
    for match in _targets(lines):
        if match.re is _HEADER:
            targets = _names(match)
            above |= targets
        elif targets and match[1] not in targets:
            if match[1] in above:
                return True
            strange.add(match[1])
    if not strange:
        return False
    senders = (_SENDER.fullmatch(line.text.strip()) for line in lines)
    return any(not strange.isdisjoint(_names(sender)) for sender in senders if sender is not None)


def _targets(lines: Sequence[Line]) -> Iterator[re.Match[str]]:
    """Yield the matches of the lines that name a target, in order."""
    for _, row in find_lines_with(_HINTS, lines):
        if (match := _target(row.strip())) is not None:
            yield match


def _target(row: str) -> re.Match[str] | None:
    return _HEADER.fullmatch(row) or _STATISTICS.fullmatch(row)


def _names(match: re.Match[str]) -> set[str]:
    return {name for name in match.groups() if name}
