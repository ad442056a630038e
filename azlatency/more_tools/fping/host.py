"""One host of an fping log: its probes, the blocks of ``-Q``, its counts, and the run that they become."""

from __future__ import annotations

import math
import re
from array import array
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from azlatency.logs.grammar.samples import SampleColumns
from azlatency.logs.grammar.units import Quantity, nanoseconds, quantity
from azlatency.logs.parsers import Log
from azlatency.logs.parsers.common import check_loss, contradict, end_run, record_loss, timed_columns
from azlatency.logs.record import Run
from azlatency.logs.source.large import NULL, frequencies

if TYPE_CHECKING:
    import numpy as np

_DAY = 24 * 3600
_SECOND = nanoseconds("1", "sec")
#: Three significant digits of a time are within this share of it.
_THREE_DIGITS = 0.0101
_CUMULATIVE_GROWTH = 1.5
_FEWEST_BLOCKS = 2
_MILLISECOND = nanoseconds("1", "ms")


def _agree(rtt: int | None, listed: int | None) -> bool:
    """Return whether a reply and the list show one time (ns); from 10 ms on, old replies have fewer digits."""
    if rtt is None or listed is None or listed < 10 * _MILLISECOND:
        return rtt == listed
    return abs(rtt - listed) <= (_MILLISECOND if listed >= 100 * _MILLISECOND else _MILLISECOND // 10) / 2


class Elapsed(NamedTuple):
    """The elapsed time of the process (s) and its line."""

    token: str
    line: int


@dataclass(kw_only=True)
class Block:
    """One summary inside a ``-Q`` block; ``clock`` is the printed time of day in seconds."""

    line: int
    clock: int
    sent: int
    received: int
    mean: Quantity | None
    low: Quantity | None
    high: Quantity | None


@dataclass
class Host:
    """The lines of one host."""

    run: Run
    samples: SampleColumns = field(default_factory=SampleColumns)
    blocks: list[Block] = field(default_factory=list)
    sent_in_blocks: int = 0
    steps: Counter[int] = field(default_factory=Counter)
    """How often the clock times of two blocks are how far apart (s)."""
    running_mean: tuple[Quantity, int] | None = None
    listed: list[str] | None = None
    """The values of the ``-C`` list."""
    final: bool = False
    """The line that ends a host was read."""
    whole: bool = False
    """Nothing can be missing: a summary, a list or a single verdict was read."""
    highest: int = -1
    """Highest number of a probe; a lower one begins another log."""
    errors: int = 0
    duplicates: int = 0
    last_line: int = 0

    def add(self, seq: int, rtt: int | None, status: str, sent: int | None = None) -> None:
        """Add one probe."""
        self.samples.add(seq, rtt, status, sent)
        if status != "duplicate":
            self.highest = max(self.highest, seq)

    def add_block(self, block: Block) -> None:
        """Add one ``-Q`` block."""
        if self.blocks:
            self.steps[(block.clock - self.blocks[-1].clock) % _DAY] += 1
        self.sent_in_blocks += block.sent
        self.blocks.append(block)

    def pop_block(self) -> Block:
        """Remove the last block, which is not the first, and return it."""
        block = self.blocks.pop()
        step = (block.clock - self.blocks[-1].clock) % _DAY
        self.steps -= Counter([step])
        self.sent_in_blocks -= block.sent
        return block

    def extend(self, seq: np.ndarray, rtt: np.ndarray, sent: np.ndarray | None) -> None:
        """Add replies to probes with rising numbers."""
        self.highest = int(seq[-1])
        self.samples.extend(seq, rtt, sent)

    def finish(self, log: Log, elapsed: Elapsed | None) -> None:
        """Write the run: options, counts, samples, intervals and status."""
        run = self.run
        size = log.option("-b", "--size")
        if size and size.isdigit():
            run.set(message_bytes=int(size))
        run.add_counts(self.last_line, duplicates=self.duplicates or None, errors=self.errors or None)
        if self.errors:
            text = f"{self.errors} ICMP errors report that the host is unreachable"
            run.add_event("icmp_error", "info", text, self.last_line)
        if elapsed is not None:
            run.add_metric("elapsed", quantity(elapsed.token, "sec"), elapsed.line, scope="process")
        if self.samples:
            run.add_samples(**timed_columns(run, self.samples, log.option("-p", "--period"), "ms"))
        self._store_blocks(log)
        if run.value("rtt_mean") is None and self.running_mean is not None:
            run.add_metric("rtt_mean", *self.running_mean)
            self._check_running_mean(*self.running_mean)
        has_numbers = bool(self.samples or self.blocks or self.final)
        end_run(run, has_numbers=has_numbers, ended=self.whole, last_line=max(self.last_line, run.row["first_line"]))

    def _check_running_mean(self, printed: Quantity, line: int) -> None:
        """Compare the mean of the last line with the replies, which have three significant digits, if all are there."""
        replies = self.samples.count("ok")
        if not replies or not replies + self.samples.count("lost") == len(self.samples) == self.highest + 1:
            return
        mean = sum(rtt * n for rtt, n in frequencies(self.samples.rtt).items() if rtt != NULL) / replies
        if abs(printed.value - mean) > _THREE_DIGITS * mean + printed.half:
            text = f"the last line prints an average of {printed.printed} ms; the replies give {mean / 1e6:.3g} ms"
            contradict(self.run, "summary_mismatch", text, line)

    def record_summary(self, line: int, match: re.Match[str]) -> None:
        """Record the counts of the summary, and compare them with the percentage and with the replies."""
        sent, received = int(match["sent"]), int(match["received"])
        run = self.run
        record_counts(run, sent, received, line, match)
        if received > sent:
            return
        if sent:
            check_loss(run, match["percent"], sent, received, line, is_cut=True)
        replies = self.samples.count("ok")
        self._check_extremes(line, match, complete=replies == received)
        if self.samples and replies != received:
            text = f"the log has {replies} replies, but the summary counts {received}"
            run.add_event("count_mismatch", "warning", text, line)

    def _check_extremes(self, line: int, match: re.Match[str], *, complete: bool) -> None:
        """Compare the printed extremes with those of the replies, which lie between them; all replies give the same."""
        if match["min"] is None or (extremes := self.samples.extremes()) is None:
            return
        for name, extreme, sign in zip(("min", "max"), extremes, (-1, 1), strict=True):
            printed = nanoseconds(match[name], "ms")
            beyond = sign * (extreme - printed)
            if beyond > 0 or (complete and beyond < 0):
                text = f"the summary prints {name} = {match[name]} ms, but the replies give {extreme / 1e6:g} ms"
                contradict(self.run, "summary_mismatch", text, line)

    def record_list(self, line: int, name: str, tokens: list[str]) -> None:
        """Record the list of ``-C``: the round-trip time of each probe, in order."""
        self.listed = tokens
        record_counts(self.run, len(tokens), sum(token != "-" for token in tokens), line)
        values = [None if token == "-" else nanoseconds(token, "ms") for token in tokens]
        rtt_by_seq = {seq: rtt for seq, rtt, status in self.samples.rows() if status != "duplicate"}
        if not rtt_by_seq:
            for seq, rtt in enumerate(values):
                self.add(seq, rtt, "ok" if rtt is not None else "lost")
            return
        differing = [seq for seq, rtt in rtt_by_seq.items() if seq >= len(values) or not _agree(rtt, values[seq])]
        if differing:
            text = f"probe {differing[0]} of {name} differs between its reply and this list; the log is edited"
            self.run.add_event("value_conflict", "error", text, line)

    def record_extreme(self, name: str, token: str, line: int) -> None:
        """Record the least, mean or greatest time of the totals (``-s``), unless the summary printed it."""
        metric = {"min": "rtt_min", "avg": "rtt_mean", "max": "rtt_max"}[name]
        if self.run.value(metric) is None:
            self.run.add_metric(metric, quantity(token, "ms"), line)

    def _store_blocks(self, log: Log) -> None:
        """Store the ``-Q`` blocks as intervals, and their totals if no summary follows."""
        blocks, run = self.blocks, self.run
        if not blocks:
            return
        if _are_cumulative(blocks, log):
            text = "the blocks count from the start of the run (-Q n,cumulative); they are not intervals"
            run.add_event("cumulative_blocks", "info", text, blocks[0].line)
            if not self.final:
                _record_totals(run, blocks[-1])
            return
        sent = self.sent_in_blocks
        if not self.final and len(blocks) > _FEWEST_BLOCKS and 2 * blocks[-1].sent >= sent:
            text = "the last summary counts as many probes as all blocks above: it is the total, not a block"
            run.add_event("total_without_block", "info", text, blocks[-1].line)
            _record_totals(run, self.pop_block())
            self.final = self.whole = True
        elif self.final and (run.value("sent") or 0) < sent:
            text = "the summary counts fewer probes than its blocks; a line with the time of a block is missing"
            contradict(run, "count_mismatch", text, self.last_line)
        step = _block_seconds(self.steps, log)
        if max(self.steps, default=0) > _DAY // 2:
            text = "the times of day above the blocks go back: the lines are not in order, or of several logs"
            contradict(run, "clock_step", text, self.last_line)
            step = 0
        totals = _Totals()
        for index, block in enumerate(blocks):
            totals.add(block)
            if not step:
                continue
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
            text = "a single -Q block, and no option gives its length; its interval is left out"
            run.add_event("interval_unknown", "info", text, blocks[0].line)
        if not self.final:
            text = "the log has no summary; the totals are summed over the blocks"
            run.add_event("summed_from_blocks", "info", text, blocks[-1].line)
            totals.record(run)


def _are_cumulative(blocks: Sequence[Block], log: Log) -> bool:
    """Whether each block counts from the start; without the option, the second one then counts twice the probes."""
    option = log.option("-Q", "--squiet")
    if option is not None:
        return "cumulative" in option
    return len(blocks) > 1 and blocks[1].sent >= _CUMULATIVE_GROWTH * blocks[0].sent


def _block_seconds(steps: Counter[int], log: Log) -> int:
    """Return the length of a block: the option, or the most frequent distance of the clock times; 0 if unknown."""
    option = (log.option("-Q", "--squiet") or "").split(",")[0]
    if option.isdigit():
        return int(option)
    return max(set(steps), key=steps.__getitem__) if steps else 0


class _Totals:
    """Counts, extremes and mean over blocks; the log prints only the extremes, in their blocks."""

    def __init__(self) -> None:
        self.sent = self.received = self.weight = self.line = 0
        self.half, self.sums = 0.0, array("d")
        self.low: tuple[Quantity, int] | None = None
        self.high: tuple[Quantity, int] | None = None

    def add(self, block: Block) -> None:
        """Add one block."""
        self.sent, self.received, self.line = self.sent + block.sent, self.received + block.received, block.line
        if block.mean is None or block.low is None or block.high is None:
            return
        if self.low is None or block.low.value < self.low[0].value:
            self.low = block.low, block.line
        if self.high is None or block.high.value > self.high[0].value:
            self.high = block.high, block.line
        self.sums.append(block.mean.value * block.received)
        self.weight, self.half = self.weight + block.received, max(self.half, block.mean.half)

    def record(self, run: Run) -> None:
        """Record the totals."""
        record_counts(run, self.sent, self.received, self.line)
        if self.low is None or self.high is None:
            return
        run.add_metric("rtt_min", *self.low)
        run.add_metric("rtt_max", *self.high)
        run.add_metric("rtt_mean", Quantity(math.fsum(self.sums) / self.weight, "ns", None, self.half), self.line)


def _record_totals(run: Run, block: Block) -> None:
    totals = _Totals()
    totals.add(block)
    totals.record(run)


def record_counts(run: Run, sent: int, received: int, line: int, printed: re.Match[str] | None = None) -> None:
    """Record counts and loss; ``printed`` is the match of the summary if the log prints them."""
    tokens = {"sent": sent, "received": received} if printed is None else printed.groupdict()
    run.add_counts(line, sent=tokens["sent"], received=tokens["received"])
    percent = None if printed is None or printed["label"] != "loss" else printed["percent"]
    if record_loss(run, sent, received, line, percent=percent) and received:
        run.add_counts(line, observations=received)
