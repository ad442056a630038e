from __future__ import annotations

from pathlib import Path

import pytest
from helpers.logs import first_run, read_text
from helpers.places import FIXTURES

import azlatency as az
from azlatency.logs.parse import parse_source
from azlatency.logs.parsers.qperf import planned_tests
from azlatency.logs.source.decode import source_from_bytes


def test_the_five_pairs_of_the_zone_notes(seed) -> None:
    notes = seed("azure-cni-zone-pairs.md")
    lat, bw = notes.of("qperf", test="tcp_lat"), notes.of("qperf", test="tcp_bw")
    assert [notes.value("rtt_mean", run) for run in lat] == [33_800, 77_600, 121_000, 1_436_000, 1_398_000]
    assert [notes.metric("rtt_mean", run)["printed"] for run in lat] == ["16.9", "38.8", "60.5", "718", "699"]
    assert {notes.runs[run]["printed_as"] for run in lat} == {"half_round_trip"}
    assert notes.value("observations", lat[0]) == 295_149
    assert notes.value("throughput", bw[0], side="receiver") == 22.56e9
    assert notes.value("sent", bw[0], side="sender") == 430_972
    assert notes.runs[lat[0]]["requested_duration_ns"] == 10 * 10**9
    assert notes.runs[lat[0]]["heading"] == "Notes / Azure CNI / Inside single node"


def test_three_significant_digits_with_zeros_stripped(read) -> None:
    log = read("tcp_lat:\n    latency   =  16.9 us\n    msg_rate  =    59 K/sec\n")
    assert log.metric("message_rate")["resolution"] == 50
    assert log.metric("rtt_mean")["resolution"] == 100


def test_milliseconds_are_not_lost(read) -> None:
    assert read("tcp_lat:\n    latency  =  1.69 ms\n").value("rtt_mean") == 3_380_000


def test_a_read_over_rdma_is_a_full_completion(read) -> None:
    log = read("rc_lat:\n    latency  =  12.2 us\nrc_rdma_read_lat:\n    latency  =  21.4 us\n")
    assert [log.value("rtt_mean", run) for run in (0, 1)] == [24_400, 21_400]
    assert [row["printed_as"] for row in log.runs] == ["half_round_trip", "round_trip"]
    assert {row["protocol"] for row in log.runs} == {"rdma"}


def test_a_million_messages(read) -> None:
    log = read("tcp_bw:\n    bw  =  3.51 GB/sec\n    send_msgs  =  6.42 million\n    recv_max_cqe  =  21 \n")
    row = log.metric("sent", side="sender")
    assert (row["value"], row["resolution"], row["unit"]) == (6_420_000, 5_000, "count")
    assert log.unknown() == 0


def test_latency_and_rate_that_contradict_each_other(read) -> None:
    log = read("tcp_lat:\n    latency   =  16.9 us\n    msg_rate  =  29.5 K/sec\n")
    assert log.codes() == ["rate_mismatch"]


def test_udp_latency_that_a_lost_datagram_may_have_made(read) -> None:
    log = read(
        "udp_lat:\n    latency        =  188 ms\n    loc_send_msgs  =    9 \n    loc_recv_msgs  =    8 \n"
        "    rem_send_msgs  =    8 \n    rem_recv_msgs  =    8 \n"
    )
    assert log.codes("warning") == ["udp_loss_possible"]
    assert read("tcp_lat:\n    latency  =  188 ms\n").codes() == []


def test_glued_headers_are_refused(read) -> None:
    assert read("tcp_lattcp_bw:\n    bw  =  2 GB/sec\n").runs == []


@pytest.mark.parametrize("line", ["bw  =  1.2.3 GB/sec", "bw  =  12,34 GB/sec", "bw  =  2 GX/sec", "wb  =  2 GB/sec"])
def test_a_damaged_number_is_an_unknown_line(read, line: str) -> None:
    log = read(f"tcp_bw:\n    {line}\n")
    assert log.unknown() == 1
    assert log.tables.rows["metrics"] == []


def test_message_size_from_the_command_or_from_the_counts(read) -> None:
    block = "tcp_lat:\n    latency  =  50 us\n"
    assert read("# qperf h -t 2 tcp_lat\n" + block).runs[0]["message_bytes"] == 1
    assert read("# qperf h -m 64K tcp_lat\n" + block).runs[0]["message_bytes"] == 65_536
    counts = "    loc_send_bytes  =  8.23 KB\n    loc_send_msgs   =  8,228 \n"
    assert read(block + counts).runs[0]["message_bytes"] == 1


def test_a_stopped_qperf_is_recognised_by_its_duration_only() -> None:
    """A stopped qperf prints the same block as a complete one; -vvt adds the time that it took."""
    block = (
        "tcp_lat:\n    latency        =    125 us\n    msg_rate       =   7.99 K/sec\n    loc_real_time  =   {} sec\n"
    )
    row = first_run(read_text("$ qperf 10.2.2.4 -t 10 -vvt tcp_lat\n" + block.format("3.2")))
    assert (row["status"], row["duration_ns"], row["requested_duration_ns"]) == ("interrupted", 3_200_000_000, 10**10)
    assert first_run(read_text("$ qperf 10.2.2.4 -t 10 -vvt tcp_lat\n" + block.format("10")))["status"] == "complete"
    assert first_run(read_text(block.format("3.2")))["status"] == "complete", "the requested duration is unknown"


def test_two_blocks_are_two_runs_without_a_start_time() -> None:
    tables = read_text(
        "$ qperf 10.2.2.4 tcp_bw tcp_lat\ntcp_bw:\n    bw  =  2.82 GB/sec\ntcp_lat:\n    latency  =  125 us\n"
    )
    assert [(row["test"], row.get("started_at")) for row in tables.rows["runs"]] == [
        ("tcp_bw", None),
        ("tcp_lat", None),
    ]


def test_results_repeated_under_one_heading_are_further_runs() -> None:
    logs = read_text("tcp_lat:\n    latency  =  18.2 us\n    latency  =  18.3 us\n    latency  =  18.3 us\n")
    runs = logs.records("runs")
    assert [(run["test"], run["status"], run["printed_as"]) for run in runs] == [
        ("tcp_lat", "complete", "half_round_trip")
    ] * 3
    rtts = [(row["run_id"], row["value"]) for row in logs.records("metrics") if row["metric"] == "rtt_mean"]
    assert rtts == [(run["run_id"], rtt) for run, rtt in zip(runs, [36_400, 36_600, 36_600], strict=True)]
    assert [event["code"] for event in logs.records("events")] == []


@pytest.mark.parametrize(
    ("line", "metric", "value", "resolution"),
    [
        # qperf.c takes the next prefix from 1000 on, and rounds afterwards.
        ("latency  =  1,000 us", "rtt_mean", 2e6, 1000),
        ("bw  =  1,000 MB/sec", "throughput", 8e9, 4e6),
        # Their units have no next one.
        ("loc_cpus_used  =  1,203 % cpus", "cpu_cores_used", 12.03, 0.005),
        ("loc_real_time  =  1,200 sec", "elapsed", 1.2e12, 5e8),
        ("loc_send_msgs  =  1.23 billion", "sent", 1.23e9, 5e6),
    ],
)
def test_numbers_of_four_digits_have_a_comma(read, line: str, metric: str, value: float, resolution: float) -> None:
    log = read((FIXTURES / "qperf" / "0.4.11-v.log").read_text("utf-8") + f"tcp_lat:\n    {line}\n")
    row = log.metric(metric, run=-1)
    assert (row["value"], row["resolution"], log.unknown()) == (pytest.approx(value), pytest.approx(resolution), 0)


@pytest.mark.parametrize(
    "line", ["latency  =  1,234 us", "latency  =  97,5 us", "latency  =  1,23 ms", "bw  =  1,234 MB/sec"]
)
def test_a_comma_is_not_a_thousands_separator_in_a_number_with_a_unit(line: str) -> None:
    logs = read_text(f"tcp_lat:\n    {line}\n")
    assert logs.records("metrics") == []
    assert first_run(logs)["status"] == "truncated"
    assert "unknown_line" in {event["code"] for event in logs.records("events")}


VERBOSE_BW = """tcp_bw:
    bw              =     2.82 GB/sec
    msg_rate        =       43 K/sec
    msg_size        =       64 KiB (65,536)
    send_bytes      =     28.2 GB
    recv_bytes      =     28.2 GB
    recv_real_time  =       10 sec
"""


@pytest.mark.parametrize("edit", [("2.82 GB/sec", "28.2 GB/sec"), ("  43 K/sec", "  53 K/sec"), ("10 sec", "20 sec")])
def test_a_bandwidth_that_contradicts_bytes_and_time_is_not_complete(edit: tuple[str, str]) -> None:
    assert first_run(read_text(VERBOSE_BW))["status"] == "complete"
    logs = read_text(VERBOSE_BW.replace(*edit))
    assert first_run(logs)["status"] == "failed"
    assert "rate_mismatch" in {event["code"] for event in logs.records("events")}


@pytest.mark.parametrize("end", ["    msg_ra", "    send_msgs   =  430,97", "    latency  =  16."])
def test_a_log_that_ends_within_a_line_is_truncated(end: str) -> None:
    assert first_run(read_text("tcp_lat:\n    latency  =  16.9 us\n" + end))["status"] == "truncated"


@pytest.mark.parametrize(
    ("end", "status"), [("tcp_la", "truncated"), ("tcp_la\n", "complete"), ("\n\nnotes", "complete")]
)
def test_an_unknown_line_without_line_feed_truncates_the_run_above(end: str, status: str) -> None:
    assert first_run(read_text("tcp_lat:\n    latency  =  16.9 us\n" + end))["status"] == status


NOTHING_RECEIVED = """udp_bw:
    send_bw         =    1.18 GB/sec
    recv_bw         =       0 bytes/sec
    loc_send_bytes  =    2.36 GB
    loc_send_msgs   =  72,023
"""


def test_an_end_that_received_nothing_prints_no_counters() -> None:
    assert first_run(read_text(NOTHING_RECEIVED))["status"] == "complete"
    received = NOTHING_RECEIVED.replace("      0 bytes", "   1.17 GB")
    assert first_run(read_text(received))["status"] == "truncated"


def test_a_text_that_ends_within_a_setting_is_cut() -> None:
    raw = (FIXTURES / "qperf" / "0.4.11-vv.log").read_bytes()
    unit = raw.rindex(b" sec", 0, raw.rindex(b"loc_cpus_used"))  # that of the timeout of the last test
    for end in range(unit + 1, unit + 4):
        runs = parse_source(source_from_bytes(raw[:end], "a.log")).rows["runs"]
        assert [run["status"] for run in runs] == ["complete", "complete", "truncated"]


def test_a_volume_just_below_the_next_binary_prefix_has_a_comma(read) -> None:
    # 1.063 GB in `qperf -t 1 -vvs tcp_bw`.
    logs = read("tcp_bw:\n    bw          =  1.06 GB/sec\n    recv_bytes  =   1,014 MiB (1,063,256,064)\n")
    assert logs.value("transferred", side="receiver") == 1_063_256_064


@pytest.mark.parametrize(
    ("command", "plan"),
    [
        ("qperf h -oo msg_size:1:2M:*2 tcp_lat", [("tcp_lat", 2**power) for power in range(22)]),
        ("qperf h -oo msg_size:64:256:64 tcp_lat", [("tcp_lat", size) for size in (64, 128, 192, 256)]),
        ("qperf h -oo msg_size:1:3:+1 tcp_lat > x", [("tcp_lat", size) for size in (1, 2, 3)]),
        ("qperf h -oo ::4:*2 tcp_lat", [("tcp_lat", size) for size in (1, 2, 4)]),
        ("sudo qperf h -v -t 5 -m 64k tcp_lat -m 1M tcp_bw", [("tcp_lat", 64_000), ("tcp_bw", 2**20)]),
        ("qperf -H h tcp_lat -oo m:1:2:1 tcp_bw quit", [("tcp_lat", None), ("tcp_bw", 1), ("tcp_bw", 2)]),
        (
            "qperf h -oo time:1:2:1 -oo msg_size:1:2:1 -m 7 udp_lat",
            [("udp_lat", size) for size in (1, 2, 1, 2)],
        ),
        ("qperf h -oo msg_size:1:4 tcp_lat", []),  # without an increment the loop does not end
        ("qperf h -oo msg_size:1:4:*1 tcp_lat", []),
        ("qperf h -oo msg_size:0:4:*2 tcp_lat", []),
        ("qperf h -oo msg_size:1:9M:1 tcp_lat", []),
        ("qperf h $SIZES tcp_lat", []),
        ("qperf", []),
    ],
)
def test_tests_that_a_command_asks_for(command: str, plan: list[tuple[str, int | None]]) -> None:
    assert [planned[:2] for planned in planned_tests(command.split())] == plan


def test_other_values_of_a_loop_are_settings(tmp_path: Path) -> None:
    """A log that lacks one of the tests does not say which values its runs have, so they are not repeats."""
    blocks = [f"tcp_lat:\n    latency  =  {latency} us\n" for latency in (20.1, 21.1)]
    command = "$ qperf 10.0.0.9 -oo sock_buf_size:4K:8K:*2 tcp_lat\n"
    (tmp_path / "a.log").write_text(command + "".join(blocks))
    runs = az.latency(az.parse(tmp_path / "a.log"))
    assert list(runs["settings"]) == ["sock_buf_size 4096", "sock_buf_size 8192"]
    assert list(runs["method"]) == ["qperf tcp_lat sock_buf_size 4096", "qperf tcp_lat sock_buf_size 8192"]
    for other in ("4K:16K:*2", "$SIZES"):
        (tmp_path / "a.log").write_text(command.replace("4K:8K:*2", other) + "".join(blocks))
        logs = az.parse(tmp_path / "a.log")
        assert set(az.latency(logs)["unknown"]) == {"mixed_settings"}
        assert "sizes_unknown" in set(logs.events["code"])


def test_what_a_loop_of_the_shell_varies_is_unknown_even_if_sizes_are_printed(tmp_path: Path) -> None:
    block = "tcp_lat:\n    latency   =  {} us\n    msg_size  =  1 bytes\n"
    text = "$ qperf 10.0.0.9 -oo $LOOP -v tcp_lat\n" + block.format(20.1) + block.format(21.1)
    (tmp_path / "a.log").write_text(text)
    assert set(az.latency(az.parse(tmp_path / "a.log"))["unknown"]) == {"mixed_settings"}


def test_sizes_of_a_cut_sweep_are_missing(tmp_path: Path) -> None:
    """Which of the fourteen tests are left is not printed."""
    lines = (FIXTURES / "qperf" / "0.4.11-oo-command.log").read_text("utf-8").splitlines(keepends=True)
    (tmp_path / "a.log").write_text("".join([lines[0], *lines[3:]]))
    logs = az.parse(tmp_path / "a.log")
    assert len(logs.runs) == 13
    assert logs.runs["message_bytes"].isna().all()
    (event,) = logs.events[logs.events["code"] == "sizes_unknown"].itertuples()
    assert (event.severity, "asks for 14 tests" in event.text, event.line) == ("warning", True, 2)


def test_a_value_without_its_heading_is_no_result_of_the_test_above(read) -> None:
    text = "$ qperf peer rc_lat rc_rdma_read_lat\nrc_lat:\n    latency  =  12.2 us\n    latency  =  21.4 us\n"
    log = read(text)
    assert [run["status"] for run in log.runs] == ["complete", "failed"]
    assert log.codes("error") == ["heading_missing"]
    one = read(text.replace(" rc_rdma_read_lat", ""))
    assert [run["status"] for run in one.runs] == ["complete", "complete"], "repetitions of one test"


def test_further_blanks_before_a_unit_do_not_matter(read) -> None:
    log = read("tcp_lat:\nlatency = 290  us\ntcp_bw:\n    bw  =  6.7  MB/sec\n    recv_cpus_used  =  6.5  % cpus\n")
    assert log.value("rtt_mean") == 580_000
    assert log.value("throughput", 1, side="receiver") == 53_600_000
    assert (log.value("cpu_cores_used", 1, side="receiver"), log.unknown()) == (0.065, 0)


@pytest.mark.parametrize("heading", ["tcp_lat", "tcp_bw"])
def test_results_whose_heading_is_missing_are_none_of_another_test(read, heading: str) -> None:
    text = (FIXTURES / "qperf" / "0.4.11-v.log").read_text("utf-8")
    whole, log = read(text), read(text.replace(f"{heading}:\n", ""))
    assert {run["test"]: run["status"] for run in whole.runs} == {"tcp_bw": "complete", "tcp_lat": "complete"}
    assert [run["status"] for run in log.runs if run.get("test") is None] == ["failed"]
    assert log.codes("error") == ["heading_missing"]
    for kept in {"tcp_lat", "tcp_bw"} - {heading}:
        metric = "rtt_mean" if kept == "tcp_lat" else "throughput"
        runs = [number for number, run in enumerate(log.runs) if run.get("test") == kept]
        assert [log.metric(name, run) is not None for run in runs for name in ("rtt_mean", "throughput")] == [
            name == metric for name in ("rtt_mean", "throughput")
        ]


@pytest.mark.parametrize("arguments", ["10.0.0.4 -t 1", "-t 1 10.0.0.4", "-vvs -t 1 10.0.0.4", "-H 10.0.0.4"])
def test_the_server_stands_anywhere_among_the_options(read, arguments: str) -> None:
    log = read(f"$ qperf {arguments} tcp_lat\ntcp_lat:\n    latency  =  41.9 us\n")
    assert log.runs[0]["server"] == "10.0.0.4"
