"""Charts of zone pairs against the raw logs."""

from __future__ import annotations

import azlatency as az
from azlatency.report import charts
from azlatency.report.objects import Chart, Note
from azlatency.studies.store.study import Study


def test_each_measured_direction_has_its_round_trip_time(cni: Study) -> None:
    chart = charts.zone_matrices(az.asymmetry(cni))
    # az1-az3: the client is in zone 3; 2 * 700.618 us
    assert isinstance(chart, Chart) and "zone 3 → zone 1 1,401.2" in chart.alt


def test_a_study_measured_one_way_has_no_forest(cni: Study) -> None:
    assert isinstance(charts.asymmetry_forest(az.asymmetry(cni)), Note)
