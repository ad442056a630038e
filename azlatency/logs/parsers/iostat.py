"""iostat (sysstat): text in all layouts, and its JSON.

    Linux 6.18.44-lab (az1a)        11/21/26        _x86_64_        (2 CPU)

    11/21/26 02:27:05                                                                  -t
    avg-cpu:  %user   %nice %system %iowait  %steal   %idle
              75.00    0.00   24.51    0.00    0.49    0.00

    Device             tps    kB_read/s    kB_wrtn/s    kB_dscd/s    kB_read    kB_wrtn    kB_dscd
    vda           19309.90       720.79     76550.50         7.92        728      77316          8

    Device            r/s     rkB/s   rrqm/s  %rrqm r_await rareq-sz     w/s  …  f/s f_await  aqu-sz  %util       -x
    Device:         rrqm/s   wrqm/s     r/s     w/s    rkB/s    wkB/s avgrq-sz avgqu-sz   await  …  svctm  %util  (11.4)
         r/s     rkB/s   rrqm/s  %rrqm r_await rareq-sz Device                                                --pretty
    {"sysstat": {"hosts": [{"nodename": …, "statistics": [{"timestamp": …, "avg-cpu": {…}, "disk": [{…}]}]}]}}

Versions seen: 10 to 12.7. **One report is one run**, so that every number keeps its line; averages over reports are
left to those who know which reports belong to a test. ``runs.test`` is ``since_boot`` for the first report, which
covers the time since the host started, not the test, and ``report`` for the others (for the first one too where the
command says ``-y``, or two empty lines behind the banner do). Metrics have ``side`` device and the device as
``stream``; those of the processors have ``scope`` host. A group of devices (``-g``) is a sum: its ``scope`` is run.
``duration_ns`` is the difference of two time stamps (whole seconds; ``-t``), ``started_at`` the earlier of them where
it names its time zone; the interval that the command asks for is ``requested_duration_ns``.

kB and MB are powers of 1024, blocks and sectors 512 bytes. With ``-h`` every number has a suffix of its own, and the
header says kB all the same. A decimal comma is a point. Columns become metrics by their names (`COLUMNS`).

Events: ``since_boot``, ``rate_mismatch`` (rkB/s is not r/s times rareq-sz), ``truncated``, ``unfinished_line``,
``malformed``, ``value_conflict``, ``no_data``. Not to be read too much into: utilisation of 1 is no saturation where a
device serves in parallel, time waiting for disks counts as idle, ``service_time_mean`` was given up by its own authors.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import pairwise
from typing import ClassVar

from azlatency.logs import json_tokens
from azlatency.logs.grammar import DATA, Line, LineAccounting, LineLog, data
from azlatency.logs.json_lines import JsonLineMap
from azlatency.logs.parsers import Log, Parser, Signature
from azlatency.logs.parsers.common import unfinished_line
from azlatency.logs.record import Recorder, Run
from azlatency.logs.units import Quantity, UnitDefinition, UnitError, nanoseconds, prefixed, quantity

_DIRECTIONS = {"r": "read", "w": "write", "d": "discard", "f": "flush"}
_WORDS = {"read": "read", "wrtn": "write", "dscd": "discard", "w+d": "write_discard"}


def _columns() -> dict[str, tuple[str, str]]:
    """Header word -> metric and unit; the words of JSON are the same without their %."""
    found = {
        "tps": ("iops", "/s"),
        "kB/s": ("bandwidth", "iostat kB/s"),
        "MB/s": ("bandwidth", "iostat MB/s"),
        "rqm/s": ("merge_rate", "/s"),
        "await": ("io_wait_mean", "ms"),
        "areq-sz": ("request_size_mean", "iostat kB"),
        "avgrq-sz": ("request_size_mean", "iostat sectors"),
        "aqu-sz": ("queue_length", "requests"),
        "avgqu-sz": ("queue_length", "requests"),
        "svctm": ("service_time_mean", "ms"),
        "%util": ("utilisation", "%"),
        "util": ("utilisation", "%"),
    }
    for letter, name in _DIRECTIONS.items():
        found[f"{letter}/s"] = (f"{name}_rate", "/s")
        found[f"{letter}kB/s"] = (f"{name}_bandwidth", "iostat kB/s")
        found[f"{letter}MB/s"] = (f"{name}_bandwidth", "iostat MB/s")
        found[f"{letter}sec/s"] = (f"{name}_bandwidth", "iostat sectors/s")
        found[f"{letter}rqm/s"] = (f"{name}_merge_rate", "/s")
        found[f"%{letter}rqm"] = found[f"{letter}rqm"] = (f"{name}_merged", "%")
        found[f"{letter}_await"] = (f"{name}_wait_mean", "ms")
        found[f"{letter}areq-sz"] = (f"{name}_request_size_mean", "iostat kB")
    for word, name in _WORDS.items():
        for size, unit in (("kB", "iostat kB"), ("MB", "iostat MB"), ("Blk", "iostat blocks")):
            found[f"{size}_{word}/s"] = (f"{name}_bandwidth", f"{unit}/s")
            found[f"{size}_{word}"] = (f"{name}_transferred", unit)
    return found


COLUMNS = _columns()
_CPU = {name: f"cpu_{name}" for name in ("user", "nice", "system", "iowait", "steal", "idle")}
_BANNER = r"(\w{1,20}) (\S{1,200}) \((.{1,253}?)\)\s{1,8}(\S{1,40})\s{1,8}_(\S{1,40})_\s{1,8}\(\d{1,6} CPU\)"
_CPU_HEADER = r"avg-cpu:(?: {1,8}%\w{1,10}){3,10}"
_DEVICE_HEADER = r"Device:?(?: {1,40}[%\w+/-]{1,20}){1,30}"
_KNOWN_HEADER = rf"Device:?(?: {{1,40}}(?:{'|'.join(map(re.escape, COLUMNS))})){{1,30}}"
_PRETTY_HEADER = r"[%\w+/-]{1,20}(?: {1,40}[%\w+/-]{1,20}){0,30} {1,20}Device:?"
_TIME = r"(?:Time: )?(?:(\d{2,4}[/.-]\d{1,2}[/.-]\d{1,4})[ T])?(\d\d):(\d\d):(\d\d)(?: ([AP]M))?([+-]\d{2}:?\d{2}|Z)?"
_CONCURRENT = ("r/s", "rareq-sz", "rkB/s"), ("w/s", "wareq-sz", "wkB/s"), ("d/s", "dareq-sz", "dkB/s")
_VALUE = re.compile(r"(\d{1,18}(?:[.,]\d{1,6})?)([sBkMGTP%]?)")
_SIZE_SUFFIX = {"s": "sectors", **{letter: letter + "B" for letter in "kMGTP"}, "B": "B"}


@dataclass
class _Stamp:
    """A time stamp: its date as printed, seconds of the day, and the moment where it names its zone."""

    date: str | None
    seconds: int
    moment: datetime | None


@dataclass
class _Report:
    """One report being read."""

    run: Run
    stamp: _Stamp | None = None
    values: dict[str, dict[str, Quantity]] = field(default_factory=dict)
    """By device, then by column."""
    lines: dict[str, int] = field(default_factory=dict)
    cpu: bool = False
    open_header: int = 0
    """Line of a header without a row so far."""


class _Reports:
    """Reports in order: what the text and the JSON have in common."""

    def __init__(self, log: Log, recorder: Recorder, dialect: str) -> None:
        self.log, self.recorder, self.dialect = log, recorder, dialect
        self.host: str | None = None
        self.report: _Report | None = None
        self.before: _Stamp | None = None
        self.first = True
        self.skips_boot = _skips_boot(log)
        self.interval = _interval(log)
        self.count = 0

    def machine(self, host: str | None) -> None:
        """A banner: whatever follows is a new invocation."""
        self.close()
        self.host, self.first, self.before = host, True, None
        self.skips_boot = _skips_boot(self.log)

    def open(self, line: int, stamp: _Stamp | None) -> _Report:
        """A new report."""
        self.close()
        since_boot = self.first and not self.skips_boot
        run = self.recorder.start_run("iostat", line, dialect=self.dialect, client=self.host or self.log.host)
        run.set(test="since_boot" if since_boot else "report")
        if since_boot:
            text = "the first report covers the time since the host started (unless iostat -y left that one out)"
            run.add_event("since_boot", "info", text, line)
        else:
            run.set(requested_duration_ns=self.interval)
        self.report = _Report(run, stamp)
        if stamp is not None and self.before is not None and not since_boot:
            self._duration(run, self.before, stamp)
        self.before, self.first = stamp, False
        self.count += 1
        return self.report

    def _duration(self, run: Run, before: _Stamp, stamp: _Stamp) -> None:
        seconds = None
        if before.moment is not None and stamp.moment is not None:
            seconds = round((stamp.moment - before.moment).total_seconds())
            run.set(started_at=before.moment.astimezone(UTC))
        elif before.date == stamp.date:
            seconds = stamp.seconds - before.seconds
        if seconds is not None and seconds > 0:
            run.set(duration_ns=nanoseconds(str(seconds), "s"))
        elif seconds is not None and seconds < 0:
            run.set(started_at=None)
            text = "the clock of the host went backwards between two reports"
            run.add_event("clock_step", "warning", text, run.row["first_line"])

    def cpu(self, name: str, token: str, line: int) -> None:
        """Share of one kind of processor time."""
        if self.report is not None and name in _CPU:
            self.report.run.add_metric(_CPU[name], quantity(token, "%"), line, scope="host")
            self.report.cpu = True

    def value(self, device: str, column: str, token: str, suffix: str, line: int) -> bool:
        """One number of a device; false for a column that is not known."""
        if self.report is None or column not in COLUMNS:
            return False
        metric, unit = COLUMNS[column]
        if suffix and suffix != "%":
            unit = f"iostat {_SIZE_SUFFIX[suffix]}" + ("/s" if unit.endswith("/s") else "")
        value = quantity(token, unit)
        group = device.startswith(" ")
        name = device.strip()
        self.report.run.add_metric(metric, value, line, side="device", stream=name, scope="run" if group else "stream")
        self.report.values.setdefault(name, {})[column] = value
        self.report.lines[name] = line
        return True

    def close(self) -> None:
        """Finish the open report."""
        report, self.report = self.report, None
        if report is None:
            return
        for name, values in report.values.items():
            self._check(report, name, values)
        run = report.run
        if report.open_header:
            run.set(status="truncated")
            text = "the report stops behind a header; what stands above is kept"
            run.add_event("truncated", "warning" if report.cpu or report.values else "error", text, report.open_header)
        elif not report.cpu and not report.values:
            run.set(status="no_data")
            text = "a report without a device: none was active, or none was found"
            run.add_event("no_data", "warning", text, run.row["first_line"])

    @staticmethod
    def _check(report: _Report, name: str, values: dict[str, Quantity]) -> None:
        """kB/s are requests per second times the mean size of a request."""
        for rate, size, product in _CONCURRENT:
            if not all(column in values for column in (rate, size, product)):
                continue
            one, two, whole = values[rate], values[size], values[product]
            half = two.resolution or 0.0
            slack = (one.resolution or 0.0) * (two.value + half) + one.value * half
            if abs(one.value * two.value - whole.value) > 1.001 * (slack + (whole.resolution or 0.0)) + 1e-9:
                text = f"{name}: {one.printed} {rate} of {two.printed} kB are not {whole.printed} {product}"
                report.run.add_event("rate_mismatch", "warning", text, report.lines[name])


class _Iostat(LineLog):
    def __init__(self, log: Log, recorder: Recorder, reports: _Reports) -> None:
        self.log, self.recorder, self.reports = log, recorder, reports
        self.unfinished = unfinished_line(log)
        self.stamp: tuple[int, _Stamp] | None = None
        self.table: list[str] | None = None
        self.pretty = False
        self.wants_cpu: list[str] | None = None
        self.blank_lines = -1

    def blank(self, line: Line) -> None:
        """A blank line ends a table; two behind the banner stand for the report that -y left out."""
        self.table = self.wants_cpu = None
        if self.blank_lines >= 0:
            self.blank_lines += 1

    def read(self, line: Line, accounting: LineAccounting) -> bool:
        """As in `LineLog`; rows are read by the header above them."""
        if self.wants_cpu is not None or self.table is not None:
            if line.number == self.unfinished:
                text = "the last line is cut, its row is left out"
                self.recorder.add_event("unfinished_line", "info", text, line.number)
                return super().read(line, accounting)
            if self._row(line):
                accounting.mark(line.number, DATA)
                return True
        return super().read(line, accounting)

    @data(_BANNER, hint=" CPU)")
    def banner(self, line: Line, match: re.Match[str]) -> None:
        self.reports.machine(match[3])
        self.stamp, self.table, self.wants_cpu, self.blank_lines = None, None, None, 0

    @data(_TIME, hint=":")
    def time(self, line: Line, match: re.Match[str]) -> None:
        self._settle_boot()
        self.stamp = (line.number, _stamp(match))
        self.table = self.wants_cpu = None

    @data(_CPU_HEADER, hint="avg-cpu:")
    def cpu_header(self, line: Line, match: re.Match[str]) -> None:
        self._begin(line)
        self.wants_cpu = [word.lstrip("%") for word in match[0].split()[1:]]
        self._expect(line)

    @data(_DEVICE_HEADER, hint="Device")
    @data(_PRETTY_HEADER, hint="Device")
    def device_header(self, line: Line, match: re.Match[str]) -> None:
        words = match[0].split()
        self.pretty = words[0].rstrip(":") != "Device"
        table = words[:-1] if self.pretty else words[1:]
        report = self.reports.report
        # Without processor times a new header is a new report, unless it goes on with other columns (--pretty -x).
        known = set() if report is None else {column for one in report.values.values() for column in one}
        if report is None or self.stamp is not None or known & set(table):
            self._begin(line)
        self.table, self.wants_cpu = table, None
        self._expect(line)

    def _expect(self, line: Line) -> None:
        if self.reports.report is not None:
            self.reports.report.open_header = line.number
            self.reports.report.run.set(last_line=line.number)

    def _settle_boot(self) -> None:
        if self.blank_lines >= 2:
            self.reports.skips_boot = True
        self.blank_lines = -1

    def _begin(self, line: Line) -> None:
        self._settle_boot()
        first, stamp = self.stamp or (line.number, None)
        self.stamp = None
        self.reports.open(first, stamp)

    def _row(self, line: Line) -> bool:
        """A row of the table whose header stands above; false where it does not fit."""
        report = self.reports.report
        if report is None:
            return False
        words = line.text.split()
        if self.wants_cpu is not None:
            columns, device = self.wants_cpu, None
        elif self.pretty:
            columns, device = self.table or [], words.pop() if words else ""
        else:
            columns, device = self.table or [], words.pop(0) if words else ""
        found = [_VALUE.fullmatch(word) for word in words]
        if len(words) != len(columns) or not all(found):
            return False
        pairs = [(match[1].replace(",", "."), match[2]) for match in found if match]
        if device is not None and not all(column in COLUMNS for column in columns):
            return False
        if device is not None and line.text.startswith(" ") and not self.pretty:
            device = " " + device
        for column, (token, suffix) in zip(columns, pairs, strict=True):
            if device is None:
                self.reports.cpu(column, token, line.number)
            else:
                self.reports.value(device, column, token, suffix, line.number)
        report.open_header = 0
        report.run.set(last_line=line.number)
        if device is None:
            self.wants_cpu = None
        return True


def _stamp(match: re.Match[str]) -> _Stamp:
    """The time stamp of ``-t``: dates are printed by the locale and compared as printed only."""
    date, half, zone = match[1], match[5], match[6]
    hours, minutes, seconds = (int(match[i]) for i in (2, 3, 4))
    if half is not None:
        hours = hours % 12 + (12 if half == "PM" else 0)
    moment = None
    if zone is not None and date is not None and re.fullmatch(r"\d{4}-\d\d-\d\d", date):
        moment = _moment(f"{date}T{match[2]}:{match[3]}:{match[4]}{zone}")
    return _Stamp(date, 3600 * hours + 60 * minutes + seconds, moment)


def _moment(text: str) -> datetime | None:
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        return None


def _skips_boot(log: Log) -> bool:
    """Whether the command leaves out the report since boot (-y, alone or among other letters)."""
    return any(re.fullmatch(r"-[a-zA-Z]{0,20}y[a-zA-Z]{0,20}", word) is not None for word in log.arguments)


def _interval(log: Log) -> int | None:
    """The interval that the command asks for: the first number that is no value of an option."""
    words = log.arguments
    for before, word in pairwise(words):
        if word.isdigit() and before not in ("-j", "-o", "-f", "-g", "-p"):
            return nanoseconds(word, "s") or None
    return None


# --- JSON


class _Documents:
    """The JSON documents of a log."""

    def __init__(self, log: Log, recorder: Recorder, reports: _Reports) -> None:
        self.line_map = JsonLineMap(log, recorder)
        self.log, self.recorder, self.reports = log, recorder, reports

    def read(self, index: int) -> int:
        """Read the document that begins in line ``index``; returns the index of the first line behind it."""
        before = self.reports.count
        behind, fault = self.line_map.read_document(index, self._document)
        report = self.reports.report
        if fault is not None:
            number = self.line_map.line_number(fault.position)
            run = report.run if report is not None else None
            if run is None:
                run = self.recorder.start_run("iostat", self.log.lines[index].number, dialect="iostat-json")
                self.reports.count += 1
            code = "truncated" if fault.at_end else "malformed"
            run.set(status="truncated", last_line=self.log.lines[behind - 1].number)
            severity = "warning" if report is not None else "error"
            run.add_event(code, severity, "the document stops here; what stands above is kept", number)
        elif self.reports.count == before:
            run = self.recorder.start_run(
                "iostat", self.log.lines[index].number, dialect="iostat-json", status="no_data"
            )
            run.add_event("no_data", "error", "a document of sysstat without a report of iostat", run.row["first_line"])
            self.reports.count += 1
        self.reports.close()
        return behind

    def _document(self, begin: int) -> int:
        """{"sysstat": {"hosts": [{…, "statistics": [reports]}]}}; reports one by one, so that a cut text gives some."""
        text, place = self.line_map.text, begin
        for key, mark in (("sysstat", "{"), ("hosts", "[")):
            place = json_tokens.skip_blanks(text, place + 1)
            found, place = json_tokens.read_string(text, place)
            place = json_tokens.expect(text, place, ":")
            if found != key or text[place : place + 1] != mark:
                raise json_tokens.JsonError(text, place)
        place = json_tokens.skip_blanks(text, place + 1)
        while text[place : place + 1] != "]":
            place = json_tokens.skip_comma(text, self._host(place), "]")
        for _ in range(2):
            place = json_tokens.skip_blanks(text, place + 1)
            if text[place : place + 1] != "}":
                raise json_tokens.JsonError(text, place)
        return place + 1

    def _host(self, place: int) -> int:
        text = self.line_map.text
        place = json_tokens.skip_blanks(text, place + 1)
        while text[place : place + 1] != "}":
            key, place = json_tokens.read_string(text, place)
            place = json_tokens.expect(text, place, ":")
            if key == "statistics" and text[place : place + 1] == "[":
                place = self._statistics(place)
            else:
                value, place = json_tokens.read_value(text, place)
                if key == "nodename" and isinstance(value, json_tokens.Scalar):
                    self.reports.machine(str(value.value))
                    self.line_map.mark_data(value)
            place = json_tokens.skip_comma(text, place, "}")
        return place + 1

    def _statistics(self, place: int) -> int:
        text = self.line_map.text
        place = json_tokens.skip_blanks(text, place + 1)
        while text[place : place + 1] != "]":
            node = json_tokens.JsonObject()
            try:
                end = json_tokens.read_object(text, place, node)
            except json_tokens.JsonError:
                node.position = place
                self._report(node)
                raise
            self._report(node)
            if self.reports.report is not None:
                self.reports.report.run.set(last_line=self.line_map.line_number(end - 1))
            place = json_tokens.skip_comma(text, end, "]")
        return place + 1

    def _report(self, node: json_tokens.JsonObject) -> None:
        if not {"avg-cpu", "disk"} & {key for key, _ in node.pairs}:
            return
        stamp = None
        leaf = node.leaf("timestamp")
        if leaf is not None and isinstance(leaf.value, str):
            self.line_map.mark_data(leaf)
            found = re.fullmatch(_TIME, leaf.value)
            stamp = _stamp(found) if found else None
        self.reports.open(self.line_map.line_number(node.position), stamp)
        for key, value in node.object("avg-cpu").pairs:
            if isinstance(value, json_tokens.Scalar) and value.value is not None:
                self.reports.cpu(key, value.token, self.line_map.mark_data(value))
        for disk in node.objects("disk"):
            self._disk(disk)

    def _disk(self, node: json_tokens.JsonObject) -> None:
        name = node.value("disk_device")
        if not isinstance(name, str):
            return
        for key, leaf in node.pairs:
            if (
                isinstance(leaf, json_tokens.Scalar)
                and isinstance(leaf.value, int | float)
                and not isinstance(leaf.value, bool)
            ):
                try:
                    self.reports.value(name, key, leaf.token, "", self.line_map.mark_data(leaf))
                except UnitError:
                    continue


def _size_units(canonical: str, ending: str) -> dict[str, UnitDefinition]:
    """Return kB, MB and so on, which are binary, and blocks and sectors, which are 512 bytes whatever the disk says."""
    return {
        **prefixed(canonical, "kMGTP", 1024, f"B{ending}", tool="iostat"),
        **{f"iostat {name}{ending}": (canonical, 512) for name in ("blocks", "sectors")},
    }


class IostatParser(Parser):
    """Reads iostat; see the module's docstring."""

    tool = "iostat"
    commands = ("iostat",)
    units: ClassVar = {**_size_units("bytes", ""), **_size_units("bytes/s", "/s"), "requests": ("count", 1)}
    signatures = (
        Signature(" CPU)", re.compile(_BANNER), weak=True),
        Signature("avg-cpu:", re.compile(_CPU_HEADER), weak=True),
        Signature("Device", re.compile(_KNOWN_HEADER), weak=True),
        Signature('"sysstat"', re.compile(r'\{?\s*"sysstat"\s*:.*'), weak=True),
    )

    def parse(self, log: Log, recorder: Recorder) -> None:
        """Read the reports of one log."""
        is_json = any(line.text.lstrip().startswith("{") for line in log.lines)
        reports = _Reports(log, recorder, "iostat-json" if is_json else "iostat-text")
        text, documents = _Iostat(log, recorder, reports), _Documents(log, recorder, reports)
        lines, index = log.lines, 0
        while index < len(lines):
            if lines[index].text.lstrip().startswith("{"):
                index = documents.read(index)
            else:
                text.feed_line(lines[index], recorder.accounting)
                index += 1
        reports.close()
        if not reports.count:
            run = recorder.start_run("iostat", log.first_line, last_line=log.last_line, status="no_data")
            why = "no report of iostat stands here; is it the output of another tool?"
            run.add_event("no_data", "error", why, log.first_line)


PARSER = IostatParser()
