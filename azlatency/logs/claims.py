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
    """Return every claim of every parser and every recognised line of a foreign tool, in order of line.

    Lines with the same start have one weak claim of a tool, even if there are a million.
    """
    claims: list[Claim] = []
    proven: dict[int, str] = {}
    tentative: set[Claim] = set()
    last: dict[tuple[str, str], int] = {}  # position of the last claim of each hint and tool
    newest, start, begin = -1, "", 0
    for text, positions in source.pieces:
        possible = map(_possible().__getitem__, shape_of(text).split(b"\n"))
        for position, shown, entries in zip(positions, text.split("\n"), possible, strict=False):
            if shown[:3] != start:
                start, begin = shown[:3], position
            if not entries:
                continue
            stripped, since, before = shown.strip(), max(begin, newest), len(claims)
            for key, signature, fullmatch in entries:
                if key[0] not in shown:
                    continue
                if signature.weak and last.get(key, -1) >= since:
                    last[key] = position
                    continue
                if not fullmatch(stripped):
                    continue
                follows = signature.then is None or _follows(source, position, signature)
                if follows is False:
                    continue
                last[key] = newest = position
                claim = Claim(position, key[1], source.lines[position], signature.weak)
                if follows is None:
                    tentative.add(claim)
                    continue
                claims.append(claim)
                if signature.then is not None:
                    proven[position] = claim.tool
            if len(claims) > before + 1:
                claims[before:] = sorted(set(claims[before:]))
    return _resolve(claims, tentative, proven) if tentative or proven else claims


def _entry(tool: str, signature: Signature) -> _Entry:
    return (signature.hint, tool), signature, signature.pattern.fullmatch


@cache
def _possible() -> ByShape[_Entry]:
    """Return the signatures that a line of a shape may match."""
    parsers = load_parsers()
    foreign = {name: FOREIGN_TOOLS[name].signatures for name in sorted(FOREIGN_TOOLS.keys() - parsers.keys())}
    tools = [*((name, parser.signatures) for name, parser in parsers.items()), *foreign.items()]
    return ByShape(
        (signature.hint, signature.shape, partial(_entry, tool, signature))
        for tool, signatures in tools
        for signature in signatures
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
