"""Rules that match whole lines, and the ledger that accounts for every line.

A parser of a line-oriented log is a subclass of `LineLog`: each method carries the pattern of the line it reads.

    class Pings(LineLog):
        @data(r"(\\d+) bytes from (\\S+): icmp_seq=(\\d+) ttl=\\d+ time=([\\d.]+) ms", hint="bytes from")
        def reply(self, line, match): ...

A line that no rule matches is an unknown line, never a guess. ``hint`` is a literal that every matching line contains;
it keeps the cost of a line that a rule does not match at one substring search. Patterns are matched against the whole
line, and lines longer than `LONGEST_LINE` are not matched at all, so that no input makes a pattern backtrack without
bound.

A reader of single lines may have a second one for many alike: it is given `lines.UniformBlock` whose first row its
rule matches, and says whether it took them all. Where it does not, they are read one by one.

        @bulk(reply)
        def replies(self, rows, match): ...
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar

from azlatency.logs.lines import Line, UniformBlock, iter_blocks, shape_of

__all__ = [
    "BLANK",
    "DATA",
    "KNOWN",
    "LONGEST_LINE",
    "PROSE",
    "UNKNOWN",
    "UNMARKED",
    "Line",
    "LineAccounting",
    "LineLog",
    "Rule",
    "bulk",
    "data",
    "known",
]  # fmt: skip

LONGEST_LINE = 4096
#: A log has few shapes of lines; a text that has ever new ones must not fill the memory with them.
_MOST_SHAPES = 512

UNMARKED, BLANK, PROSE, KNOWN, DATA, UNKNOWN = range(6)
#: For each mark a table for `bytes.translate` that raises lesser marks to it.
_AT_LEAST = [bytes(max(mark, kind) for mark in range(256)) for kind in range(6)]


class LineAccounting:
    """What each physical line of a source was: data, known, blank, prose or unknown; exactly one of them in the end."""

    def __init__(self, lines: int) -> None:
        self._marks = bytearray(lines)

    def mark(self, number: int, kind: int) -> None:
        """Mark line ``number``; where pieces of one physical line differ, the most telling mark stays."""
        if kind > self._marks[number - 1]:
            self._marks[number - 1] = kind

    def mark_range(self, first: int, last: int, kind: int) -> None:
        """Mark lines ``first`` to ``last`` inclusive."""
        self._marks[first - 1 : last] = bytes([kind]) * (last - first + 1)

    def raise_range(self, first: int, last: int, kind: int) -> None:
        """As `mark`, for lines ``first`` to ``last`` inclusive."""
        self._marks[first - 1 : last] = self._marks[first - 1 : last].translate(_AT_LEAST[kind])

    def demote(self, number: int) -> None:
        """Call an unknown line prose after all: it stands around the log, not in it."""
        self._marks[number - 1] = PROSE

    def of(self, number: int) -> int:
        """The mark of line ``number``."""
        return self._marks[number - 1]

    def numbers(self, kind: int) -> list[int]:
        """The 1-based numbers of all lines with this mark."""
        found = []
        index = self._marks.find(kind)
        while index >= 0:
            found.append(index + 1)
            index = self._marks.find(kind, index + 1)
        return found

    def counts(self) -> dict[str, int]:
        """Number of lines in total and by mark; they always add up, an unmarked line being unknown."""
        marks = self._marks
        counts = {
            "lines": len(marks),
            "lines_data": marks.count(DATA),
            "lines_known": marks.count(KNOWN),
            "lines_blank": marks.count(BLANK),
            "lines_prose": marks.count(PROSE),
        }
        counts["lines_unknown"] = marks.count(UNKNOWN) + marks.count(UNMARKED)
        return counts


@dataclass(frozen=True, slots=True)
class Rule:
    """A pattern for a whole line, a literal that every such line contains, and what is done with the match."""

    pattern: re.Pattern[str]
    hint: str
    kind: int
    handler: str | None


#: What `LineLog.read` needs of a rule.
_Entry = tuple[str, Callable[[str], re.Match[str] | None], str | None, int]


def data(pattern: str, *, hint: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Mark a method as the reader of every line that ``pattern`` matches in full. May be stacked."""

    def attach(method: Callable[..., Any]) -> Callable[..., Any]:
        rules = method.__dict__.setdefault("_rules", [])
        rules.append(Rule(re.compile(pattern), hint, DATA, method.__name__))
        return method

    return attach


def bulk(reader: Callable[..., Any]) -> Callable[[Callable[..., bool]], Callable[..., bool]]:
    """Mark a method as the reader of many alike lines at once that ``reader`` reads one by one."""

    def attach(method: Callable[..., bool]) -> Callable[..., bool]:
        reader.__dict__["_bulk"] = method.__name__
        return method

    return attach


def known(*patterns: tuple[str, str]) -> tuple[Rule, ...]:
    """Rules for lines of the tool that carry nothing to keep, as pairs ``(hint, pattern)``."""
    return tuple(Rule(re.compile(pattern), hint, KNOWN, None) for hint, pattern in patterns)


def _by_shape(rules: Sequence[Rule]) -> Callable[[bytes], list[_Entry]]:
    """The rules that a line of a given shape may match, in their order; found once for all lines that look alike.

    A hint that stands in a line stands in its shape when its own digits are left out as well, so no rule is lost.
    """
    table = [(shape_of(rule.hint), (rule.hint, rule.pattern.fullmatch, rule.handler, rule.kind)) for rule in rules]

    @lru_cache(maxsize=_MOST_SHAPES)
    def candidates(shape: bytes) -> list[_Entry]:
        return [entry for hint, entry in table if hint in shape]

    return candidates


class LineLog:
    """A log read line by line: `data` methods in order of definition, then the ``known`` rules.

    Subclasses may set ``prefix``, a pattern removed from the front of each line before the rules see it.
    """

    known: ClassVar[tuple[Rule, ...]] = ()
    prefix: ClassVar[re.Pattern[str] | None] = None
    _grammar: ClassVar[tuple[Rule, ...]] = ()
    _candidates = staticmethod(_by_shape(()))
    _bulk: ClassVar[dict[str, str]] = {}

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        rules: list[Rule] = []
        cls._bulk = {}
        for owner in reversed(cls.__mro__):
            for name, member in vars(owner).items():
                rules.extend(reversed(getattr(member, "_rules", [])))
                if isinstance(of_many := getattr(member, "_bulk", None), str):
                    cls._bulk[name] = of_many
        cls._grammar = (*rules, *cls.known)
        cls._candidates = staticmethod(_by_shape(cls._grammar))

    def feed(self, lines: Sequence[Line], accounting: LineAccounting) -> None:
        """Read the lines and mark each in the ledger; unmatched ones go to `unmatched`."""
        for entry in iter_blocks(lines):
            if isinstance(entry, Line):
                self.feed_line(entry, accounting)
            elif not self._read_rows(entry, accounting):
                for line in entry:
                    self.feed_line(line, accounting)

    def feed_line(self, line: Line, accounting: LineAccounting) -> None:
        """As `feed`, for one line."""
        text = line.text
        if not text or text.isspace():
            accounting.mark(line.number, BLANK)
            self.blank(line)
        elif not self.read(line, accounting):
            accounting.mark(line.number, UNKNOWN)
            self.unmatched(line)

    def _read_rows(self, rows: UniformBlock, accounting: LineAccounting) -> bool:
        """Read alike rows at once, where the rule that matches the first one has a reader of many."""
        text = rows[0].text
        if not self._bulk or len(text) > LONGEST_LINE or (self.prefix is not None and self.prefix.match(text)):
            return False
        for rule in self._grammar:
            if rule.hint in text and (match := rule.pattern.fullmatch(text)):
                if rule.handler not in self._bulk or not getattr(self, self._bulk[rule.handler])(rows, match):
                    return False
                accounting.mark_range(rows.first, rows.last, rule.kind)
                return True
        return False

    def read(self, line: Line, accounting: LineAccounting) -> bool:
        """Apply the first rule that matches the whole line; false where none does."""
        text = line.text.strip()
        if len(text) > LONGEST_LINE:
            return False
        if self.prefix is not None and (found := self.prefix.match(text)):
            text = text[found.end() :].lstrip()
        text = text.removeprefix("^C")
        if not text:
            # A terminal echoes Ctrl-C; what the tool prints next may stand on the same line.
            accounting.mark(line.number, KNOWN)
            return True
        for hint, fullmatch, handler, kind in self._candidates(shape_of(text)):
            if hint in text and (match := fullmatch(text)):
                if handler is not None:
                    try:
                        getattr(self, handler)(line, match)
                    except (ValueError, ArithmeticError):
                        # It looks like a line of the tool, but a number, a date or a time in it is none.
                        return False
                accounting.mark(line.number, kind)
                return True
        return False

    def blank(self, line: Line) -> None:
        """Called for each blank line; nothing by default."""

    def unmatched(self, line: Line) -> None:
        """Called for each line that no rule matches; nothing by default."""
