"""wrk, wrk2 and the percentile tables of HdrHistogram."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from helpers.places import FIXTURES
from helpers.results import estimates_of

import azlatency as az

TABLE = """\
       Value     Percentile TotalCount 1/(1-Percentile)

     100.000 0.000000000000          1           1.00
     200.000 0.500000000000          5           2.00
     400.000 1.000000000000         10
#[Mean    =      250.000, StdDeviation   =      100.000]
#[Max     =      400.000, Total count    =           10]
#[Buckets =           24, SubBuckets     =         2048]
"""


def test_the_rows_of_a_table_bound_its_classes(tmp_path: Path) -> None:
    (tmp_path / "client.us.hgrm").write_text(TABLE)
    logs = az.parse(tmp_path / "client.us.hgrm")
    classes = [(row["low_ns"], row["high_ns"], row["count"]) for row in logs.records("histograms")]
    # The first class is one bucket (2/2048) and the last printed digit wide.
    assert classes == [(99_902, 100_000, 1), (100_000, 200_000, 4), (200_000, 400_000, 5)]
    (median,) = logs.records("quantiles")
    assert (median["q"], median["value_ns"], median["rank"], median["n"]) == (0.5, 200_000, 5, 10)
    (run,) = logs.records("runs")
    assert run["printed_as"] == "unknown" and run["status"] == "complete"


def test_a_table_without_a_unit_has_no_numbers(tmp_path: Path) -> None:
    (tmp_path / "client.hgrm").write_text(TABLE)
    logs = az.parse(tmp_path / "client.hgrm")
    assert not logs.records("metrics") and not logs.records("histograms")
    assert [event["code"] for event in logs.records("events")] == ["unit_unknown"]
    assert "client.us.hgrm" in logs.records("events")[0]["text"]


@pytest.mark.parametrize(
    ("old", "new", "code"),
    [
        ("     400.000 1.0", "     150.000 1.0", "not_monotone"),
        ("     400.000 1.000000000000         10\n", "", "count_mismatch"),
        ("#[Max", "#[max", "unknown_line"),
    ],
)
def test_damaged_tables_are_reported(tmp_path: Path, old: str, new: str, code: str) -> None:
    (tmp_path / "client.us.hgrm").write_text(TABLE.replace(old, new))
    logs = az.parse(tmp_path / "client.us.hgrm")
    assert code in [event["code"] for event in logs.records("events")]


def test_quantiles_of_a_histogram_are_those_of_the_recorded_values() -> None:
    """HdrHistogram itself gave p50 = 4.743 µs and p99 = 16.047 µs, each up to a bucket."""
    logs = az.parse(FIXTURES / "wrk" / "loopback-echo.us.hgrm")
    estimates = estimates_of(
        az.stats.printed_quantiles(logs.quantiles, logs.metrics, az.studies.frequency_tables(logs))
    )
    for q, value in ((0.5, 4743), (0.99, 16047)):
        (estimate,) = [one for one in estimates if one.labels["q"] == q]
        assert estimate.low is not None and estimate.high is not None and estimate.low <= value <= estimate.high
        assert estimate.estimate == pytest.approx(value, rel=0.02)


def test_the_second_table_of_wrk2_is_not_read() -> None:
    logs = az.parse(FIXTURES / "wrk" / "wrk2-U.log")
    assert sum(row["count"] for row in logs.records("histograms")) == 99
    assert az.latency(logs)["median_ns"].tolist() == [1_779_000]


def test_wrk2_without_requests_has_no_data(tmp_path: Path) -> None:
    (tmp_path / "wrk.log").write_text(
        "Running 10s test @ http://127.0.0.1:8080\n  1 threads and 1 connections\n"
        "  Thread Stats   Avg      Stdev     Max   +/- Stdev\n    Latency     -nanus    -nanus   0.00us    0.00%\n"
        "    Req/Sec       -nan      -nan   0.00      0.00%\n"
        "  Latency Distribution (HdrHistogram - Recorded Latency)\n 50.000%    0.00us\n\n"
        "  Detailed Percentile spectrum:\n       Value   Percentile   TotalCount 1/(1-Percentile)\n\n"
        "       0.000     1.000000            0          inf\n"
        "#[Mean    =         -nan, StdDeviation   =         -nan]\n"
        "#[Max     =        0.000, Total count    =            0]\n"
        "#[Buckets =           27, SubBuckets     =         2048]\n" + "-" * 58 + "\n"
        "  0 requests in 10.00s, 0.00B read\n"
        "  Socket errors: connect 0, read 92848, write 0, timeout 0\n"
        "Requests/sec:      0.00\nTransfer/sec:       0.00B\n"
    )
    logs = az.parse(tmp_path / "wrk.log")
    assert logs.records("runs")[0]["status"] == "no_data" and not logs.records("histograms")
    assert {event["code"] for event in logs.records("events")} == {"tool_error", "no_data"}


def test_a_table_below_a_log_of_wrk_is_not_its_table(tmp_path: Path) -> None:
    text = (FIXTURES / "wrk" / "4.1.0-latency.log").read_text() + TABLE
    (tmp_path / "wrk.log").write_text(text)
    logs = az.parse(tmp_path / "wrk.log")
    assert not logs.records("histograms")
    assert [event["code"] for event in logs.records("events")] == ["table_without_title"]
    assert {row["metric"]: row["value"] for row in logs.records("metrics")}["rtt_mean"] == 4_630_000


def test_text_above_a_log_does_not_make_it_a_table(read) -> None:
    log = (FIXTURES / "wrk" / "4.1.0-latency.log").read_text("utf-8")
    above, below = read("500 connections:\n" + log), read(log)
    assert below.value("rtt_mean") is not None
    assert (above.value("rtt_mean"), above.runs[0]["status"]) == (below.value("rtt_mean"), "complete")


def test_a_rate_in_the_command_makes_it_wrk2(read) -> None:
    log = (FIXTURES / "wrk" / "4.1.0-latency.log").read_text("utf-8")
    [run] = read("wrk -t2 -R1000 -s a.lua http://10.0.0.1/\n" + log).runs
    assert (run["dialect"], run["closed_loop"], run["settings"]) == ("wrk2", False, "rate 1000; script a.lua")


def test_durations_and_times_in_minutes(read) -> None:
    log = (FIXTURES / "wrk" / "4.1.0-latency.log").read_text("utf-8")
    changed = re.sub(r"(Latency +\S+ +\S+ +)\S+", r"\g<1>1.50m", re.sub(r"Running \S+ test", "Running 2m test", log))
    result = read(changed)
    assert result.runs[0]["requested_duration_ns"] == 120 * 10**9
    assert result.value("rtt_max") == 90 * 10**9


@pytest.mark.parametrize(
    ("printed", "false"), [("5091 requests", "9091 requests"), ("in 3.06s", "in 8.06s"), ("1663.98", "1963.98")]
)
def test_a_rate_that_requests_and_time_contradict_fails_the_run(tmp_path: Path, printed: str, false: str) -> None:
    log = (FIXTURES / "wrk" / "4.1.0-latency.log").read_text("utf-8")
    assert log.count(printed) == 1
    (tmp_path / "a.log").write_text(log.replace(printed, false), "utf-8")
    logs = az.parse(tmp_path / "a.log")
    assert [run["status"] for run in logs.records("runs")] == ["failed"]
    assert [event["code"] for event in logs.records("events")] == ["rate_mismatch"]


@pytest.mark.parametrize(
    ("old", "new", "code"),
    [
        ("Mean    =       10.294", "Mean    =       18.294", "summary_mismatch"),
        ("Max     =       39.264", "Max     =       39.764", "summary_mismatch"),
        ("Latency    10.29ms", "Latency    18.29ms", "summary_mismatch"),
        ("39.26ms   68.50%", "49.26ms   68.50%", "summary_mismatch"),
        (" 75.000%   14.08ms", " 75.000%   17.08ms", "summary_mismatch"),
        ("0.600000          120", "0.600000          118", "count_mismatch"),
        ("0.600000          120", "0.690000          120", "count_mismatch"),
        ("34.143     0.993750", "34.943     0.993750", "not_monotone"),
    ],
)
def test_a_number_that_the_table_contradicts_fails_the_run(read, old: str, new: str, code: str) -> None:
    text = (FIXTURES / "wrk" / "wrk2-L.log").read_text("utf-8")
    assert old in text and read(text).runs[0]["status"] == "complete"
    log = read(text.replace(old, new, 1))
    assert log.runs[0]["status"] == "failed" and code in log.codes("error")
