"""Charts of two imports."""

from __future__ import annotations

import json
from collections.abc import Callable
from math import prod

import pytest
from helpers.chart_cases import StudyResults
from helpers.places import ROOT

from azlatency.report import charts
from azlatency.report.objects import Chart, Note


def test_without_comparisons_and_samples_there_are_notes() -> None:
    assert isinstance(charts.changes_forest([]), Note) and isinstance(charts.shift_functions([]), Note)


def test_single_runs_are_not_ranked_in_the_title_of_shift_functions(results_of: Callable[[str], StudyResults]) -> None:
    chart = charts.shift_functions(results_of("emulated-cloud").shift_functions)
    assert isinstance(chart, Chart)
    assert chart.title == "Last round against the first, by quantile: one run each, so not tested (6 paths)"


def test_a_change_between_rounds_is_drawn_with_the_recorded_one(results_of: Callable[[str], StudyResults]) -> None:
    of = results_of("emulated-cloud")
    charts.ground_truth(of.study)
    try:
        chart = charts.changes_forest(of.rounds)
    finally:
        charts.ground_truth(None)
    assert isinstance(chart, Chart) and "geometric mean over the paths" in chart.caption
    records = json.loads((ROOT / "data" / "raw" / "emulated-cloud" / "truth.json").read_text("utf-8"))["runs"]
    first = [log for log in records if log.startswith("ping/") and log.endswith("ping_r1.txt")]
    ratios = [records[log.replace("r1.", "r12.")]["median_us"] / records[log]["median_us"] for log in first]
    (cross,) = [line for line in chart.figure.axes[0].lines if line.get_marker() == "x"]
    assert len(ratios) == 18 and cross.get_xdata()[0] == pytest.approx(prod(ratios) ** (1 / 18))
    unmarked = charts.changes_forest(of.rounds)
    assert isinstance(unmarked, Chart) and "recorded" not in unmarked.caption
