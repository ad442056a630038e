"""What a notebook cell shows besides tables: findings and notes."""

from __future__ import annotations

from azlatency.report.objects import FINDINGS_TYPE, Chart, Finding, Findings, Note


def test_findings_carry_their_kind() -> None:
    findings = Findings.of([Finding("act", "Repeat."), Finding("info", "Fine.")])
    bundle = findings._repr_mimebundle_()
    assert bundle[FINDINGS_TYPE] == [{"kind": "act", "text": "Repeat."}, {"kind": "info", "text": "Fine."}]
    assert "**Before you rely on it**" in bundle["text/markdown"]
    assert repr(findings) == "Before you rely on it: Repeat.\nWhat else these data show: Fine."
    assert repr(Findings.of([])) == "No findings."


def test_a_note_is_its_sentence() -> None:
    assert repr(Note("No chart: nothing.")) == "No chart: nothing."


def test_a_name_that_xml_forbids_is_drawn() -> None:
    from matplotlib.figure import Figure

    figure = Figure()
    figure.add_subplot().scatter([1], [1], gid="point-1")
    figure.suptitle("host\x1b[31m\u202e\x9b")
    svg = Chart(figure, "", "", tips={"point-1": ["host\x1b"]}).svg()
    assert "host\ufffd[31m\ufffd\ufffd" in svg and "host\ufffd<" in svg
