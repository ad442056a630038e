"""Groups of rows: no row is lost for want of a key."""

from __future__ import annotations

import ast

import pandas as pd
import pytest
from helpers.places import ROOT

from azlatency.studies.runs.groups import grouped

FRAME = pd.DataFrame({"path": ["b", "a", None, "b"], "method": ["ping", "qperf", "ping", "ping"]})


def test_groups_are_in_the_order_of_their_first_rows() -> None:
    whole = FRAME.dropna()
    assert [key for key, _ in grouped(whole, "path")] == ["b", "a"]
    assert [(key, len(group)) for key, group in grouped(whole, ["path", "method"])] == [
        (("b", "ping"), 2), (("a", "qperf"), 1),
    ]  # fmt: skip


def test_a_row_without_a_key_is_an_error_that_says_what_to_do() -> None:
    with pytest.raises(ValueError, match=r"^1 row without path; .* frame\[frame\['path'\]\.notna\(\)\]$"):
        grouped(FRAME, ["method", "path"])
    assert len(grouped(FRAME[FRAME["path"].notna()], "path")) == 2


def test_every_group_of_rows_says_what_becomes_of_a_missing_key() -> None:
    """Findings are made of the frames of a study, whose runs have a path and a method."""
    silent = []
    for file in sorted((ROOT / "azlatency").rglob("*.py")):
        text = file.read_text("utf-8")
        for node in ast.walk(ast.parse(text)) if "groupby" in text else ():
            is_call = isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)
            if is_call and node.func.attr == "groupby" and "dropna" not in {word.arg for word in node.keywords}:
                silent.append(f"{file.relative_to(ROOT / 'azlatency').as_posix()}:{node.lineno}")
    assert [place for place in silent if not place.startswith(("pages/",))] == []
