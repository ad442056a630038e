"""The estimation plot of a change against the raw logs."""

from __future__ import annotations

from helpers.studies import load

import azlatency as az
from azlatency.kit.objects import Chart, Note
from azlatency.report import charts
from azlatency.studies.store.study import Study


def test_both_sides_and_their_ratio_are_named(zones: Study) -> None:
    conditions = az.stats.placement.conditions(zones, az.latency(zones))
    chart = charts.estimation_plot(az.stats.placement.changes(conditions, "placement"))
    # ping.log of both folders: means of 1.902 ms and 0.969 ms
    assert isinstance(chart, Chart) and "1,902 µs" in chart.alt and "969 µs" in chart.alt and "0.509" in chart.alt


def test_the_title_of_single_runs_describes_them() -> None:
    # lagscope prints 459 us for both directions between 1b and 1c, and 74 us inside 1a.
    study = load("aws-euwest1-lagscope")
    levels = az.stats.placement.widest_methods(az.stats.placement.conditions(study, az.latency(study)))
    chart = charts.estimation_plot(az.stats.placement.changes(levels, "placement"))
    assert isinstance(chart, Chart)
    assert chart.title.startswith("Measured once: 1a (.122) → 1a (.70) 74.0 µs; 1a → 1c 263 µs;")


def test_without_changes_there_is_a_note() -> None:
    assert isinstance(charts.estimation_plot([]), Note)
