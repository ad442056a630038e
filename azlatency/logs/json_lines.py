"""Where the JSON documents of a log stand: positions in its text, lines of its source, marks of the accounting."""

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
    """The text of a log and the line of each position in it.

    ``whole``: take the last line as ended, whether the log ends it or not. Without a line feed at its end the text may
    stop inside a number, which the reader must see.
    """

    def __init__(self, log: Log, recorder: Recorder, *, whole: bool = False) -> None:
        self.log, self.recorder, self._whole = log, recorder, whole

    @cached_property
    def text(self) -> str:
        """The text of the log; many have no document, so it is made when one is read."""
        end = "\n" if self._whole or not unfinished_line(self.log) else ""
        return "\n".join([line.text for line in self.log.lines]) + end

    @cached_property
    def starts(self) -> list[int]:
        """Where in the text each line begins, and where it ends."""
        return [0, *accumulate([len(line.text) + 1 for line in self.log.lines])]

    def line_index(self, position: int) -> int:
        """Index in the log of the line that the position stands in."""
        return min(bisect.bisect_right(self.starts, position), len(self.log.lines)) - 1

    def line_number(self, position: int) -> int:
        """Number of the line that the position stands in."""
        return self.log.lines[self.line_index(position)].number

    def mark_between(self, begin: int, end: int, kind: int) -> None:
        """Mark every line between two positions."""
        self.recorder.accounting.raise_range(self.line_number(begin), self.line_number(max(end - 1, begin)), kind)

    def mark_data(self, found: json_tokens.Scalar | json_tokens.JsonObject) -> int:
        """Mark the line of a value as data and return its number."""
        number = self.line_number(found.position)
        self.recorder.accounting.mark(number, DATA)
        return number

    def read_document(self, index: int, document: Callable[[int], int]) -> tuple[int, json_tokens.JsonError | None]:
        """Read the document that begins in line ``index`` with ``document(begin) -> end``.

        Returns the index of the first line behind it, and the fault where the text is cut or goes wrong.
        """
        begin = self.text.index("{", self.starts[index])
        try:
            end = document(begin)
        except json_tokens.JsonError as error:
            behind = (
                len(self.log.lines)
                if error.at_end
                else max(self.line_index(error.position), self.line_index(begin) + 1)
            )
            self.mark_between(begin, min(self.starts[behind], len(self.text)), KNOWN)
            return behind, error
        self.mark_between(begin, end, KNOWN)
        return self.line_index(end - 1) + 1, None
