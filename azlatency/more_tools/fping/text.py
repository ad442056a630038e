"""The lines of fping: probes, verdicts, summaries and statistics."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from azlatency.logs.grammar.rules import DATA, Line, bulk, data, known
from azlatency.logs.grammar.units import Quantity, nanoseconds, quantity
from azlatency.logs.parsers import Log
from azlatency.logs.parsers.common import LogReader
from azlatency.logs.record import Recorder
from azlatency.logs.source.lines import UniformBlock
from azlatency.more_tools.fping.host import Block, Elapsed, Host

if TYPE_CHECKING:
    import numpy as np

# People replace addresses by "<IP Address>" or "[redacted]".
HOST = r"(?P<host><[^<>]{1,80}>|\[[A-Za-z][^\[\]]{0,40}\]|[^\s\[\]]{1,255}(?: \([0-9A-Fa-f.:]{2,45}\))?)"
# Three significant digits, as fping prints them; a token that was cut has another form. Up to 4.x fping counts in steps
# of 10 us and prints two decimals below 1 ms.
TIME = r"(?:[01]\.\d{3}|\d\.\d\d|10\.00|[1-9]\d\.\d|100\.0|[1-9]\d{2,6}|\d\.\d{3}e\+\d\d)"
#: Old versions print two decimals of any time in the list of ``-C`` (``%d.%02d``).
LISTED = re.compile(rf"-|{TIME}|[1-9]\d{{1,5}}\.\d\d")
_TOTAL_TIME = re.compile(rf"({TIME}) ms \((min|avg|max) round trip time\)")
_STAMP = r"(?:\[(?:(?P<stamp>\d{9,12}\.\d{5})|(?P<text_stamp>[^\]]{8,40}))\] )?"
FROM = r"(?: \[<- [0-9A-Fa-f.:]{2,45}\])?"
SUMMARY = (
    rf"{HOST} +: xmt/rcv/%(?P<label>loss|return) = "
    r"(?P<sent>\d{1,10})/(?P<received>\d{1,10})/(?P<percent>\d{1,6})%"
    rf"(?:, outage\(ms\) = (?P<outage>\d{{1,12}}))?"
    rf"(?:, min/avg/max = (?P<min>{TIME})/(?P<avg>{TIME})/(?P<max>{TIME}))?"
)
_HEADER_BYTES = 8
_DEFAULT_REPLY_BYTES = 64


class FpingText(LogReader):
    """Reads the lines of one log: one or several sessions of one or several hosts."""

    def __init__(self, log: Log, recorder: Recorder) -> None:
        super().__init__(log, recorder)
        self.runs_before = len(recorder.rows["runs"])
        self.failures: list[tuple[str, int]] = []
        self._open_session()

    def _open_session(self) -> None:
        self.hosts: dict[str, Host] = {}
        self.clock: int | None = None
        self.in_block: set[str] = set()
        self.summaries = self.verdicts = False
        self.over = False
        self.in_totals = False
        """The totals of all hosts (``-s``) have begun, and their last line was not read."""
        self.echoes: tuple[int, int] | None = None
        self.elapsed: Elapsed | None = None

    def read(self, line: Line) -> int:
        """Read the list of ``-C``, which may have any length, by its tokens; apply the rules to other lines."""
        if " : " not in line.text:
            is_total = "round trip time)" in line.text and len(self.hosts) == 1
            if not is_total or (match := _TOTAL_TIME.fullmatch(line.text.strip())) is None:
                return super().read(line)
            (only,) = self.hosts.values()  # the totals over all hosts are those of the only one
            only.record_extreme(match[2], match[1], line.number)
            return DATA
        host, _, values = line.text.strip().partition(" : ")
        tokens = values.split()
        host = host.rstrip()
        if tokens and all(map(LISTED.fullmatch, tokens)) and len(host.split()) == 1:
            if not (self._may_lack_tokens(tokens) and self.is_cut(line, "its end is")):
                self._end_host(line, host).record_list(line.number, host, tokens)
            return DATA
        return super().read(line)

    def _may_lack_tokens(self, tokens: list[str]) -> bool:
        """Whether the list may be cut: no other list and no option has its length, or its last token may continue."""
        lengths = {str(len(host.listed)) for host in self.hosts.values() if host.listed is not None}
        lengths.add(self.log.option("-C", "--vcount") or "")
        return str(len(tokens)) not in lengths or tokens[-1].isdigit() or _may_be_cut(tokens[-1], tokens[:-1])

    # --- probes

    @data(
        _STAMP + rf"{HOST} +: \[(?P<seq>\d{{1,10}})\], (?P<bytes>\d{{1,6}}) bytes, (?P<time>{TIME}) ms"
        rf" \((?P<mean>{TIME}) avg, (?P<percent>\d{{1,6}})% (?:loss|return)\){FROM}",
        hint=" bytes, ",
    )
    def reply(self, line: Line, match: re.Match[str]) -> None:
        """Read one reply."""
        seq = int(match["seq"])
        host = self._probe(line, match["host"], seq)
        rtt = nanoseconds(match["time"], "ms")
        sent = None
        if match["stamp"] is not None:
            sent = nanoseconds(match["stamp"], "sec") - rtt
        if int(match["bytes"]) == _DEFAULT_REPLY_BYTES:
            host.run.set(message_bytes=_DEFAULT_REPLY_BYTES - _HEADER_BYTES)
        host.add(seq, rtt, "ok", sent)
        host.running_mean = quantity(match["mean"], "ms"), line.number

    @bulk(reply)
    def replies(self, rows: UniformBlock, match: re.Match[str]) -> bool:
        """Read many replies of one host, in order, at once."""
        import numpy as np

        columns = rows.columns(match, widths=("time",), stamp=9, seq=0, bytes=0, time=6, mean=None, percent=None)
        known_host = self.hosts.get(match["host"])
        if columns is None or self.summaries or (match["text_stamp"] and len(rows) > 1):
            return False
        seq, rtt = columns["seq"], columns["time"]
        highest = -1 if known_host is None else known_host.highest
        if (np.diff(seq, prepend=highest) <= 0).any() or not _have_three_digits(rtt, columns["time width"]):
            return False
        host = self._host(rows[0], match["host"])
        host.last_line = rows.last
        if (columns["bytes"] == _DEFAULT_REPLY_BYTES).any():
            host.run.set(message_bytes=_DEFAULT_REPLY_BYTES - _HEADER_BYTES)
        sent = columns["stamp"] - rtt if "stamp" in columns else None
        host.extend(seq, rtt, sent)
        last = rows[len(rows) - 1]
        if (single := match.re.fullmatch(last.text)) is not None:
            host.running_mean = quantity(single["mean"], "ms"), last.number
        return True

    @data(
        _STAMP + rf"{HOST} +: \[(?P<seq>\d{{1,10}})\], timed out"
        rf" \((?:(?P<mean>{TIME})|NaN) avg, \d{{1,6}}% (?:loss|return)\)",
        hint="timed out",
    )
    def timed_out(self, line: Line, match: re.Match[str]) -> None:
        """Read a probe without an answer."""
        seq = int(match["seq"])
        self._probe(line, match["host"], seq).add(seq, None, "lost")

    @data(
        rf"{HOST} +: duplicate for \[(?P<seq>\d{{1,10}})\], \d{{1,6}} bytes, (?P<time>{TIME}) ms{FROM}",
        hint="duplicate for",
    )
    def duplicate(self, line: Line, match: re.Match[str]) -> None:
        """Read a second reply to a probe; after the summaries it belongs to another session."""
        if self.summaries or self.verdicts:
            self._close_session(line.number - 1)
        host = self._host(line, match["host"])
        host.duplicates += 1
        host.add(int(match["seq"]), nanoseconds(match["time"], "ms"), "duplicate")

    @data(
        rf"ICMP .{{1,80}}? from \S{{1,60}} for ICMP Echo sent to {HOST}",
        hint="for ICMP Echo sent to",
    )
    def icmp_error(self, line: Line, match: re.Match[str]) -> None:
        """Read an ICMP error about a host; after the summaries it belongs to another session."""
        if self.summaries:
            self._close_session(line.number - 1)
        if not self.is_cut(line, "its end is"):
            self._host(line, match["host"]).errors += 1

    @data(rf"{HOST} \((?P<time>{TIME}) ms\){FROM}", hint=" ms)")
    @data(rf"{HOST} is alive(?: \((?P<time>{TIME}) ms\))?{FROM}", hint=" is alive")
    def alive(self, line: Line, match: re.Match[str]) -> None:
        """Read the verdict that a host is alive; ``-a -e`` prints its name and its time alone."""
        host = self._host(line, match["host"], fresh=True)
        host.whole = self.verdicts = True
        if match["time"] is not None:
            host.add(0, nanoseconds(match["time"], "ms"), "ok")

    @data(rf"{HOST} is unreachable", hint=" is unreachable")
    def unreachable(self, line: Line, match: re.Match[str]) -> None:
        """Read the verdict that a host is unreachable."""
        host = self._host(line, match["host"], fresh=True)
        host.whole = self.verdicts = True
        host.run.end_as("no_data", "warning", f"{match['host']} did not answer", line.number)

    # --- summaries

    @data(r"\[(\d\d):(\d\d):(\d\d)\]", hint=":", shape=r"\[::\]")
    def clock_time(self, line: Line, match: re.Match[str]) -> None:
        """Read the time of day above a ``-Q`` block."""
        if self.summaries or self.verdicts or self.over:
            self._close_session(line.number - 1)
        hours, minutes, seconds = map(int, match.groups())
        self.clock = 3600 * hours + 60 * minutes + seconds
        self.in_block = set()

    @data(SUMMARY, hint="xmt/rcv/%")
    def summary(self, line: Line, match: re.Match[str]) -> None:
        """Read a summary: the last one of a host, or one inside a ``-Q`` block."""
        name = match["host"]
        if (clock := self.clock) is not None and name not in self.in_block and not self.summaries:
            host = self._host(line, name)
            self.clock = clock  # of the session that this line may have begun
            self.in_block.add(name)
            times = match.group("avg", "min", "max")
            mean, low, high = [None if time is None else quantity(time, "ms") for time in times]
            host.add_block(
                Block(
                    line=line.number,
                    clock=clock,
                    sent=int(match["sent"]),
                    received=int(match["received"]),
                    mean=mean,
                    low=low,
                    high=high,
                )
            )
            return
        host = self._end_host(line, name)
        host.record_summary(line.number, match)
        may_be_cut = match["max"] is not None and _may_be_cut(match["max"], [match["min"], match["avg"]])
        cut = may_be_cut and self.is_cut(line, "its end is")
        # fping prints the times of every host that answered.
        host.whole = not cut and (match["max"] is not None or not int(match["received"]))
        for key, metric in (("min", "rtt_min"), ("avg", "rtt_mean"), ("max", "rtt_max")):
            if match[key] is not None and not (cut and key == "max"):
                host.run.add_metric(metric, quantity(match[key], "ms"), line.number)
        if match["outage"] is not None and match["max"] is None and self.is_cut(line, "its end is"):
            host.whole = False
        elif match["outage"] is not None:
            outage = Quantity(float(nanoseconds(match["outage"], "ms")), "ns", match["outage"], None, "ms")
            host.run.add_metric("outage", outage, line.number)

    # --- statistics of all hosts

    def unmatched(self, line: Line) -> None:
        """Begin the totals over all hosts at a number that ends the log."""
        if line.number == self.unfinished and line.text.split()[0].isdigit():
            self.in_totals = True

    @data(r"\d{1,9} targets", hint="targets")
    def begin_totals(self, line: Line, match: re.Match[str]) -> None:
        """Begin the totals over all hosts."""
        self.in_totals = True

    @data(r"(\d{1,10}) (ICMP Echos sent|ICMP Echo Replies received)", hint=" ICMP Echo")
    def echo_totals(self, line: Line, match: re.Match[str]) -> None:
        """Read the totals over all hosts."""
        sent, received = self.echoes or (0, 0)
        if match[2].endswith("sent"):
            self.echoes = int(match[1]), received
        else:
            self.echoes = sent, int(match[1])

    @data(r"(\d{1,12}\.\d{3}) sec \(elapsed real time\)", hint="elapsed real time")
    def elapsed_time(self, line: Line, match: re.Match[str]) -> None:
        """Read the elapsed time, the last line of ``-s``."""
        self.elapsed = Elapsed(match[1], line.number)
        self.over, self.in_totals = True, False

    @data(r"(\S{0,40}fping: (?!Version |comments to ).{1,300})", hint="fping: ")
    @data(
        r"(\S{1,255}: (?:Name or service not known|Temporary failure in name resolution|No address .{1,80}))", hint=": "
    )
    @data(r"(\S{1,255} address not found)", hint="address not found")
    def failure(self, line: Line, match: re.Match[str]) -> None:
        """Read an error message."""
        self.failures.append((match[1], line.number))

    known = known(
        ("fping: ", r"\S{0,40}fping: (?:Version|comments to) .{1,200}"),
        ("", r"\d{1,9} (?:alive|unreachable|unknown addresses|other ICMP received)"),
        ("timeouts", r"\d{1,9} timeouts \(waiting for response\)"),
        ("round trip time)", rf"{TIME} ms \((?:min|avg|max) round trip time\)"),
        ("hosts reachable", r"(?:Enough|Not enough) hosts reachable \(required: \d+, reachable: \d+\)"),
    )

    # --- hosts

    def _host(self, line: Line, name: str, *, fresh: bool = False) -> Host:
        """Return the host of a line; open a new session if the old one is over."""
        if self.over or (fresh and name in self.hosts):
            self._close_session(line.number - 1)
        if name not in self.hosts:
            run = self.recorder.start_run(
                "fping",
                line.number,
                test="echo",
                protocol="icmp",
                printed_as="round_trip",
                closed_loop=False,
                server=name,
                client=self.log.host,
            )
            self.hosts[name] = Host(run)
        host = self.hosts[name]
        host.last_line = line.number
        return host

    def _probe(self, line: Line, name: str, seq: int) -> Host:
        """Return the host of a probe; a probe after a summary, or a lower number, begins another session."""
        host = self.hosts.get(name)
        if self.summaries or self.verdicts or (host is not None and seq <= host.highest):
            self._close_session(line.number - 1)
        return self._host(line, name)

    def _end_host(self, line: Line, name: str) -> Host:
        """Return the host that this line ends; a second such line begins another session."""
        known_host = self.hosts.get(name)
        if self.verdicts or (known_host is not None and known_host.final):
            self._close_session(line.number - 1)
        self.summaries = True
        host = self._host(line, name)
        host.final = host.whole = True
        return host

    # --- the end

    def _close_session(self, last_line: int) -> None:
        """Complete the runs of one session and open another."""
        for host in self.hosts.values():
            host.whole = host.whole and not self.in_totals
            host.finish(self.log, self.elapsed)
        if self.echoes and all(host.final for host in self.hosts.values()):
            self._check_totals(self.echoes, last_line)
        self._open_session()

    def _check_totals(self, echoes: tuple[int, int], line: int) -> None:
        """Compare the totals of ``-s`` with the sums over the hosts."""
        hosts = list(self.hosts.values())
        sent, received = (int(sum(host.run.value(name) or 0 for host in hosts)) for name in ("sent", "received"))
        duplicates = sum(host.duplicates for host in hosts)
        if hosts and (sent != echoes[0] or not received <= echoes[1] <= received + duplicates):
            text = f"the hosts add up to {sent} sent and {received} received; -s prints {echoes[0]} and {echoes[1]}"
            hosts[0].run.add_event("count_mismatch", "warning", text, line)

    def finish(self, last_line: int) -> None:
        """Complete the last session; a log of error messages only becomes a failed run."""
        self._close_session(last_line)
        rows = self.recorder.rows["runs"]
        if len(rows) > self.runs_before:
            for text, line in self.failures:
                self.recorder.add_event("tool_error", "warning", text, line, rows[-1]["run_id"])
        elif self.failures:
            text, line = self.failures[0]
            run = self.recorder.start_run("fping", self.log.first_line, test="echo", protocol="icmp", status="failed")
            run.set(last_line=last_line)
            run.add_event("failed", "error", f"fping measured nothing: {text}", line)


def _have_three_digits(rtt: np.ndarray, width: np.ndarray) -> bool:
    """Whether all times (ns) are printed with three significant digits; a time that was cut has another width."""
    milliseconds = rtt / nanoseconds("1", "ms")
    # Rounding gives 1.000 for 0.9996, 10.00 for 9.996 and 100.0 for 99.96; other times have four characters to 99.9.
    small = (milliseconds < 2) & (width == 5)
    large = (milliseconds >= 100) & (width >= 3) & (width <= 7)
    between = (milliseconds >= 1) & (milliseconds < 100) & (width == 4)
    rounded = ((milliseconds == 10) | (milliseconds == 100)) & (width == 5)
    two_decimals = (milliseconds < 1) & (width == 4)
    return bool((small | two_decimals | between | large | rounded).all())


def _may_be_cut(last: str, others: list[str]) -> bool:
    """Whether the last time may lack digits: it has no point, or fewer decimals than the others below 1 ms."""
    if last.isdigit():
        return True
    below = [token for token in others if token.startswith("0.")]
    return last.startswith("0.") and len(last) < len("0.000") and not any(len(token) == len(last) for token in below)
