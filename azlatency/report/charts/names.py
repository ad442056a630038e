"""Shorten long names of hosts and paths for a figure, and keep distinct names distinct.

The text alternative and the tables have the full names; the caption says that names were shortened.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from azlatency.studies.path import Path, route

_ARROW = route("", "")
#: Longest word that is not shortened, in characters; an IPv4 address with a port fits.
_LONGEST = 26
_WORD = re.compile(r"\S+")
#: A host with its domain, and what may follow it in a title.
_HOST = re.compile(r"([A-Za-z][\w-]*)\.[\w.-]+?([,;:)]*)")
_shortened: ContextVar[dict[str, str] | None] = ContextVar("shortened", default=None)


@contextmanager
def one_figure() -> Iterator[dict[str, str]]:
    """Collect the names that one figure shortens: short name -> name."""
    names: dict[str, str] = {}
    token = _shortened.set(names)
    try:
        yield names
    finally:
        _shortened.reset(token)


def short(text: str | Path, letters: int | None = None) -> str:
    """Shorten long words: a host loses its domain, then its middle. The result has at most ``letters`` characters."""
    text = _WORD.sub(lambda match: _word(match[0]), str(text))
    if letters is None or len(text) <= letters:
        return text
    ends = text.split(_ARROW)
    room = (letters - len(_ARROW) * (len(ends) - 1)) // len(ends)
    return _unique(text, *(_ARROW.join(_middle(end, name) for end in ends) for name in range(room, len(text), 4)))


def _word(word: str) -> str:
    """Shorten a long word; a … marks the cut, so that it cannot be mistaken for a whole name."""
    if len(word) <= _LONGEST:
        return word
    host = _HOST.fullmatch(word)
    name, after = (host[1], host[2]) if host else (word, "")
    cuts = [_middle(name, room) + after for room in range(_LONGEST, len(name), 4)]
    bare = [f"{name}…{after}"] if host else []
    return _unique(word, *(bare + cuts if len(name) < _LONGEST else cuts + bare))


def _middle(name: str, room: int) -> str:
    """Keep at most ``room`` characters from the start and the end, where names of a cluster differ."""
    if len(name) <= room:
        return name
    end = (room - 1) * 2 // 5
    return f"{name[: room - 1 - end].rstrip()}…{name[len(name) - end :].lstrip()}"


def _unique(whole: str, *shorter: str) -> str:
    """Return the first of ``shorter`` that is unique in this figure, else the whole name."""
    taken = _shortened.get()
    if taken is None:
        taken = {}
    for name in shorter:
        if taken.setdefault(name, whole) == whole:
            return name
    return whole
