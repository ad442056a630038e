"""Tables on a terminal: whatever its width, no cell is cropped and no flag is lost."""

from __future__ import annotations

import io
import re

import pytest
from rich.console import Console

from azlatency.cli.grid import print_table, print_text

ROWS = [
    {"verdict": "CHANGED", "path": "az1a → az2a", "ratio": "1.269", "runs": "10 against 10", "needed": "12 – 30",
     "empty": "", "flags": "few runs, outlying run"},
    {"verdict": "no change", "path": "az2a → az1a", "ratio": "1,234.567", "runs": "9 against 10", "needed": "",
     "empty": "", "flags": ""},
]  # fmt: skip


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def printed(width: int, *, file: io.StringIO | None = None) -> str:
    file = file or Terminal()
    out = Console(file=file, width=width, color_system=None)
    print_table(out, ROWS, texts=("path",), leave=("needed", "flags"), names=["one", "two"], styles=["red", "green"])
    return file.getvalue()


@pytest.mark.parametrize("width", range(10, 100))
def test_every_number_is_whole_or_its_column_is_named(width: int) -> None:
    text = printed(width)
    words = " ".join(text.split())
    assert "1,234.567" in words and "1.269" in words
    assert "10 against 10" in words and "few runs, outlying run" in words
    assert "12 – 30" in words or "left out at this width: needed" in words
    assert max(map(len, text.splitlines())) <= max(width, len("1,234.567") + len("ratio: "))


def test_columns_go_before_flags_move_below_and_rows_become_blocks() -> None:
    header = [printed(width).splitlines()[0].split() for width in (90, 80, 60, 40)]
    assert header[0] == ["verdict", "path", "ratio", "runs", "needed", "flags"], "a column without a value is left out"
    assert header[1] == ["verdict", "path", "ratio", "runs", "flags"]
    assert header[2] == ["verdict", "path", "ratio", "runs"]
    assert header[3] == ["verdict:", "CHANGED"]
    assert "flags of one: few runs, outlying run\ncolumns left out at this width: needed\n" in printed(60)
    assert re.search(r"^needed: 12 – 30$", printed(40), re.MULTILINE)


def test_a_column_that_tells_rows_apart_stays() -> None:
    rows = [{"path": "10.0.0.1 → 10.0.0.2", "method": f"iperf3 TCP {n} connections", "runs": "4"} for n in (1, 2)]
    file = Terminal()
    print_table(Console(file=file, width=30), rows, texts=("path", "method"), leave=("method",))
    assert "method" in file.getvalue() and "left out" not in file.getvalue()


@pytest.mark.parametrize("width", range(10, 70))
def test_a_text_that_differs_stays_and_one_text_of_all_rows_is_printed_once(width: int) -> None:
    def table(*methods: str) -> str:
        ends = ("10.0.0.1 → 10.0.0.2", "10.0.0.3 → 10.0.0.4")
        rows = [{"path": path, "method": method} for path, method in zip(ends, methods, strict=True)]
        file = Terminal()
        print_table(Console(file=file, width=width), rows, texts=("path", "method"), leave=("method",))
        return " ".join(file.getvalue().split())

    differs = table("iperf3 TCP", "iperf3 UDP (sender)")
    assert "TCP" in differs and "UDP" in differs and "(sender)" in differs and "every row" not in differs
    same = table(*["iperf3 UDP (sender)"] * 2)
    assert "(sender)" in same and "left out" not in same
    assert ("method of every row: iperf3 UDP (sender)" in same) == (same.count("(sender)") == 1)


def test_a_text_wraps_into_two_lines_at_most() -> None:
    lines = printed(47).splitlines()
    assert lines[1].startswith("CHANGED    az1a →  ") and lines[2] == "           az2a"


def test_a_pipe_has_one_line_per_row() -> None:
    pipe = io.StringIO()
    assert printed(20, file=pipe).count("\n") == 3
    print_text(Console(file=pipe, width=20), "word " * 20)
    assert pipe.getvalue().count("\n") == 4


def test_control_characters_are_escaped() -> None:
    terminal = Terminal()
    print_table(Console(file=terminal, width=80), [{"path": "\x1b[31m"}], styles=["red"])
    print_text(Console(file=terminal, width=80), "\x1b[32m")
    assert "\\x1b[31m" in terminal.getvalue() and "\x1b[32m" not in terminal.getvalue()
