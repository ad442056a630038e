"""Outputs of notebooks as HTML."""

from __future__ import annotations

from typing import Any

import pytest
from bs4 import BeautifulSoup
from helpers.tables import text_table

from azlatency.site.outputs import Outputs, own_table

EVIL = "</pre></style></title><script>alert(1)</script><img src=x onerror=alert(2)>"


@pytest.mark.parametrize(
    "record",
    [
        {},
        {"caption": "x", "columns": [], "rows": [{}], "notes": []},
        {"caption": "x", "columns": [], "rows": 3, "notes": []},
        {"caption": "x", "columns": [{"header": "x"}], "rows": [], "notes": []},
        {"caption": "x", "columns": "x", "rows": [], "notes": []},
        {"caption": "x", "columns": [], "rows": [{"cells": ["1"], "csv": []}], "notes": []},
    ],
)
def test_a_record_that_is_not_a_table_is_not_shown(record: dict[str, Any]) -> None:
    assert own_table(record) is None


def test_an_error_behind_a_table_does_not_look_like_a_missing_table() -> None:
    class Broken:
        def row(self, row: object, name: str) -> None:
            raise KeyError(name)

    with pytest.raises(KeyError, match="a"):
        own_table(text_table("A", ("x",), [("a",)]).record(), Broken())


def test_all_text_of_a_table_is_escaped_and_long_cells_may_break() -> None:
    table = text_table(EVIL, (EVIL, "n", "text"), [(EVIL, "2 < 3", "long " * 20)], {1}, (EVIL,))
    soup = BeautifulSoup(str(own_table(table.record())), "html.parser")
    assert soup.script is None and [head.get_text() for head in soup.select("th")] == [EVIL, "n", "text", EVIL]
    assert [cell.get("class") for cell in soup.select("td")][:2] == [["number"], ["long"]]
    assert soup.td is not None and soup.td.get_text() == "2 < 3"


def test_a_table_of_many_rows_is_cut_and_says_so() -> None:
    record = text_table("A", ("x",), [(str(number),) for number in range(1234)]).record()
    soup = BeautifulSoup(str(own_table(record)), "html.parser")
    assert len(soup.select("tbody tr")) == 500
    assert soup.caption is not None
    assert soup.caption.get_text() == "A (the first 500 of 1,234 rows; all are in the notebook behind this page)"


@pytest.mark.parametrize(
    ("data", "extra", "kind"),
    [
        ({"text/html": "<table></table>", "text/plain": "t"}, {}, "text"),
        ({"text/html": "<b>x</b>"}, {"kind": "table"}, "text"),
        ({"application/javascript": "alert(1)"}, {}, "text"),
        ({"image/svg+xml": "<b>", "text/plain": "t"}, {"kind": "figure"}, "text"),
        ({"image/png": "iVBORw0KGgo=\n", "text/plain": "t"}, {}, "figure"),
        ({"image/png": '"><script>', "text/plain": "t"}, {}, "text"),
        (
            {"application/vnd.azlatency.findings+json": [{"kind": "x", "text": ""}], "text/plain": "t"},
            {},
            "text",
        ),
        ({"application/vnd.azlatency.findings+json": "no", "text/plain": "t"}, {}, "text"),
        ({"application/vnd.azlatency.findings+json": [{"kind": "act", "text": "x"}]}, {}, "findings"),
        ({"text/markdown": "<script>"}, {}, "markdown"),
    ],
)
def test_outputs_of_other_libraries_are_shown_as_text(data: dict[str, Any], extra: dict[str, Any], kind: str) -> None:
    output = {"output_type": "display_data", "data": data, "metadata": {"azlatency": extra}}
    shown = Outputs().show(output)
    assert shown.kind == kind
    assert "<script" not in shown.html
