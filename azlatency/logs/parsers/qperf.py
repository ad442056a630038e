"""qperf 0.4.11: one block of results per test.

::

    tcp_bw:
        bw          =     2.82 GB/sec
        msg_rate    =     43.1 K/sec
        send_bytes  =     28.2 GB
        send_msgs   =  430,972
    tcp_lat:
        latency         =     16.9 us
        msg_rate        =       59 K/sec
        msg_size        =       64 KiB (65,536)
        loc_send_msgs   =  295,150
        loc_cpus_used   =      201 % cpus

*RTT/2.* ``latency`` is a **half round trip** in every ``*_lat`` test: the elapsed time divided by the messages received
at both ends (qperf.c 1888). The exception is ``rc_rdma_read_lat``, a full completion, because there only the client
counts (rdma.c 1180). The tables contain round-trip times. ``msg_rate`` counts both directions.

*Digits.* Numbers have three significant digits (more with ``-e``) without trailing zeros: ``59 K/sec`` means 59.0. Byte
prefixes are decimal, but sizes that are multiples of 1024 are printed as ``64 KiB (65,536)``. ``1,000 us`` is 999.5 to
1000 us. The elapsed time has ticks of
10 ms. The tool omits values of zero or less, except the two main rates.

*Silent failures.* Ctrl-C leaves no message; only a measured time (``-vvt``) below the requested one shows it. A lost
datagram stops ``udp_lat`` until the timer ends it, and the wait counts as latency.

*Runs.* Each block is a run, and so is each repetition of its result under one heading. ``-oo`` repeats the block
without printing the value that varies: the message sizes and other settings then follow from the command line, if the
log has exactly the tests that it asks for, and are unknown otherwise (``sizes_unknown``). A ``conf`` block describes
the machines; it is a run without data. Options that do not affect the measurement (timeouts, ports, affinity, queue
sizes) are not stored.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from decimal import Decimal
from itertools import pairwise, product
from typing import ClassVar, NamedTuple

from azlatency.logs.grammar.command_line import UNKNOWN_SETTING, arguments_of, settings_of, settings_text
from azlatency.logs.grammar.rules import UNKNOWN, Line, data, known
from azlatency.logs.grammar.units import Quantity, count, nanoseconds, prefixed, quantity
from azlatency.logs.parsers import Log, Parser, Signature
from azlatency.logs.parsers.common import LogReader, contradict, end_run, slack
from azlatency.logs.record import Recorder, Run

_TEST = (
    r"(?:conf|(?:tcp|udp|sctp|sdp|rds)_(?:bw|lat)|(?:rc|uc|ud|xrc)_(?:bi_bw|bw|lat)"
    r"|[ru]c_rdma_(?:read|write)_(?:bw|lat|poll_lat)|(?:ver_)?rc_(?:compare_swap|fetch_add)(?:_mr)?)"
)
# A test that was not stopped is at most one tick of 10 ms shorter than requested.
_COMPLETE = 0.9
# Messages on the way when an end starts or stops to count.
_UNDER_WAY = 2
_NUMBER = r"(\d{1,3}(?:,\d{3})+|\d+(?:\.\d+)?)"
# From 1000 on, a number gets the next prefix. One with a comma has no next one, or was rounded to 1,000.
_SCALED = r"(\d{1,3}(?:,\d{3})+(?:\.\d+)?(?= (?:sec|% cpus)\b)|1,000|\d+(?:\.\d+)?)"
# The next binary prefix begins at 1,024.
_BINARY = r"(?:1,0[0-2]\d|\d+(?:\.\d+)?)"
_COUNT = r"(\d{1,3}(?:,\d{3})+|\d+)"
_SIDES = {"loc": "local", "rem": "remote", "send": "sender", "recv": "receiver"}
_COMPLETION = "rc_rdma_read_lat"
_DEFAULT_BYTES = {"tcp_lat": 1, "udp_lat": 1, "tcp_bw": 65536, "udp_bw": 32768}
_DEFAULT_DURATION_NS = 2 * 10**9
_TICK_NS = 10**7
_FEW_ROUND_TRIPS = 100
_SIZE = "msg_size"
#: A size that is no multiple of it is printed in bytes, or with a decimal prefix.
_KIBI = 1024
#: More tests than this are not those of one command.
_MOST_TESTS = 10_000
#: Options without a value; every other one has one.
_FLAG = re.compile(
    r"-v\w{0,2}|--verbose\w{0,12}|-u[nub]?|--unify_\w{5}|--use_bits_per_sec|-D|--debug"
    r"|-(?:ar|f|[lr]?cp|cm)[1o]"
)
#: Where a command ends in a command line: a pipe, a redirection, the next command.
_SHELL = re.compile(r"\d?[|>&<;]")
_CPU = {
    "cpus_used": "cpu_cores_used",
    "cpus_user": "cpu_cores_user",
    "cpus_intr": "cpu_cores_interrupt",
    "cpus_kernel": "cpu_cores_system",
    "cpus_iowait": "cpu_cores_iowait",
}


_BEGINNING = re.compile(r"\s*(?:latency|bw|time|(?:msg|send|recv|loc|rem)_\w{0,20})\s{0,20}(?:=|$)")


def _pair(name: str, value: str) -> str:
    """Return the pattern of a name and its value; a copy may have more blanks before the unit."""
    return rf"{name}\s+=\s+{value.replace(' ', ' {1,4}')}"


class Planned(NamedTuple):
    """A test that a command line asks for: its name, its message size (None: the default), and other looped values."""

    test: str
    size: int | None
    settings: Mapping[str, str]


def planned_tests(words: Sequence[str]) -> list[Planned]:
    """Return the tests that a command line asks for, in their order.

    qperf reads its arguments from left to right: a test uses the options before it, and the first loop is the outermost
    (``do_args`` and ``do_loop`` in qperf.c). The list is empty if the command cannot be followed.
    """
    plan: list[Planned] = []
    loops: list[tuple[str, list[int]]] = []
    size, has_server = None, False
    arguments = iter(arguments_of(words, ("qperf",))[1:])
    for word in arguments:
        if _SHELL.match(word):
            break
        if not word.startswith("-"):
            if has_server and re.fullmatch(_TEST, word):
                if len(plan) + math.prod(len(values) for _, values in loops) > _MOST_TESTS:
                    return []
                for values in product(*(values for _, values in loops)):
                    looped = dict(zip((name for name, _ in loops), values, strict=True))
                    of_size = looped.pop(_SIZE, size)
                    plan.append(Planned(word, of_size, {name: str(value) for name, value in looped.items()}))
            elif has_server and word != "quit":
                return []
            has_server = True
        elif not _FLAG.fullmatch(word):
            value = next(arguments, "")
            has_server |= word in ("-H", "--host")
            if word in ("-oo", "--loop"):
                if (loop := _parse_loop(value)) is None:
                    return []
                loops.append(loop)
            elif word in ("-m", "--msg_size") and (size := _parse_size(value)) is None:
                return []
    return plan


def server_of(words: Sequence[str]) -> str | None:
    """Return the server of a command line: the first word that is neither an option nor its value, or that of -H."""
    arguments = iter(arguments_of(words, ("qperf",))[1:])
    for word in arguments:
        if not word.startswith("-"):
            return None if word.startswith("$") or _SHELL.match(word) else word
        if not _FLAG.fullmatch(word):
            value = next(arguments, None)
            if word in ("-H", "--host"):
                return value
    return None


def _parse_loop(text: str) -> tuple[str, list[int]] | None:
    """Return the variable of ``-oo VARIABLE:INIT:LAST:INCREMENT`` and its values; None without values or an end."""
    _, init, last, step = (text.split(":") + [""] * 4)[:4]
    multiplies = step.startswith("*")
    increment, end = _parse_size(step.removeprefix("*")), _parse_size(last)
    value = _parse_size(init) if init else int(multiplies)
    if increment is None or end is None or value is None:
        return None
    values: list[int] = []
    while value <= end and len(values) <= _MOST_TESTS:
        values.append(value)
        value = value * increment if multiplies else value + increment
    return (_variable(text), values) if values and len(values) <= _MOST_TESTS else None


def _variable(text: str) -> str:
    """Return the variable of an argument of ``-oo``; ``loop`` if a variable of the shell hides it."""
    name = text.partition(":")[0]
    return "loop" if "$" in name else _SIZE if name in ("", "m") else name


def _parse_size(text: str) -> int | None:
    """Read a size as ``str_size`` in qperf.c does: 64K and 64kib are 65,536, 64k and 64kb are 64,000."""
    match = re.fullmatch(r"\+?(\d{1,15}(?:\.\d{1,9})?)([kmgKMG]?|[kmg]i?b)", text)
    if match is None:
        return None
    base = 1024 if match[2][:1].isupper() or match[2].endswith("ib") else 1000
    return int(Decimal(match[1]) * base ** " kmg".index(match[2][:1].lower() or " "))


class _Qperf(LogReader):
    def __init__(self, log: Log, recorder: Recorder) -> None:
        super().__init__(log, recorder)
        self.plan = planned_tests(log.arguments)
        self.runs: list[Run] = []
        """The runs above the current one, if a command line says which tests they are."""
        values = (value for word, value in pairwise(log.arguments) if word in ("-oo", "--loop"))
        self.looped = {_variable(value) for value in values}
        self.run = recorder.start_run("qperf", log.first_line)
        precision = log.option("-e", "--precision")
        self.digits = max(3, int(precision)) if precision and precision.isdigit() else 3
        self.failed = False
        self.cut = False

    def _begin_repetition(self, metric: str, line: Line, *, side: str | None = None) -> None:
        """Begin a further run if the block repeats a result: it was printed several times under one heading."""
        if self.run.value(metric, side=side) is None:
            return
        row = self.run.row
        self._begin_run(line)
        if len({planned.test for planned in self.plan}) > 1:
            self._tell_missing_heading("the value has no heading, and the command asks for several tests", line)
        self.run.set(**{name: row.get(name) for name in ("test", "protocol", "printed_as", "closed_loop")})

    def _begin_result(self, ending: str, line: Line) -> None:
        """Begin a run without a test at a result that only tests whose names have another ending print."""
        if self.test.endswith(ending):
            test = self.test
            self._begin_run(line)
            self._tell_missing_heading(f"{test} prints no such result", line)

    def _tell_missing_heading(self, reason: str, line: Line) -> None:
        text = f"{reason}: a line that names the test is missing; copy the whole log"
        contradict(self.run, "heading_missing", text, line.number)

    def _begin_run(self, line: Line, *, is_block: bool = False) -> None:
        """Complete the current run and begin the next one; ``is_block`` if a heading begins it."""
        self._end_run(line.number - 1, is_whole=is_block)
        if self.plan or self.looped:
            self.runs.append(self.run)
        self.run = self.run.recorder.start_run("qperf", line.number)
        self.failed = self.cut = False

    @property
    def test(self) -> str:
        return self.run.row.get("test") or ""

    # --- what was run

    @data(rf"({_TEST}):", hint=":")
    def header(self, line: Line, match: re.Match[str]) -> None:
        name = match[1]
        if not self.test and any(True for _ in self.run.metric_rows()):
            self._tell_missing_heading("the results above this line have no heading", line)
            self._begin_run(line)
        elif self.test:
            self._begin_run(line, is_block=True)
        self.run.set(test=name, first_line=line.number)
        if name != "conf":
            first = name.removeprefix("ver_").split("_")[0]
            self.run.set(protocol=first if first in ("tcp", "udp", "sctp", "sdp", "rds") else "rdma")
        if name.endswith("_lat"):
            printed_as = "round_trip" if name == _COMPLETION else "half_round_trip"
            self.run.set(printed_as=printed_as, closed_loop=True)

    @data(_pair("msg_size", rf"{_NUMBER} (?:bytes|([KMG]iB) \({_COUNT}\)|[KMG]B)"), hint="msg_size")
    def message_size(self, line: Line, match: re.Match[str]) -> None:
        exact = match[3] or (match[1] if "bytes" in match[0] else None)
        if exact is not None:
            self.run.set(message_bytes=int(count(exact).value))
        if match[2] is not None:
            size, shown = count(match[3]).value, quantity(match[1], match[2])
            if size % _KIBI or abs(size - shown.value) > 2 * shown.half:
                text = f"{match[1]} {match[2]} are not {match[3]} bytes"
                contradict(self.run, "value_conflict", text, line.number)

    @data(_pair("sock_buf_size", rf"{_NUMBER} (?:bytes|[KMG]iB \({_COUNT}\)|[KMG]B)"), hint="sock_buf_size")
    def buffer_size(self, line: Line, match: re.Match[str]) -> None:
        size = f"{count(match[2]).value:.0f}" if match[2] else match[1]
        self.run.set(settings=settings_text({"sock_buf_size": size}))

    @data(_pair("time", rf"{_SCALED} (ns|us|ms|sec)"), hint="time ")
    def requested_time(self, line: Line, match: re.Match[str]) -> None:
        self.run.set(requested_duration_ns=nanoseconds(match[1], match[2]))

    @data(_pair("(loc|rem)_(node|qperf)", r"(\S.{0,200}?)"), hint="_", shape="(?:loc|rem)_.*")
    def machine(self, line: Line, match: re.Match[str]) -> None:
        if match[2] == "node":
            self.run.set(**{"client" if match[1] == "loc" else "server": match[3]})
        elif match[1] == "loc":
            self.run.set(tool_version=match[3])

    # --- results

    @data(_pair("latency", rf"{_SCALED} (ns|us|ms|sec)"), hint="latency")
    def latency(self, line: Line, match: re.Match[str]) -> None:
        self._begin_result("_bw", line)
        self._begin_repetition("rtt_mean", line)
        printed = self._quantity(match[1], match[2])
        self.run.add_metric("rtt_mean", printed if self.test == _COMPLETION else printed.doubled(), line.number)

    @data(_pair("msg_rate", rf"{_SCALED} ([KMG]?/sec)"), hint="msg_rate")
    def message_rate(self, line: Line, match: re.Match[str]) -> None:
        self.run.add_metric("message_rate", self._quantity(match[1], match[2]), line.number)

    @data(_pair("(?:(send|recv)_)?bw", rf"{_SCALED} ((?:[KMGT]B|bytes|bits|[KMGT]b)/sec)"), hint="bw")
    def bandwidth(self, line: Line, match: re.Match[str]) -> None:
        side = _SIDES[match[1] or "recv"]
        self._begin_result("_lat", line)
        self._begin_repetition("throughput", line, side=side)
        rate = self._quantity(match[2], match[3])
        self.run.add_metric("throughput", rate, line.number, side=side)
        if not rate.value:
            self.run.add_event("nothing_received", "warning", f"the {side} received nothing: {match[0]!r}", line.number)

    @data(
        _pair("(?:(loc|rem)_)?(send|recv)_bytes", rf"(?:{_SCALED} (bytes|[KMGT]B)|{_BINARY} [KMGT]iB \({_COUNT}\))"),
        hint="_bytes",
    )
    def volume(self, line: Line, match: re.Match[str]) -> None:
        size = self._quantity(match[5], "bytes") if match[5] else self._quantity(match[3], match[4])
        if match[1] is None:
            self.run.add_metric("transferred", size, line.number, side=_SIDES[match[2]])
        else:
            name = "sent_bytes" if match[2] == "send" else "received_bytes"
            self.run.add_metric(name, size, line.number, side=_SIDES[match[1]])

    @data(_pair("(?:(loc|rem)_)?(send|recv)_msgs", rf"(?:{_COUNT}|{_SCALED} ([mb]illion))"), hint="_msgs")
    def messages(self, line: Line, match: re.Match[str]) -> None:
        # A blank follows a complete count; without it, 8,22 may be the beginning of 8,228.
        if match[3] and not line.text.endswith(" ") and self.is_cut(line, "its count is"):
            self.cut = True
            return
        number = count(match[3]) if match[3] else self._quantity(match[4], match[5])
        name = "sent" if match[2] == "send" else "received"
        self.run.add_metric(name, number, line.number, side=_SIDES[match[1] or match[2]])
        if (match[1], match[2]) == ("loc", "recv") and self.test.endswith("_lat"):
            # Each message that the client receives completes one round trip.
            self.run.add_metric("observations", number, line.number)

    @data(_pair("(loc|rem|send|recv)_cpus_(used|user|intr|kernel|iowait)", rf"{_SCALED} % cpus"), hint="_cpus_")
    def processors(self, line: Line, match: re.Match[str]) -> None:
        share = self._quantity(match[3], "%")
        cores = Quantity(share.value, "count", share.printed, share.resolution)
        self.run.add_metric(_CPU[f"cpus_{match[2]}"], cores, line.number, side=_SIDES[match[1]], scope="host")

    @data(_pair("(loc|rem|send|recv)_(real|cpu)_time", rf"{_SCALED} (ns|us|ms|sec)"), hint="_time")
    def elapsed(self, line: Line, match: re.Match[str]) -> None:
        printed = self._quantity(match[3], match[4])
        ticks = Quantity(printed.value, "ns", printed.printed, max(printed.half, _TICK_NS))
        name = "elapsed" if match[2] == "real" else "cpu_time"
        self.run.add_metric(
            name, ticks, line.number, side=_SIDES[match[1]], scope="run" if match[2] == "real" else "host"
        )
        if match[2] == "real" and match[1] in ("loc", "recv"):
            self.run.set(duration_ns=nanoseconds(match[3], match[4]))

    @data(_pair("(send|recv|loc|rem)_cost", rf"{_SCALED} ((?:ns|us|ms|sec)/GB)"), hint="_cost")
    def cost(self, line: Line, match: re.Match[str]) -> None:
        cost = self._quantity(match[2], match[3])
        self.run.add_metric("cpu_cost", cost, line.number, side=_SIDES[match[1]], scope="host")

    # --- failures

    @data(r"((?:\S{1,100}: )?(?:failed to|unable to|cannot|could not) .{1,200})", hint=" ")
    @data(r"((?:server|client): .{1,200})", hint=": ")
    @data(r"((?:\w+ ){0,4}failed: .{1,200})", hint="failed: ")
    def failure(self, line: Line, match: re.Match[str]) -> None:
        self.failed = True
        self.run.add_event("failed", "error", f"qperf failed: {match[1]}", line.number)

    known = known(
        ("=", _pair(r"(?:loc_|rem_)?(?:cpu|os|host|qperf)", r"\S.{0,200}")),
        (
            "=",
            _pair(
                r"(?:loc_|rem_|send_|recv_)?(?:port|ip_port|listen_port|affinity|sock_buf_size|mtu_size|max_cqe|id"
                r"|sl|static_rate|src_path_bits|rd_atomic|poll_mode|cq_poll|access_recv|no_msgs|alt_port|flip|use_cm"
                r"|max_send_wr|max_recv_wr|max_inline)",
                r"\S.{0,60}",
            ),
        ),
        # A unit that is not whole shows that the text was cut.
        ("timeout", _pair(r"(?:loc_|rem_|send_|recv_)?timeout", rf"{_SCALED} (?:ns|us|ms|sec)")),
        ("warning: obsolete", r"warning: obsolete option.{0,200}"),
    )

    # --- helpers and the end

    def _quantity(self, token: str, unit: str) -> Quantity:
        return quantity(token, unit, significant=self.digits)

    def finish(self, last_line: int) -> None:
        """Complete the last run, and the sizes and settings that only the command line names."""
        self._end_run(last_line, is_whole=True, is_last=True)
        if self.plan or self.looped:
            self._read_plan([*self.runs, self.run])

    def _read_plan(self, runs: Sequence[Run]) -> None:
        """Take message sizes and looped values from the command line if the log has the tests that it asks for."""
        sizes = [run.row.get("message_bytes") for run in runs]
        follows = [run.row.get("test") for run in runs] == [planned.test for planned in self.plan] and all(
            size is None or planned.size in (None, size) for size, planned in zip(sizes, self.plan, strict=True)
        )
        if follows:
            for run, planned in zip(runs, self.plan, strict=True):
                if run.row.get("message_bytes") is None:
                    default = _DEFAULT_BYTES.get(planned.test)
                    run.set(message_bytes=default if planned.size is None else planned.size)
                run.set(settings=settings_text({**planned.settings, **settings_of(run.row.get("settings"))}) or None)
            return
        printed = set.intersection(*(set(settings_of(run.row.get("settings"))) for run in runs))
        looped = self.looped | ({_SIZE} if len({planned.size for planned in self.plan}) > 1 else set())
        looped -= printed if None in sizes else printed | {_SIZE}
        if looped:
            for run in runs:
                stated = settings_of(run.row.get("settings"))
                run.set(settings=settings_text({**dict.fromkeys(looped, UNKNOWN_SETTING), **stated}))
            asked = f"asks for {len(self.plan)} tests" if self.plan else "has a loop that cannot be followed"
            text = (
                f"the command {asked}, the log has {len(runs)}: which of them has which {' and '.join(sorted(looped))} "
                "is unknown; run it with -vu"
            )
            runs[0].add_event("sizes_unknown", "warning", text, runs[0].row["first_line"])

    def _end_run(self, last_line: int, *, is_whole: bool, is_last: bool = False) -> None:
        """Complete the run: its columns, checks and status.

        ``is_whole`` if the run ends with its block, ``is_last`` if the block is the last one.
        """
        run = self.run
        self._read_options()
        values = [run.value("rtt_mean"), run.value("message_rate")]
        values += [run.value("throughput", side=side) for side in ("receiver", "sender")]
        has_numbers = any(value is not None for value in values)
        if self.test == "conf":
            run.set(status="no_data")
            run.add_event("configuration_only", "info", "a conf block is not a measurement", run.row["first_line"])
        elif self.failed:
            run.set(status="failed")
        self._check_rate()
        self._check_bandwidth()
        self._check_counts()
        self._check_udp()
        self._check_duration()
        ends_within_line = self._ends_within_line() if is_last else self.cut
        ended = has_numbers and not ends_within_line and not (is_whole and self._lacks_other_end())
        end_run(run, has_numbers=has_numbers, ended=ended, last_line=last_line)

    def _ends_within_line(self) -> bool:
        """Whether the text ends within a line of qperf."""
        if not self.unfinished:
            return self.cut
        text = self.log.lines[-1].text
        if self.run.recorder.accounting.kind_of(self.unfinished) == UNKNOWN:
            return _BEGINNING.match(text) is not None
        return self.cut or text[-1:].isdigit()

    def _lacks_other_end(self) -> bool:
        """Whether the text ends before what the second end reports: the same counters as the first (``-vs``).

        qperf prints no counter of zero, so an end that received nothing reports no bytes and no messages. It prints
        both rates of a test that has two, zero or not.
        """
        counters = ["throughput", *_CPU.values()]
        if self.run.value("throughput", side="receiver") != 0:
            counters += ["sent", "received", "sent_bytes", "received_bytes"]
        printed = [row["side"] for row in self.run.metric_rows() if row["stream"] is None and row["metric"] in counters]
        first, second = (sum(map(printed.count, sides)) for sides in (("local", "sender"), ("remote", "receiver")))
        return second < first

    def _read_options(self) -> None:
        row, log = self.run.row, self.log
        words = log.arguments
        if row.get("requested_duration_ns") is None:
            row["requested_duration_ns"] = log.seconds("-t", "--time")
        if row.get("message_bytes") is None and self.test != "conf":
            sized = any(word.startswith(("-m", "--msg_size", "-oo", "--loop")) for word in words)
            row["message_bytes"] = _DEFAULT_BYTES.get(self.test) if words and not sized else self._message_bytes()
        if row.get("server") is None:
            row["server"] = server_of(words)
        row["client"] = row.get("client") or log.host

    def _message_bytes(self) -> int | None:
        """Return bytes / messages if the rounding of the bytes allows only one integer."""
        for volume in ("sent_bytes", "transferred"):
            for row in self.run.metric_rows():
                if row["metric"] == volume and (number := self.run.value("sent", side=row["side"])):
                    half = row["resolution"] or 0.0
                    low, high = (row["value"] - half) / number, (row["value"] + half) / number
                    count: int = math.ceil(low)
                    if count == math.floor(high):
                        return count
        return None

    def _check_rate(self) -> None:
        """Check that messages per second (both directions) times the time between two of them is 1."""
        rtt, rate = self.run.value("rtt_mean"), self.run.value("message_rate")
        if not rtt or not rate:
            return
        between = rtt if self.test == _COMPLETION else rtt / 2
        tolerance = 1.5 * 10.0 ** (1 - self.digits)
        if abs(between * rate / 1e9 - 1) > tolerance:
            text = f"latency and msg_rate contradict each other: their product is {between * rate / 1e9:.3f}, not 1"
            self.run.add_event("rate_mismatch", "warning", text, self.run.row["first_line"])

    def _check_bandwidth(self) -> None:
        """Check a bandwidth against bytes / time and against messages per second times their size."""
        run = self.run
        tolerance = 1.5 * 10.0 ** (1 - self.digits)
        for side, other in (("receiver", "remote"), ("sender", "local")):
            rate, size = run.row_of("throughput", side=side), run.value("transferred", side=side)
            elapsed = run.row_of("elapsed", side=side) or run.row_of("elapsed", side=other)
            if rate is None or not size or elapsed is None or not elapsed["value"]:
                continue
            expected = 8e9 * size / elapsed["value"]
            slack = tolerance + (elapsed["resolution"] or 0.0) / elapsed["value"]
            if abs(rate["value"] / expected - 1) > slack:
                text = (
                    f"{rate['printed']} {rate['printed_unit']} is not bytes / time, which is {expected / 8:.4g} bytes/s"
                )
                contradict(run, "rate_mismatch", text, rate["line"])
        rate, messages = run.row_of("throughput", side="receiver"), run.value("message_rate")
        volume, sent = run.value("transferred", side="sender"), run.value("sent", side="sender")
        if rate is None or not messages or self.test.endswith("_bi_bw"):
            return
        length = run.row.get("message_bytes") or (volume / sent if volume and sent else None)
        if length and abs(rate["value"] / (8 * length * messages) - 1) > 2 * tolerance:
            text = f"{rate['printed']} {rate['printed_unit']} is not msg_rate times {length:g} bytes"
            contradict(run, "rate_mismatch", text, rate["line"])

    def _check_counts(self) -> None:
        """Check the counts of a ping-pong: an end receives what the other one sent; bytes are messages times size."""
        run = self.run
        if not self.test.endswith("_lat"):
            return
        size = run.row.get("message_bytes")
        for side, other in (("local", "remote"), ("remote", "local")):
            sent, received = run.row_of("sent", side=side), run.row_of("received", side=other)
            if sent and received and abs(sent["value"] - received["value"]) > _UNDER_WAY + slack(sent, received):
                text = f"the {side} end sent {sent['printed']} messages, the other one received {received['printed']}"
                contradict(run, "count_mismatch", text, received["line"])
            for kind in ("sent", "received"):
                number, volume = run.row_of(kind, side=side), run.row_of(f"{kind}_bytes", side=side)
                if size and number and volume:
                    rounding = slack(volume) + size * slack(number)
                    if abs(volume["value"] - size * number["value"]) > rounding:
                        text = f"{number['printed']} messages of {size} bytes are not {volume['printed']}"
                        contradict(run, "count_mismatch", f"{text} {volume['printed_unit']}", volume["line"])

    def _check_udp(self) -> None:
        """Report so few round trips that a lost datagram may have stopped the test until its timer ended."""
        rtt = self.run.value("rtt_mean")
        if not rtt or self.test not in ("udp_lat", "ud_lat", "uc_lat"):
            return
        duration = self.run.row.get("duration_ns") or self.run.row.get("requested_duration_ns") or _DEFAULT_DURATION_NS
        round_trips = self.run.value("observations") or duration / rtt
        if round_trips < _FEW_ROUND_TRIPS:
            text = (
                f"only about {round_trips:.0f} round trips: a lost datagram may dominate the mean; measure with TCP too"
            )
            self.run.add_event("udp_loss_possible", "warning", text, self.run.row["first_line"])

    def _check_duration(self) -> None:
        """Report a test that was stopped: qperf prints the same block, so only the duration shows it."""
        measured, requested = self.run.row.get("duration_ns"), self.run.row.get("requested_duration_ns")
        if measured and requested and measured < _COMPLETE * requested:
            text = (
                f"the test was stopped after {measured / 1e9:g} of {requested / 1e9:g} s; the result covers that time"
            )
            self.run.end_as("interrupted", "warning", text, self.run.row["first_line"])


class QperfParser(Parser):
    """Reads qperf; see `azlatency.logs.parsers.qperf`."""

    tool = "qperf"
    reader = _Qperf
    commands = ("qperf",)
    options: ClassVar = {
        "msg_size": ("-m", "--msg_size"),
        "sock_buf_size": ("-sb", "--sock_buf_size"),
        "mtu_size": ("-mt", "--mtu_size"),
        "cpu_affinity": ("-ca", "--cpu_affinity"),
        "flip": ("-f", "--flip"),
        "access_recv": ("-ar", "--access_recv"),
        "requested_count": ("-n", "--no_msgs"),
    }

    neutral = (
        "-t --time -v --verbose --use_bits_per_sec -uu -oo --loop -e --precision -lp --listen_port -ip --ip_port -H -h"
        " --host --version"
    )

    def find_continued(self, logs: Sequence[Sequence[Line]]) -> list[int]:
        """Return every log but the first: all blocks below one prompt are of one command."""
        return list(range(1, len(logs)))

    units: ClassVar = {
        # Prefixes are decimal (view_size, view_band in qperf.c); sizes that are multiples of 1024 are printed as KiB.
        "bytes/sec": ("bit/s", 8),
        **prefixed("bit/s", "KMGT", 1000, "B/sec", factor=8),
        **prefixed("bit/s", "KMGT", 1000, "b/sec"),
        # Processor time per 10**9 bytes.
        **{f"{unit}/GB": ("ns/byte", Decimal(nanoseconds("1", unit)).scaleb(-9)) for unit in ("ns", "us", "ms", "sec")},
        "million": ("count", 10**6),
        "billion": ("count", 10**9),
    }
    signatures = tuple(Signature(hint, rf"{_TEST}:") for hint in ("_lat:", "_bw:", "conf:", "_mr:", "swap:", "_add:"))


PARSER = QperfParser()
