"""lagscope 0.1.1 to 1.0.1: statistics, percentiles and histogram of the sender, and the files of ``-R`` and ``-P``.

::

    lagscope 1.0.1
    ---------------------------------------------------------
    02:24:19 INFO: New connection: local:38622 [socket:3] --> 10.2.2.4:6001
    10.2.2.4: 99% completed.                                  (carriage returns only)
    02:24:22 DBG : Reply from 10.2.2.4: bytes=4 time=860.750us                    (-V)
    02:24:20 INFO: TEST COMPLETED.
    02:24:20 INFO: Ping statistics for 10.2.2.4:
    02:24:20 INFO:    Number of successful Pings: 5000
    02:24:20 INFO:    Minimum = 188.000us, Maximum = 5066.500us, Average = 247.632us

    Percentile   Latency(us)                                                      (-P)
         50%     231
    Interval(usec)   Frequency                                                    (-H)
          0          0
    Index, Latency(us)                                                            (-R file.csv)
    0, 239
    {"latencies":[ {"latency": 188, "frequency": 2}, ... ]}                       (-P file.json)

The formats are those of main.c and latencies_stats.c. Every time is a **round-trip time** over one TCP connection in a
closed loop. The first one includes the warm-up of the connection and is counted by the tool.

*Resolution.* Percentiles, histogram, CSV and JSON contain times **truncated** to whole microseconds: a printed 17 is
between 17 and 18 µs, so a median may be below the minimum. Values are stored as printed with a resolution of 1 µs;
samples have both bounds. Single times are multiples of 0.25 µs, the step of the clock, despite their three decimals.

*Percentiles.* A percentile is the order statistic floor(p (n+1) / 100). Due to a bug of the tool single percentiles are
far too low: those that break the order of the table are left out. The last row of the histogram has no upper bound.

*Not used.* The exit status is the number of pings modulo 256, and 0 for a refused connection, so it says nothing. Times
of day have no date and whole seconds, so the duration is known to a second. A histogram without a line of lagscope
above it is not recognised, because latte prints the same titles.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from typing import Annotated, Any, ClassVar, NamedTuple

from msgspec import Meta, Struct

from azlatency.logs.grammar import BLANK, DATA, Line, LineLog, bulk, data, known
from azlatency.logs.json_lines import JsonLineMap
from azlatency.logs.large import linear
from azlatency.logs.lines import UniformBlock, find_line
from azlatency.logs.parsers import Log, Parser, Signature
from azlatency.logs.parsers.common import complete_quantile, end_run, unfinished_line
from azlatency.logs.record import Recorder
from azlatency.logs.samples import SampleColumns
from azlatency.logs.units import Quantity, count, nanoseconds, quantity

# The clock is microseconds since 1970 in a double: steps of 0.25 us at each end of a round trip (lin_utils.c).
_LATTICE_NS = 250
_CLOCK = re.compile(r"(\d\d):(\d\d):(\d\d) ")
_LABEL = r"\d\d:\d\d:\d\d (?:INFO|DBG ): ?"
_US = r"(\d{1,12}\.\d{3})us"
_SECOND, _MICROSECOND = nanoseconds("1", "sec"), nanoseconds("1", "us")
_DAY = 24 * 3600
_SECOND_LAST_PERCENTILE = 0.99991
_DEFAULT_BYTES = 4
_CSV_HEADER = "Index, Latency(us)"
_PAIR = re.compile(r'\{\s{0,40}"latency": (\d{1,12}),\s{0,40}"frequency": (\d{1,12})\s{0,40}\}')
_BLANK_LINE = re.compile(r"\n[^\S\n]*\n")
_RUN = {"protocol": "tcp", "printed_as": "round_trip", "closed_loop": True, "test": "ping-pong", "connections": 1}


def _whole_microseconds(token: str) -> Quantity:
    """Read a time truncated to whole microseconds: the printed value, with a resolution of 1 µs."""
    return Quantity(float(nanoseconds(token, "us")), "ns", token, float(_MICROSECOND), "us")


def _time_of_day(line: Line) -> int | None:
    """Return the seconds since midnight in the label of a line, or None if it has no label."""
    clock = _CLOCK.match(line.text.lstrip())
    return 3600 * int(clock[1]) + 60 * int(clock[2]) + int(clock[3]) if clock else None


class _Lagscope(LineLog):
    prefix = re.compile(_LABEL)

    def __init__(self, log: Log, recorder: Recorder) -> None:
        self.log = log
        self.unfinished = unfinished_line(log)
        self.run = recorder.start_run("lagscope", log.first_line, **_RUN)
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
        self.run.set(status="interrupted")
        text = "ended by Ctrl-C; the statistics cover the time until then"
        self.run.add_event("interrupted", "warning", text, line.number)

    @data(r"TEST COMPLETED\.", hint="TEST COMPLETED")
    def test_completed(self, line: Line, match: re.Match[str]) -> None:
        self.completed = _time_of_day(line)

    @data(r"Ping statistics for (\S{1,100}):", hint="Ping statistics for")
    def statistics(self, line: Line, match: re.Match[str]) -> None:
        if self.run.row.get("server") is None:
            self.run.set(server=match[1])

    @data(r"Number of successful Pings: (\d{1,15})", hint="successful Pings")
    def pings(self, line: Line, match: re.Match[str]) -> None:
        if self._is_cut(line):
            return
        for name in ("received", "observations"):
            self.run.add_metric(name, count(match[1]), line.number)
        if not int(match[1]):
            self.ended = True
            if not self.errors:
                self.run.set(status="no_data")
                self.run.add_event("no_data", "warning", "no ping was answered", line.number)

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

    @data(r"(\d{2}(?:\.\d{1,3})?)%\s{1,20}(\d{1,12})", hint="%")
    def percentile(self, line: Line, match: re.Match[str]) -> None:
        if self._is_cut(line):
            return
        q = quantity(match[1], "%").value
        self.percentiles.append((q, _whole_microseconds(match[2]), line.number))

    @data(r"(\d{1,9})\s{1,20}(\d{1,15})", hint="")
    def bucket(self, line: Line, match: re.Match[str]) -> None:
        if self._is_cut(line):
            return
        if self.table == "Interval":
            self.rows.append((int(match[1]), int(match[2]), line.number))
        else:
            text = "the histogram row has no header; it is left out"
            self.run.add_event("histogram_without_header", "warning", text, line.number)

    @data(r"Dumping .{1,300}", hint="Dumping ")
    def file_name(self, line: Line, match: re.Match[str]) -> None:
        self.cut = line.number == self.unfinished

    @data(r"\.\.\.", hint="...")
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

    def _is_cut(self, line: Line) -> bool:
        """Report that the log ends within this line, which ends with a number."""
        if line.number != self.unfinished:
            return False
        text = "the log ends within this line; its number is left out"
        self.run.add_event("unfinished_line", "warning", text, line.number)
        return True

    # --- the end

    def finish(self) -> None:
        """Complete the run: options, percentiles, histogram, samples, checks and status."""
        run, log = self.run, self.log
        self._read_options()
        self._store_percentiles()
        self._store_histogram()
        self._store_replies()
        self._check_order_and_duration()
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
                run.set(status="failed")
                run.add_event("failed", "error", f"lagscope measured nothing: {text}", number)
        end_run(run, has_numbers=has_numbers, ended=ended, last_line=log.last_line)

    def _read_options(self) -> None:
        row, log = self.run.row, self.log
        row["client"] = row.get("client") or log.host
        if row.get("message_bytes") is None and log.arguments:
            size = log.option("-z")
            row["message_bytes"] = int(size) if size and size.isdigit() else _DEFAULT_BYTES
        if row.get("requested_duration_ns") is None:
            row["requested_duration_ns"] = log.seconds("-t")

    def _store_percentiles(self) -> None:
        """Store the printed percentiles, except those that break the order."""
        run, observations = self.run, self.run.value("observations")
        low, high = run.value("rtt_min"), run.value("rtt_max")
        kept = _longest_rising([value.value for _, value, _ in self.percentiles])
        for index, (q, value, number) in enumerate(self.percentiles):
            outside = (low is not None and value.value <= low - _MICROSECOND) or (
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
            bounds = {"low_ns": low * _MICROSECOND, "high_ns": None if high is None else high * _MICROSECOND}
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
        elif (least := run.value("rtt_min")) is not None and (least,) != (self.replies.extremes() or ())[:1]:
            text = "the printed minimum is not that of the replies"
            run.add_event("value_conflict", "error", text, self.extremes_line)

    def _check_order_and_duration(self) -> None:
        run = self.run
        low, mean, high = (run.value(name) for name in ("rtt_min", "rtt_mean", "rtt_max"))
        if low is not None and mean is not None and high is not None and not low <= mean <= high:
            text = "min <= avg <= max does not hold; the line is edited"
            run.add_event("impossible_order", "error", text, self.extremes_line)
        if self.began is None or self.completed is None:
            return
        seconds = (self.completed - self.began) % _DAY
        elapsed = Quantity(float(seconds * _SECOND), "ns", None, float(_SECOND))
        run.add_metric("elapsed", elapsed, self.extremes_line or run.row["first_line"])
        observations = run.value("observations")
        if mean is not None and observations and observations * mean > elapsed.value + _SECOND:
            needed = observations * mean / _SECOND
            pings = f"{observations:.0f} pings of {mean / _MICROSECOND:g} us"
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


class _Csv(LineLog):
    """Reads the samples of ``-R``, truncated to whole microseconds."""

    def __init__(self, log: Log, recorder: Recorder) -> None:
        self.log, self.unfinished = log, unfinished_line(log)
        self.run = recorder.start_run("lagscope", log.first_line, dialect="lagscope-csv", **_RUN)
        self.samples = SampleColumns()
        self.in_order = True

    @data(r"(?P<index>\d{1,10}), (?P<time>\d{1,12})", hint=", ")
    def row(self, line: Line, match: re.Match[str]) -> None:
        if line.number == self.unfinished:
            text = "the log ends within this line; its sample is left out"
            self.run.add_event("unfinished_line", "warning", text, line.number)
            return
        self.in_order &= int(match["index"]) == len(self.samples)
        self.samples.add(int(match["index"]), int(match["time"]) * _MICROSECOND)

    @bulk(row)
    def rows(self, rows: UniformBlock, match: re.Match[str]) -> bool:
        import numpy as np

        columns = rows.columns(match, index=0, time=0)
        if columns is None or columns["index"].max() >= 10**10 or columns["time"].max() >= 10**12:
            return False
        begin = len(self.samples)
        self.in_order &= bool((columns["index"] == np.arange(begin, begin + len(rows))).all())
        self.samples.extend(columns["index"], columns["time"] * _MICROSECOND)
        return True

    def finish(self) -> None:
        run, first = self.run, self.log.first_line
        run.set(last_line=self.log.last_line)
        if not self.samples:
            run.set(status="no_data")
            run.add_event("no_data", "warning", "the file has a header but no rows", first)
            return
        if not self.in_order:
            text = "the row numbers have gaps or do not start at 0; rows are missing or belong to two runs"
            run.add_event("lines_missing", "warning", text, first)
        high = linear(self.samples.rtt, -_MICROSECOND, 1)
        run.add_samples(**self.samples.columns(), low_ns=self.samples.rtt, high_ns=high)
        text = "times are truncated to whole microseconds; each may be up to 1 us higher"
        run.add_event("floored", "info", text, first)
        text = "this file and the log of lagscope describe the same run; count only one of them"
        run.add_event("same_run_as_log", "info", text, first)


_Whole = Annotated[int, Meta(ge=0, lt=10**12)]


class _Pair(Struct, gc=False, forbid_unknown_fields=True):
    latency: _Whole
    frequency: _Whole


class _Table(Struct, forbid_unknown_fields=True):
    latencies: list[_Pair]


def _read_json(log: Log, recorder: Recorder) -> None:
    """Read the frequency table of ``-P file``: a histogram with buckets of 1 µs."""
    run = recorder.start_run("lagscope", log.first_line, dialect="lagscope-json", last_line=log.last_line, **_RUN)
    pairs = _read_table(log, recorder)
    complete = pairs is not None
    if pairs is None:
        try:
            document: Any = json.loads(log.text)
        except ValueError:
            document = None
        pairs = _find_pairs(log)
        complete = document is not None
        if complete and not (isinstance(document, dict) and len(document.get("latencies", [])) == len(pairs.lines)):
            run.set(status="failed")
            run.add_event("malformed", "error", "the file is not a frequency table of lagscope", log.first_line)
            return
    recorder.accounting.mark_range(log.first_line, log.last_line, DATA)
    if _BLANK_LINE.search(f"\n{log.text}") or log.text[-1:] in (" ", "\t"):
        for number, line in enumerate(log.text.split("\n")[: log.last_line + 1 - log.first_line], start=log.first_line):
            if not line or line.isspace():
                recorder.accounting.mark_range(number, number, BLANK)
    latencies, frequencies, lines = pairs
    run.add_columns(
        "histograms",
        len(latencies),
        metric="rtt",
        low_ns=[latency * _MICROSECOND for latency in latencies],
        high_ns=[(latency + 1) * _MICROSECOND for latency in latencies],
        count=frequencies,
        line=lines,
    )
    if lines and complete:
        total = Quantity(float(sum(frequencies)), "count", None, None)
        run.add_metric("observations", total, log.first_line)
        text = "times are truncated to whole microseconds; each may be up to 1 us higher"
        run.add_event("floored", "info", text, log.first_line)
        text = "this file and the log of lagscope describe the same run; count only one of them"
        run.add_event("same_run_as_log", "info", text, log.first_line)
    end_run(run, has_numbers=bool(lines), ended=complete, last_line=log.last_line)


class _Pairs(NamedTuple):
    """Latency (µs), frequency and last line of each pair."""

    latencies: list[int]
    frequencies: list[int]
    lines: list[int]


def _read_table(log: Log, recorder: Recorder) -> _Pairs | None:
    """Return the pairs of a valid document; None for any other text."""
    table: _Table | None = log.document
    if table is None:
        return None
    line_map = JsonLineMap(log, recorder)
    ends = line_map.find_all("}", 0, len(line_map.text))[:-1]
    pairs = table.latencies
    # Neither may a member occur twice.
    if not len(ends) == len(pairs) == log.text.count('"latency"') == log.text.count('"frequency"'):
        return None
    return _Pairs([pair.latency for pair in pairs], [pair.frequency for pair in pairs], line_map.line_numbers(ends))


def _find_pairs(log: Log) -> _Pairs:
    """Return the pairs of any other text."""
    text, number, counted = log.text, log.first_line, 0
    pairs = _Pairs([], [], [])
    for match in _PAIR.finditer(text):
        number += text.count("\n", counted, match.end())
        counted = match.end()
        for column, value in zip(pairs, (int(match[1]), int(match[2]), number), strict=True):
            column.append(value)
    return pairs


class LagscopeParser(Parser):
    """Reads lagscope; see `azlatency.logs.parsers.lagscope`."""

    tool = "lagscope"
    commands = ("lagscope",)
    document_keys: ClassVar = {"latencies": "["}
    document_type = _Table
    signatures = (
        Signature("lagscope ", r"lagscope \d{1,3}(?:\.\d{1,3}){1,3}"),
        Signature(_CSV_HEADER, re.escape(_CSV_HEADER)),
        Signature('"latencies":[', r'(?:\{\s{0,20})?"latencies":\[.{0,100}'),
        Signature("Ping statistics for", rf"{_LABEL}Ping statistics for \S{{1,100}}:", weak=True),
        Signature("successful Pings:", rf"{_LABEL}\s*Number of successful Pings: \d+", weak=True),
        Signature("Latency(us)", r"Percentile\s{1,20}Latency\(us\)", weak=True),
    )

    def parse(self, log: Log, recorder: Recorder) -> None:
        """Read one log: the text, the CSV or the JSON."""
        header = find_line(log.lines, _CSV_HEADER) if log.document is None else None
        if header is not None:
            rows = _Csv(log, recorder)
            recorder.accounting.mark(log.lines[header].number, DATA)
            rows.feed(log.lines[header + 1 :], recorder.accounting)
            rows.finish()
        elif log.document is not None or any('"latencies":[' in line.text for line in log.lines[:3]):
            _read_json(log, recorder)
        else:
            reader = _Lagscope(log, recorder)
            reader.feed(log.lines, recorder.accounting)
            reader.finish()


PARSER = LagscopeParser()
