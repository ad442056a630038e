"""The numbers of an XML or JSON report of ntttcp, by name."""

from __future__ import annotations

import re

from azlatency.logs.parsers.ntttcp.run import NtttcpRun
from azlatency.logs.units import count, nanoseconds, quantity, scale

# Metric, unit (None for a count) and scope by name.
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


class ReportFields:
    """The named numbers of an XML or JSON report; both use the same names, JSON in camel case."""

    def __init__(self, result: NtttcpRun, *, linux: bool) -> None:
        self.result, self.linux = result, linux
        self.rates: dict[str, tuple[str, int]] = {}
        self.size: tuple[str, int] | None = None
        self.udp = False

    def take(self, name: str, metric: str | None, token: str, line: int) -> bool:
        """Read one number; return whether it is stored."""
        token = token.strip()
        if not re.fullmatch(r"-?[\d.]{1,30}", token):
            return self._take_flag(name, token)
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
        return self._take_number(name, token, line)

    def _take_flag(self, name: str, token: str) -> bool:
        if name == "udp" and token in ("True", "False"):
            self.udp = token == "True"
            self.result.run.set(protocol="udp" if self.udp else "tcp")
            return True
        return False

    def _take_number(self, name: str, token: str, line: int) -> bool:
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
        """Record size and rate, whose units depend on the age of the tool."""
        if self.size is None:
            return
        token, line = self.size
        old = self.linux and "." not in token and "Bps" not in self.rates
        if old:
            self.result.form = self.result.form.replace("-xml", "-xml-pre2021").replace("-json", "-json-pre2021")
            text = "the tool is older than May 2021: MB are 2**20 bytes and mbps are 2**20 bit/s"
            self.result.run.add_event("unit_epoch", "info", text, line)
            # Truncated, not rounded: the size is up to one MB larger.
            self.result.add("transferred", quantity(token, "MEG").with_resolution(scale("MEG")), line)
        else:
            self.result.add("transferred", quantity(token, "MB" if self.linux else "MEG"), line)
        if "mbps" in self.rates:
            token, line = self.rates["mbps"]
            self.result.add("throughput", quantity(token, "ntttcp old mbps" if old else "Mbps"), line)
