"""One netperf test while it is read: what was run, the values collected from its lines, and its rates."""

from __future__ import annotations

import re
from typing import NamedTuple

from azlatency.logs.grammar.units import Quantity, nanoseconds, quantity
from azlatency.logs.parsers import Log
from azlatency.logs.record import Recorder

_PLAIN_NUMBER = re.compile(r"\d{1,18}(?:\.\d{1,9})?")
_NOT_MEASURED = re.compile(r"-1(?:\.0+)?|\s*")
TRANSACTIONS = ("rr", "crr", "cc")
STREAMS = ("stream", "maerts", "sendfile")
SECOND, MILLISECOND, MICROSECOND = (nanoseconds("1", unit) for unit in ("sec", "ms", "us"))
_PREFIX = {"rr": "rtt", "crr": "transaction", "cc": "transaction", **dict.fromkeys(STREAMS, "send_call")}


class Value(NamedTuple):
    """A printed value and the number of its line."""

    token: str
    line: int


class Rate(NamedTuple):
    """A transaction rate and the number of its line."""

    quantity: Quantity
    line: int


class Interim(NamedTuple):
    """One interim result of ``-D``; ``stop_ns`` is an epoch of the client's clock, truncated to milliseconds."""

    rate: str
    unit: str
    length_ns: int
    stop_ns: int
    line: int


class NetperfRun:
    """What the lines of one test have in common.

    ``kind`` is rr, crr, cc, stream, maerts or sendfile, or None while nothing names the test; ``values`` are those of
    the omni output, by name of their column.
    """

    def __init__(self, log: Log, recorder: Recorder) -> None:
        self.log, self.recorder = log, recorder
        self.run = recorder.start_run("netperf", log.first_line, printed_as=None, connections=1)
        self.kind: str | None = None
        self.migrated = True
        self.burst: int | None = None
        self.requested_ci_width: float | None = None
        self.values: dict[str, Value] = {}
        self.rate: Rate | None = None
        self.duration: Quantity | None = None
        self.interims: list[Interim] = []
        self.buckets: list[tuple[int, int | None, int, int]] = []
        """Bounds (ns), count and line of each bucket of the histogram of ``-v 2``."""
        self.histogram_of_calls = False
        self.histogram_total: Value | None = None

    @property
    def prefix(self) -> str:
        """What the printed latencies measure: the first part of the names of their metrics."""
        return _PREFIX.get(self.kind or "", "latency")

    def set_kind(self, kind: str | None, protocol: str | None) -> None:
        """Set the kind of test; only a request/response test prints round-trip times."""
        self.kind = kind
        row = self.run.row
        row["protocol"] = protocol or row.get("protocol")
        if kind is not None:
            row["test"] = f"{row['protocol']}_{kind}" if row["protocol"] else kind
        row["printed_as"] = "round_trip" if kind == "rr" else None
        row["closed_loop"] = True if kind in TRANSACTIONS else None

    def read_command(self) -> None:
        """Take from the command line what no line of the output names."""
        log, row = self.log, self.run.row
        test = re.fullmatch(r"(TCP|UDP|SCTP)_(RR|CRR|CC|STREAM|MAERTS|SENDFILE)", log.option("-t") or "")
        if self.kind is None and test:
            self.set_kind(test[2].lower(), test[1].lower())
        if self.burst is None and self.kind == "rr" and log.arguments:
            burst = log.option("-b") if "--" in log.arguments else None
            self.burst = int(burst) if burst and burst.isdigit() else 0
        if row.get("server") is None:
            row["server"] = log.option("-H")
        row["client"] = row.get("client") or log.host
        row["requested_duration_ns"] = log.seconds("-l")

    def number(self, name: str) -> Value | None:
        """Return a number of the omni output; None if it is absent, -1 ("not measured") or (event) damaged."""
        value = self.values.get(name)
        if value is None or _PLAIN_NUMBER.fullmatch(value.token):
            return value
        del self.values[name]
        if not _NOT_MEASURED.fullmatch(value.token):
            text = f"{name} is {value.token!r}, which is not a number; it is left out"
            self.run.add_event("malformed", "error", text, value.line)
        return None

    def whole_number(self, name: str) -> Value | None:
        """Return a count or a size of the omni output; None if it is absent, not measured or (event) damaged."""
        value = self.number(name)
        if value is not None and not value.token.isdigit():
            text = f"{name} is {value.token!r}, which is no whole number; it is left out"
            self.run.add_event("malformed", "error", text, value.line)
            return None
        return value

    def record_elapsed(self, token: str, line: int) -> None:
        """Record the elapsed time (s); the first one printed is used."""
        if self.duration is None:
            self.duration = quantity(token, "sec")
            self.run.set(duration_ns=nanoseconds(token, "sec"))
            self.run.add_metric("elapsed", self.duration, line)

    def record_rate(self, token: str, unit: str | None, line: int) -> None:
        """Record a transaction rate or a throughput, depending on the unit."""
        if unit == "Trans/s":
            self.record_transactions(quantity(token, unit), line)
        else:
            sending = self.kind in ("stream", "sendfile") and not self.migrated
            self.record_throughput(token, unit, line, "sender" if sending else "receiver")

    def record_transactions(self, rate: Quantity, line: int) -> None:
        """Keep the first transaction rate; a later one must agree with it within the rounding of both."""
        if self.rate is None:
            self.rate = Rate(rate, line)
            return
        first = self.rate.quantity
        if not first.agrees(rate):
            text = f"the transaction rate is {rate.printed} here and {first.printed} in line {self.rate.line}"
            self.run.add_event("value_conflict", "error", text, line)

    def record_throughput(self, token: str, unit: str | None, line: int, side: str) -> None:
        """Record a throughput; one without a unit is left out."""
        if unit is None:
            self.run.add_event("unit_ambiguous", "warning", "the rate has no unit; it is left out", line)
            return
        self.run.add_metric("throughput", quantity(token, unit), line, side=side)

    def assume_transactions(self, line: int) -> str:
        """Report that the unit of a rate is assumed, and return it."""
        text = "the log prints no unit for the rate; transactions per second, the default, are assumed"
        self.run.add_event("unit_assumed", "warning", text, line)
        return "Trans/s"
