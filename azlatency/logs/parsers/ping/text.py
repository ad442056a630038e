"""The report of ping as text: replies, headers and summaries of every implementation and language."""

from __future__ import annotations

import re
from itertools import pairwise

from azlatency.logs.grammar.probes import SEQUENCE_NUMBERS
from azlatency.logs.grammar.rules import Line, bulk, data, known
from azlatency.logs.grammar.units import nanoseconds
from azlatency.logs.parsers import Log
from azlatency.logs.parsers.common import LogReader
from azlatency.logs.parsers.ping.languages import (
    DUPLICATE,
    MILLISECONDS,
    NO_ANSWER,
    SEQUENCE,
    WINDOWS_HEADERS,
    WINDOWS_STATISTICS,
    WINDOWS_TIMEOUT,
    WINDOWS_TIMES,
    WINDOWS_UNREACHABLE,
)
from azlatency.logs.parsers.ping.routeros import RouterOsLines
from azlatency.logs.parsers.ping.run import CARRY_WIDTH, MILLISECOND, VOID_TIME, PingRun, may_lack_carry
from azlatency.logs.parsers.ping.summary import (
    check_label,
    record_counts,
    record_deviation,
    record_extra_count,
    record_times,
    record_whole_milliseconds,
    to_point,
)
from azlatency.logs.record import Recorder
from azlatency.logs.source.large import extended
from azlatency.logs.source.lines import UniformBlock

_TITLE = re.compile(r"(\S+) ping6? statistics")
#: A person may write "--- ping ---".
STATISTICS = r"(?i:statist|estat|estad|tilast|tidaddanin|статист|統計|统计|통계|სტატ)"
_WORDS_OF_TITLE = 6
_HOSTS_OF_HEADER = re.compile(r"(?<=[\s(>])(?!bytes|data|ping)[^\s(),=]{1,255}(?=[\s(),]|$)", re.IGNORECASE)
DECIMAL = r"\d{1,12}(?:[.,]\d{1,6})?"
STAMP = r"(?:\[(?P<stamp>\d{1,12}\.\d{6})\] )?"
# Full-width and non-breaking characters of translations, and their plain forms.
_PLAIN = str.maketrans(
    {"\u00a0": " ", "\u202f": " ", "\u3000": " ", "：": ":", "，": ",", "、": ",", "（": "(", "）": ")"}
)
_REPLACED = re.compile(f"[{''.join(map(chr, _PLAIN))}]")
_POWERS_OF_TEN = tuple(10**power for power in range(7, 19))


class PingText(RouterOsLines, LogReader):
    """Reads the lines of one log; a header, or a second summary, begins a new run."""

    def __init__(self, log: Log, recorder: Recorder) -> None:
        super().__init__(log, recorder)
        self.has_read = False
        self._open(log.first_line)

    def _open(self, number: int) -> None:
        self.ping = PingRun(self.log, self.recorder, number)
        self.run, self.samples = self.ping.run, self.ping.samples
        self.header_line: Line | None = None
        self.unreachable = 0
        self.printed_loss: str | None = None

    def read(self, line: Line) -> int:
        """Replace full-width and non-breaking characters by plain ones, then apply the rules."""
        number, text = line
        if not text.isascii() and _REPLACED.search(text):
            line = Line(number, text.translate(_PLAIN))
        if "\a" in text:
            line = Line(number, line.text.replace("\a", ""))  # -a rings the bell at each reply
        if kind := super().read(line):
            self.ping.last_line, self.has_read = number, True
        return kind

    # --- replies

    @data(
        STAMP + rf"(?P<bytes>\d{{1,6}}) [^=]{{1,300}} (?:{SEQUENCE}|icmp_[rs]eq|icmp_req|seq)"
        r" ?=(?P<seq>\d{1,10})"
        r"(?: ident=\d+)? (?:ttl|TTL|hlim) ?=(?P<ttl>\d{1,3})"
        rf"(?: [^\s=]{{1,20}} ?=(?P<time>{DECIMAL}) ?{MILLISECONDS})?(?P<dup> ?\({DUPLICATE}\))?(?:\s\(same route\))?",
        hint="=",
    )
    def reply(self, line: Line, match: re.Match[str]) -> None:
        """Read one reply."""
        self._keep_size(match)
        arrival = None if match["stamp"] is None else nanoseconds(match["stamp"], "s")
        self.add_reply(line, int(match["seq"]), match["time"], arrival, duplicate=match["dup"] is not None)

    def add_reply(self, line: Line, printed: int, time: str | None, arrival: int | None, *, duplicate: bool) -> None:
        """Add one reply: its sequence number and time as printed, and its arrival time (ns)."""
        samples = self.samples
        seq = samples.numbers.unwrap(printed)
        rtt = None if time is None else nanoseconds(to_point(time), "ms")
        sent = None if arrival is None else arrival - (rtt or 0)
        if sent is not None and self.ping.first_stamp is None:
            self.ping.first_stamp = sent
        if rtt is None or time is None:
            return
        status = "duplicate" if duplicate else "ok"
        if to_point(time) == VOID_TIME:
            rtt, status = None, "void"
            text = f"the reply to probe {seq} shows {time} ms: the clock was set back; the sample has no time"
            self.run.add_event("clock_step", "warning", text, line.number)
        index = samples.add_probe(seq, rtt, status, sent)
        if len(time) == CARRY_WIDTH and rtt is not None and may_lack_carry(rtt):
            if index is not None:
                self.ping.carried.append(index)
        elif rtt is not None and rtt >= MILLISECOND:
            decimals = len(to_point(time).partition(".")[2])
            self.ping.three_decimals |= decimals > 2
            self.ping.iputils |= decimals in (1, 2)

    def _keep_size(self, match: re.Match[str]) -> None:
        if self.ping.reply_bytes is None:
            self.ping.reply_bytes = int(match["bytes"])

    @bulk(reply)
    def replies(self, rows: UniformBlock, match: re.Match[str]) -> bool:
        """Read many replies at once; those out of order, duplicated or of 0 ms are read one by one."""
        import numpy as np

        if match["time"] is None or match["dup"] or self.ping.whole_milliseconds or self.ping.summary is not None:
            return False
        self._keep_size(match)
        columns = rows.columns(match, widths=("time", "ttl", "bytes"), stamp=9, bytes=None, seq=0, ttl=None, time=6)
        stamped = match["stamp"] is not None
        if columns is None or (self.samples.seq and stamped != (self.ping.first_stamp is not None)):
            return False
        printed, rtt = columns["seq"], columns["time"]
        if printed.max() >= SEQUENCE_NUMBERS or columns["ttl width"].max() > 3 or columns["bytes width"].max() > 6:
            return False
        half = SEQUENCE_NUMBERS // 2
        steps = (np.diff(printed) + half) % SEQUENCE_NUMBERS - half
        seq = np.concatenate(([0], np.cumsum(steps))) + self.samples.numbers.unwrap(int(printed[0]))
        highest_before = np.maximum.accumulate(np.concatenate(([self.samples.highest], seq[:-1])))
        in_order = (seq > highest_before) & (rtt > 0)
        sent = columns["stamp"] - rtt if stamped else None
        width = columns["time width"]
        carried = (width == CARRY_WIDTH) & may_lack_carry(rtt)
        above = (rtt >= MILLISECOND) & ~carried
        three_decimals = width - len(".000") > np.searchsorted(_POWERS_OF_TEN, rtt, side="right")
        self.ping.three_decimals |= bool((above & three_decimals).any())
        self.ping.iputils |= bool((above & (rtt < 100 * MILLISECOND) & (width == len("1.00"))).any())
        if stamped and self.ping.first_stamp is None:
            self.ping.first_stamp = int(columns["stamp"][0] - rtt[0])
        edges = [0, *(np.flatnonzero(np.diff(in_order)) + 1).tolist(), len(rows)]
        for start, stop in pairwise(edges):
            if in_order[start]:
                part = slice(start, stop)
                self.ping.carried = extended(self.ping.carried, np.flatnonzero(carried[part]) + len(self.samples.seq))
                self.samples.extend_probes(seq[part], rtt[part], None if sent is None else sent[part])
                continue
            for line in (rows[index] for index in range(start, stop)):
                if (single := match.re.fullmatch(line.text)) is not None:
                    self.reply(line, single)
        self.ping.last_line = rows.last
        return True

    @data(r"(?:\S{1,40}: )?Warning: time of day goes back \((-?\d{1,19})us\), taking countermeasures", hint="goes back")
    def clock_step(self, line: Line, match: re.Match[str]) -> None:
        """Report a clock that was set back."""
        text = (
            f"the clock was set back by {match[1].lstrip('-')} us during the run; do not use the times near this line"
        )
        self.run.add_event("clock_step", "warning", text, line.number)

    @data(STAMP + rf"(?P<what>{NO_ANSWER})", hint="=")
    @data(STAMP + r"(?P<what>Request timeout for icmp_seq \d{1,10})", hint="Request timeout")
    def no_answer(self, line: Line, match: re.Match[str]) -> None:
        """Read a probe without an answer so far; its sequence number is the only number after the stamp."""
        if (number := re.search(r"\d+", match["what"])) is not None:
            self.samples.add_probe(self.samples.numbers.unwrap(int(number[0])), None, "lost")

    @data(
        STAMP + r"(?:[^\W\d_]{1,10} (?:la )?)?[^\s=]{1,200}(?: \(\S{1,60}\))?(?: -?[^\W\d_]{1,8})?:? "
        rf"{SEQUENCE}=(?P<seq>\d{{1,10}}) (?!ttl|TTL)(?P<what>\D.{{1,120}})",
        hint="=",
    )
    def icmp_error(self, line: Line, match: re.Match[str]) -> None:
        """Read an ICMP error that a router sent instead of a reply; a redirect is not an error."""
        if "Redirect" not in match["what"]:
            self.samples.add_probe(self.samples.numbers.unwrap(int(match["seq"])), None, "unreachable")

    # --- first lines

    @data(
        r"(?:PING|ПІНГ) \S{1,200}? ?\((?P<address>\S{1,200}?)(?: \((?P<inner>\S{1,60})\))?\)"
        r"(?: \S[^()]{1,150}:)? (?:\D{1,20} )?(?P<size>\d{1,6})(?: ?\((?P<packet>\d{1,6})\))? ?\D{1,60}",
        hint="(",
    )
    @data(
        r"PING \S{1,200} \((?P<address>\S{1,200})\): (?P<size>\d{1,6}) data bytes(?:, id 0x\w{1,8} = \d+)?",
        hint="data bytes",
    )
    def header(self, line: Line, match: re.Match[str]) -> None:
        """Read the first line of iputils, BusyBox, inetutils and the BSDs."""
        self._begin(line)
        server = match.groupdict().get("inner") or match["address"]
        self.run.set(server=server, message_bytes=int(match["size"]))
        packet = match.groupdict().get("packet")
        self.ping.packet_bytes = int(packet) if packet else None

    @data(r"PING \S{1,200} \((\S{1,200})\): sending (?:timestamp|address mask) requests", hint="sending ")
    def timestamp_header(self, line: Line, match: re.Match[str]) -> None:
        """Read the first line of inetutils' ICMP timestamp and address mask tests, whose replies print no time."""
        self._begin(line)
        self.run.set(server=match[1], test="timestamp")

    @data(r"PING6\(\d{1,6}=40\+8\+(\d{1,6}) bytes\) (\S{1,100}) --> (\S{1,100})", hint="PING6(")
    def header6(self, line: Line, match: re.Match[str]) -> None:
        """Read the first line of ping6 of the BSDs."""
        self._begin(line)
        self.run.set(message_bytes=int(match[1]), client=match[2], server=match[3], dialect="bsd")

    @data("|".join(f"(?P<{name}>{pattern})" for name, pattern in WINDOWS_HEADERS.items()), hint="", shape=".*:")
    def windows_header(self, line: Line, match: re.Match[str]) -> None:
        """Read the first line of Windows in any language."""
        self._begin(line)
        self.ping.whole_milliseconds = True
        language = next(name for name in WINDOWS_HEADERS if match[name] is not None)
        # The three groups of a language follow the group that is named after it.
        index = match.re.groupindex[language]
        host, address, size = match[index + 1], match[index + 2], match[index + 3]
        self.run.set(server=address or host, message_bytes=int(size), dialect=f"windows-{language}")

    # --- summaries

    @data(rf"-{{2,3}} (?=.{{0,300}}{STATISTICS})(\S.{{0,300}}?) -{{2,4}}", hint="--")
    def statistics(self, line: Line, match: re.Match[str]) -> None:
        """Read the line above the summary; other lines in dashes are titles that a person wrote."""
        hosts = [] if self.header_line is None else _HOSTS_OF_HEADER.findall(self.header_line.text)
        names_host = not hosts or any(host in match[1] for host in hosts) or _TITLE.fullmatch(match[1])
        if len(match[1].split()) > _WORDS_OF_TITLE or not names_host:
            raise ValueError
        self.begin_after_summary(line)
        name = _TITLE.fullmatch(match[1])
        if name and self.run.row.get("server") is None:
            self.run.set(server=name[1])

    @data(WINDOWS_STATISTICS, hint=":")
    def windows_statistics(self, line: Line, match: re.Match[str]) -> None:
        """Read the line above the summary of Windows."""
        self.begin_after_summary(line)
        self.ping.whole_milliseconds = True
        host = next((group for group in match.groups() if group), None)
        if host and self.run.row.get("server") is None:
            self.run.set(server=host)

    @data(
        r"(\d{1,12}) packets transmitted, (\d{1,12}) (?:packets )?received((?:, .{1,60}?){0,5}), "
        r"(?:([\d.]{1,12})% packet loss|-- somebody's printing up packets!)(?:, \d+ packets out of wait time)?"
        r"(?:, time (\d{1,12})ms)?",
        hint="packets transmitted",
    )
    def counts(self, line: Line, match: re.Match[str]) -> None:
        """Read the counts of the summary in English."""
        self._record_summary(
            line,
            sent=match[1],
            received=match[2],
            extra_counts=match[3].split(", ")[1:],
            percent=match[4],
            duration_ms=match[5],
        )

    @data(
        r"(\D{0,40}?)(\d{1,12})([^\d,]{0,40}), ?(\D{0,40}?)(\d{1,12})([^\d,]{0,40}?)((?:, ?\+\d[^,]{1,40}){0,3})"
        rf", ?([^,]{{0,30}}?%[^,]{{0,40}})(?:, ?\D{{1,20}}(\d{{1,12}}) ?{MILLISECONDS})?",
        hint="%",
    )
    def counts_translated(self, line: Line, match: re.Match[str]) -> None:
        """Read the counts of the summary in any other language of iputils."""
        percent = re.search(r"\d{1,3}(?:[.,]\d{1,6})?", match[8])
        self._record_summary(
            line,
            sent=match[2],
            received=match[5],
            extra_counts=[part.strip() for part in match[7].split(",") if part.strip()],
            percent=to_point(percent[0]) if percent else None,
            duration_ms=match[9],
        )

    @data(
        rf"(?:rtt|RTT|round-trip) (\S.{{1,60}}?) = ({DECIMAL})/({DECIMAL})/({DECIMAL})(?:/(-?nan|{DECIMAL}))?"
        rf" ?{MILLISECONDS}(?:, {{0,2}}\D{{1,20}} \d{{1,6}})?"
        rf"(, {{0,2}}ipg/ ?\S{{1,20}} {DECIMAL}/{DECIMAL} ?{MILLISECONDS})?",
        hint="/",
    )
    def times(self, line: Line, match: re.Match[str]) -> None:
        """Read minimum, mean, maximum and deviation; ``ipg/ewma`` is printed by adaptive and flood pings only."""
        if self.ping.has_times or self.run.value("received") == 0:  # somebody kept this line of each log
            self._open_next(line)
        run = self.run
        self.ping.has_times = True
        self.ping.old_mdev = match[0][:3].lower() == "rtt"
        if match[6]:
            run.set(closed_loop=True)
        if match[5] is not None:
            check_label(run, match[1], line.number)
        record_times(run, line.number, minimum=match[2], mean=match[3], maximum=match[4])
        dialect = "iputils"
        if match[0].startswith("round-trip"):
            # BusyBox prints no deviation; of the others only inetutils prints whole percentages.
            percent = self.printed_loss or ""
            dialect = "busybox" if match[5] is None else "bsd" if "." in percent else "inetutils"
        if run.row.get("dialect") is None:
            run.set(dialect=dialect)
        if match[5] is not None and not match[5].endswith("nan"):
            record_deviation(run, match[5], line.number, cut_mean=self.ping.old_mdev)

    @data(
        r"[^=:]{1,30}: ?[^=]{1,30}= ?(\d{1,12}), ?[^=]{1,30}= ?(\d{1,12}), ?[^=]{1,30}= ?(\d{1,12})"
        r"(?:,? ?\((%?\d{1,3}(?:[.,]\d+)? ?%?|.{1,30}\d{1,3} ?%)[^=]{0,40})?,?",
        hint="=",
    )
    def windows_counts(self, line: Line, match: re.Match[str]) -> None:
        """Read the counts of Windows, which counts the answer of a router as a reply."""
        self.begin_after_summary(line)
        self.ping.summary = line
        self.ping.whole_milliseconds = True
        sent, received = int(match[1]), int(match[2])
        if sent - received != int(match[3]):
            text = f"sent {sent}, received {received} and lost {match[3]} do not add up: the log is edited"
            self.run.add_event("count_mismatch", "error", text, line.number)
            return
        if self.unreachable:
            text = f"{self.unreachable} of {received} received say that the host is unreachable; they count as lost"
            self.run.add_event("unreachable_counted_as_received", "warning", text, line.number)
        record_counts(
            self.run,
            line.number,
            sent_token=match[1],
            received_token=match[2],
            received=max(received - self.unreachable, 0),
            lost_token=match[3],
            percent=self.printed_loss,
        )

    @data(
        ", ?".join([rf"[^=]{{1,20}}= {{0,2}}(\d{{1,9}}) ?{MILLISECONDS}"] * 3),
        hint="=",
    )
    def windows_times(self, line: Line, match: re.Match[str]) -> None:
        """Read minimum, maximum and mean of Windows, truncated to whole milliseconds."""
        self.ping.has_times = True
        tokens = dict(zip(("rtt_min", "rtt_max", "rtt_mean"), match.groups(), strict=True))
        record_whole_milliseconds(self.run, line.number, tokens, "Windows ping")

    @data(
        r".{1,160}?(?::|yanıtı:) ?(?:.{1,20} ?= ?\d{1,6} )?[^\s=<]{1,10} ?([=<]) ?(\d{1,9}) ?"
        rf"(?:{MILLISECONDS}|m) TTL=\d{{1,3}}",
        hint="TTL=",
    )
    @data(
        rf".{{1,80}}[0-9a-f:]{{2,39}}(?:%\d{{1,9}})?: ?[^\s=<]{{1,20}} ?([=<]) ?(\d{{1,9}}) ?(?:{MILLISECONDS}|m)",
        hint=": ",
    )
    def windows_reply(self, line: Line, match: re.Match[str]) -> None:
        """Read a reply of Windows as the interval that its truncated time stands for."""
        self.ping.whole_milliseconds = True
        rtt = int(match[2]) * MILLISECOND
        below = match[1] == "<"
        bounds = (0, rtt) if below else (rtt, rtt + MILLISECOND)
        self.samples.add_probe(len(self.samples.seq), None if below else rtt, "ok", bounds=bounds)

    @data(WINDOWS_TIMEOUT, hint="")
    def windows_timeout(self, line: Line, match: re.Match[str]) -> None:
        """Read a lost probe of Windows."""
        self.ping.whole_milliseconds = True
        self.samples.add_probe(len(self.samples.seq), None, "lost")

    @data(WINDOWS_UNREACHABLE, hint=":")
    def windows_unreachable(self, line: Line, match: re.Match[str]) -> None:
        """Read the answer of a router that the host is unreachable."""
        self.ping.whole_milliseconds = True
        self.unreachable += 1
        self.samples.add_probe(len(self.samples.seq), None, "unreachable")

    @data(
        r"(ping6?: (?:unknown host|cannot resolve|bad address|connect|sendmsg|sendto|socket|\S{1,200}: ).{0,200})",
        hint="ping",
    )
    @data(r"(Ping request could not find host .{1,200})", hint="Ping request")
    def failure(self, line: Line, match: re.Match[str]) -> None:
        """Read an error message; above the first line of a run it means that nothing was measured."""
        if self.ping.summary is not None or self.ping.failed:
            self._open_next(line)  # the next command printed nothing else
        elif self.samples.seq or self.header_line is not None:
            self.run.add_event("send_failed", "warning", match[1], line.number)
            return
        self.ping.failed = True
        self.run.end_as("failed", "error", f"ping measured nothing: {match[1]}", line.number)

    known = known(
        ("packets, ", r"\d+/\d+ packets, \d+% loss(?:, min/avg/ewma/max = [\d./]{1,80} ms.{0,60})?"),
        (
            "packets received (",
            r"\d{1,12}/\d{1,12} packets received \([\d.]{1,8}%\)"
            r"(?: [\d.]{1,15} min / [\d.]{1,15} avg / [\d.]{1,15} max)?",
        ),
        ("%", r"\(?%?\d{1,3} ?%? [^=\d]{1,30}\)?,?"),
        ("perda", r"perda\),?"),
        ("PATTERN", r"PATTERN: 0x[0-9a-fA-F]{1,64}"),
        ("WARNING", r"WARNING: .{1,120}"),
        ("ai->ai_family", r"ai->ai_family: .{1,200}"),
        ("ping: sock", r"ping: sock4\.fd: .{1,200}"),
        ("pipe ", r"pipe \d{1,6}"),
        ("Control-C", r"Control-C"),
        (".", r"[.E ]{1,4000}"),
        (":", WINDOWS_TIMES),
        ("icmp_", r"icmp_[ort]time = \d+"),
        ("icmp_seq=", r"\d+ bytes from \S+: icmp_seq=\d+"),
        (
            "bytes from",
            r"\d+ bytes from .{1,160}: (?:Destination (?:Host|Net|Network|Port) Unreachable|Time to live exceeded)",
        ),
        ("Vr HL TOS", r"Vr HL TOS\s+Len\s+ID Flg\s+off TTL Pro\s+cks\s+Src\s+Dst"),
        ("  ", r"[0-9a-f]  [0-9a-f]  [0-9a-f]{2} [0-9a-f]{4} [0-9a-f]{4}.{1,100}"),
        ("RR:", r"RR:\s.{1,200}"),
        (".", r"(?:[\w.-]{1,200} \()?\d{1,3}(?:\.\d{1,3}){3}\)?"),  # further hops of a recorded route
    )

    # --- helpers

    def _begin(self, line: Line) -> None:
        """Open another run where this is not the first line of the log."""
        if self.header_line is not None or self.ping.summary is not None or self.samples.seq:
            self._open_next(line)
        elif not self.has_read:
            self.run.row["first_line"] = line.number  # what stands above, such as a date, is not of the run
        self.header_line = line

    def begin_after_summary(self, line: Line) -> None:
        """Open another run at a second summary without a header in between; its times are below its counts."""
        if self.ping.summary is not None or self.ping.has_times:
            self._open_next(line)

    def _open_next(self, line: Line) -> None:
        self.ping.finish(line.number - 1)
        self._open(line.number)

    def _record_summary(
        self,
        line: Line,
        *,
        sent: str,
        received: str,
        extra_counts: list[str],
        percent: str | None,
        duration_ms: str | None,
    ) -> None:
        self.begin_after_summary(line)
        self.ping.summary = line
        if duration_ms is not None:
            self.run.set(duration_ns=nanoseconds(duration_ms, "ms"), dialect="iputils")
        for text in extra_counts:
            record_extra_count(self.run, text, line.number)
        self.printed_loss = percent
        record_counts(self.run, line.number, sent_token=sent, received_token=received, percent=percent)
