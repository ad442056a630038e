"""Outputs of notebooks as HTML."""

from __future__ import annotations

from typing import Any

import pytest
from bs4 import BeautifulSoup
from helpers.tables import text_table

from azlatency.kit.cells import RunsRef
from azlatency.kit.findings import answer
from azlatency.kit.objects import Findings
from azlatency.site.outputs import Outputs, own_table
from azlatency.site.provenance import RowTrail

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


def test_bold_numbers_of_an_answer_lead_to_their_runs() -> None:
    """The second one has no place that is known; text of a log stays text."""

    class Places:
        def row(self, row: Any, name: str) -> RowTrail | None:
            return RowTrail(f"g_{name}") if row["refs"][0]["run_ids"] == ("a",) else None

    said = answer("<i>p99</i> **1** and **2**, **3**.", [[RunsRef(("a",))], [RunsRef(("b",))]])
    bundle = {"output_type": "execute_result", "data": Findings.of([said])._repr_mimebundle_()}
    finding = Outputs(Places()).show(bundle).findings[0]
    links = BeautifulSoup(str(finding.html), "html.parser").select("a")
    assert [(link.text, link["href"]) for link in links] == [("1", "#g_1")]
    assert "<i>" not in finding.html and finding.html.count("<strong>") == 3
    assert not BeautifulSoup(str(Outputs().show(bundle).findings[0].html), "html.parser").select("a")
