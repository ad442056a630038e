"""The numbers of an XML or JSON report of ntttcp, by name."""

from __future__ import annotations

import re

from azlatency.logs.grammar.units import UnitError, canonical_unit, count, nanoseconds, quantity, scale
from azlatency.logs.parsers.common import contradict
from azlatency.logs.parsers.ntttcp.run import NtttcpRun

_NUMBER = re.compile(r"-?\d{1,25}(?:\.\d{0,25})?")
#: Elements that are always numbers; others are texts and flags, unless they look like a number.
_MEASURED = ("throughput", "total_bytes", "realtime")
_DAMAGED = re.compile(r"-?[\d.]{1,30}")

# Metric, unit (None for a count) and scope by name.
_NAMES: dict[str, tuple[str, str | None, str]] = {
    "conns_tested": ("connections", None, "run"),
    "packets_sent": ("packets_sent", None, "host"),
    "packets_received": ("packets_received", None, "host"),
    "packets_retransmitted": ("retransmits", None, "host"),
    "errors": ("errors", None, "run"),
    **dict.fromkeys(("interrupts", "interrupt"), ("interrupt_rate", "count/sec", "host")),
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


class ReportFields:
    """The named numbers of an XML or JSON report; both use the same names, JSON in camel case."""

    def __init__(self, result: NtttcpRun, *, linux: bool) -> None:
        self.result, self.linux = result, linux
        self.rates: dict[str, tuple[str, int]] = {}
        self.threads: dict[str, dict[str, tuple[str, int]]] = {}
        """Token and line of each rate, by the name of the thread."""
        self.size: tuple[str, int] | None = None
        self.udp = False

    def take(self, name: str, metric: str | None, token: str, line: int) -> bool:
        """Read one number; return whether it is stored."""
        token = token.strip()
        if not _NUMBER.fullmatch(token):
            if name in _MEASURED or _DAMAGED.fullmatch(token):
                self._report_damage(name, token, line)
            return self._take_flag(name, token)
        if name == "throughput":
            self.rates[metric or ""] = (token, line)
            return metric in ("mbps", "Bps", "bps", "MB/s")
        if name == "total_bytes":
            if self._has_unit(name, metric, "MB", line):
                self.size = (token, line)
            return True
        if name == "realtime":
            if self._has_unit(name, metric, "s", line):
                unit = metric or "s"
                self.result.duration = quantity(token, unit)
                self.result.run.set(duration_ns=nanoseconds(token, unit))
            return True
        if name in ("run_time", "warmup_time"):
            column = "requested_duration_ns" if name == "run_time" else "warmup_ns"
            if token.isdigit():
                self.result.run.set(**{column: nanoseconds(token, "s" if self.linux else "ms")})
            return True
        return self._take_number(name, metric, token, line)

    def take_thread(self, thread: str, metric: str | None, token: str, line: int) -> bool:
        """Keep one rate of a thread; return whether it is stored."""
        if not _NUMBER.fullmatch(token):
            self._report_damage(f"the rate of thread {thread}", token, line)
            return False
        self.threads.setdefault(thread, {})[metric or ""] = (token, line)
        return metric == "mbps"

    def _report_damage(self, name: str, token: str, line: int) -> None:
        text = f"{name} is {token!r}, which is no number; it is left out"
        self.result.run.add_event("malformed", "error", text, line)

    def _take_flag(self, name: str, token: str) -> bool:
        if name == "udp" and token in ("True", "False"):
            self.udp = token == "True"
            self.result.run.set(protocol="udp" if self.udp else "tcp")
            return True
        return False

    def _take_number(self, name: str, printed_unit: str | None, token: str, line: int) -> bool:
        if name not in _NAMES or (name == "packets_retransmitted" and self.udp and self.linux):
            return False
        metric, unit, scope = _NAMES[name]
        if self.linux and name in ("packets_sent", "packets_received"):
            return False
        if self.linux and metric == "interrupt_rate" and not token.strip("0."):
            return False  # not counted, unless an interface is named
        if name == "cpu":
            metric, scope = ("cpu_process", "process") if self.linux else ("cpu_busy", "host")
        if unit is None:
            self.result.add(metric, count(token), line, scope=scope)
        elif self._has_unit(name, printed_unit, unit, line):
            self.result.add(metric, quantity(token, printed_unit or unit), line, scope=scope)
        return True

    def _has_unit(self, name: str, printed: str | None, usual: str, line: int) -> bool:
        """Whether the attribute ``metric`` is the usual unit or, of a time, another unit of time."""
        if printed in (None, usual):
            return True
        try:
            if canonical_unit(printed) == canonical_unit(usual) == "ns":
                return True
        except UnitError:
            pass
        text = f"{name} is in {printed}, not in {usual}; it is left out"
        self.result.run.add_event("unit_ambiguous", "warning", text, line)
        return False

    # --- the units of size and rates

    def finish(self) -> None:
        """Record size and rates, whose units depend on the age of the tool."""
        base = self._detect_base() if self.linux else 1024
        old = self.linux and base == 1024
        if base is not None:
            self._record_size(base)
            self._record_rates("ntttcp old mbps" if old else "Mbps", base)
        if not old or not (self.size or self.threads):
            return
        self.result.form = self.result.form.replace("-xml", "-xml-pre2021").replace("-json", "-json-pre2021")
        text = "the tool is older than May 2021: MB are 2**20 bytes and mbps are 2**20 bit/s"
        self.result.run.add_event("unit_epoch", "info", text, self._line())

    def _line(self) -> int:
        """Return the line of the size, or of the first rate."""
        if self.size is not None:
            return self.size[1]
        return min(line for rates in (self.rates, *self.threads.values()) for _, line in rates.values())

    def _detect_base(self) -> int | None:
        """Return whether K is 1000 or 1024 in a report of Linux; None, with an event, if that cannot be known.

        KB/s and MB/s of a thread prove it. Without threads, only tools since May 2021 print decimals in
        ``total_bytes`` or a rate in bytes per second.
        """
        new = bool(self.rates.keys() & {"Bps", "bps"}) or not (self.size is None or float(self.size[0]).is_integer())
        bases = self._proven_bases()
        if len(bases) > 1 or (new and bases == {1024}):
            text = "some units of the report are powers of 1000, others powers of 1024; size and rates are left out"
            contradict(self.result.run, "unit_conflict", text, self._line())
            return None
        if bases or new or self.result.ended:
            return bases.pop() if bases else 1000 if new else 1024
        if self.size or self.rates:
            text = "the report is cut before the lines that show whether MB are 10**6 or 2**20 bytes; they are left out"
            self.result.run.add_event("unit_ambiguous", "warning", text, self._line())
        return None

    def _record_size(self, base: int) -> None:
        if self.size is None:
            return
        token, line = self.size
        unit = "MEG" if base == 1024 else "MB"
        size = quantity(token, unit)
        if self.linux and float(token).is_integer() and not self.rates.keys() & {"Bps", "bps"}:
            # Truncated, not rounded: the size is up to one MB larger.
            size = size.with_resolution(scale(unit))
        self.result.add("transferred", size, line)

    def _proven_bases(self) -> set[int]:
        """Return the bases that explain KB/s and MB/s of threads, without threads that both or neither explain."""
        proofs = {
            tuple(
                quantity(rates["KB/s"][0], f"ntttcp {prefix}KB/s").agrees(
                    quantity(rates["MB/s"][0], f"ntttcp {prefix}MB/s")
                )
                for prefix in ("decimal ", "")
            )
            for rates in self.threads.values()
            if {"KB/s", "MB/s"} <= rates.keys()
        }
        return {base for base, proof in ((1000, (True, False)), (1024, (False, True))) if proof in proofs}

    def _record_rates(self, unit: str, base: int) -> None:
        for thread, rates in self.threads.items():
            if "mbps" in rates and float(rates["mbps"][0]) > 0:
                token, line = rates["mbps"]
                self.result.add("throughput", quantity(token, unit), line, stream=thread)
        if "mbps" not in self.rates:
            return
        token, line = self.rates["mbps"]
        rate = quantity(token, unit)
        self.result.add("throughput", rate, line)
        units = {"MB/s": f"ntttcp {'decimal ' if base == 1000 else ''}MB/s", "Bps": "ntttcp B/s", "bps": "bps"}
        for metric, (printed, at) in self.rates.items():
            if metric in units and not quantity(printed, units[metric]).agrees(rate):
                text = f"the report prints {printed} {metric} and {token} mbps, which are different rates"
                contradict(self.result.run, "rate_mismatch", text, at)
