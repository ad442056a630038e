from __future__ import annotations

import json
from pathlib import Path

import pytest
from helpers.logs import metric_values, read_text
from helpers.places import FIXTURES, SHARED

import azlatency as az
from azlatency.logs.parse import parse_source
from azlatency.logs.source.decode import source_from_bytes

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


def test_a_list_of_hosts_and_times(read) -> None:
    log = read("10.2.2.4 (0.304 ms)\n10.2.2.40 (12.1 ms)\n")
    assert [row["server"] for row in log.runs] == ["10.2.2.4", "10.2.2.40"]
    assert [list(block.rtt_ns) for block in log.samples] == [[304_000], [12_100_000]]


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


def test_two_decimals_below_one_millisecond(read) -> None:
    log = read("10.0.0.1 : xmt/rcv/%loss = 8/8/0%, min/avg/max = 0.29/0.38/0.51\n10.0.0.2 : xmt/rcv/%loss = 8/0/100%\n")
    assert [run["server"] for run in log.runs] == ["10.0.0.1", "10.0.0.2"]
    assert log.metric("rtt_mean")["value"] == 380_000
    assert log.metric("rtt_mean")["resolution"] == 5_000


def test_two_decimals_at_the_end_of_the_text_may_be_three(read) -> None:
    log = read("10.0.0.1 : xmt/rcv/%loss = 8/8/0%, min/avg/max = 0.290/0.380/0.51")
    assert log.value("rtt_max") is None
    whole = read("10.0.0.1 : xmt/rcv/%loss = 8/8/0%, min/avg/max = 0.29/0.38/0.51")
    assert whole.value("rtt_max") == 510_000


def test_the_version_is_not_a_failure(read) -> None:
    log = read(
        "$ fping -v\nfping: Version 3.13\nfping: comments to david@schweikert.ch\n$ fping -c 8 -q 10.0.0.1\n"
        "10.0.0.1 : xmt/rcv/%loss = 8/8/0%, min/avg/max = 0.29/0.38/0.51\n"
    )
    assert [run["status"] for run in log.runs] == ["complete"]


def block(sent: int, clock: str | None) -> str:
    stamp = f"[{clock}]\n" if clock else ""
    return f"{stamp}10.0.0.1 : xmt/rcv/%loss = {sent}/{sent}/0%, min/avg/max = 0.29/0.38/0.51\n"


def test_totals_behind_the_last_time_are_no_block(read) -> None:
    log = read("".join(block(5, f"10:00:0{second}") for second in (0, 5)) + "[10:00:10]\n" + block(10, None))
    assert [row["datagrams"] for row in log.tables.rows["intervals"]] == [5, 5]
    assert log.value("sent") == 10
    assert "total_without_block" in log.codes()


def test_a_summary_of_fewer_probes_than_its_blocks_lost_its_time(read) -> None:
    log = read(block(5, "10:00:00") + block(5, "10:00:05") + block(5, None) + block(5, "10:00:15"))
    assert log.codes("error") == ["count_mismatch"]
    assert log.runs[0]["status"] == "failed"


@pytest.mark.parametrize("extremes", ["0.300/0.310/0.330", "0.315/0.316/0.320"])
def test_extremes_are_compared_with_the_replies(read, extremes: str) -> None:
    replies = "".join(f"10.0.0.1 : [{seq}], 64 bytes, 0.3{seq + 1}0 ms (0.310 avg, 0% loss)\n" for seq in range(2))
    log = read(f"{replies}\n10.0.0.1 : xmt/rcv/%loss = 2/2/0%, min/avg/max = {extremes}\n")
    assert "summary_mismatch" in log.codes("error")
    assert log.runs[0]["status"] == "failed"


@pytest.mark.parametrize("host", ["[redacted]", "<IP Address>", "<host 1>"])
def test_placeholders_in_the_place_of_an_address(host: str) -> None:
    tables = read_text(
        f"{host} : [0], 84 bytes, 0.30 ms (0.30 avg, 0% loss)\n{host} : [1], 84 bytes, 0.50 ms (0.40 avg, 0% loss)\n\n"
        f"{host} : xmt/rcv/%loss = 2/2/0%, min/avg/max = 0.30/0.40/0.50\n"
    )
    assert [run["server"] for run in tables.rows["runs"]] == [host]
    assert metric_values(tables)["rtt_mean"] == 400_000
    assert list(tables.sample_blocks[0].rtt_ns) == [300_000, 500_000]


def test_a_duplicate_after_a_summary_belongs_to_the_next_session(read) -> None:
    once = "10.9.0.2 : duplicate for [1], 64 bytes, 3.26 ms\n10.9.0.2 : 3.10 2.64\n"
    log = read(once + once)
    assert [log.value("duplicates", run) for run in (0, 1)] == [1, 1]


def test_old_lists_have_two_decimals_of_any_time(tmp_path: Path) -> None:
    text = "10.0.0.9 : [0], 84 bytes, 12.9 ms (12.9 avg, 0% loss)\n\n10.0.0.9 : 12.92 6.46 -\n"
    (tmp_path / "a.log").write_text("10.0.0.9 : 6.46 9.67 12.92 112.05 -\n")
    (tmp_path / "b.log").write_text(text)
    logs = az.parse(tmp_path / "a.log")
    assert logs.samples["rtt_ns"].dropna().tolist() == [6_460_000, 9_670_000, 12_920_000, 112_050_000]
    assert "value_conflict" not in set(az.parse(tmp_path / "b.log").events["code"])


def test_totals_over_one_host_are_its_own(tmp_path: Path) -> None:
    text = (
        "10.0.0.9 : 6.46 9.67 12.92\n\n       1 targets\n       1 alive\n\n       3 ICMP Echos sent\n"
        "       3 ICMP Echo Replies received\n\n 6.46 ms (min round trip time)\n 9.68 ms (avg round trip time)\n"
        " 12.9 ms (max round trip time)\n        2.020 sec (elapsed real time)\n"
    )
    (tmp_path / "a.log").write_text(text)
    metrics = az.parse(tmp_path / "a.log").metrics.set_index("metric")["value"]
    assert (metrics["rtt_min"], metrics["rtt_mean"], metrics["rtt_max"]) == (6_460_000, 9_680_000, 12_900_000)


def test_a_log_of_blocks_that_stands_twice_is_no_run_of_both() -> None:
    path = FIXTURES / "fping" / "5.1-Q1-killed.log"
    raw = path.read_bytes()
    once, twice = (parse_source(source_from_bytes(text, path.name)) for text in (raw, raw + b"\n" + raw))
    assert [row["status"] for row in (*once.rows["runs"], *twice.rows["runs"])] == ["truncated", "failed"]
    assert "clock_step" in {event["code"] for event in twice.rows["events"]}
