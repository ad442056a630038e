"""Claims: lines by which a parser recognises a log. All signatures of all parsers are searched in the whole text."""

from __future__ import annotations

from functools import cache, lru_cache
from typing import NamedTuple

from azlatency.logs.decode import Source
from azlatency.logs.foreign import FOREIGN_TOOLS
from azlatency.logs.lines import Line, shape_of, unique_pieces
from azlatency.logs.parsers import Signature, load_parsers

_BLANKS_BETWEEN = 4
#: The lines of logs have few shapes; a text with ever new ones, or with long lines, must not fill the memory.
_MOST_SHAPES, _LONGEST_SHAPE = 4096, 500

#: A hint with the tools whose signatures share it.
_ByHint = tuple[str, list[tuple[str, Signature]]]


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
    claims: set[Claim] = set()
    proven: dict[int, str] = {}
    tentative: set[Claim] = set()
    above, index, begin, start = _Above(), -1, 0, ""
    for text, positions in unique_pieces(source.lines):
        # An empty text has no line.
        for shape, shown, position in zip(shape_of(text).split(b"\n"), text.split("\n"), positions, strict=False):
            index += 1
            if shown[:3] != start:
                start, begin = shown[:3], index
            if not (possible := _possible(shape) if len(shape) <= _LONGEST_SHAPE else _select(shape)):
                continue
            above.index, above.begin = index, begin
            for hint, signatures in possible:
                if hint not in shown:
                    continue
                stripped = shown.strip()
                for tool, signature in signatures:
                    if signature.weak and (hint, tool) in above.last and above.is_repeated(hint, tool):
                        continue
                    if not signature.pattern.fullmatch(stripped):
                        continue
                    if (follows := _follows(source, position, signature)) is False:
                        continue
                    above.keep(hint, tool)
                    claim = Claim(position, tool, source.lines[position], signature.weak)
                    if follows is None:
                        tentative.add(claim)
                        continue
                    claims.add(claim)
                    if signature.then is not None:
                        proven[position] = tool
    return _resolve(claims, tentative, proven)


class _Above:
    """The claims above a line: lines with the same start have one weak claim of a tool, even if there are a million.

    ``index`` is the line, ``begin`` the first of the lines above it that all have the same start, and ``last`` the line
    of the last claim of each hint and tool.
    """

    def __init__(self) -> None:
        self.index = self.begin = 0
        self.last: dict[tuple[str, str], int] = {}
        self._newest = self._before = -1

    def is_repeated(self, hint: str, tool: str) -> bool:
        """Return whether a line above has this claim, and the lines between have the same start and no new claim."""
        last = self.last[hint, tool]
        newest = self._before if self._newest == self.index else self._newest
        if last < self.begin or newest > last:
            return False
        self.last[hint, tool] = self.index
        return True

    def keep(self, hint: str, tool: str) -> None:
        """Remember a claim on this line."""
        self.last[hint, tool] = self.index
        if self._newest != self.index:
            self._before, self._newest = self._newest, self.index


@cache
def _signatures_by_shape() -> list[tuple[bytes, _ByHint]]:
    """Return the shape of each hint, with the hint and its signatures."""
    parsers = load_parsers()
    foreign = {name: FOREIGN_TOOLS[name].signatures for name in sorted(FOREIGN_TOOLS.keys() - parsers.keys())}
    hints: dict[str, list[tuple[str, Signature]]] = {}
    for tool, signatures in [*((name, parser.signatures) for name, parser in parsers.items()), *foreign.items()]:
        for signature in signatures:
            hints.setdefault(signature.hint, []).append((tool, signature))
    return [(shape_of(hint), (hint, signatures)) for hint, signatures in hints.items()]


def _select(shape: bytes) -> list[_ByHint]:
    """Return the signatures that a line of this shape may match: it contains the shape of their hint."""
    return [entry for hint, entry in _signatures_by_shape() if hint in shape]


_possible = lru_cache(maxsize=_MOST_SHAPES)(_select)


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
