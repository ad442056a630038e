"""The tables of the page on throughput against the raw logs."""

from __future__ import annotations

import shutil
from pathlib import Path

import pandas as pd
from helpers.places import TESTS
from helpers.results import NOTHING
from helpers.tables import cell, logs_behind

import azlatency as az
from azlatency.kit.cells import Table
from azlatency.kit.objects import Note
from azlatency.report import findings, tables
from azlatency.studies.store.study import Study


def test_goodput_is_the_printed_number_in_gbit_per_second(cni: Study, cni_throughput: pd.DataFrame) -> None:
    table = tables.throughput.printed(cni, cni_throughput)
    for tool, token, gigabits in (
        ("iperf3 TCP", "7.91 Gbits/sec", "7.910"),
        ("ntttcp (sender)", "11.87 Gbps", "11.870"),
        ("qperf tcp_bw", "918 MB/sec", "7.344"),  # 918 * 8 / 1000
    ):
        row = f"AZ1 - AZ3, {tool}"
        assert cell(table, row, "as printed") == token and cell(table, row, "goodput, Gbit/s") == gigabits
        assert logs_behind(cni, table, row) == {f"az1-az3/{tool.split()[0]}.log"}


def test_the_directions_of_a_test_lead_to_their_own_lines(tmp_path: Path) -> None:
    (tmp_path / "raw").mkdir()
    shutil.copy(TESTS / "fixtures" / "iperf3" / "3.12-bidir.txt", tmp_path / "raw")
    az.import_study("both", [tmp_path / "raw"], out=tmp_path)
    study = az.load("both", processed=tmp_path)
    runs = az.throughput(study)
    table = tables.throughput.printed(study, runs)
    assert isinstance(table, Table)
    lines = [[row["cell_refs"][column][0]["line"] for column in ("2", "6")] for row in table.record()["rows"]]
    assert lines == [[14, 13], [16, 15]]  # [TX-C] and [RX-C]: goodput, retransmits
    assert "1 run sent in both directions at once" in str(findings.throughput.find(runs, NOTHING))


def test_a_study_without_throughput_has_notes(echo: Study) -> None:
    runs = az.throughput(echo)
    assert isinstance(tables.throughput.printed(echo, runs), Note)
    assert isinstance(tables.throughput.paths(runs, NOTHING), Note)
