"""Claims: lines by which a parser recognises a log. All signatures of all parsers are searched in the whole text."""

from __future__ import annotations

import re
from functools import cache, lru_cache
from typing import NamedTuple

from azlatency.logs.decode import Source
from azlatency.logs.foreign import FOREIGN_TOOLS
from azlatency.logs.lines import Line, find_lines_with, unique_lines
from azlatency.logs.parsers import Signature, load_parsers

_BLANKS_BETWEEN = 4
_MOST_ALPHABETS = 512

#: Hint, pattern that finds the lines instead of the hint, and the signatures that share both.
_ByHint = list[tuple[str, re.Pattern[str] | None, list[tuple[str, Signature]]]]


class Claim(NamedTuple):
    """A tool's claim that one of its logs starts at ``lines[position]``; ``line`` is the evidence.

    The tool may be one of `azlatency.logs.foreign`, which no parser reads.
    """

    position: int
    tool: str
    line: Line
    weak: bool = False

    @property
    def is_foreign(self) -> bool:
        """Whether no parser reads the tool."""
        return self.tool in FOREIGN_TOOLS and self.tool not in load_parsers()


def find_claims(source: Source) -> list[Claim]:
    """Return every claim of every parser and every recognised line of a foreign tool, in order of line."""
    lines = source.lines
    text, positions = unique_lines(lines)
    claims: set[Claim] = set()
    proven: dict[int, str] = {}
    tentative: set[Claim] = set()
    # Searching for a character is much faster than for a literal, and half of the literals need one that is absent.
    absent = "".join([letter for letter in _letters() if letter not in text])
    for hint, rows, signatures in _possible(absent):
        if hint not in text:
            continue
        last: dict[str, tuple[int, str]] = {}
        for index in find_lines_with(rows or hint, text):
            position = positions[index]
            line = lines[position]
            stripped = line.text.strip()
            for tool, signature in signatures:
                if signature.weak and last.get(tool) == (index - 1, line.text[:3]):
                    # Consecutive lines with the same start are one claim, even if there are a million.
                    last[tool] = (index, line.text[:3])
                elif (
                    signature.pattern.fullmatch(stripped)
                    and (follows := _follows(source, position, signature)) is not False
                ):
                    claim = Claim(position, tool, line, signature.weak)
                    last[tool] = (index, line.text[:3])
                    if follows is None:
                        tentative.add(claim)
                        continue
                    claims.add(claim)
                    if signature.then is not None:
                        proven[position] = tool
    return _resolve(claims, tentative, proven)


@cache
def _signatures_by_hint() -> _ByHint:
    hints: dict[tuple[str, re.Pattern[str] | None], list[tuple[str, Signature]]] = {}
    for tool, parser in load_parsers().items():
        for signature in parser.signatures:
            hints.setdefault((signature.hint, signature.rows), []).append((tool, signature))
    for name in sorted(FOREIGN_TOOLS.keys() - load_parsers().keys()):
        for signature in FOREIGN_TOOLS[name].signatures:
            hints.setdefault((signature.hint, signature.rows), []).append((name, signature))
    return [(hint, rows, signatures) for (hint, rows), signatures in hints.items()]


@cache
def _letters() -> str:
    return "".join(sorted({letter for hint, _, _ in _signatures_by_hint() for letter in hint}))


@lru_cache(maxsize=_MOST_ALPHABETS)
def _possible(absent: str) -> _ByHint:
    """Return the signatures by hint, without the hints that contain a character of ``absent``."""
    return [entry for entry in _signatures_by_hint() if set(absent).isdisjoint(entry[0])]


def _follows(source: Source, index: int, signature: Signature) -> bool | None:
    """Return whether the next line that is not blank is the one required; None if the text ends before that line."""
    if signature.then is None:
        return True
    lines = source.lines
    below = next((line for line in lines[index + 1 : index + 1 + _BLANKS_BETWEEN] if line.text.strip()), None)
    if below is not None and signature.then.fullmatch(below.text.strip()):
        return True
    truncated = below is not None and below.number == source.line_count and not source.text.endswith("\n")
    return None if truncated or (below is None and index + _BLANKS_BETWEEN >= len(lines)) else False


def _resolve(claims: set[Claim], tentative: set[Claim], proven: dict[int, str]) -> list[Claim]:
    """Drop the claims on a line whose next line proves another tool.

    If the text ends before the next line, the line goes to the tool whose log continues from above.
    """
    owner = dict(proven)
    ordered = sorted(claims) if tentative else []
    for claim in tentative:
        above = [earlier for earlier in ordered if earlier.position < claim.position]
        if above and above[-1].tool == claim.tool:
            owner[claim.position] = claim.tool
            claims.add(claim)
    return sorted(claim for claim in claims if owner.get(claim.position, claim.tool) == claim.tool)
