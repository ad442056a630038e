from __future__ import annotations

import re
from pathlib import Path

import pytest
from helpers.logs import event_codes, first_run, metric_values, read_text
from helpers.places import FIXTURES

import azlatency as az

BANNER = "sockperf: == version #3.7-no.git ==\n"
THROUGHPUT = """\
sockperf: Total of 57223 messages sent in 1.000 sec
sockperf: NOTE: test was performed, using msg-size=1472. For getting maximum throughput use more
sockperf: Summary: Message Rate is 57223 [msg/sec]
sockperf: Summary: BandWidth is {}
"""


def test_half_round_trips_of_the_zone_notes(seed) -> None:
    notes = seed("azure-cni-zone-pairs.md")
    runs = notes.of("sockperf")
    assert [notes.value("rtt_mean", run) for run in runs] == [33_582, 75_290, 121_126, 1_416_780, 1_397_890]
    assert notes.quantile(0.99, runs[0]) == 49_098
    assert notes.metric("rtt_mean", runs[0])["printed"] == "16.791"
    assert {notes.runs[run]["printed_as"] for run in runs} == {"half_round_trip"}


def test_round_trips_of_the_availability_set_notes(seed) -> None:
    notes = seed("availability-sets-vs-zones.md")
    runs = notes.of("sockperf")
    assert [notes.value("rtt_mean", run) for run in runs] == [94_790, 85_902, 54_516, 45_570]
    assert notes.quantile(0.99999, runs[0]) == 773_712
    assert {notes.runs[run]["printed_as"] for run in runs} == {"round_trip"}
    assert [notes.runs[run]["message_bytes"] for run in runs] == [1400, 350, 1400, 350]


@pytest.mark.parametrize(
    ("printed", "bits"),
    [
        ("80.330 MBps (642.641 Mbps)", 80.330 * 8 * 2**20),
        ("80.330139160 GBps (642.641113281 Gbps)", 80.330139160 * 8 * 2**20),
        ("0.080 GBps (0.643 Gbps)", 0.080 * 8000 * 2**20),
    ],
)
def test_the_unit_of_bandwidth_is_proven_by_the_message_rate(read, printed: str, bits: float) -> None:
    log = read(BANNER + THROUGHPUT.format(printed))
    assert log.value("throughput", side="sender") == pytest.approx(bits)


def test_a_bandwidth_with_an_unproven_unit_is_left_out(read) -> None:
    log = read(BANNER + "sockperf: Summary: BandWidth is 80.330139160 GBps (642.641113281 Gbps)\n")
    assert log.value("throughput", side="sender") is None
    assert "unit_unproven" in log.codes("warning")


def test_markdown_emphasis_is_removed(read) -> None:
    log = read(
        BANNER + "**sockperf: Summary: Round trip is 1892.600 usec**\n"
        "sockperf: Total 105413 observations; each percentile contains 1054.13 observations\n"
        "sockperf: ---> MAX observation = **11541.068**\nsockperf: ---> percentile 99.999 = **11533.498**\n"
    )
    assert (log.value("rtt_mean"), log.value("rtt_max")) == (1_892_600, 11_541_068)
    assert log.quantile(0.99999) == 11_533_498
    assert log.unknown() == 0


def test_every_run_since_3_2_is_450_ms_short_and_none_is_interrupted(read) -> None:
    """Test end by "signal 2" stands in normal under-load runs too."""
    log = (
        "$ sockperf under-load -i 10.2.2.4 -t {}\nsockperf: == version #3.7-no.git ==\n"
        "sockperf: Test end (interrupted by signal 2)\n"
        "sockperf: [Valid Duration] RunTime=9.549 sec; SentMessages=100; ReceivedMessages=100\n"
        "sockperf: ====> avg-latency=47.395 (std-dev=1.345)\n"
        "sockperf: ---> <MAX> observation =   61.253\nsockperf: ---> <MIN> observation =   40.511\n"
    )
    assert read(log.format(10)).codes() == ["shorter_than_asked"]
    assert read(log.format(10)).runs[0]["status"] == "complete"
    assert read(log.format(9)).codes() == []


def test_several_servers_and_a_burst_in_playback(read) -> None:
    """One run for each server; what the first lines say belongs to all of them."""
    block = (
        "sockperf: ========= Printing statistics for Server No: {}\n"
        "sockperf: [Valid Duration] RunTime=9.600 sec; SentMessages=60; ReceivedMessages=60\n"
        "sockperf: ====> avg-latency={}.395 (std-dev=1.345)\n"
        "sockperf: # dropped messages = 0; # duplicated messages = 0; # out-of-order messages = 0\n"
        "sockperf: Summary: Latency of burst of 5 messages is {}.395 usec\n"
        "sockperf: ---> <MAX> observation =   {}.999\nsockperf: ---> <MIN> observation =   10.511\n"
    )
    log = read(
        "$ sockperf playback -f feed --data-file d\nsockperf: == version #3.10-no.git ==\n"
        + block.format(0, 47, 47, 61)
        + block.format(1, 52, 52, 71)
    )
    assert [log.value("rtt_mean", run) for run in (0, 1)] == [94_790, 104_790]
    assert [row["test"] for row in log.runs] == ["playback", "playback"]
    assert [row["tool_version"] for row in log.runs] == ["3.10-no.git", "3.10-no.git"]
    assert log.codes("warning") == ["burst", "burst"]
    assert log.unknown() == 0


def test_a_full_log_before_3_4_has_two_columns(read) -> None:
    """Composed after Client.cpp of 2.7, no log of that age being at hand: the difference is the whole round trip."""
    log = read(
        "------------------------------\n"
        "test was performed using the following parameters: --mps=600000 --burst=1 --reply-every=1 --msg-size=14 "
        "--time=1\n"
        "------------------------------\n"
        "sockperf: [Valid Duration] RunTime=0.550 sec; SentMessages=2; ReceivedMessages=2\n"
        "sockperf: ====> avg-lat= 23.698 (std-dev=1.345)\n"
        "------------------------------\ntxTime, rxTime\n"
        "0.100000001, 0.100047398\n0.200000001, 0.200047398\n------------------------------\n"
    )
    assert [*log.samples[0].rtt_ns] == [47_397, 47_397]
    assert [*log.samples[0].sent_ns] == [0, 100_000_000]
    assert log.value("rtt_mean") == 47_396
    assert (log.unknown(), log.runs[0]["status"], log.runs[0]["message_bytes"]) == (0, "complete", 14)


@pytest.mark.parametrize("level", ["0.000", "100.000", "99999.000"])
def test_a_percentile_outside_0_to_100_is_left_out(read, level: str) -> None:
    log = read(
        BANNER + "sockperf: Summary: Round trip is 1892.600 usec\n"
        "sockperf: Total 105413 observations; each percentile contains 1054.13 observations\n"
        f"sockperf: ---> percentile {level} = 11533.498\nsockperf: ---> percentile 50.000 = 1800.000\n"
    )
    assert log.quantile(0.5) == 1_800_000
    assert len(log.tables.rows["quantiles"]) == 1 and "no_percentile" in log.codes("error")


BLOCK = (
    "sockperf: [Valid Duration] RunTime={0} sec; SentMessages={1}; ReceivedMessages={1}\n"
    "sockperf: ====> avg-latency=47.395 (std-dev=1.345)\n"
    "sockperf: # dropped messages = {2}; # duplicated messages = 0; # out-of-order messages = 0\n"
    "sockperf: ---> <MAX> observation = {3}\n"
)


def test_late_replies_are_not_losses() -> None:
    assert "false_drops" in event_codes(read_text(BANNER + BLOCK.format("9.580", 469, 8, "120228.998")))
    assert "false_drops" not in event_codes(read_text(BANNER + BLOCK.format("9.580", 469, 8, "228.998")))


def test_a_lost_datagram_ends_a_ping_pong_test_without_numbers() -> None:
    tables = read_text(
        BANNER + "sockperf: [Total Run] RunTime=3.000 sec; Warm up time=400 msec; SentMessages=6; ReceivedMessages=5\n"
        "sockperf: No valid observations found. Try tuning parameters: --time/--mps/--reply-every\n"
    )
    assert first_run(tables)["status"] == "failed"
    assert "rtt_mean" not in metric_values(tables)


def test_a_run_that_signal_2_ends_is_complete() -> None:
    end = "sockperf: Test end (interrupted by {})\nsockperf: Test ended\n"
    tail = BLOCK.format("9.550", 100, 0, "61.253") + "sockperf: ---> <MIN> observation =   40.511\n"
    assert first_run(read_text(BANNER + end.format("signal 2") + tail))["status"] == "complete"
    assert first_run(read_text(BANNER + end.format("user") + tail))["status"] == "interrupted"


def test_playback_has_no_warm_up() -> None:
    total = "sockperf: [Total Run] RunTime=3.000 sec; Warm up time=400 msec; SentMessages=60; ReceivedMessages=60\n"
    warm_up = [
        first_run(read_text(f"$ sockperf {test} -i 10.2.2.4\n" + BANNER + total))["warmup_ns"]
        for test in ("playback", "under-load")
    ]
    assert warm_up == [0, 400_000_000]


def test_ping_pong_is_a_closed_loop_with_14_byte_messages_by_default() -> None:
    row = first_run(read_text("$ sockperf pp -i 10.2.2.4\n" + BANNER + BLOCK.format("9.550", 100, 0, "61.253")))
    assert (row["closed_loop"], row["message_bytes"]) == (True, 14)
    row = first_run(read_text("$ sockperf ul -i 10.2.2.4\n" + BANNER + BLOCK.format("9.550", 100, 0, "61.253")))
    assert row["closed_loop"] is False


@pytest.mark.parametrize(
    ("sent", "received", "valid_sent", "valid_received", "lost", "test"),
    [
        (1001, 10, 301, 4, 0, "under-load"),  # 3.7 ul --mps=1000: one reply in 100
        (59546, 574, 50041, 516, 4536, "under-load"),  # one in 10, most of them lost
        (4001, 3848, 3555, 3427, 128, None),  # every reply was asked for: perhaps ping-pong
        (1001, 10, 901, 10, 0, None),  # no warm-up is left out: perhaps playback
    ],
)
def test_counts_show_that_only_some_replies_were_asked_for(
    sent: int, received: int, valid_sent: int, valid_received: int, lost: int, test: str | None
) -> None:
    total = f"sockperf: [Total Run] RunTime=1.000 sec; Warm up time=400 msec; SentMessages={sent}; "
    valid = f"sockperf: [Valid Duration] RunTime=0.300 sec; SentMessages={valid_sent}; "
    log = (
        f"{BANNER}{total}ReceivedMessages={received}\n{valid}ReceivedMessages={valid_received}\n"
        "sockperf: ====> avg-latency=236.577 (std-dev=22.964)\n"
        f"sockperf: # dropped messages = {lost}; # duplicated messages = 0; # out-of-order messages = 0\n"
    )
    assert first_run(read_text(log)).get("test") == test
    command = "$ sockperf playback -i 10.2.2.4 --data-file d\n"
    assert first_run(read_text(command + log))["test"] == "playback", "a command says more"
    without_drops = log.rpartition("sockperf: # dropped")[0]
    assert first_run(read_text(without_drops)).get("test") is None, "lost replies may have been asked for"


def test_each_server_is_a_run() -> None:
    server = "sockperf: ========= Printing statistics for Server No: {}\n" + BLOCK.format("9.550", 100, 0, "61.253")
    tables = read_text(BANNER + server.format(0) + server.format(1))
    assert [row["tool"] for row in tables.rows["runs"]] == ["sockperf"] * 2
    assert [metric_values(tables, ordinal)["rtt_mean"] for ordinal in (0, 1)] == [94_790, 94_790]


def statistics(mean: str, observations: int = 1000, *, each: str = "10.00", end: str = "\n") -> str:
    return (
        f"sockperf: ====> avg-latency={mean} (std-dev=2.427)\n"
        f"sockperf: Summary: Latency is {mean} usec\n"
        f"sockperf: Total {observations} observations; each percentile contains {each} observations\n"
        f"sockperf: ---> <MAX> observation = {float(mean) + 50:.3f}\n"
        f"sockperf: ---> percentile 50.000 = {float(mean) - 1:.3f}\n"
        f"sockperf: ---> <MIN> observation = {float(mean) - 10:.3f}{end}"
    )


def test_runs_without_any_line_between_them_are_separated(read) -> None:
    log = read("".join(statistics(mean) for mean in ("88.612", "74.449", "68.964")))
    assert [log.value("rtt_mean", run) for run in (0, 1, 2)] == [177_224, 148_898, 137_928]
    assert [log.quantile(0.5, run) for run in (0, 1, 2)] == [175_224, 146_898, 135_928]
    assert [log.value("rtt_min", run) for run in (0, 1, 2)] == [157_224, 128_898, 117_928]
    assert [run["status"] for run in log.runs] == ["complete"] * 3
    assert not log.codes("error")


def test_single_lines_of_several_runs_are_several_runs(read) -> None:
    log = read("".join(f"sockperf: Summary: Latency is {mean} usec\n" for mean in ("88.612", "74.449", "68.964")))
    assert [log.value("rtt_mean", run) for run in (0, 1, 2)] == [177_224, 148_898, 137_928]


def test_a_number_of_observations_that_its_line_contradicts_is_left_out(read) -> None:
    log = read(statistics("631.928", 9452, each="24.52"))
    assert log.value("observations") is None
    assert log.codes("error") == ["count_mismatch"]
    assert log.runs[0]["status"] == "failed"


@pytest.mark.parametrize(("cut", "complete"), [(0, True), (1, False), (3, False), (4, False)])
def test_a_number_at_the_end_of_the_text_needs_all_its_decimals(read, cut: int, complete: bool) -> None:
    text = statistics("88.612", end="")
    log = read(text[: len(text) - cut])
    assert log.value("rtt_min") == (157_224 if complete else None)
    assert log.runs[0]["status"] == ("complete" if complete else "truncated")


@pytest.mark.parametrize("start", ["", "<html><body><pre>", "Notes\n\n<pre>sockperf: == version #3.7-no.git ==\n"])
def test_the_summary_of_a_throughput_test_alone_and_in_a_page(read, start: str) -> None:
    end = "</pre></body></html>" if start else ""
    text = "sockperf: Summary: Message Rate is 430240 [msg/sec]\n"
    text += "sockperf: Summary: BandWidth is 26.259 MBps (210.078 Mbps)"
    log = read(f"{start}{text}{end}\n")
    assert log.value("message_rate") == 430_240
    assert log.value("throughput", side="sender") == 26.259 * 8 * 2**20


def test_a_rate_that_is_not_reached_is_reported(read) -> None:
    text = (
        "sockperf: == version #3.7-no.git ==\nsockperf: Test ended\n"
        "sockperf: [Total Run] RunTime=60.000 sec; Warm up time=400 msec; SentMessages=53899; ReceivedMessages=53898\n"
        "sockperf: ====> avg-latency=554.898 (std-dev=51.029)\n"
        "sockperf: Info: The requested message-per-second rate is too high. Try tuning --mps or --burst arguments\n"
    )
    log = read(text)
    assert "rate_not_reached" in log.codes("warning")
    assert log.unknown() == 0


def test_lone_summaries_are_runs_of_their_own(tmp_path: Path) -> None:
    (tmp_path / "a.log").write_text("".join(f"sockperf: Summary: Latency is {value} usec\n" for value in (33.12, 34.1)))
    logs = az.parse(tmp_path / "a.log")
    assert list(logs.runs["status"]) == ["summary_only", "summary_only"]
    assert list(az.latency(logs)["mean_ns"]) == [66_240, 68_200]


def test_summaries_of_half_and_of_whole_round_trips_do_not_mix(read) -> None:
    log = read("sockperf: Summary: Latency is 35.12 usec\nsockperf: Summary: Round trip is 70.10 usec\n")
    assert [log.value("rtt_mean", run=number) for number in (0, 1)] == [70_240, 70_100]
    assert not log.codes("error")


HEADLESS = """sockperf: [Valid Duration] RunTime=29.550 sec; SentMessages=198378; ReceivedMessages=198378
sockperf: ====> avg-latency=74.449 (std-dev=3.660)
sockperf: # dropped messages = 0; # duplicated messages = 0; # out-of-order messages = 0
sockperf: Summary: Latency is 74.449 usec
sockperf: Total 198378 observations; each percentile contains 1983.78 observations
sockperf: ---> <MAX> observation =  290.965
sockperf: ---> percentile 99.000 =   84.884
sockperf: ---> percentile 50.000 =   72.911
sockperf: ---> <MIN> observation =   67.120
"""
SERVER_0 = "sockperf: ========= Printing statistics for Server No: 0\n"
TOTAL_RUN = (
    "sockperf: [Total Run] RunTime=30.000 sec; Warm up time=400 msec; SentMessages=201170; ReceivedMessages=201169\n"
)
RATES = """sockperf: Total of 158801 messages sent in 2.100 sec

sockperf: NOTE: test was performed, using msg-size=4096. For getting maximum throughput consider using --msg-size=1472
sockperf: Summary: Message Rate is 75617 [msg/sec], Packet Rate is about 226851 [pkt/sec] (3 ip frags / msg)
sockperf: Summary: BandWidth is 295.379 MBps (2363.031 Mbps)
"""


SUMMARY = HEADLESS[HEADLESS.index("sockperf: Summary") :]
OBSERVATIONS = HEADLESS[HEADLESS.index("sockperf: Total") :]


@pytest.mark.parametrize("block", [SUMMARY, OBSERVATIONS])
def test_equal_summaries_are_several_runs(read, block: str) -> None:
    log = read(block * 2)
    assert [(run["first_line"], run["status"]) for run in log.runs] == [
        (1, "complete"), (1 + block.count("\n"), "complete"),
    ]  # fmt: skip


@pytest.mark.parametrize("block", [HEADLESS, SERVER_0 + HEADLESS, TOTAL_RUN + SERVER_0 + HEADLESS])
def test_equal_results_without_the_lines_above_them_are_several_runs(read, block: str) -> None:
    log = read(block * 3)
    lines = block.count("\n")
    assert [(run["first_line"], run["status"]) for run in log.runs] == [
        (1, "complete"), (1 + lines, "complete"), (1 + 2 * lines, "complete"),
    ]  # fmt: skip
    assert [log.value("rtt_mean", run) for run in range(3)] == [148_898] * 3 and log.unknown() == 0


@pytest.mark.parametrize("block", [HEADLESS, SERVER_0 + HEADLESS, TOTAL_RUN + SERVER_0 + HEADLESS])
@pytest.mark.parametrize("label", ["", "[OUTPUT] "])
def test_latencies_below_a_throughput_test_are_another_run(read, block: str, label: str) -> None:
    labelled = "".join(label + line for line in block.splitlines(keepends=True))
    log = read("sockperf: == version # == \n" + RATES + "\n---\n" + labelled)
    assert [(run["test"], run["status"]) for run in log.runs] == [("throughput", "complete"), ("ping-pong", "complete")]
    assert log.value("rtt_mean", 1) == 148_898 and log.value("rtt_mean", 0) is None
    below = read(block + RATES)
    assert [run["test"] for run in below.runs] == ["ping-pong", "throughput"]
    assert below.value("message_rate", 1) == 75_617 and below.value("message_rate", 0) is None


def test_the_results_of_two_servers_are_two_runs(read) -> None:
    log = read(TOTAL_RUN + SERVER_0 + HEADLESS + SERVER_0.replace("No: 0", "No: 1") + HEADLESS)
    assert [run["status"] for run in log.runs] == ["complete", "complete"]
    cut = read(
        TOTAL_RUN + SERVER_0 + HEADLESS + SERVER_0.replace("No: 0", "No: 1") + HEADLESS.partition("sockperf: --->")[0]
    )
    assert [run["status"] for run in cut.runs] == ["complete", "truncated"]


@pytest.mark.parametrize("printed", ["avg-lat=263.493", "<MAX> observation = 5100.878", "<MIN> observation =    7.248"])
@pytest.mark.parametrize("digit", [-1, -3, -5])
def test_a_statistic_that_the_rows_of_the_full_log_contradict_is_told(read, printed: str, digit: int) -> None:
    text = (FIXTURES / "sockperf" / "3.5-full.csv").read_text("utf-8")
    assert read(text).codes("error") == []
    at = text.index(printed) + len(printed) + digit
    changed = text[:at] + str((int(text[at]) + 5) % 10) + text[at + 1 :]
    log = read(changed)
    assert "summary_mismatch" in log.codes("error")
    assert log.runs[0]["status"] == "failed"


def test_a_full_log_with_other_rows_than_observations_is_not_compared(read) -> None:
    lines = (FIXTURES / "sockperf" / "3.5-full.csv").read_text("utf-8").splitlines(keepends=True)
    assert "summary_mismatch" not in read("".join(lines[:40])).codes()


@pytest.mark.parametrize(
    ("log", "printed", "false", "code"),
    [
        ("3.7-throughput.log", "798122 messages", "498122 messages", "rate_mismatch"),
        ("3.7-throughput.log", "in 3.000 sec", "in 9.000 sec", "rate_mismatch"),
        ("3.7-throughput.log", "Rate is 266000", "Rate is 366000", "rate_mismatch"),
        ("3.7-throughput.log", "is 355.148 MBps", "is 455.148 MBps", "rate_mismatch"),
        ("3.7-throughput.log", "(2841.187 Mbps)", "(1841.187 Mbps)", "rate_mismatch"),
        ("3.7-throughput.log", "msg-size=1400", "msg-size=1100", "rate_mismatch"),
        ("3.10-reordering.log", "RunTime=3.549", "RunTime=9.549", "impossible_duration"),
        ("3.10-reordering.log", "SentMessages=3555", "SentMessages=9555", "count_mismatch"),
        ("3.10-reordering.log", "std-dev=2158.702", "std-dev=2158.102", "summary_mismatch"),
        ("3.10-reordering.log", "cv=0.592", "cv=0.692", "summary_mismatch"),
        ("3.10-reordering.log", "std-error=46.171", "std-error=46.371", "summary_mismatch"),
        ("3.10-reordering.log", "mean-ad=1111.319", "mean-ad=3111.319", "impossible_spread"),
        ("3.10-reordering.log", "ci=[3529.141", "ci=[3509.141", "summary_mismatch"),
        ("3.10-reordering.log", "3766.997]", "3796.997]", "summary_mismatch"),
        ("3.10-reordering.log", "99.0% ci", "90.0% ci", "summary_mismatch"),
        ("3.10-reordering.log", "99.0% ci", "999.0% ci", "summary_mismatch"),
    ],
)
def test_numbers_that_exclude_each_other_fail_a_run(log: str, printed: str, false: str, code: str) -> None:
    text = (FIXTURES / "sockperf" / log).read_text("utf-8")
    assert first_run(read_text(text))["status"] == "complete"
    assert text.count(printed) == 1
    logs = read_text(text.replace(printed, false))
    assert first_run(logs)["status"] == "failed" and code in event_codes(logs)


@pytest.mark.parametrize("log", ["3.10-under-load-full.csv", "3.5-full.csv"])
@pytest.mark.parametrize("repeats", [1, 300])
def test_a_row_whose_times_exclude_its_last_column_fails_the_run(read, log: str, repeats: int) -> None:
    lines = (FIXTURES / "sockperf" / log).read_text("utf-8").splitlines(keepends=True)
    head = next(index for index, line in enumerate(lines) if line.startswith("packet, ")) + 1
    rows = [line for line in lines[head:] if line[:1].isdigit()] * repeats
    edited = re.sub(
        r", (\d+)\.(\d)(\d+), ", lambda time: f", {time[1]}.{9 - int(time[2])}{time[3]}, ", rows[-1], count=1
    )
    told = [
        [
            event["line"]
            for event in read("".join([*lines[:head], *some])).tables.rows["events"]
            if event["code"] == "value_conflict"
        ]
        for some in (rows, [*rows[:-1], edited])
    ]
    assert told == [[], [head + len(rows)]]


def test_times_are_not_halves_or_round_trips_without_the_line_that_says_it(read) -> None:
    """A full-rtt log without its mean gave twice its percentiles, as a complete run without a word."""
    text = (FIXTURES / "sockperf" / "3.7-full-rtt.log").read_text("utf-8")
    times = [line for line in text.splitlines(keepends=True) if "--->" in line]
    assert read(text).runs[0]["status"] == "complete" and not read(text).codes("warning")
    assert read("".join([*OBSERVATIONS.splitlines(keepends=True)[:1], *times])).codes("warning") == ["unit_assumed"]
    moved = text.replace(times[-2], "").replace(
        "sockperf: Starting test...\n", f"sockperf: Starting test...\n{times[-2]}"
    )
    log = read(moved)
    assert "value_conflict" in log.codes("error") and log.runs[0]["status"] == "failed"


@pytest.mark.parametrize(("option", "size"), [("", 14), (" -m 64", 64), (" -m $size", None)])
def test_a_size_that_a_variable_of_the_shell_hides_is_missing(tmp_path: Path, option: str, size: int | None) -> None:
    log = (FIXTURES / "sockperf" / "3.10-reordering.log").read_text("utf-8")
    file = tmp_path / "session.txt"
    file.write_text(f"user@vm:~$ sockperf ping-pong -i 10.0.0.4{option}\n{log}", "utf-8")
    assert az.parse(file).runs["message_bytes"].astype(object).where(lambda sizes: sizes.notna(), None).tolist() == [
        size
    ]


@pytest.mark.parametrize(
    ("end", "status"),
    [
        (
            "sockperf: Test end (interrupted by user)\nsockperf: No messages were received on the server.\n"
            "sockperf: cleanupAfterLoop() exit\n",
            "complete",
        ),
        # Copied while it runs, or killed.
        (
            "sockperf: Warmup stage (sending a few dummy messages)...\n"
            "sockperf: [tid 14481] using recvfrom() to block on socket(s)\n",
            "no_data",
        ),
    ],
)
def test_a_server_that_no_client_reached_is_no_error(read, end: str, status: str) -> None:
    log = read(
        "sockperf: == version #3.7-no.git == \n"
        f"sockperf: [SERVER] listen on:\n[ 0] IP = 0.0.0.0         PORT = 11999 # TCP\n{end}"
    )
    assert (log.runs[0]["test"], log.runs[0]["status"], log.codes("error")) == ("server", status, [])
