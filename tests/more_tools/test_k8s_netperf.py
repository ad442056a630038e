from __future__ import annotations

import pytest
from helpers.places import FIXTURES

TABLES = (FIXTURES / "k8s_netperf" / "0.1.43-three-drivers.log").read_text("utf-8")
SAME_NODE = (FIXTURES / "k8s_netperf" / "0.1.25-same-node.log").read_text("utf-8")
COLUMNS = "DRIVER | SCENARIO | PARALLELISM | SERVICE | VIRT MODE | UDN INFO | MESSAGE SIZE | BURST | DURATION | SAMPLES"
HEADER = f"| RESULT TYPE | {COLUMNS} | AVG VALUE |\n"


def rows(*cells: str) -> str:
    return HEADER + "".join(f"| 📊 Rr Results | {cell} |\n" for cell in cells)


def test_rows_of_several_tables_are_one_run(read) -> None:
    log = read(TABLES)
    assert log.value("throughput", run=4) == 45_680_000
    assert log.value("loss", run=4) == pytest.approx(0.72713519)


def test_transactions_and_latencies_of_uperf_are_left_out(read) -> None:
    log = read(TABLES)
    assert [log.value(name, run=8) for name in ("transaction_rate", "rtt_p99_mean")] == [None, None]


def test_what_was_not_measured_is_left_out(read) -> None:
    """The net lost most of the datagrams, and iperf3 said so: k8s-netperf printed 0."""
    log = read(TABLES)
    assert log.value("loss", run=5) is None
    assert log.codes("warning") == ["driver_misreports"] * 3
    cells = "iperf3 | UDP_STREAM | 1 | false | false | | 64 | 0 | 10 | 1"
    log = read(f"| TYPE | {COLUMNS} | AVG VALUE |\n| UDP Loss Percent | {cells} | 12.500000 |\n")
    assert log.value("loss") == 0.125
    log = read(rows("ib_write_bw | UDP_STREAM | 1 | false | false | | 64 | 0 | 10 | 1 | 2708.880000 (Mb/s)"))
    assert log.value("throughput") is None
    assert "driver_misreports" in log.codes("warning")


def test_a_mean_of_percentiles_is_not_a_percentile(read) -> None:
    log = read(TABLES)
    assert log.value("transaction_p99_mean", run=9) == 33_916_666.667
    assert not log.tables.rows["quantiles"]
    two_processes = read(SAME_NODE.replace("| UDP_RR   | 1  ", "| UDP_RR   | 2  "))
    assert two_processes.value("rtt_p99_mean", run=5) == 23_222_000


def test_an_interval_of_one_sample_is_missing(read) -> None:
    assert read(SAME_NODE).value("transaction_rate_ci_low", run=4) is None
    assert read(TABLES).value("transaction_rate_ci_low", run=6) == -1181.829257


def test_the_configuration_is_part_of_the_test(read) -> None:
    log = read(rows("netperf | TCP_RR | 2 | true | true | udn-l2 | 64 | 4 | 10 | 1 | 100.000000 (OP/s)"))
    assert log.runs[0]["test"] == "tcp_rr service virt-mode burst-4 udn-l2"
    assert log.runs[0]["closed_loop"] is False


def test_the_same_row_twice_in_a_table_is_a_second_run(read) -> None:
    row = "netperf | TCP_RR | 2 | true | true | | 64 | 0 | 10 | 1 | 100.000000 (OP/s)"
    assert len(read(rows(row, row)).runs) == 2


def test_utilization_is_not_stored(read) -> None:
    header = "| RESULT TYPE | DRIVER | ROLE | SCENARIO | CPU |\n"
    text = header + "| Node CPU Utilization | netperf | Client | TCP_RR | 99.1 |\n"
    log = read(TABLES + text)
    assert (len(log.runs), log.unknown()) == (10, 0)


@pytest.mark.parametrize("cut", [" (OP/s) |", "000 (OP/s)", " | 10 | 1"])
def test_a_cut_row_is_an_unknown_line(read, cut: str) -> None:
    whole = rows("netperf | TCP_RR | 2 | true | true | | 64 | 0 | 10 | 1 | 100.000000 (OP/s)")
    log = read(whole.replace(cut, ""))
    assert log.unknown() == 1
    assert log.runs[0]["status"] == "no_data"


@pytest.mark.parametrize(
    "text",
    [
        "Driver,Profile,Same node,Host Network,Service,Duration,Parallelism\nnetperf,TCP_RR,false,false,false,10,1\n",
        "Type,Driver,Profile,Same node,Host Network,Value\nUDP Percent Loss,netperf,UDP_STREAM,false,false,72.713519\n",
        '[\n   {\n     "uuid": "k8s-netperf",\n     "profile": "TCP_RR",\n     "throughput": 34.16\n   }\n]\n',
    ],
)
def test_the_files_are_named_and_not_read(read, text: str) -> None:
    log = read(text)
    assert (log.runs, log.codes("error")) == ([], ["not_recognised"])
    assert "foreign_tool" in log.codes()


def test_the_same_table_again_is_that_of_another_call(read) -> None:
    again = TABLES.replace("110.346667", "110.000000").replace("99.653606-121.039728", "98.960272-121.039728")
    log = read(TABLES + again)
    assert [log.value("throughput", run=run) for run in (0, 10)] == [110_346_667, 110_000_000]
    assert {run["status"] for run in log.runs} == {"complete"}


def test_transactions_without_the_table_of_their_latencies_are_truncated(read) -> None:
    lines = TABLES.splitlines(keepends=True)
    assert {run["status"] for run in read("".join(lines[:29])).runs} == {"truncated"}
    old = "".join(lines[11:21]).replace(" BURST |", " ---- |")
    assert {run["status"] for run in read(old).runs} == {"complete"}
