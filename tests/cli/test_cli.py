"""The command line: output, exit codes, and errors in one line."""

from __future__ import annotations

import contextlib
import csv
import io
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest
from helpers.command import azlatency
from helpers.places import ROOT

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
    assert content["samples"][0]["rtt_ns"] == 655_000


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
        ("unknown.log", b"hello\nworld\n", "unknown.log:1: no log of a known tool (echo, "),
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


def test_an_unreadable_file_does_not_prevent_parsing_others(tmp_path: Path, log: Path) -> None:
    (tmp_path / "a.bin").write_bytes(bytes(range(256)) * 9)
    shutil.copy(log, tmp_path / "b.log")
    result = azlatency("parse", tmp_path, "--format", "json")
    assert result.returncode == 1
    assert len(json.loads(result.stdout)["runs"]) == 1
    assert "a.bin:1: binary file" in result.stderr


def test_strict_stops_at_the_first_error(tmp_path: Path) -> None:
    (tmp_path / "cut.log").write_bytes(b"sockperf: == version #3.7-no.git ==\n")
    result = azlatency("parse", "--strict", "cut.log", cwd=tmp_path)
    assert (result.returncode, result.stdout) == (1, "")
    assert result.stderr.startswith("cut.log:1: ")


@pytest.mark.parametrize(
    "arguments",
    [["parse"], ["parse", "x", "--format", "xml"], ["parse", "x", "--table", "nonsense"], ["import"], ["nonsense"],
     ["import", "--all", "--study", "x"], ["import", "--study", "../x"]],
)  # fmt: skip
def test_usage_errors_exit_2(arguments: list[str]) -> None:
    assert azlatency(*arguments).returncode == 2


def test_import_prints_a_summary(tmp_path: Path, raw: Path) -> None:
    shutil.copytree(raw / "westeurope-availability-set-vs-zones", tmp_path / "data" / "raw" / "as")
    result = azlatency("import", "--all", cwd=tmp_path)
    assert result.returncode == 0
    assert result.stdout.startswith("as: 2 iperf3, 2 ping, 4 sockperf (8 files parsed, 0 unchanged)")
    assert "4 runs have no zone" in result.stderr
    assert "unchanged" in azlatency("import", "--study", "as", cwd=tmp_path).stdout


def test_an_import_without_usable_logs_exits_1(tmp_path: Path) -> None:
    (tmp_path / "x.log").write_text("hello\n")
    result = azlatency("import", "x.log", "--study", "mine", "--out", tmp_path / "out", cwd=tmp_path)
    assert result.returncode == 1
    assert "not recognised: x.log:1:" in result.stderr


def test_an_invalid_manifest_is_reported_in_one_line(tmp_path: Path) -> None:
    folder = tmp_path / "data" / "raw" / "broken"
    folder.mkdir(parents=True)
    (folder / "study.toml").write_text("[study\n", "utf-8")
    result = azlatency("import", "--study", "broken", cwd=tmp_path)
    assert result.returncode == 1
    assert len(result.stderr.splitlines()) == 1
    assert "study.toml:1:" in result.stderr


@pytest.mark.parametrize(
    ("entries", "says"),
    [
        ('[[run]]\nlog = "other/*"\nzone = "1"\n', "a.log:2: no entry of study.toml is about a.log; add one"),
        ('[[run]]\nlog = "*"\nzone = "1"\n[[run]]\nlog = "a*"\nzone = "2"\n', "study.toml:6; keep one"),
    ],
)
def test_a_log_without_or_with_contradicting_manifest_entries_is_an_error(
    tmp_path: Path, log: Path, entries: str, says: str
) -> None:
    folder = tmp_path / "data" / "raw" / "mine"
    folder.mkdir(parents=True)
    shutil.copy(log, folder / "a.log")
    (folder / "study.toml").write_text('[study]\nregion = "westeurope"\n' + entries, "utf-8")
    result = azlatency("import", "--study", "mine", cwd=tmp_path)
    (line,) = (line for line in result.stderr.splitlines() if line.startswith("  error: "))
    assert says in line


def test_import_of_an_unknown_study_lists_the_known_studies(tmp_path: Path, raw: Path) -> None:
    shutil.copytree(raw / "uksouth-echo-latency", tmp_path / "data" / "raw" / "uksouth-echo-latency")
    result = azlatency("import", "--study", "nothing", cwd=tmp_path)
    assert result.returncode == 1
    assert "studies in data/raw: uksouth-echo-latency" in result.stderr


def test_control_characters_and_markup_in_logs_are_escaped(tmp_path: Path, log: Path) -> None:
    """Escape sequences do not reach the terminal, and markup is printed as text."""
    hostile = log.read_bytes().replace(b"sockperf: Test ended", b"\x1b]0;owned\x07\x1b[2J[red]not markup[/red]")
    (tmp_path / "h.log").write_bytes(hostile)
    result = azlatency("parse", "h.log", "--format", "table", cwd=tmp_path)
    assert "\x1b" not in result.stdout + result.stderr
    assert "[red]not markup[/red]" in result.stdout


def test_version_and_help() -> None:
    assert azlatency("--version").stdout.startswith("azlatency ")
    assert "Examples:" in azlatency("parse", "--help").stdout


def test_check_prints_what_each_file_can_be_used_for(raw: Path) -> None:
    result = azlatency("check", raw / "westeurope-azure-cni")
    assert result.returncode == 0
    assert result.stdout.splitlines()[-1] == "20 files: 17 usable, 3 usable with caveats, 0 unusable"
    assert "percentiles up to p99.9\n" in result.stdout


def test_check_of_an_unusable_file_exits_1(tmp_path: Path) -> None:
    (tmp_path / "x.log").write_text("hello\n")
    result = azlatency("check", "x.log", cwd=tmp_path)
    assert result.returncode == 1
    assert result.stdout.startswith("x.log: cannot be used")


def test_manifest_writes_a_draft_and_never_overwrites(tmp_path: Path, raw: Path) -> None:
    shutil.copytree(raw / "westeurope-azure-cni", tmp_path / "mine", ignore=shutil.ignore_patterns("*.toml"))
    printed = azlatency("manifest", "mine", cwd=tmp_path)
    assert 'log = "az1-az3/*"' in printed.stdout
    assert azlatency("manifest", "mine", "--write", cwd=tmp_path).returncode == 0
    assert azlatency("manifest", "mine", "--write", cwd=tmp_path).returncode == 2
    assert azlatency("import", "mine", "--study", "mine", cwd=tmp_path).returncode == 0


# --- import of a dump


def test_import_copies_a_dump_and_drafts_a_manifest(tmp_path: Path, raw: Path) -> None:
    """The archive is copied unchanged, its logs are imported, and missing metadata is requested."""
    source = tmp_path / "source"
    shutil.copytree(raw / "westeurope-azure-cni", source, ignore=shutil.ignore_patterns("*.toml"))
    dump = Path(shutil.make_archive(str(tmp_path / "dump"), "zip", source))
    bytes_before = dump.read_bytes()
    result = azlatency("import", dump, "--study", "mine", cwd=tmp_path)
    assert result.returncode == 0, result.stderr
    assert re.match(r"mine: 5 iperf3, 5 ntttcp, \d+ qperf, 5 sockperf \(1 file parsed, 0 unchanged\)", result.stdout)
    assert "drafted data/raw/mine/study.toml" in result.stdout.replace(f"{tmp_path}/", "")
    assert re.search(r"2\d runs have no zone", result.stderr)
    assert dump.read_bytes() == bytes_before == (tmp_path / "data" / "raw" / "mine" / "dump.zip").read_bytes()
    manifest = (tmp_path / "data" / "raw" / "mine" / "study.toml").read_text("utf-8")
    assert 'log = "dump.zip!az1-az3/*"' in manifest and 'peer_zone = "3"' in manifest
    again = azlatency("import", "--study", "mine", cwd=tmp_path)
    assert again.returncode == 0, again.stderr
    assert re.search(r"[45] runs have no zone", again.stderr), "the draft's zones are applied"
    assert "drafted" not in again.stdout
    assert "unchanged" in azlatency("import", dump, "--study", "mine", cwd=tmp_path).stdout


def test_import_accepts_folders_notes_and_standard_input(tmp_path: Path, raw: Path) -> None:
    log = raw / "westeurope-azure-cni" / "az1-az3" / "sockperf.log"
    (tmp_path / "logs").mkdir()
    shutil.copy(log, tmp_path / "logs")
    (tmp_path / "notes.md").write_text("# AZ1 - AZ2\n\n```\n" + log.read_text("utf-8") + "```\n", "utf-8")
    assert azlatency("import", "logs", "notes.md", "--study", "mine", cwd=tmp_path).returncode == 0
    piped = azlatency("import", "-", "--study", "mine", cwd=tmp_path, stdin=log.read_bytes() + b"\n")
    assert piped.returncode == 0 and piped.stdout.startswith("mine: 3 sockperf"), piped.stdout + piped.stderr
    kept = sorted(path.name for path in (tmp_path / "data" / "raw" / "mine").rglob("*") if path.is_file())
    assert kept == ["notes.md", "sockperf.log", "stdin.log", "study.toml"]


def test_import_never_overwrites_a_log(tmp_path: Path, log: Path) -> None:
    (tmp_path / "run.log").write_bytes(log.read_bytes())
    assert azlatency("import", "run.log", "--study", "mine", cwd=tmp_path).returncode == 0
    (tmp_path / "run.log").write_bytes(log.read_bytes() + b"\n")
    (tmp_path / "other.log").write_bytes(log.read_bytes() + b"\n\n")
    result = azlatency("import", "other.log", "run.log", "--study", "mine", cwd=tmp_path)
    assert result.returncode == 1
    assert "is there with other bytes; rename one, or import it as another study" in result.stderr
    kept = tmp_path / "data" / "raw" / "mine"
    assert (kept / "run.log").read_bytes() == log.read_bytes()
    assert not (kept / "other.log").exists(), "all or nothing"


def test_import_does_not_keep_unusable_logs(tmp_path: Path) -> None:
    (tmp_path / "x.log").write_text("hello\n")
    result = azlatency("import", "x.log", "--study", "mine", cwd=tmp_path)
    assert result.returncode == 1 and "nothing was copied" in result.stderr
    assert not (tmp_path / "data" / "raw" / "mine").exists()


@pytest.mark.parametrize("top", ["", "packed/"])
def test_import_keeps_the_manifest_of_an_archive(tmp_path: Path, log: Path, top: str) -> None:
    with zipfile.ZipFile(tmp_path / "s.zip", "w") as archive:
        archive.write(log, f"{top}a.log")
        archive.writestr(f"{top}study.toml", '[[run]]\nlog = "a.log"\nzone = "7"\npeer_zone = "8"\n')
    result = azlatency("import", "s.zip", "--study", "mine", cwd=tmp_path)
    assert result.returncode == 0 and "zone" not in result.stderr
    assert sorted(path.name for path in (tmp_path / "data" / "raw" / "mine").iterdir()) == ["a.log", "study.toml"]


@pytest.mark.parametrize("name", ["../study.toml", "/study.toml", "..\\study.toml"])
def test_an_archive_cannot_write_outside_its_folder(tmp_path: Path, log: Path, name: str) -> None:
    (tmp_path / "inner").mkdir()
    with zipfile.ZipFile(tmp_path / "inner" / "s.zip", "w") as archive:
        archive.write(log, "a.log")
        archive.writestr(name, "[study]\n")
    with tarfile.open(tmp_path / "inner" / "t.tar", "w") as tar:
        tar.add(log, "study.toml")
        tar.add(log, name)
    for file in ("s.zip", "t.tar"):
        azlatency("import", file, "--study", file[0], cwd=tmp_path / "inner")
    found = sorted(path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("study.toml"))
    assert all(path.startswith("inner/data/") for path in found), found
    assert not list((tmp_path / "inner" / "data").rglob("s.zip.toml"))


# --- help, colours, progress, completion

COMMANDS = ("parse", "check", "manifest", "import", "report", "compare", "plan")


@pytest.mark.parametrize("command", COMMANDS)
def test_examples_in_the_help_use_existing_options(command: str) -> None:
    text = azlatency(command, "--help", COLUMNS="200").stdout
    options, _, examples = text.partition("Examples:")
    lines = [line.strip() for line in examples.splitlines() if line.strip()]
    assert lines and all(f"azlatency {command}" in line for line in lines)
    for line in lines:
        for option in re.findall(r"(?<=\s)--[a-z-]+", line.partition("#")[0]):
            assert option in options, f"{option} of {line!r}"


def test_a_pipe_and_no_color_disable_colours(log: Path) -> None:
    for environment in ({}, {"NO_COLOR": "1", "FORCE_COLOR": "1"}, {"NO_COLOR": "1", "TERM": "xterm-256color"}):
        result = azlatency("parse", log, "--format", "table", **environment)
        assert not re.search(r"\x1b\[[0-9;]*3[0-9]m", result.stdout), environment


def test_progress_is_shown_only_on_a_terminal_on_standard_error(tmp_path: Path, raw: Path) -> None:
    """A pipe gets no progress bar; a terminal (here a pseudo terminal) gets it on standard error."""
    pty = pytest.importorskip("pty")
    shutil.copytree(raw / "westeurope-azure-cni", tmp_path / "data" / "raw" / "cni")
    command = [sys.executable, "-m", "azlatency", "import", "--study", "cni", "--out"]
    environment = {**os.environ, "TERM": "xterm"}
    quiet = subprocess.run([*command, "one"], cwd=tmp_path, capture_output=True, check=True, env=environment)
    assert b"\x1b" not in quiet.stdout + quiet.stderr
    master, slave = pty.openpty()
    with subprocess.Popen(
        [*command, "two"], cwd=tmp_path, stdout=subprocess.PIPE, stderr=slave, env=environment
    ) as child:
        os.close(slave)
        seen = b""
        with contextlib.suppress(OSError):
            while piece := os.read(master, 4096):
                seen += piece
        assert child.stdout is not None
        printed = child.stdout.read()
    os.close(master)
    assert b"\x1b[" in seen and "━".encode() in seen, "a bar"
    assert printed.startswith(b"cni: ") and b"\x1b" not in printed


@pytest.mark.parametrize(
    ("words", "found"),
    [
        ("azlatency report --study west", {"westeurope-azure-cni", "westeurope-availability-set-vs-zones"}),
        ("azlatency import --study uks", {"uksouth-echo-latency"}),
        ("azlatency compare emul", {"emulated-zones"}),
        ("azlatency parse data/raw/READ", {"data/raw/README.md"}),
        ("azlatency check data/ra", {"data/raw/"}),
        ("azlatency comp", {"compare"}),
    ],
)
def test_studies_files_and_commands_are_completed(words: str, found: set[str]) -> None:
    """The environment variables are those that the completion of bash sets."""
    count = len(words.split()) - 1
    asked = {"_AZLATENCY_COMPLETE": "complete_bash", "COMP_WORDS": words, "COMP_CWORD": str(count)}
    program = Path(sys.executable).with_name("azlatency")
    done = subprocess.run([program], cwd=ROOT, env={**os.environ, **asked}, capture_output=True, text=True, check=True)
    assert set(done.stdout.split()) == found


def test_report_of_an_unknown_study_lists_the_known_studies(tmp_path: Path, raw: Path) -> None:
    shutil.copytree(raw / "uksouth-echo-latency", tmp_path / "data" / "raw" / "uksouth-echo-latency")
    azlatency("import", "--all", cwd=tmp_path)
    (tmp_path / "notebooks").mkdir()
    shutil.copy(ROOT / "notebooks" / "01_latency.ipynb", tmp_path / "notebooks")
    result = azlatency("report", "--study", "nothing", "--out", "site", cwd=tmp_path)
    assert result.returncode == 1 and "uksouth-echo-latency" in result.stderr
    assert len(result.stderr.splitlines()) == 1
