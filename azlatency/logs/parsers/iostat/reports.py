"""The reports of one iostat log, whether they are text or JSON: one report is one run."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import pairwise, repeat
from typing import Any

from azlatency.logs.grammar.units import Quantity, UnitError, nanoseconds, quantity
from azlatency.logs.parsers import Log
from azlatency.logs.parsers.iostat.columns import COLUMNS, CPU_METRICS
from azlatency.logs.record import Recorder, Run

#: Column, token and line of a number.
Cell = tuple[str, str, int]

TIME = r"(?:Time: )?(?:(\d{2,4}[/.-]\d{1,2}[/.-]\d{1,4})[ T])?(\d\d):(\d\d):(\d\d)(?: ([AP]M))?([+-]\d{2}:?\d{2}|Z)?"
# Requests per second, mean size of a request, and the bandwidth that is their product.
_PRODUCTS = ("r/s", "rareq-sz", "rkB/s"), ("w/s", "wareq-sz", "wkB/s"), ("d/s", "dareq-sz", "dkB/s")
#: Kernels without the time stolen by a hypervisor have five.
_FEWEST_CPU_SHARES = 5
_CPU_SLACK = 1e-4
_SIZE_SUFFIX = {"s": "sectors", **{letter: letter + "B" for letter in "kMGTP"}, "B": "B"}


@dataclass
class Stamp:
    """A time stamp: its date as printed, the second of the day, and the time if it has a time zone."""

    date: str | None
    seconds: int
    moment: datetime | None


@dataclass
class Report:
    """One report while it is read."""

    run: Run
    stamp: Stamp | None = None
    values: dict[str, dict[str, Quantity]] = field(default_factory=dict)
    """By device, then by column."""
    lines: dict[str, int] = field(default_factory=dict)
    cpu: bool = False
    open_header: int = 0
    """Line of a header that has no row yet, else 0."""


class Reports:
    """The reports of one log in order; text and JSON fill it."""

    def __init__(self, log: Log, recorder: Recorder, dialect: str) -> None:
        self.log, self.recorder, self.dialect = log, recorder, dialect
        self.host: str | None = None
        self.report: Report | None = None
        self.previous_stamp: Stamp | None = None
        self.first = True
        self.skips_boot = _has_flag(log, "y")
        self.interval = _interval(log)
        self.count = 0
        self.devices = 0
        """How many devices the last report of this command that has any lists."""

    def begin_invocation(self, host: str | None) -> None:
        """Begin the output of another command, at a banner or a host."""
        self.close()
        self.host, self.first, self.previous_stamp, self.devices = host, True, None, 0
        self.skips_boot = _has_flag(self.log, "y")

    def open(self, line: int, stamp: Stamp | None) -> Report:
        """Open a report, as a run."""
        self.close()
        since_boot = self.first and not self.skips_boot
        run = self.recorder.start_run(
            "iostat",
            line,
            dialect=self.dialect,
            client=self.host or self.log.host,
            test="since_boot" if since_boot else "report",
            requested_duration_ns=None if since_boot else self.interval,
        )
        if since_boot:
            text = "the first report covers the time since the host started, not the test (iostat -y omits it)"
            run.add_event("since_boot", "info", text, line)
        self.report = Report(run, stamp)
        duration = {} if since_boot else _duration(self.previous_stamp, stamp)
        if duration is None:
            text = "the clock of the host was set back between two reports"
            run.add_event("clock_step", "warning", text, line)
        run.set(**(duration or {}))
        self.previous_stamp, self.first = stamp, False
        self.count += 1
        return self.report

    def add_cpu_shares(self, cells: Iterable[Cell]) -> None:
        """Record the shares of the kinds of CPU time."""
        if (report := self.report) is None:
            return
        for name, token, line in cells:
            if name in CPU_METRICS:
                with suppress(UnitError):
                    report.run.add_metric(CPU_METRICS[name], quantity(token, "%"), line, scope="host")
                    report.cpu = True

    def add_values(self, device: str, cells: Iterable[Cell], suffixes: Iterable[str] = repeat("")) -> None:
        """Record the numbers of a device whose columns are known; a device name with a leading blank is a group."""
        if (report := self.report) is None:
            return
        name, scope = device.strip(), "run" if device.startswith(" ") else "stream"
        values = report.values.get(name, {})
        for (column, token, line), suffix in zip(cells, suffixes, strict=False):
            if column not in COLUMNS:
                continue
            metric, unit = COLUMNS[column]
            if suffix and suffix != "%":
                unit = f"iostat {_SIZE_SUFFIX[suffix]}" + ("/s" if unit.endswith("/s") else "")
            try:
                value = quantity(token, unit)
            except UnitError:
                continue
            report.run.add_metric(metric, value, line, side="device", stream=name, scope=scope)
            values[column] = value
            report.lines[name] = line
        if values:
            report.values[name] = values

    def close(self, *, cut: bool = False) -> None:
        """Finish the open report, if there is one; ``cut``: no blank line, which ends a report, is below it."""
        report, self.report = self.report, None
        if report is None:
            return
        # With -z a report lists only the devices that were active.
        if cut and not _has_flag(self.log, "z") and 0 < len(report.values) < self.devices:
            report.open_header = report.open_header or report.run.row["last_line"]
        for name, values in report.values.items():
            _check_bandwidth(report, name, values)
        run = report.run
        if cut and report.values and not self.devices:
            text = (
                "no blank line ends the report, and no other one shows how many devices there are: some may be missing"
            )
            run.add_event("end_unproven", "info", text, run.row["last_line"])
        _check_cpu(report)
        _check_transfers(report)
        # The last column of -x is the utilisation; --pretty spreads the columns over several tables.
        lacks_table = any("r/s" in values and not {"%util", "util"} & set(values) for values in report.values.values())
        if lacks_table or (report.cpu and not report.values and self.devices):
            report.open_header = report.open_header or run.row["last_line"]
        self.devices = len(report.values) or self.devices
        if report.open_header:
            text = "the report ends before its devices; the rows above this line are kept"
            run.end_as("truncated", "warning" if report.cpu or report.values else "error", text, report.open_header)
        elif not report.cpu and not report.values:
            text = "the report lists no device: none was active, or none was found"
            run.end_as("no_data", "warning", text, run.row["first_line"])


def _duration(previous: Stamp | None, stamp: Stamp | None) -> dict[str, Any] | None:
    """Return the duration of a report from its time stamp and that of the report before it; None if it is negative."""
    if previous is None or stamp is None:
        return {}
    started = {}
    if previous.moment is not None and stamp.moment is not None:
        seconds = round((stamp.moment - previous.moment).total_seconds())
        started = {"started_at": previous.moment.astimezone(UTC)}
    else:
        seconds = stamp.seconds - previous.seconds if previous.date == stamp.date else 0
    if seconds < 0:
        return None
    return {**started, "duration_ns": nanoseconds(str(seconds), "s")} if seconds else started


def _check_cpu(report: Report) -> None:
    """Report shares of the CPU time that do not add up to 100 %."""
    rows = [row for name in CPU_METRICS.values() if (row := report.run.row_of(name)) is not None]
    total = sum(row["value"] for row in rows)
    # A report of no time has only zeros.
    if len(rows) < _FEWEST_CPU_SHARES or not total:
        return
    if abs(total - 1) > _CPU_SLACK + sum(row["resolution"] or 0.0 for row in rows):
        text = f"the CPU shares add up to {100 * total:.2f} %, not to 100 %; a digit of one of them is wrong"
        report.run.add_event("value_conflict", "error", text, rows[0]["line"])
        report.run.set(status="failed")


def _check_bandwidth(report: Report, name: str, values: dict[str, Quantity]) -> None:
    """Report a bandwidth that is not requests per second times the mean size of a request."""
    for rate, size, product in _PRODUCTS:
        if not all(column in values for column in (rate, size, product)):
            continue
        rates, sizes, products = values[rate], values[size], values[product]
        slack = rates.half * (sizes.value + sizes.half) + rates.value * sizes.half
        if abs(rates.value * sizes.value - products.value) > 1.001 * (slack + products.half) + 1e-9:
            text = f"{name}: {rates.printed} {rate} times {sizes.printed} kB is not {products.printed} {product}"
            report.run.add_event("rate_mismatch", "warning", text, report.lines[name])


def _check_transfers(report: Report) -> None:
    """Report what was transferred and its rate if they are of another time than those of the other devices."""
    least, most = 0.0, math.inf
    for name, values in report.values.items():
        for column, rate in values.items():
            size = values.get(column.removesuffix("/s")) if column.endswith("/s") else None
            if size is None or size.unit != "bytes":
                continue
            # Sizes are cut, rates are rounded.
            unit, half = 2 * size.half, 1.001 * rate.half
            low = max(size.value - unit, 0.0) / (rate.value + half)
            high = (size.value + unit) / (rate.value - half) if rate.value > half else math.inf
            if low > most or high < least:
                text = f"{name}: {size.printed} at {rate.printed} {column} take another time than the numbers above"
                report.run.add_event("rate_mismatch", "warning", text, report.lines[name])
                return
            least, most = max(least, low), min(most, high)


def read_stamp(match: re.Match[str]) -> Stamp:
    """Read the time stamp of ``-t``; a date that is not ISO 8601 depends on the locale and is only compared."""
    date, half, zone = match[1], match[5], match[6]
    hours, minutes, seconds = (int(match[i]) for i in (2, 3, 4))
    if half is not None:
        hours = hours % 12 + (12 if half == "PM" else 0)
    moment = None
    if zone is not None and date is not None and re.fullmatch(r"\d{4}-\d\d-\d\d", date):
        with suppress(ValueError):
            moment = datetime.fromisoformat(f"{date}T{match[2]}:{match[3]}:{match[4]}{zone}")
    return Stamp(date, 3600 * hours + 60 * minutes + seconds, moment)


def _has_flag(log: Log, letter: str) -> bool:
    """Whether the command has a flag, alone or among other letters."""
    return any(re.fullmatch(rf"-[a-zA-Z]{{0,20}}{letter}[a-zA-Z]{{0,20}}", word) for word in log.arguments)


def _interval(log: Log) -> int | None:
    """Return the interval of the command: the first number that is not the value of an option."""
    words = log.arguments
    for previous, word in pairwise(words):
        if word.isdigit() and previous not in ("-j", "-o", "-f", "-g", "-p"):
            return nanoseconds(word, "s") or None
    return None
