"""The chart of measured less recorded differences of the emulated study."""

from __future__ import annotations

from helpers.chart_checks import assert_fit_to_print
from helpers.studies import load

import azlatency as az
from azlatency.report import charts
from azlatency.report.objects import Chart


def test_one_panel_per_method_and_one_row_per_path() -> None:
    study = load("emulated-zones")
    links, records = az.studies.configured_links(study), az.studies.recorded_round_trips(study)
    steps = az.stats.emulated_differences(links, records, az.latency(study))
    chart = charts.emulated_errors(steps)
    assert isinstance(chart, Chart)
    assert_fit_to_print("emulated errors", chart)
    panels = [axis for axis in chart.figure.axes if axis.get_title("left")]
    assert [axis.get_title("left") for axis in panels] == list(
        dict.fromkeys(s.method for s in steps if s.holds is not None)
    )
    assert all(len(axis.get_yticks()) == 6 for axis in panels)
    for axis in panels:
        errors = [float(text.get_text()) for text in axis.texts]
        assert errors == sorted(errors)
    assert "contain the recorded difference" in chart.caption
