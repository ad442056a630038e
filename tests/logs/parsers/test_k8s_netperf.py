from __future__ import annotations

import pytest
from helpers.places import FIXTURES

TABLES = (FIXTURES / "k8s_netperf" / "composed.log").read_text("utf-8")
COLUMNS = "DRIVER | SCENARIO | PARALLELISM | SERVICE | VIRT MODE | UDN INFO | MESSAGE SIZE | BURST | DURATION | SAMPLES"
HEADER = f"| RESULT TYPE | {COLUMNS} | AVG VALUE |\n"


def rows(*cells: str) -> str:
    return HEADER + "".join(f"| 📊 Rr Results | {cell} |\n" for cell in cells)


def test_rows_of_several_tables_are_one_run(read) -> None:
    log = read(TABLES)
    assert log.value("throughput", run=0) == 2_410_250_000
    assert log.value("retransmits", run=0) == pytest.approx(54.666667)
    assert log.quantile(0.99, run=3) == 161_000


def test_transactions_and_latencies_of_uperf_are_left_out(read) -> None:
    log = read(TABLES)
    assert [log.value(name, run=4) for name in ("transaction_rate", "rtt_p99_mean")] == [None, None]
    assert log.codes("warning") == ["driver_misreports", "driver_misreports"]


def test_a_mean_of_percentiles_is_not_a_percentile(read) -> None:
    log = read(TABLES)
    assert log.value("transaction_p99_mean", run=5) == 817_333.333
    assert len(log.tables.rows["quantiles"]) == 1


def test_an_interval_of_one_sample_is_missing(read) -> None:
    log = read(TABLES)
    assert log.value("transaction_rate_ci_low", run=3) is None
    assert log.value("transaction_rate_ci_low", run=5) == 2101.5


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
    assert (len(log.runs), log.unknown()) == (6, 0)


@pytest.mark.parametrize("cut", [" (OP/s) |", "000 (OP/s)", " | 10 | 1"])
def test_a_cut_row_is_an_unknown_line(read, cut: str) -> None:
    whole = rows("netperf | TCP_RR | 2 | true | true | | 64 | 0 | 10 | 1 | 100.000000 (OP/s)")
    log = read(whole.replace(cut, ""))
    assert log.unknown() == 1
    assert log.runs[0]["status"] == "no_data"


def test_the_csv_is_named_and_not_read(read) -> None:
    log = read(
        "Driver,Profile,Same node,Host Network,Service,Duration,Parallelism\nnetperf,TCP_RR,false,false,false,10,1\n"
    )
    assert (log.runs, log.codes("error")) == ([], ["not_recognised"])
    assert "foreign_tool" in log.codes()


def test_the_same_table_again_is_that_of_another_call(read) -> None:
    log = read(TABLES + TABLES.replace("2410.250000", "2400.000000"))
    assert [log.value("throughput", run=run) for run in (0, 6)] == [2_410_250_000, 2_400_000_000]
    assert {run["status"] for run in log.runs} == {"complete"}


def test_transactions_without_the_table_of_their_latencies_are_truncated(read) -> None:
    lines = TABLES.splitlines(keepends=True)
    assert {run["status"] for run in read("".join(lines[:14])).runs} == {"truncated"}
    old = "".join(lines[:7]).replace(" BURST |", " ---- |")
    assert {run["status"] for run in read(old).runs} == {"complete"}
