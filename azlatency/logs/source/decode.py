"""Turns the bytes of one log into lines: encodings, escape sequences, carriage returns.

The SHA-256 of the raw bytes identifies a `Source`. Line numbers count line feeds, as editors and ``grep -n`` do; where
a carriage return overwrites a line on a terminal, all its pieces have the same number.

Removed are byte order marks and UTF-16 (PowerShell redirection), colour and cursor escapes (``script``, and sockperf,
which colours files too), backspaces (flood ping) and carriage returns (progress lines).
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import overload

from azlatency.logs.source.large import FileText
from azlatency.logs.source.lines import (
    Line,
    Piece,
    ShapedLines,
    find_texts,
    group_lines,
    shape_of,
    shaped,
    unique_pieces,
)

#: Replaces a line end that a program spelled out as two characters; the pieces of such a line keep its number.
SPELLED_END = "\x1e"
#: Lines of larger texts are grouped into blocks of uniform lines, which numpy reads. Its import takes as long as some
#: hundred kilobytes line by line.
_GROUPED_FROM = 2**16

# Operating system commands (window titles), then control sequences (colours, cursor), then two-byte escapes.
_ESCAPES = re.compile(
    r"\x1b\][^\x07\x1b]{0,1000}(?:\x07|\x1b\\)|\x1b\[[0-9;?]{0,30}[ -/]?[@-~]|\x1b[()][0-9A-B]|\x1b[=>78]"
)
#: Characters that `_split_pieces` removes.
_CONTROL = ("\r", "\x1b", "\x08", SPELLED_END)
_BACKSPACE = re.compile(r"[^\x08\n]\x08")
BYTE_ORDER_MARKS = ((b"\xef\xbb\xbf", "utf-8-sig"), (b"\xff\xfe", "utf-16-le"), (b"\xfe\xff", "utf-16-be"))
_FIRST_OF_MARKS = (b"\xef", b"\xff", b"\xfe")
#: This many bytes show whether a text has two bytes per character.
HEAD = 4096


def _no_phrases() -> list[tuple[str, bytes]]:
    return []


#: Returns phrases that show the code page of a text, as (code page, encoded phrase); the parsers replace it.
find_phrases: Callable[[], list[tuple[str, bytes]]] = _no_phrases


#: The reasons for which a picture, a program or a spreadsheet among logs is not read.
BINARY = "binary file, not a text log"
DOCUMENT = "a document, not an archive of logs"


def is_no_log(message: str) -> bool:
    """Return whether the message of a `SourceError` names a file that is not a log by its type; it is not damaged."""
    return BINARY in message or DOCUMENT in message


class SourceError(ValueError):
    """Input that cannot be read as text. The message names the file and what to do."""


@dataclass(frozen=True)
class Source:
    """One input file or archive member.

    ``path``: as given; an archive member follows after ``!``, and its member after another one. ``sha256``: of the raw
    bytes; ``size_bytes``: after decompression; ``text``: decoded, with line feeds only, before `lines` removes escape
    sequences.
    """

    path: str
    sha256: str
    size_bytes: int
    encoding: str
    text: str | FileText

    @property
    def source_id(self) -> str:
        """First 16 hex digits of the SHA-256 of the raw bytes."""
        return self.sha256[:16]

    @property
    def whole_text(self) -> str:
        """The text as one string, which for a large log may need much memory."""
        return self.text[:]

    @cached_property
    def line_count(self) -> int:
        """Number of physical lines; a last line without a line feed counts."""
        return self.text.count("\n") + (len(self.text) > 0 and not self.text.endswith("\n"))

    @cached_property
    def lines(self) -> Sequence[Line]:
        """The cleaned lines; the pieces of one physical line between carriage returns share its number."""
        text = self.text
        if isinstance(text, FileText) or len(text) >= _GROUPED_FROM:
            grouped = group_lines(text, _clean_lines)
            return shaped(grouped) if isinstance(grouped, list) else grouped
        plain = text.removesuffix("\n")
        raws = plain.split("\n") if text else []
        self.__dict__["line_count"] = len(raws)
        if not has_control(text):
            return ShapedLines(map(_NEW_LINE, enumerate(raws, start=1)), raws, shape_of(plain).split(b"\n"))
        return shaped(_clean_lines(1, text))

    def find_texts(self, find: Callable[[int], int]) -> Iterator[tuple[int, str]]:
        """Yield what `azlatency.logs.source.lines.find_texts` does, and build no lines if none is wanted."""
        return find_texts(self.lines, find) if find(0) else iter(())

    @property
    def pieces(self) -> Iterable[Piece]:
        """The lines in pieces; of uniform lines only the first."""
        lines = self.lines
        if isinstance(lines, ShapedLines):
            return [Piece(range(len(lines)), lines.texts, lines.shapes)]
        pieces = unique_pieces(lines)
        return (Piece(positions, text.split("\n"), shape_of(text).split(b"\n")) for text, positions in pieces)


class SourceLines(Sequence[Line]):
    """The lines of a text without characters that `decode` removes; all but the first and the last are built on use."""

    def __init__(self, source: Source) -> None:
        self.text = source.whole_text
        self._count = source.line_count
        self._source = source

    @cached_property
    def _lines(self) -> Sequence[Line]:
        return self._source.lines

    def __len__(self) -> int:
        return self._count

    @overload
    def __getitem__(self, index: int) -> Line: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Line]: ...
    def __getitem__(self, index: int | slice) -> Line | Sequence[Line]:
        if index == 0:
            return Line(1, self.text.partition("\n")[0])
        if index in (-1, self._count - 1):
            end = len(self.text) - self.text.endswith("\n")
            return Line(self._count, self.text[self.text.rfind("\n", 0, end) + 1 : end])
        return self._lines[index]


# `Line._make`, five times as fast.
_NEW_LINE = partial(tuple.__new__, Line)


def has_control(text: str) -> bool:
    """Return whether a text contains a character that `_split_pieces` removes."""
    return "\r" in text or "\x1b" in text or "\x08" in text or SPELLED_END in text


def _clean_lines(first: int, text: str) -> list[Line]:
    """Return the lines that physical lines show, of which the first has the number ``first``."""
    if "\x1b" in text and "\x1b]" not in text and SPELLED_END not in text:  # only a title can contain a line feed
        plain = _ESCAPES.sub("", text)
        text = text if "\x1b" in plain else plain
    raws = enumerate(text.removesuffix("\n").split("\n"), start=first)
    present = [character for character in _CONTROL if character in text]
    if not present:
        return list(map(_NEW_LINE, raws))
    one, has_others = present[0], len(present) > 1
    return [
        _NEW_LINE((number, piece))
        for number, raw in raws
        for piece in (_split_pieces(raw) if one in raw or (has_others and has_control(raw)) else (raw,))
    ]


def _split_pieces(raw: str) -> list[str]:
    """Return what a physical line shows between its carriage returns; a blank piece only if all pieces are blank.

    Between line ends that a program spelled out (`azlatency.logs.source.unwrap`), blank pieces are kept.
    """
    if SPELLED_END in raw:
        return [text for piece in raw.split(SPELLED_END) for text in _split_pieces(piece)]
    text = _ESCAPES.sub("", raw) if "\x1b" in raw else raw
    if "\x08" in text:
        text = _apply_backspaces(_BACKSPACE.sub("", text))
    pieces = [piece for piece in text.split("\r") if piece.strip()]
    return pieces or [""]


def _apply_backspaces(text: str) -> str:
    """Return a text without its backspaces and the characters that they delete."""
    if "\x08" not in text:
        return text
    kept: list[str] = []
    deleted = 0
    for part in reversed(text.split("\x08")):
        kept.append(part[: max(len(part) - deleted, 0)])
        # From the end, because characters are deleted from there: the backspace in front of this part deletes one more.
        deleted = max(deleted - len(part), 0) + 1
    return "".join(reversed(kept))


def source_from_bytes(raw: bytes, path: str, *, sha256: str | None = None) -> Source:
    """Decode bytes that are already decompressed. Raises `SourceError` for binary data."""
    digest = sha256 or hashlib.sha256(raw).hexdigest()
    text, encoding = decode(raw, path)
    if "\n\ufeff" in text:
        text = text.replace("\n\ufeff", "\n")  # files that were joined, each with its byte order mark
    if "\r" in text:
        text = text.replace("\r\n", "\n")
        if "\n" not in text:
            text = text.replace("\r", "\n")
    return Source(path, digest, len(raw), encoding, text)


def decode(raw: bytes, path: str = "input") -> tuple[str, str]:
    """Return the text and the name of its encoding. Raises `SourceError` for binary data."""
    head = raw[:HEAD]
    if head[:1] in _FIRST_OF_MARKS or b"\x00" in head:
        mark, encoding = begin_decoding(head, path)
        if encoding != "utf-8":
            return raw[len(mark) :].decode(encoding.removesuffix("-sig"), "replace"), encoding
    try:
        return raw.decode("utf-8"), "utf-8"
    except UnicodeDecodeError as error:
        if error.reason == "unexpected end of data" and error.start >= len(raw) - 3:
            return raw.decode("utf-8", "replace"), "utf-8"
    encoding = find_code_page([raw])
    return raw.decode(encoding, "replace"), encoding


def begin_decoding(head: bytes, path: str) -> tuple[bytes, str]:
    """Return the byte order mark with which a text begins, and its encoding: UTF-8 unless the beginning shows another.

    UTF-16 without a byte order mark is recognised by the positions of zero bytes; other data with zero bytes is binary.
    """
    for mark, encoding in BYTE_ORDER_MARKS:
        if head.startswith(mark):
            return mark, encoding
    if b"\x00" not in head:
        return b"", "utf-8"
    even, odd = head[0::2].count(0), head[1::2].count(0)
    half = len(head) // 2
    for zeros, others, encoding in ((odd, even, "utf-16-le"), (even, odd, "utf-16-be")):
        if zeros > 0.6 * half and others < 0.05 * half:
            return b"", encoding
    raise SourceError(f"{path}:1: {BINARY}; give the log itself, or an archive of logs")


def find_code_page(pieces: Iterable[bytes]) -> str:
    """Return the encoding of a text that is not UTF-8: that of a known phrase, else cp1252 if its bytes are of it."""
    phrases, end, otherwise = find_phrases(), b"", "cp1252"
    found: set[int] = set()
    longest = max((len(phrase) for _, phrase in phrases), default=1)
    for piece in pieces:
        found.update(place for place, (_, phrase) in enumerate(phrases) if phrase in end + piece)
        end = (end + piece)[-longest:]
        if otherwise == "cp1252":
            try:
                piece.decode(otherwise)
            except UnicodeDecodeError:
                otherwise = "latin-1"
    return phrases[min(found)][0] if found else otherwise
