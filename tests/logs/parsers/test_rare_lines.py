"""Lines that no stored log of a tool has: what the tables say if one does."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
from helpers.edited import edited, new_events, parse_text, text_of
from helpers.places import SHARED

from azlatency.logs.grammar.probes import SequenceNumbers
from azlatency.logs.parsers.iperf_rows import percent_agrees

ECHO, FSYNC, TERSE = "echo/cca290c-one.log", "fio/3.33-psync-fsync.txt", "fio/3.33-randread-4k.terse"
VERBOSE, SERVER, JSON = "iperf3/3.12-verbose.txt", "iperf3/3.12-server-three-tests.txt", "iperf3/3.12-tcp.json"
RECEIVER, BUSYBOX, ICMP = "ntttcp/1.4.0-receiver.txt", "ping/busybox-1.35-c4.log", "psping/typed-icmp.log"
NO_LOG = "error not_recognised: no log of a known tool"
#: The lines of a run of echo, between its first line and its statistics.
REPLIES = text_of(ICMP)[text_of(ICMP).index("Reply") : text_of(ICMP).index("\nPing statistics")]
STATISTICS = text_of(ICMP)[text_of(ICMP).index("Ping statistics") :]
TOTALS = text_of(RECEIVER)[text_of(RECEIVER).index("01:36:47 INFO: Test warmup") :]


UDP, SENT = "iperf3/3.12-udp.txt", "35.8 MBytes  99.9 Mbits/sec  0.000 ms  0/25894 (0%)"
ZERO = "0.00 Bytes  0.00 bits/sec  0.000 ms  0/0 (0%)"
FULL = text_of("sockperf/3.5-full.csv")
LINE = f"{'-' * 30}\n"
BINS = (
    "histogram was built using the following parameters: "
    "--h_bin_size_us=5 --h_lower_range_us=0 --h_upper_range_us=200\n"
)
HISTOGRAM = f"{LINE}{BINS}{LINE}bin (usec)            frequency\n15           2022\n200-64639    100\n{LINE}"
QPERF, FIO, IOSTAT = "qperf/0.4.11-v.log", "fio/2.21-read-16k.json", "iostat/12.6.1-x-sigint.json"


@pytest.mark.parametrize(
    ("log", "edits", "expected"),
    [
        (
            ECHO,
            [("INFO - \n--- Echo", "INFO - User interrupted the test\n2026-11-21 01:47:34.541 - INFO - \n--- Echo")],
            ["info interrupted: ended by Ctrl-C"],
        ),
        (ECHO, [("#1 in 20967.004", "#1 in -20967.004")], ["warning clock_step: packet 1 returned 20967004 ns before"]),
        (TERSE, [("1.000000%=708", "1.000000%~708")], ["warning unknown_line: ", NO_LOG]),
        (TERSE, [("3.800000%;20.6", "3.8x%;20.6")], ["warning unknown_line: ", NO_LOG]),
        (TERSE, [(";113449;28362;", ";113449;2x;")], ["warning unknown_line: ", NO_LOG]),
        (
            FSYNC,
            [("Starting 1 process\n", "Starting 1 process\nfio: job startup hung? exiting.\n")],
            ["info message: fio reported: job startup hung? exiting."],
        ),
        (
            FSYNC,
            [
                ("", "\n"),
                ("Disk stats", "fio: pid=0, err=2/file:filesetup.c:174, func=open, error=No such file\n\nDisk stats"),
            ],
            ["error failed: fio stopped: error 2, filesetup.c:174, func=open"],
        ),
        ("fio/3.33-randrw-4k.json", [('"util" : 48.125125', '"util" : "much"')], []),
        (
            VERBOSE,
            [("404 MBytes  3.38 Gbits/sec", "404 MBytes  0.00 bits/sec")],
            ["warning rate_mismatch: the rate is 0, but 404 MBytes were transferred"],
        ),
        (
            SERVER,
            [
                (
                    "2.64 Gbits/sec                  receiver\n",
                    "2.64 Gbits/sec                  receiver\n"
                    "iperf3: the client has unexpectedly closed the connection\n",
                )
            ],
            ["info message: iperf3 reported: the client has unexpectedly closed"],
        ),
        (
            JSON,
            [('"max_snd_cwnd":\t', '"max_snd_cwnd":\t-')],
            ["warning no_count: max_snd_cwnd -2258880 is not a whole number of bytes"],
        ),
        (
            "lagscope/1.0.1-P-n5000.json",
            [('"latency"', '"latencies"')],
            ["error malformed: the file is not a frequency table of lagscope", "warning unknown_line: "],
        ),
        (
            VERBOSE,
            [("0.00-2.00   sec   816", "5.00-2.00   sec   816")],
            ["error negative: the total from 5 s ends at 2 s"],
        ),
        (
            VERBOSE,
            [("0.00-2.00   sec   813", "5.00-2.00   sec   813")],
            ["error negative: the total from 5 s"],
        ),
        (
            VERBOSE,
            [("iperf Done.\n", "iperf Done.\niperf3 -c 10.2.2.4\niperf3: error - unable to connect to server\n")],
            ["info message: iperf3 reported: unable to connect to server"],
        ),
        (
            FSYNC,
            [("BW=1365KiB/s (1398kB/s)", "BW=0KiB/s (0kB/s)")],
            ["warning rate_mismatch: 0 KiB/s is not 5595136 bytes", "warning rate_mismatch: 341 IOPS of 4096 bytes"],
        ),
        (
            "ntttcp/1.4.3-sender.xml",
            [('metric="mbps">64.274', 'metric="mbps">64.2x74')],
            ["error malformed: the rate of thread 0 is '64.2x74'"],
        ),
        (
            "ntttcp/1.4.3-sender.xml",
            [('<total_bytes metric="MB">', '<total_bytes metric="MB">x')],
            ["error malformed: total_bytes is 'x"],
        ),
        (UDP, [(SENT, ZERO)], ["warning zero_is_missing: the 0 bytes of the sender mean that its results did not"]),
        (JSON, [('"start":\t0', '"start":\t{}')], ["error malformed: 'start' is an object, not a number that iperf3"]),
        (
            "lagscope/1.0.1-n500.log",
            [("successful Pings: 500", "successful Pings: 0")],
            ["warning no_data: no ping was answered", "error count_mismatch: rtt_min is 17.500, but no reply"],
        ),
        (
            "lagscope/1.0.1-n500.log",
            [("01:52:04 INFO: New", "01:52:04 ERR : failed to send on socket: 3. errno = 32\n01:52:04 INFO: New")],
            ["warning tool_error: failed to send on socket: 3. errno = 32"],
        ),
        (
            "ping/typed-routeros.log",
            [("sent=4 received=3 packet-loss=25% min-rtt=978us avg-rtt=7ms947us max-rtt", "max-rtt")],
            ["warning truncated: ", "warning unknown_line: no rule matches 'max-rtt=13ms300us'"],
        ),
        (
            "sockperf/3.5-full.csv",
            [(FULL, FULL + HISTOGRAM.replace(BINS, ""))],
            ["warning histogram_without_bins: the histogram row has no bin width"] * 2,
        ),
        (
            RECEIVER,
            [("INFO: Test run completed.", "INFO: Interrupted by Ctrl+C")],
            ["warning interrupted: ended by Ctrl-C; the totals cover the time until then"],
        ),
        (
            RECEIVER,
            [(TOTALS, "01:36:47 INFO: Interrupted by Ctrl+C\n")],
            ["error no_data: ended by Ctrl-C before any result"],
        ),
        (
            "ntttcp/1.4.3-receiver.xml",
            [('<realtime metric="s">', '<realtime metric="parsec">')],
            ["warning unit_ambiguous: realtime is in parsec, not in s"],
        ),
        (
            "ntttcp/1.4.3-receiver.xml",
            [('<total_bytes metric="MB">', '<total_bytes metric="MB">1.2.')],
            ["error malformed: total_bytes is '1.2."],
        ),
        (
            BUSYBOX,
            [
                (
                    "64 bytes from 127.0.0.1: seq=2",
                    "ping: sendmsg: Network is unreachable\n64 bytes from 127.0.0.1: seq=2",
                )
            ],
            ["warning send_failed: ping: sendmsg: Network is unreachable"],
        ),
        (
            BUSYBOX,
            [("4 packets received,", "4 packets received, +3 wobbles,")],
            ["warning unknown_count: unrecognised counter '+3 wobbles'"],
        ),
        (
            ICMP,
            [("(25% loss)", "(35% loss)")],
            ["warning loss_recomputed: the log prints 35% loss; the counts give 25%"],
        ),
        (
            ICMP,
            [(REPLIES, "Could not find host 10.2.2.4\n"), (STATISTICS, "")],
            ["error failed: psping failed: Could not find host 10.2.2.4"],
        ),
        (
            ICMP,
            [("Ping statistics for 10.2.2.4:", "TCP connect statistics for 10.2.2.4:443:")],
            [
                "warning truncated: ",
                "warning test_conflict: statistics of a connect test after the header of a echo test",
            ],
        ),
        (
            "sockperf/3.10-histogram.log",
            [
                (
                    "Total 7593 observations\x1b[0m; each percentile contains 75.93",
                    "Total 7693 observations\x1b[0m; each percentile contains 76.93",
                )
            ],
            ["error count_mismatch: 7693 observations exceed the 7593 messages received"],
        ),
    ],
)
def test_a_rare_line_is_told(log: str, edits: list[tuple[str, str]], expected: list[str]) -> None:
    events = new_events(log, *edits)
    assert len(events) >= len(expected)
    for event in expected:
        assert any(told.startswith(event) for told in events), events


@pytest.mark.parametrize(
    ("log", "edits", "run", "columns"),
    [
        (
            ECHO,
            [("INFO - \n--- Echo", "INFO - User interrupted the test\n2026-11-21 01:47:34.541 - INFO - \n--- Echo")],
            0,
            {"status": "interrupted"},
        ),
        (ICMP, [("1.32ms\n", "1.32ms\npsping -n 4 10.2.2.4\n")], 1, {"command": "psping -n 4 10.2.2.4"}),
        (
            "fio/2.21-read-16k.json",
            [('"runtime" : "1"', '"runtime" : "2m"')],
            0,
            {"requested_duration_ns": 120 * 10**9},
        ),
        (
            "qperf/0.4.11-v.log",
            [("", "$ qperf 10.2.2.4 -m 9x tcp_lat\n")],
            0,
            {"message_bytes": None, "status": "complete"},
        ),
        (FSYNC, [("4096B-4096B, (W) 4096B-4096B", "4096XiB-4096XiB, (W) 4096XiB-4096XiB")], 0, {"message_bytes": None}),
        (VERBOSE, [("Sat, 21 Nov", "Sat, 41 Nov")], 0, {"started_at": None, "status": "complete"}),
        (
            VERBOSE,
            [("iperf Done.\n", "iperf Done.\niperf3 -c 10.2.2.4 -P 4 -t 3\n" + text_of("iperf3/3.12-P4.txt"))],
            1,
            {"command": "iperf3 -c 10.2.2.4 -P 4 -t 3", "requested_duration_ns": 3_000_000_000},
        ),
        (
            RECEIVER,
            [("INFO: 17 threads created", "INFO: 17 threads created\nntttcp -r -m 16,*,10.2.3.4 -t 3")],
            0,
            {"command": "ntttcp -r -m 16,*,10.2.3.4 -t 3"},
        ),
        (
            RECEIVER,
            [
                (
                    "01:36:46 INFO: 17",
                    "01:36:46 INFO: New connection: 10.2.3.4:5001 --> local:5000 [socket 5]\n01:36:46 INFO: 17",
                ),
                ("01:36:46 INFO: Test cycle time negotiated is: 4 seconds\n", ""),
            ],
            0,
            {"status": "complete"},
        ),
        (
            BUSYBOX,
            [("4 packets transmitted, 4 packets received", "0 packets transmitted, 0 packets received")],
            0,
            {"status": "failed"},
        ),
        (
            BUSYBOX,
            [("PING 127.0.0.1 (127.0.0.1): 56 data bytes", "PING6(56=40+8+8 bytes) ::2 --> ::1")],
            0,
            {"message_bytes": 8, "client": "::2", "server": "::1"},
        ),
        (
            BUSYBOX,
            [("(127.0.0.1): 56 data bytes", "(127.0.0.1): sending timestamp requests")],
            0,
            {"server": "127.0.0.1", "test": "timestamp"},
        ),
        ("ping/iputils-20221126-v.log", [("", "$ ping -w 5 127.0.0.1\n")], 0, {"requested_duration_ns": 5_000_000_000}),
        (
            "qperf/0.4.11-vv.log",
            [("msg_size         =", "sock_buf_size    =      64 KiB (65,536)\n    msg_size         =")],
            0,
            {"settings": "sock_buf_size 65536"},
        ),
    ],
)
def test_a_rare_line_sets_columns(log: str, edits: list[tuple[str, str]], run: int, columns: dict[str, Any]) -> None:
    row = parse_text(edited(log, *edits), log).rows["runs"][run]
    assert {name: row.get(name) for name in columns} == columns


def test_odd_members_of_a_document_of_fio_are_left_out() -> None:
    log = "fio/3.33-randrw-4k.json"
    edits = [('"util" : 48.125125', '"util" : "much"'), ('"1.000000" : 477184', '"1.0x" : 477184'),
             ('"job_runtime" : 5000', '"total_err" : 3, "job_runtime" : 5000')]  # fmt: skip
    before, after = (parse_text(text, log).rows for text in (text_of(log), edited(log, *edits)))
    names = [{row["metric"]: row["value"] for row in rows["metrics"]} for rows in (before, after)]
    assert set(names[0]) - set(names[1]) == {"utilisation"} and names[1]["errors"] == 3
    assert len(before["quantiles"]) - len(after["quantiles"]) == 1


def test_the_start_of_a_test_of_iperf3_is_the_time_above_it() -> None:
    time = "Time: Sat, 21 Nov 2026 01:43:37 GMT\n"
    late = edited(VERBOSE, (time, ""), ("Starting Test", f"{time}Starting Test"))
    starts = [parse_text(text, VERBOSE).rows["runs"][0]["started_at"].isoformat() for text in (late, text_of(VERBOSE))]
    assert starts == ["2026-11-21T01:43:37+00:00"] * 2


def test_sync_latencies_of_fio_without_their_title() -> None:
    texts = (text_of(FSYNC), edited(FSYNC, ("  fsync/fdatasync/sync_file_range:\n", "")))
    values = [
        [(row["metric"], row["stream"], row["value"]) for row in parse_text(text, FSYNC).rows["metrics"]]
        for text in texts
    ]
    assert values[0] == values[1] and any(stream == "sync" for _, stream, _ in values[0])


def test_the_histogram_of_a_full_log_of_sockperf_is_of_round_trips() -> None:
    """sockperf counts halves of round trips; the last row ends with the truncated maximum."""
    log = "sockperf/3.5-full.csv"
    rows = parse_text(FULL + HISTOGRAM, log).rows["histograms"]
    assert [(row["low_ns"], row["high_ns"], row["count"]) for row in rows] == [
        (30_000, 40_000, 2022), (400_000, 129_280_000, 100)
    ]  # fmt: skip


def test_the_cpu_of_the_other_end_in_a_log_of_iperf3_is_not_that_of_this_end() -> None:
    metrics = [
        {row["metric"] for row in parse_text(text, VERBOSE).rows["metrics"]}
        for text in (text_of(VERBOSE), edited(VERBOSE, ("CPU Utilization:", "Server output:\nCPU Utilization:")))
    ]
    assert {name for name in metrics[0] - metrics[1] if name.startswith("cpu")}


def test_a_report_of_iostat_lasts_from_the_time_above_to_its_own() -> None:
    first, *more = text_of(IOSTAT).split('"avg-cpu"')
    times = [f'"timestamp": "2026-11-21T02:12:{31 + at}+0000", "avg-cpu"{part}' for at, part in enumerate(more)]
    _, second, *_ = parse_text(first + "".join(times), IOSTAT).rows["runs"]
    assert (second["started_at"].isoformat(), second["duration_ns"]) == ("2026-11-21T02:12:31+00:00", 10**9)


def test_a_second_summary_of_routeros_without_replies_is_another_run() -> None:
    log = "ping/typed-routeros.log"
    text = text_of(log)
    rows = text[text.index("    0 10.0.0.4") : text.index("    sent=")]
    summary = text[text.index("    sent=") : text.index("\n\n")] + "\n"
    runs = parse_text(edited(log, (rows, ""), (summary, summary + summary)), log).rows["runs"]
    assert [run["first_line"] for run in runs] == [2, 4]


@pytest.mark.parametrize(("printed", "due"), [([65535, 0, 1], 65536), ([65534, 1, 65535], 65535)])
def test_numbers_of_probes_are_counted_on_at_16_bits(printed: list[int], due: int) -> None:
    """A reply from before the wrap may come after it."""
    numbers = SequenceNumbers()
    found = [numbers.unwrap(number) for number in printed]
    assert found[-2 if due == 65536 else -1] == due


@pytest.mark.parametrize("printed", [[1, 70000], [5, 5, 6], [9, 8]])
def test_numbers_that_do_not_rise_are_read_one_by_one(printed: list[int]) -> None:
    assert SequenceNumbers().unwrap_rising(np.array(printed), -1) is None


@pytest.mark.parametrize(("token", "due"), [(None, True), ("3.1", True), ("4.1", False), ("x", False)])
def test_a_printed_percentage_is_the_rounded_loss(token: str | None, due: bool) -> None:
    assert percent_agrees(token, 159 / 5105) is due


def test_a_terse_line_of_version_5_has_samples_of_iops_too() -> None:
    """Version 5 adds the number of samples, the IOPS and trims to a line of version 3."""
    fields = text_of(TERSE).strip().split(";")
    reads, writes, rest = fields[5:46], fields[46:87], fields[87:]
    none = [*writes, *["0"] * 6]
    line = ["5", *fields[1:5], *reads, "9", "22000", "31000", "28362.5", "900.1", "8", *none, *none, *rest]
    rows = parse_text(";".join(line) + "\n", TERSE).rows["metrics"]
    values = {row["metric"]: row["value"] for row in rows if row["stream"] == "read"}
    due = {"bandwidth_samples": 9, "iops_min": 22000, "iops_max": 31000, "iops_mean": 28362.5, "iops_samples": 8}
    assert {name: values[name] for name in due} == due


def test_a_report_of_iostat_without_a_device_has_no_data() -> None:
    text = re.sub(r'"avg-cpu":  \{.*?\},|\{"disk_device".*?\}', "", text_of(IOSTAT), count=2)
    logs = parse_text(text, IOSTAT)
    assert logs.rows["runs"][0]["status"] == "no_data"
    assert "the report lists no device: none was active, or none was found" in [e["text"] for e in logs.rows["events"]]


def test_a_thread_of_ntttcp_without_its_number_is_left_out() -> None:
    log = "ntttcp/1.4.3-sender.json"
    before, after = (parse_text(text, log).rows["metrics"] for text in (text_of(log), edited(log, ('"index"', '"x"'))))
    streams = [{row["stream"] for row in rows} for rows in (before, after)]
    assert streams[0] - streams[1] == {"0"}


def test_a_report_of_ntttcp_that_is_cut_above_its_units_has_no_size() -> None:
    log = "ntttcp/1.4.3-receiver.xml"
    text = text_of(log)
    cut = text[: text.index('\t<throughput metric="MB/s">')].replace("1392.984336", "1392")
    events = [event["text"] for event in parse_text(cut, log).rows["events"]]
    assert any("cut before the lines that show whether MB are 10**6 or 2**20 bytes" in event for event in events)


@pytest.mark.parametrize("total", ["N", "M"])
def test_latencies_of_fsync_in_a_document_of_fio_have_their_number(total: str) -> None:
    """Several versions print the number of fsyncs once only."""
    log = "fio/3.33-randrw-4k.json"
    text = text_of(log)
    place = text.index('"sync" : {')
    sync = text[place:]
    for old, new in (("total_ios", "7"), ("min", "5"), ("max", "9"), ("mean", "7.0"), ("N", "7")):
        sync = re.sub(rf'"{old}" : 0(\.0+)?', f'"{old}" : {new}', sync, count=1)
    rows = parse_text(text[:place] + sync.replace('"N"', f'"{total}"', 1), log).rows["metrics"]
    values = {row["metric"]: row["value"] for row in rows if row["stream"] == "sync"}
    assert (values["issued"], values["sync_latency_min"], values["sync_latency_max"]) == (7, 5, 9)


def test_values_that_no_tool_prints_are_left_out() -> None:
    log = "fio/3.33-randrw-4k.json"
    rows = parse_text(edited(log, ('"iops" : 16537.092581', '"iops" : "x"')), log).rows["metrics"]
    assert [row["stream"] for row in rows if row["metric"] == "iops"] == ["write"]
    rows = parse_text(edited(IOSTAT, ('"r/s": 123.62', '"r/s": 1e99999')), IOSTAT).rows["metrics"]
    first = [row for row in rows if row["run_id"].endswith("-01") and row["metric"].startswith("read")]
    assert first and all(row["printed"] != "1e99999" for row in first)


def test_a_number_of_ntttcp_without_its_column_is_an_unknown_line() -> None:
    total = "01:36:50 INFO: total bytes"
    assert new_events(RECEIVER, (total, f"01:36:50 INFO: 7.5\n{total}")) == [
        "warning unknown_line: no rule matches '01:36:50 INFO: 7.5'"
    ]


@pytest.mark.parametrize(
    ("log", "column", "due"),
    [
        ("generated/iperf3/v3.2_tcp_J_R.server.json", "status", "complete"),
        ("generated/iperf3/v3.12_udp_J_bidir.server.json", "protocol", "udp"),
        ("public/ntttcp/web_jz_m4_receiver.log", "tool", "ntttcp"),
        ("public2/iperf3/cni2024__calico-vpp_1_dum-client.stdout.json", "protocol", "udp"),
    ],
)
def test_a_rare_log_of_the_corpus(log: str, column: str, due: str) -> None:
    if not (SHARED / "corpus" / log).exists():
        pytest.skip("the corpus is not beside the project")
    assert parse_text((SHARED / "corpus" / log).read_text("utf-8"), log).rows["runs"][0][column] == due


@pytest.mark.parametrize(
    ("log", "old", "new", "event"),
    [
        ("ntttcp/1.4.0-sender.txt", "33.56%", "257.00%", "cpu_user is 257.00 %, more than all processors of the host"),
        ("ping/iputils-20221126-D.log", "time 424ms", "time 42ms", "the log prints time 42ms; the probes were sent"),
        ("ping/iputils-20221126-D.log", "time 424ms", "time 42400ms", "the log prints time 42400ms; the probes"),
    ],
)
def test_a_number_that_its_own_log_rules_out_is_an_error(log: str, old: str, new: str, event: str) -> None:
    (found,) = new_events(log, (old, new))
    assert found.startswith("error ") and event in found


def test_a_total_of_iperf3_without_its_titles_is_read_as_with_them() -> None:
    log, titles = (
        "iperf3/3.1-udp.txt",
        "[ ID] Interval           Transfer     Bandwidth       Jitter    Lost/Total Datagrams\n",
    )
    whole, without = (parse_text(text, log).rows for text in (text_of(log), edited(log, (titles, ""))))
    for table in ("metrics", "intervals"):
        assert [{**row, "line": 0, "run_id": ""} for row in whole[table]] == [
            {**row, "line": 0, "run_id": ""} for row in without[table]
        ]


def test_samples_of_several_jobs_of_an_unknown_version_of_fio_are_left_out() -> None:
    log = "fio/2.21-read-16k.log"
    text = edited(log, ("jobs=1", "jobs=4"))
    assert "bandwidth_mean" in {row["metric"] for row in parse_text(text, log).rows["metrics"]}
    rows = parse_text(text.replace("fio-2.21\n", ""), log).rows
    assert "bandwidth_mean" not in {row["metric"] for row in rows["metrics"]}
    assert [row["code"] for row in rows["events"]] == ["version_unknown"]


def test_a_lone_report_of_iostat_without_its_last_blank_line_may_lack_devices() -> None:
    log = "iostat/12.6.1-plain.txt"
    text = text_of(log)
    report = text[: text.index("\n\n\navg-cpu") + 1]
    codes = [{event["code"] for event in parse_text(cut, log).rows["events"]} for cut in (report, report + "\n")]
    assert codes == [{"since_boot", "end_unproven"}, {"since_boot"}]
