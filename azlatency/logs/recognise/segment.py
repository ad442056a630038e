"""Splits notes files, terminal sessions and plain logs into single logs with the headings and the prompt above them.

A claim (`azlatency.logs.recognise.claims`) marks where a log starts. The log ends before the next claim, Markdown
fence, ``<pre>``, heading or prompt line, or at the end of the text. Text around the logs is prose in a notes file and
unknown in a plain log file.
"""

from __future__ import annotations

import re
from array import array
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache, partial
from itertools import compress, groupby, islice, pairwise
from operator import attrgetter, itemgetter
from typing import NamedTuple

from azlatency.logs.grammar.command_line import host_of, program_name, runs_program
from azlatency.logs.grammar.rules import (
    BLANK,
    DATA,
    KNOWN,
    LONGEST_LINE,
    PROSE,
    UNKNOWN,
    UNMARKED,
    Line,
    LineAccounting,
    Rule,
    RuleReader,
)
from azlatency.logs.parsers import Log, Parser, load_parsers, program_names
from azlatency.logs.recognise.claims import Claim, Claims
from azlatency.logs.recognise.foreign import FOREIGN_TOOLS
from azlatency.logs.source.decode import Source
from azlatency.logs.source.lines import ByShape, ShapedLines
from azlatency.logs.source.unwrap import BOUNDARY, LABEL, MOST_BOUNDARIES

_FENCE = re.compile(r"\s{0,3}(```+|~~~+)[^`]{0,80}")
_PREFORMATTED = re.compile(r"<(/?)pre(?: [^<>]{0,200})?>")
# ntttcp prints "#####  Totals:  #####".
_HEADING = re.compile(r"(?!#{4,6} .{1,60}: {1,4}#{4,6}$)(#{1,6})\s+(\S.{0,1000}?)\s*#*")
# Prompts with a user, a host or a drive; the rest of the line is a command.
_PROMPT = re.compile(
    r"(?:\([\w.-]{1,40}\)\s?)?"
    r"(?:\[?(?P<user>[\w.-]{1,64})@(?P<host>[\w.-]{1,64})(?::|\s)[^#$%>]{0,200}[#$%]"
    r"|[\w.-]{1,64}:[~/][^#$%>]{0,200}[#$%](?=\s)"
    r"|\[[\w.-]{1,64}@(?P<router>[\w.-]{1,64})\] ?(?:/[\w /-]{0,60})?>"
    r"|(?:PS )?[A-Za-z]:\\[^>]{0,200}>)"
    r"\s*(?P<command>.{0,2000})"
)
# Prompts of other shells, and the lines of `set -x`. "# " and "$ " also start comments and headings, so a line is such
# a prompt only if its command runs a known tool.
_BARE_PROMPT = re.compile(
    r"(?:\([\w.-]{1,40}\)\s?)?"
    r"(?:(?:(?!\d)[\w.~/:-]{1,60} ?)?[#$%>❯➤»λ]\s+|>(?=\w)|\$(?=[A-Z_]{1,40}=)|\+{1,4}\s"
    r"|➜\s+\S{1,60}\s+(?:git:\(\S{1,60}\)\s+(?:✗\s+)?)?"
    r"|\[(?:[\w.-]{1,64}@)?(?P<host>[\w.-]{1,64})\][~/][^#$%>:\s]{0,200}:\s+)"
    r"(?P<command>\S.{0,2000})"
)
# Prompts without a command. A text may also end with a prompt that elsewhere is a line of a tool or a quote.
_EXIT = r"(?:\s{1,20}(?:exit|logout|quit))?\s{0,20}"
_IDLE_PROMPT = re.compile(
    r"(?:\([\w.-]{1,40}\)\s?)?"
    r"(?:\$|(?:ba|z|da|a|k)?sh-\d[\w.]{0,20}[#$%]|[~/][\w.~/-]{0,60} ?[#$]|(?!\d)[\w.]{1,40}>"
    r"|\[[\w.-]{1,64}@[\w.-]{1,64}\] ?[#$]|➜\s{1,4}\S{1,60}(?:\s+git:\(\S{1,60}\)(?:\s+✗)?)?)" + _EXIT
)
_LAST_PROMPT = re.compile(r"(?:[#%>❯➤»λ](?=\s)|(?![\d-])[\w.@~/:-]{0,59}[\w.@~/-] ?[#$%>])" + _EXIT)
_MAY_BE_BOUNDARY = (
    r"[#$%>+❯➤»λ➜(].*|[^ ]{1,130} ?[#$%>❯➤»λ](?: .*)?|\[.*\][~/].*: .*|.*(?:```|~~~).*|\^C|</?pre.*|Script .*"
    r"|(?=[^#$%>]*[#$%>]).*(?:@|:[/~\\]).*"
)
#: Which shapes lines may have that are fences, headings, prompts or boundaries of sessions.
_BOUNDARIES = ByShape([("", _MAY_BE_BOUNDARY, lambda: True)])
_SESSION = re.compile(r'Script (?:started|done) on [^"]{0,100}(?:"(?P<command>[^"]{0,2000})".{0,500})?|logout|exit')
_MARKDOWN_ENDINGS = (".md", ".markdown", ".mdx")
_LINES_ABOVE_FOREIGN = 4
#: What shows that a line which begins with the name of a program is a command line.
_OPTION = re.compile(r" --?[A-Za-z]")
_LONGEST_COMMAND = 2000
_LINES_TO_COMMAND = 3
_JSON_LINES_ABOVE_FOREIGN = 20
_SENTENCES_IN_NOTES = 3
_WORDS_IN_A_SENTENCE = 6
_WORD = re.compile(r"[A-Za-zÀ-ÿ][a-zà-ÿ'’-]*[,.:;?!]?")
#: What a person added to a line of a log.
_REMARK = re.compile(r"(?:-{2,4}>|<-{2,4}|//|#) .*$")
_LONGEST_REMARK = 500
#: A line such as ``Maximo = 1ms``.
_ASSIGNED = re.compile(
    r"[^\W\d]\w{1,30}(?: \w{1,20})? {0,4}= {0,4}\d[\d.,]{0,20} ?"
    r"(?:[nuµm]?s|[um]?sec|bytes|[KMGT]?i?B|[KMGT]?b(?:its)?/s(?:ec)?)"
)
_TABLE = re.compile(r"\|?(?: {0,2}:?-{2,80}:? {0,2}\|){1,30}(?: {0,2}:?-{2,80}:?)?")
_TIME_OR_RATE = re.compile(r"\d ?(?:[nuµμm]s(?:ec)?|[KMG]b(?:it)?(?:s|/s|ps))\b")
_PROGRAM = re.compile(r"[\w.-]{2,30}")
#: Names of programs that stand in any text.
_COMMON_WORDS = frozenset({"ping", "cps", "cilium"})
_MOST_NAMING = 1000
_COLUMNS_OF_PAIR = 2
#: A line that only holds a number.
_NUMBER = re.compile(r"\s{0,200}[\d.,]{1,60}\s{0,200}")


class _Block(NamedTuple):
    """Lines ``start`` to ``stop`` (exclusive) between two boundaries, with the context above them."""

    start: int
    stop: int
    headings: tuple[str, ...] = ()
    command: str | None = None
    host: str | None = None
    loose: bool = False
    """Whether the block is running text of a Markdown file, in which a line that no rule matches is prose."""


@dataclass
class Segments:
    """The logs of a source, the lines that are boundaries between them, and the lines that two tools claim."""

    logs: list[Log] = field(default_factory=list)
    loose: list[bool] = field(default_factory=list)
    """Whether each log is in running text of a Markdown file."""
    prose_lines: array[int] = field(default_factory=partial(array, "q"))
    conflicts: list[list[Claim]] = field(default_factory=list)
    foreign: list[Claim] = field(default_factory=list)
    """The start of each output of a tool that no parser reads."""


def segment(source: Source, claims: Claims) -> Segments:
    """Split a source into logs at its claims. Lines that two tools claim become conflicts, not logs."""
    lines = source.lines
    if _is_one_log(source, lines, claims):
        return Segments([Log(source, claims[0].tool, lines)], [False])
    segments = Segments()
    # What is weak in the log of one tool is removed below.
    is_of_one_tool = claims.tool is not None
    if not is_of_one_tool:
        claims = _remove_conflicts(claims, segments)
    for block in _find_blocks(source, lines, segments):
        inside = claims.between(block.start, block.stop)
        if len(inside) > 1:
            inside = _remove_weak(inside if is_of_one_tool else _remove_shared(inside, lines))
            inside = _remove_continued(inside, block, lines)
        for claim, (first, stop) in zip(inside, pairwise(_starts(inside, block, lines)), strict=True):
            if claim.is_foreign:
                segments.foreign.append(claim)
                continue
            above = _find_command(claim, block.start, lines)
            start = first if above is None else above + 1
            part = lines.part(start, stop) if isinstance(lines, ShapedLines) else lines[start:stop]
            command = block.command if _runs_tool(load_parsers()[claim.tool], block.command) else None
            host = block.host if command else None
            if above is not None:
                segments.prose_lines.append(lines[above].number)
                command = lines[above].text.strip()
            segments.logs.append(Log(source, claim.tool, part, block.headings, command, host))
            segments.loose.append(block.loose)
    return segments


def _starts(claims: Claims, block: _Block, lines: Sequence[Line]) -> Iterator[int]:
    """Yield where the logs of a block start, and where the last one stops."""
    for index, claim in enumerate(claims):
        start = _include_opening_brace(claim.position, block, lines)
        if (above := _find_command(claim, block.start, lines)) is not None:
            start = above
        elif index == 0:
            start = _find_start(start, claim.tool, lines, block) if block.loose else block.start
        yield start
    yield block.stop


def _find_command(claim: Claim, block_start: int, lines: Sequence[Line]) -> int | None:
    """Return the position of a command line without a prompt directly above a log; None if there is none."""
    parser = load_parsers().get(claim.tool)
    if parser is None:
        return None
    for above in range(claim.position - 1, max(block_start, claim.position - _LINES_TO_COMMAND) - 1, -1):
        text = lines[above].text.strip()
        if text in ("", "{"):
            continue
        is_command = len(text) <= _LONGEST_COMMAND and _OPTION.search(text) is not None
        return above if is_command and runs_program(text, frozenset(parser.commands)) else None
    return None


def _is_one_log(source: Source, lines: Sequence[Line], claims: Claims) -> bool:
    """Return whether a small source is one log with nothing around it, as most logs are."""
    return (
        isinstance(lines, ShapedLines)
        and claims.tool is not None
        and all(claim.weak for claim in claims[1:])
        and not any(map(_BOUNDARIES.__getitem__, lines.shapes))
        and (claims[0].position == 0 or _find_command(claims[0], 0, lines) is None)
        and not source.path.lower().endswith(_MARKDOWN_ENDINGS)
    )


def classify_remaining_lines(source: Source, accounting: LineAccounting, segments: Segments) -> None:
    """Mark every line that no parser marked.

    Boundaries are prose. In a notes file, so are the lines outside the logs and the unmatched lines after a blank line
    at the end of a log. In a plain log file such lines are unknown, so that a new version of a tool is noticed.
    """
    for number in segments.prose_lines:
        accounting.mark(number, PROSE)
    notes = None
    for number, text in source.find_texts(partial(accounting.find, UNMARKED)):
        shows_text = bool(text.strip())
        if shows_text and notes is None:
            notes = _is_notes(source, segments)
        accounting.mark(number, BLANK if not shows_text else PROSE if notes else UNKNOWN)
    if accounting.find(UNKNOWN) and (_is_notes(source, segments) if notes is None else notes):
        for log, loose in zip(segments.logs, segments.loose, strict=True):
            for number in _find_prose(log, accounting, loose=loose):
                accounting.mark_range(number, number, PROSE)


def find_lost_lines(
    source: Source, accounting: LineAccounting, segments: Segments, kind: int = PROSE
) -> Iterator[tuple[Line, str]]:
    """Yield the lines of prose that a data rule of a parser would read, with the name of its tool.

    In running text, a line that belongs to no log is prose; a number of a tool in it must not be lost unnoticed, also
    if a person wrote a remark behind it. Below the beginning of a log, neither must a name with a value.
    """
    first_lines = [log.first_line for log in segments.logs]
    for number, text in source.find_texts(partial(accounting.find, kind)):
        # Nothing shows which tool printed a number that stands alone on its line.
        if (
            _is_boundary(number, segments)
            or not any(map(str.isdigit, text))
            or _NUMBER.fullmatch(text)
            or _is_command(text)
        ):
            continue
        line = (text[:-_LONGEST_REMARK] + _REMARK.sub("", text[-_LONGEST_REMARK:])).strip()
        tool = _tool_of(text.strip()) or (_tool_of(line) if line != text.strip() else None) or _tool_behind_label(text)
        if tool is not None and not any(map(str.isalpha, text)) and len(text.split()) > _COLUMNS_OF_PAIR:
            tool = "a tool"  # several tools print rows of numbers
        if tool is None and first_lines and _ASSIGNED.fullmatch(line):
            above = segments.logs[bisect_left(first_lines, number) - 1]
            tool = "a tool" if above.first_line < number <= above.last_line else None
        if tool is not None:
            yield Line(number, text), tool


def find_named_tool(source: Source, accounting: LineAccounting) -> tuple[int, str] | None:
    """Return the first line among those that nothing reads that names a program of a known tool, and the name."""
    names = program_names() - _COMMON_WORDS
    for kind in (UNKNOWN, PROSE):
        for number, text in islice(source.find_texts(partial(accounting.find, kind)), _MOST_NAMING):
            for word in _PROGRAM.findall(text[:LONGEST_LINE]):
                if (name := program_name(word)) in names:
                    return number, name
    return None


def find_table(source: Source, accounting: LineAccounting) -> int:
    """Return the line of the titles of a Markdown table with times or rates; 0 if there is none."""
    titles = 0
    for kind in (UNKNOWN, PROSE):
        for number, text in islice(source.find_texts(partial(accounting.find, kind)), _MOST_NAMING):
            if _TABLE.fullmatch(text.strip()[:LONGEST_LINE]):
                titles = number - 1
            elif titles and "|" in text and _TIME_OR_RATE.search(text[:LONGEST_LINE]):
                return titles
    return 0


def _is_boundary(number: int, segments: Segments) -> bool:
    at = bisect_left(segments.prose_lines, number)
    return segments.prose_lines[at : at + 1] == array("q", [number])


def _is_command(text: str) -> bool:
    """Return whether a line begins with the name of a program, which some tools echo."""
    words = text.split(maxsplit=1)
    return bool(words) and program_name(words[0]) in program_names()


def _tool_of(text: str) -> str | None:
    """Return the tool whose rule reads a line with a number; None if there is none."""
    if len(text) > LONGEST_LINE:
        return None
    for tool, prefix, rules in _rules():
        start = prefix.match(text) if prefix is not None else None
        rest = text[start.end() :].lstrip() if start else text
        if any(rule.kind == DATA and rule.hint in rest and rule.pattern.fullmatch(rest) for rule in rules):
            return tool
    return None


def _tool_behind_label(text: str) -> str | None:
    """Return the tool whose rule reads what stands behind the label of a runner, a container or a system log."""
    if LABEL.match(text) is None or len(text) > LONGEST_LINE:
        return None
    starts = islice(BOUNDARY.finditer(text), MOST_BOUNDARIES)
    return next(filter(None, (_tool_of(text[start.start() :].strip()) for start in starts)), None)


def may_begin_line(tool: str, text: str) -> bool:
    """Return whether a text that ends within a line may be the beginning of a line of a tool."""
    for owner, prefix, rules in _rules():
        start = prefix.match(text) if prefix is not None else None
        rest = (text[start.end() :] if start else text).strip()
        hints = [rule.hint.strip() for rule in rules if len(rule.hint) > 1]
        if owner == tool and any(hint.startswith(rest) or rest.startswith(hint) for hint in hints):
            return True
    return False


@cache
def _rules() -> list[tuple[str, re.Pattern[str] | None, tuple[Rule, ...]]]:
    """Return tool, prefix and rules of every `RuleReader`, by tool.

    A reader of lines is in the module of its parser, or in a module of the package that its parser is in; that of a
    plug-in arranged in another way goes by the name of its package.
    """
    tools = {type(parser).__module__: tool for tool, parser in load_parsers().items()}
    rules: list[tuple[str, re.Pattern[str] | None, tuple[Rule, ...]]] = []
    waiting = RuleReader.__subclasses__()
    for log in waiting:
        waiting += log.__subclasses__()
        module = log.__module__
        tool = tools.get(module) or tools.get(module.rpartition(".")[0]) or module.partition(".")[0]
        rules.append((tool, log.prefix, log.rules()))
    return sorted(rules, key=itemgetter(0))


def _remove_conflicts(claims: Claims, segments: Segments) -> Claims:
    kept = Claims()
    for _, group in groupby(claims, key=attrgetter("position")):
        same_line = list(group)
        strongest = [claim for claim in same_line if not claim.weak] or same_line
        strongest = [claim for claim in strongest if not claim.is_foreign] or strongest[:1]
        if len({claim.tool for claim in strongest}) > 1:
            segments.conflicts.append(strongest)
        else:
            kept.append(strongest[0])
    return kept


def _remove_shared(claims: Claims, lines: Sequence[Line]) -> Claims:
    """Remove the claims on lines that belong to the output of another tool, foreign or known, that prints them too."""
    parsers = load_parsers()
    kept = Claims()
    for claim in claims:
        if claim.tool not in parsers:
            shares = FOREIGN_TOOLS[claim.tool].shares
            while kept and kept[-1].tool in shares and _is_just_above(kept[-1], claim, lines):
                del kept[-1:]
            if kept and kept[-1].tool == claim.tool:
                continue
        elif claim.weak and kept:
            owner = kept[-1].tool
            if claim.tool in (parsers[owner] if owner in parsers else FOREIGN_TOOLS[owner]).shares:
                continue
        kept.append(claim)
    return kept


def _is_just_above(claim: Claim, foreign: Claim, lines: Sequence[Line]) -> bool:
    """Return whether the line of a claim can be the banner of the foreign output."""
    is_json = lines[claim.position].text.lstrip().startswith(("{", '"'))
    return foreign.position - claim.position <= (_JSON_LINES_ABOVE_FOREIGN if is_json else _LINES_ABOVE_FOREIGN)


def _remove_weak(claims: Claims) -> Claims:
    """Remove weak claims inside a log of the same tool."""
    kept, tool = Claims(), ""
    for claim in claims:
        if not (claim.weak and claim.tool == tool):
            kept.append(claim)
            tool = claim.tool
    return kept


def _remove_continued(claims: Claims, block: _Block, lines: Sequence[Line]) -> Claims:
    """Remove the claims in the middle of a log, where several runs of a tool write into one text at once."""
    if len(claims) < 2 or not any(map(_may_continue, claims.tools)):
        return claims
    kept = Claims()
    for tool, group in groupby(claims, key=attrgetter("tool")):
        same = list(group)
        continued: set[int] = set()
        if len(same) > 1 and _may_continue(tool):
            edges = [*(claim.position for claim in same), block.stop]
            continued.update(load_parsers()[tool].find_continued([lines[at:end] for at, end in pairwise(edges)]))
        for index, claim in enumerate(same):
            if index not in continued or _find_command(claim, block.start, lines) is not None:
                kept.append(claim)
    return kept


def _may_continue(tool: str) -> bool:
    """Return whether a log of a tool may continue the one above it."""
    return tool in load_parsers() and type(load_parsers()[tool]).find_continued is not Parser.find_continued


def _find_start(start: int, tool: str, lines: Sequence[Line], block: _Block) -> int:
    """Return where a log in running text starts: above the claim, the tool's rules may read more lines."""
    above = start - 1
    while above >= block.start and start - above <= 2:
        text = lines[above].text.strip()
        if _tool_of(text) == tool:
            start = above
        elif text:
            break
        above -= 1
    return start


def _include_opening_brace(index: int, block: _Block, lines: Sequence[Line]) -> int:
    """Return where a log starts: a JSON document is recognised by its first key, but starts with the brace above."""
    above = index - 1
    return above if above >= block.start and lines[above].text.strip() == "{" else index


def _runs_tool(parser: Parser, command: str | None) -> bool:
    """Return whether a command line runs the parser's tool, also after wrappers such as sudo and taskset."""
    return command is not None and not set(map(program_name, command.split())).isdisjoint(parser.commands)


def _find_blocks(source: Source, lines: Sequence[Line], segments: Segments) -> Iterator[_Block]:
    """Yield the blocks between fences, headings and prompt lines, with their context."""
    boundaries = list(_find_boundaries(source))
    markdown = source.path.lower().endswith(_MARKDOWN_ENDINGS) or any(
        "```" in line or "~~~" in line for _, line in boundaries
    )
    if lines and not (boundaries or markdown):
        yield _Block(0, len(lines))
        return
    commands = program_names()
    last = boundaries[-1][0] if boundaries else -1
    if any(line.text.strip() for line in lines[last + 1 :]):
        last = -1
    headings: list[tuple[int, str]] = []
    fenced = False
    start, command, host = 0, None, None

    def above(stop: int) -> Iterator[_Block]:
        if stop > start:
            titles = tuple(title for _, title in headings)
            yield _Block(start, stop, titles, command, host, loose=markdown and not fenced)

    for index, text in boundaries:
        line = text.strip()
        if markdown and _FENCE.fullmatch(line):
            yield from above(index)
            fenced = not fenced
            command = host = None
        elif markdown and not fenced and (tag := _PREFORMATTED.fullmatch(line)):
            yield from above(index)
            if tag[1]:
                command = host = None
        elif markdown and not fenced and (heading := _HEADING.fullmatch(line)):
            yield from above(index)
            level = len(heading[1])
            headings = [(depth, title) for depth, title in headings if depth < level] + [(level, heading[2])]
            command = host = None
        elif (prompt := _parse_prompt(line, commands, text if index == last else None)) is not None:
            yield from above(index)
            command, host = prompt
        elif session := _SESSION.fullmatch(line):
            yield from above(index)
            command, host = session["command"], None
        elif line == "^C" and _precedes_json(index, lines):
            yield from above(index)
        else:
            continue
        segments.prose_lines.append(lines[index].number)
        start = index + 1
    yield from above(len(lines))


def _find_boundaries(source: Source) -> Iterator[tuple[int, str]]:
    """Yield position and text of each line that may be a fence, a heading or a prompt."""
    for positions, texts, shapes in source.pieces:
        yield from compress(zip(positions, texts, strict=True), map(_BOUNDARIES.__getitem__, shapes))


def _precedes_json(index: int, lines: Sequence[Line]) -> bool:
    """Return whether a JSON document follows a Ctrl-C. Text above belongs to it in a text log, but not in JSON."""
    return next((line.text.strip()[:1] for line in lines[index + 1 :] if line.text.strip()), "") == "{"


def _parse_prompt(line: str, commands: frozenset[str], last: str | None) -> tuple[str | None, str | None] | None:
    """Return the command (None if there is none) and the host of a prompt line; None for any other line.

    ``last`` is the line with its blanks if it is the last of the text: "# " is a prompt, "#" may be a cut line.
    """
    if _IDLE_PROMPT.fullmatch(line) or (last is not None and _LAST_PROMPT.fullmatch(last.lstrip())):
        return None, None
    if (match := _PROMPT.fullmatch(line)) or (
        (match := _BARE_PROMPT.fullmatch(line)) and runs_program(match["command"], commands)
    ):
        command = match["command"].strip()
        return command or None, host_of(command, commands, match["host"] or match.groupdict().get("router"))
    return None


def _is_notes(source: Source, segments: Segments) -> bool:
    """Return whether the source is a notes file or a terminal session, not only the output of tools."""
    if segments.prose_lines:
        return True
    sentences = 0
    for line in (line for piece in source.pieces for line in piece.texts):
        words = line[:LONGEST_LINE].split()
        if len(words) >= _WORDS_IN_A_SENTENCE and sum(bool(_WORD.fullmatch(word)) for word in words) > 0.7 * len(words):
            sentences += 1
            if sentences >= _SENTENCES_IN_NOTES:
                return True
    return False


def _find_prose(log: Log, accounting: LineAccounting, *, loose: bool) -> set[int]:
    """Return the unknown lines of a log that are prose: in running text all, else those after its last blank line."""
    if loose:
        return {line.number for line in log.lines if accounting.kind_of(line.number) == UNKNOWN}
    prose: set[int] = set()
    pending: set[int] = set()
    for line in reversed(log.lines):
        kind = accounting.kind_of(line.number)
        if kind in (KNOWN, DATA):
            break
        if kind == UNKNOWN:
            pending.add(line.number)
        elif kind == BLANK:
            prose |= pending
    return prose
