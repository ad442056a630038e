r"""AvZone-Latency-Test.ps1 of Azure/SAP-on-Azure-Scripts-and-Utilities: latency and bandwidth between three zones.

::

    Region:  westeurope
    VM Type:  Standard_D8s_v3
    Latency:
             ----------------------------------------------
             |    zone 1    |    zone 2    |    zone 3    |
    -------------------------------------------------------
    | zone 1 |              |      61.3 us |       702 us |
    | zone 2 |      60.8 us |              |       718 us |

*Cells.* The row is the zone of the client, the column that of the server. The script copies what the tool printed after
the ``=``: with qperf the mean ``latency`` of ``tcp_lat``, which is a **half round trip**, and the ``bw`` of ``tcp_bw``,
both with the default sizes and 2 s. With ``-testtool niping`` it copies ``av2``, the mean round trip of 100 messages of
10 bytes without the longest and the shortest one. The "bandwidth" of niping is that of an echo, rounded up to whole
MB/s; it is left out. A cell of a failed test contains the end of the error message, nothing or 0.

*Which tool.* Nothing in the tables names it, but it follows from the units: only qperf prints ``MB/sec`` and ``us``,
only with niping the script prints ``MB/s``, and only niping prints less than 1 ms in ms. Where both are possible, the
latencies are left out (``tool_unknown``).

*Mixed-up pairs.* From 2022-04-11 to 2022-05-09 the script sent the test of the next zone to the one after it, and the
other test nowhere: the cells 1-2, 2-3 and 3-1 then contain the numbers of 1-3, 2-1 and 3-2, which are empty. Such a
table is not used (``pairs_mixed_up``).

*Zones.* Azure numbers them per subscription, so zone 1 of two outputs may be two zones.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import ClassVar, NamedTuple

from azlatency.logs.grammar.rules import Line, data, known
from azlatency.logs.grammar.units import Quantity, prefixed, quantity
from azlatency.logs.parsers import Log, Parser, Signature
from azlatency.logs.parsers.common import LogReader, end_run, record_no_data
from azlatency.logs.record import Recorder, Run

_CELL = r"[^|]{1,200}"
_TITLE = r"(?: \([^()]{1,100}\))?:"
_LATENCY = re.compile(r"(1,000|\d{1,6}(?:\.\d{1,6})?) (ns|us|ms|sec)")
_RATE = re.compile(r"(1,000|\d{1,6}(?:\.\d{1,6})?) ([KMGT]?B/sec|bytes/sec)")
_RATE_OF_NIPING = re.compile(r"\d{1,9} MB/s")
_SECTIONS = ("latency", "bandwidth")
_ZONES = ("1", "2", "3")
#: The cells of the tests that the script of April 2022 sent to the wrong zone, and of those that it did not send.
_MISDIRECTED, _UNSENT = {("1", "2"), ("2", "3"), ("3", "1")}, {("1", "3"), ("2", "1"), ("3", "2")}
_SIGNIFICANT = 3


class _Cell(NamedTuple):
    """What the tables print for one ordered pair of zones."""

    section: str
    zone: str
    peer_zone: str
    text: str
    line: int

    @property
    def has_value(self) -> bool:
        return bool(_LATENCY.fullmatch(self.text) or _RATE.fullmatch(self.text) or self.is_rate_of_niping)

    @property
    def is_rate_of_niping(self) -> bool:
        return bool(_RATE_OF_NIPING.fullmatch(self.text))


class _AvZone(LogReader):
    def __init__(self, log: Log, recorder: Recorder) -> None:
        super().__init__(log, recorder)
        self.place: dict[str, str] = {}
        self.section: str | None = None
        self.cells: list[_Cell] = []
        self.has_runs = False

    @data(r"Region: {1,2}(\S{1,60})", hint="Region:")
    def region(self, line: Line, match: re.Match[str]) -> None:
        self._record(line.number - 1)
        self.place, self.section = {"region": match[1], "peer_region": match[1]}, None

    @data(r"VM Type: {1,2}(\S{1,80})", hint="VM Type:")
    def vm_size(self, line: Line, match: re.Match[str]) -> None:
        self.place |= {"vm_size": match[1], "peer_vm_size": match[1]}

    @data(rf"(Latency|Bandwidth){_TITLE}", hint=":")
    def title(self, line: Line, match: re.Match[str]) -> None:
        section = match[1].lower()
        if any(cell.section == section for cell in self.cells):  # a table of the next call, without its region
            self._record(line.number - 1)
            self.place = {}
        self.section = section

    @data(rf"\| zone ([123]) \|({_CELL})\|({_CELL})\|({_CELL})\|", hint="| zone ")
    def row(self, line: Line, match: re.Match[str]) -> None:
        zone = match[1]
        texts = dict(zip(_ZONES, map(str.strip, match.groups()[1:]), strict=True))
        if self.section is None or texts[zone]:
            raise ValueError("not a row below a title, or a zone tested with itself")
        if any((cell.section, cell.zone) == (self.section, zone) for cell in self.cells):
            raise ValueError("the second row of this zone")
        self.cells += [
            _Cell(self.section, zone, peer_zone, text, line.number)
            for peer_zone, text in texts.items()
            if peer_zone != zone
        ]

    known = known(
        ("zone", r"\| {4}zone 1 {4}\| {4}zone 2 {4}\| {4}zone 3 {4}\|"),
        ("---", r"-{46}|-{55}"),
        ("SSH", r"Removing SSH Sessions"),
        ("Resource", r"Deleting Resource Group|Resource group will NOT be deleted"),
        ("True", r"True"),
    )

    def finish(self, last_line: int) -> None:
        """Record the tests of the last tables."""
        self._record(last_line)
        if not self.has_runs:
            record_no_data(self.recorder, self.log, "the tables have no rows; copy the whole output")

    def _record(self, last_line: int) -> None:
        """Record a run for every cell of the tables of one call of the script."""
        cells, self.cells = self.cells, []
        tool = _tool_of(cells)
        for section in _SECTIONS:
            of_section = [cell for cell in cells if cell.section == section]
            are_mixed_up = {
                (cell.zone, cell.peer_zone) for cell in of_section if cell.has_value
            } == _MISDIRECTED and all(not cell.text for cell in of_section if (cell.zone, cell.peer_zone) in _UNSENT)
            for cell in of_section:
                self.has_runs = True
                run = self._start_run(cell, tool)
                if are_mixed_up:
                    text = (
                        "only the next zone of each row has a number: the script of April 2022 printed that of the "
                        "zone after it; it is left out; measure again with a newer script"
                    )
                    _fail(run, "pairs_mixed_up", text, cell.line)
                else:
                    _read(run, cell, tool)
                end_run(run, has_numbers=True, ended=True, last_line=cell.line)

    def _start_run(self, cell: _Cell, tool: str | None) -> Run:
        zones = {"zone": cell.zone, "peer_zone": cell.peer_zone, "placement": "cross_zone"}
        run = self.recorder.start_run(
            "avzone", cell.line, test=cell.section, protocol="tcp", connections=1, **zones, **self.place
        )
        if tool:
            run.set(dialect=tool)
        latency = cell.section == "latency"
        if latency:
            run.set(closed_loop=True, printed_as=_PRINTED_AS[tool])
        if tool == "qperf":
            run.set(message_bytes=1 if latency else 65536, requested_duration_ns=2 * 10**9)
        elif tool == "niping":
            run.set(message_bytes=10 if latency else 100_000, requested_count=100)
        return run


_PRINTED_AS = {"qperf": "half_round_trip", "niping": "round_trip", None: "unknown"}


def _tool_of(cells: Iterable[_Cell]) -> str | None:
    """Return the tool that printed the cells; None if their units do not say it."""
    tools = set()
    for cell in cells:
        if cell.is_rate_of_niping:
            tools.add("niping")
        elif _RATE.fullmatch(cell.text):
            tools.add("qperf")
        elif match := _LATENCY.fullmatch(cell.text):
            below_one = match[1].startswith("0.")
            tools |= {"niping"} if match[2] == "ms" and below_one else {"qperf"} if match[2] != "ms" else set()
    return tools.pop() if len(tools) == 1 else None


def _read(run: Run, cell: _Cell, tool: str | None) -> None:
    """Record the number of a cell, or why there is none."""
    if cell.section == "latency" and (match := _LATENCY.fullmatch(cell.text)):
        if tool is None:
            text = "the units do not say whether qperf printed half round trips or niping round trips; it is left out"
            run.add_event("tool_unknown", "error", text, cell.line)
            run.set(status="no_data")
        else:
            run.add_metric("rtt_mean", _round_trip(match, tool), cell.line)
    elif cell.section == "bandwidth" and (match := _RATE.fullmatch(cell.text)):
        run.add_metric("throughput", quantity(match[1], match[2], significant=_SIGNIFICANT), cell.line, side="receiver")
    elif cell.is_rate_of_niping and not cell.text.startswith("0 "):
        text = "niping measures an echo, and the script rounds it up to whole MB/s; it is left out"
        run.add_event("no_throughput", "info", text, cell.line)
        run.set(status="no_data")
    else:
        what = f"the script printed {cell.text!r}" if cell.text else "the cell is empty"
        _fail(run, "failed", f"no {cell.section} from zone {cell.zone} to zone {cell.peer_zone}: {what}", cell.line)


def _round_trip(match: re.Match[str], tool: str) -> Quantity:
    """Return a mean round-trip time; qperf printed half of it, in three significant digits."""
    if tool == "niping":
        return quantity(match[1], match[2])
    return quantity(match[1], match[2], significant=_SIGNIFICANT).doubled()


def _fail(run: Run, code: str, text: str, line: int) -> None:
    run.set(status="failed")
    run.add_event(code, "error", text, line)


class AvZoneParser(Parser):
    """Reads the tables of AvZone-Latency-Test.ps1; see `azlatency.more_tools.avzone`."""

    tool = "avzone"
    reader = _AvZone
    units: ClassVar = {"bytes/sec": ("bit/s", 8), **prefixed("bit/s", "KMGT", 1000, "B/sec", factor=8)}
    signatures = (
        Signature("Region:", r"Region: {1,2}\S{1,60}", then=r"VM Type: {1,2}\S{1,80}"),
        Signature("Latency", rf"Latency{_TITLE}", weak=True, then=r"-{46}"),
        Signature("Bandwidth", rf"Bandwidth{_TITLE}", weak=True, then=r"-{46}"),
    )


PARSER = AvZoneParser()
