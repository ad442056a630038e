"""The lines of a log that JSON documents and their values occupy."""

from __future__ import annotations

import bisect
from collections.abc import Callable
from functools import cached_property
from itertools import accumulate

from azlatency.logs import json_tokens
from azlatency.logs.grammar import DATA, KNOWN
from azlatency.logs.parsers import Log
from azlatency.logs.parsers.common import unfinished_line
from azlatency.logs.record import Recorder


class JsonLineMap:
    """The text of a log, and the line of each position in it.

    Without a line feed at its end the text may stop inside a number, which the reader must notice. ``whole=True`` adds
    the line feed, so that the last line counts as complete.
    """

    def __init__(self, log: Log, recorder: Recorder, *, whole: bool = False) -> None:
        self.log, self.recorder, self._whole = log, recorder, whole

    @cached_property
    def text(self) -> str:
        """The text of the log, built on first use because many logs contain no document."""
        end = "\n" if self._whole or not unfinished_line(self.log) else ""
        return "\n".join([line.text for line in self.log.lines]) + end

    @cached_property
    def starts(self) -> list[int]:
        """The position at which each line starts, and the end of the text."""
        return [0, *accumulate([len(line.text) + 1 for line in self.log.lines])]

    def line_index(self, position: int) -> int:
        """Return the index in ``log.lines`` of the line at a position."""
        return min(bisect.bisect_right(self.starts, position), len(self.log.lines)) - 1

    def line_number(self, position: int) -> int:
        """Return the number of the line at a position."""
        return self.log.lines[self.line_index(position)].number

    def mark_between(self, start: int, end: int, kind: int) -> None:
        """Mark every line between two positions, except lines with a kind of higher priority."""
        self.recorder.accounting.raise_range(self.line_number(start), self.line_number(max(end - 1, start)), kind)

    def mark_data(self, node: json_tokens.Scalar | json_tokens.JsonObject) -> int:
        """Mark the line of a value as data and return its number."""
        number = self.line_number(node.position)
        self.recorder.accounting.mark(number, DATA)
        return number

    def read_document(self, index: int, document: Callable[[int], int]) -> tuple[int, json_tokens.JsonError | None]:
        """Read the document that starts in the line with this index.

        ``document(start)`` reads it and returns its end. Returns the index of the first line after the document, and
        the error if the document is truncated or malformed.
        """
        start = self.text.index("{", self.starts[index])
        try:
            end = document(start)
        except json_tokens.JsonError as error:
            after = len(self.log.lines)
            if not error.at_end:
                after = max(self.line_index(error.position), self.line_index(start) + 1)
            self.mark_between(start, min(self.starts[after], len(self.text)), KNOWN)
            return after, error
        self.mark_between(start, end, KNOWN)
        return self.line_index(end - 1) + 1, None
