"""The lines of a log that JSON documents and their values occupy."""

from __future__ import annotations

import re
import sys
from bisect import bisect_left
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import count
from operator import sub
from typing import TYPE_CHECKING, Any

from msgspec import Raw

from azlatency.logs import json_tokens
from azlatency.logs.documents import SourceLines
from azlatency.logs.grammar import DATA, KNOWN
from azlatency.logs.json_scan import LONG, scan_object
from azlatency.logs.large import FileText, LongText, Piece, Shortened, TooLargeError
from azlatency.logs.lines import Lines
from azlatency.logs.long_documents import LONGEST, LongDocumentError, cut_document, fits_whole
from azlatency.logs.parsers import Log
from azlatency.logs.parsers.common import unfinished_line
from azlatency.logs.record import Recorder

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from azlatency.logs.json_lists import Alike

#: In a long text, positions so far from the last one are looked up after so many of them, and else counted.
_FAR, _FEW = 2**12, 8
#: In a larger text, the positions of all line feeds need much memory.
_LARGEST_INDEXED = 2**24


def begins_document(text: str) -> bool:
    """Return whether a line begins with the brace of a JSON document."""
    return "{" in text and text.lstrip().startswith("{")


class JsonLineMap:
    """The text of a log, and the line of each position in it.

    Of a log that stays in its file, the text is one document without the elements of its long lists (`begin`), or some
    of those elements while `windows` and `elements` yield them, or the lines that `show_lines` shows.

    Without a line feed at its end the text may stop inside a number, which the reader must notice. ``whole=True`` adds
    the line feed, so that the last line counts as complete.
    """

    def __init__(self, log: Log, recorder: Recorder, *, whole: bool = False) -> None:
        self.log, self.recorder, self._whole = log, recorder, whole
        # The last answers of `_line` and `line_start`, from which the next ones are counted.
        self._place, self._index = 0, 0
        self._start = 0, 0
        self._jumps = count()
        # Whether the text consists of whole lines of the source, and how many of those above them the log leaves out.
        self._plain, self._above = isinstance(log.lines, SourceLines), 0
        self._last = self._lowest = len(log.lines) - 1
        # Positions in the text from which on lines are missing in it, and how many.
        self._cuts: list[int] = []
        self._missing: list[int] = []
        self._document, self._first = Shortened("", {}), 0
        text = log.source.text
        self._is_in_file = isinstance(text, FileText) and not isinstance(text, LongText)
        if isinstance(text, LongText):
            self._show_document(text.shortened, 0)

    # --- parts of a large log

    def _show(self, text: str, missing: Mapping[int, int], *, plain: bool = True) -> None:
        """Make a part of the log the text, in which lines are missing from some positions on."""
        for name in ("_bytes", "_line_feeds"):
            self.__dict__.pop(name, None)
        self.text, self._cuts, self._missing, self._plain = text, list(missing), list(missing.values()), plain
        self._lowest = self.log.source.line_count - 1 if plain else self._last
        self._place, self._index, self._start = 0, 0, (0, 0)

    def _show_document(self, document: Shortened, first: int) -> None:
        """Show a document that begins in the line of the source with this index."""
        self._document, self._first = document, first
        missing = {place: first + lines for place, (_, lines) in document.lists.items()}
        end = "\n" if self._whole and not document.rest.endswith("\n") else ""
        self._show(document.rest + end, {-1: first, **missing})

    def begin(self, index: int) -> int:
        """Return where the document begins whose brace is in the line with this index; a large log shows it then."""
        lines, text = self.log.lines, self.log.source.text
        if not (self._is_in_file and isinstance(text, FileText) and isinstance(lines, Lines)):
            return self.text.index("{", self.line_start(index))
        first, start = lines[index].number - 1, lines.place_of(index)
        start = text.find("{", start)
        try:
            self._show_document(cut_document(text, start, self._stop, self.log.tool, first), first)
        except LongDocumentError:
            if not fits_whole(text, start, self._stop):
                what = f"a document that is not divided into elements of at most {LONGEST} bytes"
                raise TooLargeError(f"{what}; split it, or record less in one document", first + 1) from None
            self._is_in_file = False
            self._show(self._whole_text(), {}, plain=False)
            return self.begin(index)
        self._above = first - index
        return 0

    @cached_property
    def _stop(self) -> int:
        """Where a log ends in a text that stays in its file."""
        lines, text = self.log.lines, self.log.source.text
        assert isinstance(text, FileText) and isinstance(lines, Lines)
        return lines.end_in(text)

    def windows(self, position: int) -> Iterator[Piece]:
        """Show the elements of a long list, which would begin at a position, as lists; none of any other list."""
        document, first = self._document, self._first
        if position in document.lists:
            try:
                for piece in document.lists[position][0]:
                    self.show_piece(piece)
                    yield piece
            finally:
                self._show_document(document, first)

    def is_divided(self, item: object) -> bool:
        """Return whether an item of a list stands for elements that stay in the file."""
        return isinstance(item, json_tokens.Scalar) and item.position in self._document.lists

    def pieces(self, item: json_tokens.Scalar) -> list[Piece]:
        """Return the elements that stay in the file, for which an item of a list stands."""
        return self._document.lists[item.position][0]

    @property
    def is_valid(self) -> bool:
        """Whether the log is known to be one valid document."""
        text = self.log.source.text
        return self.log.document is not None and not (isinstance(text, LongText) and not text.shortened.is_complete)

    def show_piece(self, piece: Piece) -> None:
        """Show elements of a long list as a list."""
        self._show(f"[{self.log.source.text[piece.begin : piece.end]}]", {-1: piece.line})

    def show_lines(self, start: int, stop: int) -> None:
        """Show the lines between two indexes."""
        texts = [self.log.lines[index].text for index in range(start, stop)]
        self._show("\n".join(texts) + "\n", {-1: start}, plain=False)

    def elements(self, items: list[Any], *, alike: bool = True) -> Iterator[Any]:
        """Yield the elements of a list that is kept.

        With ``alike``, those of a long list of a document are `json_lists.Element`, as in other long documents.
        """
        for item in items:
            windows = self.windows(item.position) if isinstance(item, json_tokens.Scalar) else iter(())
            if (window := next(windows, None)) is None:
                yield item
            while window is not None:
                yield from self.shown(alike=alike and window.is_valid)
                window = next(windows, None)

    def shown(self, *, alike: bool) -> Iterator[Any]:
        """Yield the elements of the list that is shown."""
        text, reader = self.text, None
        if alike and text.isascii():
            from azlatency.logs.json_lists import AlikeReader

            reader = AlikeReader(text).read
        place = json_tokens.skip_blanks(text, 1)
        while text[place : place + 1] != "]":
            element: Any
            if text[place] != "{":
                element, place = json_tokens.read_value(text, place)
            elif reader is not None:
                element, place = reader(place, 0)
            else:
                element = json_tokens.JsonObject()
                place = self.read_object(place, element)
            yield element
            place = json_tokens.skip_comma(text, place, "]")

    @cached_property
    def text(self) -> str:
        """The text of the log, built on first use because many logs contain no document."""
        return self._whole_text()

    def _whole_text(self) -> str:
        end = "\n" if self._whole or not unfinished_line(self.log) else ""
        if isinstance(self.log.lines, SourceLines):
            text = self.log.lines.text
            return text if text.endswith("\n") or self.log.document is not None else text + end
        return "\n".join([line.text for line in self.log.lines]) + end

    @cached_property
    def _bytes(self) -> NDArray[np.uint8] | None:
        """The bytes of a long text; None for a short one, and where positions are not those of bytes."""
        if len(self.text) < LONG or not self.text.isascii():
            return None
        import numpy as np

        return np.frombuffer(self.text.encode(), dtype=np.uint8)

    @cached_property
    def _line_feeds(self) -> NDArray[np.intp]:
        """The positions of all line feeds of a long text."""
        assert self._bytes is not None
        return (self._bytes == ord("\n")).nonzero()[0]

    @cached_property
    def _is_indexed(self) -> bool:
        """Whether the line feeds are looked up at once, which costs less than to count them twice."""
        return "numpy" in sys.modules and len(self.text) < _LARGEST_INDEXED

    def find_all(self, character: str, start: int, stop: int) -> list[int]:
        """Return the positions of a character from ``start`` up to ``stop``."""
        if self._bytes is None:
            return [match.start() + start for match in re.finditer(re.escape(character), self.text[start:stop])]
        positions: list[int] = ((self._bytes[start:stop] == ord(character)).nonzero()[0] + start).tolist()
        return positions

    def line_start(self, index: int) -> int:
        """Return the position at which the line with this index starts, or the end of the text."""
        at, place = self._start if self._start[0] <= index else (0, 0)
        for _ in range(index - at):
            place = self.text.find("\n", place) + 1 or len(self.text)
        self._start = index, place
        return place

    def _line(self, position: int) -> int:
        """Return the index of the line at a position: in the source if the lines are plain, else in ``log.lines``."""
        # Most positions lie shortly after the one before: count the line feeds between the two.
        before, self._place = self._place, position
        missing = self._missing_before(position) if self._cuts else 0
        distance = position - before
        if 0 <= distance <= _FAR:
            self._index += self.text.count("\n", before, position)
        elif position <= _FAR:
            self._index = self.text.count("\n", 0, position)
        elif len(self.text) - position <= _FAR and self.text is self.log.source.text:
            last = self.log.source.line_count - (not self.text.endswith("\n"))
            self._index = last - self.text.count("\n", position)
        elif (self._is_indexed or next(self._jumps) > _FEW) and self._bytes is not None:
            self._index = int(self._line_feeds.searchsorted(position))
        elif position < -distance:
            self._index = self.text.count("\n", 0, position)
        elif distance < 0:
            self._index -= self.text.count("\n", position, before)
        else:
            self._index += self.text.count("\n", before, position)
        return min(self._index + missing, self._lowest)

    def line_index(self, position: int) -> int:
        """Return the index in ``log.lines`` of the line at a position."""
        return self._line(position) - (self._above if self._plain else 0)

    def _missing_before(self, position: int) -> int:
        """Return how many lines are missing in the text before a position."""
        at = bisect_left(self._cuts, position)
        return self._missing[at - 1] if at else 0

    def line_number(self, position: int) -> int:
        """Return the number of the line at a position."""
        index = self._line(position)
        return index + 1 if self._plain else self.log.lines[index].number

    def line_numbers(self, positions: Sequence[int] | NDArray[np.intp]) -> list[int]:
        """Return the numbers of the lines at ascending positions."""
        if self._bytes is None:
            return [self.line_number(int(position)) for position in positions]
        numbers: list[int] = self._lines_of(positions).tolist()
        return numbers

    def _lines_of(self, positions: Sequence[int] | NDArray[np.intp]) -> NDArray[np.intp]:
        """Return the numbers of the lines at ascending positions of a long text."""
        import numpy as np

        indexes = self._line_feeds.searchsorted(positions)
        if self._cuts:
            indexes += np.array([0, *self._missing])[np.searchsorted(self._cuts, positions)]
        if self._plain:
            return indexes + 1
        numbers = np.array([line.number for line in self.log.lines])
        return numbers[np.minimum(indexes, self._last)]

    def lines_between(self, alike: Alike) -> int:
        """Return how many lines below one of alike elements the next one begins."""
        return self.text.count("\n", *alike.begins[:2])

    def lines_in_all(self, alike: Alike, line: int) -> list[int]:
        """Return the numbers of the lines that are in each of alike elements what a line is in the first one."""
        step = self.lines_between(alike)
        return list(range(line, line + step * len(alike), step)) if step else [line] * len(alike)

    def mark_in_all(self, alike: Alike, lines: Collection[int]) -> None:
        """Mark lines of the first of alike elements, and those lines of the others, as data."""
        import numpy as np

        step, first, last = self.lines_between(alike), min(lines), max(lines)
        kinds = np.zeros(last - first + 1 + step * (len(alike) - 1), np.uint8)
        for line in set(lines):
            kinds[line - first :: step or len(kinds)][: len(alike)] = DATA
        self.recorder.accounting.raise_each(first, kinds.tobytes())

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
        first = last = 0
        for number in numbers:
            if number > last + 1:
                if first:
                    self.recorder.accounting.raise_range(first, last, DATA)
                first = number
            last = number
        if first:
            self.recorder.accounting.raise_range(first, last, DATA)

    def read_object(
        self,
        position: int,
        into: json_tokens.JsonObject,
        kept: json_tokens.Kept | None = None,
        reader: json_tokens.ElementReader | None = None,
    ) -> int:
        """Read the object at ``position`` and return its end; see `json_tokens.read_object`.

        In the lists of a long valid document that are kept, elements are `json_lists.Element` without ``reader``.
        """
        document, text = self.log.document, self.text
        if reader is not None:
            return json_tokens.read_object(text, position, into, kept=kept, reader=reader)
        if isinstance(document, Raw) and kept is not None and len(text) >= LONG and text.isascii():
            from azlatency.logs.json_lists import AlikeReader

            reader = AlikeReader(text, document).read
            return json_tokens.read_object(text, position, into, kept=kept, reader=reader)
        if len(self.text) - position >= LONG and self._bytes is not None:
            document = self.log.document if isinstance(self.log.document, dict) else None
            if scan_object(self.text, position, into, self._lines_of, document):
                return into.end
        return json_tokens.read_object(self.text, position, into, kept=kept)

    def read_document(
        self, index: int, kept: json_tokens.Kept | None = None, reader: json_tokens.ElementReader | None = None
    ) -> tuple[json_tokens.JsonObject, int, json_tokens.JsonError | None]:
        """Read the document that starts in the line with this index.

        Returns the document, the index of the first line after it, and the error if it is truncated or malformed; then
        it contains what `json_tokens.read_object` keeps.
        """
        start = self.begin(index)
        root = json_tokens.JsonObject()
        try:
            end = self.read_object(start, root, kept, reader)
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
        return node.numbers(self.line_number)
