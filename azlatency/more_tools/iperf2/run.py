"""One iperf 2 test: streams and sides of its rows, the tables that follow, and the checks.

Text and CSV readers collect rows, connections and histograms in a `Test`; `Test.finish` writes them.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from azlatency.logs.grammar.command_line import size_of
from azlatency.logs.grammar.units import Quantity, nanoseconds, quantity
from azlatency.logs.parsers import Log
from azlatency.logs.parsers import iperf_rows as rows
from azlatency.logs.parsers.common import complete_quantile, end_run
from azlatency.logs.record import Run

_SECOND_NS = nanoseconds("1", "s")
#: The only row of a test that is shorter than this share of the time asked for is an interval of a log that was cut.
_SHORTEST_SHARE = 0.9
_PORT = "5001"
_HISTOGRAMS = {"BB": "rtt", "T": "one_way_latency", "F": "frame_latency", "W": "write_latency"}


@dataclass(slots=True, kw_only=True)
class ReportRow(rows.RateRow):
    """One printed row, interval or total."""

    report: bool = False
    """The count that the server of a UDP test sends back to the client."""
    receives: bool | None = None
    latency: tuple[Quantity, ...] = ()
    """Mean, minimum, maximum, standard deviation."""
    message_rate: Quantity | None = None
    bounces: Quantity | None = None
    rps: Quantity | None = None

    @property
    def is_sum(self) -> bool:
        """Whether the row adds up streams."""
        return self.stream.lstrip("*").startswith(rows.SUM)


@dataclass(slots=True, kw_only=True)
class Histogram:
    """A final histogram; bin k counts values in ((k-1) * width, k * width]."""

    line: int
    stream: str
    kind: str
    width_ns: int
    count: int
    bins: list[tuple[int, int]]
    below: int
    above: int
    quantiles: list[tuple[str, str]]


@dataclass
class Test:
    """One test while it is read."""

    log: Log
    run: Run
    form: str
    connect: tuple[str, str] | None = None
    listen: str | None = None
    first: str | None = None
    """The first banner, ``client`` or ``server``: the end that wrote the log."""
    block: int | None = None
    bins: int | None = None
    last_line: int = 0
    bidir: bool = False
    """Whether this end both sends and receives; known at the end."""
    bounce: bool = False
    """Whether the test measured round-trip times (``--bounceback``); known at the end."""
    has_streams: bool = False
    """Whether a direction has several streams; known at the end."""
    cut: bool = False
    """The log ends within the last row."""
    connections: dict[str, rows.Connection] = field(default_factory=dict)
    rows: list[ReportRow] = field(default_factory=list)
    sent: dict[str, tuple[int, Quantity]] = field(default_factory=dict)
    out_of_order: dict[str, tuple[int, Quantity]] = field(default_factory=dict)
    histograms: list[Histogram] = field(default_factory=list)
    failures: list[tuple[int, str]] = field(default_factory=list)
    interrupted: tuple[int, str] | None = None
    unreported: set[str] = field(default_factory=set)
    """The streams of which iperf warns, as of a report of the server that did not arrive."""
    _last: dict[str, ReportRow] = field(default_factory=dict)
    """The last row of each stream, apart from server reports."""
    _counts: Counter[str] = field(default_factory=Counter)
    _firsts: dict[str, ReportRow] = field(default_factory=dict)
    """The first row of each stream, which may be a report; known at the end."""
    _clients: dict[str, bool | None] = field(default_factory=dict)
    """What `_is_client` returned at the end."""

    # --- while reading

    def add(self, row: ReportRow) -> None:
        """Add a row, which may be completed until the next one is added."""
        self.rows.append(row)
        if not row.report:
            self._last[row.stream] = row
            self._counts[row.stream] += 1

    def over(
        self,
        stream: str,
        *,
        starts: float | None = None,
        report: str | None = None,
        end: Quantity | None = None,
        size: Quantity | None = None,
    ) -> bool:
        """Whether a connection, or a row with that start (s), end and size, belongs to the next test."""
        last = self._last
        if not last:
            return False
        if starts is None:
            return stream in last or all(last[name].start_ns == 0 for name in self.connections if name in last)
        previous = last.get(stream)
        # After a total, unless the server reports, only the rows of another test begin at 0 again.
        if previous is None or report == stream or starts > 0 or previous.start_ns > 0:
            return False
        return self._counts[stream] > 1 or self._excludes(previous, end, size)

    def is_next(self, stream: str, start_ns: int) -> bool:
        """Whether a row that starts then follows the last one of a stream, which is an interval."""
        return stream in self._last and start_ns == self._last[stream].end_ns

    def _excludes(self, row: ReportRow, end: Quantity | None, size: Quantity | None) -> bool:
        """Whether a row cannot be the total of ``row``, the only one so far: somebody kept only the totals of tests."""
        if self.connections or end is None or size is None or row.bytes is None:
            return False
        if row.is_sum and not all(other.is_sum for other in self.rows):
            return False
        if row.end_ns > _SECOND_NS and row.end_ns % _SECOND_NS:
            return True  # an interval ends on a whole second
        later, more = end.value - row.end_ns, size.value - row.bytes.value
        tick, rounding = 2 * end.half, size.half + row.bytes.half
        return later < -tick or more < -1.01 * rounding or (later <= tick and more > 1.01 * rounding)

    # --- at the end

    def finish(self) -> None:
        """Write the run: its columns, metrics, intervals, histograms and status."""
        self.run.set(last_line=max(self.last_line, self.run.row["first_line"]))
        self._set_sides()
        self._find_firsts()
        self.bounce = any(row.bounces is not None for row in self.rows)
        totals = self._totals()
        self._drop_wrong_sums(totals)
        self.bidir = len({row.side for row in self.rows if not row.report} - {None}) > 1
        self.has_streams = self._count_streams() > 1
        self._describe(totals)
        for row in totals:
            self._write_total(row)
        written = {*map(id, totals)}
        self._write_intervals([row for row in self.rows if id(row) not in written], totals)
        for histogram in self.histograms:
            self._write_histogram(histogram)
        self._write_counts()
        self._set_status(totals)

    def _find_firsts(self) -> None:
        self._firsts = {}
        for row in self.rows:
            self._firsts.setdefault(row.stream, row)

    @property
    def server(self) -> bool | None:
        """Whether the end that wrote the log was started as server."""
        if self.first is not None:
            return self.first == "server"
        words = self.log.arguments
        if "-s" in words or "--server" in words:
            return True
        return False if "-c" in words or "--client" in words else None

    def _is_client(self, stream: str) -> bool | None:
        """Whether this end opened the connection of the stream."""
        if stream not in self._clients:
            self._clients[stream] = self._has_opened(stream)
        return self._clients[stream]

    def _has_opened(self, stream: str) -> bool | None:
        names = (stream, "*" + stream, stream[1:])
        connection = next((self.connections[name] for name in names if name in self.connections), None)
        if connection is not None:
            port = self.connect[1] if self.connect is not None else self._shared_port()
            connects = port is not None and connection.remote_port == port
            # With -d the server connects back to the port of the test, unless -L names another one.
            listens = connection.local_port in (port, self.listen)
            if connects != listens:
                return connects
        return None if self.server is None else not self.server

    def _shared_port(self) -> str | None:
        """Return the default port if connections in both directions use it: the test has no banner."""
        connections = self.connections.values()
        ends = {(connection.local_port == _PORT, connection.remote_port == _PORT) for connection in connections}
        return _PORT if {(True, False), (False, True)} <= ends else None

    def _set_sides(self) -> None:
        both = self._has_both_directions()
        for row in self.rows:
            self._set_side(row, both=both)
        if both:
            self._set_sides_of_sums()

    def _set_side(self, row: ReportRow, *, both: bool) -> None:
        """Set whether the end that wrote the row sends or receives; ``both``: the connections go in both directions."""
        client = self._is_client(row.stream.lstrip("*") if row.stream not in self.connections else row.stream)
        if row.is_sum and both:
            client = None
        if row.report:
            row.side = "receiver"
        elif client is not None:
            row.side = "sender" if client != row.stream.startswith("*") else "receiver"
        elif row.receives is not None:
            row.side = "receiver" if row.receives else "sender"

    def _set_sides_of_sums(self) -> None:
        """Set the side of each sum in a dual test to that of the rows above that it adds up; drop other sums."""
        parts: list[ReportRow] = []
        wrong: list[ReportRow] = []
        for row in self.rows:
            if not row.is_sum:
                parts.append(row)
                continue
            summed = [part for part in parts if part.start_ns == row.start_ns and not part.report]
            of_sides = {side: [part for part in summed if part.side == side] for side in ("sender", "receiver")}
            sides = [side for side, those in of_sides.items() if row.side is None and _adds_up(row, those)]
            if len(sides) == 1:
                row.side = sides[0]
            elif row.side is None:
                wrong.append(row)
            parts = []
        self._drop_sums(wrong, "is not the sum of the streams of one direction")

    def _drop_sums(self, wrong: list[ReportRow], problem: str) -> None:
        for row in wrong:
            printed = f"{row.bytes.printed} {row.bytes.printed_unit}" if row.bytes is not None else ""
            text = f"[{row.stream}] {printed} {problem}; it is left out"
            self.run.add_event("sum_mismatch", "warning", text, row.line)
        if wrong:
            dropped = {*map(id, wrong)}
            self.rows = [row for row in self.rows if id(row) not in dropped]
            self._find_firsts()

    def _has_both_directions(self) -> bool:
        """Whether the connections go in both directions."""
        return len({self._is_client(stream) for stream in self.connections}) > 1

    def _totals(self) -> list[ReportRow]:
        """Return the totals: the last row of each stream, if it covers the whole time, and the server reports."""
        totals = [row for row in self.rows if row.report]
        series: dict[tuple[str, str | None], list[ReportRow]] = defaultdict(list)
        for row in self.rows:
            if not row.report:
                series[row.stream, row.side if row.is_sum else None].append(row)
        for found in sorted(series.values(), key=lambda found: found[0].is_sum):
            first, last = found[0], found[-1]
            proven = first.is_sum and any(row.side == first.side for row in totals)
            if last.start_ns == 0 and (len(found) > 1 or proven or self._is_total(first)):
                totals.append(last)
        return totals

    def _is_total(self, row: ReportRow) -> bool:
        """Whether the only row of a stream is taken as its total; if that is not certain, it is flagged."""
        if row.end_ns % _SECOND_NS or row.stream in self.sent or row.report:
            return True
        words, requested = self.log.arguments, self._requested_ns()
        if requested is not None and row.end_ns < _SHORTEST_SHARE * requested:
            return False
        if words and not any(word.startswith("-i") or word.startswith("--interval") for word in words):
            return True
        # Most people print intervals of one second, and few measure for one second.
        if row.slack_ns < 1e-3 * _SECOND_NS or row.end_ns <= _SECOND_NS:
            return False
        text = f"the only row, up to {row.end_ns / 1e9:g} s, may be the first interval of a log that was cut"
        self.run.add_event("total_unproven", "warning", text, row.line)
        return True

    def _drop_wrong_sums(self, totals: list[ReportRow]) -> None:
        """Leave out a sum that is not the sum of its streams."""
        for total in [row for row in totals if row.is_sum]:
            parts = [row for row in totals if not row.is_sum and not row.report and row.side == total.side]
            is_complete = parts and total.bytes is not None and len(parts) >= self._count_streams()
            if is_complete and not _adds_up(total, parts):
                totals[:] = [row for row in totals if row is not total]
                expected = sum(row.bytes.value for row in parts if row.bytes is not None)
                self._drop_sums([total], f"is not the sum of streams, {expected:.0f} bytes")

    # --- names

    def _count_streams(self) -> int:
        firsts = self._firsts
        named = [stream.split("-")[1] for stream, row in firsts.items() if row.is_sum and "-" in stream]
        if named:
            return int(named[0])
        streams = {stream.lstrip("*") for stream in self.connections} | {
            stream.lstrip("*") for stream, row in firsts.items() if not row.is_sum
        }
        if self._has_both_directions():
            return max(1, len(streams) // 2)
        return len(streams) or 1

    def _role(self, row: ReportRow) -> str | None:
        if not self.bidir or row.side is None:
            return None
        sends = row.side == "sender" if not row.report else True
        return ("TX-" if sends else "RX-") + ("S" if self.server else "C")

    def _stream_name(self, row: ReportRow) -> str | None:
        role = self._role(row)
        if row.is_sum or not self.has_streams:
            return role
        number = row.stream.lstrip("*")
        return number if role is None else f"{role} {number}"

    def _describe(self, totals: Sequence[ReportRow]) -> None:
        row = self.run.row
        reverse = not self.bidir and any("(reverse)" in connection.flags for connection in self.connections.values())
        test = "stream-bidir" if self.bidir else "stream-reverse" if reverse else "stream"
        row["test"] = "bounceback" if self.bounce else test
        end = {True: "-server", False: "-client", None: ""}[self.server]
        row["dialect"] = f"iperf2-{self.form}{end}"
        if self.bounce:
            row["printed_as"], row["closed_loop"] = "round_trip", True
        first = next(iter(self.connections.values()), None)
        if first is not None:
            client = self._is_client(first.stream)
            local, remote = (address.split("%")[0] for address in (first.local, first.remote))
            if client is not None:
                row["client"], row["server"] = (local, remote) if client else (remote, local)
        elif self.connect is not None and self.server is False:
            row["server"] = self.connect[0]
        # A sum alone does not say of how many streams it is.
        is_known = bool(self.connections) or any(
            not first.is_sum or "-" in stream for stream, first in self._firsts.items()
        )
        row["connections"] = self._count_streams() if is_known else None
        row["message_bytes"] = row.get("message_bytes") or self.block
        if row.get("protocol") is None and any(row.jitter is not None for row in self.rows):
            row["protocol"] = "udp"
        self._read_command()
        durations = [total.length_ns for total in totals if self._stream_name(total) == self._role(total)]
        if durations:
            row["duration_ns"] = max(durations)

    def _requested_ns(self) -> int | None:
        """Return the duration that the command of a client asks for; None if it is unknown or counts bytes."""
        return rows.requested_duration(self.log, "-n", "--num") if rows.is_client(self.log) else None

    def _read_command(self) -> None:
        if not rows.is_client(self.log):
            return
        self.run.set(requested_bytes=size_of(self.log.option("-n", "--num"), lower=1000))
        self.run.set(requested_duration_ns=self._requested_ns())
        rate = self.log.option("-b", "--bandwidth")
        if rate is not None and self.run.row.get("protocol") != "udp":
            text = f"the command limits the rate to {rate} bit/s"
            self.run.add_event("paced", "info", text, self.run.row["first_line"])

    # --- rows

    def _write_total(self, row: ReportRow) -> None:
        run, name = self.run, self._stream_name(row)
        scope = "run" if name == self._role(row) else "stream"
        if not self.bounce:
            for metric, value in (("throughput", row.rate), ("transferred", row.bytes)):
                if value is not None:
                    run.add_metric(metric, value, row.line, side=row.side, stream=name, scope=scope)
        for metric, value, side in (
            ("retransmits", row.retransmits, "sender"),
            ("jitter", row.jitter, "receiver"),
            ("message_rate", row.message_rate, row.side),
            ("observations", row.bounces, None),
            ("transaction_rate", row.rps, None),
        ):
            if value is not None and value.value >= 0:
                run.add_metric(metric, value, row.line, side=side, stream=name, scope=scope)
        self._write_loss(row, name, scope)
        prefix = "rtt" if row.bounces is not None else "one_way_latency"
        for ending, value in zip(("mean", "min", "max", "sd"), row.latency, strict=False):
            run.add_metric(f"{prefix}_{ending}", value, row.line, stream=name, scope=scope)
        if row.latency and prefix != "rtt":
            text = "one-way latencies depend on how well the two clocks agree"
            run.add_event("one_way_clocks", "info", text, row.line)
        self._check_rate(row)

    def _check_rate(self, row: ReportRow) -> None:
        if text := row.contradiction():
            self.run.add_event("rate_mismatch", "warning", text, row.line)

    def _write_loss(self, row: ReportRow, name: str | None, scope: str) -> None:
        if row.lost is None or row.datagrams is None or row.lost.value < 0 or row.datagrams.value <= 0:
            return
        run = self.run
        run.add_metric("lost", row.lost, row.line, side="receiver", stream=name, scope=scope)
        run.add_metric("datagrams", row.datagrams, row.line, side="receiver", stream=name, scope=scope)
        loss = row.lost.value / row.datagrams.value
        run.add_metric("loss", Quantity(loss, "fraction", row.percent, None), row.line, stream=name, scope=scope)
        if not rows.percent_agrees(row.percent, loss):
            text = f"the log prints {row.percent} %; {row.lost.value:.0f} / {row.datagrams.value:.0f} = {loss:.6g}"
            run.add_event("loss_recomputed", "info", text, row.line)

    def _write_intervals(self, intervals: Sequence[ReportRow], totals: Sequence[ReportRow]) -> None:
        """Write each interval once, and report what is missing between those of a stream."""
        written: dict[str, list[ReportRow]] = defaultdict(list)
        earlier: dict[tuple[object, ...], rows.RateRow] = {}
        for row in intervals:
            if rows.is_printed_again(row, (row.stream, row.side, row.start_ns, row.end_ns), earlier, self.run):
                continue
            self._check_rate(row)
            # The bytes of a bounceback are those of both directions.
            printed = replace(row, bytes=None, rate=None) if self.bounce else row
            self.run.add_interval(**rows.interval_of(printed, self._stream_name(row), printed.throughput()))
            written[row.stream].append(row)
        ends = {row.stream: (row.start_ns, row.end_ns) for row in totals if not row.report}
        for stream, of_stream in written.items():
            rows.report_gaps(of_stream, self.run, ends.get(stream))

    def _write_counts(self) -> None:
        counts = [("datagrams", "sender", *sent) for sent in self.sent.items()]
        counts += [("out_of_order", "receiver", *late) for late in self.out_of_order.items()]
        for metric, side, stream, (line, value) in counts:
            row = self._firsts.get(stream)
            name = None if row is None else self._stream_name(row)
            self.run.add_metric(
                metric, value, line, side=side, stream=name, scope="stream" if self.has_streams else "run"
            )

    def _write_histogram(self, histogram: Histogram) -> None:
        metric = _HISTOGRAMS.get(histogram.kind)
        row = self._firsts.get(histogram.stream)
        name = None if row is None else self._stream_name(row)
        total = sum(number for _, number in histogram.bins)
        if metric is None:
            text = f"unknown histogram {histogram.kind}; it is left out"
            self.run.add_event("unknown_histogram", "warning", text, histogram.line)
            return
        if total + histogram.below + histogram.above != histogram.count:
            text = f"the bins add up to {total}, but the count is {histogram.count}; the histogram is left out"
            self.run.add_event("histogram_total", "warning", text, histogram.line)
            return
        for number, amount in histogram.bins:
            low, high = (number - 1) * histogram.width_ns, number * histogram.width_ns
            self.run.add_bucket(metric=metric, stream=name, low_ns=low, high_ns=high, count=amount, line=histogram.line)
        if histogram.above and self.bins is not None:
            edge = {"low_ns": self.bins * histogram.width_ns, "high_ns": None, "count": histogram.above}
            self.run.add_bucket(metric=metric, stream=name, line=histogram.line, **edge)
        for percent, token in histogram.quantiles:
            # Only the bin is known: the value is its middle, the resolution half its width.
            middle = (int(token) - 0.5) * histogram.width_ns
            value = Quantity(middle, "ns", token, histogram.width_ns / 2, "bin")
            q = quantity(percent, "%").value
            quantile_row = self.run.add_quantile(q, value, histogram.line, metric=metric, stream=name)
            if histogram.count and quantile_row is not None:
                # q * n may not be an integer, and which rank is meant is not documented.
                complete_quantile(quantile_row, histogram.count, max(round(q * histogram.count), 1))
                quantile_row["rank"] = None

    # --- the end

    def _set_status(self, totals: Sequence[ReportRow]) -> None:
        run = self.run
        for line, text in self.failures:
            code, severity = ("interrupted", "warning") if self.rows else ("failed", "error")
            run.set(status="interrupted" if self.rows else "failed")
            run.add_event(code, severity, f"iperf stopped: {text}", line)
        if self.interrupted is not None and not self.server:
            line, text = self.interrupted
            run.end_as("interrupted", "warning", f"{text}; the totals cover the time until then", line)
        finished = {row.stream for row in totals}
        begun = self._firsts
        only_sums = bool(begun) and all(row.is_sum for row in begun.values())
        # A connection that only sends back has rows with an asterisk.
        idle = set([] if only_sums else self.connections) - {stream.lstrip("*") for stream in finished}
        ended = begun.keys() <= finished and not idle and bool(finished) and not self.cut and not self._lacks_end()
        end_run(run, has_numbers=bool(self.rows), ended=ended, last_line=run.row["last_line"])

    def _lacks_end(self) -> bool:
        """Whether the text of a client ends before the sum of its streams, or before a report of the server."""
        if self.form != "text" or self.server is not False:
            return False
        firsts = self._firsts
        lacks_sum = not self.bidir and len(firsts) > 1 and not any(row.is_sum for row in firsts.values())
        reported = {row.stream for row in self.rows if row.report}
        due = {stream for stream in self.sent if not stream.startswith(rows.SUM)} - self.unreported
        return lacks_sum or (bool(reported) and not due <= reported)


def _adds_up(total: ReportRow, parts: Sequence[ReportRow]) -> bool:
    """Return whether a sum is that of other rows."""
    sizes = [row.bytes for row in parts if row.bytes is not None]
    if total.bytes is None or not sizes:
        return False
    expected = sum(size.value for size in sizes)
    rounding = sum(size.half for size in (*sizes, total.bytes))
    return abs(total.bytes.value - expected) <= 1.01 * rounding + 0.01 * expected
