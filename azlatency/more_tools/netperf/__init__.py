"""netperf 2.4 to 2.7.1: request/response, connect and stream tests; classic tables, ``-k``, ``-o`` and ``-O``.

::

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

The formats are those of nettest_omni.c, nettest_bsd.c and netlib.c.

*Latency.* In a request/response test every latency is the **round-trip time** of one transaction. ``MEAN_LATENCY`` is
the mean over transactions (``rtt_mean``). ``RT_LATENCY``, ``RoundTrip Latency`` and the value derived from the
transaction rate are (1 + burst) / rate (``rtt_from_rate``); they differ from the mean, and differ much if the test
stalled. In a TCP_CRR or TCP_CC test a transaction contains a connection setup (metrics ``transaction_*``); in a stream
test the latency is that of a send call (``send_call_*``). Neither is a round-trip time.

*Resolution.* Latencies are differences of clock readings truncated to whole microseconds. Percentiles come from buckets
of two significant digits; their resolution is the width of the bucket. ``STDDEV_LATENCY`` is the population deviation
(``rtt_sd_population``); it is converted (``rtt_sd``) if the number of transactions is known.

*Rates.* The unit is the one that a header or a column names. ``-P 0`` and ``-v 0`` print no unit: a transaction rate is
then assumed (``unit_assumed``), and the rate of a stream is left out. If a rate is printed several times, the first one
is used and the others are compared with it. The confidence interval of ``-I`` is that of the rate. -1 in a column means
"not measured". A CSV line without titles (``-P 0 -o``) is not read.

*Silent failures.* A lost datagram ends a UDP_RR test without a message, and Ctrl-C leaves normal output: only the
number of transactions and the elapsed time show it.

Modules: `columns` (names and titles of the omni output), `text` (the lines), `run` (the test and its rates), `omni`
(values of ``-k``, ``-o`` and ``-O``), `latencies` (histogram, latencies, percentiles), `rates` (rates, interim results
and the checks).
"""

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
    neutral = "-H -p -t -l -r -P -v -k -o -O -f -d -j -i -I -c -B -4 -6 -L -h"
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
            if not row.text.endswith(" ") and reader.lacks_end(row):  # netperf pads the last value too
                values.pop()
            for name, token in values:
                reader.test.values.setdefault(name, Value(token, row.number))
            start = table.row + 1
        reader.feed(log.lines[start:], accounting)
        reader.finish(log.last_line)


PARSER = NetperfParser()
