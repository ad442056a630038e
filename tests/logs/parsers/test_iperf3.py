"""What the fixtures cannot say of iperf3: cut, joined and odd logs, and the seeds' numbers."""

from __future__ import annotations

import json
import re
import time
from pathlib import Path
from typing import Any

import msgspec
import pytest
from helpers.cut_logs import event_code_set, read_log, rows_by_run
from helpers.logs import event_codes, first_run, read_text
from helpers.places import FIXTURES, SHARED

import azlatency as az
from azlatency.logs.grammar import json_tokens
from azlatency.logs.parse import parse_source
from azlatency.logs.source.decode import source_from_bytes

FIXTURES = FIXTURES / "iperf3"
LOGS = sorted(path for path in FIXTURES.iterdir() if not path.name.endswith(".expected.json"))
CUTS = 40
LOUD = ("truncated", "interrupted", "failed", "no_data", "malformed")


def fixture(name: str) -> str:
    return source_from_bytes((FIXTURES / name).read_bytes(), name).text


def metric(tables: az.Logs, name: str, side: str | None, stream: str | None = None, run: int = 0) -> Any:
    run_id = tables.records("runs")[run]["run_id"]
    key = (run_id, name, side, stream)
    rows = [m for m in tables.records("metrics") if (m["run_id"], m["metric"], m["side"], m["stream"]) == key]
    return rows[0]["value"] if rows else None


def cuts(count: int) -> list[int]:
    return sorted({round(1 + step * (count - 1) / CUTS) for step in range(CUTS)})


@pytest.mark.costly
@pytest.mark.parametrize("path", LOGS, ids=lambda path: path.name)
def test_a_cut_log_gives_no_wrong_number(path: Path) -> None:
    text = source_from_bytes(path.read_bytes(), path.name).text
    lines = text.splitlines(keepends=True)
    whole = read_log(text)
    metrics = ("metric", "side", "stream", "value", "printed")
    intervals = ("stream", "start_ns", "end_ns", "bytes", "retransmits", "omitted", "line")
    for length in cuts(len(lines)):
        part = read_log("".join(lines[:length]))
        assert "parser_failed" not in event_code_set(part)
        assert rows_by_run(part, "metrics", metrics) <= rows_by_run(whole, "metrics", metrics), (
            f"cut after line {length}"
        )
        assert rows_by_run(part, "intervals", intervals) <= rows_by_run(whole, "intervals", intervals), (
            f"cut after line {length}"
        )


@pytest.mark.parametrize("name", ["3.12-tcp-omit.txt", "3.1-udp.txt", "3.14-server-bidir-P2.log", "3.12-udp.txt"])
def test_a_row_cut_in_the_middle_gives_no_number(name: str) -> None:
    text = fixture(name)
    whole = read_log(text)
    for length in range(len(text) // 2, len(text), 7):
        part = read_log(text[:length])
        for table, names in (("metrics", ("metric", "side", "stream", "value")), ("intervals", ("start_ns", "bytes"))):
            assert rows_by_run(part, table, names) <= rows_by_run(whole, table, names), text[:length][-80:]


@pytest.mark.parametrize("path", [path for path in LOGS if path.suffix == ".json"], ids=lambda path: path.name)
def test_a_document_cut_anywhere_keeps_what_was_complete(path: Path) -> None:
    text = path.read_text("utf-8")
    whole = rows_by_run(read_log(text), "intervals", ("stream", "start_ns", "bytes", "line"))
    for length in cuts(len(text)):
        part = read_log(text[:length])
        assert "parser_failed" not in event_code_set(part)
        assert rows_by_run(part, "intervals", ("stream", "start_ns", "bytes", "line")) <= whole
        if part.records("runs") and length < len(text) - 2:
            assert event_code_set(part) & set(LOUD)


WRAPPERS: dict[str, tuple[str, int]] = {
    "object": ('{"status": "success",\n "data": %s,\n "meta": {"start": "12:00", "source": "a"}}\n', 1),
    "pairs": ('{"data": {"pairs": [\n{"a": 1, "result": %s},\n{"result": %s}], "n": [1, 2]}}\n', 2),
    "errors": ('{"error": null, "data": [{"tcp": %s, "udp": {"error": "ssh failed"}}], "n": 1}\n', 1),
}


@pytest.mark.parametrize("name", ["3.1-udp.json", "3.12-tcp.json"])
@pytest.mark.parametrize("wrapper", WRAPPERS.values(), ids=WRAPPERS)
def test_documents_inside_the_json_of_another_program(wrapper: tuple[str, int], name: str) -> None:
    """The numbers are those of the document alone, with their lines in the file; a cut file keeps what was complete."""
    pattern, count = wrapper
    text = json.dumps(json.loads(fixture(name)), indent=1) + "\n"
    alone, wrapped = read_log(text), pattern.replace("%s", text.rstrip())
    tables = read_log(wrapped)
    assert [run["status"] for run in tables.records("runs")] == ["complete"] * count
    columns = ("metric", "side", "stream", "value", "printed")
    for rows in rows_by_run(tables, "metrics", columns), rows_by_run(tables, "intervals", ("start_ns", "bytes")):
        assert rows
    expected = sorted(map(repr, ([row[key] for key in columns] for row in alone.records("metrics"))))
    for run in tables.records("runs"):
        rows = [row for row in tables.records("metrics") if row["run_id"] == run["run_id"]]
        assert sorted(repr([row[key] for key in columns]) for row in rows) == expected
        lines = wrapped.splitlines()
        assert all(row["printed"] in lines[row["line"] - 1] for row in rows if row["printed"])
    whole = rows_by_run(tables, "metrics", columns)
    for length in cuts(len(wrapped)):
        part = read_log(wrapped[:length])
        assert "parser_failed" not in event_code_set(part)
        assert rows_by_run(part, "metrics", columns) <= whole


def test_objects_inside_each_other_are_read_in_bounded_depth() -> None:
    depth = 3000
    tables = read_log('{"a":' * depth + '\n{"start": {\n}}\n' + "}" * depth + "\n")
    assert "parser_failed" not in event_code_set(tables)


STOPPED_SERVER = """\
{"event":"error","data":"interrupt - the server has terminated"}
{"event":"end","data":{}}
"""


def test_a_server_that_is_stopped_after_a_test_repeats_no_end() -> None:
    stream = fixture("3.17.1-stream.ndjson").replace('"connecting_to"', '"accepted_connection"')
    columns = ("metric", "side", "value")
    logs, stopped = read_log(stream), read_log(stream + STOPPED_SERVER)
    assert rows_by_run(stopped, "metrics", columns) == rows_by_run(logs, "metrics", columns) != set()
    assert first_run(stopped)["status"] == "complete"
    repeated = read_log(stream + stream.splitlines()[-1] + "\n")
    assert first_run(repeated)["status"] == "failed"
    assert "repeated_end" in event_code_set(repeated)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("3.12-tcp-omit.txt", "3.12-P4.txt"),
        ("3.12-verbose.txt", "3.12-verbose.txt"),
        ("3.12-tcp.json", "3.12-udp-reverse.json"),
        ("3.12-udp.txt", "3.12-tcp.json"),
        ("3.17.1-stream.ndjson", "3.17.1-stream-interrupted.ndjson"),
        ("3.12-server-three-tests.txt", "3.14-server-bidir-P2.log"),
    ],
)
def test_two_logs_in_one_file_are_the_runs_of_both(first: str, second: str) -> None:
    names = ("metric", "side", "stream", "value", "printed")
    one, two, both = read_log(fixture(first)), read_log(fixture(second)), read_log(fixture(first) + fixture(second))
    shift = len(one.records("runs"))
    expected = rows_by_run(one, "metrics", names) | {
        (row[0] + shift, *row[1:]) for row in rows_by_run(two, "metrics", names)
    }
    assert rows_by_run(both, "metrics", names) == expected
    columns = ("tool_version", "client", "server", "status", "test", "protocol")
    assert rows_by_run(both, "runs", columns) == rows_by_run(one, "runs", columns) | {
        (row[0] + shift, *row[1:]) for row in rows_by_run(two, "runs", columns)
    }
    assert both.records("sources")[0]["lines_unknown"] == 0


def test_both_directions_of_a_document_with_doubled_keys() -> None:
    text = fixture("3.9-server-bidir.json")
    # The plain reading keeps the second direction only.
    document, _ = json.JSONDecoder().raw_decode(text)
    assert document["end"]["sum_sent"]["bytes"] == 50671232
    tables = read_log(text)
    assert metric(tables, "transferred", "receiver", "RX-S") == 50069504
    assert metric(tables, "transferred", "sender", "TX-S") == 50671232
    assert metric(tables, "transferred", "sender", "RX-S") is None
    assert "duplicate_json_key" in event_code_set(tables)


def test_directions_are_never_added() -> None:
    tables = read_log(fixture("3.12-bidir.txt"))
    streams = {row["stream"] for row in tables.records("metrics") if row["metric"] == "throughput"}
    assert streams == {"TX-C", "RX-C"}


def test_loss_counts_what_was_sent() -> None:
    sent = 142714
    text = (
        "Connecting to host 10.0.0.2, port 5201\n"
        "[  5] local 10.0.0.1 port 40000 connected to 10.0.0.2 port 5201\n"
        "- - - - - - - - - - - - - - - - - - - - - - - - -\n"
        "[ ID] Interval           Transfer     Bitrate         Jitter    Lost/Total Datagrams\n"
        f"[  5]   0.00-2.00   sec   197 MBytes   826 Mbits/sec  0.000 ms  0/{sent} (0%)  sender\n"
        "[  5]   0.00-2.00   sec   185 MBytes   776 Mbits/sec  0.010 ms  8120/142135 (5.7%)  receiver\n"
        "\niperf Done.\n"
    )
    tables = read_log(text)
    assert metric(tables, "lost", "sender") is None
    assert metric(tables, "lost", "receiver") == 8120
    assert metric(tables, "datagrams", "sender") == sent
    assert metric(tables, "loss", None) == pytest.approx(1 - (142135 - 8120) / sent)
    assert {"tail_loss", "loss_recomputed"} <= event_code_set(tables)


def test_loss_of_shifted_windows_is_the_receivers() -> None:
    tables = read_log(fixture("3.16-udp-omit.json"))
    assert metric(tables, "loss", None) == pytest.approx(1004 / 6138)
    assert metric(tables, "datagrams", "sender") == 6292


def test_intervals_without_the_omitted_ones_add_up_to_the_total() -> None:
    for name in ("3.12-omit-boundary.json", "3.12-interrupted.json"):
        tables = read_log(fixture(name))
        rows = [row for row in tables.records("intervals") if not row["omitted"] and row["stream"] is None]
        assert sum(row["bytes"] for row in rows) == metric(tables, "transferred", "sender")


def test_an_interval_of_length_zero_has_no_rate() -> None:
    row = next(row for row in read_log(fixture("3.12-omit-boundary.json")).records("intervals") if row["line"] == 66)
    assert row["throughput_bit_s"] is None
    assert row["throughput_printed_bit_s"] == pytest.approx(608848061.08, rel=1e-9)


def test_a_zero_interval_is_a_stall_and_a_zero_total_is_missing() -> None:
    text = fixture("3.12-interrupted.txt").replace("175 MBytes  1.47 Gbits/sec", "0.00 Bytes  0.00 bits/sec")
    tables = read_log(text)
    assert [row["bytes"] for row in tables.records("intervals")][1] == 0
    assert metric(tables, "throughput", "receiver") is None


def test_remote_rates_of_an_unfinished_test_do_not_make_it_complete() -> None:
    text = fixture("3.12-interrupted.txt").split("\n", 1)[1]
    assert read_log(text).records("runs")[0]["status"] == "interrupted"


@pytest.mark.parametrize("prefix", ["> ", "2026-11-21T01:43:36Z ", "zone 1:  ", "[pod/client/iperf3] "])
def test_a_prefix_on_every_line_is_removed(prefix: str) -> None:
    plain = fixture("3.12-tcp-omit.txt")
    tables = read_log("".join(prefix + line for line in plain.splitlines(keepends=True)))
    names = ("metric", "side", "value")
    assert rows_by_run(tables, "metrics", names) == rows_by_run(read_log(plain), "metrics", names)
    assert tables.records("sources")[0]["lines_unknown"] == 0


def test_text_and_document_of_one_kind_of_test_have_the_same_metrics() -> None:
    text, document = read_log(fixture("3.12-tcp-omit.txt")), read_log(fixture("3.12-tcp.json"))
    keys = rows_by_run(text, "metrics", ("metric", "side", "stream", "unit"))
    assert keys <= rows_by_run(document, "metrics", ("metric", "side", "stream", "unit"))


def test_client_and_server_in_one_terminal_are_separated() -> None:
    text = (
        "Connecting to host 127.0.0.1, port 5201\n"
        "Accepted connection from 127.0.0.1, port 34916\n"
        "[  5] local 127.0.0.1 port 34928 connected to 127.0.0.1 port 5201\n"
        "[  5] local 127.0.0.1 port 5201 connected to 127.0.0.1 port 34928\n"
        "[ ID] Interval           Transfer     Bitrate\n"
        "[  5]   0.00-1.00   sec   161 MBytes  1.35 Gbits/sec                  \n"
        "[ ID] Interval           Transfer     Bitrate         Retr  Cwnd\n"
        "[  5]   0.00-1.01   sec   163 MBytes  1.36 Gbits/sec    0   1.19 MBytes       \n"
    )
    tables = read_log(text)
    assert [(row["side"], row["throughput_printed_bit_s"]) for row in tables.records("intervals")] == [
        ("receiver", 1.35e9),
        ("sender", 1.36e9),
    ]
    assert "interleaved" in event_code_set(tables)


def test_a_number_that_is_none_is_missing() -> None:
    text = fixture("3.12-tcp.json").replace("3227504564.009778", "-nan").replace("3126674652.3081775", "-nan")
    tables = read_log(text)
    assert metric(tables, "throughput", "receiver") is None
    assert metric(tables, "transferred", "receiver") == 812973704
    assert len(tables.records("intervals")) == 2


@pytest.mark.parametrize("value", ['"x"', "true", "99999999999999999999"])
@pytest.mark.parametrize(
    ("key", "lines", "table", "column"),
    [
        ("bytes", {45, 60, 72, 87, 125, 134}, "intervals", "bytes"),
        ("bits_per_second", {46, 61, 73, 88, 126, 135}, "intervals", "throughput_printed_bit_s"),
        ("retransmits", {47, 62, 74, 89, 127}, "intervals", "retransmits"),
        ("remote_user", {143}, "metrics", "cpu_user"),
        ("target_bitrate", {22, 36}, "metrics", "target_rate"),
        ("duration", {31}, "runs", "requested_duration_ns"),
        ("omit", {30}, "runs", "warmup_ns"),
    ],
)
def test_a_member_that_is_not_a_number_is_left_out_and_reported_with_its_line(
    key: str, lines: set[int], table: str, column: str, value: str
) -> None:
    logs = read_text(re.sub(rf'("{key}":\s*)[^,\n]+', rf"\g<1>{value}", fixture("3.12-tcp.json")))
    reports = [event for event in logs.records("events") if event["severity"] != "info"]
    assert {(event["code"], event["text"]) for event in reports} == {
        ("malformed", f"{key!r} is {value}, not a number that iperf3 writes; it is left out")
    }
    assert {event["line"] for event in reports} == lines
    if table == "metrics":
        assert column not in {row["metric"] for row in logs.records(table) if row["side"] != "local"}
    else:
        assert {row[column] for row in logs.records(table)} == {None}


def test_a_number_that_is_too_large_is_left_out_and_reported_with_its_line() -> None:
    logs = read_text(re.sub(r'("jitter_ms":\s*)[^,\n]+', r"\g<1>1e12", fixture("3.12-udp-reverse.json")))
    assert {event["line"] for event in logs.records("events") if event["code"] == "malformed"} == {
        46,
        59,
        74,
        87,
        130,
        142,
    }
    assert [row["jitter_ns"] for row in logs.records("intervals")] == [None, None]


def test_positions_and_doubled_keys_of_the_json_reader() -> None:
    node, end = json_tokens.read_value('{"a": 1.50, "a": "x\\"y", "b": [true, null, {"c": -nan}]} ', 0)
    assert [leaf.token for leaf in node.all("a")] == ["1.50", 'x"y']
    assert json_tokens.to_plain(node) == {"a": 'x"y', "b": [True, None, {"c": None}]}
    assert end == 56
    with pytest.raises(json_tokens.JsonError):
        json_tokens.read_value("[" * 100, 0)
    with pytest.raises(json_tokens.JsonError):
        json_tokens.read_value("12", 0)


def test_damaged_text_is_parsed_in_bounded_time() -> None:
    for text in ("[  5]" + " " * 4000, "[ ID]" * 800, "{" * 3000, '{"start":' * 300, "[  5]   0.00-" + "1" * 4000):
        tables = read_log("Connecting to host a, port 1\n" + text + "\n")
        assert "parser_failed" not in event_code_set(tables)


@pytest.mark.skipif(not SHARED.is_dir(), reason="the shared material is not there")
def test_the_numbers_of_the_notes() -> None:
    tables = az.parse(SHARED / "seeds" / "azure-cni-zone-pairs.md")
    runs = [run for run in tables.records("runs") if run["tool"] == "iperf3"]
    assert [run["heading"].rsplit(" / ", 1)[-1] for run in runs] == [
        "Inside single node",
        "AZ1 - AZ1",
        "AZ1 - AZ2",
        "AZ2 - AZ3",
        "AZ1 - AZ3",
    ]
    rows = {(m["run_id"], m["metric"], m["side"]): m["printed"] for m in tables.records("metrics")}
    ids = [run["run_id"] for run in runs]
    for metric_name, side, printed in [
        ("throughput", "sender", ["25.7", "11.8", "11.8", "8.25", "7.91"]),
        ("throughput", "receiver", ["25.7", "11.8", "11.8", "8.25", "7.91"]),
        ("retransmits", "sender", ["542", "24093", "12919", "495", "616"]),
        ("transferred", "sender", ["29.9", "13.8", "13.8", "9.61", "9.21"]),
    ]:
        assert [rows[run_id, metric_name, side] for run_id in ids] == printed
    kept = [row for row in tables.records("intervals") if row["run_id"] == ids[0] and not row["omitted"]]
    assert len(kept) == 10
    assert sum(row["retransmits"] for row in kept) == 542


@pytest.mark.skipif(not SHARED.is_dir(), reason="the shared material is not there")
def test_totals_of_the_generated_logs() -> None:
    compared = 0
    for path in sorted((SHARED / "corpus" / "generated" / "iperf3").glob("*.client.expected.json")):
        expected = json.loads(path.read_text("utf-8"))["expected"]
        stem = path.name.removesuffix(".expected.json")
        log = next(path.with_name(stem + end) for end in (".log", ".json") if path.with_name(stem + end).exists())
        tables = az.parse(log)
        for name, side in (("sum_sent", "sender"), ("sum_received", "receiver")):
            total = expected.get(name)
            if total is None or not total["bytes"] or expected.get("bidir") or "_bidir" in path.name:
                continue
            assert metric(tables, "transferred", side) == total["bytes"], log.name
            assert metric(tables, "throughput", side) == pytest.approx(total["bits_per_second"], rel=1e-9), log.name
            compared += 1
        lines = {row["line"]: row for row in tables.records("metrics") if row["metric"] == "throughput"}
        for row in expected.get("summary_rows", []):
            if row["bytes"] and "getsrv" not in log.name:  # there the server's own rows follow
                assert row["bits_per_second"] in {line["value"] for line in lines.values()}, log.name
                compared += 1
    assert compared > 250


ROWS = """\
Connecting to host 10.99.0.2, port 5301
[  5] local 10.99.0.1 port 53736 connected to 10.99.0.2 port 5301
[ ID] Interval           Transfer     Bitrate         Retr  Cwnd
[  5]   0.00-10.00  sec   334 MBytes   280 Mbits/sec    0    266 KBytes
[  5]  10.00-10.01  sec   128 KBytes   105 Mbits/sec    0    266 KBytes
- - - - - - - - - - - - - - - - - - - - - - - - -
[ ID] Interval           Transfer     Bitrate         Retr
[  5]   0.00-10.01  sec   334 MBytes   280 Mbits/sec    0             sender
[  5]   0.00-79.51  sec   332 MBytes  35.0 Mbits/sec                  receiver

iperf Done.
"""


def test_a_short_last_interval_and_a_long_drain_are_reported() -> None:
    assert {"tail_interval", "duration_overrun"} <= set(event_codes(read_text("$ iperf3 -c 10.99.0.2 -t 10\n" + ROWS)))


def test_the_closing_rows_alone_are_read() -> None:
    tables = read_text("".join(line + "\n" for line in ROWS.splitlines()[6:9]))
    assert [row["value"] for row in tables.rows["metrics"] if row["metric"] == "throughput"] == [280e6, 35e6]
    assert tables.rows["intervals"] == []


OLD_SERVER = """Accepted connection from 10.0.0.1, port 41632
[  5] local 10.0.0.2 port 5201 connected to 10.0.0.1 port 41642
[ ID] Interval           Transfer     Bandwidth
[  5]   0.00-1.00   sec   156 MBytes  1.31 Gbits/sec
[  5]   1.00-2.00   sec   138 MBytes  1.16 Gbits/sec
- - - - - - - - - - - - - - - - - - - - - - - - -
[ ID] Interval           Transfer     Bandwidth       Retr
[  5]   0.00-2.00   sec   295 MBytes  1.24 Gbits/sec   15             sender
"""


def test_an_old_server_log_cut_after_the_row_of_the_sender_is_not_reverse() -> None:
    run = first_run(read_text(OLD_SERVER))
    assert (run["test"], run["status"]) == ("stream", "truncated")
    receiver = "[  5]   0.00-2.00   sec   294 MBytes  1.23 Gbits/sec                  receiver\n"
    run = first_run(read_text(OLD_SERVER + receiver))
    assert (run["test"], run["status"]) == ("stream", "complete")


def test_a_run_killed_within_its_titles_does_not_take_the_totals_of_the_next() -> None:
    text = """Connecting to host 10.0.0.2, port 5301
[  5] local 10.0.0.1 port 57444 connected to 10.0.0.2 port 5301
[  7] local 10.0.0.1 port 57454 connected to 10.0.0.2 port 5301
[ ID] Interval           Transfer     Bitrate         Retr  Cwnd
[  5]   0.00-1.00   sec  46.4 MBytes   389 Mbits/sec    0    653 KBytes
[  7]   0.00-1.00   sec  62.8 MBytes   527 Mbits/sec    5    348 KBytes
[SUM]   0.00-1.00   sec   109 MBytes   914 Mbits/sec    5
- - - - - - - - - - - - - - - - - - - - - - - - -
[ ID] Interval           Transfer     Bitrate         RetrConnecting to host 10.0.0.2, port 5301
[  5] local 10.0.0.1 port 57026 connected to 10.0.0.2 port 5301
[ ID] Interval           Transfer     Bitrate         Retr  Cwnd
[  5]   0.00-1.00   sec  35.8 MBytes   300 Mbits/sec    0    273 KBytes
- - - - - - - - - - - - - - - - - - - - - - - - -
[ ID] Interval           Transfer     Bitrate         Retr
[  5]   0.00-1.00   sec  35.8 MBytes   300 Mbits/sec    0             sender
[  5]   0.00-1.05   sec  35.8 MBytes   286 Mbits/sec                  receiver

iperf Done.
"""
    logs = read_text(text)
    first, second = logs.records("runs")
    assert (first["status"], first["connections"]) == ("truncated", 2)
    assert (second["status"], second["connections"]) == ("complete", 1)
    assert {row["run_id"] for row in logs.records("metrics")} == {second["run_id"]}
    assert logs.records("sources")[0]["lines_unknown"] == 1


def test_counts_out_of_order_between_the_totals_do_not_split_the_run() -> None:
    text = """Accepted connection from 10.0.0.1, port 41632
[  5] local 10.0.0.2 port 5201 connected to 10.0.0.1 port 41642
[  8] local 10.0.0.2 port 5201 connected to 10.0.0.1 port 41643
[ ID] Interval           Transfer     Bitrate         Jitter    Lost/Total Datagrams
[  5]   0.00-1.00   sec   128 KBytes  1.05 Mbits/sec  0.022 ms  0/91 (0%)
[  8]   0.00-1.00   sec   128 KBytes  1.05 Mbits/sec  0.021 ms  0/91 (0%)
[SUM]   0.00-1.00   sec   256 KBytes  2.10 Mbits/sec  0.021 ms  0/182 (0%)
- - - - - - - - - - - - - - - - - - - - - - - - -
[ ID] Interval           Transfer     Bitrate         Jitter    Lost/Total Datagrams
[SUM]  0.0- 1.0 sec  7 datagrams received out-of-order
[  5]   0.00-1.02   sec   128 KBytes  1.03 Mbits/sec  0.022 ms  0/91 (0%)  receiver
[  5]  0.0- 1.0 sec  3 datagrams received out-of-order
[  8]   0.00-1.02   sec   128 KBytes  1.03 Mbits/sec  0.021 ms  0/91 (0%)  receiver
[  8]  0.0- 1.0 sec  4 datagrams received out-of-order
[SUM]   0.00-1.02   sec   256 KBytes  2.06 Mbits/sec  0.021 ms  0/182 (0%)  receiver
"""
    logs = read_text(text)
    assert [(run["tool"], run["status"]) for run in logs.records("runs")] == [("iperf3", "complete")]
    rates = {row["stream"]: row["value"] for row in logs.records("metrics") if row["metric"] == "throughput"}
    assert rates == {"5": 1.03e6, "8": 1.03e6, None: 2.06e6}
    late = {row["stream"]: row["value"] for row in logs.records("metrics") if row["metric"] == "out_of_order"}
    assert late == {None: 7, "5": 3, "8": 4}


@pytest.mark.parametrize(
    ("last", "kept"),
    [
        ("[  5]   0.00-1.00   sec   129 KBytes  1.06 Mbits/sec  0.022 ms  0/6 (0%)", 1),
        ("[  5]   0.00-1.00   sec  35.8 MBytes   300 Mbits/sec    0    273 KBytes", 1),
        ("[  5]   0.00-1.00   sec  35.8 MBytes   300 Mbits/sec    1", 0),
        ("[  5]   0.00-1.00   sec  35.8 MBytes   300 Mbits/s", 0),
    ],
)
def test_a_last_interval_is_kept_if_its_end_proves_it_whole(last: str, kept: int) -> None:
    logs = read_text("[  5] local 10.0.0.1 port 57026 connected to 10.0.0.2 port 5201\n" + last)
    assert len(logs.records("intervals")) == kept
    assert first_run(logs)["status"] == "truncated"


def test_the_single_total_of_an_old_udp_server_is_that_of_both_ends() -> None:
    text = """Accepted connection from 10.0.0.1, port 41632
[  5] local 10.0.0.2 port 5201 connected to 10.0.0.1 port 41642
[ ID] Interval           Transfer     Bandwidth       Jitter    Lost/Total Datagrams
[  5]   0.00-1.00   sec   128 KBytes  1.05 Mbits/sec  0.022 ms  0/16 (0%)
- - - - - - - - - - - - - - - - - - - - - - - - -
[ ID] Interval           Transfer     Bandwidth       Jitter    Lost/Total Datagrams
[  5]   0.00-1.00   sec   128 KBytes  1.05 Mbits/sec  0.022 ms  0/16 (0%)
"""
    run = first_run(read_text(text))
    assert (run["test"], run["status"]) == ("stream", "complete")


def test_a_row_that_somebody_cut_behind_its_rate() -> None:
    tables = read_text(
        "Connecting to host 10.0.0.2, port 5201\n[  5] local 10.0.0.1 port 40000 connected to 10.0.0.2 port 5201\n"
        "[ ID] Interval           Transfer     Bitrate         Retr  Cwnd\n"
        "[  5]   0.00-1.00   sec  3.96 GBytes  34.0 Gbits/sec    0   3.18 MByt...\n"
    )
    (row,) = tables.rows["intervals"]
    assert (row["throughput_printed_bit_s"], row.get("cwnd_bytes")) == (34_000_000_000, None)


def test_server_output_may_begin_with_the_banner_of_the_server(read) -> None:
    text = (FIXTURES / "3.17.1-server-output.log").read_text("utf-8")
    banner = "-----------------------------------------------------------\nServer listening on 5301\n"
    with_banner = read(text.replace("Server output:\n", f"Server output:\n{banner}"))
    assert with_banner.runs[0]["status"] == "complete"
    assert len(with_banner.runs) == 1


def test_the_total_in_the_server_output_is_kept_beside_that_of_the_client(read) -> None:
    log = read((FIXTURES / "3.17.1-server-output.log").read_text("utf-8"))
    rates = {side: log.metric("throughput", side=side) for side in ("sender", "receiver", "server")}
    assert [(rate["value"], rate["line"]) for rate in rates.values()] == [(275e6, 8), (274e6, 9), (274e6, 19)]


def test_a_zero_in_the_server_output_is_not_a_rate(read) -> None:
    """Up to 3.1 the server also prints a row for the sender, whose count it does not know."""
    text = (FIXTURES / "3.17.1-server-output.log").read_text("utf-8")
    head, total, end = text.rpartition("[  5]   0.00-2.02   sec  65.9 MBytes   274 Mbits/sec")
    unknown = "[  5]   0.00-2.02   sec  0.00 Bytes  0.00 bits/sec                  sender\n"
    rate = read(head + unknown + total + end).metric("throughput", side="server")
    assert (rate["value"], rate["line"]) == (274e6, 20)


def test_a_sentence_about_errors_is_not_a_run(read) -> None:
    assert not read("# Changes\n- Errors print the shape of iperf3 (`riperf3: error - ...`,\n  exit 1)\n", "a.md").runs


def test_a_wrong_option_is_a_failed_run(read) -> None:
    log = read("iperf3: parameter error - must either be a client (-c) or server (-s)\n")
    assert (log.runs[0]["status"], log.unknown()) == ("failed", 0)


def _document(intervals: int) -> dict[str, Any]:
    """Return a document with two streams and their sum."""

    def row(k: int, size: int, **more: Any) -> dict[str, Any]:
        times = {"start": k, "end": k + 1.000068, "seconds": 1.000068}
        return {
            **times,
            "bytes": size,
            "bits_per_second": 8 * size / 1.000068,
            "omitted": False,
            "sender": True,
            **more,
        }

    def interval(k: int) -> dict[str, Any]:
        streams = [row(k, 49_204_428 + i, socket=5 + 2 * i, retransmits=i, snd_cwnd=774126, rtt=1603) for i in (0, 1)]
        return {"streams": streams, "sum": row(k, 98_408_857, retransmits=1)}

    start = {
        "connected": [{"socket": socket, "local_host": "10.0.0.1", "local_port": 40_000 + socket,
                       "remote_host": "10.0.0.2", "remote_port": 5201} for socket in (5, 7)],
        "version": "iperf 3.16",
        "connecting_to": {"host": "10.0.0.2", "port": 5201},
        "test_start": {"protocol": "TCP", "num_streams": 2, "blksize": 131072, "omit": 0, "duration": intervals},
    }  # fmt: skip
    total = {**row(0, intervals * 98_408_857), "end": intervals + 0.01, "seconds": intervals + 0.01}
    return {
        "start": start,
        "intervals": list(map(interval, range(intervals))),
        "end": {"streams": [], "sum_sent": total, "sum_received": total},
    }


def _refuse(value: object, kind: type) -> None:
    raise msgspec.ValidationError


def _edit(document: dict[str, Any], edit: str) -> None:
    """Change the middle of a document so that its rows need an event, or another way of reading."""
    intervals = document["intervals"]
    middle = intervals[len(intervals) // 2]
    row = middle["streams"][0]
    edits: dict[str, Any] = {
        "usual": lambda: None,
        "missing": lambda: intervals.remove(middle),
        "twice": lambda: intervals.insert(1, intervals[0]),
        "wrong rate": lambda: row.update(bits_per_second=row["bits_per_second"] * 1.2),
        "no bytes": lambda: row.update(bytes=None),
        "no time": lambda: row.pop("start"),
        "zero": lambda: row.update(bytes=0, bits_per_second=0),
        "text": lambda: row.update(rtt="7"),
        "short end": lambda: [row.update(end=row["end"] - 0.7) for row in intervals[-1]["streams"]],
        "omitted": lambda: row.update(omitted=True),
        "other stream": lambda: row.update(socket=99),
        "fewer streams": middle["streams"].pop,
        "no sum": lambda: middle.pop("sum", None),
        "both ways": lambda: row.update(sender=not row.get("sender")),
        "jitter": lambda: row.update(jitter_ms=0.5, lost_packets=3, packets=7),
        "more": lambda: row.update(deeper={"a": [{}]}),
        "no protocol": lambda: document["start"]["test_start"].pop("protocol", None),
        "again": lambda: document.update(more={"intervals": []}),
        "in words": lambda: document.update(title='"intervals" {'),
    }
    edits[edit]()


@pytest.mark.parametrize("edit", [
    "usual", "missing", "twice", "wrong rate", "no bytes", "no time", "zero", "text", "short end", "omitted",
    "other stream", "fewer streams", "no sum", "both ways", "jitter", "more", "no protocol", "again", "in words",
])  # fmt: skip
@pytest.mark.parametrize("name", ["made", "3.12-tcp.json", "3.12-udp-reverse.json"])
def test_intervals_give_the_same_tables_if_each_number_is_looked_at(
    monkeypatch: pytest.MonkeyPatch, name: str, edit: str
) -> None:
    path = FIXTURES / name
    document = json.loads(path.read_text("utf-8")) if path.is_file() else _document(12)
    _edit(document, edit)
    tables = []
    for convert in (msgspec.convert, _refuse):
        monkeypatch.setattr(msgspec, "convert", convert)
        read = read_text(json.dumps(document, indent="\t") + "\n")
        tables.append({table: read.records(table) for table in ("runs", "metrics", "intervals", "events")})
    assert tables[0] == tables[1]
    assert tables[0]["intervals"]


@pytest.mark.parametrize(
    ("key", "value"),
    [("bytes", str(10**20)), ("seconds", str(10**20)), ("socket", "1e3"), ("num_streams", '"x"'), ("blksize", '"x"')],
)
def test_impossible_values_do_not_stop_the_parser(key: str, value: str) -> None:
    read = read_text(re.sub(rf'("{key}":\s*)[\d.]+', rf"\g<1>{value}", fixture("3.12-tcp.json")))
    assert len(read.records("runs")) == 1
    assert "parser_failed" not in {event["code"] for event in read.records("events")}


def test_each_number_of_a_document_is_traced_to_its_own_line() -> None:
    metrics = read_log(fixture("3.12-tcp.json")).records("metrics")
    lines = {(m["metric"], m["side"]): m["line"] for m in metrics}
    assert lines["transferred", "sender"] == 125
    assert lines["throughput", "sender"] == 126
    assert lines["retransmits", "sender"] == 127
    assert lines["throughput", "receiver"] == 135
    assert lines["cpu_process", "local"] == 139
    udp = {m["metric"]: m["line"] for m in read_log(fixture("3.12-udp-reverse.json")).records("metrics")}
    printed = fixture("3.12-udp-reverse.json").splitlines()
    for name, key in (("jitter", "jitter_ms"), ("lost", "lost_packets"), ("loss", "lost_percent")):
        assert f'"{key}":' in printed[udp[name] - 1]


@pytest.mark.parametrize("path", [path for path in LOGS if path.suffix == ".json"], ids=lambda path: path.name)
def test_a_printed_number_is_part_of_the_line_it_is_traced_to(path: Path) -> None:
    text = path.read_text("utf-8")
    lines = text.splitlines()
    for metric_row in read_log(text).records("metrics"):
        assert str(metric_row["printed"]) in lines[metric_row["line"] - 1]


@pytest.mark.slow
def test_totals_of_many_repeats_are_read_in_linear_time() -> None:
    raw = (FIXTURES / "3.0.11-server-interrupted.log").read_bytes()
    totals = b"".join(line for line in raw.splitlines(keepends=True) if line.rstrip().endswith(b"receiver"))

    def seconds(times: int) -> float:
        start = time.process_time()
        parse_source(source_from_bytes(raw + totals * times, "a.log"))
        return time.process_time() - start

    seconds(10)
    assert seconds(3000) < 9 * seconds(1000) + 0.3


def test_totals_that_grep_left_over_are_a_run_for_each_test(read) -> None:
    sender = "[  5]   0.00-10.00  sec  1.10 GBytes   941 Mbits/sec    0             sender\n"
    receiver = "[  5]   0.00-10.04  sec  1.10 GBytes   938 Mbits/sec                  receiver\n"
    log = read("TCP test 1\n" + sender + receiver + "TCP test 2\n" + sender.replace("941", "943") + receiver)
    assert [run["status"] for run in log.runs] == ["complete", "complete"]
    assert [log.value("throughput", run, side="sender") for run in (0, 1)] == [941e6, 943e6]
    assert "value_conflict" not in log.codes()


def test_a_total_that_is_cut_does_not_cut_the_test_above(read) -> None:
    sender = "[  5]   0.00-10.00  sec  1.10 GBytes   941 Mbits/sec    0             sender\n"
    receiver = "[  5]   0.00-10.04  sec  1.10 GBytes   938 Mbits/sec                  receiver\n"
    log = read(sender + receiver + sender.rstrip("\n"))
    assert [run["status"] for run in log.runs] == ["complete", "truncated"]


def titled_log(port: int, rate: int) -> list[str]:
    return [
        f"Connecting to host 10.0.0.2, port {port}",
        f"[  4] local 10.0.0.1 port 4{port} connected to 10.0.0.2 port {port}",
        "[ ID] Interval           Transfer     Bandwidth       Retr  Cwnd",
        f"[  4]   0.00-1.00   sec   {rate} MBytes  {rate * 8.388608:.0f} Mbits/sec    3    446 KBytes",
        "- - - - - - - - - - - - - - - - - - - - - - - - -",
        "[ ID] Interval           Transfer     Bandwidth       Retr",
        f"[  4]   0.00-1.00   sec   {rate} MBytes  {rate * 8.388608:.0f} Mbits/sec    3             sender",
        f"[  4]   0.00-1.00   sec   {rate} MBytes  {rate * 8.388608:.0f} Mbits/sec                  receiver",
        "",
        "iperf Done.",
    ]


def test_clients_with_titles_that_write_at_once_are_read_apart() -> None:
    clients = [[f"s{client}:  {line}" for line in titled_log(5100 + client, 100 + client)] for client in (1, 2, 3)]
    mixed = read_text("\n".join(line for lines in zip(*clients, strict=True) for line in lines) + "\n")
    runs = mixed.records("runs")
    assert [(run["status"], run["connections"], run["server"]) for run in runs] == [("complete", 1, "10.0.0.2")] * 3
    sent = [
        row["value"] for row in mixed.records("metrics") if (row["metric"], row["side"]) == ("throughput", "sender")
    ]
    assert sent == [847e6, 856e6, 864e6]
    assert event_codes(mixed) == ["mixed_runs"] * 3
    assert mixed.records("sources")[0]["lines_unknown"] == 0
    in_turn = read_text("\n".join(line for lines in clients for line in lines) + "\n")
    assert "mixed_runs" not in event_codes(in_turn)
    assert len(in_turn.records("runs")) == 3


def test_the_oldest_rows_have_no_blank_before_the_unit_of_time() -> None:
    logs = read_text(
        "[ ID] Interval               Transfer        Bandwidth       Retr\n"
        "[ 15] 0.00-10.00sec  9.45 GBytes  8114 Mbits/sec   0      sender\n"
        "[ 15] 0.00-10.00 sec 9.43 GBytes  8103 Mbits/sec           receiver\niperf Done.\n"
    )
    rates = {row["side"]: row["value"] for row in logs.records("metrics") if row["metric"] == "throughput"}
    assert (rates, first_run(logs)["status"]) == ({"sender": 8114e6, "receiver": 8103e6}, "complete")


def test_the_command_names_server_and_direction_where_only_the_summary_was_kept() -> None:
    rows = (
        "[ ID] Interval           Transfer     Bandwidth       Retr\n"
        "[  4]   0.00-10.00  sec  15.9 MBytes  13.4 Mbits/sec    0             sender\n"
        "[  4]   0.00-10.00  sec  15.0 MBytes  12.6 Mbits/sec                  receiver\n\n"
    )
    runs = read_text(f">iperf3 -6 -c host.example\n{rows}>iperf3 -6 -c host.example -R\n{rows}").records("runs")
    assert [(run["test"], run["server"], run["status"]) for run in runs] == [
        ("stream", "host.example", "complete"),
        ("stream-reverse", "host.example", "complete"),
    ]


def test_offloads_that_are_on_are_settings() -> None:
    text = (FIXTURES / "3.21-stream-P2-omit.ndjson").read_text("utf-8")
    plain, with_gso = (first_run(read_text(log)) for log in (text, text.replace('"gso":0', '"gso":1', 1)))
    assert "gso" not in (plain["settings"] or "")
    assert with_gso["settings"].split("; ").count("gso 1") == 1


@pytest.mark.parametrize(("log", "line"), [("3.1-udp.txt", "[ ID] Interval"), ("3.12-ipv6.txt", "[  5] local ")])
def test_a_line_above_the_rows_that_stands_twice_changes_no_number(log: str, line: str) -> None:
    lines = fixture(log).splitlines(keepends=True)
    again = "".join(text * 2 if text.startswith(line) else text for text in lines)
    once, twice = (parse_source(source_from_bytes(text.encode(), log)) for text in ("".join(lines), again))
    for table in ("metrics", "intervals"):
        assert [{**row, "run_id": "", "line": 0} for row in twice.rows[table]] == [
            {**row, "run_id": "", "line": 0} for row in once.rows[table]
        ]
