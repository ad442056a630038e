"""Notes files, terminal sessions and plain logs -> single logs, each with the headings and the prompt above it.

A claim (see `azlatency.logs.parsers`) says where a log begins. It ends before the next claim, Markdown fence, heading,
prompt line or the end of the text. What stands around the logs of a notes file is prose; in a plain log file it is
unknown.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import pairwise

from azlatency.logs.claims import Claim
from azlatency.logs.decode import Source
from azlatency.logs.grammar import BLANK, KNOWN, PROSE, UNKNOWN, UNMARKED, Line, LineAccounting
from azlatency.logs.lines import find_lines_with, texts_by_number, unique_lines
from azlatency.logs.parsers import Log, Parser, load_parsers

_FENCE = re.compile(r"\s{0,3}(```+|~~~+)[^`]{0,80}")
_HEADING = re.compile(r"(#{1,6})\s+(\S.{0,300}?)\s*#*")
# Prompts that name a user, a machine or a drive; whatever follows is a command.
_PROMPT = re.compile(
    r"(?:\([\w.-]{1,40}\)\s?)?"
    r"(?:\[?(?P<user>[\w.-]{1,64})@(?P<host>[\w.-]{1,64})(?::|\s)[^#$%>]{0,200}[#$%]"
    r"|[\w.-]{1,64}:[~/][^#$%>]{0,200}[#$%](?=\s)"
    r"|(?:PS )?[A-Za-z]:\\[^>]{0,200}>)"
    r"\s*(?P<command>.{0,2000})"
)
# A bare "# " or "$ " begins comments and headings as well; only the command of a known tool makes it a prompt.
_BARE_PROMPT = re.compile(r"(?:[#$%>]\s+|\$(?=[A-Z_]{1,40}=))(?P<command>\S.{0,2000})")
# Without a character of `_may_prompt`, a line is neither: many lines of progress have a per cent sign.
_PROMPT_BEGINS = ("#", "$", "%", ">")
_SESSION = re.compile(r'Script (?:started|done) on [^"]{0,100}(?:"(?P<command>[^"]{0,2000})".{0,500})?|logout|exit')
_MARKDOWN_ENDINGS = (".md", ".markdown", ".mdx")
_SENTENCES_IN_NOTES = 3
_WORDS_IN_A_SENTENCE = 6
_WORD = re.compile(r"[A-Za-zÀ-ÿ][a-zà-ÿ'’-]*[,.:;?!]?")


@dataclass(frozen=True, slots=True)
class _Block:
    """Lines ``start`` to ``stop`` (exclusive) between two boundaries, and what stood above them."""

    start: int
    stop: int
    headings: tuple[str, ...] = ()
    command: str | None = None
    host: str | None = None
    loose: bool = False
    """In the running text of a Markdown file: what no rule matches is prose."""


@dataclass
class Segments:
    """The logs of a source, and the lines that are boundaries, not log."""

    logs: list[Log] = field(default_factory=list)
    loose: list[bool] = field(default_factory=list)
    prose_lines: list[int] = field(default_factory=list)
    conflicts: list[list[Claim]] = field(default_factory=list)


def segment(source: Source, claims: Sequence[Claim]) -> Segments:
    """Segments the source into logs at its claims. Lines that two tools claim become conflicts, not logs."""
    lines = source.lines
    result = Segments()
    claims = _without_conflicts(claims, result)
    for block in _blocks(source, lines, result):
        inside = [claim for claim in claims if block.start <= claim.position < block.stop]
        inside = _without_weak(inside)
        starts = [_with_opening_brace(claim.position, block, lines) for claim in inside]
        if starts and not block.loose:
            starts[0] = block.start
        for claim, (start, stop) in zip(inside, pairwise([*starts, block.stop]), strict=True):
            command = block.command if _runs(load_parsers()[claim.tool], block.command) else None
            host = block.host if command else None
            log = Log(source, claim.tool, lines[start:stop], block.headings, command, host)
            result.logs.append(log)
            result.loose.append(block.loose)
    return result


def classify_remaining_lines(source: Source, accounting: LineAccounting, done: Segments) -> list[int]:
    """After parsing: give every line its final mark and return the numbers of those that are unknown.

    Boundaries are prose. In a notes file so is what stands outside the logs, and so are unmatched lines that trail a
    log behind a blank line; in a plain log file such lines are unknown, since a changed tool version must show.
    """
    for number in done.prose_lines:
        accounting.mark(number, PROSE)
    outside = set(accounting.numbers(UNMARKED))
    for number, text in texts_by_number(source.lines, outside).items():
        accounting.mark(number, UNKNOWN if text.strip() else BLANK)
    unknown = accounting.numbers(UNKNOWN)
    if not unknown or not _is_notes(source, done):
        return unknown
    around = {number for number in outside if accounting.of(number) == UNKNOWN}
    for log, loose in zip(done.logs, done.loose, strict=True):
        around.update(_trailing(log, loose, accounting))
    for number in around:
        accounting.demote(number)
    return [number for number in unknown if number not in around]


def _without_conflicts(claims: Sequence[Claim], result: Segments) -> list[Claim]:
    by_line: dict[int, list[Claim]] = {}
    for claim in claims:
        by_line.setdefault(claim.position, []).append(claim)
    kept = []
    for same in by_line.values():
        opening = [claim for claim in same if not claim.weak] or same
        if len({claim.tool for claim in opening}) > 1:
            result.conflicts.append(opening)
        else:
            kept.append(opening[0])
    return kept


def _without_weak(claims: list[Claim]) -> list[Claim]:
    """Drop weak claims that stand inside a log of the same tool."""
    kept: list[Claim] = []
    for claim in claims:
        if not (claim.weak and kept and kept[-1].tool == claim.tool):
            kept.append(claim)
    return kept


def _with_opening_brace(index: int, block: _Block, lines: Sequence[Line]) -> int:
    """A JSON document is recognised by its first key; the brace above belongs to it."""
    above = index - 1
    return above if above >= block.start and lines[above].text.strip() == "{" else index


def _runs(parser: Parser, command: str | None) -> bool:
    """Whether the command line runs the parser's tool, wrappers such as sudo and taskset allowed."""
    if command is None:
        return False
    words = {word.rsplit("/", 1)[-1].rsplit("\\", 1)[-1].removesuffix(".exe") for word in command.split()}
    return not words.isdisjoint(parser.commands)


def _blocks(source: Source, lines: Sequence[Line], result: Segments) -> list[_Block]:
    """The stretches between fences, headings and prompt lines, with their context."""
    joined, positions = unique_lines(lines)
    markdown = "```" in joined or "~~~" in joined or source.path.lower().endswith(_MARKDOWN_ENDINGS)
    hints = ["```", "~~~", "#", "$", ">", "^C", "Script "]
    if _may_prompt(joined) or "\n%" in joined:
        hints.append("%")
    candidates = {positions[index] for hint in hints for index in find_lines_with(hint, joined)}
    commands = _commands()
    blocks: list[_Block] = []
    headings: list[tuple[int, str]] = []
    fenced = False
    start, command, host = 0, None, None

    def close(stop: int) -> None:
        context = tuple(text for _, text in headings)
        if stop > start:
            blocks.append(_Block(start, stop, context, command, host, loose=markdown and not fenced))

    for index in sorted(candidates):
        text = lines[index].text.strip()
        if markdown and _FENCE.fullmatch(text):
            close(index)
            fenced = not fenced
            command = host = None
        elif markdown and not fenced and (found := _HEADING.fullmatch(text)):
            close(index)
            level = len(found[1])
            headings = [(depth, title) for depth, title in headings if depth < level] + [(level, found[2])]
            command = host = None
        elif (prompt := _prompt(text, commands)) is not None:
            close(index)
            command, host = prompt
        elif session := _SESSION.fullmatch(text):
            close(index)
            command, host = session["command"], None
        elif text == "^C" and _before_json(index, lines):
            close(index)
        else:
            continue
        result.prose_lines.append(lines[index].number)
        start = index + 1
    close(len(lines))
    return blocks


def _before_json(index: int, lines: Sequence[Line]) -> bool:
    """Whether a JSON document follows; what stood above the Ctrl-C is no part of it. A text log goes on behind one."""
    return next((line.text.strip()[:1] for line in lines[index + 1 :] if line.text.strip()), "") == "{"


@cache
def _commands() -> frozenset[str]:
    """The program names of all tools."""
    return frozenset(name for parser in load_parsers().values() for name in parser.commands)


def _may_prompt(text: str) -> bool:
    """Whether a line of the text may be a prompt; `_prompt` tells whether it is."""
    return text.startswith(_PROMPT_BEGINS) or "@" in text or ":/" in text or ":~" in text or ":\\" in text


def _prompt(text: str, commands: frozenset[str]) -> tuple[str | None, str | None] | None:
    """The command ("" -> None) and host of a prompt line; None where the line is none."""
    if not _may_prompt(text):
        return None
    if match := _PROMPT.fullmatch(text):
        return match["command"].strip() or None, match["host"]
    if match := _BARE_PROMPT.fullmatch(text):
        words = (word for word in match["command"].split() if word not in ("sudo", "time") and "=" not in word)
        first = next(words, "")
        if first.rsplit("/", 1)[-1] in commands:
            return match["command"].strip(), None
    return None


def _is_notes(source: Source, done: Segments) -> bool:
    """Whether the source is a text that people wrote or a terminal session, not the bare output of tools."""
    if done.prose_lines:
        return True
    sentences = 0
    for text in unique_lines(source.lines)[0].split("\n"):
        words = text.split()
        if len(words) >= _WORDS_IN_A_SENTENCE and sum(bool(_WORD.fullmatch(word)) for word in words) > 0.7 * len(words):
            sentences += 1
            if sentences >= _SENTENCES_IN_NOTES:
                return True
    return False


def _trailing(log: Log, loose: bool, accounting: LineAccounting) -> set[int]:
    """Unknown lines of a log that are prose: all of them in running text, else those behind its last blank line."""
    if loose:
        return {line.number for line in log.lines if accounting.of(line.number) == UNKNOWN}
    trailing: set[int] = set()
    pending: set[int] = set()
    for line in reversed(log.lines):
        mark = accounting.of(line.number)
        if mark >= KNOWN and mark != UNKNOWN:
            break
        if mark == UNKNOWN:
            pending.add(line.number)
        elif mark == BLANK:
            trailing |= pending
    return trailing
