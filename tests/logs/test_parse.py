"""Reading files: what is returned, what is raised, and what is explained."""

from __future__ import annotations

import shutil
import warnings
import zipfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from helpers.edited import parse_text, text_of
from helpers.logs import event_codes, metric_values
from helpers.places import ROOT

import azlatency as az
from azlatency.logs.parse import LogError, parse, parse_source
from azlatency.logs.source.decode import source_from_bytes

SENDER = ROOT / "data" / "raw" / "canadacentral-proximity-placement" / "sender.log"


def test_a_log_is_read_into_one_run_with_its_numbers() -> None:
    logs = parse(SENDER)
    # sender.log, line 9: "Latency(usec) 2026.40"
    assert len(logs.runs) == 1 and metric_values(logs)["rtt_mean"] == 2_026_400.0
    assert az.parse is parse


def test_the_lines_that_identify_the_tool_are_explained() -> None:
    lines: list[str] = []
    parse(SENDER, explain=lines.append)
    assert any("claim of latte" in line for line in lines)
    assert all(str(SENDER) in line for line in lines)


def test_a_file_without_a_log_is_an_event_and_in_strict_mode_an_exception(tmp_path: Path) -> None:
    path = tmp_path / "a.log"
    path.write_text("hello\n")
    logs = parse(path)
    assert logs.errors() and len(logs.runs) == 0 and len(event_codes(logs)) >= 1
    with pytest.raises(LogError, match=r"a\.log:1: no log of a known tool"):
        parse(path, strict=True)


def test_a_document_among_logs_is_an_event_and_a_warning(tmp_path: Path, raw: Path) -> None:
    """The logs beside it are read; a document alone, or ``strict``, is an error."""
    shutil.copy(raw / "westeurope-azure-cni" / "az1-az3" / "sockperf.log", tmp_path)
    with zipfile.ZipFile(tmp_path / "table.xlsx", "w") as workbook:
        workbook.writestr("[Content_Types].xml", "<Types/>")
    with pytest.warns(UserWarning, match=r"table\.xlsx:1: a document"):
        logs = az.parse(tmp_path)
    assert len(logs.runs) == 1 and list(logs.events.loc[logs.events["code"] == "unreadable_file", "severity"]) == [
        "error"
    ]
    assert len(logs.errors()) == 1 and "table.xlsx:1: a document" in logs.errors()[0]
    for paths, strict in ((tmp_path / "table.xlsx", False), (tmp_path, True)):
        with pytest.raises(az.LogError, match=r"table\.xlsx:1: a document"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            az.parse(paths, strict=strict)


def test_files_with_the_same_bytes_are_one_run(tmp_path: Path, raw: Path) -> None:
    log = raw / "westeurope-azure-cni" / "az1-az3" / "sockperf.log"
    for name in ("a.log", "b.log", "c.log"):
        shutil.copy(log, tmp_path / name)
    for executor in (None, ThreadPoolExecutor(1)):
        logs = az.parse(tmp_path, tmp_path / "a.log", executor=executor)
        assert (len(logs.sources), len(logs.runs), len(az.latency(logs))) == (1, 1, 1)
        texts = logs.events.loc[logs.events["code"] == "identical_file", "text"]
        assert sorted(text.rpartition("/")[2] for text in texts) == ["a.log; counts once"] * 3


def test_unknown_lines_that_follow_each_other_are_one_event() -> None:
    ping = "PING 10.0.0.4 (10.0.0.4) 56(84) bytes of data.\n64 bytes from 10.0.0.4: icmp_seq=1 ttl=64 time=0.638 ms\n"
    end = "--- 10.0.0.4 ping statistics ---\n1 packets transmitted, 1 received, 0% packet loss, time 0ms\n"
    times = "rtt min/avg/max/mdev = 0.638/0.638/0.638/0.000 ms\n"
    log = parse_source(
        source_from_bytes((ping + "?? one\n?? two\n?? three\n" + end + "?? four\n" + times).encode(), "a.log")
    )
    events = [event for event in log.rows["events"] if event["code"] == "unknown_line"]
    assert [event["line"] for event in events] == [3, 8]
    assert events[0]["text"] == "no rule matches '?? one' and the lines up to 5"
    assert log.rows["sources"][0]["lines_unknown"] == 4


def test_a_file_without_a_log_names_the_tools_that_are_near() -> None:
    # A person retyped the heading, without its colon.
    text = "$ qperf 10.0.0.5 tcp_lat\ntcp_lat\n    latency  =  51.5 us\n"
    events = parse_source(source_from_bytes(text.encode(), "a.log")).rows["events"]
    told = next(event["text"] for event in events if event["code"] == "not_recognised")
    assert told.startswith("no log begins here: line 3 looks like a result of qperf, but")
    without_prompt = text.partition("\n")[2]
    events = parse_source(source_from_bytes(without_prompt.encode(), "a.log")).rows["events"]
    assert "line 2 looks like a result of qperf, but" in events[-1]["text"]


def test_a_file_without_a_log_names_the_tool_that_it_names() -> None:
    text = "ping is fine\nStarted ./sockperf-3.10, /usr/bin/sockperf as a server\n"
    events = parse_source(source_from_bytes(text.encode(), "a.log")).rows["events"]
    assert events[-1]["text"].startswith("no log begins here: line 2 names sockperf, but no result of it is read")


def test_a_table_of_results_is_refused_as_such() -> None:
    text = "With qperf:\n\n| from | to | latency |\n|---|:--|---:|\n| zone 1 | zone 2 | 718 us |\n"
    events = parse_source(source_from_bytes(text.encode(), "post.md")).rows["events"]
    told = next(event["text"] for event in events if event["code"] == "not_recognised")
    assert told.startswith("line 3 begins a table of results, which is not read; give the logs")


def test_values_in_running_text_are_told() -> None:
    log = "tcp_lat:\n    latency  =  16.9 us\n    msg_size = 2 bytes ---> msg_size\n\nMaximo = 1ms\n\na remark = 1\n"
    tables = parse_source(source_from_bytes(f"# Notes\n\n{log}".encode(), "notes.md"))
    events = [(row["line"], row["text"]) for row in tables.rows["events"]]
    assert [line for line, _ in events] == [5, 7]
    assert "msg_size' looks like a result of qperf" in events[0][1]
    assert "'Maximo = 1ms' looks like a result of a tool" in events[1][1]


@pytest.mark.parametrize(
    ("whole", "cut", "lines"),
    [
        ("iperf2/2.1.8-tcp-i1-client.log", "iperf2/2.1.8-bounceback-client.log", 4),
        ("iperf3/3.12-P4.txt", "iperf3/3.12-verbose.txt", 1),
        ("iostat/12.6.1-plain.txt", "iostat/12.6.1-h.log", 1),
        ("k8s_netperf/0.1.43-terminal.log", "k8s_netperf/0.1.25-same-node.log", 9),
        ("netperf/2.7.0-stream.log", "netperf/2.7.1-rr-k.log", 1),
    ],
)
def test_a_further_run_that_is_cut_within_its_header_is_told(whole: str, cut: str, lines: int) -> None:
    text = text_of(whole)
    alone, joined = (
        parse_text(content, "a.log")
        for content in (text, text + "".join(text_of(cut).splitlines(keepends=True)[:lines]))
    )
    runs = len(alone.rows["runs"])
    assert [(row["status"], row["last_line"]) for row in joined.rows["runs"][:runs]] == [
        (row["status"], row["last_line"]) for row in alone.rows["runs"]
    ]
    (further,) = joined.rows["runs"][runs:]
    assert further["status"] in ("no_data", "truncated") and further["last_line"] == text.count("\n") + lines
    assert [event["severity"] for event in joined.rows["events"] if event["run_id"] == further["run_id"]] == ["error"]
    both = parse_text(text_of(cut) + text, "a.log")
    above = parse_text("".join(text_of(cut).splitlines(keepends=True)[:lines]) + text_of(cut) + text, "a.log")
    told = [event["severity"] for event in above.rows["events"] if event["code"] in ("no_data", "truncated")]
    assert told == ["error"] and len(above.rows["runs"]) - len(both.rows["runs"]) in (0, 1)


def test_a_server_that_waits_begins_no_run() -> None:
    text = text_of("iperf3/3.12-server-three-tests.txt")
    assert text.rstrip().endswith("-") and "(test #4)" in text
    assert [row["status"] for row in parse_text(text, "a.log").rows["runs"]] == ["complete"] * 3
