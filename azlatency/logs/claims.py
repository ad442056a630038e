"""Which parser claims which line: every signature of every parser is searched for in the whole text of a source."""

from __future__ import annotations

from functools import cache, lru_cache
from typing import NamedTuple

from azlatency.logs.decode import Source
from azlatency.logs.lines import Line, find_lines_with, unique_lines
from azlatency.logs.parsers import Signature, load_parsers

_BLANKS_BETWEEN = 4
_MOST_ALPHABETS = 512


class Claim(NamedTuple):
    """A tool's claim that a log of its begins at ``lines[position]``, with the line that convinced it."""

    position: int
    tool: str
    line: Line
    weak: bool = False


@cache
def _signatures_by_hint() -> dict[str, list[tuple[str, Signature]]]:
    """All signatures of all parsers, by the literal that is searched for."""
    hints: dict[str, list[tuple[str, Signature]]] = {}
    for tool, parser in load_parsers().items():
        for signature in parser.signatures:
            hints.setdefault(signature.hint, []).append((tool, signature))
    return hints


@cache
def _letters() -> str:
    """All characters of the literals."""
    return "".join(sorted(set("".join(_signatures_by_hint()))))


@lru_cache(maxsize=_MOST_ALPHABETS)
def _possible(absent: str) -> list[tuple[str, list[tuple[str, Signature]]]]:
    """The signatures by their literal, without those that need a character of ``absent``."""
    return [found for found in _signatures_by_hint().items() if set(absent).isdisjoint(found[0])]


def find_claims(source: Source) -> list[Claim]:
    """Every claim of every parser on the source, in order of line."""
    lines = source.lines
    joined, positions = unique_lines(lines)
    found: set[Claim] = set()
    proven: dict[int, str] = {}
    tentative: set[Claim] = set()
    # A character costs a fraction of a literal, and half of the literals need one that the text does not have.
    absent = "".join([letter for letter in _letters() if letter not in joined])
    for hint, signatures in _possible(absent):
        if hint not in joined:
            continue
        last: dict[str, tuple[int, str]] = {}
        for index in find_lines_with(hint, joined):
            position = positions[index]
            line = lines[position]
            text = line.text.strip()
            for tool, signature in signatures:
                if signature.weak and last.get(tool) == (index - 1, line.text[:3]):
                    # A million replies are one claim: the line goes on where the one above began alike.
                    last[tool] = (index, line.text[:3])
                elif (
                    signature.pattern.fullmatch(text)
                    and (follows := _follows(source, position, signature)) is not False
                ):
                    claim = Claim(position, tool, line, signature.weak)
                    last[tool] = (index, line.text[:3])
                    if follows is None:
                        tentative.add(claim)
                        continue
                    found.add(claim)
                    if signature.then is not None:
                        proven[position] = tool
    return _of_one_tool(found, tentative, proven)


def _follows(source: Source, index: int, signature: Signature) -> bool | None:
    """Whether the next line that is not blank is as the signature asks; None where the text ends before it is whole."""
    if signature.then is None:
        return True
    lines = source.lines
    below = next((line for line in lines[index + 1 : index + 1 + _BLANKS_BETWEEN] if line.text.strip()), None)
    if below is not None and signature.then.fullmatch(below.text.strip()):
        return True
    cut = below is not None and below.number == source.line_count and not source.text.endswith("\n")
    return None if cut or (below is None and index + _BLANKS_BETWEEN >= len(lines)) else False


def _of_one_tool(found: set[Claim], tentative: set[Claim], proven: dict[int, str]) -> list[Claim]:
    """All claims in order, without those that the line below gives to another tool.

    Where the text ends before that line, the tool whose log goes on from above has it.
    """
    owner = dict(proven)
    ordered = sorted(found) if tentative else []
    for claim in tentative:
        above = [each for each in ordered if each.position < claim.position]
        if above and above[-1].tool == claim.tool:
            owner[claim.position] = claim.tool
            found.add(claim)
    return sorted(claim for claim in found if owner.get(claim.position, claim.tool) == claim.tool)
