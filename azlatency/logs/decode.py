"""Turns raw bytes into text lines: compression, archives, encodings, escape sequences, carriage returns.

A file, an archive or a folder becomes a stream of `Source` objects, one per log file or archive member. The SHA-256 of
the raw bytes identifies the source. Line numbers count line feeds, as editors and ``grep -n`` do; where a carriage
return overwrites a line on a terminal, all its pieces have the same number.

Removed are byte order marks and UTF-16 (PowerShell redirection), colour and cursor escapes (``script``, and sockperf,
which colours files too), backspaces (flood ping) and carriage returns (progress lines).

Input is not trusted: no source may exceed `LARGEST_SOURCE` after decompression, a large one may not exceed
`MOST_EXPANDED` times its compressed size, no decompressed line may exceed `LONGEST_EXPANDED_LINE`, no archive may have
more than `MOST_MEMBERS` members, and members are read in memory and never written to disk.
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
#: Logs shrink to between a third and a thirtieth of their size.
MOST_EXPANDED = 250
LONGEST_EXPANDED_LINE = 64 * 1024**2
_EXPANDED_FREELY = 256 * 1024**2
#: Replaces a line end that a program spelled out as two characters; the pieces of such a line keep its number.
SPELLED_END = "\x1e"
_PIECE = 1024**2
#: Lines of larger texts are grouped into blocks of uniform lines.
_GROUPED_FROM = 1024**2

# Operating system commands (window titles), then control sequences (colours, cursor), then two-byte escapes.
_ESCAPES = re.compile(
    r"\x1b\][^\x07\x1b]{0,1000}(?:\x07|\x1b\\)|\x1b\[[0-9;?]{0,30}[ -/]?[@-~]|\x1b[()][0-9A-B]|\x1b[=>78]"
)
_BACKSPACE = re.compile(r"[^\x08\n]\x08")
_BOMS = ((b"\xef\xbb\xbf", "utf-8-sig"), (b"\xff\xfe", "utf-16-le"), (b"\xfe\xff", "utf-16-be"))


class SourceError(ValueError):
    """Input that cannot be read as text. The message names the file and what to do."""


@dataclass(frozen=True)
class Source:
    """One input file or archive member.

    Attributes
    ----------
    path : str
        Path as given; an archive member follows after ``!``.
    sha256 : str
        SHA-256 of the raw bytes.
    size_bytes : int
        Number of bytes after decompression.
    encoding : str
        Name of the encoding.
    text : str
        Decoded text with line feeds only, before `lines` removes escape sequences.
    """

    path: str
    sha256: str
    size_bytes: int
    encoding: str
    text: str

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
        """The cleaned lines; the pieces of one physical line between carriage returns share its number."""
        text = self.text
        if len(text) >= _GROUPED_FROM:
            return group_lines(text, _clean_line)
        raws = text.split("\n")[: self.line_count]
        if not has_control(text):
            return list(map(Line._make, enumerate(raws, start=1)))
        return [line for number, raw in enumerate(raws, start=1) for line in _clean_line(number, raw)]


def has_control(text: str) -> bool:
    """Return whether a text contains a character that `_split_pieces` removes."""
    return "\r" in text or "\x1b" in text or "\x08" in text or SPELLED_END in text


def _clean_line(number: int, raw: str) -> list[Line]:
    """Return the lines that one physical line shows."""
    if has_control(raw):
        return [Line(number, piece) for piece in _split_pieces(raw)]
    return [Line(number, raw)]


def _split_pieces(raw: str) -> list[str]:
    """Return what a physical line shows between its carriage returns; a blank piece only if all pieces are blank.

    Between line ends that a program spelled out (`azlatency.logs.unwrap`), blank pieces are kept.
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
    for part in text.split("\x08"):
        # Every part but the first has one backspace in front of it, which deletes the character that is last so far.
        if kept:
            kept[-1] = kept[-1][:-1]
            if not kept[-1]:
                kept.pop()
        if part:
            kept.append(part)
    return "".join(kept)


def source_from_bytes(raw: bytes, path: str, *, sha256: str | None = None) -> Source:
    """Decode bytes that are already decompressed. Raises `SourceError` for binary data."""
    digest = sha256 or hashlib.sha256(raw).hexdigest()
    text, encoding = decode(raw, path)
    if "\r" in text:
        text = text.replace("\r\n", "\n")
        if "\n" not in text:
            text = text.replace("\r", "\n")
    return Source(path, digest, len(raw), encoding, text)


def decode(raw: bytes, path: str = "input") -> tuple[str, str]:
    """Return the text and the name of its encoding. Raises `SourceError` for binary data."""
    for mark, encoding in _BOMS:
        if raw.startswith(mark):
            try:
                return raw[len(mark) :].decode(encoding.removesuffix("-sig")), encoding
            except UnicodeDecodeError:
                # Truncated in the middle of a character.
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
    """Decode UTF-16 without a byte order mark, recognised by the positions of zero bytes; other data is binary."""
    even, odd = head[0::2].count(0), head[1::2].count(0)
    half = len(head) // 2
    for zeros, others, encoding in ((odd, even, "utf-16-le"), (even, odd, "utf-16-be")):
        if zeros > 0.6 * half and others < 0.05 * half:
            return raw.decode(encoding, "replace"), encoding
    raise SourceError(f"{path}:1: binary file, not a text log; give the log itself, or an archive of logs")


def expand(path: Path | str, *, name: str | None = None) -> Iterator[Source | SourceError]:
    """Yield every log under a path, in order of name.

    Parameters
    ----------
    path : path-like
        A file, a compressed file, a zip or tar archive, or a folder of those. Hidden files are skipped.
    name : str, optional
        Path to show instead of ``path``.

    Yields
    ------
    Source or SourceError
        An error takes the place of a file that cannot be read, so that it does not hide the others.
    """
    path = Path(path)
    shown = shown_name(name or path.as_posix())
    if path.is_dir():
        for child in sorted(entry for entry in path.rglob("*") if entry.is_file() and not _is_hidden(entry, path)):
            inside = shown_name((Path(shown) / child.relative_to(path)).as_posix())
            if child.is_symlink():
                yield SourceError(f"{inside}: a symbolic link is not followed; name the file that it points to")
            else:
                yield from expand(child, name=inside)
        return
    try:
        size = path.stat().st_size
        if size > LARGEST_SOURCE:
            raise SourceError(f"{shown}:1: {size} bytes, more than the limit of {LARGEST_SOURCE}; split it")
        yield from expand_bytes(path.read_bytes(), shown)
    except OSError as error:
        yield SourceError(f"{shown}: {os.strerror(error.errno) if error.errno else error}; check the path")


def shown_name(name: str) -> str:
    """Return a file name as text; bytes that are not UTF-8 are escaped."""
    return os.fsencode(name).decode("utf-8", "backslashreplace")


def expand_bytes(raw: bytes, shown: str) -> Iterator[Source | SourceError]:
    """Yield every log in bytes that are already read, for example from standard input; see `expand`."""
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
        del raw, plain  # only the text is needed from here
        yield source
    except SourceError as error:
        yield error


def _is_hidden(entry: Path, root: Path) -> bool:
    return any(part.startswith(".") for part in entry.relative_to(root).parts)


def _decompress(raw: bytes, shown: str) -> bytes:
    """Decompress gzip, bzip2, xz and zstandard, within bounds; return other bytes as they are."""
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
                    return _read_bounded(stream, shown, len(raw))
            except (OSError, EOFError, zlib.error, lzma.LZMAError) as error:
                raise SourceError(f"{shown}:1: damaged compressed file ({error}); copy it again") from None
    return raw


def _read_bounded(stream: Any, shown: str, compressed: int) -> bytes:
    """Read a stream piece by piece; stop at a limit if a small file unpacks to a huge one."""
    plain = bytearray()
    most = min(LARGEST_SOURCE, max(MOST_EXPANDED * compressed, _EXPANDED_FREELY))
    lines, line_start = 1, 0
    while piece := stream.read(_PIECE):
        if (end := max(piece.rfind(b"\n"), piece.rfind(b"\r"))) >= 0:
            lines, line_start = lines + piece.count(b"\n"), len(plain) + end + 1
        plain += piece
        if len(plain) - line_start > LONGEST_EXPANDED_LINE:
            what = f"a line of more than {LONGEST_EXPANDED_LINE} bytes when decompressed"
            raise SourceError(f"{shown}:{lines}: {what}, which is not a log; give the log itself")
        if len(plain) > most:
            raise SourceError(f"{shown}:1: more than {most} bytes when decompressed; split it")
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
                    yield from _member(_read_bounded(stream, shown, entry.compress_size), shown, entry.filename)
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
                    yield from _member(_read_bounded(stream, shown, entry.size), shown, entry.name)
    except (tarfile.TarError, EOFError) as error:
        yield SourceError(f"{shown}:1: damaged tar archive ({error}); unpack it yourself")


def _member(raw: bytes, shown: str, member: str) -> Iterator[Source | SourceError]:
    """Yield one archive member. An archive inside an archive is not opened."""
    label = f"{shown}!{member}"
    if any(part.startswith(".") and part != ".." for part in Path(member).parts):
        return
    try:
        yield source_from_bytes(_decompress(raw, label), label, sha256=hashlib.sha256(raw).hexdigest())
    except SourceError as error:
        yield error


def _check_bounds(shown: str, sizes: list[int]) -> None:
    if len(sizes) > MOST_MEMBERS:
        raise SourceError(f"{shown}:1: {len(sizes)} members, more than the limit of {MOST_MEMBERS}; split the archive")
    if sum(sizes) > LARGEST_SOURCE:
        raise SourceError(f"{shown}:1: {sum(sizes)} bytes unpacked, more than the limit of {LARGEST_SOURCE}; split it")
