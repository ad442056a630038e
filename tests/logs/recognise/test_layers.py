"""Commands that wrote into one file at once."""

from __future__ import annotations

from itertools import chain, zip_longest

from helpers.places import FIXTURES
from helpers.short_logs import PING

from azlatency.logs.parse import parse_source
from azlatency.logs.source.decode import source_from_bytes
from azlatency.logs.tables import Logs


def of_lisa(number: int, command: str, output: str) -> list[str]:
    """What LISA writes for a command."""
    name = f"2024-08-22 08:44:32.123[14057][DEBUG] lisa.env[generated_0].node[0].cmd[{number}]"
    words = f"{command.split()!r}, cwd: None, shell: False, sudo: False, posix: True"
    return [f"{name} cmd: {words}", *(f"{name}.stdout {line}" for line in output.splitlines())]


def read_at_once(*commands: list[str]) -> Logs:
    """Read the lines of commands that alternate."""
    lines = [line for line in chain.from_iterable(zip_longest(*commands)) if line is not None]
    return parse_source(source_from_bytes("\n".join([*lines, ""]).encode(), "lisa.log"))


def test_pings_that_ran_at_once_are_all_read() -> None:
    pings = [of_lisa(10 + at, f"ping -c 1 10.0.0.{at}", PING.replace("0.338", f"0.{at}38")) for at in (1, 2, 3)]
    tables = read_at_once(*pings)
    runs = tables.rows["runs"]
    assert [run["command"] for run in runs] == [f"ping -c 1 10.0.0.{at}" for at in (1, 2, 3)]
    assert [run["status"] for run in runs] == ["complete"] * 3
    assert [row["value"] for row in tables.rows["metrics"] if row["metric"] == "rtt_mean"] == [138e3, 238e3, 338e3]
    assert tables.rows["sources"][0]["lines_unknown"] == 0


def test_the_output_of_an_unknown_command_within_a_log_is_told() -> None:
    tables = read_at_once(of_lisa(1, "ping -c 1 10.0.0.4", PING), of_lisa(2, "cat notes", "first\nsecond\nthird"))
    assert [run["status"] for run in tables.rows["runs"]] == ["complete"]
    unknown = [row for row in tables.rows["events"] if row["code"] == "unknown_line"]
    assert {row["severity"] for row in unknown} == {"warning"}
    assert any("first" in row["text"] for row in unknown)


def test_a_document_between_whose_lines_another_log_stands_is_read() -> None:
    document = (FIXTURES / "iperf3" / "3.12-tcp.json").read_text("utf-8")
    alone = read_at_once(of_lisa(1, "iperf3 -J", document))
    both = read_at_once(of_lisa(1, "iperf3 -J", document), of_lisa(2, "ping -c 1 10.0.0.4", PING))
    assert [run["tool"] for run in both.rows["runs"]] == ["iperf3", "ping"]
    assert {run["status"] for run in both.rows["runs"]} == {"complete"}
    assert len(both.rows["metrics"]) > len(alone.rows["metrics"]) > 0
