"""Finds the logs in files, folders, archives and streams: compression, archives inside archives, and limits.

A file, an archive or a folder becomes a stream of `Source` objects, one per log file or archive member.

Input is not trusted: no source may exceed `LARGEST_SOURCE` after decompression, a large one may not exceed
`MOST_EXPANDED` times its compressed size, no line of a large text may exceed `LONGEST_LINE`, and nothing is
written to disk under the name of a member. Archives inside an archive are opened to a depth of `MOST_NESTED`; together
they may not have more than `MOST_MEMBERS` members, nor unpack to more than `_Room` allows.

The text of a large log stays in its file (`azlatency.logs.source.large`); what was compressed, in an archive or in a
stream is kept in a temporary file without a name. JSON is read as a whole, and refused beyond `LARGEST_WHOLE`.
"""

from __future__ import annotations

import bz2
import codecs
import gzip
import hashlib
import io
import lzma
import os
import re
import tarfile
import tempfile
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from stat import S_ISDIR
from typing import IO, Any

from azlatency.logs.source.decode import (
    DOCUMENT,
    HEAD,
    Source,
    SourceError,
    begin_decoding,
    find_code_page,
    source_from_bytes,
)
from azlatency.logs.source.large import LARGEST_WHOLE, FileText, count_line_feeds
from azlatency.logs.source.parquet import MAGIC, parquet_as_text

LARGEST_SOURCE = 2 * 1024**3
MOST_MEMBERS = 100_000
#: Archives inside the outermost archive, one inside the other.
MOST_NESTED = 3
#: Logs shrink to between a third and a thirtieth of their size.
MOST_EXPANDED = 250
#: The kind of each line is a byte in memory.
_MOST_LINES = 2**28
#: A line needs up to twelve times its size in memory.
LONGEST_LINE = 20 * 1024**2
_EXPANDED_FREELY = 256 * 1024**2
_PIECE = 1024**2
_LONGEST_ZIP_END = 22 + 2**16
#: The text of larger logs stays in a file.
_LARGE = 4 * 1024**2
#: Beyond `LARGEST_SOURCE`, only what shrinks like a log is decompressed.
_MOST_EXPANDED_LARGE = 50
#: Bytes that show whether a file is an archive.
_HEAD = 512
_ZIP = b"PK\x03\x04"
#: A member of these names makes a zip archive a document of an office program, or an e-book.
_DOCUMENT = {"[Content_Types].xml", "mimetype"}


class _NoRoomError(SourceError):
    """The limits of the outermost archive are reached: nothing more is read from it."""


def expand(path: Path | str, *, name: str | None = None) -> Iterator[Source | SourceError]:
    """Yield every log in a file, an archive or a folder, in order of name; hidden files are skipped.

    An error takes the place of a file that cannot be read, so that it does not hide the others. ``name`` is the path to
    show instead of ``path``.
    """
    path = path if isinstance(path, Path) else Path(path)
    shown = shown_name(name or path.as_posix())
    try:
        status = path.stat()
        if S_ISDIR(status.st_mode):
            yield from _expand_folder(path, shown)
        elif status.st_size < _LARGE // 2:
            with path.open("rb", buffering=0) as file:
                raw = file.read()
            yield from expand_bytes(raw, shown)
        else:
            yield from _expand_opened(path.open("rb"), shown)
    except SourceError as error:
        yield error
    except OSError as error:
        yield SourceError(f"{shown}: {os.strerror(error.errno) if error.errno else error}; check the path")


def _expand_folder(path: Path, shown: str) -> Iterator[Source | SourceError]:
    for file, name, problem in iter_entries(str(path)):
        inside = shown_name((Path(shown) / name).as_posix())
        if problem:
            yield SourceError(f"{inside}: {problem}")
        else:
            yield from expand(Path(file), name=inside)


def iter_entries(folder: str, under: str = "") -> Iterator[tuple[str, str, str]]:
    """Yield file, path below the root and problem of every entry of a folder, in order of name."""
    try:
        entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
    except OSError as error:
        yield folder, under.rstrip("/"), f"{error.strerror}; check the permissions"
        return
    for entry in entries:
        name = under + entry.name
        if entry.name.startswith("."):
            continue
        if entry.is_symlink():
            yield entry.path, name, "a symbolic link is not followed; copy the file that it points to"
        elif entry.is_dir():
            yield from iter_entries(entry.path, f"{name}/")
        else:
            yield entry.path, name, "" if entry.is_file() else "not a regular file"


def path_of(message: str) -> str:
    """Return the path of the source that the message of a `SourceError` names."""
    return re.split(r":(?:\d+:)? ", message, maxsplit=1)[0]


def shown_name(name: str) -> str:
    """Return a file name as text; bytes that are not UTF-8 are escaped."""
    return name if name.isascii() else os.fsencode(name).decode("utf-8", "backslashreplace")


def expand_bytes(raw: bytes, shown: str) -> Iterator[Source | SourceError]:
    """Yield every log in bytes that are already read; see `expand`."""
    try:
        is_zip = _may_be_zip(raw) and _is_zip(io.BytesIO(raw))
        if is_zip or _find_reader(raw) or _is_tar(raw) or raw.startswith(MAGIC):
            yield from _expand_opened(io.BytesIO(raw), shown)
            return
        source = source_from_bytes(raw, shown)
        del raw  # only the text is needed from here
        yield source
    except SourceError as error:
        yield error


def expand_stream(stream: IO[bytes], shown: str) -> Iterator[Source | SourceError]:
    """Yield every log in a stream of any length, for example standard input; see `expand`."""
    try:
        yield from _expand_opened(_keep(iter(partial(stream.read, _PIECE), b"")), shown)
    except SourceError as error:
        yield error
    except OSError as error:
        yield SourceError(f"{shown}: {error.strerror or error}; give a file")


def _keep(pieces: Iterable[bytes]) -> IO[bytes]:
    """Return a temporary file without a name that contains the pieces."""
    file = tempfile.TemporaryFile(prefix="azlatency-")  # noqa: SIM115  # closed with its last reader
    file.writelines(pieces)
    file.seek(0)
    return file


class _Room:
    """What may still be read from one file with all archives inside it, and the archives that are too deep."""

    def __init__(self, size: int) -> None:
        self.members = MOST_MEMBERS
        # An archive inside an archive is unpacked before its members are.
        self.most = self.bytes = 2 * max(LARGEST_SOURCE, _MOST_EXPANDED_LARGE * size)
        self.too_deep: list[str] = []

    def take(self, shown: str, *, members: int = 0, size: int = 0) -> None:
        """Subtract what is read; raise `_NoRoomError` if the limit is exceeded."""
        self.members -= members
        self.bytes -= size
        if self.members < 0 or self.bytes < 0:
            what = f"{MOST_MEMBERS} members" if self.members < 0 else f"{self.most} bytes"
            text = f"more than {what} with the archives inside the archive; unpack it and give the folder"
            raise _NoRoomError(f"{shown}:1: {text}")


def _expand_opened(file: IO[bytes], shown: str) -> Iterator[Source | SourceError]:
    """Yield every log in an opened file, which may not fit into memory."""
    room = _Room(file.seek(0, os.SEEK_END))
    yield from _expand_file(file, shown, room, 0)
    if room.too_deep:
        first, *others = room.too_deep
        count = f" (and {len(others)} more)" if others else ""
        yield SourceError(
            f"{first}:1: more than {MOST_NESTED} archives inside each other{count}; unpack the outer ones"
        )


def _expand_file(file: IO[bytes], shown: str, room: _Room, depth: int) -> Iterator[Source | SourceError]:
    """Yield every log in a file that lies in `depth` archives."""
    size = file.seek(0, os.SEEK_END)
    file.seek(0)
    head = inner = file.read(_HEAD)
    if head.startswith(MAGIC):
        with file:
            digest = hashlib.sha256()
            for piece in _pieces(file):
                digest.update(piece)
            yield source_from_bytes(parquet_as_text(file, shown), shown, sha256=digest.hexdigest())
        return
    if (reader := _find_reader(head)) is not None:
        with _reading_compressed(reader, file, shown) as stream:
            inner = stream.read(_HEAD)
    # The end of a tar archive may be a zip archive.
    is_zip = reader is None and not _is_tar(head) and _is_zip(file)
    if is_zip or _is_tar(inner) or (reader and (inner.startswith(_ZIP) or _find_reader(inner))):
        if depth > MOST_NESTED:
            room.too_deep.append(shown)
            return
        with ExitStack() as opened:
            opened.enter_context(file)
            if reader is not None:
                with _reading_compressed(reader, file, shown) as stream:
                    file = _keep(_bounded_pieces(stream, shown, size, LARGEST_SOURCE, room))
                opened.enter_context(file)
            if is_zip:
                yield from _zip_members(file, shown, room, depth)
            elif _is_tar(inner):
                yield from _tar_members(file, shown, room, depth)
            else:
                yield from _expand_file(file, shown, room, depth + 1)
    elif (short := _read_short(file, size, reader, shown, room)) is None and (
        source := _open_large(file, size, reader, shown, room)
    ) is not None:
        yield source
    else:
        with file:
            file.seek(0)
            raw = file.read()
        content = _decompress(raw, shown, room) if short is None else short
        yield source_from_bytes(content, shown, sha256=hashlib.sha256(raw).hexdigest())


def _read_short(
    file: IO[bytes], size: int, reader: Callable[[Any], Any] | None, shown: str, room: _Room
) -> bytes | None:
    """Return the text in a file, decompressed; None if it is too long to be read as a whole."""
    if reader is None and size >= _LARGE:
        return None
    pieces, read = [], 0
    for piece in _pieces(file) if reader is None else _decompressed(reader, file, shown, size, LARGEST_WHOLE, room):
        pieces.append(piece)
        if (read := read + len(piece)) >= _LARGE:
            return None
    return b"".join(pieces)


def _may_be_zip(raw: bytes) -> bool:
    """Return whether bytes begin as a zip archive, or contain the end of one, which only a comment follows."""
    # Text does not contain the character 6, which is found faster than four.
    return raw.startswith(_ZIP) or (b"\6" in raw and raw.find(b"PK\5\6", max(len(raw) - _LONGEST_ZIP_END, 0)) >= 0)


def _is_zip(file: IO[bytes]) -> bool:
    file.seek(0)
    return file.read(len(_ZIP)) == _ZIP or zipfile.is_zipfile(file)


def _is_tar(head: bytes) -> bool:
    return head[257:262] == b"ustar"


def _open_large(
    file: IO[bytes], size: int, reader: Callable[[Any], Any] | None, shown: str, room: _Room
) -> Source | None:
    """Return a large log whose text stays in a file; None for what is read as a whole: an archive, JSON, one line."""
    if zipfile.is_zipfile(file):
        return None
    most = max(LARGEST_SOURCE, _MOST_EXPANDED_LARGE * size)
    read = partial(_pieces, file) if reader is None else partial(_decompressed, reader, file, shown, size, most, room)
    beginning = next(read(), b"")
    mark, encoding = begin_decoding(beginning[:HEAD], shown)
    head = beginning[len(mark) :].decode(encoding, "ignore").lstrip().encode()[:_HEAD]
    if _JSON_START.match(head):
        if sum(map(len, read())) > LARGEST_WHOLE:
            what = f"JSON of more than {LARGEST_WHOLE} bytes does not fit into memory"
            raise SourceError(f"{shown}:1: {what}; split it, or use the text output of the tool")
        return None
    hasher = hashlib.sha256()
    for piece in _pieces(file):
        hasher.update(piece)
    read = partial(_bounded_lines, read, shown)
    text = _text_in(file, read()) if reader is None and (mark, encoding) == (b"", "utf-8") else None
    if text is None and encoding == "utf-8":
        try:
            text, size = _copied(read(), mark, encoding, "strict")
        except UnicodeDecodeError:
            encoding = find_code_page(read())
    if text is None:
        text, size = _copied(read(), mark, encoding, "replace")
    if (lines := text.count("\n")) > _MOST_LINES:
        raise SourceError(f"{shown}:1: {lines:,} lines do not fit into memory; split it")
    return Source(shown, hasher.hexdigest(), size, encoding, text) if lines else None


def _pieces(file: IO[bytes]) -> Iterator[bytes]:
    """Yield the pieces of a file from its start."""
    file.seek(0)
    yield from iter(partial(file.read, _PIECE), b"")


def _decompressed(
    reader: Callable[[Any], Any], file: IO[bytes], shown: str, compressed: int, most: int, room: _Room
) -> Iterator[bytes]:
    """Yield the pieces of a compressed file from its start, within bounds."""
    with _reading_compressed(reader, file, shown) as stream:
        yield from _bounded_pieces(stream, shown, compressed, most, room)


def _text_in(file: IO[bytes], pieces: Iterable[bytes]) -> FileText | None:
    """Return the text of a file that consists of these pieces; None unless it is UTF-8 without carriage returns."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    size = line_feeds = 0
    try:
        for piece in pieces:
            decoder.decode(piece)
            if b"\r" in piece:
                return None
            size += len(piece)
            line_feeds += count_line_feeds(piece)
        decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        return None
    return FileText(file, size, line_feeds)


def _copied(pieces: Iterable[bytes], mark: bytes, encoding: str, errors: str) -> tuple[FileText, int]:
    """Return the text in a copy in UTF-8 with line feeds only, and the size of the pieces.

    Even if ``errors`` is ``"strict"``, the last character may be cut.
    """
    decoder = codecs.getincrementaldecoder(encoding.removesuffix("-sig"))(errors)
    file = tempfile.TemporaryFile(prefix="azlatency-")  # noqa: SIM115  # closed with the text
    size = kept = line_feeds = 0
    waiting, start = "", len(mark)  # a carriage return whose line feed may follow
    for piece in pieces:
        text = waiting + decoder.decode(piece[start:])
        waiting, start = "\r" if text.endswith("\r") else "", 0
        plain = text.removesuffix("\r").replace("\r\n", "\n").encode()
        size += len(piece)
        kept += file.write(plain)
        line_feeds += count_line_feeds(plain)
    try:
        waiting += decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        waiting += "\N{REPLACEMENT CHARACTER}"
    kept += file.write(waiting.encode())
    return FileText(file, kept, line_feeds), size


#: The beginning of a JSON document. Lines of many tools begin with a bracket, too: "[  5]", "[12:00:00]".
_JSON_START = re.compile(rb"\s*(?:\{|\[\s*(?:[\[{\"\]]|$))")


def _decompress(raw: bytes, shown: str, room: _Room) -> bytes:
    """Decompress gzip, bzip2, xz and zstandard, within bounds; return other bytes as they are."""
    reader = _find_reader(raw)
    if reader is None:
        return raw
    with _reading_compressed(reader, io.BytesIO(raw), shown) as stream:
        return b"".join(_bounded_pieces(stream, shown, len(raw), LARGEST_WHOLE, room))


def _find_reader(raw: bytes) -> Callable[[Any], Any] | None:
    """Return what opens a compressed file that begins with these bytes; None for other files."""
    if raw[:1] not in b"\x1fB\xfd\x28":
        return None
    readers: dict[bytes, Callable[[Any], Any]] = {
        b"\x1f\x8b": gzip.open,
        b"BZh": bz2.open,
        b"\xfd7zXZ\x00": lzma.open,
        b"\x28\xb5\x2f\xfd": _open_zstd,
    }
    return next((reader for magic, reader in readers.items() if raw.startswith(magic)), None)


@contextmanager
def _reading_compressed(reader: Callable[[Any], Any], file: IO[bytes], shown: str) -> Iterator[Any]:
    """Read a compressed file from its start; an error becomes a `SourceError`."""
    file.seek(0)
    try:
        with reader(file) as stream:
            yield stream
    except (OSError, EOFError, zlib.error, lzma.LZMAError) as error:
        if isinstance(error, OSError) and error.errno:
            raise  # not the file, but the disk
        raise SourceError(f"{shown}:1: damaged compressed file ({error}); copy it again") from None


def _bounded_lines(read: Callable[[], Iterable[bytes]], shown: str) -> Iterator[bytes]:
    """Yield pieces; raise `SourceError` for a line that does not fit into memory several times."""
    length, lines = 0, 1
    for piece in read():
        end = piece.rfind(b"\n") + 1
        length = len(piece) - end if end else length + len(piece)
        lines += count_line_feeds(piece)
        if length > LONGEST_LINE:
            what = f"a line of more than {LONGEST_LINE} bytes, which cannot be divided, does not fit into memory"
            raise SourceError(f"{shown}:{lines}: {what}; give the log itself, or split it")
        yield piece


def _bounded_pieces(stream: Any, shown: str, compressed: int, largest: int, room: _Room) -> Iterator[bytes]:
    """Yield the pieces of a stream; raise `SourceError` if a small file unpacks to a huge one."""
    most = min(largest, max(MOST_EXPANDED * compressed, _EXPANDED_FREELY))
    read = 0
    while piece := stream.read(_PIECE):
        read += len(piece)
        if read > most:
            raise SourceError(f"{shown}:1: more than {most} bytes when decompressed; split it")
        room.take(shown, size=len(piece))
        yield piece


def _open_zstd(stream: IO[bytes]) -> Any:
    import pyarrow as pa

    return pa.CompressedInputStream(pa.PythonFile(_KeptOpen(stream), mode="r"), "zstd")


class _KeptOpen:
    """A file to read that pyarrow does not close, because it is read again."""

    closed = False

    def __init__(self, file: IO[bytes]) -> None:
        self.read = file.read

    def close(self) -> None:
        """Leave the file open."""


def _zip_members(file: IO[bytes], shown: str, room: _Room, depth: int) -> Iterator[Source | SourceError]:
    try:
        with zipfile.ZipFile(file) as archive:
            members = sorted((entry for entry in archive.infolist() if not entry.is_dir()), key=lambda e: e.filename)
            if _DOCUMENT & {entry.filename for entry in members}:
                raise SourceError(f"{shown}:1: {DOCUMENT}; save the logs in it as text files")
            _check_bounds(shown, [entry.file_size for entry in members], room)
            for entry in members:
                with archive.open(entry) as stream:
                    sizes = entry.file_size, entry.compress_size
                    yield from _member(stream, sizes, shown, entry.filename, room, depth)
    except (zipfile.BadZipFile, RuntimeError, NotImplementedError, zlib.error, EOFError) as error:
        yield SourceError(f"{shown}:1: damaged or encrypted zip archive ({error}); unpack it yourself")


def _tar_members(file: IO[bytes], shown: str, room: _Room, depth: int) -> Iterator[Source | SourceError]:
    file.seek(0)
    try:
        with tarfile.open(fileobj=file, mode="r:") as archive:
            members = sorted((entry for entry in archive if entry.isfile()), key=lambda e: e.name)
            _check_bounds(shown, [entry.size for entry in members], room)
            for entry in members:
                stream = archive.extractfile(entry)
                if stream is not None:
                    yield from _member(stream, (entry.size, entry.size), shown, entry.name, room, depth)
    except (tarfile.TarError, EOFError) as error:
        yield SourceError(f"{shown}:1: damaged tar archive ({error}); unpack it yourself")


def _member(
    stream: Any, sizes: tuple[int, int], shown: str, member: str, room: _Room, depth: int
) -> Iterator[Source | SourceError]:
    """Yield the logs in one archive member, which may be an archive."""
    if any(part.startswith(".") and part != ".." for part in Path(member).parts):
        return
    label, (size, compressed) = f"{shown}!{member}", sizes
    try:
        pieces = _bounded_pieces(stream, label, compressed, LARGEST_SOURCE, room)
        file = _keep(pieces) if size >= _LARGE else io.BytesIO(b"".join(pieces))
        yield from _expand_file(file, label, room, depth + 1)
    except _NoRoomError:
        raise
    except SourceError as error:
        yield error


def _check_bounds(shown: str, sizes: list[int], room: _Room) -> None:
    if len(sizes) > MOST_MEMBERS:
        raise SourceError(f"{shown}:1: {len(sizes)} members, more than the limit of {MOST_MEMBERS}; split the archive")
    if sum(sizes) > LARGEST_SOURCE:
        raise SourceError(f"{shown}:1: {sum(sizes)} bytes unpacked, more than the limit of {LARGEST_SOURCE}; split it")
    room.take(shown, members=len(sizes))
