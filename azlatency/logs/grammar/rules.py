r"""Rules that match whole lines, and the accounting of every line.

The parser of a line-oriented log is a subclass of `RuleReader`. Each method carries the pattern of the lines it reads::

    class Pings(RuleReader):
        @data(r"(\d+) bytes from (\S+): icmp_seq=(\d+) ttl=\d+ time=([\d.]+) ms", hint="bytes from")
        def reply(self, line, match): ...

A line that no rule matches is an unknown line; nothing is guessed. ``hint`` is a literal that every matching line
contains: a line without it costs one substring search. A pattern must match the whole line, and lines longer than
`LONGEST_LINE` are not matched at all, so no input can make a pattern backtrack without bound.

A rule may have a second method that reads many such lines at once. It receives a `lines.UniformBlock` whose first row
the rule matches, and returns False if it cannot read all rows; they are then read one by one::

        @bulk(reply)
        def replies(self, block, match): ...
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import compress, count, islice
from typing import Any, ClassVar

from azlatency.logs.source.lines import ByShape, Line, ShapedLines, UniformBlock, iter_blocks, shape_of, shaped

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
    "Rule",
    "RuleReader",
    "bulk",
    "data",
    "known",
]  # fmt: skip

LONGEST_LINE = 4096
#: Begins the modules of this library, whose tests compile every pattern.
_LIBRARY = "azlatency."
#: The rules for at most this many lines are selected at once.
_BATCH = 2**10

#: The kinds of line, in ascending priority: if pieces of one physical line differ, the highest kind counts.
UNMARKED, BLANK, PROSE, KNOWN, DATA, UNKNOWN = range(6)
#: For each kind, a table for `bytes.translate` that raises lower kinds to it.
_AT_LEAST = [bytes(max(mark, kind) for mark in range(256)) for kind in range(6)]


class LineAccounting:
    """The kind of every physical line of a source: data, known, blank, prose or unknown.

    ``DATA`` lines contain a number or fact that is kept, ``KNOWN`` lines belong to the tool but contain nothing to
    keep, ``PROSE`` is text around the logs of a notes file, and ``UNKNOWN`` lines are inside a log but match no rule.
    """

    def __init__(self, lines: int) -> None:
        self.kinds = bytearray(lines)

    def mark(self, number: int, kind: int) -> None:
        """Mark line ``number`` (1-based), unless it already has a kind of higher priority."""
        if kind > self.kinds[number - 1]:
            self.kinds[number - 1] = kind

    def mark_range(self, first: int, last: int, kind: int) -> None:
        """Mark lines ``first`` to ``last`` inclusive, whatever their kind was."""
        self.kinds[first - 1 : last] = bytes([kind]) * (last - first + 1)

    def raise_range(self, first: int, last: int, kind: int) -> None:
        """Mark lines ``first`` to ``last`` inclusive, except those with a kind of higher priority."""
        self.kinds[first - 1 : last] = self.kinds[first - 1 : last].translate(_AT_LEAST[kind])

    def kind_of(self, number: int) -> int:
        """Return the kind of line ``number``."""
        return self.kinds[number - 1]

    def find(self, kind: int, above: int = 0) -> int:
        """Return the number of the first line of a kind after line ``above``; 0 if there is none."""
        return int(self.kinds.find(kind, above)) + 1

    def counts(self) -> dict[str, int]:
        """Return the number of lines, in total and by kind. Unmarked lines count as unknown, so the kinds add up."""
        kinds = self.kinds
        return {
            "lines": len(kinds),
            "lines_data": kinds.count(DATA),
            "lines_known": kinds.count(KNOWN),
            "lines_blank": kinds.count(BLANK),
            "lines_prose": kinds.count(PROSE),
            "lines_unknown": kinds.count(UNKNOWN) + kinds.count(UNMARKED),
        }


@dataclass(frozen=True)
class Rule:
    """What matches a whole line, a literal that the line contains, its kind and reader, and what its shape matches."""

    expression: str
    hint: str
    kind: int
    handler: str | None
    shape: str | None = None

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        """The expression, compiled when a line needs it: a log is of one tool, and all have many rules."""
        return re.compile(self.expression)

    def entry(self, owner: type[RuleReader]) -> _Entry:
        """Return what `RuleReader.read` needs."""
        handler = None if self.handler is None else getattr(owner, self.handler)
        return self.hint, self.pattern.fullmatch, handler, self.kind


#: What `RuleReader.read` needs of a rule: hint, full match, reader, kind of the line.
_Entry = tuple[str, Callable[[str], re.Match[str] | None], Callable[..., Any] | None, int]


def data(pattern: str, *, hint: str, shape: str | None = None) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Make a method the reader of every line that a pattern matches, without white space at its ends. May be stacked.

    The method receives the `Line` and the match; a ValueError or ArithmeticError in it makes the line unknown. Bound
    every repetition of the pattern. ``hint``: a literal that every matching line contains; ``shape``: a pattern of the
    line, with its prefix, without its digits and points, if many other lines contain the literal.
    """

    def attach(method: Callable[..., Any]) -> Callable[..., Any]:
        rules = method.__dict__.setdefault("_rules", [])
        rules.append(Rule(pattern, hint, DATA, method.__name__, shape))
        return method

    return attach


def bulk(reader: Callable[..., Any]) -> Callable[[Callable[..., bool]], Callable[..., bool]]:
    """Make a method the bulk reader of the lines that another method, with the decorator `data`, reads one by one.

    It receives a `UniformBlock` and the match of its first row, and returns whether it read all rows.
    """

    def attach(method: Callable[..., bool]) -> Callable[..., bool]:
        reader.__dict__["_bulk"] = method.__name__
        return method

    return attach


def known(*patterns: tuple[str, str] | tuple[str, str, str]) -> tuple[Rule, ...]:
    """Return the rules of lines that contain nothing to keep, for the class attribute ``known`` of a `RuleReader`.

    ``patterns``: a literal, a pattern of the whole line and perhaps its ``shape``, as in `data`.
    """
    return tuple(Rule(pattern, hint, KNOWN, None, *shape) for hint, pattern, *shape in patterns)


class RuleReader:
    """Base class of a log that is read line by line.

    Each line is read by the first rule that matches it: the `data` methods in order of definition, then ``known``, the
    rules of lines that contain nothing to keep. ``prefix`` is removed from the start of each line before.
    """

    known: ClassVar[tuple[Rule, ...]] = ()
    prefix: ClassVar[re.Pattern[str] | None] = None
    _grammar: ClassVar[tuple[Rule, ...]] = ()
    _candidates: ClassVar[ByShape[_Entry]] = ByShape(())
    _bulk: ClassVar[dict[str, str]] = {}
    #: The line that `feed` gives to `read`, and the rules that it may match.
    _fed: Line | None = None
    _possible: Sequence[_Entry] = ()

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        rules: list[Rule] = []
        cls._bulk = {}
        for owner in reversed(cls.__mro__):
            for name, member in vars(owner).items():
                rules.extend(reversed(getattr(member, "_rules", [])))
                if isinstance(bulk_reader := getattr(member, "_bulk", None), str):
                    cls._bulk[name] = bulk_reader
        cls._grammar = (*rules, *cls.known)
        cls._candidates = ByShape((rule.hint, rule.shape, partial(rule.entry, cls)) for rule in cls._grammar)
        if not cls.__module__.startswith(_LIBRARY):
            for rule in cls._grammar:
                re.compile(rule.expression)  # a plug-in that is not valid shows when it is loaded

    @classmethod
    def rules(cls) -> tuple[Rule, ...]:
        """Return the rules, in the order in which they are tried."""
        return cls._grammar

    def feed(self, lines: Sequence[Line], accounting: LineAccounting) -> None:
        """Read the lines of a log, usually ``log.lines``, and mark each of them."""
        read, kinds = self.read, accounting.kinds
        for batch in self._batches(lines, accounting):
            shapes = (batch if isinstance(batch, ShapedLines) else shaped(batch)).shapes
            for line, entries in zip(batch, map(self._candidates.__getitem__, shapes), strict=True):
                self._fed, self._possible = line, entries
                number, text = line
                if not text or text.isspace():
                    kind = BLANK
                    self.blank(line)
                elif not (kind := read(line)):
                    kind = UNKNOWN
                    self.unmatched(line)
                if kind > kinds[number - 1]:
                    kinds[number - 1] = kind

    def feed_until(
        self, is_other: Callable[[str], bool], lines: Sequence[Line], start: int, accounting: LineAccounting
    ) -> int:
        """Read the lines from an index on, up to the first one whose text is not of this log; return its index."""
        if isinstance(lines, ShapedLines):
            stop = next(compress(count(start), map(is_other, lines.texts[start:])), len(lines))
            self.feed(lines.part(start, stop), accounting)
        else:
            stop = next((index for index in range(start, len(lines)) if is_other(lines[index].text)), len(lines))
            self.feed(lines[start:stop], accounting)
        return stop

    def _batches(self, lines: Sequence[Line], accounting: LineAccounting) -> Iterator[list[Line]]:
        """Yield the lines that no bulk reader reads."""
        if isinstance(lines, list):
            if lines:
                yield lines
            return
        batch: list[Line] = []
        for item in iter_blocks(lines):
            if isinstance(item, Line):
                batch.append(item)
                if len(batch) < _BATCH:
                    continue
            if batch:
                yield batch
                batch = []
            if isinstance(item, Line):
                continue
            if not self._read_block(item, accounting):
                rows = iter(item)
                while some := list(islice(rows, _BATCH)):
                    yield some
            item.drop_lines()
        if batch:
            yield batch

    def _read_block(self, block: UniformBlock, accounting: LineAccounting) -> bool:
        """Read a block with the bulk reader of the rule that matches its first row; False if there is none."""
        text = block[0].text
        if not self._bulk or len(text) > LONGEST_LINE or (self.prefix is not None and self.prefix.match(text)):
            return False
        for rule in self._grammar:
            if rule.hint in text and (match := rule.pattern.fullmatch(text)):
                if rule.handler not in self._bulk or not getattr(self, self._bulk[rule.handler])(block, match):
                    return False
                accounting.mark_range(block.first, block.last, rule.kind)
                return True
        return False

    def read(self, line: Line) -> int:
        """Apply the first rule that matches the whole line; return its kind, or ``UNMARKED``, which is 0.

        A subclass may override this method to change the text before the rules see it.
        """
        text = line[1].strip()
        if len(text) > LONGEST_LINE:
            return UNMARKED
        if self.prefix is not None and (prefix := self.prefix.match(text)):
            text = text[prefix.end() :].lstrip()
        if "^C" in text:
            # A terminal echoes Ctrl-C; the next output of the tool may follow on the same line.
            text = text.removeprefix("^C")
        if not text:
            return KNOWN
        # What a part of the line matches, the whole line may match.
        entries = self._possible if line is self._fed else self._candidates[shape_of(text)]
        for hint, fullmatch, handler, kind in entries:
            if hint in text and (match := fullmatch(text)):
                if handler is not None:
                    try:
                        handler(self, line, match)
                    except (ValueError, ArithmeticError):
                        # The line looks right, but a number, a date or a time in it is not valid.
                        return UNMARKED
                return kind
        return UNMARKED

    def blank(self, line: Line) -> None:
        """Handle a blank line; does nothing by default."""

    def unmatched(self, line: Line) -> None:
        """Handle a line that no rule matches; does nothing by default."""
