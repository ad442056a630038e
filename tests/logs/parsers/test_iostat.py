"""iostat: cut and joined logs, and the quirks of its layouts."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from helpers.cut_logs import (
    METRICS,
    assert_cuts_add_no_rows,
    assert_joined_logs_keep_both_runs,
    event_code_set,
    line_ends,
    read_log,
)
from helpers.places import FIXTURES

import azlatency as az
from azlatency.logs.parse import parse_source
from azlatency.logs.source.decode import source_from_bytes

FIXTURES = FIXTURES / "iostat"
LOGS = sorted(path for path in FIXTURES.iterdir() if not path.name.endswith(".expected.json"))
BANNER = "Linux 5.4.0 (host) \t06/01/20 \t_x86_64_\t(2 CPU)\n"


def fixture(name: str) -> str:
    return source_from_bytes((FIXTURES / name).read_bytes(), name).text


def value(tables: az.Logs, name: str, stream: str | None = "sda", run: int = 0, column: str = "value") -> Any:
    run_id = tables.records("runs")[run]["run_id"]
    rows = [m for m in tables.records("metrics") if (m["run_id"], m["metric"], m["stream"]) == (run_id, name, stream)]
    return rows[0][column] if rows else None


def device(header: str, row: str) -> az.Logs:
    return read_log(f"{BANNER}\n{header}\n{row}\n\n")


@pytest.mark.parametrize("path", LOGS, ids=lambda path: path.name)
def test_a_log_cut_after_any_line_gives_no_wrong_number(path: Path) -> None:
    text = fixture(path.name)
    assert_cuts_add_no_rows(text, line_ends(text), tables={"metrics": METRICS})


@pytest.mark.costly
@pytest.mark.parametrize("step", [37, pytest.param(11, marks=pytest.mark.slow)])
@pytest.mark.parametrize("path", LOGS, ids=lambda path: path.name)
def test_a_number_cut_in_the_middle_is_left_out(path: Path, step: int) -> None:
    text = fixture(path.name)
    assert_cuts_add_no_rows(text, range(len(text) // 2, len(text), step), tables={"metrics": METRICS})


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("12.6.1-plain.txt", "12.6.1-plain.txt"),
        ("12.6.1-xyz.txt", "12.6.1-x-pretty.log"),
        ("12.6.1-x.json", "12.6.1-x-sigint.json"),
        ("12.6.1-h.log", "12.6.1-x.json"),
        ("12.6.1-x.json", "12.6.1-dk-t.txt"),
    ],
)
def test_two_logs_in_one_file_give_the_runs_of_both(first: str, second: str) -> None:
    assert_joined_logs_keep_both_runs(fixture(first), fixture(second), ("test", "status", "duration_ns", "started_at"))


def test_the_first_report_covers_the_time_since_boot() -> None:
    tables = read_log(fixture("12.6.1-plain.txt"))
    assert [run["test"] for run in tables.records("runs")] == ["since_boot", "report", "report"]
    assert "since_boot" in event_code_set(tables)


def test_with_y_the_first_report_is_an_ordinary_one() -> None:
    for text in (fixture("12.6.1-xyz.txt"), "user@host:~$ iostat -dxy 1 2\n" + fixture("12.6.1-dk-t.txt")):
        tables = read_log(text)
        assert {run["test"] for run in tables.records("runs")} == {"report"}
        assert "since_boot" not in event_code_set(tables)


def test_the_interval_of_the_command() -> None:
    tables = read_log("user@host:~$ iostat -x -p sda 5 3\n" + fixture("12.6.1-x-dec0.log"))
    assert [run["requested_duration_ns"] for run in tables.records("runs")] == [None, 5_000_000_000]


def test_request_sizes_of_11_4_are_sectors() -> None:
    tables = device(
        "Device:         rrqm/s   wrqm/s     r/s     w/s    rkB/s    wkB/s avgrq-sz avgqu-sz   await r_await w_await  "
        "svctm  %util",
        "sda               0.00     0.02    0.13    0.11     5.27     1.10    52.53     0.00    0.88    0.53    1.29   "
        "0.52   0.01",
    )
    assert value(tables, "request_size_mean") == pytest.approx(52.53 * 512)
    assert value(tables, "read_bandwidth") == pytest.approx(5.27 * 1024)
    assert value(tables, "io_wait_mean") == pytest.approx(0.88e6)
    assert value(tables, "service_time_mean") == pytest.approx(0.52e6)
    assert value(tables, "utilisation") == pytest.approx(1e-4)


def test_columns_are_read_by_name_not_by_position() -> None:
    tables = device("Device   w/s   r/s   %util", "sda   3.00   1.00  50.00")
    assert (value(tables, "read_rate"), value(tables, "write_rate")) == (1, 3)


def test_an_unknown_column_makes_the_row_unknown() -> None:
    tables = device("Device   r/s   novelty/s", "sda   3.00   1.00")
    assert not tables.records("metrics")
    assert tables.records("sources")[0]["lines_unknown"] == 1


def test_kb_mb_and_blocks() -> None:
    for header, unit in (("kB_read/s", 1024), ("MB_read/s", 2**20), ("Blk_read/s", 512)):
        assert value(device(f"Device   tps   {header}", "sda   1.00   4.00"), "read_bandwidth") == 4 * unit


def test_suffixes_of_h_override_the_header() -> None:
    tables = device("Device   tps   kB_read/s   kB_read", "sda   1.00   5.8M   1.5G")
    assert value(tables, "read_bandwidth") == pytest.approx(5.8 * 2**20)
    assert value(tables, "read_transferred") == 1.5 * 2**30
    assert value(tables, "read_bandwidth", column="resolution") == pytest.approx(0.05 * 2**20)


def test_a_decimal_comma_is_not_a_thousands_separator() -> None:
    tables = device("Device   tps   kB_read/s", "sda   0,24   5,24")
    assert value(tables, "iops") == 0.24
    assert value(tables, "read_bandwidth") == pytest.approx(5.24 * 1024)


def test_json_percentages_have_no_sign() -> None:
    tables = read_log(fixture("12.6.1-x.json"))
    assert value(tables, "utilisation", "vda", 1) == pytest.approx(0.388)
    assert value(tables, "write_merged", "vda", 0) == pytest.approx(0.3859)


def test_blocks_of_pretty_are_one_report() -> None:
    assert len(read_log(fixture("12.6.1-x-pretty.log")).records("runs")) == 2


def test_colours_do_not_hide_the_device() -> None:
    streams = {row["stream"] for row in read_log(fixture("12.6.1-x-colour.log")).records("metrics")}
    assert streams == {None, "vda"}


def test_sizes_that_contradict_the_rate_are_reported() -> None:
    header = "Device   r/s   rkB/s   rareq-sz"
    assert "rate_mismatch" not in event_code_set(device(header, "sda   127.92   8595.16   67.19"))
    assert "rate_mismatch" in event_code_set(device(header, "sda   127.92   8595.16   77.19"))


def test_times_without_a_time_zone_give_durations_only() -> None:
    runs = read_log(fixture("12.6.1-dk-t.txt")).records("runs")
    assert [run["duration_ns"] for run in runs] == [None, 10**9, 10**9]
    assert {run["started_at"] for run in runs} == {None}


@pytest.mark.parametrize(
    ("first", "second", "seconds"),
    [
        ("06/01/20 12:53:20", "06/01/20 12:53:25", 5),
        ("11/30/2021 11:59:58 AM", "11/30/2021 12:00:03 PM", 5),
        ("Time: 12:53:20", "Time: 12:53:21", 1),
        ("2026-11-21T23:59:59+0100", "2026-11-22T00:00:09+0100", 10),
        ("06/01/20 23:59:59", "06/02/20 00:00:04", None),
        ("06/01/20 12:53:20", "06/01/20 12:53:10", None),
    ],
)
def test_time_stamps(first: str, second: str, seconds: int | None) -> None:
    table = "Device   tps   kB_read/s\nsda   1.00   4.00\n\n"
    run = read_log(f"{BANNER}\n{first}\n{table}{second}\n{table}").records("runs")[1]
    assert run["duration_ns"] == (None if seconds is None else seconds * 10**9)


def test_groups_are_sums() -> None:
    tables = device("Device   tps   kB_read/s", "sda   1.00   4.00\nsdb   2.00   8.00\n disks   3.00   12.00")
    scopes = {row["stream"]: row["scope"] for row in tables.records("metrics")}
    assert scopes == {"sda": "stream", "sdb": "stream", "disks": "run"}


def test_a_report_that_ends_after_its_header_is_truncated() -> None:
    lines = fixture("12.6.1-plain.txt").splitlines(keepends=True)
    tables = read_log("".join(lines[:13]))
    assert [run["status"] for run in tables.records("runs")] == ["complete", "truncated"]


def test_the_banner_of_another_tool_of_sysstat_gives_no_numbers() -> None:
    tables = read_log(BANNER + "\n12:00:01 AM  CPU    %usr   %nice\n12:00:02 AM  all    1.00    0.00\n")
    assert not tables.records("metrics")
    assert not tables.records("runs")
    assert "foreign_tool" in {event["code"] for event in tables.records("events")}


def test_damaged_text_is_parsed_in_bounded_time() -> None:
    for odd in ("Device " + "a " * 1900, "avg-cpu: " + "%a " * 1000, "sda " + "1.0 " * 1000, "1:" * 2000, "{" * 3000):
        assert "parser_failed" not in event_code_set(read_log(f"{BANNER}\nDevice   tps\n{odd}\n"))


CPU_REPORT = """\
avg-cpu:  %user   %nice %system %iowait  %steal   %idle
           0.14    0.00    0.16    0.00    0.00   {idle}

Device             tps    kB_read/s    kB_wrtn/s    kB_read    kB_wrtn
sda               0.24         5.24         1.10     203305      42533

"""


@pytest.mark.parametrize(("idle", "status"), [("99.70", "complete"), ("99.69", "complete"), ("9.70", "failed")])
def test_cpu_shares_add_up_to_100_percent(idle: str, status: str) -> None:
    tables = read_log(f"{BANNER}\n{CPU_REPORT.format(idle=idle)}")
    assert [run["status"] for run in tables.records("runs")] == [status]
    assert ("value_conflict" in event_code_set(tables)) == (status == "failed")
    assert value(tables, "iops") == 0.24


def test_gigabytes() -> None:
    tables = device("Device             tps    GB_read/s    GB_wrtn/s    GB_read    GB_wrtn", "sda 2.0 0.5 0.25 5 2")
    assert value(tables, "read_bandwidth") == 2**29
    assert value(tables, "write_transferred") == 2 * 2**30


def _edit(reports: list[dict[str, Any]], edit: str) -> None:
    cpu, disk = reports[5]["avg-cpu"], reports[5]["disk"][0]
    edits: dict[str, Callable[[], object]] = {
        "usual": lambda: None,
        "no sum of 100 %": lambda: cpu.update(idle=cpu["idle"] + 1),
        "wrong bandwidth": lambda: disk.update(rkB=1, **{"r/s": 7.0, "rareq-sz": 4.0, "rkB/s": 90.0}),
        "exponent": lambda: disk.update(tps=1e-7, **{"w/s": 1e-7}),
        "whole": lambda: disk.update(util=3),
        "text": lambda: disk.update(util="3"),
        "null": lambda: disk.update(util=None),
        "group": lambda: disk.update(disk_device=" group"),
        "no name": lambda: disk.pop("disk_device"),
        "same name": lambda: reports[5]["disk"].append(disk),
        "two disks": lambda: [report["disk"].append({**disk, "disk_device": "b"}) for report in reports[3:9]],
        "no utilisation": lambda: [disk.pop("util", None), disk.update({"r/s": 1.0})],
        "no disk": lambda: reports[5].update(disk=[]),
        "no CPU": lambda: reports[5].pop("avg-cpu"),
        "nothing": lambda: [reports[5].pop("avg-cpu"), reports[5].pop("disk")],
        "deeper": lambda: cpu.update(more={"a": 1}),
        "other column": lambda: disk.update(other=1.5),
    }
    edits[edit]()


@pytest.mark.parametrize("edit", [
    "usual", "no sum of 100 %", "wrong bandwidth", "exponent", "whole", "text", "null", "group", "no name", "same name",
    "two disks", "no utilisation", "no disk", "no CPU", "nothing", "deeper", "other column",
])  # fmt: skip
def test_an_odd_report_does_not_change_the_others(edit: str) -> None:
    document = json.loads((FIXTURES / "12.6.1-x.json").read_text("utf-8"))
    (host,) = document["sysstat"]["hosts"]
    host["statistics"] = [json.loads(json.dumps(report)) for report in host["statistics"] * 20]
    _edit(host["statistics"], edit)
    read = parse_source(source_from_bytes(json.dumps(document).encode(), "a.json"))
    assert "parser_failed" not in {event["code"] for event in read.records("events")}
    assert len(read.rows["runs"]) == len(host["statistics"]) - (edit == "nothing")


def test_fewer_devices_show_a_cut_only_within_one_command() -> None:
    header = "Device             tps    kB_read/s    kB_wrtn/s    kB_read    kB_wrtn\n"
    rows = {name: f"{name}              1.00     10.00     0.00     100     0\n" for name in ("sda", "sdb")}
    both, one = header + rows["sda"] + rows["sdb"], header + rows["sda"]

    def statuses(text: str) -> list[str]:
        return [run["status"] for run in read_log(text).records("runs")]

    assert statuses(f"{BANNER}\n{both}\n{one}") == ["complete", "truncated"]
    assert statuses(f"{BANNER}\n{both}\n{one}\n") == ["complete", "complete"], "a blank line ends a report"
    assert statuses(f"{BANNER}\n{both}\n{BANNER}\n{one}") == ["complete", "complete"], "another command"


@pytest.mark.parametrize(
    ("log", "old", "new"),
    [
        ("12.6.1-dk-t.txt", "36276113", "37276113"),
        ("12.6.1-dk-t.txt", " 12959.79 ", " 12059.79 "),
        ("12.6.1-plain.txt", "76550.50", "76750.50"),
    ],
)
def test_what_was_transferred_takes_one_time_at_all_rates(log: str, old: str, new: str) -> None:
    text = fixture(log)
    assert old in text and "rate_mismatch" not in event_code_set(read_log(text))
    assert "rate_mismatch" in event_code_set(read_log(text.replace(old, new, 1)))
