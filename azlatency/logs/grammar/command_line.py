"""The command line of a test: its words, its options, and the settings that tell two tests apart."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping, Sequence
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
    row: dict[str, Any], options: Mapping[str, Sequence[str]], switches: Mapping[str, Sequence[str]]
) -> None:
    """Set ``requested_count`` and ``settings`` of a run from its command line, unless its log states them.

    ``options`` and ``switches`` are those that the parser declares (`azlatency.logs.parsers.Parser`).
    """
    words = words_of(row["command"])
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
