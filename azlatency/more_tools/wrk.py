"""wrk and wrk2, and the percentile tables of HdrHistogram (``.hgrm``).

::

    Running 10s test @ http://127.0.0.1:8080/
      2 threads and 10 connections
      Thread Stats   Avg      Stdev     Max   +/- Stdev
        Latency     1.51ms    0.85ms  25.66ms   86.53%
      Latency Distribution (HdrHistogram - Recorded Latency)
     50.000%    1.45ms

      Detailed Percentile spectrum:                                                          (wrk2, or a .hgrm file)
           Value   Percentile   TotalCount 1/(1-Percentile)

           0.197     0.000000            1         1.00
           0.758     0.100000        10021         1.11
          25.679     1.000000        99867          inf
    #[Mean    =        1.510, StdDeviation   =        0.851]
    #[Max     =       25.664, Total count    =        99867]
    #[Buckets =           27, SubBuckets     =         2048]
      119986 requests in 1.00m, 12.36MB read
    Requests/sec:   1999.74

*Latency* is the time from a request to its response over TCP: the round trip **and** the time of the server. wrk sends
the next request when the response has arrived (closed loop). wrk2 measures from the moment at which the request was due
at the constant rate, so a late request counts its delay.

*The table* gives for each value how many times are at most as long. The times between two rows form one class of the
histogram; quantiles are known to a class. The first class begins one sub-bucket below the smallest value. wrk2 prints
milliseconds. A ``.hgrm`` file does not state its unit: it is read if the name of the file does (``client.us.hgrm``),
with ``s``, ``ms``, ``us`` or ``ns``, and otherwise refused.

The Python library prints the standard deviation in another unit than the other numbers; it is left out.

*Not used.* The short list of percentiles where there is a table, the statistics of threads, and the second table of
``-U``, whose times leave out what the request waited.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import ClassVar, NamedTuple

from azlatency.logs.grammar.rules import Line, data, known
from azlatency.logs.grammar.units import Quantity, count, nanoseconds, quantity
from azlatency.logs.parsers import Log, Parser, Signature
from azlatency.logs.parsers.common import LogReader, complete_quantile, contradict, end_run, slack
from azlatency.logs.record import Recorder

_RUNNING = r"Running ([\d.]{1,9})([smh]) test @ (?:https?://)?([^\s/:]{1,253}|\[[\da-f:]{2,45}\])(?:[:/]\S{0,300})?"
_HEADER = r"Value\s{1,12}Percentile\s{1,4}TotalCount\s{1,4}1/\(1-Percentile\)"
_TIME = r"(-?\d{1,12}\.\d{2})(us|ms|s|m|h)"
_NAN = r"-?(?:nan(?:us)?|0\.00us)"
_NUMBER = r"-?(?:\d{1,15}(?:\.\d{1,12})?|nan)"
_IS = r"\s{1,8}=\s{1,20}"
_UNIT_IN_NAME = re.compile(r"(?:^|[^A-Za-z0-9])(s|ms|us|ns)\.(?:hgrm|txt|log)$")
#: Levels that are stored as percentiles, too: only at them the table has a row in every log.
_LEVELS = frozenset({0.5, 0.75, 0.9, 0.99, 0.999})
#: Sub-buckets of HdrHistogram at three significant digits, for a file that does not state them.
_SUB_BUCKETS = 2048
#: Where the first match of a summary has a metric, which its unit follows.
_IN_SUMMARY = (("rtt_mean", 1), ("rtt_sd", 3), ("rtt_max", 5))


class _Row(NamedTuple):
    """A row of the table: the value as printed, the share and the number of times up to it, and its line."""

    token: str
    share: float
    cumulative: int
    number: int


class _Class(NamedTuple):
    """The times between two rows of the table (ns): how many there are, and how many up to here."""

    low: float
    high: float
    times: int
    cumulative: int


class _Wrk(LogReader):
    def __init__(self, log: Log, recorder: Recorder) -> None:
        super().__init__(log, recorder)
        self.run = recorder.start_run("wrk", log.first_line, printed_as="round_trip", test="http", protocol="tcp")
        self.unit: str | None = None
        # Text may stand above the first line of wrk.
        self.is_table = not any(" test @ " in line.text for line in log.lines)
        self.ignored = self.ended = self.has_title = False
        self.summary: tuple[re.Match[str], int] | None = None
        self.quantiles: list[tuple[float, Quantity, int, int | None]] = []
        """Level, value, line and, from the table, rank."""
        self.rows: list[_Row] = []
        self.statistics: dict[str, tuple[str, int]] = {}
        self.requests: tuple[str, int] | None = None
        self.took: Quantity | None = None

    @data(_RUNNING, hint="test @ ")
    def running(self, line: Line, match: re.Match[str]) -> None:
        self.run.set(server=match[3].strip("[]"))
        self.run.set(requested_duration_ns=nanoseconds(match[1], {"m": "wrk m", "h": "wrk h"}.get(match[2], "s")))

    @data(r"\d{1,6} threads? and (\d{1,9}) connections?", hint="threads and")
    def connections(self, line: Line, match: re.Match[str]) -> None:
        self.run.set(connections=int(match[1]))

    @data(rf"Latency\s{{1,12}}{_TIME}\s{{1,12}}{_TIME}\s{{1,12}}{_TIME}\s{{1,12}}-?[\d.nan]{{1,8}}%", hint="Latency ")
    def latency(self, line: Line, match: re.Match[str]) -> None:
        self.summary = match, line.number

    @data(r"Latency Distribution \(HdrHistogram - (Recorded|Uncorrected) .{1,90}", hint="Latency Distribution (")
    def distribution(self, line: Line, match: re.Match[str]) -> None:
        self.ignored = match[1] == "Uncorrected"

    @data(rf"(\d{{1,3}}(?:\.\d{{3}})?)%\s{{1,12}}{_TIME}", hint="%")
    def percentile(self, line: Line, match: re.Match[str]) -> None:
        q = quantity(match[1], "%").value
        if not self.ignored and 0 < q < 1 and line.number != self.unfinished:
            self.quantiles.append((q, _time(match[2], match[3]), line.number, None))

    # --- the table of HdrHistogram

    @data(r"Detailed Percentile spectrum:", hint="Percentile spectrum")
    def title(self, line: Line, match: re.Match[str]) -> None:
        self.has_title = True

    @data(_HEADER, hint="TotalCount")
    def header(self, line: Line, match: re.Match[str]) -> None:
        if not self.is_table and not self.has_title:
            self.ignored = True
            text = "the table is not that of the log above it and is left out; put each output in its own file"
            self.run.add_event("table_without_title", "warning", text, line.number)
        self.has_title = False

    @data(
        rf"({_NUMBER})\s{{1,20}}([01]\.\d{{2,15}})\s{{1,20}}(\d{{1,18}})(?:\s{{1,20}}(?:\d{{1,18}}\.\d{{2}}|inf))?",
        hint="",
    )
    def row(self, line: Line, match: re.Match[str]) -> None:
        if not self.ignored and line.number != self.unfinished:
            self.rows.append(_Row(match[1], float(match[2]), int(match[3]), line.number))

    @data(rf"#\[Mean{_IS}(?P<rtt_mean>{_NUMBER}), StdDeviation{_IS}(?P<rtt_sd>{_NUMBER})\]", hint="#[Mean")
    @data(
        rf"#\[Max{_IS}(?P<rtt_max>{_NUMBER}), "
        rf"Total ?(?P<count>[cC]ount){_IS}(?P<observations>\d{{1,18}})(?:\.0{{1,5}})?\]",
        hint="#[Max",
    )
    @data(rf"#\[Buckets{_IS}\d{{1,9}}, SubBuckets{_IS}(?P<sub_buckets>\d{{1,9}})\]", hint="#[Buckets")
    def statistic(self, line: Line, match: re.Match[str]) -> None:
        """Keep the statistics that the pattern names."""
        values = match.groupdict()
        if not self.ignored:
            self.statistics |= {name: (value, line.number) for name, value in values.items()}
        if values.get("count") == "Count":
            # The Python library (hdrh) divides every number but the standard deviation by the scale.
            self.statistics.pop("rtt_sd", None)
        self.ended |= self.is_table and "count" in values

    # --- the end

    @data(rf"(\d{{1,15}}) requests in {_TIME}, [\d.]{{1,12}}[KMGTP]?B read", hint=" requests in ")
    def count_of_requests(self, line: Line, match: re.Match[str]) -> None:
        self.requests = match[1], line.number
        self.took = _time(match[2], match[3])

    @data(r"Socket errors: connect (\d{1,12}), read (\d{1,12}), write (\d{1,12}), timeout (\d{1,12})",
          hint="Socket errors")  # fmt: skip
    @data(r"Non-2xx or 3xx responses: (\d{1,12})", hint="Non-2xx")
    def errors(self, line: Line, match: re.Match[str]) -> None:
        text = f"{line.text.strip()}; the times of failed requests are not those of the path"
        self.run.add_event("tool_error", "warning", text, line.number)

    @data(r"Requests/sec:\s{1,12}(\d{1,12}\.\d\d)", hint="Requests/sec")
    def requests_per_second(self, line: Line, match: re.Match[str]) -> None:
        self.run.add_metric("transaction_rate", quantity(match[1], "/s"), line.number)

    @data(r"Transfer/sec:\s{1,12}[\d.]{1,12}[KMGTP]?B", hint="Transfer/sec")
    def rate(self, line: Line, match: re.Match[str]) -> None:
        self.ended = True

    known = known(
        ("Thread calibration", r"Thread calibration: mean lat\.: .{1,40}, rate sampling interval: .{1,20}"),
        ("Thread Stats", r"Thread Stats\s{1,8}Avg\s{1,8}Stdev\s{1,8}Max\s{1,8}\+/- Stdev"),
        ("Req/Sec", r"Req/Sec\s{1,12}.{1,80}"),
        ("Latency Distribution", r"Latency Distribution"),
        ("Latency ", rf"Latency\s{{1,12}}{_NAN}\s{{1,12}}{_NAN}\s{{1,12}}{_NAN}\s{{1,12}}-?[\d.nan]{{1,8}}%"),
        ("-----", r"-{20,80}"),
        ("Initialised", r"Initialised \d{1,6} threads in \d{1,9} ms\."),
    )

    def finish(self, last_line: int) -> None:
        """Complete the run: numbers of the table or of the summary, and the status."""
        run = self.run
        # wrk2 has a table or calibrates its threads; only then does it know when a request was due.
        paced = bool(self.rows) or self.log.option("-R", "--rate") is not None
        run.set(closed_loop=not paced, dialect="wrk2" if paced else "wrk")
        self.unit = "ms"
        if self.is_table:
            named = _UNIT_IN_NAME.search(self.log.source.path)
            self.unit = named[1] if named else None
            run.set(dialect="hgrm", closed_loop=None, test=None, protocol=None, printed_as="unknown")
            if self.unit is None:
                text = (
                    "the table does not state its unit; name the file by it, such as client.us.hgrm "
                    "(s, ms, us or ns), and read it again"
                )
                run.set(status="failed", last_line=last_line)
                run.add_event("unit_unknown", "error", text, self.log.first_line)
                return
        total = self.statistics.get("observations", ("", 0))[0]
        if self.rows and total == "0":
            run.end_as("no_data", "warning", "no request was answered", self.rows[0].number)
        elif self.rows:
            self._store_table()
        else:
            self._store_summary()
        self._check_rate()
        has_numbers = run.value("rtt_mean") is not None or bool(self.rows)
        if not has_numbers and self.ended and run.row["status"] == "complete":
            run.end_as("no_data", "warning", "no request was answered", self.log.first_line)
        end_run(run, has_numbers=has_numbers, ended=self.ended, last_line=last_line)

    def _check_rate(self) -> None:
        """Report a rate that the number of requests and their time contradict."""
        rate = self.run.row_of("transaction_rate")
        if rate is None or self.requests is None or self.took is None:
            return
        requests, half = int(self.requests[0]), self.took.half
        least, most = (1e9 * requests / max(self.took.value + sign * half, 1.0) for sign in (1, -1))
        if not least - slack(rate) <= rate["value"] <= most + slack(rate):
            text = f"{requests} requests in {self.took.printed} {self.took.printed_unit} are not {rate['printed']}/s"
            contradict(self.run, "rate_mismatch", text, rate["line"])

    def _store_table(self) -> None:
        """Store the classes between the rows of the table, and its statistics."""
        run, unit = self.run, str(self.unit)
        for name in ("rtt_mean", "rtt_sd", "rtt_max"):
            token, number = self.statistics.get(name, ("nan", 0))
            if not token.endswith("nan"):
                run.add_metric(name, quantity(token, unit), number)
        if "observations" in self.statistics:
            token, number = self.statistics["observations"]
            run.add_metric("observations", count(token), number)
        sub_buckets = int(self.statistics.get("sub_buckets", (str(_SUB_BUCKETS), 0))[0]) or _SUB_BUCKETS
        before, below = None, 0
        classes: list[_Class] = []
        for token, share, cumulative, number in self.rows:
            value = quantity(token, unit)
            step = value.half + 2 * abs(value.value) / sub_buckets
            if round(share, 6) in _LEVELS:
                self.quantiles.insert(0, (round(share, 6), value, number, cumulative))
            low = max(value.value - step, 0.0) if before is None else before
            is_same = before is not None and cumulative == below
            if value.value < (before or 0.0) or cumulative < below or (is_same and value.value != before):
                text = f"{token} {unit} with {cumulative} in total excludes the row above it; the log is edited"
                run.add_event("not_monotone", "error", text, number)
                run.set(status="failed")
                return
            if cumulative > below:
                classes.append(_Class(low, value.value, cumulative - below, cumulative))
                bounds = {"low_ns": round(low), "high_ns": round(value.value)}
                run.add_bucket(metric="rtt", stream=None, count=cumulative - below, line=number, **bounds)
            before, below = value.value, cumulative
        self._store_quantiles(sub_buckets)
        observations = run.value("observations")
        if observations is not None and below != observations:
            text = f"the table ends at {below} of {observations:.0f} times; rows are missing"
            run.add_event("count_mismatch", "warning", text, self.rows[-1].number)
        elif observations:
            self._check_shares()
            self._check_statistics(classes, sub_buckets)

    def _check_shares(self) -> None:
        """Report a row whose share of all times is not that of the number of times up to it.

        A row stands at the first value up to which there are at least as many times as its share.
        """
        total, below = self.rows[-1].cumulative, 0
        for row in self.rows[:-1]:
            due = row.share * total
            if due > row.cumulative + 1 or (row.cumulative > below and row.share and due < below - 1):
                text = f"{row.cumulative} of {total} times are not a share of {row.share:g}"
                contradict(self.run, "count_mismatch", text, row.number)
                return
            below = row.cumulative

    def _check_statistics(self, classes: Sequence[_Class], sub_buckets: int) -> None:
        """Report a mean, a maximum or a percentile that is not between the rows of the table around it."""
        total, run = classes[-1].cumulative, self.run

        def around(rank: int) -> tuple[float, float]:
            return next((one.low, one.high) for one in classes if one.cumulative >= rank)

        low, high = (math.fsum(one[end] * one.times for one in classes) / total for end in (0, 1))
        ranges = {"rtt_mean": (low, high), "rtt_max": around(total)}
        printed = [
            (quantity(token, str(self.unit)), line, *ranges[name])
            for name in ranges
            for token, line in [self.statistics.get(name, ("nan", 0))]
            if token[-3:] != "nan"
        ]
        if self.summary is not None:
            match, line = self.summary
            printed += [
                (_time(match[at], match[at + 1]), line, *ranges[name]) for name, at in _IN_SUMMARY if name in ranges
            ]
        for q, value, line, rank in self.quantiles:
            if rank is None:
                printed.append((value, line, *around(max(math.floor(q * total + 0.5), 1))))
        for value, line, low, high in printed:
            width = 1.01 * value.half + 4 * high / sub_buckets
            if not low - width <= value.value <= high + width:
                where = f"where the table has {low / 1e6:g} to {high / 1e6:g} ms"
                text = f"the log prints {value.printed} {value.printed_unit} {where}"
                contradict(run, "summary_mismatch", text, line)

    def _store_summary(self) -> None:
        """Store the summary of wrk, which prints no table."""
        run = self.run
        if self.summary is not None and self.requests is not None:
            run.add_metric("observations", count(self.requests[0]), self.requests[1])
        if self.summary is not None:
            match, number = self.summary
            for name, at in _IN_SUMMARY:
                run.add_metric(name, _time(match[at], match[at + 1]), number)
        self._store_quantiles(_SUB_BUCKETS)

    def _store_quantiles(self, sub_buckets: int) -> None:
        """Store each percentile once; a value is the upper end of its bucket."""
        observations = self.run.value("observations")
        stored: set[float] = set()
        for q, value, number, rank in self.quantiles:
            if q in stored:
                continue
            stored.add(q)
            bucket = 2 * abs(value.value) / sub_buckets
            row = self.run.add_quantile(q, value.with_resolution(value.half + bucket), number)
            if row is not None and observations:
                # hdr_value_at_percentile rounds the rank to the nearest whole number.
                complete_quantile(row, int(observations), rank or max(math.floor(q * observations + 0.5), 1))


def _time(token: str, unit: str) -> Quantity:
    """Read a time of wrk: ``1.45ms``."""
    return quantity(token, {"m": "wrk m", "h": "wrk h"}.get(unit, unit))


class WrkParser(Parser):
    """Reads wrk, wrk2 and ``.hgrm``; see `azlatency.more_tools.wrk`."""

    tool = "wrk"
    reader = _Wrk
    commands = ("wrk", "wrk2")
    options: ClassVar = {"rate": ("-R", "--rate"), "script": ("-s", "--script")}
    units: ClassVar = {"wrk m": ("ns", 60 * 10**9), "wrk h": ("ns", 3600 * 10**9)}
    signatures = (
        Signature("test @ ", _RUNNING),
        Signature("TotalCount", _HEADER, weak=True),
    )


PARSER = WrkParser()
