"""netperf: request/response, connect and stream tests; classic tables, ``-k``, ``-o`` and ``-O``.

    MIGRATED TCP REQUEST/RESPONSE TEST from 0.0.0.0 (0.0.0.0) port 0 AF_INET to 10.2.2.4 () port 0 AF_INET
          : first burst 0                                                         (on the same line)
    Interim result: 17976.28 Trans/s over 0.585 seconds ending at 1795226254.850
    Local /Remote
    Socket Size   Request  Resp.   Elapsed  Trans.
    Send   Recv   Size     Size    Time     Rate
    bytes  Bytes  bytes    bytes   secs.    per sec
    16384  131072 1        1       2.00     3232.97
    16384  131072
    MEAN_LATENCY=61.03                                                            (-k)
    Minimum Latency Microseconds,Mean Latency Microseconds,...                    (-o)
    TEN_USEC      :    0: 6150: 6792:  137:   48:   18:   16:   14:    1:    3     (-v 2)

Versions seen: 2.4 to 2.7.1 (formats: nettest_omni.c, nettest_bsd.c, netlib.c). In a request/response test every latency
is a **round trip** of one transaction. ``MEAN_LATENCY`` is the mean over transactions (``rtt_mean``); ``RT_LATENCY``,
``RoundTrip Latency`` and what follows from the transaction rate are (1 + burst) / rate (``rtt_from_rate``): the two
differ, and by much where the test stalled. In a TCP_CRR or TCP_CC test a transaction holds a connection (metrics
``transaction_*``), in a stream test the latency is that of a send call (``send_call_*``); neither is a round trip.

Latencies are differences of clock readings cut to whole microseconds. Percentiles come from buckets of two significant
digits; their resolution is the width of the bucket. ``STDDEV_LATENCY`` is the population's (``rtt_sd_population``); it
is converted (``rtt_sd``) where the number of transactions is known. The confidence interval of ``-I`` is that of the
rate. Of several printings of one rate the first stands and the others are checked. A lost datagram ends UDP_RR
silently: only the rate tells. Ctrl-C leaves normal output: only the elapsed time tells. -1 in a column means not
measured.

Rates are in the unit that a header or a column names. ``-P 0`` and ``-v 0`` print none: a transaction rate is then
assumed (``unit_assumed``), a stream's rate is left out. A bare CSV line (``-P 0 -o``) names no column and is not read.
"""

from __future__ import annotations

import csv
import math
import re
from collections.abc import Sequence
from dataclasses import replace

from azlatency.logs.grammar import DATA, KNOWN, Line, LineAccounting, LineLog, data, known
from azlatency.logs.parsers import Log, Signature
from azlatency.logs.parsers.common import end_run, unfinished_line
from azlatency.logs.parsers.echo import utc
from azlatency.logs.parsers.netperf.words import KEYS, NAMES
from azlatency.logs.record import Recorder, Row
from azlatency.logs.units import Quantity, UnitError, canonical_unit, count, exact_bytes, nanoseconds, quantity

_TESTS = {
    "REQUEST/RESPONSE": "rr",
    "Non-Blocking REQUEST/RESPONSE": "rr",
    "Connect/Request/Response": "crr",
    "Connect/Close": "cc",
    "STREAM": "stream",
    "MAERTS": "maerts",
    "SENDFILE": "sendfile",
    "UNIDIRECTIONAL SEND": "stream",
}
_OMNI = {"Send|Recv": "rr", "Connect|Send|Recv": "crr", "Connection": "cc", "Send": "stream", "Receive": "maerts"}
_STREAMS = ("stream", "maerts", "sendfile")
_PREFIX = {"rr": "rtt", "crr": "transaction", "cc": "transaction", **dict.fromkeys(_STREAMS, "send_call")}
_BANNER = (
    r"(?P<migrated>MIGRATED )?(?:(?P<protocol>TCP|UDP|SCTP|SDP) (?:1-TO-MANY )?(?P<test>"
    + "|".join(map(re.escape, _TESTS))
    + r")|OMNI (?P<omni>[A-Za-z|]{4,20})) TEST? from \S{1,255} \(\S{0,60}\) port \d{1,5} AF_\w{1,10}"
    r" to (?P<server>\S{1,255}) \((?P<address>\S{0,60})\) port \d{1,5} AF_\w{1,10}(?P<notes>(?: ?: [^:]{1,80}){0,12})"
)
_BANNER_HEAD = re.compile(r".{10,200} TEST from \S{1,255} \(\S{0,60}\) port \d{1,5} AF_\w{1,10} to")
_RATE = r"(\d{1,12}\.\d\d)"
_SECONDS = r"(\d{1,7}\.\d\d)"
_SIZE = r"(-?\d{1,10})"
_PERCENT = r"(-?\d{1,3}\.\d\d)"
_DEMAND = r"(-?\d{1,9}\.\d{3})"
_UNIT = r"((?:10\^[0369]bits|[KMG]?Bytes|Trans)/s)(?:ec)?"
_DECADES = ("UNIT_USEC", "TEN_USEC", "HUNDRED_USEC", "UNIT_MSEC", "TEN_MSEC", "HUNDRED_MSEC", "UNIT_SEC", "TEN_SEC")
_SECOND, _MILLISECOND, _MICROSECOND = (nanoseconds("1", unit) for unit in ("sec", "ms", "us"))
_FEW_TRANSACTIONS = 100
_STALL = 2.0
_RATE_TOLERANCE = 2e-3
_SIDES = {"LOCAL": "local", "REMOTE": "remote"}
_CPU = {
    "UTIL": "cpu_busy",
    "PERCENT_USER": "cpu_user",
    "PERCENT_SYSTEM": "cpu_system",
    "PERCENT_IOWAIT": "cpu_iowait",
    "PERCENT_SWINTR": "cpu_softirq",
}
_LATENCIES = {"MIN_LATENCY": "min", "MEAN_LATENCY": "mean", "MAX_LATENCY": "max"}
_QUANTILES = {"P50_LATENCY": 0.5, "P90_LATENCY": 0.9, "P99_LATENCY": 0.99}
_TEXTS = {"SOURCE_ADDR": "client", "DEST_ADDR": "server", "COMMAND_LINE": "command"}
_INDEXED = r"NETPERF_(?:INTERIM_RESULT|UNITS|INTERVAL|ENDING)"


class _Netperf(LineLog):
    def __init__(self, log: Log, recorder: Recorder) -> None:
        self.log, self.recorder = log, recorder
        self.run = recorder.start_run("netperf", log.first_line, printed_as=None, connections=1)
        self.kind: str | None = None
        self.migrated = True
        self.burst: int | None = None
        self.asked_width: float | None = None
        self.header: list[str] = []
        self.header_text = ""
        self.banner_head: str | None = None
        self.unit: str | None = None
        self.titled = False
        self.values: dict[str, tuple[str, int]] = {}
        self.interims: list[dict[str, str | int]] = []
        self.indexed: dict[tuple[str, int], tuple[str, int]] = {}
        self.buckets: list[tuple[int, int | None, int, int]] = []
        self.hist_of_calls = False
        self.hist_total: tuple[str, int] | None = None
        self.rate: tuple[Quantity, int] | None = None
        self.duration: Quantity | None = None
        self.has_numbers = False
        self.ended = False
        self.failures: list[tuple[str, int]] = []
        self.unfinished = unfinished_line(log)

    # --- lines that no single pattern describes

    def read(self, line: Line, accounting: LineAccounting) -> bool:
        """As in `LineLog`; banners and column titles may be wrapped by whoever pasted them."""
        text = line.text.strip()
        if self.banner_head is not None:
            joined, self.banner_head = f"{self.banner_head} {text}", None
            accounting.mark(line.number, DATA)
            return super().read(line._replace(text=joined), accounting)
        if _BANNER_HEAD.fullmatch(text):
            self.banner_head = text
            accounting.mark(line.number, DATA)
            return True
        if self._titles(text):
            accounting.mark(line.number, KNOWN)
            return True
        if self.header and len(text) < 20_000 and (text[:1].isdigit() or text[:1] in '-"') and self._row(line, text):
            accounting.mark(line.number, DATA)
            return True
        return super().read(line, accounting)

    def _titles(self, text: str) -> bool:
        """Whether the line holds column titles of ``-o``, alone or as the continuation of the line above."""
        if not text[:1].isalnum() or len(text) > 8000 or "=" in text:
            return False
        glue = "" if self.header_text.endswith(",") else " "
        for candidate in (self.header_text + glue + text if self.header_text else "", text):
            titles = candidate.split(",")
            if not candidate or not all(title in NAMES for title in titles[:-1]):
                continue
            whole = titles[-1] in NAMES
            partly = len(titles) > 1 and any(title.startswith(titles[-1]) for title in NAMES)
            if whole or partly:
                self.header_text = candidate
                self.header = [NAMES[title] for title in titles] if whole else []
                return True
        return False

    def _row(self, line: Line, text: str) -> bool:
        """The values under the titles of ``-o``; false where their number differs."""
        cells = next(csv.reader([text]), [])
        if len(cells) != len(self.header):
            text = f"{len(cells)} values under {len(self.header)} titles; nothing of the line is read"
            self.run.add_event("column_mismatch", "error", text, line.number)
            return False
        if line.number == self.unfinished:
            # The last number may be cut.
            cells = cells[:-1]
            self._unfinished(line)
        for name, token in zip(self.header, cells, strict=False):
            self.values.setdefault(name, (token.strip(), line.number))
        self.header, self.header_text = [], ""
        return True

    # --- what was run

    @data(_BANNER, hint=" TEST from ")
    def banner(self, line: Line, match: re.Match[str]) -> None:
        kind = _TESTS[match["test"]] if match["test"] else _OMNI.get(match["omni"])
        protocol = match["protocol"].lower() if match["protocol"] else None
        self._is(kind, protocol)
        self.migrated = bool(match["migrated"] or match["omni"])
        self.run.set(server=match["server"])
        for note in (part.strip() for part in match["notes"].split(":")):
            if found := re.fullmatch(r"first burst (\d{1,9})", note):
                self.burst = int(found[1])
            elif found := re.fullmatch(r"\+/-(\d{1,3}\.\d{3})% @ +(\d{1,2})% conf\..{0,30}", note):
                # The banner names half the width that was asked for.
                self.asked_width = 2 * quantity(found[1], "%").value

    @data(r"(?:[#$%>] ?)?((?:\S{1,200}/)?netperf(?:\.exe)? -.{1,1000})", hint="netperf")
    def command_line(self, line: Line, match: re.Match[str]) -> None:
        self.run.set(command=match[1])
        self.log = replace(self.log, command=match[1])

    # --- classic tables

    @data(rf"bytes\s+bytes\s+bytes\s+secs\.\s+{_UNIT}", hint="secs.")
    @data(rf"bytes\s+bytes\s+bytes\s+secs\.\s+{_UNIT}\s+% \S\s+% \S\s+us/KB\s+us/KB", hint="us/KB")
    @data(rf"bytes\s+bytes\s+secs\s+#\s+#\s+{_UNIT}", hint="secs ")
    @data(rf"bytes\s+bytes\s+secs\s+#\s+#\s+{_UNIT}\s+% \S+\s+us/KB", hint="us/KB")
    @data(rf"bytes\s+Bytes\s+bytes\s+bytes\s+secs\.\s+{_UNIT}", hint="Bytes ")
    def units_row(self, line: Line, match: re.Match[str]) -> None:
        self.unit = match[1]

    @data(r"bytes\s+[Bb]ytes\s+bytes\s+bytes\s+secs\.\s+per sec(?:\s+% \S\s+% \S\s+us/Tr\s+us/Tr)?", hint="per sec")
    def per_second(self, line: Line, match: re.Match[str]) -> None:
        self.unit = "Trans/s"

    @data(r"Local /Remote", hint="Local /Remote")
    def titles(self, line: Line, match: re.Match[str]) -> None:
        self.titled = True

    @data(rf"{_SIZE}\s+{_SIZE}\s+{_SIZE}\s+{_SIZE}\s+{_SECONDS}\s+{_RATE}", hint=".")
    @data(
        rf"{_SIZE}\s+{_SIZE}\s+{_SIZE}\s+{_SIZE}\s+{_SECONDS}\s+{_RATE}"
        rf"\s+{_PERCENT}\s+{_PERCENT}\s+{_DEMAND}\s+{_DEMAND}",
        hint=".",
    )
    def transaction_row(self, line: Line, match: re.Match[str]) -> None:
        if match[3] == match[4]:
            self.run.set(message_bytes=int(match[3]))
        self.run.add_metric("request_bytes", exact_bytes(match[3]), line.number)
        self.run.add_metric("response_bytes", exact_bytes(match[4]), line.number)
        self._elapsed(match[5], line)
        # Under titles that name another unit nothing may be assumed.
        self._rate(match[6], self.unit or (None if self.titled else self._assumed(line)), line)
        if match.re.groups > 6:
            self._processors(line, match[7], match[8], match[9], match[10], per_transaction=True)

    @data(rf"{_SIZE}\s+{_SIZE}", hint=" ")
    def remote_sockets(self, line: Line, match: re.Match[str]) -> None:
        # The last row of the table of a request/response test.
        self.ended = True

    @data(rf"{_SIZE}\s+{_SIZE}\s+{_SIZE}\s+{_SECONDS}\s+{_RATE}", hint=".")
    @data(
        rf"{_SIZE}\s+{_SIZE}\s+{_SIZE}\s+{_SECONDS}\s+{_RATE}\s+{_PERCENT}\s+{_PERCENT}\s+{_DEMAND}\s+{_DEMAND}",
        hint=".",
    )
    def stream_row(self, line: Line, match: re.Match[str]) -> None:
        self.run.set(message_bytes=int(match[3]))
        self._elapsed(match[4], line)
        self._rate(match[5], self.unit, line)
        if match.re.groups > 5:
            self._processors(line, match[6], match[7], match[8], match[9], per_transaction=False)
        self.ended = True

    @data(rf"{_SIZE}\s+{_SIZE}\s+{_SECONDS}\s+(\d{{1,15}})\s+(\d{{1,12}})\s+{_RATE}", hint=".")
    def datagrams_sent(self, line: Line, match: re.Match[str]) -> None:
        self.run.set(message_bytes=int(match[2]))
        self._elapsed(match[3], line)
        self.run.add_metric("sent", count(match[4]), line.number)
        self.run.add_metric("send_errors", count(match[5]), line.number)
        self._throughput(match[6], self.unit, line, "sender")

    @data(rf"{_SIZE}\s+{_SECONDS}\s+(\d{{1,15}})\s+{_RATE}", hint=".")
    def datagrams_received(self, line: Line, match: re.Match[str]) -> None:
        self.run.add_metric("received", count(match[3]), line.number)
        self._throughput(match[4], self.unit, line, "receiver")
        sent, received = self.run.value("sent"), int(match[3])
        if sent and received <= sent:
            self.run.add_metric("lost", Quantity(sent - received, "count", None, None), line.number)
            self.run.add_metric("loss", Quantity((sent - received) / sent, "fraction", None, None), line.number)
        self.ended = True

    @data(_RATE, hint=".")
    def bare_rate(self, line: Line, match: re.Match[str]) -> None:
        if self.kind in ("rr", "crr", "cc"):
            self._rate(match[1], self._assumed(line), line)
        else:
            text = "-v 0 prints no unit, and -f may have changed it; the rate is left out"
            self.run.add_event("unit_ambiguous", "warning", text, line.number)
        self.ended = True

    @data(
        rf"{_SIZE}\s+{_SIZE}\s+{_SIZE}\s+{_SIZE}\s+(\d{{1,12}}\.\d{{3}})\s+(\d{{1,12}}\.\d{{3}})"
        r"\s+-?\d{1,12}\.\d{3}\s+-?\d{1,12}\.\d{3}",
        hint=".",
    )
    def round_trip_row(self, line: Line, match: re.Match[str]) -> None:
        self.values.setdefault("RT_LATENCY", (match[5], line.number))
        self._transactions(quantity(match[6], "Trans/s"), line.number)

    # --- histogram

    @data(rf"({'|'.join(_DECADES)})\s{{0,20}}:((?:\s{{0,12}}\d{{1,12}}:){{9}}\s{{0,12}}\d{{1,12}})", hint="SEC")
    def decade(self, line: Line, match: re.Match[str]) -> None:
        if line.number == self.unfinished:
            self._unfinished(line)
            return
        width = 10 ** _DECADES.index(match[1]) * _MICROSECOND
        for index, number in enumerate(match[2].split(":")):
            self.buckets.append((index * width, (index + 1) * width, int(number), line.number))

    @data(r">100_SECS: (\d{1,12})", hint=">100_SECS")
    def slowest(self, line: Line, match: re.Match[str]) -> None:
        self.buckets.append((10 ** len(_DECADES) * _MICROSECOND, None, int(match[1]), line.number))

    @data(r"HIST_TOTAL:\s{1,20}(\d{1,12})", hint="HIST_TOTAL")
    def histogram_total(self, line: Line, match: re.Match[str]) -> None:
        if line.number == self.unfinished:
            self._unfinished(line)
            return
        self.hist_total = match[1], line.number

    @data(r"Histogram of (request/response times|time spent in (?:send|recv)\(\) call\.?)", hint="Histogram of")
    def histogram_title(self, line: Line, match: re.Match[str]) -> None:
        self.hist_of_calls = match[1].startswith("time")

    # --- interim results

    @data(
        rf"Interim result:\s{{1,20}}{_RATE} (\S{{1,20}}) over (\d{{1,9}}\.\d{{3}}) seconds"
        r" ending at (\d{9,11})\.(\d{3})",
        hint="Interim result:",
    )
    @data(rf"{_RATE},(\S{{1,20}}/s),(\d{{1,9}}\.\d{{3}}),(\d{{9,11}})\.(\d{{3}})", hint="/s,")
    def interim(self, line: Line, match: re.Match[str]) -> None:
        self._interim(line.number, match[1], match[2], match[3], match[4] + match[5])

    @data(rf"({_INDEXED})\[(\d{{1,9}})\]=(\S{{1,40}})", hint="NETPERF_")
    def indexed_interim(self, line: Line, match: re.Match[str]) -> None:
        self.indexed[match[1], int(match[2])] = match[3], line.number
        if match[1] == "NETPERF_ENDING" and (stop := re.fullmatch(r"(\d{9,11})\.(\d{3})", match[3])):
            parts = [
                self.indexed.get((f"NETPERF_{name}", int(match[2]))) for name in ("INTERIM_RESULT", "UNITS", "INTERVAL")
            ]
            tokens = [part[0] for part in parts if part is not None]
            if len(tokens) == 3:
                self._interim(line.number, tokens[0], tokens[1], tokens[2], stop[1] + stop[2])

    def _interim(self, number: int, rate: str, unit: str, seconds: str, stop_ms: str) -> None:
        self.interims.append(
            {
                "line": number,
                "rate": rate,
                "unit": unit,
                "ns": nanoseconds(seconds, "sec"),
                "stop": int(stop_ms) * _MILLISECOND,
            }
        )

    # --- omni, -k

    @data(rf"({'|'.join(sorted(KEYS, key=len, reverse=True))})=(.{{0,2000}})", hint="=")
    def keyword(self, line: Line, match: re.Match[str]) -> None:
        if line.number == self.unfinished:
            self._unfinished(line)
            return
        if match[1] in self.values and self.values[match[1]][0] != match[2].strip():
            text = f"{match[1]} is {match[2]} here and {self.values[match[1]][0]} in line {self.values[match[1]][1]}"
            self.run.add_event("value_conflict", "error", text, line.number)
        self.values.setdefault(match[1], (match[2].strip(), line.number))
        self.ended = True

    # --- failures

    @data(r"(establish.control.{1,400})", hint="establish")
    @data(r"((?:netperf|recv_response|send_omni\w*|shutdown_control): .{1,300})", hint=": ")
    def failure(self, line: Line, match: re.Match[str]) -> None:
        self.failures.append((match[1], line.number))

    @data(r"!!! Confidence intervals: Throughput\s{1,10}: (\d{1,4}\.\d{3})%", hint="Confidence intervals")
    def achieved_confidence(self, line: Line, match: re.Match[str]) -> None:
        self.run.add_metric("throughput_ci_width", quantity(match[1], "%"), line.number)

    @data(r"!!! Desired confidence was not achieved.{1,60}", hint="Desired confidence")
    def no_confidence(self, line: Line, match: re.Match[str]) -> None:
        text = "the rate varied more than -I allows; its confidence interval is wider than asked for"
        self.run.add_event("confidence_not_reached", "warning", text, line.number)

    known = known(
        ("!!!", r"!!! (?:WARNING|This implies that there was.{1,80}|must be investigated.{1,60})"),
        ("!!!", r"!!!\s{10,40}(?:Local|Remote) CPU util\s{1,4}: -?\d{1,6}\.\d{3}%"),
        ("Socket Size", r"Socket Size\s+Request\s+Resp\.\s+Elapsed.{0,60}"),
        ("Send   Recv", r"Send\s+Recv\s+(?:Size\s+Size\s+Time.{0,80}|Send\s+Recv\s+.{0,60})"),
        ("Recv   Send", r"Recv\s+Send\s+Send(?:\s+Utilization\s+Service Demand)?"),
        ("Socket", r"Socket Socket\s+Message\s+Elapsed.{0,60}"),
        ("Size   Size", r"Size\s+Size\s+Size\s+Time\s+Throughput.{0,60}"),
        ("Socket  Message", r"Socket\s+Message\s+Elapsed\s+Messages.{0,60}"),
        ("Size    Size", r"Size\s+Size\s+Time\s+Okay Errors\s+Throughput.{0,60}"),
        ("Alignment", r"Alignment\s+Offset.{0,80}"),
        ("Local  Remote", r"Local\s+Remote\s+Local\s+Remote.{0,60}"),
        ("Maximum", r"Maximum"),
        ("Segment", r"Segment"),
        ("Size (bytes)", r"Size \(bytes\)"),
        ("", r"\d{1,9}"),
        (" ", r"(?:-?\d{1,12}\s+){4}\d{1,18}\s+-?\d{1,12}\.\d\d\s+\d{1,18}\s+-?\d{1,12}\.\d\d\s+\d{1,18}"),
        ("catcher", r"catcher: timer popped.{0,80}"),
    )

    # --- helpers

    def _is(self, kind: str | None, protocol: str | None) -> None:
        """Set what was run; a request/response test alone prints round trips."""
        self.kind = kind
        row = self.run.row
        row["protocol"] = protocol or row.get("protocol")
        if kind is not None:
            row["test"] = f"{row['protocol']}_{kind}" if row["protocol"] else kind
        row["printed_as"] = "round_trip" if kind == "rr" else None
        row["closed_loop"] = True if kind in ("rr", "crr", "cc") else None

    def _unfinished(self, line: Line) -> None:
        text = "the text ends within this line; the number at its end is left out"
        self.run.add_event("unfinished_line", "warning", text, line.number)

    def _assumed(self, line: Line) -> str:
        text = "the unit of the rate is not printed; transactions per second, the default, are assumed"
        self.run.add_event("unit_assumed", "warning", text, line.number)
        return "Trans/s"

    def _elapsed(self, token: str, line: Line) -> None:
        if self.duration is None:
            self.duration = quantity(token, "sec")
            self.run.set(duration_ns=nanoseconds(token, "sec"))
            self.run.add_metric("elapsed", self.duration, line.number)

    def _rate(self, token: str, unit: str | None, line: Line) -> None:
        """A rate in transactions or in bits, as the unit says."""
        if unit == "Trans/s":
            self._transactions(quantity(token, unit), line.number)
        else:
            sending = self.kind in ("stream", "sendfile") and not self.migrated
            self._throughput(token, unit, line, "sender" if sending else "receiver")

    def _transactions(self, rate: Quantity, number: int) -> None:
        """The first printing of the rate stands, as in a log that ends behind it; later ones must agree with it."""
        if self.rate is None:
            self.rate = rate, number
            return
        first = self.rate[0]
        if abs(first.value - rate.value) > (first.resolution or 0) + (rate.resolution or 0):
            text = f"the transaction rate is {rate.printed} here and {first.printed} in line {self.rate[1]}"
            self.run.add_event("value_conflict", "error", text, number)

    def _throughput(self, token: str, unit: str | None, line: Line, side: str) -> None:
        if unit is None:
            text = "a rate without its unit; left out"
            self.run.add_event("unit_ambiguous", "warning", text, line.number)
            return
        self.run.add_metric("throughput", quantity(token, unit), line.number, side=side)

    def _processors(
        self, line: Line, local: str, remote: str, local_demand: str, remote_demand: str, *, per_transaction: bool
    ) -> None:
        """Processor columns of ``-c -C``; a negative number was not measured."""
        for side, percent, demand in (("local", local, local_demand), ("remote", remote, remote_demand)):
            if not percent.startswith("-"):
                self.run.add_metric("cpu_busy", quantity(percent, "%"), line.number, side=side, scope="host")
            if not demand.startswith("-"):
                name, unit = ("cpu_time_per_transaction", "us") if per_transaction else ("cpu_cost", "us/KB")
                self.run.add_metric(name, quantity(demand, unit), line.number, side=side, scope="host")

    # --- the end

    def finish(self, last_line: int) -> None:
        """Everything that needs the whole log: values of omni tests, rates, what must hold."""
        self._what_was_run()
        self._omni_values()
        self._histogram()
        self._latencies()
        self._rates()
        self._interims()
        self._checks()
        run = self.run
        names = ("transaction_rate", f"{self._prefix}_mean", f"{self._prefix}_min")
        numbers = [run.value(name) for name in names]
        numbers += [run.value("throughput", side=side) for side in ("sender", "receiver")]
        found = any(value is not None for value in numbers)
        for text, number in self.failures:
            if found:
                run.add_event("tool_error", "warning", text, number)
            elif run.row["status"] != "failed":
                run.set(status="failed")
                run.add_event("failed", "error", f"netperf measured nothing: {text}", number)
        found = found or bool(self.interims)
        end_run(run, has_numbers=found, ended=self.ended or bool(self.values), last_line=last_line)

    @property
    def _prefix(self) -> str:
        return _PREFIX.get(self.kind or "", "latency")

    def _what_was_run(self) -> None:
        """The test from the command line, where no banner names it; what else the command tells."""
        log, row = self.log, self.run.row
        asked = re.fullmatch(r"(TCP|UDP|SCTP)_(RR|CRR|CC|STREAM|MAERTS|SENDFILE)", log.option("-t") or "")
        if self.kind is None and asked:
            self._is(asked[2].lower(), asked[1].lower())
        if self.burst is None and self.kind == "rr" and log.arguments:
            burst = log.option("-b") if "--" in log.arguments else None
            self.burst = int(burst) if burst and burst.isdigit() else 0
        if row.get("server") is None:
            row["server"] = log.option("-H")
        row["client"] = row.get("client") or log.host
        seconds = log.option("-l")
        if seconds and seconds.isdigit():
            row["requested_duration_ns"] = nanoseconds(seconds, "sec")

    def _number(self, name: str) -> tuple[str, int] | None:
        """A value of an omni test; None where it is absent or -1, which means not measured."""
        found = self.values.get(name)
        if found is None or not re.fullmatch(r"\d{1,18}(?:\.\d{1,9})?", found[0]):
            return None
        return found

    def _omni_values(self) -> None:
        run = self.run
        for name, column in _TEXTS.items():
            if name in self.values and run.row.get(column) is None:
                run.set(**{column: self.values[name][0].strip('"') or None})
        if "PROTOCOL" in self.values and run.row.get("protocol") is None:
            self._is(self.kind, self.values["PROTOCOL"][0].lower() or None)
        if burst := self._number("BURST_SIZE"):
            self.burst = int(burst[0])
        if found := self._number("ELAPSED_TIME"):
            self._elapsed(found[0], Line(found[1], ""))
        self._omni_sizes()
        for key, side in _SIDES.items():
            for name, metric in _CPU.items():
                if found := self._number(f"{key}_CPU_{name}"):
                    run.add_metric(metric, quantity(found[0], "%"), found[1], side=side, scope="host")
            if found := self._number(f"{key}_TRANSPORT_RETRANS"):
                run.add_metric("retransmits", count(found[0]), found[1], side=side)
            if found := self._number(f"{key}_CPU_COUNT"):
                run.add_metric("cpu_count", count(found[0]), found[1], side=side, scope="host")
            self._service_demand(key, side)
        if found := self._number("CONFIDENCE_LEVEL"):
            run.add_metric("throughput_ci_level", quantity(found[0], "%").with_resolution(None), found[1])
        if found := self._number("THROUGHPUT_CONFID"):
            run.add_metric("throughput_ci_width", quantity(found[0], "%"), found[1])
        if found := self._number("CONFIDENCE_ITERATION"):
            run.add_metric("iterations", count(found[0]), found[1])
        if found := self._number("CONFIDENCE_INTERVAL"):
            self.asked_width = quantity(found[0], "%").value
            run.add_metric("throughput_ci_width_asked", quantity(found[0], "%"), found[1])

    def _omni_sizes(self) -> None:
        run = self.run
        request, response = self._number("REQUEST_SIZE"), self._number("RESPONSE_SIZE")
        for name, found in (
            ("request_bytes", request),
            ("response_bytes", response),
            ("mss", self._number("TRANSPORT_MSS")),
        ):
            if found:
                run.add_metric(name, exact_bytes(found[0]), found[1])
        if request and response and request[0] == response[0]:
            run.set(message_bytes=int(request[0]))
        if self.kind in _STREAMS and (size := self._number("LOCAL_SEND_SIZE")):
            run.set(message_bytes=int(size[0]))

    def _service_demand(self, key: str, side: str) -> None:
        """Processor time for a transaction or for 1024 bytes, as the column of units says."""
        found, units = self._number(f"{key}_SD"), self.values.get("SD_UNITS", ("", 0))[0]
        name, unit = {"usec/Tran": ("cpu_time_per_transaction", "us"), "usec/KB": ("cpu_cost", "us/KB")}.get(
            units, ("", "")
        )
        if found and name:
            self.run.add_metric(name, quantity(found[0], unit), found[1], side=side, scope="host")
        elif found:
            self.run.add_event("unit_ambiguous", "warning", f"{key}_SD without SD_UNITS; left out", found[1])

    def _histogram(self) -> None:
        run = self.run
        metric = "send_call" if self.hist_of_calls else self._prefix
        for low, high, number, line in self.buckets:
            run.add_bucket(metric=metric, stream=None, low_ns=low, high_ns=high, count=number, line=line)
        if self.hist_total is None:
            if self.buckets:
                text = "the histogram has no total; rows are missing"
                run.add_event("count_mismatch", "warning", text, self.buckets[-1][3])
            return
        total, line = self.hist_total
        run.add_metric("observations", count(total), line)
        counted = sum(bucket[2] for bucket in self.buckets)
        if counted != int(total):
            text = f"the histogram counts {counted}, its total is {total}; rows are missing"
            run.add_event("count_mismatch", "warning", text, line)

    def _latencies(self) -> None:
        """Printed latencies under the name of what they are."""
        run, prefix = self.run, self._prefix
        found = [name for name in (*_LATENCIES, *_QUANTILES, "STDDEV_LATENCY") if self._number(name)]
        if not found:
            return
        first = self.values[found[0]][1]
        if self.kind is None:
            text = "latencies of a test that nothing names; they may be no round trips and are left out"
            run.add_event("test_unknown", "warning", text, first)
            return
        if self.kind != "rr":
            text = f"latencies of a {run.row['test']} test are no round trips; they are kept as {prefix}_*"
            run.add_event("not_a_round_trip", "info", text, first)
        for name, ending in _LATENCIES.items():
            if value := self._number(name):
                run.add_metric(f"{prefix}_{ending}", _microseconds(value[0]), value[1])
        self._deviation(prefix)
        self._quantiles(prefix)

    def _deviation(self, prefix: str) -> None:
        """The sample standard deviation where the number of transactions is known well enough."""
        run = self.run
        found = self._number("STDDEV_LATENCY")
        if found is None:
            return
        printed = quantity(found[0], "us").with_resolution(float(_MICROSECOND))
        low, high = (run.value(f"{prefix}_{name}") for name in ("min", "max"))
        if low is not None and high is not None and printed.value > (high - low) / 2 + 2 * _MICROSECOND:
            text = (
                f"a deviation of {found[0]} us is impossible between {low / _MICROSECOND:g} and "
                f"{high / _MICROSECOND:g} us; all three are left out: the log is edited"
            )
            run.add_event("impossible_spread", "error", text, found[1])
            for name in ("min", "max"):
                run.remove_metric(f"{prefix}_{name}")
            return
        run.add_metric(f"{prefix}_sd_population", printed, found[1])
        bounds = self._transaction_bounds()
        if bounds is not None and bounds[0] >= 2:
            factors = [math.sqrt(n / (n - 1)) for n in bounds]
            if (factors[0] - factors[1]) * printed.value <= _MICROSECOND / 10:
                value = printed.value * factors[1]
                run.add_metric(f"{prefix}_sd", Quantity(value, "ns", found[0], printed.resolution, "us"), found[1])
                return
        text = "a population standard deviation, and no number of transactions to convert it with"
        run.add_event("sd_not_convertible", "info", text, found[1])

    def _transaction_bounds(self) -> tuple[float, float] | None:
        """Least and greatest number of transactions that the log allows."""
        total = self.run.value("observations")
        if total is not None:
            return total, total
        rate = self._number("TRANSACTION_RATE") or (
            self._number("THROUGHPUT") if self.values.get("THROUGHPUT_UNITS", ("",))[0] == "Trans/s" else None
        )
        if rate is None or self.duration is None:
            return None
        printed, half = quantity(rate[0], "Trans/s"), self.duration.resolution or 0.0
        low, high = (max(self.duration.value + sign * half, 0.0) / _SECOND * printed.value for sign in (-1, 1))
        return low, high

    def _quantiles(self, prefix: str) -> None:
        run, before = self.run, 0.0
        rows: list[Row] = []
        total = run.value("observations")
        for name, q in _QUANTILES.items():
            found = self._number(name)
            if found is None:
                continue
            value = quantity(found[0], "us")
            if value.value < before:
                text = f"{name} is below the percentile before it; the percentiles are left out"
                run.add_event("not_monotone", "error", text, found[1])
                for row in rows:
                    self.recorder.rows["quantiles"].remove(row)
                return
            before = value.value
            # Buckets of two significant digits; the tool interpolates inside.
            width = 10 ** max(math.floor(math.log10(max(value.value, 1.0))) - 1, 0)
            value = value.with_resolution(float(max(width, _MICROSECOND)))
            added = run.add_quantile(q, value, found[1], metric=prefix, origin="histogram")
            assert added is not None, "every level of the list is one"
            rows.append(added)
            if total:
                n = int(total)
                added.update(n=n, rank=int(q * n), beyond=n * (1 - q), resolved=int(q * n) < n)

    def _rates(self) -> None:
        """Transaction rate or throughput, and the round trip that the rate implies."""
        run = self.run
        columns = [name for name in self.values if name in ("TRANSACTION_RATE", "THROUGHPUT") and self._number(name)]
        for name in columns:
            token, number = self.values[name]
            if name == "TRANSACTION_RATE":
                self._transactions(quantity(token, "Trans/s"), number)
            else:
                self._omni_throughput(token, number)
        if self.rate is not None:
            run.add_metric("transaction_rate", *self.rate)
        printed = self._number("RT_LATENCY")
        if self.kind == "rr" and printed and (self.rate is None or printed[1] <= self.rate[1]):
            run.add_metric("rtt_from_rate", quantity(printed[0], "us"), printed[1])
        elif self.rate is not None and self.rate[0].value:
            self._round_trip_of(*self.rate)

    def _omni_throughput(self, token: str, number: int) -> None:
        """``THROUGHPUT``, in the unit of the column beside it."""
        units = self.values.get("THROUGHPUT_UNITS", ("", 0))[0]
        try:
            readable = canonical_unit(units) in ("bit/s", "1/s")
        except UnitError:
            readable = False
        if readable:
            self._rate(token, units, Line(number, ""))
        else:
            what = f"in {units}" if units else "without THROUGHPUT_UNITS"
            self.run.add_event("unit_ambiguous", "warning", f"THROUGHPUT {what}; left out", number)

    def _round_trip_of(self, rate: Quantity, number: int) -> None:
        """(1 + burst) / rate, where test and burst are known."""
        run = self.run
        if self.kind in ("crr", "cc"):
            text = "a transaction of this test holds a connection; no round trip follows from its rate"
            run.add_event("not_a_round_trip", "info", text, number)
        elif self.kind is None:
            text = "nothing names the test: TCP_CRR prints the same table; no round trip follows from the rate"
            run.add_event("test_unknown", "warning", text, number)
        elif self.kind == "rr" and self.burst is None and self.migrated:
            text = "the burst is not printed; no round trip follows from the rate"
            run.add_event("burst_unknown", "warning", text, number)
        elif self.kind == "rr":
            rtt = (1 + (self.burst or 0)) * _SECOND / rate.value
            run.add_metric(
                "rtt_from_rate", Quantity(rtt, "ns", None, rtt * (rate.resolution or 0) / rate.value), number
            )

    def _interims(self) -> None:
        """``-D``: intervals of uneven length; the clock is the client's, in UTC, cut to milliseconds."""
        if not self.interims:
            return
        start = int(self.interims[0]["stop"]) - int(self.interims[0]["ns"])
        self.run.set(started_at=utc(start))
        for each in self.interims:
            stop, length = int(each["stop"]) - start, int(each["ns"])
            rate, unit = str(each["rate"]), str(each["unit"])
            throughput = rtt = None
            try:
                value = quantity(rate, unit)
            except UnitError:
                text = f"an interim result in {unit}; its rate is left out"
                self.run.add_event("unit_ambiguous", "warning", text, int(each["line"]))
                continue
            if value.unit == "bit/s":
                throughput = value.value
            elif self.kind == "rr" and self.burst is not None and value.value:
                rtt = round((1 + self.burst) * _SECOND / value.value)
            self.run.add_interval(
                side=None,
                stream=None,
                start_ns=max(stop - length, 0),
                end_ns=stop,
                throughput=throughput,
                throughput_printed=throughput,
                rtt_ns=rtt,
                omitted=False,
                line=each["line"],
            )

    def _checks(self) -> None:
        run, prefix = self.run, self._prefix
        line = run.row["first_line"]
        low, mean, high = (run.value(f"{prefix}_{name}") for name in ("min", "mean", "max"))
        if low is not None and mean is not None and high is not None and not low <= mean <= high:
            text = "the mean is not between minimum and maximum; the log is edited"
            run.add_event("impossible_order", "error", text, line)
        rate, rtt = run.value("transaction_rate"), run.value("rtt_from_rate")
        if printed := self._number("RT_LATENCY"):
            rtt = quantity(printed[0], "us").value
        if rate and rtt and self.burst is not None:
            product = rate * rtt / _SECOND
            if abs(product / (1 + self.burst) - 1) > _RATE_TOLERANCE:
                text = f"rate times round trip is {product:.4g}, not 1 + burst = {1 + self.burst}"
                run.add_event("rate_mismatch", "warning", text, line)
            elif mean and self.kind == "rr" and rtt > _STALL * mean:
                means = f"{rtt / _MICROSECOND:g} and {mean / _MICROSECOND:g}"
                text = f"{means} us a round trip by the rate and by the mean: the test stalled"
                run.add_event("stall", "warning", text, line)
        width = run.value("throughput_ci_width")
        if width is not None and self.asked_width is not None and width > self.asked_width:
            text = f"the confidence interval of the rate is {100 * width:g}% wide, not {100 * self.asked_width:g}%"
            run.add_event("confidence_not_reached", "warning", text, line)
        self._check_duration(rate, line)

    def _check_duration(self, rate: float | None, line: int) -> None:
        """A lost datagram and a Ctrl-C leave no other trace than too few transactions and too short a run."""
        run, row = self.run, self.run.row
        duration, asked = row.get("duration_ns"), row.get("requested_duration_ns")
        if rate and duration and row.get("test") == "udp_rr" and rate * duration / _SECOND < _FEW_TRANSACTIONS:
            text = f"about {rate * duration / _SECOND:.0f} transactions: a lost datagram may have ended the test"
            run.add_event("udp_loss_possible", "warning", text, line)
        if duration and asked and duration < 0.9 * asked and row["status"] == "complete":
            run.set(status="interrupted")
            text = f"{duration / _SECOND:g} of {asked / _SECOND:g} s: ended early; the output says nothing of it"
            run.add_event("interrupted", "warning", text, line)


def _microseconds(token: str) -> Quantity:
    """A latency from clock readings cut to whole microseconds, however many decimals its mean is printed with."""
    return quantity(token, "us").with_resolution(float(_MICROSECOND))


def _human_tables(lines: Sequence[Line]) -> dict[int, tuple[int, dict[str, str]]]:
    """Tables of ``-O``: index of the first title line -> index of the values and the values by name.

    Columns are told by the blanks that all lines share; a table with a title that is not known is none.
    """
    found: dict[int, tuple[int, dict[str, str]]] = {}
    for index, line in enumerate(lines):
        if "," in line.text or not (line.text[:1].isdigit() or line.text[:2].lstrip("-").isdigit()):
            continue
        for height in range(min(4, index), 0, -1):
            block = [each.text for each in lines[index - height : index]]
            if not block[0].strip() or len(line.text) > 4000 or any(len(text) > 4000 for text in block):
                continue
            values = _columns(block, line.text)
            if values:
                found[index - height] = (index, values)
                break
    return found


def _columns(titles: list[str], values: str) -> dict[str, str] | None:
    """The values under titles of up to four lines; None where they are no table of an omni test."""
    width = max(len(text) for text in (*titles, values))
    padded = [text.ljust(width) for text in (*titles, values)]
    starts = [
        at
        for at in range(width)
        if any(text[at] != " " for text in padded) and (at == 0 or all(text[at - 1] == " " for text in padded))
    ]
    result: dict[str, str] = {}
    for start, stop in zip(starts, [*starts[1:], width], strict=True):
        parts = [text[start:stop].strip() for text in padded]
        name = NAMES.get(" ".join(part for part in parts[:-1] if part))
        if name is None or not parts[-1] or "," in parts[-1]:
            return None
        result[name] = parts[-1]
    return result or None


class NetperfParser:
    """Reads netperf; see the module's docstring."""

    tool = "netperf"
    commands = ("netperf",)
    signatures = (
        Signature(" TEST from ", re.compile(_BANNER)),
        Signature(" TEST from ", _BANNER_HEAD),
        Signature("establish control: are you", re.compile(r"establish control: are you sure there is.{1,200}")),
        # The table of -P 0: a row of six and one of two.
        Signature(
            "   ",
            re.compile(rf"\d{{1,10}}\s+\d{{1,10}}\s+\d{{1,10}}\s+\d{{1,10}}\s+{_SECONDS}\s+{_RATE}"),
            weak=True,
            then=re.compile(r"\d{1,10}\s+\d{1,10}"),
        ),
        Signature("_LATENCY=", re.compile(r"(?:MIN|MEAN|MAX|P50|P90|P99|STDDEV|RT)_LATENCY=-?[\d.]{1,20}"), weak=True),
        Signature("THROUGHPUT=", re.compile(r"THROUGHPUT=[\d.]{1,20}"), weak=True),
        Signature("HIST_TOTAL:", re.compile(r"HIST_TOTAL:\s{1,20}\d{1,12}"), weak=True),
        Signature(
            " Latency Microseconds",
            re.compile(r".{0,400}(?:Mean|Percentile|Minimum|Maximum) Latency Microseconds(?:,.{0,4000})?"),
            weak=True,
        ),
    )

    def parse(self, log: Log, recorder: Recorder) -> None:
        """Read one log."""
        reader = _Netperf(log, recorder)
        tables = _human_tables(log.lines)
        at = 0
        for first, (row, values) in tables.items():
            if first < at:
                continue
            reader.feed(log.lines[at:first], recorder.accounting)
            for line in log.lines[first:row]:
                recorder.accounting.mark(line.number, KNOWN)
            recorder.accounting.mark(log.lines[row].number, DATA)
            for name, token in values.items():
                reader.values.setdefault(name, (token, log.lines[row].number))
            at = row + 1
        reader.feed(log.lines[at:], recorder.accounting)
        reader.finish(log.last_line)


PARSER = NetperfParser()
