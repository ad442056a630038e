"""The console output of ntttcp for Linux and for Windows."""

from __future__ import annotations

import re

from azlatency.logs.grammar.rules import DATA, Line, data, known
from azlatency.logs.grammar.units import count, exact_bytes, nanoseconds, quantity
from azlatency.logs.parsers import Log
from azlatency.logs.parsers.common import LogReader
from azlatency.logs.parsers.ntttcp.run import NtttcpRun
from azlatency.logs.record import Recorder

#: The last lines that a receiver prints before a sender reaches it; both ends then print what they negotiated.
_WAITS = re.compile(r"\d threads created$|ntttcp server is listening on \S+$")
_MET = "negotiated is"
_STOPPED = "Interrupted by Ctrl"
_LEVEL = re.compile(r"(\*\*)?\d\d:\d\d:\d\d (INFO|ERR|DBG) ?:\s?")
# Since this version a sender prints how many connections it tested; a receiver does not.
_PRINTS_CONNECTIONS = (1, 3, 4)
_COLUMN = re.compile(
    r"Bytes\(MEG\)|[Rr]ealtime\(s\)|Avg Frame Size|Throughput\((?:MB|KB|Mbit|Buffers)/s\)|Cycles/Byte|Buffers|"
    r"DPCs\(count/s\)|Pkts\(num/(?:DPC|intr)\)|Intr\(count/s\)|Packets Sent|Packets Received|Retransmits|Errors|"
    r"Avg\. CPU %|Thread|Time\(s\)|Avg B / Compl"
)
# Metric, unit (None for a count) and scope by the name of the column.
_WINDOWS = {
    "Bytes(MEG)": ("transferred", "MEG", "run"),
    "Throughput(MB/s)": ("throughput", "ntttcp MB/s", "run"),
    "Cycles/Byte": ("cycles_per_byte", "cycles/byte", "host"),
    "Packets Sent": ("packets_sent", None, "host"),
    "Packets Received": ("packets_received", None, "host"),
    "Retransmits": ("retransmits", None, "host"),
    "Errors": ("errors", None, "run"),
    "Avg. CPU %": ("cpu_busy", "%", "host"),
    "Intr(count/s)": ("interrupt_rate", "count/sec", "host"),
}
# The same by the name of a total of Linux.
_LINUX = {
    "total bytes": ("transferred", "bytes", "run"),
    "retrans segs": ("retransmits", "count", "host"),
    "tx_packets": ("packets_sent", "count", "host"),
    "rx_packets": ("packets_received", "count", "host"),
    "interrupts/sec": ("interrupt_rate", "count/sec", "host"),
    "cpu cores": ("cpu_cores", "count", "host"),
    "cpu speed": ("cpu_frequency", "MHz", "host"),
    **{name: (f"cpu_{name}", "%", "host") for name in ("user", "system", "idle", "iowait", "softirq")},
    "total cpu time": ("cpu_process", "%", "process"),
    **{f"{name} time": (f"cpu_{name}", "%", "process") for name in ("user", "system")},
    "cycles/byte": ("cycles_per_byte", "cycles/byte", "host"),
    "cpu busy (all)": ("cpu_process", "%", "process"),
    "tcpi rtt": ("tcp_rtt_mean", "us", "run"),  # estimated by the TCP stack
}
#: The units that are printed after the number.
_SHOWN = ("%", "MHz", "us")


class ConsoleText(LogReader):
    """Reads the console output of Linux and of Windows."""

    def __init__(self, log: Log, recorder: Recorder) -> None:
        super().__init__(log, recorder)
        self._open(log.first_line)
        self.version: str | None = None
        self.sends = self.listens = self.totals = self.waits = self.met = False
        self.columns: list[str] = []

    def _open(self, number: int) -> None:
        self.result = NtttcpRun(self.log, self.recorder, first_line=number, form="linux-console")
        self.run = self.result.run

    def read(self, line: Line) -> int:
        """Remove the time of day, the level and Markdown emphasis, then apply the rules."""
        text = line.text.strip()
        self.met = self.met or _MET in text
        if text and _STOPPED not in text:
            self.waits = not self.met and _WAITS.search(text) is not None
        if level := _LEVEL.match(text):
            text = text[level.end() :]
            if level[1]:
                text = text.removesuffix("**")
            if level[2] == "ERR":
                self.result.errors.append((line.number, text.strip()))
                return DATA
            line = Line(line.number, text)
        return super().read(line)

    def close(self, last_line: int) -> None:
        """Determine which end wrote the log, and write the run."""
        result = self.result
        if result.role is None and self.sends:
            result.role = "sender"
        if result.role is None and self.listens:
            result.role = "receiver"
        if result.role is None and self.totals and self._prints_connections():
            # A sender of this version would have printed how many connections it tested.
            result.role = "receiver"
        result.waits = self.waits and not self.sends
        result.finish(last_line)

    def _prints_connections(self) -> bool:
        parts = (self.version or "0").split(".")
        return all(part.isdigit() for part in parts) and tuple(map(int, parts)) >= _PRINTS_CONNECTIONS

    # --- what was run

    @data(r"NTTTCP for Linux (\S{1,40})", hint="NTTTCP for Linux")
    def banner(self, line: Line, match: re.Match[str]) -> None:
        self.version = match[1]
        self.run.set(tool_version=match[1])

    @data(r"Copyright Version (\S{1,40})", hint="Copyright Version")
    def windows_banner(self, line: Line, match: re.Match[str]) -> None:
        self.version = None
        self.result.form = "windows-console"
        self.run.set(tool_version=match[1])

    @data(r"\*\*\* (sender|receiver) role", hint=" role")
    def role(self, line: Line, match: re.Match[str]) -> None:
        """Read the role that the log names."""
        self.result.role = match[1]

    @data(r"server address:\s{1,40}(\S{1,253})", hint="server address:")
    def server_address(self, line: Line, match: re.Match[str]) -> None:
        self.result.address = match[1]

    @data(r"protocol:\s{1,40}(TCP|UDP)", hint="protocol:")
    def protocol(self, line: Line, match: re.Match[str]) -> None:
        self.run.set(protocol=match[1].lower())

    @data(r"test (warm-up|duration) \(sec\):\s{1,40}(\d{1,9})", hint="(sec):")
    def setting(self, line: Line, match: re.Match[str]) -> None:
        if self.is_cut(line, "the number at its end is", severity="info"):
            return
        column = "warmup_ns" if match[1] == "warm-up" else "requested_duration_ns"
        self.run.set(**{column: nanoseconds(match[2], "sec")})

    @data(r"(\d{1,9}) connections created in \d{1,15} microseconds", hint="connections created")
    def connections_created(self, line: Line, match: re.Match[str]) -> None:
        """Read the number of connections, which only a sender prints."""
        self.sends = True
        self.run.set(connections=int(match[1]))

    @data(r"(\d{1,9}) connections tested", hint="connections tested")
    def connections_tested(self, line: Line, match: re.Match[str]) -> None:
        self.sends = True
        self.result.add("connections", count(match[1]), line.number)

    @data(r"Starting sender activity \(no sync\) \.\.\.", hint="Starting sender")
    @data(r"receiver exited from current test", hint="receiver exited")
    @data(r"(?:New|Sync) connection: local:\d{1,5} \[socket:\d{1,9}\] --> \S{1,260}", hint="connection: local:")
    def sending(self, line: Line, match: re.Match[str]) -> None:
        """Note a line that only a sender prints."""
        self.sends = True

    @data(r"ntttcp server is listening on \S{1,260}", hint="is listening on")
    @data(r"(?:New|Sync) connection: \S{1,260} --> local:\d{1,5} \[socket \d{1,9}\]", hint="--> local:")
    def receiving(self, line: Line, match: re.Match[str]) -> None:
        """Note a line that only a receiver prints."""
        self.listens = True

    @data(r"Interrupted by Ctrl\+C", hint="Ctrl+C")
    def interrupted(self, line: Line, match: re.Match[str]) -> None:
        """Read Ctrl-C; a receiver that loops always ends so, which does not concern the tests before it."""
        if not self.totals:
            self.result.interrupted = line.number

    @data(r"(test exited because (?:sender|receiver) side was interrupted)", hint="was interrupted")
    def other_end(self, line: Line, match: re.Match[str]) -> None:
        """Read that the other end was interrupted; it is also printed if that end only finished first."""
        self.run.add_event("message", "info", f"ntttcp reported: {match[1]}", line.number)

    @data(r"(?:\S{0,60}/)?ntttcp(?:\.exe)? -\S.{0,500}", hint="ntttcp")
    def command_line(self, line: Line, match: re.Match[str]) -> None:
        self.result.command = match[0]

    # --- totals of Linux

    @data(r"#{5}\s{1,4}Totals:\s{1,4}#{5}", hint="Totals:")
    def begin_totals(self, line: Line, match: re.Match[str]) -> None:
        """Begin the totals; a receiver that loops prints one block per test."""
        if self.totals:
            row = self.run.row
            self.close(line.number - 1)
            self._open(line.number)
            self.run.set(tool_version=row.get("tool_version"), protocol=row.get("protocol"))
        self.totals = True

    @data(r"test duration\s{0,20}:([\d.]{1,15}) seconds", hint="test duration")
    def duration(self, line: Line, match: re.Match[str]) -> None:
        self.result.duration = quantity(match[1], "sec")
        self.run.set(duration_ns=nanoseconds(match[1], "sec"))

    @data(r"throughput\s{0,20}:([\d.]{1,15})([KMGT]?bps)", hint="throughput")
    def throughput(self, line: Line, match: re.Match[str]) -> None:
        self.result.add("throughput", quantity(match[1], match[2]), line.number)

    @data(r"(\d{1,6})\s{1,20}([\d.]{1,15})\s{1,20}([\d.]{1,15})([KMGT]?bps)", hint="bps")
    def thread(self, line: Line, match: re.Match[str]) -> None:
        self.result.add("throughput", quantity(match[3], match[4]), line.number, stream=match[1])

    @data(rf"({'|'.join(map(re.escape, _LINUX))})\s{{0,20}}:([\d.]{{1,20}})(%|MHz| us)?", hint=":")
    def total(self, line: Line, match: re.Match[str]) -> None:
        """Read a total; the last one is the CPU share of the process over all cores, of 1.1 the cycles per byte."""
        metric, unit, scope = _LINUX[match[1]]
        if (match[3] or "").strip() != (unit if unit in _SHOWN else ""):
            raise ValueError("not the unit of this number")
        if match[3] is None and self.is_cut(line, "the number at its end is", severity="info"):
            return
        exact = {"count": count, "bytes": exact_bytes}.get(unit)
        value = quantity(match[2], unit) if exact is None else exact(match[2])
        self.result.add(metric, value, line.number, scope=scope)
        if match[1] == "cpu busy (all)" or (match[1] == "cycles/byte" and (self.version or "").startswith("1.1")):
            self.result.ended = True

    # --- totals of Windows: a line of names, a line of bars, a line of numbers

    @data(r"Throughput\(M(?:B|bit)/s\)|(?:Throughput\(Buffers/s\)|Retransmits\s).{0,400}", hint="t", shape="[TR].*")
    @data(r"(?:Bytes\(MEG\)|DPCs\(count/s\)|Packets Sent|Thread\s).{0,400}", hint=" ", shape="[BDPT].*")
    def column_names(self, line: Line, match: re.Match[str]) -> None:
        self.columns = _COLUMN.findall(match[0])
        if self.columns[0] != "Thread" or "Throughput(KB/s)" in self.columns:  # Linux also lists threads
            self.result.form = "windows-console"

    @data(r"[\d.]{1,20}(?:\s{1,20}[\d.]{1,20}){0,20}", hint="", shape=r"\s*")
    def values(self, line: Line, match: re.Match[str]) -> None:
        """Read the numbers under the column names, or those of one thread."""
        if self.is_cut(line, "the number at its end is", severity="info"):
            return
        tokens = match[0].split()
        if len(tokens) == 1 and len(self.columns) != 1:
            raise ValueError("a number without its column")
        if len(tokens) != len(self.columns):
            text = f"{len(tokens)} values under {len(self.columns)} column names; the line is not read"
            self.run.add_event("column_mismatch", "error", text, line.number)
            return
        token_by_name = dict(zip(self.columns, tokens, strict=True))
        if "Thread" in token_by_name:
            seconds = token_by_name.get("Time(s)") or token_by_name.get("Realtime(s)") or "0"
            if float(seconds) > 0 and "Throughput(KB/s)" in token_by_name:
                rate = quantity(token_by_name["Throughput(KB/s)"], "ntttcp KB/s")
                self.result.add("throughput", rate, line.number, stream=token_by_name["Thread"])
            return
        for name, token in token_by_name.items():
            self._add_windows_value(name, token, line)
        if "Throughput(Mbit/s)" in token_by_name:
            self._add_megabits(token_by_name["Throughput(Mbit/s)"], line)

    def _add_windows_value(self, name: str, token: str, line: Line) -> None:
        result = self.result
        if name == "realtime(s)":
            result.duration = quantity(token, "sec")
            result.run.set(duration_ns=nanoseconds(token, "sec"))
        elif name in _WINDOWS:
            metric, unit, scope = _WINDOWS[name]
            result.add(metric, quantity(token, unit) if unit else count(token), line.number, scope=scope)
        if name == "Avg. CPU %":
            result.ended = True

    def _add_megabits(self, token: str, line: Line) -> None:
        """Add the rate of version 5.0 in the unit, 10**6 or 2**20 bit/s, that follows from the bytes and the time."""
        size, duration = self.result.get("transferred"), self.result.duration
        if size is not None and duration is not None and duration.value:
            expected = 8e9 * size.quantity.value / duration.value
            for unit in ("Mbps", "ntttcp old mbps"):
                rate = quantity(token, unit)
                if abs(rate.value - expected) <= rate.half + 2e-3 * expected:
                    self.result.add("throughput", rate, line.number)
                    return
        text = f"bytes and time do not show whether {token} Mbit/s are powers of 1000 or 1024; the rate is left out"
        self.run.add_event("unit_ambiguous", "warning", text, line.number)

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
            (
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
