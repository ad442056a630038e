"""The tables of the page on throughput against the raw logs."""

from __future__ import annotations

import pandas as pd
from helpers.tables import cell, logs_behind

import azlatency as az
from azlatency.report import tables
from azlatency.report.objects import Note
from azlatency.studies.store import Study


def test_goodput_is_the_printed_number_in_gbit_per_second(cni: Study, cni_throughput: pd.DataFrame) -> None:
    table = tables.throughput.printed(cni, cni_throughput)
    for tool, token, gigabits in (
        ("iperf3 TCP", "7.91 Gbits/sec", "7.910"),
        ("ntttcp", "11.87 Gbps", "11.870"),
        ("qperf tcp_bw", "918 MB/sec", "7.344"),  # 918 * 8 / 1000
    ):
        row = f"AZ1 - AZ3, {tool}"
        assert cell(table, row, "as printed") == token and cell(table, row, "goodput, Gbit/s") == gigabits
        assert logs_behind(cni, table, row) == {f"az1-az3/{tool.split()[0]}.log"}


def test_a_study_without_throughput_has_notes(echo: Study) -> None:
    runs = az.throughput(echo)
    assert isinstance(tables.throughput.printed(echo, runs), Note)
    assert isinstance(tables.throughput.paths(runs, []), Note)
