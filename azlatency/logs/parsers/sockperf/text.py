"""The lines of sockperf: client, server, and the rows of a full log."""

from __future__ import annotations

import re
from array import array
from typing import Any

from azlatency.logs.grammar.rules import DATA, LONGEST_LINE, Line, bulk, data, known
from azlatency.logs.grammar.units import Quantity, count, nanoseconds, quantity
from azlatency.logs.parsers import Log
from azlatency.logs.parsers.common import (
    LogReader,
    check_samples,
    closed_loop_share,
    complete_quantile,
    contradict,
    end_run,
    mark_summary_only,
    printed_rank,
)
from azlatency.logs.parsers.sockperf.checks import (
    check_drops,
    check_duration,
    check_label,
    check_rates,
    check_spread,
    describe_run,
)
from azlatency.logs.record import Recorder, Row, Run
from azlatency.logs.source.large import Column, Repeated, extended
from azlatency.logs.source.lines import UniformBlock

_SMALLEST_MESSAGE, _LARGEST_MESSAGE = 14, 65507
_LONG_BAR = re.compile(r"([# ])\1{99,}")
# Times have two (2.7) or three decimals, stamps nine. Two decimals may be three that were cut.
_WHOLE = re.compile(r"[^.\d]\d{1,12}\.(?:\d{3}|\d{9})$")
# How a line ends that may have been cut within a number.
_UNFINISHED = tuple("0123456789.")
# Lines that a run prints once per server.
_ONCE = re.compile(
    r"\[Total Run\] |\[Valid Duration\] |====> avg-|Summary: (?:Latency|Round trip|Message Rate|BandWidth)"
    r"|Total of (?=\d{1,15} messages sent)|Total (?=\d{1,15} obs)|---> <M(?:AX|IN)> observation ="
    r"|---> percentile {1,2}[\d.]{1,8} ="
)
# With which the results of a run begin, also if the lines above them are missing.
_FIRST = {"[Total Run]", "[Valid Duration]", "====> avg-", "Total of", "Summary: Message Rate"}
# A run prints one of them.
_MEANS = ("Summary: Latency", "Summary: Round trip")
# A full log truncates both times of a round trip to whole ns; the statistics are computed from clock ticks.
_ROW_SLACK_NS = 4
# The last column of a row has three decimals, of the round trip or of half of it.
_ROW_STEP_NS = 2
# "each percentile contains" has two decimals.
_EACH_STEP = 0.0051
_SPREADS = {
    "std-dev": "rtt_sd",
    "mean-ad": "rtt_mean_abs_dev",
    "median-ad": "rtt_median_abs_dev",
    "siqr": "rtt_siqr",
    "std-error": "rtt_std_error",
}


class SockperfText(LogReader):
    """Reads the lines of one log; each further ``Server No:`` block is another run."""

    prefix = re.compile(r"\s*sockperf: ?")

    def __init__(self, log: Log, recorder: Recorder) -> None:
        super().__init__(log, recorder)
        self.run: Run = recorder.start_run("sockperf", log.first_line, last_line=log.last_line)
        self.half = True
        self.ended = self.has_open_header = False
        self.server_index = 0
        self.observations: int | None = None
        self.quantile_rows: list[tuple[Line, Row]] = []
        self.once: dict[str, str] = {}
        self.full_log_options: str | None = None
        self.bin_us: int | None = None
        self.full_log = False
        self.first_row = self.last_row = 0
        self.unnamed = 0
        """The first line with a time above the line that says what the times are."""
        self.shown = 0
        """How often the first row prints its round trip: once, or half of it; 0 before it."""
        self.wrong_row = 0
        self.origin = 0
        self.sent: Column = array("q")
        self.rtt: Column = array("q")

    def read(self, line: Line) -> int:
        """Remove Markdown emphasis and shorten the longest histogram bars, then apply the rules."""
        text = line.text
        if "**" in text:
            line = line._replace(text=text.replace("**", ""))
        elif len(text) > LONGEST_LINE:
            line = line._replace(text=_LONG_BAR.sub(r"\1", text))
        if line.number == self.unfinished and text[-1:] in _UNFINISHED and not _WHOLE.search(text):
            self.is_cut(line, "its last number is")
            return DATA
        self._begin_at_repetition(line)
        return super().read(line)

    def _begin_at_repetition(self, line: Line) -> None:
        """Open a run at a line that a run prints once: logs of several runs may lack all lines between them.

        It has another value than before, or the results of the run are complete.
        """
        match = _ONCE.search(line.text)
        if match is None:
            return
        name, value = match[0].strip(), line.text[match.end() :].strip()
        if name in _MEANS:
            name, value = _MEANS[0], f"{name} {value}"
        begins = self._is_complete() and (name in _FIRST or name in self.once)
        if self.once.setdefault(name, value) != value or begins:
            self._open_headless_run(line)
            self.once = {name: value}

    def _is_complete(self) -> bool:
        """Return whether the run has printed all of its results."""
        return self.ended and self.run.row.get("status") != "failed"

    def _open_headless_run(self, line: Line) -> None:
        self._open_run(line)
        self.half, self.server_index = True, 0

    # --- what was run

    @data(r"== version #(\S{0,80}) ?==", hint="== version")
    @data(r"== version #(.{0,80}?) == ", hint="== version")
    def banner(self, line: Line, match: re.Match[str]) -> None:
        """Read the version."""
        self.run.set(tool_version=match[1].strip() or None)

    @data(r"\[\s*\d+\] IP = (\S{1,100})\s+PORT =\s+(\d+) # (TCP|UDP)", hint="] IP =")
    def endpoint(self, line: Line, match: re.Match[str]) -> None:
        """Read server and protocol."""
        self.run.set(server=match[1], protocol=match[3].lower())

    @data(r"\[SERVER\] listen on:", hint="[SERVER]")
    def server(self, line: Line, match: re.Match[str]) -> None:
        """Note that this is the log of a server."""
        self.run.set(test="server")

    @data(r"test was performed using the following parameters: (--mps=.{0,300})", hint="following parameters")
    def parameters(self, line: Line, match: re.Match[str]) -> None:
        """Read the options line of a full log."""
        self.full_log_options = match[1]

    # --- how it went

    @data(r"Test end \(interrupted by user\)", hint="interrupted by user")
    def interrupted(self, line: Line, match: re.Match[str]) -> None:
        """Read Ctrl-C, with which every server ends."""
        if self.run.row.get("test") == "server":
            return
        self.run.end_as(
            "interrupted", "warning", "ended by Ctrl-C; the statistics cover the time until then", line.number
        )

    @data(
        r"\[Total Run\] RunTime=([\d.]+) sec;(?: Warm up (?:time=(\d+) msec|packets=(\d+));)? SentMessages=(\d+); "
        r"ReceivedMessages=(\d+)(?:; SkippedMessages=(\d+))?",
        hint="[Total Run]",
    )
    def total(self, line: Line, match: re.Match[str]) -> None:
        """Read the counts of the whole run, warm-up included."""
        self.run.add_metric("total_duration", quantity(match[1], "sec"), line.number)
        if match[2] is not None:
            self.run.set(warmup_ns=nanoseconds(match[2], "msec"))
        self.run.add_counts(line.number, sent=match[4], received=match[5], skipped=match[6])

    @data(r"========= Printing statistics for Server No: (\d+)", hint="Printing statistics")
    def server_block(self, line: Line, match: re.Match[str]) -> None:
        """Begin the statistics of another server."""
        index = int(match[1])
        if self._is_complete() and index <= self.server_index:
            self._open_headless_run(line)
        elif index != self.server_index:
            self._next_server(line, index)

    @data(
        r"\[Valid Duration\] RunTime=([\d.]+) sec; SentMessages=(\d+); ReceivedMessages=(\d+)", hint="[Valid Duration]"
    )
    def valid(self, line: Line, match: re.Match[str]) -> None:
        """Read duration and counts without warm-up and cool-down."""
        self.run.set(duration_ns=nanoseconds(match[1], "sec"))
        self.run.add_metric("valid_duration", quantity(match[1], "sec"), line.number)
        self.run.add_counts(line.number, valid_sent=match[2], valid_received=match[3])

    @data(
        r"====> avg-(lat|latency|rtt)=\s*([\d.]+) \(std-dev=\s*([\d.]+)((?:, [\w-]+=[\d.]+)*)"
        r"(?:, ([\d.]+)% ci=\[(-?[\d.]+), (-?[\d.]+)\])?\)",
        hint="====> avg-",
    )
    def average(self, line: Line, match: re.Match[str]) -> None:
        """Read the mean and the measures of spread; the label says half or full round trip."""
        self.half = match[1] != "rtt"
        self.run.set(printed_as="half_round_trip" if self.half else "round_trip")
        self._add_time("rtt_mean", match[2], line)
        spreads = dict(pair.split("=") for pair in match[4].split(", ") if pair)
        for name, token in {"std-dev": match[3], **spreads}.items():
            if name in _SPREADS:
                self._add_time(_SPREADS[name], token, line)
        if "cv" in spreads:
            self.run.add_metric("rtt_cv", quantity(spreads["cv"], "1"), line.number)
        if match[5]:
            self.run.add_metric("rtt_ci_level", quantity(match[5], "%"), line.number)
            self._add_time("rtt_ci_low", match[6], line)
            self._add_time("rtt_ci_high", match[7], line)

    @data(
        r"# dropped (?:messages|packets) = (\d+); # duplicated (?:messages|packets) = (\d+); "
        r"# out-of-order (?:messages|packets) = (\d+)",
        hint="# dropped",
    )
    def losses(self, line: Line, match: re.Match[str]) -> None:
        """Read lost, duplicated and out-of-order messages."""
        self.run.add_counts(line.number, lost=match[1], duplicates=match[2], out_of_order=match[3])
        if int(match[3]):
            self.run.add_event(
                "out_of_order_discarded",
                "warning",
                f"{match[3]} replies were discarded as out of order; the mean is biased towards delayed replies",
                line.number,
            )

    @data(r"Summary: (Latency|Round trip)(?: of burst of (\d+) messages?)? is\s+([\d.]+) usec", hint="Summary: ")
    def summary(self, line: Line, match: re.Match[str]) -> None:
        """Read the mean of the short summary."""
        self.half = match[1] == "Latency"
        self.run.set(printed_as="half_round_trip" if self.half else "round_trip")
        self._add_time("rtt_mean", match[3], line)
        if match[2]:
            self.run.add_event("burst", "warning", f"one observation is a burst of {match[2]} messages", line.number)

    @data(r"Total (\d+) observations(?:; each percentile contains ([\d.]+) observations)?", hint="observations")
    def total_observations(self, line: Line, match: re.Match[str]) -> None:
        """Read the number of observations, which the line and the counts above repeat."""
        received = self.run.value("valid_received")
        if match[2] is not None and abs(int(match[1]) / 100 - float(match[2])) > _EACH_STEP:
            text = f"{match[1]} observations are not 100 times {match[2]}; the number is left out"
            contradict(self.run, "count_mismatch", text, line.number)
            return
        if received is not None and int(match[1]) > received:
            text = f"{match[1]} observations exceed the {received:.0f} messages received; the number is left out"
            contradict(self.run, "count_mismatch", text, line.number)
            return
        self.observations = int(count(match[1]).value)
        self.run.add_counts(line.number, observations=match[1])

    @data(r"---> (?:<?(MAX|MIN)>? )?observation =\s*([\d.]+)", hint="observation =")
    def extreme(self, line: Line, match: re.Match[str]) -> None:
        """Read the minimum or the maximum."""
        # Markdown renderers remove <MAX> and <MIN>; the maximum is printed above the percentiles.
        label = match[1] or ("MIN" if self.quantile_rows else "MAX")
        self._add_time("rtt_max" if label == "MAX" else "rtt_min", match[2], line)
        if label == "MIN":
            self.ended = True

    @data(r"---> percentile\s+([\d.]+) =\s*([\d.]+)", hint="---> percentile")
    def percentile(self, line: Line, match: re.Match[str]) -> None:
        """Read one percentile."""
        value = self._to_rtt(quantity(match[2], "usec"), line)
        q = quantity(match[1], "%").value
        if (row := self.run.add_quantile(q, value, line.number)) is not None:
            self.quantile_rows.append((line, row))

    # --- throughput test

    @data(r"Total of (\d+) messages sent in ([\d.]+) sec(?: \((\d+) messages skipped\))?", hint="messages sent in")
    def messages_sent(self, line: Line, match: re.Match[str]) -> None:
        """Read the counts of a throughput test."""
        self.run.set(test="throughput", duration_ns=nanoseconds(match[2], "sec"))
        self.run.add_counts(line.number, sent=match[1], skipped=match[3])

    @data(r"NOTE: test was performed, using msg-size=(\d+)(?:, mps=(\d+))?\..{0,200}", hint="NOTE: test was performed")
    def throughput_note(self, line: Line, match: re.Match[str]) -> None:
        """Read the message size of a throughput test."""
        self.run.set(message_bytes=int(count(match[1]).value))

    @data(
        r"Summary: Message Rate is (\d+) \[msg/sec\](?:, Packet Rate is about \d+ \[pkt/sec\] \(\d+ ip frags / msg\))?",
        hint="Message Rate",
    )
    def message_rate(self, line: Line, match: re.Match[str]) -> None:
        """Read the message rate."""
        self.run.set(test="throughput")
        self.run.add_metric("message_rate", quantity(match[1], "/sec"), line.number)

    @data(r"Summary: BandWidth is ([\d.]+) ([MG])Bps \(([\d.]+) [MG]bps\)", hint="BandWidth")
    def bandwidth(self, line: Line, match: re.Match[str]) -> None:
        """Read the bandwidth as the sender sees it: bytes handed to the socket."""
        self.ended = True
        unit = "sockperf MBps" if match[2] == "M" else self._gbps_unit(match[1])
        if unit is None:
            text = f"{match[1]} GBps may mean MBps (--increase_output_precision up to 3.7); the rate is left out"
            self.run.add_event("unit_unproven", "warning", text, line.number)
            return
        self.run.add_metric("throughput", quantity(match[1], unit), line.number, side="sender")
        size, bits = quantity(match[1], "MBytes"), quantity(match[3], "MBytes")
        if abs(8 * size.value - bits.value) > 1.001 * (8 * size.half + bits.half):
            text = f"{match[1]} {match[2]}Bps are not {match[3]} {match[2]}bps"
            contradict(self.run, "rate_mismatch", text, line.number)

    # --- the histogram of a full log

    @data(
        r"histogram was built using the following parameters: "
        r"--h_bin_size_us=(\d{1,9}) --h_lower_range_us=(\d{1,9}) --h_upper_range_us=(\d{1,9})",
        hint="histogram was built",
    )
    def histogram(self, line: Line, match: re.Match[str]) -> None:
        """Read the bin width of the histogram."""
        self.bin_us = int(count(match[1]).value)

    @data(r"(\d{1,9})(?:-(\d{1,12}))?\s{2,}(\d{1,12})", hint=" ", shape=r"(?:.*:)?\s*-?\s*")
    def bucket(self, line: Line, match: re.Match[str]) -> None:
        """Read one bucket of the histogram."""
        if self.bin_us is None:
            self.run.add_event(
                "histogram_without_bins", "warning", "the histogram row has no bin width; it is left out", line.number
            )
            return
        scale = nanoseconds("2" if self.half else "1", "usec")
        low = int(match[1])
        # The row with two edges counts the outliers; its upper edge is the maximum, truncated.
        high = low + self.bin_us if match[2] is None else int(match[2]) + 1
        self.run.add_bucket(
            metric="rtt",
            stream=None,
            low_ns=low * scale,
            high_ns=high * scale,
            count=int(match[3]),
            line=line.number,
        )

    # --- the rows of a full log: rxTime - txTime is the round-trip time in every version

    @data(r"packet, txTime\(sec\), rxTime\(sec\), (?:latency|rtt)\(usec\)", hint="packet, txTime")
    @data(r"txTime, rxTime", hint="txTime, rxTime")
    def full_log_header(self, line: Line, match: re.Match[str]) -> None:
        """Begin the rows of a full log."""
        self.full_log = self.has_open_header = True

    @data(
        r"(?:(?P<packet>\d{1,15}), ?)?(?P<sent>\d{1,10}\.\d{9}), ?(?P<received>\d{1,10}\.\d{9})"
        r"(?:, ?(?:(?P<printed>-?\d{1,12}\.\d{3})|-?[\d.]{1,24}))?",
        hint=", ",
    )
    def row(self, line: Line, match: re.Match[str]) -> None:
        """Read one row of a full log."""
        if not self.full_log:
            raise ValueError("the row has no header above it")
        sent = nanoseconds(match["sent"], "sec")
        if not self.sent:
            self.origin = sent
        self.has_open_header = False
        self.sent.append(sent - self.origin)
        self.rtt.append(nanoseconds(match["received"], "sec") - sent)
        if match["printed"] is not None:
            printed = nanoseconds(match["printed"], "usec")
            self.shown = self.shown or _share_of(self.rtt[-1], printed)
            if abs(self.rtt[-1] - self.shown * printed) > _ROW_STEP_NS:
                self.wrong_row = self.wrong_row or line.number
        self.first_row, self.last_row = self.first_row or line.number, line.number

    @bulk(row)
    def rows(self, rows: UniformBlock, match: re.Match[str]) -> bool:
        """Read many rows of a full log at once."""
        columns = rows.columns(match, packet=None, sent=9, received=9, printed=3) if self.full_log else None
        if columns is None:
            return False
        if not self.sent:
            self.origin = int(columns["sent"][0])
        self.has_open_header = False
        self.sent = extended(self.sent, columns["sent"] - self.origin)
        rtt = columns["received"] - columns["sent"]
        self.rtt = extended(self.rtt, rtt)
        if "printed" in columns:
            self.shown = self.shown or _share_of(int(rtt[0]), int(columns["printed"][0]))
            wrong = abs(rtt - self.shown * columns["printed"]) > _ROW_STEP_NS
            if wrong.any():
                self.wrong_row = self.wrong_row or rows.first + int(wrong.argmax())
        self.first_row, self.last_row = self.first_row or rows.first, rows.last
        return True

    # --- server and failures

    @data(r"Total (\d+) messages received(?:, echoed messages \d+)? and handled.{0,80}", hint="received")
    def handled(self, line: Line, match: re.Match[str]) -> None:
        """Read the summary of a server."""
        self.run.set(test="server", status="complete")
        self.run.add_counts(line.number, received=match[1])
        self.ended = True

    @data(r"No messages were received on the server\.", hint="No messages were")
    def received_nothing(self, line: Line, match: re.Match[str]) -> None:
        """Read the end of a server that no client reached."""
        self.run.set(test="server", status="complete")
        self.ended = True

    @data(r"ERROR: (.{0,300})", hint="ERROR: ")
    @data(r"(No messages were (?:sent|received from the server).{0,200})", hint="No messages were")
    @data(r"(No valid observations found.{0,200})", hint="No valid observations")
    @data(r"(Test end before test start.{0,200})", hint="Test end before")
    @data(r"(Test ends uncompleted.{0,200})", hint="Test ends uncompleted")
    def failure(self, line: Line, match: re.Match[str]) -> None:
        """Read an error message."""
        self.run.end_as("failed", "error", f"sockperf measured nothing: {match[1].strip()}", line.number)
        self.ended = True

    @data(r"Usage: sockperf .{0,300}", hint="Usage: sockperf")
    def usage(self, line: Line, match: re.Match[str]) -> None:
        """Read the usage text."""
        self.run.end_as("failed", "error", "sockperf printed its usage text; check the options", line.number)
        self.ended = True

    @data(r"Info: (The requested message-per-second rate is too high)\. .{0,120}", hint="rate is too high")
    def rate_too_high(self, line: Line, match: re.Match[str]) -> None:
        """Read that messages were sent later than ``--mps`` asks for."""
        text = f"sockperf reported: {match[1]}; messages were sent later than planned"
        self.run.add_event("rate_not_reached", "warning", text, line.number)

    known = known(
        ("send on:", r"sockperf\[CLIENT\] send on:.{0,200}"),
        ("using ", r"(?:\[tid \d+\] )?using \w+\(\) to block on socket\(s\)"),
        ("Warmup stage", r"Warmup stage \(sending a few dummy messages\)\.\.\."),
        ("Starting test", r"Starting test\.\.\."),
        ("Test end", r"Test end(?:ed| \(interrupted by (?:timer|signal \d+)\)| \(reached packet number\))"),
        ("cleanupAfterLoop", r"cleanupAfterLoop\(\) exit"),
        ("RunTime Estimate", r"RunTime Estimate=[\d.]+ sec, Time out in [\d.]+ sec"),
        ("-----", r"-{30,60}"),
        ("[Histogram]", r"\[Histogram\] Display .{0,120}"),
        ("bins", r"bins\b.{0,4000}"),
        ("-", r"\d{1,12}-\d{1,12}\s{1,20}#*(?: \(outliers\))?"),
        ("bin (usec)", r"bin \(usec\)\s{1,40}frequency"),
        ("+INFO", r"\+INFO:.{0,300}"),
        ("testStart: ", r"testStart: [\d.]{1,40} sec testEnd: [\d.]{1,40} sec"),
        (" =", r"\w{1,40}(?: \w{1,40}){0,6} =(?: .{0,100})?"),
        ("Binding to", r"\[fd=\d+\] Binding to: .{0,100}"),
        ("[fd=", r"\[fd=\d+\] .{0,200}"),
        ("VMA", r"VMA (?:INFO|WARNING|DEBUG).{0,300}"),
        ("\t-", r"(?:-\w,?[\w,?-]*|--[\w,-]+)?\s*(?:--[\w,-]+)?\s*\t-.{0,300}"),
        (":", r"(?:Options|Valid arguments):"),
        ("sockperf ", r"sockperf [\w-]+ -\w .{0,200}"),
        ("Run sockperf", r"[\w-]+ \([\w-]+\): Run sockperf .{0,200}"),
        ("--", r"--\w[\w-]{0,60}"),
        ("-Enables", r"-Enables non-blocking send operation.{0,80}"),
        ("-Increase", r"-Increase number of digits after decimal point.{0,120}"),
        ("dummy-send", r"optional: set dummy-send rate per second.{0,120}"),
        ("old compatibility", r"support --pps for old compatibility\)\."),
    )

    # --- helpers

    def _to_rtt(self, printed: Quantity, line: Line) -> Quantity:
        if self.run.row.get("printed_as") is None:
            self.unnamed = self.unnamed or line.number
        return printed.doubled() if self.half else printed

    def _add_time(self, name: str, token: str, line: Line) -> None:
        self.run.add_metric(name, self._to_rtt(quantity(token, "usec"), line), line.number)

    def _gbps_unit(self, token: str) -> str | None:
        """Return the unit that GBps stands for: the one that message rate times message size gives (client.cpp 629)."""
        rate, size = self.run.value("message_rate"), self.run.row.get("message_bytes")
        if size is None:
            option = self.log.option("-m", "--msg-size")
            size = int(option) if option and option.isdigit() else None
        if rate is None:
            return None
        fitting = []
        for unit in ("sockperf MBps", "sockperf GBps"):
            printed = quantity(token, unit)
            slack = 0.01 * printed.value + printed.half
            if size is None:
                fits = _SMALLEST_MESSAGE <= (printed.value + slack) / 8 / rate <= _LARGEST_MESSAGE
            else:
                fits = abs(printed.value - 8 * rate * size) <= slack
            if fits:
                fitting.append(unit)
        return fitting[0] if len(fitting) == 1 else None

    def _next_server(self, line: Line, index: int) -> None:
        """Open a run for the statistics of another server of the same command."""
        names = ("tool_version", "protocol", "warmup_ns", "message_bytes", "test", "status")
        self._open_run(line, **{name: self.run.row.get(name) for name in names})
        self.server_index = index

    def _open_run(self, line: Line, **shared: Any) -> None:
        self.finish(line.number - 1)
        self.run = self.recorder.start_run("sockperf", line.number, **shared)
        self.observations, self.quantile_rows, self.once, self.ended = None, [], {}, False
        self.first_row = self.last_row = self.shown = self.wrong_row = 0
        self.sent, self.rtt = array("q"), array("q")

    # --- the end

    def finish(self, last_line: int) -> None:
        """Complete the run of one server: quantiles, test type, checks, samples and status."""
        run = self.run
        if self.observations:
            for line, row in self.quantile_rows:
                complete_quantile(row, self.observations, printed_rank(row["q"], self.observations))
                if not row["resolved"]:
                    text = f"p{100 * row['q']:g} of {self.observations} observations is the sample maximum"
                    run.add_event("percentile_is_max", "info", text, line.number)
        if self.unnamed and run.row.get("printed_as") is None:
            text = "no line says whether these times are round trips; halves of them, the default, are assumed"
            run.add_event("unit_assumed", "warning", text, self.unnamed)
        elif self.unnamed and not self.half:
            text = "a line below says that times are round trips; this one was read as half of one: lines are displaced"
            contradict(run, "value_conflict", text, self.unnamed)
        self.unnamed = 0
        share = self._closed_loop_share()
        describe_run(run, self.log, full_log_options=self.full_log_options, closed_loop_share=share)
        if share is not None:
            check_label(run, share, half=self.half)
        check_drops(run)
        check_rates(run)
        check_spread(run)
        check_duration(run)
        self._store_rows()
        has_numbers = run.value("rtt_mean") is not None or run.value("throughput", side="sender") is not None
        ended = (self.ended or 0 < self.last_row < last_line) and not self.has_open_header
        if run.row.get("test") == "server" and not has_numbers and not ended and run.row["status"] == "complete":
            # Copied while it runs, or killed.
            text = "the log of a server ends before its last lines, which contain no result"
            run.end_as("no_data", "info", text, last_line)
        names = {row["metric"] for row in run.metric_rows()}
        if names == {"rtt_mean"} and run.row.get("tool_version") is None and not ended:
            mark_summary_only(run)
        end_run(run, has_numbers=has_numbers, ended=ended, last_line=last_line)

    def _closed_loop_share(self) -> float | None:
        """Return n * mean / duration with the mean as printed."""
        mean, duration = self.run.value("rtt_mean"), self.run.row.get("duration_ns")
        if mean is None or not duration or not self.observations:
            return None
        return closed_loop_share(self.observations, mean / 2 if self.half else mean, duration)

    def _store_rows(self) -> None:
        if not self.sent:
            return
        rows = len(self.sent)
        self.run.add_samples(seq=range(rows), sent_ns=self.sent, rtt_ns=self.rtt, status=Repeated("ok", rows))
        if self.wrong_row:
            text = "the times of this row are not as far apart as its last column says; the log is edited"
            contradict(self.run, "value_conflict", text, self.wrong_row)
        if self.observations is not None and rows != self.observations:
            text = f"the full log has {rows} rows, but the summary counts {self.observations} observations"
            self.run.add_event("count_mismatch", "warning", text, self.first_row)
            if rows < self.observations and self.run.row["status"] == "complete":
                self.run.set(status="truncated")
        elif self.observations is not None and "burst" not in self.run.codes:
            check_samples(self.run, self.rtt, _ROW_SLACK_NS)


def _share_of(rtt: int, printed: int) -> int:
    """Return by what to multiply the last column of a row (ns) for a round trip: 2 if it is half of it, else 1."""
    return 2 if abs(rtt - 2 * printed) <= _ROW_STEP_NS else 1
