"""Charts of zone pairs against the raw logs."""

from __future__ import annotations

import pytest
from helpers.studies import load

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


def test_the_matrix_claims_only_what_other_pages_say_of_the_same_runs() -> None:
    runs = az.latency(load("emulated-zones"))
    chart = charts.zone_matrices(az.asymmetry(runs))
    assert isinstance(chart, Chart) and chart.claim is not None and chart.claim.method == "sockperf TCP 14 B"
    of_method = runs[runs["method"] == chart.claim.method].groupby("path")["median_ns"].median()
    assert chart.claim.values == pytest.approx(of_method.to_dict()) and set(chart.claim.runs.values()) == {12}
    # Rounds of two runs are averaged: their median is not that of the runs, which the page on latency shows.
    paired = charts.zone_matrices(az.asymmetry(runs.assign(round=(runs["round"] + 1) // 2)))
    assert isinstance(paired, Chart) and paired.claim is None
