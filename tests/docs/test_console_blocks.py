"""Every console block of docs/ on a terminal: it prints what it shows, and a narrow terminal crops no number.

Those of the README and the tutorial follow each other in `test_readme.py`.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from helpers.blocks import console_steps, is_run, matches, numbers
from helpers.places import ROOT
from helpers.terminal import on_terminal, screen

TUTORIAL = ROOT / "docs" / "tutorial"
PAGES = [
    page
    for page in sorted((ROOT / "docs").rglob("*.md"))
    if page.parent != TUTORIAL and "```console" in page.read_text("utf-8")
]


@pytest.mark.slow  # a process per command; test_docs_tools.py runs the same commands without a terminal
@pytest.mark.skipif(os.name != "posix", reason="needs a pseudo terminal")
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_block_prints_what_it_shows(page: Path, tmp_path: Path) -> None:
    (tmp_path / "tests").symlink_to(ROOT / "tests")
    for command, due in console_steps(page.read_text("utf-8")):
        if not is_run(command):
            continue
        code, wide = on_terminal(command, 120, tmp_path)
        assert code == 0 and matches(wide, due), f"$ {command}\n{wide}\nexpected\n{due}"
        code, narrow = on_terminal(command, 80, tmp_path)
        assert code == 0 and "Traceback" not in narrow and numbers(narrow) <= numbers(wide), command


def test_the_screen_is_what_a_terminal_shows() -> None:
    assert screen("one\r\ntwo\r\n") == "one\ntwo\n"
    assert screen("bar 1\rbar 2\r\x1b[2K\x1b[1mdone\x1b[0m\r\n") == "done\n"
    assert screen("a\r\nbar\r\n\x1b[1A\x1b[2Kb\x1b[?25h") == "a\nb\n"
