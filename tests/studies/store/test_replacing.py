"""What a killed process leaves is restored or removed, and a full disk is named."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from unittest import mock

import pytest

from azlatency.studies.store.replacing import _is_running_on_windows, recover, write_whole


def test_the_state_before_a_hard_kill_is_restored(tmp_path: Path) -> None:
    (tmp_path / ".cni.12345.old").mkdir()
    (tmp_path / ".cni.12345.old" / "runs.parquet").touch()
    recover(tmp_path / "cni")
    assert os.listdir(tmp_path) == ["cni"] and os.listdir(tmp_path / "cni") == ["runs.parquet"]


def test_only_remains_of_dead_processes_of_this_study_are_removed(tmp_path: Path) -> None:
    dead = subprocess.Popen(["true"])
    dead.wait()
    kept = [".cni.1.new", f".other.{dead.pid}.old", ".cni.x.new", f".cni.b.{dead.pid}.new"]
    for name in (*kept, f".cni.{dead.pid}.new"):
        (tmp_path / name).mkdir()
    recover(tmp_path / "cni")
    assert sorted(os.listdir(tmp_path)) == sorted(kept)


@pytest.mark.parametrize(
    ("handle", "last_error", "waited", "is_running"),
    [(8, 0, 258, True), (8, 0, 0, False), (0, 5, None, True), (0, 87, None, False)],
)
def test_a_process_is_looked_up_on_windows_without_a_signal(
    handle: int, last_error: int, waited: int, is_running: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It runs, has ended but is still open elsewhere, belongs to somebody else, or does not exist."""
    monkeypatch.setattr(os, "kill", None)
    kernel32 = mock.Mock()
    kernel32.OpenProcess.return_value, kernel32.GetLastError.return_value = handle, last_error
    kernel32.WaitForSingleObject.return_value = waited
    assert _is_running_on_windows(4711, kernel32) is is_running
    assert kernel32.CloseHandle.call_count == bool(handle)


def test_a_full_disk_names_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_arguments: object, **_options: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", full)
    with pytest.raises(OSError, match="No space left on device") as raised:
        write_whole(tmp_path / "page.html", "text")
    assert raised.value.filename == str(tmp_path / "page.html")
