"""The lines of netperf: banner, classic tables, histogram, interim results, ``-k``, ``-o`` and error messages."""

from __future__ import annotations

import csv
import re
from dataclasses import replace

from azlatency.logs.grammar.rules import DATA, KNOWN, Line, data, known
from azlatency.logs.grammar.units import exact_bytes, nanoseconds, quantity
from azlatency.logs.parsers import Log
from azlatency.logs.parsers.common import LogReader, contradict, end_run, record_loss
from azlatency.logs.record import Recorder
from azlatency.more_tools.netperf.columns import KEYS, NAMES
from azlatency.more_tools.netperf.latencies import record_histogram, record_latencies
from azlatency.more_tools.netperf.omni import record_omni_values
from azlatency.more_tools.netperf.rates import check_run, record_interims, record_rates
from azlatency.more_tools.netperf.run import MICROSECOND, MILLISECOND, STREAMS, TRANSACTIONS, Interim, NetperfRun, Value

_HALF_WIDTH = re.compile(r"\+/-(\d{1,3}\.\d{3})% @ +(\d{1,2})% conf\..{0,30}")
_BURST = re.compile(r"first burst (\d{1,9})")
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
BANNER = (
    r"(?P<migrated>MIGRATED )?(?:(?P<protocol>TCP|UDP|SCTP|SDP) (?:1-TO-MANY )?(?P<test>"
    + "|".join(map(re.escape, _TESTS))
    + r")|OMNI (?P<omni>[A-Za-z|]{4,20})) TEST?(?: from \S{1,255} \(\S{0,60}\) port \d{1,5} AF_\w{1,10})?"
    # Before 2.4, only the host follows.
    r" to (?P<server>\S{1,255})(?: \((?P<address>\S{0,60})\) port \d{1,5} AF_\w{1,10})?"
    r"(?P<notes>(?: ?: [^:]{1,80}){0,12})"
)
BANNER_HEAD = re.compile(r".{10,200} TEST from \S{1,255} \(\S{0,60}\) port \d{1,5} AF_\w{1,10}(?: to)?")
RATE = r"(\d{1,12}\.\d\d)"
SECONDS = r"(\d{1,7}\.\d\d)"
_SIZE = r"(-?\d{1,10})"
#: The shape of a row of numbers.
_NUMBERS = r"[-\s]*"
_CPU = (
    r"(?:\s+(?P<local>-?\d{1,3}\.\d\d)\s+(?P<remote>-?\d{1,3}\.\d\d)"
    r"\s+(?P<local_demand>-?\d{1,9}\.\d{3})\s+(?P<remote_demand>-?\d{1,9}\.\d{3}))?"
)
_UNIT = r"((?:10\^[0369]bits|[KMG]?Bytes|Trans)/s)(?:ec)?"
_DECADES = ("UNIT_USEC", "TEN_USEC", "HUNDRED_USEC", "UNIT_MSEC", "TEN_MSEC", "HUNDRED_MSEC", "UNIT_SEC", "TEN_SEC")
_INDEXED = "INTERIM_RESULT|UNITS|INTERVAL|ENDING"


class NetperfText(LogReader):
    """Reads the lines of one log."""

    def __init__(self, log: Log, recorder: Recorder) -> None:
        super().__init__(log, recorder)
        self.test = NetperfRun(log, recorder)
        self.run = self.test.run
        self.banner_head: str | None = None
        self.header: list[str] = []
        self.header_text = ""
        self.unit: str | None = None
        self.table: str | None = None
        """What the last column titles describe: a stream, datagrams or transactions."""
        self.has_cpu_titles = False
        self.sockets: tuple[str, str] | None = None
        self.cut = False
        self.titled = False
        self.interim_parts: dict[tuple[str, str], str] = {}
        self.failures: list[Value] = []
        self.ended = False
        self.opened = ""
        """The table of ``-v 2`` that has begun and has no last row yet: round trip, histogram, or none."""
        self.has_histogram = False

    # --- lines that no single pattern describes

    def read(self, line: Line) -> int:
        """Join banners and column titles that were wrapped, then apply the rules."""
        text = line.text.strip()
        if self.banner_head is not None:
            banner, self.banner_head = f"{self.banner_head} {text}", None
            return super().read(line._replace(text=banner)) and DATA
        if BANNER_HEAD.fullmatch(text):
            self.banner_head = text
            return DATA
        if self._read_titles(text):
            return KNOWN
        if (
            self.header
            and len(text) < 20_000
            and (text[:1].isdigit() or text[:1] in '-"')
            and self._read_cells(line, text)
        ):
            return DATA
        return super().read(line)

    def _read_titles(self, text: str) -> bool:
        """Read column titles of ``-o``, alone or as the continuation of the line above; return whether they are."""
        if not text[:1].isalnum() or len(text) > 8000 or "=" in text:
            return False
        glue = "" if self.header_text.endswith(",") else " "
        for candidate in (self.header_text + glue + text if self.header_text else "", text):
            titles = candidate.split(",")
            if not candidate or not all(title in NAMES for title in titles[:-1]):
                continue
            complete = titles[-1] in NAMES
            continues = len(titles) > 1 and any(title.startswith(titles[-1]) for title in NAMES)
            if complete or continues:
                self.header_text = candidate
                self.header = [NAMES[title] for title in titles] if complete else []
                return True
        return False

    def _read_cells(self, line: Line, text: str) -> bool:
        """Read the values under the titles of ``-o``; return False if their number differs."""
        cells = next(csv.reader([text]), [])
        if len(cells) != len(self.header):
            text = f"{len(cells)} values under {len(self.header)} titles; the line is not read"
            self.run.add_event("column_mismatch", "error", text, line.number)
            return False
        if self.lacks_end(line):
            cells = cells[:-1]
        for name, token in zip(self.header, cells, strict=False):
            self.test.values.setdefault(name, Value(token.strip(), line.number))
        self.header, self.header_text = [], ""
        return True

    # --- what was run

    @data(BANNER, hint=" TES")
    def banner(self, line: Line, match: re.Match[str]) -> None:
        """Read the banner: test, protocol, server, burst and requested confidence interval."""
        kind = _TESTS[match["test"]] if match["test"] else _OMNI.get(match["omni"])
        protocol = match["protocol"].lower() if match["protocol"] else None
        self.test.set_kind(kind, protocol)
        self.test.migrated = bool(match["migrated"] or match["omni"])
        self.run.set(server=match["server"])
        for note in (part.strip() for part in match["notes"].split(":")):
            self.has_histogram = self.has_histogram or note == "histogram"
            if burst := _BURST.fullmatch(note):
                self.test.burst = int(burst[1])
            elif half_width := _HALF_WIDTH.fullmatch(note):
                self.test.requested_ci_width = 2 * quantity(half_width[1], "%").value

    @data(r"(?:[#$%>] ?)?((?:\S{1,200}/)?netperf(?:\.exe)? -.{1,1000})", hint="netperf")
    def command_line(self, line: Line, match: re.Match[str]) -> None:
        self.run.set(command=match[1])
        self.test.log = replace(self.test.log, command=match[1])

    # --- classic tables

    @data(rf"bytes\s+bytes\s+bytes\s+secs\.\s+{_UNIT}(?:\s+% \S\s+% \S\s+us/KB\s+us/KB)?", hint="secs.")
    @data(rf"bytes\s+bytes\s+secs\s+#\s+#\s+{_UNIT}(?:\s+% \S+\s+us/KB)?", hint="secs ")
    @data(rf"bytes\s+Bytes\s+bytes\s+bytes\s+secs\.\s+{_UNIT}", hint="Bytes ")
    @data(r"bytes\s+[Bb]ytes\s+bytes\s+bytes\s+secs\.\s+per sec(?:\s+% \S\s+% \S\s+us/Tr\s+us/Tr)?", hint="per sec")
    def units_row(self, line: Line, match: re.Match[str]) -> None:
        """Read the last line of titles, which has the unit of the rate."""
        self.unit = match[1] if match.re.groups else "Trans/s"
        titles = match[0].split()
        self.table = "datagrams" if "#" in titles else "transactions" if titles[3] == "bytes" else "stream"
        self.has_cpu_titles = titles[-1].startswith("us/")

    @data(r"Local /Remote", hint="Local /Remote")
    def titles(self, line: Line, match: re.Match[str]) -> None:
        self.titled = True

    @data(rf"{_SIZE}\s+{_SIZE}\s+{_SIZE}\s+{_SIZE}\s+{SECONDS}\s+{RATE}{_CPU}", hint=".", shape=_NUMBERS)
    def transaction_row(self, line: Line, match: re.Match[str]) -> None:
        """Read the first row of values of a request/response test, with or without CPU columns."""
        if self._contradicts_titles("transactions", line):
            return
        self.sockets = (match[1], match[2])
        if match[3] == match[4]:
            self.run.set(message_bytes=int(match[3]))
        self.run.add_metric("request_bytes", exact_bytes(match[3]), line.number)
        self.run.add_metric("response_bytes", exact_bytes(match[4]), line.number)
        self.test.record_elapsed(match[5], line.number)
        # If there are titles, they name the unit: one that was not read must not be assumed.
        unit = self.unit or (None if self.titled else self.test.assume_transactions(line.number))
        self.test.record_rate(match[6], unit, line.number)
        self._record_cpu(line, match, "cpu_time_per_transaction", "us")

    @data(rf"{_SIZE}\s+{_SIZE}", hint=" ", shape=_NUMBERS)
    def remote_sockets(self, line: Line, match: re.Match[str]) -> None:
        """Read the last row of a request/response test: the remote socket sizes."""
        # A size that is cut still looks like a size; one like the local size is whole.
        self.ended = line.number != self.unfinished or (match[1], match[2]) == self.sockets

    @data(rf"{_SIZE}\s+{_SIZE}\s+{_SIZE}\s+{SECONDS}\s+{RATE}{_CPU}", hint=".", shape=_NUMBERS)
    def stream_row(self, line: Line, match: re.Match[str]) -> None:
        """Read the row of a stream test, with or without CPU columns."""
        if self._contradicts_titles("stream", line):
            return
        self.run.set(message_bytes=int(match[3]))
        self.test.record_elapsed(match[4], line.number)
        self.test.record_rate(match[5], self.unit, line.number)
        self._record_cpu(line, match, "cpu_cost", "us/KB")
        self.ended = line.number != self.unfinished or match["local"] is not None or not self.has_cpu_titles

    @data(rf"{_SIZE}\s+{_SIZE}\s+{SECONDS}\s+(\d{{1,15}})\s+(\d{{1,12}})\s+{RATE}", hint=".", shape=_NUMBERS)
    def datagrams_sent(self, line: Line, match: re.Match[str]) -> None:
        if self._contradicts_titles("datagrams", line):
            return
        self.run.set(message_bytes=int(match[2]))
        self.test.record_elapsed(match[3], line.number)
        self.run.add_counts(line.number, sent=match[4], send_errors=match[5])
        self.test.record_throughput(match[6], self.unit, line.number, "sender")

    @data(rf"{_SIZE}\s+{SECONDS}\s+(\d{{1,15}})\s+{RATE}", hint=".", shape=_NUMBERS)
    def datagrams_received(self, line: Line, match: re.Match[str]) -> None:
        if self._contradicts_titles("datagrams", line):
            return
        self.run.add_counts(line.number, received=match[3])
        self.test.record_throughput(match[4], self.unit, line.number, "receiver")
        sent, received = self.run.value("sent"), int(match[3])
        if sent and received <= sent:
            record_loss(self.run, int(sent), received, line.number, percent=None)
        self.ended = True

    @data(RATE, hint=".", shape=_NUMBERS)
    def bare_rate(self, line: Line, match: re.Match[str]) -> None:
        """Read the only number that ``-v 0`` prints."""
        if self.test.kind in TRANSACTIONS:
            self.test.record_rate(match[1], self.test.assume_transactions(line.number), line.number)
        else:
            text = "-v 0 prints no unit and -f may have changed it; the rate is left out"
            self.run.add_event("unit_ambiguous", "warning", text, line.number)
        self.ended = True

    @data(r"Alignment\s+Offset.{0,80}", hint="Alignment")
    def alignment_titles(self, line: Line, match: re.Match[str]) -> None:
        """Read the first title line of the table of ``-v 2``, which the histogram follows."""
        self.opened = "table"

    @data(
        r"(?:-?\d{1,12}\s+){4}\d{1,18}\s+-?\d{1,12}\.\d\d\s+\d{1,18}\s+-?\d{1,12}\.\d\d\s+\d{1,18}",
        hint=".",
        shape=_NUMBERS,
    )
    def calls_row(self, line: Line, match: re.Match[str]) -> None:
        """Read the row of ``-v 2`` of a stream test."""
        self.opened = ""

    @data(
        rf"{_SIZE}\s+{_SIZE}\s+{_SIZE}\s+{_SIZE}\s+(\d{{1,12}}\.\d{{3}})\s+(\d{{1,12}}\.\d{{3}})"
        r"\s+-?\d{1,12}\.\d{3}\s+-?\d{1,12}\.\d{3}",
        hint=".",
        shape=_NUMBERS,
    )
    def round_trip_row(self, line: Line, match: re.Match[str]) -> None:
        """Read the row of ``-v 2`` with the round-trip time and the rate."""
        self.test.values.setdefault("RT_LATENCY", Value(match[5], line.number))
        self.test.record_transactions(quantity(match[6], "Trans/s"), line.number)
        self.opened = "histogram" if self.has_histogram else ""

    # --- histogram

    @data(rf"({'|'.join(_DECADES)})\s{{0,20}}:((?:\s{{0,12}}\d{{1,12}}:){{9}}\s{{0,12}}\d{{1,12}})", hint="SEC")
    def decade(self, line: Line, match: re.Match[str]) -> None:
        """Read one decade of the histogram: ten buckets."""
        if self.lacks_end(line):
            return
        width = 10 ** _DECADES.index(match[1]) * MICROSECOND
        for index, count_token in enumerate(match[2].split(":")):
            self.test.buckets.append((index * width, (index + 1) * width, int(count_token), line.number))

    @data(r">100_SECS: (\d{1,12})", hint=">100_SECS")
    def slowest(self, line: Line, match: re.Match[str]) -> None:
        self.test.buckets.append((10 ** len(_DECADES) * MICROSECOND, None, int(match[1]), line.number))

    @data(r"HIST_TOTAL:\s{1,20}(\d{1,12})", hint="HIST_TOTAL")
    def histogram_total(self, line: Line, match: re.Match[str]) -> None:
        if self.lacks_end(line):
            return
        self.test.histogram_total = Value(match[1], line.number)
        self.opened = ""

    @data(r"Histogram of (request/response times|time spent in (?:send|recv)\(\) call\.?)", hint="Histogram of")
    def histogram_title(self, line: Line, match: re.Match[str]) -> None:
        """Read what the histogram measures: transactions or send calls."""
        self.test.histogram_of_calls = match[1].startswith("time")
        self.opened = "histogram"

    # --- interim results

    @data(
        rf"Interim result:\s{{1,20}}{RATE} (\S{{1,20}}) over (\d{{1,9}}\.\d{{3}}) seconds"
        r" ending at (\d{9,11})\.(\d{3})",
        hint="Interim result:",
    )
    @data(rf"{RATE},(\S{{1,20}}/s),(\d{{1,9}}\.\d{{3}}),(\d{{9,11}})\.(\d{{3}})", hint="/s,")
    def interim(self, line: Line, match: re.Match[str]) -> None:
        self._add_interim(line, rate=match[1], unit=match[2], seconds=match[3], stop_ms=match[4] + match[5])

    @data(rf"NETPERF_({_INDEXED})\[(\d{{1,9}})\]=(\S{{1,40}})", hint="NETPERF_")
    def indexed_interim(self, line: Line, match: re.Match[str]) -> None:
        """Read a part of one interim result of ``-k``; the end time is the last part."""
        name, index, token = match.groups()
        self.interim_parts[name, index] = token
        if name == "ENDING" and (stop := re.fullmatch(r"(\d{9,11})\.(\d{3})", token)):
            parts = ("INTERIM_RESULT", "UNITS", "INTERVAL")
            rate, unit, seconds = (self.interim_parts.get((part, index)) for part in parts)
            if rate is not None and unit is not None and seconds is not None:
                self._add_interim(line, rate=rate, unit=unit, seconds=seconds, stop_ms=stop[1] + stop[2])

    def _add_interim(self, line: Line, *, rate: str, unit: str, seconds: str, stop_ms: str) -> None:
        interim = Interim(rate, unit, nanoseconds(seconds, "sec"), int(stop_ms) * MILLISECOND, line.number)
        self.test.interims.append(interim)

    # --- omni, -k

    @data(rf"({'|'.join(sorted(KEYS, key=len, reverse=True))})=(.{{0,2000}})", hint="=")
    def keyword(self, line: Line, match: re.Match[str]) -> None:
        """Read one value of ``-k``."""
        if self.lacks_end(line):
            return
        value = Value(match[2].strip(), line.number)
        first = self.test.values.setdefault(match[1], value)
        if first.token != value.token:
            text = f"{match[1]} is {match[2]} here and {first.token} in line {first.line}"
            self.run.add_event("value_conflict", "error", text, line.number)
        self.ended = True

    # --- failures

    @data(r"(establish.control.{1,400})", hint="establish")
    @data(r"((?:netperf|recv_response|send_omni\w*|shutdown_control): .{1,300})", hint=": ")
    def failure(self, line: Line, match: re.Match[str]) -> None:
        self.failures.append(Value(match[1], line.number))

    @data(r"!!! Confidence intervals: Throughput\s{1,10}: (\d{1,4}\.\d{3})%", hint="Confidence intervals")
    def achieved_confidence(self, line: Line, match: re.Match[str]) -> None:
        """Read the width of the confidence interval that was reached."""
        self.run.add_metric("throughput_ci_width", quantity(match[1], "%"), line.number)

    @data(r"!!! Desired confidence was not achieved.{1,60}", hint="Desired confidence")
    def no_confidence(self, line: Line, match: re.Match[str]) -> None:
        """Report a confidence interval that is wider than requested."""
        text = "the rate varied more than -I allows; its confidence interval is wider than requested"
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
        ("Local  Remote", r"Local\s+Remote\s+Local\s+Remote.{0,60}"),
        ("Maximum", r"Maximum"),
        ("Segment", r"Segment"),
        ("Size (bytes)", r"Size \(bytes\)"),
        ("", r"\d{1,9}"),
        ("catcher", r"catcher: timer popped.{0,80}"),
    )

    def _record_cpu(self, line: Line, match: re.Match[str], metric: str, unit: str) -> None:
        """Record the columns of ``-c -C``, local and remote; a negative number means "not measured"."""
        for side in ("local", "remote") if match["local"] is not None else ():
            for name, token, printed_unit in (("cpu_busy", match[side], "%"), (metric, match[f"{side}_demand"], unit)):
                if not token.startswith("-"):
                    self.run.add_metric(name, quantity(token, printed_unit), line.number, side=side, scope="host")

    def _contradicts_titles(self, table: str, line: Line) -> bool:
        """Report a row whose number of values is that of another table than the titles or the banner announce."""
        kind = self.test.kind
        expected = self.table
        if expected is None and kind is not None:
            expected = "transactions" if kind not in STREAMS else None if table != "transactions" else "stream"
        if expected in (None, table):
            return False
        text = f"the values of this row are those of a table of {table}, the titles those of {expected}; it is left out"
        contradict(self.run, "column_mismatch", text, line.number)
        return True

    def lacks_end(self, line: Line) -> bool:
        """Whether the log ends within this line, so that the number at its end is left out."""
        self.cut = self.is_cut(line, "the number at its end is") or self.cut
        return line.number == self.unfinished

    # --- the end

    def finish(self, last_line: int) -> None:
        """Record everything that needs the whole log, and the status of the run."""
        test, run = self.test, self.run
        test.read_command()
        record_omni_values(test)
        record_histogram(test)
        record_latencies(test)
        record_rates(test)
        record_interims(test)
        check_run(test)
        values = [run.value(name) for name in ("transaction_rate", f"{test.prefix}_mean", f"{test.prefix}_min")]
        values += [run.value("throughput", side=side) for side in ("sender", "receiver")]
        measured = any(value is not None for value in values)
        for text, line in self.failures:
            if measured:
                run.add_event("tool_error", "warning", text, line)
            elif run.row["status"] != "failed":
                run.end_as("failed", "error", f"netperf measured nothing: {text}", line)
        has_numbers = measured or bool(test.interims)
        ended = (self.ended or bool(test.values)) and not self.cut and not self.opened
        end_run(run, has_numbers=has_numbers, ended=ended, last_line=last_line)
