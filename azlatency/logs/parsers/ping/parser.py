"""ping: iputils in every language, BusyBox, inetutils, macOS and the BSDs, Windows in eleven languages.

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

Everything is a round trip. Words differ by language and system, so lines are told by their structure and their
numbers; the words only decide where the structure leaves a choice. A decimal comma is a decimal point. Both stand in
one French log.

Loss is counted anew from the counts: older iputils, BusyBox and inetutils cut the percentage (25 of 3600 is "0%").
``mdev`` and ``stddev`` are population standard deviations over all replies, duplicates included; the tables hold the
sample one. inetutils prints 0.000 for every deviation under 22.4 us, which is no value. Windows cuts times to whole
milliseconds: a sample is the interval from the printed time to one millisecond more, and 0ms is no value. Windows also
counts "Destination host unreachable" as received. ``-D`` stamps are those of the reply; the time of sending is the
stamp less the round trip.

iputils without kernel stamps reads the wall clock: where that is set back, a reply shows 0.000 ms (ping_common.c),
which is no time. Such a sample is ``void``; a summary that counts it has neither minimum, mean nor deviation.
"""

from __future__ import annotations

import json
import math
import re
from array import array
from bisect import bisect_right
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import TYPE_CHECKING, Any, TypeGuard

from azlatency.logs.grammar import DATA, Ledger, Line, LineLog, bulk, data, known
from azlatency.logs.lines import Rows
from azlatency.logs.parsers import Log, Signature
from azlatency.logs.parsers.common import end_run
from azlatency.logs.parsers.ping.words import (
    COUNTS,
    WINDOWS_APPROXIMATE,
    WINDOWS_HEADERS,
    WINDOWS_STATISTICS,
    WINDOWS_TIMEOUTS,
    WINDOWS_UNREACHABLE,
)
from azlatency.logs.record import Recorder, Run
from azlatency.logs.units import Quantity, count, nanoseconds, quantity

if TYPE_CHECKING:
    import numpy as np

# Units of a millisecond as the translations spell it.
_MS = r"(?:ms|мс|мсек|ミリ秒|毫秒)"
_DECIMAL = r"\d{1,12}(?:[.,]\d{1,6})?"
_STAMP = r"(?:\[(?P<stamp>\d{1,12}\.\d{6})\] )?"
_NBSP = str.maketrans(
    {"\u00a0": " ", "\u202f": " ", "\u3000": " ", "：": ":", "，": ",", "、": ",", "（": "(", "）": ")"}
)
_MILLISECOND = 10**6
_SEQUENCE_NUMBERS = 2**16
_TIMED_PAYLOAD = 16
# More probes without a line than this are not written down one by one.
_MOST_FILLED = 10**7
# What iputils shows where the clock was set back while the probe was under way.
_NO_TIME = "0.000"
# inetutils' square root returns 0 below 0.0005 ms**2.
_INETUTILS_UNDERFLOW = "0.000"
_COUNT_FROM_ZERO = ("bsd", "busybox", "inetutils")


def _decimal(token: str) -> str:
    """A number with a decimal point, whatever the language prints."""
    return token.replace(",", ".")


def _milliseconds(token: str) -> Quantity:
    """Milliseconds with a decimal point or comma; ``printed`` keeps the token."""
    return quantity(_decimal(token), "ms")._replace(printed=token)


# Replies have three significant digits, cut by old versions, and steps of a microsecond.
_REPLY_DIGITS, _REPLY_STEP = 0.0101, 1_001


_STATUS = ("ok", "lost", "unreachable", "duplicate", "void")
_NULL = -(2**63)


def _integers() -> array[int]:
    return array("q")


@dataclass
class _Samples:
    """The replies of one run in order of appearance: whole numbers of 64 bits, `_NULL` for none."""

    seq: array[int] = field(default_factory=_integers)
    sent: array[int] = field(default_factory=_integers)
    rtt: array[int] = field(default_factory=_integers)
    low: array[int] = field(default_factory=_integers)
    high: array[int] = field(default_factory=_integers)
    status: bytearray = field(default_factory=bytearray)
    """Indexes into `_STATUS`."""
    place: dict[int, int] = field(default_factory=dict)
    """Index of the first sample of each sequence number that was added by itself."""
    stretches: list[tuple[int, int, np.ndarray]] = field(default_factory=list)
    """First sequence number, index and all sequence numbers of those added together, ascending."""
    turns: int = 0
    highest: int = -1
    last: int = 0

    def unwrap(self, printed: int) -> int:
        """The sequence number without the wrap at 16 bits."""
        half = _SEQUENCE_NUMBERS // 2
        if printed >= _SEQUENCE_NUMBERS:
            return printed
        if printed - self.last < -half:
            self.turns += 1
        elif printed - self.last > half and self.turns:
            return printed + (self.turns - 1) * _SEQUENCE_NUMBERS
        self.last = printed
        return printed + self.turns * _SEQUENCE_NUMBERS

    def add(
        self,
        seq: int,
        rtt: int | None,
        status: str,
        sent: int | None = None,
        bounds: tuple[int, int] | None = None,
    ) -> None:
        """One more sample; a reply takes the place of an earlier "no answer yet", a second reply is a duplicate."""
        low, high = bounds or (None, None)
        index = self.find(seq)
        if index is not None and status in ("ok", "void"):
            if self.told(index) in ("lost", "unreachable"):
                self.sent[index], self.rtt[index] = _or_null(sent), _or_null(rtt)
                self.status[index] = _STATUS.index(status)
                return
            status = "duplicate"
        elif index is not None and status != "duplicate":
            return
        if index is None:
            self.place[seq] = len(self.seq)
        self.highest = max(self.highest, seq)
        self.seq.append(seq)
        self.status.append(_STATUS.index(status))
        for column, value in zip((self.sent, self.rtt, self.low, self.high), (sent, rtt, low, high), strict=True):
            column.append(_or_null(value))

    def extend(self, seq: np.ndarray, sent: np.ndarray | None, rtt: np.ndarray) -> None:
        """Many replies, in ascending order and none of them seen before."""
        nulls = array("q", [_NULL]) * len(seq)
        self.stretches.append((int(seq[0]), len(self.seq), seq))
        self.seq.frombytes(seq.tobytes())
        self.rtt.frombytes(rtt.tobytes())
        self.sent.frombytes((nulls if sent is None else sent).tobytes())
        self.status.extend(bytes([_STATUS.index("ok")]) * len(seq))
        self.low.extend(nulls)
        self.high.extend(nulls)
        self.turns, self.last = divmod(int(seq[-1]), _SEQUENCE_NUMBERS)
        self.highest = int(seq[-1])

    def find(self, seq: int) -> int | None:
        """Index of the first sample with this sequence number."""
        index = self.place.get(seq)
        if index is None and self.stretches:
            at = bisect_right(self.stretches, seq, key=lambda stretch: stretch[0]) - 1
            if at >= 0:
                _, start, numbers = self.stretches[at]
                offset = int(numbers.searchsorted(seq))
                if offset < len(numbers) and numbers[offset] == seq:
                    return start + offset
        return index

    def told(self, index: int) -> str:
        """The status of a sample."""
        return _STATUS[self.status[index]]

    def count(self, *statuses: str) -> int:
        """Number of samples of these statuses."""
        return sum(self.status.count(_STATUS.index(status)) for status in statuses)

    def missing(self, start: int, stop: int) -> list[int]:
        """Sequence numbers of the range that have no sample."""
        if not self.stretches:
            return [seq for seq in range(start, stop) if seq not in self.place]
        import numpy as np

        wanted = np.arange(start, stop)
        found: list[int] = wanted[~np.isin(wanted, np.frombuffer(self.seq, dtype=np.int64))].tolist()
        return found

    def known(self, start: int, stop: int) -> int:
        """How many sequence numbers of the range have a sample."""
        inside = sum(start <= seq < stop for seq in self.place)
        edges = ((numbers.searchsorted(start), numbers.searchsorted(stop)) for _, _, numbers in self.stretches)
        return inside + sum(int(last - first) for first, last in edges)


def _or_null(value: int | None) -> int:
    return _NULL if value is None else value


def _column(values: array[int]) -> Any:
    """The values as they are where all are there, else a list with None."""
    if not (nulls := values.count(_NULL)):
        return values
    if nulls == len(values):
        return [None] * nulls
    return [None if value == _NULL else value for value in values]


class _Ping(LineLog):
    def __init__(self, log: Log, recorder: Recorder) -> None:
        self.log, self.recorder = log, recorder
        self._open(log.first_line)

    def _open(self, number: int) -> None:
        self.run: Run = self.recorder.run(
            "ping", number, test="echo", protocol="icmp", printed_as="round_trip", closed_loop=False
        )
        self.samples = _Samples()
        self.windows = False
        self.summary: Line | None = None
        self.has_times = False
        self.header_line: Line | None = None
        self.unreachable = 0
        self.first_stamp: int | None = None
        self.last_line = number
        self.stopped = False
        self.failed = False
        self.printed_loss: tuple[str, Line] | None = None

    def read(self, line: Line, ledger: Ledger) -> bool:
        """As in `LineLog`, with full-width and non-breaking characters made plain."""
        if not line.text.isascii():
            line = line._replace(text=line.text.translate(_NBSP))
        if super().read(line, ledger):
            self.last_line = line.number
            return True
        return False

    # --- replies

    @data(
        _STAMP + r"(?P<bytes>\d{1,6}) [^=]{1,300}?(?: ?:|,) (?:icmp_[rs]eq|icmp_req|seq|pořadí) ?=(?P<seq>\d{1,10})"
        r"(?: ident=\d+)? (?:ttl|TTL|hlim) ?=(?P<ttl>\d{1,3})"
        rf"(?: [^\s=]{{1,20}} ?=(?P<time>{_DECIMAL}) ?{_MS})?(?P<dup> ?\(DUP!\))?(?:\s\(same route\))?",
        hint="=",
    )
    def reply(self, line: Line, match: re.Match[str]) -> None:
        stamp = None if match["stamp"] is None else nanoseconds(match["stamp"], "s")
        self.answer(line, int(match["seq"]), match["time"], stamp, duplicate=match["dup"] is not None)

    def answer(self, line: Line, printed: int, time: str | None, stamp: int | None, *, duplicate: bool) -> None:
        """One reply: its sequence number and time as printed, the moment of its arrival in ns."""
        samples = self.samples
        seq = samples.unwrap(printed)
        rtt = None if time is None else nanoseconds(_decimal(time), "ms")
        sent = None if stamp is None else stamp - (rtt or 0)
        if sent is not None and self.first_stamp is None:
            self.first_stamp = sent
        if rtt is None or time is None:
            return
        status = "duplicate" if duplicate else "ok"
        if _decimal(time) == _NO_TIME:
            rtt, status = None, "void"
            text = f"the reply to probe {seq} shows {time} ms: the clock was set back; the sample is void"
            self.run.event("clock_step", "warning", text, line.number)
        samples.add(seq, rtt, status, sent)

    @bulk(reply)
    def replies(self, rows: Rows, match: re.Match[str]) -> bool:
        """Many replies at once; those out of order, doubled or without a time go the way of single ones."""
        import numpy as np

        if match["time"] is None or match["dup"] or self.windows or self.summary is not None:
            return False
        found = rows.columns(match, stamp=9, bytes=0, seq=0, ttl=0, time=6)
        stamped = match["stamp"] is not None
        if found is None or (self.samples.seq and stamped != (self.first_stamp is not None)):
            return False
        printed, rtt = found["seq"], found["time"]
        if printed.max() >= _SEQUENCE_NUMBERS or found["ttl"].max() >= 1000 or found["bytes"].max() >= 10**6:
            return False
        half = _SEQUENCE_NUMBERS // 2
        steps = (np.diff(printed) + half) % _SEQUENCE_NUMBERS - half
        seq = np.concatenate(([0], np.cumsum(steps))) + self.samples.unwrap(int(printed[0]))
        before = np.maximum.accumulate(np.concatenate(([self.samples.highest], seq[:-1])))
        plain = (seq > before) & (rtt > 0)
        sent = found["stamp"] - rtt if stamped else None
        if stamped and self.first_stamp is None:
            self.first_stamp = int(found["stamp"][0] - rtt[0])
        edges = [0, *(np.flatnonzero(np.diff(plain)) + 1).tolist(), len(rows)]
        for start, stop in pairwise(edges):
            if plain[start]:
                part = slice(start, stop)
                self.samples.extend(seq[part], None if sent is None else sent[part], rtt[part])
                continue
            for line in (rows[index] for index in range(start, stop)):
                if (single := match.re.fullmatch(line.text)) is not None:
                    self.reply(line, single)
        self.last_line = rows.last
        return True

    @data(r"(?:\S{1,40}: )?Warning: time of day goes back \((-?\d{1,19})us\), taking countermeasures", hint="goes back")
    def clock_step(self, line: Line, match: re.Match[str]) -> None:
        text = (
            f"the clock was set back by {match[1].lstrip('-')} us while probes were under way; times near it are wrong"
        )
        self.run.event("clock_step", "warning", text, line.number)

    @data(_STAMP + r"no answer yet for icmp_seq=(?P<seq>\d{1,10})", hint="no answer yet")
    @data(_STAMP + r"Request timeout for icmp_seq (?P<seq>\d{1,10})", hint="Request timeout")
    def no_answer(self, line: Line, match: re.Match[str]) -> None:
        self.samples.add(self.samples.unwrap(int(match["seq"])), None, "lost")

    @data(
        _STAMP + r"\S{1,10} \S{1,200}(?: \(\S{1,60}\))?:? icmp_seq=(?P<seq>\d{1,10}) (?P<what>\D.{1,120})",
        hint="icmp_seq=",
    )
    def error(self, line: Line, match: re.Match[str]) -> None:
        if "Redirect" in match["what"]:
            return
        self.samples.add(self.samples.unwrap(int(match["seq"])), None, "unreachable")

    # --- headers

    @data(
        r"(?:PING|ПІНГ) \S{1,200}? ?\((?P<address>\S{1,200}?)(?: \((?P<inner>\S{1,60})\))?\)"
        r"(?: (?:from|de|von|da) \S{1,80} ?\S{0,40}:)? (?P<size>\d{1,6})(?:\(\d{1,6}\))? ?\D{1,60}",
        hint="(",
    )
    @data(
        r"PING \S{1,200} \((?P<address>\S{1,200})\): (?P<size>\d{1,6}) data bytes(?:, id 0x\w{1,8} = \d+)?",
        hint="data bytes",
    )
    def header(self, line: Line, match: re.Match[str]) -> None:
        self._begin(line)
        found = match.groupdict()
        self.run.set(server=found.get("inner") or found["address"], message_bytes=int(found["size"]))

    @data(r"PING \S{1,200} \((\S{1,200})\): sending (?:timestamp|address mask) requests", hint="sending ")
    def stamps_header(self, line: Line, match: re.Match[str]) -> None:
        self._begin(line)
        self.run.set(server=match[1], test="timestamp")

    @data(r"PING6\(\d{1,6}=40\+8\+(\d{1,6}) bytes\) (\S{1,100}) --> (\S{1,100})", hint="PING6(")
    def header6(self, line: Line, match: re.Match[str]) -> None:
        self._begin(line)
        self.run.set(message_bytes=int(match[1]), client=match[2], server=match[3], dialect="bsd")

    @data("|".join(f"(?P<{name}>{pattern})" for name, (_, pattern) in WINDOWS_HEADERS.items()), hint="")
    def windows_header(self, line: Line, match: re.Match[str]) -> None:
        self._begin(line)
        self.windows = True
        language = next(name for name in WINDOWS_HEADERS if match[name] is not None)
        # The groups of this language stand behind its own one.
        at = match.re.groupindex[language]
        host, address, size = match[at + 1], match[at + 2], match[at + 3]
        self.run.set(server=address or host, message_bytes=int(size), dialect=f"windows-{language}")

    # --- summaries

    @data(r"-{2,3} (\S.{0,300}?) -{2,3}", hint="--")
    def statistics(self, line: Line, match: re.Match[str]) -> None:
        self._summary_begins(line)
        name = re.fullmatch(r"(\S+) ping6? statistics", match[1])
        if name and self.run.row.get("server") is None:
            self.run.set(server=name[1])

    @data("|".join(WINDOWS_STATISTICS.values()), hint=":")
    def windows_statistics(self, line: Line, match: re.Match[str]) -> None:
        self._summary_begins(line)
        self.windows = True
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
        self._counts(line, match[1], match[2], match[3].split(", ")[1:], match[4], match[5])

    @data(
        r"(\D{0,40}?)(\d{1,12})([^\d,]{0,40}), ?(\D{0,40}?)(\d{1,12})([^\d,]{0,40}?)((?:, ?\+\d[^,]{1,40}){0,3})"
        rf", ?([^,]{{0,30}}?%[^,]{{0,40}})(?:, ?\D{{1,20}}(\d{{1,12}}) ?{_MS})?",
        hint="%",
    )
    def counts_translated(self, line: Line, match: re.Match[str]) -> None:
        percent = re.search(r"\d{1,3}(?:[.,]\d{1,6})?", match[8])
        extras = [part.strip() for part in match[7].split(",") if part.strip()]
        self._counts(line, match[2], match[5], extras, _decimal(percent[0]) if percent else None, match[9])

    @data(
        rf"(?:rtt|round-trip) (\S.{{1,60}}?) = ({_DECIMAL})/({_DECIMAL})/({_DECIMAL})(?:/({_DECIMAL}))? ?{_MS}"
        rf"(?:, {{0,2}}\D{{1,20}} \d{{1,6}})?(, {{0,2}}ipg/\S{{1,20}} {_DECIMAL}/{_DECIMAL} ?{_MS})?",
        hint="/",
    )
    def times(self, line: Line, match: re.Match[str]) -> None:
        self.has_times = True
        if match[6]:
            self.run.set(closed_loop=True)
        self._check_label(line, match[1], match[5] is not None)
        for name, token in zip(("rtt_min", "rtt_mean", "rtt_max"), match.groups()[1:4], strict=True):
            self.run.metric(name, _milliseconds(token), line.number)
        percent = self.printed_loss[0] if self.printed_loss else ""
        dialect = "iputils"
        if match[0].startswith("round-trip"):
            # BusyBox prints no deviation; of the others only inetutils prints whole percentages.
            dialect = "busybox" if match[5] is None else "bsd" if "." in percent else "inetutils"
        if self.run.row.get("dialect") is None:
            self.run.set(dialect=dialect)
        if match[5] is not None:
            self._deviation(line, match[5])
        self._check_order(line)

    @data(
        r"[^=:]{1,30}: ?[^=]{1,30}= ?(\d{1,12}), ?[^=]{1,30}= ?(\d{1,12}), ?[^=]{1,30}= ?(\d{1,12})"
        r"(?:,? ?\((%?\d{1,3}(?:[.,]\d+)? ?%?|.{1,30}\d{1,3} ?%)[^=]{0,40})?,?",
        hint="=",
    )
    def windows_counts(self, line: Line, match: re.Match[str]) -> None:
        self._summary_begins(line)
        self.summary = line
        self.windows = True
        sent, received = int(match[1]), int(match[2])
        if sent - received != int(match[3]):
            text = f"sent {sent}, received {received} and lost {match[3]} do not add up; the log is edited"
            self.run.event("count_mismatch", "error", text, line.number)
            return
        if self.unreachable:
            text = f"{self.unreachable} of the {received} 'received' are answers that the host is unreachable: lost"
            self.run.event("unreachable_counted_as_received", "warning", text, line.number)
        received = max(received - self.unreachable, 0)
        self._store_counts(line, match[1], sent, match[2], received)

    @data(
        ", ?".join([rf"[^=]{{1,20}}= {{0,2}}(\d{{1,9}}) ?{_MS}"] * 3),
        hint="=",
    )
    def windows_times(self, line: Line, match: re.Match[str]) -> None:
        self.has_times = True
        zeros = []
        for name, token in zip(("rtt_min", "rtt_max", "rtt_mean"), match.groups(), strict=True):
            if int(token) == 0:
                zeros.append(name)
                continue
            # Cut, not rounded: the value is somewhere in the millisecond above the printed one.
            printed = quantity(token, "ms")
            self.run.metric(name, printed.with_resolution(float(_MILLISECOND)), line.number)
        if zeros:
            text = f"{', '.join(zeros)} printed as 0ms: under one millisecond, which is all that Windows tells"
            self.run.event("below_resolution", "info", text, line.number)

    @data(
        r".{1,160}?(?::|yanıtı:) ?(?:.{1,20} ?= ?\d{1,6} )?[^\s=<]{1,10} ?([=<]) ?(\d{1,9}) ?"
        rf"(?:{_MS}|m) TTL=\d{{1,3}}",
        hint="TTL=",
    )
    @data(
        rf".{{1,80}}[0-9a-f:]{{2,39}}(?:%\d{{1,9}})?: ?[^\s=<]{{1,20}} ?([=<]) ?(\d{{1,9}}) ?(?:{_MS}|m)",
        hint=": ",
    )
    def windows_reply(self, line: Line, match: re.Match[str]) -> None:
        self.windows = True
        token = int(match[2]) * _MILLISECOND
        below = match[1] == "<"
        bounds = (0, token) if below else (token, token + _MILLISECOND)
        self.samples.add(len(self.samples.seq), None if below else token, "ok", bounds=bounds)

    @data(WINDOWS_TIMEOUTS, hint="")
    def windows_timeout(self, line: Line, match: re.Match[str]) -> None:
        self.windows = True
        self.samples.add(len(self.samples.seq), None, "lost")

    @data(WINDOWS_UNREACHABLE, hint=":")
    def windows_unreachable(self, line: Line, match: re.Match[str]) -> None:
        self.windows = True
        self.unreachable += 1
        self.samples.add(len(self.samples.seq), None, "unreachable")

    @data(
        r"(ping6?: (?:unknown host|cannot resolve|bad address|connect|sendmsg|sendto|socket|\S{1,200}: ).{0,200})",
        hint="ping",
    )
    @data(r"(Ping request could not find host .{1,200})", hint="Ping request")
    def failure(self, line: Line, match: re.Match[str]) -> None:
        if self.samples.seq or self.header_line is not None:
            self.run.event("send_failed", "warning", match[1], line.number)
            return
        self.failed = True
        self.run.set(status="failed")
        self.run.event("failed", "error", f"ping measured nothing: {match[1]}", line.number)

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
        ("Control-C", r"Control-C"),
        (".", r"[.E ]{1,4000}"),
        (":", WINDOWS_APPROXIMATE),
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
        """A header: the first of the log, or another run in the same text."""
        if self.header_line is not None or self.summary is not None or self.samples.seq:
            self.finish(line.number - 1)
            self._open(line.number)
        self.header_line = line

    def _summary_begins(self, line: Line) -> None:
        """A second summary without a header between belongs to another run."""
        if self.summary is not None:
            self.finish(line.number - 1)
            self._open(line.number)

    def _counts(
        self, line: Line, sent: str, received: str, extras: list[str], percent: str | None, duration_ms: str | None
    ) -> None:
        self._summary_begins(line)
        self.summary = line
        if duration_ms is not None:
            self.run.set(duration_ns=nanoseconds(duration_ms, "ms"), dialect="iputils")
        for part in extras:
            self._extra(line, part)
        self.printed_loss = None if percent is None else (percent, line)
        self._store_counts(line, sent, int(sent), received, int(received))

    def _extra(self, line: Line, part: str) -> None:
        """``+9 duplicates`` and its like in any language."""
        match = re.fullmatch(r"\+?(\d{1,12}) ?(\D{1,40})", part)
        if match is None:
            self.run.event("unknown_count", "warning", f"{part!r} is no count that is known", line.number)
            return
        word = match[2].lower()
        for name, stems in COUNTS.items():
            if any(stem in word for stem in stems):
                self.run.metric(name, count(match[1]), line.number)
                return
        self.run.event("unknown_count", "warning", f"{part!r} is no count that is known", line.number)

    def _store_counts(self, line: Line, sent_token: str, sent: int, received_token: str, received: int) -> None:
        run = self.run
        lost = sent - received
        run.metric("sent", count(sent_token), line.number)
        run.metric("received", count(received_token)._replace(value=float(received)), line.number)
        if lost < 0:
            text = f"{received} received of {sent} transmitted: duplicates that the tool did not tell apart"
            run.event("more_received_than_sent", "warning", text, line.number)
            return
        run.metric("lost", Quantity(float(lost), "count", str(lost), None), line.number)
        if not sent:
            return
        loss = lost / sent
        percent = self.printed_loss[0] if self.printed_loss else None
        printed_loss = f"{lost}/{sent}" if percent is None else percent
        run.metric("loss", Quantity(loss, "fraction", printed_loss, None), line.number)
        if percent is None:
            return
        printed = float(percent) / 100
        if abs(printed - loss) >= 0.0101:
            text = f"{percent}% printed, but {received} of {sent} are {100 * loss:.4g}%; the counts are kept"
            run.event("loss_recomputed", "warning", text, line.number)
        elif abs(printed - loss) > 5e-7 + 1e-5 * loss:
            text = f"{percent}% printed, {100 * loss:.6g}% by the counts"
            run.event("loss_recomputed", "info", text, line.number)

    def _check_label(self, line: Line, label: str, four: bool) -> None:
        """One translation labels min/avg/max/mdev as min/avg/ewma/max; the numbers never stand in that order."""
        if four and ("ewma" in label or "移动平均" in label):
            text = f"the label {label!r} is a wrong translation; the numbers are min/avg/max/mdev"
            self.run.event("label_conflict", "info", text, line.number)

    def _check_order(self, line: Line) -> None:
        low, mean, high = (self.run.value(name) for name in ("rtt_min", "rtt_mean", "rtt_max"))
        if low is not None and mean is not None and high is not None and not low <= mean <= high:
            text = "min <= avg <= max does not hold; the line is edited or its order is not known"
            self.run.event("impossible_order", "error", text, line.number)

    def _deviation(self, line: Line, token: str) -> None:
        """The sample standard deviation from the population one that every ping prints."""
        run = self.run
        received = run.value("received")
        printed = _milliseconds(token)
        if received is None:
            text = "a population standard deviation, but no count of replies to convert it with; left out"
            run.event("sd_not_convertible", "info", text, line.number)
            return
        n = int(received + (run.value("duplicates") or 0))
        spread = (run.value("rtt_max") or 0) - (run.value("rtt_min") or 0)
        if (
            printed.value == 0
            and spread > 0
            and run.row.get("dialect") == "inetutils"
            and token == _INETUTILS_UNDERFLOW
        ):
            text = "a deviation of 0.000 although min < max: inetutils prints that for all under 22.4 us; left out"
            run.event("sd_underflow", "info", text, line.number)
            return
        if n < 2:
            return
        factor = math.sqrt(n / (n - 1))
        resolution = None if printed.resolution is None else printed.resolution * factor
        run.metric("rtt_sd", Quantity(printed.value * factor, "ns", token, resolution), line.number)

    # --- the end

    def finish(self, last_line: int) -> None:
        """Complete the run: samples, what the command says, status."""
        run = self.run
        self._describe()
        self._fill_lost()
        self._leave_out_void()
        self._store_samples()
        received = run.value("received")
        if received is not None and self.has_times:
            n = int(received + (run.value("duplicates") or 0))
            number = self.summary.number if self.summary else last_line
            run.metric("observations", Quantity(float(n), "count", str(n), None), number)
            self._check_replies(n, number)
        untimed = (run.row.get("message_bytes") or _TIMED_PAYLOAD) < _TIMED_PAYLOAD or run.row.get(
            "test"
        ) == "timestamp"
        complete = self.summary is not None and (self.has_times or not received or untimed)
        has_numbers = bool(self.samples.seq) or self.summary is not None
        end_run(run, has_numbers=has_numbers, ended=complete or self.failed, last_line=self.last_line)

    def _check_replies(self, n: int, number: int) -> None:
        """The summary's extremes are those of the replies, which have fewer digits, where all of them are shown."""
        times = self.samples.rtt
        if self.windows or len(times) != n or _NULL in times:
            return
        for name, shown in (("min", min(times)), ("max", max(times))):
            summed = self.run.value(f"rtt_{name}")
            if summed is not None and abs(shown - summed) > _REPLY_DIGITS * shown + _REPLY_STEP:
                text = f"the summary's {name} is {summed / 1e6:g} ms, that of the {n} replies {shown / 1e6:g} ms"
                self.run.event("summary_mismatch", "error", text, number)

    def _describe(self) -> None:
        row, log = self.run.row, self.log
        words = log.arguments
        row["client"] = row.get("client") or log.host
        flags = "".join(word[1:] for word in words if re.fullmatch(r"-[A-Za-z]{1,6}", word))
        if "f" in flags or "A" in flags:
            row["closed_loop"] = True
        seconds = log.option("-w")
        if seconds and seconds.isdigit() and not self.windows:
            row["requested_duration_ns"] = nanoseconds(seconds, "sec")

    def _fill_lost(self) -> None:
        """Probes without a line, where the summary confirms that exactly those got no answer."""
        samples, run = self.samples, self.run
        sent, lost = run.value("sent"), run.value("lost")
        if self.windows or not samples.seq or not sent or lost is None:
            return
        start = 0 if min(samples.seq) == 0 or run.row.get("dialect") in _COUNT_FROM_ZERO else 1
        stop = start + int(sent)
        missing = stop - start - samples.known(start, stop)
        told = samples.count("lost", "unreachable")
        if not missing:
            return
        if told + missing == int(lost) and missing <= _MOST_FILLED:
            for seq in samples.missing(start, stop):
                samples.add(seq, None, "lost")
        else:
            text = f"{missing} probes have no line, {int(lost) - told} are lost by the counts; lines are missing"
            run.event("lines_missing", "info", text, run.row["first_line"])

    def _leave_out_void(self) -> None:
        """A summary that counts replies of 0 ms has no minimum, and its mean and deviation are wrong."""
        run, low = self.run, self.run.row_of("rtt_min")
        void = self.samples.count("void")
        if low is None or (not void and _decimal(low["printed"] or "") != _NO_TIME):
            return
        for name in ("rtt_min", "rtt_mean", "rtt_sd"):
            run.drop(name)
        told = f"{void} replies" if void else "a reply"
        text = f"the summary counts {told} of 0 ms, which the clock made; minimum, mean and deviation are left out"
        run.event("clock_step", "warning", text, low["line"])

    def _store_samples(self) -> None:
        samples, run = self.samples, self.run
        if not samples.seq:
            return
        sent = _column(samples.sent)
        if self.first_stamp is not None:
            first = min(value for value in samples.sent if value != _NULL)
            sent = [None if value == _NULL else value - first for value in samples.sent]
            started = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=first // 1000)
            run.set(started_at=started)
        elif (interval := self.log.option("-i", "--interval")) and re.fullmatch(r"\d{1,6}(?:\.\d{1,6})?", interval):
            step, base = nanoseconds(interval, "sec"), min(samples.seq)
            sent = [(seq - base) * step for seq in samples.seq]
        bounds = {"low_ns": _column(samples.low), "high_ns": _column(samples.high)} if self.windows else {}
        answered = samples.count("ok") == len(samples.status)
        status = ["ok"] * len(samples.seq) if answered else [_STATUS[index] for index in samples.status]
        run.samples(seq=samples.seq, sent_ns=sent, rtt_ns=_column(samples.rtt), status=status, **bounds)


def _read_json(log: Log, recorder: Recorder) -> None:
    """``ping -j``: one object a line; the run ends with the object of the summary."""
    ping = _Ping(log, recorder)
    ping.run.set(dialect="iputils-json")
    for line in log.lines:
        text = line.text.strip()
        match = re.fullmatch(_STAMP + r"(\{.*\})", text) if len(text) < 4096 else None
        try:
            entry = json.loads(match[2]) if match else None
        except ValueError:
            entry = None
        if not isinstance(entry, dict) or not _json_line(ping, line, entry, match):
            ping.feed_line(line, recorder.ledger)
            continue
        recorder.ledger.mark(line.number, DATA)
        ping.last_line = line.number
    ping.finish(log.last_line)


def _is_count(value: object, digits: int = 12) -> TypeGuard[int]:
    """Whether a member is a count of at most as many digits as the rules of the text allow; more is damage."""
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 10**digits


def _json_line(ping: _Ping, line: Line, entry: dict[str, object], match: re.Match[str] | None) -> bool:
    """Read one object; false where it is none of ping's."""
    seq, time, rtt = entry.get("seq"), entry.get("time"), entry.get("rtt")
    if _is_count(seq, 10) and isinstance(time, str) and re.fullmatch(_DECIMAL, time):
        stamp = nanoseconds(match["stamp"], "s") if match is not None and match["stamp"] else None
        ping.answer(line, seq, time, stamp, duplicate=bool(entry.get("dup")))
        return True
    sent_count, received = entry.get("transmitted"), entry.get("received")
    if not _is_count(sent_count) or not _is_count(received):
        return False
    ping.summary = line
    if isinstance(entry.get("host"), str):
        ping.run.set(server=entry["host"])
    if _is_count(time):
        ping.run.set(duration_ns=time * _MILLISECOND)
    for name in ("duplicates", "errors", "corrupted"):
        if _is_count(entry.get(name)):
            ping.run.metric(name, count(str(entry[name])), line.number)
    # "loss" is a percentage cut to a whole number.
    ping.printed_loss = (str(entry["loss"]), line) if isinstance(entry.get("loss"), int | float) else None
    ping._store_counts(line, str(sent_count), sent_count, str(received), received)
    if isinstance(rtt, dict):
        tokens = {key: value for key, value in rtt.items() if isinstance(value, str) and re.fullmatch(_DECIMAL, value)}
        ping.has_times = True
        for key, name in (("min", "rtt_min"), ("avg", "rtt_mean"), ("max", "rtt_max")):
            if key in tokens:
                ping.run.metric(name, _milliseconds(tokens[key]), line.number)
        if "mdev" in tokens:
            ping._deviation(line, tokens["mdev"])
    return True


_NAMELESS = ("bytes de dados", "Badanie ", "Обмен пакетами")
_OPENING = {
    "PING": r"PING \S{1,200} ?\(.{1,200}\d{1,6}(?:\(\d{1,6}\))? ?\D{1,80}|PING6\(\d.{1,200}",
    "PING ": r"PING \S{1,200} \(\S{1,200}\): sending (?:timestamp|address mask) requests",
    "ПІНГ": r"ПІНГ .{1,400}",
    # Nearly all of Windows' lines have the tool's name in them: one search for all languages.
    "ing": "|".join(pattern for hint, pattern in WINDOWS_HEADERS.values() if hint not in _NAMELESS),
    **{hint: pattern for hint, pattern in WINDOWS_HEADERS.values() if hint in _NAMELESS},
}
_INSIDE = {
    "packets transmitted": r"\d{1,12} packets transmitted, \d{1,12} (?:packets )?received.{0,200}",
    "ing": "|".join([r"-{2,3} .{0,200}\b[Pp]ing6?\b.{0,200} -{2,3}", *WINDOWS_STATISTICS.values()]),
    "пінгування": r"-{2,3} .{1,300} -{2,3}",
    "icmp_seq=": r"(?:\[[\d.]{1,24}\] )?\d{1,6} \D.{1,300}icmp_seq ?=\d{1,10} .{1,80}",
    " seq=": r"\d{1,6} bytes from .{1,200} seq=\d{1,10} ttl=.{1,80}",
    '"ttl": ': r'(?:\[[\d.]{1,24}\] )?\{"bytes": \d+, "host": .{1,300}"ttl": .{1,200}\}',
    '"transmitted": ': r'(?:\[[\d.]{1,24}\] )?\{"host": .{1,300}"transmitted": .{1,400}\}',
    "ping": r"ping6?: (?:unknown host|cannot resolve|\S{1,200}: (?:Temporary|Name or)).{0,200}",
}
_SIGNATURES = (
    *(Signature(hint, re.compile(pattern)) for hint, pattern in _OPENING.items()),
    *(Signature(hint, re.compile(pattern), weak=True) for hint, pattern in _INSIDE.items()),
)


class PingParser:
    """Reads ping; see the module's docstring."""

    tool = "ping"
    commands = ("ping", "ping6")
    signatures = _SIGNATURES

    def parse(self, log: Log, recorder: Recorder) -> None:
        """Read one log; each header or summary of its own is a run."""
        if any('"transmitted": ' in line.text or '"ttl": ' in line.text for line in log.lines[:50]):
            _read_json(log, recorder)
            return
        reader = _Ping(log, recorder)
        reader.feed(log.lines, recorder.ledger)
        reader.finish(log.last_line)


PARSER = PingParser()
