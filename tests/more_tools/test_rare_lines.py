"""Lines that no stored log of a tool has: what the tables say if one does."""

from __future__ import annotations

from typing import Any

import pytest
from helpers.edited import edited, new_events, parse_text, text_of

CILIUM, TRACEROUTE, UNREACHABLE = (
    "cilium/0.11.6-samples.log",
    "hping3/3.0.0-alpha-2-traceroute.log",
    "fping/5.1-o-unreachable.log",
)
TCP, UDP, HISTOGRAM = (
    "iperf2/2.1.8-tcp-i1-client.log",
    "iperf2/2.1.8-udp-server.log",
    "iperf2/2.1.8-udp-histogram-server.log",
)
JSON, CSV = "mtr/0.95-unreached.json", "mtr/0.95-all-fields.csv"
OMNI, STREAM, CONFIDENCE = "netperf/2.7.0-udp-rr-k.log", "netperf/2.7.0-stream.log", "netperf/2.7.1-rr-confidence-k.log"
VERBOSE = "hping3/3.0.0-alpha-2-verbose.log"
OMNI_TITLE = text_of(OMNI).splitlines(keepends=True)[0]
NOT_REACHED = """\
!!! WARNING
!!! Desired confidence was not achieved within the specified iterations.
!!! Confidence intervals: Throughput      : 23.629%
"""
DATAGRAMS = "212992   65507   2.00       17978      0    4710.38\n212992           2.00       15213           3985.94"


@pytest.mark.parametrize(
    ("log", "edits", "expected"),
    [
        (CILIUM, [("2167.40 (Mb/s)", "2167.40        ")], ["warning unknown_line: "]),
        (
            UNREACHABLE,
            [("10.255.255.1 : xmt/rcv/%loss = 3/0/100%, outage(ms) = 300", "10.255.255.1 is unreachable")],
            ["warning no_data: 10.255.255.1 did not answer"],
        ),
        (
            VERBOSE,
            [("3 packets received, 0% packet loss", "5 packets received, -66% packet loss")],
            [
                "warning more_received_than_sent: 5 received of 3 sent",
                "error count_mismatch: received 5 exceeds sent 3",
            ],
        ),
        (
            TRACEROUTE,
            [("0 packets received, 100% packet loss", "1 packets received, 67% packet loss")],
            ["info hop_times: the times of the summary include those of hops"],
        ),
        (
            TCP,
            [("", "$ iperf -c 10.99.0.2 -b 300m -i 1 -t 3\n")],
            ["info paced: the command limits the rate to 300m bit/s"],
        ),
        (
            TCP,
            [
                (
                    "[  1] 2.0000-3.0000 sec  35.8 MBytes   300 Mbits/sec\n",
                    "Waiting for server threads to complete. Interrupt again to force quit.\n",
                )
            ],
            ["warning interrupted: Waiting for server threads to complete."],
        ),
        (
            HISTOGRAM,
            [("T8-PDF", "P8-PDF"), ("T8-PDF", "P8-PDF"), ("T8(f)-PDF", "P8(f)-PDF")],
            ["warning unknown_histogram: unknown histogram P"],
        ),
        (
            UDP,
            [("159/5105 (3.1%)", "159/5105 (4.1%)")],
            ["info loss_recomputed: the log prints 4.1 %; 159 / 5105 = 0.0311459"],
        ),
        (JSON, [('"Last": 0.622', '"Last": "0.6x"')], ["error malformed: hop 1 has a value that is not a number"]),
        (CSV, [("OK,10.66.9.9,1,", "OK,10.66.9.9,x,")], ["warning unknown_line: "]),
        (CSV, [("0,0.59,0.59,", "0,0.59,0.5x,")], ["warning unknown_line: "]),
        ("mtr/0.95.xml", [("<Loss>  0.0%</Loss>", "<Loss>  0.0.0%</Loss>")], ["warning unknown_line: "]),
        (
            OMNI,
            [("REQUEST_SIZE=1\n", "REQUEST_SIZE=1\nREQUEST_SIZE=2\n")],
            ["error value_conflict: REQUEST_SIZE is 2 here and 1 in line 6"],
        ),
        (OMNI, [("REQUEST_SIZE=1\n", "REQUEST_SIZE=1.5\n")], ["error malformed: REQUEST_SIZE is '1.5'"]),
        (
            OMNI,
            [("REQUEST_SIZE=1\n", "REQUEST_SIZE=1\nLOCAL_SD=3.5\n")],
            ["warning unit_ambiguous: LOCAL_SD has no SD_UNITS"],
        ),
        (
            OMNI,
            [(OMNI_TITLE, ""), ("REQUEST_SIZE=1\n", "REQUEST_SIZE=1\nMEAN_LATENCY=68.56\n")],
            ["warning test_unknown: the log does not name the test, so its latencies may not be round-trip times"],
        ),
        (
            "netperf/2.7.1-rr-demo.log",
            [("17976.28 Trans/s over", "17976.28 Wobbles/s over")],
            ["warning unit_ambiguous: the interim result is in Wobbles/s"],
        ),
        (
            CONFIDENCE,
            [("MEAN_LATENCY", f"{NOT_REACHED}\nMEAN_LATENCY")],
            ["warning confidence_not_reached: the rate varied more than -I allows"],
        ),
        (
            OMNI,
            [("THROUGHPUT=4170.06", "THROUGHPUT=-4170.06")],
            ["error malformed: THROUGHPUT is '-4170.06', which is no"],
        ),
        (
            "fping/5.1-s-both.log",
            [("", "fping: recvfrom: Connection refused\n")],
            ["warning tool_error: fping: recvfrom"],
        ),
        (
            "fping/5.1-Q1-killed.log",
            [("", "$ fping -Q 1,cumulative -D 10.66.2.4\n")],
            ["info cumulative_blocks: the blocks"],
        ),
        (
            STREAM,
            [("131072  16384  16384    2.01     3919.86", DATAGRAMS)],
            ["error column_mismatch: the values of this row are those of a table of datagrams"] * 2,
        ),
        (
            STREAM,
            [("3919.86   \n", "3919.86   \nnetperf: data recv error: Connection reset by peer\n")],
            ["warning tool_error: netperf: data recv error"],
        ),
    ],
)
def test_a_rare_line_is_told(log: str, edits: list[tuple[str, str]], expected: list[str]) -> None:
    events = new_events(log, *edits)
    for event in expected:
        assert any(told.startswith(event) for told in events), events


@pytest.mark.parametrize(
    ("log", "edits", "metrics"),
    [
        (CILIUM, [("2167.40 (Mb/s)", "N/A           ")], {"throughput": None}),
        (
            OMNI,
            [
                (
                    "REQUEST_SIZE=1\n",
                    "REQUEST_SIZE=1\nLOCAL_CPU_UTIL=7.25\nLOCAL_CPU_COUNT=2\nLOCAL_SD=3.5\nSD_UNITS=usec/Tran\n",
                )
            ],
            {"cpu_count": 2, "cpu_busy": 0.0725},
        ),
        (CONFIDENCE, [("MEAN_LATENCY", f"{NOT_REACHED}\nMEAN_LATENCY")], {"throughput_ci_width": 0.23629}),
        (JSON, [('"count": 1,', '"count": "x",')], {"sent": 3}),
        (OMNI, [("REQUEST_SIZE=1\n", "REQUEST_SIZE=1\nBURST_SIZE=4\n")], {"rtt_mean": None}),
    ],
)
def test_a_rare_line_is_a_number(log: str, edits: list[tuple[str, str]], metrics: dict[str, Any]) -> None:
    logs = parse_text(edited(log, *edits), log)
    run_id = logs.rows["runs"][0]["run_id"]
    values = {row["metric"]: row["value"] for row in logs.rows["metrics"] if row["run_id"] == run_id}
    assert {name: values.get(name) for name in metrics} == pytest.approx(metrics)


def test_replies_of_hping3_and_lost_probes_are_sorted_by_the_number_of_the_probe() -> None:
    log = "hping3/3.0.0-alpha-2-loss.log"
    reply = next(line for line in text_of(log).splitlines(keepends=True) if "seq=" in line)
    text = edited(log, (reply, reply + reply), ("17 packets received, 15%", "18 packets received, 10%"))
    samples = list(zip(*(parse_text(text, log).samples[name] for name in ("seq", "status", "rtt_ns")), strict=True))
    assert samples[1:3] == [(1, "ok", 1_900_000), (1, "duplicate", 1_900_000)]
    assert [(seq, status) for seq, status, _ in samples if status == "lost"] == [(0, "lost"), (3, "lost"), (10, "lost")]
    assert [seq for seq, status, _ in samples if status != "duplicate"] == list(range(20))


def test_replies_beyond_the_last_bin_of_iperf2_are_a_bucket_without_an_end() -> None:
    log = HISTOGRAM
    cut = edited(log, ("1158:3,1161:1 (5.00/95.00/99.7%=1/2/925,Outliers=0,obl/obu=0/0)",
                       "1158:3 (5.00/95.00/99.7%=1/2/925,Outliers=0,obl/obu=0/1)"))  # fmt: skip
    bucket = parse_text(cut, log).rows["histograms"][-1]
    assert (bucket["low_ns"], bucket["high_ns"], bucket["count"]) == (100_000 * 10_000, None, 1)


def test_a_command_tells_which_end_of_iperf2_wrote_the_log() -> None:
    title = text_of(UDP)[: text_of(UDP).index("[  1]")]
    (run,) = parse_text(edited(UDP, (title, "$ iperf -s -u -i 1\n")), UDP).rows["runs"]
    assert (run["server"], run["client"]) == ("10.99.0.2", "10.99.0.1")


def test_a_command_of_netperf_amid_its_table() -> None:
    text = edited(STREAM, ("131072  16384", "netperf -H 10.2.2.4 -l 2\n131072  16384"))
    (run,) = parse_text(text, STREAM).rows["runs"]
    assert (run["command"], run["requested_duration_ns"]) == ("netperf -H 10.2.2.4 -l 2", 2_000_000_000)


def test_the_protocol_of_an_omni_test_without_a_title() -> None:
    named = 'REQUEST_SIZE=1\nPROTOCOL=UDP\nCOMMAND_LINE="netperf -t UDP_RR"\n'
    (run,) = parse_text(edited(OMNI, (OMNI_TITLE, ""), ("REQUEST_SIZE=1\n", named)), OMNI).rows["runs"]
    assert (run["protocol"], run["command"]) == ("udp", "netperf -t UDP_RR")


def test_the_length_of_a_block_of_fping_is_that_of_its_option() -> None:
    log = "fping/5.1-c60-Q1.log"
    rows = [
        parse_text(text, log).rows["intervals"] for text in (text_of(log), "$ fping -c 60 -Q 1 a b\n" + text_of(log))
    ]
    assert [row["end_ns"] for row in rows[0]] == [row["end_ns"] for row in rows[1]] != []


def test_a_length_of_flent_that_is_no_time_is_left_out() -> None:
    log = "flent/rrul.flent"
    ping = parse_text(edited(log, ('"TOTAL_LENGTH": ', '"TOTAL_LENGTH": 1e999, "x": ')), log).rows["runs"][0]
    assert parse_text(text_of(log), log).rows["runs"][0]["requested_duration_ns"] and not ping["requested_duration_ns"]


def test_the_size_of_a_stream_of_netperf_is_that_of_its_messages() -> None:
    title = OMNI_TITLE.replace("REQUEST/RESPONSE", "STREAM").replace(" : first burst 0", "")
    text = edited(OMNI, (OMNI_TITLE, title), ("REQUEST_SIZE=1\nRESPONSE_SIZE=1\n", "LOCAL_SEND_SIZE=64\n"))
    assert parse_text(text, OMNI).rows["runs"][0]["message_bytes"] == 64


def test_a_file_of_flent_that_is_damaged_keeps_the_flows_above() -> None:
    log = "flent/rrul.flent"
    text = text_of(log)
    place = text.index('"val": ', text.index('"raw_values"') + 3000)
    logs = parse_text(f"{text[:place]}@@{text[place:]}", log)
    assert [run["tool"] for run in logs.rows["runs"]] == ["flent"]
    assert "the file is not JSON from here on; the flows above are kept" in [e["text"] for e in logs.rows["events"]]


def test_a_second_of_flent_without_a_transaction_has_no_rate() -> None:
    log = "flent/rrul.flent"
    text = text_of(log)
    place = text.index('"val": ', text.index('"Ping (ms) UDP BE": ['))
    rows = parse_text(f'{text[:place]}"val": 0{text[text.index(chr(10), place) :]}', log).rows["intervals"]
    assert sum("operations_per_s" in row for row in parse_text(text, log).rows["intervals"]) == 1 + sum(
        "operations_per_s" in row for row in rows
    )


def test_an_error_amid_a_test_of_iperf2_interrupts_it() -> None:
    row = "[  1] 2.0000-3.0000 sec"
    events = new_events(TCP, (row, f"write failed: Connection reset by peer\n{row}"))
    assert events == ["warning interrupted: iperf stopped: write failed: Connection reset by peer"]


def test_intervals_of_iperf2_that_are_missing_at_the_end_are_a_gap() -> None:
    row = "[  1] 2.0000-3.0000 sec  35.8 MBytes   300 Mbits/sec\n"
    events = new_events(TCP, (row, ""), ("0.0000-3.0087 sec   107 MBytes", "0.0000-5.0087 sec   179 MBytes"))
    assert events == ["warning interval_gap: no interval from 2 s to 5.0087 s; rows are missing"]
