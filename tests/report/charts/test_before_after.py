"""Charts of two imports."""

from __future__ import annotations

from azlatency.report import charts
from azlatency.report.objects import Note


def test_without_comparisons_and_samples_there_are_notes() -> None:
    assert isinstance(charts.changes_forest([]), Note) and isinstance(charts.shift_functions([]), Note)
