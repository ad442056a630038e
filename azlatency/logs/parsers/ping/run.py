"""One run of ping: its samples, its status, and the comparison of its summary with its replies."""

from __future__ import annotations

import math
import re
from array import array
from functools import partial
from typing import TYPE_CHECKING, overload

from azlatency.logs.grammar.probes import ProbeSamples
from azlatency.logs.grammar.rules import Line
from azlatency.logs.grammar.units import nanoseconds
from azlatency.logs.parsers import Log
from azlatency.logs.parsers.common import contradict, end_run, mark_summary_only, timed_columns
from azlatency.logs.parsers.ping.summary import excess_of_cut_mean, milliseconds, to_point
from azlatency.logs.record import Recorder
from azlatency.logs.source.large import NULL, Column, extremes, frequencies, nullable

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

MILLISECOND = 10**6
#: How long the last reply, and a deadline, may keep ping waiting (ns).
_WAITS = 10**10
#: How much later than its reply a stamp may be printed (ns): 12 ms were seen, on a busy host it may be more.
_PRINTED_LATE = 250 * MILLISECOND
# A smaller payload has no room for the send time, so such replies print no time.
_TIMED_PAYLOAD = 16
_ICMP_HEADER, _IPV4_HEADER = 8, 20
# If more probes than this have no line, they are counted but not stored one by one.
_MOST_FILLED = 10**7
# iputils prints this if the clock was set back while the probe was under way.
VOID_TIME = "0.000"
# iputils s20180629 to s20190709 rounds the fraction to 10 tenths or 100 hundredths and prints them without a carry:
# "31.10" is 32.0 and "4.100" is 5.00 (ping_common.c, ``gather_statistics``). Both have this width and this excess.
CARRY_WIDTH, _UNCARRIED, _CARRY = 5, 100_000, 900_000
_COUNT_FROM_ZERO = ("bsd", "busybox", "inetutils")
# Replies have three significant digits, which old versions cut instead of rounding, and steps of a microsecond.
_REPLY_DIGITS, _REPLY_STEP = 0.0101, 1_001


class PingRun:
    """What the lines of one run have said so far; `finish` completes the run."""

    def __init__(self, log: Log, recorder: Recorder, number: int) -> None:
        self.log = log
        self.run = recorder.start_run(
            "ping", number, test="echo", protocol="icmp", printed_as="round_trip", closed_loop=False
        )
        self.samples = ProbeSamples()
        self.whole_milliseconds = False
        """Windows, and older versions of RouterOS."""
        self.routeros_summary: partial[None] | None = None
        """What records the last summary of RouterOS."""
        self.summary: Line | None = None
        self.has_times = False
        self.first_stamp: int | None = None
        self.reply_bytes: int | None = None
        """Size of the first reply with the header of ICMP, as printed."""
        self.packet_bytes: int | None = None
        """Size of a packet with the headers of ICMP and IP, as the first line prints it."""
        self.last_line = number
        self.failed = False
        self.carried: Column = array("q")
        # The digits of the replies: as iputils prints them, or three decimals at 1 ms and above.
        self.iputils = self.three_decimals = False
        self.old_mdev = False

    def finish(self, last_line: int) -> None:
        """Complete the run: the options of its command, its samples and its status."""
        run = self.run
        if self.routeros_summary is not None:
            self.routeros_summary()
        self._read_options()
        self._restore_carry()
        self._fill_lost()
        self._leave_out_void()
        self._store_samples()
        self._check_time()
        self._check_payload()
        received = run.value("received")
        if received is not None:
            n = int(received + (run.value("duplicates") or 0))
            number = self.summary.number if self.summary else last_line
            if self.has_times:
                run.add_counts(number, observations=n)
            self._check_replies(n, number)
        payload_size = run.row.get("message_bytes")
        payload = payload_size or _TIMED_PAYLOAD
        has_timed_replies = self.samples.rtt.count(NULL) < len(self.samples.rtt)
        untimed = (payload < _TIMED_PAYLOAD and not has_timed_replies) or run.row.get("test") == "timestamp"
        complete = self.summary is not None and (self.has_times or not received or untimed)
        has_numbers = bool(self.samples.seq) or self.summary is not None
        if self.has_times and not has_numbers and payload_size is None:
            mark_summary_only(run)
        end_run(run, has_numbers=has_numbers, ended=complete or self.failed, last_line=self.last_line)

    def _restore_carry(self) -> None:
        """Correct the replies that an iputils without a carry has printed, as far as the log proves such an iputils."""
        samples, run = self.samples, self.run
        dialect = run.row.get("dialect")
        if not self.carried or self.three_decimals or dialect not in (None, "iputils"):
            return
        if (
            dialect is None
            and not self.iputils
            and all(samples.rtt[index] < 10 * MILLISECOND for index in self.carried)
        ):
            return
        largest = run.value("rtt_max")
        if largest is not None and max(samples.rtt[index] for index in self.carried) + _CARRY // 2 > largest:
            return  # the summary knows no such reply: the tool prints three decimals
        for index in self.carried:
            unit = MILLISECOND // (10 if samples.rtt[index] >= 10 * MILLISECOND else 100)
            samples.rtt[index] += _CARRY
            samples.low[index], samples.high[index] = samples.rtt[index] - unit // 2, samples.rtt[index]
            if (sent := samples.sent[index]) not in (NULL, None):
                samples.sent[index] = sent - _CARRY
        text = (
            f"{len(self.carried)} times lack the carry of the rounding (31.10 is 32.0 ms, 4.100 is 5.00 ms); corrected"
        )
        run.add_event("carry_restored", "info", text, run.row["first_line"])

    def _check_replies(self, n: int, number: int) -> None:
        """Compare the summary with the replies: their number, and their statistics if every reply is in the log."""
        samples, run = self.samples, self.run
        replies = samples.count("ok", "duplicate", "void")
        if replies > n:
            text = f"the log has {replies} replies, but the summary counts {n}; it mixes several runs or is edited"
            contradict(run, "count_mismatch", text, number)
            return
        if self.whole_milliseconds and 0 < replies < n:
            text = f"the log has {replies} replies, but the summary counts {n}; lines are missing"
            run.add_event("lines_missing", "info", text, number)
        timed = len(samples.rtt) - samples.rtt.count(NULL)
        shortest, longest = run.value("rtt_min"), run.value("rtt_max")
        if self.whole_milliseconds and timed < replies and shortest is not None and shortest > MILLISECOND:
            self._report_mismatch("min", shortest, replies, MILLISECOND, number)
        if self.whole_milliseconds and not timed and replies == n and longest is not None and longest > MILLISECOND:
            self._report_mismatch("max", longest, replies, MILLISECOND, number)
        if not n or not timed:
            return
        # A lost probe is no part of the summary. A void reply is, but only its maximum is kept.
        whole = (replies if self.whole_milliseconds else timed + samples.count("void")) == n
        for name, extreme, sign in zip(("min", "max"), extremes(samples.rtt), (-1, 1), strict=True):
            printed = run.value(f"rtt_{name}")
            if printed is None or (name == "min" and timed < replies):
                continue  # Windows prints "<1ms"
            beyond = sign * (extreme - printed)
            if (abs(beyond) if whole else beyond) > self._reply_step(extreme):
                self._report_mismatch(name, printed, replies, extreme, number)
        if whole and self.whole_milliseconds:
            self._check_whole_mean(replies, number)
        elif whole and "clock_step" not in run.codes:
            self._check_mean_and_deviation(n, number)

    def _reply_step(self, rtt: int) -> float:
        """Return by how much (ns) the printed time of a reply may differ from the same time in the summary."""
        if self.whole_milliseconds:
            return MILLISECOND - 1  # whole milliseconds in both, but "<1ms" of a reply is 0 ms in the summary
        return _REPLY_STEP if self.three_decimals else _REPLY_DIGITS * rtt + _REPLY_STEP

    def _check_whole_mean(self, n: int, number: int) -> None:
        """Compare the mean of Windows, which is cut to whole milliseconds, with the replies; "<1ms" is 0 or 1 ms."""
        mean, times = self.run.value("rtt_mean"), [rtt for rtt in self.samples.rtt if rtt != NULL]
        least_mean, most_mean = sum(times) / n, (sum(times) + (n - len(times)) * MILLISECOND) / n
        if mean is not None and not least_mean - MILLISECOND <= mean <= most_mean + MILLISECOND:
            self._report_mismatch("avg", mean, n, least_mean, number)

    def _check_time(self) -> None:
        """Compare the printed time, from the first probe to the end, with the send times of the probes (``-D``)."""
        run, samples, duration = self.run, self.samples, self.run.row.get("duration_ns")
        if self.first_stamp is None or duration is None or "clock_step" in run.codes or len(samples) < 2:
            return
        first, last = extremes(samples.sent)
        # After the last reply, ping may wait until the next probe is due.
        most = last - first + 2 * (last - first) / (len(samples) - 1) + _WAITS
        if last - first > duration + _PRINTED_LATE or (samples.count("ok") == len(samples) and duration > most):
            text = f"the log prints time {duration / 1e6:g}ms; the probes were sent within {(last - first) / 1e6:g} ms"
            contradict(run, "summary_mismatch", text, self.summary.number if self.summary else run.row["first_line"])

    def _check_payload(self) -> None:
        """Report a payload that the replies contradict, which have 8 bytes of ICMP more, or the packets, 28 of IPv4."""
        run, size, reply = self.run, self.run.row.get("message_bytes"), self.reply_bytes
        if size is None or reply is None:
            return
        confirmed = self.packet_bytes is not None and reply + _IPV4_HEADER == self.packet_bytes
        # Some hosts cut what they send back.
        if size + _ICMP_HEADER < reply or (confirmed and size + _ICMP_HEADER != reply):
            text = f"replies have {reply} bytes, but the payload is {size}; 8 bytes of ICMP are added to it"
            contradict(run, "value_conflict", text, run.row["first_line"])

    def _check_mean_and_deviation(self, n: int, number: int) -> None:
        """Compare the summary's mean and deviation with the replies, which are rounded or truncated to three digits."""
        run = self.run
        counts = {rtt: count for rtt, count in frequencies(self.samples.rtt).items() if rtt != NULL}
        steps = {rtt: 1000 if self.three_decimals else _printed_step(rtt) for rtt in counts}
        average = sum(rtt * count for rtt, count in counts.items()) / n
        mean, row = run.value("rtt_mean"), run.row_of("rtt_sd")
        if mean is None:
            return
        if abs(mean - average) > sum(steps[rtt] * count for rtt, count in counts.items()) / n + _REPLY_STEP:
            self._report_mismatch("avg", mean, n, average, number)
            return
        if row is None:
            return
        printed = milliseconds(row["printed"]).value
        expected = math.sqrt(math.fsum(count * (rtt - average) ** 2 for rtt, count in counts.items()) / n)
        slack = math.sqrt(sum(count * steps[rtt] ** 2 for rtt, count in counts.items()) / n) + _REPLY_STEP
        most = math.sqrt((expected + slack) ** 2 + excess_of_cut_mean(mean)) + _REPLY_STEP
        if printed < expected - slack or printed > (most if self.old_mdev else expected + slack):
            self._report_mismatch("deviation", printed, n, expected, number)
        elif printed > expected + slack:
            text = (
                f"mdev is {printed / 1e6:g} ms, the replies give {expected / 1e6:.3f}: old iputils truncates the mean"
            )
            run.add_event("mdev_overstated", "info", text, number)
        elif row["resolution"] is not None:
            bound = math.sqrt(n / (n - 1)) * max(printed - expected + slack, expected + slack - printed)
            row["resolution"] = min(row["resolution"], max(bound, milliseconds(row["printed"]).half))

    def _report_mismatch(self, name: str, printed: float, n: int, computed: float, number: int) -> None:
        text = f"the summary prints {name} = {printed / 1e6:g} ms; the {n} replies give {computed / 1e6:.6g} ms"
        contradict(self.run, "summary_mismatch", text, number)

    def _read_options(self) -> None:
        row, log = self.run.row, self.log
        row["client"] = row.get("client") or log.host
        flags = "".join(word[1:] for word in log.arguments if re.fullmatch(r"-[A-Za-z]{1,6}", word))
        if "f" in flags or "A" in flags:
            row["closed_loop"] = True
        if row.get("dialect") == "routeros" and (count := re.search(r" count=(\d{1,9})\b", log.command or "")):
            row["requested_count"] = int(count[1])
        seconds = log.option("-w")
        if seconds and seconds.isdigit() and not self.whole_milliseconds:
            row["requested_duration_ns"] = nanoseconds(seconds, "sec")

    def _fill_lost(self) -> None:
        """Add the probes without a line as lost, where the counts confirm that exactly those got no answer."""
        samples, run = self.samples, self.run
        sent, lost = run.value("sent"), run.value("lost")
        if self.whole_milliseconds or not samples.seq or not sent or lost is None:
            return
        start = 0 if extremes(samples.seq)[0] == 0 or run.row.get("dialect") in _COUNT_FROM_ZERO else 1
        stop = start + int(sent)
        missing = stop - start - samples.count_present(start, stop)
        if not missing:
            return
        unlisted = int(lost) - samples.count("lost", "unreachable")
        replies = samples.count("ok", "duplicate", "void")
        if missing == unlisted and missing <= _MOST_FILLED:
            samples.add_lost(start, stop)
        elif replies == (run.value("received") or 0) + (run.value("duplicates") or 0) and missing > unlisted:
            text = f"{missing} probes have no line, but all {replies} replies have: one has another number"
            contradict(run, "count_mismatch", text, run.row["first_line"])
        else:
            text = f"{missing} probes have no line, but the counts leave {unlisted} lost; lines are missing"
            run.add_event("lines_missing", "info", text, run.row["first_line"])

    def _leave_out_void(self) -> None:
        """Remove minimum, mean and deviation of a summary that includes replies of 0 ms."""
        run, low = self.run, self.run.row_of("rtt_min")
        void = self.samples.count("void")
        if low is None or (not void and to_point(low["printed"] or "") != VOID_TIME):
            return
        for name in ("rtt_min", "rtt_mean", "rtt_sd"):
            run.remove_metric(name)
        replies = f"{void} replies" if void > 1 else "a reply"
        text = f"the summary includes {replies} of 0 ms from a clock step; minimum, mean and deviation are left out"
        run.add_event("clock_step", "warning", text, low["line"])

    def _store_samples(self) -> None:
        samples, run = self.samples, self.run
        if not samples.seq:
            return
        columns = timed_columns(run, samples, self.log.option("-i", "--interval"), "sec", extremes(samples.seq)[0])
        if self.whole_milliseconds or "carry_restored" in run.codes:
            columns |= {"low_ns": nullable(samples.low), "high_ns": nullable(samples.high)}
        run.add_samples(**columns)


@overload
def may_lack_carry(rtt: int) -> bool: ...
@overload
def may_lack_carry(rtt: NDArray[np.int64]) -> NDArray[np.bool_]: ...
def may_lack_carry(rtt: int | NDArray[np.int64]) -> bool | NDArray[np.bool_]:
    """Return whether a time (ns), or each of several, ends like one that lacks its carry."""
    return (rtt % MILLISECOND == _UNCARRIED) & (rtt >= MILLISECOND) & (rtt < 100 * MILLISECOND)


def _printed_step(rtt: int) -> int:
    """Return the step (ns) in which iputils prints a time: three digits, from 1 us to 1 ms."""
    if rtt < MILLISECOND:
        return 1000
    return 10_000 if rtt < 10 * MILLISECOND else 100_000 if rtt < 100 * MILLISECOND else MILLISECOND
