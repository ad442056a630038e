"""Notes files and terminal sessions: where logs start and end, and the text around them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from helpers.cases import thinned
from helpers.places import FIXTURES, TESTS

import azlatency as az
from azlatency.logs.parse import parse_source
from azlatency.logs.source.decode import source_from_bytes
from azlatency.logs.tables import Logs

TRANSCRIPTS = TESTS / "transcripts"
PING = b"PING 10.2.2.4 (10.2.2.4) 56(84) bytes of data.\n64 bytes from 10.2.2.4: icmp_seq=1 ttl=64 time=0.338 ms\n"
SUMMARY = (
    b"\n--- 10.2.2.4 ping statistics ---\n1 packets transmitted, 1 received, 0% packet loss, time 0ms\n"
    b"rtt min/avg/max/mdev = 0.338/0.338/0.338/0.000 ms\n"
)


def parse(text: bytes, name: str = "session.txt") -> Logs:
    return parse_source(source_from_bytes(text, name))


def columns(tables: Logs, *names: str, tool: str | None = None) -> list[tuple[Any, ...]]:
    return [tuple(row.get(name) for name in names) for row in tables.rows["runs"] if tool in (None, row["tool"])]


def value(tables: Logs, ordinal: int, metric: str, **where: Any) -> Any:
    run_id = tables.rows["runs"][ordinal]["run_id"]
    rows = [row for row in tables.rows["metrics"] if row["run_id"] == run_id and row["metric"] == metric]
    return next(row["value"] for row in rows if all(row[key] == wanted for key, wanted in where.items()))


@pytest.mark.parametrize("path", sorted(TRANSCRIPTS.iterdir()), ids=lambda path: path.name)
def test_a_transcript_has_no_unknown_lines(path: Path) -> None:
    row = az.parse(path).rows["sources"][0]
    assert row["lines_unknown"] == 0
    assert row["lines_prose"] > 0


def test_logs_of_a_notes_file_have_headings_and_commands() -> None:
    tables = az.parse(TRANSCRIPTS / "notes.md")
    headings = ["Inside single node", "AZ1 - AZ1", "AZ1 - AZ2", "AZ1 - AZ3"]
    expected = [(f"Notes / Emulated lab / {heading}",) for heading in headings]
    assert columns(tables, "heading", tool="sockperf") == expected
    assert columns(tables, "command", tool="sockperf") == [("sockperf ping-pong -i $ip --tcp -t 3 -p 5201",)] * 4
    qperf = columns(tables, "test", "heading", "requested_duration_ns", tool="qperf")
    assert qperf == [(test, *heading, 2 * 10**9) for heading in expected for test in ("tcp_bw", "tcp_lat")]


def test_pings_in_the_running_text_of_a_notes_file() -> None:
    tables = az.parse(TRANSCRIPTS / "zones.md")
    title = "Zones against one zone, a small lab"
    assert columns(tables, "heading", "first_line", "last_line", "status", tool="ping") == [
        (f"{title} / TEST 2 ping test", 73, 74, "complete"),
        (f"{title} / TEST5 ping one zone", 159, 160, "complete"),
    ]
    assert columns(tables, "client", "message_bytes", tool="sockperf") == [
        ("az3a", 1400),
        ("az3a", 350),
        ("az1b", 1400),
        # The prompt of the fourth block is split: its first half is text above the fence.
        (None, 350),
    ]


def test_a_terminal_session_with_bracketed_paste_and_colours() -> None:
    tables = az.parse(TRANSCRIPTS / "session.typescript")
    runs = [row for row in columns(tables, "tool", "test", "client", "status") if row[0] not in ("iperf3",)]
    assert runs == [
        ("ping", "echo", "az1a", "complete"),
        ("sockperf", "ping-pong", "az1a", "complete"),
        ("qperf", "tcp_lat", "az1a", "complete"),
        ("qperf", "tcp_bw", "az1a", "complete"),
        ("ping", "echo", "az1a", "complete"),
    ]
    assert columns(tables, "command", tool="ping") == [("ping -c 3 10.2.2.4",), ("ping 10.2.2.4",)]
    ordinals = [index for index, row in enumerate(tables.rows["runs"]) if row["tool"] == "ping"]
    assert [value(tables, ordinal, "rtt_mean") for ordinal in ordinals] == [299_000, 304_000]


@pytest.mark.parametrize("separator", [b"^C\n", b"^C"])
def test_a_control_c_does_not_end_the_log_it_interrupts(separator: bytes) -> None:
    tables = parse(b"root@a:~# ping 10.2.2.4\n" + PING + separator + SUMMARY.lstrip() + b"root@a:~# \n")
    assert columns(tables, "tool", "status", "command", "client") == [("ping", "complete", "ping 10.2.2.4", "a")]
    assert tables.rows["sources"][0]["lines_unknown"] == 0


def test_a_windows_prompt_ends_a_log_and_names_the_command_of_the_next() -> None:
    block = b"Protocol TCP\nMsgSize(byte) 4\nIterations 10\nLatency(usec) 55.00\n"
    tables = parse(
        b"C:\\Temp>latte -c -a 10.0.0.5:5005 -i 10\n" + block + b"C:\\Temp>latte -a 10.0.0.5:5005 -i 10\n" + block
    )
    assert columns(tables, "dialect", "first_line", "last_line") == [("latte-sender", 2, 5), ("latte-receiver", 7, 10)]


def test_an_unknown_line_inside_a_plain_log_is_an_event() -> None:
    tables = parse(PING + b"a line that no version prints\n" + SUMMARY)
    assert [row["code"] for row in tables.rows["events"]] == ["unknown_line"]
    assert tables.rows["events"][0]["run_id"] == tables.rows["runs"][0]["run_id"]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16-le", "utf-16"])
def test_a_log_is_read_in_any_unicode_encoding(encoding: str) -> None:
    text = (PING + SUMMARY).decode().replace("\n", "\r\n")
    tables = parse(text.encode(encoding))
    assert columns(tables, "tool", "status") == [("ping", "complete")]
    assert value(tables, 0, "rtt_mean") == 338_000


@pytest.mark.parametrize(
    ("encoding", "text"),
    [
        (
            "cp850",
            "Ping wird ausgeführt für 10.0.0.1 mit 32 Bytes Daten:\nAntwort von 10.0.0.1: Bytes=32 Zeit=5ms TTL=64\n",
        ),
        (
            "cp866",
            "Обмен пакетами с 1.1.1.1 по с 32 байтами данных:\nОтвет от 1.1.1.1: число байт=32 время=5мс TTL=58\n",
        ),
        (
            "cp932",
            "10.0.0.1 に ping を送信しています 32 バイトのデータ:\n"
            "10.0.0.1 からの応答: バイト数 =32 時間 =5ms TTL=64\n",
        ),
        ("gbk", "正在 Ping 10.0.0.1 具有 32 字节的数据:\n来自 10.0.0.1 的回复: 字节=32 时间=5ms TTL=51\n"),
    ],
)
def test_code_pages_of_windows_consoles(encoding: str, text: str) -> None:
    tables = parse(text.encode(encoding))
    assert tables.rows["sources"][0]["encoding"] == encoding
    assert list(tables.sample_blocks[0].rtt_ns) == [5_000_000]


NTTTCP = b"""\
$ ./ntttcp.exe -s -m 1,*,10.2.2.4 -l 128K -t 60 -ns
Copyright Version 5.40
Network activity progressing...

Thread  Time(s) Throughput(KB/s) Avg B / Compl
======  ======= ================ =============
     0    0.000            0.000    131072.000


#####  Totals:  #####


   Bytes(MEG)    realtime(s) Avg Frame Size Throughput(MB/s)
================ =========== ============== ================
      285.000000      60.011       1422.133            4.749
"""


def test_a_title_of_a_tool_between_hashes_is_not_a_heading() -> None:
    tables = parse(b"# Notes\n<pre>\n" + NTTTCP + b"</pre>\nA sentence behind the log.\n", "notes.md")
    assert len(tables.rows["runs"]) == 1
    assert value(tables, 0, "throughput") == pytest.approx(4.749 * 1024**2 * 8)


def test_preformatted_text_ends_a_log() -> None:
    text = b"# Notes\n<pre>\n" + PING + SUMMARY + b"</pre>\n\n<pre>\n" + PING.replace(b"2.4", b"2.5") + b"</pre>\n"
    tables = parse(text, "notes.md")
    assert [row["status"] for row in tables.rows["runs"]] == ["complete", "truncated"]


def test_lines_below_the_titles_of_tables_are_not_quoted_printable() -> None:
    shortened = b"<pre>\n Throughput(MB/s)\n================\n           4.749\n</pre>\n"
    tables = parse(b"# Notes\n<pre>\n" + NTTTCP + b"</pre>\nThe important part:\n" + shortened * 3, "notes.md")
    assert value(tables, 0, "transferred") == 285 * 1024**2


#: What stands before a command, and the machine that it names.
PROMPTS = [
    ("/ # ", None), ("bash-5.1# ", None), ("sh-4.4$ ", None), ("+ ", None), ("❯ ", None), ("~ ❯ ", None),
    ("➜  ~ ", None), ("➜  lab git:(main) ✗ ", None), ("(venv) $ ", None), ("[root@vm9]/root: ", "vm9"),
    ("[root@vm9 ~]# ", "vm9"), ("$ sudo ", None), ("$ time ", None), ("$ numactl -m 0 -N 0 ", None),
    ("$ taskset -c 3 ", None), ("$ timeout -k 5 60 ", None), ("$ X=1 nohup ", None),
    ("$ kubectl exec -it -n lab -c main pod-1 -- ", "pod-1"), ("$ k exec pod/pod-1 -- ", "pod-1"),
    ("$ docker run --rm --net host me/", None), ("$ docker exec -it box1 ", "box1"),
    ("$ ssh -p 2222 me@vm7 ", "vm7"), ("$ sudo ip netns exec blue ", "blue"),
    ("root@vm1:~# ssh vm8 ", "vm8"), ("root@vm1:~# ip netns exec blue ", "vm1"),
    ("root@vm1:~# timeout 60 ssh vm8 ", "vm8"),
    ("root@vm1:~# sudo -u me kubectl --kubeconfig c exec pod-1 -- ", "pod-1"),
    ("root@vm1:~# docker run --rm me/", "vm1"),
]  # fmt: skip


@pytest.mark.parametrize(("prompt", "client"), PROMPTS)
def test_a_command_behind_any_prompt_or_wrapper_belongs_to_the_log_below(
    prompt: str, client: str | None, tmp_path: Path
) -> None:
    """Options of wrappers are not those of the tool, and two results are not merged."""
    text = (FIXTURES / "sockperf" / "3.1-under-load.log").read_text("utf-8")
    command = prompt + "sockperf under-load -i 10.0.0.9 -m {}\n"
    (tmp_path / "a.log").write_text("".join(command.format(size) + text for size in (64, 128)), "utf-8")
    runs = az.parse(tmp_path / "a.log").runs
    assert list(runs["message_bytes"]) == [64, 128]
    assert set(runs["client"].dropna()) == ({client} if client else set())


#: What a shell prints when a command has ended; the copy of a log often ends behind it.
IDLE_PROMPTS = (
    "$", "$ ", "$ exit", "# ", "# exit", "% ", "> ", "bash-5.1# ",
    "sh-4.4$ ", "sh-4.4$ exit", "/ # ", "/app # ", "~ $ ",
    "h1> ", "mininet> ", "➜  ~ ", "➜  lab git:(main) ✗ ", "❯ ", "(venv) $ ", "root@pod:/# ", "vm1# ", "pod-1:/# ",
    "[me@vm1]$ ", "[admin@MikroTik] > ",
)  # fmt: skip
#: Complete logs of one run, and the beginning of the line without which they are not.
COMPLETE = [
    ("ping/iputils-20221126-D.log", "rtt min"), ("ping/busybox-1.35-c4.log", "round-trip"),
    ("iperf3/3.12-udp.txt", "receiver"),
    ("sockperf/3.1-under-load.log", "sockperf: ---> <MIN>"), ("netperf/2.7.0-stream.log", "131072 "),
    ("wrk/wrk2-L.log", "Transfer/sec"), ("hping3/3.0.0-alpha-2-loss.log", "round-trip"),
]  # fmt: skip


@pytest.mark.parametrize("name", [name for name, _ in COMPLETE] + ["qperf/0.4.11-e6.log", "lagscope/1.0.1-H.log"])
def test_a_log_whose_copy_ends_with_a_prompt_is_complete(name: str) -> None:
    log = (FIXTURES / name).read_bytes().rstrip() + b"\n"
    whole = parse(log)
    for prompt in IDLE_PROMPTS:
        tables = parse(log + prompt.encode())
        assert columns(tables, "status", "last_line") == columns(whole, "status", "last_line"), prompt
        assert len(tables.rows["metrics"]) == len(whole.rows["metrics"]), prompt
        assert tables.rows["sources"][0]["lines_prose"] == 1, prompt


@pytest.mark.parametrize("step", [4, pytest.param(1, marks=pytest.mark.slow)])
@pytest.mark.parametrize(("name", "last"), thinned(COMPLETE, 3))
def test_a_log_that_is_cut_within_any_line_is_not_complete(name: str, last: str, step: int) -> None:
    """No beginning of a line of a tool is taken for a prompt."""
    log = (FIXTURES / name).read_bytes()
    end = log.rindex(last.encode())
    for at in range(end - 1, max(end - 1501, 0), -step):
        assert ("complete",) not in columns(parse(log[:at]), "status"), log[:at][-80:]


def test_a_prompt_between_two_logs_is_no_line_of_either() -> None:
    tables = parse(PING + SUMMARY + b"$ \n" + PING + SUMMARY + b"/app #\n")
    assert columns(tables, "status", "last_line") == [("complete", 6), ("complete", 13)]
    assert tables.rows["sources"][0]["lines_unknown"] == 0


@pytest.mark.parametrize("line", ["+ 3 ms", "100 % ping", "> iperf, the older tool", "/ # ls"])
def test_other_lines_are_no_prompts(line: str, tmp_path: Path) -> None:
    (tmp_path / "a.log").write_text(f"{line}\n" + (FIXTURES / "ping" / "iputils-20221126-D.log").read_text("utf-8"))
    assert az.parse(tmp_path / "a.log").runs["command"].isna().all()


def test_a_command_line_without_a_prompt_belongs_to_the_log_below_it() -> None:
    text = (
        b"Results:\n\nqperf 10.0.0.5 -m 64 tcp_lat\ntcp_lat:\n    latency  =  51.5 us\n"
        b"qperf -m 128 10.0.0.5 tcp_lat\n\ntcp_lat:\n    latency  =  52.5 us\n"
        b"numactl -N 0 ping -c 1 10.2.2.4\n" + PING + SUMMARY
    )
    tables = parse(text)
    assert columns(tables, "tool", "first_line", "message_bytes") == [
        ("qperf", 4, 64),
        ("qperf", 8, 128),
        ("ping", 11, 56),
    ]
    assert tables.rows["runs"][2]["command"] == "numactl -N 0 ping -c 1 10.2.2.4"
    assert tables.rows["sources"][0]["lines_prose"] == 4


def test_a_sentence_above_a_log_is_no_command_line() -> None:
    tables = parse(b"ping between the zones - see below\n" + PING + SUMMARY)
    assert columns(tables, "command") == [(None,)]
    assert tables.rows["sources"][0]["lines_unknown"] == 1


def test_a_row_of_numbers_alone_is_not_said_to_be_of_one_tool() -> None:
    row = b"42           57.68        187          70           4.03         51949.295\n"
    events = parse(b"# Notes\n\n```\n" + PING + SUMMARY + b"```\n\n" + row, "notes.md").rows["events"]
    assert [event["text"] for event in events if event["code"] == "line_outside_log"] == [
        f"{row.decode().strip()!r} looks like a result of a tool, but stands outside a log; copy the whole log"
    ]
