"""What all commands share: usage errors, help, version, colours, progress."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from helpers.command import azlatency
from helpers.places import TESTS
from helpers.terminal import on_terminal

from azlatency.cli import app


@pytest.fixture
def log(raw: Path) -> Path:
    return raw / "westeurope-azure-cni" / "az1-az3" / "sockperf.log"


@pytest.mark.parametrize(
    "arguments",
    [["parse"], ["parse", "x", "--format", "xml"], ["parse", "x", "--table", "nonsense"], ["import"], ["nonsense"],
     ["import", "--all", "--study", "x"], ["import", "--study", "../x"]],
)  # fmt: skip
def test_usage_errors_exit_2(arguments: list[str]) -> None:
    assert azlatency(*arguments).returncode == 2


def test_version_and_help() -> None:
    assert azlatency("--version").stdout.startswith("azlatency ")
    assert "Examples:" in azlatency("parse", "--help").stdout


COMMANDS = ("parse", "check", "import", "report", "compare", "plan")


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


@pytest.mark.costly
def test_progress_is_shown_only_on_a_terminal_on_standard_error(tmp_path: Path, raw: Path) -> None:
    """A pipe gets no progress bar; a terminal (here a pseudo terminal) gets it on standard error."""
    pty = pytest.importorskip("pty")
    shutil.copytree(raw / "westeurope-azure-cni", tmp_path / "data" / "raw" / "cni")
    words = ["import", "--study", "cni", "--out"]
    quiet = azlatency(*words, "one", cwd=tmp_path, TERM="xterm")
    assert quiet.returncode == 0 and "\x1b" not in quiet.stdout + quiet.stderr
    master, slave = pty.openpty()
    env = {**os.environ, "TERM": "xterm"}
    with subprocess.Popen(
        [sys.executable, "-m", "azlatency", *words, "two"], cwd=tmp_path, stdout=subprocess.PIPE, stderr=slave, env=env
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


def test_many_copies_of_a_file_are_counted(tmp_path: Path) -> None:
    log = (TESTS / "fixtures" / "ping" / "busybox-1.35-c4.log").read_bytes()
    for letter in "abcdefghij":
        (tmp_path / f"{letter}.log").write_bytes(log)
    errors = azlatency("check", tmp_path).stderr
    assert errors.count("identical to") == 5 and "5 more files identical to another one; skipped" in errors


@pytest.mark.costly
@pytest.mark.parametrize(
    "arguments",
    [
        ("compare", "a.log", "a.log"),
        # It imports everything that is shadowed.
        pytest.param(("parse", "a.log"), marks=pytest.mark.slow),
        pytest.param(("check", "a.log"), marks=pytest.mark.slow),
        pytest.param(("report",), marks=pytest.mark.slow),
        pytest.param(("import", "a.log", "--study", "a"), marks=pytest.mark.slow),
        pytest.param(("init", "new"), marks=pytest.mark.slow),
    ],
    ids=lambda arguments: arguments[0],
)
def test_no_module_of_the_working_directory_is_imported(arguments: tuple[str, ...], tmp_path: Path, log: Path) -> None:
    """An unpacked dump may contain anything; for ``-m``, Python itself puts the folder on the import path."""
    shutil.copy(log, tmp_path / "a.log")
    for name in ("pandas", "numpy", "scipy", "matplotlib", "pyarrow", "msgspec", "typer", "rich", "sitecustomize"):
        (tmp_path / f"{name}.py").write_text("open('ran', 'a').write(__name__)\n")
    environment = {**os.environ, "PYTHONPATH": ""}
    subprocess.run(
        [sys.executable, "-m", "azlatency", *arguments], cwd=tmp_path, env=environment, capture_output=True, check=False
    )
    assert not (tmp_path / "ran").exists()


def test_without_arguments_the_help_has_lines() -> None:
    result = azlatency()
    assert result.returncode == 0 and "\n\n  Turn raw latency" in result.stdout and not result.stderr
    assert "\n\n  azlatency DUMP (logs, folders, archives) is short for" in result.stdout


def test_the_help_lists_the_commands_in_the_order_of_work_and_no_python_types() -> None:
    text = azlatency("--help").stdout
    listed = re.findall(r"^  ([a-z]+)  ", text.partition("Commands:\n")[2], re.MULTILINE)
    assert set(listed) == {command.name for command in app.registered_commands}
    assert listed[:5] == ["init", "answer", "check", "parse", "import"] and listed[-1] == "plan"
    for command in listed:
        assert not re.search(r"list\[|<(str|int|path)", azlatency(command, "--help").stdout), command


def test_quiet_leaves_out_notes(log: Path, tmp_path: Path) -> None:
    words = ["import", log, "--study", "mine"]
    assert "missing: zone, " in azlatency(*words, cwd=tmp_path).stderr
    quiet = azlatency("import", "--study", "mine", "--rebuild", "--quiet", cwd=tmp_path)
    assert quiet.stderr == "" and quiet.stdout.startswith("mine: 1 sockperf")


@pytest.mark.costly
@pytest.mark.skipif(os.name != "posix", reason="needs a pseudo terminal")
def test_a_closed_pipe_is_no_error_and_ctrl_c_is_one_line(raw: Path, tmp_path: Path) -> None:
    words = f"azlatency parse {raw}/westeurope-azure-cni --format table"
    code, printed = on_terminal(f"bash -c '{words} | true; exit ${{PIPESTATUS[0]}}'", 80, tmp_path)
    assert (code, printed.strip()) == (0, "")
    words = f"exec azlatency import --study emulated-zones --rebuild --out {tmp_path}"
    code, printed = on_terminal(words, 80, raw.parents[1], stop=True)
    assert (code, printed.splitlines()[-1]) == (130, "interrupted")
    assert "Traceback" not in printed


@pytest.mark.skipif(os.name != "posix", reason="needs signals")
def test_ctrl_c_while_the_commands_are_imported_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "typer.py").write_text("import os, signal\nos.kill(os.getpid(), signal.SIGINT)\n")
    places = os.pathsep.join([str(tmp_path), *filter(None, [os.environ.get("PYTHONPATH")])])
    done = subprocess.run(
        [sys.executable, "-m", "azlatency", "--help"],
        env=os.environ | {"PYTHONPATH": places},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "interrupted\n")


@pytest.mark.costly
@pytest.mark.parametrize(("encoding", "unit"), [("cp1252", "µs"), ("ascii", "us")])
def test_a_character_that_an_output_cannot_hold_is_replaced(
    encoding: str, unit: str, raw: Path, tmp_path: Path
) -> None:
    """Windows encodes what is redirected by its code page, which has no arrow."""
    log = raw / "westeurope-azure-cni" / "single-node" / "sockperf.log"
    command, env = [sys.executable, "-m", "azlatency", str(log)], os.environ | {"PYTHONIOENCODING": encoding}
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, env=env, check=False)
    printed = done.stdout.decode(encoding)
    assert (done.returncode, "? -> " in printed, f" {unit}" in printed) == (0, True, True), done.stderr


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="closes streams in a shell")
@pytest.mark.parametrize(
    ("words", "code", "printed"),
    [("parse LOG >&-", 0, ""), ("LOG >&-", 0, ""), ("compare LOG LOG >&-", 3, ""), ("nothing >&- 2>&-", 2, ""),
     ("parse LOG --format csv 2>&-", 0, "run_id"), ("- <&-", 1, ""),
     ("report LOG --out built >&-", 0, "")],
)  # fmt: skip
def test_a_closed_stream_takes_no_output_and_the_exit_code_counts(
    words: str, code: int, printed: str, log: Path, tmp_path: Path
) -> None:
    command = f"{sys.executable} -m azlatency {words.replace('LOG', str(log))}"
    done = subprocess.run(["sh", "-c", command], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == code and printed in done.stdout and "Traceback" not in done.stderr, done.stderr
    assert printed or not done.stdout
