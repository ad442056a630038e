"""cilium connectivity perf: tables of netperf tests between pods and hosts of a Kubernetes cluster.

::

    🔥 Network Performance Test Summary [cilium-test-1]:
    📋 Scenario        | Node       | Test       | Duration | Min  | Mean     | Max     | P50  | P90  | P99   | … OP/s
    📋 pod-to-pod      | same-node  | TCP_RR     | 10s      | 57µs | 125.09µs | 1.544ms | …    | …    | …     | 7939.43

    📋 Scenario        | Node       | Test       | Duration | Throughput Mb/s
    📋 pod-to-pod      | other-node | TCP_STREAM | 10s      | 9541.04

*Runs.* Each row is a run. The scenario and the node are part of its ``test``: nothing in the table names the nodes.

*Times* are those of netperf: round trips of TCP_RR and UDP_RR, transactions with a connection of TCP_CRR. They are
printed as Go prints a duration, without trailing zeros: ``6ms`` is 6000 µs. netperf reads its clock in whole
microseconds, and interpolates the percentiles inside buckets of two significant digits.

*Means.* Until 2023 the table had a column ``Num Samples``: the value is the mean of so many tests, and a mean of
percentiles is no percentile (``rtt_p99_mean``).

*Time of day.* With ``--timestamp`` each line of the table begins with ``[2026-11-22T14:31:20Z]``.
"""

from __future__ import annotations

import re
from typing import ClassVar

from azlatency.logs.grammar.rules import Line, data, known
from azlatency.logs.grammar.units import Quantity, quantity
from azlatency.logs.parsers import Log, Parser, Signature
from azlatency.logs.parsers.common import LogReader, end_run, record_no_data
from azlatency.logs.parsers.identities import closed_loop_rate
from azlatency.logs.record import Recorder, Run
from azlatency.more_tools.common import netperf_percentile

_STAMP = r"(?:\[\d{4}-\d\d-\d\dT[\d:]{8}(?:Z|[+-]\d\d:\d\d)\] )?"
_MARK = rf"{_STAMP}(?:[^|\s]{{1,4}} )?"
_HEADER = rf"{_MARK}Scenario {{1,60}}\| (?:Node|Pod) {{1,60}}\| Test {{1,40}}\| .{{1,300}}"
_OLD_HEADER = rf"{_MARK}Scenario {{1,80}}\| Test {{1,40}}\| Num Samples .{{1,200}}"
_TITLE = rf"{_MARK}(?:Network Performance|Performance|Latency) Test Summary(?: \[\S{{1,100}}\])?:?"
_TEST = r"(?:TCP|UDP|SCTP)_(?:RR|CRR|STREAM)\w{0,12}"
_ROW = rf"{_MARK}[\w.-]{{1,100}} {{0,60}}\|(?: {{0,3}}[\w.-]{{1,100}} {{0,60}}\|)? {{0,3}}{_TEST} {{0,20}}\|.{{1,300}}"
_FRONT = re.compile(rf"^{_STAMP}(?:[^\w\s]\S{{0,3}} )?")
_DURATION = re.compile(r"(?:(\d{1,4})h)?(?:(\d{1,4})m)?(\d{1,9}(?:\.\d{1,9})?) {0,12}(ns|us|µs|μs|ms|s)")
_AVERAGE = re.compile(r"(\d{1,12}\.\d\d) \((Mb/s|OP/s)\)")
_NUMBER = re.compile(r"\d{1,12}\.\d\d")
_TIMES = {"min": "min", "mean": "mean", "max": "max"}
_QUANTILES = {"p50": 0.5, "p90": 0.9, "p99": 0.99}
_DURATIONS = frozenset(("duration", *_TIMES, *_QUANTILES))
_MICROSECOND_NS = 1000.0


class _Cilium(LogReader):
    def __init__(self, log: Log, recorder: Recorder) -> None:
        super().__init__(log, recorder)
        self.columns: list[str] = []
        self.has_runs = False

    @data(_HEADER, hint="Scenario")
    @data(_OLD_HEADER, hint="Num Samples")
    def header(self, line: Line, match: re.Match[str]) -> None:
        self.columns = [cell.lower() for cell in _cells(match[0])]

    @data(_ROW, hint="|")
    def row(self, line: Line, match: re.Match[str]) -> None:
        cells = _cells(match[0])
        if len(cells) != len(self.columns):
            raise ValueError("not the columns of the header")
        if line.number == self.unfinished and not cells[-1]:
            raise ValueError("the last cell is cut")
        row = dict(zip(self.columns, cells, strict=True))
        values = {
            name: _read(name, cell) for name, cell in row.items() if name not in ("scenario", "node", "pod", "test")
        }
        protocol, kind = row["test"].lower().split("_", 1)
        # Until 2022 the table named the pod, and no scenario.
        network = row["scenario"] if len({"node", "pod"} & set(row)) else ""
        test = " ".join(filter(None, (row["test"].lower(), network, row.get("node"))))
        run = self.recorder.start_run("cilium", line.number, protocol=protocol, test=test)
        run.set(client=row.get("pod") or (None if network else row["scenario"]))
        self.has_runs = True
        if kind in ("rr", "crr"):
            run.set(closed_loop=True, printed_as="round_trip" if kind == "rr" else None)
        prefix = "rtt" if kind == "rr" else "transaction" if kind == "crr" else "latency"
        for name, value in values.items():
            if value is not None:
                self._store(run, name, value, prefix, line, is_mean=row.get("num samples", "1") != "1")
        end_run(run, has_numbers=True, ended=True, last_line=line.number)

    def _store(self, run: Run, name: str, value: Quantity, prefix: str, line: Line, *, is_mean: bool) -> None:
        if name == "duration":
            run.set(requested_duration_ns=int(value.value))
        elif name == "num samples":
            if value.value > 1:
                text = f"the numbers are means of {value.printed} tests, and count as one run"
                run.add_event("mean_of_runs", "info", text, line.number)
        elif name in _TIMES:
            run.add_metric(f"{prefix}_{_TIMES[name]}", value, line.number)
        elif name in _QUANTILES and is_mean:
            run.add_metric(f"{prefix}_{name}_mean", value, line.number)
        elif name in _QUANTILES:
            q, value = _QUANTILES[name], netperf_percentile(value)
            run.add_quantile(q, value, line.number, metric=prefix, origin="histogram")
        elif value.unit == "1/s":
            run.add_metric("transaction_rate", value, line.number)
        else:
            run.add_metric("throughput", value, line.number, side="receiver")

    def finish(self, last_line: int) -> None:
        """Report a log without a row."""
        if not self.has_runs:
            record_no_data(self.recorder, self.log, "the log has no row of results; copy the whole table")

    known = known(
        ("cilium ", r"(?:\$ )?cilium connectivity (?:perf|test .{0,100}--perf).{0,300}"),
        ("----", rf"{_STAMP}-{{20,300}}"),
        (" Test Summary", _TITLE),
        ("tests (", r"(?:\S{1,4} )?(?:\[\S{1,100}\] )?All \d{1,6} tests \(\d{1,6} actions\) .{1,200}"),
    )


def _cells(text: str) -> list[str]:
    """Return the cells of a row without the mark in front."""
    return [cell.strip() for cell in _FRONT.sub("", text, count=1).split("|")]


def _read(name: str, cell: str) -> Quantity | None:
    """Read a cell; None if it is empty. Raises ValueError if it is not what the column contains."""
    if cell in ("", "N/A", "-"):
        return None
    if name in _DURATIONS:
        if (match := _DURATION.fullmatch(cell)) is None:
            raise ValueError("not a time")
        hours, minutes, seconds, unit = match.groups()
        printed = quantity(seconds, unit)
        value = printed.value + 60e9 * int(minutes or 0) + 3600e9 * int(hours or 0)
        return Quantity(value, printed.unit, printed.printed, _MICROSECOND_NS, printed.printed_unit)
    if name == "num samples":
        return quantity(cell, "cilium samples")
    if name in ("transaction rate op/s", "op/s", "throughput mb/s"):
        if not _NUMBER.fullmatch(cell):
            raise ValueError("not a rate")
        return quantity(cell, "Mbits/sec" if name == "throughput mb/s" else "/s")
    if name == "avg value":
        match = _AVERAGE.fullmatch(cell)
        if match is None:
            raise ValueError("not a rate with its unit")
        return quantity(match[1], "Mbits/sec" if match[2] == "Mb/s" else "/s")
    raise ValueError("not a column that has a value")


class CiliumParser(Parser):
    """Reads cilium connectivity perf; see `azlatency.more_tools.cilium`."""

    tool = "cilium"
    reader = _Cilium
    identities = (closed_loop_rate,)
    commands = ("cilium", "cilium-cli")
    units: ClassVar = {"cilium samples": ("count", 1)}
    signatures = (
        Signature(" Test Summary", _TITLE),
        Signature("Scenario", _HEADER, weak=True),
        Signature("Num Samples", _OLD_HEADER, weak=True),
    )


PARSER = CiliumParser()
