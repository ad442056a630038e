"""Claims: lines by which a parser recognises a log. All signatures of all parsers are searched in the whole text."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable
from functools import cache, partial
from typing import NamedTuple

from azlatency.logs.parsers import Signature, load_parsers
from azlatency.logs.recognise.foreign import FOREIGN_TOOLS
from azlatency.logs.source.decode import Source
from azlatency.logs.source.lines import ByShape

_BLANKS_BETWEEN = 4
# Half the cost of the constructor.
_NEW = tuple.__new__
#: What `find_claims` needs of a signature: its hint, with the tool, whether it is weak, itself, and its full match.
_Entry = tuple[str, tuple[str, str], bool, Signature, Callable[[str], object]]


class Claim(NamedTuple):
    """A tool's claim that one of its logs starts at ``lines[position]``, which is the evidence.

    The tool may be one of `azlatency.logs.recognise.foreign`, which no parser reads.
    """

    position: int
    tool: str
    weak: bool = False

    @property
    def is_foreign(self) -> bool:
        """Whether no parser reads the tool."""
        return self.tool not in load_parsers()


class Claims(list[Claim]):
    """Claims in ascending order of position."""

    def between(self, start: int, stop: int) -> Claims:
        """Return the claims on the lines ``start`` to ``stop`` (exclusive)."""
        return Claims(self[bisect_left(self, (start,)) : bisect_left(self, (stop,))])

    @property
    def tools(self) -> set[str]:
        """The tools that have claims."""
        return {claim.tool for claim in self}

    @property
    def tool(self) -> str | None:
        """The tool of all claims; None if there are several, or if no parser reads it."""
        tools = self.tools
        return next(iter(tools)) if len(tools) == 1 and tools <= load_parsers().keys() else None

    def weigh(self) -> tuple[int, int]:
        """Return the number of claims of known tools that start a log, and of all of them."""
        known = [claim for claim in self if not claim.is_foreign]
        return sum(not claim.weak for claim in known), len(known)


def find_claims(source: Source) -> Claims:
    """Return every claim of every parser and every recognised line of a foreign tool, in order of line.

    Consecutive lines with the same literal have one weak claim of a tool, even if there are a million.
    """
    claims = Claims()
    tentative: list[Claim] = []
    last: dict[tuple[str, str], int] = {}  # position of the last line of each hint and tool that was claimed
    possible = _possible()
    for positions, texts, shapes in source.pieces:
        for index, entries in enumerate(map(possible.__getitem__, shapes)):
            if not entries:
                continue
            position, text, proven = positions[index], texts[index], ""
            above = positions[index - 1] if index else position
            line_claims: list[Claim] = []
            for hint, key, weak, signature, fullmatch in entries:
                if hint not in text:
                    continue
                if weak and last.get(key, -1) >= above:
                    last[key] = position
                    continue
                if not fullmatch(text.strip()):
                    continue
                claim = _NEW(Claim, (position, key[1], weak))
                if signature.then is not None:
                    follows = _follows(source, position, signature)
                    if follows is False:
                        continue
                    if follows is None:
                        last[key] = position
                        tentative.append(claim)
                        continue
                    proven = claim.tool
                last[key] = position
                line_claims.append(claim)
            if not line_claims:
                continue
            if len(line_claims) > 1:  # the next line proves which tool it is
                line_claims = sorted({claim for claim in line_claims if proven in ("", claim.tool)})
            claims += line_claims
    if tentative:
        _resolve(claims, tentative)
    return claims


def _entry(tool: str, signature: Signature) -> _Entry:
    return signature.hint, (signature.hint, tool), signature.weak, signature, signature.pattern.fullmatch


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


def _resolve(claims: Claims, tentative: list[Claim]) -> None:
    """Add the claims of lines whose next line the text does not show, if the log above is of the same tool.

    Other tools then lose their claims on such a line.
    """
    at = bisect_left(claims, (tentative[0].position,))
    last = claims[at:]
    owner: dict[int, str] = {}
    for claim in tentative:
        above = [*claims[max(at - 1, 0) : at], *(earlier for earlier in last if earlier.position < claim.position)]
        if above and above[-1].tool == claim.tool:
            owner[claim.position] = claim.tool
    del claims[at:]
    kept = {claim for claim in (*last, *tentative) if owner.get(claim.position, "") == claim.tool}
    kept |= {claim for claim in last if claim.position not in owner}
    claims += sorted(kept)
