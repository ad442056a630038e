"""The output of `compare` and `history`."""

from __future__ import annotations

from pathlib import Path

import pytest

from azlatency.cli.sheets import show
from azlatency.gate.formats import Line, Sheet

CELLS = {"verdict": "CHANGED", "path": "a\x1b[31m → b"}
SHEET = Sheet(
    command="history",
    mark="bad",
    headline="Changed: 1 of 1 series.",
    intro=(("Of ", "me"),),
    failure="changed",
    lines=(Line(mark="bad", cells=CELLS, name="ping", group="a → b", message="slower"),),
    folded="",
    notes=("A note.",),
    properties={},
)


def test_a_file_gets_the_format_and_the_terminal_the_table(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for format, begin in (("table", "### ❌ Changed"), ("json", '{\n "a": 1'), ("junit", "<?xml")):
        file = tmp_path / "new" / format
        show(SHEET, {"a": 1}, format, file)
        assert file.read_text("utf-8").startswith(begin)
        printed = capsys.readouterr().out
        assert "CHANGED" in printed and printed.endswith("A note.\nChanged: 1 of 1 series.\n")
        assert "\x1b" not in printed
    assert [path.name for path in (tmp_path / "new").iterdir() if path.name.endswith(".part")] == []


def test_without_a_file_the_format_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    show(SHEET, {"a": None}, "json", None)
    assert capsys.readouterr().out == '{\n "a": null\n}\n'
