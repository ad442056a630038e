"""fio: cut and joined logs, and the quirks of its formats."""

from __future__ import annotations

import json
import re
import time
from pathlib import Path
from typing import Any

import pytest
from helpers.cases import thinned
from helpers.cut_logs import (
    METRICS,
    assert_cuts_add_no_rows,
    assert_joined_logs_keep_both_runs,
    event_code_set,
    read_log,
    rows_by_run,
)
from helpers.places import FIXTURES, SHARED

import azlatency as az
from azlatency.logs.parse import parse_source
from azlatency.logs.parsers.fio.latency_log import bucket_at
from azlatency.logs.parsers.fio.numbers import bucket_of
from azlatency.logs.recognise.claims import find_claims
from azlatency.logs.source.decode import source_from_bytes

FIXTURES = FIXTURES / "fio"
LOGS = sorted(path for path in FIXTURES.iterdir() if not path.name.endswith(".expected.json"))
CUTS = 60
LOUD = {"truncated", "failed", "no_data", "malformed", "not_recognised"}


def fixture(name: str) -> str:
    return source_from_bytes((FIXTURES / name).read_bytes(), name).text


def value(tables: az.Logs, name: str, stream: str | None = None, run: int = 0, column: str = "value") -> Any:
    run_id = tables.records("runs")[run]["run_id"]
    rows = [m for m in tables.records("metrics") if (m["run_id"], m["metric"], m["stream"]) == (run_id, name, stream)]
    return rows[0][column] if rows else None


# --- cut and joined


@pytest.mark.costly
@pytest.mark.parametrize("path", thinned(LOGS, 3), ids=lambda path: path.name)
def test_a_cut_log_gives_no_wrong_number(path: Path) -> None:
    text = fixture(path.name)
    lines = text.splitlines(keepends=True)
    whole = read_log(text, path.name)
    single = path.name.startswith("3.28-single")  # its numbers are those of as many I/Os as there are lines
    for length in sorted({1 + step * (len(lines) - 1) // CUTS for step in range(CUTS + 1)}):
        part = read_log("".join(lines[:length]), path.name)
        assert "parser_failed" not in event_code_set(part)
        if not single:
            assert rows_by_run(part, "metrics", METRICS) <= rows_by_run(whole, "metrics", METRICS), (
                f"cut after line {length}"
            )
        names = ("metric", "stream", "q", "value_ns", "resolution_ns")
        assert rows_by_run(part, "quantiles", names) <= rows_by_run(whole, "quantiles", names), (
            f"cut after line {length}"
        )


@pytest.mark.costly
@pytest.mark.parametrize(
    "name", ["3.33-randread-4k.txt", "2.21-read-16k.log", "3.33-randrw-4k.json", "3.33-randread-4k.terse"]
)
def test_a_number_cut_in_the_middle_is_left_out(name: str) -> None:
    text = fixture(name)
    tables = {"metrics": METRICS, "quantiles": ("metric", "stream", "q", "value_ns")}
    decimals = [match.end() for match in re.finditer(r"\d\.", text)][10::20]
    assert_cuts_add_no_rows(text, [*range(len(text) // 8, len(text) - 1, 31), *decimals], tables=tables)


@pytest.mark.parametrize("name", ["3.33-randread-4k.txt", "3.33-randrw-4k.json", "3.33-randread-bins.json"])
def test_a_job_cut_after_any_line_has_an_event(name: str) -> None:
    lines = fixture(name).splitlines(keepends=True)
    last = next(i for i, line in enumerate(lines) if "issued rwts" in line or '"usr_cpu"' in line)
    for length in sorted({*range(6, last, 4), *range(max(6, last - 20), last)}):
        assert event_code_set(read_log("".join(lines[:length]))) & LOUD, f"cut after line {length}"


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("3.33-randread-4k.txt", "3.33-randrw-4k.txt"),
        ("3.33-randread-4k.txt", "3.33-randread-4k.txt"),
        ("3.33-interrupted.txt", "3.16-randwrite-4k.txt"),
        ("3.33-randrw-4k.json", "3.33-randrw-4k.json"),
        ("3.33-interrupted.json", "2.21-read-16k.json"),
        ("3.33-randread-4k.txt", "3.33-randrw-4k.json"),
        ("3.33-error.json", "2.21-read-16k.log"),
        ("3.33-randread-4k.terse", "3.33-randread-4k.terse"),
    ],
)
def test_two_logs_in_one_file_give_the_runs_of_both(first: str, second: str) -> None:
    assert_joined_logs_keep_both_runs(
        fixture(first), fixture(second), ("tool_version", "status", "test", "duration_ns")
    )


def test_a_cut_second_job_of_the_same_name_has_an_event() -> None:
    text = fixture("3.33-randread-4k.txt")
    tables = read_log(text + "".join(text.splitlines(keepends=True)[:4]))
    assert [run["status"] for run in tables.records("runs")] == ["complete", "truncated"]


# --- units and numbers


def with_rate(rate: str) -> az.Logs:
    text = fixture("3.33-randread-4k.txt")
    return read_log(text.replace("BW=106MiB/s (111MB/s)(529MiB/5001msec)", rate))


def test_kb_base_1000_swaps_the_pair() -> None:
    tables = with_rate("BW=111MB/s (106MiB/s)(555MB/5001msec)")
    assert value(tables, "bandwidth", "read") == pytest.approx(555e6 / 5.001)
    assert value(tables, "bandwidth", "read", column="printed_unit") == "MB/s"
    assert value(tables, "transferred", "read") == 555e6
    assert not event_code_set(tables)


def test_unit_base_1_prints_bits() -> None:
    tables = with_rate("BW=848Mibit/s (889Mbit/s)(529MiB/5001msec)")
    assert value(tables, "bandwidth", "read") == pytest.approx(848 * 2**20 / 8, rel=1e-3)
    assert value(tables, "bandwidth_mean", "read") == 106223.56 * 1024  # the samples stay bytes
    assert not event_code_set(tables)


def test_two_spellings_of_a_rate_that_differ_are_reported() -> None:
    assert "unit_conflict" in event_code_set(with_rate("BW=106MiB/s (106MB/s)(529MiB/5001msec)"))


def test_a_rate_that_contradicts_bytes_and_time_is_reported() -> None:
    tables = with_rate("BW=206MiB/s (216MB/s)(529MiB/5001msec)")
    assert "rate_mismatch" in event_code_set(tables)
    assert value(tables, "bandwidth", "read") == 206 * 2**20


OLD = """randread: (g=0): rw=randread, bs=4K-4K/4K-4K/4K-4K, ioengine=libaio, iodepth=16
...
fio-2.2.10
Starting 8 processes

randread: (groupid=0, jobs=8): err= 0: pid=2613: Fri Apr  7 18:42:49 2017
  read : io=4096.0MB, bw=611058KB/s, iops=152764, runt=  6864msec
    slat (usec): min=1, max=1841.1K, avg= 3.72, stdev=61.46
    clat percentiles (usec):
     |  1.00th=[   68],  5.00th=[   96], 10.00th=[  197], 99.99th=[19328]
    bw (KB  /s): min=61984, max=86376, per=12.55%, avg=76665.15, stdev=7193.34
  cpu          : usr=3.28%, sys=7.99%, ctx=60641, majf=0, minf=200
     issued    : total=r=1048576/w=0/d=0, short=r=0/w=0/d=0, drop=r=0/w=0/d=0
"""


def test_the_kb_of_version_2_2_is_1024_bytes() -> None:
    tables = read_log(OLD)
    assert value(tables, "bandwidth", "read") == 611058 * 1024
    assert value(tables, "transferred", "read") == 4096 * 2**20
    assert value(tables, "iops", "read") == 152764
    assert value(tables, "submission_latency_max", "read") == pytest.approx(1841.1e6)
    assert tables.records("runs")[0]["message_bytes"] == 4096


def test_samples_of_version_2_2_are_of_one_job() -> None:
    tables = read_log(OLD)
    assert value(tables, "bandwidth_mean", "read") == 76665.15 * 1024
    assert value(tables, "bandwidth_mean", "read", column="scope") == "process"
    assert value(tables, "bandwidth", "read", column="scope") == "run"
    assert "per_job_samples" in event_code_set(tables)


def test_the_share_of_2_21_that_is_off_by_1000_is_not_stored() -> None:
    metrics = {row["metric"] for row in read_log(fixture("2.21-read-16k.log")).records("metrics")}
    assert not any("per" in name.split("_") or "agg" in name for name in metrics)


def test_io_bytes_before_2_21_are_kib() -> None:
    document = json.loads(fixture("2.21-read-16k.json"))
    document["fio version"] = "fio-2.17"
    job = document["jobs"][0]["read"]
    size = job.pop("io_kbytes")
    job["io_bytes"] = size
    tables = read_log(json.dumps(document, indent=2))
    assert value(tables, "transferred", "read") == size * 1024
    assert value(tables, "transferred", "read", column="printed") == str(size)
    job["io_bytes"] = size // 7
    tables = read_log(json.dumps(document, indent=2))
    assert value(tables, "transferred", "read") is None
    assert "unit_ambiguous" in event_code_set(tables)


def test_bandwidth_of_old_documents_is_kib() -> None:
    tables = read_log(fixture("2.21-read-16k.json"))
    assert value(tables, "bandwidth", "read") == 2794370 * 1024


def test_different_block_sizes_give_no_message_size() -> None:
    text = fixture("3.33-randread-4k.txt").replace("bs=(R) 4096B-4096B", "bs=(R) 4096B-16.0KiB")
    assert read_log(text).records("runs")[0]["message_bytes"] is None


# --- percentiles


def test_percentiles_are_the_middle_of_their_bucket() -> None:
    tables = read_log(fixture("3.33-randread-bins.json"))
    rows = {row["q"]: row for row in tables.records("quantiles")}
    buckets = tables.records("histograms")
    n = sum(row["count"] for row in buckets)
    assert n == 109418
    for q, row in rows.items():
        below = 0
        for bucket in buckets:
            below += bucket["count"]
            if below >= q * n - 1e-6:
                assert bucket["low_ns"] <= row["value_ns"] < bucket["high_ns"]
                assert row["resolution_ns"] == (bucket["high_ns"] - bucket["low_ns"]) / 2
                break


def test_buckets_by_value_and_by_index_are_the_same() -> None:
    for index in range(1856):
        bucket = bucket_at(index)
        assert bucket_of(bucket.low) == bucket == bucket_of(bucket.high - 1)
    assert bucket_at(127).half == 0 and bucket_at(128).half == 1


def test_jobs_of_the_same_name_in_a_document_are_runs() -> None:
    """``numjobs=2`` without ``group_reporting``: the second of the jobs looks like a later report of the first."""
    document = json.loads(fixture("3.33-randrw-4k.json"))
    (job,) = document["jobs"]
    longer = json.loads(json.dumps(job))
    for name in ("read", "write"):
        longer[name]["runtime"] += 10_000
        longer[name]["io_bytes"] += 10**9
    document["jobs"] = [job, longer]
    tables = read_log(json.dumps(document, indent=2) + "\n")
    assert len(tables.records("runs")) == 2
    assert not tables.records("intervals")


def test_a_runtime_that_is_no_time_is_left_out() -> None:
    text = re.sub(r'"runtime" : \d+', '"runtime" : 99999999999999', fixture("3.33-randrw-4k.json"))
    runs = read_log(text).records("runs")
    assert [(row["status"], row["duration_ns"]) for row in runs] == [("complete", None)]


def test_unused_percentiles_are_not_stored() -> None:
    text = fixture("2.21-read-16k.json").replace('"99.990000"', '"0.00" : 0,\n            "99.990000"')
    assert all(row["q"] > 0 for row in read_log(text).records("quantiles"))


def test_bins_that_do_not_add_up_are_reported() -> None:
    text = fixture("3.33-randread-bins.json").replace('"346112" : 1,', '"346112" : 3,')
    assert "value_conflict" in event_code_set(read_log(text))


def test_a_bin_without_a_latency_is_left_out() -> None:
    whole = fixture("3.33-randread-bins.json")
    tables, usual = read_log(whole.replace('"346112" : 1,', '"" : 1,')), read_log(whole)
    assert event_code_set(tables) - event_code_set(usual) == {"value_conflict"}
    lows, usual_lows = ([row["low_ns"] for row in each.records("histograms")] for each in (tables, usual))
    assert lows == usual_lows[1:]


# --- documents


def snapshot(seconds: int) -> str:
    document = json.loads(fixture("3.16-randread-4k.json"))
    job = document["jobs"][0]
    document["timestamp"] += seconds
    job["elapsed"] += seconds
    for key in ("io_bytes", "total_ios", "runtime"):
        job["read"][key] += job["read"][key] * seconds // 5
    return json.dumps(document, indent=2) + "\n"


def test_documents_of_status_interval_are_one_run() -> None:
    tables = read_log(snapshot(0) + snapshot(5) + snapshot(10))
    assert len(tables.records("runs")) == 1
    assert value(tables, "transferred", "read") == 3 * 731426816
    assert [row["bytes"] for row in tables.records("intervals")] == [731426816] * 3
    assert {row["throughput_bit_s"] for row in tables.records("intervals")} == {None}
    assert "status_snapshot" in event_code_set(tables)


def test_the_same_test_run_twice_is_two_runs() -> None:
    later = json.loads(fixture("3.16-randread-4k.json"))
    later["timestamp"] += 60
    later["jobs"][0]["read"]["runtime"] += 1
    assert len(read_log(fixture("3.16-randread-4k.json") + json.dumps(later, indent=1) + "\n").records("runs")) == 2


def test_text_of_status_interval_is_one_run() -> None:
    text = fixture("3.33-randread-4k.txt")
    early = text[: text.index("Run status group")]
    early = early.replace("(529MiB/5001msec)", "(211MiB/2000msec)").replace("135448", "54000")
    late = text[text.index("raid0: (groupid") :]
    tables = read_log(early + late)
    assert len(tables.records("runs")) == 1
    assert value(tables, "issued", "read") == 135448
    assert [row["end_ns"] for row in tables.records("intervals")] == [2_000_000_000, 5_001_000_000]


def test_text_and_document_of_one_run_are_one_run() -> None:
    tables = read_log(fixture("3.33-normal-and-json.txt"))
    assert len(tables.records("runs")) == 1
    assert value(tables, "iops", "read", column="printed") == "25945.410918"


def test_a_job_with_an_error_is_failed_though_it_looks_complete() -> None:
    tables = read_log(fixture("3.33-error.json"))
    assert tables.records("runs")[0]["status"] == "failed"
    assert not tables.records("metrics")


def test_an_error_in_the_text_is_failed() -> None:
    text = fixture("3.33-randread-4k.txt").replace(
        "err= 0:", "err= 5 (file:io_u.c:1845, func=io_u error, error=Input/output error):"
    )
    tables = read_log(text)
    assert tables.records("runs")[0]["status"] == "failed"
    assert "failed" in event_code_set(tables)
    assert tables.records("sources")[0]["lines_unknown"] == 0


def test_the_value_for_an_unknown_end_is_not_a_duration() -> None:
    tables = read_log(fixture("2.21-read-16k.json"))
    assert tables.records("runs")[0]["duration_ns"] == 1_009_000_000


def test_all_clients_is_not_stored_as_a_run() -> None:
    document = json.loads(fixture("3.16-randread-4k.json"))
    job = document.pop("jobs")[0]
    document["client_stats"] = [{**job, "hostname": name} for name in ("10.0.0.1", "10.0.0.2")]
    document["client_stats"].append({**job, "jobname": "All clients"})
    tables = read_log(json.dumps(document, indent=2))
    assert [run["client"] for run in tables.records("runs")] == ["10.0.0.1", "10.0.0.2"]
    assert "aggregate_row" in event_code_set(tables)


def test_clients_in_the_text() -> None:
    text = fixture("3.33-randread-4k.txt")
    prefixed = "".join(f"<host-a> {line}" if line.strip() else line for line in text.splitlines(keepends=True))
    tables = read_log(prefixed + re.sub(r"(?m)^raid0(?=: \(groupid)", "All clients", text))
    assert [run["client"] for run in tables.records("runs")] == ["host-a"]
    assert value(tables, "issued", "read") == 135448


def test_the_start_of_a_job_is_stored_since_3_36() -> None:
    document = json.loads(fixture("3.16-randread-4k.json"))
    assert read_log(json.dumps(document)).records("runs")[0]["started_at"] is None
    document["jobs"][0]["job_start"] = 1795228059043
    assert read_log(json.dumps(document)).records("runs")[0]["started_at"] == "2026-11-21T02:27:39.043000Z"


def test_the_last_of_duplicate_options_is_used() -> None:
    run = read_log(fixture("3.33-interrupted.json")).records("runs")[0]
    assert run["requested_duration_ns"] == 20_000_000_000


def test_a_damaged_document_keeps_the_members_above_the_damage() -> None:
    text = fixture("3.33-randrw-4k.json")
    broken = text.replace('"usr_cpu"', "usr_cpu")
    tables = read_log(broken)
    assert value(tables, "iops", "write") == value(read_log(text), "iops", "write")
    assert "malformed" in event_code_set(tables)


# --- logs without a header


def test_the_unit_of_a_log_with_four_fields_is_ambiguous() -> None:
    tables = read_log("0, 458, 0, 4096\n1, 460, 0, 4096\n", "job_clat.1.log")
    assert "unit_ambiguous" in event_code_set(tables)
    assert value(tables, "observations", "read") == 2
    assert value(tables, "completion_latency_mean", "read") is None


def test_a_file_name_without_the_kind_of_log_gives_no_numbers() -> None:
    tables = read_log(fixture("3.28-single_lat.1.log"), "numbers.log")
    assert "unit_ambiguous" in event_code_set(tables)
    assert {row["metric"] for row in tables.records("metrics")} == {"observations", "transferred"}


def test_latencies_of_single_ios_become_a_histogram() -> None:
    text = fixture("3.28-single_lat.1.log")
    rows = [[int(part) for part in line.split(", ")] for line in text.splitlines()]
    reads = [row[1] for row in rows if row[2] == 0]
    tables = read_log(text, "job_lat.1.log")
    assert value(tables, "total_latency_max", "read") == max(reads)
    assert value(tables, "total_latency_mean", "read") == pytest.approx(sum(reads) / len(reads))
    assert value(tables, "total_latency_mean", "read", column="printed") is None
    for bucket in (row for row in tables.records("histograms") if row["stream"] == "read"):
        assert bucket["count"] == sum(bucket["low_ns"] <= one < bucket["high_ns"] for one in reads)


def test_rates_of_single_ios_are_not_a_bandwidth() -> None:
    tables = read_log("0, 18430, 0, 4096, 0\n0, 288126, 1, 4096, 0\n20, 265, 0, 4096, 0\n", "job_bw.1.log")
    assert not tables.records("intervals")
    assert value(tables, "bandwidth", "write") is None
    assert value(tables, "transferred", "read") == 8192


def test_averages_over_windows_are_not_observations() -> None:
    tables = read_log(fixture("2.21-averaged_clat.1.log"), "job_clat.1.log")
    assert not tables.records("metrics")
    assert "log_not_kept" in event_code_set(tables)


@pytest.mark.parametrize(
    "text",
    [
        "1, 2, 0, 4096\n1, 2, 3, 4096\n",
        "time, value, direction, size\n1, 2, 0, 4096\n",
        "1, 2, 0, 4096\n1, 2, 0\n",
        "1, 2, 0, 4096, 0\n1, 2, 0, 4096\n3, 2, 0, 4096\n",
        "a note\n",
    ],
)
def test_rows_of_another_format_are_rejected(text: str) -> None:
    tables = read_log(text, "job_lat.log")
    assert not tables.records("runs")
    assert "not_recognised" in event_code_set(tables)


def test_histogram_logs_are_added_up() -> None:
    counts = [0] * 1216
    counts[50], counts[200] = 3, 4
    row = ", ".join(str(number) for number in counts)
    tables = read_log(f"1000, 0, 4096, {row}\n2000, 0, 4096, {row}\n", "job_clat_hist.1.log")
    assert [(one["low_ns"], one["high_ns"], one["count"]) for one in tables.records("histograms")] == [
        (50_000, 51_000, 6),
        (288_000, 292_000, 8),
    ]


def test_two_histogram_logs_in_one_file_are_no_run_with_doubled_counts() -> None:
    row = ", ".join(["0"] * 1215 + ["3"])
    log = "".join(f"{time}, {stream}, 4096, {row}\n" for time in (1000, 2000) for stream in (0, 1))
    both = read_log(log + log, "job_clat_hist.1.log")
    assert [run["status"] for run in both.records("runs")] == ["failed"] and not both.records("histograms")
    assert [(event["code"], event["line"]) for event in both.records("events")] == [("joined_logs", 5)]
    assert [run["status"] for run in read_log(log, "job_clat_hist.1.log").records("runs")] == ["complete"]


# --- claims, odd text


def test_fixtures_of_other_tools_are_not_claimed() -> None:
    for path in FIXTURES.parent.glob("*/*.csv"):
        source = source_from_bytes(path.read_bytes(), path.name)
        assert "fio" not in {claim.tool for claim in find_claims(source)}, path


def test_damaged_text_is_parsed_in_bounded_time() -> None:
    head = fixture("3.33-randread-4k.txt").splitlines(keepends=True)[:6]
    for odd in ("|  1.00th=[" * 300, "a: (groupid=" * 300, "3;fio-3.33;" + "0;" * 1800, "{" * 2000, "1, " * 1300):
        assert "parser_failed" not in event_code_set(read_log("".join(head) + odd + "\n"))


@pytest.mark.skipif(not SHARED.is_dir(), reason="the shared material is not there")
def test_runs_of_the_public_logs() -> None:
    compared = 0
    for path in sorted((SHARED / "corpus" / "public" / "fio").glob("dyu_*.log")):
        expected = json.loads(path.with_suffix(".expected.json").read_text("utf-8"))["expected"]["runs"]
        tables = az.parse(path)
        assert len(tables.records("runs")) == len(expected)
        for index, one in enumerate(expected):
            assert value(tables, "bandwidth", one["dir"], index) == one["bw_Bps"]
            assert value(tables, "iops", one["dir"], index) == one["iops"]
            assert value(tables, "transferred", one["dir"], index) == one["io_bytes"]
            compared += 3
    assert compared > 90


# --- names, fsync and contradictions


DIGIT_JOB = """\
4ktest: (g=0): rw=randrw, bs=4K-4K/4K-4K/4K-4K, ioengine=libaio, iodepth=16
...
fio-2.2.13
Starting 16 processes

4ktest: (groupid=0, jobs=16): err= 0: pid=5082: Sat Dec 26 21:57:12 2015
  read : io=38923MB, bw=332118KB/s, iops=83029, runt=120009msec
    clat (usec): min=3, max=356370, avg=2985.76, stdev=10809.98
    bw (KB  /s): min= 3459, max=36790, per=6.29%, avg=20874.66, stdev=5418.31
     issued    : total=r=9964275/w=0/d=0, short=r=0/w=0/d=0, drop=r=0/w=0/d=0

Run status group 0 (all jobs):
   READ: io=38923MB, aggrb=332118KB/s, minb=332118KB/s, maxb=332118KB/s, mint=120009msec, maxt=120009msec
"""


def test_job_name_that_begins_with_a_digit() -> None:
    tables = read_log(DIGIT_JOB)
    assert [(run["dialect"], run["status"]) for run in tables.records("runs")] == [("fio-text", "complete")]
    assert value(tables, "iops", "read") == 83029
    assert value(tables, "completion_latency_mean", "read") == 2_985_760


@pytest.mark.parametrize(
    ("old", "new"), [("avg=2985.76", "avg=1.76"), ("avg=2985.76", "avg=992985.76"), ("min= 3459,", "min= 93459,")]
)
def test_mean_outside_its_range_contradicts(old: str, new: str) -> None:
    tables = read_log(DIGIT_JOB.replace(old, new))
    assert event_code_set(tables) & {"impossible_spread", "not_monotone"}
    assert [run["status"] for run in tables.records("runs")] == ["failed"]


@pytest.mark.parametrize("total", ['"total_ios" : 0,', ""])
def test_latencies_of_fsync_without_a_count(total: str) -> None:
    sync = (
        '{"min" : 1000000, "max" : 20000000, "mean" : 5340000.0, "stddev" : 2000000.0, "percentile" : '
        '{"99.000000" : 11993088}}'
    )
    document = (
        '{"fio version" : "fio-3.7",\n"jobs" : [{"jobname" : "a", "groupid" : 0, "error" : 0,\n"write" : {"io_bytes" : '
        '4096000, "bw_bytes" : 409600, "iops" : 100.0, "runtime" : 10000, "total_ios" : 1000},\n'
        f'"sync" : {{{total} "lat_ns" : {sync}}}}}]}}\n'
    )
    tables = read_log(document)
    assert value(tables, "sync_latency_mean", "sync") == 5_340_000
    [quantile] = tables.records("quantiles")
    assert (quantile["metric"], quantile["q"], quantile["value_ns"]) == ("sync_latency", 0.99, 11_993_088)


@pytest.mark.costly
@pytest.mark.parametrize("text", [DIGIT_JOB, '{\n"fio version" : "fio-3.33",\n{\n'], ids=["text", "braces"])
def test_time_grows_with_the_number_of_jobs_only(text: str) -> None:
    def seconds(jobs: int) -> float:
        log = "".join(text.replace("4ktest", f"job{number}") for number in range(jobs))
        start = time.process_time()
        read_log(log)
        return time.process_time() - start

    seconds(10)
    assert seconds(600) < 9 * seconds(200) + 0.2


@pytest.mark.parametrize("folder", ["sandisk"])
def test_archive_of_jobs_named_by_their_block_size(folder: str) -> None:
    paths = sorted((SHARED / "corpus/public2" / folder).glob("*.txt"))
    if not paths:
        pytest.skip("needs the shared corpus")
    for path in paths:
        tables = az.parse(path)
        assert [run["status"] for run in tables.records("runs")] == ["complete"], path.name
        assert len(tables.records("quantiles")) == 17


@pytest.mark.parametrize("name", ["2.21-averaged_clat.1.log", "3.28-single_lat.1.log"])
def test_two_logs_of_single_ios_in_one_file_are_no_run_with_doubled_numbers(name: str) -> None:
    # A log without a header has no other mark of its begin than times that start again.
    raw = (FIXTURES / name).read_bytes()
    logs = parse_source(source_from_bytes(raw + raw, name))
    assert logs.runs["status"].tolist() == ["failed"] and not len(logs.metrics) and not len(logs.histograms)
    (event,) = logs.events.loc[logs.events["severity"] == "error"].to_dict("records")
    assert event["code"] == "joined_logs" and event["line"] == raw.count(b"\n") + 1


@pytest.mark.parametrize(
    ("log", "old", "new"),
    [
        ("3.16-randread-4k.json", '"total_ios" : 178571', '"total_ios" : 178579'),
        ("3.16-randread-4k.json", '"runtime" : 5001', '"runtime" : 5002'),
        ("3.33-randread-4k.txt", "rwts: total=135448", "rwts: total=139448"),
        ("3.33-randread-4k.txt", "avg=106223.56", "avg=109223.56"),
        ("3.33-randread-4k.txt", "avg=26555.78", "avg=20555.78"),
        ("3.33-randread-4k.txt", "(529MiB/5001msec)", "(529MiB/5081msec)"),
    ],
)
def test_rates_are_the_printed_counts_divided_by_the_printed_time(log: str, old: str, new: str) -> None:
    text = fixture(log)
    assert old in text and "rate_mismatch" not in event_code_set(read_log(text))
    assert "rate_mismatch" in event_code_set(read_log(text.replace(old, new, 1)))
