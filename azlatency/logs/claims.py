"""Claims: lines by which a parser recognises a log. All signatures of all parsers are searched in the whole text."""

from __future__ import annotations

from functools import cache, lru_cache
from typing import NamedTuple

from azlatency.logs.decode import Source
from azlatency.logs.foreign import FOREIGN_TOOLS
from azlatency.logs.lines import Line, shape_of, unique_lines
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
    lines = source.lines
    text, positions = unique_lines(lines)
    claims: set[Claim] = set()
    proven: dict[int, str] = {}
    tentative: set[Claim] = set()
    last: dict[tuple[str, str], tuple[int, str]] = {}
    for index, (shape, shown) in enumerate(zip(shape_of(text).split(b"\n"), text.split("\n"), strict=True)):
        for hint, signatures in _possible(shape) if len(shape) <= _LONGEST_SHAPE else _select(shape):
            if hint not in shown:
                continue
            stripped = shown.strip()
            for tool, signature in signatures:
                if signature.weak and last.get((hint, tool)) == (index - 1, shown[:3]):
                    # Consecutive lines with the same start are one claim, even if there are a million.
                    last[hint, tool] = (index, shown[:3])
                elif (
                    signature.pattern.fullmatch(stripped)
                    and (follows := _follows(source, positions[index], signature)) is not False
                ):
                    position = positions[index]
                    claim = Claim(position, tool, lines[position], signature.weak)
                    last[hint, tool] = (index, shown[:3])
                    if follows is None:
                        tentative.add(claim)
                        continue
                    claims.add(claim)
                    if signature.then is not None:
                        proven[position] = tool
    return _resolve(claims, tentative, proven)


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
