"""How a ping log is recognised, and which of the two readers reads it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from azlatency.logs.parsers import Log, Parser, Signature
from azlatency.logs.parsers.identities import SENT_IS_RECEIVED_AND_LOST
from azlatency.logs.parsers.ping.json_output import read_json
from azlatency.logs.parsers.ping.languages import CODE_PAGE_PHRASES, LANGUAGES, WINDOWS_STATISTICS
from azlatency.logs.parsers.ping.mixed import find_continued, separate_targets
from azlatency.logs.parsers.ping.routeros import SUMMARY, TITLES
from azlatency.logs.parsers.ping.text import PingText
from azlatency.logs.record import Recorder
from azlatency.logs.source.lines import Line


def _windows_headers() -> dict[str, str]:
    """One pattern per literal; nearly all Windows headers contain the name of the tool, so one search serves them."""
    patterns: dict[str, list[str]] = {}
    for language in LANGUAGES:
        if language.header:
            patterns.setdefault(language.header_literal, []).append(language.header)
    return {literal: "|".join(alternatives) for literal, alternatives in patterns.items()}


_FIRST_LINES = {
    "PING": r"PING \S{1,200} ?\(.{1,200}\d{1,6}(?: ?\(\d{1,6}\))? ?\D{1,80}|PING6\(\d.{1,200}",
    "PING ": r"PING \S{1,200} \(\S{1,200}\): sending (?:timestamp|address mask) requests",
    "ПІНГ": r"ПІНГ .{1,400}",
    **_windows_headers(),
}
_INNER_LINES = {
    # hping3 prints a line without a deviation, as BusyBox does.
    " min/avg/max/": r"(?:rtt|round-trip) min/avg/max/(?:mdev|std-?dev) = (?:[\d.]{1,20}/){3}[\d.]{1,20} ms.{0,60}",
    "packets transmitted": r"\d{1,12} packets transmitted, \d{1,12} (?:packets )?received.{0,200}",
    "ing": r"-{2,3} .{0,200}\b[Pp]ing6?\b.{0,200} -{2,3}|" + WINDOWS_STATISTICS,
    "пінгування": r"-{2,3} .{1,300} -{2,3}",
    "icmp_seq=": r"(?:\[[\d.]{1,24}\] )?\d{1,6} \D.{1,300}icmp_seq ?=\d{1,10} .{1,80}",
    " seq=": r"\d{1,6} bytes from .{1,200} seq=\d{1,10} ttl=.{1,80}",
    '"ttl": ': r'(?:\[[\d.]{1,24}\] )?\{"bytes": \d+, "host": .{1,300}"ttl": .{1,200}\}',
    '"transmitted": ': r'(?:\[[\d.]{1,24}\] )?\{"host": .{1,300}"transmitted": .{1,400}\}',
    "SEQ HOST": TITLES,
    "packet-loss=": SUMMARY,
    "ping": r"ping6?: (?:unknown host|cannot resolve|\S{1,200}: (?:Temporary|Name or)).{0,200}",
}
#: Many lines of other logs contain "ing".
_SHAPES = {"ing": r"(?=.*[Pp]ing).*(?::|--)"}
SIGNATURES = (
    *(Signature(hint, pattern, shape=_SHAPES.get(hint)) for hint, pattern in _FIRST_LINES.items()),
    *(Signature(hint, pattern, weak=True, shape=_SHAPES.get(hint)) for hint, pattern in _INNER_LINES.items()),
)
_FIRST_OBJECTS = 50


class PingParser(Parser):
    """Reads ping; see `azlatency.logs.parsers.ping`."""

    tool = "ping"
    identities = (SENT_IS_RECEIVED_AND_LOST,)
    reads_any_size = True
    commands = ("ping", "ping6")
    names_size = sends_rarely = True
    options: ClassVar = {"requested_count": ("-c", "-n"), "-i": ("-i",), "-Q": ("-Q",), "-I": ("-I",)}
    switches: ClassVar = {"-f": ("-f",), "-A": ("-A",)}
    flags = "46ABCDHLORUVabdfhnqrv"
    signatures = SIGNATURES
    code_page_phrases = CODE_PAGE_PHRASES

    def parse(self, log: Log, recorder: Recorder) -> None:
        """Read one log; each header, and each summary without a header, is a run."""
        if len(parts := separate_targets(log)) > 1:
            for part in parts:
                self._read(part, recorder)
                text = "several pings wrote into this file at once; each line is read with the host that it names"
                recorder.add_event("mixed_runs", "info", text, part.first_line, recorder.rows["runs"][-1]["run_id"])
            return
        self._read(log, recorder)

    def find_continued(self, logs: Sequence[Sequence[Line]]) -> list[int]:
        """Return the logs in which a ping ends that begins in a log above."""
        return find_continued(logs)

    def _read(self, log: Log, recorder: Recorder) -> None:
        if [text for _, text in log.lines[:_FIRST_OBJECTS] if '"transmitted": ' in text or '"ttl": ' in text]:
            read_json(log, recorder)
            return
        reader = PingText(log, recorder)
        reader.feed(log.lines, recorder.accounting)
        reader.ping.finish(log.last_line)


PARSER = PingParser()
