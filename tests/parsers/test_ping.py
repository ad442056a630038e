from __future__ import annotations

from collections import Counter
from math import sqrt

import pytest

HEADER = "PING 10.2.2.4 (10.2.2.4) 56(84) bytes of data.\n"


def reply(seq: int, ms: str = "0.300", tail: str = "") -> str:
    return f"64 bytes from 10.2.2.4: icmp_seq={seq} ttl=64 time={ms} ms{tail}\n"


def summary(sent: int, received: int, extra: str = "", loss: str = "0") -> str:
    return (
        f"\n--- 10.2.2.4 ping statistics ---\n{sent} packets transmitted, {received} received{extra}, "
        f"{loss}% packet loss, time 1000ms\nrtt min/avg/max/mdev = 0.200/0.300/0.400/0.040 ms\n"
    )


def test_the_two_summaries_of_the_availability_set_notes(seed) -> None:
    notes = seed("availability-sets-vs-zones.md")
    first, second = notes.of("ping")
    assert [notes.value(name, first) for name in ("sent", "received", "lost", "loss")] == [20, 20, 0, 0]
    printed = ["rtt_min", "rtt_mean", "rtt_max", "rtt_sd"]
    assert [notes.metric(name, first)["printed"] for name in printed] == ["0.718", "0.969", "2.137", "0.299"]
    assert notes.value("rtt_mean", first) == 969_000
    assert notes.value("rtt_sd", first) == pytest.approx(299_000 * sqrt(20 / 19))
    assert notes.runs[first]["duration_ns"] == 19_235_000_000
    assert notes.value("rtt_mean", second) == 1_902_000
    assert not notes.samples


def test_sequence_numbers_wrap_at_sixteen_bits(read) -> None:
    log = read(HEADER + reply(65534) + reply(65535) + reply(0) + reply(1))
    assert list(log.samples[0].seq) == [65534, 65535, 65536, 65537]


def test_a_late_reply_takes_the_place_of_no_answer_yet(read) -> None:
    log = read(HEADER + reply(1) + "no answer yet for icmp_seq=2\n" + reply(3) + reply(2, "1200") + summary(3, 3))
    assert dict(zip(log.samples[0].seq, log.samples[0].status, strict=True)) == {1: "ok", 2: "ok", 3: "ok"}


def test_lost_probes_without_a_line_are_samples_where_the_counts_agree(read) -> None:
    log = read(HEADER + reply(1) + reply(3) + summary(4, 2, loss="50"))
    assert Counter(log.samples[0].status) == {"ok": 2, "lost": 2}
    torn = read(HEADER + reply(1) + reply(3) + summary(4, 4))
    assert Counter(torn.samples[0].status) == {"ok": 2}
    assert torn.codes() == ["lines_missing"]


def test_duplicates_count_in_the_deviation_not_in_received(read) -> None:
    text = HEADER + reply(1) + reply(1, tail=" (DUP!)") + reply(2) + summary(2, 2, ", +1 duplicates")
    log = read(text)
    assert Counter(log.samples[0].status) == {"ok": 2, "duplicate": 1}
    assert log.value("received") == 2
    assert log.value("observations") == 3
    assert log.value("rtt_sd") == pytest.approx(40_000 * sqrt(3 / 2))


@pytest.mark.parametrize(
    ("received", "printed", "codes"),
    [(3575, "0", ["loss_recomputed"]), (3564, "1", []), (3564, "3", ["loss_recomputed"]), (3575, "0.694444", [])],
)
def test_loss_is_counted_anew(read, received: int, printed: str, codes: list[str]) -> None:
    log = read(HEADER + summary(3600, received, loss=printed))
    assert log.value("loss") == (3600 - received) / 3600
    assert log.codes() == codes


def test_stamps_are_read_as_integers(read) -> None:
    stamps = "[1795228093.993389] " + reply(1, "0.302") + "[1795228094.101311] " + reply(2, "0.268")
    log = read(HEADER + stamps + summary(2, 2))
    assert list(log.samples[0].sent_ns) == [0, 107_956_000]
    assert log.tables.records("runs")[0]["started_at"] == "2026-11-21T02:28:13.993087Z"


def test_the_interval_of_the_command_gives_times_of_sending(read) -> None:
    log = read("$ ping -i 0.2 -c 2 10.2.2.4\n" + HEADER + reply(1) + reply(2) + summary(2, 2))
    assert list(log.samples[0].sent_ns) == [0, 200_000_000]
    assert list(read(HEADER + reply(1)).samples[0].sent_ns) == [None]


def test_windows_times_are_intervals(read) -> None:
    log = read(
        "Pinging 10.1.0.4 with 32 bytes of data:\r\n"
        "Reply from 10.1.0.4: bytes=32 time<1ms TTL=128\r\n"
        "Reply from 10.1.0.4: bytes=32 time=2ms TTL=128\r\n"
        "Request timed out.\r\n\r\n"
        "Ping statistics for 10.1.0.4:\r\n"
        "    Packets: Sent = 3, Received = 2, Lost = 1 (33% loss),\r\n"
        "Approximate round trip times in milli-seconds:\r\n"
        "    Minimum = 0ms, Maximum = 2ms, Average = 1ms\r\n"
    )
    samples = log.samples[0]
    assert list(samples.rtt_ns) == [None, 2_000_000, None]
    assert list(samples.low_ns) == [0, 2_000_000, None]
    assert list(samples.high_ns) == [1_000_000, 3_000_000, None]
    assert list(samples.status) == ["ok", "ok", "lost"]
    assert log.value("rtt_min") is None
    assert log.value("rtt_max") == 2_000_000
    assert log.codes() == ["below_resolution"]
    assert log.runs[0]["dialect"] == "windows-en"


def test_windows_counts_unreachable_as_received(read) -> None:
    log = read(
        "Pinging 10.0.0.6 with 32 bytes of data:\n"
        "Reply from 10.0.108.189: Destination host unreachable\n\n"
        "Ping statistics for 10.0.0.6:\n    Packets: Sent = 1, Received = 1, Lost = 0 (0% loss),\n"
    )
    assert (log.value("received"), log.value("lost"), log.value("loss")) == (0, 1, 1)
    assert "unreachable_counted_as_received" in log.codes("warning")


def test_a_wrong_translation_of_the_label_does_not_move_the_numbers(read) -> None:
    log = read(
        "PING 10.2.2.4 (10.2.2.4) 56(84) 字节的数据。\n\n--- 10.2.2.4 ping 统计 ---\n"
        "已发送 3 个包， 已接收 3 个包, 0% 包丢失, 耗时 213 毫秒\n"
        "rtt 最小/平均/移动平均/最大 = 0.034/0.039/0.045/0.004 ms\n"
    )
    assert [log.value(name) for name in ("rtt_min", "rtt_mean", "rtt_max")] == [34_000, 39_000, 45_000]
    assert log.codes() == ["label_conflict"]


def test_an_impossible_order_is_an_error(read) -> None:
    log = read(HEADER + summary(3, 3).replace("0.200/0.300/0.400", "0.500/0.300/0.400"))
    assert log.codes("error") == ["impossible_order"]


def test_adaptive_and_flood_pings_are_closed_loops(read) -> None:
    assert read(HEADER + reply(1)).runs[0]["closed_loop"] is False
    assert read("$ ping -A 10.2.2.4\n" + HEADER + reply(1)).runs[0]["closed_loop"] is True
    flood = summary(3, 3).replace("0.040 ms", "0.040 ms, ipg/ewma 0.218/0.166 ms")
    assert read(HEADER + flood).runs[0]["closed_loop"] is True


def test_two_summaries_without_headers_are_two_runs(read) -> None:
    log = read(summary(3, 3) + summary(5, 4, loss="20"))
    assert [log.value("sent", run) for run in (0, 1)] == [3, 5]


def test_many_plain_replies_are_read_as_one_by_one(read) -> None:
    lines = [reply(seq % 65536, f"0.{200 + seq % 700}") for seq in range(1, 70_000)]
    del lines[31_000]
    log = read(HEADER + "".join(lines))
    block = log.samples[0]
    assert len(block.seq) == 69_998
    assert block.seq[-1] == 69_999
    assert 31_001 not in block.seq
    assert list(block.rtt_ns[:2]) == [201_000, 202_000]
    assert block.rtt_ns[-1] == (200 + 69_999 % 700) * 1000


@pytest.mark.parametrize(
    "line",
    [
        "64 bytes from 10.2.2.4: icmp_seq=2 ttl=64 time=0.043 ms: some weird error",
        "64 bytes from 10.2.2.4: icmp_seq=2 ttl=64 time=0.043 m",
        "64 bytes from 10.2.2.4: icmp_seq=2 ttl=64 time=0,0,43 ms",
    ],
)
def test_odd_replies_are_unknown_lines(read, line: str) -> None:
    log = read(HEADER + reply(1) + line + "\n")
    assert log.unknown() == 1
    assert len(log.samples[0].seq) == 1
