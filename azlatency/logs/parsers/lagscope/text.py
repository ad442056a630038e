"""The log of the sender: statistics, percentiles, histogram and replies."""

from __future__ import annotations

import re
from bisect import bisect_right

from azlatency.logs.grammar.rules import Line, data, known
from azlatency.logs.grammar.samples import SampleColumns
from azlatency.logs.grammar.units import Quantity, nanoseconds, quantity
from azlatency.logs.parsers import Log
from azlatency.logs.parsers.common import LogReader, check_samples, complete_quantile, end_run
from azlatency.logs.record import Recorder
from azlatency.logs.source.large import linear

# The clock is microseconds since 1970 in a double: steps of 0.25 us at each end of a round trip (lin_utils.c).
_LATTICE_NS = 250
# Replies and statistics are printed in ns.
_PRINTED_STEP_NS = 1
_CLOCK = re.compile(r"(\d\d):(\d\d):(\d\d) ")
LABEL = r"\d\d:\d\d:\d\d (?:INFO|DBG ): ?"
_US = r"(\d{1,12}\.\d{3})us"
_SECOND, MICROSECOND = nanoseconds("1", "sec"), nanoseconds("1", "us")
_DAY = 24 * 3600
_SECOND_LAST_PERCENTILE = 0.99991
_DEFAULT_BYTES = 4
RUN = {"protocol": "tcp", "printed_as": "round_trip", "closed_loop": True, "test": "ping-pong", "connections": 1}


def _whole_microseconds(token: str) -> Quantity:
    """Read a time truncated to whole microseconds: the printed value, with a resolution of 1 µs."""
    return Quantity(float(nanoseconds(token, "us")), "ns", token, float(MICROSECOND), "us")


def _time_of_day(line: Line) -> int | None:
    """Return the seconds since midnight in the label of a line, or None if it has no label."""
    clock = _CLOCK.match(line.text.lstrip())
    return 3600 * int(clock[1]) + 60 * int(clock[2]) + int(clock[3]) if clock else None


class LagscopeText(LogReader):
    """Reads one log of a sender."""

    prefix = re.compile(LABEL)

    def __init__(self, log: Log, recorder: Recorder) -> None:
        super().__init__(log, recorder)
        self.run = recorder.start_run("lagscope", log.first_line, **RUN)
        self.began: int | None = None
        self.completed: int | None = None
        self.ended = self.cut = False
        self.errors: list[tuple[str, int]] = []
        self.replies = SampleColumns()
        self.percentiles: list[tuple[float, Quantity, int]] = []
        self.table: str | None = None
        self.rows: list[tuple[int, int, int] | None] = []
        """Lower edge, count and line of each histogram row; None stands for rows that somebody removed."""
        self.extremes_line = 0

    # --- what was run

    @data(r"New connection: local:\d{1,5} \[socket:\d{1,5}\] --> (\S{1,100}):(\d{1,5})", hint="New connection:")
    def connection(self, line: Line, match: re.Match[str]) -> None:
        self.began = _time_of_day(line)
        self.run.set(server=match[1])

    @data(r"lagscope (?P<tool_version>\d{1,3}(?:\.\d{1,3}){1,3})", hint="lagscope ")
    @data(r"server address:\s{1,20}(?P<server>\S{1,100})", hint="server address:")
    @data(r"message size \(bytes\):\s{1,20}(?P<message_bytes>\d{1,9})", hint="message size")
    @data(r"test duration \(sec\):\s{1,20}(?P<requested_duration_ns>\d{1,9})", hint="test duration")
    def setting(self, line: Line, match: re.Match[str]) -> None:
        """Read the column of the run that the pattern names."""
        for column, token in match.groupdict().items():
            is_time = column == "requested_duration_ns"
            value = nanoseconds(token, "sec") if is_time else int(token) if column == "message_bytes" else token
            self.run.set(**{column: value})

    # --- how it went

    @data(rf"Reply from (\S{{1,100}}): bytes=(\d{{1,9}}) time={_US}", hint="Reply from")
    def reply(self, line: Line, match: re.Match[str]) -> None:
        self.run.set(message_bytes=int(match[2]))
        self.replies.add(len(self.replies), nanoseconds(match[3], "us"))

    @data(r"Interrupted by Ctrl\+C", hint="Interrupted by")
    def interrupted(self, line: Line, match: re.Match[str]) -> None:
        text = "ended by Ctrl-C; the statistics cover the time until then"
        self.run.end_as("interrupted", "warning", text, line.number)

    @data(r"TEST COMPLETED\.", hint="TEST COMPLETED")
    def test_completed(self, line: Line, match: re.Match[str]) -> None:
        self.completed = _time_of_day(line)

    @data(r"Ping statistics for (\S{1,100}):", hint="Ping statistics for")
    def statistics(self, line: Line, match: re.Match[str]) -> None:
        if self.run.row.get("server") is None:
            self.run.set(server=match[1])

    @data(r"Number of successful Pings: (\d{1,15})", hint="successful Pings")
    def pings(self, line: Line, match: re.Match[str]) -> None:
        if self.is_cut(line):
            return
        self.run.add_counts(line.number, received=match[1], observations=match[1])
        if not int(match[1]):
            self.ended = True
            if not self.errors:
                self.run.end_as("no_data", "warning", "no ping was answered", line.number)

    @data(rf"Minimum = {_US}, Maximum = {_US}, Average = {_US}", hint="Minimum = ")
    def extremes(self, line: Line, match: re.Match[str]) -> None:
        for name, token in zip(("rtt_min", "rtt_max", "rtt_mean"), match.groups(), strict=True):
            printed = quantity(token, "us")
            # The mean of many times is more precise than the clock.
            single = name != "rtt_mean"
            self.run.add_metric(name, printed.with_resolution(float(_LATTICE_NS)) if single else printed, line.number)
        self.ended = True
        self.extremes_line = line.number

    # --- tables

    @data(r"Percentile\s{1,20}Latency\(us\)", hint="Percentile")
    @data(r"Interval\(usec\)\s{1,20}Frequency", hint="Interval(usec)")
    def table_header(self, line: Line, match: re.Match[str]) -> None:
        self.table = match[0][:8]

    @data(r"(\d{2}(?:\.\d{1,3})?)%\s{1,20}(\d{1,12})", hint="%", shape=r"(?:.*:)?\s*%")
    def percentile(self, line: Line, match: re.Match[str]) -> None:
        if self.is_cut(line):
            return
        q = quantity(match[1], "%").value
        self.percentiles.append((q, _whole_microseconds(match[2]), line.number))

    @data(r"(\d{1,9})\s{1,20}(\d{1,15})", hint="", shape=r"(?:.*:)?\s*")
    def bucket(self, line: Line, match: re.Match[str]) -> None:
        if self.is_cut(line):
            return
        if self.table == "Interval":
            self.rows.append((int(match[1]), int(match[2]), line.number))
        else:
            text = "the histogram row has no header; it is left out"
            self.run.add_event("histogram_without_header", "warning", text, line.number)

    @data(r"Dumping .{1,300}", hint="Dumping ")
    @data(r"Percentile", hint="Percentile")
    @data(r"Interval\(usec\)", hint="Interval(usec)")
    def beginning(self, line: Line, match: re.Match[str]) -> None:
        """Read a line that may lack its end: the name of a file, or the first of two column titles."""
        self.cut = line.number == self.unfinished

    @data(r"\.\.\.", hint="...", shape=r"(?:.*:)?")
    def removed_rows(self, line: Line, match: re.Match[str]) -> None:
        self.rows.append(None)

    @data(r"\d\d:\d\d:\d\d ERR : ?(.{1,300})", hint="ERR : ")
    def failure(self, line: Line, match: re.Match[str]) -> None:
        self.errors.append((match[1], line.number))

    known = known(
        ("-----", r"-{20,80}"),
        ("***", r"\*\*\* (?:sender role|receiver role|run as daemon)"),
        ("Ignored", r"failed to bind socket.{1,200}Ignored"),
        ("invalid ", r"invalid .{1,80}; ?use default value\.?"),
        ("% completed", r"\S{1,100}: \d{1,3}% completed\."),
        (":", r"(?:cpu affinity|domain|protocol|(?:server|client) port|test mode):\s{1,20}.{1,80}"),
        (":", r"(?:test iteration|verbose mode):\s{1,20}\w{1,20}"),
        (":", r"(?:sender|receiver) socket buffer \(bytes\):\s{1,20}\d{1,12}"),
        (":", r"test interval \(sec\):\s{1,20}\d{1,9}"),
        (
            "histogram ",
            r"histogram (?:report|1st interval start at|length of intervals|count of intervals):\s{1,20}\w{1,20}",
        ),
    )

    # --- the end

    def finish(self) -> None:
        """Complete the run: options, percentiles, histogram, samples, checks and status."""
        run, log = self.run, self.log
        self._read_options()
        self._store_percentiles()
        self._store_histogram()
        self._store_replies()
        self._check_duration()
        last = self.percentiles[-1][0] if self.percentiles else 1.0
        is_empty_table = self.table is not None and not (self.percentiles or self.rows)
        ended = self.ended and last > _SECOND_LAST_PERCENTILE and not is_empty_table and not self.cut
        if self.percentiles or self.rows:
            text = "percentiles and histogram are truncated to whole microseconds; a value may be up to 1 us higher"
            run.add_event("floored", "info", text, run.row["first_line"])
        has_numbers = bool(run.value("rtt_mean") or self.replies or self.percentiles or self.rows)
        for text, number in self.errors:
            if has_numbers or run.value("rtt_mean"):
                run.add_event("tool_error", "warning", text, number)
            else:
                run.end_as("failed", "error", f"lagscope measured nothing: {text}", number)
        end_run(run, has_numbers=has_numbers, ended=ended, last_line=log.last_line)

    def _read_options(self) -> None:
        row, log = self.run.row, self.log
        row["client"] = row.get("client") or log.host
        if row.get("message_bytes") is None and log.arguments:
            size = log.option("-z") or str(_DEFAULT_BYTES)
            row["message_bytes"] = int(size) if size.isdigit() else None  # "-z $size"
        if row.get("requested_duration_ns") is None:
            row["requested_duration_ns"] = log.seconds("-t")

    def _store_percentiles(self) -> None:
        """Store the printed percentiles, except those that break the order."""
        run, observations = self.run, self.run.value("observations")
        low, high = run.value("rtt_min"), run.value("rtt_max")
        kept = _longest_rising([value.value for _, value, _ in self.percentiles])
        for index, (q, value, number) in enumerate(self.percentiles):
            outside = (low is not None and value.value <= low - MICROSECOND) or (
                high is not None and value.value > high
            )
            if index not in kept or outside:
                text = f"p{100 * q:g} = {value.printed} us breaks the order (a bug of lagscope); it is left out"
                run.add_event("not_monotone", "warning", text, number)
                continue
            row = run.add_quantile(q, value, number)
            if observations and row is not None:
                n = int(observations)
                # The tool computes the rank in binary floating point.
                rank = int((float(f"{100 * q:.6g}") * (n + 1)) / 100 - 1) + 1
                complete_quantile(row, n, rank)
                if not row["resolved"]:
                    text = f"p{100 * q:g} of {n} pings is the sample maximum"
                    run.add_event("percentile_is_max", "info", text, number)

    def _store_histogram(self) -> None:
        """Store the buckets; the last one, and one before removed rows, has no upper bound."""
        run = self.run
        present = [row for row in self.rows if row is not None]
        # The first bucket has its own width, from 0 to the first edge; all others have the same.
        pairs = zip(self.rows[1:], self.rows[2:], strict=False)
        width = min((following[0] - row[0] for row, following in pairs if row and following), default=None)
        for index, row in enumerate(self.rows):
            if row is None:
                continue
            low, number, line = row
            following = self.rows[index + 1] if index + 1 < len(self.rows) else None
            high = following[0] if following else None
            if high is None and index and index + 1 < len(self.rows) and width:
                high = low + width
            bounds = {"low_ns": low * MICROSECOND, "high_ns": None if high is None else high * MICROSECOND}
            run.add_bucket(metric="rtt", stream=None, count=number, line=line, **bounds)
        total, observations = sum(row[1] for row in present), run.value("observations")
        if present and (None in self.rows or (observations is not None and total != observations)):
            text = f"the histogram adds up to {total} of {observations or 0:.0f} pings; rows are missing"
            run.add_event("count_mismatch", "warning", text, present[0][2])

    def _store_replies(self) -> None:
        if not self.replies:
            return
        run, number = self.run, len(self.replies)
        low, high = (linear(self.replies.rtt, sign * _LATTICE_NS, 1) for sign in (1, -1))
        run.add_samples(**self.replies.columns(), low_ns=low, high_ns=high)
        text = "the first reply includes the warm-up of the connection; the tool counts it"
        run.add_event("first_ping_is_warmup", "info", text, run.row["first_line"])
        observations = run.value("observations")
        if observations is not None and number != observations:
            text = f"the log has {number} replies, but the statistics count {observations:.0f}"
            run.add_event("count_mismatch", "warning", text, self.extremes_line or run.row["first_line"])
        elif observations is not None:
            half = _PRINTED_STEP_NS / 2
            check_samples(run, self.replies.rtt, half, half_width_ns=half, code="value_conflict")

    def _check_duration(self) -> None:
        run = self.run
        mean = run.value("rtt_mean")
        if self.began is None or self.completed is None:
            return
        seconds = (self.completed - self.began) % _DAY
        elapsed = Quantity(float(seconds * _SECOND), "ns", None, float(_SECOND))
        run.add_metric("elapsed", elapsed, self.extremes_line or run.row["first_line"])
        observations = run.value("observations")
        if mean is not None and observations and observations * mean > elapsed.value + _SECOND:
            needed = observations * mean / _SECOND
            pings = f"{observations:.0f} pings of {mean / MICROSECOND:g} us"
            text = f"{pings} take {needed:.0f} s, but the test lasted {seconds} s; the log is edited"
            run.add_event("impossible_duration", "error", text, self.extremes_line)


def _longest_rising(values: list[float]) -> set[int]:
    """Return the indexes of a longest non-decreasing subsequence."""
    tails: list[float] = []
    lengths = []
    for value in values:
        position = bisect_right(tails, value)
        tails[position : position + 1] = [value]
        lengths.append(position + 1)
    kept: set[int] = set()
    length, bound = len(tails), float("inf")
    for index in range(len(values) - 1, -1, -1):
        if lengths[index] == length and values[index] <= bound:
            kept.add(index)
            length, bound = length - 1, values[index]
    return kept
