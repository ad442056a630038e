"""The chart of tails."""

from __future__ import annotations

from azlatency.kit.objects import Note
from azlatency.report import charts


def test_studies_without_samples_have_a_note() -> None:
    assert isinstance(charts.tail_curves([]), Note)
