"""The command line as a user runs it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

Completed = subprocess.CompletedProcess[str]


def azlatency(*arguments: object, stdin: bytes = b"", cwd: Path | None = None, **env: str) -> Completed:
    result = subprocess.run(
        [sys.executable, "-m", "azlatency", *map(str, arguments)],
        input=stdin,
        capture_output=True,
        cwd=cwd,
        env={**os.environ, "COLUMNS": "120", **env},
        check=False,
    )
    assert b"Traceback" not in result.stderr
    return subprocess.CompletedProcess(result.args, result.returncode, result.stdout.decode(), result.stderr.decode())
