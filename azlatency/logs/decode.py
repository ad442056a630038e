"""Raw bytes to text lines: compression, archives, encodings, escape sequences, carriage returns; all within bounds.

A file, an archive or a folder becomes a stream of `Source` objects, one for each log file or archive member. The raw
bytes are never changed; their SHA-256 names the source. Line numbers count line feeds, as editors and ``grep -n`` do;
where a terminal's carriage return rewrote a line, its pieces share the number.

What is undone, and why: byte order marks and UTF-16 (PowerShell redirection), colour and cursor escapes (sockperf
colours files too; ``script``), backspaces (flood ping), carriage returns (progress lines). Bounds: no source larger
than `LARGEST_SOURCE` after decompression, no archive with more than `MOST_MEMBERS` members; members are read in memory
and never written, so an archive cannot write anywhere.
"""

from __future__ import annotations

import bz2
import gzip
import hashlib
import io
import lzma
import os
import re
import tarfile
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from azlatency.logs.lines import Line, group_lines
from azlatency.logs.parsers import code_page_phrases

LARGEST_SOURCE = 2 * 1024**3
MOST_MEMBERS = 100_000
#: Stands for a line end that a program spelled out as two characters; the pieces of such a line keep its number.
SPELLED_END = "\x1e"
_PIECE = 1024**2
#: Smaller texts are made lines at once.
_FOLDED_FROM = 1024**2

# Operating system commands (window titles), then control sequences (colours, cursor), then two-byte escapes.
_ESCAPES = re.compile(
    r"\x1b\][^\x07\x1b]{0,1000}(?:\x07|\x1b\\)|\x1b\[[0-9;?]{0,30}[ -/]?[@-~]|\x1b[()][0-9A-B]|\x1b[=>78]"
)
_BACKSPACE = re.compile(r"[^\x08\n]\x08")
_BOMS = ((b"\xef\xbb\xbf", "utf-8-sig"), (b"\xff\xfe", "utf-16-le"), (b"\xfe\xff", "utf-16-be"))


class SourceError(ValueError):
    """Input that cannot be read as text; the message names the file and says what to do."""


@dataclass(frozen=True)
class Source:
    """One input file or archive member: where it is, what it is, its text."""

    path: str
    sha256: str
    size_bytes: int
    encoding: str
    text: str
    """Decoded text with line feeds only, before `lines` cleans it."""

    @property
    def source_id(self) -> str:
        """First 16 hex digits of the SHA-256 of the raw bytes."""
        return self.sha256[:16]

    @cached_property
    def line_count(self) -> int:
        """Number of physical lines; a last line without a line feed counts."""
        return self.text.count("\n") + (bool(self.text) and not self.text.endswith("\n"))

    @cached_property
    def lines(self) -> Sequence[Line]:
        """The cleaned lines; pieces between carriage returns of one physical line share its number."""
        text = self.text
        if len(text) >= _FOLDED_FROM:
            return group_lines(text, _lines_of)
        raws = text.split("\n")[: self.line_count]
        if not _has_control(text):
            return list(map(Line._make, enumerate(raws, start=1)))
        return [line for number, raw in enumerate(raws, start=1) for line in _lines_of(number, raw)]


def _has_control(text: str) -> bool:
    """Whether a text has a character that `_pieces` undoes."""
    return "\r" in text or "\x1b" in text or "\x08" in text or SPELLED_END in text


def _lines_of(number: int, raw: str) -> list[Line]:
    """The lines that one physical line shows."""
    if _has_control(raw):
        return [Line(number, piece) for piece in _pieces(raw)]
    return [Line(number, raw)]


def _pieces(raw: str) -> list[str]:
    """What one physical line showed, piece by piece between carriage returns; blank pieces only if all are.

    Line ends that a program spelled out (see `azlatency.logs.unwrap`) were no carriage returns: blank lines stay.
    """
    if SPELLED_END in raw:
        return [text for piece in raw.split(SPELLED_END) for text in _pieces(piece)]
    text = _ESCAPES.sub("", raw) if "\x1b" in raw else raw
    while "\x08" in text:
        shorter = _BACKSPACE.sub("", text)
        if shorter == text:
            shorter = text.replace("\x08", "")
        text = shorter
    pieces = [piece for piece in text.split("\r") if piece.strip()]
    return pieces or [""]


def source_from_bytes(raw: bytes, path: str, *, sha256: str | None = None) -> Source:
    """Decode bytes (decompressed already) into a `Source`. Raises `SourceError` for what is no text."""
    digest = sha256 or hashlib.sha256(raw).hexdigest()
    text, encoding = decode(raw, path)
    if "\r" in text:
        text = text.replace("\r\n", "\n")
        if "\n" not in text:
            text = text.replace("\r", "\n")
    return Source(path, digest, len(raw), encoding, text)


def decode(raw: bytes, path: str = "input") -> tuple[str, str]:
    """Text and the name of its encoding. Raises `SourceError` for binary data."""
    for mark, encoding in _BOMS:
        if raw.startswith(mark):
            try:
                return raw[len(mark) :].decode(encoding.removesuffix("-sig")), encoding
            except UnicodeDecodeError:
                # A cut in the middle of a character: what can be read is read, the rest is marked.
                return raw[len(mark) :].decode(encoding.removesuffix("-sig"), "replace"), encoding
    head = raw[:4096]
    if b"\x00" in head:
        return _decode_without_mark(raw, head, path)
    try:
        return raw.decode("utf-8"), "utf-8"
    except UnicodeDecodeError as error:
        if error.reason == "unexpected end of data" and error.start >= len(raw) - 3:
            return raw.decode("utf-8", "replace"), "utf-8"
    for encoding, phrase in code_page_phrases():
        if phrase in raw:
            return raw.decode(encoding, "replace"), encoding
    try:
        return raw.decode("cp1252"), "cp1252"
    except UnicodeDecodeError:
        return raw.decode("latin-1"), "latin-1"


def _decode_without_mark(raw: bytes, head: bytes, path: str) -> tuple[str, str]:
    """UTF-16 without a byte order mark, told by where the zero bytes of ASCII text stand; anything else is binary."""
    even, odd = head[0::2].count(0), head[1::2].count(0)
    half = len(head) // 2
    for zeros, others, encoding in ((odd, even, "utf-16-le"), (even, odd, "utf-16-be")):
        if zeros > 0.6 * half and others < 0.05 * half:
            return raw.decode(encoding, "replace"), encoding
    raise SourceError(f"{path}:1: binary file, not a text log; give the log itself, or an archive of logs")


def expand(path: Path | str, *, name: str | None = None) -> Iterator[Source | SourceError]:
    """Every log under ``path``: a file, a compressed file, a zip or tar archive, or a folder of those.

    Yields sources in order of name; what cannot be read comes as a `SourceError` in its place, so that one bad file
    does not hide the others. ``name`` is the path shown instead of ``path``.
    """
    path = Path(path)
    shown = name or path.as_posix()
    if path.is_dir():
        for child in sorted(entry for entry in path.rglob("*") if entry.is_file() and not _hidden(entry, path)):
            yield from expand(child, name=(Path(shown) / child.relative_to(path)).as_posix())
        return
    try:
        size = path.stat().st_size
        if size > LARGEST_SOURCE:
            raise SourceError(f"{shown}:1: {size} bytes, over the bound of {LARGEST_SOURCE}; split it")
        yield from expand_bytes(path.read_bytes(), shown)
    except OSError as error:
        yield SourceError(f"{shown}: {os.strerror(error.errno) if error.errno else error}; check the path")


def expand_bytes(raw: bytes, shown: str) -> Iterator[Source | SourceError]:
    """As `expand`, for bytes already read (standard input)."""
    try:
        if zipfile.is_zipfile(io.BytesIO(raw)):
            yield from _zip_members(raw, shown)
            return
        digest = hashlib.sha256(raw).hexdigest()
        plain = _decompress(raw, shown)
        if plain[257:262] == b"ustar":
            yield from _tar_members(plain, shown)
            return
        source = source_from_bytes(plain, shown, sha256=digest)
        del raw, plain  # the text is all that is needed from here on
        yield source
    except SourceError as error:
        yield error


def _hidden(entry: Path, root: Path) -> bool:
    return any(part.startswith(".") for part in entry.relative_to(root).parts)


def _decompress(raw: bytes, shown: str) -> bytes:
    """The bytes of a gzip, bzip2, xz or zstandard file, bounded; other bytes as they are."""
    readers: dict[bytes, Any] = {
        b"\x1f\x8b": gzip.open,
        b"BZh": bz2.open,
        b"\xfd7zXZ\x00": lzma.open,
        b"\x28\xb5\x2f\xfd": _open_zstd,
    }
    for magic, reader in readers.items():
        if raw.startswith(magic):
            try:
                with reader(io.BytesIO(raw)) as stream:
                    return _read_bounded(stream, shown)
            except (OSError, EOFError, zlib.error, lzma.LZMAError) as error:
                raise SourceError(f"{shown}:1: damaged compressed file ({error}); copy it again") from None
    return raw


def _read_bounded(stream: Any, shown: str) -> bytes:
    """Everything in the stream, piece by piece: a small file that unpacks to a huge one stops at the bound."""
    plain = bytearray()
    while piece := stream.read(_PIECE):
        plain += piece
        if len(plain) > LARGEST_SOURCE:
            raise SourceError(f"{shown}:1: more than {LARGEST_SOURCE} bytes when decompressed; split it")
    return bytes(plain)


def _open_zstd(stream: io.BytesIO) -> Any:
    import pyarrow as pa

    return pa.CompressedInputStream(pa.BufferReader(stream.getvalue()), "zstd")


def _zip_members(raw: bytes, shown: str) -> Iterator[Source | SourceError]:
    try:
        with zipfile.ZipFile(io.BytesIO(raw)) as archive:
            members = sorted((entry for entry in archive.infolist() if not entry.is_dir()), key=lambda e: e.filename)
            _check_bounds(shown, [entry.file_size for entry in members])
            for entry in members:
                with archive.open(entry) as stream:
                    yield from _member(_read_bounded(stream, shown), shown, entry.filename)
    except (zipfile.BadZipFile, RuntimeError, NotImplementedError, zlib.error, EOFError) as error:
        yield SourceError(f"{shown}:1: damaged or encrypted zip archive ({error}); unpack it yourself")


def _tar_members(plain: bytes, shown: str) -> Iterator[Source | SourceError]:
    try:
        with tarfile.open(fileobj=io.BytesIO(plain)) as archive:
            members = sorted((entry for entry in archive if entry.isfile()), key=lambda e: e.name)
            _check_bounds(shown, [entry.size for entry in members])
            for entry in members:
                stream = archive.extractfile(entry)
                if stream is not None:
                    yield from _member(_read_bounded(stream, shown), shown, entry.name)
    except (tarfile.TarError, EOFError) as error:
        yield SourceError(f"{shown}:1: damaged tar archive ({error}); unpack it yourself")


def _member(raw: bytes, shown: str, member: str) -> Iterator[Source | SourceError]:
    """One archive member; an archive inside an archive is not opened."""
    label = f"{shown}!{member}"
    if any(part.startswith(".") and part != ".." for part in Path(member).parts):
        return
    try:
        yield source_from_bytes(_decompress(raw, label), label, sha256=hashlib.sha256(raw).hexdigest())
    except SourceError as error:
        yield error


def _check_bounds(shown: str, sizes: list[int]) -> None:
    if len(sizes) > MOST_MEMBERS:
        raise SourceError(f"{shown}:1: {len(sizes)} members, over the bound of {MOST_MEMBERS}; split the archive")
    if sum(sizes) > LARGEST_SOURCE:
        raise SourceError(f"{shown}:1: {sum(sizes)} bytes unpacked, over the bound of {LARGEST_SOURCE}; split it")
