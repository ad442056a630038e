"""The console blocks of the documentation: commands and what they print."""

from __future__ import annotations

import re

#: Marks a block of Python among the commands.
PYTHON = "#!python\n"


def console_steps(text: str) -> list[tuple[str, str]]:
    """Return the commands of all console blocks of a page with their output, in order.

    A block of Python between them is a command, followed by its output.
    """
    commands: list[tuple[str, str]] = []
    for language, content in re.findall(r"^```(\w+)\n(.*?)^```", text, re.DOTALL | re.MULTILINE):
        if language == "console":
            for part in re.split(r"^\$ ", content, flags=re.MULTILINE)[1:]:
                command, _, printed = part.partition("\n")
                commands.append((command, printed))
        elif language == "python" and commands:
            commands.append((f"{PYTHON}{content}", ""))
        elif language == "text" and commands and commands[-1][0].startswith(PYTHON):
            commands[-1] = (commands[-1][0], content)
    return commands


def matches(printed: str, due: str) -> bool:
    """Compare output; an ellipsis matches anything, inside a line or for whole lines."""
    pattern = ".*".join(re.escape(part) for part in due.rstrip("\n").split("…"))
    return re.fullmatch(pattern, printed.rstrip("\n"), re.DOTALL) is not None


#: Commands that no test of a block runs, by their beginning, and why.
NOT_RUN = {
    "git clone": "needs a network",
    "pip install": "needs a package index",
    "python -m pip install": "needs a package index",
    "make ": "takes minutes, and is what runs the tests",
}


def is_run(command: str) -> bool:
    """Return whether a test can run a command."""
    return not command.startswith(tuple(NOT_RUN))


def numbers(printed: str) -> set[str]:
    """Return the numbers of an output, each as a whole."""
    return set(re.findall(r"\d+(?:[.,:]\d+)*", printed))
