"""Damaged and edited logs of every tool: no traceback, no wrong number without an event, linear time.

The mutations use fixed seeds, so a failure can be repeated; `make test-slow` draws many more.
"""

from __future__ import annotations

import math
import random
import re
import time
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import pytest
from helpers.cases import thinned
from helpers.places import FIXTURES

from azlatency.logs import schema
from azlatency.logs.parse import parse_source
from azlatency.logs.source.decode import SourceError, source_from_bytes
from azlatency.logs.tables import Logs

LARGEST = 20_000
TOOLS = sorted(path.name for path in FIXTURES.iterdir() if path.is_dir())
EVERY = 10
SLOW_EVERY = 200

Mutation = Callable[[bytes, random.Random], bytes]


@cache
def logs(tool: str) -> list[tuple[str, bytes]]:
    paths = (path for path in sorted((FIXTURES / tool).iterdir()) if path.is_file())
    kept = (path for path in paths if not path.name.endswith((".expected.json", ".md")))
    return [(path.name, path.read_bytes()) for path in kept if path.stat().st_size < LARGEST and path.suffix != ".gz"]


def read(raw: bytes, name: str = "a.log") -> Logs | None:
    """Return the tables, or None for binary data."""
    try:
        return parse_source(source_from_bytes(raw, name))
    except SourceError:
        return None


def check_sound(tables: Logs | None, what: str) -> None:
    """Check that no parser failed, every line is accounted for, and no value is NaN or infinite."""
    if tables is None:
        return
    failed = [row["text"] for row in tables.rows["events"] if row["code"] == "parser_failed"]
    assert not failed, f"{what}: {failed}"
    for row in tables.rows["sources"]:
        kinds = ("data", "known", "blank", "prose", "unknown")
        assert row["lines"] == sum(row[f"lines_{kind}"] for kind in kinds), what
    for row in tables.rows["metrics"]:
        assert math.isfinite(row["value"]), f"{what}: {row}"
    for name in schema.TABLES:
        tables.to_arrow(name)


def numbers(tables: Logs) -> list[dict[Any, float]]:
    runs: dict[str, dict[Any, float]] = {row["run_id"]: {} for row in tables.rows["runs"]}
    for row in tables.rows["metrics"]:
        runs[row["run_id"]][row["metric"], row["side"], row["stream"]] = row["value"]
    for row in tables.rows["quantiles"]:
        runs[row["run_id"]]["quantile", row["metric"], row["q"], row["stream"]] = row["value_ns"]
    return list(runs.values())


# --- mutations


def truncate(raw: bytes, draw: random.Random) -> bytes:
    return raw[: draw.randrange(len(raw) + 1)]


def drop_start(raw: bytes, draw: random.Random) -> bytes:
    return raw[draw.randrange(len(raw) + 1) :]


def shuffle(raw: bytes, draw: random.Random) -> bytes:
    lines = raw.splitlines(keepends=True)
    draw.shuffle(lines)
    return b"".join(lines)


def double_lines(raw: bytes, draw: random.Random) -> bytes:
    return b"".join(line * draw.choice((1, 1, 2, 3)) for line in raw.splitlines(keepends=True))


def drop_lines(raw: bytes, draw: random.Random) -> bytes:
    return b"".join(line for line in raw.splitlines(keepends=True) if draw.random() > 0.2)


def flip_bytes(raw: bytes, draw: random.Random) -> bytes:
    damaged = bytearray(raw)
    for _ in range(1 + len(raw) // 200):
        damaged[draw.randrange(len(raw))] = draw.randrange(256)
    return bytes(damaged)


def edit_digits(raw: bytes, draw: random.Random) -> bytes:
    edited = bytearray(raw)
    places = [place for place, byte in enumerate(raw) if 48 <= byte <= 57]
    for place in draw.sample(places, min(len(places), 5)):
        edited[place] = draw.choice(b"0123456789")
    return bytes(edited)


def odd_numbers(raw: bytes, draw: random.Random) -> bytes:
    odd = (b"-1", b"nan", b"inf", b"1e999", b"9" * 400, b"0", b"1,234.5.6", b"", b"\xd9\xa1")
    return re.sub(rb"\d+", lambda match: draw.choice(odd) if draw.random() < 0.05 else match[0], raw)


MUTATIONS: tuple[Mutation, ...] = (
    truncate,
    drop_start,
    shuffle,
    double_lines,
    drop_lines,
    flip_bytes,
    edit_digits,
    odd_numbers,
)


def draw_mutations(tool: str, mutation: Mutation, count: int) -> Iterator[tuple[str, bytes]]:
    """Yield ``count`` mutated logs of a tool with a description of each."""
    available = [(name, raw) for name, raw in logs(tool) if raw]
    for ordinal in range(max(count, 1)):
        draw = random.Random(f"{tool} {mutation.__name__} {ordinal}")
        name, raw = draw.choice(available)
        yield f"{tool}/{name} {mutation.__name__} {ordinal}", mutation(raw, draw)


@pytest.mark.costly
@pytest.mark.parametrize("mutation", MUTATIONS, ids=lambda mutation: mutation.__name__)
@pytest.mark.parametrize("tool", thinned(TOOLS, 3))
def test_no_traceback_and_every_line_accounted_for(tool: str, mutation: Mutation) -> None:
    for what, raw in draw_mutations(tool, mutation, EVERY // 2):
        check_sound(read(raw), what)


@pytest.mark.slow
@pytest.mark.parametrize("mutation", MUTATIONS, ids=lambda mutation: mutation.__name__)
@pytest.mark.parametrize("tool", TOOLS)
def test_no_traceback_and_every_line_accounted_for_many(tool: str, mutation: Mutation) -> None:
    for what, raw in draw_mutations(tool, mutation, SLOW_EVERY):
        check_sound(read(raw), what)


# --- truncated and concatenated logs


@pytest.mark.costly
@pytest.mark.parametrize("tool", TOOLS)
def test_a_truncated_log_has_no_number_that_the_whole_log_lacks(tool: str) -> None:
    check_truncations(tool, EVERY)


@pytest.mark.slow
@pytest.mark.parametrize("tool", TOOLS)
def test_a_truncated_log_has_no_number_that_the_whole_log_lacks_many(tool: str) -> None:
    check_truncations(tool, 10 * SLOW_EVERY)


def check_truncations(tool: str, count: int) -> None:
    for ordinal in range(count):
        draw = random.Random(f"{tool} whole {ordinal}")
        name, raw = draw.choice(logs(tool))
        whole = read(raw, name)
        part = read(raw[: draw.randrange(len(raw) + 1)], name)
        if whole is None or part is None:
            continue
        what = f"{tool}/{name}, {part.rows['sources'][0]['size_bytes']} bytes of it"
        check_sound(part, what)
        if (part.rows["runs"] or [{}])[0].get("dialect", "").startswith("fio-log"):
            continue  # a list of samples has no end, so a truncation cannot be detected
        flags = [row for row in part.rows["events"] if row["severity"] != "info" or row["code"] == "no_final_line_feed"]
        expected = numbers(whole)
        for run, values in enumerate(numbers(part)):
            whole_values = expected[run] if run < len(expected) else {}
            for key, value in values.items():
                same = math.isclose(whole_values.get(key, math.nan), value, rel_tol=1e-9)
                assert same or flags, f"{what}: {key} is {value} without an event"


@pytest.mark.parametrize("tool", thinned(TOOLS, 3))
def test_logs_of_two_tools_in_a_file_do_not_mix(tool: str) -> None:
    """After a log of another tool, the numbers are those of the log alone, or missing with an event."""
    for ordinal in range(EVERY):
        draw = random.Random(f"{tool} behind {ordinal}")
        other = draw.choice([name for name in TOOLS if name != tool])
        (first_name, first), (name, second) = draw.choice(logs(other)), draw.choice(logs(tool))
        whole, alone, ahead = read(first + b"\n" + second), read(second, name), read(first, first_name)
        if whole is None or alone is None or ahead is None:
            continue
        what = f"{other}/{first_name} + {tool}/{name}"
        check_sound(whole, what)
        separate = [values for tables in (ahead, alone) for values in numbers(tables)]
        flags = [row for row in whole.rows["events"] if row["severity"] != "info"]
        for values in numbers(whole):
            fits = any(values.items() <= expected.items() for expected in separate)
            assert fits or flags, f"{what}: a run has numbers of neither log, without an event"


# --- time


@pytest.mark.slow
@pytest.mark.parametrize("tool", TOOLS)
def test_time_is_linear_in_the_number_of_lines(tool: str) -> None:
    """The time of the regular expressions and libraries, too; `test_growth` counts the steps of every dialect."""
    name, raw = max(logs(tool), key=lambda log: len(log[1]))
    once = (raw + b"\n") * max(1, 60_000 // len(raw))

    def seconds(text: bytes) -> float:
        begin = time.process_time()
        check_sound(read(text), f"{tool}/{name} repeated")
        return time.process_time() - begin

    seconds(once)
    shorter = min(seconds(once) for _ in range(2))
    longer = min(seconds(once * 4) for _ in range(2))
    assert longer < 10 * shorter + 0.2, f"{tool}/{name}: {shorter:.3f} s, four times the text {longer:.3f} s"


# --- contradicting numbers

SOCKPERF = """\
$ sockperf ping-pong -i 10.2.2.4 -t 10
sockperf: == version #3.7-no.git ==
sockperf: [Total Run] RunTime=10.000 sec; Warm up time=400 msec; SentMessages=105665; ReceivedMessages=105664
sockperf: ========= Printing statistics for Server No: 0
sockperf: [Valid Duration] RunTime=9.550 sec; SentMessages=100000; ReceivedMessages=100000
sockperf: ====> avg-latency=47.395 (std-dev=12.345)
sockperf: # dropped messages = 0; # duplicated messages = 0; # out-of-order messages = 0
sockperf: Summary: Latency is 47.395 usec
sockperf: Total 100000 observations; each percentile contains 1000.00 observations
sockperf: ---> <MAX> observation =  961.253
sockperf: ---> percentile 99.999 =  386.856
sockperf: ---> percentile 99.900 =  160.230
sockperf: ---> percentile 50.000 =   46.200
sockperf: ---> percentile 25.000 =   44.100
sockperf: ---> <MIN> observation =   30.511
"""
PING = """\
PING 10.2.2.4 (10.2.2.4) 56(84) bytes of data.
64 bytes from 10.2.2.4: icmp_seq=1 ttl=64 time=0.338 ms
64 bytes from 10.2.2.4: icmp_seq=2 ttl=64 time=0.638 ms

--- 10.2.2.4 ping statistics ---
2 packets transmitted, 2 received, 0% packet loss, time 1001ms
rtt min/avg/max/mdev = 0.338/0.488/0.638/0.150 ms
"""
IPERF3 = """\
Connecting to host 10.99.0.2, port 5301
[  5] local 10.99.0.1 port 53736 connected to 10.99.0.2 port 5301
[ ID] Interval           Transfer     Bitrate         Retr  Cwnd
[  5]   0.00-1.00   sec  33.4 MBytes   280 Mbits/sec    0    266 KBytes
- - - - - - - - - - - - - - - - - - - - - - - - -
[ ID] Interval           Transfer     Bitrate         Retr
[  5]   0.00-1.00   sec  33.4 MBytes   280 Mbits/sec    0             sender
[  5]   0.00-1.00   sec  33.2 MBytes   278 Mbits/sec                  receiver

iperf Done.
"""
FPING = "10.9.0.2 : xmt/rcv/%loss = 5/5/0%, min/avg/max = 0.030/0.036/0.045\n"
LAGSCOPE = """\
lagscope 1.0.1
---------------------------------------------------------
01:00:00 INFO: New connection: local:25001 [socket:3] --> 10.0.0.5:6001
01:00:30 INFO: TEST COMPLETED.
01:00:30 INFO: Ping statistics for 10.0.0.5:
01:00:30 INFO: \t  Number of successful Pings: 100000
01:00:30 INFO: \t  Minimum = 135.500us, Maximum = 9644.250us, Average = 294.313us
"""
NTTTCP = """\
NTTTCP for Linux 1.4.0
---------------------------------------------------------
01:00:00 INFO: #####  Totals:  #####
01:00:00 INFO: test duration\t:10.43 seconds
01:00:00 INFO: total bytes\t:15436611584
01:00:00 INFO: \t throughput\t:11.84Gbps
"""

SPREAD, ORDER, RATE, COUNT = {"impossible_spread"}, {"not_monotone"}, {"rate_mismatch"}, {"count_mismatch"}
SENDER = "280 Mbits/sec    0             sender"
INTERVAL = "280 Mbits/sec    0    266"
CONTRADICTIONS = {
    "sockperf: mean above the maximum": (SOCKPERF, "avg-latency=47.395", "avg-latency=987.395", SPREAD),
    "sockperf: mean below the minimum": (SOCKPERF, "avg-latency=47.395", "avg-latency=27.395", SPREAD),
    "sockperf: deviation too large": (SOCKPERF, "std-dev=12.345", "std-dev=812.345", SPREAD),
    "sockperf: percentiles fall": (SOCKPERF, "=  160.230", "=   40.230", ORDER),
    "sockperf: percentile above the maximum": (SOCKPERF, "=  386.856", "= 1386.856", ORDER),
    "sockperf: percentile below the minimum": (SOCKPERF, "=   44.100", "=   14.100", ORDER),
    "sockperf: minimum above the maximum": (SOCKPERF, "=   30.511", "= 1030.511", ORDER),
    "sockperf: two means": (SOCKPERF, "Latency is 47.395", "Latency is 47.495", {"value_conflict"}),
    "sockperf: more time than the run": (SOCKPERF, "RunTime=9.550", "RunTime=3.550", {"impossible_duration"}),
    "sockperf: half labelled as full": (SOCKPERF, "RunTime=9.550", "RunTime=4.770", {"unit_conflict"}),
    "sockperf: received more than sent": (SOCKPERF, "ReceivedMessages=105664", "ReceivedMessages=205664", COUNT),
    "ping: received more than sent": (PING, "2 received", "3 received", {"more_received_than_sent"}),
    "ping: mean above the maximum": (PING, "/0.488/", "/0.888/", SPREAD),
    "ping: deviation too large": (PING, "/0.150 ms", "/0.350 ms", SPREAD),
    "ping: a reply is not in the summary": (PING, "time=0.638", "time=0.938", {"summary_mismatch"}),
    "ping: loss that the counts deny": (PING, "0% packet", "50% packet", {"loss_recomputed"}),
    "iperf3: bytes and rate": (IPERF3, SENDER, SENDER.replace("280", "480"), RATE),
    "iperf3: bytes and rate of an interval": (IPERF3, INTERVAL, INTERVAL.replace("280", "880"), RATE),
    "fping: counts": (FPING, "5/5/0%", "5/7/0%", COUNT),
    "fping: minimum above the maximum": (FPING, "0.030/0.036/0.045", "0.050/0.036/0.045", ORDER),
    "lagscope: average below the minimum": (LAGSCOPE, "Average = 294", "Average = 94", SPREAD),
    "lagscope: more time than passed": (
        LAGSCOPE,
        "01:00:30 INFO: TEST",
        "01:00:03 INFO: TEST",
        {"impossible_duration"},
    ),
    "ntttcp: bytes and rate": (NTTTCP, "11.84Gbps", "21.84Gbps", RATE),
}


@pytest.mark.parametrize("name", CONTRADICTIONS)
def test_an_edited_number_that_contradicts_the_log_is_reported(name: str) -> None:
    log, old, new, codes = CONTRADICTIONS[name]
    assert old in log
    original, edited = read(log.encode()), read(log.replace(old, new).encode())
    assert original is not None and edited is not None
    assert not {row["code"] for row in original.rows["events"]} & codes
    assert {row["code"] for row in edited.rows["events"]} & codes, [row["code"] for row in edited.rows["events"]]


@pytest.mark.parametrize("tool", TOOLS)
def test_only_the_expected_fixtures_contradict_themselves(tool: str) -> None:
    codes = {"not_monotone", "impossible_spread", "impossible_duration", "summary_mismatch"}
    for name, raw in logs(tool):
        tables = read(raw, name)
        assert tables is not None
        expected = (FIXTURES / tool / f"{name}.expected.json").read_text("utf-8")
        contradictions = {row["code"] for row in tables.rows["events"]} & codes
        assert all(f'"{code}"' in expected for code in contradictions), f"{tool}/{name}: {contradictions}"
