r"""Logs of LISA, Microsoft's test framework for Linux: each line of output stands after the name of its command.

::

    2024-08-22 08:44:32.123[14057][DEBUG] lisa.env[0].node[1].cmd[6603] cmd: ['iperf3', '-c', '10.0.0.4'], cwd: None, …
    2024-08-22 08:44:32.456[14057][INFO] lisa.env[0].node[1].cmd[6603].stdout Connecting to host 10.0.0.4, port 5201
    2024-08-22 08:44:42.789[14057][DEBUG] lisa.env[0].node[1].cmd[6603] execution time: 10.3 sec, exit code: 0

Commands run at the same time, on one node or on several, and their lines alternate. Of commands that overlap, the one
with the most lines is unwrapped; the lines of the others stay as they are, and are returned without their labels in
layers, in each of which no commands overlap. The line with a command becomes a prompt with the node as its host, so
that a log has its command and the machine that ran it.
"""

from __future__ import annotations

import ast
import re
import shlex
from bisect import bisect_left, insort
from collections.abc import Mapping
from typing import NamedTuple, TypeAlias

HINT = ".cmd["
#: Logs beyond 64 MiB are not unwrapped: which commands overlap is only known of a whole log.
LARGEST = 2**26
#: Of more commands that overlap at one line, the last ones are not read.
_MOST_LAYERS = 8
_LINE = re.compile(
    r".{0,300}?\bnode\[(?P<node>\d{1,4})\]\.cmd\[(?P<command>\d{1,12})\]"
    r"(?:\.std(?:out|err)(?: (?P<output>.*))?| cmd: (?P<words>\[.{0,2000}?\]), cwd: .*| execution time: (?P<end>.*))"
)


#: Node and number of a command, and how many commands above had that number.
_Key: TypeAlias = tuple[str, str, int]


class _Stream(NamedTuple):
    """The output of one command: its first and last line, and its number of lines."""

    first: int
    last: int
    size: int


def without_labels(text: str) -> str:
    """Return a log of LISA in which the commands that do not overlap are prompts, and their output has no labels."""
    return separate(text)[0]


def separate(text: str) -> tuple[str, list[dict[int, str]]]:
    """Return what `without_labels` returns, and the lines of the other commands by number, in a few layers."""
    lines = text.split("\n")
    matches = {number: match for number, line in enumerate(lines) if HINT in line and (match := _LINE.fullmatch(line))}
    keys = _keys(matches)
    streams: dict[_Key, _Stream] = {}
    for number, match in matches.items():
        if match["output"] is not None or match[0].endswith((".stdout", ".stderr")):
            stream = streams.get(keys[number], _Stream(number, number, 0))
            streams[keys[number]] = _Stream(stream.first, number, stream.size + 1)
    layers: list[dict[int, str]] = []
    while streams and len(layers) <= _MOST_LAYERS:
        chosen = _without_overlap(streams)
        layers.append({number: _plain(match) for number, match in matches.items() if keys[number] in chosen})
        streams = {key: stream for key, stream in streams.items() if key not in chosen}
    for number, line in (layers[0] if layers else {}).items():
        lines[number] = line
    return "\n".join(lines), [{number + 1: line for number, line in layer.items()} for layer in layers[1:]]


def _plain(match: re.Match[str]) -> str:
    """Return a line without its label; a prompt for the lines with a command or its end."""
    prompt = f"lisa@node{match['node']}:~$ "
    if match["words"] is not None:
        return prompt + _command(match["words"])
    return prompt if match["end"] is not None else match["output"] or ""


def _keys(matches: Mapping[int, re.Match[str]]) -> dict[int, _Key]:
    """Return the command of each line: logs that were joined have the same number for several commands."""
    begun: dict[tuple[str, str], int] = {}
    with_output: set[_Key] = set()
    keys = {}
    for number, match in matches.items():
        name = match["node"], match["command"]
        key = *name, begun.get(name, 0)
        if match["words"] is not None and key in with_output:
            begun[name] = key[2] + 1
            key = *name, begun[name]
        elif match["words"] is None and match["end"] is None:
            with_output.add(key)
        keys[number] = key
    return keys


def _without_overlap(streams: Mapping[_Key, _Stream]) -> set[_Key]:
    """Return the commands that keep their output: of those that overlap, the one with the most lines."""
    chosen: set[_Key] = set()
    taken: list[tuple[int, int]] = []
    for key, stream in sorted(streams.items(), key=lambda item: (-item[1].size, item[1].first)):
        place = bisect_left(taken, (stream.last + 1, 0))
        if place == 0 or taken[place - 1][1] < stream.first:
            insort(taken, (stream.first, stream.last))
            chosen.add(key)
    return chosen


def _command(words: str) -> str:
    """Return the command line of a list of words as Python prints it; what a shell was told if it is one."""
    try:
        parts = ast.literal_eval(words)
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return ""
    if not isinstance(parts, list) or not all(isinstance(part, str) for part in parts):
        return ""
    if parts[-3:-1] == ["sh", "-c"]:
        return str(parts[-1]).replace("\n", " ")
    return shlex.join(parts).replace("\n", " ")
