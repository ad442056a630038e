"""What a notebook cell shows besides tables: findings and notes."""

from __future__ import annotations

from base64 import b64decode

import pytest

from azlatency.kit.objects import BOTH_WIDTHS, FINDINGS_TYPE, WITHOUT_PNG, Chart, Finding, Findings, Note


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


def test_a_notebook_gets_a_small_png_beside_the_svg(monkeypatch: pytest.MonkeyPatch) -> None:
    from matplotlib.figure import Figure

    figure = Figure()
    figure.add_subplot().plot([1, 2])
    chart = Chart(figure, "", "")
    monkeypatch.delenv(WITHOUT_PNG, raising=False)
    png = b64decode(chart._repr_mimebundle_()[0]["image/png"])
    assert png.startswith(b"\x89PNG") and len(png) < len(chart.png(100))
    monkeypatch.setenv(WITHOUT_PNG, "1")
    assert chart._repr_mimebundle_()[0].keys() == {"text/plain", "image/svg+xml"}


def test_a_chart_of_a_page_is_drawn_in_one_column_too_with_its_own_caption(monkeypatch: pytest.MonkeyPatch) -> None:
    from matplotlib.figure import Figure

    wide = Chart(Figure(), "Shown: 3 of 3", "", again=lambda width: Chart(Figure(figsize=(3.3, 4)), width, ""))
    assert "narrow" not in wide._repr_mimebundle_()[1]["azlatency"]
    monkeypatch.setenv(BOTH_WIDTHS, "1")
    narrow = wide._repr_mimebundle_()[1]["azlatency"]["narrow"]
    assert 'width="237.6pt"' in narrow["svg"] and narrow["caption"] == "single"
    without = Chart(Figure(), "", "", again=lambda width: Note("No chart."))
    assert "narrow" not in without._repr_mimebundle_()[1]["azlatency"]
