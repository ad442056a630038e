from __future__ import annotations

import json

import pytest
from helpers.places import SHARED

CORPUS = SHARED / "corpus" / "generated" / "fping"
REPLIES = """\
10.2.2.4 : [0], 64 bytes, 0.304 ms (0.304 avg, 0% loss)
10.2.2.4 : [1], 64 bytes, 0.251 ms (0.277 avg, 0% loss)
10.2.2.4 : [2], timed out (0.277 avg, 33% loss)
"""
SUMMARY = "\n10.2.2.4 : xmt/rcv/%loss = 3/2/33%, min/avg/max = 0.251/0.277/0.304\n"


def test_each_host_is_a_run(read) -> None:
    log = read("10.2.2.4  : 0.304 0.251\n10.2.2.40 : 0.931 -\n")
    assert [row["server"] for row in log.runs] == ["10.2.2.4", "10.2.2.40"]
    assert [log.value("loss", run) for run in (0, 1)] == [0, 0.5]
    assert log.samples[1].rtt_ns == [931_000, None]
    assert log.samples[1].status == ["ok", "lost"]


def test_truncated_loss_percentages_are_recomputed_from_the_counts(read) -> None:
    log = read(REPLIES + SUMMARY)
    row = log.metric("loss")
    assert (row["value"], row["printed"]) == (pytest.approx(1 / 3), "33")
    assert log.codes() == ["loss_recomputed"]
    assert log.samples[0].status == ["ok", "ok", "lost"]
    assert log.runs[0]["status"] == "complete"


def test_a_loss_that_its_counts_deny_is_a_warning(read) -> None:
    log = read(SUMMARY.replace("33%", "10%"))
    assert log.value("loss") == pytest.approx(1 / 3)
    assert log.codes("warning") == ["loss_recomputed"]


def test_three_significant_digits(read) -> None:
    log = read("a : xmt/rcv/%loss = 3/3/0%, min/avg/max = 0.251/4.66/123\n")
    assert [log.metric(name)["resolution"] for name in ("rtt_min", "rtt_mean", "rtt_max")] == [500, 5_000, 500_000]


def test_a_host_without_any_reply(read) -> None:
    log = read("a : [0], timed out (NaN avg, 100% loss)\n\na : xmt/rcv/%loss = 1/0/100%\n")
    assert (log.value("loss"), log.value("rtt_mean")) == (1, None)
    assert log.samples[0].status == ["lost"]
    assert log.runs[0]["status"] == "complete"


def test_standard_output_alone_may_have_been_cut(read) -> None:
    log = read(REPLIES)
    assert log.runs[0]["status"] == "truncated"
    assert log.metric("rtt_mean")["printed"] == "0.277"
    assert log.value("sent") is None


def test_more_replies_than_probes(read) -> None:
    log = read("a : xmt/rcv/%return = 3/4/133%, min/avg/max = 0.251/0.277/0.304\n")
    assert log.value("loss") is None
    assert log.codes("warning") == ["more_received_than_sent"]


def test_a_list_that_its_lines_deny_is_an_error(read) -> None:
    log = read("a : [0], 64 bytes, 0.304 ms (0.304 avg, 0% loss)\n\na : 0.305 0.251\n")
    assert log.codes("error") == ["value_conflict"]


def test_a_list_longer_than_any_pattern_is_matched_against(read) -> None:
    log = read("a : " + " ".join(["0.304"] * 5000) + "\nb : " + " ".join(["-"] * 5000) + "\n")
    assert [log.value("received", run) for run in (0, 1)] == [5000, 0]


def test_a_list_cut_in_its_last_line_is_left_out(read) -> None:
    log = read("a : 5.93 7.82 4.54 8.1")
    assert log.runs == []
    cut = read("a : 5.93 7.82 4.54")
    assert cut.value("sent") is None
    assert "unfinished_line" in cut.codes("warning")
    assert read("a : 5.93 7.82\nb : 4.54 4.50").value("sent", 1) == 2


def test_stamps_are_those_of_the_reply(read) -> None:
    log = read("[1795228134.18716] a : [0], 64 bytes, 0.304 ms (0.304 avg, 0% loss)\n")
    assert log.runs[0]["started_at"].isoformat() == "2026-11-21T02:28:54.186856+00:00"


def test_blocks_have_a_clock_without_a_date(read) -> None:
    line = "a : xmt/rcv/%loss = {}/{}/0%, min/avg/max = 0.251/0.277/0.304\n"
    blocks = "[23:59:59]\n" + line.format(5, 5) + "[00:00:00]\n" + line.format(5, 5)
    log = read(blocks + line.format(12, 12))
    intervals = log.tables.rows["intervals"]
    assert [(row["start_ns"], row["end_ns"], row["datagrams"]) for row in intervals] == [
        (0, 10**9, 5),
        (10**9, 2 * 10**9, 5),
    ]
    assert log.value("sent") == 12
    assert read(blocks).value("sent") == 10
    assert read(blocks).metric("sent")["printed"] is None


def test_cumulative_blocks_are_not_intervals(read) -> None:
    line = "a : xmt/rcv/%loss = {0}/{0}/0%, min/avg/max = 0.251/0.277/0.304\n"
    log = read("[10:00:00]\n" + line.format(5) + "[10:00:01]\n" + line.format(10) + "[10:00:02]\n" + line.format(15))
    assert log.tables.rows["intervals"] == []
    assert (log.value("sent"), log.codes("info")) == (15, ["cumulative_blocks"])


def test_totals_of_all_hosts_that_do_not_add_up(read) -> None:
    totals = "\n 3 ICMP Echos sent\n 9 ICMP Echo Replies received\n 0.299 sec (elapsed real time)\n"
    assert "count_mismatch" in read(SUMMARY + totals).codes("warning")


def test_two_logs_of_the_same_host_are_two_runs(read) -> None:
    assert [row["status"] for row in read(REPLIES + SUMMARY + REPLIES + SUMMARY).runs] == ["complete"] * 2
    assert [row["status"] for row in read(REPLIES + REPLIES).runs] == ["truncated"] * 2
    assert len(read(SUMMARY + SUMMARY).runs) == 2
    lists = "a : 0.304 0.251\n"
    assert len(read(lists + lists).runs) == 2


def test_interval_of_the_command(read) -> None:
    log = read("$ fping -C 3 -q -p 20 -b 100 a\na : 0.304 0.251 -\n")
    assert log.samples[0].sent_ns == [0, 20_000_000, 40_000_000]
    assert log.runs[0]["message_bytes"] == 100


def test_nothing_but_an_error(read) -> None:
    log = read("fping: can't create socket (must run as root?)\n")
    assert (log.runs[0]["status"], log.codes("error")) == ("failed", ["failed"])


def test_statistics_on_standard_error_are_those_of_the_lines(read) -> None:
    if not CORPUS.is_dir():
        pytest.skip("the collected logs are not here")
    for name in ("C5", "c5", "s"):
        base = CORPUS / f"gen__{name}"
        expected = json.loads(base.with_suffix(".json").read_text())
        log = read(base.with_suffix(".log").read_text() + expected["stderr"])
        assert log.codes() == [], name
