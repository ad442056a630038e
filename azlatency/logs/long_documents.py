"""JSON of any size: what stays in the file while it is read.

These are documents of one line each, which are read as lines are, and documents with long lists. `find_json` reads such
a document once, some megabytes at a time, and cuts its long lists out. The next element begins with what follows the
first one, ``},{"streams"`` for example. That an element ends there, and no text inside of one, is proved by decoding
all elements up to there. The rest of the document must be valid too: that the whole is complete is known before
anything of it is read. What is cut or damaged, or has another form, is read as a whole.
"""

from __future__ import annotations

import json
import re

import msgspec

from azlatency.logs.documents import SYNTAX, foreign_hints, tool_of
from azlatency.logs.json_tokens import DEEPEST, LONGEST_SCALAR
from azlatency.logs.large import FileText, LongText, Piece, count_line_feeds
from azlatency.logs.parsers import load_parsers

#: So many bytes of elements are decoded together.
PIECE = 2**22
#: Documents with a longer element, or with more than this besides their long lists, are read as a whole.
_LONGEST = 2**23
#: For each list, a whole piece is read.
_MOST_LISTS = 64
#: A key, and what is between two elements, are shorter.
_SHORT = 1024
_NEXT = re.compile(rb'\s{0,200},\s{0,200}\{\s{0,200}"[^"\\]{0,80}"')
_AFTER = re.compile(rb"[ \t\r\n]{0,500}([,\]])[ \t\r\n]{0,500}")
_DIGITS = bytes(ord("0") if byte in b"0123456789.+-eE" else ord(" ") for byte in range(256))
_NO_BRACKETS = bytes(byte for byte in range(256) if byte not in b"{}[]")
_DEPTH_OF_LISTS = 8
_READER = json.JSONDecoder()


class _WholeError(Exception):
    """The document has to be read as a whole."""


def may_stay_in_file(head: bytes) -> bool:
    """Return whether a text with this beginning may be JSON that need not be in memory as a whole."""
    return _begins_lines(head) or bool(_lists_of(head.decode("utf-8", "replace")))


def find_json(text: FileText) -> FileText | None:
    """Return the text of documents of one line each, or of one with long lists; None if it is read as a whole."""
    head = text.read(0, min(_SHORT, len(text)))
    if _begins_lines(head):
        return text
    lists = _lists_of(head.decode("utf-8", "replace"))
    if not lists:
        return None
    try:
        return _Scan(text, tool_of(head.decode("utf-8", "replace")), lists).run()
    except (_WholeError, msgspec.DecodeError, UnicodeError, RecursionError):
        return None


def _begins_lines(head: bytes) -> bool:
    return any(parser.document_line and re.match(parser.document_line, head) for parser in load_parsers().values())


def _lists_of(head: str) -> tuple[str, ...]:
    """Return the keys of the long lists of a document with this beginning."""
    tool = tool_of(head)
    return load_parsers()[tool].document_lists if tool and head[0] == "{" else ()


class _Scan:
    """Divides a document into its long lists and its rest."""

    def __init__(self, text: FileText, tool: str, lists: tuple[str, ...]) -> None:
        self._text, self._tool = text, tool
        keys = "|".join(map(re.escape, lists))
        self._list = re.compile(rf'[{{,]\s{{0,200}}"(?:{keys})"\s{{0,20}}:\s{{0,20}}\[\s{{0,200}}(?=\{{)'.encode())
        self._hints = [hint.encode() for hint in foreign_hints(tool)]
        self._rest = bytearray()
        # Line feeds up to where the text is read, and those of the lists.
        self._lines = self._lines_cut = 0

    def run(self) -> LongText:
        """Return the text; raise `_WholeError` or `msgspec.DecodeError` if it has to be read as a whole."""
        place, size, lists = 0, len(self._text), []
        while place < size:
            block = self._text.read(place, min(place + PIECE, size))
            if match := self._list.search(block):
                place = self._keep(block[: match.end()], place)
                pieces, place = self._find_pieces(place)
                lists.append((len(self._rest), pieces, self._lines_cut))
                self._rest += b"0"  # in place of the elements
                if len(lists) > _MOST_LISTS:
                    raise _WholeError
            else:  # a key may begin at the end of a block
                place = self._keep(block if place + len(block) == size else block[:-_SHORT] or block, place)
        SYNTAX.decode(self._rest)
        rest = self._rest.decode()
        if not lists or rest[len(rest.rstrip()) :] not in ("", "\n"):
            raise _WholeError
        places = {len(self._rest[:at].decode()): (pieces, lines) for at, pieces, lines in lists}
        return LongText(self._text, self._tool, rest, places)

    def _keep(self, block: bytes, place: int) -> int:
        self._rest += block
        if len(self._rest) > _LONGEST:
            raise _WholeError
        self._check(block)
        self._lines += count_line_feeds(block)
        return place + len(block)

    def _check(self, block: bytes) -> None:
        if b"\r" in block or any(hint in block for hint in self._hints):
            raise _WholeError

    def _find_pieces(self, begin: int) -> tuple[list[Piece], int]:
        """Return the elements of the list whose first one begins at ``begin``, and the position after them."""
        pieces: list[Piece] = []
        following, lines_before, length = None, self._lines, PIECE
        while True:
            window = self._text.read(begin, min(begin + length, len(self._text)))
            if not pieces:
                following = _find_following(window)
            end = window.rfind(following) + 1 if following else 0
            if not end or not _is_valid(window[:end]):
                end = _last_end(window)
            if not end:
                if len(window) < length or length >= _LONGEST:
                    raise _WholeError
                length *= 2
                continue
            SYNTAX.decode(b"[%b]" % window[:end])
            behind = self._text.read(begin + end, min(begin + end + _SHORT, len(self._text)))
            after = _AFTER.match(behind)
            if after is None:
                raise _WholeError
            self._check(window[:end])
            if _is_unusual(window[:end]):
                raise _WholeError
            pieces.append(Piece(begin, begin + end, self._lines))
            self._lines += count_line_feeds(window[:end]) + after[0].count(b"\n")
            begin, length = begin + end + after.end(), PIECE
            if after[1] == b"]":
                self._lines -= after[0].count(b"\n", after.start(1))
                self._lines_cut += self._lines - lines_before
                return pieces, begin - (after.end() - after.start(1))


def _find_following(window: bytes) -> bytes | None:
    """Return the end of the first element and the beginning of the second one."""
    try:
        end = _READER.raw_decode(window.decode("latin-1"))[1]
    except ValueError:
        return None
    following = _NEXT.match(window, end)
    return window[end - 1 : following.end()] if following else None


def _is_valid(elements: bytes) -> bool:
    try:
        SYNTAX.decode(b"[%b]" % elements)
    except msgspec.DecodeError:
        return False
    return True


def _last_end(window: bytes) -> int:
    """Return where the last element that is complete ends; 0 if there is none."""
    text, place, end = window.decode("latin-1"), 0, 0  # in which positions are those of the bytes
    while True:
        try:
            _, end = _READER.raw_decode(text, place)
        except ValueError:
            return end
        after = _AFTER.match(window, end)
        if after is None or after[1] == b"]":
            return end
        place = after.end()


def _is_unusual(elements: bytes) -> bool:
    """Return whether elements may contain what `json_tokens` does not read: deep nesting, numbers of many digits."""
    import numpy as np

    if b"0" * LONGEST_SCALAR in elements.translate(_DIGITS):
        return True
    brackets = np.frombuffer(elements.translate(None, _NO_BRACKETS), np.uint8)
    steps = np.where((brackets == ord("{")) | (brackets == ord("[")), 1, -1)
    return bool(len(steps)) and int(np.cumsum(steps).max()) > DEEPEST - _DEPTH_OF_LISTS
