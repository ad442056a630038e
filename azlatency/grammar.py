"""Rules that match whole lines, and the ledger that accounts for every line.

A parser of a line-oriented log is a subclass of `LineLog`: each method carries the pattern of the line it reads.

    class Pings(LineLog):
        @data(r"(\\d+) bytes from (\\S+): icmp_seq=(\\d+) ttl=\\d+ time=([\\d.]+) ms", hint="bytes from")
        def reply(self, line, match): ...

A line that no rule matches is an unknown line, never a guess. ``hint`` is a literal that every matching line contains;
it keeps the cost of a line that a rule does not match at one substring search. Patterns are matched against the whole
line, and lines longer than `LONGEST_LINE` are not matched at all, so that no input makes a pattern backtrack without
bound.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

LONGEST_LINE = 4096

UNMARKED, BLANK, PROSE, KNOWN, DATA, UNKNOWN = range(6)


class Line(NamedTuple):
    """One line of text as cleaned by `azlatency.decode`; ``number`` is 1-based in the raw file."""

    number: int
    text: str


class Ledger:
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

    def demote(self, number: int) -> None:
        """Call an unknown line prose after all: it stands around the log, not in it."""
        self._marks[number - 1] = PROSE

    def of(self, number: int) -> int:
        """The mark of line ``number``."""
        return self._marks[number - 1]

    def numbers(self, kind: int) -> list[int]:
        """The 1-based numbers of all lines with this mark."""
        return [index + 1 for index, mark in enumerate(self._marks) if mark == kind]

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


def data(pattern: str, *, hint: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Mark a method as the reader of every line that ``pattern`` matches in full. May be stacked."""

    def attach(method: Callable[..., Any]) -> Callable[..., Any]:
        rules = method.__dict__.setdefault("_rules", [])
        rules.append(Rule(re.compile(pattern), hint, DATA, method.__name__))
        return method

    return attach


def known(*patterns: tuple[str, str]) -> tuple[Rule, ...]:
    """Rules for lines of the tool that carry nothing to keep, as pairs ``(hint, pattern)``."""
    return tuple(Rule(re.compile(pattern), hint, KNOWN, None) for hint, pattern in patterns)


class LineLog:
    """A log read line by line: `data` methods in order of definition, then the ``known`` rules.

    Subclasses may set ``prefix``, a pattern removed from the front of each line before the rules see it.
    """

    known: ClassVar[tuple[Rule, ...]] = ()
    prefix: ClassVar[re.Pattern[str] | None] = None
    _grammar: ClassVar[tuple[Rule, ...]] = ()

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        rules: list[Rule] = []
        for owner in reversed(cls.__mro__):
            for member in vars(owner).values():
                rules.extend(reversed(getattr(member, "_rules", [])))
        cls._grammar = (*rules, *cls.known)

    def feed(self, lines: Iterable[Line], ledger: Ledger) -> None:
        """Read the lines and mark each in the ledger; unmatched ones go to `unmatched`."""
        for line in lines:
            text = line.text
            if not text or text.isspace():
                ledger.mark(line.number, BLANK)
                self.blank(line)
            elif not self.read(line, ledger):
                ledger.mark(line.number, UNKNOWN)
                self.unmatched(line)

    def read(self, line: Line, ledger: Ledger) -> bool:
        """Apply the first rule that matches the whole line; false where none does."""
        text = line.text.strip()
        if len(text) > LONGEST_LINE:
            return False
        if self.prefix is not None and (found := self.prefix.match(text)):
            text = text[found.end() :].lstrip()
        text = text.removeprefix("^C")
        if not text:
            # A terminal echoes Ctrl-C; what the tool prints next may stand on the same line.
            ledger.mark(line.number, KNOWN)
            return True
        for rule in self._grammar:
            if rule.hint in text and (match := rule.pattern.fullmatch(text)):
                if rule.handler is not None:
                    try:
                        getattr(self, rule.handler)(line, match)
                    except (ValueError, ArithmeticError):
                        # It looks like a line of the tool, but a number, a date or a time in it is none.
                        return False
                ledger.mark(line.number, rule.kind)
                return True
        return False

    def blank(self, line: Line) -> None:
        """Called for each blank line; nothing by default."""

    def unmatched(self, line: Line) -> None:
        """Called for each line that no rule matches; nothing by default."""
