"""Tables of numbers that others printed: to the printed digit, with what may be concluded from them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import azlatency as az
from azlatency.report import tables
from azlatency.report.objects import Note
from azlatency.report.table import Table

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


def load(name: str, out: Path) -> Any:
    az.import_study(name, out=out)
    return az.load(name, processed=out)


def reported(name: str, out: Path) -> tuple[Table, dict[str, int]]:
    table = az.tables.what_was_measured.reported(load(name, out))
    assert isinstance(table, Table)
    return table, {header: index for index, header in enumerate(table.headers)}


def test_the_fifth_seeds_tables_are_reproduced(tmp_path: Path) -> None:
    table, at = reported("uksouth-echo-latency", tmp_path)
    for scenario, tokens in (*LATENCY_TABLE.items(), *SEGMENTS.items()):
        printed = [row[at["printed"]] for row in table.cells if row[at["scenario"]] == scenario]
        assert [token for token in printed if token in tokens] == [*tokens]


def test_the_third_seeds_numbers_are_reproduced(tmp_path: Path) -> None:
    table, at = reported("canadacentral-proximity-placement", tmp_path)
    assert tuple(row[at["printed"]] for row in table.cells) == PLACEMENTS


@pytest.mark.parametrize("name", ["uksouth-echo-latency", "canadacentral-proximity-placement"])
def test_each_reported_number_says_what_may_be_concluded(name: str, tmp_path: Path) -> None:
    table, at = reported(name, tmp_path)
    said = [row[at["what may be concluded"]] for row in table.cells]
    assert all(said)
    for row, words in zip(table.cells, said, strict=True):
        assert ("one packet" in words) == (row[at["metric"]] in ("rtt_min", "rtt_max"))


def test_headlines_of_single_runs_rank_nothing(tmp_path: Path) -> None:
    study = load("westeurope-azure-cni", tmp_path)
    runs = az.studies.client_side_runs(az.studies.run_table(study))
    table = az.tables.what_was_measured.headline(az.stats.unit_checks.headline_numbers(study, runs), runs)
    assert isinstance(table, Table)
    assert {row[-1] for row in table.cells} == {"one run each: what these connections did, no rank among paths"}


def test_headlines_of_repeated_runs_lead_to_the_intervals(tmp_path: Path) -> None:
    study = load("emulated-zones", tmp_path)
    runs = az.studies.client_side_runs(az.studies.run_table(study))
    table = az.tables.what_was_measured.headline(az.stats.unit_checks.headline_numbers(study, runs), runs)
    assert isinstance(table, Table)
    said = {row[0]: row[-1] for row in table.cells}
    assert said["az1a → az3a"].startswith("first of several runs by ")


def test_commands_without_a_number_are_listed_and_not_judged(tmp_path: Path) -> None:
    table = tables.vm_baseline.unquantified(load("cassandra-vm-baseline", tmp_path))
    assert isinstance(table, Table) and len(table.cells) == 6
    assert table.cells[0][0] == "RAID0, sequential read throughput" and "--rw=read --bs=1024k" in table.cells[0][2]
    assert isinstance(tables.vm_baseline.unquantified(load("westeurope-azure-cni", tmp_path)), Note)


@pytest.mark.parametrize(
    ("low", "high", "unit", "cell", "words"),
    [
        (40_000, 50_000, "ns", "40 – 50 µs", "40 to 50 µs"),
        (None, 1e9, "bit/s", "≤ 1 Gbit/s", "at most 1 Gbit/s"),
        (530e6, None, "bytes/s", "≥ 530 MB/s", "at least 530 MB/s"),
        (1_900, 2_100, "1/s", "1,900 – 2,100 per s", "1,900 to 2,100 per s"),
        (None, 5.0, "packets", "≤ 5 packets", "at most 5 packets"),
    ],
)
def test_limits_of_an_expectation_in_a_cell_and_in_words(
    low: float | None, high: float | None, unit: str, cell: str, words: str
) -> None:
    assert az.tables.common.limits(low, high, unit) == cell
    assert az.tables.common.limits(low, high, unit, ("at most ", "at least ", " to ")) == words
