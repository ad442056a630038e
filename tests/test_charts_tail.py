"""Charts of placement, tails and time: readable, small, the same bytes, numbers in words."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from chart_checks import check

import azlatency as az
from azlatency import charts
from azlatency.display import Chart, Note
from azlatency.stats.placement import FACTORS

MOST_BYTES = 200_000


@pytest.fixture(scope="module", params=az.studies(Path(__file__).parents[1] / "data" / "raw"))
def study(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Any:
    out = tmp_path_factory.mktemp("processed")
    az.import_study(request.param, out=out)
    return az.load(request.param, processed=out)


def draw(study: Any) -> dict[str, Chart | Note]:
    found = az.placement.conditions(study, az.latency_runs(study))
    changes = [each for factor in FACTORS for each in az.placement.changes(found, factor)]
    return {
        "placement": charts.placement_values(az.placement.of_widest_methods(found)),
        "changes": charts.single_changes(changes[:30]),
    }


@pytest.fixture(scope="module")
def drawn(study: Any) -> dict[str, Chart | Note]:
    return draw(study)


def test_charts_are_readable_and_small(drawn: dict[str, Chart | Note]) -> None:
    for name, chart in drawn.items():
        if isinstance(chart, Note):
            assert chart.text.startswith("No chart: "), name
            continue
        check(name, chart)
        assert len(chart.svg()) < MOST_BYTES, name
        assert chart.alt and any(digit in chart.alt for digit in "123456789"), name


def test_the_same_data_give_the_same_bytes(study: Any, drawn: dict[str, Chart | Note]) -> None:
    for name, again in draw(study).items():
        first = drawn[name]
        if isinstance(first, Chart):
            assert isinstance(again, Chart) and again.svg() == first.svg(), name


def test_nothing_to_draw_is_said() -> None:
    for chart in (charts.placement_values([]), charts.single_changes([])):
        assert isinstance(chart, Note) and chart.text.startswith("No chart: ")
