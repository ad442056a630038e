from __future__ import annotations

import pytest
from helpers.logs import first_run, read_text
from helpers.places import FIXTURES, SHARED

import azlatency as az

PUBLIC = SHARED / "corpus" / "public" / "lagscope"
STATISTICS = """\
lagscope 1.0.1
---------------------------------------------------------
{} INFO: New connection: local:25001 [socket:3] --> 10.2.2.4:6001
{} INFO: TEST COMPLETED.
{} INFO: Ping statistics for 10.2.2.4:
{} INFO: \t  Number of successful Pings: {}
{} INFO: \t  Minimum = 135.500us, Maximum = 9644.250us, Average = 294.313us
"""
PERCENTILES = """
Percentile\t Latency(us)
     50% \t 295
     75% \t 345
     90% \t 362
     95% \t 376
     99% \t 404
   99.9% \t 620
  99.99% \t 135
 99.999% \t 2654
"""


def statistics(pings: int, begin: str = "02:06:15", end: str = "02:11:12") -> str:
    return STATISTICS.format(begin, end, end, end, pings, end)


def public(name: str) -> az.Logs:
    path = PUBLIC / name
    if not path.exists():
        pytest.skip("the collected logs are not here")
    return az.parse(path)


def test_g1_the_exit_status_says_nothing(read) -> None:
    log = read(
        "lagscope 1.0.1\n01:52:07 ERR : failed to connect to receiver: 127.0.0.1:16999 on socket: 3. errno = 111\n"
    )
    assert log.runs[0]["status"] == "failed"
    assert "errno = 111" in log.tables.rows["events"][0]["text"]


def test_g3_percentiles_are_cut_to_whole_microseconds(read) -> None:
    log = read(statistics(3000) + PERCENTILES.replace("295", "135").replace("\t 135\n 99.999", "\t 2000\n 99.999"))
    row = log.tables.rows["quantiles"][0]
    assert (row["value_ns"], row["resolution_ns"], row["printed"]) == (135_000, 1000, "135")
    assert row["value_ns"] < log.value("rtt_min")
    assert "floored" in log.codes("info")
    assert "not_monotone" not in log.codes()


def test_g4_a_percentile_that_breaks_the_order_is_refused(read) -> None:
    log = read(statistics(1_000_000) + PERCENTILES)
    assert log.codes("warning") == ["not_monotone"]
    assert [row["q"] for row in log.tables.rows["quantiles"]] == [0.5, 0.75, 0.9, 0.95, 0.99, 0.999, 0.99999]
    assert "99.99 = 135 us" in next(row["text"] for row in log.tables.rows["events"] if row["code"] == "not_monotone")


@pytest.mark.parametrize(("begin", "end"), [("10:00:00", "10:04:50"), ("23:58:00", "00:02:50")])
def test_g5_more_pings_than_the_time_has_room_for(read, begin: str, end: str) -> None:
    assert read(statistics(1_000_000, begin, end)).codes("error") == ["impossible_duration"]
    log = read(statistics(985_000, begin, end))
    assert log.codes("error") == []
    assert (log.value("elapsed"), log.metric("elapsed")["resolution"]) == (290e9, 1e9)
    assert log.runs[0].get("duration_ns") is None


def test_g6_the_first_row_is_the_range_below_and_the_last_is_open(read) -> None:
    rows = "\nInterval(usec)\t Frequency\n      0 \t 0\n     30 \t 7\n     45 \t 3\n     60 \t 2\n"
    log = read(statistics(12) + rows)
    edges = [(row["low_ns"], row["high_ns"], row["count"]) for row in log.tables.rows["histograms"]]
    assert edges == [(0, 30_000, 0), (30_000, 45_000, 7), (45_000, 60_000, 3), (60_000, None, 2)]
    assert "count_mismatch" not in log.codes()
    assert "count_mismatch" in read(statistics(13) + rows).codes("warning")


def test_rows_left_out_by_hand(read) -> None:
    rows = "\nInterval(usec)\t Frequency\n      0 \t 0\n     30 \t 7\n     45 \t 3\n     ...\n     90 \t 2\n"
    log = read(statistics(12) + rows)
    assert [row["high_ns"] for row in log.tables.rows["histograms"]] == [30_000, 45_000, 60_000, None]
    assert log.codes("warning") == ["count_mismatch"]


def test_g8_the_table_stands_on_either_side_of_the_dump_line(read) -> None:
    dump = "02:11:12 INFO: Dumping latency frequency table into json file: a.json\n"
    table = PERCENTILES.replace(" 135\n", " 700\n")
    before, after = read(statistics(3000) + dump + table), read(statistics(3000) + table + dump)
    assert before.quantile(0.99) == after.quantile(0.99) == 404_000
    assert before.unknown() == after.unknown() == 0


def test_g9_the_first_ping_carries_the_warm_up(read) -> None:
    reply = "02:11:1{} DBG : Reply from 10.2.2.4: bytes=4 time={}us\n"
    log = read("lagscope 1.0.1\n" + reply.format(0, "6497.000") + reply.format(0, "68.250"))
    assert list(log.samples[0].rtt_ns) == [6_497_000, 68_250]
    assert "first_ping_is_warmup" in log.codes("info")


def test_an_order_statistic_as_the_tool_counts_it(read) -> None:
    log = read(statistics(3000) + PERCENTILES.replace(" 135\n", " 2654\n"))
    assert [row["rank"] for row in log.tables.rows["quantiles"]] == [1500, 2250, 2700, 2850, 2970, 2997, 3000, 3000]
    assert log.codes().count("percentile_is_max") == 2


def test_progress_glued_to_the_next_line(read) -> None:
    text = statistics(500).replace(
        "02:11:12 INFO: TEST", "10.2.2.4: 98% completed.\r10.2.2.4: 99% completed.\r02:11:12 INFO: TEST"
    )
    log = read(text)
    assert (log.unknown(), log.value("elapsed")) == (0, 297e9)


def test_ctrl_c(read) -> None:
    log = read(
        statistics(500).replace("02:11:12 INFO: TEST", "02:11:12 INFO: Interrupted by Ctrl+C\n02:11:12 INFO: TEST")
    )
    assert (log.runs[0]["status"], log.codes("warning")) == ("interrupted", ["interrupted"])


def test_csv_samples_are_known_to_the_microsecond(read) -> None:
    log = read("Index, Latency(us)\n0, 239\n1, 223\n", "raw.csv")
    block = log.samples[0]
    assert (list(block.rtt_ns), block.high_ns) == ([239_000, 223_000], [240_000, 224_000])
    gap = read("Index, Latency(us)\n0, 239\n2, 223\n", "raw.csv")
    assert gap.codes("warning") == ["lines_missing"]
    cut = read("Index, Latency(us)\n0, 239\n1, 22", "raw.csv")
    assert (list(cut.samples[0].rtt_ns), cut.codes("warning")) == ([239_000], ["unfinished_line"])


def test_a_frequency_table_cut_in_the_middle(read) -> None:
    whole = (
        '{\n\t"latencies":[\n\t\t{\n\t\t\t"latency": 188,\n\t\t\t"frequency": 2\n\t\t},\n\t\t{\n\t\t\t"latency": 189,\n'
    )
    log = read(whole, "freq.json")
    assert (log.runs[0]["status"], log.value("observations")) == ("truncated", None)
    assert [(row["low_ns"], row["high_ns"], row["count"]) for row in log.tables.rows["histograms"]] == [
        (188_000, 189_000, 2)
    ]


def test_published_tables() -> None:
    # latte prints the same titles; a bare table may be of either.
    assert public("lisa__hist_15us.log").rows["runs"] == []
    refused = [row for row in public("lisa__percentile_1.0.1.log").rows["events"] if row["code"] == "not_monotone"]
    assert len(refused) == 1
    assert {row["q"] for row in public("readme__percentile_0.1.2.log").rows["quantiles"]} >= {0.5, 0.99999}
    shown = public("readme__hist_0.1.1.log")
    assert shown.rows["runs"][0]["client"] == "NODE2"
    assert "count_mismatch" in {row["code"] for row in shown.rows["events"]}


LAGSCOPE = "lagscope 1.0.1\n---------------------------------------------------------\n"


def test_times_are_multiples_of_the_clock_resolution() -> None:
    tables = read_text(
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


def test_a_help_text_is_a_truncated_log() -> None:
    """``lagscope -p 16001``, with a blank, prints its usage."""
    tables = read_text(
        LAGSCOPE + "Usage: lagscope -[r|s|D|f|6|u|p|b|B|z|t|n|i|R|P|H|a|l|c|V|h]\n\t-p   [port number]\n"
    )
    assert (first_run(tables)["status"], tables.rows["metrics"]) == ("truncated", [])
    assert [row["severity"] for row in tables.rows["events"] if row["code"] == "truncated"] == ["error"]


@pytest.mark.parametrize("printed", ["Minimum = 48.250us", "Maximum = 6497.000us", "Average = 616.725us"])
@pytest.mark.parametrize("digit", [-3, -5, -7])
def test_a_statistic_that_the_replies_contradict_is_told(printed: str, digit: int) -> None:
    text = (FIXTURES / "lagscope" / "1.0.1-V.log").read_text("utf-8")
    assert [row for row in read_text(text).rows["events"] if row["severity"] == "error"] == []
    at = text.index(printed) + len(printed) + digit
    tables = read_text(text[:at] + str((int(text[at]) + 5) % 10) + text[at + 1 :])
    line = text[:at].count("\n") + 1
    errors = [row for row in tables.rows["events"] if row["severity"] == "error"]
    assert ("value_conflict", line) in [(row["code"], row["line"]) for row in errors]
    assert first_run(tables)["status"] == "failed"
