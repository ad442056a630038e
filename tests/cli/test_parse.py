"""`azlatency parse`: output formats, exit codes, and errors in one line."""

from __future__ import annotations

import csv
import io
import json
import os
import shutil
from pathlib import Path

import pytest
from helpers.command import azlatency

import azlatency as az
from azlatency.logs import schema


@pytest.fixture
def log(raw: Path) -> Path:
    return raw / "westeurope-azure-cni" / "az1-az3" / "sockperf.log"


def test_parse_prints_every_table_as_json(log: Path) -> None:
    result = azlatency("parse", log, "--format", "json")
    assert result.returncode == 0
    content = json.loads(result.stdout)
    assert list(content) == [name for name in schema.TABLES if name != "samples"]
    for name, rows in content.items():
        for row in rows:
            assert tuple(row) == schema.names(name)
    (run,) = content["runs"]
    assert run["tool"] == "sockperf" and run["printed_as"] == "half_round_trip"
    mean = next(row for row in content["metrics"] if row["metric"] == "rtt_mean")
    assert (mean["value"], mean["printed"], mean["line"]) == (1_397_890.0, "698.945", 13)


def test_parse_prints_samples_only_on_request(raw: Path) -> None:
    log = raw / "emulated-zones" / "ping" / "az1a-az2a" / "ping_r1.txt"
    assert "samples" not in json.loads(azlatency("parse", log, "--format", "json").stdout)
    content = json.loads(azlatency("parse", log, "--format", "json", "--samples").stdout)
    assert tuple(content["samples"][0]) == schema.names("samples")
    assert content["samples"][0]["rtt_ns"] == 291_000


def test_parse_prints_one_table_as_csv(log: Path) -> None:
    result = azlatency("parse", log, "--format", "csv", "--table", "quantiles")
    rows = list(csv.DictReader(io.StringIO(result.stdout)))
    assert [row["q"] for row in rows][:2] == ["0.99999", "0.9999"]
    assert rows[0]["resolved"] == "False"


def test_parse_prints_a_summary_with_round_trip_times(log: Path) -> None:
    result = azlatency("parse", log, "--format", "table")
    assert "sockperf.log:2-26" in result.stdout
    assert "1,397.89" in result.stdout, "a round trip, not the printed half"
    assert "complete" in result.stdout


def test_parse_reads_standard_input(log: Path) -> None:
    result = azlatency("parse", "-", "--format", "json", stdin=log.read_bytes())
    assert result.returncode == 0
    assert json.loads(result.stdout)["sources"][0]["path"] == "<stdin>"


def test_parse_prints_json_to_a_pipe_by_default(log: Path) -> None:
    assert json.loads(azlatency("parse", log).stdout)["runs"]


def test_explain_prints_the_line_that_identified_the_tool(log: Path) -> None:
    result = azlatency("parse", log, "--explain")
    assert "sockperf.log:2: claim of sockperf: 'sockperf: == version" in result.stderr


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("empty.log", b"", "empty.log:1: empty file"),
        ("unknown.log", b"hello\nworld\n", "unknown.log:1: no log of a known tool; see "),
        ("binary.log", bytes(range(256)) * 9, "binary.log:1: binary file"),
        ("cut.log", b"sockperf: == version #3.7 ==\nsockperf: Starting test...\n", "cut.log:2: the log ends before"),
    ],
)
def test_an_unusable_file_is_reported_in_one_line_with_exit_code_1(
    tmp_path: Path, name: str, content: bytes, message: str
) -> None:
    (tmp_path / name).write_bytes(content)
    result = azlatency("parse", name, cwd=tmp_path)
    assert result.returncode == 1
    assert message in result.stderr
    assert len(result.stderr.splitlines()) == 1


def test_a_missing_file_is_reported_in_one_line_with_exit_code_1(tmp_path: Path) -> None:
    result = azlatency("parse", "missing.log", cwd=tmp_path)
    assert (result.returncode, result.stderr) == (1, "missing.log: No such file or directory; check the path\n")


def test_a_binary_file_does_not_prevent_parsing_others(tmp_path: Path, log: Path) -> None:
    (tmp_path / "a.bin").write_bytes(bytes(range(256)) * 9)
    shutil.copy(log, tmp_path / "b.log")
    result = azlatency("parse", tmp_path, "--format", "json")
    assert result.returncode == 0
    assert len(json.loads(result.stdout)["runs"]) == 1
    assert "a.bin:1: binary file" in result.stderr


def test_strict_stops_at_the_first_error(tmp_path: Path) -> None:
    (tmp_path / "cut.log").write_bytes(b"sockperf: == version #3.7-no.git ==\n")
    result = azlatency("parse", "--strict", "cut.log", cwd=tmp_path)
    assert (result.returncode, result.stdout) == (1, "")
    assert result.stderr.startswith("cut.log:1: ")


def test_control_characters_and_markup_in_logs_are_escaped(tmp_path: Path, log: Path) -> None:
    """Escape sequences do not reach the terminal, and markup is printed as text."""
    hostile = log.read_bytes().replace(b"sockperf: Test ended", b"\x1b]0;owned\x07\x1b[2J[red]not markup[/red]")
    (tmp_path / "h.log").write_bytes(hostile)
    result = azlatency("parse", "h.log", "--format", "table", cwd=tmp_path)
    assert "\x1b" not in result.stdout + result.stderr
    assert "[red]not markup[/red]" in result.stdout


def test_names_of_files_cannot_control_a_terminal(log: Path, tmp_path: Path) -> None:
    name = "\x1b[31ma\u202egol\nb.log"
    (tmp_path / name).write_bytes(log.read_bytes())
    (tmp_path / "link.log").symlink_to(log)
    for options in ((), ("--format", "csv", "--table", "sources"), ("--format", "table"), ("--explain",)):
        result = azlatency("parse", tmp_path, *options)
        assert result.returncode == 1 and "link.log: a symbolic link is not followed" in result.stderr
        assert not {"\x1b", "\u202e"} & set(result.stdout + result.stderr)
        assert "b.log" not in (line[:5] for line in result.stdout.splitlines())
    paths = [row["path"] for row in json.loads(azlatency("parse", tmp_path).stdout)["sources"]]
    assert paths == [f"{tmp_path.as_posix()}/{name}"], "the JSON value is the name"


@pytest.mark.parametrize("arguments", [("parse", "--x\u202ey"), ("--x\u202ey",), ("parse", "a", "--\x9bformat", "b")])
def test_an_argument_in_a_usage_error_is_escaped(arguments: tuple[str, ...]) -> None:
    result = azlatency(*arguments)
    assert result.returncode == 2 and "No such option: --" in result.stderr
    assert not {"\x9b", "\u202e"} & set(result.stderr)


def test_a_name_that_is_not_utf8(log: Path, tmp_path: Path) -> None:
    shutil.copy(log, os.fsencode(tmp_path) + b"/f\xfcr.log")
    for options in ((), ("--format", "csv"), ("--format", "table", "--table", "sources")):
        result = azlatency("parse", tmp_path, *options)
        assert result.returncode == 0, result.stderr
    assert len(az.parse(tmp_path).sources) == 1


def test_csv_contains_no_formula(tmp_path: Path) -> None:
    """A name of a file or a text of a log may begin like a formula."""
    (tmp_path / "=cmd.log").write_text("$ ping -c 1 10.0.0.1\nnothing\n", "utf-8")
    result = azlatency("parse", "=cmd.log", "--format", "csv", "--table", "sources", cwd=tmp_path)
    (row,) = csv.DictReader(io.StringIO(result.stdout))
    assert row["path"] == "'=cmd.log"
