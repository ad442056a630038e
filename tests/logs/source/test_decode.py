"""Bytes to lines: encodings, escape sequences, carriage returns."""

from __future__ import annotations

import time

import pytest

from azlatency.logs.source.decode import source_from_bytes

TEXT = "PING 10.0.0.1 (10.0.0.1) 56(84) bytes of data.\nzweite Zeile äöü\n"


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


def test_backspaces_delete_in_linear_time() -> None:
    def seconds(length: int) -> float:
        start = time.process_time()
        lines = source_from_bytes(b"." * length + b"\x08" * length + b"end\n", "a.log").lines
        assert [line.text for line in lines] == ["end"]
        return time.process_time() - start

    assert seconds(120_000) < 9 * seconds(40_000) + 0.2


@pytest.mark.parametrize(
    ("text", "shown"),
    [("ab\x08\x08\x08c", "c"), (".\x08 \x08a", "a"), ("\x08\x08a\x08bc", "bc"), ("abc\x08\x08d", "ad")],
)
def test_backspaces_delete_the_character_before_them(text: str, shown: str) -> None:
    assert [line.text for line in source_from_bytes(text.encode(), "a.log").lines] == [shown]
