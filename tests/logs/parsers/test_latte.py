from __future__ import annotations

from pathlib import Path

import pytest
from helpers.logs import event_codes, first_run, metric_values, read_text

from azlatency.logs.parse import parse_source
from azlatency.logs.source.decode import source_from_bytes
from azlatency.studies.imports.importer import import_study
from azlatency.studies.quality import check

BLOCK = """\
Protocol      TCP
SendMethod    Blocking
ReceiveMethod Blocking
SO_SNDBUF     Default
SO_RCVBUF     Default
MsgSize(byte) 4
Iterations    10000
Latency(usec) 69.98
CPU(%)        2.8
CtxSwitch/sec 32783     (2.29/iteration)
SysCall/sec   99948     (6.99/iteration)
Interrupt/sec 55164     (3.86/iteration)
"""
HISTOGRAM = "\nInterval(usec)   Frequency\n      0          9990\n   1000          9\n   2000          1\n"


def buckets(log) -> list[tuple[int, int | None, int]]:
    return [(row["low_ns"], row["high_ns"], row["count"]) for row in log.tables.rows["histograms"]]


def test_the_four_blocks_of_the_proximity_post(seed) -> None:
    post = seed("proximity-placement-groups-latte.md")
    assert [row["status"] for row in post.runs] == ["no_data", "no_data", "complete", "complete"]
    assert [post.value("rtt_mean", run) for run in range(4)] == [None, None, 2_026_400, 2_026_510]
    assert [post.value("observations", run) for run in range(4)] == [None, None, 65100, 65100]
    assert [row.get("dialect") for row in post.runs[2:]] == ["latte-sender", "latte-receiver"]
    assert post.codes("warning") == ["no_data", "no_data"]
    assert post.codes("error") == []
    assert post.unknown() == 0


def test_latency_is_taken_as_a_round_trip_and_says_so(read) -> None:
    log = read(BLOCK)
    assert (log.value("rtt_mean"), log.runs[0]["printed_as"]) == (69_980, "round_trip")
    assert log.codes() == ["side_unknown", "assumed_round_trip"]


def test_half_round_trips_are_doubled(read) -> None:
    log = read(BLOCK.replace("Latency(usec) 69.98", "Half Round-Trip Latency(usec) 34.99"))
    assert (log.value("rtt_mean"), log.runs[0]["printed_as"]) == (69_980, "half_round_trip")
    assert log.metric("rtt_mean")["printed"] == "34.99"
    assert "assumed_round_trip" not in log.codes()


def test_a_negative_latency_is_refused(read) -> None:
    log = read(BLOCK.replace("69.98", "-1304.22"))
    assert log.value("rtt_mean") is None
    assert (log.runs[0]["status"], log.codes("error")) == ("failed", ["overflow"])


def test_an_edited_block_fails_the_identity(read) -> None:
    assert read(BLOCK.replace("69.98", "52.11")).codes("warning") == ["identity_failed"] * 3


def test_the_last_row_of_a_histogram_is_open_ended(read) -> None:
    log = read(BLOCK + HISTOGRAM)
    assert buckets(log) == [(0, 1_000_000, 9990), (1_000_000, 2_000_000, 9), (2_000_000, None, 1)]


def test_a_histogram_without_its_empty_rows_is_closed(read) -> None:
    log = read("C:\\>latte -c -a h:1 -hist -hl 1000 -hc 30\n" + BLOCK + HISTOGRAM)
    assert buckets(log)[-1] == (2_000_000, 3_000_000, 1)


def test_a_cut_histogram_is_detected_by_its_total(read) -> None:
    log = read(BLOCK + HISTOGRAM.rsplit("\n", 2)[0] + "\n")
    assert log.codes("warning") == ["histogram_total"]


def test_rows_of_csv(read) -> None:
    header = (
        "Protocol,SendMethod,ReceiveMethod,SO_SNDBUF,SO_RCVBUF,MsgSize(byte),Iterations,Latency(usec),CPU(%),"
        "CtxSwitch/sec,SysCall/sec,Interrupt/sec\n"
    )
    log = read(header + "TCP,Blocking,Blocking,Default,Default,4,10000,69.98,2.8,32783,99948,55164\n" * 2)
    assert [log.value("rtt_mean", run) for run in (0, 1)] == [69_980, 69_980]
    assert log.value("interrupt_rate") == 55164
    assert (log.runs[0]["message_bytes"], log.unknown()) == (4, 0)
    assert read(header).runs[0]["status"] == "no_data"


DUMP = "".join(f"{value}\n" for value in (71, 69, 70, 1043, 68))


def test_a_dump_is_read_only_if_the_tool_is_named() -> None:
    """No -dump file is public: one whole number of microseconds a line, as the help text of v0000.8303 describes it."""
    source = source_from_bytes(DUMP.encode(), "latencies.dump")
    assert "not_recognised" in [event["code"] for event in parse_source(source).rows["events"]]
    tables = parse_source(source, tool="latte")
    (block,) = tables.sample_blocks
    assert list(block.low_ns or ()) == [71_000, 69_000, 70_000, 1_043_000, 68_000]
    assert list(block.high_ns or ()) == [72_000, 70_000, 71_000, 1_044_000, 69_000]
    assert tables.rows["runs"][0]["dialect"] == "latte-dump"
    assert tables.rows["sources"][0]["lines_data"] == 5


def test_the_last_number_of_a_cut_dump_is_left_out() -> None:
    tables = parse_source(source_from_bytes(DUMP[:-2].encode(), "latencies.dump"), tool="latte")
    assert len(tables.sample_blocks[0].seq) == 4
    assert "unfinished_line" in [event["code"] for event in tables.rows["events"]]


def test_the_tool_that_somebody_names_never_overrules_the_log() -> None:
    ping = "PING h (10.2.2.4) 56(84) bytes of data.\n64 bytes from 10.2.2.4: icmp_seq=1 ttl=64 time=0.338 ms\n"
    tables = parse_source(source_from_bytes(ping.encode(), "a.log"), tool="latte")
    assert [row["tool"] for row in tables.rows["runs"]] == ["ping"]


def test_a_manifest_names_the_tool_of_a_dump(tmp_path: Path) -> None:
    (tmp_path / "latencies.dump").write_text(DUMP)
    (tmp_path / "a.log").write_text("PING h (10.2.2.4) 56(84) bytes of data.\n")
    entry = '[[run]]\nlog = "{}"\ntool = "latte"\nzone = "1"\npeer_zone = "2"\n'
    (tmp_path / "study.toml").write_text('[study]\nname = "s"\n' + entry.format("*.dump") + entry.format("a.log"))
    summary = import_study("s", [tmp_path], out=tmp_path / "out")
    assert summary.runs_by_tool == {"latte": 1, "ping": 1}
    assert any("tool is 'ping' in the log and 'latte' in" in problem for problem in summary.problems)


LATTE = (
    "Protocol      TCP\nSendMethod    Blocking\nReceiveMethod Blocking\nSO_SNDBUF     Default\nSO_RCVBUF     Default\n"
    "MsgSize(byte) 4\nIterations    10000\nLatency(usec) 69.98\nCPU(%)        2.8\n"
)


def test_the_rates_of_hrtt_are_halved() -> None:
    block = (
        "Protocol      TCP\nSendMethod    Blocking\nReceiveMethod Blocking\n"
        "SO_SNDBUF     Default\nSO_RCVBUF     Default\nMsgSize(byte) 4\nIterations    10000\n"
        "Half Round-Trip Latency(usec) 34.99\nCPU(%)        2.8\n"
        "CtxSwitch/sec {}     (2.29/iteration)\n"
    )
    doubled, plain = read_text(block.format(65566)), read_text(block.format(32783))
    assert [metric_values(tables)["context_switch_rate"] for tables in (doubled, plain)] == [32_783, 32_783]
    assert ("rate_halved" in event_codes(doubled), "rate_halved" in event_codes(plain)) == (True, False)


def test_the_duration_is_not_derived_from_the_iterations() -> None:
    """latte prints no duration; 10,000 iterations of 70 us take less than a second."""
    tables = read_text("$ latte.exe -c -a 10.2.2.4:5005\n" + LATTE)
    values = metric_values(tables)
    assert values["observations"] * values["rtt_mean"] < 0.7e9
    assert first_run(tables).get("duration_ns") is None


def test_a_block_without_a_histogram_has_no_percentiles() -> None:
    tables = read_text(LATTE)
    assert tables.rows["quantiles"] == []
    assert check(tables)[0].uses == ("the mean RTT",)


@pytest.mark.parametrize(("latency", "value"), [("2026.51", 2_026_510), ("2026.5", None), ("202", None)])
def test_a_latency_at_the_end_of_the_text_needs_both_decimals(read, latency: str, value: int) -> None:
    log = read(f"Protocol      TCP\nMsgSize(byte) 4\nIterations    65100\nLatency(usec) {latency}")
    assert log.value("rtt_mean") == value
    assert log.runs[0]["status"] == "truncated"
