"""`azlatency plan`: which script is written, and which options are refused."""

from __future__ import annotations

from pathlib import Path

from helpers.command import azlatency

HOSTS = ("--host", "1=vm-a@10.0.0.4", "--host", "2=vm-b@10.0.1.4")


def test_the_tools_decide_which_script_is_written(tmp_path: Path) -> None:
    shell = azlatency("plan", *HOSTS, "--tool", "ping", "--rounds", 2, "--out", "a.sh", cwd=tmp_path)
    assert shell.returncode == 0, shell.stderr
    assert (tmp_path / "a.sh").read_text("utf-8").startswith("#!/bin/sh") and not (tmp_path / "a.ps1").exists()
    assert "10.0.1.4" in (tmp_path / "a.sh").read_text("utf-8")


def test_a_precision_that_is_not_a_number_is_refused(tmp_path: Path) -> None:
    result = azlatency("plan", *HOSTS, "--tool", "ping", "--precision", "close", "--out", "a.sh", cwd=tmp_path)
    assert result.returncode == 2 and not (tmp_path / "a.sh").exists()
