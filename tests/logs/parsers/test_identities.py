"""What the numbers of a run keep: every identity on real logs with one edited number, and files that were joined."""

from __future__ import annotations

from pathlib import Path

import pytest

import azlatency as az
from azlatency.logs.grammar.units import count, quantity
from azlatency.logs.parsers import load_parsers
from azlatency.logs.parsers.identities import EVERYWHERE, check_identities
from azlatency.logs.record import Recorder
from azlatency.logs.source.decode import source_from_bytes

FIXTURES = Path(__file__).parents[2] / "fixtures"
WINDOWS = """
Pinging 10.0.0.4 with 32 bytes of data:
Reply from 10.0.0.4: bytes=32 time=1ms TTL=64
Reply from 10.0.0.4: bytes=32 time<1ms TTL=64
Reply from 10.0.0.4: bytes=32 time=3ms TTL=64
Reply from 10.0.0.4: bytes=32 time=1ms TTL=64

Ping statistics for 10.0.0.4:
    Packets: Sent = 4, Received = 4, Lost = 0 (0% loss),
Approximate round trip times in milli-seconds:
    Minimum = 0ms, Maximum = 3ms, Average = 1ms
"""


def parse(tmp_path: Path, text: str, name: str = "a.log") -> az.Logs:
    path = tmp_path / name
    path.write_bytes(text.encode())
    return az.parse(path)


def test_every_declared_identity_is_one() -> None:
    declared = [identity for parser in load_parsers().values() for identity in parser.identities]
    assert declared and all(callable(identity) for identity in (*declared, *EVERYWHERE))
    assert {tool for tool, parser in load_parsers().items() if parser.identities} >= {"ping", "iperf3", "ntttcp", "mtr"}


@pytest.mark.parametrize(
    ("fixture", "old", "new", "code"),
    [
        ("iperf3/3.14-server-bidir-P2.log", "   0.00-1.00 ", "   5.00-1.00 ", "negative"),
        ("fio/3.16-randwrite-4k.txt", "bw (  KiB/s): min=", "bw (  KiB/s): min=999", "not_monotone"),
        ("mtr/0.95-report.log", " 30.0% ", " 31.0% ", "count_mismatch"),
        ("mtr/0.95-report.log", "    4.6   2.6   1.3   5.9", "    6.4   2.6   1.3   5.9", "impossible_spread"),
        ("mtr/0.95-all-fields.csv", "5,5,0,1.98,", "5,5,0,1.28,", "impossible_spread"),
        ("mtr/0.95-all-fields.csv", ",1.50,2.20,", ",1.50,1.20,", "impossible_spread"),
        ("mtr/0.95.xml", "<Last>   1.3<", "<Last>   13<", "impossible_spread"),
        ("mtr/0.95-all-fields.csv", ",0.00,0,5,5,0,1.98", ",0.00,0,4,5,0,1.98", "count_mismatch"),
        ("iperf2/2.1.8-tcp-P3-client.log", "[SUM] 0.0000-", "[SUM] 9.0000-", "negative"),
        ("iperf3/3.12-ipv6.txt", " 720             sender", " 620             sender", "sum_mismatch"),
        ("iperf3/3.12-udp.txt", "133 Mbits/sec  11511", "133 Mbits/sec  21511", "sum_mismatch"),
        (
            "iperf3/3.16-udp-omit.json",
            '15.956770502225048,\n\t\t\t"sender":\tfalse',
            '85.956770502225048,\n\t\t\t"sender":\tfalse',
            "loss_mismatch",
        ),
        ("lagscope/1.0.1-H.log", "    500 \t 12\n", "    500 \t 12\n" * 2, "not_monotone"),
        (
            "psping/typed-connect.log",
            "Connecting to 10.2.2.4:443: from 10.2.1.4:50672: 1.13ms\n",
            "Connecting to 10.2.2.4:443: from 10.2.1.4:50672: 1.13ms\n" * 2,
            "count_mismatch",
        ),
        ("qperf/0.4.11-asymmetric-vvs.log", "rem_recv_msgs   =   788", "rem_recv_msgs   =   768", "count_mismatch"),
        ("qperf/0.4.11-asymmetric-vvs.log", "rem_recv_bytes  =   788", "rem_recv_bytes  =   768", "count_mismatch"),
        ("uperf/1.0.8-udp.log", "265.82Mb/s", "965.82Mb/s", "rate_mismatch"),
        ("echo/cca290c-reset.csv", "\n5,2026", "\n4,2026", "count_mismatch"),
        ("fio/3.16-randwrite-4k.txt", "avg=2001909", "avg=5001909", "impossible_spread"),
        ("lagscope/1.0.1-H.log", "    500 \t 12\n", "    507 \t 12\n", "value_conflict"),
        ("psping/typed-latency.log", "0.29\t2\n", "0.25\t2\n", "value_conflict"),
        ("uperf/1.0.8-request-response.log", "Total     24.93MB", "Total     29.93MB", "sum_mismatch"),
        ("uperf/1.0.8-request-response.log", "15.63MB /   1.00(s)", "15.63MB /   9.00(s)", "not_monotone"),
        ("qperf/0.4.11-m64k-vvu.log", "64 KiB (65,536)", "64 KiB (65,532)", "value_conflict"),
        ("qperf/0.4.11-m64k-vvu.log", "64 KiB (65,536)", "62 KiB (65,536)", "value_conflict"),
        ("k8s_netperf/0.1.20-hosts-and-pods.log", " 94.435000 ", " 94.735000 ", "value_conflict"),
        ("ping/inetutils-2.4-c4.log", "icmp_seq=1", "icmp_seq=7", "count_mismatch"),
        ("ping/busybox-1.35-c4.log", "seq=2", "seq=3", "count_mismatch"),
        ("hping3/3.0.0-alpha-2-terminal.log", "seq=2", "seq=9", "count_mismatch"),
        ("cilium/0.19.7-multi-crr.log", "383.56µs", "483.56µs", "rate_mismatch"),
        ("netperf/2.7.1-rr-k.log", "MEAN_LATENCY=61.03", "MEAN_LATENCY=67.03", "rate_mismatch"),
        ("iperf3/3.1-udp.json", '"num_streams":\t1', '"num_streams":\t8', "count_mismatch"),
    ],
)
def test_an_edited_number_breaks_an_identity(tmp_path: Path, fixture: str, old: str, new: str, code: str) -> None:
    text, name = (FIXTURES / fixture).read_text("utf-8"), Path(fixture).name
    assert old in text
    before, after = parse(tmp_path, text, name), parse(tmp_path, text.replace(old, new, 1), name)
    assert code not in set(before.events["code"])
    assert code in set(after.events["code"]) and "failed" in set(after.runs["status"])


@pytest.mark.parametrize(
    ("old", "new", "status"),
    [
        ("Lost = 0", "Lost = 1", "failed"),
        ("Maximum = 3ms", "Maximum = 2ms", "failed"),
        ("time=3ms", "time=2ms", "failed"),
        ("Minimum = 0ms", "Minimum = 1ms", "complete"),  # less than 1 ms may be either
    ],
)
def test_windows_replies_and_counts_agree_with_their_summary(tmp_path: Path, old: str, new: str, status: str) -> None:
    assert list(parse(tmp_path, WINDOWS).runs["status"]) == ["complete"]
    assert list(parse(tmp_path, WINDOWS.replace(old, new)).runs["status"]) == [status]


@pytest.mark.parametrize(
    ("tokens", "codes"),
    [
        ({"rtt_min": "0.718", "rtt_mean": "0.969", "rtt_max": "2.137"}, set()),
        ({"rtt_min": "2.718", "rtt_mean": "0.969", "rtt_max": "2.137"}, {"not_monotone"}),
        ({"rtt_min": "0.718", "rtt_mean": "9.969", "rtt_max": "2.137"}, {"impossible_spread"}),
        # At most half the range, times sqrt(2) for two values.
        ({"rtt_min": "0.718", "rtt_max": "2.137", "rtt_sd": "1.100"}, {"impossible_spread"}),
        ({"rtt_min": "0.718", "rtt_max": "2.137", "rtt_sd": "0.900"}, set()),
    ],
)
def test_minimum_mean_maximum_and_deviation_must_be_possible(tokens: dict[str, str], codes: set[str]) -> None:
    recorder = Recorder(source_from_bytes(b"1\n2\n3\n", "a.log"))
    run = recorder.start_run("ping", 1)
    for line, (name, token) in enumerate(tokens.items(), start=1):
        run.add_metric(name, quantity(token, "ms"), line)
    check_identities(recorder, {})
    assert {event["code"] for event in recorder.rows["events"]} == codes


@pytest.mark.parametrize(
    ("samples", "deviation", "codes"),
    [
        (None, "20624.890594", set()),
        ("2", "20624.890594", set()),
        ("2", "20640.000000", {"impossible_spread"}),
        ("3", "16841.500000", set()),
        ("3", "17900.000000", {"impossible_spread"}),
    ],
)
def test_a_deviation_of_few_rates_is_not_judged_by_the_number_of_operations(
    samples: str | None, deviation: str, codes: set[str]
) -> None:
    """A fio of a second has 94,209 operations and two values of its rate, whose deviation is their range / sqrt(2)."""
    recorder = Recorder(source_from_bytes(b"1\n2\n3\n", "a.log"))
    run = recorder.start_run("fio", 1)
    run.add_counts(1, observations="94209")
    if samples is not None:
        run.add_counts(1, bandwidth_samples=samples)
    for line, (name, token) in enumerate({"min": "362248", "max": "391416", "sd": deviation}.items(), start=1):
        run.add_metric(f"bandwidth_{name}", quantity(token, "KBytes/sec"), line)
    check_identities(recorder, {})
    assert {event["code"] for event in recorder.rows["events"]} == codes


@pytest.mark.parametrize(
    ("loss", "sent", "codes"),
    [
        ("20.0", 5, set()),
        ("25.0", 5, set()),
        ("33", 3, set()),
        ("36", 3, {"count_mismatch"}),
        ("1.0", 5, {"count_mismatch"}),
    ],
)
def test_a_loss_is_a_whole_number_of_probes(loss: str, sent: int, codes: set[str]) -> None:
    recorder = Recorder(source_from_bytes(b"1\n2\n", "a.log"))
    run = recorder.start_run("mtr", 1)
    run.add_metric("loss", quantity(loss, "%"), 1)
    run.add_metric("sent", count(str(sent)), 2)
    check_identities(recorder, {})
    assert {event["code"] for event in recorder.rows["events"]} == codes


def test_a_warning_of_the_same_kind_does_not_hide_an_error() -> None:
    recorder = Recorder(source_from_bytes(b"1\n2\n3\n", "a.log"))
    run = recorder.start_run("ping", 1)
    run.add_event("count_mismatch", "warning", "rows of the histogram are missing", 1)
    for line, (name, token) in enumerate({"sent": "4", "received": "5"}.items(), start=1):
        run.add_metric(name, count(token), line)
    check_identities(recorder, {})
    assert [event["severity"] for event in recorder.rows["events"]] == ["warning", "error"]


def test_a_reply_that_is_missing_is_told(tmp_path: Path) -> None:
    logs = parse(tmp_path, WINDOWS.replace("Reply from 10.0.0.4: bytes=32 time=3ms TTL=64\n", ""))
    assert list(logs.runs["status"]) == ["complete"]
    assert set(logs.events["code"]) >= {"lines_missing"}


@pytest.mark.parametrize(("new", "code"), [("954.274", "sum_mismatch"), (None, "lines_missing")])
def test_a_total_is_the_sum_of_its_streams(tmp_path: Path, new: str | None, code: str) -> None:
    # 64 threads add up to 4,060.396 Mbit/s; with the third one at 954.274 they exceed it.
    text, thread = (FIXTURES / "ntttcp" / "1.4.3-sender.xml").read_text("utf-8"), '<throughput metric="mbps">59.965<'
    lines = [line for line in text.splitlines(keepends=True) if new is not None or not is_of_a_fast_thread(line)]
    edited = "".join(lines).replace(thread, thread.replace("59.965", new or "59.965"))
    assert code not in set(parse(tmp_path, text, "a.xml").events["code"])
    assert code in set(parse(tmp_path, edited, "a.xml").events["code"])


def is_of_a_fast_thread(line: str) -> bool:
    return line.startswith('\t\t<throughput metric="mbps">8')


@pytest.mark.costly
@pytest.mark.parametrize("every", [8, pytest.param(1, marks=pytest.mark.slow)])
def test_logs_that_were_joined_are_never_one_complete_run(tmp_path: Path, every: int) -> None:
    """A doubled log has every complete run twice, or none is called complete."""
    merged = {}
    for path in sorted(FIXTURES.rglob("*.*"))[::every]:
        if path.suffix not in (".log", ".csv", ".xml", ".txt", ".json") or path.name.endswith(".expected.json"):
            continue
        raw = path.read_bytes()
        raw += b"" if raw.endswith(b"\n") else b"\n"
        (tmp_path / path.name).write_bytes(raw)
        once = (az.parse(tmp_path / path.name).runs["status"] == "complete").sum()
        (tmp_path / path.name).write_bytes(raw + raw)
        twice = (az.parse(tmp_path / path.name).runs["status"] == "complete").sum()
        if 0 < twice < 2 * once:
            merged[path.name] = (once, twice)
    assert merged == {}


def test_a_mean_without_a_reply_is_refused(tmp_path: Path) -> None:
    summary = '{"host": "10.0.0.4", "transmitted": 4, "received": 0, "loss": 100, "time": 3, "rtt": {"avg": "0.5"}}\n'
    logs = parse(tmp_path, summary)
    assert list(logs.runs["status"]) == ["failed"]
    assert "rtt_mean is 0.5, but no reply was received" in list(logs.events["text"])


@pytest.mark.parametrize(("sent", "status"), [(2552, "complete"), (2559, "complete"), (9552, "failed")])
def test_the_datagrams_of_iperf_2_are_the_bytes_that_it_sent(tmp_path: Path, sent: int, status: str) -> None:
    text = (
        "------------------------------------------------------------\n"
        "Client connecting to 10.0.0.2, UDP port 5001\n"
        "Sending 1470 byte datagrams, IPG target: 11760.00 us (kalman adjust)\n"
        "UDP buffer size:  208 KByte (default)\n"
        "------------------------------------------------------------\n"
        "[  3] local 10.0.0.1 port 44000 connected with 10.0.0.2 port 5001\n"
        "[ ID] Interval       Transfer     Bandwidth\n"
        "[  3]  0.0-30.0 sec  3664 KBytes  1000 Kbits/sec\n"
        f"[  3] Sent {sent} datagrams\n"
        "[  3] Server Report:\n"
        "[  3]  0.0-30.0 sec  3664 KBytes  1000 Kbits/sec   0.013 ms    0/ 2552 (0%)\n"
    )
    assert list(parse(tmp_path, text).runs["status"]) == [status]


@pytest.mark.parametrize(
    ("command", "told"),
    [
        ("ping -c 3 10.0.0.4", []),
        ("ping -c 2 10.0.0.4", [("count_mismatch", "error")]),
        ("ping -c 40 10.0.0.4", [("interrupted", "warning")]),
        ("ping -c 2 -w 9 10.0.0.4", []),
    ],
)
def test_as_many_probes_are_sent_as_the_command_asks_for(
    tmp_path: Path, command: str, told: list[tuple[str, str]]
) -> None:
    log = (FIXTURES / "ping/iputils-20221126-D.log").read_text("utf-8")
    sent = log[log.index("statistics ---") :].split()[2]
    events = parse(tmp_path, f"user@host:~$ {command}\n{log}").events
    assert sent == "3"
    assert [(row["code"], row["severity"]) for _, row in events.iterrows() if row["severity"] != "info"] == told
