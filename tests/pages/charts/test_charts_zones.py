"""Charts and tables of zones, baselines, agreement and planning: on every study, with their numbers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pandas as pd
import pytest
from helpers.cases import thinned
from helpers.chart_cases import DrawnCharts, StudyResults
from helpers.chart_checks import assert_fit_to_print

import azlatency as az
from azlatency.kit.cells import Table
from azlatency.kit.objects import Chart, Note
from azlatency.pages import before_after, plan_the_next_run, tool_agreement, vm_baseline, zone_pair_asymmetry


def numbers_of(chart: Chart, *needed: float | None) -> None:
    for number in needed:
        assert number is None or f"{number:,.5g}" in chart.alt


# --- zones


def test_tables_of_both_directions(results: StudyResults) -> None:
    found, links = results.asymmetries, results.links
    for table in (
        zone_pair_asymmetry.directions(found),
        *(zone_pair_asymmetry.both_ways(found, metric) for metric in ("latency", "throughput", "retransmits")),
        zone_pair_asymmetry.ranks(found),
    ):
        assert isinstance(table, Note | Table) and repr(table)
    assert zone_pair_asymmetry.find(found, links).findings


def test_only_an_emulated_network_has_configured_links(study: Any) -> None:
    assert bool(len(az.studies.configured_links(study))) == study.name.startswith("emulated-")


# --- baselines


def test_baselines(results: StudyResults, drawn: DrawnCharts) -> None:
    study, found, chart = results.study, results.conformances, drawn["baseline"]
    measured = found[found["estimate"].notna()]
    assert isinstance(chart, Chart) == (len(measured) > 1)
    # Single runs have no interval to decide with.
    shown = measured["status"].where(measured["low"].notna() | measured["high"].notna(), "not tested")
    assert all(status in chart.alt for status in shown if isinstance(chart, Chart))
    for table in (vm_baseline.conformance(found), vm_baseline.still_to_run(found, study.expectations)):
        assert isinstance(table, Note | Table) and repr(table)
    assert vm_baseline.find(found).findings


@pytest.mark.costly
@pytest.mark.parametrize("relation", thinned(["at_least", "at_most", "about", "between"], 2))
@pytest.mark.parametrize("values", [[5e9], [5e9, 5.1e9, 5.2e9], [1e9, 9e9], [4e10, 4.1e10, 4.2e10]])
def test_every_relation_and_verdict_is_drawn(relation: str, values: list[float]) -> None:
    wanted = {"name": "bandwidth", "relation": relation, "low": 4e9, "high": 6e9, "unit": "bit/s"}
    paths = [{"path": path, "method": "iperf3"} for path in ("a → b", "b → a")]
    found = pd.concat([az.stats.check_expectation(values, wanted, labels=labels) for labels in paths])
    chart = vm_baseline.baseline_bullets(found)
    assert isinstance(chart, Chart)
    assert_fit_to_print(relation, chart)
    status = found["status"].iloc[0] if len(values) > 1 else "not tested"
    assert status in chart.alt
    # One value is a sentence.
    only = vm_baseline.baseline_bullets(found.head(1))
    assert isinstance(only, Note) and status in only.text


# --- planning


@pytest.mark.slow
def test_plans(results: StudyResults, drawn: DrawnCharts) -> None:
    for name in ("runs needed", "precision"):
        chart = drawn[name]
        assert "runs done" in chart.caption if isinstance(chart, Chart) else results.study.name != "emulated-zones"
    for runs, plans in ((results.runs, results.plans), (results.streams, az.plan(results.streams))):
        sizes = az.stats.percentile_sizes(runs.get("n", []))
        for table in (plan_the_next_run.plans(plans), plan_the_next_run.smallest_sizes(sizes)):
            assert isinstance(table, Note | Table) and repr(table)
        assert bool(plan_the_next_run.find(plans, sizes).findings) == bool(len(runs))


# --- agreement


def test_agreement(results: StudyResults, drawn: DrawnCharts) -> None:
    found, chart = results.agreements, drawn["agreement"]
    assert isinstance(tool_agreement.agreements(found), Table if len(found.methods) else Note)
    assert tool_agreement.find(found).findings
    assert isinstance(chart, Note) == (found.methods.empty or bool((found.methods["differs_in"] != "").all()))
    assert len(found.pairs) == (found.methods["n"].sum() if len(found.methods) else 0)


# --- before and after


@pytest.mark.slow
def test_the_later_half_against_the_earlier(results: StudyResults, drawn: DrawnCharts) -> None:
    study, halves = results.study, results.halves
    assert isinstance(drawn["halves"], Chart) == study.name.startswith("emulated-")
    assert isinstance(before_after.changes(halves), Table if len(halves) else Note)
    assert isinstance(before_after.settings(study, study), Table)
    assert before_after.find(halves).findings


def test_the_two_studies_of_west_europe_cannot_be_compared(results_of: Callable[[str], StudyResults]) -> None:
    names = ("westeurope-azure-cni", "westeurope-availability-set-vs-zones")
    after, before = (results_of(name).runs for name in names)
    changes = az.stats.compare_imports(after, before)
    assert len(changes) and changes["ratio"].isna().all()
    assert {"type_p_mismatch", "no_replication", "other_vm", "logical_zone"} <= set(changes["flags"].iloc[0].split())
    table = before_after.changes(changes)
    assert isinstance(table, Table) and {row[4] for row in table.cells} == {"not estimable"}
    assert isinstance(before_after.changes_forest(changes), Note)
    assert "A change of the network cannot be told" in repr(before_after.find(changes))
