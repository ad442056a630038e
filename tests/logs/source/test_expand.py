"""Files to logs: compression, archives inside archives, limits, hostile input."""

from __future__ import annotations

import bz2
import errno
import gzip
import hashlib
import io
import lzma
import os
import re
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import azlatency.logs.source.expand as expand_module
from azlatency.logs.source.decode import Source, SourceError
from azlatency.logs.source.expand import MOST_NESTED, expand, expand_bytes, expand_stream
from azlatency.logs.source.large import FileText

TEXT = "PING 10.0.0.1 (10.0.0.1) 56(84) bytes of data.\nzweite Zeile äöü\n"


def only(sources: list[Source | SourceError]) -> Source:
    (source,) = sources
    assert isinstance(source, Source)
    return source


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
    monkeypatch.setattr(expand_module, "LARGEST_SOURCE", 1000)
    monkeypatch.setattr(expand_module, "LARGEST_WHOLE", 1000)
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


def test_a_missing_file_is_an_error(tmp_path: Path) -> None:
    (error,) = expand(tmp_path / "missing.log")
    assert "No such file" in str(error)


@given(st.binary(max_size=400))
def test_any_bytes_become_lines_or_an_error(raw: bytes) -> None:
    for source in expand_bytes(raw, "x"):
        if isinstance(source, Source):
            assert len({line.number for line in source.lines}) == source.line_count


@pytest.mark.parametrize("compress", [bytes, gzip.compress, bz2.compress, lzma.compress])
def test_one_endless_line_is_refused(
    compress: Callable[[bytes], bytes], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    longest = 1024**2
    monkeypatch.setattr("azlatency.logs.source.expand.LONGEST_LINE", longest)
    path = tmp_path / "a.gz"
    path.write_bytes(compress(b"PING\n" + b"x" * (longest + 3 * 1024**2) + b"\n"))
    [error] = expand(path)
    assert isinstance(error, SourceError)
    assert f"a.gz:2: a line of more than {longest} bytes" in str(error)


def test_file_that_expands_too_much_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("azlatency.logs.source.expand._EXPANDED_FREELY", 1024**2)
    path = tmp_path / "a.gz"
    path.write_bytes(gzip.compress(b"64 bytes from 10.0.0.1\n" * 200_000))
    [error] = expand(path)
    assert isinstance(error, SourceError)
    assert "bytes when decompressed" in str(error)


# --- archives inside archives


def packed(kind: str, members: dict[str, bytes]) -> bytes:
    """Pack members as ``zip``, ``tar``, ``tar.gz``, ``tar.bz2`` or ``tar.xz``; more suffixes compress again."""
    base, *compressions = kind.split(".")
    stream = io.BytesIO()
    if base == "zip":
        with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, content in members.items():
                archive.writestr(name, content)
    else:
        with tarfile.open(fileobj=stream, mode="w") as archive:
            for name, content in members.items():
                entry = tarfile.TarInfo(name)
                entry.size = len(content)
                archive.addfile(entry, io.BytesIO(content))
    raw = stream.getvalue()
    for compression in compressions:
        raw = {"gz": gzip.compress, "bz2": bz2.compress, "xz": lzma.compress}[compression](raw)
    return raw


KINDS = ["zip", "tar", "tar.gz", "tar.bz2", "tar.xz", "zip.gz", "tar.gz.xz"]


@pytest.mark.parametrize("inner", KINDS)
@pytest.mark.parametrize("outer", KINDS)
def test_an_archive_inside_an_archive(tmp_path: Path, inner: str, outer: str) -> None:
    logs = {"az1-az2/ping.log": TEXT.encode(), "b.log.gz": gzip.compress(b"b\n"), ".hidden": b"x\n"}
    path = tmp_path / f"dump.{outer}"
    path.write_bytes(packed(outer, {"a.log": b"a\n", f"vm/{inner}": packed(inner, logs)}))
    sources = [source for source in expand(path) if isinstance(source, Source)]
    names = ["a.log", f"vm/{inner}!az1-az2/ping.log", f"vm/{inner}!b.log.gz"]
    assert [source.path for source in sources] == [f"{path}!{name}" for name in names]
    assert [source.text for source in sources] == ["a\n", TEXT, "b\n"]
    assert sources[1].sha256 == hashlib.sha256(TEXT.encode()).hexdigest()
    with path.open("rb") as stream:
        assert [source.path for source in expand_stream(stream, "-") if isinstance(source, Source)] == [
            f"-!{name}" for name in names
        ]


LOGS = st.binary(max_size=30).map(lambda content: b"log " + content.replace(b"\0", b" "))
TREES = st.recursive(
    LOGS,
    lambda inside: st.tuples(
        st.sampled_from(KINDS[:5]), st.dictionaries(st.sampled_from(["a", "b/c", "d e"]), inside, min_size=1)
    ),
    max_leaves=12,
)


@pytest.mark.costly
@given(TREES)
def test_archives_of_any_shape(tree: bytes | tuple[str, dict]) -> None:
    """Every log is found up to the depth, under the names of all its archives; one line names what is too deep."""
    found: list[str] = []
    too_deep: list[str] = []

    def build(node: bytes | tuple[str, dict], name: str, depth: int) -> bytes:
        if isinstance(node, bytes):
            if depth <= MOST_NESTED + 1:
                found.append(name)
            return node
        kind, members = node
        if depth == MOST_NESTED + 1:
            too_deep.append(name)
        return packed(kind, {key: build(value, f"{name}!{key}", depth + 1) for key, value in sorted(members.items())})

    raw = build(tree, "x", 0)
    sources = list(expand_bytes(raw, "x"))
    assert [source.path for source in sources if isinstance(source, Source)] == found
    errors = [str(source) for source in sources if isinstance(source, SourceError)]
    assert len(errors) == bool(too_deep)
    if too_deep:
        count = f" (and {len(too_deep) - 1} more)" if len(too_deep) > 1 else ""
        what = f"more than {MOST_NESTED} archives inside each other{count}; unpack the outer ones"
        assert errors == [f"{too_deep[0]}:1: {what}"]


def nested(levels: int, width: int, content: bytes, kind: str = "zip") -> bytes:
    """Archives of archives, all with the same content."""
    for _ in range(levels):
        content = packed(kind, {f"{number}.bin": content for number in range(width)})
    return content


def test_a_nested_bomb_is_refused_in_one_line_and_its_neighbours_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(expand_module, "LARGEST_SOURCE", 200_000)
    bomb = packed(
        "zip", {"1 first.log": b"1\n", "2.zip": packed("zip", {"big": b"0\n" * 150_000}), "3 last.log": b"3\n"}
    )
    first, error, last = expand_bytes(bomb, "dump.zip")
    assert isinstance(first, Source) and isinstance(last, Source)
    assert str(error) == "dump.zip!2.zip:1: 300000 bytes unpacked, more than the limit of 200000; split it"


@pytest.mark.parametrize("kind", ["zip", "tar.gz"])
def test_archives_that_together_unpack_to_too_much_are_refused_in_one_line(
    monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    monkeypatch.setattr(expand_module, "LARGEST_SOURCE", 200_000)
    monkeypatch.setattr(expand_module, "_MOST_EXPANDED_LARGE", 0)
    raw = nested(2, 10, b"64 bytes from 10.0.0.1\n" * 400, kind)
    *sources, error = expand_bytes(raw, "dump")
    assert sources and all(isinstance(source, Source) for source in sources)
    assert len(sources) < 50, "it stops where the limit is reached"
    what = "more than 400000 bytes with the archives inside the archive; unpack it and give the folder"
    assert re.fullmatch(rf"dump!\d\.bin(!\d\.bin)?:1: {what}", str(error))


def test_archives_with_too_many_members_together_are_refused_in_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(expand_module, "MOST_MEMBERS", 20)
    *sources, error = expand_bytes(nested(2, 6, b"log\n"), "dump.zip")
    assert len(sources) == 12
    what = "more than 20 members with the archives inside the archive; unpack it and give the folder"
    assert str(error) == f"dump.zip!2.bin:1: {what}"


def test_a_damaged_archive_inside_an_archive_does_not_hide_the_others() -> None:
    inner = packed("zip", {"a.log": b"a\n"})
    raw = packed("tar", {"1.zip": inner[:-30], "2.tar.gz": packed("tar.gz", {"b": b"b"})[:60], "3.zip": inner})
    one, two, three = expand_bytes(raw, "dump.tar")
    assert str(one).startswith("dump.tar!1.zip:1: damaged or encrypted zip archive (")
    assert str(two).startswith("dump.tar!2.tar.gz:1: damaged ")
    assert isinstance(three, Source) and three.path == "dump.tar!3.zip!a.log"


def test_a_document_is_no_archive_of_logs() -> None:
    letter = packed("zip", {"[Content_Types].xml": b"<Types/>", "word/document.xml": b"<w/>"})
    (error,) = expand_bytes(letter, "notes.docx")
    assert str(error) == "notes.docx:1: a document, not an archive of logs; save the logs in it as text files"
    error, log = expand_bytes(packed("tar", {"a.xlsx": letter, "b.log": b"b\n"}), "dump.tar")
    assert "dump.tar!a.xlsx:1: a document" in str(error) and isinstance(log, Source)


def test_large_members_of_nested_archives_stay_in_files(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(expand_module, "_LARGE", 1000)
    text = b"64 bytes from 10.0.0.1: icmp_seq=1 ttl=64 time=0.1 ms\n" * 200
    (source,) = expand_bytes(packed("tar", {"logs.zip": packed("zip", {"ping.log": text})}), "dump.tar")
    assert isinstance(source, Source) and isinstance(source.text, FileText) and source.whole_text == text.decode()


def test_a_folder_that_cannot_be_listed_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "closed").mkdir()
    (tmp_path / "a.log").write_text("hello\n")
    scandir = os.scandir

    def refuse(folder: str) -> object:
        if folder.endswith("closed"):
            raise PermissionError(errno.EACCES, "Permission denied", folder)
        return scandir(folder)

    monkeypatch.setattr(os, "scandir", refuse)
    log, problem = expand(tmp_path)
    assert isinstance(log, Source) and log.path.endswith("a.log")
    assert str(problem) == f"{(tmp_path / 'closed').as_posix()}: Permission denied; check the permissions"
