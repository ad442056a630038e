"""What the fixtures cannot say of fio: cut and joined logs, and each trap of its formats."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from helpers.places import FIXTURES, SHARED

import azlatency as az
from azlatency.logs.claims import find_claims
from azlatency.logs.decode import source_from_bytes
from azlatency.logs.parse import parse_source
from azlatency.logs.parsers.fio.latency_log import bucket_at
from azlatency.logs.parsers.fio.numbers import bucket_of

FIXTURES = FIXTURES / "fio"
LOGS = sorted(path for path in FIXTURES.iterdir() if not path.name.endswith(".expected.json"))
CUTS = 60
LOUD = {"truncated", "failed", "no_data", "malformed", "not_recognised"}
METRICS = ("metric", "side", "stream", "value", "printed")


def read(text: str | bytes, name: str = "log.txt") -> az.Logs:
    return parse_source(source_from_bytes(text if isinstance(text, bytes) else text.encode(), name))


def fixture(name: str) -> str:
    return source_from_bytes((FIXTURES / name).read_bytes(), name).text


def value(tables: az.Logs, name: str, stream: str | None = None, run: int = 0, column: str = "value") -> Any:
    run_id = tables.records("runs")[run]["run_id"]
    rows = [m for m in tables.records("metrics") if (m["run_id"], m["metric"], m["stream"]) == (run_id, name, stream)]
    return rows[0][column] if rows else None


def codes(tables: az.Logs) -> set[str]:
    return {event["code"] for event in tables.records("events")}


def by_run(tables: az.Logs, table: str, names: tuple[str, ...]) -> set[tuple[Any, ...]]:
    ids = [run["run_id"] for run in tables.records("runs")]
    return {(ids.index(row["run_id"]), *(row[name] for name in names)) for row in tables.records(table)}


# --- cut and joined


@pytest.mark.parametrize("path", LOGS, ids=lambda path: path.name)
def test_a_cut_log_gives_no_wrong_number(path: Path) -> None:
    text = fixture(path.name)
    lines = text.splitlines(keepends=True)
    whole = read(text, path.name)
    single = path.name.startswith("3.28-single")  # its numbers are those of as many I/Os as there are lines
    for length in sorted({1 + step * (len(lines) - 1) // CUTS for step in range(CUTS + 1)}):
        part = read("".join(lines[:length]), path.name)
        assert "parser_failed" not in codes(part)
        if not single:
            assert by_run(part, "metrics", METRICS) <= by_run(whole, "metrics", METRICS), f"cut after line {length}"
        names = ("metric", "stream", "q", "value_ns", "resolution_ns")
        assert by_run(part, "quantiles", names) <= by_run(whole, "quantiles", names), f"cut after line {length}"


@pytest.mark.parametrize(
    "name", ["3.33-randread-4k.txt", "2.21-read-16k.log", "3.33-randrw-4k.json", "3.33-randread-4k.terse"]
)
def test_a_number_cut_in_the_middle_is_left_out(name: str) -> None:
    text = fixture(name)
    whole = read(text)
    for length in range(len(text) // 8, len(text) - 1, 11):
        part = read(text[:length])
        assert "parser_failed" not in codes(part)
        assert by_run(part, "metrics", METRICS) <= by_run(whole, "metrics", METRICS), text[:length][-90:]
        names = ("metric", "stream", "q", "value_ns")
        assert by_run(part, "quantiles", names) <= by_run(whole, "quantiles", names), text[:length][-90:]


@pytest.mark.parametrize("name", ["3.33-randread-4k.txt", "3.33-randrw-4k.json", "3.33-randread-bins.json"])
def test_a_cut_job_is_said_to_be_cut(name: str) -> None:
    lines = fixture(name).splitlines(keepends=True)
    last = next(i for i, line in enumerate(lines) if "issued rwts" in line or '"usr_cpu"' in line)
    for length in range(6, last):
        assert codes(read("".join(lines[:length]))) & LOUD, f"cut after line {length}"


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
def test_two_logs_in_one_file_are_the_runs_of_both(first: str, second: str) -> None:
    one, two, both = read(fixture(first)), read(fixture(second)), read(fixture(first) + fixture(second))
    shift = len(one.records("runs"))
    for table, names in (("metrics", METRICS), ("runs", ("tool_version", "status", "test", "duration_ns"))):
        shifted = {(row[0] + shift, *row[1:]) for row in by_run(two, table, names)}
        assert by_run(both, table, names) == by_run(one, table, names) | shifted
    assert both.records("sources")[0]["lines_unknown"] == 0


def test_a_second_job_of_the_same_name_that_was_cut_is_told() -> None:
    text = fixture("3.33-randread-4k.txt")
    tables = read(text + "".join(text.splitlines(keepends=True)[:4]))
    assert [run["status"] for run in tables.records("runs")] == ["complete", "truncated"]


# --- units and numbers


def with_rate(rate: str) -> az.Logs:
    text = fixture("3.33-randread-4k.txt")
    return read(text.replace("BW=106MiB/s (111MB/s)(529MiB/5001msec)", rate))


def test_kb_base_1000_swaps_the_pair() -> None:
    tables = with_rate("BW=111MB/s (106MiB/s)(555MB/5001msec)")
    assert value(tables, "bandwidth", "read") == pytest.approx(555e6 / 5.001)
    assert value(tables, "bandwidth", "read", column="printed_unit") == "MB/s"
    assert value(tables, "transferred", "read") == 555e6
    assert not codes(tables)


def test_unit_base_1_prints_bits() -> None:
    tables = with_rate("BW=848Mibit/s (889Mbit/s)(529MiB/5001msec)")
    assert value(tables, "bandwidth", "read") == pytest.approx(848 * 2**20 / 8, rel=1e-3)
    assert value(tables, "bandwidth_mean", "read") == 106223.56 * 1024  # the samples stay bytes
    assert not codes(tables)


def test_a_pair_that_disagrees_is_told() -> None:
    assert "unit_conflict" in codes(with_rate("BW=106MiB/s (106MB/s)(529MiB/5001msec)"))


def test_a_rate_that_bytes_and_time_do_not_give_is_told() -> None:
    tables = with_rate("BW=206MiB/s (216MB/s)(529MiB/5001msec)")
    assert "rate_mismatch" in codes(tables)
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
    tables = read(OLD)
    assert value(tables, "bandwidth", "read") == 611058 * 1024
    assert value(tables, "transferred", "read") == 4096 * 2**20
    assert value(tables, "iops", "read") == 152764
    assert value(tables, "submission_latency_max", "read") == pytest.approx(1841.1e6)
    assert tables.records("runs")[0]["message_bytes"] == 4096


def test_samples_of_version_2_2_are_of_one_job() -> None:
    tables = read(OLD)
    assert value(tables, "bandwidth_mean", "read") == 76665.15 * 1024
    assert value(tables, "bandwidth_mean", "read", column="scope") == "process"
    assert value(tables, "bandwidth", "read", column="scope") == "run"
    assert "per_job_samples" in codes(tables)


def test_a_share_that_is_wrong_by_1000_is_not_read() -> None:
    metrics = {row["metric"] for row in read(fixture("2.21-read-16k.log")).records("metrics")}
    assert not any("per" in name.split("_") or "agg" in name for name in metrics)


def test_io_bytes_before_2_21_are_kib() -> None:
    document = json.loads(fixture("2.21-read-16k.json"))
    document["fio version"] = "fio-2.17"
    job = document["jobs"][0]["read"]
    size = job.pop("io_kbytes")
    job["io_bytes"] = size
    tables = read(json.dumps(document, indent=2))
    assert value(tables, "transferred", "read") == size * 1024
    assert value(tables, "transferred", "read", column="printed") == str(size)
    job["io_bytes"] = size // 7
    tables = read(json.dumps(document, indent=2))
    assert value(tables, "transferred", "read") is None
    assert "unit_ambiguous" in codes(tables)


def test_bandwidth_of_old_documents_is_kib() -> None:
    tables = read(fixture("2.21-read-16k.json"))
    assert value(tables, "bandwidth", "read") == 2794370 * 1024


def test_block_sizes_that_differ_are_no_block_size() -> None:
    text = fixture("3.33-randread-4k.txt").replace("bs=(R) 4096B-4096B", "bs=(R) 4096B-16.0KiB")
    assert read(text).records("runs")[0]["message_bytes"] is None


# --- percentiles


def test_percentiles_are_the_middle_of_their_bucket() -> None:
    tables = read(fixture("3.33-randread-bins.json"))
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


def test_percentiles_left_empty_are_not_read() -> None:
    text = fixture("2.21-read-16k.json").replace('"99.990000"', '"0.00" : 0,\n            "99.990000"')
    assert all(row["q"] > 0 for row in read(text).records("quantiles"))


def test_bins_that_do_not_add_up_are_told() -> None:
    text = fixture("3.33-randread-bins.json").replace('"346112" : 1,', '"346112" : 3,')
    assert "value_conflict" in codes(read(text))


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
    tables = read(snapshot(0) + snapshot(5) + snapshot(10))
    assert len(tables.records("runs")) == 1
    assert value(tables, "transferred", "read") == 3 * 731426816
    assert [row["bytes"] for row in tables.records("intervals")] == [731426816] * 3
    assert {row["throughput"] for row in tables.records("intervals")} == {None}
    assert "status_snapshot" in codes(tables)


def test_the_same_test_run_twice_is_two_runs() -> None:
    later = json.loads(fixture("3.16-randread-4k.json"))
    later["timestamp"] += 60
    later["jobs"][0]["read"]["runtime"] += 1
    assert len(read(fixture("3.16-randread-4k.json") + json.dumps(later, indent=1) + "\n").records("runs")) == 2


def test_text_of_status_interval_is_one_run() -> None:
    text = fixture("3.33-randread-4k.txt")
    early = text[: text.index("Run status group")]
    early = early.replace("(529MiB/5001msec)", "(211MiB/2000msec)").replace("135448", "54000")
    late = text[text.index("raid0: (groupid") :]
    tables = read(early + late)
    assert len(tables.records("runs")) == 1
    assert value(tables, "issued", "read") == 135448
    assert [row["end_ns"] for row in tables.records("intervals")] == [2_000_000_000, 5_001_000_000]


def test_text_and_document_of_one_run_are_one_run() -> None:
    tables = read(fixture("3.33-normal-and-json.txt"))
    assert len(tables.records("runs")) == 1
    assert value(tables, "iops", "read", column="printed") == "25945.410918"


def test_a_job_with_an_error_is_failed_though_it_looks_complete() -> None:
    tables = read(fixture("3.33-error.json"))
    assert tables.records("runs")[0]["status"] == "failed"
    assert not tables.records("metrics")


def test_an_error_in_the_text_is_failed() -> None:
    text = fixture("3.33-randread-4k.txt").replace(
        "err= 0:", "err= 5 (file:io_u.c:1845, func=io_u error, error=Input/output error):"
    )
    tables = read(text)
    assert tables.records("runs")[0]["status"] == "failed"
    assert "failed" in codes(tables)
    assert tables.records("sources")[0]["lines_unknown"] == 0


def test_the_sentinel_of_an_unknown_end_is_no_duration() -> None:
    tables = read(fixture("2.21-read-16k.json"))
    assert tables.records("runs")[0]["duration_ns"] == 1_009_000_000


def test_all_clients_is_not_added() -> None:
    document = json.loads(fixture("3.16-randread-4k.json"))
    job = document.pop("jobs")[0]
    document["client_stats"] = [{**job, "hostname": name} for name in ("10.0.0.1", "10.0.0.2")]
    document["client_stats"].append({**job, "jobname": "All clients"})
    tables = read(json.dumps(document, indent=2))
    assert [run["client"] for run in tables.records("runs")] == ["10.0.0.1", "10.0.0.2"]
    assert "aggregate_row" in codes(tables)


def test_clients_in_the_text() -> None:
    text = fixture("3.33-randread-4k.txt")
    prefixed = "".join(f"<host-a> {line}" if line.strip() else line for line in text.splitlines(keepends=True))
    tables = read(prefixed + re.sub(r"(?m)^raid0(?=: \(groupid)", "All clients", text))
    assert [run["client"] for run in tables.records("runs")] == ["host-a"]
    assert value(tables, "issued", "read") == 135448


def test_when_a_job_began_is_known_from_3_36_on_only() -> None:
    document = json.loads(fixture("3.16-randread-4k.json"))
    assert read(json.dumps(document)).records("runs")[0]["started_at"] is None
    document["jobs"][0]["job_start"] = 1795228059043
    assert read(json.dumps(document)).records("runs")[0]["started_at"] == "2026-11-21T02:27:39.043000Z"


def test_the_last_of_doubled_options_counts() -> None:
    run = read(fixture("3.33-interrupted.json")).records("runs")[0]
    assert run["requested_duration_ns"] == 20_000_000_000


def test_a_document_that_goes_wrong_keeps_what_stands_above() -> None:
    text = fixture("3.33-randrw-4k.json")
    broken = text.replace('"usr_cpu"', "usr_cpu")
    tables = read(broken)
    assert value(tables, "iops", "write") == value(read(text), "iops", "write")
    assert "malformed" in codes(tables)


# --- logs without a header


def test_the_unit_of_four_fields_is_not_known() -> None:
    tables = read("0, 458, 0, 4096\n1, 460, 0, 4096\n", "job_clat.1.log")
    assert "unit_ambiguous" in codes(tables)
    assert value(tables, "observations", "read") == 2
    assert value(tables, "completion_latency_mean", "read") is None


def test_a_name_that_says_nothing_leaves_the_numbers_out() -> None:
    tables = read(fixture("3.28-single_lat.1.log"), "numbers.log")
    assert "unit_ambiguous" in codes(tables)
    assert {row["metric"] for row in tables.records("metrics")} == {"observations", "transferred"}


def test_single_ios_become_a_histogram_of_themselves() -> None:
    text = fixture("3.28-single_lat.1.log")
    rows = [[int(part) for part in line.split(", ")] for line in text.splitlines()]
    reads = [row[1] for row in rows if row[2] == 0]
    tables = read(text, "job_lat.1.log")
    assert value(tables, "total_latency_max", "read") == max(reads)
    assert value(tables, "total_latency_mean", "read") == pytest.approx(sum(reads) / len(reads))
    assert value(tables, "total_latency_mean", "read", column="printed") is None
    for bucket in (row for row in tables.records("histograms") if row["stream"] == "read"):
        assert bucket["count"] == sum(bucket["low_ns"] <= one < bucket["high_ns"] for one in reads)


def test_rates_of_single_ios_are_no_bandwidth() -> None:
    tables = read("0, 18430, 0, 4096, 0\n0, 288126, 1, 4096, 0\n20, 265, 0, 4096, 0\n", "job_bw.1.log")
    assert not tables.records("intervals")
    assert value(tables, "bandwidth", "write") is None
    assert value(tables, "transferred", "read") == 8192


def test_averages_over_windows_are_no_observations() -> None:
    tables = read(fixture("2.21-averaged_clat.1.log"), "job_clat.1.log")
    assert not tables.records("metrics")
    assert "log_not_kept" in codes(tables)


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
def test_rows_of_something_else_are_refused(text: str) -> None:
    tables = read(text, "job_lat.log")
    assert not tables.records("runs")
    assert "not_recognised" in codes(tables)


def test_histogram_logs_are_added_up() -> None:
    counts = [0] * 1216
    counts[50], counts[200] = 3, 4
    row = ", ".join(str(number) for number in counts)
    tables = read(f"1000, 0, 4096, {row}\n2000, 0, 4096, {row}\n", "job_clat_hist.1.log")
    assert [(one["low_ns"], one["high_ns"], one["count"]) for one in tables.records("histograms")] == [
        (50_000, 51_000, 6),
        (288_000, 292_000, 8),
    ]


# --- claims, odd text


def test_no_claim_on_the_fixtures_of_others() -> None:
    for path in FIXTURES.parent.glob("*/*.csv"):
        source = source_from_bytes(path.read_bytes(), path.name)
        assert "fio" not in {claim.tool for claim in find_claims(source)}, path


def test_odd_text_ends_in_time() -> None:
    head = fixture("3.33-randread-4k.txt").splitlines(keepends=True)[:6]
    for odd in ("|  1.00th=[" * 300, "a: (groupid=" * 300, "3;fio-3.33;" + "0;" * 1800, "{" * 2000, "1, " * 1300):
        assert "parser_failed" not in codes(read("".join(head) + odd + "\n"))


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
