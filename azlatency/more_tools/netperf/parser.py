"""How a netperf log is recognised and read."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from decimal import Decimal
from itertools import pairwise
from typing import ClassVar

from azlatency.logs.grammar.rules import DATA, KNOWN
from azlatency.logs.grammar.units import prefixed
from azlatency.logs.parsers import Log, Parser, Signature
from azlatency.logs.parsers.identities import SENT_IS_RECEIVED_AND_LOST
from azlatency.logs.record import Recorder
from azlatency.more_tools.netperf.columns import find_tables
from azlatency.more_tools.netperf.run import Value
from azlatency.more_tools.netperf.text import BANNER, BANNER_HEAD, RATE, SECONDS, NetperfText

_FIRST_ROW = re.compile(rf"(?:\d{{1,10}}\s+){{3,4}}{SECONDS}\s+{RATE}")


def _separate_rows(log: Log) -> Iterator[Log]:
    """Yield the parts of a log that begin with a row of ``-P 0`` below another: nothing else separates the tests."""
    starts = [at for at, line in enumerate(log.lines) if _FIRST_ROW.fullmatch(line.text.strip())]
    for start, stop in pairwise([0, *starts[1:], len(log.lines)]):
        yield replace(log, lines=log.lines[start:stop])


class NetperfParser(Parser):
    """Reads netperf; see `azlatency.more_tools.netperf`."""

    tool = "netperf"
    identities = (SENT_IS_RECEIVED_AND_LOST,)
    commands = ("netperf",)
    options: ClassVar = {
        "send-size": ("-m",),
        "receive-size": ("-M",),
        "local-socket": ("-s",),
        "remote-socket": ("-S",),
        "burst": ("-b",),
    }
    units: ClassVar = {
        # Bits are decimal, bytes are binary (netlib.c, format_units).
        **{f"10^{power}bits/s": ("bit/s", 10**power) for power in (0, 3, 6, 9)},
        **prefixed("bit/s", "KMG", 1024, "Bytes/s", factor=8),
        "Trans/s": ("1/s", 1),
        # Processor time per 1024 bytes.
        "us/KB": ("ns/byte", Decimal(1000) / 1024),
    }
    signatures = (
        Signature(" TEST ", BANNER),
        Signature(" TEST from ", BANNER_HEAD),
        Signature("establish control: are you", r"establish control: are you sure there is.{1,200}"),
        # The table of -P 0: a row of six and one of two.
        Signature(
            "   ",
            rf"\d{{1,10}}\s+\d{{1,10}}\s+\d{{1,10}}\s+\d{{1,10}}\s+{SECONDS}\s+{RATE}",
            weak=True,
            then=r"\d{1,10}\s+\d{1,10}",
            shape=r"\s*",
        ),
        Signature("_LATENCY=", r"(?:MIN|MEAN|MAX|P50|P90|P99|STDDEV|RT)_LATENCY=-?[\d.]{1,20}", weak=True),
        Signature("THROUGHPUT=", r"THROUGHPUT=[\d.]{1,20}", weak=True),
        Signature("HIST_TOTAL:", r"HIST_TOTAL:\s{1,20}\d{1,12}", weak=True),
        Signature(
            " Latency Microseconds",
            r".{0,400}(?:Mean|Percentile|Minimum|Maximum) Latency Microseconds(?:,.{0,4000})?",
            weak=True,
        ),
    )

    def parse(self, log: Log, recorder: Recorder) -> None:
        """Read one log; each row of ``-P 0`` below another begins a run."""
        for part in _separate_rows(log):
            self._read(part, recorder)

    def _read(self, log: Log, recorder: Recorder) -> None:
        """Read one run; its tables of ``-O`` are found first, because they need several lines."""
        reader, accounting = NetperfText(log, recorder), recorder.accounting
        start = 0
        for table in find_tables(log.lines):
            if table.first < start:
                continue
            reader.feed(log.lines[start : table.first], accounting)
            for line in log.lines[table.first : table.row]:
                accounting.mark(line.number, KNOWN)
            row = log.lines[table.row]
            accounting.mark(row.number, DATA)
            values = list(table.values.items())
            if not row.text.endswith(" ") and reader.is_cut(row):  # netperf pads the last value too
                values.pop()
            for name, token in values:
                reader.test.values.setdefault(name, Value(token, row.number))
            start = table.row + 1
        reader.feed(log.lines[start:], accounting)
        reader.finish(log.last_line)


PARSER = NetperfParser()
