"""ping: iputils in every language, BusyBox, inetutils, macOS and the BSDs, RouterOS, and Windows in thirteen languages.

::

    PING 10.2.2.4 (10.2.2.4) 56(84) bytes of data.
    [1795228093.993389] 64 bytes from 10.2.2.4: icmp_seq=1 ttl=64 time=0.302 ms
    64 bytes from 10.2.2.4: icmp_seq=1 ttl=64 time=0.302 ms (DUP!)
    no answer yet for icmp_seq=2
    From 10.2.2.1 icmp_seq=3 Destination Host Unreachable
    --- 10.2.2.4 ping statistics ---
    200 packets transmitted, 193 received, +9 duplicates, 3.5% packet loss, time 2341ms
    rtt min/avg/max/mdev = 2.357/4.666/51.019/4.329 ms, pipe 2, ipg/ewma 4.582/3.443 ms

    Pinging 10.1.0.4 with 32 bytes of data:
    Reply from 10.1.0.4: bytes=32 time<1ms TTL=128
    Packets: Sent = 4, Received = 3, Lost = 1 (25% loss),
    Minimum = 0ms, Maximum = 2ms, Average = 1ms

Every printed time is a round-trip time.

*Languages.* The words differ by language and system, so a rule identifies a line by its structure and its numbers; the
words decide only where the structure is ambiguous. A decimal comma is read as a decimal point: a French log can contain
both. **To add a language, add one `Language` entry to** `azlatency.logs.parsers.ping.languages`.

*Loss.* Loss is computed from the counts. Older iputils, BusyBox and inetutils truncate the percentage (25 of 3600 is
printed as "0%").

*Deviation.* ``mdev`` and ``stddev`` are population standard deviations over all replies, duplicates included; they are
converted to the sample standard deviation. inetutils prints 0.000 for every deviation below 22.4 µs; that value is
omitted.

*Old iputils.* Before s20190709, iputils truncates the mean to whole microseconds before it squares it, so its ``mdev``
may be too large; a log does not show the version, so the resolution includes that excess. s20180629 to s20190709 lose
the carry when they round a reply: "31.10" is 32.0 ms and "4.100" is 5.00 ms. Where the digits of the log show such a
version, the time is corrected and stored with its bounds.

*Several pings at once.* If pings of several hosts wrote into one file, each line is read with the host that it names.

*Contradictions.* The summary is compared with the replies. A run whose summary contradicts them is ``failed``.

*Windows.* Windows truncates times to whole milliseconds. A sample is therefore the interval from the printed time to
one millisecond more, and 0ms in the summary is not a value. Windows counts "Destination host unreachable" as received;
it is counted as lost.

*Time stamps.* A ``-D`` stamp is the arrival time of the reply. The send time is the stamp minus the round-trip time.

*Clock steps.* Without kernel time stamps iputils reads the wall clock. If the clock is set back during a probe, the
reply shows 0.000 ms (ping_common.c, ``gather_statistics``). Such a sample is ``void``, and a summary that includes it
has no usable minimum, mean or deviation.

Modules: `languages` (the words), `text` (the report), `routeros` (the lines of RouterOS), `json_output` (``ping -j``),
`summary` (loss and deviation), `samples` (the probes of a run), `mixed` (pings of several hosts in one text).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from azlatency.logs.parsers import Log, Parser, Signature
from azlatency.logs.parsers.identities import SENT_IS_RECEIVED_AND_LOST
from azlatency.logs.parsers.ping.json_output import read_json
from azlatency.logs.parsers.ping.languages import CODE_PAGE_PHRASES, LANGUAGES, WINDOWS_STATISTICS
from azlatency.logs.parsers.ping.mixed import find_continued, separate_targets
from azlatency.logs.parsers.ping.routeros import SUMMARY, TITLES
from azlatency.logs.parsers.ping.text import STATISTICS, PingText
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
    "ing": rf"-{{2,3}} (?=.{{0,300}}{STATISTICS}).{{0,200}}\b[Pp]ing6?\b.{{0,200}} -{{2,3}}|{WINDOWS_STATISTICS}",
    "пінгування": r"-{2,3} .{1,300} -{2,3}",
    "icmp_seq=": r"(?:\[[\d.]{1,24}\] )?\d{1,6} \D.{1,300}icmp_seq ?=\d{1,10} .{1,80}",
    " seq=": r"\d{1,6} bytes from .{1,200} seq=\d{1,10} ttl=.{1,80}",
    '"ttl": ': r'(?:\[[\d.]{1,24}\] )?\{"bytes": \d+, "host": .{1,300}"ttl": .{1,200}\}',
    '"transmitted": ': r'(?:\[[\d.]{1,24}\] )?\{"host": .{1,300}"transmitted": .{1,400}\}',
    "SEQ HOST": TITLES,
    "packet-loss=": SUMMARY,
    "ping": r"ping6?: (?:unknown host|cannot resolve|connect: |\S{1,200}: (?:Temporary|Name or)).{0,200}",
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
    neutral = "-c -n -w -W -s -t -D -O -q -v -V -4 -6 -a -h -e -U -r -R --count --size --quiet"
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
