"""The tables of the page on the VM against its baseline."""

from __future__ import annotations

from helpers.studies import load
from helpers.tables import cell, logs_behind

import azlatency as az
from azlatency.report import tables
from azlatency.report.objects import Note
from azlatency.report.table import Table
from azlatency.studies.store.study import Study


def test_the_latte_mean_is_compared_with_the_limit_of_two_milliseconds(latte: Study) -> None:
    # sender.log: "Latency(usec) 2026.40"; the provider states "less than two milliseconds"
    results = az.baseline(latte, latte.expectations)
    table = tables.vm_baseline.conformance(results)
    row = "latency perimeter between zones"
    assert cell(table, row, "expected, µs") == "no limit – 2,000" and cell(table, row, "typical run, µs") == "2,026.4"
    assert cell(table, row, "× limit") == "1.01" and cell(table, row, "verdict") == "inconclusive"
    assert logs_behind(latte, table, row) == {"sender.log"}
    assert cell(tables.vm_baseline.still_to_run(results, latte.expectations), row, "runs so far") == "1"


def test_a_study_without_baseline_has_a_note() -> None:
    assert isinstance(tables.vm_baseline.conformance([]), Note)


def test_commands_without_a_number_are_listed_and_not_judged(cni: Study) -> None:
    table = tables.vm_baseline.unquantified(load("cassandra-vm-baseline"))
    assert isinstance(table, Table) and len(table.cells) == 6
    assert table.cells[0][0] == "RAID0, sequential read throughput" and "--rw=read --bs=1024k" in table.cells[0][2]
    assert isinstance(tables.vm_baseline.unquantified(cni), Note)


def test_no_cell_mixes_two_limits_or_a_number_and_its_unit(cni: Study) -> None:
    # The baseline expects "Around 4Gb/s"; az1-az3 prints 7.91 Gbits/sec.
    table = tables.vm_baseline.conformance(az.baseline(cni, cni.expectations))
    assert isinstance(table, Table)
    expected = next(column for column in table.columns if column.header == "expected")
    assert expected.page_headers() == [
        ("expected low, Gbit/s", ["expected low, Gbit/s"]),
        ("expected high, Gbit/s", ["expected high, Gbit/s"]),
    ]
    row = next(row for row in table.rows if row.labels["path"] == "AZ1 - AZ3" and row.labels["method"] == "iperf3 TCP")
    assert expected.page_values(row) == [["3.6"], ["4.4"]]
    assert cell(table, "network bandwidth, AZ1 - AZ3", "typical run, Gbit/s") == "7.91"


def test_expectations_of_several_units_name_the_unit_in_a_column(latte: Study, cni: Study) -> None:
    results = [*az.baseline(latte, latte.expectations), *az.baseline(cni, cni.expectations)]
    table = tables.vm_baseline.conformance(results)
    assert isinstance(table, Table) and "typical run" in table.headers
    assert {row[table.headers.index("unit")] for row in table.cells} == {"µs", "Gbit/s"}
