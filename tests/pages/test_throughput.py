"""Page 02: throughput, with numbers read in the raw logs."""

from __future__ import annotations

import shutil
from pathlib import Path

import pandas as pd
import pytest
from helpers.places import TESTS
from helpers.results import NOTHING
from helpers.studies import load
from helpers.tables import cell, logs_behind

import azlatency as az
from azlatency.kit.cells import Table
from azlatency.kit.objects import Note
from azlatency.pages import throughput as page
from azlatency.studies.store.study import Study


@pytest.fixture(scope="module")
def runs(cni: Study) -> pd.DataFrame:
    return az.throughput(cni, sender_only=True)


def test_goodput_is_the_printed_number_in_gbit_per_second(cni: Study, runs: pd.DataFrame) -> None:
    table = page.printed(cni, runs)
    for tool, token, gigabits in (
        ("iperf3 TCP", "7.91 Gbits/sec", "7.910"),
        ("ntttcp (sender)", "11.87 Gbps", "11.870"),
        ("qperf tcp_bw", "918 MB/sec", "7.344"),  # 918 * 8 / 1000
    ):
        row = f"AZ1 - AZ3, {tool}"
        assert cell(table, row, "as printed") == token and cell(table, row, "goodput, Gbit/s") == gigabits
        assert logs_behind(cni, table, row) == {f"az1-az3/{tool.split()[0]}.log"}


def test_the_typical_goodput_is_that_of_the_runs(runs: pd.DataFrame) -> None:
    table = page.paths(runs, az.summarize(runs, "throughput_bit_s"))
    assert cell(table, "AZ1 - AZ3, iperf3 TCP", "goodput per run, Gbit/s") == "7.91"
    assert cell(table, "AZ1 - AZ3, iperf3 TCP", "flags") == "one run"


def test_the_directions_of_a_test_lead_to_their_own_lines(tmp_path: Path) -> None:
    (tmp_path / "raw").mkdir()
    shutil.copy(TESTS / "fixtures" / "iperf3" / "3.12-bidir.txt", tmp_path / "raw")
    az.import_study("both", [tmp_path / "raw"], out=tmp_path)
    study = az.load("both", processed=tmp_path)
    both = az.throughput(study)
    table = page.printed(study, both)
    assert isinstance(table, Table)
    lines = [[row["cell_refs"][column][0]["line"] for column in ("2", "6")] for row in table.record()["rows"]]
    assert lines == [[14, 13], [16, 15]]  # [TX-C] and [RX-C]: goodput, retransmits
    assert "1 run sent in both directions at once" in str(page.find(both, NOTHING))


def test_a_study_without_throughput_has_notes() -> None:
    echo = load("uksouth-echo-latency")
    nothing = az.throughput(echo)
    assert isinstance(page.printed(echo, nothing), Note) and isinstance(page.paths(nothing, NOTHING), Note)
    assert "No log of this study contains a throughput" in str(page.find(nothing, NOTHING))


def test_traffic_inside_a_host_and_the_most_retransmits_are_named(runs: pd.DataFrame) -> None:
    text = str(page.find(runs, az.summarize(runs, "throughput_bit_s")))
    # single-node: qperf 2.82 GB/sec and ntttcp 98.39 Gbps; az1-az1/iperf3.log: 24093 retransmits
    assert "22.6–98.4 Gbit/s" in text and "AZ1 - AZ1 (iperf3 TCP) retransmitted most: 24,093 segments" in text


def test_paths_on_which_nothing_arrived_are_a_loss_and_not_a_rate(runs: pd.DataFrame) -> None:
    lost = runs[runs["placement"] == "same_host"].head(2).assign(throughput_bit_s=[0.0, 96.0], protocol="udp")
    text = str(page.find(lost, NOTHING))
    assert "Nothing arrived on Single node" in text and "all packets were lost" in text
    # 96 bit/s of UDP at 99.97 % loss says nothing about memory.
    assert "memory" not in text and " 0.00 " not in text


def test_a_typical_rate_of_a_series_that_changed_leads_to_its_history() -> None:
    """From round 46 on, az3a → az2a carries half of what the typical run of all 60 rounds says."""
    runs = az.throughput(load("emulated-nights"))
    found = str(page.find(runs, az.summarize(runs, "throughput_bit_s")))
    assert "may hide a change of level; the page *History* tests it: az2a → az3a and az3a → az2a (iperf3 TCP)" in found


def test_a_table_of_single_runs_has_no_empty_columns(cni: Study) -> None:
    runs = az.throughput(cni)
    table = page.paths(runs, az.summarize(runs, "throughput_bit_s"))
    assert isinstance(table, Table) and "typical run" not in str(table) and "95 % interval" not in str(table)


def test_the_data_of_a_reverse_test_goes_against_the_arrow() -> None:
    runs = az.throughput(az.parse(TESTS / "fixtures" / "iperf3" / "3.12-P4-reverse.txt"))
    assert runs["path"].tolist() == ["10.2.1.4 → 10.2.2.4"]
    sentence = "In 1 run (stream-reverse) the data went against the arrow: from server to client."
    assert sentence in str(page.find(runs, NOTHING))
