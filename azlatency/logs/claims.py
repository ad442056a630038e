"""Claims: lines by which a parser recognises a log. All signatures of all parsers are searched in the whole text."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from typing import NamedTuple

from azlatency.logs.decode import Source
from azlatency.logs.foreign import FOREIGN_TOOLS
from azlatency.logs.lines import ByShape, Line, shape_of
from azlatency.logs.parsers import Signature, load_parsers

_BLANKS_BETWEEN = 4
#: What `find_claims` needs of a signature: its hint and tool, itself, and its full match.
_Entry = tuple[tuple[str, str], Signature, Callable[[str], object]]


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
        return self.tool not in load_parsers()


def find_claims(source: Source) -> list[Claim]:
    """Return every claim of every parser and every recognised line of a foreign tool, in order of line."""
    claims: list[Claim] = []
    proven: dict[int, str] = {}
    tentative: set[Claim] = set()
    above, possible, index = _Above(), _possible(), 0
    for text, positions in source.pieces:
        rows = text.split("\n") if positions else []
        shapes = shape_of(text).split(b"\n")
        above.enter(rows)
        for at in [at for at in range(len(rows)) if possible[shapes[at]]]:
            shown, above.index, found = rows[at], index + at, claims[:0]
            stripped = shown.strip()
            for key, signature, fullmatch in possible[shapes[at]]:
                hint, tool = key
                if hint not in shown or (signature.weak and key in above.last and above.is_repeated(key)):
                    continue
                if not fullmatch(stripped):
                    continue
                follows = signature.then is None or _follows(source, positions[at], signature)
                if follows is False:
                    continue
                above.keep(key)
                claim = Claim(positions[at], tool, source.lines[positions[at]], signature.weak)
                if follows is None:
                    tentative.add(claim)
                    continue
                found.append(claim)
                if signature.then is not None:
                    proven[positions[at]] = tool
            claims += sorted(set(found)) if len(found) > 1 else found
        index += len(rows)
    return _resolve(claims, tentative, proven) if tentative or proven else claims


class _Above:
    """The claims above a line: lines with the same start have one weak claim of a tool, even if there are a million.

    ``index`` is the line, and ``last`` the line of the last claim of each hint and tool.
    """

    def __init__(self) -> None:
        self.index = 0
        self.last: dict[tuple[str, str], int] = {}
        self._newest = self._before = -1
        self._first, self._rows, self._begins = 0, list[str](), list[int]()
        self._start, self._begin = "", 0

    def enter(self, rows: list[str]) -> None:
        """Go on to the next lines."""
        if self._rows:
            self._find_begins()
        self._first, self._rows, self._begins = self._first + len(self._rows), rows, []

    def _find_begins(self) -> list[int]:
        """Return, for each of the lines, the first of the lines above it that all have the same start."""
        if not self._begins:
            for index, row in enumerate(self._rows, self._first):
                if row[:3] != self._start:
                    self._start, self._begin = row[:3], index
                self._begins.append(self._begin)
        return self._begins

    def is_repeated(self, key: tuple[str, str]) -> bool:
        """Return whether a line above has this claim, and the lines between have the same start and no new claim."""
        last = self.last[key]
        newest = self._before if self._newest == self.index else self._newest
        if newest > last or last < self._find_begins()[self.index - self._first]:
            return False
        self.last[key] = self.index
        return True

    def keep(self, key: tuple[str, str]) -> None:
        """Remember a claim on this line."""
        self.last[key] = self.index
        if self._newest != self.index:
            self._before, self._newest = self._newest, self.index


def _entry(tool: str, signature: Signature) -> _Entry:
    return (signature.hint, tool), signature, signature.pattern.fullmatch


@cache
def _possible() -> ByShape[_Entry]:
    """Return the signatures that a line of a shape may match."""
    parsers = load_parsers()
    foreign = {name: FOREIGN_TOOLS[name].signatures for name in sorted(FOREIGN_TOOLS.keys() - parsers.keys())}
    tools = [*((name, parser.signatures) for name, parser in parsers.items()), *foreign.items()]
    return ByShape(
        (signature.hint, partial(_entry, tool, signature)) for tool, signatures in tools for signature in signatures
    )


def _follows(source: Source, index: int, signature: Signature) -> bool | None:
    """Return whether the next line that is not blank is the one required; None if the text ends before that line."""
    lines = source.lines
    assert signature.then is not None
    below = next((line for line in lines[index + 1 : index + 1 + _BLANKS_BETWEEN] if line.text.strip()), None)
    if below is not None and signature.then.fullmatch(below.text.strip()):
        return True
    truncated = below is not None and below.number == source.line_count and not source.text.endswith("\n")
    return None if truncated or (below is None and index + _BLANKS_BETWEEN >= len(lines)) else False


def _resolve(claims: list[Claim], tentative: set[Claim], proven: dict[int, str]) -> list[Claim]:
    """Drop the claims on a line whose next line proves another tool.

    If the text ends before the next line, the line goes to the tool whose log continues from above.
    """
    owner = dict(proven)
    kept = list(claims)
    for claim in tentative:
        above = [earlier for earlier in claims if earlier.position < claim.position]
        if above and above[-1].tool == claim.tool:
            owner[claim.position] = claim.tool
            kept.append(claim)
    return sorted(claim for claim in set(kept) if owner.get(claim.position, claim.tool) == claim.tool)
