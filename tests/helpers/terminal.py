"""Run a command on a pseudo terminal of a given width, and return what the screen shows."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from pathlib import Path

#: Seconds after which a command that waits for a key is stopped.
_PATIENCE = 120
_CONTROL = re.compile(r"\x1b\[([0-9;?]*)([A-Za-z])|\x1b.|([\r\n])|([^\x1b\r\n]+)")


def on_terminal(command: str, columns: int, cwd: Path, *, stop: bool = False) -> tuple[int, str]:
    """Return the exit code and the final screen of a shell command; the screen has no end at the right.

    Nothing is typed: the input ends at once. With ``stop``, a person presses Ctrl-C at the first output.
    """
    import fcntl
    import pty
    import struct
    import termios

    hidden = ("COLUMNS", "LINES", "NO_COLOR", "FORCE_COLOR", "AZLATENCY_DATA")
    environment = {name: value for name, value in os.environ.items() if name not in hidden}
    environment |= {"TERM": "xterm", "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 50, columns, 0, 0))
    child = subprocess.Popen(
        ["sh", "-c", command], cwd=cwd, env=environment, stdin=slave, stdout=slave, stderr=slave, start_new_session=True
    )
    os.close(slave)
    signal.signal(signal.SIGALRM, lambda *_: os.killpg(child.pid, signal.SIGKILL))
    signal.alarm(_PATIENCE)
    # Control-D ends the input, so that a question is an end and no wait.
    os.write(master, b"\x04")
    output = b""
    try:
        while piece := os.read(master, 65536):
            output += piece
            if stop:
                os.killpg(child.pid, signal.SIGINT)
                stop = False
    except OSError:  # Linux: the other end is closed
        pass
    code = child.wait()
    signal.alarm(0)
    os.close(master)
    return code, screen(output.decode())


def screen(text: str) -> str:
    """Return what a terminal shows after control sequences moved the cursor and erased lines."""
    lines, row, column = [""], 0, 0
    for parameters, action, newline, plain in _CONTROL.findall(text):
        if newline == "\r":
            column = 0
        elif newline:
            row, column = row + 1, 0
            lines += [""] * (row - len(lines) + 1)
        elif plain:
            line = lines[row].ljust(column)
            lines[row] = line[:column] + plain + line[column + len(plain) :]
            column += len(plain)
        elif action == "A":
            row = max(row - int(parameters or 1), 0)
        elif action == "K":
            lines[row] = "" if parameters == "2" else lines[row][:column]
    return "\n".join(line.rstrip() for line in lines).rstrip("\n") + "\n"
