"""The chart of tails."""

from __future__ import annotations

from azlatency.report import charts
from azlatency.report.objects import Note


def test_studies_without_samples_have_a_note() -> None:
    assert isinstance(charts.tail_curves([]), Note)
