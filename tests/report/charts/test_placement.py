"""Charts of placements against the raw logs."""

from __future__ import annotations

from dataclasses import replace

import azlatency as az
from azlatency.kit.objects import Chart
from azlatency.report import charts
from azlatency.stats.across_runs.placement import FACTORS
from azlatency.studies.store.study import Study


def test_each_placement_has_its_round_trip_time(zones: Study) -> None:
    conditions = az.stats.placement.conditions(zones, az.latency(zones))
    chart = charts.placement_values(conditions)
    # zone3-zone1/sockperf-m1400.log: "percentile 50.000 =   93.556", with --full-rtt
    assert isinstance(chart, Chart) and "sockperf TCP 1400 B, median of a run: 93.556 µs" in chart.alt


def test_single_runs_have_a_ratio_without_an_interval(zones: Study) -> None:
    conditions = az.stats.placement.conditions(zones, az.latency(zones))
    chart = charts.single_changes(az.stats.placement.changes(conditions, "placement"))
    # 93.556 / 53.433 us
    assert isinstance(chart, Chart) and "sockperf TCP 1400 B: measured ratio 1.75" in chart.alt


def test_a_title_of_changes_that_were_measured_once_ranks_none(zones: Study) -> None:
    conditions = az.stats.placement.conditions(zones, az.latency(zones))
    changes = [change for factor in FACTORS for change in az.stats.placement.changes(conditions, factor)]
    chart = charts.single_changes(changes)
    assert isinstance(chart, Chart) and chart.title == "4 changes of one factor: measured once (sockperf)"


def test_a_round_trip_that_was_printed_as_zero_is_drawn(zones: Study) -> None:
    first, *others = az.stats.placement.conditions(zones, az.latency(zones))
    conditions = [replace(first, values=(0.0,), typical=None), *others]
    assert isinstance(charts.placement_values(conditions), Chart)
