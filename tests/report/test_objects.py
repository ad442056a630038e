"""What a notebook cell shows besides tables: findings and notes."""

from __future__ import annotations

from azlatency.report.objects import FINDINGS_TYPE, Finding, Findings, Note


def test_findings_carry_their_kind() -> None:
    findings = Findings.of([Finding("act", "Repeat."), Finding("info", "Fine.")])
    bundle = findings._repr_mimebundle_()
    assert bundle[FINDINGS_TYPE] == [{"kind": "act", "text": "Repeat."}, {"kind": "info", "text": "Fine."}]
    assert "**Act on this**" in bundle["text/markdown"]
    assert repr(findings) == "Act on this: Repeat.\nFor information: Fine."
    assert repr(Findings.of([])) == "No findings."


def test_a_note_is_its_sentence() -> None:
    assert repr(Note("No chart: nothing.")) == "No chart: nothing."
