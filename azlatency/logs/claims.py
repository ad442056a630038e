"""Claims: lines by which a parser recognises a log. All signatures of all parsers are searched in the whole text."""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache, partial
from typing import NamedTuple, overload

from azlatency.logs.decode import Source
from azlatency.logs.foreign import FOREIGN_TOOLS
from azlatency.logs.lines import ByShape
from azlatency.logs.parsers import Signature, load_parsers

_BLANKS_BETWEEN = 4
# Half the cost of the constructor.
_NEW = tuple.__new__
#: What `find_claims` needs of a signature: its hint, with the tool, whether it is weak, itself, and its full match.
_Entry = tuple[str, tuple[str, str], bool, Signature, Callable[[str], object]]


class Claim(NamedTuple):
    """A tool's claim that one of its logs starts at ``lines[position]``, which is the evidence.

    The tool may be one of `azlatency.logs.foreign`, which no parser reads.
    """

    position: int
    tool: str
    weak: bool = False

    @property
    def is_foreign(self) -> bool:
        """Whether no parser reads the tool."""
        return self.tool not in load_parsers()


class Claims(Sequence[Claim]):
    """Claims in ascending order of position, at 11 bytes each: a text may have millions of lines that begin a log."""

    def __init__(self, claims: Iterable[Claim] = ()) -> None:
        self._tools: list[str] = []
        self._positions, self._codes, self._weak = array("q"), array("H"), bytearray()
        for claim in claims:
            self.append(claim)

    def append(self, claim: Claim) -> None:
        """Add a claim at the end."""
        position, tool, weak = claim
        tools = self._tools
        if tool not in tools:
            tools.append(tool)
        self._positions.append(position)
        self._codes.append(tools.index(tool))
        self._weak.append(weak)

    def __len__(self) -> int:
        return len(self._positions)

    def __eq__(self, other: object) -> bool:
        return list(self) == list(other) if isinstance(other, Claims | list) else NotImplemented

    __hash__ = None  # type: ignore[assignment]

    @overload
    def __getitem__(self, index: int) -> Claim: ...
    @overload
    def __getitem__(self, index: slice) -> Claims: ...
    def __getitem__(self, index: int | slice) -> Claim | Claims:
        if isinstance(index, int):
            return Claim(self._positions[index], self._tools[self._codes[index]], bool(self._weak[index]))
        part = Claims()
        part._tools = self._tools
        part._positions, part._codes, part._weak = self._positions[index], self._codes[index], self._weak[index]
        return part

    def __iter__(self) -> Iterator[Claim]:
        return map(Claim, self._positions, map(self._tools.__getitem__, self._codes), map(bool, self._weak))

    def __delitem__(self, index: slice) -> None:
        del self._positions[index], self._codes[index], self._weak[index]

    def between(self, start: int, stop: int) -> Claims:
        """Return the claims on the lines ``start`` to ``stop`` (exclusive)."""
        if self._positions and start <= self._positions[0] and self._positions[-1] < stop:
            return self
        return self[bisect_left(self._positions, start) : bisect_left(self._positions, stop)]

    @property
    def tools(self) -> Sequence[str]:
        """The tools that have claims, and perhaps others."""
        return self._tools

    @property
    def tool(self) -> str | None:
        """The tool of all claims; None if there are several, or if no parser reads it."""
        tools = self._tools
        return tools[0] if len(tools) == 1 and tools[0] in load_parsers() else None

    def have_strong(self, start: int) -> bool:
        """Return whether a claim from an index on is not weak."""
        return self._weak.find(0, start) >= 0

    def have_weak(self, start: int) -> bool:
        """Return whether a claim from an index on is weak."""
        return self._weak.find(1, start) >= 0

    def weigh(self) -> tuple[int, int]:
        """Return the number of claims of known tools that start a log, and of all of them."""
        if self.tool is not None:
            return self._weak.count(0), len(self)
        known = load_parsers().keys()
        codes = {code for code, tool in enumerate(self._tools) if tool in known}
        weak = sum(weak for code, weak in zip(self._codes, self._weak, strict=True) if code in codes)
        total = sum(map(self._codes.count, codes))
        return total - weak, total


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
            of_line: list[Claim] = []
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
                of_line.append(claim)
            if not of_line:
                continue
            if len(of_line) > 1:  # the next line proves which tool it is
                of_line = sorted({claim for claim in of_line if proven in ("", claim.tool)})
            for claim in of_line:
                claims.append(claim)
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
    at = len(claims.between(0, tentative[0].position))
    last = list(claims[at:])
    owner: dict[int, str] = {}
    for claim in tentative:
        above = [*claims[max(at - 1, 0) : at], *(earlier for earlier in last if earlier.position < claim.position)]
        if above and above[-1].tool == claim.tool:
            owner[claim.position] = claim.tool
    del claims[at:]
    kept = {claim for claim in (*last, *tentative) if owner.get(claim.position, "") == claim.tool}
    kept |= {claim for claim in last if claim.position not in owner}
    for claim in sorted(kept):
        claims.append(claim)
