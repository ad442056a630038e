"""Files and folders that are written beside their place and then moved into it: a reader finds all of them, or the old.

Until then, their names begin with a dot and contain the number of the process that writes them. What a process left
that was killed is removed by the next one.
"""

from __future__ import annotations

import ctypes
import os
import re
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

#: Folders that are beside one that is replaced.
_LEFTOVER = re.compile(r"\.(?P<study>.+)\.(?P<process>\d{1,9})\.(?P<kind>new|old)")
_SWAP_SECONDS = 0.5
# Constants of winnt.h, winerror.h and winbase.h.
_SYNCHRONIZE, _ACCESS_DENIED, _TIMED_OUT = 0x100000, 5, 258


def write_whole(path: Path, content: str | bytes) -> None:
    """Write a file in one step; the error of a full disk, which names no file, names this one."""
    raw = content if isinstance(content, bytes) else content.encode()
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{os.getpid()}.new")
    try:
        temporary.write_bytes(raw)
        os.replace(temporary, path)
    except OSError as error:
        temporary.unlink(missing_ok=True)
        raise OSError(error.errno, error.strerror, str(path)) from None


@contextmanager
def replaced(folder: Path) -> Iterator[Path]:
    """Yield a new folder that replaces ``folder`` when the context ends, or goes if it raises; see `recover`."""
    staging, old = (folder.with_name(f".{folder.name}.{os.getpid()}.{kind}") for kind in ("new", "old"))
    shutil.rmtree(staging, ignore_errors=True)
    staging.mkdir(parents=True)
    try:
        yield staging
        if folder.exists():
            os.rename(folder, old)
        os.rename(staging, folder)
        shutil.rmtree(old, ignore_errors=True)
    finally:
        shutil.rmtree(staging, ignore_errors=True)


def recover(folder: Path) -> None:
    """Restore a folder if a process was killed before it moved the new one into its place; remove what it left."""
    if not folder.parent.is_dir():
        return
    for entry in sorted(os.listdir(folder.parent)):
        leftover = _LEFTOVER.fullmatch(entry)
        if leftover is None or leftover["study"] != folder.name:
            continue
        alive = is_running(int(leftover["process"]))
        if leftover["kind"] == "old" and not folder.exists():
            if alive:  # it moves the new folder into place right now, unless its number was given to another process
                time.sleep(_SWAP_SECONDS)
            if not folder.exists():
                os.rename(folder.parent / entry, folder)
        elif not alive:
            shutil.rmtree(folder.parent / entry, ignore_errors=True)


def unfinished(folder: Path) -> Path:
    """Return the name under which this process writes what then gets its own name in a folder."""
    return folder / f".azlatency.{os.getpid()}.part"


def remove_unfinished(folder: Path) -> None:
    """Remove the files and folders in a folder that a killed process left under such a name, or one that begins so."""
    for part in folder.glob(".azlatency.*.part*"):
        process = part.name.split(".")[2]
        if process.isdecimal() and not is_running(int(process)):
            shutil.rmtree(part, ignore_errors=True) if part.is_dir() else part.unlink(missing_ok=True)


def is_running(process: int) -> bool:
    """Return whether another process has this number."""
    if process == os.getpid():
        return False
    if os.name == "nt":
        return _is_running_on_windows(process, ctypes.windll.kernel32)  # type: ignore[attr-defined]
    try:
        os.kill(process, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:
        return True
    return True


def _is_running_on_windows(process: int, kernel32: Any) -> bool:
    """Return whether there is such a process: `os.kill` would send it Ctrl-C."""
    handle = kernel32.OpenProcess(_SYNCHRONIZE, False, process)
    if not handle:
        return bool(kernel32.GetLastError() == _ACCESS_DENIED)
    try:
        return bool(kernel32.WaitForSingleObject(handle, 0) == _TIMED_OUT)
    finally:
        kernel32.CloseHandle(handle)
