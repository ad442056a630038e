"""What the text and the JSON of iperf3 have in common: the rows of one test, and the tables that follow from them.

Both readers collect `Row` objects in a `Test`; `Test.finish` names the streams, writes metrics and intervals, and
checks what must hold. Names of streams: null for the test as a whole (``[SUM]`` or the only stream), the socket
number of one of several streams, and with ``--bidir`` the role as the log prints it: ``TX-C`` (client sends),
``RX-C`` (client receives) and ``TX-S``, ``RX-S`` in a server's log, with the number of the stream behind it, as in
``TX-C 5``. The two directions are never added.

Events: ``rate_mismatch`` (a rate that cannot follow from the printed bytes and times), ``omit_boundary`` (the same in
the first interval behind omitted seconds), ``zero_is_missing``, ``receiver_gt_sender``, ``tail_loss``,
``loss_recomputed``, ``duration_overrun`` (more than 5 %), ``tail_interval``, ``interval_gap``, ``duplicate_interval``,
``duplicate_json_key``, ``paced``, ``interleaved``, ``unit_ambiguous``, ``message``, ``interrupted``, ``truncated``,
``malformed``, ``failed``, ``no_data``.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from itertools import pairwise
from statistics import median
from typing import Any

from azlatency.logs.parsers import Log
from azlatency.logs.parsers.common import end_run
from azlatency.logs.record import Recorder, Run
from azlatency.logs.units import Quantity, nanoseconds, quantity

SUM = "SUM"
_LONGEST_OVERRUN = 1.05
_DEFAULT_SECONDS = "10"
_SHORT_TAIL = 0.5
_BOUNDARY_NS = 20_000_000
_LONGEST_SHIFT = 0.05


@dataclass(slots=True)
class Row:
    """One printed row: an interval, or one end's total in the summary."""

    line: int
    stream: str
    start_ns: int
    end_ns: int
    slack_ns: float
    """Sum of the half-widths of the two printed times."""
    bytes: Quantity | None
    rate: Quantity | None
    role: str | None = None
    side: str | None = None
    omitted: bool = False
    retransmits: Quantity | None = None
    cwnd: Quantity | None = None
    rtt_ns: int | None = None
    jitter: Quantity | None = None
    lost: Quantity | None = None
    datagrams: Quantity | None = None
    datagrams_side: str | None = None
    percent: str | None = None
    seconds_ns: float | None = None
    """Length as JSON gives it beside the times; they differ where omitted seconds end."""
    mixed: bool = False
    """Bytes and rate are the sender's, the time is the receiver's: they need not agree."""

    @property
    def length_ns(self) -> int:
        """Length of the row's time."""
        return self.end_ns - self.start_ns

    @property
    def silent(self) -> bool:
        """Whether the row says that nothing was transferred."""
        return self.bytes is not None and self.bytes.value == 0

    def bounds(self) -> tuple[float, float] | None:
        """Least and greatest rate that bytes and times allow, None where there are no bytes."""
        if self.bytes is None:
            return None
        half = self.bytes.resolution or 0.0
        length = self.length_ns if self.seconds_ns is None else self.seconds_ns
        shortest, longest = length - self.slack_ns, length + self.slack_ns
        low = 8e9 * max(self.bytes.value - half, 0.0) / longest if longest > 0 else 0.0
        high = 8e9 * (self.bytes.value + half) / shortest if shortest > 0 else float("inf")
        return low, high

    def agrees(self) -> bool:
        """Whether the printed rate can follow from the printed bytes and times."""
        return self._between(self.bounds())

    def _between(self, bounds: tuple[float, float] | None) -> bool:
        if bounds is None or self.rate is None:
            return True
        half = (self.rate.resolution or 0.0) + 1e-6 * self.rate.value
        return bounds[0] <= self.rate.value + half and self.rate.value - half <= bounds[1]

    def throughput(self) -> float | None:
        """The sharper of the rate that follows from bytes and time and the printed one; None where they contradict."""
        bounds = self.bounds()
        length = self.length_ns if self.seconds_ns is None else self.seconds_ns
        if self.seconds_ns is not None and abs(self.seconds_ns - self.length_ns) > _LONGEST_SHIFT * self.seconds_ns:
            return None
        if bounds is None or length <= 0:
            return self.rate.value if self.rate is not None and self._between(bounds) else None
        assert self.bytes is not None
        computed = 8e9 * self.bytes.value / length
        if not self._between(bounds):
            return computed if bounds[1] - bounds[0] <= 0.1 * computed else None
        if self.rate is None or bounds[1] - bounds[0] <= 2 * (self.rate.resolution or 0.0):
            return computed
        return self.rate.value


@dataclass(slots=True)
class Connection:
    """A line ``local … connected to …``."""

    stream: str
    local: str
    local_port: str
    remote: str
    remote_port: str


@dataclass
class Test:
    """One test being read."""

    recorder: Recorder
    log: Log
    run: Run
    first_line: int
    form: str
    last_line: int = 0
    server: bool | None = None
    reverse: bool = False
    bidir: bool = False
    interleaved: bool = False
    streams: int | None = None
    connections: list[Connection] = field(default_factory=list)
    intervals: list[Row] = field(default_factory=list)
    summary: list[Row] = field(default_factory=list)
    sent: list[tuple[int, str, Quantity]] = field(default_factory=list)
    """Datagrams sent where a line of its own counts them (3.1 and older): line, stream, count."""
    out_of_order: list[tuple[int, str, Quantity]] = field(default_factory=list)
    ended: bool = False
    cut: bool = False
    """A document that stops in the middle."""
    done: bool = False
    """The closing words of a client stand in the text."""
    unheard: bool = False
    """A client whose server did not report: the test did not come to its end."""
    failure: tuple[int, str] | None = None
    command: str | None = None

    # --- while reading

    def connection(self, found: Connection) -> None:
        """One more stream; a mirrored pair shows that both ends wrote into the same log."""
        for known in self.connections:
            if (known.local_port, known.remote_port) == (found.remote_port, found.local_port):
                self.interleaved = True
                return
        self.connections.append(found)

    def cpu(self, side: str, total: Quantity, user: Quantity, system: Quantity, line: int) -> None:
        """Processor time of the iperf3 process at one end; one that ran used some: a remote 0 was not heard."""
        if side == "remote" and total.value == 0:
            self.run.add_event("zero_is_missing", "info", "the other end's processor time did not arrive", line)
            return
        for metric, value in (("cpu_process", total), ("cpu_user", user), ("cpu_system", system)):
            self.run.add_metric(metric, value, line, side=side, scope="process")

    @property
    def blank(self) -> bool:
        """Whether nothing at all is known of the test: what failed stands behind it, in plain text."""
        return self.empty and not self.connections and self.failure is None and self.run.row["status"] == "complete"

    @property
    def empty(self) -> bool:
        """Whether no number was read yet."""
        return not (self.intervals or self.summary)

    def local_side(self, role: str | None) -> str | None:
        """The side that the end which wrote the log has in a direction; None where that is not known."""
        if role is not None:
            return "sender" if role.startswith("TX") else "receiver"
        if self.server is None:
            return None
        return "sender" if self.server == self.reverse else "receiver"

    # --- at the end

    def finish(self, last_line: int) -> None:
        """Write everything that follows from the rows."""
        self.last_line = max(last_line, self.last_line, self.first_line)
        self._settle_server()
        self._sides()
        self.bidir = self.bidir or any(row.role for row in (*self.intervals, *self.summary))
        self._describe()
        self._write_summary()
        self._write_counts()
        self._write_losses()
        self._write_intervals()
        self._end()

    def _settle_server(self) -> None:
        """Without a line that says it: the end that listens on iperf3's own port is the server."""
        if self.server is None and self.connections:
            one = self.connections[0]
            if (one.local_port == "5201") != (one.remote_port == "5201"):
                self.server = one.local_port == "5201"

    def _sides(self) -> None:
        """TCP rows without retransmits do not tell the side: the direction of the test does."""
        if self.server and not self.reverse:
            labelled = {row.side for row in self.summary if row.side and not row.silent}
            shaped = {row.side for row in self.intervals if row.side}
            self.reverse = not self.bidir and (labelled == {"sender"} or shaped == {"sender"})
        for row in self.intervals:
            if row.side is None:
                row.side = "receiver" if self.interleaved else self.local_side(row.role)

    def _describe(self) -> None:
        row = self.run.row
        row["test"] = "stream-bidir" if self.bidir else "stream-reverse" if self.reverse else "stream"
        end = {True: "-server", False: "-client", None: ""}[self.server]
        row["dialect"] = f"iperf3-{self.form}{end}"
        if self.connections:
            one = self.connections[0]
            if self.server is not None:
                row["client"], row["server"] = (one.remote, one.local) if self.server else (one.local, one.remote)
            if self.streams is None:
                self.streams = len(self.connections) // (2 if self.bidir else 1) or None
        if self.server is False and row.get("client") is None:
            row["client"] = self.log.host
        self._from_command()
        if row.get("protocol") is None:
            row["protocol"] = self._protocol()
        if self.streams is None and not self.empty:
            numbers = {(one.role, one.stream) for one in (*self.intervals, *self.summary) if one.stream != SUM}
            self.streams = max(Counter(role for role, _ in numbers).values(), default=0) or None
        row["connections"] = self.streams

    def _protocol(self) -> str | None:
        rows = (*self.intervals, *self.summary)
        if any(row.datagrams is not None or row.jitter is not None for row in rows):
            return "udp"
        if any(row.retransmits is not None or row.cwnd is not None for row in rows) or self.server is not None:
            return "tcp" if rows else None
        return None

    def _from_command(self) -> None:
        """Columns that the command line tells where the log does not."""
        row = self.run.row
        if self.command is not None:
            row["command"] = self.command
        log = Log(self.log.source, "iperf3", self.log.lines, command=self.command or self.log.command)
        words = log.arguments
        if "-c" not in words and "--client" not in words:
            return
        counted = any(word.startswith(("-n", "-k", "--bytes", "--blockcount")) for word in words)
        seconds = log.option("-t", "--time") or (None if counted else _DEFAULT_SECONDS)
        if row.get("requested_duration_ns") is None and seconds is not None and _is_number(seconds):
            row["requested_duration_ns"] = nanoseconds(seconds, "sec")
        omit = log.option("-O", "--omit")
        if row.get("warmup_ns") is None and omit is not None and _is_number(omit):
            row["warmup_ns"] = nanoseconds(omit, "sec")
        rate = log.option("-b", "--bitrate", "--bandwidth")
        if rate is not None and rate.strip("0") != "" and row.get("protocol") != "udp":
            self.paced(f"the command asks for {rate} bit/s at most", self.first_line)

    def paced(self, text: str, line: int) -> None:
        """The test was told how fast to send: its rate is a target, not what the path can do."""
        if not any(
            event["code"] == "paced" and event["run_id"] == self.run.run_id for event in self.recorder.rows["events"]
        ):
            self.run.add_event("paced", "info", text, line)

    def _several(self) -> bool:
        return (self.streams or 1) > 1

    def _name(self, row: Row) -> str | None:
        """The name of the row's stream in the tables."""
        if row.stream == SUM or not self._several():
            return row.role
        return row.stream if row.role is None else f"{row.role} {row.stream}"

    def _write_summary(self) -> None:
        by_name: dict[str | None, list[Row]] = {}
        for row in self.summary:
            by_name.setdefault(self._name(row), []).append(row)
        for name, rows in by_name.items():
            kept = [row for row in rows if not self._is_missing(row, rows)]
            for row in rows:
                if row in kept or row.mixed:
                    self._write_total(row, name, sizes=row in kept)
            self._compare_ends(kept)
            if name is None or (self.bidir and name == rows[0].role):
                self._duration(kept)

    def _is_missing(self, row: Row, rows: list[Row]) -> bool:
        """Whether a printed zero means "not known": an end that was not heard, not an end that transferred nothing."""
        if not row.silent or row.side is None:
            return False
        other = any(one.side != row.side and not one.silent for one in rows)
        remote = row.side != self.local_side(row.role)
        alone = not any(one.side != row.side for one in rows)
        if not (other or (remote and (alone or self.run.row["status"] != "complete"))):
            return False
        severity = "info" if self.server and self.run.row["status"] == "complete" else "warning"
        text = f"0 bytes at the {row.side} mean that its count did not arrive; missing, not zero"
        self.run.add_event("zero_is_missing", severity, text, row.line)
        self.unheard = self.unheard or not self.server
        return True

    def _write_total(self, row: Row, name: str | None, *, sizes: bool) -> None:
        """The metrics of one total; without ``sizes`` only what the receiver counted in a row of both ends."""
        run = self.run
        scope = "run" if name == row.role else "stream"
        for metric, value in (("throughput", row.rate), ("transferred", row.bytes), ("retransmits", row.retransmits)):
            if value is not None and sizes:
                run.add_metric(metric, value, row.line, side=row.side, stream=name, scope=scope)
        if row.cwnd is not None:
            run.add_metric("cwnd_max", row.cwnd, row.line, side="sender", stream=name, scope=scope)
        if row.datagrams is not None:
            run.add_metric(
                "datagrams", row.datagrams, row.line, side=row.datagrams_side or row.side, stream=name, scope=scope
            )
        for metric, value in (("jitter", row.jitter), ("lost", row.lost)):
            if value is not None:
                run.add_metric(metric, value, row.line, side="receiver", stream=name, scope=scope)
        if not row.mixed and not row.agrees():
            assert row.rate is not None and row.bytes is not None
            text = f"{row.rate.printed} is not {row.bytes.printed} in {row.length_ns / 1e9:g} s"
            run.add_event("rate_mismatch", "warning", text, row.line)

    def _write_counts(self) -> None:
        """Lines of their own: datagrams sent (3.1 and older), datagrams out of order."""
        found = [("datagrams", "sender", *one) for one in self.sent]
        found += [("out_of_order", "receiver", *one) for one in self.out_of_order]
        for metric, side, line, stream, value in found:
            name = None if stream == SUM or not self._several() else stream
            if self.run.value(metric, side=side, stream=name) is None:
                self.run.add_metric(metric, value, line, side=side, stream=name, scope="stream" if name else "run")

    def _compare_ends(self, rows: list[Row]) -> None:
        sender = next((row for row in rows if row.side == "sender" and row.bytes), None)
        receiver = next((row for row in rows if row.side == "receiver" and row.bytes), None)
        if sender is None or receiver is None or sender.bytes is None or receiver.bytes is None:
            return
        slack = (sender.bytes.resolution or 0.0) + (receiver.bytes.resolution or 0.0)
        if receiver.bytes.value - sender.bytes.value > slack * 1.000001:
            omit = bool(self.run.row.get("warmup_ns")) or any(row.omitted for row in self.intervals)
            why = "; the ends leave out different first seconds (-O)" if omit else ""
            text = f"received {receiver.bytes.printed}, more than the sent {sender.bytes.printed}{why}"
            self.run.add_event("receiver_gt_sender", "info" if omit else "warning", text, receiver.line)

    def _duration(self, rows: list[Row]) -> None:
        """Measured time: the receiver's, which its throughput was computed with, else the sender's."""
        ordered = sorted(rows, key=lambda row: row.side != "receiver")
        if not ordered or self.run.row.get("duration_ns") is not None:
            return
        measured = ordered[0].length_ns
        self.run.set(duration_ns=measured)
        requested = self.run.row.get("requested_duration_ns")
        if requested and measured > _LONGEST_OVERRUN * requested:
            text = f"measured over {measured / 1e9:g} s, asked for {requested / 1e9:g} s; the rate includes the wait"
            self.run.add_event("duration_overrun", "warning", text, ordered[0].line)

    def _write_losses(self) -> None:
        """UDP: what did not arrive of what was sent. The receiver alone cannot know of datagrams lost at the end."""
        run = self.run
        for row in self.summary:
            if row.lost is None or row.jitter is None:
                continue
            name = self._name(row)
            scope = "run" if name == row.role else "stream"
            sent = run.value("datagrams", side="sender", stream=name)
            expected = sent if row.datagrams is None else row.datagrams.value
            if not expected:
                continue
            omitted = bool(run.row.get("warmup_ns")) or any(one.omitted for one in self.intervals)
            received = expected - row.lost.value
            if sent and sent >= expected and not omitted and not row.mixed:
                loss = 1 - received / sent
                if sent > expected:
                    late = f"{sent - expected:.0f} of {sent:.0f} datagrams"
                    text = f"{late} came after the last one that the receiver knows of"
                    run.add_event("tail_loss", "warning", text, row.line)
                counted = f"1 - {received:.0f} received / {sent:.0f} sent"
            else:
                loss = row.lost.value / expected
                counted = f"{row.lost.value:.0f} lost / {expected:.0f} expected"
            if not _percent_agrees(row.percent, loss):
                run.add_event("loss_recomputed", "info", f"{counted} = {loss:.6g}, printed {row.percent} %", row.line)
            value = Quantity(loss, "fraction", row.percent or "", None)
            run.add_metric("loss", value, row.line, stream=name, scope=scope)

    def _write_intervals(self) -> None:
        seen: dict[tuple[Any, ...], Row] = {}
        for row in self.intervals:
            name = self._name(row)
            key = (row.side, name, row.omitted, row.start_ns, row.end_ns)
            if key in seen and row.bytes == seen[key].bytes:
                text = f"the interval of line {seen[key].line} is printed again; counted once"
                self.run.add_event("duplicate_interval", "info", text, row.line)
                continue
            seen[key] = row
            self._check_interval(row)
            self.run.add_interval(
                side=row.side,
                stream=name,
                start_ns=row.start_ns,
                end_ns=row.end_ns,
                bytes=None if row.bytes is None else row.bytes.value,
                bytes_resolution=None if row.bytes is None else row.bytes.resolution,
                throughput=row.throughput(),
                throughput_printed=None if row.rate is None else row.rate.value,
                retransmits=_whole(row.retransmits),
                cwnd_bytes=None if row.cwnd is None else row.cwnd.value,
                rtt_ns=row.rtt_ns,
                jitter_ns=_whole(row.jitter),
                lost=_whole(row.lost),
                datagrams=_whole(row.datagrams),
                omitted=row.omitted,
                line=row.line,
            )
        self._series(list(seen.values()))

    def _check_interval(self, row: Row) -> None:
        if row.rate is None or row.bytes is None or not row.rate.value:
            if row.rate is not None and not row.agrees():
                self.run.add_event("rate_mismatch", "warning", f"0 is not {row.bytes and row.bytes.printed}", row.line)
            return
        implied = 8e9 * row.bytes.value / row.rate.value
        shift = abs(implied - row.length_ns)
        if row.agrees() and shift <= row.slack_ns + 1e-3 * implied + _half(row) * implied:
            return
        first = row.start_ns < _BOUNDARY_NS and not row.omitted and any(one.omitted for one in self.intervals)
        boundary = first or row.length_ns + row.slack_ns < _BOUNDARY_NS < implied
        text = f"{row.rate.printed} is not {row.bytes.printed} in {row.length_ns / 1e9:g} s"
        severity = "info" if boundary and shift <= _LONGEST_SHIFT * implied else "warning"
        self.run.add_event("omit_boundary" if boundary else "rate_mismatch", severity, text, row.line)

    def _series(self, rows: list[Row]) -> None:
        """Holes between the intervals of a direction, and a last one too short to weigh as much as the others."""
        for side, role in sorted({(row.side or "", row.role or "") for row in rows}):
            own = [row for row in rows if (row.side or "", row.role or "") == (side, role) and not row.omitted]
            if len(own) < 2:
                continue
            own.sort(key=lambda row: (row.start_ns, row.line))
            usual, last = median(row.length_ns for row in own), own[-1]
            if last.length_ns < _SHORT_TAIL * usual:
                text = f"the last interval lasts {last.length_ns / 1e9:g} s only; weigh intervals by their length"
                self.run.add_event("tail_interval", "info", text, last.line)
            for before, after in pairwise(own):
                if after.start_ns - before.end_ns > _SHORT_TAIL * usual:
                    text = f"no interval from {before.end_ns / 1e9:g} s to {after.start_ns / 1e9:g} s; rows are missing"
                    self.run.add_event("interval_gap", "warning", text, after.line)

    def _end(self) -> None:
        run = self.run
        numbers = not self.empty
        if not self.ended and self.unheard and run.row["status"] == "complete":
            run.set(status="interrupted")
            text = "ended before the other end reported; the totals cover what there was"
            run.add_event("interrupted", "warning", text, self.last_line)
        if self.failure is not None and run.row["status"] == "complete":
            line, text = self.failure
            run.set(status="interrupted" if numbers else "failed")
            code, severity = ("interrupted", "warning") if numbers else ("failed", "error")
            run.add_event(code, severity, f"iperf3 stopped: {text}", line)
        elif (run.row["status"] == "interrupted" or self.ended) and not numbers:
            run.set(status="no_data")
            run.add_event("no_data", "error", "ended before the first result; run it again", self.last_line)
        if self.interleaved:
            text = "client and server wrote into the same log; their rows are told apart by their columns"
            run.add_event("interleaved", "warning", text, self.first_line)
        ended = not self.cut and (self.ended or self._all_totals())
        end_run(run, has_numbers=numbers, ended=ended, last_line=self.last_line)

    def _all_totals(self) -> bool:
        """Whether the last rows of the summary are there, though the closing words are not."""
        last = {(row.role, row.side) for row in self.summary if row.stream == SUM or not self._several()}
        roles = {row.role for row in (*self.summary, *self.intervals)}
        if self.server:
            return all((role, self.local_side(role)) in last for role in roles) and bool(roles)
        return all((role, side) in last for role in roles for side in ("sender", "receiver")) and bool(roles)


def _half(row: Row) -> float:
    """Relative half-width of the bytes and of the rate together."""
    halves = [(one.resolution or 0.0) / one.value for one in (row.bytes, row.rate) if one is not None and one.value]
    return sum(halves)


def _is_number(token: str) -> bool:
    return token.replace(".", "", 1).isdigit()


def _whole(value: Quantity | None) -> int | None:
    return None if value is None else round(value.value)


def _percent_agrees(token: str | None, loss: float) -> bool:
    """Whether a printed percentage is the loss, rounded; iperf3 prints two significant digits."""
    if token is None:
        return True
    try:
        printed = quantity(token, "%", significant=2)
    except ValueError:
        return False
    return abs(printed.value - loss) <= (printed.resolution or 0.0) * 1.000001 + 1e-12
