"""Charts of placement, tails and time: readable, small, the same bytes, numbers in words."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from helpers.chart_checks import assert_fit_to_print
from helpers.places import ROOT

import azlatency as az
from azlatency.report import charts
from azlatency.report.objects import Chart, Note
from azlatency.stats.across_runs.placement import FACTORS
from azlatency.stats.within_run.time_series import RunInTime

MOST_BYTES = 200_000


@pytest.fixture(scope="module", params=az.list_studies(ROOT / "data" / "raw"))
def study(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Any:
    out = tmp_path_factory.mktemp("processed")
    az.import_study(request.param, out=out)
    return az.load(request.param, processed=out)


def draw(study: Any) -> dict[str, Chart | Note]:
    found = az.placement.conditions(study, az.latency_runs(study))
    changes = [each for factor in FACTORS for each in az.placement.changes(found, factor)]
    runs = az.latency_runs(study)
    return {
        "tails": charts.tail_curves(az.runtails.tails_of_runs(study, runs, limit=1e6), limit=1e6),
        "placement": charts.placement_values(az.placement.of_widest_methods(found)),
        "changes": charts.single_changes(changes[:30]),
        "series": charts.run_series(az.intime.runs_in_time(study, az.latency_runs(study))),
        "segments": charts.last_segments(az.intime.reported_segments(study.reported)),
    }


@pytest.fixture(scope="module")
def drawn(study: Any) -> dict[str, Chart | Note]:
    return draw(study)


def test_charts_are_readable_and_small(drawn: dict[str, Chart | Note]) -> None:
    for name, chart in drawn.items():
        if isinstance(chart, Note):
            assert chart.text.startswith("No chart: "), name
            continue
        assert_fit_to_print(name, chart)
        assert len(chart.svg()) < MOST_BYTES, name
        assert chart.alt and any(digit in chart.alt for digit in "123456789"), name


def test_the_same_data_give_the_same_bytes(study: Any, drawn: dict[str, Chart | Note]) -> None:
    for name, again in draw(study).items():
        first = drawn[name]
        if isinstance(first, Chart):
            assert isinstance(again, Chart) and again.svg() == first.svg(), name


def test_shifts_and_losses_of_a_long_run_are_drawn_at_a_fixed_cost() -> None:
    generator = np.random.default_rng(1)
    x = 1e5 * np.exp(0.1 * generator.standard_normal(200_000))
    x[120_000:] *= 1.5
    x[[10, 20, 150_000]] = np.inf
    sent = np.arange(len(x)) * 1e-2
    moved = az.stability(x, sent * 1e9, block_ns=10e9)
    run = RunInTime("a", "A → B", "echo TCP", "complete", sent, x, 3, 1e4, 0, 2000.0, moved, az.trend(x))
    chart = charts.run_series([run])
    assert isinstance(chart, Chart)
    assert_fit_to_print("long run", chart)
    assert len(chart.svg()) < MOST_BYTES and "(confirmed)" in chart.alt and "lost 3" in chart.alt


def test_nothing_to_draw_is_said() -> None:
    empty = [
        charts.placement_values([]), charts.single_changes([]), charts.run_series([]), charts.tail_curves([]),
        charts.last_segments([]),
    ]  # fmt: skip
    for chart in empty:
        assert isinstance(chart, Note) and chart.text.startswith("No chart: ")
