from __future__ import annotations

from helpers.short_logs import PING, QPERF

from azlatency.logs.parse import parse_source
from azlatency.logs.source.decode import source_from_bytes
from azlatency.logs.source.lisa import without_labels


def of_lisa(node: int, command: str, output: str) -> list[str]:
    """What LISA writes for a command; it leaves blank lines out."""
    name = f"2024-08-22 08:44:32.123[14057][DEBUG] lisa.env[generated_0].node[{node}].cmd[660{node}]"
    words = f"{command.split()!r}, cwd: None, shell: False, sudo: False, posix: True"
    lines = [f"{name}.stdout {line}" for line in output.splitlines() if line.strip()]
    return [f"{name} cmd: {words}", *lines, f"{name} execution time: 2.0 sec, exit code: 0"]


def test_a_log_of_lisa_names_the_command_and_the_node_that_ran_it() -> None:
    lines = ["2024-08-22 08:44:30.000[14057][INFO] lisa.RootRunner run starts", *of_lisa(0, "ping -c 1 10.0.0.4", PING)]
    lines += of_lisa(1, "sh -c qperf", "")[:1]  # a command without output
    lines += of_lisa(1, "qperf 10.0.0.4 tcp_lat", QPERF)
    tables = parse_source(source_from_bytes("\n".join([*lines, ""]).encode(), "lisa.log"))
    assert [(row["tool"], row["status"], row["client"]) for row in tables.rows["runs"]] == [
        ("ping", "complete", "node0"),
        ("qperf", "complete", "node1"),
    ]
    assert [row["command"] for row in tables.rows["runs"]] == ["ping -c 1 10.0.0.4", "qperf 10.0.0.4 tcp_lat"]
    assert [row["line"] for row in tables.rows["metrics"] if row["metric"] == "rtt_mean"] == [7, 12]


def test_commands_of_lisa_that_run_at_the_same_time_do_not_mix() -> None:
    longer, shorter = of_lisa(0, "ping -c 1 10.0.0.4", PING), of_lisa(1, "qperf 10.0.0.4 tcp_lat", QPERF)
    text = "\n".join([*longer[:2], *shorter[:2], *longer[2:4], *shorter[2:], *longer[4:], ""])
    tables = parse_source(source_from_bytes(text.encode(), "lisa.log"))
    assert [(row["tool"], row["client"]) for row in tables.rows["runs"]] == [("ping", "node0"), ("qperf", "node1")]
    means = {row["line"]: row["value"] for row in tables.rows["metrics"] if row["metric"] == "rtt_mean"}
    assert means == {10: 338_000, 7: 33_800}
    assert tables.rows["sources"][0]["lines_unknown"] == 0


def test_a_command_that_cannot_be_read_is_left_out() -> None:
    name = "lisa.node[0].cmd[5]"
    text = f"{name} cmd: [1, 'ping'], cwd: None, x\n{name} cmd: ['ping, cwd: None], cwd: None, x\n{name}.stdout a\n"
    assert without_labels(text) == "lisa@node0:~$ \nlisa@node0:~$ \na\n"
    shell = f"{name} cmd: ['sudo', 'sh', '-c', 'iperf3 -c 10.0.0.4 > a'], cwd: None, x\n{name}.stderr b\n"
    assert without_labels(shell) == "lisa@node0:~$ iperf3 -c 10.0.0.4 > a\nb\n"


def test_commands_with_the_same_number_in_joined_logs_are_several_runs() -> None:
    first, second = of_lisa(0, "ping -c 1 10.0.0.4", PING), of_lisa(1, "ping -c 1 10.0.0.4", PING)
    for lines in ([*first, *second, *first], [*first, *second] * 2, [*first[:-1], *second[:-1]] * 2):
        tables = parse_source(source_from_bytes("\n".join([*lines, ""]).encode(), "lisa.log"))
        runs = tables.rows["runs"]
        assert len(runs) == sum(".stdout PING" in line for line in lines)
        assert {run["status"] for run in runs} == {"complete"}


def test_a_result_behind_a_label_that_is_not_removed_is_told() -> None:
    note = "# Zones\n\nWe measured the zones on Monday.\n\n" + PING + "\n---\n\nThe other runner wrote:\n\n"
    line = "2025-06-03 18:00:38.875[1756][DEBUG] node stdout rtt min/avg/max/mdev = 1.120/1.120/1.120/0.000 ms\n"
    tables = parse_source(source_from_bytes((note + line + "That is all.\n").encode(), "notes.md"))
    assert [row["code"] for row in tables.rows["events"]] == ["line_outside_log"]
