"""What a parser is, and which parsers there are.

A parser is a module or package with an object ``PARSER``: one of this folder, or one in the entry-point group
``azlatency.parsers``, where ``azlatency.more_tools`` and other distributions register theirs. Delete one of ours and
the tool is gone. ``docs/add-a-parser.md`` shows how to write one.

Every parser sees every line. A line that looks like the start of a log is a claim (`azlatency.logs.recognise.claims`);
if two tools claim the same line, neither gets it, and an error event lists both claims.
"""

from __future__ import annotations

import hashlib
import importlib
import importlib.util
import pkgutil
import re
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Protocol

from azlatency import __version__
from azlatency.logs.grammar.command_line import arguments_of, option, words_of
from azlatency.logs.grammar.units import UnitDefinition, nanoseconds, register_units
from azlatency.logs.source import decode

if TYPE_CHECKING:
    from azlatency.logs.grammar.rules import LineAccounting
    from azlatency.logs.parsers.identities import Identity
    from azlatency.logs.record import Recorder
    from azlatency.logs.source.decode import Source
    from azlatency.logs.source.lines import Line

GROUP = "azlatency.parsers"


class Signature:
    """A line by which a log is recognised.

    Parameters
    ----------
    hint : str
        A literal that every such line contains. Only lines with the literal are matched against the pattern.
    pattern : str or re.Pattern
        Pattern of the whole line without leading and trailing white space.
    weak : bool
        Whether the line stands in the middle or at the end of a log. A weak signature counts only if no log of the same
        tool begins above it, for example where somebody pasted only the last lines of an output. Every other signature
        starts a new log.
    then : str or re.Pattern, optional
        Pattern of the next line that is not blank, for a line that several tools print. A log with the right next line
        wins over the claims of other tools.
    shape : str, optional
        Pattern of the line without its digits and points, if many lines of other logs contain the literal.
    inner : bool
        Whether the line does not show that a run begins: a server that waits prints it, or it repeats within a run.
        Every other signature below the last run of a log, or twice above a run, shows a run that the log was cut in.
    """

    def __init__(
        self,
        hint: str,
        pattern: str | re.Pattern[str],
        weak: bool = False,
        then: str | re.Pattern[str] | None = None,
        shape: str | None = None,
        inner: bool = False,
    ) -> None:
        self.hint, self._pattern, self.weak, self.shape, self.inner = hint, pattern, weak, shape, inner
        self.then = None if then is None else re.compile(then)

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        """The pattern of the whole line, compiled when a line needs it."""
        return re.compile(self._pattern)


@dataclass(frozen=True)
class Log:
    """One log inside a source, with its context.

    Attributes
    ----------
    source : Source
        The file or archive member that contains the log.
    tool : str
        Name of the tool.
    lines : sequence of Line
        The cleaned lines of the log.
    headings : tuple of str
        Headings above the log in a notes file, outermost first.
    command : str or None
        Command line of the prompt above the log, if it runs the tool.
    host : str or None
        Host name in that prompt.
    is_document : bool
        Whether the log is a file with one valid JSON document.
    """

    source: Source
    tool: str
    lines: Sequence[Line]
    headings: tuple[str, ...] = ()
    command: str | None = None
    host: str | None = None
    is_document: bool = False

    @property
    def first_line(self) -> int:
        """1-based number of the first line."""
        return self.lines[0].number

    @property
    def last_line(self) -> int:
        """1-based number of the last line."""
        return self.lines[-1].number

    @property
    def unfinished_line(self) -> int:
        """The number of the last line if no line feed ends it (a number at its end may be truncated), else 0."""
        at_end = self.last_line >= self.source.line_count and not self.source.text.endswith("\n")
        return self.last_line if at_end else 0

    @property
    def text(self) -> str:
        """The decoded text of the log, before its lines were cleaned."""
        text = self.source.whole_text
        if self.first_line == 1 and self.last_line >= self.source.line_count:
            return text
        return "\n".join(text.split("\n")[self.first_line - 1 : self.last_line]) + "\n"

    @cached_property
    def arguments(self) -> Sequence[str]:
        """The words of the command line from the program on, split as a shell does; empty without a command line."""
        return arguments_of(words_of(self.command or ""), find_parser(self.tool).commands)

    def option(self, *names: str) -> str | None:
        """Return the value of a command-line option; see `azlatency.logs.grammar.command_line.option`."""
        return option(self.arguments, *names, flags=find_parser(self.tool).flags)

    def seconds(self, *names: str) -> int | None:
        """Return the value of a command-line option in seconds, in ns; None if it is absent or not such a number."""
        value = self.option(*names) or ""
        return nanoseconds(value, "sec") if value.replace(".", "", 1).isdigit() else None


class LineReader(Protocol):
    """What reads the lines of a log: a `azlatency.logs.grammar.rules.RuleReader` with a method ``finish``."""

    def __init__(self, log: Log, recorder: Recorder) -> None: ...

    def feed(self, lines: Sequence[Line], accounting: LineAccounting) -> None:
        """Read lines and mark each of them."""

    def finish(self, last_line: int) -> None:
        """Complete the last run, whose last line is given."""


class Parser:
    """Base class of a parser: the reader of the logs of one tool.

    Attributes
    ----------
    tool : str
        Name of the tool, as in the column ``runs.tool``.
    signatures : sequence of Signature
        The lines by which a log is recognised, the most specific first.
    commands : sequence of str
        Program names; a command line in a prompt that runs one of them belongs to the log below it.
    shares : sequence of str
        Other tools that print some of the same lines; their weak signatures do not count inside a log of this tool.
    document_keys : mapping of str to str
        First keys of the JSON documents that the tool writes, each with the beginning of its value. A file that is one
        such document is read without a search for logs in it.
    reads_any_size : bool
        Whether logs of any size are read within bounded memory, as samples are; others beyond 256 MiB are refused.
    options : mapping of str to sequence of str
        Options of the command line that make two tests differ, with their spellings, by the name that they get in
        ``runs.settings``; ``requested_count`` fills the column of that name. What a column contains already, such as
        the number of connections, is not repeated here.
    switches : mapping of str to sequence of str
        The same for options without a value.
    units : mapping of str to tuple
        Units that only this tool prints, as canonical unit and factor (`azlatency.logs.grammar.units.register_units`).
    code_page_phrases : mapping of str to sequence of str
        For a tool that prints its text in the code page of a Windows console: phrases with non-ASCII characters by the
        name of the code page (``"cp850"``). A file that is not UTF-8 is decoded with the first code page of which it
        contains a phrase.
    flags : str
        Letters of the switches without a value, if the tool reads its options with getopt: ``-ub100M`` is
        ``-u -b 100M``. Empty for other tools.
    neutral : str
        The options that make no two tests differ, or that a column contains: output, duration, ports. Every option that
        is in none of these lists is then a setting; if the text is empty, such options are not read.
    names_size : bool
        Whether a method always names the size of the message, because the tool is told one.
    sends_rarely : bool
        Whether the tool sends about one packet per second: a single late packet moves the mean of such a run.
    fills_duration : bool
        Whether the round trips of a closed loop fill the printed duration, which proves what the printed mean is.
    table_dialect : str or None
        The ``dialect`` of a frequency table in a file of its own, which belongs to the log beside it.
    identities : sequence of Identity
        What the numbers of a run of this tool keep, besides what those of all tools do.
    reader : type of LineReader
        What reads the lines if the parser has no method `parse`; it is created with the log and the recorder.
    """

    tool: ClassVar[str]
    signatures: ClassVar[Sequence[Signature]]
    commands: ClassVar[Sequence[str]] = ()
    shares: ClassVar[Sequence[str]] = ()
    document_keys: ClassVar[Mapping[str, str]] = {}
    reads_any_size: ClassVar[bool] = False
    options: ClassVar[Mapping[str, Sequence[str]]] = {}
    switches: ClassVar[Mapping[str, Sequence[str]]] = {}
    flags: ClassVar[str] = ""
    neutral: ClassVar[str] = ""
    units: ClassVar[Mapping[str, UnitDefinition]] = {}
    code_page_phrases: ClassVar[Mapping[str, Sequence[str]]] = {}
    names_size: ClassVar[bool] = False
    sends_rarely: ClassVar[bool] = False
    fills_duration: ClassVar[bool] = False
    table_dialect: ClassVar[str | None] = None
    identities: ClassVar[Sequence[Identity]] = ()
    reader: ClassVar[type[LineReader]]

    def parse(self, log: Log, recorder: Recorder) -> None:
        """Read one log into ``recorder``: runs, their numbers, and the kind of every line (`Recorder.accounting`).

        Must not raise on any text. If it does, the runs recorded so far are kept and an error event names the parser.
        """
        reader = self.reader(log, recorder)
        reader.feed(log.lines, recorder.accounting)
        reader.finish(log.last_line)

    def find_continued(self, logs: Sequence[Sequence[Line]]) -> list[int]:
        """Return the indexes of the logs that are part of the log above; none by default.

        ``logs``: the lines of consecutive logs of this tool, which may be of several runs whose lines are mixed.
        """
        return []


@cache
def load_parsers() -> dict[str, Parser]:
    """Return all parsers by tool. A plug-in that cannot be loaded causes a warning that names it, not an error."""
    parsers: dict[str, Parser] = {}
    for module in pkgutil.iter_modules(__path__, f"{__name__}."):
        parser = getattr(importlib.import_module(module.name), "PARSER", None)
        if parser is not None:
            _add(parsers, parser)
    for point in _plug_ins():
        try:
            parser = point.load()
            _add(parsers, parser)
            for signature in () if _is_ours(point) else parser.signatures:
                re.compile(signature.pattern)  # one that is not valid shows now
        except Exception as error:  # a plug-in may fail in any way
            warnings.warn(f"parser {point.name!r} ({point.value}) is not usable: {error!r}", stacklevel=2)
    return dict(sorted(parsers.items()))


@cache
def find_parser(tool: str) -> Parser:
    """Return the parser of a tool, for what it declares about the numbers of stored runs.

    The parsers of other tools are loaded only if it is a plug-in. A tool without a parser declares nothing.
    """
    if tool in {module.name for module in pkgutil.iter_modules(__path__)}:
        parser = getattr(importlib.import_module(f"{__name__}.{tool}"), "PARSER", None)
    else:
        parser = load_parsers().get(tool)
    return parser or Parser()


@cache
def program_names() -> frozenset[str]:
    """Return the names of the programs whose output the parsers read."""
    return frozenset(name for parser in load_parsers().values() for name in parser.commands)


@cache
def _plug_ins() -> list[EntryPoint]:
    """Return the plug-ins, ours first.

    An installation in place still names ours after their files were deleted; these are left out.
    """
    points = sorted(entry_points(group=GROUP), key=lambda point: (not _is_ours(point), point))
    return [point for point in points if not _is_ours(point) or _is_found(point.module)]


def _is_ours(point: EntryPoint) -> bool:
    return point.module.partition(".")[0] == __name__.partition(".")[0]


def _is_found(module: str) -> bool:
    try:
        return importlib.util.find_spec(module) is not None
    except ModuleNotFoundError:  # nor is the package that contains it
        return False


def _add(parsers: dict[str, Parser], parser: Parser) -> None:
    if not isinstance(parser, Parser):
        raise TypeError(f"{parser!r} is not an instance of azlatency.logs.parsers.Parser")
    if parsers.get(parser.tool, parser) is not parser:
        raise ValueError(f"another parser reads the tool {parser.tool!r}")
    register_units(parser.units)
    parsers[parser.tool] = parser


@cache
def code_page_phrases() -> list[tuple[str, bytes]]:
    """Return the non-ASCII phrases of all parsers as (code page, encoded phrase)."""
    return [
        (code_page, phrase.encode(code_page))
        for parser in load_parsers().values()
        for code_page, phrases in parser.code_page_phrases.items()
        for phrase in phrases
        if not phrase.isascii()
    ]


#: A source does not know the parsers.
decode.find_phrases = code_page_phrases


@cache
def parser_version() -> str:
    """Return the version of the code that decides what is read from a log: this library's reading code and plug-ins.

    It contains a digest of that code, so an import detects outdated tables without a version number to raise by hand.
    """
    digest = hashlib.sha256()
    for path in sorted(Path(__file__).parents[1].rglob("*.py")):
        digest.update(path.read_bytes())
    points = _plug_ins()
    if not all(map(_is_ours, points)):
        load_parsers()  # warns of plug-ins that are not usable, also where no log is parsed again
    for point in points:
        digest.update(f"{point.name} {point.value} {point.dist.version if point.dist else ''}".encode())
    for package in sorted({_package_of(point) for point in points}):
        for path in _files_of(package):
            digest.update(path.read_bytes())
    return f"{__version__}+{digest.hexdigest()[:8]}"


def _package_of(point: EntryPoint) -> str:
    """Return the package whose files a plug-in may use; of ours, the one of plug-ins."""
    return ".".join(point.module.split(".")[: 2 if _is_ours(point) else 1])


def _files_of(module: str) -> list[Path]:
    """Return the source files of a package, or of a module that is none."""
    spec = importlib.util.find_spec(module)
    if spec is None or spec.origin is None:
        return []
    return sorted(Path(spec.origin).parent.rglob("*.py")) if spec.submodule_search_locations else [Path(spec.origin)]
