"""uperf 1.0: a profile of transactions, run by threads or processes of a master against a slave.

::

    Starting 2 threads running profile:stream ...   0.00 seconds
    Txn1            0 /   1.00(s) =            0           2op/s
    Txn2      37.69GB /   4.20(s) =    77.05Gb/s      587867op/s
    Txn3            0 /   0.00(s) =            0       23204op/s
    -------------------------------------------------------------------------------
    Total     37.69GB /   6.20(s) =    52.18Gb/s      398114op/s

*Rates.* A transaction is a step of the profile: Txn1 connects, Txn2 moves the data, Txn3 disconnects. ``Total`` divides
the bytes by the time of all steps, and connecting alone lasts a whole second because uperf looks once per second
(master.c, ``master_poll``). So the throughput of the run is that of the transaction that moved all the data; each
transaction and ``Total`` are streams. uperf notices the end of a transaction up to 0.2 s late, which makes its rate too
small by 0.2 s / duration: ``end_noticed_late`` below 20 s.

*Directions.* The bytes are those of all operations: written, read, or both. The table ``Flowop`` tells which. A profile
that writes and reads has no throughput of one direction, and without the table the direction is unknown.

*Round trips.* If each iteration of the transaction is one write and one read, its time in the table ``Txn`` is a round
trip with the time of both calls. That table counts transactions from 0, the lines above from 1. Its minimum is that of
the iteration that the end of the test interrupts, unless all writes were answered; it is left out then.

*Digits.* Bytes have prefixes of 1024, bits of 1000 (numbers.c, ``decimal_to_string``). The column of the bytes is too
narrow: ``196.66M`` has lost its B, and ``1000.00`` has lost MB too and is left out (``cut_number``).

*Two ends.* ``Run Statistics`` repeats the totals and has those of the slave; a sender counts what it has written, which
may be more than the slave has read: ``ends_disagree`` above 1 %.

*Repetitions.* If an operation is repeated (``count=16``), the mean in the table ``Flowop`` is that of one repetition,
and the extremes are those of all; the extremes are left out (``repeated_operation``).

*Not stored.* ``Group Details`` counts the bytes of an operation once however often it is repeated, and once more for
each table that is printed. A minimum of ``0.00ns`` is that of a thread without iterations. A maximum such as
``184467440ms`` is a clock that was set back, as a number of 64 bits (``clock_step``).
"""

from __future__ import annotations

import re
from functools import cached_property
from itertools import pairwise
from typing import ClassVar, NamedTuple

from azlatency.logs.grammar.rules import Line, data, known
from azlatency.logs.grammar.units import Quantity, count, prefixed, quantity
from azlatency.logs.parsers import Log, Parser, Signature
from azlatency.logs.parsers.common import LogReader, contradict, end_run, ends_in_unknown_line, rate_agrees
from azlatency.logs.record import Recorder

_START = (
    r"Starting (\d{1,9}) (?:threads|processes)(?:, (\d{1,9}) processes)? running profile:(.{1,200}?) \.\.\."
    r"(?: {1,6}[\d.]{1,12} seconds)?"
)
_NUMBER = r"\d{1,12}\.\d\d"
_SIZE = rf"({_NUMBER}|0)([KMGTPEZ]?B?)"
_RATE = rf"({_NUMBER}(?=[KMGTPEZ]?b/s)|0)([KMGTPEZ]?b/s|)"
_TIME = r"(\d{1,12}(?:\.\d\d)?)(ns|us|ms|s)"
_NAME = r"[A-Za-z]\w{1,30}"
_SUMMARY = rf"({_NAME}) {{1,20}}{_SIZE} ?/ {{0,10}}(\d{{1,8}}\.\d\d)\(s\) = {{1,20}}{_RATE} {{1,20}}(\d{{1,18}})op/s"
_SENT, _RECEIVED = {"write", "sendto", "sendfile", "sendfilev"}, {"read", "recv"}
_WITHOUT_DATA = {"connect", "accept", "disconnect"}
_LATE_NS, _LATE_MATTERS_NS = 200_000_000, 20_000_000_000
_RAW_TICK_NS = 100
_LONGEST_NS = 10**17
_REPEATED = 1.5
_CHECKED_NS = 500_000_000
_NEARLY_ALL = 0.99
_COLUMNS = ("mean", "cpu", "max", "min")


class _Moved(NamedTuple):
    """What a step has moved since it began, or the whole profile (``Total``)."""

    size: Quantity | None
    rate: Quantity | None
    operations: Quantity
    time_ns: int
    line: int


class _Uperf(LogReader):
    def __init__(self, log: Log, recorder: Recorder) -> None:
        super().__init__(log, recorder)
        self.run = recorder.start_run("uperf", log.first_line)
        self.section = ""
        self.total: _Moved | None = None
        self.moved: dict[str, list[_Moved]] = {}
        self.times: dict[str, tuple[int, list[Quantity], int]] = {}
        self.raw: dict[str, tuple[int, int, int]] = {}
        """Time (ns), bytes and operations of the first raw row of each step."""
        self.slaves: list[str] = []
        self.is_open = self.has_row = False
        """Whether a table below the total has begun and not ended, and whether it has a row."""

    @data(_START, hint="running profile:")
    def start(self, line: Line, match: re.Match[str]) -> None:
        self.run.set(test=match[3], connections=int(match[1]) + int(match[2] or 0))

    @data(rf"{_SUMMARY}(?: {{0,99}}Sending signal SIGUSR2 to \d{{1,20}})?", hint="op/s")
    def summary(self, line: Line, match: re.Match[str]) -> None:
        name, size, unit, time, rate, rate_unit, operations = match.groups()
        self.has_row = True
        if self.section == "Group Details":
            return
        row = _Moved(
            self._size(size, unit, line),
            quantity(rate, f"uperf {rate_unit or 'b/s'}"),
            quantity(operations, "/s"),
            int(quantity(time, "s").value),
            line.number,
        )
        self._add(name, row)

    @data(r"timestamp_ms:(\d{1,13})\.(\d{4}) name:(\w{1,31}) nr_bytes:(\d{1,18}) nr_ops:(\d{1,18})", hint="nr_bytes:")
    def raw_row(self, line: Line, match: re.Match[str]) -> None:
        self.has_row = True
        if self.section == "Group Details":
            return
        if line.number == self.unfinished:
            raise ValueError("the number of operations may be cut")
        name, size, operations = match[3], int(match[4]), int(match[5])
        now = int(match[1] + match[2]) * _RAW_TICK_NS
        begin, first_size, first_operations = self.raw.setdefault(name, (now, size, operations))
        if not name.startswith("Txn"):
            self.run.add_metric("operations", count(match[5]), line.number, stream=name, scope="stream")
            self._add(name, _Moved(count(match[4])._replace(unit="bytes"), None, count(match[5]), 0, line.number))
            return
        time_ns = min(now - begin, _LONGEST_NS)
        rate = Quantity((size - first_size) * 8e9 / time_ns, "bit/s", None, None) if time_ns > 0 else None
        done = operations - first_operations
        per_second = Quantity(1e9 * done / time_ns if time_ns > 0 else 0.0, "1/s", None, None)
        self._add(name, _Moved(count(match[4])._replace(unit="bytes"), rate, per_second, time_ns, line.number))

    def _add(self, name: str, row: _Moved) -> None:
        if name == "Total":
            self.total = row
            self.run.set(duration_ns=row.time_ns or None)
        self.moved.setdefault(name, []).append(row)

    def _size(self, token: str, unit: str, line: Line) -> Quantity | None:
        """Read bytes; a number without its unit has lost the prefix too, unless it is 0."""
        if not unit and token != "0":
            self.run.add_event("cut_number", "warning", f"{token} has lost its unit; it is left out", line.number)
            return None
        if not unit:
            return Quantity(0.0, "bytes", token, None)
        printed = quantity(token, f"uperf {unit.removesuffix('B')}B")
        return printed if printed.printed_unit == unit else printed._replace(printed_unit=unit)

    # --- tables below

    @data(rf"({_NAME}) {{1,20}}(\d{{1,18}}) {{1,12}}{_TIME} {{1,12}}{_TIME} {{1,12}}{_TIME} {{1,12}}{_TIME}", hint="s")
    def time_row(self, line: Line, match: re.Match[str]) -> None:
        name = match[1]
        if self.section not in ("Txn", "Flowop"):
            raise ValueError("a row without its header")
        self.has_row = True
        if self.section == "Txn" and name.startswith("Txn"):
            name = f"Txn{int(name[3:]) + 1}"
        if name in self.times:
            return  # the same operation in a further transaction: the table does not say in which
        times = [quantity(match[index], match[index + 1]) for index in (3, 5, 7, 9)]
        if "." not in match[7]:
            text = f"{match[7]}{match[8]} is not a time: the clock was set back, and the rates are wrong too"
            self.run.add_event("clock_step", "warning", text, line.number)
            times[2] = times[2]._replace(value=0.0)
        self.times[name] = int(match[2]), times, line.number

    @data(
        rf"(\S{{1,16}}) {{1,20}}(\d{{1,15}}) {{1,20}}(\d{{1,15}}) {{1,12}}{_RATE} {{1,12}}{_RATE}",
        hint=" ",
        shape=r"\S*(?: +\S*){0,2}",
    )
    def interface(self, line: Line, match: re.Match[str]) -> None:
        if self.section != "Nic":
            raise ValueError("a row without its header")
        self.has_row = True
        values = {
            "packet_rate_sent": quantity(match[2], "/s"),
            "packet_rate_received": quantity(match[3], "/s"),
            "interface_rate_sent": quantity(match[4], f"uperf {match[5] or 'b/s'}"),
            "interface_rate_received": quantity(match[6], f"uperf {match[7] or 'b/s'}"),
        }
        for metric, value in values.items():
            self.run.add_metric(metric, value, line.number, side="device", stream=match[1], scope="host")

    @data(
        rf"(?:\[\S{{1,60}}\] Success)?(\S{{1,15}}) {{1,15}}{_TIME} {{1,12}}{_SIZE} {{1,12}}{_RATE} {{1,15}}(\d{{1,18}})"
        rf" {{1,15}}({_NUMBER})%?",
        hint=".",
        shape=r"(?:\[\S*\] Success)?(?:\S* {1,15})?(?:ns|us|ms|s)(?: .*)?",
    )
    def end_statistics(self, line: Line, match: re.Match[str]) -> None:
        if self.section != "Hostname":
            raise ValueError("a row without its header")
        host, time, time_unit, size, unit, rate, rate_unit, operations, errors = match.groups()
        side = "client" if host == "master" else "server"
        stream = None if side == "client" else host
        if side == "server":
            self.slaves.append(host)
        values = {
            "transferred": self._size(size, unit, line),
            "throughput": quantity(rate, f"uperf {rate_unit or 'b/s'}"),
            "operations": count(operations),
            "errors_share": quantity(errors, "%"),
        }
        for metric, value in values.items():
            if value is not None:
                self.run.add_metric(metric, value, line.number, side=side, stream=stream)
        moved, throughput, took = values["transferred"], values["throughput"], quantity(time, time_unit)
        if moved is None or throughput is None:
            return
        if not rate_agrees(throughput, moved, took.value, took.half):
            text = f"{rate}{rate_unit} of {host} is not {size}{unit} in {time}{time_unit}"
            contradict(self.run, "rate_mismatch", text, line.number)

    @data(
        r"(Group Details|Strand Details|(?:Txn|Flowop) {1,20}Count|Nic {1,20}opkts/s|Hostname {1,20}Time) ?.{0,80}",
        hint="t",
    )
    def heading(self, line: Line, match: re.Match[str]) -> None:
        self.section = match[1] if match[1].endswith("Details") else match[1].split()[0]
        self.is_open, self.has_row = True, False

    @data(r"Netstat statistics for this run|Run Statistics", hint="tatistics")
    def title(self, line: Line, match: re.Match[str]) -> None:
        self.is_open, self.has_row = True, False

    @data(r"-{79,200}", hint="---")
    def rule(self, line: Line, match: re.Match[str]) -> None:
        self.blank(line)

    def blank(self, line: Line) -> None:
        """End a table: a blank line or a rule follows its last row."""
        self.is_open = self.is_open and not self.has_row

    @data(r"Difference\(%\)(?: {1,15}-?(?:[\d.]{1,20}|nan|inf)%){5}", hint="Difference")
    def difference(self, line: Line, match: re.Match[str]) -> None:
        self.is_open = False

    @data(r"\*\* .{1,300}", hint="** ")
    def message(self, line: Line, match: re.Match[str]) -> None:
        if " buffer: " not in match[0]:
            self.run.add_event("tool_error", "warning", f"uperf reported: {match[0].strip('* ')}", line.number)

    @data(r"\*\*\* Slave aborted! \*\*\*", hint="aborted")
    @data(r"WARNING: \d{1,9} Errors detected during run", hint="Errors detected")
    def failure(self, line: Line, match: re.Match[str]) -> None:
        contradict(self.run, "failed", f"uperf reported: {match[0].strip('* ')}", line.number)

    known = known(
        ("TX command", r"TX command \[\w{1,40}, \d{1,9}\] to \S{1,253}"),
        ("Sending signal", r"Sending signal SIGUSR2 to \d{1,20}"),
        ("called out", r"called out"),
        # uperf -v
        ("file descriptors", r"Unable to increase file descriptors: .{1,80}"),
        ("shared memory", r"Allocating shared memory of size \d{1,12} bytes"),
        ("andshake", r"(?:Starting h|Completed h|Sent h|H)andshake (?:phase|header).{0,300}"),
        ("accepts", r"Done preprocessing accepts"),
        ("Sen", r"Sen(?:t|ding) (?:workorder|transaction|flowop)"),
        ("TX worklist", r"TX worklist success {1,4}Sent workorder"),
        ("SSL", r"Error getting SSL CTX:\d{1,4}"),
        (".pem", r"stat:\S{1,60}\.pem:No such file or directory"),
        ("<", r"</?(?:\?xml|profile|group|transaction|flowop)\b.{0,300}>"),
        (" buffer: ", r"(?:\d{1,9} )?Warnings?:? {1,2}(?:Send|Recv) buffer: .{1,100}"),
        ("] Success", r"\[\S{1,253}\] Success"),
    )

    # --- the end

    def finish(self, last_line: int) -> None:
        run = self.run
        for name, rows in self.moved.items():
            self._store_step(name, rows)
        for name, (number, times, line) in self.times.items():
            run.add_metric("executions", Quantity(float(number), "count", str(number), None), line, stream=name)
            repeated = self._is_repeated(name)
            if repeated:
                text = f"the extremes of {name} are those of all repetitions, the mean that of one; they are left out"
                run.add_event("repeated_operation", "info", text, line)
            for column, value in zip(_COLUMNS, times, strict=True):
                if value.value and not (repeated and column in ("min", "max")):
                    run.add_metric(f"execution_time_{column}", value, line, stream=name, scope="stream")
        self._check_total()
        self._store_throughput()
        self._store_round_trip()
        self._compare_ends()
        if len(self.slaves) == 1:
            run.set(server=self.slaves[0])
        ended = self.total is not None and not self.is_open and not ends_in_unknown_line(self.log, self.recorder)
        end_run(run, has_numbers=bool(self.moved), ended=ended, last_line=last_line)

    def _store_step(self, name: str, rows: list[_Moved]) -> None:
        run, last = self.run, rows[-1]
        stream = None if name == "Total" else name
        if last.size is not None and (last.size.value or stream is None):
            run.add_metric(
                "transferred", last.size, last.line, stream=stream, scope="run" if stream is None else "stream"
            )
        if last.rate is not None:
            if last.rate.value:
                run.add_metric("throughput", last.rate, last.line, stream=name, scope="stream")
            if last.operations.unit == "1/s":
                run.add_metric("operation_rate", last.operations, last.line, stream=name, scope="stream")
            if last.size is not None and last.rate.printed is not None and last.time_ns >= _CHECKED_NS:
                self._check_rate(name, last)
        for above, row in pairwise(rows):
            if row.time_ns < above.time_ns and row.rate is not None and row.rate.printed is not None:
                text = f"{name} is at {row.time_ns / 1e9:g} s here, below a row at {above.time_ns / 1e9:g} s"
                contradict(run, "not_monotone", text, row.line)
            if (
                name.startswith("Txn")
                and above.size is not None
                and row.size is not None
                and row.time_ns > above.time_ns
            ):
                moved = row.size.value - above.size.value
                run.add_interval(
                    stream=name,
                    start_ns=above.time_ns,
                    end_ns=row.time_ns,
                    bytes=moved,
                    bytes_resolution=above.size.half + row.size.half or None,
                    throughput_bit_s=moved * 8e9 / (row.time_ns - above.time_ns),
                    line=row.line,
                )

    def _check_rate(self, name: str, row: _Moved) -> None:
        """Check that the rate is the bytes by the time, within the rounding of the three."""
        assert row.size is not None and row.rate is not None
        size, rate = row.size, row.rate
        if not rate_agrees(rate, size, row.time_ns, 5.1e6):
            moved = f"{size.printed}{size.printed_unit or ''} in {row.time_ns / 1e9:g} s"
            text = f"{name}: {moved} is not {rate.printed}{rate.printed_unit}"
            contradict(self.run, "rate_mismatch", text, row.line)

    def _check_total(self) -> None:
        """Check that the total is what the transactions moved, within the rounding of their sizes."""
        sizes = [rows[-1].size for name, rows in self.moved.items() if name.startswith("Txn")]
        known = [size for size in sizes if size is not None]
        if self.total is None or self.total.size is None or len(known) < len(sizes) or not sizes:
            return
        moved, rounding = sum(size.value for size in known), sum(size.half for size in known)
        if abs(self.total.size.value - moved) > 1.01 * (rounding + self.total.size.half):
            text = f"the total is {self.total.size.value:.6g} bytes, but the transactions moved {moved:.6g}"
            contradict(self.run, "sum_mismatch", text, self.total.line)

    @cached_property
    def _data_step(self) -> tuple[str, _Moved] | None:
        """The only transaction that may have moved data, once all lines were read."""
        steps = [
            (name, rows[-1])
            for name, rows in self.moved.items()
            if name.startswith("Txn") and (rows[-1].size is None or rows[-1].size.value)
        ]
        return steps[0] if len(steps) == 1 else None

    def _is_repeated(self, name: str) -> bool:
        """Return whether an operation is repeated (``count=16``): uperf divides only its mean by the repetitions."""
        number, (mean, _, _, shortest), _ = self.times[name]
        step = self._data_step
        iterations = self.times.get(step[0]) if step is not None else None
        if name.startswith("Txn") or name in _WITHOUT_DATA:
            return False
        return bool(iterations and number > _REPEATED * iterations[0]) or shortest.value > mean.value

    def _store_throughput(self) -> None:
        """Store the rate of the only transaction with data as that of the run, with its direction."""
        run, step = self.run, self._data_step
        if step is None or "clock_step" in run.codes:
            return
        name, row = step
        if row.rate is None:
            return
        kinds = {kind for kind in self.times if not kind.startswith("Txn")} - _WITHOUT_DATA
        if kinds & _SENT and kinds & _RECEIVED:
            text = f"the rate of {name} counts the bytes of both directions; it is the throughput of none"
            run.add_event("both_directions", "info", text, row.line)
            return
        side = "sender" if kinds & _SENT else "receiver" if kinds & _RECEIVED else None
        run.add_metric("throughput", row.rate, row.line, side=side)
        if side is None:
            text = "the log does not say whether the bytes were written, read or both; use uperf -a"
            run.add_event("direction_unknown", "warning", text, row.line)
        if 0 < row.time_ns < _LATE_MATTERS_NS:
            share = 100 * _LATE_NS / row.time_ns
            text = f"uperf notices the end of {name} up to 0.2 s late: the rate may be {share:.0f} % too small"
            run.add_event("end_noticed_late", "info", text, row.line)

    def _store_round_trip(self) -> None:
        """Store the time of the iterations of the only transaction with data if each is one write and one read."""
        run, step = self.run, self._data_step
        if step is None or step[0] not in self.times:
            return
        number, (mean, _, longest, shortest), line = self.times[step[0]]
        kinds = {kind: row[0] for kind, row in self.times.items() if not kind.startswith("Txn")}
        exchanged = {kind: times for kind, times in kinds.items() if kind not in _WITHOUT_DATA}
        threads = run.row.get("connections") or 1
        is_exchange = len(exchanged) == 2 and set(exchanged) & _SENT and set(exchanged) & _RECEIVED
        if not is_exchange or any(abs(times - number) > threads for times in exchanged.values()):
            return
        run.set(printed_as="round_trip", closed_loop=True)
        run.add_metric("observations", Quantity(float(number), "count", str(number), None), line)
        values = {"rtt_mean": mean, "rtt_max": longest}
        if all(times == number for times in exchanged.values()):
            values["rtt_min"] = shortest
        for metric, value in values.items():
            if value.value:
                run.add_metric(metric, value, line)

    def _compare_ends(self) -> None:
        run = self.run
        for host in self.slaves if len(self.slaves) == 1 else ():
            slave = run.row_of("transferred", side="server", stream=host)
            master = run.row_of("transferred", side="client")
            if slave is not None and master is not None and slave["value"] < _NEARLY_ALL * master["value"]:
                share = 100 * (1 - slave["value"] / master["value"])
                text = f"{host} counted {share:.1f} % less than the master; the rates are those of the master"
                run.add_event("ends_disagree", "warning", text, slave["line"])


class UperfParser(Parser):
    """Reads uperf; see `azlatency.more_tools.uperf`."""

    tool = "uperf"
    reader = _Uperf
    commands = ("uperf",)
    units: ClassVar = {
        **prefixed("bytes", "KMGTPEZ", 1024, "B", tool="uperf"),
        **prefixed("bit/s", "KMGTPEZ", 1000, "b/s", tool="uperf"),
    }
    signatures = (
        Signature("running profile:", _START),
        Signature("op/s", _SUMMARY, weak=True),
        Signature("nr_bytes:", r"timestamp_ms:\d{1,15}\.\d{4} name:\w{1,31} nr_bytes:.{1,60}", weak=True),
    )


PARSER = UperfParser()
