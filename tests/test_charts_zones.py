"""Charts and tables of zones, baselines, agreement and planning: on every study, with their numbers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from chart_checks import assert_fit_to_print

import azlatency as az
from azlatency import answers, charts
from azlatency.display import Chart, Note, Table

STUDIES = sorted(path.parent.name for path in (Path(__file__).parents[1] / "data" / "raw").glob("*/study.toml"))


@pytest.fixture(scope="module", params=STUDIES)
def study(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Any:
    out = tmp_path_factory.mktemp("processed")
    az.import_study(request.param, out=out)
    return az.load(request.param, processed=out)


def numbers_of(chart: Chart, *needed: float | None) -> None:
    for number in needed:
        assert number is None or f"{number:,.5g}" in chart.alt


# --- zones


def test_both_directions(study: Any) -> None:
    found = az.asymmetry(study)
    drawn = {
        "matrices": charts.zone_matrices(found),
        "latency": charts.asymmetry_forest(found),
        "throughput": charts.asymmetry_forest(found, "throughput"),
    }
    for name, chart in drawn.items():
        if isinstance(chart, Note):
            assert chart.text.startswith("No chart: ")
            assert study.name != "emulated-zones"
        else:
            assert_fit_to_print(name, chart)
    links = az.programmed_links(study)
    for table in (
        answers.directions(found),
        answers.both_ways(found),
        answers.both_ways(found, "throughput"),
        answers.both_ways(found, "retransmits"),
        answers.initiators(found),
        answers.detours(found),
        answers.ranks(found),
        answers.programmed_delays(links, found),
        answers.programmed_rates(links, found),
    ):
        assert isinstance(table, Note | Table) and repr(table)
    assert az.findings.asymmetry(found, links).findings


def test_the_emulated_network_beside_its_truth(study: Any) -> None:
    if study.name != "emulated-zones":
        assert not len(az.programmed_links(study))
        return
    found, links = az.asymmetry(study), az.programmed_links(study)
    assert links.loc["az3a → az2a", "delay_ns"] - links.loc["az2a → az3a", "delay_ns"] == 120e3
    said = repr(az.findings.asymmetry(found, links))
    assert "az2a → az3a carries 2.03 times the goodput of the way back (ntttcp)" in said
    assert "120 µs longer" in said and "differ" not in said.split("Programmed")[1].split("Act")[0]
    rates, delays = answers.programmed_rates(links, found), answers.programmed_delays(links, found)
    assert isinstance(rates, Table) and isinstance(delays, Table)
    assert {row[-1] for row in rates.rows} == {"yes"}
    assert not any(row[-1].startswith("different") for row in delays.rows)
    matrix = charts.zone_matrices(found)
    assert isinstance(matrix, Chart)
    for each in found:
        if each.metric == "latency" and each.rounds >= 3:
            numbers_of(matrix, *(cell.low / 1e3 for cell in each.cells if cell.low is not None))
