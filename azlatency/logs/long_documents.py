"""JSON of any size: what stays in the file while it is read.

These are documents of one line each, which are read as lines are, and documents with long lists. Such a document is
read once, some megabytes at a time, and its long lists are cut out, as are long texts that nobody reads. The next
element of a list begins with what follows the first one, ``},{"streams"`` for example. That an element ends there, and
no text inside of one, is proved by decoding all elements up to there. What follows the last complete element of a list
stays in the rest of the document, so that its reader finds where a document is cut or damaged.

A file that is one document, complete or cut, is known before a log is looked for (`find_json`). Other documents, which
are damaged or have text around them, begin in a line of a log (`cut_document`).
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from functools import cache

import msgspec

from azlatency.logs import json_tokens
from azlatency.logs.documents import SYNTAX, foreign_hints, tool_of
from azlatency.logs.json_tokens import DEEPEST, LONGEST_SCALAR
from azlatency.logs.large import FileText, LongText, Piece, Shortened, count_line_feeds
from azlatency.logs.parsers import load_parsers

#: So many bytes of elements are decoded together.
PIECE = 2**22
#: No element is longer, nor what a document has besides its long lists.
LONGEST = 2**23
#: What a document that is read as a whole needs of memory, in bytes, for each of its bytes and commas, and may need
#: beside some 90 MB for the process that imports. Measured: a text of 60 MB in one string needs 323 MB, bins of fio 260
#: bytes each, and numbers of iostat up to 670.
_PER_BYTE, _PER_COMMA, _MOST_MEMORY = 4.5, 600, 200_000_000
#: A document inside of a text is shown as a whole if it is not longer, which is tried in two steps.
_SHOWN = 2**16, 2**20
#: For each list, a whole piece is read.
_MOST_LISTS = 64
#: A key, and what is between two elements, are shorter.
_SHORT = 1024
#: The lines in which a tool is recognised.
_HEAD = 8192
_NEXT = re.compile(rb'\s{0,200},\s{0,200}\{\s{0,200}"[^"\\]{0,80}"')
_AFTER = re.compile(rb"[ \t\r\n]{0,500}([,\]])[ \t\r\n]{0,500}")
_TRAILING = re.compile(r"trailing characters \(byte (\d+)\)")
_DIGITS = bytes(ord("0") if byte in b"0123456789.+-eE" else ord(" ") for byte in range(256))
_NO_BRACKETS = bytes(byte for byte in range(256) if byte not in b"{}[]")
#: Characters that `azlatency.logs.decode` removes from lines.
_CONTROL = (b"\r", b"\x1b", b"\x08", b"\x1e")
_DEPTH_OF_LISTS = 8
_READER = json.JSONDecoder()


class LongDocumentError(Exception):
    """The document has to be read as a whole."""


def find_json(text: FileText) -> FileText | None:
    """Return the text of documents of one line each, or of one with long lists; None for any other text."""
    head = text.read(0, min(_HEAD, len(text)))
    parsers = load_parsers()
    if any(parser.document_line and re.match(parser.document_line, head) for parser in parsers.values()):
        return text
    tool = tool_of(head.decode("utf-8", "replace"))
    if not tool or not parsers[tool].document_lists:
        return None
    found = shorten(text, 0, len(text), tool, 0)
    if found is None or not (found.is_complete or (found.lists and _is_recognised(head, tool))):
        return None
    return LongText(text, tool, found)


def fits_whole(text: FileText, begin: int, stop: int) -> bool:
    """Return whether there is enough memory to read what is between two positions as a whole."""
    commas = sum(text.read(at, min(at + PIECE, stop)).count(b",") for at in range(begin, stop, PIECE))
    return _PER_BYTE * (stop - begin) + _PER_COMMA * commas <= _MOST_MEMORY


def shorten(text: FileText, begin: int, stop: int, tool: str, line: int) -> Shortened | None:
    """Return what is between two positions, below so many lines, as one document, valid or cut; None if it is not."""
    try:
        return _Scan(text, begin, stop, tool, line, is_alone=True).run()
    except (LongDocumentError, UnicodeError, RecursionError):
        return None


def _is_recognised(head: bytes, tool: str) -> bool:
    """Return whether a text that is no valid document, and begins like this, is a log of a tool."""
    lines = [line.strip() for line in head.decode("utf-8", "replace").split("\n")]
    return any(signature.pattern.fullmatch(line) for signature in load_parsers()[tool].signatures for line in lines)


def cut_document(text: FileText, begin: int, stop: int, tool: str, line: int) -> Shortened:
    """Return the document of a tool that begins between two positions, below so many lines.

    It ends with the document, where the document is damaged, or at ``stop``. Raises `LongDocumentError`.
    """
    try:
        for size in _SHOWN:
            raw = text.read(begin, min(begin + size, stop))
            end = _end_of(raw)
            if end or begin + len(raw) == stop:
                _check_plain(raw[:end])
                return Shortened(raw[:end].decode() + "\n" * (end is not None), {})
        return _Scan(text, begin, stop, tool, line, is_alone=False).run()
    except (UnicodeError, RecursionError):
        raise LongDocumentError from None


def _end_of(raw: bytes | bytearray) -> int | None:
    """Return the end of the document with which bytes begin, or of all bytes if it is damaged; None if it goes on."""
    try:
        SYNTAX.decode(raw)
        return len(raw)
    except msgspec.DecodeError as error:
        if "truncated" in str(error):
            return None
        if (trailing := _TRAILING.search(str(error))) and _is_valid(raw[: int(trailing[1]) - 1]):
            return int(trailing[1]) - 1
    text = raw.decode("latin-1")  # in which positions are those of the bytes
    try:
        return json_tokens.read_value(text, json_tokens.skip_blanks(text, 0))[1]
    except json_tokens.JsonError as error:
        if error.at_end:
            return None
    if _is_unusual(raw):
        raise LongDocumentError
    return len(raw)


class _Scan:
    """Divides a document into its long lists and its rest.

    Parameters
    ----------
    text : FileText
        The text.
    begin, stop : int
        Where the document begins, and where it ends at the latest.
    tool : str
        The tool that wrote it.
    line : int
        The number of lines above it.
    is_alone : bool
        Whether the text must be one document that is valid or cut. Otherwise it may be damaged, and text may follow.
    """

    def __init__(self, text: FileText, begin: int, stop: int, tool: str, line: int, *, is_alone: bool) -> None:
        self._text, self._place, self._stop, self._is_alone = text, begin, stop, is_alone
        parser = load_parsers()[tool]
        keys = parser.document_lists, parser.document_texts
        lists, texts = ("|".join(map(re.escape, names)) or "(?!)" for names in keys)
        colon = r"\s{0,20}:\s{0,20}"
        value = rf'(?:"(?:{lists})"{colon}\[\s{{0,200}}(?=\{{)|"(?:{texts})"{colon}")'
        self._long = re.compile(rf"[{{,]\s{{0,200}}{value}".encode())
        self._hints = [hint.encode() for hint in foreign_hints(tool)] if is_alone else []
        # What begins a document, of which a cut one may not contain another, and how often it was found.
        self._begins = _begins() if is_alone else []
        self._begun = 0
        self._rest = bytearray()
        self._lists: list[tuple[int, list[Piece], int]] = []
        # Lines up to where the text is read, and those of the lists.
        self._lines, self._lines_cut = line, 0
        self._is_whole = True  # no list ends inside of an element

    def run(self) -> Shortened:
        """Return the document; raise `LongDocumentError` if it has to be read as a whole."""
        end = None
        while end is None and self._place < self._stop:
            block = self._text.read(self._place, min(self._place + PIECE, self._stop))
            if self._is_whole and (match := self._long.search(block)):
                self._keep(block[: match.end()])
                end = self._find_end()
                if end is None and match[0].endswith(b'"'):
                    self._cut_text()
                elif end is None:
                    self._cut_list()
            else:  # a key may begin at the end of a block
                is_last = self._place + len(block) == self._stop
                self._keep(block if is_last or not self._is_whole else block[:-_SHORT] or block)
                end = self._find_end()
        rest = self._rest[:end].decode()
        if end is not None and not self._is_alone:
            rest += "\n"
        places = {len(self._rest[:at].decode()): (pieces, lines) for at, pieces, lines in self._lists}
        if end is None and self._begun + sum(map(self._rest.count, self._begins)) > 1:
            raise LongDocumentError
        return Shortened(rest, places, is_complete=end is not None)

    def _find_end(self) -> int | None:
        """Return where the document, as far as it is read, ends; None if it goes on."""
        if not self._is_alone:
            return _end_of(self._rest)
        try:
            SYNTAX.decode(self._rest)
        except msgspec.DecodeError as error:
            if "truncated" not in str(error):
                raise LongDocumentError from None
            return None
        return len(self._rest) if self._place == self._stop else None  # only white space may follow

    def _keep(self, block: bytes) -> None:
        self._rest += block
        if len(self._rest) > LONGEST:
            raise LongDocumentError
        self._check(block)
        self._lines += count_line_feeds(block)
        self._place += len(block)

    def _check(self, block: bytes) -> None:
        _check_plain(block)
        if any(hint in block for hint in self._hints):
            raise LongDocumentError

    def _cut_text(self) -> None:
        """Leave out pieces of a text that begins at the position; its end stays in the document."""
        while len(block := self._text.read(self._place, min(self._place + PIECE, self._stop))) == PIECE:
            piece = block[: block.rfind(b" ") + 1]  # no blank is a part of another character
            if b'"' in block.replace(b"\\\\", b"").replace(b'\\"', b"") or not piece:
                return
            if not _is_valid(b'"%b"' % piece):
                raise LongDocumentError
            self._check(piece)
            self._place += len(piece)

    def _cut_list(self) -> None:
        """Cut the complete elements out of a list that begins at the position."""
        lines_before, pieces = self._lines, self._find_pieces()
        if pieces:
            self._lines_cut += self._lines - lines_before
            self._lists.append((len(self._rest), pieces, self._lines_cut))
            self._rest += b"0 "  # in place of the elements; at the end of a text, a number might be cut
        if len(self._lists) > _MOST_LISTS:
            raise LongDocumentError

    def _find_pieces(self) -> list[Piece]:
        """Return the complete elements from the position on, which becomes their end."""
        pieces: list[Piece] = []
        following, length = None, PIECE
        begin, lines = self._place, self._lines
        while True:
            window = self._text.read(begin, min(begin + length, self._stop))
            if not pieces:
                following = _find_following(window)
            end, is_valid = self._end_of_elements(window, following)
            if not end and len(window) == length and (self._is_alone or _is_cut(window)):
                if length >= LONGEST:
                    raise LongDocumentError
                length *= 2
                continue
            if not end:
                self._is_whole = False
                return pieces
            pieces.append(Piece(begin, begin + end, lines, is_valid))
            self._check(window[:end])
            self._begun += sum(map(window[:end].count, self._begins))
            self._place, self._lines = begin + end, lines + count_line_feeds(window[:end])
            after = _AFTER.match(self._text.read(self._place, min(self._place + _SHORT, self._stop)))
            if after is None:
                self._is_whole = False
                return pieces
            if after[1] == b"]":
                return pieces
            begin, length = self._place + after.end(), PIECE
            lines = self._lines + after[0].count(b"\n")

    def _end_of_elements(self, window: bytes, following: bytes | None) -> tuple[int, bool]:
        """Return where the last complete element ends, 0 if there is none, and whether all of them are valid."""
        end = window.rfind(following) + 1 if following else 0
        if not end or not _is_valid(b"[%b]" % window[:end]):
            end = _last_end(window)
        if end and _is_valid(b"[%b]" % window[:end]):
            if _is_unusual(window[:end]):
                raise LongDocumentError
            return end, True
        if not self._is_alone:
            return _last_end(window, json_tokens.read_value), False
        if end:
            raise LongDocumentError
        return 0, True


@cache
def _begins() -> list[bytes]:
    """Return literals in the lines with which the documents of all tools begin."""
    signatures = [signature for parser in load_parsers().values() for signature in parser.signatures]
    return [signature.hint.encode() for signature in signatures if signature.hint.startswith('"')]


def _check_plain(block: bytes) -> None:
    if any(character in block for character in _CONTROL):
        raise LongDocumentError


def _find_following(window: bytes) -> bytes | None:
    """Return the end of the first element and the beginning of the second one."""
    try:
        end = _READER.raw_decode(window.decode("latin-1"))[1]
    except ValueError:
        return None
    following = _NEXT.match(window, end)
    return window[end - 1 : following.end()] if following else None


def _is_valid(document: bytes | bytearray) -> bool:
    try:
        SYNTAX.decode(document)
    except msgspec.DecodeError:
        return False
    return True


def _last_end(window: bytes, read: Callable[[str, int], tuple[object, int]] = _READER.raw_decode) -> int:
    """Return where the last element that is complete ends; 0 if there is none."""
    text, place, end = window.decode("latin-1"), 0, 0  # in which positions are those of the bytes
    while True:
        try:
            _, end = read(text, place)
        except ValueError:
            return end
        after = _AFTER.match(window, end)
        if after is None or after[1] == b"]":
            return end
        place = after.end()


def _is_cut(window: bytes) -> bool:
    """Return whether more text may complete an element."""
    try:
        json_tokens.read_value(window.decode("latin-1"), 0)
    except json_tokens.JsonError as error:
        return error.at_end
    return False


def _is_unusual(elements: bytes | bytearray) -> bool:
    """Return whether elements may contain what `json_tokens` does not read: deep nesting, numbers of many digits."""
    import numpy as np

    if b"0" * LONGEST_SCALAR in elements.translate(_DIGITS):
        return True
    brackets = np.frombuffer(elements.translate(None, _NO_BRACKETS), np.uint8)
    steps = np.where((brackets == ord("{")) | (brackets == ord("[")), 1, -1)
    return bool(len(steps)) and int(np.cumsum(steps).max()) > DEEPEST - _DEPTH_OF_LISTS
