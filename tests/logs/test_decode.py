"""Bytes to lines: encodings, escape sequences, carriage returns, compression, archives, limits, hostile input."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import tarfile
import time
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import azlatency.logs.decode as decode_module
from azlatency.logs.decode import LONGEST_EXPANDED_LINE, Source, SourceError, expand, expand_bytes, source_from_bytes

TEXT = "PING 10.0.0.1 (10.0.0.1) 56(84) bytes of data.\nzweite Zeile äöü\n"


def only(sources: list[Source | SourceError]) -> Source:
    (source,) = sources
    assert isinstance(source, Source)
    return source


@pytest.mark.parametrize(
    ("raw", "encoding"),
    [
        (TEXT.encode(), "utf-8"),
        (b"\xef\xbb\xbf" + TEXT.encode(), "utf-8-sig"),
        (b"\xff\xfe" + TEXT.encode("utf-16-le"), "utf-16-le"),
        (b"\xfe\xff" + TEXT.encode("utf-16-be"), "utf-16-be"),
        (TEXT.encode("utf-16-le"), "utf-16-le"),
        (TEXT.encode("cp1252"), "cp1252"),
        (TEXT.replace("\n", "\r\n").encode(), "utf-8"),
        (TEXT.replace("\n", "\r").encode(), "utf-8"),
    ],
)
def test_encodings_and_line_ends(raw: bytes, encoding: str) -> None:
    source = source_from_bytes(raw, "x.log")
    assert source.encoding == encoding
    assert [line.text for line in source.lines] == TEXT.splitlines()
    assert source.line_count == 2


def test_escapes_backspaces_and_carriage_returns() -> None:
    raw = b"\x1b[2;35m== version ==\x1b[0m\n....\x08 \x08done\nA 10%\rA 20%\r\n\x1b]0;title\x07prompt\n"
    lines = source_from_bytes(raw, "x").lines
    assert [(line.number, line.text) for line in lines] == [
        (1, "== version =="),
        (2, "...done"),
        (3, "A 10%"),
        (3, "A 20%"),
        (4, "prompt"),
    ]


def test_line_numbers_are_those_of_an_editor() -> None:
    source = source_from_bytes(b"one\rtwo\nthree\n\nlast", "x")
    assert source.line_count == 4
    assert source.lines[-1] == (4, "last")


@pytest.mark.parametrize("compress", [gzip.compress, bz2.compress, lzma.compress])
def test_compressed_files(tmp_path: Path, compress: object) -> None:
    path = tmp_path / "x.log.z"
    path.write_bytes(compress(TEXT.encode()))  # type: ignore[operator]
    source = only(list(expand(path)))
    assert source.text == TEXT
    assert source.source_id == source.sha256[:16]


def test_zstandard(tmp_path: Path) -> None:
    import pyarrow as pa

    path = tmp_path / "x.zst"
    with pa.CompressedOutputStream(str(path), "zstd") as stream:
        stream.write(TEXT.encode())
    assert only(list(expand(path))).text == TEXT


def test_archives_and_folders(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.writestr("b/one.log", TEXT)
        archive.writestr("../../escape.log", TEXT + "other\n")
    with tarfile.open(tmp_path / "c.tar.gz", "w:gz") as archive:
        info = tarfile.TarInfo("/etc/absolute.log")
        info.size = len(TEXT.encode())
        archive.addfile(info, io.BytesIO(TEXT.encode()))
        link = tarfile.TarInfo("link")
        link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
        archive.addfile(link)
    before = sorted(tmp_path.rglob("*"))
    paths = [source.path for source in expand(tmp_path) if isinstance(source, Source)]
    assert [path.rsplit("/", 1)[-1] for path in paths] == ["escape.log", "one.log", "absolute.log"]
    assert sorted(tmp_path.rglob("*")) == before, "members are read in memory and never written"


def test_decompression_stops_at_the_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(decode_module, "LARGEST_SOURCE", 1000)
    bomb = tmp_path / "bomb.gz"
    bomb.write_bytes(gzip.compress(b"0" * 100_000))
    with zipfile.ZipFile(tmp_path / "bomb.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("big", "0" * 100_000)
    errors = list(expand(tmp_path))
    assert len(errors) == 2
    for error in errors:
        assert isinstance(error, SourceError)
        assert "split it" in str(error)


@pytest.mark.parametrize(
    ("raw", "says"),
    [
        (bytes(range(256)) * 20, "binary file"),
        (gzip.compress(TEXT.encode(), mtime=0)[:-9], "damaged compressed file"),
        (b"PK\x05\x06" + b"\x00" * 10, "binary file"),
        (b"\x7fELF\x02\x01\x01\x00" + b"\x00" * 100, "binary file"),
    ],
    ids=["bytes", "truncated gzip", "empty zip", "program"],
)
def test_binary_data_is_an_error_of_one_line(raw: bytes, says: str) -> None:
    (error,) = expand_bytes(raw, "odd.bin")
    assert isinstance(error, SourceError)
    assert str(error).startswith("odd.bin:1: ")
    assert says in str(error)
    assert "\n" not in str(error)


def test_an_archive_inside_an_archive_is_named(tmp_path: Path) -> None:
    inner, outer = io.BytesIO(), io.BytesIO()
    with tarfile.open(fileobj=inner, mode="w:gz") as archive:
        archive.addfile(tarfile.TarInfo("empty.log"))
    with zipfile.ZipFile(outer, "w") as packed:
        packed.writestr("logs.tar.gz", inner.getvalue())
        packed.writestr("logs.zip", b"PK\x03\x04" + b"\x00" * 26)
    for error, name in zip(expand_bytes(outer.getvalue(), "dump.zip"), ("logs.tar.gz", "logs.zip"), strict=True):
        assert str(error) == (f"dump.zip!{name}:1: archive inside an archive; unpack the outer one and give the folder")


def test_a_missing_file_is_an_error(tmp_path: Path) -> None:
    (error,) = expand(tmp_path / "missing.log")
    assert "No such file" in str(error)


@given(st.binary(max_size=400))
def test_any_bytes_become_lines_or_an_error(raw: bytes) -> None:
    for source in expand_bytes(raw, "x"):
        if isinstance(source, Source):
            assert len({line.number for line in source.lines}) == source.line_count


def test_backspaces_delete_in_linear_time() -> None:
    def seconds(length: int) -> float:
        start = time.process_time()
        lines = source_from_bytes(b"." * length + b"\x08" * length + b"end\n", "a.log").lines
        assert [line.text for line in lines] == ["end"]
        return time.process_time() - start

    assert seconds(300_000) < 9 * seconds(100_000) + 0.2


@pytest.mark.parametrize(
    ("text", "shown"),
    [("ab\x08\x08\x08c", "c"), (".\x08 \x08a", "a"), ("\x08\x08a\x08bc", "bc"), ("abc\x08\x08d", "ad")],
)
def test_backspaces_delete_the_character_before_them(text: str, shown: str) -> None:
    assert [line.text for line in source_from_bytes(text.encode(), "a.log").lines] == [shown]


@pytest.mark.parametrize("compress", [gzip.compress, bz2.compress, lzma.compress])
def test_one_endless_line_is_refused_while_decompressing(compress: Callable[[bytes], bytes], tmp_path: Path) -> None:
    path = tmp_path / "a.gz"
    path.write_bytes(compress(b"PING\n" + b"x" * (LONGEST_EXPANDED_LINE + 2 * 1024**2) + b"\n"))
    [error] = expand(path)
    assert isinstance(error, SourceError)
    assert f"a.gz:2: a line of more than {LONGEST_EXPANDED_LINE} bytes" in str(error)


def test_file_that_expands_too_much_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("azlatency.logs.decode._EXPANDED_FREELY", 1024**2)
    path = tmp_path / "a.gz"
    path.write_bytes(gzip.compress(b"64 bytes from 10.0.0.1\n" * 200_000))
    [error] = expand(path)
    assert isinstance(error, SourceError)
    assert "bytes when decompressed" in str(error)
