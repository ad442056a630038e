"""The tables of the page on what was measured: numbers of texts and logs to the printed digit."""

from __future__ import annotations

import pytest
from helpers.studies import load
from helpers.tables import cell

import azlatency as az
from azlatency.kit.cells import Table
from azlatency.kit.objects import Note
from azlatency.report import tables
from azlatency.studies.store.study import Study

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
    table = az.tables.what_was_measured.reported(load(name))
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
    table = az.tables.what_was_measured.headline(az.stats.unit_checks.headline_numbers(study, runs), runs)
    assert isinstance(table, Table)
    assert {row[-1] for row in table.cells} == {"one run per method: describes these connections, not the path"}


def test_headlines_of_repeated_runs_refer_to_the_intervals() -> None:
    study = load("emulated-zones")
    runs = az.studies.client_side_runs(az.studies.run_table(study))
    table = az.tables.what_was_measured.headline(az.stats.unit_checks.headline_numbers(study, runs), runs)
    assert isinstance(table, Table)
    conclusions = {row[0]: row[-1] for row in table.cells}
    assert conclusions["az1a → az3a"].startswith("first of several runs by ")


def test_every_line_of_a_log_is_counted(latte: Study) -> None:
    # sender.log and receiver.log have 13 lines each; eight of them carry a number.
    table = tables.what_was_measured.ledger(latte)
    assert cell(table, "sender.log", "lines") == "13" and cell(table, "all files", "lines") == "26"
    assert cell(table, "all files", "unknown") == "0"


def test_an_expectation_is_shown_as_printed_and_as_read(latte: Study) -> None:
    table = tables.what_was_measured.expectations(latte)
    assert cell(table, "latency perimeter", "as printed") == "less than two milliseconds"
    assert cell(table, "latency perimeter", "read as") == "0 – 2,000 µs"


def test_a_study_without_logs_has_notes(echo: Study) -> None:
    assert isinstance(tables.what_was_measured.ledger(echo), Note)
    assert isinstance(tables.what_was_measured.expectations(echo), Note)
