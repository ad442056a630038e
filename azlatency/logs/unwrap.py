"""Text around every line of a log -> the log: mail quoting, log prefixes, indentation, escaped line ends, bold type.

Logs come as people pass them on: quoted in a mail (``> ``), through a runner that writes ``[STDOUT] ``, a time stamp or
the name of a container before each line, as one line of a database in which ``\\r\\n`` is spelled out. A prefix that
the lines share is found by comparing them with their digits masked, and taken away; lines keep their numbers. Nothing
is taken away on suspicion: `propose_unwrapped` proposes, and a proposal counts only where more logs are recognised in
it than in the text as it stands. A source that is claimed already costs a look at its first characters.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

from azlatency.logs.decode import SPELLED_END, Source

_QUOTE = re.compile(r"(?:[ \t]?>)+ ?")
# What a first line looks like that a runner, a container or a system log has labelled; only then is it compared on.
_LABEL = re.compile(
    r"\[[A-Za-z]{3,8}\] |\[?\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d|[\w.-]{1,40} {0,20}\| "
    r"|[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d "
)
# Two stars, not a line of them.
_BOLD = re.compile(r"(?<!\*)\*\*(?=[^*\s])")
_DIGITS = re.compile(r"\d+")
_BOUNDARY = re.compile(r"(?<=[ \t\]|>])(?=[^ \t])")
_FEWEST_QUOTED = 3
_FEWEST = 2
_LONGEST_PREFIX = 200
_MOST_BOUNDARIES = 12
_GROUP = 2
_LOOKED_AT = 65_536
_QUOTED_FROM = 2**20


class Unwrapped(NamedTuple):
    """A source without what stood around its lines; ``what`` says what that was, ``line`` where it stood first."""

    source: Source
    what: str
    line: int


def propose_unwrapped(source: Source, *, claimed: bool, surely: bool) -> Iterator[Unwrapped]:
    """What the source may be without its wrapping, the likeliest first; nothing for most sources.

    ``claimed``: a line of it belongs to a tool; ``surely``: one begins a log as it stands, so nothing stands before it.
    """
    text = source.text
    if text[:1] in (" ", "\t") and (found := _remove_indent(source)) is not None:
        yield found
    if (text.startswith(">") or text.find("\n>", 0, _QUOTED_FROM) >= 0) and (
        found := _remove_quoting(source, claimed)
    ) is not None:
        yield found
    if not claimed:
        yield from _restore_line_ends(source)
    if text.find("**", 0, _LOOKED_AT) >= 0 and _BOLD.search(text, 0, _LOOKED_AT):
        yield Unwrapped(replace(source, text=text.replace("**", "")), "the stars of bold type", 1)
    if not claimed or (not surely and _LABEL.match(text)):
        yield from _remove_prefix(source)


def take_head(source: Source, lines: int = 2000) -> Source:
    """The first lines of a source: enough to judge a proposal by."""
    if source.line_count <= lines:
        return source
    return replace(source, text="\n".join(source.text.split("\n", lines)[:lines]) + "\n")


def _shared(lines: list[str]) -> str:
    """What all lines begin with: what the first and the last in order of the alphabet begin with."""
    first, last = (min(lines), max(lines)) if lines else ("", "")
    end = next((i for i, (a, b) in enumerate(zip(first, last, strict=False)) if a != b), min(len(first), len(last)))
    return first[:end]


def _remove_indent(source: Source) -> Unwrapped | None:
    """Without the blanks that all lines begin with."""
    lines = source.text.split("\n")
    blanks = _shared([line for line in lines if line.strip()])
    blanks = blanks[: len(blanks) - len(blanks.lstrip(" \t"))]
    if not blanks:
        return None
    text = "\n".join(line.removeprefix(blanks) for line in lines)
    return Unwrapped(replace(source, text=text), f"{len(blanks)} blanks before each line", 1)


def _remove_quoting(source: Source, claimed: bool) -> Unwrapped | None:
    """Without the marks of quoting; beside other logs only where several lines in a row have them."""
    fewest = _FEWEST_QUOTED if claimed else 1
    lines = source.text.split("\n")
    quoted = [line.lstrip(" \t").startswith(">") for line in lines]
    first, start = 0, 0
    for index, is_quoted in enumerate([*quoted, False]):
        if is_quoted:
            continue
        if index - start >= fewest:
            first = first or start + 1
            for inside in range(start, index):
                found = _QUOTE.match(lines[inside])
                lines[inside] = lines[inside][found.end() if found else 0 :]
        start = index + 1
    return Unwrapped(replace(source, text="\n".join(lines)), "the marks of quoting '>'", first) if first else None


def _restore_line_ends(source: Source) -> Iterator[Unwrapped]:
    """With the line ends that a program spelled out, as pieces of one line."""
    text = source.text
    if text.count(r"\r\n") >= _FEWEST or text.count(r"\n") >= _FEWEST:
        # The pieces of a line keep its number; SQL doubles quotes.
        plain = text.replace(r"\r\n", SPELLED_END).replace(r"\n", SPELLED_END)
        plain = plain.replace(r"\t", "\t").replace("''", "'")
        yield Unwrapped(replace(source, text=plain), r"line ends spelled out as \r\n or \n", 1)


def _remove_prefix(source: Source) -> Iterator[Unwrapped]:
    """Without the prefix that most lines share but for its digits; each place where it may end, the nearest first."""
    lines = source.text.split("\n")
    masked = [_DIGITS.sub("0", line[:_LONGEST_PREFIX]).rstrip() + " " for line in lines if line.strip()]
    if len(masked) < _FEWEST:
        return
    head, count = Counter(line[:_GROUP] for line in masked).most_common(1)[0]
    if count < _FEWEST or 2 * count < len(masked):
        return
    shared = _shared([line for line in masked if line.startswith(head)])
    ends = [found.start() for found in _BOUNDARY.finditer(shared + ".")][:_MOST_BOUNDARIES]
    for end in ends:
        prefix = shared[:end]
        # A line that is nothing but the prefix has lost the blanks at its end.
        begins, blanks = re.escape(prefix.rstrip()).replace("0", r"\d+"), prefix[len(prefix.rstrip()) :]
        pattern = re.compile(f"{begins}(?:{re.escape(blanks)}|\\s*$)")
        stripped = [line[found.end() :] if (found := pattern.match(line)) else line for line in lines]
        first = next((i for i, line in enumerate(lines, start=1) if pattern.match(line)), 1)
        yield Unwrapped(replace(source, text="\n".join(stripped)), f"the prefix {prefix!r} of the lines", first)
