"""The report, a copy of the screen, and the XML output of mtr."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import UTC, datetime
from html import unescape

from azlatency.logs.grammar.rules import UNKNOWN, Line, data, known
from azlatency.logs.grammar.units import Quantity, quantity
from azlatency.logs.parsers import Log
from azlatency.logs.parsers.common import LogReader
from azlatency.logs.record import Recorder
from azlatency.more_tools.mtr.report import TIMES, TITLES, UNKNOWN_HOST, Cell, Report, milliseconds

_AS_NUMBER = re.compile(r"AS(?:\d{1,10}|\?\?\?)")
_TITLE = rf"(?:{'|'.join(TITLES)})"
START = r"Start: (\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d[+-]\d{4}|[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d \d{4})"
HEADER = rf"(?:HOST:(?: {{1,4}}(?!Loss%)(\S{{1,253}}))?|Host) {{1,200}}({_TITLE}(?: {{1,20}}{_TITLE}){{1,20}})"
_VALUE = r"\d{1,9}(?:\.\d{0,4})?%?"
_SYSTEM = r"(?:AS\S{1,12} {1,20})?"
ROW = (
    rf"(\d{{1,3}})\.(?:\|--)? {{1,4}}({_SYSTEM}\S{{1,300}}(?: \([^() ]{{1,60}}\))?(?: {{1,200}}{_VALUE}){{3,20}}"
    rf"|{_SYSTEM}\?\?\?|\(waiting for reply\))"
)
# Characters of a column without the blank in front; a longer number loses its last characters.
_WIDTHS = {**dict.fromkeys(("Snt", "Rcv", *TIMES), 5), **dict.fromkeys(("Drop", "Jttr", "Javg", "Jmax", "Jint"), 4)}
# 3074. is 3074.0 to 3074.9 with a rounding of 0.05.
_CUT_MIDDLE_NS, _CUT_HALF_NS = 450_000.0, 500_000.0
_ADDRESS = r"(?:\d{1,3}(?:\.\d{1,3}){3}|[\da-fA-F]{0,4}:[\da-fA-F:.]{1,39})"
_LINES_ABOVE_HEADER = 20
_NUMBER = re.compile(_VALUE)


class MtrText(LogReader):
    """Reads the lines of one log; each header begins a report."""

    def __init__(self, log: Log, recorder: Recorder) -> None:
        super().__init__(log, recorder)
        self.report: Report | None = None
        self.columns: list[str] = []
        self.version: str | None = None
        self.client: str | None = None
        self.target: str | None = None
        self.hub: tuple[int, str, int] | None = None
        self.values: dict[str, Cell] = {}
        self.ended = False

    def _begin(self, line: Line, client: str | None, dialect: str) -> Report:
        self.report = report = Report(self.recorder, line.number, dialect, target=self.target or named_target(self.log))
        report.run.set(tool_version=self.version, client=client or self.log.host, protocol=protocol(self.log))
        return report

    @data(START, hint="Start: ")
    def start(self, line: Line, match: re.Match[str]) -> None:
        report = self._begin(line, None, "report")
        if "T" in match[1][:11] and match[1][0].isdigit():
            moment = datetime.strptime(match[1], "%Y-%m-%dT%H:%M:%S%z")
            report.run.set(started_at=moment.astimezone(UTC))

    @data(r"My traceroute {1,4}\[v?([\w.-]{1,30})\]", hint="My traceroute")
    def screen(self, line: Line, match: re.Match[str]) -> None:
        self.version = match[1]

    @data(r"(\S{1,253}) \([^() ]{1,60}\) -> \S{1,253} \(([^() ]{1,60})\).{0,60}", hint=" -> ")
    def ends(self, line: Line, match: re.Match[str]) -> None:
        self.client, self.target = match[1], match[2]

    @data(HEADER, hint="Loss%")
    def header(self, line: Line, match: re.Match[str]) -> None:
        """Read the columns; without a line above, begin a report."""
        if self.columns:
            self.close(line.number - 1)
        if self.report is None:
            self._begin(line, None, "report" if match[0].startswith("HOST:") else "screen")
        assert self.report is not None
        self.report.run.set(client=match[1] or self.client or self.log.host)
        self.columns = match[2].split()

    @data(ROW, hint=".")
    def row(self, line: Line, match: re.Match[str]) -> None:
        words = match[2].split()
        report = self.report
        if report is None or not self.columns or line.number == self.unfinished:
            raise ValueError("a row without its header, or a row that is cut")
        if _AS_NUMBER.fullmatch(words[0]):
            del words[0]
        if words[-1] in (UNKNOWN_HOST, "reply)"):
            report.hops[int(match[1])] = UNKNOWN_HOST  # the screen shows no numbers for a hop without a reply
            return
        values, name = words[-len(self.columns) :], " ".join(words[: -len(self.columns)])
        if len(words) <= len(self.columns) or int(match[1]) in report.hops or not all(map(_NUMBER.fullmatch, values)):
            raise ValueError("not the columns of the header")
        kept = self._without_cut(dict(zip(self.columns, values, strict=True)), line)
        report.add_hop(int(match[1]), name, kept, line.number, _time)

    def _without_cut(self, values: dict[str, str], line: Line) -> dict[str, Cell]:
        """Return the values without integers that fill their column: the column may have cut them."""
        cut = [
            title
            for title in self.columns[:-1]
            if title in _WIDTHS and "." not in values[title] and len(values[title]) >= _WIDTHS[title]
        ]
        if cut and self.report is not None:
            text = f"{cut[0]} {values[cut[0]]} fills its column and may be cut; it is left out (use --csv or --json)"
            self.report.run.add_event("cut_number", "warning", text, line.number)
        return {title: Cell(token, line.number) for title, token in values.items() if title not in cut}

    # --- XML

    @data(r'<MTR SRC="([^"]{0,253})" DST="([^"]{0,253})"( [^<>]{0,300})?>', hint="<MTR ")
    def xml_begin(self, line: Line, match: re.Match[str]) -> None:
        self.target = unescape(match[2])
        self._begin(line, unescape(match[1]), "xml")

    @data(r'<HUB COUNT="(\d{1,3})" HOST="([^"]{0,300})"( [^<>]{0,600})?>', hint="<HUB ")
    def xml_hub(self, line: Line, match: re.Match[str]) -> None:
        self.hub, self.values = (int(match[1]), unescape(match[2]), line.number), {}

    @data(rf"<(Loss|{_TITLE[3:-1]})> {{0,20}}([\d.]{{1,20}}%?)</\1>", hint="</")
    def xml_value(self, line: Line, match: re.Match[str]) -> None:
        if not _NUMBER.fullmatch(match[2]):
            raise ValueError("not a number")
        self.values["Loss%" if match[1] == "Loss" else match[1]] = Cell(match[2], line.number)

    @data(r"</HUB>", hint="</HUB>")
    def xml_hub_end(self, line: Line, match: re.Match[str]) -> None:
        if self.report is None or self.hub is None:
            raise ValueError("the end of a hub without its beginning")
        hop, host, first = self.hub
        self.report.add_hop(hop, host, self.values, first, milliseconds)
        self.hub = None

    @data(r"</MTR>", hint="</MTR>")
    def xml_end(self, line: Line, match: re.Match[str]) -> None:
        self.ended = True
        self.close(line.number)

    known = known(
        ("Packets", r"Packets {1,60}Pings"),
        ("Keys:", r"Keys: .{1,200}"),
        ("<?xml", r"<\?xml .{1,100}\?>"),
        # Further hosts that answered for a hop, and labels.
        ("|-- ", rf"\| {{1,4}}[`|]?\|?-- {_ADDRESS}"),
        ("[MPLS: ", r"(?:\| {1,4}\|?\+-- )?\[MPLS: .{1,100}\]"),
        (".", rf"(?:\S{{1,253}} \()?{_ADDRESS}\)?"),
        # The host and the date above a screen of old versions.
        (":", r"\S{1,253} \([\da-f.:]{1,60}\) {1,100}\w{3} .{1,40}"),
    )

    def close(self, last_line: int) -> None:
        """Complete the report that is being read."""
        report, self.report = self.report, None
        if report is not None:
            if report.run.row["dialect"] != "xml":
                cut_here = self.unfinished and self.recorder.accounting.kind_of(self.unfinished) == UNKNOWN
                self.ended = not cut_here
            report.finish(last_line, ended=self.ended)
        self.columns, self.ended = [], False


def _time(token: str) -> Quantity:
    """Read a time of the report. If its column has cut the decimal, take the middle of what the time can be."""
    if not token.endswith("."):
        return quantity(token, "ms")
    whole = quantity(token[:-1], "ms")
    return whole._replace(value=whole.value + _CUT_MIDDLE_NS, printed=token, resolution=_CUT_HALF_NS)


def named_target(log: Log) -> str | None:
    """Return the target in the command line: its last word."""
    words = log.arguments
    return words[-1] if len(words) > 1 and not words[-1].startswith("-") else None


def protocol(log: Log) -> str | None:
    """Return the protocol of the probes if the command line is known."""
    words = log.arguments
    if not words:
        return None
    options = {"--udp": "udp", "-u": "udp", "--tcp": "tcp", "-T": "tcp", "--sctp": "sctp", "-S": "sctp"}
    return next((options[word] for word in words if word in options), "icmp")


def is_continued(above: Sequence[Line], lines: Sequence[Line]) -> bool:
    """Whether a log that begins with a header belongs to the log above, which has only the lines above a header."""
    if not re.fullmatch(HEADER, lines[0].text.strip()):
        return False
    return not any(re.fullmatch(f"{HEADER}|{ROW}", line.text.strip()) for line in above[:_LINES_ABOVE_HEADER])
