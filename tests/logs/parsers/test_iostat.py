"""What the fixtures cannot say of iostat: cut and joined logs, and each trap of its layouts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from helpers.places import FIXTURES

import azlatency as az
from azlatency.logs.decode import source_from_bytes
from azlatency.logs.parse import parse_source

FIXTURES = FIXTURES / "iostat"
LOGS = sorted(path for path in FIXTURES.iterdir() if not path.name.endswith(".expected.json"))
METRICS = ("metric", "side", "stream", "value", "printed")
BANNER = "Linux 5.4.0 (host) \t06/01/20 \t_x86_64_\t(2 CPU)\n"


def read(text: str) -> az.Logs:
    return parse_source(source_from_bytes(text.encode(), "log.txt"))


def fixture(name: str) -> str:
    return source_from_bytes((FIXTURES / name).read_bytes(), name).text


def value(tables: az.Logs, name: str, stream: str | None = "sda", run: int = 0, column: str = "value") -> Any:
    run_id = tables.records("runs")[run]["run_id"]
    rows = [m for m in tables.records("metrics") if (m["run_id"], m["metric"], m["stream"]) == (run_id, name, stream)]
    return rows[0][column] if rows else None


def codes(tables: az.Logs) -> set[str]:
    return {event["code"] for event in tables.records("events")}


def by_run(tables: az.Logs, table: str, names: tuple[str, ...]) -> set[tuple[Any, ...]]:
    ids = [run["run_id"] for run in tables.records("runs")]
    return {(ids.index(row["run_id"]), *(row[name] for name in names)) for row in tables.records(table)}


def device(header: str, row: str) -> az.Logs:
    return read(f"{BANNER}\n{header}\n{row}\n\n")


@pytest.mark.parametrize("path", LOGS, ids=lambda path: path.name)
def test_a_cut_log_gives_no_wrong_number(path: Path) -> None:
    text = fixture(path.name)
    whole = by_run(read(text), "metrics", METRICS)
    lines = text.splitlines(keepends=True)
    for length in range(1, len(lines)):
        part = read("".join(lines[:length]))
        assert "parser_failed" not in codes(part)
        assert by_run(part, "metrics", METRICS) <= whole, f"cut after line {length}"


@pytest.mark.parametrize("path", LOGS, ids=lambda path: path.name)
def test_a_number_cut_in_the_middle_is_left_out(path: Path) -> None:
    text = fixture(path.name)
    whole = by_run(read(text), "metrics", METRICS)
    for length in range(len(text) // 2, len(text), 5):
        part = read(text[:length])
        assert "parser_failed" not in codes(part)
        assert by_run(part, "metrics", METRICS) <= whole, text[:length][-80:]


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
def test_two_logs_in_one_file_are_the_runs_of_both(first: str, second: str) -> None:
    one, two, both = read(fixture(first)), read(fixture(second)), read(fixture(first) + fixture(second))
    shift = len(one.records("runs"))
    for table, names in (("metrics", METRICS), ("runs", ("test", "status", "duration_ns", "started_at"))):
        shifted = {(row[0] + shift, *row[1:]) for row in by_run(two, table, names)}
        assert by_run(both, table, names) == by_run(one, table, names) | shifted
    assert both.records("sources")[0]["lines_unknown"] == 0


def test_the_first_report_covers_the_time_since_boot() -> None:
    tables = read(fixture("12.6.1-plain.txt"))
    assert [run["test"] for run in tables.records("runs")] == ["since_boot", "report", "report"]
    assert "since_boot" in codes(tables)


def test_with_y_the_first_report_is_one_like_the_others() -> None:
    for text in (fixture("12.6.1-xyz.txt"), "user@host:~$ iostat -dxy 1 2\n" + fixture("12.6.1-dk-t.txt")):
        tables = read(text)
        assert {run["test"] for run in tables.records("runs")} == {"report"}
        assert "since_boot" not in codes(tables)


def test_the_interval_of_the_command() -> None:
    tables = read("user@host:~$ iostat -x -p sda 5 3\n" + fixture("12.6.1-x-dec0.log"))
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


def test_columns_are_read_by_name_not_by_place() -> None:
    tables = device("Device   w/s   r/s   %util", "sda   3.00   1.00  50.00")
    assert (value(tables, "read_rate"), value(tables, "write_rate")) == (1, 3)


def test_a_column_that_is_not_known_leaves_the_row_unread() -> None:
    tables = device("Device   r/s   novelty/s", "sda   3.00   1.00")
    assert not tables.records("metrics")
    assert tables.records("sources")[0]["lines_unknown"] == 1


def test_kb_mb_and_blocks() -> None:
    for header, unit in (("kB_read/s", 1024), ("MB_read/s", 2**20), ("Blk_read/s", 512)):
        assert value(device(f"Device   tps   {header}", "sda   1.00   4.00"), "read_bandwidth") == 4 * unit


def test_suffixes_of_h_win_over_the_header() -> None:
    tables = device("Device   tps   kB_read/s   kB_read", "sda   1.00   5.8M   1.5G")
    assert value(tables, "read_bandwidth") == pytest.approx(5.8 * 2**20)
    assert value(tables, "read_transferred") == 1.5 * 2**30
    assert value(tables, "read_bandwidth", column="resolution") == pytest.approx(0.05 * 2**20)


def test_a_decimal_comma_is_no_thousands_separator() -> None:
    tables = device("Device   tps   kB_read/s", "sda   0,24   5,24")
    assert value(tables, "iops") == 0.24
    assert value(tables, "read_bandwidth") == pytest.approx(5.24 * 1024)


def test_percentages_of_documents_have_no_sign() -> None:
    tables = read(fixture("12.6.1-x.json"))
    assert value(tables, "utilisation", "vda", 1) == pytest.approx(0.388)
    assert value(tables, "write_merged", "vda", 0) == pytest.approx(0.3859)


def test_blocks_of_pretty_are_one_report() -> None:
    assert len(read(fixture("12.6.1-x-pretty.log")).records("runs")) == 2


def test_colours_do_not_hide_the_device() -> None:
    streams = {row["stream"] for row in read(fixture("12.6.1-x-colour.log")).records("metrics")}
    assert streams == {None, "vda"}


def test_sizes_that_do_not_give_the_rate_are_told() -> None:
    header = "Device   r/s   rkB/s   rareq-sz"
    assert "rate_mismatch" not in codes(device(header, "sda   127.92   8595.16   67.19"))
    assert "rate_mismatch" in codes(device(header, "sda   127.92   8595.16   77.19"))


def test_times_without_a_zone_give_durations_only() -> None:
    runs = read(fixture("12.6.1-dk-t.txt")).records("runs")
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
    run = read(f"{BANNER}\n{first}\n{table}{second}\n{table}").records("runs")[1]
    assert run["duration_ns"] == (None if seconds is None else seconds * 10**9)


def test_groups_are_sums() -> None:
    tables = device("Device   tps   kB_read/s", "sda   1.00   4.00\nsdb   2.00   8.00\n disks   3.00   12.00")
    scopes = {row["stream"]: row["scope"] for row in tables.records("metrics")}
    assert scopes == {"sda": "stream", "sdb": "stream", "disks": "run"}


def test_a_report_that_ends_behind_its_header_is_cut() -> None:
    lines = fixture("12.6.1-plain.txt").splitlines(keepends=True)
    tables = read("".join(lines[:13]))
    assert [run["status"] for run in tables.records("runs")] == ["complete", "truncated"]


def test_the_banner_of_another_tool_of_sysstat_gives_no_numbers() -> None:
    tables = read(BANNER + "\n12:00:01 AM  CPU    %usr   %nice\n12:00:02 AM  all    1.00    0.00\n")
    assert not tables.records("metrics")
    assert [run["status"] for run in tables.records("runs")] == ["no_data"]


def test_odd_text_ends_in_time() -> None:
    for odd in ("Device " + "a " * 1900, "avg-cpu: " + "%a " * 1000, "sda " + "1.0 " * 1000, "1:" * 2000, "{" * 3000):
        assert "parser_failed" not in codes(read(f"{BANNER}\nDevice   tps\n{odd}\n"))
