from __future__ import annotations

HEADER = "HPING 10.2.3.4 (eth0 10.2.3.4): S set, 40 headers + 0 data bytes\n"
REPLY = "len=44 ip=10.2.3.4 ttl=64 DF id=0 sport=22 flags=SA seq={} win=64240 rtt={} ms\n"
REPLIES = REPLY.format(0, 3.6) + REPLY.format(1, 3.4) + REPLY.format(2, 7.2)
SUMMARY = """
--- 10.2.3.4 hping statistic ---
3 packets transmitted, 3 packets received, 0% packet loss
round-trip min/avg/max = 3.4/4.7/7.2 ms
"""


def test_a_reply_is_a_round_trip_with_one_decimal(read) -> None:
    log = read(HEADER + REPLIES + SUMMARY)
    assert list(log.samples[0].rtt_ns) == [3_600_000, 3_400_000, 7_200_000]
    assert log.metric("rtt_mean")["resolution"] == 50_000
    assert not log.codes()


def test_a_summary_above_its_replies_is_the_same_run(read) -> None:
    log = read(SUMMARY + HEADER + REPLIES)
    assert [run["status"] for run in log.runs] == ["complete"]


def test_two_runs_in_one_file(read) -> None:
    assert len(read((HEADER + REPLIES + SUMMARY) * 2).runs) == 2
    assert len(read(SUMMARY + HEADER + REPLIES + SUMMARY).runs) == 2


def test_a_ping_below_is_read_by_ping(read) -> None:
    ping = (
        "PING 10.2.3.5 (10.2.3.5): 56 data bytes\n64 bytes from 10.2.3.5: seq=0 ttl=64 time=1.000 ms\n\n"
        "--- 10.2.3.5 ping statistics ---\n1 packets transmitted, 1 packets received, 0% packet loss\n"
        "round-trip min/avg/max = 1.000/1.000/1.000 ms\n"
    )
    assert [run["tool"] for run in read(HEADER + REPLIES + SUMMARY + "\n" + ping).runs] == ["hping3", "ping"]


def test_the_spelling_of_old_versions(read) -> None:
    assert read(HEADER + REPLIES + SUMMARY.replace("transmitted", "tramitted")).value("sent") == 3


def test_a_short_identification_is_padded(read) -> None:
    log = read(HEADER + REPLIES.replace("id=0 ", "id=6788  ") + SUMMARY)
    assert log.samples[0].status.count("ok") == 3
    assert not log.codes("warning")


def test_a_listener_is_no_ping(read) -> None:
    text = (
        "hping3 listen mode\n[main] memlockall(): Success\n\n---  hping statistic ---\n"
        "0 packets transmitted, 0 packets received, 0% packet loss\nround-trip min/avg/max = 0.0/0.0/0.0 ms\n"
    )
    log = read(text)
    assert [run["tool"] for run in log.runs] == ["hping3"]
    assert not [name for name in ("rtt_min", "rtt_mean", "rtt_max") if log.metric(name) is not None]


def test_the_statistic_of_a_further_run_is_told(read) -> None:
    log = read(HEADER + REPLIES + SUMMARY + "\n--- 10.2.3.9 hping statistic ---\n")
    assert log.codes("warning") == ["unknown_line"]


def test_duplicates_are_not_replies(read) -> None:
    text = HEADER + REPLY.format(0, 3.4) + "DUP! " + REPLY.format(0, 7.2) + REPLY.format(2, 3.6) + SUMMARY
    log = read(text)
    assert [log.value(name) for name in ("received", "duplicates", "lost")] == [3, 1, 1]
    assert list(log.samples[0].status) == ["ok", "duplicate", "lost", "ok"]


def test_replies_are_sorted_by_their_numbers(read) -> None:
    """A late reply is none of the duplicates, and a probe whose only reply is marked as one has no time of its own."""
    replies = "".join(map(REPLY.format, (1, 4, 2, 4, 5), (0.1, 0.2, 0.3, 0.4, 0.5)))
    text = HEADER + replies + "DUP! " + REPLY.format(3, 0.6) + SUMMARY.replace("3 packets", "6 packets")
    (samples,) = read(text).samples
    assert list(samples.seq) == [0, 1, 2, 3, 3, 4, 4, 5]
    assert list(samples.status) == ["lost", "ok", "ok", "duplicate", "lost", "ok", "duplicate", "ok"]
    assert list(samples.rtt_ns)[1:4] == [100_000, 300_000, 600_000]


def test_a_reply_with_a_second_too_much_is_a_warning(read) -> None:
    log = read(HEADER + REPLIES.replace("7.2", "1004.1") + SUMMARY.replace("7.2", "1004.1"))
    assert log.codes("warning") == ["second_added"]


def test_numbers_that_contradict_each_other(read) -> None:
    assert "summary_mismatch" in read(HEADER + REPLIES + SUMMARY.replace("7.2", "8.2")).codes("error")
    assert "loss_mismatch" in read(SUMMARY.replace("0%", "5%")).codes("error")
    assert "count_mismatch" in read(HEADER + REPLY.format(0, 3.6) + SUMMARY).codes("warning")


def test_numbers_of_icmp_that_start_again_are_of_later_probes(read) -> None:
    """ICMP counts in 16 bits: the probe after 65535 prints 0."""
    reply = "len=28 ip=10.2.3.4 ttl=64 id=1 icmp_seq={} rtt=0.{} ms\n"
    numbers = (1, 2, 40_000, 65_534, 65_535, 1, 2)
    log = read(HEADER.replace("S set", "icmp mode set") + "".join(map(reply.format, numbers, range(7))))
    assert list(log.samples[0].seq) == [1, 2, 40_000, 65_534, 65_535, 65_537, 65_538]
    assert list(log.samples[0].status) == ["ok"] * 7
