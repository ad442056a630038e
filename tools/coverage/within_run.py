"""Sections of the coverage table about statistics within a run."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from table import Row

#: Title of a section → its rows, given the title and the share of the usual repetitions.
SECTIONS: dict[str, Callable[[str, float], Iterator[Row]]] = {}
