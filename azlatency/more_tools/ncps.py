"""ncps 1.x and its predecessor cps (Microsoft): TCP connections per second, at the client or at the server.

::

       T(sec)        N   Pend   Failed   IOFail   Conn/s  Close/s RXkbyte/s TXkbyte/s  RT/i    c0/i c0rtt/i …
        1.001        0   1600        0        0  24152.0  22552.0   24151.0   24153.0     0   24152   10543 …

    === CMDLINE: ncps -c 10.2.3.4 -wt 30 -t 330
    ###RXGBPS 0.65
    === Time (ms) to Nth connection establishment for first 125000 connections:
    ===       N   T(ms)     CPS
    ===  100000    3925   25477
    ===  125000    5118   24423
    ###ENDCPS 24423
    === SYN RTT (us) stats for first 125000 connections:
    ===      P25   Median     Mean      P75      P90      P95      P99    P99.9   P99.99
    ===     3424     6221    18737    10893    17628    24607    54222  2027000  4057000
    ###REXMIT,rtconnpercentage:3.2825,rtperconn:1.1436

*Connection times.* The "SYN RTT" is the estimate of the kernel when the connection is established. It contains lost
SYNs (a second and more) and the load of the test itself, so it is not comparable with a round trip: the metrics are
``connect_…``, and the event ``connect_time`` says so. Values of 10 s and more are printed as 10 s in the percentiles.

*Ranks.* A percentile is the order statistic floor(n q). The mean is cut to whole microseconds, as are those of the
rows; the rates of connections are cut to whole numbers.

*Warm-up.* The numbers at the end leave out the time of ``-wt``; the rows do not. ``Failed`` and ``IOFail`` count from
the beginning of the test. A row has the state of one second: ``N`` and ``Pend`` are not stored.

*Lines starting with ###* repeat the numbers of the tables; a difference is an error.
"""

from __future__ import annotations

import re
from itertools import pairwise

from azlatency.logs.grammar.rules import Line, data, known
from azlatency.logs.grammar.units import Quantity, count, prefixed, quantity
from azlatency.logs.parsers import Log, Parser, Signature
from azlatency.logs.parsers.common import LogReader, complete_quantile, contradict, end_run
from azlatency.logs.record import Recorder, Run

_HEADER = (
    r"T\(sec\) {1,12}N {1,12}Pend {1,12}Failed {1,12}IOFail {1,12}Conn/s {1,12}Close/s {1,12}RXkbyte/s {1,12}TXkbyte/s"
    r" {1,12}RT/i {1,12}c0/i {1,12}c0rtt/i {1,12}cR/i {1,12}cRrtt/i(?:\\r)?"
)
_WHOLE, _TENTH = r" {1,12}(\d{1,15})", r" {1,12}(\d{1,12}\.\d)"
_ROW = rf"(\d{{1,9}}\.\d{{3}}){_WHOLE * 4}{_TENTH * 4}{_WHOLE * 5}(?: (REP)?)?"
_COMMAND = r"=== CMDLINE: (\S{0,300}?\bn?cps(?:\.exe)?(?: .{1,2000})?)"
_TIMES = r"=== Time \(ms\) to Nth connection establishment for first (\d{1,18}) connections:"
_RTTS = r"=== SYN RTT \(us\) stats for first (\d{1,18}) connections:"
_QUANTILES = {"P25": 0.25, "Median": 0.5, "P75": 0.75, "P90": 0.9, "P95": 0.95, "P99": 0.99, "P99.9": 0.999}
_QUANTILES["P99.99"] = 0.9999
_LABELS = {"25": "P25", "75": "P75", "90": "P90", "95": "P95", "99": "P99", "99.9": "P99.9", "99.99": "P99.99"}
_LONGEST_US = 10_000_000
_DEFAULT_BYTES = 1000
#: A longer value cannot be a number of these options.
_LONGEST_OPTION = 10


class _Ncps(LogReader):
    def __init__(self, log: Log, recorder: Recorder) -> None:
        super().__init__(log, recorder)
        self.run: Run
        self._begin(log.first_line)

    def _begin(self, line: int) -> None:
        self.run = self.recorder.start_run("ncps", line, test="connect", protocol="tcp", dialect="ncps")
        self.last_row_ns = 0
        self.failures: tuple[str, str, int] | None = None
        self.last_time: tuple[int, int] | None = None
        self.times: dict[str, str] = {}
        self.has_command = self.is_ended = False

    @data(_HEADER, hint="Pend")
    def header(self, line: Line, match: re.Match[str]) -> None:
        pass

    @data(_ROW, hint=".", shape=r"\s*(?:REP)?")
    def row(self, line: Line, match: re.Match[str]) -> None:
        end = int(quantity(match[1], "s").value)
        if end <= self.last_row_ns:
            raise ValueError("the time does not increase")
        common = {"start_ns": self.last_row_ns, "end_ns": end, "omitted": False, "line": line.number}
        for side, rate in (("receiver", match[8]), ("sender", match[9])):
            self.run.add_interval(
                side=side,
                **common,
                throughput_bit_s=quantity(rate, "ncps kbyte/s").value,
                throughput_printed_bit_s=quantity(rate, "ncps kbyte/s").value,
                operations_per_s=quantity(match[6], "/s").value,
                retransmits=int(match[10]),
            )
        self.last_row_ns, self.failures = end, (match[4], match[5], line.number)
        if match[15]:
            text = "local ports were used again: connections may have failed because the last ones still existed"
            if "ports_reused" not in self.run.codes:
                self.run.add_event("ports_reused", "info", text, line.number)

    @data(_COMMAND, hint="=== CMDLINE:")
    def command(self, line: Line, match: re.Match[str]) -> None:
        if self.has_command:
            self.finish(line.number - 1)
            self._begin(line.number)
        self.has_command = True
        words = match[1].split()
        options = {word: value for word, value in pairwise(words) if len(value) < _LONGEST_OPTION}
        is_server = "-s" in words
        program = "ncps" if "ncps" in words[0] else "cps"
        self.run.set(command=match[1], dialect=f"{program}-{'server' if is_server else 'client'}")
        for option, column in (("-t", "requested_duration_ns"), ("-wt", "warmup_ns")):
            if options.get(option, "").isdecimal():
                self.run.set(**{column: int(quantity(options[option], "s").value)})
        if options.get("-N", "").isdecimal():
            self.run.set(connections=int(options["-N"]))
        if program == "ncps" and options.get("-M") != "0":
            size = options.get("-len", "")
            self.run.set(message_bytes=int(size) if size.isdecimal() else _DEFAULT_BYTES)
        if program == "ncps" and not is_server:
            self.run.set(server=words[words.index("-c") + 1] if "-c" in words[:-1] else None)
        # cps -c local,port,remote,port,…
        for word in words if program == "cps" else ():
            if word.count(",") >= 3:
                self.run.set(server=word.split(",")[2])

    @data(r"=== VERSION (\d{1,3}\.\d{1,3})", hint="=== VERSION")
    def version(self, line: Line, match: re.Match[str]) -> None:
        self.run.set(tool_version=match[1])

    @data(r"###(RX|TX)GBPS (\d{1,9}\.\d\d)", hint="GBPS")
    def rate(self, line: Line, match: re.Match[str]) -> None:
        name = "receive_rate" if match[1] == "RX" else "send_rate"
        self.run.add_metric(name, quantity(match[2], "Gbits/sec"), line.number)

    # --- connections

    @data(_TIMES, hint="=== Time")
    @data(_RTTS, hint="=== SYN RTT")
    def number(self, line: Line, match: re.Match[str]) -> None:
        self.run.add_metric("observations", count(match[1]), line.number)

    @data(r"=== {1,20}(\d{1,18}) {1,20}(\d{1,12}) {1,20}(\d{1,12})", hint="===")
    def time_to(self, line: Line, match: re.Match[str]) -> None:
        number, time, rate = match.groups()
        self._check_rate(int(number), int(time), int(rate), line)
        self.run.add_metric("time_to_connections", quantity(time, "ms"), line.number, stream=number, scope="stream")
        self.run.add_metric("connection_rate", _cut(rate, "/s"), line.number, stream=number, scope="stream")
        self.last_time = int(number), int(time)
        self.run.set(duration_ns=int(quantity(time, "ms").value))

    def _check_rate(self, number: int, time_ms: int, rate: int, line: Line) -> None:
        # 1.0 divides a rounded time.
        if time_ms <= 0 or abs(number / time_ms - rate / 1000) > 0.002 + number / time_ms / time_ms:
            text = f"{number} connections in {time_ms} ms are not {rate} per second"
            contradict(self.run, "rate_mismatch", text, line.number)

    @data(r"###ENDCPS (\d{1,12})", hint="###ENDCPS")
    def end_rate(self, line: Line, match: re.Match[str]) -> None:
        if self.last_time is not None:
            self._check_rate(*self.last_time, int(match[1]), line)
        self.run.add_metric("connection_rate", _cut(match[1], "/s"), line.number)

    @data(r"###CPS((?:,\d{1,18}:\d{1,12}){1,20000})", hint="###CPS,")
    def times_again(self, line: Line, match: re.Match[str]) -> None:
        for pair in match[1].split(",")[1:]:
            number, time = pair.split(":")
            value = quantity(time, "ms")
            self.run.add_metric("time_to_connections", value, line.number, stream=number, scope="stream")

    # --- connection times

    @data(rf"===((?: {{1,20}}-?\d{{1,12}}){{{len(_QUANTILES) + 1}}})", hint="===")
    def time_row(self, line: Line, match: re.Match[str]) -> None:
        labels = [*list(_QUANTILES)[:2], "Mean", *list(_QUANTILES)[2:]]
        self._add_times(dict(zip(labels, match[1].split(), strict=True)), line)

    @data(r"###SYNRTT((?:,[\w.]{1,9}:-?\d{1,12}){9})", hint="###SYNRTT")
    def times_line(self, line: Line, match: re.Match[str]) -> None:
        pairs = (pair.split(":") for pair in match[1].split(",")[1:])
        self._add_times({_LABELS.get(label, label): value for label, value in pairs}, line)

    def _add_times(self, values: dict[str, str], line: Line) -> None:
        if self.times:
            if self.times != values:
                contradict(self.run, "value_conflict", "the times differ from those of the table above", line.number)
            return
        if set(values) != {*_QUANTILES, "Mean"}:
            raise ValueError("other percentiles")
        self.times = values
        self.run.add_metric("connect_mean", _cut(values["Mean"], "us"), line.number)
        number = self.run.value("observations")
        for label, q in _QUANTILES.items():
            if int(values[label]) < 0:
                continue  # fewer connections than the percentile needs
            if int(values[label]) >= _LONGEST_US:
                text = f"{label} is 10 s or more; ncps counts no longer times, so it is left out"
                self.run.add_event("capped", "warning", text, line.number)
                continue
            row = self.run.add_quantile(q, quantity(values[label], "us"), line.number, metric="connect")
            if row is not None and number:
                complete_quantile(row, int(number), int(number * round(q * 10_000)) // 10_000)
        text = "a TCP connect takes longer than a round trip; the times are stored as connect_*, not as rtt_*"
        self.run.add_event("connect_time", "info", text, line.number)

    # --- retransmissions

    @data(
        r"=== Percentage of connections with retransmits in the first \d{1,18} connections: (?P<share>\d{1,3}\.\d{4})%",
        hint="=== Percentage",
    )
    @data(r"=== Average retransmit count per connection \(.{1,60}\): (?P<times>\d{1,9}\.\d{4})", hint="=== Average")
    @data(
        r"(###)REXMIT,rtconnpercentage:(?P<share>\d{1,3}\.\d{4}),rtperconn:(?P<times>\d{1,9}\.\d{4})", hint="###REXMIT"
    )
    def retransmits(self, line: Line, match: re.Match[str]) -> None:
        values = match.groupdict()
        if "share" in values:
            self.run.add_metric("retransmitted_share", quantity(match["share"], "%"), line.number)
        if "times" in values:
            self.run.add_metric("retransmits_per_connection", quantity(match["times"], "ncps times"), line.number)
        self.is_ended |= match[1] == "###"

    @data(r"!!!NO CONNECTIONS WERE ESTABLISHED!!!", hint="!!!NO")
    def nothing(self, line: Line, match: re.Match[str]) -> None:
        self.run.add_event("failed", "error", "no connection was established", line.number)
        self.run.set(status="failed")

    @data(r"FAILURE -?\d{1,9} at .{1,300}|.{1,200} \(\S{1,200}\.c:\d{1,6} \w{1,60}\)", hint=" ")
    def error(self, line: Line, match: re.Match[str]) -> None:
        contradict(self.run, "failed", f"ncps stopped: {match[0]}", line.number)

    known = known(
        ("=== ", r"=== {1,20}N {1,20}T\(ms\) {1,20}CPS"),
        ("Median", r"=== {1,20}P25 {1,20}Median .{1,100}"),
        ("AFFINITY", r"AFFINITY: [\d,]{0,4000}"),
    )

    def finish(self, last_line: int) -> None:
        run = self.run
        if self.failures is not None:
            failed, lost, line = self.failures
            run.add_counts(line, connection_failures=failed, io_failures=lost)
        has_numbers = run.value("connection_rate") is not None or self.failures is not None
        end_run(run, has_numbers=has_numbers, ended=self.is_ended, last_line=last_line)


def _cut(token: str, unit: str) -> Quantity:
    """Read a number that was cut to a whole one: it may be up to 1 greater."""
    printed = quantity(token, unit)
    return printed.with_resolution(2 * printed.half)


class NcpsParser(Parser):
    """Reads ncps and cps; see `azlatency.more_tools.ncps`."""

    tool = "ncps"
    reader = _Ncps
    commands = ("ncps", "cps")
    units = prefixed("bit/s", "k", 1000, "byte/s", factor=8, tool="ncps") | {"ncps times": ("count", 1)}
    signatures = (
        Signature("Pend", _HEADER),
        Signature("=== CMDLINE:", _COMMAND, weak=True),
        Signature("=== Time", _TIMES, weak=True),
        Signature("###ENDCPS", r"###ENDCPS \d{1,12}", weak=True),
        Signature("=== SYN RTT", _RTTS, weak=True),
        Signature("###SYNRTT", r"###SYNRTT,25:-?\d{1,18},.{1,300}", weak=True),
    )


PARSER = NcpsParser()
