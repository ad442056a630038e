"""fping: replies, summaries, interval blocks and statistics of many hosts at once.

    10.2.2.4 : [0], 64 bytes, 0.304 ms (0.304 avg, 0% loss)
    [1795228134.23721] 10.2.2.4 : [1], 64 bytes, 0.251 ms (0.277 avg, 0% loss)
    10.2.2.4 : [2], timed out (0.277 avg, 33% loss)
    10.2.2.4 : duplicate for [1], 64 bytes, 3.26 ms
    ICMP Host Unreachable from 10.2.2.1 for ICMP Echo sent to 10.2.2.4

    10.2.2.4 : xmt/rcv/%loss = 3/2/33%, min/avg/max = 0.251/0.277/0.304
    10.2.3.4 : 7.94 2.64 - 4.26                                            (-C; "-" is a probe without an answer)
    [02:28:56]                                                             (-Q; blocks of summaries follow)
    10.2.2.4 is alive (0.033 ms)
           0.299 sec (elapsed real time)

Versions seen: 4 and 5 (format: fping.c of 5.2). Every time is a **round trip** in milliseconds with three significant
digits. Each host is a run of its own, in order of first appearance.

The summary stands on standard error: a file of standard output alone ends with replies and may have been cut anywhere,
so such a run is ``truncated``. Its mean is the running mean beside the last reply. ``%loss`` is cut to a whole number;
loss is counted anew. ``-C`` prints no mean: the samples hold it. ``-Q`` blocks become intervals; the tool prints the
time of day at the end of each, without a date, and the block that a run ends in is never printed.

``-D`` stamps are those of the reply, with five decimals; the time of sending is the stamp less the round trip. Ignored:
stamps in a format of local time, targets of ``-s`` (totals over all hosts belong to no run), bare host names of ``-a``
and ``-u``.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING

from azlatency.logs.grammar import DATA, Line, LineAccounting, LineLog, bulk, data, known
from azlatency.logs.lines import UniformBlock
from azlatency.logs.parsers import Log, Signature
from azlatency.logs.parsers.common import end_run, unfinished_line, utc
from azlatency.logs.record import Recorder, Run
from azlatency.logs.units import Quantity, count, nanoseconds, quantity

if TYPE_CHECKING:
    import numpy as np

_HOST = r"(?P<host>[^\s\[\]]{1,255}(?: \([0-9A-Fa-f.:]{2,45}\))?)"
# Three significant digits, as the tool spells them; a token that was cut has another form.
_TIME = r"(?:[01]\.\d{3}|[1-9]\.\d\d|10\.00|[1-9]\d\.\d|100\.0|[1-9]\d{2,6}|\d\.\d{3}e\+\d\d)"
_LISTED = re.compile(rf"-|{_TIME}")
_STAMP = r"(?:\[(?:(?P<stamp>\d{9,12}\.\d{5})|(?P<text_stamp>[^\]]{8,40}))\] )?"
_FROM = r"(?: \[<- [0-9A-Fa-f.:]{2,45}\])?"
_SUMMARY = (
    rf"{_HOST} +: xmt/rcv/%(?P<label>loss|return) = "
    r"(?P<sent>\d{1,10})/(?P<received>\d{1,10})/(?P<percent>\d{1,6})%"
    rf"(?:, outage\(ms\) = (?P<outage>\d{{1,12}}))?"
    rf"(?:, min/avg/max = (?P<min>{_TIME})/(?P<avg>{_TIME})/(?P<max>{_TIME}))?"
)
_HEADER_BYTES = 8
_DEFAULT_REPLY_BYTES = 64
_DAY = 24 * 3600
_SECOND = nanoseconds("1", "sec")
_CUMULATIVE_GROWTH = 1.5


@dataclass
class _Block:
    """One summary inside a ``-Q`` block."""

    line: int
    clock: int
    sent: int
    received: int
    mean: Quantity | None = None
    low: Quantity | None = None
    high: Quantity | None = None


@dataclass
class _Host:
    """What one host's lines say."""

    run: Run
    seq: list[int] = field(default_factory=list)
    sent: list[int | None] = field(default_factory=list)
    rtt: list[int | None] = field(default_factory=list)
    status: list[str] = field(default_factory=list)
    blocks: list[_Block] = field(default_factory=list)
    running: tuple[Quantity, int] | None = None
    listed: list[str] | None = None
    final: bool = False
    whole: bool = False
    """Nothing of it can be missing: a summary, a list or a single verdict."""
    highest: int = -1
    """Highest number of a probe; a lower one begins another log."""
    errors: int = 0
    duplicates: int = 0
    last_line: int = 0

    def add(self, seq: int, rtt: int | None, status: str, sent: int | None = None) -> None:
        self.seq.append(seq)
        self.rtt.append(rtt)
        self.status.append(status)
        self.sent.append(sent)
        if status != "duplicate":
            self.highest = max(self.highest, seq)

    def extend(self, seq: np.ndarray, rtt: np.ndarray, sent: np.ndarray | None) -> None:
        """Replies of probes with rising numbers."""
        self.seq += seq.tolist()
        self.rtt += rtt.tolist()
        self.status += ["ok"] * len(seq)
        self.sent += [None] * len(seq) if sent is None else sent.tolist()
        self.highest = self.seq[-1]


def _as_spelled(rtt: np.ndarray, width: np.ndarray) -> bool:
    """Whether all times (ns) have the width that three significant digits have: one that was cut has another."""
    milliseconds = rtt / nanoseconds("1", "ms")
    # Rounding takes 0.9996 to 1.000, 9.996 to 10.00 and 99.96 to 100.0; else four characters up to 99.9.
    small = (milliseconds < 2) & (width == 5)
    large = (milliseconds >= 100) & (width >= 3) & (width <= 7)
    between = (milliseconds >= 1) & (milliseconds < 100) & (width == 4)
    rounded = ((milliseconds == 10) | (milliseconds == 100)) & (width == 5)
    return bool((small | between | large | rounded).all())


class _Fping(LineLog):
    def __init__(self, log: Log, recorder: Recorder) -> None:
        self.log, self.recorder = log, recorder
        self.failures: list[tuple[str, int]] = []
        self._open()

    def _open(self) -> None:
        self.hosts: dict[str, _Host] = {}
        self.clock: int | None = None
        self.in_block: set[str] = set()
        self.summaries = False
        self.over = False
        self.echoes: tuple[int, int] | None = None
        self.elapsed: tuple[str, int] | None = None

    def read(self, line: Line, accounting: LineAccounting) -> bool:
        """As in `LineLog`; the list of ``-C`` may be of any length and is told by its tokens."""
        host, colon, values = line.text.strip().partition(" : ")
        tokens = values.split()
        host = host.rstrip()
        if colon and len(host.split()) == 1 and tokens and all(_LISTED.fullmatch(token) for token in tokens):
            accounting.mark(line.number, DATA)
            if not (self._is_cut(line, tokens) and self._unfinished(line)):
                self._list(line, host, tokens)
            return True
        return super().read(line, accounting)

    def _is_cut(self, line: Line, tokens: list[str]) -> bool:
        """Whether no other list or option proves the length of this one; it matters where the text ends here."""
        lengths = {str(len(host.listed)) for host in self.hosts.values() if host.listed is not None}
        lengths.add(self.log.option("-C", "--vcount") or "")
        return str(len(tokens)) not in lengths or tokens[-1].isdigit()

    def _unfinished(self, line: Line) -> bool:
        """Whether the text ends within this line, whose end may be missing."""
        if line.number != unfinished_line(self.log):
            return False
        text = "the text ends within this line; what stands at its end is left out"
        self.recorder.add_event("unfinished_line", "warning", text, line.number)
        return True

    # --- probes

    @data(
        _STAMP + rf"{_HOST} +: \[(?P<seq>\d{{1,10}})\], (?P<bytes>\d{{1,6}}) bytes, (?P<time>{_TIME}) ms"
        rf" \((?P<mean>{_TIME}) avg, (?P<percent>\d{{1,6}})% (?:loss|return)\){_FROM}",
        hint=" bytes, ",
    )
    def reply(self, line: Line, match: re.Match[str]) -> None:
        seq = int(match["seq"])
        host = self._probe(line, match["host"], seq)
        rtt = nanoseconds(match["time"], "ms")
        sent = None
        if match["stamp"] is not None:
            sent = nanoseconds(match["stamp"], "sec") - rtt
        if int(match["bytes"]) == _DEFAULT_REPLY_BYTES:
            host.run.set(message_bytes=_DEFAULT_REPLY_BYTES - _HEADER_BYTES)
        host.add(seq, rtt, "ok", sent)
        host.running = quantity(match["mean"], "ms"), line.number

    @bulk(reply)
    def replies(self, rows: UniformBlock, match: re.Match[str]) -> bool:
        """Many replies of one host, in order, at once."""
        import numpy as np

        found = rows.columns(match, widths=("time",), stamp=9, seq=0, bytes=0, time=6, mean=6, percent=0)
        present = self.hosts.get(match["host"])
        if found is None or self.summaries or (match["text_stamp"] and len(rows) > 1):
            return False
        seq, rtt = found["seq"], found["time"]
        highest = -1 if present is None else present.highest
        if (np.diff(seq, prepend=highest) <= 0).any() or not _as_spelled(rtt, found["time width"]):
            return False
        host = self._host(rows[0], match["host"])
        host.last_line = rows.last
        if (found["bytes"] == _DEFAULT_REPLY_BYTES).any():
            host.run.set(message_bytes=_DEFAULT_REPLY_BYTES - _HEADER_BYTES)
        sent = found["stamp"] - rtt if "stamp" in found else None
        host.extend(seq, rtt, sent)
        last = rows[len(rows) - 1]
        if (single := match.re.fullmatch(last.text)) is not None:
            host.running = quantity(single["mean"], "ms"), last.number
        return True

    @data(
        _STAMP + rf"{_HOST} +: \[(?P<seq>\d{{1,10}})\], timed out"
        rf" \((?:(?P<mean>{_TIME})|NaN) avg, \d{{1,6}}% (?:loss|return)\)",
        hint="timed out",
    )
    def timed_out(self, line: Line, match: re.Match[str]) -> None:
        seq = int(match["seq"])
        self._probe(line, match["host"], seq).add(seq, None, "lost")

    @data(
        rf"{_HOST} +: duplicate for \[(?P<seq>\d{{1,10}})\], \d{{1,6}} bytes, (?P<time>{_TIME}) ms{_FROM}",
        hint="duplicate for",
    )
    def duplicate(self, line: Line, match: re.Match[str]) -> None:
        host = self._host(line, match["host"])
        host.duplicates += 1
        host.add(int(match["seq"]), nanoseconds(match["time"], "ms"), "duplicate")

    @data(
        rf"ICMP .{{1,80}}? from \S{{1,60}} for ICMP Echo sent to {_HOST}",
        hint="for ICMP Echo sent to",
    )
    def icmp_error(self, line: Line, match: re.Match[str]) -> None:
        if not self._unfinished(line):
            self._host(line, match["host"]).errors += 1

    @data(rf"{_HOST} is alive(?: \((?P<time>{_TIME}) ms\))?{_FROM}", hint=" is alive")
    def alive(self, line: Line, match: re.Match[str]) -> None:
        host = self._host(line, match["host"], fresh=True)
        host.whole = True
        if match["time"] is not None:
            host.add(0, nanoseconds(match["time"], "ms"), "ok")

    @data(rf"{_HOST} is unreachable", hint=" is unreachable")
    def unreachable(self, line: Line, match: re.Match[str]) -> None:
        host = self._host(line, match["host"], fresh=True)
        host.whole = True
        host.run.set(status="no_data")
        host.run.add_event("no_data", "warning", f"{match['host']} gave no answer", line.number)

    # --- summaries

    @data(r"\[(\d\d):(\d\d):(\d\d)\]", hint=":")
    def clock_time(self, line: Line, match: re.Match[str]) -> None:
        if self.summaries or self.over:
            self._close(line.number - 1)
        hours, minutes, seconds = (int(group) for group in match.groups())
        self.clock = 3600 * hours + 60 * minutes + seconds
        self.in_block = set()

    @data(_SUMMARY, hint="xmt/rcv/%")
    def summary(self, line: Line, match: re.Match[str]) -> None:
        name = match["host"]
        if self.clock is not None and name not in self.in_block and not self.summaries:
            self.in_block.add(name)
            host = self._host(line, name)
            times = [None if match[key] is None else quantity(match[key], "ms") for key in ("avg", "min", "max")]
            host.blocks.append(
                _Block(
                    line.number, self.clock, int(match["sent"]), int(match["received"]), times[0], times[1], times[2]
                )
            )
            return
        host = self._final(line, name)
        self._counts(host, line, match)
        cut = (match["max"] or "").isdigit() and self._unfinished(line)
        for key, metric in (("min", "rtt_min"), ("avg", "rtt_mean"), ("max", "rtt_max")):
            if match[key] is not None and not (cut and key == "max"):
                host.run.add_metric(metric, quantity(match[key], "ms"), line.number)
        if match["outage"] is not None and (match["max"] is not None or not self._unfinished(line)):
            outage = Quantity(float(nanoseconds(match["outage"], "ms")), "ns", match["outage"], None, "ms")
            host.run.add_metric("outage", outage, line.number)
        _check_order(host.run, line.number)

    def _list(self, line: Line, name: str, tokens: list[str]) -> None:
        """The line of ``-C``: each probe's round trip, in order."""
        host = self._final(line, name)
        host.listed = tokens
        received = sum(token != "-" for token in tokens)
        _store_counts(host.run, len(tokens), received, line.number)
        values = [None if token == "-" else nanoseconds(token, "ms") for token in tokens]
        probes = {
            seq: rtt for seq, rtt, status in zip(host.seq, host.rtt, host.status, strict=True) if status != "duplicate"
        }
        if not probes:
            for seq, rtt in enumerate(values):
                host.add(seq, rtt, "ok" if rtt is not None else "lost")
            return
        differing = [seq for seq, rtt in probes.items() if seq >= len(values) or values[seq] != rtt]
        if differing:
            text = f"probe {differing[0]} of {name} differs between its own line and this list; the log is edited"
            host.run.add_event("value_conflict", "error", text, line.number)

    # --- statistics of all hosts

    @data(r"(\d{1,10}) (ICMP Echos sent|ICMP Echo Replies received)", hint=" ICMP Echo")
    def echo_totals(self, line: Line, match: re.Match[str]) -> None:
        sent, received = self.echoes or (0, 0)
        if match[2].endswith("sent"):
            self.echoes = int(match[1]), received
        else:
            self.echoes = sent, int(match[1])

    @data(r"(\d{1,12}\.\d{3}) sec \(elapsed real time\)", hint="elapsed real time")
    def elapsed_time(self, line: Line, match: re.Match[str]) -> None:
        self.elapsed = match[1], line.number
        self.over = True

    @data(r"(\S{0,40}fping: .{1,300})", hint="fping: ")
    @data(
        r"(\S{1,255}: (?:Name or service not known|Temporary failure in name resolution|No address .{1,80}))", hint=": "
    )
    @data(r"(\S{1,255} address not found)", hint="address not found")
    def failure(self, line: Line, match: re.Match[str]) -> None:
        self.failures.append((match[1], line.number))

    known = known(
        ("targets", r"\d{1,9} targets"),
        ("", r"\d{1,9} (?:alive|unreachable|unknown addresses|other ICMP received)"),
        ("timeouts", r"\d{1,9} timeouts \(waiting for response\)"),
        ("round trip time)", rf"{_TIME} ms \((?:min|avg|max) round trip time\)"),
        ("hosts reachable", r"(?:Enough|Not enough) hosts reachable \(required: \d+, reachable: \d+\)"),
    )

    # --- hosts

    def _host(self, line: Line, name: str, *, fresh: bool = False) -> _Host:
        """The host of a line; a new session where the old one is over."""
        if self.over or (fresh and name in self.hosts):
            self._close(line.number - 1)
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
            self.hosts[name] = _Host(run)
        host = self.hosts[name]
        host.last_line = line.number
        return host

    def _probe(self, line: Line, name: str, seq: int) -> _Host:
        """As `_host` for a line of one probe: behind summaries, or where numbers begin again, another log begins."""
        present = self.hosts.get(name)
        if self.summaries or (present is not None and seq <= present.highest):
            self._close(line.number - 1)
        return self._host(line, name)

    def _final(self, line: Line, name: str) -> _Host:
        """As `_host` for the one line that ends a host."""
        present = self.hosts.get(name)
        if present is not None and present.final:
            self._close(line.number - 1)
        self.summaries = True
        host = self._host(line, name)
        host.final = host.whole = True
        return host

    def _counts(self, host: _Host, line: Line, match: re.Match[str]) -> None:
        sent, received = int(match["sent"]), int(match["received"])
        run = host.run
        _store_counts(run, sent, received, line.number, match)
        if received > sent:
            return
        if sent and abs(int(match["percent"]) / 100 - (sent - received) / sent) > 1e-9:
            text = f"{match['percent']}% printed, {100 * (sent - received) / sent:.6g}% by the counts"
            edited = int(match["percent"]) != 100 * (sent - received) // sent
            run.add_event("loss_recomputed", "warning" if edited else "info", text, line.number)
        replies = host.status.count("ok")
        if host.seq and replies != received:
            text = f"{replies} replies stand above, the summary counts {received}"
            run.add_event("count_mismatch", "warning", text, line.number)

    # --- the end

    def _close(self, last_line: int) -> None:
        """Complete the runs of one session and begin another."""
        for host in self.hosts.values():
            self._finish_host(host)
        if self.echoes and all(host.final for host in self.hosts.values()):
            self._check_totals(last_line)
        self._open()

    def _finish_host(self, host: _Host) -> None:
        run = host.run
        self._describe(run)
        if host.duplicates:
            number = Quantity(float(host.duplicates), "count", None, None)
            run.add_metric("duplicates", number, host.last_line)
        if host.errors:
            run.add_metric("errors", Quantity(float(host.errors), "count", None, None), host.last_line)
            run.add_event(
                "icmp_error", "info", f"{host.errors} answers say that the host is unreachable", host.last_line
            )
        if self.elapsed is not None:
            run.add_metric("elapsed", quantity(self.elapsed[0], "sec"), self.elapsed[1], scope="process")
        self._store_samples(host)
        self._store_blocks(host)
        if run.value("rtt_mean") is None and host.running is not None:
            run.add_metric("rtt_mean", *host.running)
        has_numbers = bool(host.seq or host.blocks or host.final)
        end_run(run, has_numbers=has_numbers, ended=host.whole, last_line=max(host.last_line, run.row["first_line"]))

    def _describe(self, run: Run) -> None:
        row, log = run.row, self.log
        size = log.option("-b", "--size")
        if size and size.isdigit():
            row["message_bytes"] = int(size)

    def _store_samples(self, host: _Host) -> None:
        if not host.seq:
            return
        sent = host.sent
        stamps = [value for value in sent if value is not None]
        if stamps:
            first = min(stamps)
            sent = [None if value is None else value - first for value in sent]
            host.run.set(started_at=utc(first))
        elif (period := self.log.option("-p", "--period")) and re.fullmatch(r"\d{1,6}(?:\.\d{1,3})?", period):
            sent = [seq * nanoseconds(period, "ms") for seq in host.seq]
        host.run.add_samples(seq=host.seq, sent_ns=sent, rtt_ns=host.rtt, status=host.status)

    def _store_blocks(self, host: _Host) -> None:
        """``-Q``: intervals, and totals over them where no summary follows."""
        blocks, run = host.blocks, host.run
        if not blocks:
            return
        if self._cumulative(blocks):
            text = "the blocks count from the beginning of the run (-Q n,cumulative); they are no intervals"
            run.add_event("cumulative_blocks", "info", text, blocks[0].line)
            if not host.final:
                self._totals(run, blocks[-1:])
            return
        step = self._block_seconds(blocks)
        for index, block in enumerate(blocks if step else []):
            run.add_interval(
                side=None,
                stream=None,
                start_ns=index * step * _SECOND,
                end_ns=(index + 1) * step * _SECOND,
                rtt_ns=None if block.mean is None else round(block.mean.value),
                lost=max(block.sent - block.received, 0),
                datagrams=block.sent,
                omitted=False,
                line=block.line,
            )
        if not step:
            text = "one block of -Q, and no option that tells how long it is; its interval is left out"
            run.add_event("interval_unknown", "info", text, blocks[0].line)
        if not host.final:
            run.add_event(
                "summed_from_blocks", "info", "no summary follows; the totals are those of the blocks", blocks[-1].line
            )
            self._totals(run, blocks)

    def _cumulative(self, blocks: list[_Block]) -> bool:
        option = self.log.option("-Q", "--squiet")
        if option is not None:
            return "cumulative" in option
        # The second block of a cumulative run counts about twice as many probes as the first.
        return len(blocks) > 1 and blocks[1].sent >= _CUMULATIVE_GROWTH * blocks[0].sent

    def _block_seconds(self, blocks: list[_Block]) -> int:
        """Seconds of a block: as asked for, or the commonest distance of the clock times; 0 where unknown."""
        option = (self.log.option("-Q", "--squiet") or "").split(",")[0]
        if option.isdigit():
            return int(option)
        steps = [(b.clock - a.clock) % _DAY for a, b in pairwise(blocks)]
        return max(set(steps), key=steps.count) if steps else 0

    def _totals(self, run: Run, blocks: list[_Block]) -> None:
        """Counts and extremes over the blocks; nothing of it is printed as such."""
        line = blocks[-1].line
        sent, received = sum(block.sent for block in blocks), sum(block.received for block in blocks)
        _store_counts(run, sent, received, line)
        lows = [block.low for block in blocks if block.low is not None]
        highs = [block.high for block in blocks if block.high is not None]
        means = [(block.mean, block.received) for block in blocks if block.mean is not None]
        if not means:
            return
        run.add_metric("rtt_min", min(lows, key=lambda each: each.value)._replace(printed=None), line)
        run.add_metric("rtt_max", max(highs, key=lambda each: each.value)._replace(printed=None), line)
        weight = sum(number for _, number in means)
        value = math.fsum(mean.value * number for mean, number in means) / weight
        half = max(mean.resolution or 0.0 for mean, _ in means)
        run.add_metric("rtt_mean", Quantity(value, "ns", None, half), line)

    def _check_totals(self, line: int) -> None:
        """The statistics over all hosts are the sums of theirs."""
        if self.echoes is None:
            return
        sums = tuple(
            int(sum(host.run.value(name) or 0 for host in self.hosts.values())) for name in ("sent", "received")
        )
        duplicates = sum(host.duplicates for host in self.hosts.values())
        if sums[0] != self.echoes[0] or not sums[1] <= self.echoes[1] <= sums[1] + duplicates:
            for host in self.hosts.values():
                text = (
                    f"the hosts count {sums[0]} sent and {sums[1]} received, -s {self.echoes[0]} and {self.echoes[1]}"
                )
                host.run.add_event("count_mismatch", "warning", text, line)
                break

    def finish(self) -> None:
        """The last session, and a log that holds nothing but an error."""
        self._close(self.log.last_line)
        runs = [row for row in self.recorder.rows["runs"] if row["tool"] == "fping"]
        mine = [row for row in runs if row["first_line"] >= self.log.first_line]
        for text, number in self.failures:
            if mine:
                self.recorder.add_event("tool_error", "warning", text, number, mine[-1]["run_id"])
        if self.failures and not mine:
            text, number = self.failures[0]
            run = self.recorder.start_run("fping", self.log.first_line, test="echo", protocol="icmp", status="failed")
            run.set(last_line=self.log.last_line)
            run.add_event("failed", "error", f"fping measured nothing: {text}", number)


def _store_counts(run: Run, sent: int, received: int, line: int, printed: re.Match[str] | None = None) -> None:
    """Counts and loss; the tokens where the log prints them."""
    for name, number in (("sent", sent), ("received", received)):
        value = Quantity(float(number), "count", None, None) if printed is None else count(printed[name])
        run.add_metric(name, value, line)
    if received > sent:
        text = f"{received} received of {sent} sent: duplicates are among them; no loss can be told"
        run.add_event("more_received_than_sent", "warning", text, line)
        return
    run.add_metric("lost", Quantity(float(sent - received), "count", None, None), line)
    if sent:
        token = None if printed is None or printed["label"] != "loss" else printed["percent"]
        run.add_metric("loss", Quantity((sent - received) / sent, "fraction", token, None), line)
    if received:
        run.add_metric("observations", Quantity(float(received), "count", None, None), line)


def _check_order(run: Run, line: int) -> None:
    low, mean, high = (run.value(name) for name in ("rtt_min", "rtt_mean", "rtt_max"))
    if low is not None and mean is not None and high is not None and not low <= mean <= high:
        run.add_event("impossible_order", "error", "min <= avg <= max does not hold; the line is edited", line)


class FpingParser:
    """Reads fping; see the module's docstring."""

    tool = "fping"
    commands = ("fping", "fping6")
    signatures = (
        Signature("xmt/rcv/%", re.compile(_SUMMARY), weak=True),
        Signature(
            " bytes, ",
            re.compile(rf"(?:\[[^\]]{{8,40}}\] )?{_HOST} +: \[\d+\], \d+ bytes, {_TIME} ms .{{1,120}}"),
            weak=True,
        ),
        Signature(
            ", timed out", re.compile(rf"(?:\[[^\]]{{8,40}}\] )?{_HOST} +: \[\d+\], timed out .{{1,60}}"), weak=True
        ),
        Signature("duplicate for [", re.compile(rf"{_HOST} +: duplicate for \[\d+\], \d+ bytes, .{{1,80}}"), weak=True),
        Signature(
            " : ", re.compile(rf"\S{{1,255}} +:(?: (?:{_LISTED.pattern}))(?: (?:{_LISTED.pattern}))+"), weak=True
        ),
        Signature(
            "for ICMP Echo sent to", re.compile(r"ICMP .{1,80} from \S{1,60} for ICMP Echo sent to .{1,300}"), weak=True
        ),
        Signature(" is alive (", re.compile(rf"{_HOST} is alive \({_TIME} ms\){_FROM}"), weak=True),
        Signature("fping: ", re.compile(r"\S{0,40}fping: .{1,300}"), weak=True),
    )

    def parse(self, log: Log, recorder: Recorder) -> None:
        """Read one log; each host is a run."""
        reader = _Fping(log, recorder)
        reader.feed(log.lines, recorder.accounting)
        reader.finish()


PARSER = FpingParser()
