"""k8s-netperf: the tables that it prints after netperf, iperf3 and uperf between pods of a Kubernetes cluster.

::

    +-------------------+---------+------------+-------------+--------------+- … -+---------+--------------------+
    |    RESULT TYPE    | DRIVER  |  SCENARIO  | PARALLELISM | HOST NETWORK |  …  | SAMPLES |     AVG VALUE      |
    +-------------------+---------+------------+-------------+--------------+- … -+---------+--------------------+
    | 📊 Stream Results | netperf | TCP_STREAM | 1           | true         |  …  | 3       | 2661.006667 (Mb/s) |

*Runs.* Rows of several tables that have the same configuration are one run: its rate, its latency, its retransmissions.
What is true of the configuration is part of its ``test``: ``tcp_stream host-network``.

*Means.* A value is the mean of ``SAMPLES`` tests (``mean_of_runs``). A mean of 99th percentiles, of samples or of the
processes of one sample (``PARALLELISM``), is not a percentile, so it is ``rtt_p99_mean``; of one process in one sample
it is a quantile. The confidence interval is that of the means (t distribution); with one sample it is printed as 0 and
left out. netperf's percentiles come from buckets of two significant digits.

*Drivers* (``driver_misreports``). Only netperf prints latencies: of iperf3 they are 0, and of uperf a percentile of
means of seconds; both are left out. Transactions of uperf were Mb/s under the name OP/s until June 2024, and operations
until September 2025, so they are left out too. Retransmissions of uperf are not measured. The loss of iperf3 is 0
whenever iperf3 reports what its server received, even if half was lost: a loss of 0 is left out. The rate of iperf3
over UDP is that of the server or of the client, so it has no side; that of uperf is what the client wrote. ib_write_bw
measures MiB/s, which the table calls Mb/s, so its rate is left out.

*End.* The table of the latencies follows that of the transactions. Since July 2024 (column ``BURST``) the last table is
that of retransmissions and losses, even if it has no row. Without them, or within a table, the runs are ``truncated``.

*Not stored.* Utilization of CPU and memory, whose rows have another configuration.
"""

from __future__ import annotations

import re

from azlatency.logs.grammar.rules import Line, RuleReader, data, known
from azlatency.logs.grammar.units import Quantity, quantity
from azlatency.logs.parsers import Log, Parser, Signature
from azlatency.logs.parsers.common import contradict, end_run, record_no_data
from azlatency.logs.record import Recorder, Run
from azlatency.more_tools.common import netperf_percentile

_HEADER = r"\| {1,40}(?:RESULT )?TYPE {1,40}\| {1,12}DRIVER {1,12}\|.{1,1200}\|"
_BORDER = r"\+(?:-{3,120}\+){5,40}"
_ROW = r"\|[^|]{3,40}(?:Results|Retransmissions|Percent|Utilization) {1,40}\| {1,12}\w{3,20} {1,12}\|.{20,1500}\|"
_VALUE = re.compile(r"(\d{1,12}\.\d{6})(?: \((Mb/s|OP/s|usec)\))?")
_INTERVAL = re.compile(r"(-?\d{1,12}\.\d{6})-(-?\d{1,12}\.\d{6}) \((Mb/s|OP/s)\)")
#: What the six decimals of a mean and of the ends of its interval add up to.
_INTERVAL_STEP = 2.5e-6
_COUNT, _COUNTS = re.compile(r"\d{1,9}"), ("DURATION", "SAMPLES", "PARALLELISM", "MESSAGE SIZE")
_UNITS = {"Mb/s": "Mbits/sec", "OP/s": "/s", "usec": "us"}
_IDENTITY = ("DRIVER", "SCENARIO", "PARALLELISM", "HOST NETWORK", "SERVICE", "MESSAGE SIZE", "BURST", "SAME NODE")
_CONTEXT = ("VIRT MODE", "EXTERNAL SERVER", "UDN INFO", "BRIDGE INFO", "SR-IOV INFO", "MACVLAN INFO", "LOCALNET INFO")
_LEVELS = ("INFO", "DEBU", "WARN", "ERRO")
#: Where the rate of a driver was measured, if not at the receiver.
_SIDES = {("iperf3", "UDP_STREAM"): None, ("uperf", ""): "sender"}
_LATENCIES = {"99%TILE VALUE": "p99", "AVG 99%TILE VALUE": "p99", "AVG 50%TILE VALUE": "p50", "AVG LATENCY": "mean"}


class _K8sNetperf(RuleReader):
    def __init__(self, recorder: Recorder) -> None:
        self.recorder = recorder
        self.columns: list[str] = []
        self.place = "outside"
        """Where the reader is: outside a table, above its header, below its header, or in its body."""
        self.missing: set[str] = set()
        """First column of the tables that have to follow."""
        self.runs: dict[tuple[str, ...], Run] = {}
        self.started: list[Run] = []
        """The runs of this call of the tool, and those of an earlier one that was cut."""
        self.results: set[tuple[str, ...]] = set()
        self.has_runs = False

    def _tell_empty_table(self, line: Line) -> None:
        if self.is_begun:
            text = "the table above has no row of results, and another call of the tool follows; copy the whole log"
            self.recorder.add_event("no_data", "error", text, line.number)

    @property
    def is_begun(self) -> bool:
        """Whether a table of results has no row so far."""
        return bool(self.columns) and "ROLE" not in self.columns and not self.started

    @data(_BORDER, hint="+---")
    def border(self, line: Line, match: re.Match[str]) -> None:
        if self.place == "body":
            self._tell_empty_table(line)
            self.place = "outside"
            if self.columns[:1] == ["TYPE"] and "ROLE" not in self.columns:
                self.missing.discard("TYPE")
                self.finish()
            self.columns = []
        else:
            self.place = {"outside": "above", "header": "body"}.get(self.place, self.place)

    @data(_HEADER, hint="DRIVER")
    def header(self, line: Line, match: re.Match[str]) -> None:
        self._tell_empty_table(line)
        self.columns = _cells(match[0])
        self.place = "header"
        if "BURST" in self.columns:
            self.missing.add("TYPE")

    @data(_ROW, hint="|")
    def row(self, line: Line, match: re.Match[str]) -> None:
        cells = _cells(match[0])
        if len(cells) != len(self.columns):
            raise ValueError("not the columns of the header")
        row = dict(zip(self.columns, cells, strict=True))
        if "ROLE" in row:
            return
        kind = re.sub(r"^[^\w]{1,4}", "", row.get("RESULT TYPE") or row["TYPE"])
        if not all(_COUNT.fullmatch(row.get(name, "")) for name in _COUNTS):
            raise ValueError("a row without its counts")
        if not row.get("DRIVER") or not re.fullmatch(r"[A-Z]{2,8}_[A-Z_]{2,30}", row.get("SCENARIO", "")):
            raise ValueError("a row without its test")
        values = {name: _VALUE.fullmatch(row[name]) for name in ("AVG VALUE", *_LATENCIES) if name in row}
        if not values or None in values.values():
            raise ValueError("not the values of the table")
        self.place = "body"
        if row["SCENARIO"].endswith("RR"):
            (self.missing.discard if set(values) & set(_LATENCIES) else self.missing.add)("99%TILE")
        run = self._run(row, kind, line)
        for name, value in values.items():
            if value is not None:
                self._store(run, kind, name, quantity(value[1], _UNITS.get(value[2], "1")), row, line)
        run.set(last_line=max(line.number, run.row["last_line"]))

    def _run(self, row: dict[str, str], kind: str, line: Line) -> Run:
        """Return the run of this configuration; a second row of a table is the next run."""
        key = tuple(row.get(name, "") for name in (*_IDENTITY, *_CONTEXT, "DURATION", "SAMPLES"))
        if (kind, *key) in self.results:
            self.runs.pop(key)
        self.results.add((kind, *key))
        if key in self.runs:
            return self.runs[key]
        protocol, test = row["SCENARIO"].lower().split("_", 1)
        places = [name.lower().replace(" ", "-") for name in (*_IDENTITY, *_CONTEXT) if row.get(name) == "true"]
        burst = row.get("BURST", "0")
        places += [f"burst-{burst}"] if burst not in ("", "0") else []
        places += [row[name] for name in _CONTEXT if row.get(name) not in (None, "", "true", "false")]
        self.has_runs = True
        run = self.runs[key] = self.recorder.start_run(
            "k8s_netperf",
            line.number,
            protocol=protocol,
            test=" ".join([row["SCENARIO"].lower(), *places]),
            dialect=row["DRIVER"],
            connections=int(row["PARALLELISM"]),
            message_bytes=int(row["MESSAGE SIZE"]),
            requested_duration_ns=int(quantity(row["DURATION"], "s").value),
        )
        self.started.append(run)
        if test in ("rr", "crr"):
            run.set(closed_loop=burst in ("", "0"), printed_as="round_trip" if test == "rr" else None)
        if int(row["SAMPLES"]) > 1:
            text = f"the numbers are means of {row['SAMPLES']} tests, and count as one run"
            run.add_event("mean_of_runs", "info", text, line.number)
        return run

    def _store(self, run: Run, kind: str, name: str, value: Quantity, row: dict[str, str], line: Line) -> None:
        driver, scenario = row["DRIVER"], row["SCENARIO"]
        if name in _LATENCIES:
            self._store_latency(run, name, value, row, line)
        elif kind == "TCP Retransmissions":
            if driver != "uperf":
                run.add_metric("retransmits", value._replace(unit="count", printed_unit=None), line.number)
        elif kind == "UDP Loss Percent":
            if driver == "iperf3" and not value.value:
                _misreport(run, "k8s-netperf prints a loss of 0 for iperf3 without reading it; it is left out", line)
            elif driver != "uperf":
                run.add_metric("loss", quantity(value.printed or "", "%"), line.number)
        elif driver == "uperf" and scenario.endswith("RR"):
            text = "k8s-netperf printed Mb/s or operations of uperf as transactions per second; they are left out"
            _misreport(run, text, line)
        elif driver == "ib_write_bw":
            _misreport(run, "k8s-netperf prints MiB/s of ib_write_bw as Mb/s; the rate is left out", line)
        else:
            side = _SIDES.get((driver, row["SCENARIO"]), _SIDES.get((driver, ""), "receiver"))
            metric, side = ("transaction_rate", None) if value.unit == "1/s" else ("throughput", side)
            run.add_metric(metric, value, line.number, side=side)
            interval = _INTERVAL.fullmatch(row.get("95% CONFIDENCE INTERVAL", ""))
            if interval is not None and int(row["SAMPLES"]) > 1:
                for ending, bound in (("ci_low", interval[1]), ("ci_high", interval[2])):
                    limit = quantity(bound, _UNITS[interval[3]])
                    run.add_metric(f"{metric}_{ending}", limit, line.number, side=side)
                if abs(float(interval[1]) + float(interval[2]) - 2 * float(value.printed or 0)) > _INTERVAL_STEP:
                    text = f"{value.printed} is not the middle of its interval, {interval[1]} to {interval[2]}"
                    contradict(run, "value_conflict", text, line.number)

    def _store_latency(self, run: Run, name: str, value: Quantity, row: dict[str, str], line: Line) -> None:
        kind = row["SCENARIO"].split("_", 1)[1]
        prefix = {"RR": "rtt", "CRR": "transaction"}.get(kind, "send_call")
        if row["DRIVER"] != "netperf":
            if value.value:
                _misreport(run, f"the latency of {row['DRIVER']} is not that of single messages; it is left out", line)
            return
        level = _LATENCIES[name]
        if level == "mean":
            run.add_metric(f"{prefix}_mean", value, line.number)
        elif row["SAMPLES"] == row["PARALLELISM"] == "1":
            q = int(level[1:]) / 100
            run.add_quantile(q, netperf_percentile(value), line.number, metric=prefix, origin="histogram")
        else:
            run.add_metric(f"{prefix}_{level}_mean", value, line.number)

    known = known(
        ("percent", r"(?:\S{1,4} )?TCP Stream percent difference .{1,300}"),
        *((f"{level}[", rf"{level}\[\d{{4}}-\d\d-\d\d [\d:]{{8}}\] .{{1,2000}}") for level in _LEVELS),
        # The same if standard output is not a terminal.
        ("level=", r'time="\d{4}-\d\d-\d\d [\d:]{8}" level=\w{4,7} msg=.{1,2000}'),
    )

    def finish(self) -> None:
        """Complete the runs of one call of the tool."""
        ended = self.place == "outside" and not self.missing
        for run in self.started:
            end_run(run, has_numbers=True, ended=ended, last_line=run.row["last_line"])
        self.runs, self.started, self.results = {}, [], set()


def _misreport(run: Run, text: str, line: Line) -> None:
    run.add_event("driver_misreports", "warning", text, line.number)


def _cells(text: str) -> list[str]:
    return [cell.strip() for cell in text.strip("|").split("|")]


class K8sNetperfParser(Parser):
    """Reads k8s-netperf; see `azlatency.more_tools.k8s_netperf`."""

    tool = "k8s_netperf"
    commands = ("k8s-netperf",)
    signatures = (
        Signature("+---", _BORDER, weak=True, then=_HEADER, inner=True),
        Signature("DRIVER", _HEADER, weak=True, inner=True),
    )

    def parse(self, log: Log, recorder: Recorder) -> None:
        """Read one log."""
        reader = _K8sNetperf(recorder)
        reader.feed(log.lines, recorder.accounting)
        is_begun = reader.is_begun
        reader.finish()
        if is_begun or not reader.has_runs:
            record_no_data(recorder, log, "the log has no row of results; copy the whole table")


PARSER = K8sNetperfParser()
