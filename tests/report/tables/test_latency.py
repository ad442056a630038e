"""The tables of the page on latency against the raw logs."""

from __future__ import annotations

import pandas as pd
from helpers.results import NOTHING
from helpers.studies import load
from helpers.tables import cell, logs_behind

import azlatency as az
from azlatency.kit.objects import Note
from azlatency.report import tables
from azlatency.site.provenance import StudyLogs
from azlatency.studies.store.study import Study

RUN = "AZ1 - AZ3, sockperf TCP 14 B"


def test_a_printed_mean_keeps_its_digits_and_unit(cni: Study, cni_latency: pd.DataFrame) -> None:
    # az1-az3/sockperf.log: "====> avg-latency=698.945 (std-dev=49.453"
    table = tables.latency.printed(cni, cni_latency)
    assert (cell(table, RUN, "mean"), cell(table, RUN, "unit"), cell(table, RUN, "sd")) == ("698.945", "usec", "49.453")
    assert cell(table, RUN, "quantity") == "RTT/2" and cell(table, RUN, "n") == "6,829"
    assert logs_behind(cni, table, RUN) == {"az1-az3/sockperf.log"}


def test_a_median_of_half_round_trips_is_shown_as_a_round_trip(cni: Study, cni_latency: pd.DataFrame) -> None:
    # "percentile 50.000 =  700.618", printed as RTT/2
    curves = az.stats.printed_quantiles(cni.quantiles, cni.metrics, labels=cni_latency[["path", "method"]])
    table = tables.latency.brackets(curves)
    assert cell(table, f"{RUN}, p50", "RTT, µs") == "1,401.236"
    assert logs_behind(cni, table, f"{RUN}, p50") == {"az1-az3/sockperf.log"}
    typical = tables.latency.paths(cni_latency, az.summarize(cni_latency, "median_ns"))
    assert cell(typical, "AZ1 - AZ3", "median RTT per run, µs") == "1,401.2"


def test_a_path_without_medians_has_an_empty_range(cni: Study, cni_latency: pd.DataFrame) -> None:
    estimates = az.summarize(cni_latency, "median_ns")
    without = cni_latency.assign(median_ns=cni_latency["median_ns"].where(cni_latency["path"] != "AZ1 - AZ3"))
    table = tables.latency.paths(without, estimates)
    assert cell(table, RUN, "median RTT per run, µs") == ""


def test_a_percentile_that_is_the_maximum_is_not_supported(cni: Study, cni_latency: pd.DataFrame) -> None:
    # 6,829 observations: "percentile 99.999 = 1862.908" is also "<MAX> observation = 1862.908"
    curves = az.stats.printed_quantiles(cni.quantiles, cni.metrics, labels=cni_latency[["path", "method"]])
    assert cell(tables.latency.unresolved(curves), f"{RUN}, p99.999", "RTT, µs") == "3,725.816"


def test_a_study_without_latency_has_notes(echo: Study) -> None:
    runs = az.latency(echo)
    assert isinstance(tables.latency.printed(echo, runs), Note)
    assert isinstance(tables.latency.paths(runs, NOTHING), Note) and isinstance(tables.latency.brackets(NOTHING), Note)


def test_repeats_of_a_path_are_distinguished_and_maxima_have_their_own_column() -> None:
    study = load("emulated-zones")
    runs = az.latency(study)
    table = tables.latency.printed(study, runs[runs["tool"] == "lagscope"])
    names = [row[0] for row in table.cells]
    assert len(set(names)) == len(names) == 24 and names[0].endswith(", round 1")
    maxima = table.headers.index("maximum, not percentile")
    # lagscope/az1a-az1b round 1: 1,000 pings, so p99.99 and p99.999 are the maximum.
    assert table.cells[0][maxima] == "p99.99, p99.999"
    assert not [cell for row in table.cells for cell in row if "†" in cell]


def test_runs_that_print_no_statistic_are_counted_and_not_listed() -> None:
    study = load("emulated-zones")
    runs = az.latency(study)
    samples_only = runs[runs["tool"] == "echo"]
    table = tables.latency.printed(study, runs)
    assert len(table.cells) == len(runs) - len(samples_only)
    assert all(any(value not in ("", "–") for value in row[4:-1]) for row in table.cells)
    assert f"Not listed: {len(samples_only)} runs print single observations and no statistic." in table.notes
    assert isinstance(tables.latency.printed(study, samples_only), Note)


def test_the_number_of_observations_leads_to_its_own_line(zones: Study) -> None:
    runs = az.latency(zones)
    record = tables.latency.printed(zones, runs[runs["file"] == "availability-set/sockperf-m1400.log"]).record()
    [row] = record["rows"]
    refs = row["cell_refs"][str([column["header"] for column in record["columns"]].index("n"))]
    # Line 16: "Total 1842588 observations"
    assert row["cells"][3] == "1,842,588" and [place.line for place, _ in StudyLogs(zones).index.find(refs)] == [16]
