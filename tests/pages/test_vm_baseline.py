"""Page 06: runs against what is expected of a VM, with numbers read in the raw logs."""

from __future__ import annotations

import pandas as pd
from helpers.studies import load
from helpers.tables import cell, logs_behind

import azlatency as az
from azlatency.kit.cells import Table
from azlatency.kit.objects import Chart, Note
from azlatency.pages import vm_baseline as page
from azlatency.studies.store.study import Study


def test_the_latte_mean_is_compared_with_the_limit_of_two_milliseconds(latte: Study) -> None:
    # sender.log: "Latency(usec) 2026.40"; the provider states "less than two milliseconds"
    found = az.baseline(latte, latte.expectations)
    table = page.conformance(found)
    row = "round trip between zones"
    assert cell(table, row, "expected, µs") == "no limit – 2,000" and cell(table, row, "typical run, µs") == "2,026.4"
    assert cell(table, row, "ratio to the limit") == "1.01" and cell(table, row, "verdict") == "not tested"
    assert logs_behind(latte, table, row) == {"sender.log"}
    assert cell(page.still_to_run(found, latte.expectations), row, "runs so far") == "1"
    text = str(page.find(found))
    assert "**2,026 µs** on Different zones" in text and "one run each, so not tested" in text
    note = page.baseline_bullets(found)
    assert isinstance(note, Note) and "2,026.4 µs, at most 2,000 µs: not tested" in note.text


def test_no_cell_mixes_two_limits_or_a_number_and_its_unit(cni: Study) -> None:
    # The baseline expects "Around 4Gb/s"; AZ1 - AZ3/iperf3-client.log prints 7.91 Gbits/sec.
    table = page.conformance(az.baseline(cni))
    assert isinstance(table, Table)
    record = table.record()
    headers = [column["header"] for column in record["columns"]]
    assert headers[2:6] == ["typical run, Gbit/s", "verdict", "expected low, Gbit/s", "expected high, Gbit/s"]
    (row,) = (row for row in record["rows"] if row["cells"][:2] == ["network bandwidth, AZ1 - AZ3", "iperf3 TCP"])
    assert row["cells"][2:6] == ["7.91", "not tested", "3.6", "4.4"]
    (reference,) = row["cell_refs"]["4"]
    assert (reference["file"], reference["key"], reference["entry"]) == ("baseline", "printed", "network bandwidth")


def test_the_picture_names_the_value_the_limit_and_the_verdict(cni: Study) -> None:
    chart = page.baseline_bullets(az.baseline(cni))
    assert isinstance(chart, Chart)
    assert "network bandwidth: 3.6 to 4.4 Gbit/s: " in chart.alt
    assert "AZ1 - AZ3, iperf3 TCP 7.91 Gbit/s, not tested" in chart.alt
    assert chart.title.endswith("3.6 to 4.4 Gbit/s is expected: all above it, not tested (one run each)")


def test_expectations_of_several_units_name_the_unit_in_a_column(latte: Study, cni: Study) -> None:
    table = page.conformance(pd.concat([az.baseline(latte), az.baseline(cni)]))
    assert isinstance(table, Table) and "typical run" in table.headers
    assert {row[table.headers.index("unit")] for row in table.cells} == {"µs", "Gbit/s"}


def test_what_the_runs_decide_is_said_and_acted_on() -> None:
    wanted = {"name": "bandwidth", "relation": "at_least", "low": 4e9, "unit": "bit/s"}
    kept, failed = (
        az.stats.check_expectation(values, wanted, labels={"path": path, "method": "iperf3"})
        for path, values in (("a → b", [5e9, 5.1e9, 5.2e9] * 2), ("b → a", [3e9, 3.1e9, 3.05e9] * 2))
    )
    lines = str(page.find(pd.concat([kept, failed]))).splitlines()
    assert lines[0] == "Answer: Bandwidth: **3.05–5.10 Gbit/s** measured, ≥ 4 Gbit/s expected; **failed**."
    assert "Before you rely on it: bandwidth, b → a, iperf3: fails, 3.05 Gbit/s in 6 runs." in lines
    assert "What else these data show: bandwidth, a → b, iperf3: meets, 5.1 Gbit/s in 6 runs." in lines


def test_a_study_without_logs_lists_what_would_have_to_be_run() -> None:
    study = load("cassandra-vm-baseline")
    found = az.baseline(study)
    note = page.conformance(found)
    assert isinstance(note, Note) and "no expectation is tested" in note.text
    table = page.still_to_run(found, study.expectations)
    assert isinstance(table, Table) and len(table.rows) == len(study.expectations)
    assert any(row[-1].startswith("fio --name=4-disks") for row in table.cells)
    # The table has the names of the twelve.
    said = str(page.find(found))
    assert "**12 not measured**" in said and "network latency" not in said and "The page lists the commands" in said
    commands = page.unquantified(study)
    assert isinstance(commands, Table) and len(commands.cells) == 6
    assert (
        commands.cells[0][0] == "RAID0, sequential read throughput" and "--rw=read --bs=1024k" in commands.cells[0][2]
    )


def test_a_study_without_baseline_has_notes(cni: Study) -> None:
    nothing = az.baseline(cni, [])
    for note in (page.conformance(nothing), page.baseline_bullets(nothing), page.still_to_run(nothing, [])):
        assert isinstance(note, Note)
    assert "no baseline" in str(page.find(nothing)) and isinstance(page.unquantified(cni), Note)
