"""The page of columns is the one that the schema gives; ``python tools/columns.py`` writes it."""

from __future__ import annotations

import runpy

from helpers.places import ROOT


def test_the_page_is_that_of_the_schema() -> None:
    names = runpy.run_path(str(ROOT / "tools" / "columns.py"))
    assert names["PAGE"].read_text("utf-8") == names["page"](), "run python tools/columns.py"
