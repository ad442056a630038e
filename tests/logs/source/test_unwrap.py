"""Wrapped logs: quoted, labelled by a runner, indented, in bold type, exported from a database as one line."""

from __future__ import annotations

import quopri
import time
import timeit
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from helpers.cases import thinned
from helpers.logs import metric_values, read_text
from helpers.places import FIXTURES
from helpers.short_logs import PING, QPERF

import azlatency as az
from azlatency.logs.parse import parse_source
from azlatency.logs.source.decode import source_from_bytes
from azlatency.logs.source.unwrap import propose_unwrapped
from azlatency.logs.tables import Logs

LARGEST = 60_000
TWO_LOGS = PING + QPERF

Wrap = Callable[[int, str], str]
WRAPPINGS: dict[str, Wrap] = {
    "mail": lambda _, line: f"> {line}",
    "mail, blanks at line ends lost": lambda _, line: f"> {line}".rstrip(),
    "mail twice": lambda _, line: f">> {line}",
    "runner": lambda _, line: f"[STDOUT] {line}",
    "test framework": lambda i, line: f"2025-06-03 18:00:{i % 60:02}.875[1756][DEBUG] cmd[7] stdout: {line}",
    "LISA": lambda i, line: f"2025-06-03 18:00:{i % 60:02}.875[17][INFO] lisa.env[0].node[1].cmd[6].stdout {line}",
    "container": lambda _, line: f"client-1  | {line}",
    "kubernetes": lambda i, line: f"2024-01-27T14:47:{i % 60:02}.123456789Z stdout F {line}",
    "syslog": lambda i, line: f"Jan 27 14:47:{i % 60:02} vm1 run[123]: {line}",
    "blanks": lambda _, line: " " * 44 + line,
    "tab": lambda _, line: "\t" + line,
    "bold": lambda _, line: f"**{line}**" if line.strip() else line,
}


def wrapped(text: str, wrap: Wrap, name: str = "a.log") -> Logs:
    lines = text.split("\n")
    end = [lines.pop()] if lines[-1] == "" else []
    plain = "\n".join([wrap(number, line) for number, line in enumerate(lines)] + end)
    return parse_source(source_from_bytes(plain.encode(), name))


def numbers(tables: Logs) -> list[dict[Any, Any]]:
    """Return the metrics and quantiles of each run with their lines, and its number of rows in the other tables."""
    runs: dict[str, dict[Any, Any]] = {row["run_id"]: {} for row in tables.rows["runs"]}
    for row in tables.rows["metrics"]:
        runs[row["run_id"]][row["metric"], row["side"], row["stream"]] = (row["value"], row["line"])
    for row in tables.rows["quantiles"]:
        runs[row["run_id"]]["quantile", row["metric"], row["q"], row["stream"]] = (row["value_ns"], row["line"])
    for table in ("intervals", "histograms"):
        for row in tables.rows[table]:
            runs[row["run_id"]][table] = runs[row["run_id"]].get(table, 0) + 1
    for block in tables.sample_blocks:
        runs[block.run_id]["samples"] = [*block.rtt_ns]
    return list(runs.values())


@cache
def logs() -> list[Path]:
    """The logs of all tools with several lines."""
    return [
        path
        for path in sorted(FIXTURES.glob("*/*"))
        if path.suffix in (".log", ".txt") and path.stat().st_size < LARGEST and path.read_bytes().count(b"\n") > 3
    ]


@pytest.mark.parametrize("every", [7, pytest.param(1, marks=pytest.mark.slow)])
@pytest.mark.parametrize("name", thinned(WRAPPINGS, 6))
def test_wrapping_changes_no_number_and_no_line_number(name: str, every: int) -> None:
    """Each wrapping around other logs, so that all are wrapped in some way."""
    for path in logs()[[*WRAPPINGS].index(name) % every :: every]:
        source = source_from_bytes(path.read_bytes(), path.name)
        plain = numbers(parse_source(source))
        assert numbers(wrapped(source.text, WRAPPINGS[name], path.name)) == plain, path.name


@pytest.mark.parametrize("name", WRAPPINGS)
def test_two_tools_in_one_wrapped_file(name: str) -> None:
    tables = wrapped(TWO_LOGS, WRAPPINGS[name])
    assert [row["tool"] for row in tables.rows["runs"]] == ["ping", "qperf"]
    assert tables.rows["sources"][0]["lines_unknown"] == 0
    assert [row["value"] for row in tables.rows["metrics"] if row["metric"] == "rtt_mean"] == [338_000, 33_800]


def test_an_event_names_the_removed_wrapping() -> None:
    events = wrapped(TWO_LOGS, WRAPPINGS["test framework"]).rows["events"]
    assert [row["code"] for row in events] == ["unwrapped"]
    assert "'0-0-0 0:0:0.0[0][DEBUG] cmd[0] stdout: '" in events[0]["text"]


def test_a_saved_page_that_shows_a_file_has_bars_at_the_ends_of_lines() -> None:
    lines = ["zone a to zone b | |", "rtt min/avg/max/mdev = 1.284/1.328/1.503/0.063 ms | |"]
    lines += ["zone a to zone c | |", "rtt min/avg/max/mdev = 1.945/2.112/2.274/0.108 ms |"]
    tables = parse_source(source_from_bytes("\n".join([*lines, ""]).encode(), "a.log"))
    assert [row["value"] for row in tables.rows["metrics"] if row["metric"] == "rtt_mean"] == [1_328_000, 2_112_000]
    assert {row["status"] for row in tables.rows["runs"]} == {"summary_only"}


def test_a_reply_that_quotes_the_log_above_it() -> None:
    quoted = "".join(f"> {line}\n" for line in TWO_LOGS.splitlines())
    tables = parse_source(source_from_bytes(("I see this:\n\n" + TWO_LOGS + "\nYou wrote:\n" + quoted).encode(), "a"))
    assert [row["tool"] for row in tables.rows["runs"]] == ["ping", "qperf"] * 2


def test_spelled_out_line_ends_are_restored() -> None:
    text = TWO_LOGS.replace("\n", r"\r\n") + "\n"
    tables = parse_source(source_from_bytes(text.encode(), "dump.sql"))
    assert [row["tool"] for row in tables.rows["runs"]] == ["ping", "qperf"]
    assert {row["line"] for row in tables.rows["metrics"]} == {1}
    row = tables.rows["sources"][0]
    assert (row["lines"], row["lines_unknown"]) == (1, 0)


def test_lines_with_a_common_prefix_are_not_a_log() -> None:
    text = "2025-06-03 18:00:38 the server was restarted\n2025-06-03 18:00:39 it answers again\n" * 3
    tables = parse_source(source_from_bytes(text.encode(), "a.log"))
    assert [row["code"] for row in tables.rows["events"] if row["code"] != "unknown_line"] == ["not_recognised"]


@pytest.mark.parametrize(
    ("prefix", "runs"), [("vm-z{}: ", 0), ("[pod/ping-zone{}/ping] ", 0), ("2026-11-27T12:00:0{} ", 2), ("vm-z3: ", 2)]
)
def test_lines_of_several_hosts_are_no_log(prefix: str, runs: int) -> None:
    """Pooled, they would be runs of one client."""
    log = (FIXTURES / "ping" / "iputils-20221126-s8.log").read_text("utf-8")
    text = "".join(prefix.format(host) + line + "\n" for host in (1, 2) for line in log.splitlines())
    assert len(parse_source(source_from_bytes(text.encode(), "pdsh.log")).rows["runs"]) == runs


def test_stars_in_a_banner_are_not_bold_type() -> None:
    path = FIXTURES / "lagscope" / "1.0.1-V.log"
    assert "unwrapped" not in {row["code"] for row in az.parse(path).rows["events"]}


@pytest.mark.parametrize(
    ("name", "sent", "lost"),
    [("ping/win_fr__timeout_sql.log", 4, 4)],
)
def test_real_logs_from_databases(shared: Path, name: str, sent: int, lost: int) -> None:
    tables = az.parse(shared / "corpus" / "public" / name)
    values = {row["metric"]: row["value"] for row in tables.rows["metrics"]}
    assert (values["sent"], values["lost"]) == (sent, lost)


def test_real_log_pasted_into_markdown(shared: Path) -> None:
    tables = az.parse(shared / "corpus" / "public" / "sockperf" / "issue172__fullrtt_markdown.log")
    values = {row["metric"]: row["value"] for row in tables.rows["metrics"]}
    assert (values["rtt_mean"], values["rtt_max"]) == (1_892_600, 11_541_068)
    assert tables.rows["sources"][0]["lines_unknown"] == 0


def test_prompts_without_a_user_and_with_assignments() -> None:
    text = "SPA:~$ numactl -N 1 -- qperf peer tcp_lat\ntcp_lat:\n    latency  =  16.9 us\n"
    tables = parse_source(source_from_bytes(text.encode(), "a.log"))
    assert tables.rows["runs"][0]["command"] == "numactl -N 1 -- qperf peer tcp_lat"
    text = "$LD_PRELOAD=libvma.so sockperf server -i 1.2.3.4\nsockperf: == version #3.5-no.git ==\n"
    tables = parse_source(source_from_bytes(text.encode(), "a.log"))
    assert tables.rows["sources"][0]["lines_unknown"] == 0


def test_spelled_out_blank_lines_are_kept() -> None:
    log = "PING h (10.2.2.4) 56(84) bytes of data.\n64 bytes from 10.2.2.4: icmp_seq=1 ttl=64 time=0.338 ms\n\nend\n"
    for ending in (r"\r\n", r"\n"):
        whole = source_from_bytes(log.replace("\n", ending).encode(), "a.log")
        unwrapped = next(propose_unwrapped(whole, claimed=False, begins=False)).source
        assert [line.text for line in unwrapped.lines][:4] == log.splitlines()
        assert {line.number for line in unwrapped.lines} == {1}


# --- markup and joined lines

SOCKPERF = """\
sockperf: [Valid Duration] RunTime=29.550 sec; SentMessages=166691; ReceivedMessages=166691
sockperf: ====> avg-latency=88.612 (std-dev=2.427)
sockperf: # dropped messages = 0; # duplicated messages = 0; # out-of-order messages = 0
sockperf: Summary: Latency is 88.612 usec
sockperf: Total 166691 observations; each percentile contains 1666.91 observations
sockperf: ---> <MAX> observation =  186.419
sockperf: ---> percentile 99.000 =   96.606
sockperf: ---> <MIN> observation =   81.412
"""
JOINED = (
    "____START____\n"
    "PING 10.1.0.7 (10.1.0.7) 56(84) bytes of data. 64 bytes from 10.1.0.7: icmp_seq=1 ttl=64 time=2.26 ms 64 bytes "
    "from 10.1.0.7: icmp_seq=2 ttl=64 time=2.36 ms --- 10.1.0.7 ping statistics --- 2 packets transmitted, 2 received, "
    "0% packet loss, time 1001ms rtt min/avg/max/mdev = 2.260/2.310/2.360/0.050 ms\n"
)


def label_lines(text: str) -> str:
    return "".join(f"[OUTPUT] {line}\n" for line in text.splitlines())


def to_html(text: str) -> str:
    return "<pre>" + text.replace("<", "&lt;").replace(">", "&gt;") + "</pre>\n"


def fold(text: str) -> str:
    """Encode as quoted-printable, as mail programs do."""
    return quopri.encodestring(text.encode()).decode()


MARKUPS: dict[str, Callable[[str], str]] = {
    "labels in Markdown": lambda text: f"# Latency\n\nSome words about it.\n\n```\n{label_lines(text)}```\n",
    "one label in Markdown": lambda text: f"# Latency\n```\n[STDOUT] {text}```\n",
    "HTML": lambda text: f"# Latency\n{to_html(text)}",
    "no-break spaces": lambda text: text.replace(" ", "\xa0"),
    "quoted-printable": fold,
    "quoted-printable in a mail": lambda text: "".join(f"> {line}\n" for line in fold(text).splitlines()),
    "backticks": lambda text: "# Notes\n\n" + "".join(f"`{line}`\n" for line in text.splitlines()),
}


@pytest.mark.parametrize("markup", MARKUPS)
def test_markup_hides_no_number(markup: str) -> None:
    plain = parse_source(source_from_bytes(SOCKPERF.encode(), "a.log"))
    tables = parse_source(source_from_bytes(MARKUPS[markup](SOCKPERF).encode(), "a.md"))
    for name, columns in (("metrics", ("metric", "side", "value")), ("quantiles", ("q", "value_ns"))):
        expected, rows = ([[row[key] for key in columns] for row in logs.rows[name]] for logs in (plain, tables))
        assert rows == expected, name
    assert [row["code"] for row in tables.rows["events"]].count("unwrapped") == 1
    source = tables.rows["sources"][0]
    kinds = ("lines_data", "lines_known", "lines_blank", "lines_prose", "lines_unknown")
    assert source["lines"] == sum(source[kind] for kind in kinds)


def test_ping_joined_onto_one_line() -> None:
    tables = parse_source(source_from_bytes((JOINED * 3).encode(), "a.log"))
    values = {row["value"] for row in tables.rows["metrics"] if row["metric"] == "rtt_mean"}
    assert len(tables.rows["runs"]) == 3
    assert values == {2_310_000}
    assert [run["first_line"] for run in tables.rows["runs"]] == [2, 4, 6]


def test_result_in_running_text_has_an_event() -> None:
    text = "# Notes\n\nThe link was fine that day.\n\nsockperf: ---> percentile 99.000 =   96.606\n"
    tables = parse_source(source_from_bytes(text.encode(), "a.md"))
    events = [(row["line"], row["severity"]) for row in tables.rows["events"] if row["code"] == "line_outside_log"]
    assert events == [(5, "warning")]
    assert not tables.rows["quantiles"]


def test_a_line_of_blanks_is_searched_in_linear_time() -> None:
    def cost(blanks: int) -> float:
        source = source_from_bytes(b"sockperf: ---> <MAX> observation = 1.0" + b" " * blanks, "a.log")
        return min(timeit.repeat(lambda: parse_source(source), number=1, repeat=3, timer=time.process_time))

    assert cost(90_000) < 9 * cost(10_000) + 0.05


def test_bold_type_with_blanks_and_the_labels_of_a_test_runner() -> None:
    bold = read_text(
        "a : ** xmt/rcv/%loss = 9/8/11%, min/avg/max = 307/307/307 **\n"
        "b : **xmt/rcv/%loss = 9/9/0%**, min/avg/max = 300/310/320\n"
    )
    assert [run["server"] for run in bold.rows["runs"]] == ["a", "b"]
    assert [row["value"] for row in bold.rows["metrics"] if row["metric"] == "rtt_mean"] == [307_000_000, 310_000_000]
    labelled = read_text(
        "22:30:20.919  |Command 'ping 10.2.2.4' started.\n22:30:20.920 >|ping 10.2.2.4\n"
        "22:30:20.959 <|PING 10.2.2.4 (10.2.2.4) 56(84) bytes of data.\n22:30:20.960 <|\n\n"
        "22:30:21.000 <|64 bytes from 10.2.2.4: icmp_seq=1 ttl=51 time=40.1 ms\n22:30:26.960 <|\n"
        "              |--- 10.2.2.4 ping statistics ---\n"
        "              |1 packets transmitted, 1 received, 0% packet loss, time 0ms\n"
        "              |rtt min/avg/max/mdev = 40.1/40.1/40.1/0.000 ms\n"
    )
    assert metric_values(labelled)["rtt_mean"] == 40_100_000
    assert list(labelled.sample_blocks[0].rtt_ns) == [40_100_000]


def test_a_fence_at_the_beginning_of_the_first_line_of_a_log_is_no_part_of_it() -> None:
    reply = "84 bytes from 10.0.0.2: icmp_seq={} ttl=64 time=0.2 ms\n"
    text = f"Normal ping:\n````{reply.format(19)}{reply.format(20)}````\n"
    logs = parse_source(source_from_bytes(text.encode(), "a.md"))
    assert [len(block.seq) for block in logs.sample_blocks] == [2]
    assert logs.rows["sources"][0]["lines_data"] == 2


def test_a_line_that_a_backslash_continues_is_read_as_one() -> None:
    """Mails break long lines so."""
    logs = parse_source(
        source_from_bytes(
            b"> ========= Printing statistics for Server No: 0\n"
            b"> [Valid Duration] RunTime=0.540 sec; SentMessages=45; ReceivedMessages=45\n"
            b"> ====> avg-latency=5995.680 (std-dev=70.258, mean-ad=57.478, median-ad=85.978,\\\n"
            b">         siqr=59.698, cv=0.012, std-error=10.473, 99.0% ci=[5968.702, 6022.658])\n"
            b"> # dropped messages = 0; # duplicated messages = 0; # out-of-order messages = 0\n"
            b"> Summary: Latency is 5995.680 usec\n",
            "mail.txt",
        )
    )
    values = {row["metric"]: (row["value"], row["line"]) for row in logs.rows["metrics"]}
    assert values["rtt_mean"] == (2 * 5_995_680, 3)
    assert (values["rtt_sd"], values["rtt_siqr"]) == ((2 * 70_258, 3), (2 * 59_698, 3))
    assert logs.rows["sources"][0]["lines_unknown"] == 0
