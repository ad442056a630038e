"""What a notebook cell shows: text with the numbers, safe HTML, findings."""

from __future__ import annotations

from bs4 import BeautifulSoup

from azlatency.report.objects import FINDINGS_TYPE, Finding, Findings, Note, Table

HOSTILE = "</td><script>alert(1)</script>"


def test_a_table_is_one_semantic_table_and_escapes_everything() -> None:
    table = Table(HOSTILE, ("path", HOSTILE), [("A", HOSTILE), ("B", "2")], frozenset({1}), (HOSTILE,))
    soup = BeautifulSoup(table.html(), "html.parser")
    assert soup.script is None
    assert soup.caption is not None and soup.caption.text == HOSTILE
    assert [cell["scope"] for cell in soup.find_all("th")] == ["col", "col", "row", "row"]
    assert [cell.text for cell in soup.find_all("td", class_="number")] == [HOSTILE, "2"]


def test_a_table_in_text_is_aligned() -> None:
    table = Table("Title", ("path", "µs"), [("A", "1,000"), ("Bcd", "2")], frozenset({1}), ("Note.",))
    assert repr(table).splitlines() == ["Title", "", "path     µs", "A     1,000", "Bcd       2", "Note."]


def test_an_empty_table() -> None:
    assert "path" in repr(Table("Title", ("path",), []))
    assert "<tbody>" in Table("Title", ("path",), []).html()


def test_findings_carry_their_kind() -> None:
    findings = Findings.of([Finding("act", "Repeat."), Finding("info", "Fine.")])
    bundle = findings._repr_mimebundle_()
    assert bundle[FINDINGS_TYPE] == [{"kind": "act", "text": "Repeat."}, {"kind": "info", "text": "Fine."}]
    assert "**Act on this**" in bundle["text/markdown"]
    assert repr(findings) == "Act on this: Repeat.\nFor information: Fine."
    assert repr(Findings.of([])) == "No findings."


def test_a_note_is_its_sentence() -> None:
    assert repr(Note("No chart: nothing.")) == "No chart: nothing."
