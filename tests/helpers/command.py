"""Run the command line in this process, as ``python -m azlatency`` would."""

from __future__ import annotations

import contextlib
import io
import os
import shlex
import subprocess
import sys
import warnings
from pathlib import Path
from unittest import mock

from azlatency.cli import main
from helpers.terminal import screen

Completed = subprocess.CompletedProcess[str]


class _Terminal(io.TextIOWrapper):
    def isatty(self) -> bool:
        return True


def on_screen(command: str, columns: int, cwd: Path) -> tuple[int, str]:
    """Return the exit code and the final screen of a command line of azlatency alone, as `on_terminal` does."""
    _, *words = shlex.split(command)
    done = azlatency(*words, cwd=cwd, merged=True, kind=_Terminal, COLUMNS=str(columns), TERM="xterm")
    return done.returncode, screen(done.stdout)


def azlatency(
    *arguments: object,
    stdin: bytes = b"",
    cwd: Path | None = None,
    merged: bool = False,
    kind: type[io.TextIOWrapper] = io.TextIOWrapper,
    **env: str,
) -> Completed:
    """Return the exit code and the output of a command. A traceback fails the test.

    If ``merged``, both outputs are one, as on a terminal, and its text is in ``stdout`` and in ``stderr``. A new
    interpreter would take more than a second per call, and prove nothing more.
    """
    words = ["azlatency", *map(str, arguments)]
    streams = [kind(io.BytesIO(content), "utf-8", newline="") for content in (stdin, b"", b"")]
    if merged:
        streams[2] = streams[1]
    code: object = 0
    with (
        contextlib.chdir(cwd or Path.cwd()),
        warnings.catch_warnings(),
        mock.patch.dict(os.environ, {"COLUMNS": "120", **env}),
        mock.patch.multiple(sys, argv=words, stdin=streams[0], stdout=streams[1], stderr=streams[2]),
    ):
        warnings.simplefilter("default")
        # As in a command; what an earlier test of this process left open is not its output.
        warnings.simplefilter("ignore", ResourceWarning)
        try:
            main()
        except SystemExit as stop:
            code = stop.code
    texts = []
    for stream in streams[1:]:
        stream.flush()
        texts.append(stream.buffer.getvalue().decode())  # type: ignore[attr-defined]
    return subprocess.CompletedProcess(words, int(code or 0), *texts)  # type: ignore[call-overload]
