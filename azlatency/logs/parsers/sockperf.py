"""sockperf: client and server output, and the CSV of ``--full-log``.

    sockperf: == version #3.8-0.git31ee322aa82a ==
    sockperf[CLIENT] send on:sockperf: using recvfrom() to block on socket(s)
    [ 0] IP = 10.2.0.58       PORT =  5201 # TCP
    sockperf: [Total Run] RunTime=10.000 sec; Warm up time=400 msec; SentMessages=296842; ReceivedMessages=296841
    sockperf: [Valid Duration] RunTime=9.550 sec; SentMessages=283507; ReceivedMessages=283507
    sockperf: ====> avg-latency=16.791 (std-dev=3.064, mean-ad=0.949, median-ad=0.660, siqr=0.446, cv=0.182,
              std-error=0.006, 99.0% ci=[16.776, 16.806])
    sockperf: # dropped messages = 0; # duplicated messages = 0; # out-of-order messages = 0
    sockperf: Total 283507 observations; each percentile contains 2835.07 observations
    sockperf: ---> <MAX> observation = 1051.690
    sockperf: ---> percentile 99.999 =  271.066
    sockperf: ---> <MIN> observation =   10.847
    packet, txTime(sec), rxTime(sec), latency(usec)
    0, 2.435528878, 2.435762723, 116.923

Versions seen: 2.7 to 3.10. ``avg-lat``, ``avg-latency``, ``Latency is`` and everything beside them are **half round
trips**; ``avg-rtt`` and ``Round trip is`` (``--full-rtt``, since 3.6) are round trips (client.cpp 463, 521, 541). The
tables hold round trips. In a full log the difference of the two times is the round trip whatever the last column says.

A printed percentile is the order statistic floor(p*n + 0.5), no interpolation (client.cpp 313). ``MBps`` counts 2**20
bytes (client.cpp 629). ``interrupted by signal 2`` stands in normal under-load output; only ``interrupted by user`` is
a Ctrl-C. Colours stand in files too.

``GBps`` is MBps/1000 with ``--giga-size``, but MBps itself with ``--increase_output_precision`` up to 3.7; message
rate and size prove which.

Since 3.2 every run is 0.45 s shorter than ``-t`` says (client.cpp 58): no interruption, and told as an event.

Ignored: progress and warm-up lines, the arithmetic ``each percentile contains``, the ``+INFO`` dump of ``--debug``,
and the bars of the histogram (scaled and rounded up; the exact counts stand in the full log).
"""

from __future__ import annotations

import re
from array import array
from typing import Any

from azlatency.logs.grammar import LONGEST_LINE, Line, LineAccounting, LineLog, bulk, data, known
from azlatency.logs.lines import UniformBlock
from azlatency.logs.parsers import Log, Signature
from azlatency.logs.parsers.common import closed_loop_share, complete_quantile, end_run, printed_rank
from azlatency.logs.record import Recorder, Run
from azlatency.logs.units import Quantity, count, nanoseconds, quantity

#: Fixed by the tool: messages of the first 400 ms are left out, whatever ``Warm up time`` prints (client.cpp).
_SHARE_TOLERANCE = 0.03
_DEFAULT_MESSAGE_BYTES = 14
_SMALLEST_MESSAGE, _LARGEST_MESSAGE = 14, 65507
_NUMBER = r"(-?[\d.]+)"
_COOL_DOWN_NS = 50e6
_SHORT_NS, _SHORT_SLACK_NS = 450e6, 30e6
_OPTION = re.compile(r"\d{1,9}")
_LONG_BAR = re.compile(r"([# ])\1{99,}")
_SPREADS = {
    "std-dev": "rtt_sd",
    "mean-ad": "rtt_mean_abs_dev",
    "median-ad": "rtt_median_abs_dev",
    "siqr": "rtt_siqr",
    "std-error": "rtt_std_error",
}


class _Sockperf(LineLog):
    prefix = re.compile(r"\s*sockperf: ?")

    def __init__(self, log: Log, recorder: Recorder) -> None:
        self.log, self.recorder = log, recorder
        self.run: Run = recorder.start_run("sockperf", log.first_line, last_line=log.last_line)
        self.half = True
        self.ended = False
        self.server_index = 0
        self.observations: int | None = None
        self.quantile_rows: list[tuple[Line, dict[str, Any]]] = []
        self.full_log_options: str | None = None
        self.bin_us: int | None = None
        self.full_log = False
        self.first_row = self.last_row = 0
        self.origin = 0
        self.sent, self.rtt = array("q"), array("q")

    def read(self, line: Line, accounting: LineAccounting) -> bool:
        """As in `LineLog`, without the stars of an author's Markdown, and with the longest bars cut short."""
        text = line.text
        if "**" in text:
            line = line._replace(text=text.replace("**", ""))
        elif len(text) > LONGEST_LINE:
            line = line._replace(text=_LONG_BAR.sub(r"\1", text))
        return super().read(line, accounting)

    # --- what was run

    @data(r"== version #(\S{0,80}) ?==", hint="== version")
    @data(r"== version #(.{0,80}?) == ", hint="== version")
    def banner(self, line: Line, match: re.Match[str]) -> None:
        self.run.set(tool_version=match[1].strip() or None)

    @data(r"\[\s*\d+\] IP = (\S{1,100})\s+PORT =\s+(\d+) # (TCP|UDP)", hint="] IP =")
    def endpoint(self, line: Line, match: re.Match[str]) -> None:
        self.run.set(server=match[1], protocol=match[3].lower())

    @data(r"\[SERVER\] listen on:", hint="[SERVER]")
    def server(self, line: Line, match: re.Match[str]) -> None:
        self.run.set(test="server")

    @data(r"test was performed using the following parameters: (--mps=.{0,300})", hint="following parameters")
    def parameters(self, line: Line, match: re.Match[str]) -> None:
        self.full_log_options = match[1]

    # --- how it went

    @data(r"Test end \(interrupted by user\)", hint="interrupted by user")
    def interrupted(self, line: Line, match: re.Match[str]) -> None:
        if self.run.row.get("test") == "server":
            self.ended = True  # a server always ends so
            return
        self.run.set(status="interrupted")
        self.run.add_event("interrupted", "warning", "ended by Ctrl-C; statistics cover what there was", line.number)

    @data(
        r"\[Total Run\] RunTime=([\d.]+) sec;(?: Warm up (?:time=(\d+) msec|packets=(\d+));)? SentMessages=(\d+); "
        r"ReceivedMessages=(\d+)(?:; SkippedMessages=(\d+))?",
        hint="[Total Run]",
    )
    def total(self, line: Line, match: re.Match[str]) -> None:
        self.run.add_metric("total_duration", quantity(match[1], "sec"), line.number)
        if match[2] is not None:
            self.run.set(warmup_ns=nanoseconds(match[2], "msec"))
        self._counts(line, sent=match[4], received=match[5], skipped=match[6])

    @data(r"========= Printing statistics for Server No: (\d+)", hint="Printing statistics")
    def server_block(self, line: Line, match: re.Match[str]) -> None:
        if int(match[1]) != self.server_index:
            self._next_server(line, int(match[1]))

    @data(
        r"\[Valid Duration\] RunTime=([\d.]+) sec; SentMessages=(\d+); ReceivedMessages=(\d+)", hint="[Valid Duration]"
    )
    def valid(self, line: Line, match: re.Match[str]) -> None:
        self.run.set(duration_ns=nanoseconds(match[1], "sec"))
        self.run.add_metric("valid_duration", quantity(match[1], "sec"), line.number)
        self._counts(line, valid_sent=match[2], valid_received=match[3])

    @data(
        r"====> avg-(lat|latency|rtt)=\s*([\d.]+) \(std-dev=\s*([\d.]+)((?:, [\w-]+=[\d.]+)*)"
        r"(?:, ([\d.]+)% ci=\[(-?[\d.]+), (-?[\d.]+)\])?\)",
        hint="====> avg-",
    )
    def average(self, line: Line, match: re.Match[str]) -> None:
        self.half = match[1] != "rtt"
        self.run.set(printed_as="half_round_trip" if self.half else "round_trip")
        self._time("rtt_mean", match[2], line)
        spreads = dict(pair.split("=") for pair in match[4].split(", ") if pair)
        for name, token in {"std-dev": match[3], **spreads}.items():
            if name in _SPREADS:
                self._time(_SPREADS[name], token, line)
        if "cv" in spreads:
            self.run.add_metric("rtt_cv", quantity(spreads["cv"], "1"), line.number)
        if match[5]:
            self.run.add_metric("rtt_ci_level", quantity(match[5], "%"), line.number)
            self._time("rtt_ci_low", match[6], line)
            self._time("rtt_ci_high", match[7], line)

    @data(
        r"# dropped (?:messages|packets) = (\d+); # duplicated (?:messages|packets) = (\d+); "
        r"# out-of-order (?:messages|packets) = (\d+)",
        hint="# dropped",
    )
    def losses(self, line: Line, match: re.Match[str]) -> None:
        self._counts(line, lost=match[1], duplicates=match[2], out_of_order=match[3])
        if int(match[3]):
            self.run.add_event(
                "out_of_order_discarded",
                "warning",
                f"{match[3]} replies were discarded as out of order; the mean leans towards the delayed ones",
                line.number,
            )

    @data(r"Summary: (Latency|Round trip)(?: of burst of (\d+) messages?)? is\s+([\d.]+) usec", hint="Summary: ")
    def summary(self, line: Line, match: re.Match[str]) -> None:
        self.half = match[1] == "Latency"
        self._time("rtt_mean", match[3], line)
        self.run.set(printed_as="half_round_trip" if self.half else "round_trip")
        if match[2]:
            self.run.add_event("burst", "warning", f"one observation is a burst of {match[2]} messages", line.number)

    @data(r"Total (\d+) observations(?:; each percentile contains [\d.]+ observations)?", hint="observations")
    def total_observations(self, line: Line, match: re.Match[str]) -> None:
        self.observations = int(count(match[1]).value)
        self._counts(line, observations=match[1])

    @data(r"---> (?:<?(MAX|MIN)>? )?observation =\s*([\d.]+)", hint="observation =")
    def extreme(self, line: Line, match: re.Match[str]) -> None:
        # Markdown renderers eat <MAX> and <MIN>; the order of the lines then tells them apart.
        which = match[1] or ("MIN" if self.quantile_rows else "MAX")
        self._time("rtt_max" if which == "MAX" else "rtt_min", match[2], line)
        if which == "MIN":
            self.ended = True

    @data(r"---> percentile\s+([\d.]+) =\s*([\d.]+)", hint="---> percentile")
    def percentile(self, line: Line, match: re.Match[str]) -> None:
        value = self._rtt(quantity(match[2], "usec"))
        q = quantity(match[1], "%").value
        if (row := self.run.add_quantile(q, value, line.number)) is not None:
            self.quantile_rows.append((line, row))

    # --- throughput test

    @data(r"Total of (\d+) messages sent in ([\d.]+) sec(?: \((\d+) messages skipped\))?", hint="messages sent in")
    def messages_sent(self, line: Line, match: re.Match[str]) -> None:
        self.run.set(test="throughput", duration_ns=nanoseconds(match[2], "sec"))
        self._counts(line, sent=match[1], skipped=match[3])

    @data(r"NOTE: test was performed, using msg-size=(\d+)(?:, mps=(\d+))?\..{0,200}", hint="NOTE: test was performed")
    def throughput_note(self, line: Line, match: re.Match[str]) -> None:
        self.run.set(message_bytes=int(count(match[1]).value))

    @data(
        r"Summary: Message Rate is (\d+) \[msg/sec\](?:, Packet Rate is about \d+ \[pkt/sec\] \(\d+ ip frags / msg\))?",
        hint="Message Rate",
    )
    def message_rate(self, line: Line, match: re.Match[str]) -> None:
        self.run.set(test="throughput")
        self.run.add_metric("message_rate", quantity(match[1], "/sec"), line.number)

    @data(r"Summary: BandWidth is ([\d.]+) ([MG])Bps \([\d.]+ [MG]bps\)", hint="BandWidth")
    def bandwidth(self, line: Line, match: re.Match[str]) -> None:
        self.ended = True
        unit = "sockperf MBps" if match[2] == "M" else self._proven_unit(match[1])
        if unit is None:
            text = f"{match[1]} GBps may be MBps (--increase_output_precision up to 3.7), and nothing here proves which"
            self.run.add_event("unit_unproven", "warning", text, line.number)
            return
        # The sender's view: bytes handed to the socket.
        self.run.add_metric("throughput", quantity(match[1], unit), line.number, side="sender")

    # --- the histogram of a full log

    @data(
        r"histogram was built using the following parameters: "
        r"--h_bin_size_us=(\d{1,9}) --h_lower_range_us=(\d{1,9}) --h_upper_range_us=(\d{1,9})",
        hint="histogram was built",
    )
    def histogram(self, line: Line, match: re.Match[str]) -> None:
        self.bin_us = int(count(match[1]).value)

    @data(r"(\d{1,9})(?:-(\d{1,12}))?\s{2,}(\d{1,12})", hint=" ")
    def bucket(self, line: Line, match: re.Match[str]) -> None:
        if self.bin_us is None:
            self.run.add_event(
                "histogram_without_bins", "warning", "a histogram row whose bin width is not known", line.number
            )
            return
        scale = nanoseconds("2" if self.half else "1", "usec")
        low = int(match[1])
        # A row with two edges is that of the outliers; its upper edge is the maximum, cut.
        high = low + self.bin_us if match[2] is None else int(match[2]) + 1
        count_ = int(match[3])
        self.run.add_bucket(
            metric="rtt", stream=None, low_ns=low * scale, high_ns=high * scale, count=count_, line=line.number
        )

    # --- the rows of a full log, exact to the nanosecond: rxTime - txTime is the round trip in every version

    @data(r"packet, txTime\(sec\), rxTime\(sec\), (?:latency|rtt)\(usec\)", hint="packet, txTime")
    @data(r"txTime, rxTime", hint="txTime, rxTime")
    def full_log_header(self, line: Line, match: re.Match[str]) -> None:
        self.full_log = True

    @data(
        r"(?:(?P<packet>\d{1,15}), ?)?(?P<sent>\d{1,10}\.\d{9}), ?(?P<received>\d{1,10}\.\d{9})"
        r"(?:, ?(?P<printed>-?[\d.]+))?",
        hint=", ",
    )
    def row(self, line: Line, match: re.Match[str]) -> None:
        if not self.full_log:
            raise ValueError("a row under no header")
        sent = nanoseconds(match["sent"], "sec")
        if not self.sent:
            self.origin = sent
        self.sent.append(sent - self.origin)
        self.rtt.append(nanoseconds(match["received"], "sec") - sent)
        self.first_row, self.last_row = self.first_row or line.number, line.number

    @bulk(row)
    def rows(self, rows: UniformBlock, match: re.Match[str]) -> bool:
        found = rows.columns(match, packet=0, sent=9, received=9, printed=3) if self.full_log else None
        if found is None:
            return False
        if not self.sent:
            self.origin = int(found["sent"][0])
        self.sent.frombytes((found["sent"] - self.origin).tobytes())
        self.rtt.frombytes((found["received"] - found["sent"]).tobytes())
        self.first_row, self.last_row = self.first_row or rows.first, rows.last
        return True

    # --- server and failures

    @data(r"Total (\d+) messages received(?:, echoed messages \d+)? and handled.{0,80}", hint="received")
    def handled(self, line: Line, match: re.Match[str]) -> None:
        self.run.set(test="server", status="complete")
        self._counts(line, received=match[1])
        self.ended = True

    @data(r"ERROR: (.{0,300})", hint="ERROR: ")
    @data(r"(No messages were (?:sent|received from the server).{0,200})", hint="No messages were")
    @data(r"(No valid observations found.{0,200})", hint="No valid observations")
    @data(r"(Test end before test start.{0,200})", hint="Test end before")
    @data(r"(Test ends uncompleted.{0,200})", hint="Test ends uncompleted")
    def failure(self, line: Line, match: re.Match[str]) -> None:
        self.run.set(status="failed")
        self.run.add_event("failed", "error", f"sockperf measured nothing: {match[1].strip()}", line.number)
        self.ended = True

    @data(r"Usage: sockperf .{0,300}", hint="Usage: sockperf")
    def usage(self, line: Line, match: re.Match[str]) -> None:
        self.run.set(status="failed")
        self.run.add_event(
            "failed", "error", "sockperf printed its usage instead of a run; check the options", line.number
        )
        self.ended = True

    known = known(
        ("send on:", r"sockperf\[CLIENT\] send on:.{0,200}"),
        ("using ", r"(?:\[tid \d+\] )?using \w+\(\) to block on socket\(s\)"),
        ("Warmup stage", r"Warmup stage \(sending a few dummy messages\)\.\.\."),
        ("Starting test", r"Starting test\.\.\."),
        ("Test end", r"Test end(?:ed| \(interrupted by (?:timer|signal \d+)\)| \(reached packet number\))"),
        ("cleanupAfterLoop", r"cleanupAfterLoop\(\) exit"),
        ("RunTime Estimate", r"RunTime Estimate=[\d.]+ sec, Time out in [\d.]+ sec"),
        ("-----", r"-{20,60}"),
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
        ("--", r"--[\w-]+"),
        ("-Enables", r"-Enables non-blocking send operation.{0,80}"),
        ("-Increase", r"-Increase number of digits after decimal point.{0,120}"),
        ("dummy-send", r"optional: set dummy-send rate per second.{0,120}"),
        ("old compatibility", r"support --pps for old compatibility\)\."),
    )

    # --- helpers

    def _rtt(self, printed: Quantity) -> Quantity:
        return printed.doubled() if self.half else printed

    def _time(self, name: str, token: str, line: Line) -> None:
        self.run.add_metric(name, self._rtt(quantity(token, "usec")), line.number)

    def _proven_unit(self, token: str) -> str | None:
        """GBps is the label of two units; the message rate times the message size tells which (client.cpp 629)."""
        rate, size = self.run.value("message_rate"), self.run.row.get("message_bytes")
        if size is None:
            words = self.log.option("-m", "--msg-size")
            size = int(words) if words and words.isdigit() else None
        if rate is None:
            return None
        fitting = []
        for unit in ("sockperf MBps", "sockperf GBps"):
            printed = quantity(token, unit)
            slack = 0.01 * printed.value + (printed.resolution or 0)
            if size is None:
                fits = _SMALLEST_MESSAGE <= (printed.value + slack) / 8 / rate <= _LARGEST_MESSAGE
            else:
                fits = abs(printed.value - 8 * rate * size) <= slack
            if fits:
                fitting.append(unit)
        return fitting[0] if len(fitting) == 1 else None

    def _counts(self, line: Line, **tokens: str | None) -> None:
        for name, token in tokens.items():
            if token is not None:
                self.run.add_metric(name, count(token), line.number)

    def _next_server(self, line: Line, index: int) -> None:
        """Statistics of another server: another run of the same command."""
        self.finish_block(line.number - 1)
        shared = {
            name: self.run.row.get(name)
            for name in ("tool_version", "protocol", "warmup_ns", "message_bytes", "test", "status")
        }
        self.run = self.recorder.start_run("sockperf", line.number, **shared)
        self.server_index, self.observations, self.quantile_rows = index, None, []
        self.first_row = self.last_row = 0
        self.sent, self.rtt = array("q"), array("q")

    # --- the end

    def finish_block(self, last_line: int) -> None:
        """Complete the quantiles of one server and check what must hold."""
        run = self.run
        if self.observations:
            for line, row in self.quantile_rows:
                complete_quantile(row, self.observations, printed_rank(row["q"], self.observations))
                if not row["resolved"]:
                    text = f"p{100 * row['q']:g} of {self.observations} observations is their maximum"
                    run.add_event("percentile_is_max", "info", text, line.number)
        self._describe()
        self._check_unit()
        self._check_drops()
        self._check_length()
        self._store_rows()
        has_numbers = run.value("rtt_mean") is not None or run.value("throughput", side="sender") is not None
        end_run(run, has_numbers=has_numbers, ended=self.ended or 0 < self.last_row < last_line, last_line=last_line)

    def _store_rows(self) -> None:
        if not self.sent:
            return
        count = len(self.sent)
        self.run.add_samples(seq=range(count), sent_ns=self.sent, rtt_ns=self.rtt, status=["ok"] * count)
        if self.observations is not None and count != self.observations:
            text = f"{count} rows, but the block above counts {self.observations} observations"
            self.run.add_event("count_mismatch", "warning", text, self.first_row)

    def _check_drops(self) -> None:
        """Replies later than the cool-down count as dropped though every message was answered (trap S3)."""
        run = self.run
        lost, slowest = run.row_of("lost"), run.value("rtt_max") or 0.0
        sent, received = run.value("valid_sent"), run.value("valid_received")
        if lost is not None and lost["value"] and sent is not None and sent == received and slowest > _COOL_DOWN_NS:
            text = f"{lost['value']:.0f} 'dropped' though {sent:.0f} of {sent:.0f} were answered: replies after the end"
            run.add_event("false_drops", "warning", text, lost["line"])

    def _check_length(self) -> None:
        """Since 3.2 every run is 0.45 s shorter than asked: the timer is set without the head and the tail to drop."""
        lasted, asked = self.run.row.get("duration_ns"), self.run.row.get("requested_duration_ns")
        if (
            lasted
            and asked
            and self.run.row["status"] == "complete"
            and abs(asked - lasted - _SHORT_NS) < _SHORT_SLACK_NS
        ):
            text = f"{lasted / 1e9:g} s of the {asked / 1e9:g} s asked for: so is every run since 3.2 (client.cpp 58)"
            self.run.add_event("shorter_than_asked", "info", text, self.run.row["first_line"])

    def _describe(self) -> None:
        """Columns that follow from the command line or from the options line of a full log."""
        row, log = self.run.row, self.log
        options = self.full_log_options
        if options is not None:
            found = dict(word[2:].split("=", 1) for word in options.split() if "=" in word)
            told = {name: token for name, token in found.items() if _OPTION.fullmatch(token)}
            row["message_bytes"] = int(told["msg-size"]) if "msg-size" in told else None
            if "msg-size" not in found:
                row["message_bytes"] = _DEFAULT_MESSAGE_BYTES
            row["requested_duration_ns"] = nanoseconds(told["time"], "sec") if "time" in told else None
            if row.get("test") is None:
                # Only ping-pong keeps the built-in rate; under-load always has one of its own.
                paced = found.get("mps") not in ("600000", None)
                row["test"] = "under-load" if paced or found.get("reply-every", "1") != "1" else "ping-pong"
        words = log.arguments
        for test, spellings in _TESTS.items():
            if any(word in spellings for word in words):
                row["test"] = test
                if row.get("message_bytes") is None:
                    size = log.option("-m", "--msg-size")
                    row["message_bytes"] = int(size) if size and size.isdigit() else _DEFAULT_MESSAGE_BYTES
                seconds = log.option("-t", "--time")
                if seconds and seconds.isdigit():
                    row["requested_duration_ns"] = nanoseconds(seconds, "sec")
        if row.get("test") is None and (share := self._share()) is not None:
            # Only a closed loop spends its whole time in round trips.
            closed = min(abs(share - 0.5) / 0.5, abs(share - 1.0)) <= _SHARE_TOLERANCE
            row["test"] = "ping-pong" if closed else None
        if row.get("test") == "playback" and row.get("warmup_ns"):
            row["warmup_ns"] = 0  # printed, but nothing is left out (trap S8)
        if row.get("test") in ("ping-pong", "under-load"):
            row["closed_loop"] = row["test"] == "ping-pong"
        row["client"] = row.get("client") or log.host
        row["connections"] = 1 if row.get("server") else None

    def _share(self) -> float | None:
        """`closed_loop_share` with the mean as printed."""
        mean, duration = self.run.value("rtt_mean"), self.run.row.get("duration_ns")
        if mean is None or not duration or not self.observations:
            return None
        return closed_loop_share(self.observations, mean / 2 if self.half else mean, duration)

    def _check_unit(self) -> None:
        """The label says half or full round trip; the closed loop proves it (formats-latency 0, consequence 2)."""
        share = self._share()
        if share is None or self.run.row.get("test") != "ping-pong" or self.observations is None:
            return
        expected, other = (0.5, 1.0) if self.half else (1.0, 0.5)
        if abs(share - other) <= _SHARE_TOLERANCE * other:
            label = "half round trips" if self.half else "round trips"
            text = (
                f"labelled {label}, but n*mean/duration = {share:.3f} where {expected} is due; the log is mislabelled"
            )
            self.run.add_event("unit_conflict", "error", text, self.run.row["first_line"])


_TESTS = {
    "ping-pong": ("ping-pong", "pp"),
    "under-load": ("under-load", "ul"),
    "throughput": ("throughput", "tp"),
    "playback": ("playback", "pb"),
    "server": ("server", "sr"),
}


class SockperfParser:
    """Reads sockperf; see the module's docstring."""

    tool = "sockperf"
    commands = ("sockperf",)
    signatures = (
        Signature("== version #", re.compile(r"sockperf: ?== version #.{0,80}?==")),
        Signature("following parameters: --mps", re.compile(r"test was performed using the following parameters: .+")),
        Signature("Usage: sockperf", re.compile(r"Usage: sockperf .*")),
        Signature("[Total Run] RunTime", re.compile(r"(?:sockperf: )?\[Total Run\] RunTime=.*"), weak=True),
        Signature("Summary: ", re.compile(r"(?:sockperf: )?Summary: (?:Latency|Round trip) is .*"), weak=True),
        Signature("observations; each", re.compile(r"(?:sockperf: )?Total \d+ observations; each.{1,80}"), weak=True),
        Signature("====> avg-", re.compile(r"(?:sockperf: )?====> avg-(?:lat|latency|rtt)=.*"), weak=True),
    )

    def parse(self, log: Log, recorder: Recorder) -> None:
        """Read one log; several ``Server No:`` blocks become several runs."""
        reader = _Sockperf(log, recorder)
        reader.feed(log.lines, recorder.accounting)
        reader.finish_block(log.last_line)


PARSER = SockperfParser()
