"""hping3: replies on standard output, the summary on standard error.

::

    HPING 10.66.2.4 (az0 10.66.2.4): S set, 40 headers + 0 data bytes
    len=40 ip=10.66.2.4 ttl=64 DF id=0 sport=80 flags=RA seq=0 win=0 rtt=1.2 ms
    len=40 ip=10.66.2.4 ttl=64 DF id=0 sport=80 flags=RA seq=1 win=0 rtt=4.0 ms

    --- 10.66.2.4 hping statistic ---
    2 packets transmitted, 2 packets received, 0% packet loss
    round-trip min/avg/max = 1.2/2.6/4.0 ms

*Times* are round trips in ms with one decimal, of a TCP segment, a datagram or an ICMP message. hping3 adds the
difference of two clocks, ``time`` for seconds and ``gettimeofday`` for microseconds (rtt.c): a probe that is sent some
milliseconds after the start of a second may get 1000 ms too much. Such replies are reported (``second_added``).

*Counts.* The loss is cut to whole percent (statistics.c), so it is computed from the counts. Duplicates count as
received. ``0.0/0.0/0.0`` without replies means that there is no time. With ``--flood`` no reply is read, so the loss is
missing. With ``--traceroute`` the times of hops are part of the summary, so its times are left out.

*Order.* In a file that receives both streams, the summary stands above the header, because standard output is
buffered.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import ClassVar

from azlatency.logs.grammar.probes import ProbeSamples
from azlatency.logs.grammar.rules import Line, bulk, data, known
from azlatency.logs.grammar.samples import STATUSES
from azlatency.logs.grammar.units import nanoseconds, quantity
from azlatency.logs.parsers import Log, Parser, Signature
from azlatency.logs.parsers.common import LogReader, contradict, end_run, record_loss
from azlatency.logs.parsers.identities import SENT_IS_RECEIVED_AND_LOST
from azlatency.logs.record import Recorder
from azlatency.logs.source.large import extremes
from azlatency.logs.source.lines import UniformBlock, have_decimals

_HEADER = (
    r"HPING (\S{1,253}) \((?:\S{1,20} )?([^() ]{1,60})\): (.{1,40}?) (?:mode set|set|are set),"
    r" (\d{1,6}) headers \+ (\d{1,6}) data bytes"
)
#: The name is empty if hping3 only listens.
_STATISTIC = r"--- (\S{0,253}) hping statistic ---"
_FLOOD = r"hping in flood mode, no replies will be shown"
#: hping3 pads the identification of a TCP segment to five digits.
_REPLY = r"len=(?P<len>\d{1,6}) ip=\S{1,60} ttl=(?P<ttl>\d{1,3}) (?:DF )?id=[+-]?(?P<id>\d{1,6}) {0,4}"
_COUNT = r"(\d{1,12})"
_NUMBER = (
    r"(?:sport=(?P<sport>\d{1,5}) flags=\w{0,8} |icmp_)?seq=(?P<seq>\d{1,10}) (?:win=(?P<win>\d{1,6}) )?"
    r"rtt=(?P<time>\d{1,12}\.\d) ms"
)
#: Numbers of a reply that are not kept, and how many digits each may have.
_UNKEPT = {"len": 6, "ttl": 3, "id": 6, "sport": 5, "win": 6}
_PROTOCOLS = {"icmp": "icmp", "udp": "udp", "raw IP": "ip"}
_SECOND_NS = 10**9
#: More probes without a reply are counted but not stored one by one.
_MOST_LOST = 10**7
#: How much longer than the longest other reply a reply may be beyond the second that was added.
_SLACK_NS = 20_000_000


class _Hping(LogReader):
    def __init__(self, log: Log, recorder: Recorder) -> None:
        super().__init__(log, recorder)
        self.run = recorder.start_run("hping3", log.first_line, printed_as="round_trip", closed_loop=False)
        self.samples, self.replies, self.duplicates = ProbeSamples(), 0, 0
        self.slow: list[tuple[int, int]] = []
        """Index and line of each reply after a second and later."""
        self.unanswered: list[int] = []
        """The probes of which only a duplicate was read."""
        self.summary: re.Match[str] | None = None
        self.summary_line = 0
        self.times: tuple[re.Match[str], int] | None = None
        self.duplicate = self.has_open_reply = self.has_hops = self.is_flood = False
        self.refused = 0

    @data(_HEADER, hint="HPING ")
    def header(self, line: Line, match: re.Match[str]) -> None:
        test = _PROTOCOLS.get(match[3], "tcp")
        self.run.set(server=match[2], protocol=test, test=f"{test}-ping", message_bytes=int(match[5]))

    @data(_FLOOD, hint="flood mode")
    def flood(self, line: Line, match: re.Match[str]) -> None:
        self.is_flood = True

    # --- replies

    @data(rf"(DUP! )?{_REPLY} {_NUMBER}", hint="len=")
    def reply(self, line: Line, match: re.Match[str]) -> None:
        self._add(line, match, duplicate=bool(match[1]))

    @bulk(reply)
    def many_replies(self, rows: UniformBlock, match: re.Match[str]) -> bool:
        unkept = [name for name in _UNKEPT if match[name] is not None]
        columns = rows.columns(match, widths=("time", *unkept), seq=0, time=6, **dict.fromkeys(unkept))
        if match[1] or columns is None or not have_decimals(columns["time"], columns["time width"], 1, 6):
            return False
        if any(columns[f"{name} width"].max() > _UNKEPT[name] for name in unkept):
            return False
        seq = self.samples.numbers.unwrap_rising(columns["seq"], self.samples.highest)
        if seq is not None:
            slow = (columns["time"] >= _SECOND_NS).nonzero()[0].tolist()
            self.slow += [(len(self.samples) + index, rows.first + index) for index in slow]
            self.samples.extend_probes(seq, columns["time"], None)
        return seq is not None

    @data(rf"(DUP! )?{_REPLY} tos=\w{{1,4}} iplen=\d{{1,6}}", hint="iplen=")
    def verbose_reply(self, line: Line, match: re.Match[str]) -> None:
        self.duplicate, self.has_open_reply = bool(match[1]), True

    @data(_NUMBER, hint="rtt=")
    def verbose_time(self, line: Line, match: re.Match[str]) -> None:
        self._add(line, match, duplicate=self.duplicate)
        self.duplicate = self.has_open_reply = False

    def _add(self, line: Line, match: re.Match[str], *, duplicate: bool) -> None:
        number, rtt = self.samples.numbers.unwrap(int(match["seq"])), nanoseconds(match["time"], "ms")
        if rtt >= _SECOND_NS:
            self.slow.append((len(self.samples), line.number))
        if duplicate and self.samples.find(number) is None:
            self.unanswered.append(number)
        self.samples.add_probe(number, rtt, "duplicate" if duplicate else "ok")

    @data(r"hop=\d{1,3} hoprtt=[\d.]{1,12} ms", hint="hoprtt=")
    @data(r"hop=\d{1,3} (?:len=|TTL 0 during ).{1,300}", hint="hop=")
    def hop(self, line: Line, match: re.Match[str]) -> None:
        self.has_hops = True

    @data(r"(?:TTL 0 during (?:transit|reassembly)|ICMP [A-Z][\w -]{1,60}?)(?: from)? ip=\S{1,60}.{0,300}", hint=" ip=")
    def refusal(self, line: Line, match: re.Match[str]) -> None:
        self.refused += 1

    # --- the summary

    @data(_STATISTIC, hint="hping statistic")
    def statistic(self, line: Line, match: re.Match[str]) -> None:
        if self.summary is not None and line.number > self.summary_line:
            raise ValueError("a second summary")
        if self.run.row.get("server") is None:
            self.run.set(server=match[1] or None)

    @data(
        r"(\d{1,12}) packets tra(?:ns)?mitted, (\d{1,12}) packets received, (-?\d{1,12})% packet loss",
        hint="packet loss",
    )
    def counts(self, line: Line, match: re.Match[str]) -> None:
        if self.summary is not None:
            raise ValueError("a second summary")
        self.summary, self.summary_line = match, line.number

    @data(r"round-trip min/avg/max = (\d{1,9}\.\d)/(\d{1,9}\.\d)/(\d{1,9}\.\d) ms", hint="round-trip")
    def round_trip(self, line: Line, match: re.Match[str]) -> None:
        self.times = match, line.number

    known = known(
        ("listen mode", r"hping3 listen mode"),
        ("out of seq", r"\d{1,12} out of sequence packets received"),
        ("MTU:", r"using \S{1,20}, addr: \S{1,60}, MTU: \d{1,6}"),
        (" ack=", r"seq=\d{1,10} ack=\d{1,10} sum=\w{1,4} urp=\d{1,6}"),
        ("ICMP timestamp", r"ICMP timestamp(?::| RTT) .{1,100}"),
        ("ICMP address", r"ICMP address mask: .{1,60}"),
        ("tcpts=", r"TCP timestamp: tcpts=\d{1,12}"),
        (" hz=", r"HZ seems hz=.{1,60}"),
        ("uptime", r"System uptime seems: .{1,100}"),
        ("name=", r"(?:get hostname\.\.\.)?\s{0,20}name=\S{1,253}"),
        ("status=", r"status=\d{1,3} port=\d{1,5} seq=\d{1,10}"),
        ("mem", r"(?:\[main\] memlockall\(\): .{1,60}|Warning: can't disable memory paging!|Memory paging disabled)"),
    )

    def finish(self, last_line: int) -> None:
        """Complete the run: samples, counts, times and status."""
        run = self.run
        self.replies, self.duplicates = len(self.samples), self.samples.count("duplicate")
        self._store_samples()
        if self.summary is not None:
            self._store_counts(self.summary)
        if self.times is not None:
            self._store_times(*self.times)
        if self.refused:
            text = f"{self.refused} ICMP messages report that the packets did not reach the host"
            run.add_event("icmp_error", "info", text, run.row["first_line"])
        cut = self.unfinished and (
            self.log.lines[-1].text.strip(" \b")[-3:] not in ("", " ms")
            or (self.times is not None and self.times[1] == self.unfinished)
        )
        has_numbers = self.replies > 0 or self.summary is not None
        # In a file with the summary on top, the replies are the end.
        received = int(self.summary[2]) if self.summary is not None else 0
        ended = self.times is not None and not cut and not 0 < self.replies < received and not self.has_open_reply
        end_run(run, has_numbers=has_numbers, ended=ended, last_line=last_line)

    def _store_samples(self) -> None:
        """Store the replies, and the probes without one if the log shows all replies, by the numbers of the probes."""
        samples = self.samples
        if not self.replies:
            return
        if self.summary is not None:
            sent = int(self.summary[1])
            if samples.highest >= sent:
                text = f"a reply has the number {samples.highest}, but only {sent} packets were sent, from 0 on"
                contradict(self.run, "count_mismatch", text, self.summary_line)
            if int(self.summary[2]) == self.replies and sent - samples.count_present(0, sent) <= _MOST_LOST:
                samples.add_lost(0, sent)
                for number in self.unanswered:
                    samples.add(number, None, "lost")
        is_rising = len(samples) == self.replies and not samples.late and not samples.repeated
        self.run.add_samples(**(samples if is_rising else samples.by_number()).columns())
        self._check_slow_replies()

    def _check_slow_replies(self) -> None:
        """Report replies that would not be longer than others without a second, which hping3 may have added."""
        samples = self.samples
        slow = [(index, line) for index, line in self.slow if STATUSES[samples.status[index]] == "ok"]
        others = (rtt for _, rtt, status in samples.rows() if status == "ok" and rtt < _SECOND_NS)
        longest = max(others, default=None) if slow else None
        for index, line in slow:
            seq, rtt = samples.seq[index], samples.rtt[index]
            if longest is not None and rtt - _SECOND_NS <= longest + _SLACK_NS:
                text = (
                    f"probe {seq} took {rtt / 1e6:g} ms: hping3 may have added a second to"
                    f" {(rtt - _SECOND_NS) / 1e6:g} ms; do not trust the mean and the maximum"
                )
                self.run.add_event("second_added", "warning", text, line)

    def _store_counts(self, match: re.Match[str]) -> None:
        run, line = self.run, self.summary_line
        sent, received = int(match[1]), int(match[2])
        run.add_counts(line, sent=match[1])
        if self.is_flood:
            text = "with --flood, hping3 reads no replies: there is neither a loss nor a time"
            run.add_event("replies_not_read", "warning", text, line)
            return
        run.add_counts(line, received=match[2], duplicates=self.duplicates or None)
        unique = received - self.duplicates
        if not record_loss(run, sent, unique, line, percent=None if self.duplicates else match[3]):
            return
        if sent and int(match[3]) != 100 - 100 * received // sent:
            text = f"the log prints {match[3]}% loss, but the counts give {100 * (sent - received) / sent:.6g}%"
            contradict(run, "loss_mismatch", text, line)
        if received:
            run.add_counts(line, observations=received)
        if self.replies and self.replies != received:
            text = f"the log has {self.replies} replies, but the summary counts {received}"
            run.add_event("count_mismatch", "warning", text, line)

    def _store_times(self, match: re.Match[str], line: int) -> None:
        if self.is_flood or self.summary is None or int(self.summary[2]) == 0:
            return
        if self.has_hops:
            text = "the times of the summary include those of hops (--traceroute) and are left out"
            self.run.add_event("hop_times", "info", text, line)
            return
        for name, token in zip(("rtt_min", "rtt_mean", "rtt_max"), match.groups(), strict=True):
            self.run.add_metric(name, quantity(token, "ms"), line)
        if self.replies == int(self.summary[2]):
            ends = extremes(self.samples.rtt)
            for name, token, rtt in zip(("min", "max"), (match[1], match[3]), ends, strict=True):
                if nanoseconds(token, "ms") != rtt:
                    text = f"the summary prints {name} = {token} ms, but the replies give {rtt / 1e6:g} ms"
                    contradict(self.run, "summary_mismatch", text, line)


class Hping3Parser(Parser):
    """Reads hping3; see `azlatency.more_tools.hping3`."""

    tool = "hping3"
    identities = (SENT_IS_RECEIVED_AND_LOST,)
    reads_any_size = True
    reader = _Hping
    commands = ("hping3", "hping", "hping2")
    options: ClassVar = {"requested_count": ("-c", "--count"), "interval": ("-i", "--interval")}
    shares = ("ping",)
    signatures = (
        Signature("HPING", _HEADER),
        Signature("flood mode", _FLOOD, weak=True),
        Signature(" hping stat", _STATISTIC, weak=True),
        Signature("len=", rf"(?:DUP! )?{_REPLY} .{{1,200}}", weak=True),
    )

    def find_continued(self, logs: Sequence[Sequence[Line]]) -> list[int]:
        """Return the logs without a summary below a summary without a header: one run whose streams share a file."""
        heads = [any(line.text.lstrip().startswith("HPING ") for line in log) for log in logs]
        ends = [any("hping statistic" in line.text for line in log) for log in logs]
        return [
            index
            for index in range(1, len(logs))
            if heads[index] and not ends[index] and ends[index - 1] and not heads[index - 1]
        ]


PARSER = Hping3Parser()
