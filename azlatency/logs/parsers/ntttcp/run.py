"""The run of one ntttcp log: numbers, client and server, status, and the checks that hold for every output."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from azlatency.logs.grammar.units import Quantity
from azlatency.logs.parsers import Log
from azlatency.logs.parsers.common import UNREACHED, end_run, rate_agrees
from azlatency.logs.record import Recorder

_OVERRUN = 1.05
_ADDRESS = re.compile(r"[\w.:-]{2,253}")


@dataclass(frozen=True, slots=True)
class Number:
    """A number that was read before the side of the log is known."""

    metric: str
    quantity: Quantity
    line: int
    stream: str | None = None
    scope: str = "run"


class NtttcpRun:
    """The run of one log: its readers collect the numbers, `finish` writes them."""

    def __init__(self, log: Log, recorder: Recorder, *, first_line: int, form: str) -> None:
        self.log = log
        self.run = recorder.start_run("ntttcp", first_line, last_line=log.last_line, test="stream")
        self.form = form
        self.role: str | None = None
        self.numbers: list[Number] = []
        self.duration: Quantity | None = None
        self.errors: list[tuple[int, str]] = []
        self.interrupted: int | None = None
        self.ended = False
        self.waits = False
        self.host: str | None = None
        self.address: str | None = None
        self.command: str | None = None

    def add(self, metric: str, value: Quantity, line: int, *, stream: str | None = None, scope: str = "run") -> None:
        """Keep a number until `finish` knows the side."""
        self.numbers.append(Number(metric, value, line, stream, "stream" if stream is not None else scope))

    def get(self, metric: str) -> Number | None:
        """Return the number of the whole run under that name, or None."""
        for number in self.numbers:
            if number.metric == metric and number.stream is None:
                return number
        return None

    @property
    def has_totals(self) -> bool:
        """Whether the log has a result."""
        return self.get("throughput") is not None or self.get("transferred") is not None

    def finish(self, last_line: int) -> None:
        """Write the run: its numbers with their side, the checks and the status."""
        self._read_command()
        self._set_ends()
        row = self.run.row
        row["dialect"] = f"ntttcp-{self.form}" + (f"-{self.role}" if self.role else "")
        for number in self.numbers:
            self.run.add_metric(
                number.metric, number.quantity, number.line, side=self.role, stream=number.stream, scope=number.scope
            )
        connections = self.get("connections")
        if connections is not None:
            row["connections"] = int(connections.quantity.value)
        if row.get("protocol") is None and self.get("retransmits") is not None:
            row["protocol"] = "tcp"
        self._check_rate()
        self._check_duration()
        self._set_status(last_line)

    def _read_command(self) -> None:
        """Take from the command line what the log does not print."""
        if self.command is not None:
            self.run.set(command=self.command)
            self.log = replace(self.log, command=self.command)
        words, row = self.log.arguments, self.run.row
        if not words:
            return
        for word in words[1:]:
            if word.startswith(("-s", "-r")) and not word.startswith("--"):
                self.role = self.role or ("sender" if word[1] == "s" else "receiver")
        self.address = self.address or self._address_in(words)
        if row.get("protocol") is None:
            row["protocol"] = "udp" if "-u" in words else "tcp"
        for column, option in (("requested_duration_ns", "-t"), ("warmup_ns", "-W")):
            if row.get(column) is None:
                row[column] = self.log.seconds(option)

    def _address_in(self, words: Sequence[str]) -> str | None:
        """Return the address of the receiver: the third part of ``-m``, or the word after ``-s``."""
        for word, following in zip(words, [*words[1:], ""], strict=True):
            mapping = following if word == "-m" else word[2:] if word.startswith("-m") else ""
            address = mapping.split(",")[2] if mapping.count(",") == 2 else None
            if word in ("-s", "-r") and not following.startswith("-"):
                address = following
            elif word[:2] in ("-s", "-r") and len(word) > 2 and not word.startswith("--"):
                address = word[2:]
            if address and _ADDRESS.fullmatch(address):
                return address
        return None

    def _set_ends(self) -> None:
        """Set client and server: the receiver listens, so it is the server, whichever end wrote the log."""
        row = self.run.row
        host = self.host or self.log.host
        row["server"] = self.address or (host if self.role == "receiver" else None)
        if self.role == "sender":
            row["client"] = row.get("client") or host

    def _check_rate(self) -> None:
        """Report a rate that is not the printed size divided by the printed time."""
        rate, size = self.get("throughput"), self.get("transferred")
        if rate is None or size is None or self.duration is None or not self.duration.value:
            return
        # The tool divides by a more exact time than it prints: ratios of 0.9991 to 1.0004 were seen.
        if not rate_agrees(rate.quantity, size.quantity, self.duration.value, self.duration.half, share=2e-3):
            text = f"{rate.quantity.printed} is not {size.quantity.printed} divided by {self.duration.printed} s"
            self.run.add_event("rate_mismatch", "warning", text, rate.line)

    def _check_duration(self) -> None:
        requested, measured = self.run.row.get("requested_duration_ns"), self.run.row.get("duration_ns")
        if requested and measured and measured > _OVERRUN * requested:
            text = f"the test ran for {measured / 1e9:g} s; {requested / 1e9:g} s were requested"
            self.run.add_event("duration_overrun", "info", text, self.run.row["first_line"])

    def _set_status(self, last_line: int) -> None:
        run = self.run
        if self.has_totals:
            for line, text in self.errors:
                run.add_event("tool_error", "warning", f"ntttcp reported: {text}", line)
            if self.interrupted is not None:
                text = "ended by Ctrl-C; the totals cover the time until then"
                run.end_as("interrupted", "warning", text, self.interrupted)
        elif self.errors:
            line, text = self.errors[0]
            run.end_as("failed", "error", f"ntttcp measured nothing: {text}", line)
        elif self.waits and self.role != "sender":
            run.set(test="server")
            run.end_as("no_data", "info", UNREACHED, last_line)
        elif self.interrupted is not None:
            run.end_as("no_data", "error", "ended by Ctrl-C before any result", self.interrupted)
        end_run(run, has_numbers=self.has_totals, ended=self.ended, last_line=last_line)
