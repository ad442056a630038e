"""iperf 2: cut and joined logs, and the quirks of its formats."""

from __future__ import annotations

import itertools
import json
from pathlib import Path
from typing import Any

import pytest
from helpers.cut_logs import (
    METRICS,
    assert_cuts_add_no_rows,
    assert_joined_logs_keep_both_runs,
    event_code_set,
    line_ends,
    read_log,
    rows_by_run,
)
from helpers.logs import event_codes, first_run, read_text
from helpers.places import FIXTURES, SHARED

import azlatency as az
from azlatency.logs.recognise.claims import find_claims
from azlatency.logs.source.decode import source_from_bytes
from azlatency.more_tools.iperf2 import csv_output

FIXTURES = FIXTURES / "iperf2"
LOGS = sorted(path for path in FIXTURES.iterdir() if not path.name.endswith(".expected.json"))
LOUD = frozenset({"truncated", "interrupted", "failed", "no_data", "not_recognised", "total_unproven"})
CLIENT = "Client connecting to 10.0.0.2, TCP port 5001\n"
SERVER = "Server listening on TCP port 5001\n"
FROM_CLIENT = "[  3] local 10.0.0.1 port 40000 connected with 10.0.0.2 port 5001\n"
AT_SERVER = "[  4] local 10.0.0.2 port 5001 connected with 10.0.0.1 port {}\n"
MIB = 2**20


def fixture(name: str) -> str:
    return source_from_bytes((FIXTURES / name).read_bytes(), name).text


def value(tables: az.Logs, name: str, side: str | None, stream: str | None = None, run: int = 0) -> Any:
    key = (tables.records("runs")[run]["run_id"], name, side, stream)
    rows = [m for m in tables.records("metrics") if (m["run_id"], m["metric"], m["side"], m["stream"]) == key]
    return rows[0]["value"] if rows else None


@pytest.mark.parametrize("path", LOGS, ids=lambda path: path.name)
def test_a_log_cut_after_any_line_gives_no_wrong_number_or_an_event(path: Path) -> None:
    text = fixture(path.name)
    assert_cuts_add_no_rows(text, line_ends(text), tables={"metrics": METRICS}, loud=LOUD)


@pytest.mark.parametrize("step", [13, pytest.param(3, marks=pytest.mark.slow)])
@pytest.mark.parametrize("path", LOGS, ids=lambda path: path.name)
def test_a_number_cut_in_the_middle_is_left_out(path: Path, step: int) -> None:
    text = fixture(path.name)
    whole = {row[1:] for row in rows_by_run(read_log(text), "metrics", METRICS)}
    for length in range(len(text) // 2, len(text), step):
        part = read_log(text[:length])
        assert "parser_failed" not in event_code_set(part)
        if not event_code_set(part) & LOUD:
            assert {row[1:] for row in rows_by_run(part, "metrics", METRICS)} <= whole, text[:length][-80:]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("2.1.8-tcp-i1-client.log", "2.1.8-tcp-P3-client.log"),
        ("2.1.8-tcp-i1-client.log", "2.1.8-tcp-i1-client.log"),
        ("2.1.8-udp-server.log", "2.1.8-bounceback-client.log"),
        ("2.1.8-dual-client.log", "2.1.8-full-duplex-server.log"),
        ("2.1.8-sum-only-client.log", "2.1.8-sum-only-client.log"),
        ("2.1.8-udp-server.csv", "2.1.8-tcp-P2-server.csv"),
    ],
)
def test_two_logs_in_one_file_give_the_runs_of_both(first: str, second: str) -> None:
    assert_joined_logs_keep_both_runs(
        fixture(first), fixture(second), ("client", "server", "status", "test", "protocol")
    )


# --- totals and intervals


def test_the_first_interval_of_a_cut_log_is_not_a_total() -> None:
    lines = fixture("2.1.8-tcp-i1-client.log").splitlines(keepends=True)
    tables = read_log("".join(lines[:7]))
    assert value(tables, "throughput", "sender") is None
    assert len(tables.records("intervals")) == 1
    assert tables.records("runs")[0]["status"] == "truncated"


def test_the_only_row_of_an_old_log_is_flagged_as_unproven_total() -> None:
    text = CLIENT + FROM_CLIENT + "[  3]  0.0-10.0 sec   112 MBytes  93.9 Mbits/sec\n"
    tables = read_log(text)
    assert value(tables, "throughput", "sender") == 93.9e6
    assert "total_unproven" in event_code_set(tables)
    assert "total_unproven" not in event_code_set(read_log("user@host:~$ iperf -c 10.0.0.2\n" + text))
    assert "total_unproven" in event_code_set(read_log("user@host:~$ iperf -c 10.0.0.2 -i 10\n" + text))


def test_a_row_with_two_decimals_is_not_claimed_by_another_tool() -> None:
    text = CLIENT + FROM_CLIENT + "[  3] 0.00-10.02 sec   112 MBytes  93.8 Mbits/sec\n"
    assert {claim.tool for claim in find_claims(source_from_bytes(text.encode(), "a"))} == {"iperf2"}
    assert value(read_log(text), "transferred", "sender") == 112 * MIB


def test_rows_after_100_seconds_with_two_decimals_stay_in_their_log() -> None:
    rows = "".join(f"[  3] {at}.00-{at + 1}.00 sec  1.14 GBytes  9.83 Gbits/sec\n" for at in range(98, 103))
    tables = read_log(CLIENT + FROM_CLIENT + rows)
    assert [run["tool"] for run in tables.records("runs")] == ["iperf2"]
    assert len(tables.records("intervals")) == 5


@pytest.mark.parametrize("rest", ["    0   1.42 MBytes", "  2.189 ms  29/456 (6.4%)", "                  receiver"])
def test_the_last_lines_of_a_long_log_of_iperf3_are_claimed_by_iperf3(rest: str) -> None:
    text = f"[  5] 100.00-101.00 sec  1.14 GBytes  9.83 Gbits/sec{rest}\n"
    assert {claim.tool for claim in find_claims(source_from_bytes(text.encode(), "a"))} == {"iperf3"}


def test_a_server_with_several_tests() -> None:
    rows = "[  4]  0.0- 1.0 sec  10.0 MBytes  83.9 Mbits/sec\n[  4]  0.0- 1.2 sec  12.0 MBytes  83.9 Mbits/sec\n"
    tables = read_log(SERVER + AT_SERVER.format(40000) + rows + AT_SERVER.format(40002) + rows)
    assert [run["client"] for run in tables.records("runs")] == ["10.0.0.1", "10.0.0.1"]
    assert [value(tables, "transferred", "receiver", run=run) for run in (0, 1)] == [12 * MIB, 12 * MIB]


def test_a_sum_that_counts_the_first_interval_twice_is_left_out() -> None:
    text = (
        SERVER
        + AT_SERVER.format(57272)
        + "[  4]  0.0- 1.0 sec  232124 KBytes  1901558 Kbits/sec\n"
        + "[  4]  1.0- 4.0 sec  593732 KBytes  1621284 Kbits/sec\n"
        + "[  4]  0.0- 4.0 sec  825856 KBytes  1690728 Kbits/sec\n"
        + "[SUM]  0.0- 4.0 sec  1057980 KBytes  2165942 Kbits/sec\n"
    )
    tables = read_log(text)
    assert value(tables, "transferred", "receiver") == 825856 * 1024
    assert "sum_mismatch" in event_code_set(tables)


def test_a_rate_that_contradicts_bytes_and_time_is_reported() -> None:
    text = fixture("2.1.8-tcp-i1-client.log").replace("107 MBytes   299 Mbits/sec", "107 MBytes   399 Mbits/sec")
    assert "rate_mismatch" in event_code_set(read_log(text))


# --- directions


def test_directions_are_never_added() -> None:
    for name in ("2.1.8-full-duplex-server.log", "2.1.8-dual-client.log"):
        streams = {row["stream"] for row in read_log(fixture(name)).records("metrics")}
        assert None not in streams and len(streams) == 2


def test_the_server_report_is_stored_as_the_receiver() -> None:
    text = (
        "Client connecting to 10.0.0.2, UDP port 5001\nSending 1470 byte datagrams\n"
        + FROM_CLIENT
        + "[  3]  0.0-10.0 sec  1.25 MBytes  1.05 Mbits/sec\n"
        + "[  3] Sent 893 datagrams\n[  3] Server Report:\n"
        + "[  3]  0.0-10.0 sec  1.24 MBytes  1.04 Mbits/sec   0.017 ms    7/  893 (0.78%)\n"
        + "[  3] 0.0-10.0 sec  2 datagrams received out-of-order\n"
    )
    tables = read_log(text)
    assert value(tables, "throughput", "sender") == 1.05e6
    assert value(tables, "throughput", "receiver") == 1.04e6
    assert value(tables, "datagrams", "sender") == 893
    assert value(tables, "loss", None) == pytest.approx(7 / 893)
    assert value(tables, "out_of_order", "receiver") == 2
    assert tables.records("runs")[0]["message_bytes"] == 1470
    assert tables.records("sources")[0]["lines_unknown"] == 0


# --- latencies


def test_one_way_latencies_are_not_round_trip_times() -> None:
    for name in ("2.1.8-udp-e-server.log", "2.1.8-udp-histogram-server.log"):
        tables = read_log(fixture(name))
        metrics = {row["metric"] for table in ("metrics", "histograms", "quantiles") for row in tables.records(table)}
        assert "one_way_latency_mean" in metrics
        assert not any(metric.startswith("rtt") for metric in metrics)
        assert tables.records("runs")[0]["printed_as"] is None
        assert "one_way_clocks" in event_code_set(tables)


def test_bounceback_stores_round_trip_times_and_no_throughput() -> None:
    tables = read_log(fixture("2.1.8-bounceback-client.log"))
    assert value(tables, "rtt_mean", None) == 1_016_000
    assert value(tables, "throughput", "sender") is None
    assert {row["bytes"] for row in tables.records("intervals")} == {None}


def test_bin_k_ends_at_k_widths() -> None:
    tables = read_log(fixture("2.1.8-bounceback-client.log"))
    buckets = tables.records("histograms")
    assert sum(row["count"] for row in buckets) == value(tables, "observations", None)
    lowest, highest = buckets[0], buckets[-1]
    assert lowest["low_ns"] < value(tables, "rtt_min", None) <= lowest["high_ns"]
    assert highest["low_ns"] < value(tables, "rtt_max", None) <= highest["high_ns"]


def test_interval_histograms_are_not_stored() -> None:
    assert (
        sum(row["count"] for row in read_log(fixture("2.1.8-udp-histogram-server.log")).records("histograms")) == 3394
    )


def test_a_histogram_that_does_not_add_up_is_left_out() -> None:
    text = fixture("2.1.8-bounceback-client.log").replace("=1:17,7:1", "=1:16,7:1")
    tables = read_log(text)
    assert not tables.records("histograms")
    assert "histogram_total" in event_code_set(tables)


# --- comma-separated


def test_minus_one_is_missing() -> None:
    row = "20260101000000,10.0.0.1,40000,10.0.0.2,5001,3,0.0-10.0,1312710,1050168,-0.000,-1,-1,-0.000,-1\n"
    tables = read_log(row)
    assert {row["metric"] for row in tables.records("metrics")} == {"transferred", "throughput"}
    assert tables.records("runs")[0]["started_at"] is None


def test_rows_of_csv_are_intervals_until_the_last() -> None:
    head = "20260101000000,10.0.0.1,40000,10.0.0.2,5001,3,"
    tables = read_log(f"{head}0.0-1.0,1000000,8000000\n{head}1.0-2.0,1000000,8000000\n{head}0.0-2.0,2000000,7990000\n")
    assert len(tables.records("intervals")) == 2
    assert [row["value"] for row in tables.records("metrics") if row["metric"] == "transferred"] == [2000000]
    run = tables.records("runs")[0]
    assert (run["client"], run["server"]) == ("10.0.0.1", "10.0.0.2")


def test_without_a_sum_row_the_run_has_no_total() -> None:
    tables = read_log(fixture("2.1.8-tcp-P2-server.csv"))
    assert value(tables, "throughput", "receiver") is None
    assert value(tables, "throughput", "receiver", "2") == 100060050


# --- how it ends


def test_a_refused_connection_is_a_failed_run() -> None:
    for text in (CLIENT + "connect failed: Connection refused\n", CLIENT + "tcp connect failed: Connection refused\n"):
        tables = read_log(text)
        assert tables.records("runs")[0]["status"] == "failed"
        assert "failed" in event_code_set(tables)


def test_a_version_line_alone_is_not_a_test() -> None:
    run = read_log("iperf version 2.0.5 (08 Jul 2010) pthreads\n").records("runs")[0]
    assert (run["status"], run["tool_version"]) == ("no_data", "2.0.5")


def test_logs_of_iperf3_are_not_claimed() -> None:
    for path in sorted((FIXTURES.parent / "iperf3").iterdir()):
        source = source_from_bytes(path.read_bytes(), path.name)
        assert "iperf2" not in {claim.tool for claim in find_claims(source)}, path.name


def test_damaged_text_is_parsed_in_bounded_time() -> None:
    for odd in (
        "[  3]" + " " * 4000,
        "[  3]  0.0-1.0 sec  " + "1" * 3900,
        "[  3] 0.0-1.0 sec BB8(f)-PDF: bin(w=1us):" * 80,
    ):
        assert "parser_failed" not in event_code_set(read_log(CLIENT + FROM_CLIENT + odd + "\n"))


@pytest.mark.skipif(not SHARED.is_dir(), reason="the shared material is not there")
def test_rows_of_the_public_logs() -> None:
    compared = 0
    for path in sorted((SHARED / "corpus" / "public" / "iperf2").glob("*.log")):
        report = json.loads(path.with_suffix(".expected.json").read_text("utf-8"))["expected"]["moler_report"]
        tables = az.parse(path)
        sizes = {int(row["value"]) for row in tables.records("metrics") if row["metric"] == "transferred"}
        sizes |= {int(row["bytes"]) for row in tables.records("intervals")}
        for one in report.values():
            for row in (one["first"], one["last"]) if "first" in one else (one,):
                assert row["Transfer"] in sizes, path.name
                compared += 1
    assert compared > 50


NAMES = "time,srcaddress,srcport,dstaddr,dstport,transferid,istart,iend,bytes,speed"
STAMP = "+0100:20260131123456.654321"


def named(kind: str, *rows: str) -> az.Logs:
    return read_log(f"{NAMES},{kind}\n" + "".join(f"{STAMP},10.0.0.1,40000,10.0.0.2,5001,{row}\n" for row in rows))


def test_csv_column_names_identify_the_sender() -> None:
    """Composed after Locale.c and ReportOutputs.c of 2.2: no log of ``-y C -e`` since 2.1.9 is at hand."""
    tables = named(
        "writecnt,writeerr,tcpretry,tcpcwnd,tcppcwnd,tcprtt,tcprttvar",
        "1,0.0,1.0,3145728,25165824,24,0,2,87,63,412,21",
        "1,1.0,2.0,3145728,25165824,24,0,1,87,63,398,20",
        "1,0.0,2.0,6291456,25165824,48,0,3,87,63,398,20",
    )
    assert value(tables, "throughput", "sender") == 25_165_824
    assert value(tables, "retransmits", "sender") == 3
    assert [row["rtt_ns"] for row in tables.records("intervals")] == [412_000, 398_000]
    assert [row["retransmits"] for row in tables.records("intervals")] == [2, 1]
    (run,) = tables.records("runs")
    assert (run["protocol"], run["client"], run["server"], run["status"]) == ("tcp", "10.0.0.1", "10.0.0.2", "complete")
    assert tables.records("sources")[0]["lines_unknown"] == 0
    assert event_code_set(tables) == set()


def test_named_rows_of_a_udp_receiver_have_loss_and_one_way_times() -> None:
    tables = named(
        "jitter,errors,datagrams,errpercent,outoforder,ttavg,ttmin,ttmax,ttsdev,ttcnt,ttsize,readcnt,readtimeo,readerrlen,pps",
        "3,0.0,2.0,4129230,16516920,0.004,251,3060,8.203,0,3.215,3.001,4.120,0.110,2809,1470,2810,0,0,1404.500000",
    )
    assert value(tables, "loss", None) == 251 / 3060
    assert value(tables, "throughput", "receiver") == 16_516_920
    assert value(tables, "one_way_latency_mean", None) == 3_215_000
    assert value(tables, "rtt_mean", None) is None
    assert "one_way_clocks" in event_code_set(tables)


def test_named_rows_of_a_bounceback_are_round_trips() -> None:
    tables = named(
        "bbcnt,bbavg,bbmin,bbmax,bbstdev,tcpretry,tcpcwnd,tcppcwnd,tcprtt,tcprttvar,txbytes,rxbytes,rps",
        "1,0.0,2.0,40000,160000,200,4.215,4.001,9.020,0.310,0,14,10,4102,51,20000,20000,100.0",
    )
    assert (value(tables, "rtt_mean", None), value(tables, "rtt_sd", None)) == (4_215_000, 310_000)
    assert value(tables, "observations", None) == 200
    assert value(tables, "throughput", "sender") is None
    assert tables.records("runs")[0]["closed_loop"] is True


def test_named_rows_without_their_names_are_unknown() -> None:
    tables = read_log(f"{STAMP},10.0.0.1,40000,10.0.0.2,5001,1,0.0,1.0,3145728,25165824,24,0,2,87,63,412,21\n")
    assert tables.records("metrics") == []


BANNERS = """------------------------------------------------------------
Server listening on TCP port 5001
TCP window size: 85.3 KByte (default)
------------------------------------------------------------
------------------------------------------------------------
Client connecting to 10.0.0.2, TCP port 5001
TCP window size:  225 KByte (default)
------------------------------------------------------------
"""
DUAL = """[  5] local 10.0.0.1 port 55386 connected with 10.0.0.2 port 5001
[  4] local 10.0.0.1 port 5001 connected with 10.0.0.2 port 40732
[ ID] Interval       Transfer     Bandwidth
[  5]  0.0- 5.0 sec   559 MBytes   938 Mbits/sec
[  4]  0.0- 5.0 sec   468 MBytes   785 Mbits/sec
[  5]  5.0-10.0 sec   559 MBytes   938 Mbits/sec
[  5]  0.0-10.0 sec  1.09 GBytes   938 Mbits/sec
[  4]  5.0-10.0 sec   468 MBytes   785 Mbits/sec
[  4]  0.0-10.1 sec   936 MBytes   777 Mbits/sec
"""


def rates(logs: az.Logs) -> dict[tuple[str | None, str | None], float]:
    rows = logs.records("metrics")
    return {(row["side"], row["stream"]): row["value"] for row in rows if row["metric"] == "throughput"}


@pytest.mark.parametrize("banners", [BANNERS, ""])
def test_the_incoming_direction_of_a_dual_test_is_received(banners: str) -> None:
    logs = read_text(banners + DUAL)
    assert rates(logs) == {("sender", "TX-C"): 938e6, ("receiver", "RX-C"): 777e6}
    run = first_run(logs)
    assert (run["test"], run["connections"], run["client"]) == ("stream-bidir", 1, "10.0.0.1")
    assert {(row["side"], row["stream"]) for row in logs.records("intervals")} == set(rates(logs))


def test_sums_of_a_dual_test_belong_to_one_direction() -> None:
    text = """[  5] local 10.0.0.1 port 55386 connected with 10.0.0.2 port 5001
[  6] local 10.0.0.1 port 55387 connected with 10.0.0.2 port 5001
[  4] local 10.0.0.1 port 5001 connected with 10.0.0.2 port 40732
[  7] local 10.0.0.1 port 5001 connected with 10.0.0.2 port 40733
[  5]  0.0-10.0 sec   559 MBytes   469 Mbits/sec
[  6]  0.0-10.0 sec   559 MBytes   469 Mbits/sec
[SUM]  0.0-10.0 sec  1.09 GBytes   938 Mbits/sec
[  4]  0.0-10.1 sec   468 MBytes   389 Mbits/sec
[  7]  0.0-10.1 sec   468 MBytes   389 Mbits/sec
[SUM]  0.0-10.1 sec   936 MBytes   777 Mbits/sec
"""
    logs = read_text(BANNERS + text)
    assert rates(logs)["sender", "TX-C"] == 938e6
    assert rates(logs)["receiver", "RX-C"] == 777e6
    mixed = read_text(BANNERS + text.replace("  936 MBytes   777", " 2.00 GBytes  1711"))
    assert ("receiver", "RX-C") not in rates(mixed)
    assert None not in {side for side, _ in rates(mixed)}
    assert "sum_mismatch" in event_codes(mixed)


def test_sums_of_senders_have_retransmits() -> None:
    text = """[  1] 0.0000-10.0120 sec   559 MBytes   469 Mbits/sec  2957/0          0      345K/2971(5813) us  4117
[  2] 0.0000-10.0119 sec   559 MBytes   469 Mbits/sec  2957/0          3      345K/2971(5813) us  4117
[SUM] 0.0000-10.0120 sec  1.09 GBytes   938 Mbits/sec  5914/0         3
"""
    for end, retransmits in (("", [0, 3, 3]), ("\n", [0, 3, 3])):
        logs = read_text(text.rstrip("\n") + end)
        assert rates(logs)[None, None] == 938e6
        counts = [row["value"] for row in logs.records("metrics") if row["metric"] == "retransmits"]
        assert counts == retransmits[: 3 if end else 2]


@pytest.mark.parametrize(
    ("last", "status"),
    [
        ("[  3]  0.0- 2.0 sec  2.50 MBytes  10.5 Mbits/sec", "complete"),
        ("[  3]  0.0- 2.0 sec  2.50 MBytes  10.5 Mbits/sec   0.018 ms    0/", "truncated"),
        ("[  3]  0.0- 2.0 sec  2.50 MBytes  10.5 Mbits/se", "truncated"),
    ],
)
def test_a_last_row_without_line_feed(last: str, status: str) -> None:
    text = """[  3]  0.0- 1.0 sec  1.25 MBytes  10.5 Mbits/sec
[  3]  1.0- 2.0 sec  1.25 MBytes  10.5 Mbits/sec
"""
    logs = read_text(text + last)
    assert first_run(logs)["status"] == status
    assert list(rates(logs).values()) == ([10.5e6] if status == "complete" else [])


def test_a_last_row_that_may_lack_columns_is_kept_but_the_run_is_truncated() -> None:
    text = "[  3]  0.0- 1.0 sec  1.25 MBytes  10.5 Mbits/sec   0.018 ms    0/  893 (0%)\n"
    for more_columns in ("", "   0.018 ms    0/  893 (0%) "):
        logs = read_text(text + "[  3]  0.0- 1.5 sec  1.88 MBytes  10.5 Mbits/sec" + more_columns)
        assert list(rates(logs).values()) == [10.5e6]
        assert first_run(logs)["status"] == "truncated"


def test_a_row_that_somebody_marked_with_number_signs() -> None:
    rows = "".join(f"[  3] {n}.0-{n + 1}.0 sec  1.00 MBytes  8.39 Mbits/sec{'#' * n}\n" for n in range(4))
    tables = read_text(f"{CLIENT}{rows}[  3] 0.0-4.0 sec  4.00 MBytes  8.39 Mbits/sec\n")
    assert len(tables.rows["intervals"]) == 4
    assert tables.rows["sources"][0]["lines_unknown"] == 0


def test_totals_of_several_tests_without_their_heads_are_runs(read) -> None:
    rows = (
        "[SUM]  0.0-10.1 sec  1.10 GBytes   934 Mbits/sec\n[SUM]  0.0-10.1 sec  1.10 GBytes   934 Mbits/sec\n",
        "[  3]  0.0-10.0 sec  1.10 GBytes   944 Mbits/sec\n[  3]  0.0-10.0 sec  1.05 GBytes   902 Mbits/sec\n",
        "[  3]  0.0-10.0 sec  1.05 GBytes   902 Mbits/sec\n[  3]  0.0-10.0 sec  1.10 GBytes   944 Mbits/sec\n",
        "[  3]  0.0-30.0 sec  3.15 GBytes   902 Mbits/sec\n[  3]  0.0-10.0 sec  1.10 GBytes   944 Mbits/sec\n",
    )
    for text in rows:
        log = read(text)
        assert len(log.runs) == 2, text
        assert [log.value("throughput", run) for run in (0, 1)] == [
            float(line.split()[-2]) * 1e6 for line in text.splitlines()
        ]


def test_an_interval_and_a_total_of_the_same_time_are_one_run(read) -> None:
    text = "[  3]  0.0- 1.0 sec  1.05 GBytes   9.02 Gbits/sec\n[  3]  0.0- 1.1 sec  1.06 GBytes   8.32 Gbits/sec\n"
    log = read(text)
    assert len(log.runs) == 1
    assert log.value("throughput") == 8.32e9


def test_different_rows_with_the_same_hash_are_not_repeated(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(csv_output, "hash", lambda text: 0, raising=False)
    rows = fixture("2.1.8-udp-server.csv").splitlines(keepends=True)
    events = [row["code"] for row in read_log("".join(reversed(rows))).rows["events"]]
    assert "repeated_row" not in events
    assert "repeated_row" in [row["code"] for row in read_log("".join([*rows, rows[0]])).rows["events"]]


def test_the_same_rows_of_csv_twice_are_not_a_result() -> None:
    text = fixture("2.1.8-udp-server.csv")
    tables = read_log(text + text)
    assert [row["status"] for row in tables.rows["runs"]] == ["failed"]
    assert [row["line"] for row in tables.rows["events"] if row["code"] == "repeated_row"]


def test_sums_alone_do_not_say_of_how_many_streams_they_are(read) -> None:
    log = read("[SUM]  0.0-10.1 sec  1.10 GBytes   934 Mbits/sec\n[SUM]  0.0-10.1 sec  1.05 GBytes   892 Mbits/sec\n")
    assert [row["connections"] for row in log.runs] == [None, None]
    assert [log.value("throughput", run=number) for number in (0, 1)] == [934e6, 892e6]


def test_a_udp_client_that_is_cut_before_the_row_of_its_server_report_is_truncated() -> None:
    text = """------------------------------------------------------------
Client connecting to 10.99.0.2, UDP port 5601 with pid 10919 (1 flows)
------------------------------------------------------------
[  1] local 10.99.0.1 port 59217 connected with 10.99.0.2 port 5601 (sock=3) on 2026-11-21 01:39:20 (UTC)
[ ID] Interval            Transfer     Bandwidth      Write/Err  PPS
[  1] 0.0000-2.0011 sec  4.77 MBytes  20.0 Mbits/sec  3404/0     1702 pps
[  1] Sent 3406 datagrams
[  1] Server Report:
[ ID] Interval            Transfer     Bandwidth        Jitter   Lost/Total  Latency avg/min/max/stdev PPS
[  1] 0.0000-2.0003 sec  4.77 MBytes  20.0 Mbits/sec   0.013 ms 12/3405 (0.35%) 0.044/0.013/0.118/0.009 ms 1696 pps
"""
    whole = read_log(text)
    assert [run["status"] for run in whole.records("runs")] == ["complete"]
    assert {row["metric"] for row in whole.records("metrics")} >= {"loss", "jitter"}
    for length in range(text.index("Server Report:") + len("Server Report:"), text.rindex("0.0000-2.0003")):
        part = read_log(text[:length])
        assert [run["status"] for run in part.records("runs")] == ["truncated"], text[:length][-40:]
        assert "truncated" in event_code_set(part)


def test_an_interval_above_the_second_connect_line_belongs_to_the_dual_test() -> None:
    text = f"""Server listening on TCP port 5000
{CLIENT.replace("5001", "5000")}[  5] local 10.0.0.1 port 52370 connected with 10.0.0.2 port 5000 (peer 2.0.10-alpha)
[ ID] Interval       Transfer     Bandwidth
[  5]  0.0- 0.5 sec   768 KBytes  12.6 Mbits/sec
[  7] local 10.0.0.1 port 5000 connected with 10.0.0.2 port 58060
[  7]  0.0- 0.5 sec   641 KBytes  10.5 Mbits/sec
[  5]  0.5- 1.0 sec   640 KBytes  10.5 Mbits/sec
[  5]  0.0- 1.0 sec  1.38 MBytes  11.5 Mbits/sec
[  7]  0.5- 1.0 sec   640 KBytes  10.5 Mbits/sec
[  7]  0.0- 1.0 sec  1.25 MBytes  10.5 Mbits/sec
"""
    logs = read_text(text)
    (run,) = logs.rows["runs"]
    assert (run["status"], run["client"], run["server"]) == ("complete", "10.0.0.1", "10.0.0.2")
    assert rates(logs) == {("sender", "TX-C"): 11.5e6, ("receiver", "RX-C"): 10.5e6}
    assert [row["throughput_printed_bit_s"] for row in logs.rows["intervals"]] == [12.6e6, 10.5e6, 10.5e6, 10.5e6]


def test_a_connect_line_below_a_total_begins_another_test() -> None:
    """With ``-r`` the server connects back when the client has ended."""
    back = AT_SERVER.format(40001).replace("0.2", "0.9").replace("0.1", "0.2").replace("0.9", "0.1")
    rows = "[  {}]  0.0-10.0 sec  1.10 GBytes   941 Mbits/sec\n"
    runs = read_text(SERVER + CLIENT + FROM_CLIENT + rows.format(3) + back + rows.format(4)).rows["runs"]
    assert [(run["first_line"], run["last_line"]) for run in runs] == [(3, 4), (5, 6)]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("2.1.8-udp-server.log", "2.1.8-reverse-client.log"),  # of two protocols
        ("2.1.8-udp-e-server.log", "2.1.8-tcp-e-server.log"),  # a number of a stream for two connections
    ],
)
def test_outputs_whose_lines_alternate_are_no_complete_run(first: str, second: str) -> None:
    texts = [fixture(name).splitlines(keepends=True) for name in (first, second)]
    mixed = read_log("".join(itertools.chain.from_iterable(itertools.zip_longest(*texts, fillvalue=""))))
    assert "complete" not in {run["status"] for run in mixed.records("runs")}
    assert "mixed_outputs" in event_code_set(mixed)


@pytest.mark.parametrize(
    "connection",
    [
        "[  4] local 10.0.0.1 port 5009 connected with 10.0.0.7 port 40000\n",  # a port that no banner names
        "[  4] local 10.0.0.1 port 5001 connected with 10.0.0.7 port 40000\n",  # a dual test with two hosts
    ],
)
def test_a_connection_of_another_test_fails_the_run(connection: str) -> None:
    rows = "".join(
        f"[  {stream}]  0.0-{end}.0 sec  {end}.00 MBytes  8.39 Mbits/sec\n" for end in (1, 2) for stream in (3, 4)
    )
    text = SERVER + CLIENT + FROM_CLIENT + connection + rows.replace("0.0-2.0", "0.0- 2.0")
    tables = read_log(text)
    assert [run["status"] for run in tables.records("runs")] == ["failed"]
    assert {event["line"] for event in tables.records("events") if event["code"] == "mixed_outputs"} == {4}


def test_a_client_of_several_streams_ends_with_their_sum() -> None:
    text = fixture("2.1.8-tcp-P3-client.log")
    cut = "".join(line for line in text.splitlines(keepends=True) if not line.startswith("[SUM"))
    assert [read_log(log).records("runs")[0]["status"] for log in (text, cut)] == ["complete", "truncated"]


def test_a_client_prints_the_report_of_the_server_for_each_stream() -> None:
    streams = "".join(
        FROM_CLIENT.replace("[  3]", f"[  {stream}]").replace("40000", f"4000{stream}") for stream in (3, 4)
    )
    row = "[  {}]  0.0-10.0 sec  1.25 MBytes  1.05 Mbits/sec\n[  {}] Sent 893 datagrams\n"
    report = "[  {}] Server Report:\n[  {}]  0.0-10.0 sec  1.25 MBytes  1.05 Mbits/sec   0.010 ms    0/  893 (0%)\n"
    warning = "[  4] WARNING: did not receive ack of last datagram after 10 tries.\n"
    total = "[SUM]  0.0-10.0 sec  2.50 MBytes  2.10 Mbits/sec\n"
    begun = CLIENT.replace("TCP", "UDP") + streams + row.format(3, 3) + row.format(4, 4) + total + report.format(3, 3)
    logs = (begun, begun + report.format(4, 4), begun + warning)
    assert [read_log(log).records("runs")[0]["status"] for log in logs] == ["truncated", "complete", "complete"]
