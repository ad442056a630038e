"""Every trap of the two formats documents, and the test that falls into it if the parser does.

`TRAPS` names for each trap the tests (``module::function``) or the fixtures (``tool/name``, all of whose values
`test_fixtures.py` checks) that cover it. The tests at the end are those that belong to no parser's own file; where a
trap lies outside of any log, the test shows what we do in its place.
"""

from __future__ import annotations

import ast
from functools import cache
from typing import Any

import pandas as pd
import pytest
from helpers.places import TESTS

from azlatency.logs.decode import source_from_bytes
from azlatency.logs.parse import parse, parse_source
from azlatency.logs.tables import Logs
from azlatency.stats.across_runs.baseline import check_baseline
from azlatency.studies.manifest import read_manifest, read_reported
from azlatency.studies.quality import check

HERE = TESTS
FIXTURES = HERE / "fixtures"
BANNER = "sockperf: == version #3.7-no.git ==\n"
BLOCK = (
    "sockperf: [Valid Duration] RunTime={0} sec; SentMessages={1}; ReceivedMessages={1}\n"
    "sockperf: ====> avg-latency=47.395 (std-dev=1.345)\n"
    "sockperf: # dropped messages = {2}; # duplicated messages = 0; # out-of-order messages = 0\n"
    "sockperf: ---> <MAX> observation = {3}\n"
)

S, Q, L, P = (
    "logs/parsers/test_sockperf",
    "logs/parsers/test_qperf",
    "logs/parsers/test_latte",
    "logs/parsers/test_ping",
)
N, G, E = "logs/parsers/test_netperf", "logs/parsers/test_lagscope", "logs/parsers/test_echo"
I3, I2, NT = "logs/parsers/test_iperf3", "logs/parsers/test_iperf2", "logs/parsers/test_ntttcp"
F, IO = "logs/parsers/test_fio", "logs/parsers/test_iostat"
OWN = "logs/test_traps"

TRAPS: dict[str, list[str]] = {
    "S1": [f"{S}::test_half_round_trips_of_the_zone_notes"],
    "S2": ["sockperf/3.10-reordering.log"],
    "S3": [f"{OWN}::test_s3_replies_after_the_end_are_no_losses"],
    "S4": [f"{OWN}::test_s4_a_lost_datagram_ends_the_ping_pong"],
    "S5": ["sockperf/3.1-under-load.log"],
    "S6": [f"{OWN}::test_s6_signal_2_is_no_interruption"],
    "S7": ["sockperf/3.7-interrupted.log", "sockperf/2.8-killed.log", "sockperf/3.10-too-short.log"],
    "S8": [f"{OWN}::test_s8_playback_has_no_warm_up"],
    "S9": [f"{OWN}::test_s9_ping_pong_is_a_closed_loop"],
    "S10": [f"{S}::test_the_unit_of_bandwidth_is_proven_by_the_message_rate"],
    "S11": ["sockperf/2.7-udp-burst.log"],
    "S12": [
        f"{S}::test_stars_of_markdown_are_no_part_of_a_number",
        "logs/test_unwrap::test_two_tools_in_one_wrapped_file",
    ],
    "S13": [
        f"{OWN}::test_s13_each_server_is_a_run",
        "logs/parsers/test_latency_logs::test_two_logs_in_a_file_are_the_runs_of_both",
    ],
    "S14": ["sockperf/3.10-under-load-full.csv", "sockperf/3.5-full.csv"],
    "S15": ["sockperf/3.10-histogram.log", "sockperf/3.10-histogram-wide.log"],
    "S16": [f"{OWN}::test_s9_ping_pong_is_a_closed_loop"],
    "Q1": [f"{Q}::test_the_five_pairs_of_the_zone_notes", f"{Q}::test_latency_and_rate_that_contradict_each_other"],
    "Q2": [f"{Q}::test_three_significant_digits_with_zeros_stripped"],
    "Q3": [f"{Q}::test_milliseconds_are_not_lost"],
    "Q4": [f"{Q}::test_udp_latency_that_a_lost_datagram_may_have_made", "qperf/0.4.11-udp-nothing-received.log"],
    "Q5": [f"{OWN}::test_q5_only_its_length_tells_that_qperf_was_stopped"],
    "Q6": ["qperf/0.4.11-rds-failed.log", "qperf/0.4.11-no-server.log"],
    "Q7": ["qperf/0.4.11-vvs-four-tests.log"],
    "Q8": [f"{OWN}::test_q8_two_blocks_are_two_runs_of_one_moment_that_nobody_knows"],
    "Q9": [f"{Q}::test_glued_headers_are_refused"],
    "Q10": [f"{Q}::test_what_is_no_number_is_an_unknown_line"],
    "L1": [f"{L}::test_latency_is_taken_as_a_round_trip_and_says_so"],
    "L2": [
        f"{L}::test_the_last_row_of_a_histogram_is_open_ended",
        f"{L}::test_a_histogram_without_its_empty_rows_is_closed",
    ],
    "L3": [f"{L}::test_the_four_blocks_of_the_proximity_post", "latte/b1s-receiver.log"],
    "L4": [f"{L}::test_a_negative_latency_is_refused"],
    "L5": [f"{L}::test_an_edited_block_fails_the_identity"],
    "L6": [f"{OWN}::test_l6_hrtt_doubles_the_counts_a_second"],
    "L7": [f"{OWN}::test_l7_ten_thousand_iterations_are_less_than_a_second"],
    "L8": ["logs/test_segment::test_the_same_log_in_any_encoding"],
    "L9": [f"{L}::test_latency_is_taken_as_a_round_trip_and_says_so"],
    "L10": [f"{OWN}::test_l10_a_mean_gives_no_percentile"],
    "P1": [f"{P}::test_loss_is_counted_anew", "ping/iputils-20221126-loss.log"],
    "P2": [
        "ping/iputils-20221126-v.log",
        "test_mutations::test_no_fixture_contradicts_itself_unless_it_is_expected_to",
    ],
    "P3": [f"{P}::test_duplicates_count_in_the_deviation_not_in_received"],
    "P4": ["ping/iputils-20221126-s8.log"],
    "P5": [f"{OWN}::test_p5_a_clock_set_back_voids_the_sample_and_the_summary"],
    "P6": ["ping/iputils-20221126-flood.log", "ping/inetutils-2.4-flood.log"],
    "P7": ["ping/iputils-20210722-fr-noidn.log", "ping/iputils-20240905-fr-noidn-loss.log"],
    "P8": ["ping/iputils-20210722-fr-noidn-flood.log"],
    "P9": [
        f"{P}::test_a_wrong_translation_of_the_label_does_not_move_the_numbers",
        "ping/iputils-20210722-zh-noidn.log",
    ],
    "P10": ["ping/iputils-20240905-tr.log", "ping/iputils-20210722-ja-noidn.log", "ping/iputils-2026-uk.log"],
    "P11": ["ping/iputils-2026-json.log"],
    "P12": [f"{OWN}::test_p12_old_words_duplicates_and_recorded_routes"],
    "N1": [f"{N}::test_n1_percentiles_come_from_buckets"],
    "N2": [f"{N}::test_n2_two_means_in_one_output"],
    "N3": [f"{N}::test_n3_a_burst_has_several_transactions_in_flight"],
    "N4": [f"{N}::test_n4_a_lost_datagram_ends_udp_rr_silently"],
    "N5": [f"{N}::test_n5_the_confidence_interval_is_that_of_the_rate"],
    "N6": [f"{N}::test_n6_ctrl_c_leaves_normal_output"],
    "N7": [f"{N}::test_n7_the_deviation_is_the_populations"],
    "N8": [f"{N}::test_n8_an_impossible_deviation"],
    "G1": [f"{G}::test_g1_the_exit_status_says_nothing"],
    "G2": [f"{OWN}::test_g2_times_stand_on_the_lattice_of_the_clock"],
    "G3": [f"{G}::test_g3_percentiles_are_cut_to_whole_microseconds"],
    "G4": [f"{G}::test_g4_a_percentile_that_breaks_the_order_is_refused"],
    "G5": [f"{G}::test_g5_more_pings_than_the_time_has_room_for"],
    "G6": [f"{G}::test_g6_the_first_row_is_the_range_below_and_the_last_is_open"],
    "G7": [f"{OWN}::test_g7_a_help_text_measures_nothing"],
    "G8": [f"{G}::test_g8_the_table_stands_on_either_side_of_the_dump_line"],
    "G9": [f"{G}::test_g9_the_first_ping_carries_the_warm_up"],
    "E1": [
        f"{E}::test_a_clock_set_back_between_sending_and_receiving",
        f"{E}::test_a_clock_set_back_between_two_packets",
    ],
    "E2": ["echo/cca290c-300.csv"],
    "E3": ["echo/cca290c-300.log"],
    "E4": [f"{E}::test_the_packet_that_ended_the_run_is_lost", "echo/cca290c-reset.csv"],
    "E5": ["echo/cca290c-one.csv"],
    "E6": ["echo/cca290c-reset.log"],
    "E7": [f"{OWN}::test_e7_lines_that_the_console_lost_are_no_lost_packets"],
    "E8": [f"{OWN}::test_e8_one_flow_is_one_connection_and_one_run"],
    "E9": [f"{OWN}::test_e9_numbers_without_logs_are_kept_apart"],
    "iperf3 1": ["iperf3/3.12-tcp.json", f"{I3}::test_directions_are_never_added"],
    "iperf3 2": ["iperf3/3.16-udp-omit.json", "iperf3/3.1-udp.json"],
    "iperf3 3": ["iperf3/3.12-udp.txt"],
    "iperf3 4": [f"{I3}::test_loss_counts_what_was_sent"],
    "iperf3 5": [
        f"{I3}::test_loss_of_shifted_windows_is_the_receivers",
        f"{I3}::test_intervals_without_the_omitted_ones_add_up_to_the_total",
    ],
    "iperf3 6": ["iperf3/3.12-omit-boundary.json", f"{I3}::test_an_interval_of_no_length_has_no_rate"],
    "iperf3 7": ["iperf3/3.12-tcp-omit.txt"],
    "iperf3 8": [f"{OWN}::test_iperf3_8_and_10_short_tails_and_long_drains"],
    "iperf3 9": [f"{I3}::test_a_zero_interval_is_a_stall_and_a_zero_total_is_missing", "iperf3/3.12-interrupted.txt"],
    "iperf3 10": [f"{OWN}::test_iperf3_8_and_10_short_tails_and_long_drains"],
    "iperf3 11": ["test_mutations::test_an_edited_number_that_contradicts_the_log_is_told"],
    "iperf3 12": ["iperf3/3.12-udp-reverse.json"],
    "iperf3 13": ["iperf3/3.12-P4-reverse.txt", "iperf3/3.12-bidir.txt"],
    "iperf3 14": ["iperf3/3.14-server-bidir-P2.log"],
    "iperf3 15": ["iperf3/3.9-server-bidir.json", "iperf3/3.1.3-server-reverse.json"],
    "iperf3 16": [f"{I3}::test_directions_are_never_added"],
    "iperf3 17": ["iperf3/3.12-P4.txt"],
    "iperf3 18": [f"{I3}::test_client_and_server_in_one_terminal_are_told_apart"],
    "iperf3 19": [f"{OWN}::test_iperf3_19_closing_rows_alone"],
    "iperf3 20": [f"{OWN}::test_iperf3_20_traffic_inside_a_host_says_nothing_about_the_network"],
    "iperf3 doubled keys": [f"{I3}::test_both_directions_of_a_document_with_doubled_keys"],
    "ntttcp XML units": [
        f"{NT}::test_xml_of_linux_before_2021_has_binary_units",
        f"{NT}::test_xml_of_linux_since_2021_has_decimal_units",
    ],
    "ntttcp 1": [f"{NT}::test_a_rate_that_its_bytes_contradict_is_told"],
    "ntttcp 2": ["ntttcp/1.4.0-sender.txt"],
    "ntttcp 3": ["ntttcp/1.3.4-receiver-no-sync.log"],
    "ntttcp 4": ["ntttcp/1.4.3-sender-retrans-nic.txt"],
    "ntttcp 5": [f"{NT}::test_scopes_tell_the_machine_from_the_process"],
    "ntttcp 6": ["ntttcp/1.4.3-sender-quiet.txt"],
    "ntttcp 7": ["ntttcp/1.4.3-sender-udp.txt"],
    "ntttcp 8": ["ntttcp/1.4.3-sender.json"],
    "ntttcp 9": ["ntttcp/1.4.3-sender.xml"],
    "ntttcp 10": [f"{NT}::test_the_three_forms_of_one_test_agree"],
    "ntttcp 11": [f"{OWN}::test_ntttcp_11_a_log_without_totals"],
    "ntttcp for Windows": [
        f"{NT}::test_windows_counts_in_powers_of_1024",
        f"{NT}::test_xml_of_windows_has_milliseconds_and_binary_megabytes",
    ],
    "fio 1": [f"{F}::test_kb_base_1000_swaps_the_pair", f"{F}::test_unit_base_1_prints_bits"],
    "fio 2": [f"{F}::test_a_pair_that_disagrees_is_told", "fio/3.33-randread-4k.txt"],
    "fio 3": ["fio/3.33-randrw-4k.txt", "fio/3.16-randwrite-4k.txt"],
    "fio 4": [f"{F}::test_bandwidth_of_old_documents_is_kib"],
    "fio 5": [f"{F}::test_samples_of_version_2_2_are_of_one_job"],
    "fio 6": [f"{F}::test_percentiles_are_the_middle_of_their_bucket", "fio/3.33-randread-bins.json"],
    "fio 7": ["fio/3.33-randrw-4k.json"],
    "fio 8": [f"{F}::test_the_unit_of_four_fields_is_not_known", f"{F}::test_rates_of_single_ios_are_no_bandwidth"],
    "fio 9": [
        f"{F}::test_documents_of_status_interval_are_one_run",
        f"{F}::test_text_and_document_of_one_run_are_one_run",
    ],
    "fio 10": [f"{F}::test_a_job_with_an_error_is_failed_though_it_looks_complete"],
    "fio 11": [f"{F}::test_the_sentinel_of_an_unknown_end_is_no_duration"],
    "fio 12": ["fio/3.33-randread-4k.terse"],
    "fio 13": [f"{F}::test_all_clients_is_not_added"],
    "iostat since boot": [f"{IO}::test_the_first_report_covers_the_time_since_boot"],
    "iostat units": [f"{IO}::test_kb_mb_and_blocks", f"{IO}::test_suffixes_of_h_win_over_the_header"],
    "iostat sectors": [f"{IO}::test_request_sizes_of_11_4_are_sectors"],
    "iostat pretty": [f"{IO}::test_blocks_of_pretty_are_one_report", f"{IO}::test_colours_do_not_hide_the_device"],
    "iostat locale": [f"{IO}::test_a_decimal_comma_is_no_thousands_separator"],
    "iostat JSON": [f"{IO}::test_percentages_of_documents_have_no_sign"],
    "iperf2 CSV": [f"{I2}::test_rows_of_csv_are_intervals_until_the_last", f"{I2}::test_minus_one_is_missing"],
    "iperf2 histograms": [f"{I2}::test_bin_k_ends_at_k_widths"],
    "iperf2 one-way": [f"{I2}::test_one_way_latencies_are_no_round_trips"],
    "iperf2 bounceback": [f"{I2}::test_round_trips_of_bounceback_bring_no_throughput"],
    "Windows ping": [f"{P}::test_windows_times_are_intervals", f"{P}::test_windows_counts_unreachable_as_received"],
    "inetutils stddev": ["ping/inetutils-2.4-c4.log"],
    "BusyBox loss": ["ping/busybox-1.35-loss.log"],
    "fping loss": ["logs/parsers/test_fping::test_whole_percentages_of_loss_are_cut_and_counted_anew"],
    "PsPing warm-up": ["logs/parsers/test_psping::test_the_warm_up_of_icmp_is_not_marked"],
    "PsPing Maxiumum": ["logs/parsers/test_psping::test_the_maximum_of_the_latency_mode_is_misspelled"],
}
NUMBERED = {"S": 16, "Q": 10, "L": 10, "P": 12, "N": 8, "G": 9, "E": 9, "iperf3 ": 20, "ntttcp ": 11, "fio ": 13}


@cache
def functions_of(module: str) -> set[str]:
    tree = ast.parse((HERE / f"{module}.py").read_text("utf-8"))
    return {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}


@pytest.mark.parametrize("trap", TRAPS)
def test_the_functions_of_a_trap_exist(trap: str) -> None:
    for place in TRAPS[trap]:
        if "::" in place:
            module, function = place.split("::")
            assert function in functions_of(module), place
        else:
            assert (FIXTURES / f"{place}.expected.json").is_file(), place


def test_no_numbered_trap_is_left_out() -> None:
    assert not [
        f"{name}{n}" for name, last in NUMBERED.items() for n in range(1, last + 1) if f"{name}{n}" not in TRAPS
    ]


def read(text: str) -> Logs:
    return parse_source(source_from_bytes(text.encode(), "a.log"))


def metrics(tables: Logs, run: int = 0) -> dict[str, float]:
    run_id = tables.rows["runs"][run]["run_id"]
    return {row["metric"]: row["value"] for row in tables.rows["metrics"] if row["run_id"] == run_id}


def codes(tables: Logs) -> list[str]:
    return [row["code"] for row in tables.rows["events"]]


def run(tables: Logs) -> dict[str, Any]:
    return tables.rows["runs"][0]


def test_s3_replies_after_the_end_are_no_losses() -> None:
    assert "false_drops" in codes(read(BANNER + BLOCK.format("9.580", 469, 8, "120228.998")))
    assert "false_drops" not in codes(read(BANNER + BLOCK.format("9.580", 469, 8, "228.998")))


def test_s4_a_lost_datagram_ends_the_ping_pong() -> None:
    tables = read(
        BANNER + "sockperf: [Total Run] RunTime=3.000 sec; Warm up time=400 msec; SentMessages=6; ReceivedMessages=5\n"
        "sockperf: No valid observations found. Try tuning parameters: --time/--mps/--reply-every\n"
    )
    assert run(tables)["status"] == "failed"
    assert "rtt_mean" not in metrics(tables)


def test_s6_signal_2_is_no_interruption() -> None:
    end = "sockperf: Test end (interrupted by {})\nsockperf: Test ended\n"
    tail = BLOCK.format("9.550", 100, 0, "61.253") + "sockperf: ---> <MIN> observation =   40.511\n"
    assert run(read(BANNER + end.format("signal 2") + tail))["status"] == "complete"
    assert run(read(BANNER + end.format("user") + tail))["status"] == "interrupted"


def test_s8_playback_has_no_warm_up() -> None:
    total = "sockperf: [Total Run] RunTime=3.000 sec; Warm up time=400 msec; SentMessages=60; ReceivedMessages=60\n"
    warm_up = [
        run(read(f"$ sockperf {test} -i 10.2.2.4\n" + BANNER + total))["warmup_ns"]
        for test in ("playback", "under-load")
    ]
    assert warm_up == [0, 400_000_000]


def test_s9_ping_pong_is_a_closed_loop() -> None:
    """And its messages have 14 bytes where the command does not say (S16)."""
    row = run(read("$ sockperf pp -i 10.2.2.4\n" + BANNER + BLOCK.format("9.550", 100, 0, "61.253")))
    assert (row["closed_loop"], row["message_bytes"]) == (True, 14)
    row = run(read("$ sockperf ul -i 10.2.2.4\n" + BANNER + BLOCK.format("9.550", 100, 0, "61.253")))
    assert row["closed_loop"] is False


def test_s13_each_server_is_a_run() -> None:
    server = "sockperf: ========= Printing statistics for Server No: {}\n" + BLOCK.format("9.550", 100, 0, "61.253")
    tables = read(BANNER + server.format(0) + server.format(1))
    assert [row["tool"] for row in tables.rows["runs"]] == ["sockperf"] * 2
    assert [metrics(tables, ordinal)["rtt_mean"] for ordinal in (0, 1)] == [94_790, 94_790]


def test_l6_hrtt_doubles_the_counts_a_second() -> None:
    block = (
        "Protocol      TCP\nSendMethod    Blocking\nReceiveMethod Blocking\n"
        "SO_SNDBUF     Default\nSO_RCVBUF     Default\nMsgSize(byte) 4\nIterations    10000\n"
        "Half Round-Trip Latency(usec) 34.99\nCPU(%)        2.8\n"
        "CtxSwitch/sec {}     (2.29/iteration)\n"
    )
    doubled, plain = read(block.format(65566)), read(block.format(32783))
    assert [metrics(each)["context_switch_rate"] for each in (doubled, plain)] == [32_783, 32_783]
    assert ("rate_halved" in codes(doubled), "rate_halved" in codes(plain)) == (True, False)


PING = "PING h (10.2.2.4) 56(84) bytes of data.\n"
REPLY = "64 bytes from 10.2.2.4: icmp_seq=1 ttl=64 time=0.338 ms"


def test_p5_a_clock_set_back_voids_the_sample_and_the_summary() -> None:
    """Composed after ping_common.c, which shows 0 for a negative time; the warning goes to the other stream."""
    warning = "ping: Warning: time of day goes back (-12us), taking countermeasures\n"
    lines = [REPLY, REPLY.replace("=1 ", "=2 ").replace("0.338", "0.000"), REPLY.replace("=1 ", "=3 ")]
    end = "\n--- h ping statistics ---\n3 packets transmitted, 3 received, 0% packet loss, time 2003ms\n"
    times = "rtt min/avg/max/mdev = 0.000/0.225/0.338/0.159 ms\n"
    for text in (PING + warning + "\n".join(lines) + "\n", PING + "\n".join(lines) + "\n"):
        tables = read(text + end + times)
        (block,) = tables.sample_blocks
        assert [*block.rtt_ns] == [338_000, None, 338_000]
        assert [*block.status] == ["ok", "void", "ok"]
        assert "clock_step" in codes(tables)
        assert tables.rows["sources"][0]["lines_unknown"] == 0
        found = metrics(tables)
        assert found["rtt_max"] == 338_000
        assert not {"rtt_min", "rtt_mean", "rtt_sd"} & set(found)
    quiet = metrics(read(PING + end + times))
    assert "rtt_mean" not in quiet and quiet["rtt_max"] == 338_000


def test_p12_old_words_duplicates_and_recorded_routes() -> None:
    lines = [
        REPLY.replace("icmp_seq", "icmp_req"),
        REPLY + " (DUP!)",
        "RR: \t10.0.0.1",
        "\tgateway (10.0.0.2)",
        "",
        REPLY.replace("=1", "=2") + "\t(same route)",
    ]
    tables = read(PING + "\n".join(lines) + "\n")
    assert [*tables.sample_blocks[0].status] == ["ok", "duplicate", "ok"]
    assert tables.rows["sources"][0]["lines_unknown"] == 0


ROWS = """\
Connecting to host 10.99.0.2, port 5301
[  5] local 10.99.0.1 port 53736 connected to 10.99.0.2 port 5301
[ ID] Interval           Transfer     Bitrate         Retr  Cwnd
[  5]   0.00-10.00  sec   334 MBytes   280 Mbits/sec    0    266 KBytes
[  5]  10.00-10.01  sec   128 KBytes   105 Mbits/sec    0    266 KBytes
- - - - - - - - - - - - - - - - - - - - - - - - -
[ ID] Interval           Transfer     Bitrate         Retr
[  5]   0.00-10.01  sec   334 MBytes   280 Mbits/sec    0             sender
[  5]   0.00-79.51  sec   332 MBytes  35.0 Mbits/sec                  receiver

iperf Done.
"""


def test_iperf3_8_and_10_short_tails_and_long_drains() -> None:
    assert {"tail_interval", "duration_overrun"} <= set(codes(read("$ iperf3 -c 10.99.0.2 -t 10\n" + ROWS)))


def test_iperf3_19_closing_rows_alone() -> None:
    tables = read("".join(line + "\n" for line in ROWS.splitlines()[6:9]))
    assert [row["value"] for row in tables.rows["metrics"] if row["metric"] == "throughput"] == [280e6, 35e6]
    assert tables.rows["intervals"] == []


def test_ntttcp_11_a_log_without_totals() -> None:
    tables = read(
        "NTTTCP for Linux 1.4.0\n---------------------------------------------------------\n"
        "01:00:00 INFO: 17 threads created\n"
    )
    assert (run(tables)["status"], tables.rows["metrics"]) == ("truncated", [])


def test_q5_only_its_length_tells_that_qperf_was_stopped() -> None:
    """qperf prints the block of a test that ended by itself; with -vvt the time that it took."""
    block = (
        "tcp_lat:\n    latency        =    125 us\n    msg_rate       =   7.99 K/sec\n    loc_real_time  =   {} sec\n"
    )
    row = run(read("$ qperf 10.2.2.4 -t 10 -vvt tcp_lat\n" + block.format("3.2")))
    assert (row["status"], row["duration_ns"], row["requested_duration_ns"]) == ("interrupted", 3_200_000_000, 10**10)
    assert run(read("$ qperf 10.2.2.4 -t 10 -vvt tcp_lat\n" + block.format("10")))["status"] == "complete"
    assert run(read(block.format("3.2")))["status"] == "complete", "nothing says how long it was to run"


def test_q8_two_blocks_are_two_runs_of_one_moment_that_nobody_knows() -> None:
    """What ran before a test, and when: no line of qperf says so, and no start time is made up."""
    tables = read(
        "$ qperf 10.2.2.4 tcp_bw tcp_lat\ntcp_bw:\n    bw  =  2.82 GB/sec\ntcp_lat:\n    latency  =  125 us\n"
    )
    assert [(row["test"], row.get("started_at")) for row in tables.rows["runs"]] == [
        ("tcp_bw", None),
        ("tcp_lat", None),
    ]


LATTE = (
    "Protocol      TCP\nSendMethod    Blocking\nReceiveMethod Blocking\nSO_SNDBUF     Default\nSO_RCVBUF     Default\n"
    "MsgSize(byte) 4\nIterations    10000\nLatency(usec) 69.98\nCPU(%)        2.8\n"
)


def test_l7_ten_thousand_iterations_are_less_than_a_second() -> None:
    """n times the mean of a closed loop is its time; the table has both, and the duration only where it is printed."""
    tables = read("$ latte.exe -c -a 10.2.2.4:5005\n" + LATTE)
    found = metrics(tables)
    assert found["observations"] * found["rtt_mean"] < 0.7e9
    assert run(tables).get("duration_ns") is None


def test_l10_a_mean_gives_no_percentile() -> None:
    tables = read(LATTE)
    assert tables.rows["quantiles"] == []
    assert check(tables)[0].uses == ("the mean round trip",)


LAGSCOPE = "lagscope 1.0.1\n---------------------------------------------------------\n"


def test_g2_times_stand_on_the_lattice_of_the_clock() -> None:
    tables = read(
        LAGSCOPE + "01:00:00 INFO: New connection: local:25001 [socket:3] --> 10.0.0.5:6001\n"
        "01:00:00 DBG : Reply from 10.0.0.5: bytes=4 time=68.500us\n"
        "01:00:00 DBG : Reply from 10.0.0.5: bytes=4 time=71.250us\n"
        "01:00:00 INFO: TEST COMPLETED.\n01:00:00 INFO: Ping statistics for 10.0.0.5:\n"
        "01:00:00 INFO: \t  Number of successful Pings: 2\n"
        "01:00:00 INFO: \t  Minimum = 68.500us, Maximum = 71.250us, Average = 69.875us\n"
    )
    (block,) = tables.sample_blocks
    assert list(zip(block.low_ns or (), block.high_ns or (), strict=True)) == [(68_250, 68_750), (71_000, 71_500)]
    widths = {row["metric"]: row["resolution"] for row in tables.rows["metrics"]}
    assert (widths["rtt_min"], widths["rtt_max"], widths["rtt_mean"]) == (250, 250, 0.5)


def test_g7_a_help_text_measures_nothing() -> None:
    """``lagscope -p 16001`` (with a blank) prints what its options are, in no format of a log."""
    tables = read(LAGSCOPE + "Usage: lagscope -[r|s|D|f|6|u|p|b|B|z|t|n|i|R|P|H|a|l|c|V|h]\n\t-p   [port number]\n")
    assert (run(tables)["status"], tables.rows["metrics"]) == ("truncated", [])
    assert [row["severity"] for row in tables.rows["events"] if row["code"] == "truncated"] == ["error"]


def test_e7_lines_that_the_console_lost_are_no_lost_packets() -> None:
    """Composed after echo_client.py: the lines with a μ are missing, those that count packets are there."""
    line = "2026-11-21 01:47:19.701 - INFO - "
    tables = read(
        line
        + "Starting Echo Client\n"
        + line
        + "Sending packet #1 (1400 bytes)...\n"
        + line
        + "Sending packet #2 (1400 bytes)...\n"
        "--- Echo Client Statistics ---\n" + line + "Packets: Sent = 2, Received = 2, Lost = 0 (0.0% loss)\n"
    )
    assert tables.sample_blocks == []
    assert metrics(tables) == {"sent": 2, "received": 2, "lost": 0, "loss": 0, "observations": 2}
    assert "lines_missing" in codes(tables)


def test_e8_one_flow_is_one_connection_and_one_run() -> None:
    tables = read(
        "packet_num,timestamp,send_time_ns,receive_time_ns,rtt_us\n"
        "1,2026-11-21 01:47:19.701664,1795225639701692776,1795225639702037188,344.412\n"
        "2,2026-11-21 01:47:20.701664,1795225640701692776,1795225640702037188,344.412\n"
    )
    assert [row["connections"] for row in tables.rows["runs"]] == [1]


def test_e9_numbers_without_logs_are_kept_apart() -> None:
    """The author published tables and no data: the study has reported numbers, and no log that could be a run."""
    study = HERE.parent / "data" / "raw" / "uksouth-echo-latency"
    manifest = read_manifest(study)
    assert len(read_reported(manifest)) > 10
    logs = [path for path in study.rglob("*") if path.is_file() and not manifest.is_own_file(path.name)]
    assert not [path for path in logs if parse(path).rows["runs"]]


def test_iperf3_20_traffic_inside_a_host_says_nothing_about_the_network() -> None:
    """15 Gbit/s "on" a 10G card: a run that the manifest places on one host is not held against what was expected."""
    runs = pd.DataFrame(
        {"metric": ["throughput"] * 2, "value": [15.1e9, 9.4e9], "placement": ["same_host", "cross_zone"]}
    )
    expected = [{"metric": "throughput", "relation": "at_most", "high": 10e9, "unit": "bit/s"}]
    (found,) = check_baseline(runs, expected)
    assert found.mean == 9.4e9
