"""Long names of hosts and paths, short enough for a figure and never two names made one.

The text alternative of a figure and the tables have every name whole; a caption says that names were shortened.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from azlatency.studies.path import Path, route

_ARROW = route("", "")
#: Letters of the longest word that stays as it is: an IPv4 address with a port does.
_LONGEST = 26
_WORD = re.compile(r"\S+")
#: A host with its domain, and what may follow it in a title.
_HOST = re.compile(r"([A-Za-z][\w-]*)\.[\w.-]+?([,;:)]*)")
_shortened: ContextVar[dict[str, str] | None] = ContextVar("shortened", default=None)


@contextmanager
def one_figure() -> Iterator[dict[str, str]]:
    """Names that are shortened inside belong to one figure; gives short name -> name."""
    names: dict[str, str] = {}
    token = _shortened.set(names)
    try:
        yield names
    finally:
        _shortened.reset(token)


def short(text: str | Path, letters: int | None = None) -> str:
    """The text with long words cut: a host loses its domain, then its middle; all of it at most ``letters`` long."""
    text = _WORD.sub(lambda found: _word(found[0]), str(text))
    if letters is None or len(text) <= letters:
        return text
    ends = text.split(_ARROW)
    room = (letters - len(_ARROW) * (len(ends) - 1)) // len(ends)
    return _known(text, *(_ARROW.join(_middle(end, name) for end in ends) for name in range(room, len(text), 4)))


def _word(word: str) -> str:
    """The word, cut where it is long. What was cut has a … in it: it looks like no other whole name."""
    if len(word) <= _LONGEST:
        return word
    host = _HOST.fullmatch(word)
    name, after = (host[1], host[2]) if host else (word, "")
    cuts = [_middle(name, room) + after for room in range(_LONGEST, len(name), 4)]
    bare = [f"{name}…{after}"] if host else []
    return _known(word, *(bare + cuts if len(name) < _LONGEST else cuts + bare))


def _middle(name: str, room: int) -> str:
    """At most ``room`` letters: the begin and the end, in which names of a cluster differ."""
    if len(name) <= room:
        return name
    end = (room - 1) * 2 // 5
    return f"{name[: room - 1 - end].rstrip()}…{name[len(name) - end :].lstrip()}"


def _known(whole: str, *shorter: str) -> str:
    """Return the first of ``shorter`` that is unique in this figure, else the whole name."""
    taken = _shortened.get()
    if taken is None:
        taken = {}
    for name in shorter:
        if taken.setdefault(name, whole) == whole:
            return name
    return whole
