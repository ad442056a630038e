"""The lines of a log that JSON documents and their values occupy."""

from __future__ import annotations

import re
from array import array
from bisect import bisect_left
from collections.abc import Sequence
from functools import cached_property
from operator import sub
from typing import TYPE_CHECKING

from azlatency.logs.grammar import json_tokens
from azlatency.logs.grammar.rules import DATA, KNOWN
from azlatency.logs.source.decode import SourceLines

if TYPE_CHECKING:
    from azlatency.logs.parsers import Log
    from azlatency.logs.record import Recorder


def begins_document(text: str) -> bool:
    """Return whether a line begins with the brace of a JSON document."""
    return "{" in text and text.lstrip().startswith("{")


class JsonLineMap:
    """The text of a log, and the line of each position in it.

    Without a line feed at its end the text may stop inside a number, which the reader must notice. ``whole=True`` adds
    the line feed, so that the last line counts as complete.
    """

    def __init__(self, log: Log, recorder: Recorder, *, whole: bool = False) -> None:
        self.log, self.recorder, self._whole = log, recorder, whole
        # Whether the text consists of whole lines of the source.
        self._plain = isinstance(log.lines, SourceLines)
        self._last = len(log.lines) - 1

    @cached_property
    def text(self) -> str:
        """The text of the log, built on first use because many logs contain no document."""
        end = "\n" if self._whole or not self.log.unfinished_line else ""
        if isinstance(self.log.lines, SourceLines):
            text = self.log.lines.text
            return text if text.endswith("\n") or self.log.is_document else text + end
        return "\n".join([line.text for line in self.log.lines]) + end

    @cached_property
    def _line_feeds(self) -> array[int]:
        """The positions of all line feeds."""
        return array("q", [match.start() for match in re.finditer("\n", self.text)])

    def begin(self, index: int) -> int:
        """Return where the document begins whose brace is in the line with this index."""
        return self.text.index("{", self._line_feeds[index - 1] + 1 if index else 0)

    def line_index(self, position: int) -> int:
        """Return the index in ``log.lines`` of the line at a position."""
        return min(bisect_left(self._line_feeds, position), self._last)

    def line_number(self, position: int) -> int:
        """Return the number of the line at a position."""
        index = self.line_index(position)
        return index + 1 if self._plain else self.log.lines[index].number

    def mark_between(self, start: int, end: int, kind: int) -> None:
        """Mark every line between two positions, except lines with a kind of higher priority."""
        self.recorder.accounting.raise_range(self.line_number(start), self.line_number(max(end - 1, start)), kind)

    def mark_up_to(self, start: int, after: int) -> None:
        """Mark every line between a position and the line with an index as known."""
        self.recorder.accounting.raise_range(self.line_number(start), self.log.lines[after - 1].number, KNOWN)

    def mark_data(self, node: json_tokens.Scalar | json_tokens.JsonObject) -> int:
        """Mark the line of a value as data and return its number."""
        number = self.line_number(node.position)
        self.recorder.accounting.mark(number, DATA)
        return number

    def mark_lines(self, numbers: Sequence[int]) -> None:
        """Mark lines in ascending order as data."""
        if numbers and {0, 1}.issuperset(map(sub, numbers[1:], numbers)):
            self.recorder.accounting.raise_range(numbers[0], numbers[-1], DATA)
            return
        for number in numbers:
            self.recorder.accounting.mark(number, DATA)

    def read_document(
        self, index: int, kept: json_tokens.Kept | None = None
    ) -> tuple[json_tokens.JsonObject, int, json_tokens.JsonError | None]:
        """Read the document that starts in the line with this index.

        Returns the document, the index of the first line after it, and the error if it is truncated or malformed; then
        it contains what `json_tokens.read_object` keeps.
        """
        start = self.begin(index)
        root = json_tokens.JsonObject()
        try:
            end = json_tokens.read_object(self.text, start, root, kept=kept)
        except json_tokens.JsonError as error:
            after = len(self.log.lines)
            if not error.at_end:
                after = max(self.line_index(error.position), self.line_index(start) + 1)
            self.mark_up_to(start, after)
            return root, after, error
        self.mark_between(start, end, KNOWN)
        return root, self.line_index(end - 1) + 1, None

    def numbers(self, node: json_tokens.JsonObject) -> list[tuple[str, str, int]]:
        """Return key, token and line of the members of an object that are numbers; see `JsonObject.numbers`."""
        return [(key, scalar.token, self.line_number(scalar.position)) for key, scalar in node.numbers()]
