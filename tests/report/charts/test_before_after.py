"""The chart of two imports."""

from __future__ import annotations

from collections.abc import Callable

from helpers.chart_cases import StudyResults

import azlatency as az
from azlatency.kit.objects import Chart, Note
from azlatency.report import charts


def test_without_comparisons_there_is_a_note() -> None:
    assert isinstance(charts.changes_forest([]), Note)


def test_each_path_has_a_row_the_largest_change_on_top(results_of: Callable[[str], StudyResults]) -> None:
    after, before = (results_of(name).runs for name in ("emulated-nights", "emulated-zones"))
    chart = charts.changes_forest(az.stats.compare_imports(after, before))
    assert isinstance(chart, Chart)
    rows = [label.get_text() for label in chart.figure.axes[0].get_yticklabels()]
    assert rows == [f"{path}, ping 56 B" for path in ("az1a → az2a", "az2a → az3a", "az1a → az3a")]
    assert chart.title == "After against before: 2 of 3 differ"
