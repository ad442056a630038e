"""Names for machines whose addresses change: pods and virtual machines that are new in every run."""

from __future__ import annotations

from collections.abc import Sequence
from fnmatch import fnmatchcase

#: Patterns of names and what they are replaced by, in the order in which they are tried.
Maps = Sequence[tuple[str, str]]


def parse_maps(texts: Sequence[str]) -> list[tuple[str, str]]:
    """Read maps such as ``10.0.*=node``; raise `ValueError` for another form."""
    maps = [text.partition("=") for text in texts]
    if wrong := [text for text, (pattern, _, name) in zip(texts, maps, strict=True) if not pattern or not name]:
        raise ValueError(f"--map {wrong[0]!r} is not PATTERN=NAME, for example '10.0.1.*=server'")
    return [(pattern, name) for pattern, _, name in maps]


def mapped(name: str | None, maps: Maps) -> str | None:
    """Return the name of the first pattern that matches, or else the name itself."""
    return next((to for pattern, to in maps if name and fnmatchcase(name, pattern)), name)


def machine_of(name: str | None, maps: Maps) -> str | None:
    """Return the mapped name of a machine; the pattern ``?`` names the machines that the logs do not name."""
    return mapped(name, maps) if name else dict(maps).get("?")
