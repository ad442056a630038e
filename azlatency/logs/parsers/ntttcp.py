"""ntttcp for Linux (console, XML, JSON) and for Windows (console, XML); sender and receiver write a log each.

    NTTTCP for Linux 1.4.0
    ---------------------------------------------------------
    17:17:07 INFO: 64 connections created in 19898 microseconds
    Real-time throughput: 5.52Gbps
    17:18:07 INFO: #####  Totals:  #####
    17:18:07 INFO: test duration    :10.80 seconds
    17:18:07 INFO: total bytes      :132878434304
    17:18:07 INFO:   throughput     :98.39Gbps
    17:18:07 INFO:   retrans segs   :7079
    17:18:07 INFO: cpu cores        :8
    17:18:07 INFO:   user           :2.57%
    17:18:07 INFO:   cycles/byte    :1.69
    17:18:07 INFO: cpu busy (all)   :461.15%

       Bytes(MEG)    realtime(s) Avg Frame Size Throughput(MB/s)       Windows
    ================ =========== ============== ================
        34243.000000     300.005       1417.829          114.141

    <ntttcps computername="az1a" version="5.33-linux">                 -x; -j has the same names in JSON
        <total_bytes metric="MB">1392.984336</total_bytes>
        <throughput metric="mbps">3720.571</throughput>

Versions seen: Linux 1.1.0 to 1.4.3, Windows 5.33 and 5.39. Two logs of one test are two sources with a run each:
``dialect`` and the ``side`` of the metrics say which end printed it. Units: the console of Linux counts in powers of
1000, Windows' MEG, MB and KB in powers of 1024. XML of Linux changed in May 2021: before, MB were 2**20 bytes (cut to
a whole number) and mbps 2**20 bit/s. Decimals of ``total_bytes`` or a rate in ``Bps`` show the newer one; its
``version="5.33-linux"`` says nothing.

``retransmits`` counts the segments of the whole machine (scope host); ``user`` to ``softirq`` are the machine's,
``cpu busy (all)`` is the process's share and passes 100 % on several processors: ``cpu_process``. ``test duration``
is measured, the negotiated cycle time is not the duration. ``tcpi rtt`` is what the TCP stack saw under load:
``tcp_rtt_mean``.

Real-time lines carry no time, only the order they came in, so they become no intervals. Ignored beside them: kinds of
retransmits, interrupts, threads' real times, settings; and in XML and JSON of Linux the zeros of what only Windows
measures.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from azlatency.logs import json_tokens
from azlatency.logs.grammar import DATA, KNOWN, Line, LineAccounting, LineLog, data, known
from azlatency.logs.parsers import Log, Signature
from azlatency.logs.parsers.common import end_run, unfinished_line
from azlatency.logs.record import Recorder
from azlatency.logs.units import Quantity, count, exact_bytes, nanoseconds, quantity, scale

_OVERRUN = 1.05
_LEVEL = re.compile(r"(\*\*)?\d\d:\d\d:\d\d (INFO|ERR|DBG) ?:\s?")
_ADDRESS = re.compile(r"[\w.:-]{2,253}")
_RECEIVER_IS_SILENT = (1, 3, 4)


@dataclass(frozen=True, slots=True)
class _Value:
    """A number read, before the side is known."""

    metric: str
    quantity: Quantity
    line: int
    stream: str | None = None
    scope: str = "run"


class _Result:
    """The run of one log: what its readers collect, and the tables that follow."""

    def __init__(self, log: Log, recorder: Recorder, first_line: int, form: str) -> None:
        self.log = log
        self.run = recorder.start_run("ntttcp", first_line, last_line=log.last_line, test="stream")
        self.form = form
        self.role: str | None = None
        self.values: list[_Value] = []
        self.duration: Quantity | None = None
        self.errors: list[tuple[int, str]] = []
        self.interrupted: int | None = None
        self.ended = False
        self.host: str | None = None
        self.address: str | None = None
        self.command: str | None = None

    def add(self, metric: str, value: Quantity, line: int, *, stream: str | None = None, scope: str = "run") -> None:
        """Keep a number until the side is known."""
        self.values.append(_Value(metric, value, line, stream, "stream" if stream is not None else scope))

    def get(self, metric: str) -> _Value | None:
        """The number of the whole run kept under that name."""
        return next((one for one in self.values if one.metric == metric and one.stream is None), None)

    @property
    def has_totals(self) -> bool:
        """Whether the log gives a result."""
        return self.get("throughput") is not None or self.get("transferred") is not None

    def finish(self, last_line: int) -> None:
        """Write the run."""
        self._command()
        self._ends()
        row = self.run.row
        row["dialect"] = f"ntttcp-{self.form}" + (f"-{self.role}" if self.role else "")
        for one in self.values:
            self.run.add_metric(one.metric, one.quantity, one.line, side=self.role, stream=one.stream, scope=one.scope)
        connections = self.get("connections")
        if connections is not None:
            row["connections"] = int(connections.quantity.value)
        if row.get("protocol") is None and self.get("retransmits") is not None:
            row["protocol"] = "tcp"
        self._check_rate()
        self._check_duration()
        self._status(last_line)

    def _command(self) -> None:
        """What the command line says where the log does not."""
        if self.command is not None:
            self.run.set(command=self.command)
            self.log = replace(self.log, command=self.command)
        words, row = self.log.arguments, self.run.row
        if not words:
            return
        for word in words[1:]:
            if word.startswith(("-s", "-r")) and not word.startswith("--"):
                self.role = self.role or ("sender" if word[1] == "s" else "receiver")
        address = self._commanded_address(words)
        self.address = self.address or address
        if row.get("protocol") is None:
            row["protocol"] = "udp" if "-u" in words else "tcp"
        for column, option in (("requested_duration_ns", "-t"), ("warmup_ns", "-W")):
            value = self.log.option(option)
            if row.get(column) is None and value is not None and value.isdigit():
                row[column] = nanoseconds(value, "sec")

    def _commanded_address(self, words: list[str]) -> str | None:
        for word, following in zip(words, [*words[1:], ""], strict=True):
            mapping = following if word == "-m" else word[2:] if word.startswith("-m") else ""
            found = mapping.split(",")[2] if mapping.count(",") == 2 else None
            if word in ("-s", "-r") and not following.startswith("-"):
                found = following
            elif word[:2] in ("-s", "-r") and len(word) > 2 and not word.startswith("--"):
                found = word[2:]
            if found and _ADDRESS.fullmatch(found):
                return found
        return None

    def _ends(self) -> None:
        """The receiver listens: it is the server, whichever end wrote the log."""
        row = self.run.row
        host = self.host or self.log.host
        row["server"] = self.address or (host if self.role == "receiver" else None)
        if self.role == "sender":
            row["client"] = row.get("client") or host

    def _check_rate(self) -> None:
        rate, size = self.get("throughput"), self.get("transferred")
        if rate is None or size is None or self.duration is None or not self.duration.value:
            return
        slack = self.duration.resolution or 0.0
        half = size.quantity.resolution or 0.0
        low = 8e9 * (size.quantity.value - half) / (self.duration.value + slack)
        high = 8e9 * (size.quantity.value + half) / max(self.duration.value - slack, 1.0)
        # The tool divides by a time of its own that differs a little from the printed one (ratios 0.9991 to 1.0004).
        margin = (rate.quantity.resolution or 0.0) + 2e-3 * rate.quantity.value
        if not low - margin <= rate.quantity.value <= high + margin:
            text = f"{rate.quantity.printed} is not {size.quantity.printed} in {self.duration.printed} s"
            self.run.add_event("rate_mismatch", "warning", text, rate.line)

    def _check_duration(self) -> None:
        requested, measured = self.run.row.get("requested_duration_ns"), self.run.row.get("duration_ns")
        if requested and measured and measured > _OVERRUN * requested:
            text = f"measured over {measured / 1e9:g} s where {requested / 1e9:g} s were asked for"
            self.run.add_event("duration_overrun", "info", text, self.run.row["first_line"])

    def _status(self, last_line: int) -> None:
        run = self.run
        if self.has_totals:
            for line, text in self.errors:
                run.add_event("tool_error", "warning", f"ntttcp said: {text}", line)
            if self.interrupted is not None:
                run.set(status="interrupted")
                text = "ended by Ctrl-C; the totals cover what there was"
                run.add_event("interrupted", "warning", text, self.interrupted)
        elif self.errors:
            line, text = self.errors[0]
            run.set(status="failed")
            run.add_event("failed", "error", f"ntttcp measured nothing: {text}", line)
        elif self.interrupted is not None:
            run.set(status="no_data")
            run.add_event("no_data", "error", "ended by Ctrl-C before any result", self.interrupted)
        end_run(run, has_numbers=self.has_totals, ended=self.ended, last_line=last_line)


class _Console(LineLog):
    """The console of Linux and of Windows."""

    def __init__(self, log: Log, recorder: Recorder) -> None:
        self.log, self.recorder = log, recorder
        self.result = _Result(log, recorder, log.first_line, "linux-console")
        self.unfinished = unfinished_line(log)
        self.version: str | None = None
        self.sends = self.listens = self.totals = False
        self.level: str | None = None
        self.columns: list[str] = []

    def read(self, line: Line, accounting: LineAccounting) -> bool:
        """Read the line without its time of day and level; both ends of emphasis in a notes file go too."""
        text = line.text.strip()
        found = _LEVEL.match(text)
        self.level = found[2] if found else None
        if found:
            text = text[found.end() :]
            if found[1]:
                text = text.removesuffix("**")
        if self.level == "ERR":
            self.result.errors.append((line.number, text.strip()))
            accounting.mark(line.number, DATA)
            return True
        return super().read(Line(line.number, text), accounting)

    def close(self, last_line: int) -> None:
        """Settle which end it was, and write the run."""
        result = self.result
        if result.role is None and self.sends:
            result.role = "sender"
        if result.role is None and self.listens:
            result.role = "receiver"
        if result.role is None and self.totals and self._prints_connections():
            # A sender of this version says how many connections it tested.
            result.role = "receiver"
        result.finish(last_line)

    def _prints_connections(self) -> bool:
        parts = (self.version or "0").split(".")
        return all(part.isdigit() for part in parts) and tuple(map(int, parts)) >= _RECEIVER_IS_SILENT

    # --- what was run

    @data(r"NTTTCP for Linux (\S{1,40})", hint="NTTTCP for Linux")
    def banner(self, line: Line, match: re.Match[str]) -> None:
        self.version = match[1]
        self.result.run.set(tool_version=match[1])

    @data(r"Copyright Version (\S{1,40})", hint="Copyright Version")
    def windows_banner(self, line: Line, match: re.Match[str]) -> None:
        self.version = None
        self.result.form = "windows-console"
        self.result.run.set(tool_version=match[1])

    @data(r"\*\*\* (sender|receiver) role", hint=" role")
    def role(self, line: Line, match: re.Match[str]) -> None:
        self.result.role = match[1]

    @data(r"server address:\s{1,40}(\S{1,253})", hint="server address:")
    def server_address(self, line: Line, match: re.Match[str]) -> None:
        self.result.address = match[1]

    @data(r"protocol:\s{1,40}(TCP|UDP)", hint="protocol:")
    def protocol(self, line: Line, match: re.Match[str]) -> None:
        self.result.run.set(protocol=match[1].lower())

    @data(r"test (warm-up|duration) \(sec\):\s{1,40}(\d{1,9})", hint="(sec):")
    def setting(self, line: Line, match: re.Match[str]) -> None:
        column = "warmup_ns" if match[1] == "warm-up" else "requested_duration_ns"
        self.result.run.set(**{column: nanoseconds(match[2], "sec")})

    @data(r"(\d{1,9}) connections created in \d{1,15} microseconds", hint="connections created")
    def created(self, line: Line, match: re.Match[str]) -> None:
        self.sends = True
        self.result.run.set(connections=int(match[1]))

    @data(r"(\d{1,9}) connections tested", hint="connections tested")
    def tested(self, line: Line, match: re.Match[str]) -> None:
        self.sends = True
        self.result.add("connections", count(match[1]), line.number)

    @data(r"Starting sender activity \(no sync\) \.\.\.", hint="Starting sender")
    @data(r"receiver exited from current test", hint="receiver exited")
    @data(r"(?:New|Sync) connection: local:\d{1,5} \[socket:\d{1,9}\] --> \S{1,260}", hint="connection: local:")
    def sending(self, line: Line, match: re.Match[str]) -> None:
        self.sends = True

    @data(r"ntttcp server is listening on \S{1,260}", hint="is listening on")
    @data(r"(?:New|Sync) connection: \S{1,260} --> local:\d{1,5} \[socket \d{1,9}\]", hint="--> local:")
    def receiving(self, line: Line, match: re.Match[str]) -> None:
        self.listens = True

    @data(r"Interrupted by Ctrl\+C", hint="Ctrl+C")
    def stopped(self, line: Line, match: re.Match[str]) -> None:
        # A receiver that serves for ever is always stopped so; that is no part of the tests above.
        if not self.totals:
            self.result.interrupted = line.number

    @data(r"(test exited because (?:sender|receiver) side was interrupted)", hint="was interrupted")
    def other_end(self, line: Line, match: re.Match[str]) -> None:
        # Printed as well where the other end has merely finished first; the duration is the measured one.
        self.result.run.add_event("message", "info", f"ntttcp said: {match[1]}", line.number)

    @data(r"(?:\S{0,60}/)?ntttcp(?:\.exe)? -\S.{0,500}", hint="ntttcp")
    def command_line(self, line: Line, match: re.Match[str]) -> None:
        self.result.command = match[0]

    # --- totals of Linux

    @data(r"#{5}\s{1,4}Totals:\s{1,4}#{5}", hint="Totals:")
    def begin_totals(self, line: Line, match: re.Match[str]) -> None:
        if self.totals:
            # A receiver that loops prints one block for each test.
            row = self.result.run.row
            self.close(line.number - 1)
            self.result = _Result(self.log, self.recorder, line.number, "linux-console")
            self.result.run.set(tool_version=row.get("tool_version"), protocol=row.get("protocol"))
        self.totals = True

    @data(r"test duration\s{0,20}:([\d.]{1,15}) seconds", hint="test duration")
    def duration(self, line: Line, match: re.Match[str]) -> None:
        self.result.duration = quantity(match[1], "sec")
        self.result.run.set(duration_ns=nanoseconds(match[1], "sec"))

    def _cut(self, line: Line) -> bool:
        """Whether the number at the end of the line may have lost digits: no unit and no line feed follow it."""
        cut = line.number == self.unfinished
        if cut:
            text = "the last line is cut, its number is left out"
            self.result.run.add_event("unfinished_line", "info", text, line.number)
        return cut

    @data(r"total bytes\s{0,20}:(\d{1,20})", hint="total bytes")
    def total_bytes(self, line: Line, match: re.Match[str]) -> None:
        if self._cut(line):
            return
        self.result.add("transferred", exact_bytes(match[1]), line.number)

    @data(r"throughput\s{0,20}:([\d.]{1,15})([KMGT]?bps)", hint="throughput")
    def throughput(self, line: Line, match: re.Match[str]) -> None:
        self.result.add("throughput", quantity(match[1], match[2]), line.number)

    @data(r"(\d{1,6})\s{1,20}([\d.]{1,15})\s{1,20}([\d.]{1,15})([KMGT]?bps)", hint="bps")
    def thread(self, line: Line, match: re.Match[str]) -> None:
        self.result.add("throughput", quantity(match[3], match[4]), line.number, stream=match[1])

    @data(r"(retrans segs|tx_packets|rx_packets|cpu cores)\s{0,20}:(\d{1,20})", hint=":")
    def whole(self, line: Line, match: re.Match[str]) -> None:
        if self._cut(line):
            return
        metrics = {
            "retrans segs": "retransmits",
            "tx_packets": "packets_sent",
            "rx_packets": "packets_received",
            "cpu cores": "cpu_cores",
        }
        self.result.add(metrics[match[1]], count(match[2]), line.number, scope="host")

    @data(r"cpu speed\s{0,20}:([\d.]{1,15})MHz", hint="cpu speed")
    def speed(self, line: Line, match: re.Match[str]) -> None:
        self.result.add("cpu_frequency", quantity(match[1], "MHz"), line.number, scope="host")

    @data(r"(user|system|idle|iowait|softirq)\s{0,20}:([\d.]{1,8})%", hint="%")
    def machine(self, line: Line, match: re.Match[str]) -> None:
        self.result.add(f"cpu_{match[1]}", quantity(match[2], "%"), line.number, scope="host")

    @data(r"(total cpu|user|system) time\s{0,20}:([\d.]{1,8})%", hint=" time")
    def process_times(self, line: Line, match: re.Match[str]) -> None:
        name = "cpu_process" if match[1] == "total cpu" else f"cpu_{match[1]}"
        self.result.add(name, quantity(match[2], "%"), line.number, scope="process")

    @data(r"cycles/byte\s{0,20}:([\d.]{1,15})", hint="cycles/byte")
    def cycles(self, line: Line, match: re.Match[str]) -> None:
        if self._cut(line):
            return
        self.result.add("cycles_per_byte", quantity(match[1], "cycles/byte"), line.number, scope="host")
        if self.version is not None and self.version.startswith("1.1"):
            self.result.ended = True

    @data(r"cpu busy \(all\)\s{0,20}:([\d.]{1,8})%", hint="cpu busy")
    def busy(self, line: Line, match: re.Match[str]) -> None:
        self.result.add("cpu_process", quantity(match[1], "%"), line.number, scope="process")
        self.result.ended = True

    @data(r"tcpi rtt\s{0,20}:(\d{1,12}) us", hint="tcpi rtt")
    def tcp_rtt(self, line: Line, match: re.Match[str]) -> None:
        self.result.add("tcp_rtt_mean", quantity(match[1], "us"), line.number)

    # --- totals of Windows: a line of names, a line of bars, a line of numbers

    @data(r"(?:Bytes\(MEG\)|Throughput\(Buffers/s\)|DPCs\(count/s\)|Packets Sent|Thread\s).{0,400}", hint=" ")
    def names(self, line: Line, match: re.Match[str]) -> None:
        self.columns = _COLUMN.findall(match[0])
        if self.result.form != "windows-console" and "Throughput(KB/s)" in self.columns:
            self.result.form = "windows-console"

    @data(r"[\d.]{1,20}(?:\s{1,20}[\d.]{1,20}){1,20}", hint="")
    def numbers(self, line: Line, match: re.Match[str]) -> None:
        if self._cut(line):
            return
        tokens = match[0].split()
        if len(tokens) != len(self.columns):
            text = f"{len(tokens)} numbers under {len(self.columns)} names"
            self.result.run.add_event("column_mismatch", "error", text, line.number)
            return
        found = dict(zip(self.columns, tokens, strict=True))
        if "Thread" in found:
            if float(found["Time(s)"]) > 0:
                rate = quantity(found["Throughput(KB/s)"], "ntttcp KB/s")
                self.result.add("throughput", rate, line.number, stream=found["Thread"])
            return
        for name, token in found.items():
            self._windows(name, token, line)

    def _windows(self, name: str, token: str, line: Line) -> None:
        result = self.result
        if name == "realtime(s)":
            result.duration = quantity(token, "sec")
            result.run.set(duration_ns=nanoseconds(token, "sec"))
        elif name in _WINDOWS:
            metric, unit, scope = _WINDOWS[name]
            result.add(metric, quantity(token, unit) if unit else count(token), line.number, scope=scope)
        if name == "Avg. CPU %":
            result.ended = True

    known = known(
        ("-----", r"-{20,80}"),
        ("=====", r"={4,40}(?:\s{1,8}={4,40}){0,20}"),
        ("Real-time throughput", r"Real-time throughput: [\d.]{1,15}[KMGT]?bps"),
        ("threads created", r"\d{1,9} threads created"),
        ("negotiated is", r"[Tt]est (?:cycle time|duration) negotiated is: \d{1,9} seconds"),
        ("Network activity", r"Network activity progressing\.\.\."),
        ("Test ", r"Test (?:warmup completed|run completed|cycle finished)\."),
        ("Test cooldown", r"Test cooldown is in progress\.\.\."),
        ("***", r"\*\*\* .{1,120}"),
        (
            ":",
            _SETTINGS := (
                r"(?:connections|threads|ports|cpu affinity|client address|domain|server port starting at|"
                r"(?:sender|receiver) socket buffer \(bytes\)|tcp nodelay|test (?:warm-up|duration|cool-down) \(sec\)|"
                r"show system tcp retransmit|show .{1,40}|save output to (?:xml|json) file:?|quiet mode|verbose mode|"
                r"bandwidth limit.{0,40}|hint.{0,40}):\s{1,40}\S.{0,200}"
            ),
        ),
        ("UDP send size", r"the UDP send size is too big\. use the max value.{0,40}"),
        ("user limits", r"user limits for maximum number of open files: .{1,80}"),
        ("Interface:", r"Interface:\[\S{1,40}\]\s{1,20}Address: \S{1,80}"),
        ("socket closed", r"socket closed: \d{1,9}"),
        ("Thread", r"Thread\s{1,20}Time\(s\)\s{1,20}Throughput"),
        ("tcp retransmit:", r"tcp retransmit:"),
        ("/sec", r"\w{1,30}/sec\s{0,20}:[\d.]{1,20}"),
        ("_retrans", r"\w{1,30}\s{0,20}:[\d.]{1,20}"),
        ("packets:", r"total packets:"),
        ("interrupt", r"interrupts:|pkts/interrupt\s{0,20}:[\d.]{1,20}"),
        ("total", r"total\s{0,20}:\d{1,20}"),
        ("cpu cycles", r"cpu cycles\s{0,20}:\d{1,20}"),
    )


_COLUMN = re.compile(
    r"Bytes\(MEG\)|realtime\(s\)|Avg Frame Size|Throughput\((?:MB|KB|Buffers)/s\)|Cycles/Byte|Buffers|DPCs\(count/s\)|"
    r"Pkts\(num/(?:DPC|intr)\)|Intr\(count/s\)|Packets Sent|Packets Received|Retransmits|Errors|Avg\. CPU %|Thread|"
    r"Time\(s\)|Avg B / Compl"
)
_WINDOWS = {
    "Bytes(MEG)": ("transferred", "MEG", "run"),
    "Throughput(MB/s)": ("throughput", "ntttcp MB/s", "run"),
    "Cycles/Byte": ("cycles_per_byte", "cycles/byte", "host"),
    "Packets Sent": ("packets_sent", None, "host"),
    "Packets Received": ("packets_received", None, "host"),
    "Retransmits": ("retransmits", None, "host"),
    "Errors": ("errors", None, "run"),
    "Avg. CPU %": ("cpu_busy", "%", "host"),
}


class _Fields:
    """The named numbers of an XML or JSON report: the same names, JSON's in camel case."""

    def __init__(self, result: _Result, *, linux: bool) -> None:
        self.result, self.linux = result, linux
        self.rates: dict[str, tuple[str, int]] = {}
        self.size: tuple[str, int] | None = None
        self.udp = False

    def take(self, name: str, metric: str | None, token: str, line: int) -> bool:
        """Read one number; false where it is nothing to keep."""
        token = token.strip()
        if not re.fullmatch(r"-?[\d.]{1,30}", token):
            return self._word(name, token)
        if name == "throughput":
            self.rates[metric or ""] = (token, line)
            return (metric or "").lower() in ("mbps", "bps", "mb/s")
        if name == "total_bytes":
            self.size = (token, line)
            return True
        if name == "realtime":
            self.result.duration = quantity(token, "s")
            self.result.run.set(duration_ns=nanoseconds(token, "s"))
            return True
        if name in ("run_time", "warmup_time"):
            column = "requested_duration_ns" if name == "run_time" else "warmup_ns"
            if token.isdigit():
                self.result.run.set(**{column: nanoseconds(token, "s" if self.linux else "ms")})
            return True
        return self._plain(name, token, line)

    def _word(self, name: str, token: str) -> bool:
        if name == "udp" and token in ("True", "False"):
            self.udp = token == "True"
            self.result.run.set(protocol="udp" if self.udp else "tcp")
            return True
        return False

    def _plain(self, name: str, token: str, line: int) -> bool:
        if name not in _NAMES or (name == "packets_retransmitted" and self.udp and self.linux):
            return False
        metric, unit, scope = _NAMES[name]
        if self.linux and name in ("packets_sent", "packets_received"):
            return False
        if name == "cpu":
            metric, scope = ("cpu_process", "process") if self.linux else ("cpu_busy", "host")
        self.result.add(metric, quantity(token, unit) if unit else count(token), line, scope=scope)
        return True

    def finish(self) -> None:
        """Size and rate, once the log has shown what its MB are."""
        if self.size is None:
            return
        token, line = self.size
        old = self.linux and "." not in token and "Bps" not in self.rates
        if old:
            self.result.form = self.result.form.replace("-xml", "-xml-pre2021").replace("-json", "-json-pre2021")
            text = "MB are 2**20 bytes and mbps 2**20 bit/s here: written before May 2021"
            self.result.run.add_event("unit_epoch", "info", text, line)
            whole = quantity(token, "MEG")
            # Cut, not rounded: up to one MB more.
            self.result.add("transferred", Quantity(whole.value, "bytes", token, scale("MEG")), line)
        else:
            self.result.add("transferred", quantity(token, "MB" if self.linux else "MEG"), line)
        if "mbps" in self.rates:
            token, line = self.rates["mbps"]
            self.result.add("throughput", quantity(token, "ntttcp old mbps" if old else "Mbps"), line)


_NAMES: dict[str, tuple[str, str | None, str]] = {
    "conns_tested": ("connections", None, "run"),
    "packets_sent": ("packets_sent", None, "host"),
    "packets_received": ("packets_received", None, "host"),
    "packets_retransmitted": ("retransmits", None, "host"),
    "errors": ("errors", None, "run"),
    "cpu_cores": ("cpu_cores", None, "host"),
    "cpu_speed": ("cpu_frequency", "MHz", "host"),
    "user": ("cpu_user", "%", "host"),
    "system": ("cpu_system", "%", "host"),
    "idle": ("cpu_idle", "%", "host"),
    "iowait": ("cpu_iowait", "%", "host"),
    "softirq": ("cpu_softirq", "%", "host"),
    "cycles": ("cycles_per_byte", "cycles/byte", "host"),
    "cycles_per_byte": ("cycles_per_byte", "cycles/byte", "host"),
    "cpu_busy_all": ("cpu_process", "%", "process"),
    "cpu": ("cpu_busy", "%", "host"),
    "tcp_average_rtt": ("tcp_rtt_mean", "us", "run"),
}


class _Xml(LineLog):
    """A report of ``-x``: one element a line."""

    def __init__(self, log: Log, recorder: Recorder) -> None:
        self.log, self.recorder = log, recorder
        self.result: _Result | None = None
        self.fields: _Fields | None = None
        self.thread: str | None = None
        self.accounting = recorder.accounting

    @data(r"<ntttcp([sr])(?: computername=\"([^\"]{0,100})\")?(?: version=\"([^\"]{0,40})\")?>", hint="<ntttcp")
    def root(self, line: Line, match: re.Match[str]) -> None:
        self.close(line.number - 1)
        linux = "linux" in (match[3] or "")
        self.result = _Result(self.log, self.recorder, line.number, "linux-xml" if linux else "windows-xml")
        self.result.role = "sender" if match[1] == "s" else "receiver"
        self.result.host = match[2] or None
        self.result.run.set(tool_version=None if linux else match[3])
        self.fields = _Fields(self.result, linux=linux)
        self.thread = None

    @data(r"<thread index=\"(\d{1,6})\">", hint="<thread")
    def begin_thread(self, line: Line, match: re.Match[str]) -> None:
        self.thread = match[1]

    @data(r"</thread>", hint="</thread>")
    def end_thread(self, line: Line, match: re.Match[str]) -> None:
        self.thread = None

    @data(r"</ntttcp[sr]>", hint="</ntttcp")
    def end(self, line: Line, match: re.Match[str]) -> None:
        if self.result is not None:
            self.result.ended = True
            self.close(line.number)

    @data(r"<(?P<name>\w{1,60})(?: metric=\"(?P<metric>[^\"]{0,40})\")?>(?P<value>[^<>]{0,600})</(?P=name)>", hint="</")
    def element(self, line: Line, match: re.Match[str]) -> None:
        if self.fields is None or self.result is None:
            return
        name, metric, value = match["name"], match["metric"], match["value"]
        if self.thread is None:
            self.fields.take(name, metric, value, line.number)
        elif name == "throughput" and metric == "mbps" and re.fullmatch(r"[\d.]{1,30}", value) and float(value) > 0:
            self.result.add("throughput", quantity(value, "Mbps"), line.number, stream=self.thread)

    known = known(
        ("<", r"</?parameters>|<\w{1,60}\s{0,2}/>|<\?xml .{0,100}\?>"),
        ("<", r"</?(?:perprocessorinfo|cpu|processor)\b[^<>]{0,100}>"),
    )

    def close(self, last_line: int) -> None:
        """Write the report that is open, if there is one."""
        if self.result is not None and self.fields is not None:
            self.fields.finish()
            self.result.finish(last_line)
        self.result = self.fields = None


def _read_json(log: Log, recorder: Recorder) -> None:
    """A report of ``-j``: every number is a string, most in an object of metric and value."""
    text = "\n".join(line.text for line in log.lines) + "\n"
    starts = [0]
    for line in log.lines:
        starts.append(starts[-1] + len(line.text) + 1)
    number = _line_finder(starts, log)
    begin = text.find("{")
    top = json_tokens.JsonObject()
    ended, end = True, len(text)
    try:
        end = json_tokens.read_object(text, begin, top)
    except json_tokens.JsonError as error:
        ended, end = False, len(text) if error.at_end else error.position
    first, last = number(begin), number(max(end - 1, begin))
    recorder.accounting.mark_range(first, last, KNOWN)
    result = _Result(log, recorder, first, "linux-json")
    result.ended = ended
    for name, report in top.pairs:
        if name in ("ntttcps", "ntttcpr") and isinstance(report, json_tokens.JsonObject):
            result.role = "sender" if name == "ntttcps" else "receiver"
            result.host = report.value("computername")
            fields = _Fields(result, linux=True)
            _json_fields(report.object("parameters"), fields, number, recorder)
            _json_fields(report, fields, number, recorder)
            fields.finish()
            for thread in report.objects("threads"):
                _json_thread(thread, result, number, recorder)
    result.finish(last)


def _line_finder(starts: list[int], log: Log) -> Callable[[int], int]:
    import bisect

    return lambda position: log.lines[min(bisect.bisect_right(starts, position), len(log.lines)) - 1].number


def _json_fields(
    report: json_tokens.JsonObject, fields: _Fields, number: Callable[[int], int], recorder: Recorder
) -> None:
    for key, node in report.pairs:
        name = _JSON_NAMES.get(key) or _snake(key)
        for metric, leaf in _readings(node):
            if isinstance(leaf.value, str) and fields.take(name, metric, leaf.value, number(leaf.position)):
                recorder.accounting.mark(number(leaf.position), DATA)


def _json_thread(
    thread: json_tokens.JsonObject, result: _Result, number: Callable[[int], int], recorder: Recorder
) -> None:
    """The rate of one thread; the rates in KB and MB beside it say the same."""
    index = thread.value("index")
    for metric, leaf in _readings(thread.get("throughputs")):
        if metric == "mbps" and index is not None and re.fullmatch(r"[\d.]{1,30}", str(leaf.value)):
            line = number(leaf.position)
            result.add("throughput", quantity(leaf.value, "Mbps"), line, stream=str(index))
            recorder.accounting.mark(line, DATA)


def _readings(node: Any) -> list[tuple[str | None, json_tokens.Scalar]]:
    """The value of a member: a string, an object of metric and value, or a list of such."""
    if isinstance(node, json_tokens.Scalar):
        return [(None, node)]
    if isinstance(node, json_tokens.JsonObject):
        leaf = node.leaf("value")
        return [] if leaf is None else [(node.value("metric"), leaf)]
    return [one for item in node for one in _readings(item)] if isinstance(node, list) else []


_JSON_NAMES = {
    "throughputs": "throughput",
    "realTime": "realtime",
    "runTime": "run_time",
    "tcpAverageRtt": "tcp_average_rtt",
    "tcpAverageRtt metric": "tcp_average_rtt",
    "packetsRetransmitted": "packets_retransmitted",
    "threads": "threads",
}


def _snake(name: str) -> str:
    return re.sub(r"(?<=[a-z0-9])[A-Z]", lambda found: "_" + found[0].lower(), name)


class NtttcpParser:
    """Reads ntttcp; see the module's docstring."""

    tool = "ntttcp"
    commands = ("ntttcp", "ntttcp.exe", "NTttcp")
    signatures = (
        Signature("NTTTCP for Linux", re.compile(r"NTTTCP for Linux \S{1,40}")),
        Signature("Copyright Version", re.compile(r"Copyright Version \d\S{0,40}")),
        Signature("<ntttcp", re.compile(r"<ntttcp[sr](?: [^<>]{0,300})?>")),
        Signature('"ntttcp', re.compile(r'\{?\s*"ntttcp[sr]"\s*:\s*\{?.{0,4000}')),
        Signature("Totals:", re.compile(r"(?:\*\*)?\d\d:\d\d:\d\d INFO: #{5}\s{1,4}Totals:\s{1,4}#{5}"), weak=True),
        Signature("Bytes(MEG)", re.compile(r"Bytes\(MEG\)\s{1,20}realtime\(s\).{0,300}"), weak=True),
        Signature("test duration", re.compile(r"\d\d:\d\d:\d\d INFO: test duration\s{0,20}:.{1,30}"), weak=True),
    )

    def parse(self, log: Log, recorder: Recorder) -> None:
        """Read one log: console text, XML or JSON, by its first line that is none of the others."""
        for line in log.lines:
            text = line.text.strip()
            if text.startswith("<ntttcp"):
                reader = _Xml(log, recorder)
                reader.feed(log.lines, recorder.accounting)
                reader.close(log.last_line)
                return
            if '"ntttcp' in text and text.startswith(("{", '"ntttcp')):
                _read_json(log, recorder)
                return
        console = _Console(log, recorder)
        console.feed(log.lines, recorder.accounting)
        console.close(log.last_line)


PARSER = NtttcpParser()
