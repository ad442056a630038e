"""One report of mtr: its hops, and the run that they become."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Callable, Mapping
from typing import NamedTuple

from azlatency.logs.grammar.units import Quantity, UnitError, count, quantity
from azlatency.logs.parsers.common import end_run
from azlatency.logs.record import Recorder, Run

#: Columns with a time in ms, and the metric that each becomes.
TIMES = {
    "Last": "rtt_last",
    "Avg": "rtt_mean",
    "Best": "rtt_min",
    "Wrst": "rtt_max",
    "StDev": "rtt_sd",
    "Gmean": "rtt_geometric_mean",
    "Jttr": "jitter_last",
    "Javg": "jitter",
    "Jmax": "jitter_max",
    "Jint": "jitter_interarrival",
}
COUNTS = {"Snt": "sent", "Rcv": "received", "Drop": "lost"}
TITLES = ("Loss%", *COUNTS, *TIMES)
UNKNOWN_HOST = "???"
# Every reply cuts up to a microsecond from the running value, and divides what was cut before by the replies so far.
_RUNNING = {"Avg", "Gmean", "StDev", "Javg"}
_CUT_PER_REPLY_NS = 500.0
# The estimator of RFC 1889 is kept times 16, and printed so.
_SCALED = {"Jint": 16}

# A report and CSV have no end mark, so their last row may be that of a router.
_ENDED_FORMS = ("json", "xml")
# mtr cuts the loss to a thousandth of a percent before it prints it.
_CUT_LOSS = 1e-5

#: Converts the token of a column with a time in ms.
ReadTime = Callable[[str], Quantity]


class Cell(NamedTuple):
    """A number as printed, and its line."""

    token: str
    line: int


class Report:
    """Receives the hops of one report in order."""

    def __init__(self, recorder: Recorder, line: int, dialect: str, *, target: str | None = None) -> None:
        self.run: Run = recorder.start_run(
            "mtr", line, dialect=dialect, test="report", printed_as="round_trip", closed_loop=False
        )
        self.target = target
        self.hops: dict[int, str] = {}
        self._last: tuple[Mapping[str, Cell], int, ReadTime] | None = None

    def add_hop(self, hop: int, host: str, values: Mapping[str, Cell], line: int, read_time: ReadTime) -> None:
        """Add the row of a hop; ``read_time`` converts the times. Raises `UnitError` if a token is not a number."""
        for title, (token, _) in values.items():
            if title in TIMES:
                read_time(token)
            else:
                (count(token) if title in COUNTS else quantity(token.removesuffix("%"), "%"))
        self._store_last()
        self.hops[hop] = host
        self._last = values, line, read_time

    def finish(self, last_line: int, *, ended: bool) -> None:
        """Complete the run: the last hop is the target if it was reached."""
        run, fault = self.run, self._fault()
        run.set(server=self.target)
        if self._last is not None:
            line = self._last[1]
            if fault:
                self._store_last()
                run.set(status="failed")
                run.add_event("target_not_reached", "warning", f"{fault}; the run has only the times of its hops", line)
            elif ended:
                host = self.hops[max(self.hops)]
                run.set(server=host)
                if host != self.target and run.row["dialect"] not in _ENDED_FORMS:
                    text = f"the log does not name {host} as the target; if rows below it are missing, it is a router"
                    run.add_event("target_assumed", "warning", text, line)
                self._store(*self._last, stream=None)
        end_run(run, has_numbers=bool(self.hops), ended=ended and bool(self.hops), last_line=last_line)

    def _fault(self) -> str | None:
        """Return why the last hop is not the target of the probes; None if it can be."""
        if not self.hops:
            return None
        last = max(self.hops)
        host = self.hops[last]
        if host == UNKNOWN_HOST:
            return "the target did not answer"
        if self.hops.get(last - 1) == host:
            return f"the last two hops are {host}, which reports the target as unreachable"
        if _is_address(self.target) and _is_address(host) and host != self.target:
            return f"the last hop is {host}, not {self.target}"
        return None

    def _store_last(self) -> None:
        if self._last is not None:
            hop = max(self.hops)
            self._store(*self._last, stream=f"hop {hop} {self.hops[hop]}")
            self._last = None

    def _store(self, values: Mapping[str, Cell], line: int, read_time: ReadTime, stream: str | None) -> None:
        run, scope = self.run, "run" if stream is None else "stream"
        probes, answered = 0, True
        if (cell := values.get("Loss%")) is not None:
            loss = quantity(cell.token.removesuffix("%"), "%")
            loss = loss._replace(printed=cell.token, resolution=loss.half + _CUT_LOSS)
            run.add_metric("loss", loss, cell.line, stream=stream, scope=scope)
            answered = loss.value < 1
        for title, name in COUNTS.items():
            if (cell := values.get(title)) is not None:
                number = count(cell.token)
                run.add_metric(name, number, cell.line, stream=stream, scope=scope)
                probes = max(probes, int(number.value))
                answered = answered and (title != "Rcv" or number.value > 0)
        for title, name in TIMES.items() if answered else ():
            if (cell := values.get(title)) is not None:
                time = read_time(cell.token)
                half = time.half + (_CUT_PER_REPLY_NS * (probes + 1) if title in _RUNNING else 0.0)
                factor = _SCALED.get(title, 1)
                time = time._replace(value=time.value / factor, resolution=half / factor)
                run.add_metric(name, time, cell.line, stream=stream, scope=scope)
        if stream is None and (received := run.row_of("received")) is not None and received["value"]:
            run.add_metric("observations", Quantity(received["value"], "count", None, None), received["line"])


def milliseconds(token: str) -> Quantity:
    """Read a time in ms with decimals."""
    return quantity(token, "ms")


def five_digits(token: str) -> Quantity:
    """Read a time in ms of which five significant digits are printed, but never less than a microsecond."""
    if not re.fullmatch(r"\d{1,12}(?:\.\d{1,20})?", token):
        raise UnitError(f"{token!r} is not a number")
    printed = quantity(token, "ms", significant=5)
    return printed.with_resolution(max(printed.half, _CUT_PER_REPLY_NS))


def _is_address(host: str | None) -> bool:
    try:
        ipaddress.ip_address(host or "")
    except ValueError:
        return False
    return True
