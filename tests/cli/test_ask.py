"""`azlatency ask`."""

from __future__ import annotations

import os
import pty
import shutil
import subprocess
import sys
from pathlib import Path

from helpers.command import azlatency
from helpers.places import FIXTURES


def _dump(folder: Path) -> None:
    for name, log in (("docker", "2.7.1-rr-demo.log"), ("linux", "2.7.0-rr.log")):
        (folder / "dump").mkdir(exist_ok=True)
        shutil.copy(FIXTURES / "netperf" / log, folder / "dump" / f"{name}.log")


def test_without_a_terminal_only_the_table_is_printed(tmp_path: Path) -> None:
    _dump(tmp_path)
    done = azlatency("ask", "dump", cwd=tmp_path)
    assert done.returncode == 0
    assert "docker" in done.stdout and "netperf tcp_rr" in done.stdout
    assert "No two runs repeat each other" in done.stdout
    assert not (tmp_path / "dump" / "study.toml").exists()
    assert azlatency("ask", "dump/docker.log", cwd=tmp_path).returncode == 2


def test_in_a_terminal_the_answers_become_the_study(tmp_path: Path) -> None:
    _dump(tmp_path)
    terminal, inside = pty.openpty()
    os.write(terminal, b"maybe\nyes\nvm7\n")  # an answer that is none is asked for again
    command = [sys.executable, "-m", "azlatency", "ask", "dump"]
    with subprocess.Popen(command, stdin=inside, stdout=inside, stderr=inside, cwd=tmp_path) as process:
        os.close(inside)
        while True:
            try:
                if not os.read(terminal, 4096):
                    break
            except OSError:  # Linux: the other end was closed
                break
    os.close(terminal)
    assert process.returncode == 0
    text = (tmp_path / "dump" / "study.toml").read_text("utf-8")
    assert 'scenario = "docker"' in text and 'client = "vm7"' in text
