"""The command line of a test: its words, its options, and the settings that tell two tests apart."""

from __future__ import annotations

import re
import shlex
from collections.abc import Collection, Mapping, Sequence
from typing import Any

#: At most this many characters of the value of an option are kept.
_LONGEST = 40
#: The value of a setting that differs between the runs of a log, of which it is not known which run has which.
UNKNOWN_SETTING = "unknown"


def words_of(command: str) -> list[str]:
    """Return the words of a command line, split as a shell does."""
    try:
        return shlex.split(command)
    except ValueError:  # unbalanced quotes
        return command.split()


#: Programs that run another one, with those of their options that take a value.
_WRAPPERS: dict[str, frozenset[str]] = {
    **dict.fromkeys(
        ("sudo", "time", "nohup", "exec", "env", "stdbuf", "nice", "chrt", "timeout", "taskset"), frozenset()
    ),
    **dict.fromkeys(("numactl", "cgexec", "nsenter", "strace", "perf", "script"), frozenset()),
    "ssh": frozenset({"-p", "-i", "-l", "-o", "-J", "-F", "-L", "-R", "-D", "-b", "-c", "-E"}),
    **dict.fromkeys(("kubectl", "k", "oc"), frozenset({"-n", "-c", "--namespace", "--container", "--context"})),
    **dict.fromkeys(("docker", "podman", "nerdctl"), frozenset({"-u", "-w", "-e", "--user", "--workdir", "--env"})),
    "ip": frozenset({"-n"}),
}
#: Wrappers that run the program on another machine or in a container or name space, and the words before its name.
_ELSEWHERE = {
    "ssh": (), "ip": ("netns", "exec"),
    **dict.fromkeys(("kubectl", "k", "oc", "docker", "podman", "nerdctl"), ("exec",)),
}  # fmt: skip
_LOCAL = ("ip", "docker", "podman", "nerdctl")
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w{0,60}=.*")


def program_name(word: str) -> str:
    """Return the name of a program without its folder and ``.exe``."""
    return word.rsplit("/", 1)[-1].rsplit("\\", 1)[-1].removesuffix(".exe")


def runs_program(command: str, programs: frozenset[str]) -> bool:
    """Return whether a command line runs one of the programs, after assignments and wrappers such as ``ssh HOST``."""
    names = [program_name(word) for word in command.split() if not _ASSIGNMENT.fullmatch(word)]
    return bool(names) and (names[0] in programs or (names[0] in _WRAPPERS and not programs.isdisjoint(names)))


def arguments_of(words: Sequence[str], programs: Collection[str]) -> Sequence[str]:
    """Return the words from the program on, without its wrappers; all words if it is not among them."""
    start = words.index("--") + 1 if "--" in words else 0
    for first in dict.fromkeys((start, 0)):
        for index, word in enumerate(words[first:], first):
            if program_name(word) in programs:
                return words[index:]
    return words


def host_of(command: str, here: str | None) -> str | None:
    """Return where a command runs its program: the host of ssh, the pod, the container or the name space, else `here`.

    ``here`` is the host of the prompt. A container or a name space of a known host is that host.
    """
    words = words_of(command)
    names = [program_name(word) for word in words]
    for index, name in enumerate(names):
        if name not in _ELSEWHERE:
            if name not in _WRAPPERS and not _ASSIGNMENT.fullmatch(name):
                return here
            continue
        rest = iter(words[index + 1 :])
        before = list(_ELSEWHERE[name])
        for word in rest:
            if word in _WRAPPERS[name]:
                next(rest, None)
            elif before and word == before[0]:
                del before[0]
            elif not word.startswith("-"):
                is_here = bool(before) or (here is not None and name in _LOCAL)
                return here if is_here else word.rpartition("@")[2].removeprefix("pod/")
    return here


def option(words: Sequence[str], *names: str) -> str | None:
    """Return the value of a command-line option.

    Parameters
    ----------
    words : sequence of str
        The words of the command line.
    *names : str
        Spellings of the option, for example ``"-t", "--time"``.

    Returns
    -------
    str or None
        The value in ``-t 10``, ``-t10``, ``--time=10`` or ``--time 10``; None if the option is absent.
    """
    for index, word in enumerate(words):
        for name in names:
            if word == name and index + 1 < len(words):
                return words[index + 1]
            if name.startswith("--") and word.startswith(name + "="):
                return word[len(name) + 1 :]
            if not name.startswith("--") and word.startswith(name) and word[len(name) :].isdigit():
                return word[len(name) :]
    return None


def size_of(token: str | None, *, lower: int = 1024) -> int | None:
    """Return a size such as ``10K`` in bytes, with binary prefixes; ``lower`` is the base of those in lower case."""
    match = re.fullmatch(r"(\d{1,15})([kmgtKMGT]?)", token or "")
    if match is None:
        return None
    base = lower if match[2].islower() else 1024
    return int(match[1]) * base ** " KMGT".index(match[2].upper() or " ")


def describe_settings(
    row: dict[str, Any],
    programs: Collection[str],
    options: Mapping[str, Sequence[str]],
    switches: Mapping[str, Sequence[str]],
) -> None:
    """Set ``requested_count`` and ``settings`` of a run from its command line, unless its log states them.

    ``programs``, ``options`` and ``switches`` are those that the parser declares (`azlatency.logs.parsers.Parser`).
    """
    words = arguments_of(words_of(row["command"]), programs)
    for spelling in options.get("requested_count", ()) if row.get("requested_count") is None else ():
        if re.fullmatch(r"[1-9]\d{0,11}", count := option(words, spelling) or ""):
            row["requested_count"] = int(count)
    stated = {name: "" for name, spellings in switches.items() if not set(spellings).isdisjoint(words)}
    for name, spellings in options.items():
        if name != "requested_count" and (value := option(words, *spellings)) is not None:
            stated[name] = value[:_LONGEST]
    row["settings"] = settings_text(stated | settings_of(row.get("settings")))


def settings_text(settings: Mapping[str, str]) -> str:
    """Return settings, whose names have no blanks, as the column ``runs.settings`` contains them."""
    parts = (f"{name} {value.replace(';', ',')}".strip() for name, value in sorted(settings.items()))
    return "; ".join(parts)


def settings_of(text: str | None) -> dict[str, str]:
    """Return the settings in a text of the column ``runs.settings``."""
    parts = (part.partition(" ") for part in (text or "").split("; ") if part)
    return {name: value for name, _, value in parts}
