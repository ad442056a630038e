"""`azlatency check`."""

from __future__ import annotations

from pathlib import Path

from helpers.command import azlatency


def test_check_prints_what_each_file_can_be_used_for(raw: Path) -> None:
    result = azlatency("check", raw / "westeurope-azure-cni")
    assert result.returncode == 0
    assert result.stdout.splitlines()[-1] == "20 files: 17 usable, 3 usable with caveats, 0 unusable"
    assert "percentiles up to p99.9\n" in result.stdout


def test_check_of_an_unusable_file_exits_1(tmp_path: Path) -> None:
    (tmp_path / "x.log").write_text("hello\n")
    result = azlatency("check", "x.log", cwd=tmp_path)
    assert result.returncode == 1
    assert result.stdout.startswith("x.log: unusable")
