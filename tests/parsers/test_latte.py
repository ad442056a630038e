from __future__ import annotations

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


def test_a_histogram_cut_short_is_told_by_its_total(read) -> None:
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
