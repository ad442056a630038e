"""Makes every log large, so that small ones are read as those are that do not fit into memory."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest

import azlatency.logs.source.expand as expand_module
from azlatency.logs import tables
from azlatency.logs.grammar import probes
from azlatency.logs.source import large, lines
from azlatency.logs.tables import Logs


def plain(logs: Logs) -> dict[str, Any]:
    """Return all tables without the time of import."""
    rows = {name: logs.records(name) for name in logs.rows} | {"samples": logs.to_arrow("samples").to_pylist()}
    for row in rows["sources"]:
        del row["imported_at"]
    return rows


def cut_small(patch: pytest.MonkeyPatch, piece: int) -> None:
    """Make everything large: pieces of a few lines, columns of a few samples, blocks of three rows."""
    patch.setattr(expand_module, "_LARGE", 0)
    patch.setattr(expand_module, "_PIECE", 7 * piece)
    patch.setattr(lines, "_FEWEST", 3)
    patch.setattr(lines, "_PIECE", piece)
    patch.setattr(lines, "_LARGEST_BLOCK", 2 * piece)
    patch.setattr(large, "_WINDOW", 8)
    for module in (large, probes):
        patch.setattr(module, "MOST_IN_MEMORY", 8)
    patch.setattr(tables, "_PART", 12)
    patch.setattr(probes, "_WINDOW", 16)
    patch.setattr(probes, "_SORTED", 16)
    patch.setattr(probes, "_RECENT", 2)
    patch.setattr(probes, "_FEW", 4)


def peak_of(code: str) -> tuple[str, int]:
    """Run code that knows azlatency as ``az`` in a new process; return what it prints, and its peak memory in MB."""
    tail = (
        # Not ru_maxrss, which a new program takes over from the process that starts it.
        "\nimport pathlib, re\n"
        "print(int(re.search(r'VmHWM:\\s*(\\d+)', pathlib.Path('/proc/self/status').read_text())[1]) // 1024)"
    )
    words = [sys.executable, "-c", f"import azlatency as az\n{code}{tail}"]
    *printed, peak = subprocess.run(words, check=True, capture_output=True, text=True).stdout.splitlines()
    return "\n".join(printed), int(peak)
