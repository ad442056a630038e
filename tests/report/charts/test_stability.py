"""Charts of stability against the numbers of a text."""

from __future__ import annotations

import azlatency as az
from azlatency.kit.objects import Chart, Note
from azlatency.report import charts
from azlatency.studies.store.study import Study


def test_the_segments_before_a_break_are_those_of_the_text(echo: Study) -> None:
    chart = charts.last_segments(az.stats.time_series.reported_segments(echo.reported))
    assert isinstance(chart, Chart)
    line = next(line for line in chart.alt.splitlines() if line.startswith("Same AZ"))
    assert all(number in line for number in ("813.14", "888.09", "925.49", "955.87", "789.58 µs"))


def test_a_study_without_samples_has_a_note() -> None:
    assert isinstance(charts.run_series([]), Note)
