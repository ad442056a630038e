"""One iperf3 test: streams and sides of its rows, the tables that follow, and the checks.

Text and JSON readers collect `RateRow` objects in a `Test`; `Test.finish` names the streams, writes metrics and
intervals, and checks them.

*Names of streams.* None is the test as a whole (``[SUM]`` or the only stream); one of several streams is its socket
number. With ``--bidir`` the name is the role as the log prints it: ``TX-C`` (client sends), ``RX-C`` (client receives),
``TX-S`` and ``RX-S`` in the log of a server, with the socket number if there are several streams (``TX-C 5``). The two
directions are never added.

*Checks.* ``rate_mismatch`` is a rate that cannot follow from the printed bytes and times, ``omit_boundary`` the same in
the first interval after omitted seconds, and ``duration_overrun`` a duration of more than 5 % above the requested one.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain

from azlatency.logs.grammar.command_line import has_switch, size_of
from azlatency.logs.grammar.units import Quantity, quantity
from azlatency.logs.parsers import Log
from azlatency.logs.parsers.common import UNREACHED, contradict, end_run
from azlatency.logs.parsers.iperf_rows import (
    LONGEST_SHIFT,
    SUM,
    Connection,
    RateRow,
    interval_of,
    is_client,
    is_printed_again,
    percent_agrees,
    report_gaps,
    requested_duration,
)
from azlatency.logs.record import Run

#: Side and role: a direction of a test.
_Direction = tuple[str, str]
_LONGEST_OVERRUN = 1.05
_OMITTED_SHARE = 0.05
_DEFAULT_PORT = "5201"
_BOUNDARY_NS = 20_000_000


@dataclass
class Test:
    """One test while it is read."""

    log: Log
    run: Run
    form: str
    last_line: int
    server: bool | None = None
    reverse: bool = False
    bidir: bool = False
    interleaved: bool = False
    streams: int | None = None
    connections: list[Connection] = field(default_factory=list)
    intervals: list[RateRow] = field(default_factory=list)
    summary: list[RateRow] = field(default_factory=list)
    server_totals: list[RateRow] = field(default_factory=list)
    """The totals in the output of the server that its client prints; they repeat those of the client's summary."""
    sent: list[tuple[int, str, Quantity]] = field(default_factory=list)
    """Datagrams sent, which 3.1 and older print in a separate line: line, stream, count."""
    out_of_order: list[tuple[int, str, Quantity]] = field(default_factory=list)
    legacy: bool = False
    """The titles are those of 3.1 and older, whose servers print the totals of both ends in both directions."""
    ended: bool = False
    cut: bool = False
    """The JSON document ends in the middle."""
    verbose: bool = False
    """The settings of ``-V`` were read; a client then prints the CPU time below its totals."""
    done: bool = False
    """The last line of a client, ``iperf Done.``, was read."""
    unreached: bool = False
    """A server that was stopped before its first client."""
    results_missing: bool = False
    """The server did not send its results to the client, so the test did not complete."""
    failure: tuple[int, str] | None = None
    command: str | None = None

    # --- while reading

    def add_connection(self, new: Connection) -> None:
        """Add a stream; a mirrored pair shows that both ends wrote into the same log."""
        if self.mirrors(new):
            self.interleaved = True
        elif new not in self.connections:
            self.connections.append(new)

    def mirrors(self, new: Connection) -> bool:
        """Whether the connection is the other end of one of this test."""
        ports = (new.remote_port, new.local_port)
        return any((connection.local_port, connection.remote_port) == ports for connection in self.connections)

    def add_cpu(self, side: str, *times: tuple[Quantity, int]) -> None:
        """Record the CPU time of the process at one end: total, user and system time, each with its line.

        A remote total of 0 means that the results did not arrive.
        """
        total, line = times[0]
        if side == "remote" and total.value == 0:
            text = "the CPU time of the other end is printed as 0: its results did not arrive"
            self.run.add_event("zero_is_missing", "info", text, line)
            return
        for metric, (value, line) in zip(("cpu_process", "cpu_user", "cpu_system"), times, strict=True):
            self.run.add_metric(metric, value, line, side=side, scope="process")

    def ends_intervals(self, row: RateRow) -> bool:
        """Whether a row is over the time of all intervals of its stream, as its total is."""
        same = (above for above in reversed(self.intervals) if (above.role, above.stream) == (row.role, row.stream))
        last = next(same, None)
        return last is not None and not last.omitted and row.start_ns == 0 and row.end_ns >= last.end_ns

    @property
    def blank(self) -> bool:
        """Whether nothing is known of the test yet: the reason follows the document as plain text."""
        return self.empty and not self.connections and self.failure is None and self.run.row["status"] == "complete"

    @property
    def empty(self) -> bool:
        """Whether no row was read yet."""
        return not (self.intervals or self.summary)

    def role_of(self, sends: bool) -> str | None:
        """Return the role of the end that wrote the log in a direction; None unless both ends send."""
        return ("TX-" if sends else "RX-") + ("S" if self.server else "C") if self.bidir else None

    def local_side(self, role: str | None) -> str | None:
        """Return whether the end that wrote the log sends or receives in a direction; None if unknown."""
        if role is not None:
            return "sender" if role.startswith("TX") else "receiver"
        if self.server is None:
            return None
        return "sender" if self.server == self.reverse else "receiver"

    def role_in_direction(self, direction: int) -> str | None:
        """Return the role of this end in a direction: 0 from client to server, 1 back."""
        return self.role_of((direction == 0) != bool(self.server))

    def side_of(self, sender: bool | None, role: str | None) -> str | None:
        """Return which end counted a row, whose flag ``sender`` may be missing."""
        if role is not None or sender is None:
            return self.local_side(role)
        return "sender" if sender else "receiver"

    # --- at the end

    def finish(self, last_line: int) -> None:
        """Write the run: its columns, metrics, intervals, checks and status."""
        self.last_line = max(last_line, self.last_line)
        self._detect_server()
        self._take_ends_from_command()
        self._detect_direction()
        self.bidir = self.bidir or any(role for role, _ in self._streams())
        self._describe()
        self._write_summary()
        self._write_counts()
        self._write_losses()
        self._write_intervals()
        self._set_status()

    def _detect_server(self) -> None:
        """Take the end that listens on iperf3's default port as the server, if no line names it."""
        if self.server is None and self.connections:
            first = self.connections[0]
            if (first.local_port == _DEFAULT_PORT) != (first.remote_port == _DEFAULT_PORT):
                self.server = first.local_port == _DEFAULT_PORT

    @cached_property
    def _command_log(self) -> Log:
        """The log with the command line of this test."""
        return Log(self.log.source, "iperf3", self.log.lines, command=self.command or self.log.command)

    def _take_ends_from_command(self) -> None:
        """Take the server and the direction from the command of a client if no line of its log names the ends."""
        server = self._command_log.option("-c", "--client")
        if server is not None and self.server is None and not self.connections:
            self.server = False
            self.reverse = self.reverse or has_switch(self._command_log.arguments, "-R", "--reverse")
            self.run.set(server=server)

    def _streams(self) -> set[tuple[str | None, str]]:
        """Return role and number of each stream."""
        return {(row.role, row.stream) for row in chain(self.intervals, self.summary)}

    @cached_property
    def _omits(self) -> bool:
        """Whether intervals are omitted (``-O``), once all lines were read."""
        return any(row.omitted for row in self.intervals)

    def _detect_direction(self) -> None:
        """Take the direction of a server's test from its rows."""
        if self.server and not self.reverse:
            total_sides = {row.side for row in self.summary if row.side and not row.silent}
            sends = total_sides == {"sender"} and not (self.legacy and self.intervals)
            self.reverse = not self.bidir and (sends or {row.side for row in self.intervals} - {None} == {"sender"})

    def _describe(self) -> None:
        row = self.run.row
        row["test"] = "stream-bidir" if self.bidir else "stream-reverse" if self.reverse else "stream"
        end = {True: "-server", False: "-client", None: ""}[self.server]
        row["dialect"] = f"iperf3-{self.form}{end}"
        if self.connections:
            first = self.connections[0]
            ends = (first.local, first.remote)
            if self.server is not None:
                row["client"], row["server"] = reversed(ends) if self.server else ends
                row["test_id"] = first.ports(server=self.server)
            if self.streams is None:
                self.streams = len(self.connections) // (2 if self.bidir else 1) or None
        if self.server is False and row.get("client") is None:
            row["client"] = self.log.host
        self._read_command()
        if row.get("protocol") is None:
            row["protocol"] = self._detect_protocol()
        if self.streams is None and not self.empty:
            roles = Counter(role for role, stream in self._streams() if stream != SUM)
            self.streams = max(roles.values(), default=0) or None
        row["connections"] = self.streams

    def _detect_protocol(self) -> str | None:
        rows = [*self.intervals, *self.summary]
        if any(row.counts_datagrams for row in rows):
            return "udp"
        if self.server is not None or any(row.counts_segments for row in rows):
            return "tcp" if rows else None
        return None

    def _read_command(self) -> None:
        """Take from the command line what the log does not print."""
        row = self.run.row
        if self.command is not None:
            row["command"] = self.command
        log = self._command_log
        if not is_client(log):
            return
        if row.get("requested_bytes") is None:
            row["requested_bytes"] = size_of(log.option("-n", "--bytes"))
        if row.get("requested_duration_ns") is None:
            row["requested_duration_ns"] = requested_duration(log, "-n", "-k", "--bytes", "--blockcount")
        if row.get("warmup_ns") is None:
            row["warmup_ns"] = log.seconds("-O", "--omit") or 0
        rate = log.option("-b", "--bitrate", "--bandwidth")
        if rate is not None and rate.strip("0") != "" and row.get("protocol") != "udp":
            self._report_pacing(f"the command limits the rate to {rate} bit/s", self.run.row["first_line"])

    def report_target(self, token: str, line: int) -> None:
        """Add the requested rate of each stream in bit/s, which tells apart tests that do not repeat each other."""
        self.run.add_metric("target_rate", quantity(token, "bits/sec")._replace(resolution=None), line)
        self._report_pacing(f"the sending rate was limited to {token} bit/s", line)

    def _report_pacing(self, text: str, line: int) -> None:
        """Report once that the sending rate was set: it is a target, not what the path can carry."""
        if "paced" not in self.run.codes:
            self.run.add_event("paced", "info", text, line)

    def _has_streams(self) -> bool:
        return (self.streams or 1) > 1

    def _stream_name(self, row: RateRow) -> str | None:
        """Return the name of the row's stream in the tables."""
        return self._name(row.role, row.stream)

    def _name(self, role: str | None, stream: str) -> str | None:
        if stream == SUM or not self._has_streams():
            return role
        return stream if role is None else f"{role} {stream}"

    def _write_summary(self) -> None:
        by_name: dict[str | None, list[RateRow]] = {}
        for row in self.summary:
            by_name.setdefault(self._stream_name(row), []).append(row)
        for name, rows in by_name.items():
            counted: dict[str | None, bool] = {}
            for row in rows:
                counted[row.side] = counted.get(row.side, False) or not row.silent
            kept = []
            for row in rows:
                missing = self._is_missing(row, counted)
                if not missing:
                    kept.append(row)
                if not missing or row.mixed:
                    self._write_total(row, sizes=not missing)
            self._compare_ends(kept)
            if name is None or (self.bidir and name == rows[0].role):
                self._set_duration(kept)
        self._write_server_totals()

    def _write_server_totals(self) -> None:
        """Write what the server printed of its own end; its zeros for the other end mean that it does not know them."""
        own_side = "sender" if self.reverse else "receiver"
        for row in self.server_totals:
            if row.silent or self.bidir or row.side != own_side:
                continue
            self._add_numbers(
                row,
                ("throughput", row.rate, "server"),
                ("transferred", row.bytes, "server"),
                ("retransmits", row.retransmits, "server"),
                ("jitter", row.jitter, "server"),
                ("lost", row.lost, "server"),
                ("datagrams", row.datagrams, "server"),
            )

    def _add_numbers(self, row: RateRow, *numbers: tuple[str, Quantity | None, str | None]) -> None:
        """Add the numbers that a total has, each with the side that counted it."""
        name = self._stream_name(row)
        scope = "run" if name == row.role else "stream"
        for metric, value, side in numbers:
            if value is not None:
                self.run.add_metric(metric, value, row.line_of(metric), side=side, stream=name, scope=scope)

    def _is_missing(self, row: RateRow, counted: dict[str | None, bool]) -> bool:
        """Whether a printed zero means that the results of an end did not arrive, not that it transferred nothing.

        ``counted``: for each side with totals, whether one of them is not zero.
        """
        if not row.silent or row.side is None:
            return False
        opposite = [any_counted for side, any_counted in counted.items() if side != row.side]
        remote = row.side != self.local_side(row.role)
        transferred = any(opposite)
        if not (transferred or (remote and (not opposite or self.run.row["status"] != "complete"))):
            return False
        severity = "info" if self.server and self.run.row["status"] == "complete" else "warning"
        text = f"the 0 bytes of the {row.side} mean that its results did not arrive; they are missing, not zero"
        self.run.add_event("zero_is_missing", severity, text, row.line)
        self.results_missing = self.results_missing or not self.server
        return True

    def has_total_like(self, row: RateRow) -> bool:
        """Whether only totals are left of the test and it has this one: ``grep sender`` separates nothing else."""
        if self.intervals or self.connections:
            return False
        key = row.stream, row.role, row.side
        return any(key == (total.stream, total.role, total.side) for total in self.summary)

    def _write_total(self, row: RateRow, *, sizes: bool) -> None:
        """Write the metrics of one total; without ``sizes`` only those that the receiver counted."""
        run = self.run
        if sizes:
            sent = (("throughput", row.rate), ("transferred", row.bytes), ("retransmits", row.retransmits))
            self._add_numbers(row, *((metric, value, row.side) for metric, value in sent))
        self._add_numbers(
            row,
            ("cwnd_max", row.cwnd, "sender"),
            ("datagrams", row.datagrams, row.datagrams_side or row.side),
            ("jitter", row.jitter, "receiver"),
            ("lost", row.lost, "receiver"),
        )
        if row.length_ns < 0:
            ends = f"the total from {row.start_ns / 1e9:g} s ends at {row.end_ns / 1e9:g} s"
            run.add_event("negative", "error", ends, row.line)
        elif not row.mixed and (text := row.contradiction()):
            run.add_event("rate_mismatch", "warning", text, row.line)

    def _write_counts(self) -> None:
        """Write the counts of separate lines: datagrams sent (3.1 and older) and datagrams out of order."""
        counts = [("datagrams", "sender", *sent) for sent in self.sent]
        counts += [("out_of_order", "receiver", *late) for late in self.out_of_order]
        for metric, side, line, stream, value in counts:
            name = None if stream == SUM or not self._has_streams() else stream
            if self.run.value(metric, side=side, stream=name) is None:
                self.run.add_metric(metric, value, line, side=side, stream=name, scope="stream" if name else "run")

    def _compare_ends(self, rows: list[RateRow]) -> None:
        sender = next((row for row in rows if row.side == "sender" and row.bytes), None)
        receiver = next((row for row in rows if row.side == "receiver" and row.bytes), None)
        if sender is None or receiver is None or sender.bytes is None or receiver.bytes is None:
            return
        slack = sender.bytes.half + receiver.bytes.half
        if receiver.bytes.value - sender.bytes.value > slack * 1.000001:
            omit = bool(self.run.row.get("warmup_ns")) or self._omits
            reason = "; with -O the two ends omit different intervals" if omit else ""
            text = f"received {receiver.bytes.printed}, more than {sender.bytes.printed} sent{reason}"
            self.run.add_event("receiver_gt_sender", "info" if omit else "warning", text, receiver.line)

    def _set_duration(self, rows: list[RateRow]) -> None:
        """Set the measured duration: the receiver's, by which its throughput was divided, else the sender's."""
        ordered = sorted(rows, key=lambda row: row.side != "receiver")
        if not ordered or self.run.row.get("duration_ns") is not None:
            return
        measured = ordered[0].length_ns
        self.run.set(duration_ns=measured)
        requested = self.run.row.get("requested_duration_ns")
        if requested and measured > _LONGEST_OVERRUN * requested:
            text = f"the test ran for {measured / 1e9:g} s, {requested / 1e9:g} s were requested; the rate includes it"
            self.run.add_event("duration_overrun", "warning", text, ordered[0].line)

    def _write_losses(self) -> None:
        """Write the loss of UDP from the counts of both ends: the receiver cannot count losses at the end."""
        run = self.run
        for row in self.summary:
            if row.lost is None or row.jitter is None:
                continue
            name = self._stream_name(row)
            scope = "run" if name == row.role else "stream"
            sent = run.value("datagrams", side="sender", stream=name)
            expected = sent if row.datagrams is None else row.datagrams.value
            if not expected:
                continue
            omitted = bool(run.row.get("warmup_ns")) or self._omits
            received = expected - row.lost.value
            # The JSON of --bidir divides by the datagrams of the other direction.
            counted = row.lost.value / expected
            agrees = self.bidir or row.datagrams is None or percent_agrees(row.percent, counted)
            # With -O, one of the two leaves the omitted datagrams out.
            if not agrees and not (omitted and percent_agrees(row.percent, counted, within=_OMITTED_SHARE)):
                text = f"{row.lost.value:.0f} lost of {expected:.0f} datagrams are not the printed {row.percent} %"
                contradict(run, "loss_mismatch", text, row.line_of("loss"))
            if sent and sent >= expected and not omitted and not row.mixed:
                loss = 1 - received / sent
                if sent > expected:
                    text = f"{sent - expected:.0f} of {sent:.0f} datagrams were sent after the last one that arrived"
                    run.add_event("tail_loss", "warning", text, row.line_of("loss"))
                counts = f"1 - {received:.0f} received / {sent:.0f} sent"
            else:
                loss = row.lost.value / expected
                counts = f"{row.lost.value:.0f} lost / {expected:.0f} expected"
            if not percent_agrees(row.percent, loss):
                text = f"the log prints {row.percent} %; {counts} = {loss:.6g}"
                run.add_event("loss_recomputed", "info", text, row.line_of("loss"))
            value = Quantity(loss, "fraction", row.percent or "", None)
            run.add_metric("loss", value, row.line_of("loss"), stream=name, scope=scope)

    def _write_intervals(self) -> None:
        """Write each interval once; TCP rows without retransmits get the side of the test."""
        names = {stream: self._name(*stream) for stream in self._streams()}
        counted: dict[_Direction, list[RateRow]] = defaultdict(list)
        earlier: dict[tuple[object, ...], RateRow] = {}
        for row in self.intervals:
            if row.side is None:
                row.side = "receiver" if self.interleaved else self.local_side(row.role)
            name = names[row.role, row.stream]
            if is_printed_again(row, (row.side, name, row.omitted, row.start_ns, row.end_ns), earlier, self.run):
                continue
            self._check_interval(row)
            self.run.add_interval(**interval_of(row, name, row.throughput()))
            if not row.omitted:
                counted[row.side or "", row.role or ""].append(row)
        for direction in sorted(counted):
            side, role = direction
            totals = [row for row in self.summary if (row.role or "") == role and (row.side or side) == side]
            last = max(totals, key=lambda row: row.end_ns, default=None)
            # With -O the first interval begins where the last omitted one ended, not at 0.
            total = None if last is None or self._omits else (last.start_ns, last.end_ns)
            report_gaps(counted[direction], self.run, total)

    def _check_interval(self, row: RateRow) -> None:
        if row.rate is None or row.bytes is None:
            return
        if not row.rate.value:
            if not row.agrees():
                text = f"the rate is 0, but {row.bytes.printed} {row.bytes.printed_unit or 'bytes'} were transferred"
                self.run.add_event("rate_mismatch", "warning", text, row.line)
            return
        implied = 8e9 * row.bytes.value / row.rate.value
        shift = abs(implied - row.length_ns)
        slack = row.slack_ns + 1e-3 * implied
        if row.agrees() and (shift <= slack or shift <= slack + row.relative_resolution() * implied):
            return
        first = row.start_ns < _BOUNDARY_NS and not row.omitted and self._omits
        boundary = first or row.length_ns + row.slack_ns < _BOUNDARY_NS < implied
        text = f"{row.rate.printed} is not {row.bytes.printed} divided by {row.length_ns / 1e9:g} s"
        severity = "info" if boundary and shift <= LONGEST_SHIFT * implied else "warning"
        self.run.add_event("omit_boundary" if boundary else "rate_mismatch", severity, text, row.line)

    def _set_status(self) -> None:
        run = self.run
        has_numbers = not self.empty
        if not self.ended and self.results_missing and run.row["status"] == "complete":
            text = "the test ended before the results of the other end arrived; the totals cover the time until then"
            run.end_as("interrupted", "warning", text, self.last_line)
        if self.failure is not None and run.row["status"] == "complete":
            line, text = self.failure
            run.set(status="interrupted" if has_numbers else "failed")
            code, severity = ("interrupted", "warning") if has_numbers else ("failed", "error")
            run.add_event(code, severity, f"iperf3 stopped: {text}", line)
        elif (run.row["status"] == "interrupted" or self.ended) and not has_numbers:
            if self.unreached:
                run.set(test="server")
                run.end_as("no_data", "info", UNREACHED, self.last_line)
            else:
                run.end_as("no_data", "error", "the test ended before the first result; repeat it", self.last_line)
        if self.interleaved:
            text = "client and server wrote into the same log; their rows are separated by their columns"
            run.add_event("interleaved", "warning", text, self.run.row["first_line"])
        ended = not self.cut and (self.ended or self._has_all_totals())
        end_run(run, has_numbers=has_numbers, ended=ended, last_line=self.last_line)

    def _has_all_totals(self) -> bool:
        """Whether the log has the last rows of the summary, even without the closing line."""
        if self.verbose and not self.server and self.run.row_of("cpu_process", side="local") is None:
            return False
        rows = [row for row in self.summary if row.stream == SUM or not self._has_streams()]
        # Up to 3.1 the only row of UDP is the total of both ends.
        totals = {(row.role, side) for row in rows for side in (("sender", "receiver") if row.mixed else (row.side,))}
        roles = {role for role, _ in self._streams()}
        labelled = any(row.jitter is None for row in self.summary)
        if self.server and not (self.legacy and labelled):
            return all((role, self.local_side(role)) in totals for role in roles) and bool(roles)
        return all((role, side) in totals for role in roles for side in ("sender", "receiver")) and bool(roles)
