"""Page 00: what the logs and the texts of a study say, to the printed digit."""

from __future__ import annotations

from pathlib import Path

import pytest
from helpers.studies import load
from helpers.tables import cell, logs_behind
from studies.runs.test_run_table import ping

import azlatency as az
from azlatency.kit.cells import Table
from azlatency.kit.objects import Note
from azlatency.pages import common
from azlatency.pages import what_was_measured as page
from azlatency.studies.store.study import Study


@pytest.fixture(scope="module")
def echo() -> Study:
    """A text without logs."""
    return load("uksouth-echo-latency")


#: The tables of two posts, read by hand: scenario, metric, level or stretch, and the token as printed.
LATENCY_TABLE = {
    "Same AZ": ("850 μs", "975 μs", "1,050 μs", "726 μs", "404,402 μs"),
    "Cross AZ": ("1,425 μs", "1,950 μs", "2,250 μs", "1,154 μs", "1,099,789 μs"),
    "Cross Region": ("5,300 μs", "6,800 μs", "8,100 μs", "4,587 μs", "743,394 μs"),
}


SEGMENTS = {
    "Same AZ": ("813.14", "888.09", "925.49", "955.87", "789.58", "Down by 166.29 μs"),
    "Cross AZ": ("1421.41", "1388.25", "1433.61", "1403.46", "1473.22", "Up by 69.76 μs"),
    "Cross Region": ("5320.39", "5242.55", "5384.39", "5388.18", "5262.40", "Down by 125.78 μs"),
}


PLACEMENTS = ("2130.93", "1546", "1840.29", "1364.43", "308.55", "55 to 61.09", "54 to 57")


def reported(name: str) -> tuple[Table, dict[str, int]]:
    table = page.reported(load(name))
    assert isinstance(table, Table)
    return table, {header: index for index, header in enumerate(table.headers)}


def test_the_latency_tables_of_a_text_are_reproduced() -> None:
    table, at = reported("uksouth-echo-latency")
    for scenario, tokens in (*LATENCY_TABLE.items(), *SEGMENTS.items()):
        printed = [row[at["printed"]] for row in table.cells if row[at["scenario"]] == scenario]
        assert [token for token in printed if token in tokens] == [*tokens]


def test_the_numbers_of_a_blog_post_are_reproduced() -> None:
    table, at = reported("canadacentral-proximity-placement")
    assert tuple(row[at["printed"]] for row in table.cells) == PLACEMENTS


@pytest.mark.parametrize("name", ["uksouth-echo-latency", "canadacentral-proximity-placement"])
def test_only_minimum_and_maximum_are_described_as_one_packet(name: str) -> None:
    table, at = reported(name)
    conclusions = [row[at["conclusion"]] for row in table.cells]
    assert all(conclusions)
    for row, conclusion in zip(table.cells, conclusions, strict=True):
        assert ("one packet" in conclusion) == (row[at["metric"]] in ("rtt_min", "rtt_max"))


def test_headlines_of_single_runs_do_not_rank_paths() -> None:
    study = load("westeurope-azure-cni")
    runs = az.studies.client_side_runs(az.studies.run_table(study))
    table = page.headline(az.stats.unit_checks.headline_numbers(study, runs), runs)
    assert isinstance(table, Table)
    assert {row[-1] for row in table.cells} == {"one run per method: describes these connections, not the path"}


def test_headlines_of_repeated_runs_refer_to_the_intervals() -> None:
    study = load("emulated-zones")
    runs = az.studies.client_side_runs(az.studies.run_table(study))
    table = page.headline(az.stats.unit_checks.headline_numbers(study, runs), runs)
    assert isinstance(table, Table)
    conclusions = {row[0]: row[-1] for row in table.cells}
    assert conclusions["az1a → az3a"].startswith("first of several runs by ")


def test_every_line_of_a_log_is_counted(latte: Study) -> None:
    # sender.log and receiver.log have 13 lines each; eight of them carry a number.
    table = page.ledger(latte)
    assert cell(table, "sender.log", "lines") == "13" and cell(table, "all files", "lines") == "26"
    assert cell(table, "all files", "unknown") == "0"


def test_an_expectation_is_shown_as_printed_and_as_read(latte: Study) -> None:
    table = page.expectations(latte)
    assert cell(table, "round trip between zones", "as printed") == "less than two milliseconds"
    assert cell(table, "round trip between zones", "read as") == "0–2,000 µs"


def test_each_headline_leads_to_the_line_that_prints_it(cni: Study) -> None:
    runs = az.studies.client_side_runs(az.studies.run_table(cni))
    table = page.headline(az.stats.unit_checks.headline_numbers(cni, runs), runs)
    assert isinstance(table, Table)
    # az1-az3/iperf3.log prints 7.91 Gbits/sec for the receiver.
    assert cell(table, "AZ1 - AZ3", "iperf3 TCP, goodput") == "7.91 Gbits/sec"
    (row,) = (row for row in table.record()["rows"] if row["cells"][0] == "AZ1 - AZ3")
    references = [references[0] for references in row["cell_refs"].values()]
    assert len(references) == 5 and all(reference["line"] > 0 for reference in references)


def test_runs_are_counted_by_path_and_method_with_their_logs(cni: Study) -> None:
    table = page.inventory(az.studies.client_side_runs(az.studies.run_table(cni)))
    assert isinstance(table, Table) and set(cell(table, "AZ1 - AZ3", header) for header in table.headers[1:]) == {"1"}
    logs = logs_behind(cni, table, "AZ1 - AZ3")
    assert len(logs) == 4 and all(log.startswith("az1-az3/") for log in logs)


def test_what_a_tool_printed_follows_from_the_duration(cni: Study) -> None:
    table = page.quantities(az.stats.unit_checks.printed_quantities(az.latency(cni)))
    assert cell(table, "sockperf", "the log prints") == "RTT/2" and cell(table, "sockperf", "to RTT") == "× 2"
    assert cell(table, "sockperf", "n · mean ÷ duration") == "0.498 – 0.500"
    found = page.find(cni, az.stats.unit_checks.printed_quantities(az.latency(cni)))
    assert "qperf tcp_lat and sockperf TCP 14 B print RTT/2" in str(found)
    assert str(found).startswith("Answer: **25 runs** of iperf3, ntttcp, qperf, sockperf over 5 paths; every line")


def test_a_run_with_two_records_is_one_run(latte: Study) -> None:
    """Sender and receiver of latte print one run; lagscope's log and frequency table are eight, not sixteen."""
    for study, start in (
        (latte, "Answer: **1 run** of latte over 1 path (1 further record of the same traffic not counted); "),
        (
            load("aws-euwest1-lagscope"),
            "Answer: **8 runs** of lagscope over 8 paths (8 further records of the same traffic not counted); ",
        ),
    ):
        evidence = az.stats.unit_checks.printed_quantities(az.latency(study))
        assert str(page.find(study, evidence)).startswith(start)


def test_the_manifest_and_what_it_lacks_are_shown(cni: Study) -> None:
    assert cell(page.about(cni), "VM size", "as the study describes it") == "Standard_D8ds_v4"
    assert cell(page.about(cni), "Date", "as the study describes it") == "not said"
    # No log of CNI has a time; of a published table, a window has days.
    assert cell(page.about(cni), "Started at", "as the study describes it") == "no date in the logs"
    started = cell(page.about(load("emulated-cloud")), "Started at", "as the study describes it")
    assert started == "2026-11-22 08:01 to 2026-11-22 08:09 UTC (324 of 324 runs)"
    assert cell(page.about(load("emulated-zones")), "Emulated", "as the study describes it").startswith("yes: a lab")
    assert cell(page.missing(cni), "accelerated_networking", "runs without it") == "25 of 25"


def test_events_are_counted_with_their_first_place(cni: Study) -> None:
    table = page.events(cni)
    assert isinstance(table, Table)
    assert sum(int(row[2]) for row in table.cells) == len(cni.events)
    assert all(reference["line"] > 0 for reference in table.record()["rows"][0]["refs"])


def test_a_study_without_logs_has_notes(echo: Study) -> None:
    no_runs = az.latency(echo)
    evidence = az.stats.unit_checks.printed_quantities(no_runs)
    for note in (
        page.ledger(echo),
        page.expectations(echo),
        page.events(echo),
        page.missing(echo),
        page.inventory(no_runs),
        page.quantities(evidence),
        page.headline(az.stats.unit_checks.headline_numbers(echo, az.studies.run_table(echo)), no_runs),
    ):
        assert isinstance(note, Note)
    assert page.host_differences(echo) is None
    assert "This study has no logs, only reported numbers." in str(page.find(echo, evidence))


def test_the_means_of_a_published_table_are_not_called_runs() -> None:
    study = load("ibm-cloud-zones")
    text = str(page.find(study, az.stats.unit_checks.printed_quantities(az.latency(study))))
    assert "**2,175 published means** of netperf (table) over 142 paths " in text
    assert "(8,187 means of windows that overlap a later one not counted); " in text


def test_a_file_that_is_no_log_is_no_error_of_one(tmp_path: Path) -> None:
    (tmp_path / "raw").mkdir()
    (tmp_path / "raw" / "a.log").write_text(ping("10.0.0.9", 1.0, 2.0), "utf-8")
    for name in ("LICENSE", "client.py"):
        (tmp_path / "raw" / name).write_text(f"import {name}\n", "utf-8")
    az.import_study("mine", [tmp_path / "raw"], out=tmp_path)
    study = az.load("mine", processed=tmp_path)
    text = str(page.find(study, az.stats.unit_checks.printed_quantities(az.latency(study))))
    assert "every line recognised" in text and "LICENSE" not in text
    assert str(common.provenance(study)).count("a.log") == 1 and "LICENSE" not in str(common.provenance(study))
