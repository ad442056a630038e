"""The parsers, found through the entry-point group ``azlatency.parsers``; built-ins and plug-ins by the same door.

A parser is an object with

- ``tool``: the name that the table ``runs`` shows;
- ``signatures``: what the first line of a log of this tool looks like (`Signature`), most telling first;
- ``commands``: the program names whose command lines in a prompt belong to this tool;
- ``parse(log, recorder)``: read one `Log` into the recorder, marking every line in its accounting.

All parsers look at all lines; every match is a `Claim`, and where two tools claim the same line nobody wins: the
conflict is reported with its evidence.
"""

from __future__ import annotations

import hashlib
import re
import shlex
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.metadata import entry_points
from pathlib import Path
from typing import NamedTuple, Protocol

from azlatency import __version__
from azlatency.logs.decode import Source
from azlatency.logs.lines import Line
from azlatency.logs.record import Recorder

GROUP = "azlatency.parsers"


class Signature(NamedTuple):
    """A line that shows a log: a literal that it contains and a pattern for the stripped line, matched in full.

    A line that begins a log cuts the text there. A ``weak`` one stands in the middle or at the end of a log: it counts
    only where no log of the same tool began above it in the same block, as in a paste of the closing lines. ``then`` is
    what the next line that is not blank must be, where the first alone would fit several tools; such a claim drops
    those of other tools on the same line.
    """

    hint: str
    pattern: re.Pattern[str]
    weak: bool = False
    then: re.Pattern[str] | None = None


@dataclass(frozen=True)
class Log:
    """One log cut out of a source, with what stood around it.

    ``lines``: its cleaned lines; ``headings``: the headings above it, outermost first; ``command`` and ``host``: from
    the prompt line that started it; ``text``: the raw decoded text of exactly these lines.
    """

    source: Source
    tool: str
    lines: Sequence[Line]
    headings: tuple[str, ...] = ()
    command: str | None = None
    host: str | None = None

    @property
    def first_line(self) -> int:
        """1-based number of the first line."""
        return self.lines[0].number

    @property
    def last_line(self) -> int:
        """1-based number of the last line."""
        return self.lines[-1].number

    @property
    def text(self) -> str:
        """The decoded text of these lines, as it stands in the source."""
        if self.first_line == 1 and self.last_line >= self.source.line_count:
            return self.source.text
        return "\n".join(self.source.text.split("\n")[self.first_line - 1 : self.last_line]) + "\n"

    @property
    def arguments(self) -> list[str]:
        """The words of the command line, [] where none is known; quotes are taken as a shell would where they close."""
        if self.command is None:
            return []
        try:
            return shlex.split(self.command)
        except ValueError:
            return self.command.split()

    def option(self, *names: str) -> str | None:
        """The value after an option of the command line: ``-t 10``, ``-t10``, ``--time=10`` or ``--time 10``."""
        words = self.arguments
        for index, word in enumerate(words):
            for name in names:
                if word == name and index + 1 < len(words):
                    return words[index + 1]
                if name.startswith("--") and word.startswith(name + "="):
                    return word[len(name) + 1 :]
                if not name.startswith("--") and word.startswith(name) and word[len(name) :].isdigit():
                    return word[len(name) :]
        return None


class Parser(Protocol):
    """What a plug-in provides; see the module's docstring."""

    tool: str
    signatures: Sequence[Signature]
    commands: Sequence[str]

    def parse(self, log: Log, recorder: Recorder) -> None:
        """Read one log into the recorder; never raises on odd text."""


@cache
def load_parsers() -> dict[str, Parser]:
    """All parsers by tool. A plug-in that cannot be loaded is a warning that names it, never an error."""
    found: dict[str, Parser] = {}
    for point in entry_points(group=GROUP):
        try:
            parser = point.load()
            found.setdefault(parser.tool, parser)
        except Exception as error:  # a plug-in may fail in any way
            warnings.warn(f"parser {point.name!r} ({point.value}) is not usable: {error!r}", stacklevel=2)
    return dict(sorted(found.items()))


@cache
def parser_version() -> str:
    """Version of everything that decides what is read: this library's reading code and the plug-ins.

    A digest of the code, so that an import knows which tables are stale without anybody raising a number.
    """
    digest = hashlib.sha256()
    package = Path(__file__).parents[1]
    for path in sorted(package.rglob("*.py")):
        digest.update(path.read_bytes())
    for point in sorted(entry_points(group=GROUP), key=lambda each: each.name):
        digest.update(f"{point.name} {point.value} {point.dist.version if point.dist else ''}".encode())
    return f"{__version__}+{digest.hexdigest()[:8]}"
